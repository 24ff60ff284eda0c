//! Telemetry of a run, one row per step, and the queries that metrics are computed from.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use skidpad_core::{Assist, Contribution, Frame, Model, Scene, StepReport};

use crate::files::{WriteError, write_atomically};
use crate::frame_store::FrameStore;
use crate::scene_bounds::OffScene;
use crate::selection::Selection;
use crate::units::UnitName;

/// Telemetry of one car over one run. Row 0 is the start at t = 0; row k is the state after the step that ends at
/// `k · dt`. There is always at least one row. Times are products, not sums, so rounding errors do not accumulate.
///
/// Rows of a long run are stored in a temporary file to bound the memory. If the file fails, [`Trajectory::check`]
/// returns the error, and queries see only the rows that can be read.
#[derive(Debug)]
pub struct Trajectory {
    /// Names of the columns of the car.
    header: Vec<String>,
    rows: FrameStore,
    /// Length of a step (s).
    dt_s: f64,
    /// Worst value of each field of all step reports.
    worst_report: StepReport,
    /// Time and place at which the car left the ground; `None` if it did not.
    off_scene: Option<OffScene>,
    ground: GroundProperties,
    /// Names and telemetry of the towed units, from the front.
    trailers: Vec<(UnitName, Trajectory)>,
}

/// Properties of the ground on which metrics depend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundProperties {
    /// Gravitational acceleration (m/s²).
    pub gravity_mps2: f64,
    /// Slope of the plane on which cars start (rad), positive if it rises along +x.
    pub slope_rad: f64,
}

impl GroundProperties {
    /// Reads the properties from `scene`.
    pub fn of(scene: &Scene) -> Self {
        Self { gravity_mps2: scene.gravity.into(), slope_rad: scene.slope.into() }
    }
}

/// Contribution of one assist or non-physical aid over a run.
#[derive(Clone, Debug, PartialEq)]
pub struct AssistUse {
    /// Assist or aid.
    pub assist: Assist,
    /// Share of the steps in which it contributed anything (–).
    pub share: f64,
    /// Mean over all steps of each channel of [`Contribution::CHANNELS`].
    pub mean: [f64; 10],
    /// Value of largest magnitude of each channel of [`Contribution::CHANNELS`], with its sign.
    pub peak: [f64; 10],
}

impl AssistUse {
    /// Magnitude below which a value counts as rounding error, in the unit of its channel.
    const MIN_REPORTED_MAGNITUDE: f64 = 5e-4;

    /// Returns whether the largest value of channel number `channel` is more than rounding error.
    pub fn is_reported(&self, channel: usize) -> bool {
        self.peak[channel].abs() >= Self::MIN_REPORTED_MAGNITUDE
    }
}

/// Formats `value` with as many decimal places as show a number of the magnitude of `peak` with four digits, from none
/// to six; six for a `peak` of 0. The value is rounded first, and −0 is shown as 0.
pub fn four_digits(value: f64, peak: f64) -> String {
    let places = (3.0 - peak.abs().log10().floor()).clamp(0.0, 6.0) as i32;
    let scale = 10f64.powi(places);
    format!("{:.*}", places as usize, (value * scale).round() / scale + 0.0)
}

impl Trajectory {
    /// Creates a trajectory with the telemetry row for t = 0, on a level plane with standard gravity. `dt_s` is the
    /// length of a step (s). There are no towed units (trailers and dollies).
    pub fn new(model: &Model, first: Frame, dt_s: f64) -> Self {
        let (header, worst_report) = (first.header(model), StepReport::default());
        let ground = GroundProperties::of(&Scene::flat());
        Self { header, rows: FrameStore::new(first), dt_s, worst_report, off_scene: None, ground, trailers: Vec::new() }
    }

    /// Sets the ground that the run was driven on.
    pub fn with_ground(self, ground: GroundProperties) -> Self {
        Self { ground, ..self }
    }

    /// Returns the ground that the run was driven on.
    pub fn ground(&self) -> GroundProperties {
        self.ground
    }

    /// Sets the telemetry of the towed units (trailers and dollies), from the front. Each must have as many rows as the
    /// car.
    pub fn with_trailers(self, trailers: impl IntoIterator<Item = (UnitName, Self)>) -> Self {
        Self { trailers: trailers.into_iter().collect(), ..self }
    }

