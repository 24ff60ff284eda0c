//! Intersection of a ray with triangles: the highest hit.
//!
//! Seen along the ray, a triangle is hit if the ray lies on the same side of all three edges (Woop, Benthin and Wald, "Watertight
//! Ray/Triangle Intersection", 2013). Adjacent triangles compute opposite numbers for their shared edge, and 0 counts as both
//! sides, so that no ray passes between them.

use crate::ground::rim_contact::{CircleContact, HEIGHT_TOLERANCE_M, ProbeGeometry, Triangle};
use bevy_math::Vec3;

impl ProbeGeometry {
    /// Returns the highest contact of the ray with the `triangles` at or below its start, with the index of the triangle; `None` without a hit.
    /// The first of several hits within the height tolerance is kept.
    pub(super) fn highest_hit(&self, triangles: &[Triangle]) -> Option<CircleContact> {
        let mut best = None;
        for (i, triangle) in triangles.iter().enumerate() {
            if let Some(contact) = self.hit_above(best.as_ref(), triangle) {
                best = Some(CircleContact { triangle: i as u32, ..contact });
            }
        }
        best
    }

    /// Returns the contact of the ray with `triangle` at or below its start if it is higher than `best` by more than the height tolerance; otherwise
    /// `None`. The index of the triangle is not set.
    #[inline(always)]
    pub(super) fn hit_above(&self, best: Option<&CircleContact>, triangle: &Triangle) -> Option<CircleContact> {
        let coordinates = |axis: usize| triangle.corners.map(|corner| self.axes[axis].dot(corner));
        self.hit_in_probe_axes(best, coordinates(0), coordinates(1), || coordinates(2))
    }

    /// Returns the contact of [`Self::hit_above`] for a triangle whose corners have the probe coordinates `x`, `y` and `z` (m). The ray is the z
    /// axis. It hits if all three edge functions have one sign or are 0; a triangle without area as seen along the ray is never hit. The height is
    /// interpolated with barycentric coordinates.
    #[inline(always)]
    pub(super) fn hit_in_probe_axes(
        &self,
        best: Option<&CircleContact>,
        x: [f32; 3],
        y: [f32; 3],
        z: impl FnOnce() -> [f32; 3],
    ) -> Option<CircleContact> {
        // Edge function: twice the area of the triangle of an edge and the ray.
        let edge_function = |from: usize, to: usize| x[from] * y[to] - y[from] * x[to];
        let [area_a, area_b, area_c] = [edge_function(1, 2), edge_function(2, 0), edge_function(0, 1)];
        let is_left = (area_a >= 0.0) & (area_b >= 0.0) & (area_c >= 0.0);
        let is_right = (area_a <= 0.0) & (area_b <= 0.0) & (area_c <= 0.0);
        let area = area_a + area_b + area_c;
        if !(is_left | is_right) || area == 0.0 {
            return None;
        }
        let z = z();
        // This form is exact for level triangles.
        let (b, c) = (area_b / area, area_c / area);
        let z = z[0] + b * (z[1] - z[0]) + c * (z[2] - z[0]);
        let is_higher = best.is_none_or(|best| z > best.bottom + HEIGHT_TOLERANCE_M);
        let (point, barycentric) = (Vec3::new(0.0, 0.0, z), Some([1.0 - b - c, b, c]));
        (z <= 0.0 && is_higher).then_some(CircleContact { bottom: z, point, barycentric, ..CircleContact::default() })
    }
}
