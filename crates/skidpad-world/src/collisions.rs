//! Contacts between hulls: which hulls collide within a step, and the impulses between them. "Car" stands for car or free body
//! here; the indices of free bodies follow those of the cars.
//!
//! Hulls that collide are solved together with everything that they and their neighbours touch, so that a car pressed between a
//! wall and another car enters neither. The motion of a car without contact stays bit-identical.

mod pressing;

use parry3d::query::ContactManifold;
use skidpad_core::{DVec3, HullPoint, Mat3, Vec3};

use crate::Touching;
use crate::bounds::Bounds;
use crate::chassis::Chassis;
use crate::collisions::pressing::press_group;
use crate::ground::Ground;
use crate::hull::{BLOW, CLOSED, SETTLED, stops_of};
use crate::links::{Link, hold, tighten};
use crate::pair::{Meeting, Pair};

/// Maximum number of contact searches in a step. Each search follows the motions after the last impulses and passes an impact on
/// to the next car.
const ROUNDS: usize = 16;

/// Number of colliding pairs per car for which memory is reserved.
const PAIRS: usize = 4;

/// Number of contact points per car for which memory is reserved.
const POINTS: usize = 32;

/// Index that stands for no car, or for the ground.
const NONE: u32 = u32::MAX;

/// Distance below which two points of one hull are the same point, m.
const SAME: f32 = 1e-3;

/// Contacts between the hulls of a world, and the buffers for finding them.
#[derive(Clone)]
pub(crate) struct Collisions {
    /// Broad phase: pairs of hulls that are near each other.
    bounds: Bounds,
    /// Pairs whose hulls collide, sorted, the lower index first.
    pairs: Vec<[u32; 2]>,
    manifold: ContactManifold<(), ()>,
    points: Vec<Point>,
    /// Whether any two hulls can collide. If not, only hitches are solved.
    meets: bool,
    /// Index below which two cars pass through each other.
    passing: u32,
    /// Whether cars collide with cars.
    cars_meet: bool,
    /// Number of free bodies, which follow the cars.
    bodies: usize,
    /// Whether some car can be towed.
    pub has_trailers: bool,
    /// Closed hitches, sorted by group.
    links: Vec<Link>,
    /// Group of each car: the lowest index of the cars it is solved with. [`NONE`] for a car without contact or hitch.
    group: Vec<u32>,
    /// Velocity (m/s) and angular velocity (rad/s) with which each pose moves.
    moves: Vec<[Vec3; 2]>,
}

impl core::fmt::Debug for Collisions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Collisions").finish_non_exhaustive()
    }
}

/// Contact point of a hull with another hull or with the ground.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Group of cars that are solved together.
    group: u32,
    /// Index of the point in the order of detection.
    number: u32,
    /// Indices of the two hulls; the second is [`NONE`] for the ground.
    cars: [u32; 2],
    /// Vectors from each centre of mass to the point, world axes, m.
    arms: [Vec3; 2],
    /// Unit vector out of the second hull or the ground, world axes.
    normal: Vec3,
    /// Distance of the surfaces at the start of the step, m; negative if they overlap.
    gap: f32,
    /// Coefficient of friction.
    friction: f32,
    /// Velocity of the ground at the point, m/s; zero between hulls.
    ground: Vec3,
    /// Minimum speed along the normal at the end of the solve, m/s.
    allowed: f32,
    /// Tangential velocity that friction drives the contact to, m/s.
    slides: Vec3,
    /// Change of speed along the normal per impulse along it, 1/kg.
    give: f32,
    /// Change of velocity per impulse including the hitches of both hulls, 1/kg; `None` if the hitches are not solved.
    answer: Option<Mat3>,
    /// Normal impulse so far, N s.
    pressed: f32,
    /// Friction impulse so far, N s.
    drag: Vec3,
    /// Total impulse before the last pass, N s.
    before: Vec3,
    /// Total impulse before the last extrapolation, N s.
    kept: Vec3,
}

