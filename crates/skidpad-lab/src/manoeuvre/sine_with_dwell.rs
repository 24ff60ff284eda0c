//! Sine with dwell: one run of FMVSS 126 (49 CFR 571.126).

use skidpad_core::{Model, math};

use super::{KMH_100, Manoeuvre, Setup, StartRequirements};
use crate::driver::{DriverInput, DriverModel, SteeringProgram};
use crate::metrics::{Metric, metrics};
use crate::signal::Signal;
use crate::steering_wheel::SteeringWheel;
use crate::trajectory::Trajectory;

/// Steering sine of 0.7 Hz with a pause of 0.5 s at its second peak. The car coasts in neutral from the beginning of
/// the steering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SineWithDwell {
    /// Speed at the beginning of the steering (m/s), > 1.
    pub speed_mps: f64,
    /// Amplitude of the steering wheel (°), negative for a first half period to the right.
    pub amplitude_deg: f64,
    /// Steering wheel.
    pub wheel: SteeringWheel,
}

impl Default for SineWithDwell {
    fn default() -> Self {
        Self { speed_mps: 0.8 * KMH_100, amplitude_deg: 90.0, wheel: SteeringWheel::default() }
    }
}

metrics! {
    /// Response to one sine with dwell. The signs are those of a first half period to the left.
    SineWithDwellMetrics {
        beginning_of_steer_s, "s", 3, "Beginning of steer", "Time at which the filtered steering-wheel angle passes 5°.";
        completion_of_steer_s, "s", 3, "Completion of steer", "Time at which the filtered steering-wheel angle returns to 0.";
        peak_yaw_rate_degps, "deg/s", 3, "Second peak of the yaw rate", "First local peak of the filtered yaw rate after the steering changes its sign, positive against the first half period.";
        yaw_rate_ratio_1s_percent, "%", 2, "Yaw rate ratio after 1.0 s", "Filtered yaw rate 1.0 s after the completion of steer over the second peak; at most 35 %.";
        yaw_rate_ratio_1_75s_percent, "%", 2, "Yaw rate ratio after 1.75 s", "Filtered yaw rate 1.75 s after the completion of steer over the second peak; at most 20 %.";
        displacement_m, "m", 3, "Lateral displacement after 1.07 s", "Double integral of the filtered lateral acceleration from the beginning of steer over 1.07 s.";
        peak_roll_deg, "deg", 3, "Peak roll angle", "Largest absolute value.";
    }
}

/// Time at which the sine begins (s). The signals are zeroed over the last second before.
const SINE_START_S: f64 = 2.0;
/// Frequency of the sine (Hz).
const FREQUENCY_HZ: f64 = 0.7;
/// Duration of the pause at the second peak (s).
const DWELL_S: f64 = 0.5;
/// Time recorded after the steering (s).
const DECAY_TIME_S: f64 = 2.5;
/// Poles of the filters (–).
const FILTER_POLES: u32 = 12;
/// Cut-off frequency of the filter of the steering-wheel angle (Hz).
const STEER_CUTOFF_HZ: f64 = 10.0;
/// Cut-off frequency of the filter of yaw rate and lateral acceleration (Hz).
const RESPONSE_CUTOFF_HZ: f64 = 6.0;
/// Width of the moving mean of the steering rate (s).
const RATE_AVERAGING_S: f64 = 0.1;
/// Steering rate (°/s) that ends the range of zeroing, and the time for which it is exceeded (s).
const ZEROING_RATE_DEGPS: f64 = 75.0;
const ZEROING_HOLD_S: f64 = 0.2;
/// Length of the range of zeroing (s).
const ZEROING_RANGE_S: f64 = 1.0;
/// Steering-wheel angle of the beginning of steer (°).
const BEGINNING_DEG: f64 = 5.0;
/// Time after the beginning of steer at which the lateral displacement is measured (s).
const DISPLACEMENT_TIME_S: f64 = 1.07;

impl SineWithDwell {
    /// Returns the end of the steering (s).
    fn steering_end_s() -> f64 {
        SINE_START_S + 1.0 / FREQUENCY_HZ + DWELL_S
    }

    /// Returns the planned duration of a run (s).
    fn duration_s() -> f64 {
        Self::steering_end_s() + DECAY_TIME_S
    }

    /// Returns the steering angle over its amplitude at `time_s` (s): three quarters of a sine, the pause at −1, then
    /// the last quarter. The result is 0 before and after the steering.
    fn shape_at(time_s: f64) -> f64 {
        let since_start = time_s - SINE_START_S;
        let dwell_start = 0.75 / FREQUENCY_HZ;
        let sine_time = if since_start < dwell_start {
            since_start
        } else if since_start < dwell_start + DWELL_S {
            dwell_start
        } else {
            since_start - DWELL_S
        };
        let cycles = sine_time * FREQUENCY_HZ;
        if (0.0..1.0).contains(&cycles) { math::sin_cos_f64(std::f64::consts::TAU * cycles).0 } else { 0.0 }
    }

