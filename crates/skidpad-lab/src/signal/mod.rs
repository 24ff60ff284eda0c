//! Analysis of sampled signals: filter, zeroing, derivative, integral, regression and spectra.
//!
//! | operation | item |
//! |---|---|
//! | signal of a run | [`Signal::of`], [`Signal::lateral_acceleration`] |
//! | zero-phase Butterworth low-pass | [`Signal::low_pass`] |
//! | zeroing, moving mean, derivative, integral, crossings | [`Signal`] |
//! | straight line through points | [`fit_line`] |
//! | gain, phase and coherence of a response | [`FrequencyResponse`] |

mod filter;
mod regression;
mod spectrum;

pub use regression::{Line, fit_line};
pub use spectrum::{FrequencyPoint, FrequencyResponse};

use skidpad_core::Frame;

use crate::trajectory::Trajectory;

/// Samples at equal intervals. Sample `k` belongs to the time `k dt`. There is at least one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Interval between two samples (s).
    dt_s: f64,
    /// Samples, at least one.
    samples: Vec<f64>,
}

impl Signal {
    /// Creates a signal from samples every `dt_s` (s). Empty `samples` become one sample of 0.
    pub fn new(dt_s: f64, mut samples: Vec<f64>) -> Self {
        if samples.is_empty() {
            samples.push(0.0);
        }
        Self { dt_s, samples }
    }

    /// Reads `channel` of every row of a run.
    pub fn of(trajectory: &Trajectory, channel: impl Fn(&Frame) -> f64) -> Self {
        Self::new(trajectory.dt_s(), trajectory.rows().map(|frame| channel(&frame)).collect())
    }

    /// Reads the lateral acceleration (m/s²) at the time of every row of a run. A row has the mean acceleration of the
    /// step before the row, which lags by half a step. Averaging it with the value of the next row removes this lag.
    /// The last row keeps its value.
    pub fn lateral_acceleration(trajectory: &Trajectory) -> Self {
        let mut signal = Self::of(trajectory, |frame| frame.ay_mps2);
        for k in 1..signal.samples.len() {
            signal.samples[k - 1] = 0.5 * (signal.samples[k - 1] + signal.samples[k]);
        }
        signal
    }

    /// Returns the interval between two samples (s).
    pub fn dt_s(&self) -> f64 {
        self.dt_s
    }

    /// Returns the samples, at least one.
    pub fn samples(&self) -> &[f64] {
        &self.samples
    }

    /// Returns the time of the last sample (s).
    pub fn end_s(&self) -> f64 {
        (self.samples.len() - 1) as f64 * self.dt_s
    }

    /// Returns the signal with `function` applied to every sample.
    pub fn map(&self, function: impl Fn(f64) -> f64) -> Self {
        Self { dt_s: self.dt_s, samples: self.samples.iter().map(|&sample| function(sample)).collect() }
    }

    /// Returns the value at `time_s` (s), interpolated linearly between samples and constant outside them.
    pub fn at(&self, time_s: f64) -> f64 {
        let position = (time_s / self.dt_s).clamp(0.0, (self.samples.len() - 1) as f64);
        let index = position as usize;
        let next = (index + 1).min(self.samples.len() - 1);
        self.samples[index] + (position - index as f64) * (self.samples[next] - self.samples[index])
    }

    /// Returns the samples from `from_s` to `to_s` (s), both included with a tolerance of a millionth of an interval.
    /// The time of the first returned sample becomes 0. Limits outside the signal are clamped, so there is at least one
    /// sample.
    pub fn slice(&self, from_s: f64, to_s: f64) -> Self {
        let last = self.samples.len() - 1;
        let first_index = ((from_s / self.dt_s - INDEX_TOLERANCE).ceil().max(0.0) as usize).min(last);
        let end_index = ((to_s / self.dt_s + INDEX_TOLERANCE).floor().max(0.0) as usize).clamp(first_index, last);
        Self { dt_s: self.dt_s, samples: self.samples[first_index..=end_index].to_vec() }
    }

    /// Returns the mean of the samples.
    pub fn mean(&self) -> f64 {
        self.samples.iter().sum::<f64>() / self.samples.len() as f64
    }

