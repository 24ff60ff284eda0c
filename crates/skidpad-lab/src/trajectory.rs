//! What a run leaves behind: one row of telemetry per step, and the questions metrics ask of it.

use std::io::{self, Write};
use std::path::Path;

use skidpad_core::{Added, Assist, Frame, Model, StepReport};

use crate::files::{WriteError, write_atomically};

/// Telemetry of one car over one run. Row 0 is the start at t = 0; row k is the state after the step that ends at
/// `k · dt`. Times are products, not sums, so no rounding builds up. Never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    header: Vec<String>,
    frames: Vec<Frame>,
    dt_s: f64,
    worst: StepReport,
}

/// What one assist or trick did in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Help {
    /// Which one.
    pub assist: Assist,
    /// Share of the steps in which it added anything.
    pub share: f64,
    /// The mean over all steps of each of [`Added::CHANNELS`].
    pub mean: [f64; 10],
    /// The largest of each of [`Added::CHANNELS`] by size, with its sign.
    pub largest: [f64; 10],
}

impl Help {
    /// Size from which a value is more than rounding, in the unit of its channel.
    const LEAST_TOLD: f64 = 5e-4;

    /// Whether the channel's largest value is more than rounding.
    pub fn told(&self, channel: usize) -> bool {
        self.largest[channel].abs() >= Self::LEAST_TOLD
    }
}

/// `value` with as many places as tell a number of the size of `peak` to four digits, at most six.
pub fn four_digits(value: f64, peak: f64) -> String {
    let places = (3 - peak.abs().log10().floor() as i32).clamp(0, 6);
    let scale = 10f64.powi(places);
    format!("{:.*}", places as usize, (value * scale).round() / scale + 0.0)
}

impl Trajectory {
    /// Starts with the row for t = 0.
    pub fn new(model: &Model, first: Frame, dt_s: f64) -> Self {
        Self { header: first.header(model), frames: vec![first], dt_s, worst: StepReport::default() }
    }

    /// Appends the row after the next step, and how that step went.
    pub fn push(&mut self, frame: Frame, report: StepReport) {
        self.frames.push(frame);
        self.worst = self.worst.and(report);
    }

    /// The worst of every step, field by field.
    pub fn worst(&self) -> StepReport {
        self.worst
    }

    /// Every row in order of time; never empty.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The row at t = 0.
    pub fn first(&self) -> &Frame {
        &self.frames[0]
    }