impl Collisions {
    /// Creates contacts for a world without cars and with `bodies` free bodies. `cars_meet`: whether cars collide with each
    /// other.
    pub fn new(cars_meet: bool, bodies: usize) -> Self {
        let mut manifold = ContactManifold::default();
        manifold.points.reserve(POINTS);
        Self {
            bounds: Bounds::default(),
            pairs: Vec::new(),
            manifold,
            points: Vec::new(),
            meets: cars_meet || bodies > 0,
            passing: 0,
            cars_meet,
            bodies,
            has_trailers: false,
            links: Vec::new(),
            group: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// Returns true if the cars `one` and `other` pass through each other.
    pub fn pass(&self, one: u32, other: u32) -> bool {
        one.max(other) < self.passing
    }

    /// Returns whether any two hulls can collide.
    pub fn meets(&self) -> bool {
        self.meets
    }

    /// Reserves memory for `cars` cars and free bodies, and updates which of them pass through each other.
    pub fn make_room(&mut self, cars: usize) {
        self.passing = if self.cars_meet { 0 } else { (cars - self.bodies) as u32 };
        self.bounds.make_room(cars, self.meets);
        if self.meets {
            self.pairs.reserve((PAIRS * cars).saturating_sub(self.pairs.len()));
        }
        if self.has_trailers {
            self.links.reserve(cars.saturating_sub(self.links.len()));
        }
        self.points.reserve((POINTS * cars).saturating_sub(self.points.len()));
        self.group.resize(cars, NONE);
        self.moves.resize(cars, [Vec3::ZERO; 2]);
    }

    /// Returns true if `car` was solved in a group in this step. Valid only if [`Collisions::keep_apart`] returned true.
    pub fn holds(&self, car: usize) -> bool {
        self.group[car] != NONE
    }

    /// Changes the twists of colliding chassis so that no hull enters another one or `ground` within the coming `dt` s. Uses
    /// sequential impulses with friction, between hulls and as [`Touching::keep_out`] does on the ground. Trains of which a
    /// vehicle is stopped are solved with their hitches. Returns whether any hulls collide or are hitched.
    pub fn keep_apart(
        &mut self,
        chassis: &mut [Chassis],
        ground: &Ground,
        touching: &mut Touching,
        stops: &[(usize, HullPoint)],
        dt: f32,
    ) -> bool {
        self.pairs.clear();
        self.points.clear();
        if self.has_trailers {
            self.find_links(chassis);
        }
        for round in 0..ROUNDS {
            self.look_again(chassis, dt);
            let before = self.points.len();
            if !self.near().is_empty() {
                self.meet(chassis, dt);
            }
            if self.pairs.is_empty() && self.links.is_empty() {
                return false;
            }
            self.unite();
            self.touch_ground(chassis, ground, touching, stops, dt);
            if self.points.len() == before && (round > 0 || before == 0) {
                break;
            }
            let group = &self.group;
            self.points.iter_mut().for_each(|point| point.group = group[point.cars[0] as usize]);
            self.points.sort_unstable_by_key(|point| (point.group, point.number));
            self.links.iter_mut().for_each(|link| link.group = group[link.cars[0] as usize]);
            self.links.sort_unstable_by_key(|link| (link.group, link.cars[0]));
            self.tighten(chassis, dt);
            self.press_all(chassis);
        }
        self.end_blows(chassis, dt);
        true
    }

    /// Returns the pairs of cars whose bounds overlap, the lower index first.
    pub fn near(&self) -> &[[u32; 2]] {
        self.bounds.near()
    }

    /// Returns the cars whose bounds of the last sweep come within `reach` m of `place`, in no particular order.
    pub fn around(&self, place: DVec3, reach: f32) -> impl Iterator<Item = usize> {
        self.bounds.around(place, reach.into())
    }

    /// Updates the broad phase if a car has left its bound or will leave it in the coming `dt` s.
    #[inline(always)]
    pub fn look_again(&mut self, chassis: &[Chassis], dt: f32) {
        if self.meets && !self.bounds.is_fresh(chassis, dt) {
            self.bounds.sweep(chassis, self.passing, dt);
        }
    }

    /// Discards the bounds of the broad phase, so that the next step computes them again.
    pub fn forget_bounds(&mut self) {
        self.bounds.clear();
    }

    /// Returns the impulses that hitches transmitted to trailers in addition to the vehicles' own solve, N s, each with the index
    /// of the trailer.
    pub fn jolts(&self) -> impl Iterator<Item = (usize, Vec3)> {
        let jolted = self.links.iter().filter(|link| link.impulse != Vec3::ZERO);
        jolted.map(|link| (link.cars[0] as usize, link.impulse))
    }

    /// Adds the contact points of nearby hulls. Skips hitched pairs, suspended cars and pairs whose contact points were found in
    /// an earlier search.
    #[inline(never)]
    fn meet(&mut self, chassis: &[Chassis], dt: f32) {
        let met = self.pairs.len();
        for k in 0..self.near().len() {
            let cars = self.near()[k];
            let [first, second] = cars.map(|car| &chassis[car as usize]);
            let tied = first.towed_by == Some(cars[1]) || second.towed_by == Some(cars[0]);
            if tied || !may_meet(first, second, dt) || self.pairs[..met].binary_search(&cars).is_ok() {
                continue;
            }
            let before = self.points.len();
            let points = &mut self.points;
            Pair::new(first, second, dt).meet(dt, &mut self.manifold, |meeting| {
                points.push(Point::between(chassis, cars, &meeting, points.len() as u32, dt));
            });
            if self.points.len() > before {
                self.pairs.push(cars);
            }
        }
        self.pairs.sort_unstable();
    }

    /// Finds the closed hitches between chassis that are not suspended.
    fn find_links(&mut self, chassis: &[Chassis]) {
        self.links.clear();
        for (car, trailer) in chassis.iter().enumerate() {
            let by = trailer.towed_by.filter(|by| chassis.get(*by as usize).is_some_and(|ahead| !ahead.away));
            if let Some(by) = by.filter(|by| !trailer.away && *by as usize != car) {
                self.links.push(Link::new([car as u32, by]));
            }
        }
    }

    /// Closes the hitches of trains that have a stopped vehicle or a contact that presses, at the attitudes that result. Other
    /// trains stay bit-identical.
    fn tighten(&mut self, chassis: &mut [Chassis], dt: f32) {
        for links in self.links.chunk_by_mut(|a, b| a.group == b.group) {
            let points = of_group(&mut self.points, links[0].group);
            let stopped = links.iter().flat_map(|link| link.cars).any(|car| chassis[car as usize].is_stopped());
            let presses = |point: &Point| point.velocity(chassis).dot(point.normal) < point.allowed;
            if points.is_empty() || !(stopped || points.iter().any(presses)) {
                continue;
            }
            aim(links, points, chassis, dt);
            press_group(points, links, chassis);
            aim(links, points, chassis, dt);
        }
    }

    /// Assigns one group to all cars that are connected by contacts or hitches.
    fn unite(&mut self) {
        self.group.fill(NONE);
        for [one, other] in self.pairs.iter().copied().chain(self.links.iter().map(|link| link.cars)) {
            for car in [one, other] {
                let group = &mut self.group[car as usize];
                *group = (*group).min(car);
            }
            let [one, other] = [lowest_of(&self.group, one), lowest_of(&self.group, other)];
            self.group[one.max(other) as usize] = one.min(other);
        }
        for car in 0..self.group.len() {
            if self.group[car] != NONE {
                self.group[car] = lowest_of(&self.group, car as u32);
            }
        }
    }

    /// Adds the points at which cars of a group touch the ground, except points that were found before.
    fn touch_ground(
        &mut self,
        chassis: &[Chassis],
        ground: &Ground,
        touching: &mut Touching,
        stops: &[(usize, HullPoint)],
        dt: f32,
    ) {
        for (car, hull) in chassis.iter().enumerate().filter(|(car, _)| self.group[*car] != NONE) {
            touching.find(hull, ground, stops_of(stops, car), 0.0, dt);
            for found in touching.found() {
                if !self.points.iter().any(|point| point.is(car as u32, found)) {
                    self.points.push(Point::on_ground(hull, car as u32, found, self.points.len() as u32, dt));
                }
            }
        }
    }

    /// Solves the contact points of every group separately.
    fn press_all(&mut self, chassis: &mut [Chassis]) {
        for points in self.points.chunk_by_mut(|a, b| a.group == b.group) {
            press_group(points, links_of(&mut self.links, points[0].group), chassis);
        }
    }

    /// Removes the remaining approach speed of every contact that closes within the step by an impact, and its slip as far as
    /// friction allows. The poses still move until the gaps close, as on the ground.
    fn end_blows(&mut self, chassis: &mut [Chassis], dt: f32) {
        let mut hit = false;
        for point in &mut self.points {
            let closes = point.velocity(chassis).dot(point.normal) <= CLOSED * point.allowed;
            if point.gap > BLOW * dt && closes {
                (point.allowed, point.slides, hit) = (0.0, Vec3::ZERO, true);
            }
        }
        if !hit {
            return;
        }
        for (car, moves) in self.moves.iter_mut().enumerate() {
            *moves = chassis[car].motion();
        }
        self.press_all(chassis);
        for (car, moves) in self.moves.iter().enumerate().filter(|(car, _)| self.group[*car] != NONE) {
            if chassis[car].motion() != *moves {
                chassis[car].move_with(*moves);
            }
        }
    }
}

/// Returns true if spheres around the hulls may overlap within `dt` s and neither car is suspended.
fn may_meet(first: &Chassis, second: &Chassis, dt: f32) -> bool {
    let ways = first.motion()[0].length() + second.motion()[0].length();
    let reach = first.hull_reach + second.hull_reach + ways * dt;
    let near = (first.position - second.position).as_vec3().length_squared() <= reach * reach;
    near && !first.away && !second.away
}

/// Closes the hitches `links` of a group for the coming `dt` s, and updates the compliance of its `points` with them.
fn aim(links: &mut [Link], points: &mut [Point], chassis: &mut [Chassis], dt: f32) {
    tighten(links, chassis, dt);
    for point in points {
        point.learn(links, chassis);
    }
}

/// Returns the points of `group`. `points` is sorted by group.
fn of_group(points: &mut [Point], group: u32) -> &mut [Point] {
    let first = points.partition_point(|point| point.group < group);
    let count = points[first..].partition_point(|point| point.group == group);
    &mut points[first..first + count]
}

/// Returns the hitches of `group`. `links` is sorted by group.
fn links_of(links: &mut [Link], group: u32) -> &mut [Link] {
    let first = links.partition_point(|link| link.group < group);
    let count = links[first..].partition_point(|link| link.group == group);
    &mut links[first..first + count]
}

/// Returns the root of `car` in the union-find array `group`: the lowest index of its set.
fn lowest_of(group: &[u32], mut car: u32) -> u32 {
    while group[car as usize] != car {
        car = group[car as usize];
    }
    car
}

impl Point {
    /// Creates the contact point of the two hulls `cars` for a step of `dt` s.
    fn between(chassis: &[Chassis], cars: [u32; 2], meeting: &Meeting, number: u32, dt: f32) -> Self {
        let Meeting { arms, closes, gap, normal } = *meeting;
        // The friction coefficients are multiplied, as in Rapier.
        let friction = cars.iter().map(|car| chassis[*car as usize].friction).product();
        let mut point = Self {
            group: NONE,
            number,
            cars,
            arms,
            normal,
            gap,
            friction,
            ground: Vec3::ZERO,
            allowed: HullPoint { arm: arms[0], gap, normal, friction, velocity: Vec3::ZERO }.allowed_speed(dt),
            slides: Vec3::ZERO,
            give: 0.0,
            answer: None,
            pressed: 0.0,
            drag: Vec3::ZERO,
            before: Vec3::ZERO,
            kept: Vec3::ZERO,
        };
        let velocity = point.velocity(chassis);
        // Before contact the hulls slide with their relative velocity; only the rest of the step is subject to friction.
        point.slides = (velocity - normal * velocity.dot(normal)) * closes;
        point.give = point.give_along(chassis, normal);
        point
    }

    /// Creates the point at which `hull`, of index `car`, touches the ground, for a step of `dt` s.
    fn on_ground(hull: &Chassis, car: u32, found: &HullPoint, number: u32, dt: f32) -> Self {
        Self {
            group: NONE,
            number,
            cars: [car, NONE],
            arms: [found.arm, Vec3::ZERO],
            normal: found.normal,
            gap: found.gap,
            friction: found.friction,
            ground: found.velocity,
            allowed: found.allowed_speed(dt),
            slides: Vec3::ZERO,
            give: given_by(hull, found.arm, found.normal),
            answer: None,
            pressed: 0.0,
            drag: Vec3::ZERO,
            before: Vec3::ZERO,
            kept: Vec3::ZERO,
        }
    }

    /// Returns true if this is the point `found` of `car` on the ground.
    fn is(&self, car: u32, found: &HullPoint) -> bool {
        let near = self.arms[0].distance_squared(found.arm) < SAME * SAME;
        self.cars == [car, NONE] && near && self.normal.dot(found.normal) > 1.0 - SAME
    }

    /// Returns the velocity of the first hull at the point relative to the second hull or the ground, m/s.
    fn velocity(&self, chassis: &[Chassis]) -> Vec3 {
        let own = chassis[self.cars[0] as usize].speed_at(self.arms[0]);
        chassis.get(self.cars[1] as usize).map_or(own - self.ground, |other| own - other.speed_at(self.arms[1]))
    }

    /// Returns the change of that velocity along the unit vector `along` per impulse along it, 1/kg.
    fn give_along(&self, chassis: &[Chassis], along: Vec3) -> f32 {
        if let Some(answer) = self.answer {
            return along.dot(answer * along);
        }
        let own = given_by(&chassis[self.cars[0] as usize], self.arms[0], along);
        chassis.get(self.cars[1] as usize).map_or(own, |other| own + given_by(other, self.arms[1], along))
    }

    /// Computes the compliance of the point including all chassis that `links` connect to its hulls. Applies test impulses and
    /// takes them back.
    fn learn(&mut self, links: &mut [Link], chassis: &mut [Chassis]) {
        let before = self.velocity(chassis);
        let columns = Vec3::AXES.map(|axis| {
            // The test impulses change the velocity by metres per second, so that the differences are accurate.
            let size = 1.0 / given_by(&chassis[self.cars[0] as usize], self.arms[0], axis);
            self.apply(chassis, links, axis * size);
            let after = self.velocity(chassis);
            self.apply(chassis, links, axis * -size);
            (after - before) / size
        });
        let answer = Mat3::from_cols(columns[0], columns[1], columns[2]);
        self.answer = Some(answer);
        self.give = self.normal.dot(answer * self.normal);
    }

    /// Applies `impulse` (N s) to the first hull and the opposite to the second, and solves the hitches. Returns the larger
    /// change of velocity of the two hulls, m/s.
    fn apply(&self, chassis: &mut [Chassis], links: &mut [Link], impulse: Vec3) -> f32 {
        let [own, other] = self.cars.map(|car| car as usize);
        chassis[own].stop(impulse, self.arms[0].cross(impulse));
        let mut inverse_mass = chassis[own].inverse_mass;
        if let Some(other) = chassis.get_mut(other) {
            other.stop(-impulse, -self.arms[1].cross(impulse));
            inverse_mass = inverse_mass.max(other.inverse_mass);
        }
        if self.answer.is_some() {
            hold(links, chassis);
        }
        impulse.length() * inverse_mass
    }

    /// Updates the normal impulse for the current velocity. Returns true if the velocity changes by more than [`SETTLED`].
    fn press(&mut self, chassis: &mut [Chassis], links: &mut [Link]) -> bool {
        let wanted = (self.allowed - self.velocity(chassis).dot(self.normal)) / self.give;
        let pressed = (self.pressed + wanted).max(0.0);
        let more = pressed - self.pressed;
        if more == 0.0 {
            return false;
        }
        self.pressed = pressed;
        self.apply(chassis, links, self.normal * more) > SETTLED
    }

    /// Updates the friction impulse for the current velocity and normal impulse. Returns true if the velocity changes by more
    /// than [`SETTLED`].
    fn rub(&mut self, chassis: &mut [Chassis], links: &mut [Link]) -> bool {
        if self.pressed == 0.0 && self.drag == Vec3::ZERO {
            return false;
        }
        let slip = self.velocity(chassis) - self.slides;
        let slip = slip - self.normal * slip.dot(self.normal);
        let size = slip.length();
        let mut drag = self.drag;
        if size > 1e-6 {
            drag -= slip / self.give_along(chassis, slip / size);
        }
        let drag = drag.clamp_length_max(self.friction * self.pressed);
        let more = drag - self.drag;
        self.drag = drag;
        self.apply(chassis, links, more) > SETTLED
    }
}

/// Returns the change of velocity of the point `arm` of `chassis` along the unit vector `along`, per impulse along it at that
/// point, 1/kg.
fn given_by(chassis: &Chassis, arm: Vec3, along: Vec3) -> f32 {
    let lever = arm.cross(along);
    chassis.inverse_mass + lever.dot(chassis.spun_by(lever))
}

#[cfg(test)]
mod tests;