    /// Returns the signal less its mean from `from_s` to `to_s` (s).
    pub fn zeroed(&self, from_s: f64, to_s: f64) -> Self {
        let offset = self.slice(from_s, to_s).mean();
        self.map(|sample| sample - offset)
    }

    /// Computes the derivative by time (1/s): central differences, one-sided at both ends. A single sample has the
    /// derivative 0.
    pub fn derivative(&self) -> Self {
        let last = self.samples.len() - 1;
        let slope = |k: usize| {
            let (before, after) = (k.saturating_sub(1), (k + 1).min(last));
            let interval = (after - before) as f64 * self.dt_s;
            if interval > 0.0 { (self.samples[after] - self.samples[before]) / interval } else { 0.0 }
        };
        Self { dt_s: self.dt_s, samples: (0..=last).map(slope).collect() }
    }

    /// Computes the integral from `from_s` (s) on by the trapezoidal rule (unit of the signal times s). The integral is
    /// 0 up to `from_s`, which may be a time between two samples.
    pub fn integral(&self, from_s: f64) -> Self {
        let mut sum = 0.0;
        let mut samples = vec![0.0; self.samples.len()];
        for (k, pair) in self.samples.windows(2).enumerate() {
            let end = (k + 1) as f64 * self.dt_s;
            let interval = (end - from_s).clamp(0.0, self.dt_s);
            // The first interval is cut off at `from_s`.
            sum += 0.5 * (self.at(end - interval) + pair[1]) * interval;
            samples[k + 1] = sum;
        }
        Self { dt_s: self.dt_s, samples }
    }

    /// Returns the centred moving mean over `width_s` (s). The window has an odd number of samples. Near both ends it
    /// becomes shorter and keeps its centre.
    pub fn moving_mean(&self, width_s: f64) -> Self {
        let half_count = (0.5 * width_s / self.dt_s).round().max(0.0) as usize;
        let last = self.samples.len() - 1;
        let mean = |k: usize| {
            let half = half_count.min(k).min(last - k);
            self.samples[k - half..=k + half].iter().sum::<f64>() / (2 * half + 1) as f64
        };
        Self { dt_s: self.dt_s, samples: (0..=last).map(mean).collect() }
    }

    /// Returns the time at which the signal first reaches `level` from below, at or after `from_s` (s), interpolated
    /// linearly between samples (s). If the signal is already at or above `level` at `from_s`, the result is `from_s`
    /// (at least 0). `None` if the level is not reached, or if `from_s` is after the last sample.
    pub fn first_crossing_up(&self, level: f64, from_s: f64) -> Option<f64> {
        if self.at(from_s) >= level {
            return Some(from_s.max(0.0)).filter(|time| *time <= self.end_s());
        }
        let first = ((from_s / self.dt_s).floor().max(0.0) as usize + 1).min(self.samples.len());
        let k = (first..self.samples.len()).find(|&k| self.samples[k] >= level)?;
        let [before, after] = [self.samples[k - 1], self.samples[k]];
        Some(((k - 1) as f64 + (level - before) / (after - before)) * self.dt_s)
    }

    /// Returns the time of the first sample from which on the signal stays above `level` for `duration_s` (s), both
    /// ends included; `None` if there is no such sample.
    pub fn first_sustained_above(&self, level: f64, duration_s: f64) -> Option<f64> {
        let needed = (duration_s / self.dt_s).round() as usize + 1;
        let mut count = 0;
        for (k, &sample) in self.samples.iter().enumerate() {
            count = if sample > level { count + 1 } else { 0 };
            if count >= needed {
                return Some((k + 1 - needed) as f64 * self.dt_s);
            }
        }
        None
    }

    /// Returns the time (s) and value of the first local maximum at or after `from_s` (s): a sample above its
    /// predecessor and not below its successor. The first and the last sample of the signal do not count. Without a
    /// local maximum the result is the largest sample at or after `from_s`.
    pub fn first_peak(&self, from_s: f64) -> (f64, f64) {
        let first = ((from_s / self.dt_s).ceil().max(0.0) as usize).min(self.samples.len() - 1);
        let is_peak = |k: &usize| {
            self.samples[*k] > self.samples[k - 1]
                && self.samples[*k] >= self.samples[(k + 1).min(self.samples.len() - 1)]
        };
        let largest = || (first..self.samples.len()).max_by(|a, b| self.samples[*a].total_cmp(&self.samples[*b]));
        let k = (first.max(1)..self.samples.len() - 1).find(is_peak).or_else(largest).unwrap_or(first);
        (k as f64 * self.dt_s, self.samples[k])
    }
}

