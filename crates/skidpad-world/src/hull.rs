//! Contact of the chassis box with the ground: a rolled car lies on its roof, and walls stop cars.

use parry3d::query::ContactManifold;
use parry3d::shape::{Cuboid, PolygonalFeature};
use skidpad_core::contact_solver::{
    ContactImpulse, FrictionMethod, relative_velocity, response_matrix, solve_contacts, solve_under_wheels,
};
use skidpad_core::simd::vectors::{Mat3Lanes, Vec3Lanes};
use skidpad_core::{DVec3, HullPoint, MAX_HULL_POINTS, Vec3};

use crate::chassis::Chassis;
use crate::ground::{Block, Ground};
use crate::motion::HullLanes;
use crate::swept_contact::SweptBox;
use crate::triangle_contacts::{SearchLimits, TriangleContacts};

/// Maximum number of passes over the contact points. Passes that end too early leave a rotation, and friction that
/// opposes it: after eight passes, a beam evenly across the road throws a car sideways with 0.15 of its speed.
pub(crate) const MAX_IMPULSE_PASSES: usize = 64;

/// Change of velocity by one point below which the passes end, m/s.
pub(crate) const VELOCITY_TOLERANCE_MPS: f32 = 1e-6;

/// Gap at the end of the step above which a point is ignored, m. Forces within the step can change the gap by about
/// this much.
pub(crate) const MAX_CONTACT_GAP_M: f32 = 0.03;

/// Contacts of hulls with the ground, and the buffers for finding them.
#[derive(Clone)]
pub struct GroundContacts {
    /// Buffer of the narrow phase between the hull and one box.
    manifold: ContactManifold<(), ()>,
    /// Buffers of the narrow phase between the hull and triangles.
    triangle_contacts: TriangleContacts,
    /// Contact points found last.
    points: Vec<HullPoint>,
    /// Impulses on `points`, in the same order.
    impulses: Vec<ContactImpulse>,
}

/// Approach speed above which a contact is an impact, m/s. Slower contacts come to rest in the next step.
pub(crate) const IMPACT_SPEED_MPS: f32 = 0.5;

/// Share of the closing speed of a gap above which a contact counts as closed. The share is below 1 because solves are
/// inexact in the last digits.
pub(crate) const CLOSED_GAP_RATIO: f32 = 0.99;

/// Cosine of the largest angle between the vertical and the normal of a face that supports a body.
const MIN_SUPPORT_COSINE: f32 = 0.5;

impl core::fmt::Debug for GroundContacts {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("GroundContacts").finish_non_exhaustive()
    }
}

/// Number of triangles of terrain near a hull for which memory is reserved.
const RESERVED_TRIANGLES: usize = 512;

/// Margin for rounding in the search for points that close their gap, m.
pub(crate) const CLOSING_MARGIN_M: f32 = 1e-3;

/// Number of corners of a hull, and maximum number of contact points between two boxes.
const HULL_CORNERS: usize = 8;

/// Cosine of the angle between two normals below which their points lie on different surfaces.
const SAME_SURFACE_COSINE: f32 = 0.99;

/// Returns true if `candidate` is the farthest point in the direction of some corner of the hull, among the `points` on
/// the same surface (with nearly the same normal: cosine above [`SAME_SURFACE_COSINE`]). Among equally far points the
/// first one counts. `candidate` must be an element of `points`, because both are compared by address. The outermost
/// points spread a load evenly; the nearest points would not.
fn is_outermost<'a>(
    candidate: &HullPoint,
    points: impl Iterator<Item = &'a HullPoint> + Clone,
    chassis: &Chassis,
) -> bool {
    let surface_points = points.filter(|other| other.normal.dot(candidate.normal) > SAME_SURFACE_COSINE);
    (0..HULL_CORNERS).any(|i| {
        let corner_direction = chassis.axes * (corner(chassis, i) - chassis.hull.centre);
        let farthest = surface_points.clone().max_by(|a, b| {
            let [a, b] = [a, b].map(|point| point.arm.dot(corner_direction));
            // `Greater`: the first of equally far points is the maximum.
            a.total_cmp(&b).then(core::cmp::Ordering::Greater)
        });
        farthest.is_some_and(|farthest| core::ptr::eq(farthest, candidate))
    })
}

