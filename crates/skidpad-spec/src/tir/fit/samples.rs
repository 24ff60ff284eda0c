//! Tables of tyre forces.

use crate::fault::push_fault;
use crate::tir::lines::{TextLocation, new_fault};
use crate::{Fault, FaultKind, Faults};

/// Measured point of a tyre. Axes and signs are those of [`skidpad_core::tyre`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Slip ratio κ, –.
    pub slip_ratio: f64,
    /// Slip angle α, rad. A positive angle causes a negative lateral force.
    pub slip_angle: f64,
    /// Camber, rad.
    pub camber: f64,
    /// Load, N.
    pub load: f64,
    /// Inflation pressure, N/m²; 0 stands for the pressure of the tyre.
    pub pressure: f64,
    /// Fx, N, if measured.
    pub fx: Option<f64>,
    /// Fy, N, if measured.
    pub fy: Option<f64>,
    /// Mz, N m, if measured.
    pub mz: Option<f64>,
}

/// Columns of a table. The first `REQUIRED_COLUMNS` are required.
const COLUMN_NAMES: [&str; 8] =
    ["slip_ratio", "slip_angle_rad", "camber_rad", "load_n", "pressure_n_per_m2", "fx_n", "fy_n", "mz_nm"];
/// Number of required columns.
const REQUIRED_COLUMNS: usize = 4;

/// Reads a table of comma-separated values with the columns `slip_ratio`, `slip_angle_rad`, `camber_rad`, `load_n` and
/// any of `pressure_n_per_m2`, `fx_n`, `fy_n`, `mz_nm`, in any order. Other columns are skipped. An empty force was not
/// measured. Lines that begin with `#` are comments. `source_name` names the text in fault reports.
///
/// # Errors
/// Returns every missing column, every value that is not a number below 1e9, and every line with too few or too many
/// values. A table without any force is a fault, too.
pub fn read_samples(source_name: &str, text: &str) -> Result<Vec<Sample>, Faults> {
    let mut faults = Vec::new();
    let mut rows = split_rows(text).into_iter();
    // Header of a text without rows.
    let empty_header = Row { cells: Vec::new(), line_number: 1, start: 0 };
    let header = rows.next().unwrap_or(empty_header);
    let column_of = |name: &str| header.cells.iter().position(|(cell, _)| cell.eq_ignore_ascii_case(name));
    let columns = COLUMN_NAMES.map(column_of);
    for (name, column) in COLUMN_NAMES.iter().zip(columns).take(REQUIRED_COLUMNS) {
        if column.is_none() {
            let help = Some(format!("define it in the first line; known columns: {}", COLUMN_NAMES.join(", ")));
            push_fault(
                &mut faults,
                new_fault(
                    FaultKind::MissingKey,
                    name,
                    &header.cell_location(0),
                    "nothing",
                    "a column of the table",
                    help,
                ),
            );
        }
    }
    // The forces are behind the pressure, the only other optional column.
    if columns[REQUIRED_COLUMNS + 1..].iter().all(Option::is_none) {
        let help = Some("a fit requires forces".into());
        push_fault(
            &mut faults,
            new_fault(
                FaultKind::MissingKey,
                "fx_n",
                &header.cell_location(0),
                "nothing",
                "one of fx_n, fy_n, mz_nm",
                help,
            ),
        );
    }
    let mut samples = Vec::new();
    for row in rows {
        if row.cells.len() != header.cells.len() {
            let found = format!("{} values", row.cells.len());
            let accepts = format!("{} values, one per column", header.cells.len());
            let help = Some("add or remove values".into());
            push_fault(
                &mut faults,
                new_fault(FaultKind::WrongType, "line", &row.cell_location(0), &found, &accepts, help),
            );
        } else {
            samples.push(row.read_sample(&columns, &mut faults));
        }
    }
    if faults.is_empty() { Ok(samples) } else { Err(Faults::new(source_name, text, faults)) }
}

/// Line of a table: its cells with the first byte of each, its number from 1, and its first byte.
struct Row<'a> {
    /// Cells without surrounding spaces, each with its first byte in the text.
    cells: Vec<(&'a str, usize)>,
    /// Line, from 1.
    line_number: usize,
    /// First byte of the line in the text.
    start: usize,
}

/// Splits a text into rows of cells separated by commas, without quotes. Cells lose surrounding spaces and keep their
/// place in the text. Blank lines and lines that begin with `#` are left out, and line numbers count them.
fn split_rows(text: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut start = 0;
    for (i, raw_line) in text.split_inclusive('\n').enumerate() {
        let line = raw_line.trim_end_matches(['\n', '\r']);
        if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            let mut cell_start = start;
            let cells = line.split(',').map(|cell| {
                let content_start = cell_start + (cell.len() - cell.trim_start().len());
                cell_start += cell.len() + 1;
                (cell.trim(), content_start)
            });
            rows.push(Row { cells: cells.collect(), line_number: i + 1, start });
        }
        start += raw_line.len();
    }
    rows
}

impl Row<'_> {
    /// Returns the place of cell `i`. The column counts bytes, because tables contain plain numbers.
    fn cell_location(&self, i: usize) -> TextLocation {
        let (cell, cell_start) = self.cells.get(i).copied().unwrap_or(("", self.start));
        TextLocation {
            line: self.line_number,
            column: cell_start - self.start + 1,
            span: cell_start..cell_start + cell.len(),
        }
    }

    /// Reads the values of a row. `columns` are the indices of [`COLUMN_NAMES`] in the row. Values that are no numbers
    /// below 1e9 in magnitude are added to `faults` and become 0, forces `None`. A missing column is 0 or `None`; an
    /// empty force is `None`.
    fn read_sample(&self, columns: &[Option<usize>; 8], faults: &mut Vec<Fault>) -> Sample {
        let mut read_value = |i: usize| {
            let column = columns[i]?;
            let (cell, _) = *self.cells.get(column)?;
            // A force may be absent in a row.
            if cell.is_empty() && i > REQUIRED_COLUMNS {
                return None;
            }
            let number = cell.parse::<f64>().ok().filter(|number| number.abs() < 1e9);
            if number.is_none() {
                let help = Some("write a decimal number, SI units".into());
                let accepts = "a number below 1e9 in magnitude";
                push_fault(
                    faults,
                    new_fault(FaultKind::WrongType, COLUMN_NAMES[i], &self.cell_location(column), cell, accepts, help),
                );
            }
            number
        };
        // In the order of `COLUMN_NAMES`.
        Sample {
            slip_ratio: read_value(0).unwrap_or(0.0),
            slip_angle: read_value(1).unwrap_or(0.0),
            camber: read_value(2).unwrap_or(0.0),
            load: read_value(3).unwrap_or(0.0),
            pressure: read_value(4).unwrap_or(0.0),
            fx: read_value(5),
            fy: read_value(6),
            mz: read_value(7),
        }
    }
}