    /// Computes the metrics of a run by the procedure of FMVSS 126, S6 and S7. All are `None` for a run that ended
    /// before its planned duration.
    ///
    /// Steering-wheel angle, yaw rate and lateral acceleration are low-pass filtered, then zeroed by their mean over
    /// one second. This second ends when the steering rate first exceeds 75 °/s for 0.2 s, if this happens in the first
    /// quarter of the sine. Otherwise it ends at the planned beginning of the sine. Signals are positive in the
    /// direction of the first half period.
    pub fn measure(&self, trajectory: &Trajectory) -> SineWithDwellMetrics {
        if !trajectory.covers(Self::duration_s()) {
            return SineWithDwellMetrics::default();
        }
        // Removes the direction of the first half period.
        let sign = self.amplitude_deg.signum();
        let steer = Signal::of(trajectory, |frame| sign * self.wheel.wheel_deg(frame.steer_rad))
            .low_pass(FILTER_POLES, STEER_CUTOFF_HZ);
        let yaw_rate = Signal::of(trajectory, |frame| sign * frame.yaw_rate_radps.to_degrees())
            .low_pass(FILTER_POLES, RESPONSE_CUTOFF_HZ);
        let lateral = Signal::lateral_acceleration(trajectory)
            .map(|acceleration| sign * acceleration)
            .low_pass(FILTER_POLES, RESPONSE_CUTOFF_HZ);
        let rate = steer.derivative().moving_mean(RATE_AVERAGING_S);
        // A rate that is first exceeded after a quarter of the sine belongs to an amplitude that is too small for the
        // rule.
        let zeroing_end = rate
            .map(f64::abs)
            .first_sustained_above(ZEROING_RATE_DEGPS, ZEROING_HOLD_S)
            .filter(|time| *time < SINE_START_S + 0.25 / FREQUENCY_HZ)
            .unwrap_or(SINE_START_S);
        let [steer, yaw_rate, lateral] =
            [steer, yaw_rate, lateral].map(|signal| signal.zeroed(zeroing_end - ZEROING_RANGE_S, zeroing_end));
        let beginning = steer.first_crossing_up(BEGINNING_DEG, 0.0);
        let [dwell_start, dwell_end] = [0.75, 0.75 + DWELL_S * FREQUENCY_HZ].map(|c| SINE_START_S + c / FREQUENCY_HZ);
        // The filtered angle returns to 0 in the last quarter, or approaches 0 at the end.
        let completion = steer.first_crossing_up(0.0, dwell_end).unwrap_or(Self::steering_end_s());
        let sign_change = steer.map(|angle| -angle).first_crossing_up(0.0, SINE_START_S + 0.25 / FREQUENCY_HZ);
        // Yaw rate against the first half period. The second peak is the first local maximum after the steering has
        // changed its sign.
        let against = yaw_rate.map(|rate| -rate);
        let peak = sign_change.map(|time| against.first_peak(time.min(dwell_start)).1).filter(|peak| *peak > 0.0);
        let ratio = |delay: f64| peak.map(|peak| 100.0 * against.at(completion + delay) / peak);
        let displacement =
            beginning.map(|start| lateral.integral(start).integral(start).at(start + DISPLACEMENT_TIME_S));
        SineWithDwellMetrics {
            beginning_of_steer_s: beginning,
            completion_of_steer_s: Some(completion),
            peak_yaw_rate_degps: peak,
            yaw_rate_ratio_1s_percent: ratio(1.0),
            yaw_rate_ratio_1_75s_percent: ratio(1.75),
            displacement_m: displacement,
            peak_roll_deg: Some(trajectory.peak_magnitude(|frame| frame.roll_rad).to_degrees()),
        }
    }
}

