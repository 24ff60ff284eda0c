//! Text for terminals: aligned tables, notes, and printing that survives a closed pipe.

use std::io::{ErrorKind, Write};

use miette::IntoDiagnostic;
use skidpad::spec::Loaded;

/// Tells what is worth a look in the files of a vehicle.
pub fn tell_notes(vehicle: &Loaded) {
    for note in &vehicle.notes {
        tell(&format!("worth a look: {note}"));
    }
}

/// Rows of cells, printed in columns as wide as their widest cell.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    right_from: usize,
}

impl Table {
    /// A table whose columns are aligned to the right from column `right_from` on, counted from 0.
    pub fn new(right_from: usize) -> Self {
        Self { rows: Vec::new(), right_from }
    }

    /// Appends a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text, two spaces between columns, `indent` spaces before each line.
    pub fn text(&self, indent: usize) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            for (c, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let space = " ".repeat(width - cell.chars().count());
                let (before, after) = if c >= self.right_from { (space.as_str(), "") } else { ("", space.as_str()) };
                line.push_str(before);
                line.push_str(cell);
                line.push_str(after);
                line.push_str("  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Writes `text` to the standard output; whoever closed the pipe has seen enough.
pub fn print(text: &str) -> miette::Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.into_diagnostic(),
    }
}

/// Writes a line to the standard error; whoever closed it wants to hear nothing, and what was asked for is done all the same.
pub fn tell(line: &str) {
    _ = writeln!(std::io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_characters() {
        let mut table = Table::new(1);
        table.row(["a", "m/s²", "1"]);
        table.row(["long name", "m", "12.5"]);
        assert_eq!(table.text(2), "  a          m/s²     1\n  long name     m  12.5\n");
    }
}
