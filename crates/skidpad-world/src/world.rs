//! Rigid-body world: bodies, ray probes and integration.

use skidpad_core::instruction_set::widest;
use skidpad_core::{
    Body, Contact, Foreseen, HullPoint, Mat3, Probe, Push, Pushable, Reaction, Scene, Seen, State, Vec3, WorldPort,
};

use crate::chassis::Chassis;
use crate::collisions::Collisions;
use crate::hull::stops_of;
use crate::{Ground, Touching, in_fours};

/// World of chassis and free bodies on the ground of a scene.
#[derive(Clone, Debug)]
pub struct World {
    /// Chassis of the cars by slot, then the free bodies.
    pub(crate) chassis: Vec<Chassis>,
    /// Number of free bodies.
    pub(crate) bodies: usize,
    pub(crate) ground: Ground,
    pub(crate) touching: Touching,
    /// Contacts between cars and free bodies, and hitches. `None` if nothing can collide and no car can be towed.
    pub(crate) collisions: Option<Collisions>,
    /// Whether some chassis may have been moved from outside since the last step.
    pub(crate) is_replaced: bool,
    /// Whether some wheel stands on a hull or a free body in this step.
    pub(crate) bears_hulls: bool,
    /// Length of the current step, s.
    pub(crate) dt: f32,
    /// Whether some wheel of some car has a rim probe, not only a ray.
    has_rims: bool,
    /// Buffer for the triangles near a wheel.
    pub(crate) near: Vec<Seen>,
    /// Contact points that stop rims, each with the index of its car, sorted by car.
    stops: Vec<(usize, HullPoint)>,
    /// Buffer for the stops of repeated probes within a step; the results are discarded.
    unused_stops: Vec<(usize, HullPoint)>,
    /// Flags of the chassis that may touch the ground in this step.
    near_ground: Vec<bool>,
}

impl World {
    /// Creates a world without cars, on the ground and with the free bodies of `scene`.
    pub fn new(scene: Scene) -> Self {
        let ground = Ground::new(&scene);
        let touching = Touching::on(&ground, scene.bodies.len());
        let chassis: Vec<Chassis> = scene.bodies.iter().map(Chassis::free).collect();
        let bodies = chassis.len();
        let meets = scene.cars_collide || bodies > 0;
        let mut collisions = meets.then(|| Collisions::new(scene.cars_collide, bodies));
        collisions.iter_mut().for_each(|collisions| collisions.make_room(bodies));
        Self {
            chassis,
            bodies,
            ground,
            touching,
            collisions,
            is_replaced: true,
            bears_hulls: false,
            dt: 0.0,
            has_rims: false,
            near: Vec::new(),
            stops: Vec::new(),
            unused_stops: Vec::new(),
            near_ground: vec![true; bodies],
        }
    }

    /// Inserts the chassis of a car: replaces the one in `slot`, or appends it if the slot is new.
    pub fn put(&mut self, slot: usize, chassis: Chassis) {
        self.has_rims |= chassis.has_rims;
        if chassis.is_trailer {
            self.collisions.get_or_insert_with(|| Collisions::new(false, 0)).has_trailers = true;
        }
        let cars = self.cars();
        if slot < cars {
            self.chassis[slot] = chassis;
        } else {
            self.chassis.insert(cars, chassis);
            self.near_ground.push(true);
        }
        self.is_replaced = true;
        if let Some(collisions) = &mut self.collisions {
            collisions.make_room(self.chassis.len());
        }
    }

    /// Appends the chassis of a car.
    #[cfg(test)]
    pub(crate) fn add_behind(&mut self, chassis: Chassis) {
        self.put(self.cars(), chassis);
    }

    /// Suspends the chassis in `slot` until [`World::set_state`].
    pub fn suspend(&mut self, slot: usize) {
        self.chassis[slot].suspend();
        self.is_replaced = true;
        self.forget_bounds();
    }

    /// Sets the motion of the chassis in `slot`, and resumes the chassis if it is suspended.
    pub fn set_state(&mut self, slot: usize, state: &State) {
        let was_suspended = self.chassis[slot].away;
        self.chassis[slot].adopt(state);
        self.is_replaced = true;
        if was_suspended {
            self.forget_bounds();
        }
    }

    /// Discards the bounds of the broad phase, which exclude suspended chassis.
    fn forget_bounds(&mut self) {
        if let Some(collisions) = &mut self.collisions {
            collisions.forget_bounds();
        }
    }

