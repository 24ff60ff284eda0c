//! Measured logs: CSV files whose columns become inputs of the driver and values to compare with.

use std::fmt::Write;

use crate::fit::description::{InputDescription, LogDescription, MeasuredDescription};
use crate::suggestions::nearest_name;

/// Maximum number of faults of a log that are reported.
const MAX_FAULTS: usize = 20;

/// Default standard deviation of a measured channel, in shares of its largest magnitude.
const DEFAULT_DEVIATION: f64 = 0.02;

/// Log that was read: the inputs as a table of controls, and the measured values.
#[derive(Clone, Debug)]
pub struct MeasuredLog {
    /// Text of the table of controls. Times begin at 0.
    pub controls: String,
    /// Measured channels.
    pub series: Vec<Series>,
}

/// Measured values of one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name of the telemetry channel.
    pub channel: String,
    /// Times (s) and values, in the unit of the channel.
    pub points: Vec<[f64; 2]>,
    /// Standard deviation of the values.
    pub deviation: f64,
}

/// Table of texts: names of the columns, then the rows with their lines in the file.
struct TextTable {
    names: Vec<String>,
    rows: Vec<(u64, Vec<String>)>,
}

impl MeasuredLog {
    /// Reads the log in `text` as `description` says. Empty cells are skipped. Lines that begin with `#` are comments.
    ///
    /// # Errors
    /// Returns all faults, each with its line, at most [`MAX_FAULTS`]: missing columns, cells that are not finite numbers,
    /// times that do not increase, and channels without values.
    pub fn read(text: &str, description: &LogDescription) -> Result<Self, Vec<String>> {
        let table = TextTable::read(text)?;
        let mut faults = Vec::new();
        let Some(times) = table.times(description.inputs.get("t_s"), &mut faults) else {
            return Err(faults);
        };
        let controls = table.controls(&times, description, &mut faults);
        let from_s = description.compare_from_s.map_or(f64::NEG_INFINITY, |from_s| from_s - table.first_time(&times));
        let channels = description.measured.iter();
        let series =
            channels.filter_map(|(name, measured)| table.series(name, measured, (&times, from_s), &mut faults));
        let series = series.collect();
        faults.truncate(MAX_FAULTS);
        if faults.is_empty() { Ok(Self { controls, series }) } else { Err(faults) }
    }
}

/// Times of the rows of a log.
struct Times {
    /// Time of each row from the first one on, s.
    from_start: Vec<f64>,
    /// Time of the first row in the log, s.
    first: f64,
}

impl TextTable {
    /// Splits `text` into cells without surrounding white space.
    fn read(text: &str) -> Result<Self, Vec<String>> {
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

    /// Returns the finite numbers of the column `name` with the numbers of their rows. A missing column and each cell
    /// that is not a number are faults; empty cells are skipped.
    fn numbers(&self, name: &str, faults: &mut Vec<String>) -> Vec<(usize, f64)> {
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

    /// Returns the times of all rows. `None` after a fault: without a column for `t_s`, with a row without a time, or if
    /// times do not increase.
    fn times(&self, input: Option<&InputDescription>, faults: &mut Vec<String>) -> Option<Times> {
        let Some((input, column)) = input.and_then(|input| Some((input, input.column.as_ref()?))) else {
            faults.push("the input `t_s` must have a `column`".into());
            return None;
        };
        let numbers = self.numbers(column, faults);
        if faults.is_empty() && numbers.len() < self.rows.len() {
            faults.push(format!("column `{column}`: every row must have a time"));
        }
        let times: Vec<f64> = numbers.iter().map(|(_, number)| number * input.factor + input.offset).collect();
        for (pair, (line, _)) in times.windows(2).zip(self.rows.iter().skip(1)) {
            if pair[1] <= pair[0] {
                faults.push(format!("line {line}, column `{column}`: {} s is not after {} s", pair[1], pair[0]));
            }
        }
        let first = *times.first()?;
        faults.is_empty().then(|| Times { from_start: times.iter().map(|time| time - first).collect(), first })
    }

    /// Returns the time of the first row, s.
    fn first_time(&self, times: &Times) -> f64 {
        times.first
    }

    /// Returns the table of controls. Constants stand in its first row.
    fn controls(&self, times: &Times, description: &LogDescription, faults: &mut Vec<String>) -> String {
        let mut columns = Vec::new();
        for (name, input) in description.inputs.iter().filter(|(name, _)| *name != "t_s") {
            let mut cells = vec![String::new(); self.rows.len()];
            match (&input.column, input.value) {
                (Some(column), None) => {
                    for (row, number) in self.numbers(column, faults) {
                        cells[row] = (number * input.factor + input.offset).to_string();
                    }
                }
                (None, Some(value)) => cells[0] = value.to_string(),
                _ => faults.push(format!("input `{name}`: exactly one of `column` and `value` must be set")),
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

    /// Returns the values of a channel from the time `from_s` after the first row on. `None` after a fault.
    fn series(
        &self,
        channel: &str,
        measured: &MeasuredDescription,
        (times, from_s): (&Times, f64),
        faults: &mut Vec<String>,
    ) -> Option<Series> {
        let count = faults.len();
        let numbers = self.numbers(&measured.column, faults);
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
        (faults.len() == count).then(|| Series { channel: channel.to_owned(), points, deviation })
    }
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
        let log = MeasuredLog::read(text, &description(TEXT)).expect("valid");
        assert_eq!(log.controls, "t_s,gear,steer_rad\n0,3,0.1\n0.5,,\n1.5,,0.2\n");
        let points = vec![[0.0, 2.0], [0.5, 4.0]];
        assert_eq!(log.series, [Series { channel: "yaw_rate_radps".into(), points, deviation: 0.08 }]);
        let later = description(&format!("compare_from_s = 5.4\n{TEXT}"));
        assert_eq!(MeasuredLog::read(text, &later).expect("valid").series[0].points, [[0.5, 4.0]]);
    }

    /// All faults are reported with their lines.
    #[test]
    fn faults_are_reported_at_once() {
        let faults = |text: &str| MeasuredLog::read(text, &description(TEXT)).expect_err("faulty");
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