impl Default for GroundContacts {
    /// Creates contacts with room for a plane.
    fn default() -> Self {
        Self::with_capacity(HULL_CORNERS, 0)
    }
}

impl GroundContacts {
    /// Creates contacts with empty buffers and room for `max_points` points and impulses, for the points of one box,
    /// and for `max_triangles` triangles near a hull.
    fn with_capacity(max_points: usize, max_triangles: usize) -> Self {
        let mut manifold = ContactManifold::default();
        manifold.points.reserve(HULL_CORNERS);
        Self {
            manifold,
            triangle_contacts: TriangleContacts::with_capacity(max_triangles),
            points: Vec::with_capacity(max_points),
            impulses: Vec::with_capacity(max_points),
        }
    }

    /// Creates contacts with room for all points at which one hull can touch plane and boxes of `ground` and `bodies`
    /// free bodies, so that no step allocates. On terrain, there is room for `RESERVED_TRIANGLES` triangles near the
    /// hull and as many contact points; more let a step allocate.
    pub fn for_ground(ground: &Ground, bodies: usize) -> Self {
        let max_triangles = if ground.terrain.is_empty() { 0 } else { RESERVED_TRIANGLES };
        Self::with_capacity(HULL_CORNERS * (1 + ground.blocks.len() + bodies) + max_triangles, max_triangles)
    }

    /// Changes the twist of `chassis` by sequential impulses with friction, so that its hull does not enter `ground`
    /// within the coming `dt` s. Finds the contact points, solves them, and ends impacts. Moves no pose. A hull that
    /// hits the ground within the step ends it without approach speed; its pose moves with [`Chassis::pose_motion`].
    /// `rim_contacts` are contact points of its rims, each with the index of the car; they are solved together with the
    /// hull. Without contact points the twist does not change. Replaces the stored points and impulses.
    pub fn separate_from_ground(
        &mut self,
        chassis: &mut Chassis,
        ground: &Ground,
        rim_contacts: &[(usize, HullPoint)],
        dt: f32,
    ) {
        self.find_closing_contacts(chassis, ground, rim_contacts, dt);
        self.solve_found_contacts(chassis, dt);
    }

    /// Keeps `chassis` out of `ground` and of the `blocks` that support it over `dt` s, as
    /// [`GroundContacts::separate_from_ground`] does, without rims. Finds all contact points first and solves them
    /// together. Points on `blocks` whose normal is more than 60° off the vertical (sides and undersides) are
    /// discarded; points on `ground` have no such limit. Blocks may move.
    pub(crate) fn separate_from_ground_and_blocks(
        &mut self,
        chassis: &mut Chassis,
        ground: &Ground,
        blocks: impl Iterator<Item = Block>,
        dt: f32,
    ) {
        // No rim contacts; `0.0`: gravity is already part of the velocity.
        self.find_contacts(chassis, ground, &[], 0.0, dt);
        let motion = [chassis.pose_motion()[0], chassis.midpoint_rate(dt)];
        for block in blocks {
            // Number of points found before this block, and number of points checked by `retain`.
            let (old_point_count, mut checked_count) = (self.points.len(), 0);
            self.find_block_contacts(chassis, &block, relative_motion(&block, chassis.position, motion), dt);
            self.points.retain(|point| {
                checked_count += 1;
                checked_count <= old_point_count || point.normal.z > MIN_SUPPORT_COSINE
            });
        }
        self.solve_found_contacts(chassis, dt);
    }

    /// Solves the contact points found last for `chassis`, over `dt` s, starting from zero impulses, and then ends
    /// impacts. A hull without points only has its impulses cleared.
    fn solve_found_contacts(&mut self, chassis: &mut Chassis, dt: f32) {
        self.impulses.clear();
        if self.points.is_empty() {
            return;
        }
        self.impulses.extend(self.points.iter().map(|point| ContactImpulse::zero(point, dt)));
        self.solve_points(chassis);
        self.stop_impacts(chassis, dt);
    }

