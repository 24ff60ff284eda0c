//! Two hulls that both move: when they first touch within a step, by which normal, and at which points.

use parry3d::math::Pose;
use parry3d::query::ContactManifold;
use parry3d::shape::{Cuboid, PolygonalFeature, SupportMap};
use skidpad_core::{Quat, Vec3, math};

use crate::chassis::Chassis;
use crate::passing::{ADVANCES, Axes, TOUCHING, axes, farthest, gentlest};

/// By so much the faces of the second hull are wider when points are looked for, m: of faces that cover each other, as those of
/// equal cars do, rounding would leave some corners out.
const WIDER: f32 = 1e-4;

/// Two hulls around the centre of mass of the second one, in world axes. Velocities are counted from that of its centre, so it
/// only turns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    hulls: [Turning; 2],
    /// From the second centre of mass to the first, m.
    between: Vec3,
    /// Of the first centre of mass against the second, m/s.
    velocity: Vec3,
}

/// The hull of a chassis that turns.
#[derive(Clone, Copy, Debug)]
struct Turning {
    half_extents: Vec3,
    /// From the centre of mass to the middle of the hull, in its own axes, m.
    centre: Vec3,
    rotation: Quat,
    /// rad/s.
    angular: Vec3,
    /// From the centre of mass to the farthest point of the hull, m, or more.
    reach: f32,
}

/// A point at which two hulls meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    /// From each centre of mass when the point closes, world axes, m. Both tell one place then: what acts there on both changes
    /// no angular momentum.
    pub arms: [Vec3; 2],
    /// When it closes if nothing acts, as a share of the step; 1 if it does not.
    pub closes: f32,
    /// Distance of the surfaces when the step begins, m, negative when they overlap.
    pub gap: f32,
    /// Unit vector out of the second hull, world axes.
    pub normal: Vec3,
}

impl Turning {
    fn of(chassis: &Chassis, dt: f32) -> Self {
        Self {
            half_extents: chassis.hull.half_extents,
            centre: chassis.hull.centre,
            rotation: chassis.rotation,
            angular: chassis.middle_rate(dt),
            reach: chassis.hull_reach,
        }
    }

    /// Pose of its middle after `time` s around its centre of mass.
    fn pose(&self, time: f32) -> Pose {
        let rotation = math::turned(self.rotation, self.angular, time);
        Pose::from_parts(rotation * self.centre, rotation)
    }
}

impl Pair {
    /// The hulls of two chassis as they move in the coming `dt` s.
    pub fn new(first: &Chassis, second: &Chassis, dt: f32) -> Self {
        Self {
            hulls: [Turning::of(first, dt), Turning::of(second, dt)],
            between: (first.position - second.position).as_vec3(),
            velocity: first.motion()[0] - second.motion()[0],
        }
    }

    /// Poses of both middles after `time` s.
    fn poses(&self, time: f32) -> [Pose; 2] {
        let [mut first, second] = self.hulls.map(|hull| hull.pose(time));
        first.translation += self.between + self.velocity * time;
        [first, second]
    }

    /// Every direction that may part the hulls in `poses`, in the axes of the second.
    fn axes(&self, [first, second]: &[Pose; 2]) -> Axes {
        axes(self.hulls[1].half_extents, self.hulls[0].half_extents, &(second.inverse() * *first))
    }

    /// Least half extent of both, m.
    fn size(&self) -> f32 {
        self.hulls[0].half_extents.min_element().min(self.hulls[1].half_extents.min_element())
    }

    /// When the hulls first touch within `dt` s, and the normal by which they do, towards the first, in the axes of the second.
    ///
    /// Conservative advancement, as for what stands: no point comes nearer along an axis than the velocity and the reach of both
    /// turns bring it.
    fn touch(&self, dt: f32) -> Option<(f32, Vec3)> {
        let size = self.size();
        let (mut time, mut advances) = (0.0, 0);
        loop {
            let poses = self.poses(time);
            let axes = self.axes(&poses);
            let (farthest, turned) = (farthest(&axes), poses[1].rotation);
            if farthest.apart <= TOUCHING * size || advances == ADVANCES {
                return Some((time, gentlest(&axes, farthest, size, turned.inverse() * self.velocity)));
            }
            let normal = turned * farthest.normal;
            let sweeps = self.hulls.map(|hull| hull.reach * hull.angular.cross(normal).length());
            let closing = sweeps[0] + sweeps[1] - self.velocity.dot(normal);
            time += farthest.apart / closing;
            advances += 1;
            if !(closing > 0.0 && time < dt) {
                return None;
            }
        }
    }

    /// Whether they touch within `dt` s.
    #[cfg(test)]
    pub fn touches(&self, dt: f32) -> bool {
        self.touch(dt).is_some()
    }

    /// Calls `to` with every point at which the hulls meet when they first touch within `dt` s; never if they pass each other.
    pub fn meet(&self, dt: f32, manifold: &mut ContactManifold<(), ()>, mut to: impl FnMut(Meeting)) {
        let Some((time, normal)) = self.touch(dt) else { return };
        let [first, second] = self.poses(time);
        let apart = second.inverse() * first;
        let back = apart.rotation.inverse() * -normal;
        let moves = Cuboid::new(self.hulls[0].half_extents);
        let stands = Cuboid::new(self.hulls[1].half_extents + (Vec3::ONE - normal.abs()) * WIDER);
        let [face, other] = [stands.support_feature(normal), moves.support_feature(back)];
        // Left-over points would be taken for those of another pair.
        manifold.clear();
        PolygonalFeature::contacts(&apart, &apart.inverse(), normal, back, &face, &other, manifold, false);
        if manifold.points.is_empty() {
            // Features that miss each other: the corner that comes nearest stands for all.
            let corner = moves.local_support_point(back);
            let place = apart * corner;
            let apart = normal.dot(place - stands.local_support_point(normal));
            to(self.closed([first, second], [corner, place - normal * apart], second.rotation * normal, time, dt));
        }
        for point in &manifold.points {
            to(self.closed([first, second], [point.local_p2, point.local_p1], second.rotation * normal, time, dt));
        }
    }

    /// Where two points of the hulls, each from its middle in its own axes, meet along `normal`, which are in `poses` after `time` s.
    fn closed(&self, poses: [Pose; 2], points: [Vec3; 2], normal: Vec3, time: f32, dt: f32) -> Meeting {
        let places = [poses[0] * points[0], poses[1] * points[1]];
        let dist = (places[0] - places[1]).dot(normal);
        let before = self.poses(0.0);
        let gap = (before[0] * points[0] - before[1] * points[1]).dot(normal);
        let closes = if gap > 0.0 { (time + dist / self.closing(places, time, normal)).clamp(0.0, dt) } else { 0.0 };
        // Not a number where it moves along.
        let closes = if closes >= 0.0 { closes } else { dt };
        let poses = self.poses(closes);
        let place = 0.5 * (poses[0] * points[0] + poses[1] * points[1]);
        let arms = [place - (self.between + self.velocity * closes), place];
        Meeting { arms, gap, normal, closes: closes / dt }
    }

    /// Speed with which two points of the hulls approach each other along `normal` after `time` s, m/s.
    fn closing(&self, places: [Vec3; 2], time: f32, normal: Vec3) -> f32 {
        let first = self.hulls[0].angular.cross(places[0] - (self.between + self.velocity * time));
        let second = self.hulls[1].angular.cross(places[1]);
        -(self.velocity + first - second).dot(normal)
    }
}
