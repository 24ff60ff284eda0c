//! Step steer at constant speed, based on ISO 7401.

use skidpad_core::{Controls, Frame, Model};

use super::{KMH_100, Manoeuvre, RUN_START_S, Setup, StartRequirements, steady_turn_text};
use crate::closed_form::GRAVITY_MPS2;
use crate::closed_form::cornering::steer_to_hold;
use crate::driver::{DriverInput, DriverModel, TorqueSpeedController};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Steering ramp to the angle that a steady turn with a given lateral acceleration needs. Torques at the driven wheels
/// hold the speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSteer {
    /// Speed (m/s), > 0.
    pub speed_mps: f64,
    /// Target lateral acceleration (m/s²), positive to the left.
    pub lateral_acceleration_mps2: f64,
    /// Mean road-wheel angle that replaces the one for the lateral acceleration (rad), positive to the left.
    pub steer_rad: Option<f64>,
    /// Start of the ramp (s).
    pub start_s: f64,
    /// Duration of the ramp (s), > 0. ISO 7401 requires 10 to 90 % within 0.15 s.
    pub ramp_s: f64,
    /// Duration of the run (s). The mean of its last second is the steady state; a shorter run has no metrics.
    pub duration_s: f64,
}

impl Default for StepSteer {
    fn default() -> Self {
        Self {
            speed_mps: KMH_100,
            lateral_acceleration_mps2: 4.0,
            steer_rad: None,
            start_s: 1.0,
            ramp_s: 0.15,
            duration_s: 8.0,
        }
    }
}

metrics! {
    /// Response to the step. Times count from the moment at which the steering passes half of its final angle.
    StepSteerMetrics {
        steer_deg, "deg", 3, "Road-wheel angle", "Mean over the last second.";
        yaw_rate_response_s, "s", 3, "Yaw rate response time (90 %)", "Time until 90 % of the steady yaw rate is reached.";
        yaw_rate_peak_s, "s", 3, "Yaw rate peak response time", "Time until the maximum yaw rate.";
        yaw_rate_overshoot_percent, "%", 2, "Yaw rate overshoot", "(peak − steady) / steady.";
        lateral_acceleration_response_s, "s", 3, "Lateral acceleration response time (90 %)", "Time until 90 % of the steady lateral acceleration is reached.";
        lateral_acceleration_overshoot_percent, "%", 2, "Lateral acceleration overshoot", "(peak − steady) / steady.";
        steady_yaw_rate_degps, "deg/s", 3, "Steady yaw rate", "Mean over the last second.";
        steady_lateral_acceleration_mps2, "m/s²", 3, "Steady lateral acceleration", "Mean over the last second.";
        yaw_rate_gain_per_s, "1/s", 3, "Steady yaw rate gain", "Yaw rate per mean road-wheel angle.";
        lateral_acceleration_gain_mps2_per_deg, "m/s²/deg", 3, "Steady lateral acceleration gain", "Lateral acceleration per degree of mean road-wheel angle.";
        sideslip_deg, "deg", 3, "Steady sideslip angle", "atan(v_y / v_x), mean over the last second.";
        tb_factor_deg_s, "deg s", 3, "TB factor", "Yaw rate peak response time times the absolute steady sideslip angle.";
        roll_deg, "deg", 3, "Steady roll angle", "Mean over the last second.";
        roll_gradient_deg_per_g, "deg/g", 3, "Roll gradient", "Steady roll angle per steady lateral acceleration. Includes tyre compliance only if unsprung masses are simulated.";
        steady_speed_mps, "m/s", 3, "Mean speed", "Mean over the last second.";
    }
}

impl StepSteer {
    /// Returns the final angle of the ramp (rad, positive to the left), clamped to the steering lock of the car. The
    /// angle is [`Self::steer_rad`] if given, otherwise the angle that holds the lateral acceleration in a steady turn
    /// ([`steer_to_hold`]).
    pub fn angle(&self, model: &Model) -> f64 {
        let steering_lock = f64::from(model.parts().steering.lock);
        let steady_turn_angle = || steer_to_hold(model, self.lateral_acceleration_mps2, self.speed_mps);
        self.steer_rad.unwrap_or_else(steady_turn_angle).clamp(-steering_lock, steering_lock)
    }

