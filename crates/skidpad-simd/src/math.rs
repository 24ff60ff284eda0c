//! Transcendental functions of a single number that a step may use. Functions over SIMD lanes are in
//! `tyre/functions.rs`.
//!
//! `libm` is plain Rust on correctly rounded operations, so results have the same bits on every target; the
//! functions of `std` call the platform's library and clippy forbids them here.

use crate::vectors::{self, Vec3Lanes};
use bevy_math::{Quat, Vec3};

/// Returns sine and cosine of `angle`, rad.
#[inline]
pub fn sin_cos(angle: f32) -> (f32, f32) {
    (libm::sinf(angle), libm::cosf(angle))
}

/// Returns the cosine of `angle`, rad.
#[inline]
pub fn cos(angle: f32) -> f32 {
    libm::cosf(angle)
}

/// Returns sine and cosine of `angle`, rad, in f64: for positions far from an origin, not for steps.
#[inline]
pub fn sin_cos_f64(angle: f64) -> (f64, f64) {
    (libm::sin(angle), libm::cos(angle))
}

/// Returns the tangent of `angle`, rad.
#[inline]
pub fn tan(angle: f32) -> f32 {
    libm::tanf(angle)
}

/// Returns the arc tangent, rad in ±π/2.
#[inline]
pub fn atan(value: f32) -> f32 {
    libm::atanf(value)
}

/// Returns the angle of the point (`x`, `y`) from the x axis, rad in ±π, positive towards y.
#[inline]
pub fn atan2(y: f32, x: f32) -> f32 {
    libm::atan2f(y, x)
}

/// Returns the arc sine, rad in ±π/2; the argument is clamped to ±1.
#[inline]
pub fn asin(value: f32) -> f32 {
    libm::asinf(value.clamp(-1.0, 1.0))
}

/// Returns e to the power of `value`.
#[inline]
pub fn exp(value: f32) -> f32 {
    libm::expf(value)
}

/// Returns the natural logarithm of `value` (> 0).
#[inline]
pub fn ln(value: f32) -> f32 {
    libm::logf(value)
}

/// Returns true if all `numbers` are finite; also for an empty list.
#[inline]
pub fn all_finite(numbers: &[f32]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}

/// Returns the orientation `rotation` turned by the world-frame `rate` (rad/s) for `dt` s, with length 1; see
/// [`vectors::integrate_rotation`].
#[inline(always)]
pub fn integrate_rotation(rotation: Quat, rate: Vec3, dt: f32) -> Quat {
    Quat::from_array(vectors::integrate_rotation(rotation.to_array(), Vec3Lanes::splat(rate), dt))
}

/// Returns roll, pitch and yaw (rad, in this order) of `rotation` (vehicle to world axes) in the ISO 8855 order: yaw
/// about z, pitch about y, roll about x.
///
/// Roll and yaw are in ±π, pitch in ±π/2. Roll is positive with the right side down, pitch with the nose down, yaw to
/// the left.
#[inline]
pub fn roll_pitch_yaw(rotation: Quat) -> Vec3 {
    let forward = rotation * Vec3::X;
    let left = rotation * Vec3::Y;
    let up = rotation * Vec3::Z;
    Vec3::new(atan2(left.z, up.z), asin(-forward.z), atan2(forward.y, forward.x))
}
