//! How rigid bodies turn.

use skidpad_core::lane::Lane;
use skidpad_core::vectors::{Axes, Vec3Lanes};

/// Turning of rigid bodies in world axes; matrices lead from their own axes.
pub(crate) struct Turning<L> {
    pub axes: Axes<L>,
    pub inertia: Axes<L>,
    pub inverse_inertia: Axes<L>,
    /// Angular velocity, rad/s, and by how much that of the pose lags.
    pub angular: Vec3Lanes<L>,
    pub lag: Vec3Lanes<L>,
}

impl<L: Lane> Turning<L> {
    /// What a `matrix` in vehicle axes makes of a vector in world axes.
    #[inline(always)]
    pub fn through(axes: &Axes<L>, matrix: &Axes<L>, vector: Vec3Lanes<L>) -> Vec3Lanes<L> {
        axes.times(matrix.times(axes.transposed().times(vector)))
    }

    /// Angular momentum about the centre of mass, N m s.
    #[inline(always)]
    pub fn momentum(&self) -> Vec3Lanes<L> {
        Self::through(&self.axes, &self.inertia, self.angular)
    }

    /// Angular velocity in the middle of the coming `dt` s, rad/s, with the angular momentum L; with that fixed, dω/dt = −J⁻¹ (ω × L).
    #[inline(always)]
    pub fn rate_half_way(&self, momentum: Vec3Lanes<L>, dt: f32) -> Vec3Lanes<L> {
        let rate = self.angular - self.lag;
        let change = Self::through(&self.axes, &self.inverse_inertia, rate.cross(momentum));
        rate - change * L::splat(0.5 * dt)
    }
}
