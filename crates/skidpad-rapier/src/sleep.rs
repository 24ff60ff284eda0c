//! Conditions under which a car may sleep.
//!
//! Rapier puts bodies to sleep that hardly move for half a second. A chassis may hardly move while its springs
//! oscillate, its engine speeds up or its wheels spin, so that the car has conditions of its own. A sleeping car must
//! also wake for events that Rapier does not detect.

use skidpad_core::{ChassisImpulse, Controls, State, Vehicle};
use skidpad_engines::REST_SPEED_MPS;

/// Sum of the speed of the centre of mass and the speed of a point 1 m from the axis of rotation below which the
/// suspension is at rest, m/s. The wheel loads of a C5 that oscillates at this speed are constant to 3 in a million.
const SUSPENSION_REST_SPEED_MPS: f32 = 1e-5;

/// Relative change of engine speed in a step below which the engine runs steadily.
const STEADY_ENGINE_SPEED_RATIO: f32 = 1e-4;

/// Controls and state of a car in the last step in which it was awake.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SleepState {
    /// Controls in the last step; `None` before the first step.
    #[cfg_attr(feature = "serde", serde(with = "crate::saved::controls"))]
    controls: Option<Controls>,
    /// Engine speed in the last step, rad/s.
    engine_speed: f32,
    /// Steering of the state in the last step.
    steer: f32,
    /// Whether the body was asleep at the start of the current step.
    pub asleep: bool,
    /// Push of the vehicle on its chassis in its last step awake.
    #[cfg_attr(feature = "serde", serde(with = "crate::saved::push"))]
    pub last_push: ChassisImpulse,
}

impl SleepState {
    /// Stores the driver's controls. Returns whether they differ from those of the last call; true on the first call.
    pub fn update_controls(&mut self, controls: &Controls) -> bool {
        let has_changed = self.controls.as_ref() != Some(controls);
        if has_changed {
            copy_controls(controls, self.controls.get_or_insert_default());
        }
        has_changed
    }

    /// Returns true if the car is at rest, i.e. all of these conditions hold: the stored controls have no throttle,
    /// cruise control or raw motor torque; the chassis is below [`SUSPENSION_REST_SPEED_MPS`]; the rims of all wheels
    /// are at most at [`REST_SPEED_MPS`]; the engine speed is within [`STEADY_ENGINE_SPEED_RATIO`] of that in the last
    /// call; the steering is that of the last call; no gear shift is in progress. A car that only brakes can be at
    /// rest. Always stores engine speed and steering for the next call.
    pub fn is_at_rest(&mut self, vehicle: &Vehicle) -> bool {
        let State { drive, wheels, steer, velocity, angular_velocity, .. } = vehicle.state();
        // rad/s count as m/s: speed of a point 1 m from the axis.
        let is_swinging = velocity.length() + angular_velocity.length() > SUSPENSION_REST_SPEED_MPS;
        let (last_engine_speed, last_steer) = (self.engine_speed, self.steer);
        (self.engine_speed, self.steer) = (drive.engine_speed, *steer);
        let asks_for_drive = |controls: &Controls| {
            controls.throttle != 0.0
                || controls.cruise.is_some()
                || controls.wheels.iter().any(|w| w.motor_torque != 0.0)
        };
        let is_driven = self.controls.as_ref().is_some_and(asks_for_drive);
        let is_rolling = wheels
            .iter()
            .zip(vehicle.model().wheels())
            .any(|(state, wheel)| (state.spin * wheel.radius).abs() > REST_SPEED_MPS);
        let is_steady =
            (last_engine_speed - drive.engine_speed).abs() <= STEADY_ENGINE_SPEED_RATIO * drive.engine_speed.abs();
        !is_swinging && !is_driven && !is_rolling && is_steady && last_steer == *steer && drive.shift_left == 0.0
    }
}

/// Copies `source` to `target` and reuses the memory of `target`.
fn copy_controls(source: &Controls, target: &mut Controls) {
    let Controls { throttle, brake, handbrake, steer, clutch, gear, starter, bars, cruise, wheels } = source;
    (target.throttle, target.brake, target.handbrake, target.steer) = (*throttle, *brake, *handbrake, *steer);
    (target.clutch, target.gear, target.starter) = (*clutch, *gear, *starter);
    (target.bars, target.cruise) = (*bars, *cruise);
    target.wheels.clone_from(wheels);
}