    /// Ends impacts: each contact point that closes within the step a gap of more than [`IMPACT_SPEED_MPS`] times `dt`
    /// gets an allowed speed of zero, and all points are solved again. The motion of the pose is then restored: the
    /// pose still moves until the gap closes. An impact thus takes one step: a car that kept the speed which closes the
    /// gap would turn or slide away before the next step stops the rest.
    fn stop_impacts(&mut self, chassis: &mut Chassis, dt: f32) {
        let mut has_impact = false;
        for (point, impulse) in self.points.iter().zip(&mut self.impulses) {
            // Speeds along the normal are negative while the gap closes.
            let closes_gap =
                relative_velocity(chassis, point).dot(point.normal) <= CLOSED_GAP_RATIO * impulse.min_normal_speed;
            if point.gap > IMPACT_SPEED_MPS * dt && closes_gap {
                (impulse.min_normal_speed, has_impact) = (0.0, true);
            }
        }
        if has_impact {
            let pose_motion = chassis.pose_motion();
            self.solve_points(chassis);
            chassis.set_pose_motion(pose_motion);
        }
    }

    /// Solves all contact points found last. A free body under wheels uses [`solve_under_wheels`], any other hull
    /// sequential impulses with friction along the slip. Changes the twist of `chassis` and `impulses`, which are also
    /// the start values.
    fn solve_points(&mut self, chassis: &mut Chassis) {
        if chassis.is_wheel_loaded {
            solve_under_wheels(chassis, &self.points, &mut self.impulses);
        } else {
            solve_contacts(chassis, &self.points, &mut self.impulses, FrictionMethod::AlongSlip, MAX_IMPULSE_PASSES);
        }
    }

    /// Finds the points at which the hull of `chassis` may touch `ground` within the coming `dt` s, if its speed rises
    /// by at most `speed_gain` m/s. Replaces the points found before. Starts with the points of `rim_contacts`, then
    /// checks the plane, then boxes and platforms whose bounding spheres are in reach, then the terrain. Unless the
    /// ground is nothing but a plane, all points (those of plane and rims included) whose gap at the end of the step
    /// would be [`MAX_CONTACT_GAP_M`] or more are removed last.
    pub(crate) fn find_contacts(
        &mut self,
        chassis: &Chassis,
        ground: &Ground,
        rim_contacts: &[(usize, HullPoint)],
        speed_gain: f32,
        dt: f32,
    ) {
        let motion = hull_motion(chassis, speed_gain, dt);
        self.find_contacts_without_terrain(chassis, ground, rim_contacts, motion, speed_gain, dt);
        self.find_terrain_contacts(chassis, ground, motion, speed_gain, dt, MAX_CONTACT_GAP_M);
    }

    /// Finds the points of [`GroundContacts::find_contacts`] without those of the terrain, before any is removed.
    /// `motion` is that of [`hull_motion`].
    fn find_contacts_without_terrain(
        &mut self,
        chassis: &Chassis,
        ground: &Ground,
        rim_contacts: &[(usize, HullPoint)],
        motion: [Vec3; 2],
        speed_gain: f32,
        dt: f32,
    ) {
        self.points.clear();
        self.points.extend(rim_contacts.iter().map(|(_, point)| *point));
        let hull = &chassis.hull;
        // Highest speed of any point of the hull by rotation and fall, m/s.
        let point_speed_bound = chassis.angular_velocity.length() * chassis.hull_radius + speed_gain;
        if ground.has_plane {
            // Up to the height by which any point can sink towards the plane in the step.
            self.find_plane_contacts(chassis, ground, dt * (point_speed_bound - chassis.velocity.dot(ground.normal)));
        }
        if ground.blocks.is_empty() {
            return;
        }
        // Farthest travel of any point of the hull in the step, m.
        let travel_bound = dt * (point_speed_bound + motion[0].length());
        // Bounding spheres of hull and block, enlarged by the travel of both.
        for block in &ground.blocks {
            let centre_offset = (chassis.position - block.centre).as_vec3() + chassis.axes * hull.centre;
            let max_distance = hull.half_extents.length()
                + block.radius
                + travel_bound
                + dt * block.velocity_at(chassis.position).length();
            if centre_offset.length_squared() <= max_distance * max_distance {
                self.find_block_contacts(chassis, block, relative_motion(block, chassis.position, motion), dt);
            }
        }
    }

