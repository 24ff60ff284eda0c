//! Controls of a draw over time.

use skidpad::core::{Controls, ModelParts, WheelControls};

use crate::step::random::Random;

/// Controls at a time. Pedals and steering are interpolated linearly between two keys, raw torques and angles are
/// constant.
#[derive(Clone, Debug)]
pub struct Key {
    /// Time (s), a multiple of 0.1 s, at which every rate has a step.
    pub at: f64,
    pub throttle: f32,
    pub brake: f32,
    pub handbrake: f32,
    /// Steering angle (rad).
    pub steer: f32,
    /// Raw torques and steering angles of the wheels. Empty without raw controls.
    pub wheels: Vec<WheelControls>,
}

/// Keys in order of time, with constant gear and cruise speed (m/s).
#[derive(Clone, Debug)]
pub struct Manoeuvre {
    pub name: &'static str,
    pub keys: Vec<Key>,
    pub gear: Option<i8>,
    pub cruise: Option<f32>,
}

/// Duration of a draw (s).
pub const SECONDS: f64 = 2.4;

impl Manoeuvre {
    /// Draws a random manoeuvre for a car of these `parts`.
    pub fn draw(random: &mut Random, parts: &ModelParts) -> Self {
        let lock = parts.steering.lock.min(0.6);
        let (amount, turn) = (random.between(0.1, 1.0), random.between(-1.0, 1.0) * lock);
        let small = turn * random.scaled(0.02, 1.0);
        let quiet = Key { at: 0.0, throttle: 0.0, brake: 0.0, handbrake: 0.0, steer: 0.0, wheels: Vec::new() };
        let key = |at: f64| Key { at, ..quiet.clone() };
        let ramp = |to: Key| vec![key(0.0), key(0.2), Key { at: 0.6, ..to }];
        let (name, keys) = match random.below(10) {
            0 => ("coast", vec![quiet.clone()]),
            1 => ("full throttle", vec![Key { throttle: 1.0, ..quiet.clone() }]),
            2 => ("throttle in a turn", ramp(Key { throttle: amount, steer: small, ..quiet.clone() })),
            3 => ("straight braking", ramp(Key { brake: amount, ..quiet.clone() })),
            4 => ("braking in a turn", ramp(Key { brake: amount, steer: small, ..quiet.clone() })),
            5 => ("step steer", ramp(Key { steer: small, ..quiet.clone() })),
            6 => {
                let left = |at: f64, side: f32| Key { steer: side * small, ..key(at) };
                ("slalom", vec![left(0.0, 0.0), left(0.5, 1.0), left(1.0, -1.0), left(1.5, 1.0), left(2.0, -1.0)])
            }
            7 => ("handbrake turn", ramp(Key { handbrake: 1.0, steer: small, ..quiet.clone() })),
            8 => ("raw torques", vec![Key { wheels: raw_wheels(random, parts), ..quiet.clone() }]),
            _ => {
                let pedal = |random: &mut Random| random.between(-1.0, 1.0).max(0.0);
                let any = |k: usize| Key {
                    throttle: pedal(random),
                    brake: pedal(random),
                    handbrake: (pedal(random) - 0.7).max(0.0),
                    steer: lock * random.between(-1.0, 1.0),
                    ..key(0.4 * k as f64)
                };
                ("any", (0..6).map(any).collect())
            }
        };
        let gear = match name {
            "coast" | "step steer" | "slalom" | "raw torques" => Some(0),
            _ => random.chance(0.3).then(|| random.below(4) as i8 - 1),
        };
        let cruise = random.chance(0.1).then(|| random.between(2.0, 30.0));
        Self { name, keys, gear, cruise }
    }

    /// Returns the controls at the middle of the step of `dt` s that starts at `time` (s).
    pub fn controls(&self, time: f64, dt: f64) -> Controls {
        let middle = time + 0.5 * dt;
        let after = self.keys.iter().position(|key| key.at > middle);
        let (from, to) = match after {
            Some(k) => (&self.keys[k.saturating_sub(1)], &self.keys[k]),
            None => (&self.keys[self.keys.len() - 1], &self.keys[self.keys.len() - 1]),
        };
        let share = if to.at > from.at { ((middle - from.at) / (to.at - from.at)) as f32 } else { 0.0 };
        let mix = |of: fn(&Key) -> f32| of(from) + share * (of(to) - of(from));
        Controls {
            throttle: mix(|key| key.throttle),
            brake: mix(|key| key.brake),
            handbrake: mix(|key| key.handbrake),
            steer: mix(|key| key.steer),
            gear: self.gear,
            cruise: self.cruise,
            wheels: from.wheels.clone().into(),
            ..Controls::default()
        }
    }

    /// Returns the manoeuvre with `change` applied to every key.
    pub fn with(&self, change: impl FnMut(&mut Key)) -> Self {
        let mut changed = self.clone();
        changed.keys.iter_mut().for_each(change);
        changed
    }
}

/// Returns random raw controls: torques up to three times the static load times the radius, in one direction or
/// opposite on left and right, and in some draws individual steering angles.
fn raw_wheels(random: &mut Random, parts: &ModelParts) -> Vec<WheelControls> {
    let whole = parts.mass * 9.81 * parts.wheels[0].radius / parts.wheels.len() as f32;
    let (torque, spins, angled) = (whole * random.scaled(0.01, 3.0), random.chance(0.4), random.chance(0.4));
    let wheel = |wheel: &skidpad::core::model::Wheel| WheelControls {
        motor_torque: if spins { torque * wheel.side.outward_sign() } else { torque },
        brake_torque: 0.0,
        steer: angled.then(|| random.between(-0.7, 0.7)),
    };
    parts.wheels.iter().map(wheel).collect()
}
