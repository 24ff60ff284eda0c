//! Load sharing between two places on which a wheel can stand at the end of a step.
//!
//! The strut jounce is the larger of `c₁ + r₁ x` and `c₂ + r₂ x` for a displacement x ahead and slopes r; the slope of
//! the flatter place is almost zero. If the steeper place carries the share s of the strut force F, the wheel stands as
//! on a slope `u = s (r₂ − r₁)`. This slope pushes the chassis back by `G F u`. The tyre force T pushes it ahead by
//! `G T √(1 + u²)`, because T acts along that slope on a wheel that only its strut supports. G is the displacement of
//! the chassis along the road per force within dt. If the displacement is x without both forces, the places have equal
//! jounce at the end of the step if `G F u − G T √(1 + u²) = x + (c₂ − c₁) / (r₂ − r₁)`, a quadratic equation in u. The
//! share is clamped to [0, 1].
//!
//! A driven wheel at a kerb without load sharing alternates between road and edge, and pushes against neither long
//! enough to climb. Without T, a wheel on an edge stands too high where the edge is flatter, more so in long steps, and
//! climbs edges on which it has no grip.

use crate::ground::rim_contact::{
    CircleContact, ContactGeometry, CutTriangles, HEIGHT_TOLERANCE_M, ProbeGeometry, RestResult, SmoothSurface,
    Triangle, section,
};
use bevy_math::Vec3;
use core::borrow::Borrow;

impl ProbeGeometry {
    /// Returns the height difference up to which the wheel can stand at both of two contacts with these slopes,
    /// `load_displacement · (difference of slopes)²`, m.
    fn shared_height_range(&self, slopes: [f32; 2]) -> f32 {
        let slope_difference = slopes[1] - slopes[0];
        self.load_displacement * slope_difference * slope_difference
    }

    /// Returns true if the wheel can stand at both of two contacts at the end of the step: their height difference is
    /// within [`Self::shared_height_range`] by more than the height tolerance.
    pub(super) fn can_share_load(&self, first: &CircleContact, second: &CircleContact) -> bool {
        (first.bottom - second.bottom).abs() + HEIGHT_TOLERANCE_M
            < self.shared_height_range([first.slope, second.slope])
    }