    /// Returns the telemetry of the towed units (trailers and dollies), from the front.
    pub fn trailers(&self) -> &[(UnitName, Self)] {
        &self.trailers
    }

    /// Appends one telemetry row to each towed unit (trailer or dolly), from the front. Step reports are those of the
    /// car only.
    pub fn push_trailers(&mut self, frames: impl IntoIterator<Item = Frame>) {
        for ((_, trailer), frame) in self.trailers.iter_mut().zip(frames) {
            trailer.rows.push(frame);
        }
    }

    /// Appends the telemetry row after the next step, and merges the report of that step into
    /// [`Trajectory::worst_report`].
    pub fn push(&mut self, frame: Frame, report: StepReport) {
        self.rows.push(frame);
        self.worst_report = self.worst_report.merge_worst(report);
    }

    /// Merges the health of other runs: their worst step report and the first place at which a car left its ground.
    pub fn merge_health(&mut self, report: StepReport, off_scene: Option<OffScene>) {
        self.worst_report = self.worst_report.merge_worst(report);
        self.off_scene = self.off_scene.or(off_scene);
    }

    /// Returns the worst value of each field of the step reports.
    pub fn worst_report(&self) -> StepReport {
        self.worst_report
    }

    /// Records that the run ended because the car left the ground of its scene.
    pub fn mark_off_scene(&mut self, off_scene: OffScene) {
        self.off_scene = Some(off_scene);
    }

    /// Returns the time and place at which the car left the ground of its scene; `None` if it did not.
    pub fn off_scene(&self) -> Option<OffScene> {
        self.off_scene
    }