    /// Adds the points of the terrain of [`GroundContacts::find_contacts`] that come closer than `max_gap` m. `motion`
    /// is that of [`hull_motion`]. Unless the ground is nothing but a plane, then removes all points whose gap at the
    /// end of the step would be `max_gap` or more.
    fn find_terrain_contacts(
        &mut self,
        chassis: &Chassis,
        ground: &Ground,
        motion: [Vec3; 2],
        speed_gain: f32,
        dt: f32,
        max_gap: f32,
    ) {
        if ground.is_plane_only() {
            return;
        }
        if !ground.terrain.is_empty() {
            let limits = SearchLimits { speed_gain, max_gap, region_gap: MAX_CONTACT_GAP_M };
            self.triangle_contacts.find_points(chassis, &ground.terrain, motion, dt, limits, &mut self.points);
        }
        // Keeps points whose gap at the end of the step, with the largest gain of speed, is small: the hull does not
        // move along or away from their surface.
        self.points.retain(|point| {
            point.gap + dt * (relative_velocity(chassis, point).dot(point.normal) - speed_gain) < max_gap
        });
    }

    /// Finds the points of [`GroundContacts::find_contacts`] for solving `chassis` alone, with velocities that include
    /// gravity. On terrain, a hull of which no point closes its gap within `dt` s gets no points: no impulse would act
    /// on them, and none would count as an impact. This spares most hulls the contact points of triangles below them.
    fn find_closing_contacts(
        &mut self,
        chassis: &Chassis,
        ground: &Ground,
        rim_contacts: &[(usize, HullPoint)],
        dt: f32,
    ) {
        // `0.0`: gravity is already part of the velocity.
        let motion = hull_motion(chassis, 0.0, dt);
        self.find_contacts_without_terrain(chassis, ground, rim_contacts, motion, 0.0, dt);
        if self.points.is_empty() && !ground.terrain.is_empty() {
            // Upper bound of the length of a vector, without a square root.
            let length_bound = |vector: Vec3| vector.abs().element_sum();
            // Largest speed of a point of the hull, m/s.
            let point_speed =
                |velocity: Vec3, rate: Vec3| length_bound(velocity) + length_bound(rate) * chassis.hull_radius;
            let ([velocity, rate], [end_velocity, end_rate]) = (motion, chassis.twist());
            // The search bounds the motion of the pose, but gaps close with the velocities at the end of the step.
            let speed_difference = point_speed(end_velocity - velocity, end_rate - rate);
            // An impact closes nearly the whole gap, see `stop_impacts`.
            let impact_share = 1.0 / CLOSED_GAP_RATIO - 1.0;
            let max_gap =
                CLOSING_MARGIN_M + dt * (speed_difference + impact_share * point_speed(end_velocity, end_rate));
            self.find_terrain_contacts(chassis, ground, motion, 0.0, dt, max_gap.min(MAX_CONTACT_GAP_M));
            if self.points.is_empty() {
                return;
            }
            self.points.clear();
        }
        self.find_terrain_contacts(chassis, ground, motion, 0.0, dt, MAX_CONTACT_GAP_M);
    }

    /// Returns the points that [`GroundContacts::find_contacts`] found last.
    pub(crate) fn found_points(&self) -> &[HullPoint] {
        &self.points
    }

    /// Returns the response of `chassis`, directly after [`GroundContacts::separate_from_ground`] or
    /// [`GroundContacts::separate_from_ground_and_blocks`], including its contacts: the changes of velocity (m/s) and
    /// angular velocity (rad/s) by a unit of each impulse component (N s), then of each angular impulse component (N m
    /// s).
    pub(crate) fn response_columns(&self, chassis: &Chassis) -> [[Vec3; 2]; 6] {
        response_matrix(chassis, &self.points, &self.impulses)
    }

