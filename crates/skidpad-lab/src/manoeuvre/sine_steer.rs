//! One period of sinusoidal steering at constant speed: ISO 7401.

use skidpad_core::{Frame, Model, math};

use super::{KMH_100, Manoeuvre, Setup, StartRequirements, steady_turn_text};
use crate::closed_form::cornering::steer_to_hold;
use crate::driver::{DriverInput, DriverModel, SteeringProgram};
use crate::metrics::{Metric, metrics};
use crate::steering_wheel::SteeringWheel;
use crate::trajectory::Trajectory;

/// Steering sine of one period, first to the left. Torques at the driven wheels hold the speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SineSteer {
    /// Speed (m/s), > 1.
    pub speed_mps: f64,
    /// Frequency (Hz), > 0. ISO 7401 uses 0.5 Hz, optionally 1 Hz.
    pub frequency_hz: f64,
    /// Lateral acceleration of a steady turn with the amplitude of the sine (m/s²), negative for a first half period to
    /// the right.
    pub lateral_acceleration_mps2: f64,
}

impl Default for SineSteer {
    fn default() -> Self {
        Self { speed_mps: KMH_100, frequency_hz: 0.5, lateral_acceleration_mps2: 4.0 }
    }
}

metrics! {
    /// Response to both half periods. Lags are the times from a peak of the steering to the peak of the response in the
    /// same half period.
    SineSteerMetrics {
        yaw_rate_first_lag_s, "s", 3, "Yaw rate lag, first peak", "Time from the first peak of the steering to the first peak of the yaw rate.";
        yaw_rate_second_lag_s, "s", 3, "Yaw rate lag, second peak", "Time from the second peak of the steering to the second peak of the yaw rate.";
        lateral_acceleration_first_lag_s, "s", 3, "Lateral acceleration lag, first peak", "Time from the first peak of the steering to the first peak of the lateral acceleration.";
        lateral_acceleration_second_lag_s, "s", 3, "Lateral acceleration lag, second peak", "Time from the second peak of the steering to the second peak of the lateral acceleration.";
        yaw_rate_gain_per_s, "1/s", 3, "Yaw rate gain, first peaks", "First peak of the yaw rate per first peak of the mean road-wheel angle.";
        lateral_acceleration_gain_mps2_per_deg, "m/s²/deg", 3, "Lateral acceleration gain, first peaks", "First peak of the lateral acceleration per degree of the first peak of the mean road-wheel angle.";
        yaw_rate_peak_ratio, "-", 3, "Yaw rate, second over first peak", "Ratio of the magnitudes.";
        lateral_acceleration_peak_ratio, "-", 3, "Lateral acceleration, second over first peak", "Ratio of the magnitudes.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration", "Largest absolute value.";
        peak_sideslip_deg, "deg", 3, "Peak sideslip angle", "Largest absolute value.";
        peak_roll_deg, "deg", 3, "Peak roll angle", "Largest absolute value.";
    }
}

/// Time at which the sine begins (s).
const SINE_START_S: f64 = 1.0;
/// Time recorded after the sine (s).
const DECAY_TIME_S: f64 = 3.0;

impl SineSteer {
    /// Returns the planned duration of a run (s).
    fn duration_s(&self) -> f64 {
        SINE_START_S + 1.0 / self.frequency_hz + DECAY_TIME_S
    }

    /// Returns the steering angle over its amplitude at `time_s` (s): the sine during its period, 0 otherwise.
    fn shape_at(&self, time_s: f64) -> f64 {
        let cycles = (time_s - SINE_START_S) * self.frequency_hz;
        if (0.0..1.0).contains(&cycles) { math::sin_cos_f64(std::f64::consts::TAU * cycles).0 } else { 0.0 }
    }

