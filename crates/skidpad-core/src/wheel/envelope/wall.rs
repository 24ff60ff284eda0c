//! Walls: what a wheel neither stands on nor climbs stops it, without lifting it.

use crate::wheel::envelope::{CLIMBS, Cuts, Plane, Seeker, Segment, Triangle, cut, face_normal};
use crate::world::seam::{Contact, HullPoint, Probe, Rim};
use bevy_math::Vec3;
use core::borrow::Borrow;

impl Seeker {
    /// What keeps the circle of `plane`, the wheel's lowest point at `bottom`, from rolling through the triangle `corners`, as a point
    /// of the rim.
    fn wall(&self, corners: &[Vec3; 3], plane: &Plane, bottom: f32) -> Option<Stop> {
        let climbs = self.climbs(bottom);
        let wall = cut(corners, plane.left, f32::INFINITY).filter(Segment::is_wall)?;
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
        // As seen from the start of the step: hulls are stopped from there.
        let x = wall.x[0] + (wall.x[1] - wall.x[0]) * share + self.came;
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

    /// Whether any of `near` is higher than the wheel of `rim` climbs.
    #[inline(always)]
    pub(super) fn meets_high(&self, rim: &Rim, mut near: impl Cuts, support: Option<&Contact>) -> bool {
        let climbs = self.climbs(bottom(rim, support));
        near.any(|(_, corners)| is_high(corners.borrow(), climbs))
    }

    /// What stops the rim of `probe` among those of `near`, and on which of them: see [`stop`].
    pub(super) fn stop(&self, probe: &Probe, near: impl Cuts, support: Option<&Contact>) -> Option<(usize, HullPoint)> {
        let rim = probe.rim?;
        let bottom = bottom(&rim, support);
        let climbs = self.climbs(bottom);
        let mut nearest: Option<(usize, Stop)> = None;
        for (i, corners) in near {
            let corners = corners.borrow();
            if !is_high(corners, climbs) {
                continue;
            }
            for plane in &self.planes[..self.used] {
                let Some(stop) = self.wall(corners, plane, bottom) else { continue };
                if stop.gap <= rim.ahead && nearest.as_ref().is_none_or(|(_, nearest)| stop.gap < nearest.gap) {
                    nearest = Some((i, stop));
                }
            }
        }
        let (triangle, Stop { gap, normal, point }) = nearest?;
        let arm = probe.offset + self.to_world(point);
        let normal = self.to_world(normal);
        Some((triangle, HullPoint { arm, gap, normal, friction: 0.0, velocity: Vec3::ZERO }))
    }
}

/// Height of the lowest point of the wheel of `rim`, which stands as `support` tells.
fn bottom(rim: &Rim, support: Option<&Contact>) -> f32 {
    support.map_or(-rim.stood, |contact| -contact.distance)
}

/// Whether a corner of a triangle is higher than `climbs`.
fn is_high(corners: &[Vec3; 3], climbs: f32) -> bool {
    !(corners[0].z <= climbs && corners[1].z <= climbs && corners[2].z <= climbs)
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
    let seeker = Seeker::of(probe);
    seeker.stop(probe, seeker.cut_of(near), support)
}