    /// The last row.
    pub fn last(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    /// Length of a step, s.
    pub fn dt_s(&self) -> f64 {
        self.dt_s
    }

    /// Time at which `channel` first reaches `level` from below, at or after `from_s`, linear between rows, s.
    /// `None` when it never does.
    pub fn rises_to(&self, level: f64, from_s: f64, channel: impl Fn(&Frame) -> f64) -> Option<f64> {
        let rows = &self.frames[self.row_at_or_after(from_s)..];
        let first = rows.first()?;
        if channel(first) >= level {
            return Some(first.t_s);
        }
        rows.windows(2).find_map(|pair| {
            let (before, after) = (channel(&pair[0]), channel(&pair[1]));
            let share = (level - before) / (after - before);
            (after >= level).then(|| pair[0].t_s + share * (pair[1].t_s - pair[0].t_s))
        })
    }

    /// Time at which `channel` first falls to `level`, at or after `from_s`, linear between rows, s.
    pub fn falls_to(&self, level: f64, from_s: f64, channel: impl Fn(&Frame) -> f64) -> Option<f64> {
        self.rises_to(-level, from_s, |frame| -channel(frame))
    }

    /// `channel` at `time_s`, linear between rows and constant outside them.
    pub fn at(&self, time_s: f64, channel: impl Fn(&Frame) -> f64) -> f64 {
        let next = self.frames.partition_point(|frame| frame.t_s < time_s);
        if next == 0 {
            return channel(self.first());
        }
        let Some(after) = self.frames.get(next) else { return channel(self.last()) };
        let before = &self.frames[next - 1];
        let share = (time_s - before.t_s) / (after.t_s - before.t_s);
        channel(before) + share * (channel(after) - channel(before))
    }

    /// Mean of `channel` over the rows in `from_s ..= to_s`; of the nearest row when none lies in it.
    pub fn mean(&self, from_s: f64, to_s: f64, channel: impl Fn(&Frame) -> f64) -> f64 {
        let rows = self.between(from_s, to_s);
        if rows.is_empty() {
            return self.at(0.5 * (from_s + to_s), channel);
        }
        rows.iter().map(channel).sum::<f64>() / rows.len() as f64
    }

    /// Row at or after `from_s` where `channel` is largest, the first of equals.
    pub fn peak(&self, from_s: f64, channel: impl Fn(&Frame) -> f64) -> &Frame {
        let rows = &self.frames[self.row_at_or_after(from_s)..];
        rows.iter().fold(self.last(), |best, frame| {
            let (new, old) = (channel(frame), channel(best));
            if new > old || (new == old && frame.t_s < best.t_s) { frame } else { best }
        })
    }

    /// When the channel is largest from `from_s` on, s: where the parabola through the largest row and its neighbours is.
    pub fn peak_time(&self, from_s: f64, channel: impl Fn(&Frame) -> f64) -> f64 {
        let peak = self.peak(from_s, &channel).t_s;
        let rows: Vec<&Frame> = self.frames.iter().collect();
        let Some(at) = rows.iter().position(|f| f.t_s >= peak) else { return peak };
        let (Some(before), Some(after)) = (at.checked_sub(1).and_then(|i| rows.get(i)), rows.get(at + 1)) else {
            return peak;
        };
        let [a, b, c] = [before, &rows[at], after].map(|f| channel(f));
        let bend = a - 2.0 * b + c;
        if bend < 0.0 { peak + 0.25 * (a - c) / bend * (after.t_s - before.t_s) } else { peak }
    }

    /// Largest size of `channel` over the whole run.
    pub fn largest(&self, channel: impl Fn(&Frame) -> f64) -> f64 {
        self.frames.iter().fold(0.0, |largest, frame| channel(frame).abs().max(largest))
    }

    /// Least load of any wheel at any time, in percent of its load at rest.
    pub fn least_load_percent(&self, model: &Model) -> Option<f64> {
        let share = |(i, load): (usize, f64)| 100.0 * load / f64::from(model.static_load(i));
        let loads = self.frames.iter().flat_map(|f| f.wheels.iter().map(|w| w.load_n).enumerate().map(share));
        loads.min_by(f64::total_cmp)
    }

    /// What each assist of the car and each trick of the solver added over the run, in the order of columns.
    pub fn help(&self) -> Vec<Help> {
        let rows = &self.frames[1..];
        let of = |(k, &(assist, _)): (usize, &(Assist, Added))| {
            let values = || rows.iter().filter_map(|frame| frame.budget.get(k)).map(|(_, added)| added.values());
            let busy = values().filter(|values| values.iter().any(|value| *value != 0.0)).count();
            let larger = |most: f64, value: f64| if value.abs() > most.abs() { value } else { most };
            let largest = values().fold([0.0; 10], |most, now| std::array::from_fn(|i| larger(most[i], now[i])));
            let steps = rows.len().max(1) as f64;
            let sum = values().fold([0.0; 10], |sum, now| std::array::from_fn(|i| sum[i] + now[i]));
            Help { assist, share: busy as f64 / steps, mean: sum.map(|sum| sum / steps), largest }
        };
        self.first().budget.iter().enumerate().map(of).collect()
    }

    /// Rows in `from_s ..= to_s`.
    pub fn between(&self, from_s: f64, to_s: f64) -> &[Frame] {
        let first = self.row_at_or_after(from_s);
        let end = self.frames.partition_point(|frame| frame.t_s <= to_s + self.tolerance());
        &self.frames[first.min(end)..end]
    }

    fn row_at_or_after(&self, time_s: f64) -> usize {
        self.frames.partition_point(|frame| frame.t_s < time_s - self.tolerance())
    }

    /// Times are products of f64 numbers; a millionth of a step tells neighbouring rows apart and forgives rounding.
    fn tolerance(&self) -> f64 {
        1e-6 * self.dt_s
    }

    /// Writes header and rows as CSV.
    ///
    /// # Errors
    /// Whatever the sink reports.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.header.join(","))?;
        let mut line = String::new();
        for frame in &self.frames {
            line.clear();
            for value in frame.row() {
                push_number(&mut line, value);
                line.push(',');
            }
            line.pop();
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Writes the CSV file at `path`, in full or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_csv(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |out| self.write_csv(out))
    }
}

/// Shortest text that reads back as the same number; −0 is written as 0.
fn push_number(line: &mut String, value: f64) {
    use std::fmt::Write as _;
    let value = value + 0.0;
    let written = match value.abs() {
        size if size != 0.0 && !(1e-5..1e15).contains(&size) => write!(line, "{value:e}"),
        _ => write!(line, "{value}"),
    };
    debug_assert!(written.is_ok(), "a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

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
             slip_angle_rad.1l,camber_rad.1l,mx_nm.1l,mz_nm.1l,spin_radps.1l,compression_m.1l,rolling_n.1l,disc_k.1l,\
             contact.1l,load_n.1r,"
        ));
        assert!(header.ends_with("compression_m.2r,rolling_n.2r,disc_k.2r,contact.2r"), "{header}");
        let columns = header.split(',').count();
        assert!(lines.clone().all(|line| line.split(',').count() == columns));
        assert_eq!(lines.count(), 3);
    }

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

    #[test]
    fn crossings_are_linear_between_rows() {
        let line = sampled(0.1, 1.0, |t, frame| frame.vx_mps = 10.0 - 10.0 * t);
        for (level, time) in [(9.5, 0.05), (5.0, 0.5), (0.0, 1.0)] {
            let found = line.falls_to(level, 0.0, |f| f.vx_mps).expect("it does");
            assert!((found - time).abs() < 1e-12, "{level}: {found}");
        }
        assert_eq!(line.falls_to(-1.0, 0.0, |f| f.vx_mps), None);
        assert_eq!(line.falls_to(5.0, 0.7, |f| f.vx_mps), Some(line.frames()[7].t_s));
        assert!((line.at(0.25, |f| f.vx_mps) - 7.5).abs() < 1e-12);
    }
}
