//! Two places at which a wheel may stand at the end of a step: which share of its strut's load each of them carries.
//!
//! The strut's jounce is the larger of what the two ask, `c₁ + r₁ x` and `c₂ + r₂ x`, for a way x ahead and slopes r; of the flatter
//! one it is next to none. If the steeper place carries the share s of the force F along the strut, the wheel stands as on a slope
//! `u = s (r₂ − r₁)`. That pushes the chassis back by `G F u`, and the tyre's force T pushes it ahead by `G T √(1 + u²)`, as it acts along
//! that slope and on a wheel which only its strut holds; G is what dt² of a force does to the chassis along the road. With the way x
//! without both, the places ask the same jounce at the end of the step for
//! `G F u − G T √(1 + u²) = x + (c₂ − c₁) / (r₂ − r₁)`, a quadratic equation in u; the share is held to 0 to 1. Without the shares, a driven
//! wheel that comes to a kerb goes to and fro between road and edge, and pushes against neither for long enough to climb. Without T, it
//! stands the higher on the edge the longer the step is, where that is flatter, and climbs what it cannot hold on to.

use crate::wheel::envelope::{Cuts, Rest, SAME, Seeker, Smooth, Stand, Touch, Triangle, cut};
use bevy_math::Vec3;
use core::borrow::Borrow;

impl Seeker {
    /// How much higher or lower the wheel may stand at the steeper one of two touches so that it may stand at both, m.
    fn slack(&self, slopes: [f32; 2]) -> f32 {
        let apart = slopes[1] - slopes[0];
        self.give * apart * apart
    }

    /// Whether the wheel may stand at both of two touches at the end of the step.
    pub(super) fn are_rivals(&self, one: &Touch, other: &Touch) -> bool {
        (one.bottom - other.bottom).abs() + SAME < self.slack([one.slope, other.slope])
    }

    /// Returns the touch that carries most beside the `highest` one, and its share of the load; `None` where the wheel stands on that alone.
    ///
    /// Candidates are the touches on which the wheel would stand at the end of the step: after the way that its tyre drives it, or after that from which the
    /// whole load on the highest one has pushed it back. Ends of faces that go on in the same plane are never among them.
    #[inline(never)]
    pub(super) fn beside(&self, near: impl Cuts, highest: &Touch) -> Option<(Touch, f32)> {
        let driven = self.moves + self.driven;
        let ways = [driven, driven - self.give * highest.slope];
        let mut next = ways.map(|way| (self.height_after(highest, way) + SAME, None));
        let climbs = self.climbs(highest.bottom);
        for (i, corners) in near {
            let corners = corners.borrow();
            for plane in &self.planes[..self.used] {
                let rest = cut(corners, plane.left, plane.radius).map(|segment| self.rest_on(&segment, plane, climbs));
                let Some(Rest::At { x, z, edge }) = rest else { continue };
                let touch = self.touch(plane, [x, z], edge, i);
                for (way, (height, next)) in ways.into_iter().zip(&mut next) {
                    let found = self.height_after(&touch, way);
                    let nearer = |next: &Touch| touch.point.y.abs() < next.point.y.abs();
                    let is_next =
                        found > *height + SAME || (found > *height - SAME && next.as_ref().is_some_and(nearer));
                    if is_next {
                        (*height, *next) = (found, Some(touch));
                    }
                }
            }
        }
        let shares = next.into_iter().filter_map(|(_, next)| next.map(|next| (next, self.share_of(&next, highest))));
        shares.filter(|(_, share)| *share > 0.0).reduce(|one, other| if other.1 > one.1 { other } else { one })
    }

    /// Returns the height of the lowest point of the wheel, m, that stands at `touch` after a `way` ahead, m: it rolls up a face, and round an end.
    fn height_after(&self, touch: &Touch, way: f32) -> f32 {
        if touch.edge.is_none() {
            return touch.bottom + touch.slope * way;
        }
        let ahead = touch.point.x - way;
        let squared = touch.radius * touch.radius - ahead * ahead;
        if squared > 0.0 { touch.point.z + squared.sqrt() - self.radius } else { f32::NEG_INFINITY }
    }

