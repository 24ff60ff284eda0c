//! Parser of controls files, which reports all faults of a file at once.

use core::f64::consts::FRAC_PI_2;
use core::ops::Range;

use skidpad_core::Model;
use skidpad_spec::MAX_COLLECTED_FAULTS;
use skidpad_spec::printable::one_line;

use super::{Input, InputTrack, OFF, Script};
use crate::suggestions::nearest_name;

/// Fault in a controls file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column `{}`: found {}, accepts {accepts}", one_line(column), one_line(found))]
pub struct Fault {
    /// Line in the file, from 1.
    pub line: u64,
    /// Name of the column, as written in the header; "-" for a whole row.
    pub column: String,
    /// Text that was found.
    pub found: String,
    /// Text that would be accepted.
    pub accepts: String,
    /// Range of bytes of the file that contains the fault.
    pub span: Range<usize>,
}

/// All faults of a controls file, at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Faults(pub Vec<Fault>);

/// Description of the table format and of the interpolation between rows.
pub const FORMAT_DESCRIPTION: &str = "The header names `t_s` and any of the columns below, in any order. Steering is interpolated linearly between rows; \
all other inputs keep their value until the next row. An empty cell is ignored. Values are constant before the first and after the \
last value of a column. Lines that begin with `#` are comments. A wheel name is the axle number from the front, followed by `l`, `r` \
or `c` (left, right, centre).";

/// Columns of a table: name, accepted values, behaviour without the column.
pub const COLUMN_DESCRIPTIONS: [[&str; 3]; 14] = [
    ["t_s", "s, 0 or more, increasing from row to row", ""],
    ["throttle", "0 to 1", "0"],
    ["brake", "0 to 1", "0"],
    ["handbrake", "0 to 1", "0"],
    ["starter", "0 to 1; the starter turns the engine at 0.5 or more", "0"],
    ["clutch", "0 to 1; 1 is fully pressed", "automatic"],
    ["bars", "0 to 1; scales the stiffness of all anti-roll bars", "1"],
    ["gear", "-1 (reverse), 0 (neutral), 1, 2, …", "automatic"],
    ["steer_rad", "rad, at most ±π/2; mean road-wheel angle of an axle with a steer ratio of 1", "0"],
    ["cruise_mps", "m/s, 0 or more, or `off`; only for cars with cruise control", "off"],
    [
        "target_speed_mps",
        "m/s, 0 or more: throttle and brake keep this speed, `brake` is added; `off`: pedals of the table",
        "off",
    ],
    ["motor_torque_nm.1l", "N m at this wheel", "0"],
    ["brake_torque_nm.1l", "N m at this wheel, 0 or more", "0"],
    ["steer_rad.1l", "rad, at most ±π/2; angle of this wheel", "from `steer_rad`"],
];

/// Columns that every car has.
pub(super) const CAR_COLUMNS: &[(&str, Input)] = &[
    ("t_s", Input::Time),
    ("throttle", Input::Throttle),
    ("brake", Input::Brake),
    ("handbrake", Input::Handbrake),
    ("starter", Input::Starter),
    ("clutch", Input::Clutch),
    ("bars", Input::Bars),
    ("gear", Input::Gear),
    ("steer_rad", Input::Steer),
    ("cruise_mps", Input::Cruise),
    ("target_speed_mps", Input::TargetSpeed),
];

/// Constructor of a wheel's input from the number of the wheel.
pub(super) type WheelInputConstructor = fn(usize) -> Input;

/// Columns that every wheel has: part of the name before the dot, and input.
pub(super) const WHEEL_COLUMNS: &[(&str, WheelInputConstructor)] =
    &[("motor_torque_nm", Input::Motor), ("brake_torque_nm", Input::WheelBrake), ("steer_rad", Input::WheelSteer)];

/// Cell of the table with its position in the file.
struct Cell {
    /// Text without surrounding white space.
    text: String,
    /// Line in the file, from 1.
    line: u64,
    /// Range of bytes of the text in the file.
    span: Range<usize>,
}

/// Recognised column of the header with the values read so far.
struct Column {
    /// Name in the header.
    name: String,
    input: Input,
    /// Knots [time (s), value].
    knots: Vec<[f64; 2]>,
}

