//! Repair of broken TOML: each broken statement is reported and blanked out, so that the rest can still be read.
//!
//! Blanking keeps the position of every other byte. Positions in the blanked text are positions in the original.

use crate::FaultKind;
use crate::fault_collector::FaultCollector;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::de::DeTable;

/// Maximum number of broken statements that are repaired. A text with more is not read further.
const MAX_REPAIRED_STATEMENTS: usize = 32;

/// Maximum length of a header in which repeated tables are numbered, bytes.
const MAX_HEADER_BYTES: usize = 1000;

/// Reports the broken statements of `text` to `collector`, and returns the text with these statements replaced by
/// spaces. Parses the text repeatedly, and blanks the statement of the first error each time. The path of each
/// statement is marked as a placeholder, so that its key is not reported as missing. The place of a fault is that of
/// the error or, for a statement that is not closed, its last character. A second fault with the same path and place is
/// not reported. Returns `None` if nothing is left to read, or after [`MAX_REPAIRED_STATEMENTS`] repairs.
pub(super) fn blank_broken_statements(text: &str, collector: &mut FaultCollector) -> Option<String> {
    let mut lines = Lines::new(text);
    let mut reported_places = BTreeSet::new();
    for _ in 0..MAX_REPAIRED_STATEMENTS {
        let repaired_text = lines.text();
        let Err(error) = DeTable::parse(&repaired_text) else {
            return Some(repaired_text);
        };
        let span = error.span().unwrap_or(0..0);
        let line = lines.line_containing(span.start);
        // Without any text left, `?` ends the repair.
        let broken_lines = lines.nearest_text_lines(lines.statement_lines(line, error.message()))?;
        let path = lines.statement_path(broken_lines.start);
        let (message, span) = match error.message() {
            // The parser reports the error behind the statement that lacks its end.
            _ if broken_lines.end <= line => ("is not closed".to_owned(), lines.last_character_span(&broken_lines)),
            "duplicate key" => ("is defined twice".to_owned(), span),
            parser_message => {
                (parser_message.trim_end_matches(", expected nothing").to_owned(), visible_span(text, &span))
            }
        };
        // Blanking the start of a longer statement can leave its end, which then fails at the same place.
        if reported_places.insert((path.clone(), span.start)) {
            collector.add_fault(FaultKind::Syntax, path.clone(), span, message, "valid TOML", None); // no help
        }
        collector.placeholder_paths.insert(path);
        lines.blank_lines(broken_lines);
    }
    None
}

/// Returns `span` or, if it starts at a line break or at the end of the text, the character before it. An empty line
/// gives an empty span.
fn visible_span(text: &str, span: &Range<usize>) -> Range<usize> {
    let is_at_break = text.as_bytes().get(span.start).is_none_or(|b| matches!(b, b'\n' | b'\r'));
    if !is_at_break {
        return span.clone();
    }
    let text_before = text.get(..span.start).unwrap_or_default();
    // The line break `\r\n` has two characters; the span may start at the second.
    let line = text_before.strip_suffix('\r').unwrap_or(text_before);
    match line.chars().next_back() {
        Some(c) if c != '\n' => line.len() - c.len_utf8()..line.len(),
        _ => span.start..span.start,
    }
}

/// Kind of statement that starts on a line.
#[derive(Clone, Debug, PartialEq)]
enum StatementStart {
    /// Header `[name]` or, if repeated, `[[name]]`.
    Header { name: String, is_repeated: bool },
    /// Statement `key =`.
    Key(String),
    /// Continuation of a statement, or nothing.
    None,
}

/// Lines of a text, whose statements can be blanked out.
struct Lines<'a> {
    /// Lines with their line breaks. Blanked lines are owned.
    lines: Vec<std::borrow::Cow<'a, str>>,
}

impl<'a> Lines<'a> {
    /// Splits `text` into lines.
    fn new(text: &'a str) -> Self {
        Self { lines: text.split_inclusive('\n').map(Into::into).collect() }
    }

    /// Returns the text with all blanked lines.
    fn text(&self) -> String {
        self.lines.concat()
    }

    /// Returns the index of the line that contains byte `byte_offset`; the last line if `byte_offset` is beyond the
    /// end.
    fn line_containing(&self, byte_offset: usize) -> usize {
        let mut line_end = 0;
        let line_index = self.lines.iter().position(|line| {
            line_end += line.len();
            byte_offset < line_end
        });
        line_index.unwrap_or(self.lines.len().saturating_sub(1))
    }

    /// Returns the span in bytes of the last non-blank character before the end of the lines `range`.
    fn last_character_span(&self, range: &Range<usize>) -> Range<usize> {
        let text = self.lines[..range.end.min(self.lines.len())].concat();
        let end = text.trim_end().len();
        text[..end].char_indices().next_back().map_or(0..0, |(start, _)| start..end)
    }

