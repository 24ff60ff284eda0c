//! Contacts between hulls: which hulls collide within a step, and the impulses between them. "Car" stands for car or
//! free body here; the indices of free bodies follow those of the cars.
//!
//! Hulls that collide are solved together with everything that they and their neighbours touch, so that a car pressed
//! between a wall and another car enters neither. The motion of a car without contact stays bit-identical.

mod sequential_impulses;

use parry3d::query::ContactManifold;
use skidpad_core::{DVec3, HullPoint, Mat3, Vec3};

use crate::GroundContacts;
use crate::bounds::Bounds;
use crate::chassis::Chassis;
use crate::collisions::sequential_impulses::solve_group;
use crate::ground::Ground;
use crate::hitch_impulses::{HitchConstraint, close_hitches, solve_hitches};
use crate::hull::{CLOSED_GAP_RATIO, IMPACT_SPEED_MPS, VELOCITY_TOLERANCE_MPS, rim_contacts_of};
use crate::hull_pair::{HullContact, Pair};

/// Maximum number of contact searches in a step. A search follows the last impulses and passes an impact to the next
/// car.
const MAX_CONTACT_SEARCHES: usize = 16;

/// Number of colliding pairs per car for which memory is reserved.
const RESERVED_PAIRS_PER_CAR: usize = 4;

/// Number of contact points per car for which memory is reserved.
const RESERVED_POINTS_PER_CAR: usize = 32;

/// Index that stands for no car, or for the ground.
const NO_CAR: u32 = u32::MAX;

/// Distance below which two points of one hull are the same point, m.
const SAME_POINT_TOLERANCE: f32 = 1e-3;

/// Contacts between the hulls of a world, and the buffers for finding them.
#[derive(Clone)]
pub(crate) struct Collisions {
    /// Broad phase: pairs of hulls that are near each other.
    bounds: Bounds,
    /// Pairs whose hulls collide, sorted, the lower index first.
    pairs: Vec<[u32; 2]>,
    /// Buffer of the narrow phase: contact points of the pair that was checked last.
    manifold: ContactManifold<(), ()>,
    /// Contact points found in this step, sorted by group; input of the sequential impulses.
    points: Vec<ContactPoint>,
    /// Whether any two hulls can collide. If not, only hitches are solved.
    can_collide: bool,
    /// Index below which two cars pass through each other.
    pass_through_below: u32,
    /// Whether cars collide with cars.
    cars_collide: bool,
    /// Number of free bodies, which follow the cars.
    body_count: usize,
    /// Whether some car can be towed.
    pub has_trailers: bool,
    /// Closed hitches, sorted by group.
    hitches: Vec<HitchConstraint>,
    /// Group of each car: the lowest index of the cars it is solved with. [`NO_CAR`]: without contact or hitch.
    group: Vec<u32>,
    /// Velocity (m/s) and angular velocity (rad/s) with which each pose moves.
    pose_motions: Vec<[Vec3; 2]>,
}

impl core::fmt::Debug for Collisions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Collisions").finish_non_exhaustive()
    }
}

/// Contact point of a hull with another hull or with the ground.
#[derive(Clone, Copy, Debug)]
struct ContactPoint {
    /// Group of cars that are solved together.
    group: u32,
    /// Index of the point in the order of detection.
    detection_index: u32,
    /// Indices of the two hulls; the second is [`NO_CAR`] for the ground.
    hulls: [u32; 2],
    /// Vectors from each centre of mass to the point, world axes, m.
    arms: [Vec3; 2],
    /// Unit vector out of the second hull or the ground, world axes.
    normal: Vec3,
    /// Distance of the surfaces at the start of the step, m; negative if they overlap.
    gap: f32,
    /// Coefficient of friction.
    friction: f32,
    /// Velocity of the ground at the point, m/s; zero between hulls.
    ground_velocity: Vec3,
    /// Minimum speed along the normal at the end of the solve, m/s.
    min_normal_speed: f32,
    /// Tangential velocity that friction drives the contact to, m/s.
    target_slip: Vec3,
    /// Change of speed along the normal per impulse along it, 1/kg.
    normal_compliance: f32,
    /// Change of velocity per impulse including the hitches of both hulls, 1/kg; `None` if the hitches are not solved.
    response: Option<Mat3>,
    /// Normal impulse so far, N s.
    normal_impulse: f32,
    /// Friction impulse so far, N s.
    friction_impulse: Vec3,
    /// Total impulse before the last pass, N s.
    last_impulse: Vec3,
    /// Total impulse before the last extrapolation, N s.
    saved_impulse: Vec3,
}