    /// Share of the load that `other` carries beside `highest`.
    fn share_of(&self, other: &Touch, highest: &Touch) -> f32 {
        let steeper = other.slope.abs() > highest.slope.abs();
        let (flat, steep) = if steeper { (highest, other) } else { (other, highest) };
        let slack = self.slack([flat.slope, steep.slope]);
        // Places as high and as steep as each other are one to rounding.
        if slack <= 2.0 * SAME {
            return 0.0;
        }
        // What a fast wheel meets within a step lies on a circle, not on its tangent: its way counts as far as the load could push it.
        let apart = steep.slope - flat.slope;
        let way = (self.moves * apart).clamp(-slack, slack);
        let undriven = (steep.bottom - flat.bottom + way) / slack;
        let share = (self.slope_stood_on(undriven * apart) / apart).clamp(0.0, 1.0);
        if steeper { share } else { 1.0 - share }
    }

    /// The slope which a wheel between two places stands on as on one, from that which it would without its tyre's force: u of the equation
    /// above.
    fn slope_stood_on(&self, undriven: f32) -> f32 {
        let pull = self.driven / self.give;
        let rest = 1.0 - pull * pull;
        // No slope pushes back as much.
        if rest <= 0.0 {
            return pull * f32::INFINITY;
        }
        (undriven + pull * (rest + undriven * undriven).sqrt()) / rest
    }

    /// The one place that does to the chassis what both do.
    pub(super) fn between(&self, [one, other]: [(Stand, f32); 2], points: [Vec3; 2]) -> Stand {
        let up = self.axes[2];
        let of = |(stand, share): &(Stand, f32)| stand.normal * (share / stand.normal.dot(up));
        let mix = |a: f32, b: f32| a * one.1 + b * other.1;
        Stand {
            distance: mix(one.0.distance, other.0.distance),
            normal: (of(&one) + of(&other)).normalize_or(up),
            grip: mix(one.0.grip, other.0.grip),
            point: Some(points[0] * one.1 + points[1] * other.1),
        }
    }

    /// Where it stands at `touch`, which is on `triangle`.
    #[inline(always)]
    pub(super) fn at(
        &self,
        touch: &Touch,
        triangle: &Triangle,
        smooth: &impl Fn(&Triangle) -> Option<Smooth>,
    ) -> Stand {
        let normal = self.normal_at(touch, triangle, smooth(triangle));
        Stand { distance: -touch.bottom, normal, grip: triangle.grip, point: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::seam::Probe;
    use bevy_math::DVec3;

    fn driven_by(pull: f32) -> Seeker {
        let ray =
            Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, reach: 1.0, rim: None };
        Seeker { give: 1e-3, driven: 1e-3 * pull, ..Seeker::of(&ray) }
    }

    /// A wheel that nothing else moves stands where sin θ is its tyre's force over its strut's; one that is moved, where both balance.
    #[test]
    fn the_slope_that_a_driven_wheel_stands_on_balances_its_force() {
        for (pull, slope) in [(0.0, 0.0), (0.6, 0.75), (-0.8, -4.0 / 3.0)] {
            let found = driven_by(pull).slope_stood_on(0.0);
            assert!((found - slope).abs() < 1e-6, "{pull}: {found}");
        }
        for (pull, undriven) in [(0.3, 0.2), (0.3, -0.5), (-0.5, 1.0), (0.9, -2.0)] {
            let slope = driven_by(pull).slope_stood_on(undriven);
            let left = slope - pull * (1.0 + slope * slope).sqrt();
            assert!((left - undriven).abs() < 1e-5, "{pull}, {undriven}: {left}");
        }
    }

    #[test]
    fn no_slope_holds_a_force_as_large_as_the_struts() {
        assert_eq!(
            [1.0, 1.5, -1.0].map(|pull| driven_by(pull).slope_stood_on(0.1)),
            [1.0, 1.0, -1.0].map(|sign| sign * f32::INFINITY)
        );
    }
}
