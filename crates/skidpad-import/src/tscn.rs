//! Godot's text scenes as sections with trees: `[node name="…" type="…"]`, then `key = value`.
//!
//! A broken statement is reported and passed over; vectors and transforms are lists of numbers, references the text
//! of what they refer to.

use crate::{Import, yaml};
use skidpad_spec::FaultKind;
use skidpad_spec::read::{Item, Key, Node};

/// Deeper than any scene's values.
const MOST_DEPTH: usize = 64;

/// `[kind attributes]` with the statements below it.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub kind: String,
    /// What stands in the header.
    pub attributes: Node,
    /// What stands below.
    pub body: Node,
}

impl Section {
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).and_then(Node::text).unwrap_or("")
    }
}

/// The sections of the import's text, in order.
pub(crate) fn sections(import: &mut Import<'_>) -> Vec<Section> {
    let text = import.text;
    let mut reader = Reader { text, at: 0 };
    let mut found: Vec<Section> = Vec::new();
    loop {
        reader.skip_blank();
        if reader.at >= text.len() {
            return found;
        }
        let start = reader.at;
        let result = if reader.eat('[') { reader.header(&mut found) } else { reader.statement(&mut found) };
        if let Err(what) = result {
            let at = reader.at.min(text.len());
            let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            import.collector.fault(FaultKind::Syntax, String::new(), at..end, what, "a Godot scene", None);
            reader.at = at.max(start);
            reader.skip_line();
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, &'static str>;

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Spaces, line breaks and comments.
    fn skip_blank(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                ';' => self.skip_line(),
                c if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end + 1);
    }

    fn word(&mut self) -> Key {
        let part = |c: char| c.is_alphanumeric() || "_/.:-".contains(c);
        let start = self.at;
        while let Some(c) = self.peek().filter(|c| part(*c)) {
            self.at += c.len_utf8();
        }
        Key { name: self.text[start..self.at].to_owned(), span: start..self.at }
    }

    fn header(&mut self, found: &mut Vec<Section>) -> Parsed<()> {
        let start = self.at;
        let kind = self.word();
        if kind.name.is_empty() {
            return Err("a header without a name");
        }
        let mut attributes = Vec::new();
        loop {
            self.skip_blank();
            if self.eat(']') {
                break;
            }
            let key = self.word();
            if key.name.is_empty() || !self.eat('=') {
                return Err("is neither `name=value` nor the end of the header");
            }
            attributes.push((key, self.value(0)?));
        }
        let span = start..self.at;
        let attributes = Node::table(span.clone(), attributes);
        found.push(Section { kind: kind.name, attributes, body: Node::table(span, Vec::new()) });
        Ok(())
    }

    fn statement(&mut self, found: &mut [Section]) -> Parsed<()> {
        let key = self.word();
        self.skip_blank();
        if key.name.is_empty() || !self.eat('=') {
            return Err("is neither a header nor `key = value`");
        }
        while self.eat(' ') || self.eat('\t') {}
        let node = self.value(0)?;
        let section = found.last_mut().ok_or("stands before the first header")?;
        if let Item::Table(entries) = &mut section.body.item {
            entries.push((key, node));
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Parsed<Node> {
        if depth > MOST_DEPTH {
            return Err("is nested too deep");
        }
        let start = self.at;
        let item = match self.peek().filter(|c| !"\r\n".contains(*c)).ok_or("the value is missing")? {
            '"' => Item::Text(self.quoted()?),
            '&' | '^' => {
                self.at += 1;
                Item::Text(self.quoted()?)
            }
            '[' => {
                self.at += 1;
                Item::List(self.list(']', depth)?)
            }
            '{' => {
                self.at += 1;
                self.list('}', depth)?;
                Item::Other
            }
            _ => self.named(depth)?,
        };
        Ok(Node { item, span: start..self.at })
    }

    /// A number, a flag, or a constructor with its arguments.
    fn named(&mut self, depth: usize) -> Parsed<Item> {
        let number = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        let length = self.text[self.at..].find(|c| !number(c)).unwrap_or(self.text.len() - self.at);
        let word = &self.text[self.at..self.at + length];
        if word.is_empty() {
            return Err("is no value");
        }
        self.at += length;
        if self.eat('[') {
            // `Array[Type](…)` and the like.
            self.list(']', depth)?;
        }
        if self.eat('(') {
            let arguments = self.list(')', depth)?;
            return Ok(match &arguments[..] {
                [only] if only.text().is_some() => only.item.clone(),
                _ => Item::List(arguments),
            });
        }
        Ok(match word {
            "true" => Item::Flag(true),
            "false" => Item::Flag(false),
            "null" | "nil" => Item::Other,
            _ => yaml::number(word).ok_or("is no value")?,
        })
    }

    /// Values up to `end`; keys of a dictionary count as values.
    fn list(&mut self, end: char, depth: usize) -> Parsed<Vec<Node>> {
        let mut list = Vec::new();
        loop {
            self.skip_blank();
            if self.eat(end) {
                return Ok(list);
            }
            if self.eat(',') || self.eat(':') {
                continue;
            }
            if end == ']' && self.peek().is_some_and(char::is_alphabetic) {
                let before = self.at;
                let word = self.word();
                if self.peek() == Some(end) || self.peek() == Some(',') {
                    // The type of a typed array.
                    list.push(Node { item: Item::Text(word.name), span: word.span });
                    continue;
                }
                self.at = before;
            }
            list.push(self.value(depth + 1)?);
        }
    }

    fn quoted(&mut self) -> Parsed<String> {
        if !self.eat('"') {
            return Err("a text begins with \"");
        }
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or("the text is not closed")?;
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(text),
                '\\' => {
                    let escaped = self.peek().ok_or("the text is not closed")?;
                    self.at += escaped.len_utf8();
                    text.push(escaped);
                }
                c => text.push(c),
            }
        }
    }
}
