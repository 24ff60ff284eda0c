//! Inputs of a car for a step, from a driver, a script or an assist.

use skidpad_simd::lane::Lane;

/// Inputs of a step. Values outside their range are clamped; values that are not finite count as 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Controls {
    /// Accelerator, 0 to 1.
    pub throttle: f32,
    /// Foot brake, 0 to 1 of every wheel's brake torque.
    pub brake: f32,
    /// Handbrake, 0 to 1 of every wheel's handbrake torque.
    pub handbrake: f32,
    /// Mean road-wheel angle of a steered axle with ratio 1, rad, positive to the left: the angle of a wheel in the middle of the axle. Its cotangent
    /// is the mean of the cotangents of both wheels.
    pub steer: f32,
    /// Clutch pedal, 0 to 1 (fully pressed). `None`: automatic clutch. It follows the speed of a running engine. With a dead engine it is closed,
    /// which holds the car in gear, until the starter turns the engine.
    pub clutch: Option<f32>,
    /// Gear: −1 reverse, 0 neutral, 1… forward. `None`: the gearbox selects a forward gear by the speeds of engine and road.
    /// A gear against the motion waits in neutral while the car moves faster than a walking pace (1.5 m/s).
    /// Motors and direct drive have no gears, but drive in the direction of the requested one.
    pub gear: Option<i8>,
    /// Whether the starter turns a stalled engine until it runs.
    pub starter: bool,
    /// Share of the rate of every active anti-roll bar, 0 to 1; `None`: full rate.
    pub bars: Option<f32>,
    /// Target speed of cruise control in cars that have it, m/s, ≥ 0; `None`: off. Braking switches it off. A larger throttle
    /// overrides it.
    pub cruise: Option<f32>,
    /// Raw inputs per wheel, in wheel order; empty, or one entry for each wheel.
    pub wheels: Box<[WheelControls]>,
}

/// Raw inputs of a wheel, in addition to the pedals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WheelControls {
    /// Torque on the wheel about its axle, N m, positive drives forward; clamped to ± [`crate::Model::max_motor_torque`].
    pub motor_torque: f32,
    /// Additional brake torque, N m, ≥ 0; clamped to 1e6.
    pub brake_torque: f32,
    /// Road-wheel angle that replaces that of the steering, rad; clamped to a right angle.
    pub steer: Option<f32>,
}

/// Largest raw angle of a wheel, rad: a right angle.
const MAX_RAW_ANGLE_RAD: f32 = core::f32::consts::FRAC_PI_2;

impl Controls {
    /// Returns the raw road-wheel angle of wheel `i` (rad), clamped to ± a right angle; 0 if it is not finite. Returns
    /// `None` if the wheel has no raw angle.
    pub fn raw_angle(&self, i: usize) -> Option<f32> {
        let raw = self.wheels.get(i).and_then(|wheel| wheel.steer);
        raw.map(|angle| clamp_or_zero(angle, -MAX_RAW_ANGLE_RAD, MAX_RAW_ANGLE_RAD))
    }

    /// Returns the share of their rate that active anti-roll bars have, clamped to 0 to 1; 1 without a demand, 0 if the
    /// demand is not finite.
    pub(crate) fn bar_rate_share(&self) -> f32 {
        self.bars.map_or(1.0, |share| clamp_or_zero(share, 0.0, 1.0))
    }

    /// Copies `other` into this value and reuses its memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let mut wheels = core::mem::take(&mut self.wheels);
        wheels.clone_from(&other.wheels);
        *self = Self { wheels, ..*other };
    }

    /// Returns controls with the foot brake fully applied, in neutral.
    pub fn parked() -> Self {
        Self { brake: 1.0, gear: Some(0), ..Self::default() }
    }

    /// Returns controls in neutral with nothing pressed.
    pub fn coasting() -> Self {
        Self { gear: Some(0), ..Self::default() }
    }
}

/// Largest accepted raw brake torque at a wheel, N m.
pub const MAX_RAW_BRAKE_TORQUE_NM: f32 = 1e6;

/// Returns `value` clamped to `low..=high`; a value that is infinite or NaN becomes 0, even if 0 is outside the range.
pub fn clamp_or_zero(value: f32, low: f32, high: f32) -> f32 {
    clamp_lanes_or_zero(value, low, high)
}

/// Returns each lane of `values` clamped to `low..=high`; lanes that are infinite or NaN become 0, as in
/// [`clamp_or_zero`].
#[inline(always)]
pub(crate) fn clamp_lanes_or_zero<L: Lane>(values: L, low: L, high: L) -> L {
    values.clamp_keeping_nan(low, high).masked(values.abs().less(L::splat(f32::INFINITY)))
}
