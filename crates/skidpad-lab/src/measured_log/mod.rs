//! Measured logs: CSV files whose columns are laid over simulated runs, and their deviations from the runs.

pub mod columns;
mod text_table;

pub use columns::{ColumnMap, ValueSource};
pub use text_table::MAX_FAULTS;
pub(crate) use text_table::{TextTable, Times};

use skidpad_core::Frame;

use crate::suggestions::nearest_name;
use crate::trajectory::Trajectory;
use columns::TIME_CHANNEL;

/// Name of the channel of the yaw angle, which jumps by a turn at ±π.
const YAW_CHANNEL: &str = "yaw_rad";

/// Measured values of one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name of the telemetry channel.
    pub channel: String,
    /// Times (s) and values, in the unit of the channel.
    pub points: Vec<[f64; 2]>,
}

/// Log that is laid over simulated runs.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredLog {
    /// Name for keys and tables.
    pub name: String,
    /// Measured channels, in the order of their names. Times are those of the run.
    pub series: Vec<Series>,
}

/// Deviation of a run from one channel of a log, over the time that both cover.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// Name of the channel.
    pub channel: String,
    /// Root of the mean square of the differences, simulated less measured, in the unit of the channel.
    pub rms: f64,
    /// Difference of largest magnitude, with its sign.
    pub largest: f64,
    /// Number of compared values.
    pub count: usize,
}