    /// Returns the names of the columns of the car, in the order of [`Frame::row`].
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Iterates over all telemetry rows in order of time, at least one.
    pub fn rows(&self) -> impl Iterator<Item = Cow<'_, Frame>> {
        self.rows.frames_from(0)
    }

    /// Iterates over the telemetry rows from row `k` on, counted from 0.
    pub fn rows_from(&self, k: usize) -> impl Iterator<Item = Cow<'_, Frame>> {
        self.rows.frames_from(k)
    }

    /// Returns telemetry row `k`, counted from 0; `None` if there is no such row.
    pub fn row(&self, k: usize) -> Option<Cow<'_, Frame>> {
        self.rows.get(k)
    }

    /// Returns the number, counted from 0, of the last telemetry row for which `predicate` returns true; `None` if
    /// there is none.
    pub fn last_row_where(&self, predicate: impl Fn(&Frame) -> bool) -> Option<usize> {
        self.rows().enumerate().filter(|(_, frame)| predicate(frame)).map(|(k, _)| k).last()
    }

    /// Returns the number of telemetry rows, at least 1.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Checks that no telemetry row is missing, including those of the towed units (trailers and dollies).
    ///
    /// # Errors
    /// Returns the error of the temporary file if it could not be written or read.
    pub fn check(&self) -> io::Result<()> {
        self.rows.failure().map_or(Ok(()), Err)?;
        self.trailers.iter().try_for_each(|(_, trailer)| trailer.check())
    }

    /// Returns the telemetry row at t = 0.
    pub fn first(&self) -> &Frame {
        self.rows.first()
    }

    /// Returns the last telemetry row.
    pub fn last(&self) -> &Frame {
        self.rows.last()
    }

    /// Returns the length of a step (s).
    pub fn dt_s(&self) -> f64 {
        self.dt_s
    }

    /// Returns whether the run lasts until `time_s` (s), with a tolerance of half a step.
    pub fn covers(&self, time_s: f64) -> bool {
        self.last().t_s + 0.5 * self.dt_s >= time_s
    }

    /// Returns the time at which `channel` first reaches `level` from below, at or after `from_s` (s), interpolated
    /// linearly between telemetry rows (s). If the first row at or after `from_s` is already at or above `level`, the
    /// result is the time of this row. `None` if the level is not reached, or if there is no such row.
    pub fn first_crossing_up(&self, level: f64, from_s: f64, channel: impl Fn(&Frame) -> f64) -> Option<f64> {
        // Time and value of a row.
        let point = |frame: Cow<'_, Frame>| (frame.t_s, channel(&frame));
        let mut points = self.rows_from(self.row_at_or_after(from_s)).map(point);
        // Time and value of the previous row.
        let (mut previous_time, mut previous_value) = points.next()?;
        if previous_value >= level {
            return Some(previous_time);
        }
        for (time, value) in points {
            if value >= level {
                return Some(
                    previous_time + (level - previous_value) / (value - previous_value) * (time - previous_time),
                );
            }
            (previous_time, previous_value) = (time, value);
        }
        None
    }

    /// Returns the time at which `channel` first falls to `level`, at or after `from_s` (s), interpolated linearly
    /// between telemetry rows (s). If the first row at or after `from_s` is already at or below `level`, the result is
    /// the time of this row. `None` if the level is not reached, or if there is no such row.
    pub fn first_crossing_down(&self, level: f64, from_s: f64, channel: impl Fn(&Frame) -> f64) -> Option<f64> {
        self.first_crossing_up(-level, from_s, |frame| -channel(frame))
    }

    /// Returns `channel` at `time_s` (s), interpolated linearly between telemetry rows and constant outside them.
    pub fn interpolate_at(&self, time_s: f64, channel: impl Fn(&Frame) -> f64) -> f64 {
        // Number of the first row at or after the time.
        let next_row = self.rows_before(time_s);
        let Some(previous) = next_row.checked_sub(1).and_then(|k| self.row(k)) else { return channel(self.first()) };
        let Some(next) = self.row(next_row) else { return channel(self.last()) };
        let (previous_value, next_value) = (channel(&previous), channel(&next));
        let fraction = (time_s - previous.t_s) / (next.t_s - previous.t_s);
        previous_value + fraction * (next_value - previous_value)
    }

    /// Returns the mean of `channel` over the telemetry rows from `from_s` to `to_s` (s), both included. Without a row
    /// in this interval, the result is `channel` interpolated at its middle.
    pub fn mean(&self, from_s: f64, to_s: f64, channel: impl Fn(&Frame) -> f64) -> f64 {
        let accumulate = |(sum, count): (f64, u64), frame: Cow<'_, Frame>| (sum + channel(&frame), count + 1);
        match self.time_slice(from_s, to_s).fold((0.0, 0), accumulate) {
            (_, 0) => self.interpolate_at(0.5 * (from_s + to_s), channel),
            (sum, count) => sum / count as f64,
        }
    }

    /// Returns the telemetry row at or after `from_s` (s) with the largest value of `channel` (signed, not the
    /// magnitude), the earliest one of equals. Returns the last row if the run ends before `from_s`.
    pub fn peak(&self, from_s: f64, channel: impl Fn(&Frame) -> f64) -> Frame {
        // Starts with the last row, which is returned if there is no row after `from_s`.
        let (mut best_frame, mut largest_value) = (Cow::Borrowed(self.last()), channel(self.last()));
        for frame in self.rows_from(self.row_at_or_after(from_s)) {
            let value = channel(&frame);
            if value > largest_value || (value == largest_value && frame.t_s < best_frame.t_s) {
                (best_frame, largest_value) = (frame, value);
            }
        }
        best_frame.into_owned()
    }

    /// Returns the time of the largest value of `channel` at or after `from_s` (s), as the vertex of the parabola
    /// through the largest telemetry row and its two neighbours. Returns the time of the largest row if it is the first
    /// or the last of the run, or if it is not above the mean of its neighbours.
    pub fn peak_time(&self, from_s: f64, channel: impl Fn(&Frame) -> f64) -> f64 {
        let peak = self.peak(from_s, &channel);
        let peak_row = self.rows_before(peak.t_s);
        let (Some(previous), Some(next)) = (peak_row.checked_sub(1).and_then(|k| self.row(k)), self.row(peak_row + 1))
        else {
            return peak.t_s;
        };
        // Values before, at and after the peak.
        let [a, b, c] = [&*previous, &peak, &*next].map(&channel);
        // Second difference, negative at a maximum.
        let second_difference = a - 2.0 * b + c;
        if second_difference < 0.0 {
            // Vertex `½ (a − c) / (a − 2 b + c)` steps after the peak row; both neighbours are two steps apart.
            peak.t_s + 0.25 * (a - c) / second_difference * (next.t_s - previous.t_s)
        } else {
            peak.t_s
        }
    }

    /// Returns the largest magnitude of `channel` over the whole run.
    pub fn peak_magnitude(&self, channel: impl Fn(&Frame) -> f64) -> f64 {
        self.rows().fold(0.0, |largest, frame| channel(&frame).abs().max(largest))
    }

    /// Returns the smallest load of any wheel in any telemetry row, in % of the static load of the wheel; `None` for a
    /// car without wheels.
    pub fn min_load_percent(&self, model: &Model) -> Option<f64> {
        let load_percent = |(i, load): (usize, f64)| 100.0 * load / f64::from(model.static_load(i));
        let min_of_frame = |frame: Cow<'_, Frame>| {
            frame.wheels.iter().map(|wheel| wheel.load_n).enumerate().map(load_percent).min_by(f64::total_cmp)
        };
        self.rows().filter_map(min_of_frame).min_by(f64::total_cmp)
    }

    /// Returns the contribution of each assist and each non-physical aid over the run, in the order of the columns.
    /// Row 0 names the assists, but its values are left out because no step precedes it. A step counts for the share if
    /// any channel is not 0. Means are over all steps, also those without a contribution; peaks keep their signs.
    pub fn assist_use(&self) -> Vec<AssistUse> {
        let use_of = |(assist_index, &(assist, _)): (usize, &(Assist, Contribution))| {
            // Channels of this assist in each step.
            let values = || {
                self.rows_from(1).filter_map(move |frame| {
                    frame.assist_log.get(assist_index).map(|(_, contribution)| contribution.values())
                })
            };
            let active_steps = values().filter(|values| values.iter().any(|value| *value != 0.0)).count();
            // Value of larger magnitude, with its sign.
            let larger_magnitude = |peak: f64, value: f64| if value.abs() > peak.abs() { value } else { peak };
            let peak =
                values().fold([0.0; 10], |peak, values| std::array::from_fn(|i| larger_magnitude(peak[i], values[i])));
            let step_count = (self.row_count() - 1).max(1) as f64;
            let sum = values().fold([0.0; 10], |sum, values| std::array::from_fn(|i| sum[i] + values[i]));
            AssistUse { assist, share: active_steps as f64 / step_count, mean: sum.map(|sum| sum / step_count), peak }
        };
        self.first().assist_log.iter().enumerate().map(use_of).collect()
    }

    /// Iterates over the telemetry rows from `from_s` to `to_s` (s), both included.
    pub fn time_slice(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = Cow<'_, Frame>> {
        let end = to_s + self.tolerance();
        self.rows_from(self.row_at_or_after(from_s)).take_while(move |frame| frame.t_s <= end)
    }

    /// Returns the number of the first telemetry row at or after `time_s` (s), with the tolerance of
    /// [`Self::tolerance`]; the number of rows if there is none.
    fn row_at_or_after(&self, time_s: f64) -> usize {
        self.rows_before(time_s - self.tolerance())
    }

    /// Returns the number of telemetry rows before `time_s` (s), without a tolerance. The number is estimated from the
    /// step length and corrected by comparing row times, which are step numbers times the step length.
    fn rows_before(&self, time_s: f64) -> usize {
        let is_before = |row: usize| row as f64 * self.dt_s < time_s;
        // Estimated number of rows before the time.
        let estimate = (time_s / self.dt_s).clamp(0.0, self.row_count() as f64) as usize;
        (estimate.saturating_sub(1)..self.row_count()).find(|&row| !is_before(row)).unwrap_or(self.row_count())
    }

    /// Returns the tolerance for the comparison of times (s). A millionth of a step covers the rounding of the products
    /// and still separates neighbouring telemetry rows.
    fn tolerance(&self) -> f64 {
        1e-6 * self.dt_s
    }

    /// Returns the names of the columns in the order of a written telemetry row: those of the car, then those of each
    /// towed unit (trailer or dolly) with its key in front, such as `trailer1.load_n.1l`. The time column occurs only
    /// once.
    fn columns(&self) -> Vec<String> {
        let unit_columns = |(name, trailer): &(UnitName, Self)| {
            let name = name.key();
            trailer.header[1..].iter().map(|column| format!("{name}.{column}")).collect::<Vec<_>>()
        };
        let towed_columns = self.trailers.iter().flat_map(unit_columns);
        self.header.iter().cloned().chain(towed_columns).collect()
    }

    /// Writes the header and all telemetry rows as CSV: [`Trajectory::write_selected_csv`] with all columns and rows.
    ///
    /// # Errors
    /// Returns the errors of `out` and of the temporary file.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_selected_csv(&Selection::default(), out)
    }

    /// Writes the selected columns of the header and of the selected telemetry rows as CSV. The columns of the towed
    /// units (trailers and dollies), without their times, follow those of the car on the same line. Numbers have the
    /// shortest text that reads back as the same number. Checks at the end that no row is missing.
    ///
    /// # Errors
    /// Returns the errors of `out` and of the temporary file.
    pub fn write_selected_csv(&self, selection: &Selection, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", selection.pick(&self.columns()).join(","))?;
        let mut line = String::new();
        let mut towed_rows: Vec<_> = self.trailers.iter().map(|(_, trailer)| trailer.rows()).collect();
        for (row_number, frame) in self.rows().enumerate() {
            line.clear();
            // The next row of each towed unit without column 0, the time.
            let towed_values =
                towed_rows.iter_mut().filter_map(Iterator::next).flat_map(|frame| frame.row().split_off(1));
            let row: Vec<f64> = frame.row().into_iter().chain(towed_values).collect();
            if row_number % selection.every() != 0 {
                continue;
            }
            for value in selection.pick(&row) {
                push_number(&mut line, value);
                line.push(',');
            }
            // Removes the last comma.
            line.pop();
            writeln!(out, "{line}")?;
        }
        self.check()
    }

    /// Writes the CSV file `path` with the selected columns and telemetry rows, completely or not at all.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_csv(&self, path: &Path, selection: &Selection) -> Result<(), WriteError> {
        write_atomically(path, |out| self.write_selected_csv(selection, out))
    }
}