    /// Computes the metrics of a run; all are `None` for a run that ended before its planned duration. The first peak
    /// is the largest value in the direction of the first half period, the second peak the largest value in the
    /// opposite direction. Times of peaks are interpolated between telemetry rows. A ratio is `None` if its denominator
    /// is not positive.
    pub fn measure(&self, trajectory: &Trajectory) -> SineSteerMetrics {
        if !trajectory.covers(self.duration_s()) {
            return SineSteerMetrics::default();
        }
        let first_sign = self.lateral_acceleration_mps2.signum();
        // Time (s) and value of the peak of a channel in the direction of the first (1) or second (−1) half period.
        let peak = |half_sign: f64, channel: &dyn Fn(&Frame) -> f64| {
            let signed = |frame: &Frame| half_sign * first_sign * channel(frame);
            (trajectory.peak_time(SINE_START_S, signed), signed(&trajectory.peak(SINE_START_S, signed)))
        };
        let halves = |channel: &dyn Fn(&Frame) -> f64| [1.0, -1.0].map(|half_sign| peak(half_sign, channel));
        let steer = halves(&|frame| frame.steer_rad);
        let yaw_rate = halves(&|frame| frame.yaw_rate_radps);
        let lateral = halves(&|frame| frame.ay_mps2);
        // The row has the mean acceleration of the step before it, which lags by half a step.
        let half_step = 0.5 * trajectory.dt_s();
        let ratio = |numerator: f64, denominator: f64| (denominator > 0.0).then(|| numerator / denominator);
        SineSteerMetrics {
            yaw_rate_first_lag_s: Some(yaw_rate[0].0 - steer[0].0),
            yaw_rate_second_lag_s: Some(yaw_rate[1].0 - steer[1].0),
            lateral_acceleration_first_lag_s: Some(lateral[0].0 - half_step - steer[0].0),
            lateral_acceleration_second_lag_s: Some(lateral[1].0 - half_step - steer[1].0),
            yaw_rate_gain_per_s: ratio(yaw_rate[0].1, steer[0].1),
            lateral_acceleration_gain_mps2_per_deg: ratio(lateral[0].1, steer[0].1.to_degrees()),
            yaw_rate_peak_ratio: ratio(yaw_rate[1].1, yaw_rate[0].1),
            lateral_acceleration_peak_ratio: ratio(lateral[1].1, lateral[0].1),
            peak_lateral_acceleration_mps2: Some(trajectory.peak_magnitude(|frame| frame.ay_mps2)),
            peak_sideslip_deg: Some(trajectory.peak_magnitude(|f| f.vy_mps.atan2(f.vx_mps)).to_degrees()),
            peak_roll_deg: Some(trajectory.peak_magnitude(|frame| frame.roll_rad).to_degrees()),
        }
    }
}

impl Manoeuvre for SineSteer {
    fn name(&self) -> &'static str {
        "sine-steer"
    }
    fn about(&self) -> String {
        format!(
            "one period of a steering sine of {:.1} Hz at {:.1} m/s with the angle of {}",
            self.frequency_hz,
            self.speed_mps,
            steady_turn_text(self.lateral_acceleration_mps2)
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: self.duration_s(), ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        let test = *self;
        let amplitude = steer_to_hold(model, test.lateral_acceleration_mps2, test.speed_mps);
        Box::new(SteeringProgram::new(test.speed_mps, move |input: &DriverInput<'_>| {
            amplitude * test.shape_at(input.end_s())
        }))
    }
    /// Returns the metrics of [`SineSteer::measure`], followed by the gains per steering-wheel angle.
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        let found = self.measure(trajectory);
        let gains = (found.yaw_rate_gain_per_s, found.lateral_acceleration_gain_mps2_per_deg);
        found.list().into_iter().chain(SteeringWheel::of(model).gain_metrics(gains.0, gains.1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// A response that is delayed by 0.08 s has this lag in both half periods, in both directions, and the gain and the
    /// ratio of its peaks.
    #[test]
    fn a_delayed_response_has_its_lag_and_gain() {
        for direction in [1.0, -1.0] {
            let test = SineSteer { lateral_acceleration_mps2: 4.0 * direction, ..SineSteer::default() };
            let run = sampled(0.002, test.duration_s(), |t, frame| {
                let halved = |time: f64| if time > SINE_START_S + 1.0 { 0.9 } else { 1.0 } * test.shape_at(time);
                frame.steer_rad = 0.02 * direction * test.shape_at(t);
                frame.yaw_rate_radps = 0.1 * direction * halved(t - 0.08);
                // Mean of the acceleration over the step before the row.
                frame.ay_mps2 = 2.0 * direction * halved(t - 0.121);
            });
            let found = test.measure(&run);
            let close = |value: Option<f64>, expected: f64| {
                assert!((value.expect("measured") - expected).abs() < 2e-3, "{value:?} {expected}");
            };
            close(found.yaw_rate_first_lag_s, 0.08);
            close(found.yaw_rate_second_lag_s, 0.08);
            close(found.lateral_acceleration_first_lag_s, 0.12);
            close(found.lateral_acceleration_second_lag_s, 0.12);
            close(found.yaw_rate_gain_per_s, 5.0);
            close(found.lateral_acceleration_gain_mps2_per_deg, 2.0 / 0.02f64.to_degrees());
            close(found.yaw_rate_peak_ratio, 0.9);
        }
    }

    /// A run that was cut short has no metrics. A straight run has no gain and no NaN.
    #[test]
    fn a_run_cut_short_has_no_figures() {
        let straight = |end: f64| SineSteer::default().measure(&sampled(0.01, end, |_, _| {}));
        assert_eq!(straight(3.0), SineSteerMetrics::default());
        assert_eq!(straight(6.0).yaw_rate_gain_per_s, None);
    }
}
