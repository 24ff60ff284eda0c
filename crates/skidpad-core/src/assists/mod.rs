//! Laws of the assists: pure functions of a car's motion and of what its driver asks. Who calls them, and what they then
//! do to rows and shafts, is in `stage`, `traction` and `cruise`.
//!
//! None of them counts steps: each leads what it controls to its target with a time constant `τ`, by a share
//! `dt / (τ + dt)` of the distance in a step, which neither overshoots in long steps nor fades out in short ones.

pub mod assist_log;
mod cruise;
pub(crate) mod parameters;
mod regeneration;
pub(crate) mod rows;
pub(crate) mod slip;
pub(crate) mod stability;
mod stage;
pub(crate) mod steering;
mod traction;

use crate::controls::{Controls, all_bounded};
use crate::lane::Four;
use crate::steering::parameters::Steering;

/// What pedals and steering wheel ask for, once clamped; assists change it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DriverDemand {
    /// 0 to 1, 1 while cruise control holds the engine back from there.
    pub throttle: f32,
    /// The driver's throttle, 0 to 1.
    pub own_throttle: f32,
    /// Speed to cruise at, m/s, unless the driver brakes or reverses.
    pub cruise: Option<f32>,
    /// Foot brake, 0 to 1.
    pub brake: f32,
    /// 0 to 1.
    pub handbrake: f32,
    /// Mean road-wheel angle of an axle with ratio 1, rad.
    pub steer: f32,
    /// Largest change of the steering's angle, rad/s.
    pub steer_rate: f32,
}

impl DriverDemand {
    #[inline(always)]
    pub fn of(controls: &Controls, steering: &Steering) -> Self {
        let Controls { throttle, brake, handbrake, steer, .. } = *controls;
        let asked = Four::new([throttle, brake, handbrake, steer]);
        let (low, high) = (Four::new([0.0, 0.0, 0.0, -steering.lock]), Four::new([1.0, 1.0, 1.0, steering.lock]));
        let [throttle, brake, handbrake, steer] = all_bounded(asked, low, high).lanes();
        Self {
            throttle,
            own_throttle: throttle,
            cruise: controls.cruise.filter(|speed| {
                let forward = controls.gear.is_none_or(|gear| gear >= 0);
                speed.is_finite() && brake == 0.0 && forward
            }),
            brake,
            handbrake,
            steer,
            steer_rate: steering.rate,
        }
    }
}

/// Share of the distance to its target that a quantity with time constant `response` s covers in a step of `dt` s.
pub(crate) fn approach(response: f32, dt: f32) -> f32 {
    dt / (response + dt)
}