/// Parses the text of a controls file for `model`: the header, then every row. The end of the script is the time of the
/// last row. Columns without values are left out.
///
/// # Errors
/// Returns the faults of the file, with shortened texts, in the order CSV syntax, header, time column, rows. A missing
/// time column and a missing row are also faults. Rows are not checked any more once there are
/// [`MAX_COLLECTED_FAULTS`], so the number of faults is at most slightly larger.
pub(super) fn parse(text: &str, model: &Model) -> Result<Script, Faults> {
    let mut faults = Vec::new();
    let mut rows = read_rows(text, &mut faults).into_iter();
    let mut columns = match rows.next() {
        Some(header) => read_header(&header, model, &mut faults),
        None => Vec::new(),
    };
    if !columns.iter().flatten().any(|column| column.input == Input::Time) {
        faults.push(Fault {
            line: 1,
            column: "t_s".into(),
            found: "no column `t_s`".into(),
            accepts: "a header with the column `t_s`".into(),
            span: 0..0,
        });
    }
    // Time of the last valid row (s), and whether there is a row below the header.
    let (mut end_s, mut has_rows) = (None, false);
    for row in rows {
        has_rows = true;
        if faults.len() >= MAX_COLLECTED_FAULTS {
            break;
        }
        read_row(&row, &mut columns, &mut end_s, model, &mut faults);
    }
    if !has_rows {
        faults.push(Fault {
            line: 1,
            column: "t_s".into(),
            found: "no rows".into(),
            accepts: "at least one row below the header".into(),
            span: 0..text.len(),
        });
    }
    if !faults.is_empty() {
        for fault in &mut faults {
            truncate(&mut fault.column);
            truncate(&mut fault.found);
        }
        return Err(Faults(faults));
    }
    // Time has its own field, and an input without values is not controlled.
    let tracks = columns
        .into_iter()
        .flatten()
        .filter(|column| column.input != Input::Time && !column.knots.is_empty())
        .map(|column| InputTrack { input: column.input, knots: column.knots })
        .collect();
    Ok(Script { tracks, wheel_count: model.wheels().len(), end_s: end_s.unwrap_or(0.0) })
}

/// Maximum length of a column name or value in a fault (bytes).
const MAX_SHOWN_BYTES: usize = 200;

/// Truncates `text` to [`MAX_SHOWN_BYTES`] and appends an ellipsis. A shorter text is not changed.
fn truncate(text: &mut String) {
    if text.len() > MAX_SHOWN_BYTES {
        text.truncate(text.floor_char_boundary(MAX_SHOWN_BYTES));
        text.push('…');
    }
}

/// Splits the text into rows of cells with their positions; the first row is the header. Lines that begin with `#` are
/// skipped. Rows may have different numbers of cells. A row that is not valid CSV is skipped and adds a fault. Stops at
/// such a row if there are already [`MAX_COLLECTED_FAULTS`].
fn read_rows(text: &str, faults: &mut Vec<Fault>) -> Vec<Vec<Cell>> {
    // `has_headers(false)` returns the header like any other row.
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).comment(Some(b'#')).from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        match record {
            Ok(record) => rows.push(split_cells(text, &record)),
            Err(_) if faults.len() >= MAX_COLLECTED_FAULTS => break,
            Err(error) => faults.push(Fault {
                line: error.position().map_or(0, csv::Position::line),
                column: "-".into(),
                found: error.to_string(),
                accepts: "comma-separated values".into(),
                span: 0..0,
            }),
        }
    }
    rows
}

/// Returns the cells of a record of `text` with their line and range of bytes. Surrounding quotes, white space and a
/// byte order mark are removed from text and range.
///
/// A record has only the position of its start, so the ranges are computed from the lengths of the cells. One separator
/// follows each cell, and a quote in a quoted cell is two bytes long in the file. Ranges are on character boundaries of
/// `text`.
fn split_cells(text: &str, record: &csv::StringRecord) -> Vec<Cell> {
    let (line, record_start) = record.position().map_or((0, 0), |position| (position.line(), position.byte() as usize));
    let mut cell_start = record_start;
    // Nearest character boundary at or before a byte of `text`.
    let boundary = |byte_index: usize| text.floor_char_boundary(byte_index.min(text.len()));
    record
        .iter()
        .map(|cell| {
            // Quotes are not part of a cell, and a quote inside it is written twice.
            let is_quoted = text.as_bytes().get(cell_start) == Some(&b'"');
            // Opening quote, and additional bytes of doubled quotes.
            let (quote_bytes, doubled_quote_bytes) = if is_quoted { (1, cell.matches('"').count()) } else { (0, 0) };
            // Range between the quotes, then the start of the next cell after closing quote and separator (1 byte).
            let span = boundary(cell_start + quote_bytes)
                ..boundary(cell_start + quote_bytes + cell.len() + doubled_quote_bytes);
            cell_start = (span.end + quote_bytes + 1).min(text.len());
            let trimmed = cell.trim().trim_start_matches('\u{feff}');
            // Bytes removed from the front of the cell.
            let leading_bytes = cell.find(trimmed).unwrap_or(0);
            let start = boundary((span.start + leading_bytes).min(span.end));
            let span = start..boundary(start + trimmed.len()).max(start);
            Cell { text: trimmed.into(), line, span }
        })
        .collect()
}