impl Collisions {
    /// Creates contacts for a world without cars and with `body_count` free bodies. `cars_collide`: whether cars
    /// collide with cars; if not, pairs need a free body. Reserves memory for the points of one pair, but for no car
    /// yet; see [`Collisions::reserve`]. There are no trailers until `has_trailers` is set.
    pub fn new(cars_collide: bool, body_count: usize) -> Self {
        let mut manifold = ContactManifold::default();
        manifold.points.reserve(RESERVED_POINTS_PER_CAR);
        Self {
            bounds: Bounds::default(),
            pairs: Vec::new(),
            manifold,
            points: Vec::new(),
            can_collide: cars_collide || body_count > 0,
            pass_through_below: 0,
            cars_collide,
            body_count,
            has_trailers: false,
            hitches: Vec::new(),
            group: Vec::new(),
            pose_motions: Vec::new(),
        }
    }

    /// Returns true if the hulls `car` and `other` can never collide: both are cars, and cars do not collide here.
    pub fn passes_through(&self, car: u32, other: u32) -> bool {
        car.max(other) < self.pass_through_below
    }

    /// Returns whether any two hulls can collide at any place: cars collide with each other, or there is a free body.
    pub fn can_collide(&self) -> bool {
        self.can_collide
    }

    /// Reserves memory for `hull_count` hulls (cars and free bodies) and resizes the arrays with one entry per hull
    /// (groups, motions of poses). Updates which cars pass through each other: all if cars do not collide, otherwise
    /// none. Discards the bounds of the broad phase. Reserves memory for pairs only if hulls can collide, for hitches
    /// only with trailers.
    pub fn reserve(&mut self, hull_count: usize) {
        self.pass_through_below = if self.cars_collide { 0 } else { (hull_count - self.body_count) as u32 };
        self.bounds.reserve(hull_count, self.can_collide);
        if self.can_collide {
            self.pairs.reserve((RESERVED_PAIRS_PER_CAR * hull_count).saturating_sub(self.pairs.len()));
        }
        if self.has_trailers {
            self.hitches.reserve(hull_count.saturating_sub(self.hitches.len()));
        }
        self.points.reserve((RESERVED_POINTS_PER_CAR * hull_count).saturating_sub(self.points.len()));
        self.group.resize(hull_count, NO_CAR);
        self.pose_motions.resize(hull_count, [Vec3::ZERO; 2]);
    }

    /// Returns true if `car` was solved in a group. Valid only if [`Collisions::separate_hulls`] returned true.
    pub fn is_in_group(&self, car: usize) -> bool {
        self.group[car] != NO_CAR
    }

    /// Changes the twists of colliding chassis so that no hull enters another one or `ground` within the coming `dt` s.
    /// Returns true if any hulls collide or are hitched; if false, no twist changed, and the caller separates hulls
    /// from the ground.
    ///
    /// Finds the hitches if there are trailers. Each of up to [`MAX_CONTACT_SEARCHES`] rounds then updates the broad
    /// phase and adds the contacts of near pairs. It forms the groups (hulls connected by contacts or hitches) and adds
    /// the contacts of their hulls with the ground. It sorts points and hitches by group, closes the hitches of stopped
    /// trains, and solves each group by sequential impulses with friction. Points keep their impulses from round to
    /// round. Rounds end when no new contact point appears. Impacts are stopped last. Hulls in no group are not kept
    /// out of the ground. `rim_contacts` are contact points of rims with the index of their car, sorted by car.
    /// `ground_contacts` is a buffer.
    pub fn separate_hulls(
        &mut self,
        chassis: &mut [Chassis],
        ground: &Ground,
        ground_contacts: &mut GroundContacts,
        rim_contacts: &[(usize, HullPoint)],
        dt: f32,
    ) -> bool {
        self.pairs.clear();
        self.points.clear();
        if self.has_trailers {
            self.find_hitches(chassis);
        }
        for round in 0..MAX_CONTACT_SEARCHES {
            self.update_bounds(chassis, dt);
            let old_point_count = self.points.len();
            if !self.near_pairs().is_empty() {
                self.find_hull_contacts(chassis, dt);
            }
            if self.pairs.is_empty() && self.hitches.is_empty() {
                return false;
            }
            self.merge_groups();
            self.find_ground_contacts(chassis, ground, ground_contacts, rim_contacts, dt);
            if self.points.len() == old_point_count && (round > 0 || old_point_count == 0) {
                break;
            }
            // Assigns and sorts by group; `detection_index` keeps the order within a group.
            let group = &self.group;
            self.points.iter_mut().for_each(|point| point.group = group[point.hulls[0] as usize]);
            self.points.sort_unstable_by_key(|point| (point.group, point.detection_index));
            self.hitches.iter_mut().for_each(|hitch| hitch.group = group[hitch.cars[0] as usize]);
            self.hitches.sort_unstable_by_key(|hitch| (hitch.group, hitch.cars[0]));
            self.close_hitches(chassis, dt);
            self.solve_groups(chassis);
        }
        self.stop_impacts(chassis, dt);
        true
    }

