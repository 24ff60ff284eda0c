//! Release of the throttle, or braking, in a steady turn: ISO 9816 and ISO 7975.

use skidpad_core::{Controls, Frame, Model};

use super::{Manoeuvre, Setup, StartRequirements};
use crate::closed_form::{Characteristics, resistance};
use crate::driver::{DriverInput, DriverModel, PathFollower, PedalSpeedController, ReferencePath};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Disturbance of a steady turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Disturbance {
    /// Power-off (ISO 9816): the throttle is released, the gear stays engaged.
    PowerOff,
    /// Braking (ISO 7975): constant brake pedal in neutral, for the deceleration (m/s², > 0) of a car whose wheels
    /// grip.
    Braking(f64),
}

/// Steady turn on a circle, then a disturbance with fixed steering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnDisturbance {
    /// Disturbance.
    pub disturbance: Disturbance,
    /// Radius of the circle (m), negative for a right turn.
    pub radius_m: f64,
    /// Lateral acceleration before the disturbance (m/s²), > 0.
    pub lateral_acceleration_mps2: f64,
}

impl TurnDisturbance {
    /// Power-off at 4 m/s² on 100 m.
    pub const POWER_OFF: Self =
        Self { disturbance: Disturbance::PowerOff, radius_m: 100.0, lateral_acceleration_mps2: 4.0 };
    /// Braking with 4 m/s² at 5 m/s² on 100 m.
    pub const BRAKING: Self =
        Self { disturbance: Disturbance::Braking(4.0), radius_m: 100.0, lateral_acceleration_mps2: 5.0 };
}

metrics! {
    /// Response to the disturbance. Signs are those of a left turn. The reference yaw rate is that of a car that stays
    /// on the circle: speed over radius.
    TurnDisturbanceMetrics {
        initial_lateral_acceleration_mps2, "m/s²", 3, "Lateral acceleration before the disturbance", "Mean over 0.5 s.";
        initial_steer_deg, "deg", 3, "Road-wheel angle", "Mean over 0.5 s before the disturbance; fixed afterwards.";
        mean_deceleration_mps2, "m/s²", 3, "Mean deceleration in the first second", "Loss of speed in the first second after the disturbance.";
        yaw_rate_ratio_1s, "-", 3, "Yaw rate over reference yaw rate after 1 s", "Above 1 the car turns into the circle.";
        peak_yaw_rate_ratio, "-", 3, "Largest yaw rate over initial yaw rate", "In the first two seconds.";
        sideslip_change_1s_deg, "deg", 3, "Change of the sideslip angle after 1 s", "Relative to the mean over 0.5 s before the disturbance.";
        peak_sideslip_deg, "deg", 3, "Largest absolute sideslip angle", "In the first two seconds, while the car is faster than 2 m/s.";
        initial_path_error_m, "m", 3, "Path error before the disturbance", "Distance of the centre of mass from the circle at the disturbance, positive to the inside.";
        path_deviation_1s_m, "m", 3, "Path deviation after 1 s", "Change of the distance of the centre of mass from the circle since the disturbance, positive to the inside.";
        path_deviation_2s_m, "m", 3, "Path deviation after 2 s", "Change of the distance of the centre of mass from the circle since the disturbance, positive to the inside.";
    }
}

/// Time of the disturbance (s). The turn is steady before.
const DISTURBANCE_S: f64 = 12.0;
/// Time recorded after the disturbance (s).
const RECORDED_AFTER_S: f64 = 3.0;
/// Time over which values before the disturbance are averaged (s).
const AVERAGING_TIME_S: f64 = 0.5;
/// Time in which peaks are evaluated (s).
const PEAK_TIME_S: f64 = 2.0;
/// Speed up to which a car has no sideslip angle (m/s).
const MIN_SIDESLIP_SPEED_MPS: f64 = 2.0;

impl TurnDisturbance {
    /// Returns the speed before the disturbance (m/s).
    fn speed_mps(&self) -> f64 {
        (self.lateral_acceleration_mps2 * self.radius_m.abs()).sqrt()
    }

    /// Returns the planned duration of a run (s).
    fn duration_s() -> f64 {
        DISTURBANCE_S + RECORDED_AFTER_S
    }

