//! What the driver, a script or an assist asks of a car for one step.

use crate::lane::Lane;

/// Inputs of one step. Values outside their range are clamped, values that are not finite read as 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Controls {
    /// Accelerator, 0 to 1.
    pub throttle: f32,
    /// Foot brake, 0 to 1 of every wheel's brake torque.
    pub brake: f32,
    /// Handbrake, 0 to 1 of every wheel's handbrake torque.
    pub handbrake: f32,
    /// Mean road-wheel angle of a steered axle with ratio 1, rad, positive to the left: that of a wheel in its middle. The cotangents of
    /// both wheels average to that of this angle.
    pub steer: f32,
    /// Clutch pedal, 1 fully pressed; `None`: the clutch works by itself: it follows the speed of a running engine, and is closed
    /// with a dead one, which holds the car in gear, until the starter turns it.
    pub clutch: Option<f32>,
    /// −1 reverse, 0 neutral, 1… forward; `None`: the gearbox chooses among the forward gears by the speed of engine and road.
    /// Reverse asked for while the car rolls forward faster than a walk (1.5 m/s), or a forward gear while it rolls back so fast,
    /// waits in neutral. Motors and torques straight at the wheels have no gears but pull the way of the one asked for.
    pub gear: Option<i8>,
    /// Turns a stalled engine until it runs.
    pub starter: bool,
    /// Active anti-roll bars: 0 to 1 of every bar's rate; `None`: all of it.
    pub bars: Option<f32>,
    /// Speed that cruise control holds where a car has it, m/s, ≥ 0; `None`: off. Braking switches it off, a wider throttle
    /// overrules it.
    pub cruise: Option<f32>,
    /// Raw inputs per wheel, in wheel order; empty, or one for each wheel.
    pub wheels: Box<[WheelControls]>,
}

/// Raw inputs of one wheel, beside what the pedals do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WheelControls {
    /// Torque on the wheel about its axle, N m, positive drives forward; at most [`crate::Model::largest_motor_torque`] of it counts.
    pub motor_torque: f32,
    /// Additional brake torque, N m, ≥ 0; at most 1e6 of it counts.
    pub brake_torque: f32,
    /// Road-wheel angle that replaces the steering's, rad; at most a right angle counts.
    pub steer: Option<f32>,
}

/// Largest raw angle of a wheel, rad: a right angle.
const LARGEST_ANGLE: f32 = core::f32::consts::FRAC_PI_2;

impl Controls {
    /// The raw angle of wheel `i`, rad, if there is one.
    pub fn raw_angle(&self, i: usize) -> Option<f32> {
        let raw = self.wheels.get(i).and_then(|wheel| wheel.steer);
        raw.map(|angle| bounded(angle, -LARGEST_ANGLE, LARGEST_ANGLE))
    }

    /// Share of the rate that anti-roll bars have, 0 to 1.
    pub(crate) fn bar_share(&self) -> f32 {
        self.bars.map_or(1.0, |share| bounded(share, 0.0, 1.0))
    }

    /// Becomes `other`, in the memory that is there.
    pub(crate) fn copy(&mut self, other: &Self) {
        let mut wheels = core::mem::take(&mut self.wheels);
        wheels.clone_from(&other.wheels);
        *self = Self { wheels, ..*other };
    }

    /// Foot brake fully applied, in neutral.
    pub fn parked() -> Self {
        Self { brake: 1.0, gear: Some(0), ..Self::default() }
    }

    /// In neutral, nothing pressed.
    pub fn coasting() -> Self {
        Self { gear: Some(0), ..Self::default() }
    }
}

/// Largest raw brake torque accepted at a wheel, N m.
pub const LARGEST_BRAKE_TORQUE: f32 = 1e6;

/// `value` clamped to `low..=high`; not finite reads as 0.
pub fn bounded(value: f32, low: f32, high: f32) -> f32 {
    all_bounded(value, low, high)
}

/// The same of several numbers at once.
#[inline(always)]
pub(crate) fn all_bounded<L: Lane>(values: L, low: L, high: L) -> L {
    values.clamped(low, high).only(values.abs().less(L::splat(f32::INFINITY)))
}