    /// Returns the number of cars.
    pub(crate) fn cars(&self) -> usize {
        self.chassis.len() - self.bodies
    }

    /// Returns the free bodies, in order.
    pub fn bodies(&self) -> &[Chassis] {
        &self.chassis[self.cars()..]
    }

    /// Returns the free bodies, in order, for changes of their motion.
    pub fn bodies_mut(&mut self) -> &mut [Chassis] {
        self.is_replaced = true;
        let cars = self.cars();
        &mut self.chassis[cars..]
    }

    /// Sets the velocity of the air, world axes, m/s.
    pub fn set_wind(&mut self, velocity: Vec3) {
        self.ground.set_wind(velocity);
    }

    /// Begins a step of `dt` s at `time` s: places the platforms and sets their motion over the step.
    pub fn begin_step(&mut self, time: f64, dt: f32) {
        self.dt = dt;
        if self.ground.has_platforms() {
            self.ground.move_platforms(time, dt);
        }
    }

    /// Returns the chassis of the cars, in order, for changes of their motion.
    pub fn chassis_mut(&mut self) -> &mut [Chassis] {
        self.is_replaced = true;
        let cars = self.cars();
        &mut self.chassis[..cars]
    }

    /// Answers probes between steps into `answered`, in order. A miss is `None`, and so is a probe of a car index that does not
    /// exist.
    pub fn ask(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        self.ground.probe_plane(asked, answered);
        self.ground.probe_blocks(asked, answered);
        self.ground.probe_triangles(asked, answered, &mut self.near, &mut Vec::new());
        self.ask_hulls(asked, answered);
        for (_, answer) in asked.iter().zip(answered).filter(|(probe, _)| probe.car >= self.cars()) {
            *answer = None;
        }
    }

    /// Returns the impulses that hitches transmitted to trailers in the last [`World::advance`] because hulls were stopped, N s,
    /// each with the index of the trailer.
    pub fn jolts(&self) -> impl Iterator<Item = (usize, Vec3)> {
        self.collisions.iter().flat_map(|collisions| collisions.jolts())
    }

    /// Ends the step of `dt` s: separates hulls from each other and from the ground, then moves every pose with its new velocity.
    ///
    /// A chassis that would get a non-finite pose keeps its pose and stops.
    pub fn advance(&mut self, dt: f32) {
        widest(
            #[inline(always)]
            || self.advance_all(dt),
        );
    }

    #[inline(always)]
    fn advance_all(&mut self, dt: f32) {
        let met = self.chassis.len() > 1 && self.collisions.is_some() && self.keep_apart(dt);
        if !met {
            self.keep_out(dt);
        }
        in_fours::advance(&mut self.chassis, dt);
    }

    /// Keeps every hull that is not suspended out of the ground over `dt` s.
    #[inline(always)]
    fn keep_out(&mut self, dt: f32) {
        let mut near = core::mem::take(&mut self.near_ground);
        self.find_near(0.0, dt, &mut near);
        if near.contains(&true) {
            let all = self.chassis.iter_mut().enumerate().zip(&near);
            for ((car, chassis), _) in all.filter(|((_, chassis), near)| **near && !chassis.away) {
                self.touching.keep_out(chassis, &self.ground, stops_of(&self.stops, car), dt);
            }
        }
        self.near_ground = near;
    }

    /// Writes whether each chassis may touch the ground within `dt` s if its speed rises by at most `falling` m/s.
    #[inline(always)]
    fn find_near(&self, falling: f32, dt: f32, near: &mut [bool]) {
        if self.ground.is_bare() && self.stops.is_empty() {
            in_fours::find_near(&self.chassis, &self.ground, falling, dt, near);
        } else {
            near.fill(true);
        }
    }

    /// Applies gravity and `pushes` to the cars, and gravity to the free bodies. Clears `carries` of the free bodies.
    #[inline(always)]
    fn push_all(&mut self, dt: f32, pushes: &[Push]) {
        let fall = Vec3::new(0.0, 0.0, -self.ground.gravity() * dt);
        let cars = pushes.len().min(self.chassis.len());
        in_fours::push(&mut self.chassis[..cars], pushes, fall);
        if self.bodies > 0 {
            for body in self.chassis.iter_mut().skip(pushes.len()) {
                body.push(fall, Vec3::ZERO);
                body.carries = false;
            }
        }
    }

