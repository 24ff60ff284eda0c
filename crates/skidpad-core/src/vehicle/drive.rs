//! Pedals to torques: engine, gearbox, brakes. What clutch and couplings make of them is `shafts`'.

use super::Vehicle;
use super::shafts::{Flywheel, Pull, Tie};
use crate::Controls;
use crate::assists::Asked;
use crate::controls::bounded;
use crate::lane::{Four, Lane};
use crate::model::{Engine, EngineDrive, Gearbox, MAX_MOTORS};
use crate::state::DriveState;

/// Time constant of the idle governor, s: slower stalls under a dropped clutch, faster hunts at 30 Hz.
const IDLE_RESPONSE: f32 = 0.1;

/// Share of the limiter speed over which it takes the torque away.
const LIMITER_BAND: f32 = 0.02;

/// Least time between two automatic shifts, s, so that a shift's own transient does not trigger the next.
const SHIFT_PAUSE: f32 = 0.5;

/// Largest raw torque accepted at a wheel, N m.
const LARGEST_TORQUE: f32 = 1e6;

impl Vehicle {
    /// Torques of motor and brakes at every wheel; engine torque, gear and clutch.
    pub(super) fn drive(&mut self, controls: &Controls, asked: &Asked, dt: f32) {
        let Asked { throttle, brake: foot, handbrake: hand, .. } = *asked;
        let towards = match controls.gear {
            Some(gear) => f32::from(gear.signum()),
            None => 1.0,
        };
        let (step, pull) = (Four::splat(dt), Four::splat(throttle * towards));
        let parts = self.model.parts();
        let engine = parts.powertrain.engine();
        let first = usize::from(engine.is_some());
        let motors = first..first + parts.motors.len();
        let (mut turning, mut rotors) = (0.0, [0.0; MAX_MOTORS]);
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let mut motor = bank.direct * pull;
            let mut brake = Four::splat(foot) * bank.brake_torque + Four::splat(hand) * bank.handbrake_torque;
            if !controls.wheels.is_empty() {
                let raw = |i: usize| controls.wheels.get(i).copied().unwrap_or_default();
                motor += bank.gather(|i| bounded(raw(i).motor_torque, -LARGEST_TORQUE, LARGEST_TORQUE));
                brake += bank.gather(|i| bounded(raw(i).brake_torque, 0.0, LARGEST_TORQUE));
            }
            let spin = bank.gather(|i| self.state.wheels[i].spin);
            if engine.is_some() {
                turning += (bank.levers[0] * spin).sum();
            }
            for (rotor, lever) in rotors.iter_mut().zip(&bank.levers[motors.clone()]) {
                *rotor += (*lever * spin).sum();
            }
            rows.motor = motor * step;
            rows.momentum = bank.spin_inertia * spin + rows.motor;
            rows.brake = brake * step;
            rows.shaft = Four::default();
        }
        let state = &mut self.state.drive;
        let running = engine.map(|drive| {
            state.select_gear(&drive.gearbox, controls.gear, turning, dt);
            let (mut flywheel, clutch) = engage(drive, state, controls, throttle, dt);
            if !self.model.assists().is_empty() {
                flywheel.bounds = [0.0, asked.own_throttle].map(|t| flywheel_speed(drive, state, t, dt));
            }
            (flywheel, clutch)
        });
        if let Some((_, clutch)) = &running {
            let shaft = Four::splat(clutch.at_wheels(clutch.impulse));
            for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
                rows.shaft = bank.levers[0] * shaft;
            }
        } else {
            state.gear = controls.gear.unwrap_or(1);
        }
        self.shafts.begin(running, Pull { throttle, brake: foot, towards }, &self.model, dt);
        for (k, motor) in parts.motors.iter().enumerate() {
            self.shafts.turned(k, rotors[k] * motor.reduction);
        }
    }
}

fn engage(drive: &EngineDrive, state: &DriveState, controls: &Controls, throttle: f32, dt: f32) -> (Flywheel, Tie) {
    let EngineDrive { engine, clutch, gearbox, .. } = drive;
    let shifting = state.shift_left > 0.0;
    let speed = flywheel_speed(drive, state, throttle, dt);
    let engaged = match controls.clutch {
        _ if shifting || state.gear == 0 => 0.0,
        Some(pedal) => 1.0 - bounded(pedal, 0.0, 1.0),
        None => clutch.engaged_at(speed, engine, dt),
    };
    let capacity = clutch.capacity * engaged * dt;
    let flywheel = Flywheel { speed, inverse_inertia: 1.0 / engine.inertia, bounds: [speed; 2] };
    let ratio = gearbox.ratio(state.gear);
    (flywheel, Tie::clutch(&flywheel, ratio, gearbox.efficiency, capacity, state.clutch * dt))
}

/// Speed of the engine after `dt` s before its clutch acts, rad/s.
fn flywheel_speed(drive: &EngineDrive, state: &DriveState, throttle: f32, dt: f32) -> f32 {
    let throttle = if state.shift_left > 0.0 { 0.0 } else { throttle };
    state.engine_speed + dt * engine_torque(&drive.engine, state.engine_speed, throttle) / drive.engine.inertia
}

/// Crankshaft torque, N m: throttle times the full-load curve, minus drag as the throttle closes, plus the idle
/// governor, minus what the limiter cuts.
fn engine_torque(engine: &Engine, speed: f32, throttle: f32) -> f32 {
    let left = ((engine.limit - speed) / (LIMITER_BAND * engine.limit)).clamp(0.0, 1.0);
    let throttle = throttle * left;
    let drag = (engine.drag[0] + engine.drag[1] * speed) * (1.0 - throttle) * (speed / engine.idle).min(1.0);
    let pull = engine.torque.at(speed) * throttle;
    let below_idle = (engine.idle - speed) / IDLE_RESPONSE * engine.inertia;
    let governor =
        if speed < engine.idle * 1.1 { (below_idle + drag - pull).clamp(0.0, engine.torque.peak()) } else { 0.0 };
    pull - drag + governor
}

impl DriveState {
    /// Advances a running shift, or starts one towards the asked gear or, without one, the gear that suits the speed.
    fn select_gear(&mut self, gearbox: &Gearbox, asked: Option<i8>, turning: f32, dt: f32) {
        if self.shift_left > 0.0 {
            self.shift_left -= dt;
            if self.shift_left <= 1e-6 {
                (self.gear, self.shift_left, self.since_shift) = (self.next_gear, 0.0, 0.0);
            }
            return;
        }
        self.since_shift = (self.since_shift + dt).min(1000.0);
        let wanted = asked.map_or_else(|| self.suitable(gearbox, turning), |g| gearbox.nearest(g));
        if wanted == self.gear {
            return;
        }
        if wanted == 0 || self.gear == 0 || gearbox.shift_time <= 0.0 {
            (self.gear, self.since_shift) = (wanted, 0.0);
        } else {
            (self.next_gear, self.shift_left) = (wanted, gearbox.shift_time);
        }
    }

    fn suitable(&self, gearbox: &Gearbox, turning: f32) -> i8 {
        let top = gearbox.nearest(i8::MAX);
        let speed = turning * gearbox.ratio(self.gear);
        match self.gear {
            0 => 1.min(top),
            gear if gear < 0 || self.since_shift < SHIFT_PAUSE => gear,
            gear if speed > gearbox.up_speed && gear < top => gear + 1,
            gear if speed < gearbox.down_speed && gear > 1 => gear - 1,
            gear => gear,
        }
    }
}
