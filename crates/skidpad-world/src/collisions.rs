//! Car against car, and free bodies against both: which hulls meet within a step, and the impulses between them. What is said of cars
//! here holds for free bodies, whose numbers follow those of the cars.
//!
//! Hulls that meet are solved together with all that they and their neighbours touch, so that a car pressed between a wall and
//! another car enters neither. A car that meets none keeps every bit.

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

/// Most times that hulls are looked for again along the ways which impulses leave: each hands a blow on to the next car.
const ROUNDS: usize = 16;

/// Pairs whose hulls meet for which there is memory from the start, for each car; more ask for it.
const PAIRS: usize = 4;

/// Points, likewise.
const POINTS: usize = 32;

/// The number of no car.
const NONE: u32 = u32::MAX;

/// Two points of one hull closer than this are one, m.
const SAME: f32 = 1e-3;

/// Contacts between the hulls of a world, and the memory that finding them needs.
#[derive(Clone)]
pub(crate) struct Collisions {
    /// Which hulls are near each other.
    bounds: Bounds,
    /// Pairs whose hulls meet; in order, the lower number first.
    pairs: Vec<[u32; 2]>,
    manifold: ContactManifold<(), ()>,
    points: Vec<Point>,
    /// Whether anything meets; if not, only hitches are held.
    meets: bool,
    /// Cars of lower numbers pass through each other.
    passing: u32,
    /// Whether cars meet cars.
    cars_meet: bool,
    /// Number of free bodies, which follow the cars.
    bodies: usize,
    /// Whether some car can be towed.
    pub has_trailers: bool,
    /// The hitches that hold, group by group.
    links: Vec<Link>,
    /// The lowest number of the cars each car is solved with, [`NONE`] if it meets none.
    group: Vec<u32>,
    /// Velocity and angular velocity each pose moves with.
    moves: Vec<[Vec3; 2]>,
}

impl core::fmt::Debug for Collisions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Collisions").finish_non_exhaustive()
    }
}

/// A point of a hull that touches another one, or the ground.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Of the group.
    group: u32,
    /// Which of all that were found.
    number: u32,
    /// Whose hulls; the ground is [`NONE`].
    cars: [u32; 2],
    /// From each centre of mass, world axes, m.
    arms: [Vec3; 2],
    /// Out of the second, unit vector.
    normal: Vec3,
    gap: f32,
    friction: f32,
    /// Of ground that moves, m/s.
    ground: Vec3,
    /// Least speed along the normal that it is left with, m/s.
    allowed: f32,
    /// Velocity across the normal that friction leads to, m/s.
    slides: Vec3,
    /// Change of speed along the normal by an impulse along it, 1/kg.
    give: f32,
    /// Change of velocity by impulses of those that are hitched to others, 1/kg.
    answer: Option<Mat3>,
    /// N s.
    pressed: f32,
    /// N s.
    drag: Vec3,
    /// What it had given before the last pass, and before the last leap, N s.
    before: Vec3,
    kept: Vec3,
}

impl Collisions {
    /// Of no cars and so many free `bodies`; cars to come may meet each other, or pass through each other.
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

    /// Whether two of these numbers pass through each other.
    pub fn pass(&self, one: u32, other: u32) -> bool {
        one.max(other) < self.passing
    }

    /// Whether anything meets.
    pub fn meets(&self) -> bool {
        self.meets
    }

    /// Makes room for `cars` cars and free bodies.
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

    /// Whether `car` was solved with others in this step, in which some have met.
    pub fn holds(&self, car: usize) -> bool {
        self.group[car] != NONE
    }

    /// Changes the twists of those of `chassis` that meet others within the coming `dt` s, so that no hull enters another or the
    /// ground: sequential impulses with friction between every two cars, and as [`Touching::keep_out`] on `ground`. Likewise of
    /// trains of which one touches the ground. Whether any have met or tow each other.
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

    /// The pairs of cars whose bounds meet, the lower number first.
    pub fn near(&self) -> &[[u32; 2]] {
        self.bounds.near()
    }

    /// Those whose hulls may be within `reach` m of `place`, in no order, by the last look.
    pub fn around(&self, place: DVec3, reach: f32) -> impl Iterator<Item = usize> {
        self.bounds.around(place, reach.into())
    }

    /// Finds them anew if cars have been put elsewhere since the last step of `dt` s, or leave their bounds in the next one.
    #[inline(always)]
    pub fn look_again(&mut self, chassis: &[Chassis], dt: f32) {
        if self.meets && !self.bounds.is_fresh(chassis, dt) {
            self.bounds.sweep(chassis, self.passing, dt);
        }
    }

    /// Discards the bounds of the broad phase, so that the next step computes them.
    pub fn forget_bounds(&mut self) {
        self.bounds.clear();
    }

    /// What hitches have handed on to trailers beside their vehicles' own solve, each with the number of the trailer, N s.
    pub fn jolts(&self) -> impl Iterator<Item = (usize, Vec3)> {
        let jolted = self.links.iter().filter(|link| link.impulse != Vec3::ZERO);
        jolted.map(|link| (link.cars[0] as usize, link.impulse))
    }

    /// Adds the points at which hulls that are near meet, but for pairs that have met.
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