    /// Returns the pairs of hulls whose bounding spheres overlap, the lower index first, sorted. Hulls need not touch.
    pub fn near_pairs(&self) -> &[[u32; 2]] {
        self.bounds.near_pairs()
    }

    /// Returns the hulls with bounding spheres within `reach` m of `point`; see [`Bounds::cars_near`].
    pub fn cars_near(&self, point: DVec3, reach: f32) -> impl Iterator<Item = usize> {
        self.bounds.cars_near(point, reach.into())
    }

    /// Updates the broad phase if a hull has left its sphere or will within `dt` s. Does nothing if no hulls collide.
    #[inline(always)]
    pub fn update_bounds(&mut self, chassis: &[Chassis], dt: f32) {
        if self.can_collide && !self.bounds.is_valid(chassis, dt) {
            self.bounds.sweep(chassis, self.pass_through_below, dt);
        }
    }

    /// Discards the bounds of the broad phase, so that the next step computes them again.
    pub fn clear_bounds(&mut self) {
        self.bounds.clear();
    }

    /// Returns the impulses on trailers by which this crate closed hitches while a hull was stopped, N s, world axes,
    /// each with the index of the trailer; without those of the vehicles' own solve. Hitches without impulse are left
    /// out.
    pub fn hitch_impulses(&self) -> impl Iterator<Item = (usize, Vec3)> {
        let loaded_hitches = self.hitches.iter().filter(|hitch| hitch.impulse != Vec3::ZERO);
        loaded_hitches.map(|hitch| (hitch.cars[0] as usize, hitch.impulse))
    }

    /// Adds the contact points of near pairs over the coming `dt` s, and adds pairs with at least one point to `pairs`,
    /// sorted. Skips hitched pairs, suspended cars, pairs too far apart ([`may_collide`]), and pairs whose contact
    /// points were found in an earlier search of this step.
    #[inline(never)]
    fn find_hull_contacts(&mut self, chassis: &[Chassis], dt: f32) {
        let known_pairs = self.pairs.len(); // sorted pairs from earlier searches
        for pair_index in 0..self.near_pairs().len() {
            let cars = self.near_pairs()[pair_index];
            let [first, second] = cars.map(|car| &chassis[car as usize]);
            let hitched = first.towed_by == Some(cars[1]) || second.towed_by == Some(cars[0]);
            if hitched || !may_collide(first, second, dt) || self.pairs[..known_pairs].binary_search(&cars).is_ok() {
                continue;
            }
            let old_point_count = self.points.len();
            let points = &mut self.points;
            Pair::new(first, second, dt).find_contacts(dt, &mut self.manifold, |contact| {
                points.push(ContactPoint::between_hulls(chassis, cars, &contact, points.len() as u32, dt));
            });
            if self.points.len() > old_point_count {
                self.pairs.push(cars);
            }
        }
        self.pairs.sort_unstable();
    }

    /// Replaces `hitches` by one constraint, without impulse and group, for each chassis with a towing vehicle, in
    /// order of the chassis. Skips suspended trailers, suspended or missing towing vehicles, and a chassis that tows
    /// itself.
    fn find_hitches(&mut self, chassis: &[Chassis]) {
        self.hitches.clear();
        for (car, trailer) in chassis.iter().enumerate() {
            let towing =
                trailer.towed_by.filter(|index| chassis.get(*index as usize).is_some_and(|hull| !hull.is_suspended));
            if let Some(towing) = towing.filter(|index| !trailer.is_suspended && *index as usize != car) {
                self.hitches.push(HitchConstraint::new([car as u32, towing]));
            }
        }
    }

