//! Speed control: with pedals like a human driver, or with exact torques at the driven wheels.

use skidpad_core::{Controls, Model, STANDARD_GRAVITY, WheelControls};

use super::DriverInput;
use crate::closed_form::{drive_force, drive_shares, mean_inverse_radius, resistance};

/// Proportional gain of the speed controller (1/s). With [`INTEGRAL_PER_S2`] the closed loop is of second order with
/// both poles at −1 1/s: too slow to disturb a lateral test, fast enough to reach the speed within mm/s after some
/// seconds.
const PROPORTIONAL_PER_S: f64 = 2.0;
/// Integral gain of the speed controller (1/s²).
const INTEGRAL_PER_S2: f64 = 1.0;
/// Maximum acceleration that the controller demands (m/s²).
const MAX_ACCELERATION_MPS2: f64 = 4.0;

/// Control law of both drivers: PI control of the speed, with the driving resistance as feedforward.
#[derive(Clone, Debug, Default)]
struct SpeedControlLaw {
    /// Integral of the speed error (m).
    error_integral: f64,
}

impl SpeedControlLaw {
    /// Computes the driving force at the road (N), negative for braking: `m (P e + I ∫e dt)` plus the driving
    /// resistance at the current speed. `e` is the speed error to `target_mps` (m/s). The acceleration in brackets is
    /// limited to ±4 m/s². The mass m includes the spin of the wheels. The resistance also opposes a backward motion.
    ///
    /// The force uses the integral before this step. Then the integral advances by one step, unless the acceleration is
    /// at its limit.
    fn demanded_force(&mut self, input: &DriverInput<'_>, target_mps: f64) -> f64 {
        let speed = input.frame.vx_mps;
        let speed_error = target_mps - speed;
        // Demanded acceleration (m/s²).
        let acceleration_demand = PROPORTIONAL_PER_S * speed_error + INTEGRAL_PER_S2 * self.error_integral;
        // Anti-windup: the integral is frozen while the demanded acceleration is at its limit.
        if acceleration_demand.abs() < MAX_ACCELERATION_MPS2 {
            self.error_integral += speed_error * input.dt_s;
        }
        let mass = f64::from(input.model.rolling_mass());
        mass * acceleration_demand.clamp(-MAX_ACCELERATION_MPS2, MAX_ACCELERATION_MPS2)
            // Feedforward of the resistance.
            + resistance(input.model, speed.abs()) * speed.signum()
    }
}

/// Speed controller that applies motor torques directly to the driven wheels, with the gearbox in neutral. It uses no
/// gears, clutch or pedals and also brakes with the motors. Used in tests of lateral dynamics.
#[derive(Clone, Debug, Default)]
pub struct TorqueSpeedController {
    control_law: SpeedControlLaw,
}

impl TorqueSpeedController {
    /// Computes the controls that hold `target_mps` (m/s), in neutral and without steering. The force of the control
    /// law is divided among the wheels by their drive shares, as motor torques that may be negative. A torque is force
    /// times wheel radius. Each call advances the integral of the control law.
    pub fn controls(&mut self, input: &DriverInput<'_>, target_mps: f64) -> Controls {
        let force = self.control_law.demanded_force(input, target_mps);
        let wheels = drive_shares(input.model)
            .iter()
            .zip(input.model.wheels())
            .map(|(share, wheel)| WheelControls {
                motor_torque: (force * share * f64::from(wheel.radius)) as f32,
                ..WheelControls::default()
            })
            .collect();
        Controls { wheels, ..Controls::coasting() }
    }
}

/// Speed controller that uses throttle and brake while the gearbox shifts automatically. The pedals also compensate the
/// component of the weight along the slope. A car without a motor is driven by wheel torques, as with
/// [`TorqueSpeedController`].
#[derive(Clone, Debug, Default)]
pub struct PedalSpeedController {
    control_law: SpeedControlLaw,
    /// Controller of a car without a motor.
    torque_controller: TorqueSpeedController,
}

impl PedalSpeedController {
    /// Computes the controls that hold `target_mps` (m/s), without steering; the gearbox shifts automatically. Throttle
    /// and brake produce the force of the control law plus the weight component along the slope, at standard gravity.
    ///
    /// A car without a motor is controlled as by [`TorqueSpeedController`]: by wheel torques,
    /// which also brake. For a target of 0 or less, below 0.5 m/s, the brake is fully pressed, and the integral of the
    /// control law does not change.
    pub fn controls(&mut self, input: &DriverInput<'_>, target_mps: f64) -> Controls {
        if !input.model.is_driven() {
            return self.torque_controller.controls(input, target_mps);
        }
        if target_mps <= 0.0 && input.frame.vx_mps < FULL_BRAKE_SPEED_MPS {
            return Controls { brake: 1.0, ..Controls::default() };
        }
        let weight = f64::from(input.model.mass() * STANDARD_GRAVITY);
        // The pitch angle is positive nose down, where the weight drives the car.
        let force = self.control_law.demanded_force(input, target_mps) - weight * input.frame.pitch_rad.sin();
        let (throttle, brake) = pedals(input.model, input.frame.vx_mps, input.frame.gear as i8, force);
        Controls { throttle: throttle as f32, brake: brake as f32, ..Controls::default() }
    }
}