    /// Finds the hitches that hold.
    fn find_links(&mut self, chassis: &[Chassis]) {
        self.links.clear();
        for (car, trailer) in chassis.iter().enumerate() {
            let by = trailer.towed_by.filter(|by| chassis.get(*by as usize).is_some_and(|ahead| !ahead.away));
            if let Some(by) = by.filter(|by| !trailer.away && *by as usize != car) {
                self.links.push(Link::new([car as u32, by]));
            }
        }
    }

    /// Holds the hitches of the trains of which something is stopped, with the turns that this leaves. The others keep every bit.
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

    /// Gives cars that meet or tow each other, and those they meet, one group.
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

    /// Adds the points at which cars that meet others touch the ground, but for those found before.
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

    /// Presses every group by itself.
    fn press_all(&mut self, chassis: &mut [Chassis]) {
        for points in self.points.chunk_by_mut(|a, b| a.group == b.group) {
            press_group(points, links_of(&mut self.links, points[0].group), chassis);
        }
    }

    /// What met something within the step ends it without any speed towards it, and as far as friction holds across it, while the
    /// poses still come as near as they may; as on the ground.
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

/// Whether spheres around the hulls meet within `dt` s, and both cars are there.
fn may_meet(first: &Chassis, second: &Chassis, dt: f32) -> bool {
    let ways = first.motion()[0].length() + second.motion()[0].length();
    let reach = first.hull_reach + second.hull_reach + ways * dt;
    let near = (first.position - second.position).as_vec3().length_squared() <= reach * reach;
    near && !first.away && !second.away
}

/// Holds the hitches `links` of a group for the coming `dt` s, and lets its `points` know what they move with them.
fn aim(links: &mut [Link], points: &mut [Point], chassis: &mut [Chassis], dt: f32) {
    tighten(links, chassis, dt);
    for point in points {
        point.learn(links, chassis);
    }
}

/// The points of `group`, of points group by group.
fn of_group(points: &mut [Point], group: u32) -> &mut [Point] {
    let first = points.partition_point(|point| point.group < group);
    let count = points[first..].partition_point(|point| point.group == group);
    &mut points[first..first + count]
}

/// The same of hitches.
fn links_of(links: &mut [Link], group: u32) -> &mut [Link] {
    let first = links.partition_point(|link| link.group < group);
    let count = links[first..].partition_point(|link| link.group == group);
    &mut links[first..first + count]
}

/// The lowest number that `car` leads to.
fn lowest_of(group: &[u32], mut car: u32) -> u32 {
    while group[car as usize] != car {
        car = group[car as usize];
    }
    car
}

impl Point {
    fn between(chassis: &[Chassis], cars: [u32; 2], meeting: &Meeting, number: u32, dt: f32) -> Self {
        let Meeting { arms, closes, gap, normal } = *meeting;
        // The product of both, as Rapier multiplies them.
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
        // Until they touch, they slide by as much as they did: so both come where a blow at that moment would send them.
        point.slides = (velocity - normal * velocity.dot(normal)) * closes;
        point.give = point.give_along(chassis, normal);
        point
    }

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

    /// Whether it is what the hull of `car` was `found` to touch.
    fn is(&self, car: u32, found: &HullPoint) -> bool {
        let near = self.arms[0].distance_squared(found.arm) < SAME * SAME;
        self.cars == [car, NONE] && near && self.normal.dot(found.normal) > 1.0 - SAME
    }

    /// Of the first hull against the second or the ground, m/s.
    fn velocity(&self, chassis: &[Chassis]) -> Vec3 {
        let own = chassis[self.cars[0] as usize].speed_at(self.arms[0]);
        chassis.get(self.cars[1] as usize).map_or(own - self.ground, |other| own - other.speed_at(self.arms[1]))
    }

    /// Change of that velocity along the unit vector `along` by an impulse along it, 1/kg.
    fn give_along(&self, chassis: &[Chassis], along: Vec3) -> f32 {
        if let Some(answer) = self.answer {
            return along.dot(answer * along);
        }
        let own = given_by(&chassis[self.cars[0] as usize], self.arms[0], along);
        chassis.get(self.cars[1] as usize).map_or(own, |other| own + given_by(other, self.arms[1], along))
    }

    /// Learns how it answers with all that `links` tie to its hulls.
    fn learn(&mut self, links: &mut [Link], chassis: &mut [Chassis]) {
        let before = self.velocity(chassis);
        let columns = Vec3::AXES.map(|axis| {
            // So much that the answer has its digits: it changes the velocity by metres per second.
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

    /// Gives `impulse` (N s) to the first hull, and the opposite to the second; returns the larger change of velocity, m/s.
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

    /// Changes what presses by what the point still needs; whether that changes the velocity of anything.
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

    /// The same of friction.
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

/// Change of the velocity of the point `arm` of `chassis` along the unit vector `along` by an impulse along it there, 1/kg.
fn given_by(chassis: &Chassis, arm: Vec3, along: Vec3) -> f32 {
    let lever = arm.cross(along);
    chassis.inverse_mass + lever.dot(chassis.spun_by(lever))
}

#[cfg(test)]
mod tests;