    /// Separates hulls from each other. Returns whether any hulls collide or are hitched; if so, all hulls are also kept out of
    /// the ground.
    #[inline(never)]
    fn keep_apart(&mut self, dt: f32) -> bool {
        let Some(collisions) = &mut self.collisions else { return false };
        if !collisions.keep_apart(&mut self.chassis, &self.ground, &mut self.touching, &self.stops, dt) {
            return false;
        }
        let apart = |(car, chassis): &(usize, &mut Chassis)| !chassis.away && !collisions.holds(*car);
        for (car, chassis) in self.chassis.iter_mut().enumerate().filter(apart) {
            self.touching.keep_out(chassis, &self.ground, stops_of(&self.stops, car), dt);
        }
        true
    }
}

impl WorldPort for World {
    fn bodies(&self, dt: f32, bodies: &mut [Body]) {
        let fall = Vec3::new(0.0, 0.0, -self.ground.gravity() * dt);
        let has_trailers = self.collisions.as_ref().is_some_and(|collisions| collisions.has_trailers);
        for (chassis, body) in self.chassis.iter().zip(bodies) {
            *body = Body {
                position: chassis.position,
                rotation: chassis.rotation,
                velocity: chassis.velocity,
                angular: chassis.angular,
                free_velocity: chassis.velocity + fall,
                free_angular: chassis.angular,
                drift: if has_trailers { chassis.drift(dt) } else { Vec3::ZERO },
                wind: self.ground.wind(),
                pose_lag: 0.5 * dt,
                resolution: 0.0,
                asleep: false,
            };
        }
    }

    fn moved(&self, _dt: f32, bodies: &mut [Body]) {
        for (chassis, body) in self.chassis.iter().zip(bodies) {
            (body.position, body.rotation) = (chassis.position, chassis.rotation);
            (body.velocity, body.angular) = (chassis.velocity, chassis.angular);
        }
    }

    fn probe(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        self.ground.answer(asked, answered, self.has_rims, &mut self.near, &mut self.stops);
        if self.collisions.is_some() && self.chassis.len() > 1 {
            self.probe_hulls(asked, answered);
        }
    }

    fn is_even(&self) -> bool {
        self.ground.is_bare()
    }

    fn probe_again(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) -> bool {
        let is_uneven = asked.iter().any(|probe| self.ground.is_uneven_near(probe));
        if is_uneven {
            self.ground.answer(asked, answered, self.has_rims, &mut self.near, &mut self.unused_stops);
        }
        is_uneven
    }

    fn near_hulls(&mut self, dt: f32, near: &mut [bool]) {
        let falling = self.ground.gravity() * dt;
        widest(
            #[inline(always)]
            || self.find_near(falling, dt, near),
        );
    }

    fn hull_points(&mut self, car: usize, dt: f32, points: &mut Vec<HullPoint>) {
        let falling = self.ground.gravity() * dt;
        let stops = stops_of(&self.stops, car);
        self.touching.find(&self.chassis[car], &self.ground, stops, falling, dt);
        self.touching.nearest(&self.chassis[car], points, dt);
    }

    fn push(&mut self, dt: f32, pushes: &[Push]) {
        widest(
            #[inline(always)]
            || self.push_all(dt, pushes),
        );
    }

    fn bears_wheels(&self) -> bool {
        self.bears_hulls
    }

    fn vehicle_of(&self, body: u64) -> Option<usize> {
        self.hull_under(body).filter(|hull| *hull < self.cars())
    }

    fn pushable(&self, body: u64, _normal: Vec3, _dt: f32) -> Option<Pushable> {
        let body = &self.chassis[self.body_under(body)?];
        let spun = Vec3::AXES.map(|axis| body.spun_by(axis));
        Some(Pushable {
            centre: body.position,
            velocity: body.velocity,
            angular: body.angular,
            inverse_mass: Mat3::from_diagonal(Vec3::splat(body.inverse_mass)),
            inverse_inertia: Mat3::from_cols(spun[0], spun[1], spun[2]),
        })
    }

    fn foresee(&mut self, body: u64, pushed: [Vec3; 2], dt: f32) -> Option<Foreseen> {
        self.foresee_body(body, pushed, dt)
    }

    fn react(&mut self, _dt: f32, reactions: &[Reaction]) {
        self.push_hulls(reactions);
    }

    fn follow_ground(&self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        self.follow_hulls(asked, answered);
    }
}
