//! Driver assists. Control laws are pure functions of a car's motion and of the driver's demand; `stage`, `traction` and `cruise` call
//! them and change rows and shafts.
//!
//! No law counts steps. Each moves its controlled quantity towards the target with a time constant `τ`, by a share
//! `dt / (τ + dt)` of the distance in a step. That share neither overshoots in long steps nor vanishes in short ones.

pub(crate) mod parameters;
pub(crate) mod rows;
pub(crate) mod slip;
pub(crate) mod stability;
pub(crate) mod steering;

use crate::controls::{Controls, clamp_lanes_or_zero};
use crate::steering::parameters::Steering;
use skidpad_simd::lane::F32x4;

/// Clamped demand of pedals and steering wheel, which assists change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DriverDemand {
    /// Throttle of the engine, 0 to 1; 1 while cruise control cuts the engine from there.
    pub throttle: f32,
    /// Throttle of the driver, 0 to 1.
    pub driver_throttle: f32,
    /// Speed of cruise control, m/s; `None` if it is off or the driver brakes or reverses.
    pub cruise: Option<f32>,
    /// Foot brake, 0 to 1.
    pub brake: f32,
    /// Handbrake, 0 to 1.
    pub handbrake: f32,
    /// Mean road-wheel angle of an axle with ratio 1, rad.
    pub steer: f32,
    /// Largest rate of change of the steering angle, rad/s.
    pub steer_rate: f32,
}

impl DriverDemand {
    /// Builds the demand of the driver alone: pedals clamped to 0 to 1 and steering to ± the lock, NaN as 0. The cruise speed is dropped if it is not
    /// finite, if the foot brake is pressed, or in reverse.
    #[inline(always)]
    pub fn from_controls(controls: &Controls, steering: &Steering) -> Self {
        let Controls { throttle, brake, handbrake, steer, .. } = *controls;
        let raw_demand = F32x4::new([throttle, brake, handbrake, steer]);
        let (lower, upper) = (F32x4::new([0.0, 0.0, 0.0, -steering.lock]), F32x4::new([1.0, 1.0, 1.0, steering.lock]));
        let [throttle, brake, handbrake, steer] = clamp_lanes_or_zero(raw_demand, lower, upper).lanes();
        Self {
            throttle,
            driver_throttle: throttle,
            cruise: controls.cruise.filter(|speed| {
                let is_forward = controls.gear.is_none_or(|gear| gear >= 0);
                speed.is_finite() && brake == 0.0 && is_forward
            }),
            brake,
            handbrake,
            steer,
            steer_rate: steering.rate,
        }
    }
}

/// Returns the share of the distance to its target that a quantity with a `time_constant` in s covers in a step of `dt` s.
pub(crate) fn first_order_share(time_constant: f32, dt: f32) -> f32 {
    dt / (time_constant + dt)
}
