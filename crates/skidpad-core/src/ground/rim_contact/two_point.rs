//! Load sharing between two places on which a wheel can stand at the end of a step.
//!
//! The strut jounce is the larger of `c₁ + r₁ x` and `c₂ + r₂ x` for a displacement x ahead and slopes r; the slope of the
//! flatter place is almost zero. If the steeper place carries the share s of the strut force F, the wheel stands as on a slope
//! `u = s (r₂ − r₁)`. This slope pushes the chassis back by `G F u`. The tyre force T pushes it ahead by `G T √(1 + u²)`, because
//! T acts along that slope on a wheel that only its strut supports. G is the displacement of the chassis along the road per force
//! within dt. With the displacement x without both forces, the places have equal jounce at the end of the step if
//! `G F u − G T √(1 + u²) = x + (c₂ − c₁) / (r₂ − r₁)`, a quadratic equation in u. The share is clamped to [0, 1].
//!
//! Without load sharing, a driven wheel at a kerb alternates between road and edge, and pushes against neither long enough to
//! climb. Without T, a wheel on an edge stands too high where the edge is flatter, more so in long steps, and climbs edges on
//! which it has no grip.

use crate::ground::rim_contact::{
    CircleContact, ContactGeometry, CutTriangles, HEIGHT_TOLERANCE_M, ProbeGeometry, RestResult, SmoothSurface,
    Triangle, section,
};
use bevy_math::Vec3;
use core::borrow::Borrow;

impl ProbeGeometry {
    /// Returns the height difference up to which the wheel can stand at both of two contacts with these slopes, `load_displacement · (difference of
    /// slopes)²`, m.
    fn shared_height_range(&self, slopes: [f32; 2]) -> f32 {
        let apart = slopes[1] - slopes[0];
        self.load_displacement * apart * apart
    }

    /// Returns true if the wheel can stand at both of two contacts at the end of the step: their height difference is within
    /// [`Self::shared_height_range`] by more than the height tolerance.
    pub(super) fn can_share_load(&self, one: &CircleContact, other: &CircleContact) -> bool {
        (one.bottom - other.bottom).abs() + HEIGHT_TOLERANCE_M < self.shared_height_range([one.slope, other.slope])
    }

    /// Returns the contact besides the `highest` one that carries most load, and its share of the load (0 to 1). `None` if the highest contact
    /// carries all. Contacts above the climb height do not count.
    ///
    /// Candidates are the contacts on which the wheel would stand at the end of the step, after the displacement due to free motion and tyre force,
    /// or after that displacement less the push-back of the full load on the highest contact. Of equally high ones the nearest to the middle of the
    /// tread is taken. The end of a face that continues in the same plane is never a candidate.
    #[inline(never)]
    pub(super) fn second_contact(
        &self,
        near: impl CutTriangles,
        highest: &CircleContact,
    ) -> Option<(CircleContact, f32)> {
        let driven = self.free_displacement + self.drive_displacement;
        // Displacements ahead without and with the push-back of the load, m.
        let ways = [driven, driven - self.load_displacement * highest.slope];
        // For each displacement: height of the wheel (m) and its contact, `None` for the highest contact.
        let mut next = ways.map(|way| (self.height_after(highest, way) + HEIGHT_TOLERANCE_M, None));
        let climbs = self.climb_height(highest.bottom);
        for (i, corners) in near {
            let corners = corners.borrow();
            for plane in &self.planes[..self.plane_count] {
                let rest =
                    section(corners, plane.left, plane.radius).map(|segment| self.rest_on(&segment, plane, climbs));
                let Some(RestResult::Contact { x, z, edge }) = rest else { continue };
                let touch = self.new_contact(plane, [x, z], edge, i);
                for (way, (height, next)) in ways.into_iter().zip(&mut next) {
                    let found = self.height_after(&touch, way);
                    let nearer = |next: &CircleContact| touch.point.y.abs() < next.point.y.abs();
                    let is_next = found > *height + HEIGHT_TOLERANCE_M
                        || (found > *height - HEIGHT_TOLERANCE_M && next.as_ref().is_some_and(nearer));
                    if is_next {
                        (*height, *next) = (found, Some(touch));
                    }
                }
            }
        }
        let shares = next.into_iter().filter_map(|(_, next)| next.map(|next| (next, self.load_share(&next, highest))));
        shares.filter(|(_, share)| *share > 0.0).reduce(|one, other| if other.1 > one.1 { other } else { one })
    }

    /// Returns the height of the lowest point of the wheel at `touch` after rolling `way` (m) ahead, m. The wheel rolls up a face, and around an end.
    /// Negative infinity beyond the end.
    fn height_after(&self, touch: &CircleContact, way: f32) -> f32 {
        if touch.edge.is_none() {
            return touch.bottom + touch.slope * way;
        }
        let ahead = touch.point.x - way;
        let squared = touch.radius * touch.radius - ahead * ahead;
        if squared > 0.0 { touch.point.z + squared.sqrt() - self.radius } else { f32::NEG_INFINITY }
    }

