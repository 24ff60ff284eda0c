//! When a car may fall asleep, and what wakes it.
//!
//! Rapier puts bodies to sleep that hardly moved for half a second. A chassis may hardly move while its springs swing out,
//! its engine runs up or its wheels spin, so the car has a say; and a sleeping car has to wake for what Rapier does not see.

use skidpad_core::{Controls, Push, State, Vehicle};
use skidpad_engines::STILL;

/// Speed of a chassis' centre of mass, and of a point 1 m from its axis of rotation, below which its springs have come to
/// sleep, m/s. A C5 that still swings with it carries its load to 3 in a million.
const SWUNG_OUT: f32 = 1e-5;

/// Relative change of the engine's speed in a step below which it runs steadily.
const STEADY: f32 = 1e-4;

/// What a car was asked and how it was when it was last awake.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SleepState {
    /// `None` until the first step.
    #[cfg_attr(feature = "serde", serde(with = "crate::saved::controls"))]
    controls: Option<Controls>,
    engine_speed: f32,
    steer: f32,
    /// Whether the body slept when the current step began.
    pub asleep: bool,
    /// What held the car in its last step awake.
    #[cfg_attr(feature = "serde", serde(with = "crate::saved::push"))]
    pub held: Push,
}

impl SleepState {
    /// Whether the driver asks for something new. Remembers it.
    pub fn asks_anew(&mut self, asked: &Controls) -> bool {
        let anew = self.controls.as_ref() != Some(asked);
        if anew {
            copy(asked, self.controls.get_or_insert_default());
        }
        anew
    }

    /// Whether all of the car is at rest: no drive, chassis and wheels at a standstill, engine and steering steady.
    pub fn is_settled(&mut self, vehicle: &Vehicle) -> bool {
        let State { drive, wheels, steer, velocity, angular, .. } = vehicle.state();
        let swings = velocity.length() + angular.length() > SWUNG_OUT;
        let before = (self.engine_speed, self.steer);
        (self.engine_speed, self.steer) = (drive.engine_speed, *steer);
        let drives = |asked: &Controls| {
            asked.throttle != 0.0 || asked.cruise.is_some() || asked.wheels.iter().any(|w| w.motor_torque != 0.0)
        };
        let driven = self.controls.as_ref().is_some_and(drives);
        let rolls = wheels.iter().zip(vehicle.model().wheels()).any(|(w, of)| (w.spin * of.radius).abs() > STILL);
        let steady = (before.0 - drive.engine_speed).abs() <= STEADY * drive.engine_speed.abs();
        !swings && !driven && !rolls && steady && before.1 == *steer && drive.shift_left == 0.0
    }
}

/// A clone that keeps the memory it has.
fn copy(from: &Controls, to: &mut Controls) {
    let Controls { throttle, brake, handbrake, steer, clutch, gear, starter, bars, cruise, wheels } = from;
    (to.throttle, to.brake, to.handbrake, to.steer) = (*throttle, *brake, *handbrake, *steer);
    (to.clutch, to.gear, to.starter) = (*clutch, *gear, *starter);
    (to.bars, to.cruise) = (*bars, *cruise);
    to.wheels.clone_from(wheels);
}