    /// Adds the points found last with the smallest gaps to `points`, up to [`MAX_HULL_POINTS`] in total; beyond this
    /// number a nearer point replaces the one with the largest gap, also one that was in `points` before. If more than
    /// [`MAX_HULL_POINTS`] were found, only the outermost ones on each surface are candidates. Points with a gap above
    /// [`IMPACT_SPEED_MPS`] times `dt` are impacts and are left out: [`GroundContacts::separate_from_ground`] ends them
    /// in one step. The stored points do not change.
    pub(crate) fn add_nearest_points(&self, chassis: &Chassis, points: &mut Vec<HullPoint>, dt: f32) {
        // Points that are no impacts.
        let find_candidates = || self.points.iter().filter(|candidate| candidate.gap <= IMPACT_SPEED_MPS * dt);
        let are_too_many = find_candidates().count() > MAX_HULL_POINTS;
        for candidate in find_candidates() {
            if are_too_many && !is_outermost(candidate, find_candidates(), chassis) {
                continue;
            }
            if points.len() < MAX_HULL_POINTS {
                points.push(*candidate);
            } else if let Some(farthest) = points.iter_mut().max_by(|a, b| a.gap.total_cmp(&b.gap))
                && candidate.gap < farthest.gap
            {
                *farthest = *candidate;
            }
        }
    }

    /// Adds the corners of the hull whose height above the plane is at most `max_height` m, each with its height as
    /// gap, the normal of the plane, the product of hull friction and grip, and no velocity, because the plane is at
    /// rest. Adds nothing if the lowest point of the hull is higher.
    #[inline(always)]
    fn find_plane_contacts(&mut self, chassis: &Chassis, ground: &Ground, max_height: f32) {
        let normal = ground.normal;
        // Height of the centre of mass above the plane, m.
        let height = chassis.position.dot(normal.as_dvec3()) as f32;
        let hull = HullLanes::<f32>::new(chassis.hull, chassis.hull_radius);
        if hull.lowest_height(height, Vec3Lanes::splat(normal), &Mat3Lanes::from_mat3(&chassis.axes)) > max_height {
            return;
        }
        for i in 0..HULL_CORNERS {
            let arm = chassis.axes * corner(chassis, i);
            let gap = height + arm.dot(normal);
            if gap <= max_height {
                self.points.push(HullPoint {
                    arm,
                    gap,
                    normal,
                    friction: chassis.friction * ground.grip,
                    velocity: Vec3::ZERO,
                });
            }
        }
    }

    /// Adds the points of the hull that touch `block` when the two first touch within `dt` s. `motion` is the velocity
    /// (m/s) and the angular velocity (rad/s) relative to the block, world axes. The gap of each point is its distance
    /// at the start of the step along the contact normal. Friction is the product of hull friction and grip; the
    /// velocity of each point is that of the block there. Adds nothing if the two pass each other. Overwrites
    /// `manifold`.
    ///
    /// A face counts only at the pose where the hull first touches it. Seen from an earlier pose, the face of an object
    /// next to the path would lie across the path.
    fn find_block_contacts(&mut self, chassis: &Chassis, block: &Block, motion: [Vec3; 2], dt: f32) {
        let hull = Cuboid::new(chassis.hull.half_extents);
        let [velocity, angular_velocity] = motion.map(|vector| block.from_world * vector);
        let swept_box = SweptBox {
            fixed_half_extents: block.shape.half_extents,
            moving_half_extents: hull.half_extents,
            centre: chassis.hull.centre,
            position: block.from_world * (chassis.position - block.centre).as_vec3(),
            rotation: block.from_world * chassis.rotation,
            velocity,
            angular_velocity,
        };
        let Some((time, normal)) = swept_box.first_contact(dt) else { return };
        let pose = swept_box.pose(time);
        // Direction into the block, in the axes of the hull.
        let inward = pose.rotation.inverse() * -normal;
        let [block_face, hull_face] = [block.shape.support_feature(normal), hull.support_feature(inward)];
        // Remaining points would be matched with the features of the previous contact.
        self.manifold.clear();
        // The hull is the second shape: its points are `local_p2`. `false`: the shapes are not swapped.
        PolygonalFeature::contacts(
            &pose,
            &pose.inverse(),
            normal,
            inward,
            &block_face,
            &hull_face,
            &mut self.manifold,
            false,
        );
        let world_normal = block.to_world * normal;
        self.points.extend(self.manifold.points.iter().map(|manifold_point| {
            let arm = chassis.axes * (chassis.hull.centre + manifold_point.local_p2);
            HullPoint {
                arm,
                // Distance after `time` less the displacement along the normal: the gap at the start.
                gap: manifold_point.dist - swept_box.displacement(manifold_point.local_p2, &pose).dot(normal),
                normal: world_normal,
                friction: chassis.friction * block.grip,
                velocity: block.velocity_at(chassis.position + arm.as_dvec3()),
            }
        }));
    }
}