    /// Computes the metrics of a run. All are `None` if the run ends before [`StepSteer::duration_s`].
    ///
    /// Steady values are means over the last second. Response and peak times count from the moment at which the
    /// steering passes half of its steady angle. Peaks and overshoots count in the direction of the turn. Gains are
    /// steady values per steady road-wheel angle, `None` if this angle is 0. The roll gradient is `None` for a steady
    /// lateral acceleration of 0. The TB factor is yaw rate peak time times the magnitude of the steady sideslip angle,
    /// `None` without a peak time.
    pub fn measure(&self, trajectory: &Trajectory) -> StepSteerMetrics {
        if !trajectory.covers(self.duration_s) {
            return StepSteerMetrics::default();
        }
        let steady = SteadyMeans::new(trajectory);
        let half_steer = 0.5 * steady.steer;
        // Time at which the steering passes half of its angle; none without steering.
        let step_time = (half_steer != 0.0)
            .then(|| trajectory.first_crossing_up(half_steer.abs(), RUN_START_S, |f| f.steer_rad * half_steer.signum()))
            .flatten();
        // 1 in a left turn, −1 in a right turn.
        let turn_sign = steady.steer.signum();
        // Responses, with the sign of the turn removed.
        let yaw_response =
            StepResponse::measure(trajectory, step_time, steady.yaw_rate * turn_sign, |f| f.yaw_rate_radps * turn_sign);
        let lateral_response =
            StepResponse::measure(trajectory, step_time, steady.ay * turn_sign, |f| f.ay_mps2 * turn_sign);
        let per_steer = |value: f64| (steady.steer != 0.0).then(|| value / steady.steer);
        StepSteerMetrics {
            steer_deg: Some(steady.steer.to_degrees()),
            yaw_rate_response_s: yaw_response.response_s,
            yaw_rate_peak_s: yaw_response.peak_s,
            yaw_rate_overshoot_percent: yaw_response.overshoot_percent,
            lateral_acceleration_response_s: lateral_response.response_s,
            lateral_acceleration_overshoot_percent: lateral_response.overshoot_percent,
            steady_yaw_rate_degps: Some(steady.yaw_rate.to_degrees()),
            steady_lateral_acceleration_mps2: Some(steady.ay),
            yaw_rate_gain_per_s: per_steer(steady.yaw_rate),
            // `to_radians` on the numerator converts the angle in the denominator from rad to degrees.
            lateral_acceleration_gain_mps2_per_deg: per_steer(steady.ay.to_radians()),
            sideslip_deg: Some(steady.sideslip.to_degrees()),
            tb_factor_deg_s: yaw_response.peak_s.map(|t| t * steady.sideslip.to_degrees().abs()),
            roll_deg: Some(steady.roll.to_degrees()),
            roll_gradient_deg_per_g: (steady.ay != 0.0).then(|| (steady.roll / steady.ay * GRAVITY_MPS2).to_degrees()),
            steady_speed_mps: Some(steady.speed),
        }
    }
}

/// Mean values over the last second.
struct SteadyMeans {
    /// Mean road-wheel angle (rad).
    steer: f64,
    /// Yaw rate (rad/s).
    yaw_rate: f64,
    /// Lateral acceleration (m/s²).
    ay: f64,
    /// Sideslip angle (rad).
    sideslip: f64,
    /// Roll angle (rad).
    roll: f64,
    /// Forward speed (m/s).
    speed: f64,
}

impl SteadyMeans {
    /// Averages the channels over the last second of the run. A run shorter than 1 s is averaged as a whole.
    fn new(trajectory: &Trajectory) -> Self {
        let end_time = trajectory.last().t_s;
        let mean = |channel: fn(&Frame) -> f64| trajectory.mean(end_time - 1.0, end_time, channel);
        Self {
            steer: mean(|f| f.steer_rad),
            yaw_rate: mean(|f| f.yaw_rate_radps),
            ay: mean(|f| f.ay_mps2),
            sideslip: mean(|f| f.vy_mps.atan2(f.vx_mps)),
            roll: mean(|f| f.roll_rad),
            speed: mean(|f| f.vx_mps),
        }
    }
}

