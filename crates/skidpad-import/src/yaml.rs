//! YAML as a tree with places.

use crate::Import;
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use skidpad_spec::FaultKind;
use skidpad_spec::read::{Item, Key, Node};
use std::ops::Range;

/// Deeper than any description.
const MOST_DEPTH: usize = 64;

/// Numbers closer to 0 than this are noise of single precision.
pub(crate) const NOISE: f64 = 1e-9;

/// The first document of `part`, which begins at byte `start` of the text; `None` after reporting why there is none.
pub(crate) fn tree(part: &str, start: usize, import: &mut Import<'_>) -> Option<Node> {
    let places = Places::new(part, start);
    let mut builder = Builder { places: &places, stack: Vec::new(), done: None };
    for event in Parser::new_from_str(part) {
        let failed = match event {
            Ok((event, span)) => builder.take(event, span).err().map(|what| (what.to_owned(), places.range(span))),
            Err(error) => {
                let at = places.byte(error.marker().index());
                Some((error.info().to_owned(), at..at))
            }
        };
        if let Some((what, span)) = failed {
            import.collector.fault(FaultKind::Syntax, String::new(), span, what, "valid YAML", None);
            return None;
        }
    }
    builder.done
}

/// Characters to bytes.
struct Places {
    bytes: Vec<usize>,
    start: usize,
}

impl Places {
    fn new(part: &str, start: usize) -> Self {
        let bytes = part.char_indices().map(|(at, _)| at).chain([part.len()]).collect();
        Self { bytes, start }
    }

    fn byte(&self, index: usize) -> usize {
        self.start + self.bytes[index.min(self.bytes.len() - 1)]
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.byte(span.start.index())..self.byte(span.end.index())
    }
}

/// A list or a table that is still open.
enum Open {
    List(usize, Vec<Node>),
    Table(usize, Vec<(Key, Node)>, Option<Key>),
}

struct Builder<'a> {
    places: &'a Places,
    stack: Vec<Open>,
    done: Option<Node>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), &'static str> {
        let range = self.places.range(span);
        match event {
            Event::Scalar(text, style, ..) => self.put(scalar(&text, style, range)),
            Event::SequenceStart(..) | Event::MappingStart(..) if self.stack.len() >= MOST_DEPTH => {
                return Err("is nested too deep");
            }
            Event::SequenceStart(..) => self.stack.push(Open::List(range.start, Vec::new())),
            Event::MappingStart(..) => self.stack.push(Open::Table(range.start, Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => match self.stack.pop() {
                Some(Open::List(start, list)) => self.put(Node { item: Item::List(list), span: start..range.end }),
                Some(Open::Table(start, entries, _)) => self.put(Node::table(start..range.end, entries)),
                None => return Err("ends what has not begun"),
            },
            Event::Alias(_) => return Err("refers to another place, which is not read"),
            _ => {}
        }
        Ok(())
    }

    fn put(&mut self, node: Node) {
        match self.stack.last_mut() {
            Some(Open::List(_, list)) => list.push(node),
            Some(Open::Table(_, entries, key)) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => {
                    let name = match node.item {
                        Item::Text(text) => text,
                        Item::Number { value, .. } => value.to_string(),
                        _ => String::new(),
                    };
                    *key = Some(Key { name, span: node.span });
                }
            },
            None => self.done = self.done.take().or(Some(node)),
        }
    }
}

fn scalar(text: &str, style: ScalarStyle, span: Range<usize>) -> Node {
    let item = match text {
        _ if style != ScalarStyle::Plain => Item::Text(text.to_owned()),
        "true" => Item::Flag(true),
        "false" => Item::Flag(false),
        _ => number(text).unwrap_or_else(|| Item::Text(text.to_owned())),
    };
    Node { item, span }
}

/// A number, unless the text is none.
pub(crate) fn number(text: &str) -> Option<Item> {
    let begins = text.trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit());
    let value = text.parse::<f64>().ok().filter(|_| begins)?;
    let value = if value.abs() < NOISE { 0.0 } else { value };
    Some(Item::Number { value, whole: !text.contains(['.', 'e', 'E']) })
}
