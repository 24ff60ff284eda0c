//! Splitting of the text of a `.tir` file into statements with their places: `[SECTION]` and `KEY = value`.
//!
//! Comments run from `$` or `!` to the end of the line, outside of quotes. Tables without keys (such as `[SHAPE]`) are
//! in sections that are not read. In all other sections, a line that is no statement is a fault.

use crate::fault::push_fault;
use crate::{Fault, FaultKind};
use std::ops::Range;

/// Part of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TextLocation {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// Statement `KEY = value`.
#[derive(Clone, Debug)]
pub(super) struct Statement<'a> {
    /// Section in upper case; empty before the first header.
    pub section: String,
    /// Key in upper case.
    pub key: String,
    /// Value without comment and surrounding spaces.
    pub value: &'a str,
    /// Place of the value, or of the whole statement if the value is empty.
    pub place: TextLocation,
}

/// Section header `[SECTION]`.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// Name in upper case.
    pub name: String,
    /// Place of the header.
    pub place: TextLocation,
}

/// Statements, headers and faults of a text.
#[derive(Debug, Default)]
pub(super) struct ParsedText<'a> {
    /// Statements in the order of the text.
    pub statements: Vec<Statement<'a>>,
    /// Section headers in the order of the text.
    pub headers: Vec<Header>,
    /// Faults of the lines.
    pub faults: Vec<Fault>,
}

/// Builds a fault of the key `path` at `place`: `found` is the value found, `accepts` the accepted values, `help` a
/// hint. The fault contradicts no other place.
pub(super) fn new_fault(
    kind: FaultKind,
    path: &str,
    place: &TextLocation,
    found: &str,
    accepts: &str,
    help: Option<String>,
) -> Fault {
    Fault {
        kind,
        path: path.to_owned(),
        line: place.line,
        column: place.column,
        found: found.to_owned(),
        accepts: accepts.to_owned(),
        help,
        span: place.span.clone(),
        contradicted_span: None,
    }
}

/// Splits `text` line by line into headers and statements with their sections, and collects its faults. A header sets
/// the section of the statements after it. Comments, blank lines and byte order marks are skipped. Faults are unclosed
/// quotes, malformed headers and keys, and, in sections that are read, lines without `=`; in other sections such lines
/// are skipped.
pub(super) fn split_statements(text: &str) -> ParsedText<'_> {
    let mut parsed_text = ParsedText::default();
    let mut section = String::new();
    let mut start = 0;
    for (i, raw_line) in text.split_inclusive('\n').enumerate() {
        let line = Line { text, start, line_number: i + 1 };
        start += raw_line.len();
        let content = raw_line.trim_start_matches('\u{feff}');
        let (content, has_closed_quotes) = strip_comment(content);
        let content = content.trim();
        if content.is_empty() {
            continue;
        }
        let place = line.location(content);
        if !has_closed_quotes {
            let help = Some("close the text with '".into());
            push_fault(
                &mut parsed_text.faults,
                new_fault(FaultKind::Syntax, leading_word(content), &place, "the text is not closed", "'text'", help),
            );
        } else if content.starts_with('[') {
            parsed_text.add_header(content, place, &mut section);
        } else if let Some((key, value)) = content.split_once('=') {
            parsed_text.add_statement(&line, &section, key.trim(), value.trim(), place);
        } else if is_read_section(&section) {
            let help = Some("write KEY = value, or start the line with $ for a comment".into());
            let found = format!("`{content}` is neither a section nor an assignment");
            push_fault(
                &mut parsed_text.faults,
                new_fault(FaultKind::Syntax, leading_word(content), &place, &found, "KEY = value", help),
            );
        }
    }
    parsed_text
}

/// Returns true if `section` is read, so that lines without `=` are faults in it: fixed names, coefficient and range
/// sections, and the part before the first header.
fn is_read_section(section: &str) -> bool {
    let read_sections =
        ["", "MDI_HEADER", "UNITS", "MODEL", "DIMENSION", "OPERATING_CONDITIONS", "INERTIA", "VERTICAL", "STRUCTURAL"];
    let read_suffixes = ["_COEFFICIENTS", "_RANGE"];
    read_sections.contains(&section) || read_suffixes.iter().any(|suffix| section.ends_with(suffix))
}

/// Returns the word at the start of a broken line; empty if it starts with another character.
fn leading_word(content: &str) -> &str {
    let is_word_character = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = content.find(|c| !is_word_character(c)).unwrap_or(content.len());
    &content[..end]
}

/// Returns the line up to its comment (`$` or `!` outside of quotes), and whether its quotes (`'` or `"`) are closed. A
/// quote ends only at the same character.
fn strip_comment(line: &str) -> (&str, bool) {
    let mut quote = None;
    for (index, c) in line.char_indices() {
        match (quote, c) {
            (None, '$' | '!') => return (&line[..index], true),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open_quote), c) if open_quote == c => quote = None,
            _ => {}
        }
    }
    (line, quote.is_none())
}

/// Line of a text, with its first byte and its number from 1.
struct Line<'a> {
    /// Whole text.
    text: &'a str,
    /// First byte of the line.
    start: usize,
    /// Line, from 1.
    line_number: usize,
}

impl Line<'_> {
    /// Returns the place of `part`, which must be a slice of this line: line number, column in characters from 1, and
    /// bytes in the whole text.
    fn location(&self, part: &str) -> TextLocation {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        // An empty slice may have any address: its offset is limited to the rest of the text.
        let offset = if part.is_empty() { offset.max(self.start).min(self.text.len()) } else { offset };
        let text_before = self.text.get(self.start..offset).unwrap_or("");
        TextLocation {
            line: self.line_number,
            column: text_before.chars().count() + 1,
            span: offset..offset + part.len(),
        }
    }
}

impl<'a> ParsedText<'a> {
    /// Adds a header, and stores its name in upper case in `section`. A header without `]`, without a name or with a
    /// name of other characters than letters, digits, `_`, `-` and spaces is a syntax fault, but is added as well.
    fn add_header(&mut self, content: &str, place: TextLocation, section: &mut String) {
        let name = content[1..].trim_end_matches(']').trim().to_ascii_uppercase();
        let is_name_character = |c: char| c.is_ascii_alphanumeric() || "_- ".contains(c);
        if !content.ends_with(']') || name.is_empty() || !name.chars().all(is_name_character) {
            let found = format!("`{content}` is not a section header");
            let help = Some("write [NAME] on a separate line".into());
            push_fault(&mut self.faults, new_fault(FaultKind::Syntax, &name, &place, &found, "[NAME]", help));
        }
        section.clone_from(&name);
        self.headers.push(Header { name, place });
    }

    /// Adds a statement of `section` with its key in upper case. A key that is empty or has other characters than
    /// letters, digits and `_` is a syntax fault at `statement_place`, and nothing is added. The place of a statement
    /// is that of the value, or `statement_place` if the value is empty.
    fn add_statement(
        &mut self,
        line: &Line<'a>,
        section: &str,
        key: &str,
        value: &'a str,
        statement_place: TextLocation,
    ) {
        let is_key_character = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if key.is_empty() || !key.chars().all(is_key_character) {
            let found = format!("`{key}` is not a valid key");
            let help = Some("a key consists of letters, digits and _".into());
            push_fault(
                &mut self.faults,
                new_fault(FaultKind::Syntax, leading_word(key), &statement_place, &found, "KEY = value", help),
            );
            return;
        }
        let place = if value.is_empty() { statement_place } else { line.location(value) };
        let (section, key) = (section.to_owned(), key.to_ascii_uppercase());
        self.statements.push(Statement { section, key, value, place });
    }
}
