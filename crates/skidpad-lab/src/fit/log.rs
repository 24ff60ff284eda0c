//! Logs of a fit: inputs of the driver and values to compare with.

use std::fmt::Write;

use crate::fit::description::{LogDescription, MeasuredDescription};
use crate::measured_log::{MAX_FAULTS, Series, TextTable, Times};

/// Default standard deviation of a measured channel, in shares of its largest magnitude.
const DEFAULT_DEVIATION: f64 = 0.02;

/// Log that was read: the inputs as a table of controls, and the measured values.
#[derive(Clone, Debug)]
pub struct FitLog {
    /// Text of the table of controls. Times begin at 0.
    pub controls: String,
    /// Measured channels with the standard deviations of their values.
    pub series: Vec<(Series, f64)>,
}

impl FitLog {
    /// Reads the log in `text` as `description` says: the driver's inputs and the measured channels. Times count from
    /// the first row. Measured values before `compare_from_s` (time of the log) are left out. Empty cells are skipped,
    /// and lines that begin with `#` are comments.
    ///
    /// # Errors
    /// Returns the faults, at most [`MAX_FAULTS`]: missing columns, cells that are not finite numbers, times that do
    /// not increase, and channels without values or deviation.
    pub fn read(text: &str, description: &LogDescription) -> Result<Self, Vec<String>> {
        let table = TextTable::read(text)?;
        let mut faults = Vec::new();
        let Some(times) = table.times(description.inputs.get("t_s"), &mut faults) else {
            return Err(faults);
        };
        let controls = controls(&table, &times, description, &mut faults);
        let from_s = description.compare_from_s.map_or(f64::NEG_INFINITY, |from_s| from_s - times.first);
        let channels = description.measured.iter();
        let series = channels
            .filter_map(|(name, measured)| measured_series(&table, name, measured, (&times, from_s), &mut faults));
        let series = series.collect();
        faults.truncate(MAX_FAULTS);
        if faults.is_empty() { Ok(Self { controls, series }) } else { Err(faults) }
    }
}

/// Returns the inputs as text of a table of controls: the times, then a column for each input of `description`. A
/// constant is a value in the first row only, because inputs keep their values. Adds the faults of the columns to
/// `faults`.
fn controls(table: &TextTable, times: &Times, description: &LogDescription, faults: &mut Vec<String>) -> String {
    let mut columns = Vec::new();
    for (name, input) in description.inputs.iter().filter(|(name, _)| *name != "t_s") {
        let mut cells = vec![String::new(); table.row_count()];
        for (row, number) in table.values(name, input, faults) {
            cells[row] = number.to_string();
        }
        columns.push((name, cells));
    }
    let mut text = String::from("t_s");
    columns.iter().for_each(|(name, _)| _ = write!(text, ",{name}"));
    for (row, time) in times.from_start.iter().enumerate() {
        _ = write!(text, "\n{time}");
        columns.iter().for_each(|(_, cells)| _ = write!(text, ",{}", cells[row]));
    }
    text.push('\n');
    text
}

/// Returns the values of `channel` from the time `from_s` (s after the first row) on, scaled as `measured` says, and
/// their standard deviation. Adds a fault and returns `None` if there are no values, or if the deviation is 0 because
/// all values are 0; also `None` after a fault of the column.
fn measured_series(
    table: &TextTable,
    channel: &str,
    measured: &MeasuredDescription,
    (times, from_s): (&Times, f64),
    faults: &mut Vec<String>,
) -> Option<(Series, f64)> {
    let count = faults.len();
    let numbers = table.numbers(&measured.column, faults);
    let points: Vec<[f64; 2]> = numbers
        .into_iter()
        .map(|(row, number)| [times.from_start[row], number * measured.factor + measured.offset])
        .filter(|[time, _]| *time >= from_s)
        .collect();
    let largest = points.iter().fold(0.0, |largest: f64, [_, value]| largest.max(value.abs()));
    let deviation = measured.deviation.unwrap_or(DEFAULT_DEVIATION * largest);
    if faults.len() > count {
        return None;
    }
    if points.is_empty() {
        faults.push(format!("column `{}`: no values to compare", measured.column));
    } else if deviation == 0.0 {
        faults.push(format!("column `{}`: all values are 0, so `deviation` must be set", measured.column));
    }
    (faults.len() == count).then(|| (Series { channel: channel.to_owned(), points }, deviation))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the description with the text of its inputs and measured channels.
    fn description(text: &str) -> LogDescription {
        toml::from_str(&format!("file = \"log.csv\"\ninitial_speed_mps = 10\n{text}")).expect("valid")
    }

    const TEXT: &str = "[inputs]\nt_s = { column = \"time\" }\nsteer_rad = { column = \"delta\", factor = 0.5 }\n\
                        gear = { value = 3 }\n[measured]\nyaw_rate_radps = { column = \"r\", offset = 1 }\n";

    /// Times begin at 0, factors and offsets apply, empty cells are skipped, and the deviation is 2 % of the largest
    /// magnitude.
    #[test]
    fn columns_become_controls_and_series() {
        let text = "# drive 7\ntime, delta,r\n5,0.2,1\n5.5,,3\n6.5,0.4,\n";
        let log = FitLog::read(text, &description(TEXT)).expect("valid");
        assert_eq!(log.controls, "t_s,gear,steer_rad\n0,3,0.1\n0.5,,\n1.5,,0.2\n");
        let points = vec![[0.0, 2.0], [0.5, 4.0]];
        assert_eq!(log.series, [(Series { channel: "yaw_rate_radps".into(), points }, 0.08)]);
        let later = description(&format!("compare_from_s = 5.4\n{TEXT}"));
        assert_eq!(FitLog::read(text, &later).expect("valid").series[0].0.points, [[0.5, 4.0]]);
    }

    /// All faults are reported with their lines.
    #[test]
    fn faults_are_reported_at_once() {
        let faults = |text: &str| FitLog::read(text, &description(TEXT)).expect_err("faulty");
        let expected = [
            "line 3, column `delta`: found `x`, accepts a finite number",
            "no column `r`; the columns are time, delta",
        ];
        assert_eq!(faults("time,delta\n0,0\n1,x\n"), expected);
        assert_eq!(faults("time,delta,r\n0,0,0\n0,0,nan\n"), ["line 3, column `time`: 0 s is not after 0 s"]);
        assert_eq!(faults("time,delta,r\n0,0,-1\n"), ["column `r`: all values are 0, so `deviation` must be set"]);
        assert_eq!(faults("time,delta,r\n"), ["the log must have a header and at least one row"]);
        assert_eq!(faults("time,delta,r\n,0,0\n"), ["column `time`: every row must have a time"]);
    }
}