    /// Returns the share of the load, 0 to 1, that `other` carries when the wheel stands on it and on `highest`: the effective slope of the module's
    /// equation over the difference of both slopes, clamped. 0 for contacts of equal slope.
    fn load_share(&self, other: &CircleContact, highest: &CircleContact) -> f32 {
        let steeper = other.slope.abs() > highest.slope.abs();
        let (flat, steep) = if steeper { (highest, other) } else { (other, highest) };
        // Height difference up to which both contacts carry load, m.
        let slack = self.shared_height_range([flat.slope, steep.slope]);
        // Places of equal height and slope are one place, up to rounding.
        if slack <= 2.0 * HEIGHT_TOLERANCE_M {
            return 0.0;
        }
        // A fast wheel moves along a circle within the step, not along its tangent. Its displacement is therefore limited to what the load could push
        // back. `apart` is the difference of the slopes, –.
        let apart = steep.slope - flat.slope;
        let way = (self.free_displacement * apart).clamp(-slack, slack);
        let undriven = (steep.bottom - flat.bottom + way) / slack;
        let share = (self.balance_slope(undriven * apart) / apart).clamp(0.0, 1.0);
        if steeper { share } else { 1.0 - share }
    }

    /// Returns the slope u that solves `u − T/F √(1 + u²) = undriven`, the effective slope of a wheel between two places, with tyre force T and strut
    /// force F. `undriven` is the slope without tyre force. Infinite, with the sign of T, if the tyre force is at least the strut force.
    fn balance_slope(&self, undriven: f32) -> f32 {
        // Tyre force over strut force.
        let pull = self.drive_displacement / self.load_displacement;
        let rest = 1.0 - pull * pull;
        // No slope balances such a tyre force.
        if rest <= 0.0 {
            return pull * f32::INFINITY;
        }
        (undriven + pull * (rest + undriven * undriven).sqrt()) / rest
    }

    /// Returns the single standing position with the same effect on the chassis as both (each with its share of the load): distance, grip and
    /// `points` are weighted means; the normal is that of the weighted mean slope.
    pub(super) fn combine_contacts(
        &self,
        [one, other]: [(ContactGeometry, f32); 2],
        points: [Vec3; 2],
    ) -> ContactGeometry {
        let up = self.axes[2];
        let of = |(stand, share): &(ContactGeometry, f32)| stand.normal * (share / stand.normal.dot(up));
        let mix = |a: f32, b: f32| a * one.1 + b * other.1;
        ContactGeometry {
            distance: mix(one.0.distance, other.0.distance),
            normal: (of(&one) + of(&other)).normalize_or(up),
            grip: mix(one.0.grip, other.0.grip),
            point: Some(points[0] * one.1 + points[1] * other.1),
        }
    }

    /// Returns the standing position at `touch` on `triangle`, with the normal of [`Self::normal_at`] and without a contact point.
    #[inline(always)]
    pub(super) fn contact_geometry(
        &self,
        touch: &CircleContact,
        triangle: &Triangle,
        smooth: &impl Fn(&Triangle) -> Option<SmoothSurface>,
    ) -> ContactGeometry {
        let normal = self.normal_at(touch, triangle, smooth(triangle));
        ContactGeometry { distance: -touch.bottom, normal, grip: triangle.grip, point: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Probe;
    use bevy_math::DVec3;

    /// Builds a probe whose tyre force is `pull` times the strut force.
    fn driven_by(pull: f32) -> ProbeGeometry {
        let ray =
            Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: 1.0, rim: None };
        ProbeGeometry { load_displacement: 1e-3, drive_displacement: 1e-3 * pull, ..ProbeGeometry::new(&ray) }
    }

    /// If nothing else moves the wheel, it stands where sin θ is the ratio of tyre force to strut force; otherwise both sides balance.
    #[test]
    fn the_slope_that_a_driven_wheel_stands_on_balances_its_force() {
        for (pull, slope) in [(0.0, 0.0), (0.6, 0.75), (-0.8, -4.0 / 3.0)] {
            let found = driven_by(pull).balance_slope(0.0);
            assert!((found - slope).abs() < 1e-6, "{pull}: {found}");
        }
        for (pull, undriven) in [(0.3, 0.2), (0.3, -0.5), (-0.5, 1.0), (0.9, -2.0)] {
            let slope = driven_by(pull).balance_slope(undriven);
            let left = slope - pull * (1.0 + slope * slope).sqrt();
            assert!((left - undriven).abs() < 1e-5, "{pull}, {undriven}: {left}");
        }
    }

    /// Checks that the slope is infinite, with the sign of the force, if the tyre force is at least the strut force.
    #[test]
    fn no_slope_holds_a_force_as_large_as_the_struts() {
        assert_eq!(
            [1.0, 1.5, -1.0].map(|pull| driven_by(pull).balance_slope(0.1)),
            [1.0, 1.0, -1.0].map(|sign| sign * f32::INFINITY)
        );
    }
}
