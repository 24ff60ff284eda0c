//! Steering: road-wheel angles and axle directions from the angle of the steering.

pub(crate) mod ackermann;
pub(crate) mod kingpin;
pub(crate) mod linkage;
pub(crate) mod parameters;
pub(crate) mod rows;

use skidpad_simd::lane::Lane;

/// Returns the angle of the steering (rad) after it moves from `angle` towards `demand`, by at most
/// `max_change` (rad, ≥ 0). A NaN stays a NaN.
#[inline(always)]
pub(crate) fn rate_limited_angle<L: Lane>(angle: L, demand: L, max_change: f32) -> L {
    angle + (demand - angle).clamp_keeping_nan(L::splat(-max_change), L::splat(max_change))
}