    /// Closes the hitches of each group with contact points if a contact presses (its normal speed is below the allowed
    /// one) or a hitched vehicle was stopped (an impulse has cleared its lag). Closes the hitches, solves the group,
    /// and closes the hitches again at the attitudes that result. Changes twists, lags, impulses, and the responses of
    /// the points ([`update_hitches`]). All other groups stay bit-identical.
    fn close_hitches(&mut self, chassis: &mut [Chassis], dt: f32) {
        for hitches in self.hitches.chunk_by_mut(|a, b| a.group == b.group) {
            let points = group_points(&mut self.points, hitches[0].group);
            let has_stopped = hitches.iter().flat_map(|hitch| hitch.cars).any(|car| chassis[car as usize].is_stopped());
            let is_pressing =
                |point: &ContactPoint| point.relative_velocity(chassis).dot(point.normal) < point.min_normal_speed;
            if points.is_empty() || !(has_stopped || points.iter().any(is_pressing)) {
                continue;
            }
            update_hitches(hitches, points, chassis, dt);
            solve_group(points, hitches, chassis);
            update_hitches(hitches, points, chassis, dt);
        }
    }

    /// Assigns one group to all cars that are connected by contacts or hitches: the lowest index of the connected cars
    /// (union-find). Cars without contact or hitch get [`NO_CAR`].
    fn merge_groups(&mut self) {
        self.group.fill(NO_CAR);
        // Each car starts as its own root; the larger root of a connected pair then points to the smaller one.
        for [first, second] in self.pairs.iter().copied().chain(self.hitches.iter().map(|hitch| hitch.cars)) {
            for car in [first, second] {
                let group = &mut self.group[car as usize];
                *group = (*group).min(car);
            }
            let [first_root, second_root] = [find_root(&self.group, first), find_root(&self.group, second)];
            self.group[first_root.max(second_root) as usize] = first_root.min(second_root);
        }
        // Replaces the parent of each car by the root of its set.
        for car in 0..self.group.len() {
            if self.group[car] != NO_CAR {
                self.group[car] = find_root(&self.group, car as u32);
            }
        }
    }

    /// Adds the points at which hulls of a group may touch the ground within `dt` s, and the stops of their rims.
    /// Leaves out points already in `points`, such as those of earlier searches. Hulls without a group are not checked.
    fn find_ground_contacts(
        &mut self,
        chassis: &[Chassis],
        ground: &Ground,
        ground_contacts: &mut GroundContacts,
        rim_contacts: &[(usize, HullPoint)],
        dt: f32,
    ) {
        for (car, hull) in chassis.iter().enumerate().filter(|(car, _)| self.group[*car] != NO_CAR) {
            // `0.0`: gravity is already part of the velocity.
            ground_contacts.find_contacts(hull, ground, rim_contacts_of(rim_contacts, car), 0.0, dt);
            for contact in ground_contacts.found_points() {
                if !self.points.iter().any(|point| point.is_same_point(car as u32, contact)) {
                    self.points.push(ContactPoint::on_ground(hull, car as u32, contact, self.points.len() as u32, dt));
                }
            }
        }
    }

    /// Solves the contact points of every group separately.
    fn solve_groups(&mut self, chassis: &mut [Chassis]) {
        for points in self.points.chunk_by_mut(|a, b| a.group == b.group) {
            solve_group(points, group_hitches(&mut self.hitches, points[0].group), chassis);
        }
    }