/// Appends the shortest text that reads back as the same number; −0 is written as 0. Magnitudes below 1e-5 and from
/// 1e15 on have an exponent.
fn push_number(line: &mut String, value: f64) {
    use std::fmt::Write as _;
    // Turns −0 into 0.
    let value = value + 0.0;
    let result = match value.abs() {
        magnitude if magnitude != 0.0 && !(1e-5..1e15).contains(&magnitude) => write!(line, "{value:e}"),
        _ => write!(line, "{value}"),
    };
    debug_assert!(result.is_ok(), "a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};
    use skidpad_core::Shaft;

    /// The first and the last columns of the CSV header have their exact names. Every line has as many cells as the
    /// header, and there is a line for each of the three rows.
    #[test]
    fn d9_header_and_row_zero_are_exact() {
        let trajectory = sampled(0.5, 1.0, |t, frame| frame.x_m = t);
        let mut bytes = Vec::new();
        trajectory.write_csv(&mut bytes).expect("a Vec takes everything");
        let text = String::from_utf8(bytes).expect("text");
        let mut lines = text.lines();
        let header = lines.next().expect("a header");
        assert_eq!(header, trajectory.first().header(&model()).join(","));
        assert!(header.starts_with(
            "t_s,x_m,y_m,z_m,roll_rad,pitch_rad,yaw_rad,vx_mps,vy_mps,vz_mps,roll_rate_radps,pitch_rate_radps,\
             yaw_rate_radps,ax_mps2,ay_mps2,engine_radps,gear,steer_rad,load_n.1l,fx_n.1l,fy_n.1l,slip_ratio.1l,\
             slip_angle_rad.1l,camber_rad.1l,steer_rad.1l,mx_nm.1l,mz_nm.1l,spin_radps.1l,compression_m.1l,rolling_n.1l,disc_k.1l,\
             contact.1l,load_n.1r,"
        ));
        assert!(header.ends_with("compression_m.2r,rolling_n.2r,disc_k.2r,contact.2r"), "{header}");
        let columns = header.split(',').count();
        assert!(lines.clone().all(|line| line.split(',').count() == columns));
        assert_eq!(lines.count(), 3);
    }

    /// Queries return bit-identical results whether all rows are in memory or all but five are in the file. Rows by
    /// number at the borders of memory, file and unwritten rows are equal, as is the CSV text. At most 600 rows stay in
    /// memory.
    #[test]
    fn rows_in_a_file_answer_as_rows_in_memory() {
        let whole = sampled(0.01, 30.0, |t, frame| {
            (frame.x_m, frame.vx_mps, frame.yaw_rad) = (t * t, (0.7 * t).sin(), -0.0);
            frame.wheels.iter_mut().enumerate().for_each(|(i, w)| w.load_n = 3000.0 + i as f64 + (9.0 * t).cos() / 3.0);
            frame.shafts = vec![(Shaft::Gearbox, t.sqrt())];
            frame.assist_log = vec![(Assist::AntiLock, Contribution { throttle: t as f32, ..Contribution::default() })];
        });
        let rows = FrameStore::with_memory_limit(5, whole.first().clone());
        let mut filed = Trajectory {
            header: whole.header.clone(),
            rows,
            dt_s: whole.dt_s,
            worst_report: whole.worst_report,
            off_scene: None,
            ground: whole.ground,
            trailers: Vec::new(),
        };
        for frame in whole.rows_from(1) {
            filed.push(frame.into_owned(), StepReport::default());
        }
        assert_eq!((filed.row_count(), filed.last()), (3001, whole.last()));
        assert!(filed.rows().zip(whole.rows()).all(|(a, b)| a == b) && filed.rows().count() == 3001);
        for k in [0, 4, 5, 6, 516, 517, 518, 2999, 3000, 3001] {
            assert_eq!(filed.row(k), whole.row(k), "row {k}");
            assert_eq!(filed.rows_from(k).next(), whole.row(k), "from row {k}");
            assert_eq!(filed.rows_from(k).count(), 3001 - k, "from row {k}");
        }
        let speed = |f: &Frame| f.vx_mps;
        let model = model();
        let questions: [fn(&Trajectory) -> f64; 4] = [
            |run| run.interpolate_at(17.123, |f| f.x_m),
            |run| run.mean(3.0, 25.0, |f| f.vx_mps),
            |run| run.peak_magnitude(|f| f.wheels[2].load_n),
            |run| run.assist_use()[0].mean[8],
        ];
        for of in questions {
            assert_eq!(of(&filed).to_bits(), of(&whole).to_bits());
        }
        assert_eq!(filed.peak(5.0, speed), whole.peak(5.0, speed));
        assert_eq!(filed.peak_time(5.0, speed), whole.peak_time(5.0, speed));
        assert_eq!(filed.first_crossing_up(0.9, 12.0, speed), whole.first_crossing_up(0.9, 12.0, speed));
        assert_eq!(filed.min_load_percent(&model), whole.min_load_percent(&model));
        assert_eq!(filed.time_slice(7.0, 8.0).count(), 101);
        let csv = |run: &Trajectory| {
            let mut bytes = Vec::new();
            run.write_csv(&mut bytes).expect("a Vec takes everything");
            bytes
        };
        assert!(csv(&filed) == csv(&whole));
        assert!(filed.rows.frames_in_memory() < 600, "{}", filed.rows.frames_in_memory());
    }

    /// Written numbers parse to the same bits; −0 is written as 0.
    #[test]
    fn numbers_read_back_as_they_were() {
        for value in [0.1, 1.0 / 240.0, -1234.5, 1e-30, 6.02e23, f64::from(0.1f32), 3.0] {
            let mut text = String::new();
            push_number(&mut text, value);
            assert_eq!(text.parse::<f64>().expect("a number").to_bits(), value.to_bits(), "{text}");
        }
        let mut text = String::new();
        push_number(&mut text, -0.0);
        assert_eq!(text, "0");
    }

    /// Downward crossings and values of a linear channel are exact between rows. A level that is not reached is `None`;
    /// a level already reached at the start of the search has the time of its first row.
    #[test]
    fn crossings_are_linear_between_rows() {
        let line = sampled(0.1, 1.0, |t, frame| frame.vx_mps = 10.0 - 10.0 * t);
        for (level, time) in [(9.5, 0.05), (5.0, 0.5), (0.0, 1.0)] {
            let found = line.first_crossing_down(level, 0.0, |f| f.vx_mps).expect("it does");
            assert!((found - time).abs() < 1e-12, "{level}: {found}");
        }
        assert_eq!(line.first_crossing_down(-1.0, 0.0, |f| f.vx_mps), None);
        assert_eq!(line.first_crossing_down(5.0, 0.7, |f| f.vx_mps), line.row(7).map(|f| f.t_s));
        assert!((line.interpolate_at(0.25, |f| f.vx_mps) - 7.5).abs() < 1e-12);
    }
}