/// Speed below which a driver who stops applies the full brake instead of the control law (m/s).
const FULL_BRAKE_SPEED_MPS: f64 = 0.5;

/// Computes throttle and brake (–, 0 to 1), in this order, for the force `force` (N) at the road at `speed` m/s in the
/// gear `gear`. Reverse and neutral count as first gear.
///
/// The throttle interpolates linearly between the engine drag with closed throttle and the full-throttle force (at
/// least 1 N). The brake supplies the part of a negative force that the engine drag does not. It is a share of the
/// force of all brakes, at most 1; 0 for a car without brakes.
fn pedals(model: &Model, speed: f64, gear: i8, force: f64) -> (f64, f64) {
    let gear = gear.max(1);
    // Force at the road with open throttle, and braking force with closed throttle (N).
    let full_force = drive_force(model, speed, gear).max(1.0);
    let drag_force = engine_drag(model, speed, gear);
    let throttle = ((force + drag_force) / (full_force + drag_force)).clamp(0.0, 1.0);
    // Braking force of the fully pressed pedal (N).
    let max_brake_force: f64 =
        model.wheels().iter().map(|wheel| f64::from(wheel.brake_torque) / f64::from(wheel.radius)).sum();
    // Braking force beyond the engine drag (N).
    let brake_demand = -(force + drag_force);
    let brake =
        if brake_demand > 0.0 && max_brake_force > 0.0 { (brake_demand / max_brake_force).min(1.0) } else { 0.0 };
    (throttle, brake)
}

/// Computes the retarding force of the engine at the road with the throttle closed (N, ≥ 0), at `speed` m/s in the gear
/// `gear`. Returns 0 below idle speed, where the clutch opens, and without an engine. The efficiency of the gearbox is
/// not included.
fn engine_drag(model: &Model, speed: f64, gear: i8) -> f64 {
    let Some(drive) = model.parts().powertrain.engine() else { return 0.0 };
    let inverse_radius = mean_inverse_radius(drive, model.wheels());
    // 0.0: throttle closed.
    let ratio = f64::from(drive.gearbox.ratio_for(gear, (speed * inverse_radius) as f32, 0.0));
    // Engine speed with closed clutch (rad/s).
    let engine_speed = speed * inverse_radius * ratio;
    if engine_speed < f64::from(drive.engine.idle_speed) {
        return 0.0;
    }
    // Drag torque: constant (N m) and per speed (N m s).
    let [constant, linear] = drive.engine.drag.map(f64::from);
    (constant + linear * engine_speed) * ratio * inverse_radius
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use super::*;
    use crate::driver::OpenLoop;
    use crate::manoeuvre::Setup;
    use crate::run::{TimeStep, simulate};
    use crate::testing::{POINT_MASS, model};

    /// Asserts that a point mass that starts at 10 m/s with `controls` has a mean speed of 20 m/s in the last 5 of 30
    /// s, and always less than 22 m/s.
    #[track_caller]
    fn settles_at(mut controls: impl FnMut(&DriverInput<'_>) -> Controls) {
        let model = Arc::new(model());
        let setup = Setup { duration_s: 30.0, ..Setup::flat(10.0) };
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let mut driver = OpenLoop(|now: &DriverInput<'_>| controls(now));
        let trajectory = simulate(&POINT_MASS, &model, &setup, &mut driver, dt, &mut |_, _| ControlFlow::Continue(()));
        let error = trajectory.mean(25.0, 30.0, |f| f.vx_mps) - 20.0;
        assert!(error.abs() < 1e-3, "{error}");
        assert!(trajectory.peak_magnitude(|f| f.vx_mps) < 22.0);
    }

    /// Both speed controllers reach 20 m/s without a large overshoot.
    #[test]
    fn both_drivers_hold_their_speed() {
        let mut cruise = TorqueSpeedController::default();
        settles_at(|now| cruise.controls(now, 20.0));
        let mut holder = PedalSpeedController::default();
        settles_at(|now| holder.controls(now, 20.0));
    }
}
