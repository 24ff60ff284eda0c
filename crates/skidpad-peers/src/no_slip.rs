//! Pedals of a car whose wheels cannot slip, for peers that take a force at each wheel but have no wheel speed. Engine,
//! clutch or converter, gearbox and motors are the same as in every other car.

use std::sync::Arc;

use skidpad_core::controls::{MAX_RAW_BRAKE_TORQUE_NM, clamp_or_zero};
use skidpad_core::{Controls, Model, State, Vehicle};

/// Circumferential speed of a wheel below which it counts as standing, m/s. The drive force must then overcome the
/// brake.
const STATIONARY_WHEEL_SPEED_MPS: f32 = 0.05;

/// Drivetrain of one car, and its forces at the wheels.
#[derive(Clone, Debug)]
pub struct NoSlipDrivetrain {
    /// Vehicle that provides engine, motors and gearbox. The caller keeps position and motion.
    vehicle: Vehicle,
    /// Drive force at each wheel, N.
    drive_forces: Box<[f32]>,
}

/// Forces that a ray-cast vehicle must apply at one wheel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WheelForces {
    /// Drive force at the contact, N, positive forward.
    pub drive: f32,
    /// Maximum brake force at the contact, N, ≥ 0.
    pub brake: f32,
}

impl NoSlipDrivetrain {
    /// Creates the drivetrain of a car of `model` in `state`, with a drive force of zero at each wheel.
    pub fn new(model: &Arc<Model>, state: &State) -> Self {
        Self {
            vehicle: Vehicle::new(model.clone(), state.clone()),
            drive_forces: state.wheels.iter().map(|_| 0.0).collect(),
        }
    }

    /// Computes drive and brake forces for a step of `dt` s and calls `apply` with the forces of every wheel, in order.
    /// Copies `state` to an internal vehicle, whose wheels roll without slip at the `spin` and `rolling_speed` of
    /// `state`, advances its drivetrain, and stores the new drivetrain state in `state.drive`. If that state or the sum
    /// of the forces is not finite, `state.drive` does not change and the drive forces are zero; brake and raw motor
    /// forces still apply.
    ///
    /// Bullet and Rapier release a brake while any drive force acts. For a car with engine or motors, drive and brake
    /// of a wheel are therefore combined into one of the two (`WheelForces::combined`): forces against the rotation
    /// count as brake forces, and the brake is subtracted from forces along the rotation. A wheel below
    /// `STATIONARY_WHEEL_SPEED_MPS` counts as rotating in the direction of its drive force. Raw motor torques of
    /// `controls` are added afterwards to the drive force, next to the brake, as in those programs.
    pub fn update(
        &mut self,
        state: &mut State,
        controls: &Controls,
        dt: f32,
        mut apply: impl FnMut(usize, WheelForces),
    ) {
        self.vehicle.set_state(state);
        self.vehicle.drive_rolling(controls, dt, &mut self.drive_forces);
        if self.vehicle.state().drive.is_finite() && self.drive_forces.iter().sum::<f32>().is_finite() {
            state.drive = self.vehicle.state().drive;
        } else {
            // The last valid drivetrain state is kept.
            self.drive_forces.fill(0.0);
        }
        let model = self.vehicle.model();
        // Whether the car has a drivetrain of its own.
        let has_drivetrain = model.parts().powertrain.engine().is_some() || !model.parts().motors.is_empty();
        for (i, &force) in self.drive_forces.iter().enumerate() {
            let brake = brake_force(model, i, controls);
            let mut wheel_forces = WheelForces { drive: force, brake };
            if has_drivetrain {
                // Circumferential speed, m/s.
                let speed = state.wheels[i].spin * model.wheels()[i].radius;
                // The argument gives the direction by its sign: of the force for a standing wheel, otherwise of the
                // speed.
                wheel_forces =
                    wheel_forces.combined(if speed.abs() < STATIONARY_WHEEL_SPEED_MPS { force } else { speed });
            }
            wheel_forces.drive += motor_force(model, i, controls);
            apply(i, wheel_forces);
        }
    }
}

impl WheelForces {
    /// Combines drive and brake force into a single one of them; the other becomes 0. The wheel turns, or would turn,
    /// in the direction of the sign of `direction` (0 is forward). A drive force against that direction is added to the
    /// brake. A drive force along it is reduced by the brake; if the brake is at least as large, the brake less the
    /// drive force remains as brake. Without a drive force nothing changes.
    fn combined(self, direction: f32) -> Self {
        // Drive force in the direction of rotation, N.
        let driving_force = if direction < 0.0 { -self.drive } else { self.drive };
        // Brake force that remains, N; negative if the drive force overcomes the brake.
        let remaining_brake = self.brake - driving_force;
        match self.drive {
            0.0 => self,
            _ if remaining_brake >= 0.0 => Self { drive: 0.0, brake: remaining_brake },
            _ => Self { drive: if direction < 0.0 { remaining_brake } else { -remaining_brake }, brake: 0.0 },
        }
    }
}

/// Returns the maximum brake force of wheel `i` at its contact, N, ≥ 0: the sum of the torques of pedal, handbrake and
/// raw input over the radius. Pedal and handbrake are clamped to [0, 1], the raw torque to [0,
/// [`MAX_RAW_BRAKE_TORQUE_NM`]]; infinite and NaN inputs count as 0. A wheel without raw input has none.
fn brake_force(model: &Model, i: usize, controls: &Controls) -> f32 {
    let wheel = &model.wheels()[i];
    let pedal_torque = clamp_or_zero(controls.brake, 0.0, 1.0) * wheel.brake_torque;
    let handbrake_torque = clamp_or_zero(controls.handbrake, 0.0, 1.0) * wheel.handbrake_torque;
    let raw_torque = controls
        .wheels
        .get(i)
        .map_or(0.0, |wheel_controls| clamp_or_zero(wheel_controls.brake_torque, 0.0, MAX_RAW_BRAKE_TORQUE_NM));
    (pedal_torque + handbrake_torque + raw_torque) / wheel.radius
}

/// Returns the force of the raw motor torque of wheel `i` at its contact, N, positive forward: torque over radius. The
/// torque is clamped to plus or minus the largest one of the model; infinite, NaN and missing inputs count as 0.
fn motor_force(model: &Model, i: usize, controls: &Controls) -> f32 {
    let max_torque = model.max_motor_torque(i);
    let raw_torque = controls
        .wheels
        .get(i)
        .map_or(0.0, |wheel_controls| clamp_or_zero(wheel_controls.motor_torque, -max_torque, max_torque));
    raw_torque / model.wheels()[i].radius
}

/// Returns the steering angle of wheel `i`, rad, positive to the left: the raw angle of `controls` if there is one,
/// otherwise the demanded mean road-wheel angle times the steering ratio of its axle. Rate limit, Ackermann and toe are
/// left out. In both cases also sets `state.steer` to the demanded mean angle, clamped to plus or minus the lock; an
/// infinite or NaN input counts as 0.
pub fn update_wheel_steer_angle(model: &Model, state: &mut State, i: usize, controls: &Controls) -> f32 {
    let parts = model.parts();
    state.steer = clamp_or_zero(controls.steer, -parts.steering.lock, parts.steering.lock);
    controls.raw_angle(i).unwrap_or(state.steer * parts.axles[parts.wheels[i].axle].steer_ratio)
}
