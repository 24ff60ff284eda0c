//! Wheel state that is carried over between steps: spin, brake, tyre and strut.

use skidpad_simd::lane::Lane;
use skidpad_simd::math::{self, all_finite};
use skidpad_tyre::Conditions;
use skidpad_tyre::functions::sin_cos;

/// State of one wheel. A step reads and writes adjacent fields in groups of four numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct WheelState {
    /// Absolute spin rate about the axle, rad/s, positive in forward rolling.
    pub spin: f32,
    /// Longitudinal and lateral deflection of the contact patch, m. Divided by the relaxation length, it is the lagged
    /// slip κ and −tan α.
    pub deflection: [f32; 2],
    /// Mean torque of brake, drive and rolling resistance on the wheel over the last step, N m. The chassis received
    /// the opposite torque.
    pub torque: f32,
    /// Mean longitudinal and lateral tyre force over the last step, N.
    pub tyre: [f32; 2],
    /// Speed of the wheel centre along the rolling direction after the last step, m/s.
    pub rolling_speed: f32,
    /// Share of rolling, from 0 at a standstill, where the patch acts like a spring, to 1 when rolling.
    pub rolling: f32,
    /// Compression from rest, m, positive in jounce. Never below full droop.
    pub compression: f32,
    /// Compression rate of a wheel with its own unsprung mass, m/s; 0 if the mass belongs to the chassis.
    pub travel_rate: f32,
    /// Mean load over the last step along the contact normal, N, ≥ 0.
    pub load: f32,
    /// Sine of the camber angle relative to the ground, positive if the top leans right; 0 without contact.
    pub lean: f32,
    /// Overturning moment of the tyre about its heading at the start of the last step, N m. Positive tilts the top to
    /// the right.
    pub overturning: f32,
    /// Aligning moment of the tyre about the contact normal at the start of the last step, N m. Positive turns to the
    /// left.
    pub aligning: f32,
    /// Road-wheel angle, rad.
    pub steer: f32,
    /// Temperature of the brake disc above that of the air, K; 0 without a disc.
    pub disc: f32,
    /// Lateral displacement of the wheel to the left by axle compliance, m; 0 on a rigid axle.
    pub shift: f32,
    /// Friction factor of the ground under the patch minus 1, –; 0 without contact.
    pub grip_excess: f32,
    /// Deflection of the steering linkage, rad, positive to the left; it is part of the angle of a steered wheel without
    /// a raw angle. Steps of cars with a rigid linkage do not change it.
    pub steer_deflection: f32,
    /// Whether the wheel was in contact with the ground.
    pub contact: bool,
}

impl WheelState {
    /// Returns the operating conditions of the tyre in the last step: load, rolling speed, grip of the ground (1 +
    /// `grip_excess`) and camber (arcsine of `lean`), at its own inflation pressure.
    pub fn conditions(&self) -> Conditions<f32> {
        let (grip, camber) = (1.0 + self.grip_excess, math::asin(self.lean));
        Conditions { grip, camber, ..Conditions::upright(self.load, self.rolling_speed) }
    }

    /// Sets the road-wheel angle to `angle` (rad). Rotates deflection and force of a standing patch back by the change
    /// of angle, because the patch stays in place on the ground. A rolling patch turns with the wheel; between both,
    /// the change counts with the share `1 − rolling`. The angle is set in any case.
    pub(crate) fn set_steer(&mut self, angle: f32) {
        // Angle by which the wheel turns relative to the patch, rad.
        let relative_angle = (angle - self.steer) * (1.0 - self.rolling);
        self.steer = angle;
        if relative_angle == 0.0 {
            return;
        }
        [self.deflection, self.tyre] = rotate_patch([self.deflection, self.tyre], relative_angle);
    }

    /// Returns true if every number of the state is finite.
    pub(crate) fn is_finite(&self) -> bool {
        #[rustfmt::skip]
        let Self {
            spin, deflection, compression, travel_rate, load, tyre, torque, rolling_speed, rolling, steer, lean, overturning,
            aligning, disc, shift, grip_excess, steer_deflection, contact: _,
        } = *self;
        all_finite(&[spin, compression, travel_rate, load, torque, rolling_speed, rolling, steer])
            && all_finite(&[lean, overturning, aligning, disc, shift, grip_excess, steer_deflection])
            && all_finite(&deflection)
            && all_finite(&tyre)
    }
}

/// Returns the `vectors` of a patch (longitudinal and lateral components) in axes that are turned by `angle` (rad,
/// positive to the left).
#[inline(always)]
pub(crate) fn rotate_patch<L: Lane>(vectors: [[L; 2]; 2], angle: L) -> [[L; 2]; 2] {
    let (sin, cos) = sin_cos(angle);
    vectors.map(|[longitudinal, lateral]| [cos * longitudinal + sin * lateral, cos * lateral - sin * longitudinal])
}

/// Returns the share of rolling at a `speed` (m/s, ≥ 0): 0 below `start_speed`, 1 above `full_speed` (m/s), smooth in
/// between.
#[inline(always)]
pub(crate) fn rolling_share<L: Lane>([start_speed, full_speed]: [L; 2], speed: L) -> L {
    speed.smoothstep(start_speed, full_speed)
}
