//! Pair of moving hulls: the time of first contact within a step, the contact normal and the contact points.

use parry3d::math::Pose;
use parry3d::query::ContactManifold;
use parry3d::shape::{Cuboid, PolygonalFeature, SupportMap};
use skidpad_core::{Quat, Vec3, math};

use crate::chassis::Chassis;
use crate::swept_contact::{
    MAX_ADVANCES, SeparatingAxes, TOUCH_DISTANCE_RATIO, contact_normal, max_separation_axis, separating_axes,
};

/// Enlargement of the faces of the second hull in the search for contact points, m. Without it, rounding would leave
/// out corners of faces that cover each other exactly, as with equal cars.
const FACE_ENLARGEMENT_M: f32 = 1e-4;

/// Pair of hulls relative to the centre of mass of the second one, in world axes. Velocities are relative to that
/// centre, so that the second hull only rotates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// Both hulls with their rotations.
    hulls: [RotatingHull; 2],
    /// Vector from the second centre of mass to the first, m.
    centre_offset: Vec3,
    /// Velocity of the first centre of mass relative to the second, m/s.
    velocity: Vec3,
}

/// Hull of a rotating chassis.
#[derive(Clone, Copy, Debug)]
struct RotatingHull {
    /// Half extents of the box, in its own axes, m.
    half_extents: Vec3,
    /// Vector from the centre of mass to the middle of the hull, in body axes, m.
    centre: Vec3,
    /// Rotation from body axes to world axes at the start of the step.
    rotation: Quat,
    /// Angular velocity, rad/s.
    angular_velocity: Vec3,
    /// Upper bound of the distance from the centre of mass to any point of the hull, m.
    hull_radius: f32,
}

/// Contact point of two hulls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HullContact {
    /// Vectors from each centre of mass to the point at the time of contact, world axes, m. Both lead to the same place
    /// then, so that equal and opposite impulses conserve angular momentum.
    pub arms: [Vec3; 2],
    /// Time of contact without impulses, as a share of the step; 1 if the gap does not close.
    pub closing_fraction: f32,
    /// Distance of the surfaces at the start of the step, m; negative if they overlap.
    pub gap: f32,
    /// Unit vector out of the second hull, world axes.
    pub normal: Vec3,
}

impl RotatingHull {
    /// Creates the hull of `chassis` with its present rotation, and with the angular velocity in the middle of the
    /// coming `dt` s ([`Chassis::midpoint_rate`]), with which the rotation over that time is exact to second order.
    fn new(chassis: &Chassis, dt: f32) -> Self {
        Self {
            half_extents: chassis.hull.half_extents,
            centre: chassis.hull.centre,
            rotation: chassis.rotation,
            angular_velocity: chassis.midpoint_rate(dt),
            hull_radius: chassis.hull_radius,
        }
    }

    /// Returns the pose of the middle of the hull after `time` s, relative to the centre of mass.
    fn pose(&self, time: f32) -> Pose {
        let rotation = math::integrate_rotation(self.rotation, self.angular_velocity, time);
        Pose::from_parts(rotation * self.centre, rotation)
    }
}

impl Pair {
    /// Creates the pair of two chassis with their motion over the coming `dt` s: velocities of the poses and midpoint
    /// rates, both taken as constant.
    pub fn new(first: &Chassis, second: &Chassis, dt: f32) -> Self {
        Self {
            hulls: [RotatingHull::new(first, dt), RotatingHull::new(second, dt)],
            centre_offset: (first.position - second.position).as_vec3(),
            velocity: first.pose_motion()[0] - second.pose_motion()[0],
        }
    }

    /// Returns the poses of the middles of both hulls after `time` s, relative to the second centre of mass, world
    /// axes, m.
    fn poses(&self, time: f32) -> [Pose; 2] {
        let [mut first, second] = self.hulls.map(|hull| hull.pose(time));
        first.translation += self.centre_offset + self.velocity * time;
        [first, second]
    }

    /// Computes all candidate separating axes of the hulls in `poses`, in the axes of the second.
    fn separating_axes(&self, [first, second]: &[Pose; 2]) -> SeparatingAxes {
        separating_axes(self.hulls[1].half_extents, self.hulls[0].half_extents, &(second.inverse() * *first))
    }

    /// Returns the smallest half extent of both hulls, m.
    fn min_half_extent(&self) -> f32 {
        self.hulls[0].half_extents.min_element().min(self.hulls[1].half_extents.min_element())
    }

    /// Returns the time (s) at which the hulls first touch within `dt` s, and the contact normal towards the first
    /// hull, in the axes of the second. Hulls closer than [`TOUCH_DISTANCE_RATIO`] times the smallest half extent
    /// touch. Hulls that overlap at the start touch at time 0. Hulls that are still apart after [`MAX_ADVANCES`]
    /// advances count as touching. Returns `None` if they do not touch.
    ///
    /// Uses conservative advancement, as for a fixed box: no point approaches along an axis faster than the velocity
    /// and the sweep of both rotations allow.
    fn first_contact(&self, dt: f32) -> Option<(f32, Vec3)> {
        let min_half_extent = self.min_half_extent();
        let (mut time, mut advance_count) = (0.0, 0);
        loop {
            let poses = self.poses(time);
            let axes = self.separating_axes(&poses);
            let (farthest_axis, second_rotation) = (max_separation_axis(&axes), poses[1].rotation);
            if farthest_axis.separation <= TOUCH_DISTANCE_RATIO * min_half_extent || advance_count == MAX_ADVANCES {
                return Some((
                    time,
                    contact_normal(&axes, farthest_axis, min_half_extent, second_rotation.inverse() * self.velocity),
                ));
            }
            // Axis of the largest distance, towards the first hull, world axes.
            let normal = second_rotation * farthest_axis.normal;
            // Largest speed of any point of each hull along the axis by rotation, m/s.
            let sweep_speeds = self.hulls.map(|hull| hull.hull_radius * hull.angular_velocity.cross(normal).length());
            // Upper bound of the approach speed along the axis, m/s.
            let closing_speed = sweep_speeds[0] + sweep_speeds[1] - self.velocity.dot(normal);
            time += farthest_axis.separation / closing_speed;
            advance_count += 1;
            // The negation also ends the search for NaN.
            if !(closing_speed > 0.0 && time < dt) {
                return None;
            }
        }
    }