/// Parses the header. Returns its columns in order, without values. `None` stands for an unknown or repeated column,
/// which adds a fault; the first one of repeated columns is valid. Columns after [`MAX_COLLECTED_FAULTS`] faults are
/// not read and are missing in the result.
fn read_header(header: &[Cell], model: &Model, faults: &mut Vec<Fault>) -> Vec<Option<Column>> {
    let mut columns: Vec<Option<Column>> = Vec::with_capacity(header.len());
    // Inputs of the columns so far.
    let mut seen_inputs: Vec<Input> = Vec::new();
    for cell in header {
        if faults.len() >= MAX_COLLECTED_FAULTS {
            break;
        }
        let input = find_input(&cell.text, model);
        let is_repeated = input.is_some_and(|input| seen_inputs.contains(&input));
        seen_inputs.extend(input.filter(|_| !is_repeated));
        if input.is_none() || is_repeated {
            let (found, accepts) = match input {
                Some(_) => ("a duplicate column".into(), "every column once".into()),
                None => ("an unknown column".into(), accepted_names(&cell.text, model)),
            };
            faults.push(Fault { line: cell.line, column: cell.text.clone(), found, accepts, span: cell.span.clone() });
        }
        let input = input.filter(|_| !is_repeated);
        columns.push(input.map(|input| Column { name: cell.text.clone(), input, knots: Vec::new() }));
    }
    columns
}

/// Returns the input of the column `name`, such as `brake`, or `steer_rad.1l` for a wheel. The part after the point is
/// the name of a wheel of `model`. `None` for an unknown name or wheel.
fn find_input(name: &str, model: &Model) -> Option<Input> {
    if let Some((_, input)) = CAR_COLUMNS.iter().find(|(column_name, _)| *column_name == name) {
        return Some(*input);
    }
    // Names such as `steer_rad.1l`.
    let (name_stem, wheel) = name.split_once('.')?;
    let (_, constructor) = WHEEL_COLUMNS.iter().find(|(column_stem, _)| *column_stem == name_stem)?;
    (0..model.wheels().len()).find(|&i| model.wheel_name(i) == wheel).map(constructor)
}

/// Describes the accepted column names for the unknown name `name`: the most similar name if there is one, otherwise
/// all columns of the car, the stems of wheel columns, and the names of the wheels.
fn accepted_names(name: &str, model: &Model) -> String {
    let wheel_names: Vec<String> = (0..model.wheels().len()).map(|i| model.wheel_name(i)).collect();
    let wheel_columns =
        WHEEL_COLUMNS.iter().flat_map(|(stem, _)| wheel_names.iter().map(move |wheel| format!("{stem}.{wheel}")));
    let known_names: Vec<String> =
        CAR_COLUMNS.iter().map(|(column_name, _)| (*column_name).to_string()).chain(wheel_columns).collect();
    if let Some(similar_name) = nearest_name(name, known_names.iter().map(String::as_str)) {
        return format!("did you mean `{similar_name}`?");
    }
    let car_columns: Vec<&str> = CAR_COLUMNS.iter().map(|(column_name, _)| *column_name).collect();
    let stems: Vec<&str> = WHEEL_COLUMNS.iter().map(|(stem, _)| *stem).collect();
    format!("{}, and {} with a wheel name ({})", car_columns.join(", "), stems.join(", "), wheel_names.join(", "))
}

