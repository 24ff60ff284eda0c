//! Parser for YAML. Each node of the tree has its place in the text.

use crate::Import;
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use skidpad_spec::FaultKind;
use skidpad_spec::read::{Item, Key, Node};
use std::ops::Range;

/// Maximum nesting depth.
const MAX_NESTING_DEPTH: usize = 64;

/// Absolute value below which a number is read as 0, because it is noise of single precision.
pub(crate) const ZERO_TOLERANCE: f64 = 1e-9;

/// Parses `part`, which begins at byte `start` of the text, and returns its first document. Later documents are parsed
/// as well and dropped. Adds a syntax fault and returns `None` if any document of `part` is not valid YAML, is nested
/// too deep or has an alias. Returns `None` without a fault if `part` has no document.
pub(crate) fn parse_document(part: &str, start: usize, import: &mut Import<'_>) -> Option<Node> {
    let positions = BytePositions::new(part, start);
    let mut builder = Builder { positions: &positions, stack: Vec::new(), document: None };
    for event in Parser::new_from_str(part) {
        // Message and bytes of a fault. The spans of the parser count characters.
        let syntax_fault = match event {
            Ok((event, span)) => {
                builder.add_event(event, span).err().map(|message| (message.to_owned(), positions.range(span)))
            }
            // A fault of the parser itself has a position but no length.
            Err(error) => {
                let position = positions.byte(error.marker().index());
                Some((error.info().to_owned(), position..position))
            }
        };
        if let Some((message, span)) = syntax_fault {
            import.collector.add_fault(FaultKind::Syntax, String::new(), span, message, "valid YAML", None);
            return None;
        }
    }
    builder.document
}

/// Conversion of character positions to byte positions of the text.
struct BytePositions {
    /// Byte position of each character of the part, and the length of the part.
    bytes: Vec<usize>,
    /// Byte position of the part in the text.
    start: usize,
}

impl BytePositions {
    /// Creates the conversion for `part`, which begins at byte `start` of the text.
    fn new(part: &str, start: usize) -> Self {
        let bytes = part.char_indices().map(|(offset, _)| offset).chain([part.len()]).collect();
        Self { bytes, start }
    }

    /// Returns the byte position of the character `index`; the end of the part for positions beyond it.
    fn byte(&self, index: usize) -> usize {
        self.start + self.bytes[index.min(self.bytes.len() - 1)]
    }

    /// Returns the byte range of a span of characters.
    fn range(&self, span: Span) -> Range<usize> {
        self.byte(span.start.index())..self.byte(span.end.index())
    }
}

/// List or table that has not ended.
enum OpenNode {
    /// List: byte position of its begin, elements.
    List(usize, Vec<Node>),
    /// Table: byte position of its begin, entries, key that has no value yet.
    Table(usize, Vec<(Key, Node)>, Option<Key>),
}

/// Builder of a tree from the events of the YAML parser.
struct Builder<'a> {
    /// Conversion of positions.
    positions: &'a BytePositions,
    /// Open lists and tables, innermost last.
    stack: Vec<OpenNode>,
    /// First complete document.
    document: Option<Node>,
}

impl Builder<'_> {
    /// Adds an event of the parser to the tree. `span` is its place in characters. The start of a list or table pushes
    /// it on the stack; its end pops it and adds it to the enclosing list or table. A scalar is added directly. A key
    /// without a value at the end of a table is dropped. Other events change nothing.
    ///
    /// # Errors
    /// The nesting exceeds [`MAX_NESTING_DEPTH`], an end has no begin, or the event is an alias.
    fn add_event(&mut self, event: Event<'_>, span: Span) -> Result<(), &'static str> {
        let range = self.positions.range(span);
        match event {
            Event::Scalar(text, style, ..) => self.add_node(parse_scalar(&text, style, range)),
            Event::SequenceStart(..) | Event::MappingStart(..) if self.stack.len() >= MAX_NESTING_DEPTH => {
                return Err("is nested too deep");
            }
            Event::SequenceStart(..) => self.stack.push(OpenNode::List(range.start, Vec::new())),
            Event::MappingStart(..) => self.stack.push(OpenNode::Table(range.start, Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => match self.stack.pop() {
                Some(OpenNode::List(start, list)) => {
                    self.add_node(Node { item: Item::List(list), span: start..range.end })
                }
                // A key that still waits for its value is dropped here.
                Some(OpenNode::Table(start, entries, _)) => self.add_node(Node::table(start..range.end, entries)),
                None => return Err("ends a block that was not started"),
            },
            Event::Alias(_) => return Err("is a reference, which is not supported"),
            _ => {}
        }
        Ok(())
    }

    /// Adds a complete node to the innermost open list or table. Without an open one, the node becomes the document,
    /// unless there is one already. In a table, nodes are keys and values in turn. A number as a key becomes a text;
    /// any other key that is not a text becomes an empty name.
    fn add_node(&mut self, node: Node) {
        match self.stack.last_mut() {
            Some(OpenNode::List(_, list)) => list.push(node),
            Some(OpenNode::Table(_, entries, key)) => match key.take() {
                // The node is the value of the waiting key.
                Some(key) => entries.push((key, node)),
                None => {
                    // The node is the next key.
                    let name = match node.item {
                        Item::Text(text) => text,
                        Item::Number { value, .. } => value.to_string(),
                        _ => String::new(),
                    };
                    *key = Some(Key { name, span: node.span });
                }
            },
            None => self.document = self.document.take().or(Some(node)),
        }
    }
}

/// Converts a scalar to a flag (`true`, `false`), a number or a text. Quoted and block scalars are always texts.
fn parse_scalar(text: &str, style: ScalarStyle, span: Range<usize>) -> Node {
    let item = match text {
        _ if style != ScalarStyle::Plain => Item::Text(text.to_owned()),
        "true" => Item::Flag(true),
        "false" => Item::Flag(false),
        _ => parse_number(text).unwrap_or_else(|| Item::Text(text.to_owned())),
    };
    Node { item, span }
}

/// Parses a decimal number. Returns `None` for any other text, also for `inf` and `nan`: after signs and dots, the text
/// must continue with a digit. Absolute values below [`ZERO_TOLERANCE`] become 0. The number is whole if the text has
/// neither a dot nor an exponent.
pub(crate) fn parse_number(text: &str) -> Option<Item> {
    let begins_with_digit = text.trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit());
    let value = text.parse::<f64>().ok().filter(|_| begins_with_digit)?;
    let value = if value.abs() < ZERO_TOLERANCE { 0.0 } else { value };
    Some(Item::Number { value, whole: !text.contains(['.', 'e', 'E']) })
}
