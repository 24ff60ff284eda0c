//! Steering: road-wheel angles and axle directions from the angle of the steering.

pub(crate) mod ackermann;
pub(crate) mod parameters;
pub(crate) mod rows;

use crate::simd::lane::Lane;

/// Returns the angle of the steering (rad) after it moves from the angle `from` towards the angle `asked`, by at most
/// `reach` (rad, ≥ 0). A NaN stays a NaN.
#[inline(always)]
pub(crate) fn rate_limited_angle<L: Lane>(from: L, asked: L, reach: f32) -> L {
    from + (asked - from).clamp_keeping_nan(L::splat(-reach), L::splat(reach))
}
