//! Parser for text scenes of Godot: sections with a header `[node name="…" type="…"]` and statements `key = value`.
//!
//! A broken statement adds a fault and is skipped. Vectors and transforms become lists of numbers. References become
//! the text of their argument.

use crate::{Import, yaml};
use skidpad_spec::FaultKind;
use skidpad_spec::read::{Item, Key, Node};

/// Maximum nesting depth of values.
const MAX_NESTING_DEPTH: usize = 64;

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

/// Parses the text of the import. Returns its sections in order. A broken statement or header adds a fault with its
/// place; parsing continues on the next line.
pub(crate) fn parse_sections(import: &mut Import<'_>) -> Vec<Section> {
    let text = import.text;
    let mut reader = Reader { text, position: 0 };
    let mut sections: Vec<Section> = Vec::new();
    loop {
        reader.skip_blank();
        if reader.position >= text.len() {
            return sections;
        }
        let start = reader.position;
        let result = if reader.consume('[') {
            reader.parse_header(&mut sections)
        } else {
            reader.parse_statement(&mut sections)
        };
        if let Err(message) = result {
            // The fault covers the character at which parsing stopped.
            let fault_start = reader.position.min(text.len());
            let end = text[fault_start..].chars().next().map_or(fault_start, |c| fault_start + c.len_utf8());
            import.collector.add_fault(
                FaultKind::Syntax,
                String::new(),
                fault_start..end,
                message,
                "a Godot scene",
                None, // no help
            );
            // At least one line is skipped, so that the loop ends.
            reader.position = fault_start.max(start);
            reader.skip_line();
        }
    }
}

/// Parser with a position in the text.
struct Reader<'a> {
    /// Text of the scene.
    text: &'a str,
    /// Position of the next character (bytes).
    position: usize,
}

/// Parsed item, or a description of the fault.
type ParseResult<T> = Result<T, &'static str>;