/// Returns the entries of `rim_contacts` (contact points of rims) that belong to the car with index `car`; an empty
/// slice if there are none. `rim_contacts` is sorted by car.
#[inline(always)]
pub(crate) fn rim_contacts_of(rim_contacts: &[(usize, HullPoint)], car: usize) -> &[(usize, HullPoint)] {
    if rim_contacts.is_empty() {
        return rim_contacts;
    }
    let first_index = rim_contacts.partition_point(|(owner, _)| *owner < car);
    let count = rim_contacts[first_index..].partition_point(|(owner, _)| *owner == car);
    &rim_contacts[first_index..first_index + count]
}

/// Returns the velocity (m/s) and the angular velocity (rad/s) with which the pose of `chassis` moves in a step of `dt`
/// s, world axes. The pose of a falling body moves with the mean of its velocities, so that half of `speed_gain` (m/s)
/// is added downwards.
fn hull_motion(chassis: &Chassis, speed_gain: f32, dt: f32) -> [Vec3; 2] {
    [chassis.pose_motion()[0] - Vec3::new(0.0, 0.0, 0.5 * speed_gain), chassis.midpoint_rate(dt)]
}

/// Returns the `motion` of a body relative to a block that may move and turn: velocity (m/s) of the centre of mass at
/// `position` (world, m) and angular velocity (rad/s), world axes. For a block at rest it is `motion` itself. Over one
/// step, the path relative to a turning block is taken as straight.
fn relative_motion(block: &Block, position: DVec3, [velocity, angular_velocity]: [Vec3; 2]) -> [Vec3; 2] {
    match block.motion {
        Some(motion) => [velocity - motion.velocity_at(position), angular_velocity - motion.angular_velocity],
        None => [velocity, angular_velocity],
    }
}

