//! Walls: what a wheel neither stands on nor climbs stops it, without lifting it.

use crate::wheel::envelope::{CLIMBS, Plane, Seeker, Segment, Triangle, cut, face_normal};
use crate::world::seam::{Contact, HullPoint, Probe};
use bevy_math::Vec3;

impl Seeker {
    /// What keeps the circle of `plane`, the wheel's lowest point at `bottom`, from rolling through the triangle `corners`, as a point
    /// of the rim.
    fn wall(&self, corners: &[Vec3; 3], plane: &Plane, bottom: f32) -> Option<Stop> {
        let climbs = self.climbs(bottom);
        let wall = cut(corners, plane.left).filter(Segment::is_wall)?;
        let [low, high] = [wall.z[0].min(wall.z[1]), wall.z[0].max(wall.z[1])];
        let centre = bottom + self.radius;
        let z = centre.clamp(low, high);
        let half = (plane.radius * plane.radius - (z - centre) * (z - centre)).sqrt();
        let normal = face_normal(corners, Vec3::Z);
        let level = (normal.x * normal.x + normal.y * normal.y).sqrt();
        // What lies along the wheel touches its side, not its rim.
        if high <= climbs || half.is_nan() || normal.x.abs() < ALONG * level {
            return None;
        }
        let share = if high > low { (z - wall.z[0]) / (wall.z[1] - wall.z[0]) } else { 0.0 };
        let x = wall.x[0] + (wall.x[1] - wall.x[0]) * share;
        let back = -x.signum();
        let normal = Vec3::new(normal.x, normal.y, 0.0) * (back * normal.x.signum() / level);
        let gap = (x.abs() - half) * normal.x.abs();
        (gap > -0.5 * self.radius).then_some(Stop { gap, normal, point: Vec3::new(-back * half, plane.left, z) })
    }
}

impl Seeker {
    /// Height up to which a wheel climbs whose lowest point is at `bottom`.
    pub(super) fn climbs(&self, bottom: f32) -> f32 {
        bottom + CLIMBS * self.radius
    }

    /// Whether a triangle is nowhere higher than `climbs`.
    #[inline(always)]
    fn is_low(&self, triangle: &Triangle, climbs: f32) -> bool {
        triangle.corners.iter().all(|corner| self.axes[2].dot(*corner) <= climbs)
    }
}

/// A point of a rim that would roll into a wall.
struct Stop {
    gap: f32,
    normal: Vec3,
    point: Vec3,
}

/// Sine between a wall and the heading below which the rim does not meet it.
const ALONG: f32 = 0.1;

/// What stops the rim of `probe`, which stands as `support` tells, among the triangles `near` it: the nearest wall that is too steep to be
/// ground and higher than the wheel climbs. It pushes along the road, without friction, and never lifts. Says on which triangle; that it
/// stands still is taken for granted.
pub fn stop(probe: &Probe, near: &[Triangle], support: Option<&Contact>) -> Option<(usize, HullPoint)> {
    let rim = probe.rim?;
    let seeker = Seeker::of(probe);
    let bottom = support.map_or(-rim.stood, |contact| -contact.distance);
    let climbs = seeker.climbs(bottom);
    let mut nearest: Option<(usize, Stop)> = None;
    for (i, triangle) in near.iter().enumerate() {
        if seeker.is_low(triangle, climbs) {
            continue;
        }
        let Some(corners) = seeker.crossing(triangle) else { continue };
        for plane in &seeker.planes[..seeker.used] {
            let Some(stop) = seeker.wall(&corners, plane, bottom) else { continue };
            if stop.gap <= rim.ahead && nearest.as_ref().is_none_or(|(_, nearest)| stop.gap < nearest.gap) {
                nearest = Some((i, stop));
            }
        }
    }
    let (triangle, Stop { gap, normal, point }) = nearest?;
    let arm = probe.offset + seeker.to_world(point);
    let normal = seeker.to_world(normal);
    Some((triangle, HullPoint { arm, gap, normal, friction: 0.0, velocity: Vec3::ZERO }))
}