impl Reader<'_> {
    /// Returns the next character without consuming it.
    fn peek(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    /// Consumes the next character if it is `character`. Returns whether it was.
    fn consume(&mut self, character: char) -> bool {
        let is_next = self.peek() == Some(character);
        if is_next {
            self.position += character.len_utf8();
        }
        is_next
    }

    /// Skips spaces, line breaks, comments and byte order marks.
    fn skip_blank(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                ';' => self.skip_line(),
                c if c.is_whitespace() || c == '\u{feff}' => self.position += c.len_utf8(),
                _ => return,
            }
        }
    }

    /// Skips the rest of the line with its line break.
    fn skip_line(&mut self) {
        self.position = self.text[self.position..].find('\n').map_or(self.text.len(), |end| self.position + end + 1);
    }

    /// Consumes letters, digits and `_/.:-` and returns them with their span. The word is empty if there are none.
    fn parse_word(&mut self) -> Key {
        let is_word_character = |c: char| c.is_alphanumeric() || "_/.:-".contains(c);
        let start = self.position;
        while let Some(c) = self.peek().filter(|c| is_word_character(*c)) {
            self.position += c.len_utf8();
        }
        Key { name: self.text[start..self.position].to_owned(), span: start..self.position }
    }

    /// Parses a header after its `[`: the kind, then attributes `name=value` up to `]`. Blanks, line breaks and
    /// comments between the attributes are skipped. Appends a section without statements to `sections`. Returns a
    /// description of the fault if the header has no kind or a broken attribute.
    fn parse_header(&mut self, sections: &mut Vec<Section>) -> ParseResult<()> {
        let start = self.position;
        let kind = self.parse_word();
        if kind.name.is_empty() {
            return Err("a header without a name");
        }
        let mut attributes = Vec::new();
        loop {
            self.skip_blank();
            if self.consume(']') {
                break;
            }
            let key = self.parse_word();
            if key.name.is_empty() || !self.consume('=') {
                return Err("is neither `name=value` nor the end of the header");
            }
            attributes.push((key, self.parse_value(0)?));
        }
        let span = start..self.position;
        let attributes = Node::table(span.clone(), attributes);
        sections.push(Section { kind: kind.name, attributes, body: Node::table(span, Vec::new()) });
        Ok(())
    }

    /// Parses `key = value` and adds it to the last section of `sections`. Returns a description of the fault for a
    /// missing key, `=` or value, and for a statement before the first header.
    fn parse_statement(&mut self, sections: &mut [Section]) -> ParseResult<()> {
        let key = self.parse_word();
        self.skip_blank();
        if key.name.is_empty() || !self.consume('=') {
            return Err("is neither a header nor `key = value`");
        }
        while self.consume(' ') || self.consume('\t') {}
        let node = self.parse_value(0)?;
        let section = sections.last_mut().ok_or("is before the first header")?;
        if let Item::Table(entries) = &mut section.body.item {
            entries.push((key, node));
        }
        Ok(())
    }

    /// Parses a value at the nesting `depth`: a quoted text (also with the prefix `&` or `^`), a list in `[]`, a
    /// dictionary in `{}`, or a named value. A dictionary becomes `Item::Other`: its content is parsed and dropped. A
    /// line end instead of a value, and a nesting above [`MAX_NESTING_DEPTH`], are faults.
    fn parse_value(&mut self, depth: usize) -> ParseResult<Node> {
        if depth > MAX_NESTING_DEPTH {
            return Err("is nested too deep");
        }
        let start = self.position;
        let item = match self.peek().filter(|c| !"\r\n".contains(*c)).ok_or("the value is missing")? {
            '"' => Item::Text(self.parse_quoted()?),
            '&' | '^' => {
                self.position += 1;
                Item::Text(self.parse_quoted()?)
            }
            '[' => {
                self.position += 1;
                Item::List(self.parse_list(']', depth)?)
            }
            '{' => {
                self.position += 1;
                self.parse_list('}', depth)?;
                Item::Other
            }
            _ => self.parse_named_value(depth)?,
        };
        Ok(Node { item, span: start..self.position })
    }

    /// Parses a number, `true`, `false`, `null`, or a constructor with its arguments, such as `Vector3(0, 1, 0)`. A
    /// constructor with a single text argument becomes this text, any other the list of its arguments. A type parameter
    /// is dropped.
    fn parse_named_value(&mut self, depth: usize) -> ParseResult<Item> {
        // Characters of a number, a flag or the name of a constructor.
        let is_word_character = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        let length =
            self.text[self.position..].find(|c| !is_word_character(c)).unwrap_or(self.text.len() - self.position);
        let word = &self.text[self.position..self.position + length];
        if word.is_empty() {
            return Err("is not a value");
        }
        self.position += length;
        if self.consume('[') {
            // A type parameter, as in `Array[Type](…)`.
            self.parse_list(']', depth)?;
        }
        if self.consume('(') {
            let arguments = self.parse_list(')', depth)?;
            return Ok(match &arguments[..] {
                [argument] if argument.text().is_some() => argument.item.clone(),
                _ => Item::List(arguments),
            });
        }
        Ok(match word {
            "true" => Item::Flag(true),
            "false" => Item::Flag(false),
            "null" | "nil" => Item::Other,
            _ => yaml::parse_number(word).ok_or("is not a value")?,
        })
    }

    /// Parses values up to the character `end`, which is consumed. Commas and colons between the values are skipped and
    /// may be missing, so that keys of a dictionary count as values. If `end` is `]`, a bare word before `,` or `]` is
    /// the type of a typed array and becomes a text.
    fn parse_list(&mut self, end: char, depth: usize) -> ParseResult<Vec<Node>> {
        let mut list = Vec::new();
        loop {
            self.skip_blank();
            if self.consume(end) {
                return Ok(list);
            }
            if self.consume(',') || self.consume(':') {
                continue;
            }
            if end == ']' && self.peek().is_some_and(char::is_alphabetic) {
                let start = self.position;
                let word = self.parse_word();
                if self.peek() == Some(end) || self.peek() == Some(',') {
                    // Type of a typed array.
                    list.push(Node { item: Item::Text(word.name), span: word.span });
                    continue;
                }
                // Not a type: the value begins with this word.
                self.position = start;
            }
            list.push(self.parse_value(depth + 1)?);
        }
    }

    /// Parses a text in double quotes and returns its content. A backslash is dropped, and the next character is kept
    /// as it is: `\n` becomes `n`. Line breaks are allowed.
    fn parse_quoted(&mut self) -> ParseResult<String> {
        if !self.consume('"') {
            return Err("a text starts with \"");
        }
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or("the text is not closed")?;
            self.position += c.len_utf8();
            match c {
                '"' => return Ok(text),
                '\\' => {
                    let escaped = self.peek().ok_or("the text is not closed")?;
                    self.position += escaped.len_utf8();
                    text.push(escaped);
                }
                c => text.push(c),
            }
        }
    }
}