/// Response of one channel that is positive in the direction of the turn. All values are `None` without a step or a
/// steady state.
#[derive(Default)]
struct StepResponse {
    /// Time to 90 % of the steady value (s).
    response_s: Option<f64>,
    /// Time to the largest value (s).
    peak_s: Option<f64>,
    /// Excess of the largest over the steady value (%).
    overshoot_percent: Option<f64>,
}

impl StepResponse {
    /// Measures the response of `channel` after the step at `step_time_s` (s): time to 90 % of `steady_value`, time of
    /// the peak (interpolated between telemetry rows), and overshoot over `steady_value` (%, at least 0). Times count
    /// from the step.
    ///
    /// The response time is `None` if 90 % is not reached, the peak time for an overshoot up to [`MIN_OVERSHOOT`]. All
    /// values are `None` without a step time, or if `steady_value` is not positive.
    fn measure(
        trajectory: &Trajectory,
        step_time_s: Option<f64>,
        steady_value: f64,
        channel: impl Fn(&Frame) -> f64,
    ) -> Self {
        let Some(step_time) = step_time_s.filter(|_| steady_value > 0.0) else { return Self::default() };
        let peak = trajectory.peak(step_time, &channel);
        let overshoot = channel(&peak) / steady_value - 1.0;
        Self {
            response_s: trajectory.first_crossing_up(0.9 * steady_value, step_time, &channel).map(|t| t - step_time),
            // A channel that approaches its steady state without overshoot has its peak anywhere in the last second.
            peak_s: (overshoot > MIN_OVERSHOOT).then(|| trajectory.peak_time(step_time, &channel) - step_time),
            overshoot_percent: Some(overshoot.max(0.0) * 100.0),
        }
    }
}

/// Overshoot below which a peak cannot be separated from the noise of the steady state (–).
const MIN_OVERSHOOT: f64 = 1e-3;

/// Driver that ramps the steering at the planned time and holds the speed.
struct StepDriver {
    manoeuvre: StepSteer,
    /// Final steering angle (rad).
    final_angle: f64,
    speed_controller: TorqueSpeedController,
}

impl DriverModel for StepDriver {
    /// Ramps the steering linearly from 0 to the final angle, with the value at the end of the step, and holds the
    /// speed by torques at the driven wheels.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let StepSteer { start_s, ramp_s, speed_mps, .. } = self.manoeuvre;
        // Part of the ramp at the end of the step (–).
        let ramp_share = ((input.end_s() - start_s) / ramp_s).clamp(0.0, 1.0);
        Controls { steer: (self.final_angle * ramp_share) as f32, ..self.speed_controller.controls(input, speed_mps) }
    }
}

