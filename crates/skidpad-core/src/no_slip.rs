//! Pedals of a car whose wheels cannot slip, for peers that know a force at each wheel but no wheel speed.

use crate::model::Powertrain;
use crate::{Controls, Model, State, controls::bounded};

/// Force of the powertrain at every wheel, N, positive drives forward: torque × ratio × efficiency / radius, the engine
/// turning with the spins in `state`; a torque converter counts as a clutch. Gear and engine speed of `state` are set to what was used.
///
/// `forces` has one place for each wheel.
pub fn drive_forces(model: &Model, state: &mut State, controls: &Controls, forces: &mut [f32]) {
    let wheels = model.wheels();
    let throttle = bounded(controls.throttle, 0.0, 1.0);
    powertrain_forces(model, state, controls, throttle, forces);
    let (brake, towards) =
        (bounded(controls.brake, 0.0, 1.0), controls.gear.map_or(1.0, |gear| f32::from(gear.signum())));
    for motor in &model.parts().motors {
        let turning = motor.wheels.iter().map(|&i| state.wheels[i].spin).sum::<f32>() / motor.wheels.len() as f32;
        let demand = if towards == 0.0 { 0.0 } else { motor.demand(throttle, brake) };
        let torque = motor.torque(turning * motor.reduction * towards, demand).0 * towards * motor.reduction;
        let losses = if torque * turning < 0.0 { 1.0 / motor.efficiency } else { motor.efficiency };
        for &i in &motor.wheels {
            forces[i] += torque * losses / (motor.wheels.len() as f32 * wheels[i].radius);
        }
    }
}

/// What an engine or torques straight at the wheels push.
fn powertrain_forces(model: &Model, state: &mut State, controls: &Controls, throttle: f32, forces: &mut [f32]) {
    let wheels = model.wheels();
    match &model.parts().powertrain {
        Powertrain::None => forces.fill(0.0),
        Powertrain::Direct(torques) => {
            for ((force, torque), wheel) in forces.iter_mut().zip(torques).zip(wheels) {
                *force = torque * throttle / wheel.radius;
            }
        }
        Powertrain::Engine(drive) => {
            let shares = &drive.shares;
            let turning: f32 = shares.iter().zip(&state.wheels).map(|(share, wheel)| share * wheel.spin).sum();
            let suitable = || {
                let top = drive.gearbox.nearest(i8::MAX);
                (1..=top).find(|&g| turning * drive.gearbox.ratio(g) < drive.gearbox.up_speed).unwrap_or(top)
            };
            let gear = controls.gear.unwrap_or_else(suitable);
            let ratio = drive.gearbox.ratio_for(gear, turning, throttle);
            let speed = (turning * ratio).max(drive.engine.idle);
            let torque = if speed < drive.engine.limit { drive.engine.torque.at(speed) } else { 0.0 };
            let shaft = torque * drive.engine.opened(throttle) * ratio * drive.gearbox.efficiency;
            state.drive.gear = gear;
            state.drive.engine_speed = speed;
            for ((force, share), wheel) in forces.iter_mut().zip(shares).zip(wheels) {
                *force = share * shaft / wheel.radius;
            }
        }
    }
}

/// Brake force asked of wheel `i` at its contact, N, ≥ 0: torque of pedal, handbrake and raw input over the radius.
pub fn brake_force(model: &Model, i: usize, controls: &Controls) -> f32 {
    let wheel = &model.wheels()[i];
    let pedal = bounded(controls.brake, 0.0, 1.0) * wheel.brake_torque;
    let lever = bounded(controls.handbrake, 0.0, 1.0) * wheel.handbrake_torque;
    let raw = controls.wheels.get(i).map_or(0.0, |w| bounded(w.brake_torque, 0.0, f32::MAX));
    (pedal + lever + raw) / wheel.radius
}

/// Force of the raw motor torque of wheel `i` at its contact, N, positive drives forward.
pub fn motor_force(model: &Model, i: usize, controls: &Controls) -> f32 {
    let raw = controls.wheels.get(i).map_or(0.0, |w| bounded(w.motor_torque, f32::MIN, f32::MAX));
    raw / model.wheels()[i].radius
}

/// Angle of wheel `i`, rad, positive to the left: no rate limit, no Ackermann, no toe. `state.steer` is set to the mean
/// angle asked, within the lock.
pub fn steer(model: &Model, state: &mut State, i: usize, controls: &Controls) -> f32 {
    let parts = model.parts();
    state.steer = bounded(controls.steer, -parts.steering.lock, parts.steering.lock);
    controls.raw_angle(i).unwrap_or(state.steer * parts.axles[parts.wheels[i].axle].steer_ratio)
}
