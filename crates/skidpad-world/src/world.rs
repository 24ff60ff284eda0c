//! Bodies, rays, integration.

use skidpad_core::columns::{Columns, side_by_side, vector};
use skidpad_core::instruction_set::widest;
use skidpad_core::lane::{Four, Lane};
use skidpad_core::supports::Rigid;
use skidpad_core::{
    BODYWORK_FRICTION, Body, BodyMotion, Contact, DVec3, Foreseen, FreeBody, HullPoint, Mat3, Model, Probe, Push,
    Pushable, Quat, Reaction, Scene, Seen, State, Vec3, WorldPort, math,
    model::{Hull, Wheel},
};

use crate::collisions::Collisions;
use crate::hull::stops_of;
use crate::{Ground, Touching};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Motion {
    velocity: Vec3,
    angular: Vec3,
}

/// A chassis, or a free body: pose and twist of its centre of mass.
#[derive(Clone, Debug)]
pub struct Chassis {
    pub(crate) position: DVec3,
    pub(crate) rotation: Quat,
    /// The rotation as a matrix.
    pub(crate) axes: Mat3,
    /// The same, and its inverse.
    to_world: Columns,
    from_world: Columns,
    pub(crate) velocity: Vec3,
    pub(crate) angular: Vec3,
    /// By so much the velocity the pose moves with lags that at the end of the step: half of what the push changed.
    lag: Motion,
    pub(crate) inverse_mass: f32,
    inertia: Columns,
    inverse_inertia: Columns,
    pub(crate) hull: Hull,
    /// Of the hull on a surface of grip 1.
    pub(crate) friction: f32,
    /// Factor on the friction of every tyre on it.
    pub(crate) grip: f32,
    /// No point of the hull is farther from the centre of mass, m.
    pub(crate) hull_reach: f32,
    /// No wheel reaches farther on its springs, m.
    pub(crate) wheel_reach: f32,
    /// Whether some wheel feels with more than a ray.
    has_rims: bool,
    /// Whether it is a free body that wheels push in this step.
    pub(crate) carries: bool,
    /// Neither pushed nor moved.
    away: bool,
    /// Number of the one it is hitched to, which it does not touch.
    pub(crate) towed_by: Option<u32>,
    /// Where it tows others, and where it is towed, from the centre of mass, vehicle axes, m.
    pub(crate) hitch: Vec3,
    pub(crate) coupler: Vec3,
    /// Whether it can be towed, and whether it can tow or be towed.
    is_trailer: bool,
    is_tied: bool,
}

impl Chassis {
    /// A chassis of `model` in the pose and motion of `state`.
    pub fn new(model: &Model, state: &State) -> Self {
        let mut chassis = Self::rigid(model.mass(), *model.inertia(), model.parts().hull);
        chassis.has_rims = model.has_rims();
        chassis.wheel_reach = model.wheels().iter().map(reach_of).fold(0.0, f32::max);
        let (hitch, coupler) = (model.parts().hitch, model.parts().coupler);
        chassis.hitch = hitch.unwrap_or_default().point;
        chassis.coupler = coupler.unwrap_or_default().point;
        chassis.is_trailer = coupler.is_some();
        chassis.is_tied = hitch.is_some() || coupler.is_some();
        chassis.adopt(state);
        chassis
    }

    /// A chassis at rest at the origin: mass (kg, > 0), inertia about its centre of mass (kg m², positive definite), and
    /// the box that collides.
    pub fn rigid(mass: f32, inertia: Mat3, hull: Hull) -> Self {
        Self {
            position: DVec3::ZERO,
            rotation: Quat::IDENTITY,
            axes: Mat3::IDENTITY,
            to_world: Columns::of(&Mat3::IDENTITY),
            from_world: Columns::of(&Mat3::IDENTITY),
            velocity: Vec3::ZERO,
            angular: Vec3::ZERO,
            lag: Motion::default(),
            inverse_mass: 1.0 / mass,
            inertia: Columns::of(&inertia),
            inverse_inertia: Columns::of(&inertia.inverse()),
            hull,
            friction: BODYWORK_FRICTION,
            grip: 1.0,
            hull_reach: hull.half_extents.length() + hull.centre.length(),
            wheel_reach: 0.0,
            has_rims: false,
            carries: false,
            away: false,
            towed_by: None,
            hitch: Vec3::ZERO,
            coupler: Vec3::ZERO,
            is_trailer: false,
            is_tied: false,
        }
    }

