//! Rotation of rigid bodies.

use skidpad_core::simd::lane::Lane;
use skidpad_core::simd::vectors::{Mat3Lanes, Vec3Lanes};

/// Rotational state of rigid bodies, in world axes. The matrix `axes` leads from body axes to world axes; the inertias
/// are in body axes.
pub(crate) struct RotationState<L> {
    /// Rotation from body axes to world axes.
    pub axes: Mat3Lanes<L>,
    /// Inertia about the centre of mass, body axes, kg m².
    pub inertia: Mat3Lanes<L>,
    /// Inverse of `inertia`, 1/(kg m²).
    pub inverse_inertia: Mat3Lanes<L>,
    /// Angular velocity, rad/s.
    pub angular_velocity: Vec3Lanes<L>,
    /// Difference between that angular velocity and the one with which the pose turns, rad/s.
    pub rate_lag: Vec3Lanes<L>,
}

impl<L: Lane> RotationState<L> {
    /// Multiplies a `vector` in world axes with a `matrix` in body axes; the result is in world axes. `axes` leads from
    /// body axes to world axes.
    #[inline(always)]
    pub fn mul_in_body_axes(axes: &Mat3Lanes<L>, matrix: &Mat3Lanes<L>, vector: Vec3Lanes<L>) -> Vec3Lanes<L> {
        axes.mul_vector(matrix.mul_vector(axes.transposed().mul_vector(vector)))
    }

    /// Returns the angular momentum about the centre of mass, N m s.
    #[inline(always)]
    pub fn momentum(&self) -> Vec3Lanes<L> {
        Self::mul_in_body_axes(&self.axes, &self.inertia, self.angular_velocity)
    }

    /// Returns the angular velocity in the middle of the coming `dt` s, rad/s, for a constant angular momentum L: ω +
    /// dω/dt · dt/2 with dω/dt = −J⁻¹ (ω × L). ω is the rate with which the pose turns (angular velocity less lag), all
    /// in world axes.
    #[inline(always)]
    pub fn midpoint_rate(&self, momentum: Vec3Lanes<L>, dt: f32) -> Vec3Lanes<L> {
        let rate = self.angular_velocity - self.rate_lag;
        let change = Self::mul_in_body_axes(&self.axes, &self.inverse_inertia, rate.cross(momentum));
        rate - change * L::splat(0.5 * dt)
    }
}
