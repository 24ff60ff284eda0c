//! Tables of texts: CSV files as cells, columns of numbers and times.

use super::columns::ValueSource;
use crate::suggestions::nearest_name;

/// Maximum number of faults of a log that are reported.
pub const MAX_FAULTS: usize = 20;

/// Table of texts: names of the columns, then the rows with their lines in the file.
pub struct TextTable {
    names: Vec<String>,
    rows: Vec<(u64, Vec<String>)>,
}

/// Times of the rows of a log.
pub struct Times {
    /// Time of each row from the first one on, s.
    pub from_start: Vec<f64>,
    /// Time of the first row in the log, s.
    pub first: f64,
}

impl TextTable {
    /// Splits `text` into cells without surrounding white space. Lines that begin with `#` are comments.
    ///
    /// # Errors
    /// Returns the lines that are not CSV, at most [`MAX_FAULTS`], or that there is no row behind the header.
    pub fn read(text: &str) -> Result<Self, Vec<String>> {
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .comment(Some(b'#'))
            .flexible(true)
            .from_reader(text.as_bytes());
        let (mut rows, mut faults) = (Vec::new(), Vec::new());
        for record in reader.records() {
            match record {
                Ok(record) => {
                    let line = record.position().map_or(0, csv::Position::line);
                    rows.push((line, record.iter().map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()));
                }
                Err(_) if faults.len() >= MAX_FAULTS => break,
                Err(error) => faults.push(error.to_string()),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        if rows.len() < 2 {
            return Err(vec!["the log must have a header and at least one row".into()]);
        }
        let (_, names) = rows.remove(0);
        Ok(Self { names, rows })
    }

    /// Returns the finite numbers of the column `name`, each with the index of its row. Empty and missing cells are
    /// skipped. Adds a fault for a missing column, and for each cell that is not a finite number.
    pub fn numbers(&self, name: &str, faults: &mut Vec<String>) -> Vec<(usize, f64)> {
        let Some(column) = self.names.iter().position(|column| column == name) else {
            let help = nearest_name(name, self.names.iter().map(String::as_str)).map_or_else(
                || format!("the columns are {}", self.names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            faults.push(format!("no column `{name}`; {help}"));
            return Vec::new();
        };
        let mut numbers = Vec::new();
        for (row, (line, cells)) in self.rows.iter().enumerate() {
            let Some(text) = cells.get(column).filter(|text| !text.is_empty()) else { continue };
            match text.parse::<f64>().ok().filter(|number| number.is_finite()) {
                Some(number) => numbers.push((row, number)),
                None => faults.push(format!("line {line}, column `{name}`: found `{text}`, accepts a finite number")),
            }
        }
        numbers
    }

    /// Returns the times of all rows, in the order of the rows. Adds a fault and returns `None` if `source` has no
    /// column, a row has no valid time, or the times do not increase.
    pub fn times(&self, source: Option<&ValueSource>, faults: &mut Vec<String>) -> Option<Times> {
        let Some((source, column)) = source.and_then(|source| Some((source, source.column.as_ref()?))) else {
            faults.push("`t_s` must have a `column`".into());
            return None;
        };
        let numbers = self.numbers(column, faults);
        if faults.is_empty() && numbers.len() < self.rows.len() {
            faults.push(format!("column `{column}`: every row must have a time"));
        }
        let times: Vec<f64> = numbers.iter().map(|(_, number)| number * source.factor + source.offset).collect();
        for (pair, (line, _)) in times.windows(2).zip(self.rows.iter().skip(1)) {
            if pair[1] <= pair[0] {
                faults.push(format!("line {line}, column `{column}`: {} s is not after {} s", pair[1], pair[0]));
            }
        }
        let first = *times.first()?;
        faults.is_empty().then(|| Times { from_start: times.iter().map(|time| time - first).collect(), first })
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the values of `source`, the source of the quantity `name`, each with the index of its row. Values of a
    /// column have factor and offset applied; empty cells are skipped. A constant is the value of the first row. Adds a
    /// fault if not exactly one of `column` and `value` is set.
    pub fn values(&self, name: &str, source: &ValueSource, faults: &mut Vec<String>) -> Vec<(usize, f64)> {
        match (&source.column, source.value) {
            (Some(column), None) => {
                let numbers = self.numbers(column, faults).into_iter();
                numbers.map(|(row, number)| (row, number * source.factor + source.offset)).collect()
            }
            (None, Some(value)) => vec![(0, value)],
            _ => {
                faults.push(format!("`{name}`: exactly one of `column` and `value` must be set"));
                Vec::new()
            }
        }
    }
}