/// Returns corner `i` of the hull, 0 to 7, from the centre of mass, vehicle axes, m. Bits 0, 1 and 2 of `i` select the
/// positive side along x, y and z.
fn corner(chassis: &Chassis, i: usize) -> Vec3 {
    let sign = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
    chassis.hull.centre + chassis.hull.half_extents * Vec3::new(sign(0), sign(1), sign(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chassis_simd::advance;
    use crate::triangle_contacts::tests::{field_and_mesh, set_varied_motion};
    use skidpad_core::{FixedBox, Mat3, Quat, Scene, model::Hull};

    /// Returns a body of 1000 kg, 4 m long, 1.8 m wide and 1 m high, with the middle of its hull 0.1 m above its centre
    /// of mass.
    fn crate_of_a_tonne() -> Chassis {
        let hull = Hull { centre: Vec3::new(0.0, 0.0, 0.1), half_extents: Vec3::new(2.0, 0.9, 0.5) };
        Chassis::rigid(1000.0, Mat3::from_diagonal(Vec3::new(400.0, 1500.0, 1700.0)), hull)
    }

    /// Steps `chassis` for `seconds` s under gravity on `ground` at 120 Hz, without rims.
    fn run(chassis: &mut Chassis, ground: &Ground, seconds: f32) {
        let mut touching = GroundContacts::default();
        let dt = 1.0 / 120.0;
        for _ in 0..(seconds / dt) as usize {
            chassis.velocity.z -= 9.81 * dt;
            touching.separate_from_ground(chassis, ground, &[], dt);
            advance(core::slice::from_mut(chassis), dt);
        }
    }

    /// A pitched hull above a box that is turned about z falls on it and lies flat and at rest on its top after 3 s.
    #[test]
    fn a_hull_comes_to_rest_on_a_box() {
        let table = FixedBox::axis_aligned(DVec3::new(5.0, 0.0, 1.0), Vec3::new(8.0, 8.0, 2.0)).rotated(0.6, 0.0, 0.0);
        let ground = Ground::new(&Scene { boxes: vec![table], ..Scene::flat() });
        let mut chassis = crate_of_a_tonne();
        chassis.set_pose_and_twist(DVec3::new(5.0, 0.0, 3.0), Quat::from_rotation_y(0.1), [Vec3::ZERO; 2]);
        run(&mut chassis, &ground, 3.0);
        // The underside is 0.4 m below the centre of mass; the top of the box is at 2 m.
        assert!((chassis.position.z - 2.4).abs() < 5e-3, "{:?}", chassis.position);
        assert!(chassis.velocity.length() < 0.05 && chassis.axes.z_axis.z > 0.999, "{chassis:?}");
    }

    /// A hull that slides on the plane at 15 m/s stops at a wall across its path. A wall 20 m beside the path does not
    /// stop it.
    #[test]
    fn a_wall_stops_a_hull_and_one_out_of_the_way_does_nothing() {
        let wall = |x: f64, y: f64| FixedBox::axis_aligned(DVec3::new(x, y, 1.0), Vec3::new(1.0, 6.0, 4.0));
        // Distances that the hull slides with a wall ahead and with a wall beside the path, m.
        let slid = [0.0, 20.0].map(|y| {
            let ground = Ground::new(&Scene { boxes: vec![wall(10.0, y)], ..Scene::flat() });
            let mut chassis = crate_of_a_tonne();
            chassis.set_pose_and_twist(
                DVec3::new(0.0, 0.0, 0.5),
                Quat::IDENTITY,
                [Vec3::new(15.0, 0.0, 0.0), Vec3::ZERO],
            );
            run(&mut chassis, &ground, 2.0);
            chassis.position.x
        });
        // The nose is 2 m ahead of the centre and the face of the wall at 9.5 m. Friction alone would stop the car far
        // beyond the wall.
        assert!((6.5..7.51).contains(&slid[0]), "{slid:?}");
        assert!(slid[1] > 12.0, "{slid:?}");
    }

    /// Hulls in many poses above and in rough ground, at up to 60 m/s, have the same motion, to the bit, whether the
    /// points that close no gap are left out or not. Some hulls have points only in the full search, some are pushed.
    #[test]
    fn points_that_close_no_gap_change_nothing() {
        let dt = 1.0 / 60.0;
        let (mut spared, mut pushed) = (0, 0);
        for scene in [0.0, 0.1, 0.4, 3.0].into_iter().flat_map(field_and_mesh) {
            let ground = Ground::new(&scene);
            for k in 0..4000_usize {
                // Every second hull falls fast.
                let speeds = Vec3::new(60.0, 60.0, if k.is_multiple_of(2) { 60.0 } else { 3.0 });
                let start = || {
                    let mut chassis = crate_of_a_tonne();
                    set_varied_motion(&mut chassis, k, speeds);
                    chassis
                };
                let (mut chassis, mut contacts) = (start(), GroundContacts::default());
                contacts.separate_from_ground(&mut chassis, &ground, &[], dt);
                let (mut reference, mut all_contacts) = (start(), GroundContacts::default());
                all_contacts.find_contacts(&reference, &ground, &[], 0.0, dt);
                all_contacts.solve_found_contacts(&mut reference, dt);
                assert_eq!((chassis.twist(), chassis.lags()), (reference.twist(), reference.lags()), "pose {k}");
                spared += usize::from(contacts.points.is_empty() && !all_contacts.points.is_empty());
                pushed += usize::from(chassis.twist() != start().twist());
            }
        }
        assert!(spared > 50 && pushed > 1000, "{spared} hulls without points, {pushed} hulls pushed");
    }
}
