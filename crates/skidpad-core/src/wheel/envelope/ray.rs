//! A ray among triangles: the highest of those it passes through.
//!
//! Seen along the ray, a triangle is met if its start lies on the same side of all three edges, by Woop, Benthin and Wald, "Watertight
//! Ray/Triangle Intersection" (2013). Neighbours find the opposite number for the edge they share, and 0 is on both sides, so nothing
//! falls between them.

use crate::wheel::envelope::{SAME, Seeker, Touch, Triangle};
use bevy_math::Vec3;

impl Seeker {
    /// The highest place below its start at which the ray meets one of `near`.
    pub(super) fn meet(&self, near: &[Triangle]) -> Option<Touch> {
        let mut best = None;
        for (i, triangle) in near.iter().enumerate() {
            if let Some(touch) = self.meet_above(best.as_ref(), triangle) {
                best = Some(Touch { triangle: i as u32, ..touch });
            }
        }
        best
    }

    /// Where the ray meets `triangle` below its start, if that is higher than the `best` place so far.
    #[inline(always)]
    pub(super) fn meet_above(&self, best: Option<&Touch>, triangle: &Triangle) -> Option<Touch> {
        let seen = |k: usize| triangle.corners.map(|corner| self.axes[k].dot(corner));
        self.meet_seen(best, seen(0), seen(1), || seen(2))
    }

    /// The same of a triangle whose corners are seen ahead at `x`, to the left at `y` and above at `z`.
    #[inline(always)]
    pub(super) fn meet_seen(
        &self,
        best: Option<&Touch>,
        x: [f32; 3],
        y: [f32; 3],
        z: impl FnOnce() -> [f32; 3],
    ) -> Option<Touch> {
        let side = |from: usize, to: usize| x[from] * y[to] - y[from] * x[to];
        let [of_a, of_b, of_c] = [side(1, 2), side(2, 0), side(0, 1)];
        let is_left = (of_a >= 0.0) & (of_b >= 0.0) & (of_c >= 0.0);
        let is_right = (of_a <= 0.0) & (of_b <= 0.0) & (of_c <= 0.0);
        let area = of_a + of_b + of_c;
        if !(is_left | is_right) || area == 0.0 {
            return None;
        }
        let z = z();
        // Of level ones exactly their height.
        let (b, c) = (of_b / area, of_c / area);
        let z = z[0] + b * (z[1] - z[0]) + c * (z[2] - z[0]);
        let is_higher = best.is_none_or(|best| z > best.bottom + SAME);
        let (point, shares) = (Vec3::new(0.0, 0.0, z), Some([1.0 - b - c, b, c]));
        (z <= 0.0 && is_higher).then_some(Touch { bottom: z, point, shares, ..Touch::default() })
    }
}
