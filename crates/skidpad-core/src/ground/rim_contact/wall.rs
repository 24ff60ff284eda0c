//! Walls: obstacles that are too steep to stand on and too high to climb stop a wheel without lifting it.

use crate::ground::rim_contact::{
    CutTriangles, MAX_CLIMB_RATIO, ProbeGeometry, Segment, Triangle, WheelPlane, face_normal, section,
};
use crate::port::{Contact, HullPoint, Probe, Rim};
use bevy_math::Vec3;
use core::borrow::Borrow;

impl ProbeGeometry {
    /// Returns the point of the rim at which the triangle `corners` blocks the circle of `plane`, with the lowest point of the wheel at height
    /// `bottom` (m). It is at the height of the wall nearest to the wheel centre. The gap counts along the horizontal normal, from the position at
    /// the start of the step. `None` if the section is no wall (less than 80° steep), can be climbed, is out of the circle's height, is almost
    /// parallel to the wheel or lies farther inside the rim than half a radius.
    fn circle_wall_contact(&self, corners: &[Vec3; 3], plane: &WheelPlane, bottom: f32) -> Option<WallContact> {
        let climb_height = self.climb_height(bottom);
        let wall = section(corners, plane.lateral_offset, f32::INFINITY).filter(Segment::is_wall)?;
        let [wall_bottom, wall_top] = [wall.z[0].min(wall.z[1]), wall.z[0].max(wall.z[1])];
        let centre = bottom + self.radius;
        let z = centre.clamp(wall_bottom, wall_top);
        // Half chord of the circle at that height, m; NaN above or below the circle.
        let half_chord = (plane.radius * plane.radius - (z - centre) * (z - centre)).sqrt();
        let normal = face_normal(corners, Vec3::Z);
        let horizontal_length = (normal.x * normal.x + normal.y * normal.y).sqrt();
        // A wall parallel to the wheel touches its side, not its rim.
        if wall_top <= climb_height || half_chord.is_nan() || normal.x.abs() < MIN_WALL_ANGLE_SINE * horizontal_length {
            return None;
        }
        let height_fraction = if wall_top > wall_bottom { (z - wall.z[0]) / (wall.z[1] - wall.z[0]) } else { 0.0 };
        // Position at the start of the step, at which hull points are evaluated.
        let x = wall.x[0] + (wall.x[1] - wall.x[0]) * height_fraction + self.start_displacement;
        let normal_sign = -x.signum();
        let normal = Vec3::new(normal.x, normal.y, 0.0) * (normal_sign * normal.x.signum() / horizontal_length);
        let gap = (x.abs() - half_chord) * normal.x.abs();
        (gap > -0.5 * self.radius).then_some(WallContact {
            gap,
            normal,
            point: Vec3::new(-normal_sign * half_chord, plane.lateral_offset, z),
        })
    }
}

impl ProbeGeometry {
    /// Returns the height up to which a wheel climbs, m: [`MAX_CLIMB_RATIO`] of its radius above its lowest point at height `bottom` (m).
    pub(super) fn climb_height(&self, bottom: f32) -> f32 {
        bottom + MAX_CLIMB_RATIO * self.radius
    }

    /// Returns true if some corner of the `triangles` is higher than the wheel of `rim` can climb from its `support`.
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

    /// Returns the index of the triangle and the nearest point at which a wall among the `triangles` stops the rim of `probe`, within
    /// [`Rim::lookahead`]: see [`wall_contact`]. The point has position and normal in world axes, no friction and no velocity.
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
                if contact.gap <= rim.lookahead && nearest.as_ref().is_none_or(|(_, nearest)| contact.gap < nearest.gap)
                {
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

/// Returns the height of the lowest point of the wheel of `rim`, m: on its `support`, or as before the step without one.
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

/// Returns the index of the wall triangle and the point at which the nearest wall among the `triangles` stops the rim of `probe`.
///
/// A wall is too steep to be ground and higher than the wheel, which stands on `support`, can climb. It pushes horizontally, without friction, and
/// never lifts the wheel. The wall is assumed to be at rest. `None` for a ray, or if no wall is within [`Rim::lookahead`].
pub fn wall_contact(probe: &Probe, triangles: &[Triangle], support: Option<&Contact>) -> Option<(usize, HullPoint)> {
    let geometry = ProbeGeometry::new(probe);
    geometry.nearest_wall_contact(probe, geometry.cut_triangles(triangles), support)
}
