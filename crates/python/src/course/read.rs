//! Courses from CSV files with the columns `x_m,y_m,w_tr_right_m,w_tr_left_m`.

use crate::course::CentrePoint;

/// Names of the columns.
const COLUMNS: [&str; 4] = ["x_m", "y_m", "w_tr_right_m", "w_tr_left_m"];

/// Largest magnitude of a number of a course, m. Positions are f32 later, which resolve 8 mm there.
const MAX_NUMBER_M: f64 = 1e5;

/// Maximum number of faults of a file that are reported.
const MAX_FAULTS: usize = 50;

/// Fault of a file of a course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseFault {
    /// Line, from 1.
    pub line: usize,
    /// Description of what was found and what is accepted.
    pub message: String,
}

/// Reads the points of a course from the `text` of a CSV file. A line that starts with `#`, an empty line, and a first
/// line with the names of the columns are skipped.
///
/// # Errors
/// Every fault of the text, at most 50.
pub fn read_csv(text: &str) -> Result<Vec<CentrePoint>, Vec<CourseFault>> {
    let (mut points, mut faults) = (Vec::new(), Vec::new());
    let mut is_first = true;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim().trim_start_matches('\u{feff}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let is_header = core::mem::take(&mut is_first) && line.split(',').map(str::trim).eq(COLUMNS);
        if is_header {
            continue;
        }
        match read_point(line) {
            Ok(point) => points.push(point),
            Err(message) => faults.push(CourseFault { line: index + 1, message }),
        }
        if faults.len() == MAX_FAULTS {
            break;
        }
    }
    if faults.is_empty() { Ok(points) } else { Err(faults) }
}

/// Reads the point of one line: four numbers, the widths above 0, all up to [`MAX_NUMBER_M`] in magnitude. The error
/// describes the first fault of the line.
fn read_point(line: &str) -> Result<CentrePoint, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    if fields.len() != COLUMNS.len() {
        let count = fields.len();
        return Err(format!("the line has {count} fields, but must have the four fields {}", COLUMNS.join(",")));
    }
    let mut numbers = [0.0; COLUMNS.len()];
    for ((number, field), (column, name)) in numbers.iter_mut().zip(&fields).zip(COLUMNS.iter().enumerate()) {
        let is_width = column >= 2;
        let accepted = |value: &f64| value.abs() <= MAX_NUMBER_M && (!is_width || *value > 0.0);
        *number = field.parse().ok().filter(accepted).ok_or_else(|| {
            let range = if is_width { "above 0 and at most" } else { "of a magnitude of at most" };
            format!("`{name}` is `{}`, but must be a number {range} {MAX_NUMBER_M} m", field.escape_debug())
        })?;
    }
    let [x, y, right, left] = numbers;
    Ok(CentrePoint { position: [x, y], right, left })
}