    /// Returns whether the hulls touch within `dt` s.
    #[cfg(test)]
    pub fn touches(&self, dt: f32) -> bool {
        self.first_contact(dt).is_some()
    }

    /// Calls `visit` with every contact point of the hulls when they first touch within `dt` s: the points where the
    /// two facing faces, edges or corners overlap, or the corner of the first hull nearest to the second if there is
    /// none. Does not call `visit` if the hulls pass each other. See [`Pair::contact_at`] for gap, arms and time of
    /// each point. `manifold` is a buffer and is overwritten.
    pub fn find_contacts(&self, dt: f32, manifold: &mut ContactManifold<(), ()>, mut visit: impl FnMut(HullContact)) {
        // Normal towards the first hull, in the axes of the second.
        let Some((time, normal)) = self.first_contact(dt) else { return };
        let [first, second] = self.poses(time);
        // Pose of the first hull relative to the second.
        let relative_pose = second.inverse() * first;
        // Direction towards the second hull, in the axes of the first.
        let towards_second = relative_pose.rotation.inverse() * -normal;
        // The faces of the second hull are enlarged tangentially, so that rounding does not leave out corners of faces
        // that cover each other exactly.
        let first_box = Cuboid::new(self.hulls[0].half_extents);
        let second_box = Cuboid::new(self.hulls[1].half_extents + (Vec3::ONE - normal.abs()) * FACE_ENLARGEMENT_M);
        let [second_face, first_face] = [second_box.support_feature(normal), first_box.support_feature(towards_second)];
        // Remaining points would be matched with the features of another pair.
        manifold.clear();
        // The first hull is the second shape here. `false`: the shapes are not swapped.
        PolygonalFeature::contacts(
            &relative_pose,
            &relative_pose.inverse(),
            normal,
            towards_second,
            &second_face,
            &first_face,
            manifold,
            false,
        );
        if manifold.points.is_empty() {
            // If the features miss each other, the nearest corner is the only contact point.
            let corner = first_box.local_support_point(towards_second);
            let corner_point = relative_pose * corner;
            // Distance of the corner from the face of the second hull, m.
            let distance = normal.dot(corner_point - second_box.local_support_point(normal));
            visit(self.contact_at(
                [first, second],
                [corner, corner_point - normal * distance],
                second.rotation * normal,
                time,
                dt,
            ));
        }
        for manifold_point in &manifold.points {
            visit(self.contact_at(
                [first, second],
                [manifold_point.local_p2, manifold_point.local_p1],
                second.rotation * normal,
                time,
                dt,
            ));
        }
    }

    /// Computes the contact of two points of the hulls along `normal` (world axes) in a step of `dt` s. Each point is
    /// given from the middle of its hull, in its own axes, m. `poses` are the poses of both middles after `time` s. The
    /// gap is that of the points at the start of the step. The time of contact is 0 for a gap of at most 0. Otherwise
    /// it is extrapolated from `time`: plus the distance of the points at `time`, divided by their approach speed, and
    /// clamped to [0, `dt`]. A NaN (neither distance nor speed) counts as `dt`. Both arms lead to the middle between
    /// the points at the time of contact.
    fn contact_at(&self, poses: [Pose; 2], points: [Vec3; 2], normal: Vec3, time: f32, dt: f32) -> HullContact {
        let contact_points = [poses[0] * points[0], poses[1] * points[1]];
        // Distance of the points at `time`, m.
        let distance = (contact_points[0] - contact_points[1]).dot(normal);
        let start_poses = self.poses(0.0);
        let gap = (start_poses[0] * points[0] - start_poses[1] * points[1]).dot(normal);
        // Time of contact, s.
        let closing_time = if gap > 0.0 {
            (time + distance / self.closing_speed(contact_points, time, normal)).clamp(0.0, dt)
        } else {
            0.0
        };
        // The value is NaN if the points have neither distance nor approach speed.
        let closing_time = if closing_time >= 0.0 { closing_time } else { dt };
        let poses = self.poses(closing_time);
        let midpoint = 0.5 * (poses[0] * points[0] + poses[1] * points[1]);
        // The origin is the second centre of mass; the first one has moved relative to it.
        let arms = [midpoint - (self.centre_offset + self.velocity * closing_time), midpoint];
        HullContact { arms, gap, normal, closing_fraction: closing_time / dt }
    }

    /// Returns the speed at which the `contact_points` (m, from the second centre of mass at the start) of the two
    /// hulls approach each other along `normal` after `time` s, m/s; negative if they separate.
    fn closing_speed(&self, contact_points: [Vec3; 2], time: f32, normal: Vec3) -> f32 {
        // Velocities of the points by rotation about their centres of mass, m/s.
        let first_rotation_velocity =
            self.hulls[0].angular_velocity.cross(contact_points[0] - (self.centre_offset + self.velocity * time));
        let second_rotation_velocity = self.hulls[1].angular_velocity.cross(contact_points[1]);
        // `normal` leads towards the first hull.
        -(self.velocity + first_rotation_velocity - second_rotation_velocity).dot(normal)
    }
}
