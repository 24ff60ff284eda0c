//! Parser for text scenes of Godot: sections with a header `[node name="…" type="…"]` and statements `key = value`.
//!
//! A broken statement adds a fault and is skipped. Vectors and transforms become lists of numbers. References become the text
//! of their argument.

use crate::{Import, yaml};
use skidpad_spec::FaultKind;
use skidpad_spec::read::{Item, Key, Node};

/// Maximum nesting depth of values.
const MOST_DEPTH: usize = 64;

/// Section: `[kind attributes]` with the statements below it.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// First word of the header.
    pub kind: String,
    /// Table of the attributes in the header.
    pub attributes: Node,
    /// Table of the statements below the header.
    pub body: Node,
}

impl Section {
    /// Returns the text of an attribute; an empty text if it is missing or not a text.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).and_then(Node::text).unwrap_or("")
    }
}

/// Parses the text of the import. Returns its sections in order and adds a fault for each broken statement.
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

/// Parser with a position in the text.
struct Reader<'a> {
    /// Text of the scene.
    text: &'a str,
    /// Position of the next character (bytes).
    at: usize,
}

/// Parsed item, or a description of the fault.
type Parsed<T> = Result<T, &'static str>;

impl Reader<'_> {
    /// Returns the next character without consuming it.
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Consumes the next character if it is `wanted`. Returns whether it was.
    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Skips spaces, line breaks, comments and byte order marks.
    fn skip_blank(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                ';' => self.skip_line(),
                c if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
                _ => return,
            }
        }
    }

    /// Skips the rest of the line with its line break.
    fn skip_line(&mut self) {
        self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end + 1);
    }

    /// Consumes letters, digits and `_/.:-`. The word is empty if there are none.
    fn word(&mut self) -> Key {
        let part = |c: char| c.is_alphanumeric() || "_/.:-".contains(c);
        let start = self.at;
        while let Some(c) = self.peek().filter(|c| part(*c)) {
            self.at += c.len_utf8();
        }
        Key { name: self.text[start..self.at].to_owned(), span: start..self.at }
    }

    /// Parses a header after its `[` and appends its section to `found`.
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

    /// Parses `key = value` and adds it to the last section of `found`.
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

    /// Parses a value at the nesting `depth`. The content of a dictionary is skipped.
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

    /// Parses a number, a flag, or a constructor with its arguments. A constructor becomes the list of its arguments, or a single
    /// text argument itself.
    fn named(&mut self, depth: usize) -> Parsed<Item> {
        let number = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        let length = self.text[self.at..].find(|c| !number(c)).unwrap_or(self.text.len() - self.at);
        let word = &self.text[self.at..self.at + length];
        if word.is_empty() {
            return Err("is no value");
        }
        self.at += length;
        if self.eat('[') {
            // A type parameter, as in `Array[Type](…)`.
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

    /// Parses values up to `end`, which is consumed. Keys of a dictionary count as values.
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
                    // Type of a typed array.
                    list.push(Node { item: Item::Text(word.name), span: word.span });
                    continue;
                }
                self.at = before;
            }
            list.push(self.value(depth + 1)?);
        }
    }

    /// Parses a text in double quotes. A backslash takes the next character literally.
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