    /// Ends impacts: each contact that closes within the step a gap of more than [`IMPACT_SPEED_MPS`] times `dt` is
    /// solved again, with all groups, for a normal speed of zero and with friction against all remaining slip. Only the
    /// velocities at the end of the step change: the motions of the poses are stored before and restored after the
    /// solve, so that the gaps still close in this step, as on the ground. Does nothing without an impact.
    fn stop_impacts(&mut self, chassis: &mut [Chassis], dt: f32) {
        let mut has_impact = false;
        for point in &mut self.points {
            // Speeds along the normal are negative while the gap closes.
            let closes_gap =
                point.relative_velocity(chassis).dot(point.normal) <= CLOSED_GAP_RATIO * point.min_normal_speed;
            if point.gap > IMPACT_SPEED_MPS * dt && closes_gap {
                (point.min_normal_speed, point.target_slip, has_impact) = (0.0, Vec3::ZERO, true);
            }
        }
        if !has_impact {
            return;
        }
        for (car, pose_motion) in self.pose_motions.iter_mut().enumerate() {
            *pose_motion = chassis[car].pose_motion();
        }
        self.solve_groups(chassis);
        for (car, pose_motion) in self.pose_motions.iter().enumerate().filter(|(car, _)| self.group[*car] != NO_CAR) {
            if chassis[car].pose_motion() != *pose_motion {
                chassis[car].set_pose_motion(*pose_motion);
            }
        }
    }
}

/// Returns true if spheres around the hulls, about the centres of mass, may overlap within `dt` s and no car is
/// suspended.
fn may_collide(first: &Chassis, second: &Chassis, dt: f32) -> bool {
    let speed_sum = first.pose_motion()[0].length() + second.pose_motion()[0].length();
    let max_distance = first.hull_radius + second.hull_radius + speed_sum * dt;
    let is_near = (first.position - second.position).as_vec3().length_squared() <= max_distance * max_distance;
    is_near && !first.is_suspended && !second.is_suspended
}

/// Closes the `hitches` of a group for poses that move over the coming `dt` s with the velocities at its end, then
/// updates the compliance and response of its `points`.
fn update_hitches(hitches: &mut [HitchConstraint], points: &mut [ContactPoint], chassis: &mut [Chassis], dt: f32) {
    close_hitches(hitches, chassis, dt);
    for point in points {
        point.update_compliance(hitches, chassis);
    }
}

/// Returns the points of `group`. `points` is sorted by group.
fn group_points(points: &mut [ContactPoint], group: u32) -> &mut [ContactPoint] {
    let first_index = points.partition_point(|point| point.group < group);
    let count = points[first_index..].partition_point(|point| point.group == group);
    &mut points[first_index..first_index + count]
}

/// Returns the entries of `hitches` that belong to `group`. `hitches` is sorted by group.
fn group_hitches(hitches: &mut [HitchConstraint], group: u32) -> &mut [HitchConstraint] {
    let first_index = hitches.partition_point(|hitch| hitch.group < group);
    let count = hitches[first_index..].partition_point(|hitch| hitch.group == group);
    &mut hitches[first_index..first_index + count]
}

/// Returns the root of `car` in the union-find array `group`: the lowest index of its set.
fn find_root(group: &[u32], mut car: u32) -> u32 {
    while group[car as usize] != car {
        car = group[car as usize];
    }
    car
}

impl ContactPoint {
    /// Creates the contact point of the two `hulls` (indices in `chassis`) for a step of `dt` s, without impulses.
    /// Friction is the product of both coefficients. The minimum speed along the normal is
    /// [`HullPoint::allowed_speed`]. The target slip is the slip before contact: the tangential velocity times the
    /// share of the step that passes before contact. The compliance along the normal is computed without hitches.
    /// `index` is the order of detection.
    fn between_hulls(chassis: &[Chassis], hulls: [u32; 2], contact: &HullContact, index: u32, dt: f32) -> Self {
        let HullContact { arms, closing_fraction, gap, normal } = *contact;
        // The friction coefficients are multiplied, as in Rapier.
        let friction = hulls.iter().map(|hull| chassis[*hull as usize].friction).product();
        let mut point = Self {
            group: NO_CAR,
            detection_index: index,
            hulls,
            arms,
            normal,
            gap,
            friction,
            ground_velocity: Vec3::ZERO,
            // The velocity is not used.
            min_normal_speed: HullPoint { arm: arms[0], gap, normal, friction, velocity: Vec3::ZERO }.allowed_speed(dt),
            target_slip: Vec3::ZERO,
            normal_compliance: 0.0, // computed below
            response: None,
            normal_impulse: 0.0,
            friction_impulse: Vec3::ZERO,
            last_impulse: Vec3::ZERO,
            saved_impulse: Vec3::ZERO,
        };
        let velocity = point.relative_velocity(chassis);
        // Before contact the hulls slide with their relative velocity; only the rest of the step is subject to
        // friction.
        point.target_slip = (velocity - normal * velocity.dot(normal)) * closing_fraction;
        point.normal_compliance = point.compliance_along(chassis, normal);
        point
    }