    /// Computes the metrics of a run; all are `None` for a run that ends within two seconds after the disturbance.
    /// Signs are those of a left turn. Initial values are means over the last 0.5 s before the disturbance, except the
    /// path error. Ratios are `None` if their denominator is not positive.
    pub fn measure(&self, trajectory: &Trajectory) -> TurnDisturbanceMetrics {
        let (start, sign) = (DISTURBANCE_S, self.radius_m.signum());
        if !trajectory.covers(start + PEAK_TIME_S) {
            return TurnDisturbanceMetrics::default();
        }
        let before = |channel: &dyn Fn(&Frame) -> f64| trajectory.mean(start - AVERAGING_TIME_S, start, channel);
        let after = |delay: f64, channel: &dyn Fn(&Frame) -> f64| trajectory.interpolate_at(start + delay, channel);
        let yaw_rate = |frame: &Frame| sign * frame.yaw_rate_radps;
        let speed = |frame: &Frame| frame.vx_mps.hypot(frame.vy_mps);
        let sideslip = |frame: &Frame| sign * frame.vy_mps.atan2(frame.vx_mps);
        let path = ReferencePath::Circle { radius: self.radius_m };
        // The offset is positive to the left; 0.0: no preview.
        let deviation = |frame: &Frame| sign * path.locate(frame.x_m, frame.y_m, 0.0).offset_m;
        let peak = |channel: &dyn Fn(&Frame) -> f64| {
            trajectory.time_slice(start, start + PEAK_TIME_S).map(|frame| channel(&frame)).fold(0.0, f64::max)
        };
        let initial_error = after(0.0, &deviation);
        // Sideslip angle, 0 for a car that has stopped.
        let moving_sideslip =
            |frame: &Frame| if speed(frame) > MIN_SIDESLIP_SPEED_MPS { sideslip(frame).abs() } else { 0.0 };
        let initial_yaw_rate = before(&yaw_rate);
        let reference_yaw_rate = after(1.0, &speed) / self.radius_m.abs();
        let ratio = |numerator: f64, denominator: f64| (denominator > 0.0).then(|| numerator / denominator);
        TurnDisturbanceMetrics {
            initial_lateral_acceleration_mps2: Some(before(&|frame| sign * frame.ay_mps2)),
            initial_steer_deg: Some(before(&|frame| sign * frame.steer_rad).to_degrees()),
            mean_deceleration_mps2: Some(after(0.0, &speed) - after(1.0, &speed)),
            yaw_rate_ratio_1s: ratio(after(1.0, &yaw_rate), reference_yaw_rate),
            peak_yaw_rate_ratio: ratio(peak(&yaw_rate), initial_yaw_rate),
            sideslip_change_1s_deg: Some((after(1.0, &sideslip) - before(&sideslip)).to_degrees()),
            peak_sideslip_deg: Some(peak(&moving_sideslip).to_degrees()),
            initial_path_error_m: Some(initial_error),
            path_deviation_1s_m: Some(after(1.0, &deviation) - initial_error),
            path_deviation_2s_m: Some(after(2.0, &deviation) - initial_error),
        }
    }
}

/// Returns the brake pedal position (–, 0 to 1) for a deceleration of `deceleration` (m/s²) at `speed` (m/s) with
/// wheels that grip. The driving resistance supplies a part of the force. Returns 0 for a car without brakes.
fn brake_pedal(model: &Model, deceleration: f64, speed: f64) -> f64 {
    let full_force: f64 =
        model.wheels().iter().map(|wheel| f64::from(wheel.brake_torque) / f64::from(wheel.radius)).sum();
    let force = f64::from(model.rolling_mass()) * deceleration - resistance(model, speed);
    if full_force > 0.0 { (force / full_force).clamp(0.0, 1.0) } else { 0.0 }
}

/// Driver of [`TurnDisturbance`].
struct TurnDisturbanceDriver {
    test: TurnDisturbance,
    characteristics: Characteristics,
    speed_controller: PedalSpeedController,
    path_follower: PathFollower,
    /// Low-pass filtered road-wheel angle (rad), which is kept after the disturbance.
    steer: f64,
    /// Controls after the disturbance; `None` before.
    fixed: Option<Controls>,
}

impl TurnDisturbanceDriver {
    /// Returns the controls after the disturbance, with the filtered steering angle. Power-off: no pedals in the
    /// current gear. Braking: constant brake pedal in neutral.
    fn disturbed_controls(&self, input: &DriverInput<'_>) -> Controls {
        let steer = self.steer as f32;
        match self.test.disturbance {
            Disturbance::PowerOff => Controls { steer, gear: Some(input.frame.gear as i8), ..Controls::default() },
            Disturbance::Braking(deceleration) => {
                let brake = brake_pedal(input.model, deceleration, input.frame.vx_mps) as f32;
                Controls { steer, brake, ..Controls::coasting() }
            }
        }
    }
}

