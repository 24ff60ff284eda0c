//! Terminal output: aligned tables, notes, and printing that ignores a closed pipe.

use crate::failure::{Failure, Result};
use std::io::{ErrorKind, Write};
use std::path::Path;

use skidpad::spec::printable::{lines, one_line};
use skidpad::spec::{LoadedVehicle, OldKeys};

/// Prints the notes about the files of a vehicle, and its keys with old names, to the standard error.
pub fn print_notes(vehicle: &LoadedVehicle) {
    print_old_keys(&vehicle.old_keys);
    for note in &vehicle.notes {
        print_error(&format!("warning: {note}"));
    }
}

/// Prints the keys of a file with old names to the standard error; nothing if there are none.
pub fn print_old_keys(old_keys: &OldKeys) {
    if !old_keys.is_empty() {
        print_error(&format!("warning: {old_keys}"));
    }
}

/// Returns a path as printable text in one line.
pub fn printable_path(path: &Path) -> String {
    one_line(&path.to_string_lossy()).into_owned()
}

/// Number of spaces before each line of a table in a text.
pub const TABLE_INDENT: usize = 2;

/// Table of text cells. Each column is as wide as its widest cell.
#[derive(Debug, Default)]
pub struct TextTable {
    rows: Vec<Vec<String>>,
    /// Number of the first right-aligned column, from 0.
    first_right_column: usize,
}

impl TextTable {
    /// Creates an empty table whose columns from `first_right_column` on, counted from 0, are right-aligned.
    pub fn new(first_right_column: usize) -> Self {
        Self { rows: Vec::new(), first_right_column }
    }

    /// Appends a row. A row may have fewer cells than others. Control characters and line breaks in cells are escaped.
    pub fn push_row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let escape_cell = |cell: T| one_line(&cell.into()).into_owned();
        self.rows.push(cells.into_iter().map(escape_cell).collect());
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the table as text, with two spaces between columns and `indent` spaces before each line. Columns are as
    /// wide as their widest cell, counted in characters. Lines have no spaces at their ends.
    pub fn to_text(&self, indent: usize) -> String {
        let column_count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        // Width of the widest cell of a column; rows without this cell do not count.
        let column_width =
            |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..column_count).map(|column| column_width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let padding = " ".repeat(width - cell.chars().count());
                let (left_padding, right_padding) =
                    if column >= self.first_right_column { (padding.as_str(), "") } else { ("", padding.as_str()) };
                line.push_str(left_padding);
                line.push_str(cell);
                line.push_str(right_padding);
                // Gap to the next column; the one behind the last cell is trimmed below.
                line.push_str("  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Writes `text` to the standard output with control characters escaped. A closed pipe is not an error.
pub fn print(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(lines(text).as_bytes()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(Failure::from_error),
    }
}

/// Writes a line to the standard error with control characters escaped. Errors of the write are ignored.
pub fn print_error(line: &str) {
    _ = writeln!(std::io::stderr().lock(), "{}", lines(line));
}

/// Writes a report of faults to the standard error as [`print_error`] does, and keeps the colours of the report.
pub fn print_error_report(report: &str) {
    _ = writeln!(std::io::stderr().lock(), "{}", keep_styles(report));
}

/// Returns `report` with the escapes of [`lines`], except for the terminal styles in [`TERMINAL_STYLES`]. Any other
/// terminal command becomes visible text.
fn keep_styles(report: &str) -> String {
    let mut output = String::with_capacity(report.len());
    let mut remaining = report;
    while let Some(escape_start) = remaining.find(ESCAPE_CHARACTER) {
        let (plain_text, escaped_text) = remaining.split_at(escape_start);
        let (style, following_text) = escaped_text.split_at(style_length(escaped_text).unwrap_or(0));
        output.push_str(&lines(plain_text));
        output.push_str(style);
        remaining = following_text;
        // Not a style: its escape character becomes visible text, and the search continues behind it.
        if style.is_empty() {
            output.push_str(&lines(&escaped_text[..ESCAPE_CHARACTER.len_utf8()]));
            remaining = &escaped_text[ESCAPE_CHARACTER.len_utf8()..];
        }
    }
    output.push_str(&lines(remaining));
    output
}

/// First character of a terminal command.
const ESCAPE_CHARACTER: char = '\u{1b}';

/// Numbers of the terminal styles that reports use: bold, dim, underlined, and colours other than black and white. None
/// of these styles hides text.
const TERMINAL_STYLES: [&str; 17] =
    ["", "0", "1", "2", "4", "22", "24", "31", "32", "33", "34", "35", "36", "39", "91", "94", "96"];

/// Returns the length of the style `ESC [ numbers m` at the start of `text`, bytes; `None` if `text` does not start
/// with a style, or if one of its numbers is not in [`TERMINAL_STYLES`].
fn style_length(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix(ESCAPE_CHARACTER)?.strip_prefix('[')?;
    // Position of the character behind the numbers, which must be `m`.
    let numbers_end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let is_style = numbers[numbers_end..].starts_with('m')
        && numbers[..numbers_end].split(';').all(|number| TERMINAL_STYLES.contains(&number));
    // Escape character, `[` and the final `m`.
    is_style.then_some(numbers_end + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_styles_of_reports_reach_the_terminal() {
        let text = "\u{1b}[31;1mred\u{1b}[0m \u{1b}[2J\u{1b}[8mhidden\u{1b}]0;title\u{7}\u{1b}\n";
        let safe = "\u{1b}[31;1mred\u{1b}[0m \\u001b[2J\\u001b[8mhidden\\u001b]0;title\\u0007\\u001b\n";
        assert_eq!(keep_styles(text), safe);
    }

    #[test]
    fn columns_line_up_by_characters() {
        let mut table = TextTable::new(1);
        table.push_row(["a", "m/s²", "1"]);
        table.push_row(["long name", "m", "12.5"]);
        assert_eq!(table.to_text(2), "  a          m/s²     1\n  long name     m  12.5\n");
    }
}