    /// Returns the lines of the broken statement that causes an error of the parser on `line`; `message` is the text of
    /// the error. An unclosed text of several lines: from its quotes to the next header. An unclosed list or inline
    /// table, which the parser reports at the next valid statement: from the statement before `line` up to `line`,
    /// exclusive. A broken header: its whole section. Any other statement: up to the next statement. If no statement
    /// starts on `line`, the last one before `line` is meant, unless `line` begins with a word.
    fn statement_lines(&self, line: usize, message: &str) -> Range<usize> {
        let has_statement_start = |i: usize| self.statement_start(i) != StatementStart::None;
        // First line of the last statement before line `i`; `i` itself if there is none.
        let previous_statement = |i: usize| (0..i).rev().find(|&i| has_statement_start(i)).unwrap_or(i);
        if message.contains("multi-line") {
            // Whether the line has quotes of a text of several lines.
            let has_multiline_quotes = |i: &usize| self.lines[*i].contains("\"\"\"") || self.lines[*i].contains("'''");
            let first_line = (0..=line).rev().find(has_multiline_quotes).unwrap_or(line);
            return first_line..self.next_header(first_line + 1);
        }
        // The parser reports the unclosed `a = [1, 2` at the next statement, which is valid.
        let is_in_brackets = message.contains("array") || message.contains("inline table");
        if is_in_brackets && has_statement_start(line) && DeTable::parse(&self.lines[line]).is_ok() {
            return previous_statement(line)..line;
        }
        let first_line = if has_statement_start(line) { line } else { previous_statement(line) };
        // A line that begins with a word is a broken statement of its own.
        let first_line = if self.begins_with_word(line) { line } else { first_line };
        match self.statement_start(first_line) {
            StatementStart::Header { .. } => first_line..self.next_header(line + 1),
            _ => first_line..(line + 1..self.lines.len()).find(|&i| has_statement_start(i)).unwrap_or(self.lines.len()),
        }
    }