    /// Returns the contact besides the `highest` one that carries most load, and its share of the load (above 0, up to
    /// 1). `None` if the highest contact carries all. Contacts above the climb height from the highest one do not
    /// count.
    ///
    /// There are up to two candidates, one per displacement ahead: that of free motion and tyre force, and that less
    /// the push-back of the full load on the highest contact. A candidate is the contact on which the wheel would stand
    /// after the displacement ([`Self::height_after`]), if it is higher than the highest contact would be by more than
    /// twice the height tolerance. Among equally high candidates the nearest to the middle of the tread is taken. The
    /// end of a face that continues in the same plane is never a candidate. The candidate with the larger
    /// [`Self::load_share`] is returned.
    #[inline(never)]
    pub(super) fn second_contact(
        &self,
        triangles: impl CutTriangles,
        highest: &CircleContact,
    ) -> Option<(CircleContact, f32)> {
        let unloaded_displacement = self.free_displacement + self.drive_displacement;
        // Displacements ahead without and with the push-back of the load, m.
        let displacements = [unloaded_displacement, unloaded_displacement - self.load_displacement * highest.slope];
        // For each displacement: height of the wheel (m) and its contact, `None` for the highest contact. The tolerance
        // keeps out the highest contact itself, which is among the triangles, and ends of faces in its plane.
        let mut candidates =
            displacements.map(|displacement| (self.height_after(highest, displacement) + HEIGHT_TOLERANCE_M, None));
        let climb_height = self.climb_height(highest.bottom);
        for (i, corners) in triangles {
            let corners = corners.borrow();
            for plane in &self.planes[..self.plane_count] {
                let rest_result = section(corners, plane.lateral_offset, plane.radius)
                    .map(|segment| self.rest_on(&segment, plane, climb_height));
                let Some(RestResult::Contact { x, z, edge }) = rest_result else { continue };
                let contact = self.new_contact(plane, [x, z], edge, i);
                for (displacement, (height, candidate)) in displacements.into_iter().zip(&mut candidates) {
                    let end_height = self.height_after(&contact, displacement);
                    let is_nearer_to_middle = |rival: &CircleContact| contact.point.y.abs() < rival.point.y.abs();
                    let is_better = end_height > *height + HEIGHT_TOLERANCE_M
                        || (end_height > *height - HEIGHT_TOLERANCE_M
                            && candidate.as_ref().is_some_and(is_nearer_to_middle));
                    if is_better {
                        (*height, *candidate) = (end_height, Some(contact));
                    }
                }
            }
        }
        let shares = candidates
            .into_iter()
            .filter_map(|(_, candidate)| candidate.map(|contact| (contact, self.load_share(&contact, highest))));
        // Largest share, `.1`; the first of equal ones.
        shares.filter(|(_, share)| *share > 0.0).reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Returns the height of the lowest point of the wheel at `contact` after rolling `displacement` (m) ahead, m. From
    /// a tangent contact (no edge) the wheel rolls along the face at its slope, however long. At an end its circle
    /// moves around the fixed contact point. Negative infinity if the circle no longer reaches that point.
    fn height_after(&self, contact: &CircleContact, displacement: f32) -> f32 {
        if contact.edge.is_none() {
            return contact.bottom + contact.slope * displacement;
        }
        let x = contact.point.x - displacement; // of the end, from the wheel centre after the displacement, m
        let rise_squared = contact.radius * contact.radius - x * x;
        if rise_squared > 0.0 { contact.point.z + rise_squared.sqrt() - self.radius } else { f32::NEG_INFINITY }
    }

    /// Returns the share of the load, 0 to 1, that `other` carries when the wheel stands on it and on `highest`. The
    /// share of the steeper contact is the slope u of the module's equation over the difference of both slopes, clamped
    /// to 0 to 1; the flatter contact carries the rest. Returns 0 for contacts of equal slope, and without a load
    /// displacement.
    fn load_share(&self, other: &CircleContact, highest: &CircleContact) -> f32 {
        let is_other_steeper = other.slope.abs() > highest.slope.abs();
        let (flatter, steeper) = if is_other_steeper { (highest, other) } else { (other, highest) };
        // Height difference up to which both contacts carry load, m.
        let height_range = self.shared_height_range([flatter.slope, steeper.slope]);
        // Places of equal height and slope are one place, up to rounding.
        if height_range <= 2.0 * HEIGHT_TOLERANCE_M {
            return 0.0;
        }
        // Change of the height difference by the free motion, m. A fast wheel moves along a circle within the step, not
        // along its tangent. The displacement is therefore limited to what the load could push back.
        let slope_difference = steeper.slope - flatter.slope;
        let height_change = (self.free_displacement * slope_difference).clamp(-height_range, height_range);
        // Share of the steeper contact without tyre force.
        let undriven_share = (steeper.bottom - flatter.bottom + height_change) / height_range;
        let share = (self.balance_slope(undriven_share * slope_difference) / slope_difference).clamp(0.0, 1.0);
        if is_other_steeper { share } else { 1.0 - share }
    }

    /// Returns the slope u that solves `u − T/F √(1 + u²) = undriven_slope`, the effective slope of a wheel between two
    /// places, with tyre force T and strut force F. `undriven_slope` is the slope without tyre force. Infinite, with
    /// the sign of T, if the tyre force is at least the strut force.
    fn balance_slope(&self, undriven_slope: f32) -> f32 {
        // Tyre force over strut force.
        let force_ratio = self.drive_displacement / self.load_displacement;
        let denominator = 1.0 - force_ratio * force_ratio;
        // No slope balances such a tyre force.
        if denominator <= 0.0 {
            return force_ratio * f32::INFINITY;
        }
        (undriven_slope + force_ratio * (denominator + undriven_slope * undriven_slope).sqrt()) / denominator
    }

    /// Returns the single standing position with the same effect on the chassis as both, which are given with their
    /// shares of the load. Distance, grip and `points` (m) are means weighted by the shares. The normal is that of the
    /// weighted mean slope; up if the means cancel.
    pub(super) fn combine_contacts(
        &self,
        [(first, first_share), (second, second_share)]: [(ContactGeometry, f32); 2],
        points: [Vec3; 2],
    ) -> ContactGeometry {
        let up = self.axes[2];
        // Normals are scaled to the height 1, so that their mean has the mean slope.
        let weighted_normal =
            |geometry: &ContactGeometry, share: f32| geometry.normal * (share / geometry.normal.dot(up));
        let weighted_mean = |a: f32, b: f32| a * first_share + b * second_share;
        ContactGeometry {
            distance: weighted_mean(first.distance, second.distance),
            normal: (weighted_normal(&first, first_share) + weighted_normal(&second, second_share)).normalize_or(up),
            grip: weighted_mean(first.grip, second.grip),
            point: Some(points[0] * first_share + points[1] * second_share),
        }
    }

    /// Returns the standing position at `contact` on `triangle`, with the normal of [`Self::normal_at`] and without a
    /// contact point.
    #[inline(always)]
    pub(super) fn contact_geometry(
        &self,
        contact: &CircleContact,
        triangle: &Triangle,
        smooth: &impl Fn(&Triangle) -> Option<SmoothSurface>,
    ) -> ContactGeometry {
        let normal = self.normal_at(contact, triangle, smooth(triangle));
        ContactGeometry { distance: -contact.bottom, normal, grip: triangle.grip, point: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Probe;
    use bevy_math::DVec3;

    /// Builds a probe whose tyre force is `force_ratio` times the strut force.
    fn probe_with_force_ratio(force_ratio: f32) -> ProbeGeometry {
        let ray =
            Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: 1.0, rim: None };
        ProbeGeometry { load_displacement: 1e-3, drive_displacement: 1e-3 * force_ratio, ..ProbeGeometry::new(&ray) }
    }

    /// Checks closed forms of the slope if nothing else moves the wheel: its sine is the ratio of tyre force to strut
    /// force. For other slopes without tyre force, checks that inserting the result in the equation returns that slope.
    #[test]
    fn the_slope_that_a_driven_wheel_stands_on_balances_its_force() {
        for (force_ratio, slope) in [(0.0, 0.0), (0.6, 0.75), (-0.8, -4.0 / 3.0)] {
            let found = probe_with_force_ratio(force_ratio).balance_slope(0.0);
            assert!((found - slope).abs() < 1e-6, "{force_ratio}: {found}");
        }
        for (force_ratio, undriven_slope) in [(0.3, 0.2), (0.3, -0.5), (-0.5, 1.0), (0.9, -2.0)] {
            let slope = probe_with_force_ratio(force_ratio).balance_slope(undriven_slope);
            let undriven_found = slope - force_ratio * (1.0 + slope * slope).sqrt();
            assert!(
                (undriven_found - undriven_slope).abs() < 1e-5,
                "{force_ratio}, {undriven_slope}: {undriven_found}"
            );
        }
    }

    /// Checks that the slope is infinite, with the sign of the force, if the tyre force is at least the strut force.
    #[test]
    fn no_slope_holds_a_force_as_large_as_the_struts() {
        assert_eq!(
            [1.0, 1.5, -1.0].map(|force_ratio| probe_with_force_ratio(force_ratio).balance_slope(0.1)),
            [1.0, 1.0, -1.0].map(|sign| sign * f32::INFINITY)
        );
    }
}