impl Manoeuvre for SineWithDwell {
    fn name(&self) -> &'static str {
        "sine-with-dwell"
    }
    fn about(&self) -> String {
        format!(
            "steering sine of {FREQUENCY_HZ} Hz and {:.0}° of steering wheel with a pause of {DWELL_S} s at {:.1} m/s",
            self.amplitude_deg, self.speed_mps
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: Self::duration_s(), ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING
    }
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        let amplitude = self.wheel.road_wheel_rad(self.amplitude_deg);
        let program = move |input: &DriverInput<'_>| amplitude * Self::shape_at(input.end_s());
        Box::new(SteeringProgram::new(self.speed_mps, program).with_release(SINE_START_S))
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// Interval of the synthetic runs (s).
    const INTERVAL_S: f64 = 1.0 / 240.0;

    /// Synthetic run of `test`: the yaw rate is the steering shape times 20 °/s in the direction of the steering, and
    /// decays to `rest` of its second peak after the steering. The lateral acceleration is 4 m/s² from the beginning of the
    /// sine on.
    fn synthetic_run(test: &SineWithDwell, rest: f64) -> Trajectory {
        let sign = test.amplitude_deg.signum();
        sampled(INTERVAL_S, SineWithDwell::duration_s(), |t, frame| {
            frame.steer_rad = test.wheel.road_wheel_rad(test.amplitude_deg) * SineWithDwell::shape_at(t);
            let shape = if t < SineWithDwell::steering_end_s() - 0.1 { SineWithDwell::shape_at(t) } else { -rest };
            frame.yaw_rate_radps = sign * (20.0 * shape).to_radians();
            frame.ay_mps2 = if t > SINE_START_S { 4.0 * sign } else { 0.0 };
            frame.roll_rad = 0.05 * shape;
        })
    }

    /// The waveform is that of the standard: 1 at a quarter, −1 during the pause, and 1.9286 s long.
    #[test]
    fn the_waveform_is_that_of_the_standard() {
        let at = |t: f64| SineWithDwell::shape_at(SINE_START_S + t);
        assert!((at(0.25 / 0.7) - 1.0).abs() < 1e-6);
        assert!(at(0.5 / 0.7).abs() < 1e-6);
        assert!((at(1.08) + 1.0).abs() < 1e-6 && (at(1.57) + 1.0).abs() < 1e-6);
        assert!(at(1.92) < 0.0 && at(1.93) == 0.0 && at(-0.1) == 0.0);
        assert!((SineWithDwell::steering_end_s() - SINE_START_S - 1.9286).abs() < 1e-4);
    }

    /// Both directions have the same metrics. The beginning of steer is where the sine passes 5°; the displacement is that
    /// of the acceleration, less the time between the step and the beginning of steer.
    #[test]
    fn a_synthetic_response_has_its_known_ratios_and_displacement() {
        for amplitude_deg in [120.0, -120.0] {
            let test = SineWithDwell { amplitude_deg, ..SineWithDwell::default() };
            let found = test.measure(&synthetic_run(&test, 0.3));
            let close = |value: Option<f64>, expected: f64, tolerance: f64| {
                assert!((value.expect("measured") - expected).abs() < tolerance, "{value:?} {expected}");
            };
            // The filter of 10 Hz rounds the corners at both ends of the sine over about a quarter of its period.
            let beginning = SINE_START_S + (5.0f64 / 120.0).asin() / (std::f64::consts::TAU * 0.7);
            close(found.beginning_of_steer_s, beginning, 0.025);
            close(found.completion_of_steer_s, SineWithDwell::steering_end_s(), 0.05);
            // The filter of 6 Hz overshoots at corners of the yaw rate by about 1 %.
            close(found.peak_yaw_rate_degps, 20.0, 0.3);
            close(found.yaw_rate_ratio_1s_percent, 30.0, 0.6);
            close(found.yaw_rate_ratio_1_75s_percent, 30.0, 0.6);
            // ½ a t²; the filter of 6 Hz makes the step of the acceleration 0.1 s wide, which is a velocity of 0.1 m/s.
            close(found.displacement_m, 0.5 * 4.0 * 1.07 * 1.07, 0.12);
            close(found.peak_roll_deg, 0.05f64.to_degrees(), 1e-6);
        }
    }

    /// Small amplitudes do not exceed 75 °/s at the beginning; their signals are zeroed before the sine, too.
    #[test]
    fn small_amplitudes_are_zeroed_before_the_sine() {
        let test = SineWithDwell { amplitude_deg: 22.0, ..SineWithDwell::default() };
        let found = test.measure(&synthetic_run(&test, 0.0));
        assert!(found.yaw_rate_ratio_1_75s_percent.is_some_and(|ratio| ratio.abs() < 0.5), "{found:?}");
    }

    /// A run that was cut short has no metrics; a car that does not respond has no ratio and no NaN.
    #[test]
    fn missing_responses_have_no_figures() {
        let test = SineWithDwell::default();
        assert_eq!(test.measure(&sampled(0.01, 3.0, |_, _| {})), SineWithDwellMetrics::default());
        let straight = test.measure(&sampled(0.01, SineWithDwell::duration_s(), |_, _| {}));
        assert_eq!((straight.peak_yaw_rate_degps, straight.displacement_m), (None, None));
    }
}
