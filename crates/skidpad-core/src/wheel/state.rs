//! What a wheel keeps from step to step: its spin and brake, its tyre, its strut.

use crate::lane::Lane;
use crate::math::{self, all_finite};
use crate::tyre::Conditions;

/// Motion of one wheel. A step reads and writes its numbers in fours, which lie side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct WheelState {
    /// Absolute rate about the axle, rad/s, positive rolls forward.
    pub spin: f32,
    /// Deflection of the contact patch along and across, m; over the relaxation length it is the lagged slip κ and −tan α.
    pub deflection: [f32; 2],
    /// Mean torque of brake, drive and rolling resistance on the wheel over the last step, N m; the chassis took the
    /// opposite.
    pub torque: f32,
    /// Mean tyre force over the last step, along and across, N.
    pub tyre: [f32; 2],
    /// Speed of the wheel centre along the rolling direction after the last step, m/s.
    pub rolling_speed: f32,
    /// 0 at a standstill, where the patch holds like a spring, to 1 when rolling.
    pub rolling: f32,
    /// Compression from rest, m, positive in jounce, not below full droop.
    pub compression: f32,
    /// Rate of the compression of a wheel that moves on its own, m/s; 0 of one whose mass is the chassis'.
    pub travel_rate: f32,
    /// Mean load over the last step, along the contact normal, N, ≥ 0.
    pub load: f32,
    /// Sine of the camber against the ground, positive with the top leaning right; 0 without contact.
    pub lean: f32,
    /// Moment of the tyre about its heading at the start of the last step, N m, positive leans the top to the right.
    pub overturning: f32,
    /// Moment of the tyre about the contact normal at the start of the last step, N m, positive turns to the left.
    pub aligning: f32,
    /// Road-wheel angle, rad.
    pub steer: f32,
    /// Temperature of the brake disc above the air's, K; 0 without one.
    pub disc: f32,
    /// How far it has given way to the left, m; 0 on a rigid axle.
    pub shift: f32,
    /// Friction factor of the ground under the patch less 1, –; 0 without contact.
    pub grip_excess: f32,
    /// Whether the ground was within reach.
    pub contact: bool,
}

impl WheelState {
    /// Returns the conditions that the tyre had in the last step, at its own pressure.
    pub fn conditions(&self) -> Conditions<f32> {
        let (grip, camber) = (1.0 + self.grip_excess, math::asin(self.lean));
        Conditions { grip, camber, ..Conditions::upright(self.load, self.rolling_speed) }
    }

    /// Steers the wheel to `angle` rad about a patch that stands where it is: its deflection stays on the ground, so it turns
    /// in the wheel's axes. A patch that rolls is of the wheel's making.
    pub(crate) fn steer_to(&mut self, angle: f32) {
        let turned = (angle - self.steer) * (1.0 - self.rolling);
        self.steer = angle;
        if turned == 0.0 {
            return;
        }
        let (sin, cos) = math::sin_cos(turned);
        for [along, across] in [&mut self.deflection, &mut self.tyre] {
            (*along, *across) = (cos * *along + sin * *across, cos * *across - sin * *along);
        }
    }

    /// Whether every number is finite.
    pub(crate) fn is_finite(&self) -> bool {
        #[rustfmt::skip]
        let Self {
            spin, deflection, compression, travel_rate, load, tyre, torque, rolling_speed, rolling, steer, lean, overturning,
            aligning, disc, shift, grip_excess, contact: _,
        } = *self;
        all_finite(&[spin, compression, travel_rate, load, torque, rolling_speed, rolling, steer])
            && all_finite(&[lean, overturning, aligning, disc, shift, grip_excess])
            && all_finite(&deflection)
            && all_finite(&tyre)
    }
}

/// 0 below a `crawl` of a wheel, 1 above its `walk`ing pace, at a `speed` m/s ≥ 0.
#[inline(always)]
pub(crate) fn rolling_share<L: Lane>([crawl, walk]: [L; 2], speed: L) -> L {
    speed.smoothstep(crawl, walk)
}
