//! Pedals of a car whose wheels cannot slip, for peers that know a force at each wheel but no wheel speed. Engine, clutch or
//! converter, gearbox and motors are those of every other car.

use std::sync::Arc;

use skidpad_core::controls::{LARGEST_BRAKE_TORQUE, bounded};
use skidpad_core::{Controls, Model, State, Vehicle};

/// Speed of a wheel's circumference, m/s, below which it stands: a force then has to overcome the brake.
const STANDS_BELOW: f32 = 0.05;

/// The drivetrain of one car and what its pedals do at the wheels.
#[derive(Clone, Debug)]
pub struct Pedals {
    /// Its engine, motors and gearbox; where it is and how it moves stays the caller's.
    vehicle: Vehicle,
    forces: Box<[f32]>,
}

/// What a ray-cast vehicle is to do at one wheel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WheelForces {
    /// N at the contact, positive drives forward.
    pub drive: f32,
    /// Largest force of the brake at the contact, N, ≥ 0.
    pub brake: f32,
}

impl Pedals {
    /// Of a car of `model` in `state`.
    pub fn new(model: &Arc<Model>, state: &State) -> Self {
        Self { vehicle: Vehicle::new(model.clone(), state.clone()), forces: state.wheels.iter().map(|_| 0.0).collect() }
    }

    /// What the pedals do in a step of `dt` s: tells it for every wheel in order. `state` gives the speeds of the wheels,
    /// `spin` and `rolling_speed`, and whether they touch; its drivetrain goes on.
    ///
    /// Bullet and Rapier let go of a brake where any force drives. So what engine and motors do against the rotation is told
    /// as brake, and what the brake takes of what they do along it is taken here. Torques straight at the wheels and raw
    /// ones stay beside the brake, as those programs have it.
    pub fn press(&mut self, state: &mut State, controls: &Controls, dt: f32, mut tell: impl FnMut(usize, WheelForces)) {
        self.vehicle.set_state(state);
        self.vehicle.drive_rolling(controls, dt, &mut self.forces);
        if self.vehicle.state().drive.is_finite() && self.forces.iter().sum::<f32>().is_finite() {
            state.drive = self.vehicle.state().drive;
        } else {
            // The last good state stays.
            self.forces.fill(0.0);
        }
        let model = self.vehicle.model();
        let own = model.parts().powertrain.engine().is_some() || !model.parts().motors.is_empty();
        for (i, &force) in self.forces.iter().enumerate() {
            let brake = brake_force(model, i, controls);
            let mut at = WheelForces { drive: force, brake };
            if own {
                let speed = state.wheels[i].spin * model.wheels()[i].radius;
                at = at.together(if speed.abs() < STANDS_BELOW { force } else { speed });
            }
            at.drive += motor_force(model, i, controls);
            tell(i, at);
        }
    }
}

impl WheelForces {
    /// Drive and brake as one of the two, on a wheel that turns, or would, the way of the sign of `towards`.
    fn together(self, towards: f32) -> Self {
        let along = if towards < 0.0 { -self.drive } else { self.drive };
        let held = self.brake - along;
        match self.drive {
            0.0 => self,
            _ if held >= 0.0 => Self { drive: 0.0, brake: held },
            _ => Self { drive: if towards < 0.0 { held } else { -held }, brake: 0.0 },
        }
    }
}

/// Brake force asked of wheel `i` at its contact, N, ≥ 0: torque of pedal, handbrake and raw input over the radius.
fn brake_force(model: &Model, i: usize, controls: &Controls) -> f32 {
    let wheel = &model.wheels()[i];
    let pedal = bounded(controls.brake, 0.0, 1.0) * wheel.brake_torque;
    let lever = bounded(controls.handbrake, 0.0, 1.0) * wheel.handbrake_torque;
    let raw = controls.wheels.get(i).map_or(0.0, |w| bounded(w.brake_torque, 0.0, LARGEST_BRAKE_TORQUE));
    (pedal + lever + raw) / wheel.radius
}

/// Force of the raw motor torque of wheel `i` at its contact, N, positive drives forward.
fn motor_force(model: &Model, i: usize, controls: &Controls) -> f32 {
    let most = model.largest_motor_torque(i);
    let raw = controls.wheels.get(i).map_or(0.0, |w| bounded(w.motor_torque, -most, most));
    raw / model.wheels()[i].radius
}

/// Angle of wheel `i`, rad, positive to the left: no rate limit, no Ackermann, no toe. `state.steer` is set to the mean
/// angle asked, within the lock.
pub fn steer(model: &Model, state: &mut State, i: usize, controls: &Controls) -> f32 {
    let parts = model.parts();
    state.steer = bounded(controls.steer, -parts.steering.lock, parts.steering.lock);
    controls.raw_angle(i).unwrap_or(state.steer * parts.axles[parts.wheels[i].axle].steer_ratio)
}