    /// Creates the point `hull_point` at which `hull`, of index `car`, touches the ground, for a step of `dt` s,
    /// without impulses and group, with arm, normal, gap, friction and ground velocity of `hull_point`. The minimum
    /// speed along the normal is [`HullPoint::allowed_speed`]; the target slip is zero. The compliance along the normal
    /// is computed without hitches. `index` is the order of detection.
    fn on_ground(hull: &Chassis, car: u32, hull_point: &HullPoint, index: u32, dt: f32) -> Self {
        Self {
            group: NO_CAR,
            detection_index: index,
            hulls: [car, NO_CAR],
            arms: [hull_point.arm, Vec3::ZERO], // the ground has no centre of mass
            normal: hull_point.normal,
            gap: hull_point.gap,
            friction: hull_point.friction,
            ground_velocity: hull_point.velocity,
            min_normal_speed: hull_point.allowed_speed(dt),
            target_slip: Vec3::ZERO,
            normal_compliance: hull_compliance(hull, hull_point.arm, hull_point.normal),
            response: None,
            normal_impulse: 0.0,
            friction_impulse: Vec3::ZERO,
            last_impulse: Vec3::ZERO,
            saved_impulse: Vec3::ZERO,
        }
    }

    /// Returns true if this point is a contact of `car` with the ground within [`SAME_POINT_TOLERANCE`] m of
    /// `hull_point`, with a cosine between the normals above 1 − [`SAME_POINT_TOLERANCE`].
    fn is_same_point(&self, car: u32, hull_point: &HullPoint) -> bool {
        let is_near = self.arms[0].distance_squared(hull_point.arm) < SAME_POINT_TOLERANCE * SAME_POINT_TOLERANCE;
        self.hulls == [car, NO_CAR] && is_near && self.normal.dot(hull_point.normal) > 1.0 - SAME_POINT_TOLERANCE
    }

    /// Returns the velocity of the first hull at the point relative to the second hull or the ground, at the end of the
    /// step so far, world axes, m/s.
    fn relative_velocity(&self, chassis: &[Chassis]) -> Vec3 {
        // Index NO_CAR is in no list, so the ground has no chassis.
        let first_velocity = chassis[self.hulls[0] as usize].velocity_at(self.arms[0]);
        chassis
            .get(self.hulls[1] as usize)
            .map_or(first_velocity - self.ground_velocity, |second| first_velocity - second.velocity_at(self.arms[1]))
    }

    /// Returns the change of relative velocity along the unit vector n, `direction`, per impulse along it, 1/kg: n·Rn
    /// with the stored response R if hitches are solved, else the sum for both hulls. The ground does not respond.
    fn compliance_along(&self, chassis: &[Chassis], direction: Vec3) -> f32 {
        if let Some(response) = self.response {
            return direction.dot(response * direction);
        }
        let compliance = hull_compliance(&chassis[self.hulls[0] as usize], self.arms[0], direction);
        chassis
            .get(self.hulls[1] as usize)
            .map_or(compliance, |second| compliance + hull_compliance(second, self.arms[1], direction))
    }

    /// Computes `response` and `normal_compliance` of the point by test impulses: applies one along each world axis,
    /// measures the change of relative velocity, and takes the impulse back. Velocities and hitch impulses return to
    /// their values up to rounding. The response includes all chassis that the `hitches` connect.
    fn update_compliance(&mut self, hitches: &mut [HitchConstraint], chassis: &mut [Chassis]) {
        // `apply_impulse` solves the hitches only for a point with a response. The value is not used.
        self.response.get_or_insert(Mat3::ZERO);
        let old_velocity = self.relative_velocity(chassis);
        // Change of relative velocity per unit impulse along each axis, 1/kg.
        let columns = Vec3::AXES.map(|axis| {
            // The test impulses change the velocity by metres per second, so that the differences are accurate.
            let test_impulse = 1.0 / hull_compliance(&chassis[self.hulls[0] as usize], self.arms[0], axis);
            self.apply_impulse(chassis, hitches, axis * test_impulse);
            let new_velocity = self.relative_velocity(chassis);
            self.apply_impulse(chassis, hitches, axis * -test_impulse);
            (new_velocity - old_velocity) / test_impulse
        });
        let response = Mat3::from_cols(columns[0], columns[1], columns[2]);
        self.response = Some(response);
        self.normal_compliance = self.normal.dot(response * self.normal);
    }