/// Reads a row and appends its values to `columns`. The time must be after `last_s` (s), which is then set to it. An
/// empty cell adds no value. Cells of unknown or repeated columns are ignored.
///
/// Adds a fault for a wrong number of cells, which skips the row, for an invalid time, and for each invalid value.
/// The values of a row without a valid time are checked, but not stored.
fn read_row(
    row: &[Cell],
    columns: &mut [Option<Column>],
    last_s: &mut Option<f64>,
    model: &Model,
    faults: &mut Vec<Fault>,
) {
    if row.len() != columns.len() {
        let span = row.first().map_or(0, |c| c.span.start)..row.last().map_or(0, |c| c.span.end);
        faults.push(Fault {
            line: row.first().map_or(0, |c| c.line),
            column: "-".into(),
            found: format!("{} cells", row.len()),
            accepts: format!("{} cells, as in the header", columns.len()),
            span,
        });
        return;
    }
    let time = read_time(row, columns, *last_s, faults);
    *last_s = time.or(*last_s);
    for (cell, column) in row.iter().zip(columns) {
        let Some(column) = column.as_mut().filter(|c| c.input != Input::Time && !cell.text.is_empty()) else {
            continue;
        };
        match read_value(&cell.text, column.input, model) {
            // Adds nothing without a valid time.
            Ok(value) => column.knots.extend(time.map(|time| [time, value])),
            Err(accepts) => faults.push(cell_fault(cell, &column.name, accepts)),
        }
    }
}

/// Returns the time of a row (s). Adds a fault for a time that is not finite, negative, or not after `last_s`, and
/// returns `None`. Returns `None` without a fault if there is no time column.
fn read_time(row: &[Cell], columns: &[Option<Column>], last_s: Option<f64>, faults: &mut Vec<Fault>) -> Option<f64> {
    let is_time = |column: &&Option<Column>| column.as_ref().is_some_and(|c| c.input == Input::Time);
    let cell = row.iter().zip(columns).find(|(_, column)| is_time(column)).map(|(cell, _)| cell)?;
    // Description of the accepted times, unless the time is valid and returned.
    let accepts = match (cell.text.parse::<f64>(), last_s) {
        (Ok(time), Some(last)) if time.is_finite() && time <= last => {
            format!("a time after {last}: times must increase from row to row")
        }
        (Ok(time), _) if time.is_finite() && time >= 0.0 => return Some(time),
        _ => "a finite number of seconds, 0 or more".into(),
    };
    faults.push(cell_fault(cell, "t_s", accepts));
    None
}

/// Creates the fault of a cell with the text found in it.
fn cell_fault(cell: &Cell, column: &str, accepts: String) -> Fault {
    let found = if cell.text.is_empty() { "nothing".into() } else { format!("`{}`", cell.text) };
    Fault { line: cell.line, column: column.into(), found, accepts, span: cell.span.clone() }
}

/// Parses a cell. Returns the value, or a description of the accepted values as error. All values must be finite, also
/// as f32. Pedals, starter, clutch and anti-roll bars are from 0 to 1, gears whole numbers from −1 to the highest gear,
/// angles at most a right angle. Speeds are from 0 to 1000 m/s, or `off`, which returns [`OFF`]. Brake torques are at
/// least 0.
fn read_value(text: &str, input: Input, model: &Model) -> Result<f64, String> {
    // Finite value; `None` for any other text.
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && (*value as f32).is_finite());
    let in_range = |low: f64, high: f64| value.filter(|value| (low..=high).contains(value));
    match input {
        Input::Throttle | Input::Brake | Input::Handbrake | Input::Starter | Input::Clutch | Input::Bars => {
            in_range(0.0, 1.0).ok_or_else(|| "a number from 0 to 1".into())
        }
        Input::Gear => {
            let max_gear = highest_gear(model);
            in_range(-1.0, max_gear)
                .filter(|gear| gear.fract() == 0.0)
                .ok_or_else(|| format!("-1 (reverse), 0 (neutral) or 1 to {max_gear} (forward gears)"))
        }
        Input::Steer | Input::WheelSteer(_) => {
            in_range(-FRAC_PI_2, FRAC_PI_2).ok_or_else(|| "an angle from -1.5707 to 1.5707 rad".into())
        }
        Input::TargetSpeed | Input::Cruise if text == "off" => Ok(OFF),
        Input::TargetSpeed | Input::Cruise => {
            in_range(0.0, 1000.0).ok_or_else(|| "a speed from 0 to 1000 m/s, or off".into())
        }
        Input::WheelBrake(_) => in_range(0.0, f64::INFINITY).ok_or_else(|| "a finite number, 0 or more".into()),
        Input::Motor(_) | Input::Time => value.ok_or_else(|| "a finite number".into()),
    }
}

/// Returns the number of forward gears; 1 for a car without a gearbox.
fn highest_gear(model: &Model) -> f64 {
    model.parts().powertrain.engine().map_or(1.0, |drive| f64::from(drive.gearbox.clamp_gear(i8::MAX)))
}