    /// A free body as it starts.
    pub fn free(body: &FreeBody) -> Self {
        let mut chassis = Self::rigid(body.mass, body.inertia, body.hull);
        (chassis.friction, chassis.grip) = (body.friction, body.grip);
        chassis.go_on_from(&body.motion);
        chassis
    }

    /// Goes on from `motion`.
    pub fn go_on_from(&mut self, motion: &BodyMotion) {
        self.place(motion.position, motion.rotation, [motion.velocity, motion.angular]);
    }

    /// Where it is and how it moves between two steps.
    pub fn motion_now(&self) -> BodyMotion {
        let Self { position, rotation, velocity, angular, .. } = *self;
        BodyMotion { position, rotation, velocity, angular }
    }

    /// Velocity of the centre of mass (m/s) and angular velocity (rad/s), world axes.
    pub fn twist(&self) -> [Vec3; 2] {
        [self.velocity, self.angular]
    }

    /// Puts the chassis somewhere: centre of mass (m), vehicle axes to world axes, and its twist as in
    /// [`Chassis::twist`].
    pub fn place(&mut self, position: DVec3, rotation: Quat, twist: [Vec3; 2]) {
        self.position = position;
        self.turn_to(rotation);
        [self.velocity, self.angular] = twist;
        self.lag = Motion::default();
    }

    #[inline(always)]
    fn turn_to(&mut self, rotation: Quat) {
        (self.rotation, self.axes) = (rotation, Mat3::from_quat(rotation));
        self.to_world = Columns::of(&self.axes);
        self.from_world = self.to_world.transposed();
    }

    /// Takes pose, twist and what tows it from `state`, and moves again if it had left.
    pub fn adopt(&mut self, state: &State) {
        self.place(state.position, state.rotation, [state.velocity, state.angular]);
        self.be_towed(state.tow.map(|tow| tow.by));
        self.away = false;
    }

    /// Moves no more, until [`Chassis::adopt`].
    pub fn remove(&mut self) {
        self.away = true;
    }

    /// From now on the chassis number `by` tows it: they do not touch, and what stops one of them stops the other.
    pub fn be_towed(&mut self, by: Option<u32>) {
        self.towed_by = by;
    }

    /// Whether it is neither pushed nor moved.
    pub(crate) fn is_removed(&self) -> bool {
        self.away
    }

    /// Whether something has stopped it in this step: its pose moves with the velocity it ends with.
    pub(crate) fn is_stopped(&self) -> bool {
        self.lag == Motion::default()
    }

    /// Changes the velocities over a whole step: the pose will move with their mean.
    pub(crate) fn push(&mut self, velocity: Vec3, angular: Vec3) {
        self.velocity += velocity;
        self.angular += angular;
        self.lag = Motion { velocity: velocity * 0.5, angular: angular * 0.5 };
    }

    /// The same, on top of what has pushed or stopped it already.
    pub(crate) fn push_on(&mut self, [velocity, angular]: [Vec3; 2]) {
        self.velocity += velocity;
        self.angular += angular;
        self.lag.velocity += velocity * 0.5;
        self.lag.angular += angular * 0.5;
    }

    /// Velocity (m/s) and angular velocity (rad/s) its pose moves with over this step, world axes.
    pub fn motion(&self) -> [Vec3; 2] {
        [self.velocity - self.lag.velocity, self.angular - self.lag.angular]
    }

    /// Its pose moves over this step with that velocity and angular velocity, whatever it ends with.
    pub(crate) fn move_with(&mut self, [velocity, angular]: [Vec3; 2]) {
        self.lag = Motion { velocity: self.velocity - velocity, angular: self.angular - angular };
    }