    /// Returns true if the line begins with a word, like `mass_kg 1500`, so that it does not continue a list.
    fn begins_with_word(&self, line: usize) -> bool {
        let text = self.lines.get(line).map_or("", |l| l.trim_start());
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// Returns `range` or, if all its lines are blank, the nearest line before `range` that is not blank. Returns
    /// `None` if there is no such line.
    fn nearest_text_lines(&self, range: Range<usize>) -> Option<Range<usize>> {
        let has_text = |i: usize| self.lines.get(i).is_some_and(|line| line.contains(|c| !" \t\r\n".contains(c)));
        if range.clone().any(has_text) {
            return Some(range);
        }
        (0..range.start).rev().find(|&i| has_text(i)).map(|i| i..i + 1)
    }

    /// Returns the index of the first header at or after line `first_line`; the number of lines if there is none.
    fn next_header(&self, first_line: usize) -> usize {
        let is_header = |i: &usize| matches!(self.statement_start(*i), StatementStart::Header { .. });
        (first_line..self.lines.len()).find(is_header).unwrap_or(self.lines.len())
    }

    /// Returns the kind of statement that starts on line `line`.
    fn statement_start(&self, line: usize) -> StatementStart {
        self.lines.get(line).map_or(StatementStart::None, |text| statement_start(text))
    }

    /// Returns the path of the statement that begins on `line`: name of its section and its key, such as
    /// `axles[1].track_m`. Each repeated table (`[[…]]`) has its index from 0, counted up to `line`. The path of a
    /// header is that of its section. For a line that is no statement, the first word is the key.
    fn statement_path(&self, line: usize) -> String {
        // Name of the last header up to `line`, and the index of each repeated table so far.
        let mut last_header = None;
        let mut header_indices: BTreeMap<String, usize> = BTreeMap::new();
        for i in 0..=line.min(self.lines.len().saturating_sub(1)) {
            let StatementStart::Header { name, is_repeated } = self.statement_start(i) else {
                continue;
            };
            if is_repeated {
                header_indices.entry(name.clone()).and_modify(|index| *index += 1).or_insert(0);
            }
            last_header = Some(name);
        }
        let section = last_header.map(|name| indexed_path(&name, &header_indices)).unwrap_or_default();
        let line_text = self.lines.get(line).map_or("", |l| l.trim());
        let key = match self.statement_start(line) {
            StatementStart::Header { .. } => return section,
            StatementStart::Key(key) => key,
            StatementStart::None => {
                line_text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("").into()
            }
        };
        match (section.is_empty(), key.is_empty()) {
            (true, _) => key,
            (false, true) => section,
            (false, false) => format!("{section}.{key}"),
        }
    }

    /// Replaces every byte of the lines `range` by a space, except for line feeds, so that positions in the text stay
    /// valid.
    fn blank_lines(&mut self, range: Range<usize>) {
        for line in self.lines.get_mut(range).into_iter().flatten() {
            let blanked_line: Vec<u8> = line.bytes().map(|byte| if byte == b'\n' { byte } else { b' ' }).collect();
            *line = String::from_utf8_lossy(&blanked_line).into_owned().into();
        }
    }
}

/// Returns the path of the header `name` with the index of each repeated table in it, such as `axles[1].suspension`.
/// `header_indices` has the last index of each repeated table by its name without indices. Names longer than
/// [`MAX_HEADER_BYTES`] are returned unchanged.
fn indexed_path(name: &str, header_indices: &BTreeMap<String, usize>) -> String {
    // The cost of the lookups is proportional to the square of the length.
    if name.len() > MAX_HEADER_BYTES {
        return name.to_owned();
    }
    // The path with indices, and the one without, which is the key of `header_indices`.
    let mut path = String::new();
    let mut plain_path = String::new();
    for part in name.split('.') {
        for joined_path in [&mut path, &mut plain_path] {
            if !joined_path.is_empty() {
                joined_path.push('.');
            }
            joined_path.push_str(part);
        }
        if let Some(index) = header_indices.get(&plain_path) {
            path.push_str(&format!("[{index}]"));
        }
    }
    path
}

/// Returns the kind of statement that starts on `line`, up to the first `#`. A line with `=` after a valid key is a
/// `Key`. A valid name with a bracket at its start or its end is a `Header`, repeated if two brackets are there.
/// Everything else is `None`, also a line with `=` after other text.
fn statement_start(line: &str) -> StatementStart {
    let text = line.split('#').next().unwrap_or("").trim();
    let header_name = |s: &str| s.trim_matches(['[', ']', ' ']).to_owned();
    let is_key_character = |c: char| c.is_alphanumeric() || "_-. \"'".contains(c);
    if let Some((key, _)) = text.split_once('=') {
        let key = key.trim();
        return if !key.is_empty() && key.chars().all(is_key_character) {
            StatementStart::Key(key.to_owned())
        } else {
            StatementStart::None
        };
    }
    let name_text = text.trim_start_matches('[');
    let is_bracketed = text.starts_with('[') || text.ends_with(']');
    let has_name = name_text.starts_with(|c: char| c.is_alphabetic() || "_\"'".contains(c));
    if is_bracketed && has_name && name_text.trim_end_matches(']').chars().all(is_key_character) {
        return StatementStart::Header {
            name: header_name(text),
            is_repeated: text.starts_with("[[") || text.ends_with("]]"),
        };
    }
    StatementStart::None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that the repair of `text` reports faults at `paths`, in this order, keeps the length of the text, and
    /// leaves the lines `left`, joined by `|` without blank lines and surrounding spaces.
    #[track_caller]
    fn check(text: &str, paths: &[&str], left: &str) {
        let mut collector = FaultCollector::default();
        let repaired_text = blank_broken_statements(text, &mut collector).expect("mended");
        let found: Vec<&str> = collector.faults.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(found, paths, "{text}");
        assert_eq!(repaired_text.len(), text.len());
        let left_lines: Vec<&str> = repaired_text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        assert_eq!(left_lines.join("|"), left, "{text}");
    }

    /// Broken keys, values, lists and inline tables, an open text and a repeated key are blanked alone; each is
    /// reported at its own path.
    #[test]
    fn only_the_broken_statement_is_lost() {
        check("a = = 1\nb = 2\n", &["a"], "b = 2");
        check("[x]\na 1\nb = 2\n", &["x.a"], "[x]|b = 2");
        check("[x]\na = [1, 2\nb = 2\n[y]\nc = 3\n", &["x.a"], "[x]|b = 2|[y]|c = 3");
        check("a = [\n  { r = 1 },\n  { r = 2 \n]\nb = 2\n", &["a"], "b = 2");
        check("a = \"x\nb = 2", &["a"], "b = 2");
        check("a = 1\na = 2\nb = 3\n", &["a"], "a = 1|b = 3");
        check("a = 1kg\nb = 1.2.3\nc = é\nd = 4\n", &["a", "b", "c"], "d = 4");
    }

    /// A header without one of its brackets is blanked with all keys of its section; other sections stay.
    #[test]
    fn a_broken_header_takes_its_section_along() {
        check("[x\na = 1\n[y]\nb = 2\n", &["x"], "[y]|b = 2");
        check("x]\na = 1\n[y]\nb = 2\n", &["x"], "[y]|b = 2");
        check("[[x]]\na = 1\n[[x]]\n[x.y\nb = 1\n[z]\nc = = 2\n", &["x[1].y", "z.c"], "[[x]]|a = 1|[[x]]|[z]");
    }

    #[test]
    fn an_open_text_of_many_lines_ends_at_the_next_header() {
        check("a = \"\"\"x\ny\n[z]\nb = 2\n", &["a"], "[z]|b = 2");
    }
}
