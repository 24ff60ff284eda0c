//! A ray among triangles: the highest of those it passes through.
//!
//! Seen along the ray, a triangle is met if its start lies on the same side of all three edges, by Woop, Benthin and Wald, "Watertight
//! Ray/Triangle Intersection" (2013). Neighbours find the opposite number for the edge they share, and 0 is on both sides, so nothing
//! falls between them.

use crate::wheel::envelope::{Seeker, Touch, Triangle, take};
use bevy_math::Vec3;

impl Seeker {
    /// The highest place below its start at which the ray meets one of `near`.
    pub(super) fn meet(&self, near: &[Triangle]) -> Option<Touch> {
        let mut best = None;
        for (i, triangle) in near.iter().enumerate() {
            if let Some((z, shares)) = self.height_under_start(&triangle.corners).filter(|(z, _)| *z <= 0.0) {
                let point = Vec3::new(0.0, 0.0, z);
                let touch = Touch { bottom: z, triangle: i, point, shares: Some(shares), ..Touch::default() };
                take(&mut best, &triangle.corners, touch);
            }
        }
        best
    }

    /// Height of a triangle where the ray passes through it, from its start, and the barycentric coordinates there.
    #[inline(always)]
    fn height_under_start(&self, corners: &[Vec3; 3]) -> Option<(f32, [f32; 3])> {
        let [x, y] = [0, 1].map(|k: usize| corners.map(|corner| self.axes[k].dot(corner)));
        let side = |from: usize, to: usize| x[from] * y[to] - y[from] * x[to];
        let shares = [side(1, 2), side(2, 0), side(0, 1)];
        let (left, right) = (shares.map(|share| share >= 0.0), shares.map(|share| share <= 0.0));
        let area = shares[0] + shares[1] + shares[2];
        if left != [true; 3] && right != [true; 3] || area == 0.0 {
            return None;
        }
        let z = corners.map(|corner| self.axes[2].dot(corner));
        // Of level ones exactly their height.
        let [_, b, c] = shares.map(|share| share / area);
        Some((z[0] + b * (z[1] - z[0]) + c * (z[2] - z[0]), [1.0 - b - c, b, c]))
    }
}