    /// Velocity of the point `arm` from the centre of mass (m, world axes), m/s.
    pub(crate) fn speed_at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.angular.cross(arm)
    }

    /// Stops the hull by impulses (N s, N m s). They act at once: the pose of this step moves with the velocity they leave.
    pub(crate) fn stop(&mut self, impulse: Vec3, angular_impulse: Vec3) {
        self.velocity += impulse * self.inverse_mass;
        self.angular += self.spun_by(angular_impulse);
        self.lag = Motion::default();
    }

    /// Change of angular velocity by an angular impulse, both in world axes.
    #[inline(always)]
    pub(crate) fn spun_by(&self, angular_impulse: Vec3) -> Vec3 {
        vector(self.through(&self.inverse_inertia, side_by_side(angular_impulse)))
    }

    /// A vector in world axes as the vehicle sees it.
    #[inline(always)]
    pub(crate) fn seen_from(&self, of: Vec3) -> Vec3 {
        vector(self.from_world.times(side_by_side(of)))
    }

    /// What a `matrix` in vehicle axes makes of a vector in world axes.
    #[inline(always)]
    fn through(&self, matrix: &Columns, vector: Four) -> Four {
        self.to_world.times(matrix.times(self.from_world.times(vector)))
    }

    /// The pose moves with the mean of the velocities before and after the push, so constant forces are followed
    /// exactly; what stops the hull acts at once. Turning keeps the angular momentum L in the world, and the body turns with
    /// its rate in the middle of the step: L is kept, energy to second order (a truck thrown at 6 rad/s gained 2 m of height
    /// within a second with its rate at the start).
    #[inline(always)]
    pub(crate) fn advance(&mut self, dt: f32) {
        self.position += ((self.velocity - self.lag.velocity) * dt).as_dvec3();
        let momentum = self.through(&self.inertia, side_by_side(self.angular));
        let middle = self.rate_half_way(momentum, dt);
        self.turn_to(math::turned(self.rotation, middle, dt));
        self.angular = vector(self.through(&self.inverse_inertia, momentum));
        self.lag = Motion::default();
    }

    /// About the centre of mass, N m s, world axes.
    pub(crate) fn angular_momentum(&self) -> Vec3 {
        vector(self.through(&self.inertia, side_by_side(self.angular)))
    }

    /// Angular velocity in the middle of the coming `dt` s, rad/s.
    pub(crate) fn middle_rate(&self, dt: f32) -> Vec3 {
        self.rate_half_way(side_by_side(self.angular_momentum()), dt)
    }

    /// The same with the angular momentum L; with that fixed, dω/dt = −J⁻¹ (ω × L).
    #[inline(always)]
    fn rate_half_way(&self, momentum: Four, dt: f32) -> Vec3 {
        let rate = self.angular - self.lag.angular;
        let change = self.through(&self.inverse_inertia, side_by_side(rate.cross(vector(momentum))));
        vector(side_by_side(rate) - change * Four::splat(0.5 * dt))
    }

    /// What its own momentum changes its angular velocity by in `dt` s, rad/s; told of what may be towed or tow alone.
    fn drift(&self, dt: f32) -> Vec3 {
        if !self.is_tied {
            return Vec3::ZERO;
        }
        -self.spun_by(self.angular.cross(self.angular_momentum())) * dt
    }

    fn is_finite(&self) -> bool {
        let (p, q, v) = (self.position, self.rotation, self.velocity + self.angular);
        // A turn too fast for 32 bits leaves a rotation of no length.
        (p.x + p.y + p.z).is_finite() && (v.x + v.y + v.z).is_finite() && q.length_squared() > 0.5
    }
}

/// No part of a wheel is farther from the centre of mass on its springs, m.
fn reach_of(wheel: &Wheel) -> f32 {
    wheel.contact.length() + 2.0 * wheel.radius + wheel.strut.droop_travel
}