/// Tolerance for the comparison of a time with the times of samples (intervals).
const INDEX_TOLERANCE: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// Samples of `function` every 0.01 s up to `end` (s).
    fn signal(end: f64, function: impl Fn(f64) -> f64) -> Signal {
        Signal::new(0.01, (0..=(end / 0.01).round() as usize).map(|k| function(k as f64 * 0.01)).collect())
    }

    /// Asserts that two numbers differ by less than `tolerance`.
    #[track_caller]
    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() < tolerance, "{found} instead of {expected}");
    }

    /// Interpolation, slices, mean and zeroing of a ramp with an offset are exact.
    #[test]
    fn a_ramp_is_interpolated_sliced_and_zeroed() {
        let ramp = signal(2.0, |t| 3.0 + 2.0 * t);
        close(ramp.at(0.505), 4.01, 1e-12);
        close(ramp.at(-1.0), 3.0, 1e-12);
        close(ramp.at(9.0), 7.0, 1e-12);
        let slice = ramp.slice(0.5, 1.5);
        assert_eq!(slice.samples().len(), 101);
        close(slice.mean(), 5.0, 1e-12);
        close(ramp.zeroed(0.0, 1.0).at(0.5), 0.0, 1e-12);
    }

    /// The derivative of a parabola is exact at inner samples. The integral of a ramp from a time between two samples is
    /// exact, and the double integral of a constant acceleration is `½ a t²`.
    #[test]
    fn derivative_and_integral_have_their_closed_forms() {
        let parabola = signal(2.0, |t| t * t);
        close(parabola.derivative().at(1.0), 2.0, 1e-9);
        let ramp = signal(2.0, |t| 2.0 * t);
        close(ramp.integral(0.503).at(2.0), 4.0 - 0.503 * 0.503, 1e-12);
        close(ramp.integral(0.503).at(0.5), 0.0, 1e-12);
        let distance = signal(2.0, |_| 3.0).integral(0.25).integral(0.25).at(1.25);
        // The trapezoidal rule of the velocity is exact.
        close(distance, 1.5, 1e-9);
    }

    /// The moving mean over whole periods of a sine is 0, and that of a ramp is the ramp.
    #[test]
    fn a_moving_mean_removes_a_whole_period() {
        // A window of 0.1 s has 11 samples, so the period has 11 intervals.
        let sine = signal(2.0, |t| (std::f64::consts::TAU * t / 0.11).sin());
        close(sine.moving_mean(0.1).at(1.0), 0.0, 1e-12);
        close(signal(2.0, |t| t).moving_mean(0.1).at(1.0), 1.0, 1e-12);
    }

    /// Crossings are interpolated. A level that is exceeded too briefly is not sustained.
    #[test]
    fn crossings_and_sustained_levels_are_found() {
        let sine = signal(2.0, |t| (std::f64::consts::PI * t).sin());
        close(sine.first_crossing_up(0.5, 0.0).expect("reached"), 1.0 / 6.0, 1e-4);
        assert_eq!(sine.first_crossing_up(1.5, 0.0), None);
        assert_eq!(sine.first_crossing_up(0.5, 0.5), Some(0.5));
        close(sine.first_sustained_above(0.5, 0.2).expect("long"), 0.17, 1e-9);
        assert_eq!(sine.first_sustained_above(0.5, 0.7), None);
        let (time, value) = sine.map(|v| -v).first_peak(1.0);
        close(time, 1.5, 1e-9);
        close(value, 1.0, 1e-9);
    }

    /// The centred lateral acceleration of a run has no lag of half a step: the rows contain the mean over the step.
    #[test]
    fn lateral_acceleration_is_centred_on_the_rows() {
        let run = sampled(0.01, 2.0, |t, frame| {
            // Mean of 2 t over the step before t.
            frame.ay_mps2 = 2.0 * (t - 0.005);
        });
        close(Signal::lateral_acceleration(&run).at(1.0), 2.0, 1e-12);
    }
}