impl DriverModel for TurnDisturbanceDriver {
    /// Follows the circle with pedals until the disturbance and filters the steering angle. The first step of the
    /// disturbance sets the controls, which are kept for the rest of the run.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        if input.has_reached(DISTURBANCE_S) {
            if self.fixed.is_none() {
                self.fixed = Some(self.disturbed_controls(input));
            }
            return self.fixed.clone().unwrap_or_default();
        }
        let steer = self.path_follower.steer(input, &self.characteristics);
        self.steer += (input.dt_s / AVERAGING_TIME_S).min(1.0) * (steer - self.steer);
        Controls { steer: steer as f32, ..self.speed_controller.controls(input, self.test.speed_mps()) }
    }
}

impl Manoeuvre for TurnDisturbance {
    fn name(&self) -> &'static str {
        match self.disturbance {
            Disturbance::PowerOff => "power-off-in-turn",
            Disturbance::Braking(_) => "braking-in-turn",
        }
    }
    /// Describes the steady turn and the disturbance: throttle released in gear, or braking in neutral.
    fn about(&self) -> String {
        let disturbance = match self.disturbance {
            Disturbance::PowerOff => "throttle released in gear".to_string(),
            Disturbance::Braking(deceleration) => format!("braking in neutral with {deceleration:.1} m/s²"),
        };
        format!(
            "steady turn at {:.1} m/s² on {:.0} m radius, then {disturbance} with fixed steering",
            self.lateral_acceleration_mps2, self.radius_m
        )
    }
    /// Returns level ground at the speed of the turn, with the automatic gearbox.
    fn setup(&self, _model: &Model) -> Setup {
        let mut setup = Setup { duration_s: Self::duration_s(), ..Setup::flat(self.speed_mps()) };
        setup.placement.gear = None;
        setup
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED.from_origin()
    }
    /// Creates a driver that follows the circle with pedals. The low-pass filtered steering angle starts at 0.
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        Box::new(TurnDisturbanceDriver {
            test: *self,
            characteristics: Characteristics::new(model),
            speed_controller: PedalSpeedController::default(),
            // Natural frequency (rad/s) and relative integral gain (1/s).
            path_follower: PathFollower::new(ReferencePath::Circle { radius: self.radius_m }, 1.5, 0.5),
            steer: 0.0,
            fixed: None,
        })
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    /// Synthetic right turn on 100 m at 20 m/s, braked with 4 m/s² from the disturbance on. The yaw rate stays, the path
    /// leaves the circle to the inside with 0.5 m/s, and the sideslip angle changes by 0.02 rad/s.
    #[test]
    fn a_synthetic_turn_has_its_known_ratios() {
        let test = TurnDisturbance { radius_m: -100.0, lateral_acceleration_mps2: 4.0, ..TurnDisturbance::BRAKING };
        let run = sampled(0.01, TurnDisturbance::duration_s(), |t, frame| {
            let since = (t - DISTURBANCE_S).max(0.0);
            let speed = 20.0 - 4.0 * since;
            let sideslip = 0.01 + 0.02 * since;
            (frame.vx_mps, frame.vy_mps) = (speed * sideslip.cos(), -speed * sideslip.sin());
            frame.yaw_rate_radps = -0.2;
            frame.ay_mps2 = -4.0;
            frame.steer_rad = -0.03;
            // 0.25 m inside of the circle about (0, −100 m), and on a radius that shrinks from the disturbance on.
            frame.y_m = -0.25 - 0.5 * since;
        });
        let found = test.measure(&run);
        let close = |value: Option<f64>, expected: f64| {
            assert!((value.expect("measured") - expected).abs() < 1e-6, "{value:?} {expected}");
        };
        close(found.initial_lateral_acceleration_mps2, 4.0);
        close(found.initial_steer_deg, 0.03f64.to_degrees());
        close(found.mean_deceleration_mps2, 4.0);
        close(found.yaw_rate_ratio_1s, 0.2 / 0.16);
        close(found.peak_yaw_rate_ratio, 1.0);
        close(found.sideslip_change_1s_deg, 0.02f64.to_degrees());
        close(found.peak_sideslip_deg, 0.05f64.to_degrees());
        close(found.initial_path_error_m, 0.25);
        close(found.path_deviation_1s_m, 0.5);
        close(found.path_deviation_2s_m, 1.0);
        assert_eq!(test.measure(&sampled(0.1, 13.0, |_, _| {})), TurnDisturbanceMetrics::default());
    }

    /// The pedal supplies the force that the driving resistance does not; strong decelerations use the full pedal.
    #[test]
    fn the_pedal_follows_from_the_deceleration() {
        let model = model();
        let force = f64::from(model.rolling_mass()) * 4.0 - resistance(&model, 20.0);
        assert!((brake_pedal(&model, 4.0, 20.0) - force / (4.0 * 1500.0 / 0.3)).abs() < 1e-6);
        assert_eq!(brake_pedal(&model, 100.0, 20.0), 1.0);
    }
}