/// Chassis and free bodies on the ground of a scene.
#[derive(Clone, Debug)]
pub struct World {
    /// Of cars, by their numbers, then free bodies.
    pub(crate) chassis: Vec<Chassis>,
    /// Number of free bodies.
    pub(crate) bodies: usize,
    pub(crate) ground: Ground,
    pub(crate) touching: Touching,
    /// Contacts between cars and free bodies, and hitches; none where nothing meets and no car can be towed.
    pub(crate) collisions: Option<Collisions>,
    /// Whether some chassis may have been put elsewhere since the last step.
    pub(crate) is_replaced: bool,
    /// Whether some wheel has met a hull or a free body in this step.
    pub(crate) bears_hulls: bool,
    /// Length of the step at hand, s.
    pub(crate) dt: f32,
    /// Whether some wheel of some car feels with more than a ray.
    has_rims: bool,
    /// Memory for the triangles near a wheel.
    pub(crate) near: Vec<Seen>,
    /// What stops rims, with the number of the car; car by car.
    stops: Vec<(usize, HullPoint)>,
}

impl World {
    /// A world without cars.
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
        }
    }

    /// Adds the chassis of a car; its index is the number of those before it.
    pub fn add(&mut self, chassis: Chassis) {
        self.has_rims |= chassis.has_rims;
        if chassis.is_trailer {
            self.collisions.get_or_insert_with(|| Collisions::new(false, 0)).has_trailers = true;
        }
        self.is_replaced = true;
        self.chassis.insert(self.cars(), chassis);
        if let Some(collisions) = &mut self.collisions {
            collisions.make_room(self.chassis.len());
        }
    }

    /// Number of cars.
    pub(crate) fn cars(&self) -> usize {
        self.chassis.len() - self.bodies
    }

    /// The free bodies, in order.
    pub fn bodies(&self) -> &[Chassis] {
        &self.chassis[self.cars()..]
    }

    /// The same, to be put elsewhere.
    pub fn bodies_mut(&mut self) -> &mut [Chassis] {
        self.is_replaced = true;
        let cars = self.cars();
        &mut self.chassis[cars..]
    }

    /// The air moves at `velocity` m/s from now on.
    pub fn set_wind(&mut self, velocity: Vec3) {
        self.ground.set_wind(velocity);
    }

    /// The coming step of `dt` s begins at `time` s, from which on platforms move.
    pub fn begin_step(&mut self, time: f64, dt: f32) {
        self.dt = dt;
        if self.ground.has_platforms() {
            self.ground.move_platforms(time, dt);
        }
    }

    /// The chassis of cars, in order.
    pub fn chassis_mut(&mut self) -> &mut [Chassis] {
        self.is_replaced = true;
        let cars = self.cars();
        &mut self.chassis[..cars]
    }

    /// Answers probes between steps, a miss by `None`; what a chassis asks that is not there is one.
    pub fn ask(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        self.ground.probe_plane(asked, answered);
        self.ground.probe_blocks(asked, answered);
        self.ground.terrain.probe(&self.ground, asked, answered, &mut self.near, &mut Vec::new());
        self.ask_hulls(asked, answered);
        for (_, answer) in asked.iter().zip(answered).filter(|(probe, _)| probe.car >= self.cars()) {
            *answer = None;
        }
    }

    /// What hitches handed on to trailers in the last [`World::advance`] since hulls were stopped, each with the trailer's number, N s.
    pub fn jolts(&self) -> impl Iterator<Item = (usize, Vec3)> {
        self.collisions.iter().flat_map(|collisions| collisions.jolts())
    }

    /// Ends the step: hulls are kept out of each other and of the ground, then every pose moves with its new velocity.
    ///
    /// A chassis that would leave the finite numbers keeps its pose and stops.
    pub fn advance(&mut self, dt: f32) {
        widest(
            #[inline(always)]
            || self.advance_all(dt),
        );
    }

    #[inline(always)]
    fn advance_all(&mut self, dt: f32) {
        let met = self.chassis.len() > 1 && self.collisions.is_some() && self.keep_apart(dt);
        for (car, chassis) in self.chassis.iter_mut().enumerate().filter(|(_, chassis)| !chassis.away) {
            if !met {
                self.touching.keep_out(chassis, &self.ground, stops_of(&self.stops, car), dt);
            }
            let (position, rotation) = (chassis.position, chassis.rotation);
            chassis.advance(dt);
            if !chassis.is_finite() {
                chassis.position = position;
                chassis.turn_to(rotation);
                (chassis.velocity, chassis.angular) = (Vec3::ZERO, Vec3::ZERO);
            }
        }
    }

    #[inline(always)]
    fn push_all(&mut self, dt: f32, pushes: &[Push]) {
        let fall = Vec3::new(0.0, 0.0, -self.ground.gravity() * dt);
        for (chassis, push) in self.chassis.iter_mut().zip(pushes).filter(|(chassis, _)| !chassis.away) {
            let turn = chassis.spun_by(push.angular_impulse);
            chassis.push(fall + push.impulse * chassis.inverse_mass, turn);
            if push.stop != Vec3::ZERO {
                chassis.stop(push.stop, push.angular_stop);
            }
        }
        if self.bodies > 0 {
            for body in self.chassis.iter_mut().skip(pushes.len()) {
                body.push(fall, Vec3::ZERO);
                body.carries = false;
            }
        }
    }

    /// Keeps hulls out of each other, and if any meet or tow each other also out of the ground; whether they do.
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