impl MeasuredLog {
    /// Reads the log in `text` by `map`, the sources of time and channels. Columns with the name of one of the
    /// telemetry columns `channels` need no entry. `start_s` is the time in the log at which the run starts (s), by
    /// default the time of the first row; times of the result count from it. A constant has a point at the first and at
    /// the last time. Yaw angles have no jumps by a turn.
    ///
    /// # Errors
    /// Returns the faults, at most [`MAX_FAULTS`]: missing columns, unknown channels, cells that are not finite
    /// numbers, times that do not increase, and a log without measured channels.
    pub fn read(
        name: &str,
        text: &str,
        map: &ColumnMap,
        start_s: Option<f64>,
        channels: &[String],
    ) -> Result<Self, Vec<String>> {
        let table = TextTable::read(text)?;
        let map = map.clone().with_named_columns(table.names(), channels);
        let mut faults = Vec::new();
        let times = table.times(map.0.get(TIME_CHANNEL), &mut faults);
        let start_s = start_s.zip(times.as_ref()).map_or(0.0, |(start_s, times)| start_s - times.first);
        let mut series = Vec::new();
        for (channel, source) in map.0.iter().filter(|(channel, _)| *channel != TIME_CHANNEL) {
            if !channels.contains(channel) {
                let near = nearest_name(channel, channels.iter().map(String::as_str));
                let help = near.map_or_else(
                    || "`skidpad list channels` has the names".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                faults.push(format!("unknown channel `{channel}`; {help}"));
            }
            let values = table.values(channel, source, &mut faults);
            let Some(times) = &times else { continue };
            let mut points: Vec<[f64; 2]> =
                values.into_iter().map(|(row, value)| [times.from_start[row] - start_s, value]).collect();
            // A constant (no column) also gets a point at the last time.
            if let (None, [[_, value], ..], Some(last)) = (&source.column, &points[..], times.from_start.last()) {
                points.push([last - start_s, *value]);
            }
            if channel == YAW_CHANNEL {
                unwrap_turns(&mut points);
            }
            series.push(Series { channel: channel.clone(), points });
        }
        if faults.is_empty() && series.is_empty() {
            faults.push(
                "no measured channels; name columns such as yaw_rate_radps=Yaw, or use names of `skidpad list channels`"
                    .into(),
            );
        }
        faults.truncate(MAX_FAULTS);
        if faults.is_empty() { Ok(Self { name: name.to_owned(), series }) } else { Err(faults) }
    }

    /// Returns the deviations of `run` from the log, one for each channel that both have. Values at times outside of
    /// the run are left out, and channels without further values have no deviation.
    pub fn deviations(&self, run: &Trajectory) -> Vec<Deviation> {
        let (first, last) = (run.first().t_s, run.last().t_s);
        let in_run = |series: &Series| {
            let points = series.points.iter().copied().filter(|[time, _]| (first..=last).contains(time));
            Series { channel: series.channel.clone(), points: points.collect() }
        };
        let common: Vec<Series> = self.series.iter().map(in_run).filter(|series| !series.points.is_empty()).collect();
        let deviation = |(series, differences): (&Series, Option<Vec<f64>>)| {
            let differences = differences?;
            let sum: f64 = differences.iter().map(|difference| difference * difference).sum();
            let largest = differences.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
            let rms = (sum / differences.len() as f64).sqrt();
            Some(Deviation { channel: series.channel.clone(), rms, largest, count: differences.len() })
        };
        common.iter().zip(differences(run, common.iter())).filter_map(deviation).collect()
    }

    /// Returns the log as a frame at each of `times` (s), interpolated linearly between its values. Quantities that
    /// were not measured, and times outside of the measured ones, are NaN. `header` has the names of the columns of
    /// `template`, a frame of the car. Wheels without a measured `contact` count as on the ground, so that their slips
    /// are drawn.
    pub fn frames(&self, header: &[String], template: &Frame, times: &[f64]) -> Vec<Frame> {
        let columns: Vec<Option<&Series>> =
            header.iter().map(|name| self.series.iter().find(|series| series.channel == *name)).collect();
        let value_at = |(name, series): (&String, &Option<&Series>), time: f64| match series {
            Some(series) => interpolate(&series.points, time).unwrap_or(f64::NAN),
            None if name.starts_with("contact.") => 1.0,
            None => f64::NAN,
        };
        let frame_at = |&time: &f64| {
            let row: Vec<f64> = header.iter().zip(&columns).map(|column| value_at(column, time)).collect();
            Frame { t_s: time, ..template.with_row(&row) }
        };
        times.iter().map(frame_at).collect()
    }
}

/// Returns the value of `points` at `time` (s), interpolated linearly between points; `None` outside of them.
fn interpolate(points: &[[f64; 2]], time: f64) -> Option<f64> {
    let next = points.partition_point(|[point_time, _]| *point_time < time);
    let [next_time, next_value] = *points.get(next)?;
    if next_time == time {
        return Some(next_value);
    }
    let [previous_time, previous_value] = *points.get(next.checked_sub(1)?)?;
    Some(previous_value + (next_value - previous_value) * (time - previous_time) / (next_time - previous_time))
}

/// Adds full turns to the angles of `points` (rad), so that neighbours differ by at most half a turn.
fn unwrap_turns(points: &mut [[f64; 2]]) {
    for index in 1..points.len() {
        points[index][1] = points[index - 1][1] + within_half_turn(points[index][1] - points[index - 1][1]);
    }
}

/// Returns `angle` (rad) less the full turns that bring it nearest to 0.
fn within_half_turn(angle: f64) -> f64 {
    angle - core::f64::consts::TAU * (angle / core::f64::consts::TAU).round()
}

/// Returns the differences of `run` from the points of each series, simulated less measured. The run is interpolated
/// linearly between its rows and constant outside them. The yaw angle is interpolated the shorter way round, and its
/// differences are within half a turn. `None` for a channel that the run does not have.
pub fn differences<'a>(run: &Trajectory, all_series: impl Iterator<Item = &'a Series>) -> Vec<Option<Vec<f64>>> {
    let all_series: Vec<&Series> = all_series.collect();
    let columns: Vec<Option<usize>> =
        all_series.iter().map(|series| run.header().iter().position(|name| *name == series.channel)).collect();
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(run.row_count());
    rows.extend(run.rows().map(|frame| {
        let row = frame.row();
        // The time, then the values of the channels.
        let values = columns.iter().map(|column| column.map_or(f64::NAN, |column| row[column]));
        core::iter::once(frame.t_s).chain(values).collect()
    }));
    let differences_of = |(number, (series, column)): (usize, (&&Series, &Option<usize>))| {
        let is_angle = series.channel == YAW_CHANNEL;
        let reduce = |difference: f64| if is_angle { within_half_turn(difference) } else { difference };
        let value_at = |time: f64| {
            // Rows around the time. Before the first row both are the first one; after the last row `share` is 1.
            let next = rows.partition_point(|row| row[0] < time).min(rows.len() - 1);
            let (before, after) = (&rows[next.saturating_sub(1)], &rows[next]);
            let share =
                if after[0] > before[0] { ((time - before[0]) / (after[0] - before[0])).clamp(0.0, 1.0) } else { 1.0 };
            before[number + 1] + share * reduce(after[number + 1] - before[number + 1])
        };
        (*column)?;
        Some(series.points.iter().map(|[time, measured]| reduce(value_at(*time) - measured)).collect())
    };
    all_series.iter().zip(&columns).enumerate().map(differences_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// Reads a log with the columns of `text` for a car with the channels of the test car.
    fn read(text: &str, columns: &str, start_s: Option<f64>) -> Result<MeasuredLog, Vec<String>> {
        let header = sampled(0.1, 0.1, |_, _| {}).header().to_vec();
        MeasuredLog::read("log.csv", text, &ColumnMap::parse("", columns).expect("valid"), start_s, &header)
    }

    /// Run whose yaw rate is 0.1 t and whose yaw angle turns by 2 rad/s.
    fn turning_run() -> Trajectory {
        sampled(0.01, 4.0, |t, frame| {
            frame.yaw_rate_radps = 0.1 * t;
            frame.yaw_rad = within_half_turn(2.0 * t);
        })
    }

    /// A log of the run itself deviates by the planted differences only, over the common time; rows before the start and
    /// behind the end of the run are left out. The yaw angle has no deviation at its jump.
    #[test]
    fn deviations_are_the_planted_ones_over_the_common_time() {
        let row = |k: u32| {
            let t = f64::from(k) * 0.25;
            let error = if k.is_multiple_of(2) { 0.01 } else { -0.03 };
            format!("{},{},{}\n", 100.0 + t, 0.1 * (t - 1.0) + error, (t - 1.0) * 2.0)
        };
        let text: String = core::iter::once("Time,Yaw,yaw_rad\n".to_owned()).chain((0..40).map(row)).collect();
        let log = read(&text, "t_s=Time,yaw_rate_radps=Yaw", Some(101.0)).expect("valid");
        let deviations = log.deviations(&turning_run());
        let [yaw_angle, yaw_rate] = &deviations[..] else { panic!("{deviations:?}") };
        // Times 0 to 4 s in steps of 0.25 s: 9 even rows and 8 odd ones.
        assert_eq!((yaw_rate.channel.as_str(), yaw_rate.count, yaw_angle.count), ("yaw_rate_radps", 17, 17));
        let rms = ((9.0 * 0.01f64.powi(2) + 8.0 * 0.03f64.powi(2)) / 17.0).sqrt();
        assert!((yaw_rate.rms - rms).abs() < 1e-9 && (yaw_rate.largest - 0.03).abs() < 1e-9, "{yaw_rate:?}");
        assert!(yaw_angle.rms < 1e-9, "{yaw_angle:?}");
    }

    /// Frames have the measured values between the first and the last time, and NaN for everything else.
    #[test]
    fn frames_have_measured_values_only() {
        let run = turning_run();
        let log = read("t_s,vx_mps,load_n.1l\n0,10,1000\n1,,\n2,14,3000\n", "gear={value=3}", None).expect("valid");
        let frames = log.frames(run.header(), run.first(), &[0.0, 1.0, 2.0, 3.0]);
        let speeds: Vec<f64> = frames.iter().map(|frame| frame.vx_mps).collect();
        assert_eq!(speeds[..3], [10.0, 12.0, 14.0]);
        assert!(speeds[3].is_nan() && frames[0].vy_mps.is_nan() && frames[0].wheels[1].load_n.is_nan());
        assert_eq!((frames[1].wheels[0].load_n, frames[1].gear, frames[1].wheels[0].contact), (2000.0, 3.0, 1.0));
    }

    /// All faults of a log are reported at once.
    #[test]
    fn faults_of_a_log_are_reported_at_once() {
        let faults = read("time,r\n0,1\n1,x\n", "yaw_rate=r,ay_mps2=a", None).expect_err("faulty");
        let text = faults.join("\n");
        for part in ["`t_s` must have a `column`", "unknown channel `yaw_rate`", "line 3, column `r`", "no column `a`"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(read("t_s,r\n0,1\n", "", None).expect_err("empty")[0].starts_with("no measured channels"));
    }
}