    /// Applies `impulse` (N s, world axes) at the point to the first hull and the opposite to the second, and re-solves
    /// the hitches if `response` is known. The stored impulses of the point do not change. Returns the impulse times
    /// the larger inverse mass of the two hulls, m/s; the rotation is not included.
    fn apply_impulse(&self, chassis: &mut [Chassis], hitches: &mut [HitchConstraint], impulse: Vec3) -> f32 {
        let [first, second] = self.hulls.map(|hull| hull as usize);
        chassis[first].apply_impulse(impulse, self.arms[0].cross(impulse));
        let mut inverse_mass = chassis[first].inverse_mass;
        if let Some(second) = chassis.get_mut(second) {
            second.apply_impulse(-impulse, -self.arms[1].cross(impulse));
            inverse_mass = inverse_mass.max(second.inverse_mass);
        }
        if self.response.is_some() {
            solve_hitches(hitches, chassis);
        }
        impulse.length() * inverse_mass
    }

    /// Changes the normal impulse so that the normal speed becomes `min_normal_speed`, clamps the accumulated impulse
    /// to ≥ 0, and applies the difference to the hulls. Returns true if the velocity of a hull changes by more than
    /// [`VELOCITY_TOLERANCE_MPS`]; false, without applying anything, if the impulse stays the same.
    fn solve_normal(&mut self, chassis: &mut [Chassis], hitches: &mut [HitchConstraint]) -> bool {
        // Change of normal impulse that reaches the allowed speed, N s.
        let target_change =
            (self.min_normal_speed - self.relative_velocity(chassis).dot(self.normal)) / self.normal_compliance;
        let new_impulse = (self.normal_impulse + target_change).max(0.0);
        let impulse_change = new_impulse - self.normal_impulse;
        if impulse_change == 0.0 {
            return false;
        }
        self.normal_impulse = new_impulse;
        self.apply_impulse(chassis, hitches, self.normal * impulse_change) > VELOCITY_TOLERANCE_MPS
    }

    /// Updates the friction impulse so that the tangential velocity less `target_slip` vanishes along its own
    /// direction, clamps its length to friction coefficient times normal impulse, and applies the difference to the
    /// hulls. A slip of at most 1e-6 m/s only gets the clamp. Returns true if the velocity of a hull changes by more
    /// than [`VELOCITY_TOLERANCE_MPS`]; does nothing and returns false if normal and friction impulse are both zero.
    fn solve_friction(&mut self, chassis: &mut [Chassis], hitches: &mut [HitchConstraint]) -> bool {
        if self.normal_impulse == 0.0 && self.friction_impulse == Vec3::ZERO {
            return false;
        }
        // Slip that friction must remove, m/s.
        let slip = self.relative_velocity(chassis) - self.target_slip;
        let slip = slip - self.normal * slip.dot(self.normal);
        let slip_speed = slip.length();
        let mut new_impulse = self.friction_impulse; // wanted, N s
        // Slip below 1e-6 m/s has no direction.
        if slip_speed > 1e-6 {
            new_impulse -= slip / self.compliance_along(chassis, slip / slip_speed);
        }
        let new_impulse = new_impulse.clamp_length_max(self.friction * self.normal_impulse); // Coulomb friction
        let impulse_change = new_impulse - self.friction_impulse;
        self.friction_impulse = new_impulse;
        self.apply_impulse(chassis, hitches, impulse_change) > VELOCITY_TOLERANCE_MPS
    }
}

/// Returns the change of velocity of the point `arm` (m from the centre of mass) of `chassis` along the unit vector
/// `direction`, per impulse along it there, 1/kg: 1/m + (r × n)·J⁻¹ (r × n). World axes, without hitches.
fn hull_compliance(chassis: &Chassis, arm: Vec3, direction: Vec3) -> f32 {
    let r_cross_n = arm.cross(direction);
    chassis.inverse_mass + r_cross_n.dot(chassis.angular_velocity_change(r_cross_n))
}

#[cfg(test)]
mod tests;