impl Rigid for Chassis {
    #[inline(always)]
    fn inverse_mass(&self) -> f32 {
        self.inverse_mass
    }

    #[inline(always)]
    fn spun_by(&self, angular_impulse: Vec3) -> Vec3 {
        Chassis::spun_by(self, angular_impulse)
    }

    #[inline(always)]
    fn speed_at(&self, arm: Vec3) -> Vec3 {
        Chassis::speed_at(self, arm)
    }

    #[inline(always)]
    fn stop(&mut self, impulse: Vec3, angular_impulse: Vec3) {
        Chassis::stop(self, impulse, angular_impulse);
    }
}

impl WorldPort for World {
    fn bodies(&self, dt: f32, bodies: &mut [Body]) {
        let fall = Vec3::new(0.0, 0.0, -self.ground.gravity() * dt);
        for (chassis, body) in self.chassis.iter().zip(bodies) {
            *body = Body {
                position: chassis.position,
                rotation: chassis.rotation,
                velocity: chassis.velocity,
                angular: chassis.angular,
                free_velocity: chassis.velocity + fall,
                free_angular: chassis.angular,
                drift: chassis.drift(dt),
                wind: self.ground.wind(),
                pose_lag: 0.5 * dt,
                resolution: 0.0,
                asleep: false,
            };
        }
    }

    fn probe(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        let is_plain = self.ground.is_plain();
        self.ground.probe_plane(asked, answered);
        if !is_plain {
            self.ground.tell_texture(answered);
        }
        if !self.ground.blocks.is_empty() {
            self.ground.probe_blocks(asked, answered);
        }
        if self.has_rims || !self.ground.terrain.is_empty() {
            self.ground.terrain.probe(&self.ground, asked, answered, &mut self.near, &mut self.stops);
        }
        if !is_plain {
            self.ground.put_textures(asked, answered);
        }
        if self.collisions.is_some() && self.chassis.len() > 1 {
            self.probe_hulls(asked, answered);
        }
    }

    fn hull_points(&mut self, car: usize, dt: f32, points: &mut Vec<HullPoint>) {
        let falling = self.ground.gravity() * dt;
        let stops = stops_of(&self.stops, car);
        self.touching.find(&self.chassis[car], &self.ground, stops, falling, dt);
        self.touching.nearest(points, dt);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A body thrown about its middle axis tumbles; it keeps its energy.
    #[test]
    fn a_tumbling_body_keeps_its_energy() {
        let inertia = Mat3::from_diagonal(Vec3::new(10e3, 60e3, 63e3));
        let hull = Hull { centre: Vec3::ZERO, half_extents: Vec3::ONE };
        let mut chassis = Chassis::rigid(15e3, inertia, hull);
        chassis.place(DVec3::ZERO, Quat::IDENTITY, [Vec3::ZERO, Vec3::new(0.1, 6.0, 0.1)]);
        let energy = |c: &Chassis| {
            let rate = c.axes.transpose() * c.angular;
            rate.dot(inertia * rate)
        };
        let start = energy(&chassis);
        for step in 0..600 {
            chassis.advance(1.0 / 60.0);
            // ω dt is 0.1: the second order of it, with the change of sign it takes half a turn for.
            assert!((energy(&chassis) / start - 1.0).abs() < 0.01, "step {step}: {}", energy(&chassis) / start);
        }
    }
}