impl Manoeuvre for StepSteer {
    fn name(&self) -> &'static str {
        "step-steer"
    }
    /// Describes the ramp, the speed and the target of the ramp: a given road-wheel angle, or that of a steady turn.
    fn about(&self) -> String {
        let target_text = match self.steer_rad {
            Some(steer) => format!("{:.2}° of road-wheel angle", steer.to_degrees()),
            None => format!("the angle of {}", steady_turn_text(self.lateral_acceleration_mps2)),
        };
        format!(
            "steering ramp of {:.2} s at {:.1} m/s ({:.0} km/h) to {target_text}; torques at the driven wheels keep the speed",
            self.ramp_s,
            self.speed_mps,
            self.speed_mps * 3.6
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: self.duration_s, ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        Box::new(StepDriver {
            manoeuvre: *self,
            final_angle: self.angle(model),
            speed_controller: TorqueSpeedController::default(),
        })
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_core::Model;

    use crate::testing::{model, sampled};

    /// Response times, gains, sideslip angle and roll gradient of a right turn are those of the exponential; there is
    /// no overshoot and therefore no peak time.
    #[test]
    fn exponential_response_has_its_closed_form_times() {
        // Yaw rate 0.2 (1 − e^(−τ/0.1)) after a step at 1 s: 90 % after 0.1 ln 10, no overshoot.
        let run = sampled(0.001, 8.0, |t, frame| {
            let tau = (t - 1.0f64).max(0.0);
            frame.steer_rad = if t > 1.0 { -0.02 } else { 0.0 };
            frame.vx_mps = 20.0;
            frame.vy_mps = 0.5;
            frame.yaw_rate_radps = -0.2 * (1.0 - (-tau / 0.1).exp());
            frame.ay_mps2 = 20.0 * frame.yaw_rate_radps;
            frame.roll_rad = 0.005 * frame.ay_mps2;
        });
        let found = StepSteer::default().measure(&run);
        let close = |value: Option<f64>, expected: f64| {
            assert!((value.expect("happens") - expected).abs() < 1e-3, "{value:?} {expected}");
        };
        close(found.yaw_rate_response_s, 0.1 * 10f64.ln());
        close(found.lateral_acceleration_response_s, 0.1 * 10f64.ln());
        close(found.yaw_rate_overshoot_percent, 0.0);
        assert_eq!(found.yaw_rate_peak_s, None);
        close(found.yaw_rate_gain_per_s, 10.0);
        close(found.roll_gradient_deg_per_g, (0.005f64 * 9.81).to_degrees());
        close(found.sideslip_deg, (0.5f64 / 20.0).atan().to_degrees());
    }

    /// A run that is shorter than the standard duration has no steady state. A longer run has one.
    #[test]
    fn a_run_cut_short_has_no_figures() {
        let run = |end| sampled(0.01, end, |t, frame| frame.steer_rad = if t > 1.0 { 0.02 } else { 0.0 });
        assert_eq!(StepSteer::default().measure(&run(7.9)), StepSteerMetrics::default());
        assert!(StepSteer::default().measure(&run(9.0)).steer_deg.is_some_and(|angle| angle > 1.0));
    }

    /// Overshoot and peak time of the yaw rate are those of a second-order system.
    #[test]
    fn an_underdamped_response_has_its_closed_form_overshoot() {
        // Second order, ω 8 rad/s, ζ 0.5: overshoot e^(−πζ/√(1−ζ²)), peak at π / (ω √(1−ζ²)).
        let (w, z) = (8.0f64, 0.5f64);
        let damped = w * (1.0 - z * z).sqrt();
        let run = sampled(0.001, 8.0, |t, frame| {
            let tau = (t - 1.0f64).max(0.0);
            let swing = (damped * tau).cos() + z * w / damped * (damped * tau).sin();
            frame.steer_rad = if t > 1.0 { 0.02 } else { 0.0 };
            frame.yaw_rate_radps = 0.2 * (1.0 - (-z * w * tau).exp() * swing);
        });
        let found = StepSteer::default().measure(&run);
        let overshoot = (-core::f64::consts::PI * z / (1.0 - z * z).sqrt()).exp() * 100.0;
        assert!((found.yaw_rate_overshoot_percent.expect("overshoots") - overshoot).abs() < 0.01);
        assert!((found.yaw_rate_peak_s.expect("peaks") - core::f64::consts::PI / damped).abs() < 2e-3);
    }

    /// The angle for a lateral acceleration is about `a_y L / v²` for a neutral car. A given angle is clamped to the
    /// steering lock.
    #[test]
    fn the_angle_is_that_of_the_steady_turn_within_the_lock() {
        let step = StepSteer { speed_mps: 20.0, ..StepSteer::default() };
        // The outer wheels have more rolling resistance, which turns the car out of the bend.
        let mut parts = model().parts().clone();
        parts.wheels.iter_mut().for_each(|wheel| wheel.rolling = Default::default());
        let found = step.angle(&Model::new(parts).expect("valid"));
        // Tolerances: the arc tangent of 0.025, and the yaw moment of the rear drive against the drag of the front
        // wheels.
        assert!((found - 4.0 * 2.5 / 400.0).abs() < 1e-4, "{found}");
        let too_much = StepSteer { steer_rad: Some(-3.0), ..step };
        assert!((too_much.angle(&model()) + 0.6).abs() < 1e-6);
    }
}
