//! Walls: obstacles that are too steep to stand on and too high to climb stop a wheel without lifting it.

use crate::ground::rim_contact::{
    CutTriangles, MAX_CLIMB_RATIO, ProbeGeometry, Segment, Triangle, WheelPlane, face_normal, section,
};
use crate::port::{Contact, HullPoint, Probe, Rim};
use bevy_math::Vec3;
use core::borrow::Borrow;

impl ProbeGeometry {
    /// Returns the point of the rim at which the triangle `corners` (probe axes, m) blocks the circle of `plane`, with
    /// the lowest point of the wheel at height `bottom` (m). The point is at the height of the wall nearest to the
    /// wheel centre. The gap is the distance from the circle along the horizontal normal, from the position at the
    /// start of the step; negative inside the rim. `None` if the section is no wall (less than 80° steep), can be
    /// climbed, is above or below the circle, is almost parallel to the wheel, or lies farther inside the rim than half
    /// a radius.
    fn circle_wall_contact(&self, corners: &[Vec3; 3], plane: &WheelPlane, bottom: f32) -> Option<WallContact> {
        let climb_height = self.climb_height(bottom);
        // At any distance ahead or behind; the lookahead is checked by the caller.
        let wall = section(corners, plane.lateral_offset, f32::INFINITY).filter(Segment::is_wall)?;
        // Height of the contact: that of the wheel centre, or of the nearest end of the wall.
        let [wall_bottom, wall_top] = [wall.z[0].min(wall.z[1]), wall.z[0].max(wall.z[1])];
        let centre = bottom + self.radius;
        let z = centre.clamp(wall_bottom, wall_top);
        // Half chord of the circle at that height, m; NaN above or below the circle.
        let half_chord = (plane.radius * plane.radius - (z - centre) * (z - centre)).sqrt();
        let face = face_normal(corners, Vec3::Z);
        let horizontal_length = (face.x * face.x + face.y * face.y).sqrt(); // of the face normal, –
        // A wall parallel to the wheel touches its side, not its rim.
        if wall_top <= climb_height || half_chord.is_nan() || face.x.abs() < MIN_WALL_ANGLE_SINE * horizontal_length {
            return None;
        }
        let height_fraction = if wall_top > wall_bottom { (z - wall.z[0]) / (wall.z[1] - wall.z[0]) } else { 0.0 };
        // Position at the start of the step, at which hull points are evaluated.
        let x = wall.x[0] + (wall.x[1] - wall.x[0]) * height_fraction + self.start_displacement;
        // The normal points from the wall to the wheel: backwards at a wall ahead. The sign of `face` is that of its
        // upper side.
        let normal_sign = -x.signum();
        let normal = Vec3::new(face.x, face.y, 0.0) * (normal_sign * face.x.signum() / horizontal_length);
        // Longitudinal distance from the circle to the wall, projected on the normal.
        let gap = (x.abs() - half_chord) * normal.x.abs();
        (gap > -0.5 * self.radius).then_some(WallContact {
            gap,
            normal,
            point: Vec3::new(-normal_sign * half_chord, plane.lateral_offset, z),
        })
    }
}

impl ProbeGeometry {
    /// Returns the height up to which a wheel climbs, m: [`MAX_CLIMB_RATIO`] of its radius above its lowest point at
    /// height `bottom` (m).
    pub(super) fn climb_height(&self, bottom: f32) -> f32 {
        bottom + MAX_CLIMB_RATIO * self.radius
    }

    /// Returns true if some corner of the `triangles` is higher than the wheel of `rim` can climb, or NaN. The wheel
    /// climbs from its `support`, or from its height before the step without one.
    #[inline(always)]
    pub(super) fn has_high_triangle(
        &self,
        rim: &Rim,
        mut triangles: impl CutTriangles,
        support: Option<&Contact>,
    ) -> bool {
        let climb_height = self.climb_height(wheel_bottom(rim, support));
        triangles.any(|(_, corners)| is_high(corners.borrow(), climb_height))
    }

    /// Returns the index of the triangle and the nearest point at which a wall among the `triangles` stops the rim of
    /// `probe`, within [`Rim::lookahead`]; see [`wall_contact`]. Triangles without a corner above the climb height are
    /// skipped; the first of equally near walls is kept. The point has position and normal in world axes, no friction
    /// and no velocity. `None` for a ray, or without such a wall.
    pub(super) fn nearest_wall_contact(
        &self,
        probe: &Probe,
        triangles: impl CutTriangles,
        support: Option<&Contact>,
    ) -> Option<(usize, HullPoint)> {
        let rim = probe.rim?;
        let bottom = wheel_bottom(&rim, support);
        let climb_height = self.climb_height(bottom);
        let mut nearest: Option<(usize, WallContact)> = None;
        for (i, corners) in triangles {
            let corners = corners.borrow();
            if !is_high(corners, climb_height) {
                continue;
            }
            for plane in &self.planes[..self.plane_count] {
                let Some(contact) = self.circle_wall_contact(corners, plane, bottom) else { continue };
                if contact.gap <= rim.lookahead && nearest.as_ref().is_none_or(|(_, rival)| contact.gap < rival.gap) {
                    nearest = Some((i, contact));
                }
            }
        }
        let (triangle, WallContact { gap, normal, point }) = nearest?;
        let arm = probe.offset + self.to_world(point);
        let normal = self.to_world(normal);
        Some((triangle, HullPoint { arm, gap, normal, friction: 0.0, velocity: Vec3::ZERO }))
    }
}

/// Returns the height of the lowest point of the wheel of `rim`, m: on its `support`, or as before the step without
/// one.
fn wheel_bottom(rim: &Rim, support: Option<&Contact>) -> f32 {
    support.map_or(-rim.last_ray_length, |contact| -contact.distance)
}

/// Returns true if some corner of a triangle is higher than `climb_height` (m), or NaN.
fn is_high(corners: &[Vec3; 3], climb_height: f32) -> bool {
    !(corners[0].z <= climb_height && corners[1].z <= climb_height && corners[2].z <= climb_height)
}

/// Point of a rim that would roll into a wall, in probe axes.
struct WallContact {
    /// Distance between rim and wall, m, negative if they overlap.
    gap: f32,
    /// Horizontal unit normal out of the wall.
    normal: Vec3,
    /// Position of the point, m.
    point: Vec3,
}

/// Smallest sine of the angle between wall and heading at which the rim hits the wall.
const MIN_WALL_ANGLE_SINE: f32 = 0.1;

/// Returns the index of the wall triangle and the point at which the nearest wall among the `triangles` stops the rim
/// of `probe`.
///
/// A wall is steeper than 80° and higher than the wheel, which stands on `support` (or at its height before the step
/// without one), can climb. The wall pushes horizontally, without friction, and never lifts the wheel. The wall is
/// assumed to be at rest. The gap counts from the start of the step. `None` for a ray, or if no wall is within
/// [`Rim::lookahead`].
pub fn wall_contact(probe: &Probe, triangles: &[Triangle], support: Option<&Contact>) -> Option<(usize, HullPoint)> {
    let geometry = ProbeGeometry::new(probe);
    geometry.nearest_wall_contact(probe, geometry.cut_triangles(triangles), support)
}
