//! Holding a speed: with pedals like a person, or with exact torques at the driven wheels.

use skidpad_core::{Controls, Model, STANDARD_GRAVITY, WheelControls};

use super::DriverInput;
use crate::figures::{drive_force, drive_shares, per_radius, resistance};

/// Answer of the speed to its error: a second-order system with both roots at −1 1/s. Slow enough not to disturb a
/// lateral test, fast enough to hold a speed within millimetres per second after some seconds.
const PROPORTIONAL_PER_S: f64 = 2.0;
const INTEGRAL_PER_S2: f64 = 1.0;
/// Largest acceleration the law asks for, m/s².
const MOST_MPS2: f64 = 4.0;

/// The law both drivers share: force at the road from the error of the speed, with the resistance fed forward.
#[derive(Clone, Debug, Default)]
struct Law {
    /// Integral of the error, m.
    sum_m: f64,
}

impl Law {
    /// Force at the road, N.
    fn force(&mut self, now: &DriverInput<'_>, target_mps: f64) -> f64 {
        let speed = now.frame.vx_mps;
        let error = target_mps - speed;
        let asked = PROPORTIONAL_PER_S * error + INTEGRAL_PER_S2 * self.sum_m;
        // The sum rests while the answer is at its limit, so that it does not wind up in a long acceleration.
        if asked.abs() < MOST_MPS2 {
            self.sum_m += error * now.dt_s;
        }
        let mass = f64::from(now.model.rolling_mass());
        mass * asked.clamp(-MOST_MPS2, MOST_MPS2) + resistance(now.model, speed.abs()) * speed.signum()
    }
}

/// Holds a speed with raw motor torques at the driven wheels, gearbox in neutral: no shifts, no clutch, no pedals.
/// For tests of lateral dynamics. Brakes with the motors as well.
#[derive(Clone, Debug, Default)]
pub struct Cruise {
    law: Law,
}

impl Cruise {
    /// Controls that hold `target_mps`, m/s, straight ahead.
    pub fn controls(&mut self, now: &DriverInput<'_>, target_mps: f64) -> Controls {
        let force = self.law.force(now, target_mps);
        let wheels = drive_shares(now.model)
            .iter()
            .zip(now.model.wheels())
            .map(|(share, wheel)| WheelControls {
                motor_torque: (force * share * f64::from(wheel.radius)) as f32,
                ..WheelControls::default()
            })
            .collect();
        Controls { wheels, ..Controls::coasting() }
    }
}

/// Holds a speed with throttle and brake; the gearbox shifts by itself. The pedals balance the weight along the slope below the car.
/// A car without a motor is driven by raw torques.
#[derive(Clone, Debug, Default)]
pub struct SpeedHolder {
    law: Law,
    cruise: Cruise,
}

impl SpeedHolder {
    /// Pedals that hold `target_mps`, m/s, as controls that steer straight ahead.
    pub fn controls(&mut self, now: &DriverInput<'_>, target_mps: f64) -> Controls {
        if !now.model.is_driven() {
            return self.cruise.controls(now, target_mps);
        }
        if target_mps <= 0.0 && now.frame.vx_mps < STOPPING_MPS {
            return Controls { brake: 1.0, ..Controls::default() };
        }
        let weight = f64::from(now.model.mass() * STANDARD_GRAVITY);
        let force = self.law.force(now, target_mps) - weight * now.frame.pitch_rad.sin();
        let (throttle, brake) = pedals(now.model, now.frame.vx_mps, now.frame.gear as i8, force);
        Controls { throttle: throttle as f32, brake: brake as f32, ..Controls::default() }
    }
}

/// Below this speed a driver who wants to stand presses the brake and leaves the law, m/s.
const STOPPING_MPS: f64 = 0.5;

/// Pedals for `force` N at the road: the throttle by the full-load curve and the engine's drag, the brake for what is
/// left of a negative force.
fn pedals(model: &Model, speed: f64, gear: i8, force: f64) -> (f64, f64) {
    let gear = gear.max(1);
    let full = drive_force(model, speed, gear).max(1.0);
    let drag = engine_drag(model, speed, gear);
    let throttle = ((force + drag) / (full + drag)).clamp(0.0, 1.0);
    let brakes: f64 = model.wheels().iter().map(|w| f64::from(w.brake_torque) / f64::from(w.radius)).sum();
    let left = -(force + drag);
    let brake = if left > 0.0 && brakes > 0.0 { (left / brakes).min(1.0) } else { 0.0 };
    (throttle, brake)
}

/// Retarding force of the engine at the road with the throttle closed, N.
fn engine_drag(model: &Model, speed: f64, gear: i8) -> f64 {
    let Some(drive) = model.parts().powertrain.engine() else { return 0.0 };
    let per_radius = per_radius(drive, model.wheels());
    let ratio = f64::from(drive.gearbox.ratio_for(gear, (speed * per_radius) as f32, 0.0));
    let turning = speed * per_radius * ratio;
    if turning < f64::from(drive.engine.idle) {
        return 0.0;
    }
    let [constant, linear] = drive.engine.drag.map(f64::from);
    (constant + linear * turning) * ratio * per_radius
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::driver::OpenLoop;
    use crate::manoeuvre::Setup;
    use crate::run::{TimeStep, simulate};
    use crate::testing::{POINT_MASS, model};

    #[track_caller]
    fn settles_at(mut controls: impl FnMut(&DriverInput<'_>) -> Controls) {
        let model = Arc::new(model());
        let setup = Setup { duration_s: 30.0, ..Setup::flat(10.0) };
        let dt = TimeStep::per_second(60.0).expect("valid");
        let mut driver = OpenLoop(|now: &DriverInput<'_>| controls(now));
        let trajectory = simulate(&POINT_MASS, &model, &setup, &mut driver, dt, &mut |_, _| {});
        let error = trajectory.mean(25.0, 30.0, |f| f.vx_mps) - 20.0;
        assert!(error.abs() < 1e-3, "{error}");
        assert!(trajectory.largest(|f| f.vx_mps) < 22.0);
    }

    #[test]
    fn both_drivers_hold_their_speed() {
        let mut cruise = Cruise::default();
        settles_at(|now| cruise.controls(now, 20.0));
        let mut holder = SpeedHolder::default();
        settles_at(|now| holder.controls(now, 20.0));
    }
}
