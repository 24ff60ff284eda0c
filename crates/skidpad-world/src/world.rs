//! Rigid-body world: bodies, ray probes and integration.

use skidpad_core::simd::instruction_set::dispatch_simd;
use skidpad_core::{
    CandidateTriangle, ChassisImpulse, ChassisState, Contact, DynamicBody, HullPoint, Mat3, PredictedMotion, Probe,
    Reaction, Scene, State, Vec3, WorldPort,
};

use crate::chassis::Chassis;
use crate::collisions::Collisions;
use crate::hull::rim_contacts_of;
use crate::{Ground, GroundContacts, chassis_simd};

/// World of chassis and free bodies on the ground of a scene.
#[derive(Clone, Debug)]
pub struct World {
    /// Chassis of the cars by slot, then the free bodies.
    pub(crate) chassis: Vec<Chassis>,
    /// Number of free bodies.
    pub(crate) body_count: usize,
    /// Plane, boxes, platforms and terrain.
    pub(crate) ground: Ground,
    /// Buffers for contacts of hulls with the ground.
    pub(crate) ground_contacts: GroundContacts,
    /// Contacts between cars and free bodies, and hitches. `None` if nothing can collide and no car can be towed.
    pub(crate) collisions: Option<Collisions>,
    /// Whether some chassis may have been moved from outside since the last step.
    pub(crate) is_moved_externally: bool,
    /// Whether some wheel stands on a hull or a free body in this step.
    pub(crate) has_wheels_on_hulls: bool,
    /// Length of the current step, s.
    pub(crate) dt: f32,
    /// Whether some wheel of some car has a rim probe, not only a ray.
    has_rims: bool,
    /// Buffer for the triangles near a wheel.
    pub(crate) candidate_triangles: Vec<CandidateTriangle>,
    /// Contact points that stop rims, each with the index of its car, sorted by car.
    rim_contacts: Vec<(usize, HullPoint)>,
    /// Buffer for the stops of repeated probes within a step; the results are discarded.
    discarded_rim_contacts: Vec<(usize, HullPoint)>,
    /// Flags of the chassis that may touch the ground in this step.
    near_ground_flags: Vec<bool>,
}

impl World {
    /// Creates a world at time 0 without cars, on the ground and with the free bodies of `scene`. Collision data are
    /// created only if cars collide or there are free bodies. Reserves memory for ground contacts and for collisions of
    /// the free bodies.
    pub fn new(scene: Scene) -> Self {
        let ground = Ground::new(&scene);
        let ground_contacts = GroundContacts::for_ground(&ground, scene.free_bodies.len());
        let chassis: Vec<Chassis> = scene.free_bodies.iter().map(Chassis::free).collect();
        let body_count = chassis.len();
        let can_collide = scene.cars_collide || body_count > 0;
        let mut collisions = can_collide.then(|| Collisions::new(scene.cars_collide, body_count));
        collisions.iter_mut().for_each(|collisions| collisions.reserve(body_count));
        Self {
            chassis,
            body_count,
            ground,
            ground_contacts,
            collisions,
            is_moved_externally: true,
            has_wheels_on_hulls: false,
            dt: 0.0,
            has_rims: false,
            candidate_triangles: Vec::new(),
            rim_contacts: Vec::new(),
            discarded_rim_contacts: Vec::new(),
            near_ground_flags: vec![true; body_count],
        }
    }

    /// Inserts the chassis of a car: replaces the one in `slot`, or appends it after the last car, before the free
    /// bodies, if the slot is new. A trailer creates the collision data if there are none, for hitches alone. Reserves
    /// memory for collisions. This discards the bounds of the broad phase (spheres that find pairs of near hulls).
    /// Marks the bodies as moved from outside.
    pub fn insert_chassis(&mut self, slot: usize, chassis: Chassis) {
        self.has_rims |= chassis.has_rims;
        if chassis.is_trailer {
            // For hitches alone: cars do not collide, no free bodies.
            self.collisions.get_or_insert_with(|| Collisions::new(false, 0)).has_trailers = true;
        }
        let car_count = self.car_count();
        if slot < car_count {
            self.chassis[slot] = chassis;
        } else {
            self.chassis.insert(car_count, chassis);
            self.near_ground_flags.push(true);
        }
        self.is_moved_externally = true;
        if let Some(collisions) = &mut self.collisions {
            collisions.reserve(self.chassis.len());
        }
    }

    /// Appends the chassis of a car.
    #[cfg(test)]
    pub(crate) fn append_chassis(&mut self, chassis: Chassis) {
        self.insert_chassis(self.car_count(), chassis);
    }

    /// Suspends the chassis in `slot` until [`World::set_state`].
    pub fn suspend(&mut self, slot: usize) {
        self.chassis[slot].suspend();
        self.is_moved_externally = true;
        self.clear_bounds();
    }

    /// Sets pose, motion and towing vehicle of the chassis in `slot` from `state`, and resumes the chassis if it is
    /// suspended; in that case it discards the bounds of the broad phase. Marks the bodies as moved from outside, so
    /// that the next step checks the bounds.
    pub fn set_state(&mut self, slot: usize, state: &State) {
        let was_suspended = self.chassis[slot].is_suspended;
        self.chassis[slot].set_state(state);
        self.is_moved_externally = true;
        if was_suspended {
            self.clear_bounds();
        }
    }

    /// Discards the bounds of the broad phase, which exclude suspended chassis.
    fn clear_bounds(&mut self) {
        if let Some(collisions) = &mut self.collisions {
            collisions.clear_bounds();
        }
    }

    /// Returns the number of cars.
    pub(crate) fn car_count(&self) -> usize {
        self.chassis.len() - self.body_count
    }

    /// Returns the free bodies, in order.
    pub fn bodies(&self) -> &[Chassis] {
        &self.chassis[self.car_count()..]
    }

    /// Returns the free bodies, in order, for changes of their motion.
    pub fn bodies_mut(&mut self) -> &mut [Chassis] {
        self.is_moved_externally = true;
        let car_count = self.car_count();
        &mut self.chassis[car_count..]
    }

    /// Sets the velocity of the air, world axes, m/s.
    pub fn set_wind(&mut self, velocity: Vec3) {
        self.ground.set_wind(velocity);
    }

    /// Begins a step of `dt` s at `time` s: moves the platforms to their poses at `time` and sets their motion over the
    /// step. Cars and free bodies do not move; see [`World::advance`].
    pub fn begin_step(&mut self, time: f64, dt: f32) {
        self.dt = dt;
        if self.ground.has_platforms() {
            self.ground.move_platforms(time, dt);
        }
    }

    /// Returns the chassis of the cars, in order, for changes of their motion.
    pub fn chassis_mut(&mut self) -> &mut [Chassis] {
        self.is_moved_externally = true;
        let car_count = self.car_count();
        &mut self.chassis[..car_count]
    }

    /// Answers probes between steps into `contacts`, in order: the nearest contact with ground, other cars and free
    /// bodies. A miss is `None`, and so is a probe of a car index that does not exist. Queries the plane, boxes,
    /// triangles and hulls in turn. Unevenness is not applied, and rays on the plane report no texture. Probes may
    /// start anywhere and come in any order. Stops of rims are not stored.
    pub fn query_probes(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        self.ground.probe_plane(probes, contacts);
        self.ground.probe_blocks(probes, contacts);
        // `Vec::new()`: contact points that stop rims are discarded.
        self.ground.probe_triangles(probes, contacts, &mut self.candidate_triangles, &mut Vec::new());
        self.query_hulls(probes, contacts);
        for (_, contact) in probes.iter().zip(contacts).filter(|(probe, _)| probe.car >= self.car_count()) {
            *contact = None;
        }
    }

    /// Returns the impulses that hitches transmitted to trailers in the last [`World::advance`] because hulls were
    /// stopped, N s, each with the index of the trailer.
    pub fn hitch_impulses(&self) -> impl Iterator<Item = (usize, Vec3)> {
        self.collisions.iter().flat_map(|collisions| collisions.hitch_impulses())
    }

    /// Ends the step of `dt` s: separates hulls from each other and from the ground, then moves every pose with its new
    /// velocity. Runs after the wheels' impulses were applied.
    ///
    /// A chassis that would get a non-finite pose keeps its pose and stops.
    pub fn advance(&mut self, dt: f32) {
        dispatch_simd(
            #[inline(always)]
            || self.advance_all(dt),
        );
    }

    /// Separates hulls from each other and from the ground, then moves all poses; see [`World::advance`]. The ground
    /// alone is treated hull by hull if no hulls collide or are hitched, or with fewer than two bodies.
    #[inline(always)]
    fn advance_all(&mut self, dt: f32) {
        // If hulls collide or are hitched, `separate_hulls` includes the ground.
        let is_ground_separated = self.chassis.len() > 1 && self.collisions.is_some() && self.separate_hulls(dt);
        if !is_ground_separated {
            self.separate_from_ground(dt);
        }
        chassis_simd::advance(&mut self.chassis, dt);
    }

    /// Keeps every hull that is not suspended out of the ground over `dt` s, each on its own, together with the stops
    /// of its rims. Skips hulls too high above a lone plane ([`World::find_near_ground`]). Overwrites
    /// `near_ground_flags`.
    #[inline(always)]
    fn separate_from_ground(&mut self, dt: f32) {
        let mut near_flags = core::mem::take(&mut self.near_ground_flags);
        // `0.0`: gravity is already part of the velocities.
        self.find_near_ground(0.0, dt, &mut near_flags);
        if near_flags.contains(&true) {
            let flagged_chassis = self.chassis.iter_mut().enumerate().zip(&near_flags);
            for ((car, chassis), _) in
                flagged_chassis.filter(|((_, chassis), is_near)| **is_near && !chassis.is_suspended)
            {
                self.ground_contacts.separate_from_ground(
                    chassis,
                    &self.ground,
                    rim_contacts_of(&self.rim_contacts, car),
                    dt,
                );
            }
        }
        self.near_ground_flags = near_flags;
    }

    /// Writes whether each chassis may touch the ground within `dt` s if its speed rises by at most `speed_gain` m/s.
    /// Checks heights only if the ground is nothing but a plane and no rim is stopped; otherwise all entries become
    /// true.
    #[inline(always)]
    fn find_near_ground(&self, speed_gain: f32, dt: f32, near_flags: &mut [bool]) {
        if self.ground.is_plane_only() && self.rim_contacts.is_empty() {
            chassis_simd::find_near_plane(&self.chassis, &self.ground, speed_gain, dt, near_flags);
        } else {
            near_flags.fill(true);
        }
    }

    /// Applies gravity over `dt` s and `pushes` (one per car) to the velocities of the cars, and gravity to those of
    /// the free bodies ([`chassis_simd::apply_pushes`], [`Chassis::push_replacing_lag`]). The lag of each body
    /// (velocity at the end of the step less the velocity with which its pose moves) becomes half of the change; an
    /// impulse that stops a hull clears it. Clears `is_wheel_loaded` of the free bodies. Poses do not move yet.
    #[inline(always)]
    fn apply_all_pushes(&mut self, dt: f32, pushes: &[ChassisImpulse]) {
        // Change of velocity by gravity, m/s.
        let gravity_change = Vec3::new(0.0, 0.0, -self.ground.gravity() * dt);
        let car_count = pushes.len().min(self.chassis.len());
        chassis_simd::apply_pushes(&mut self.chassis[..car_count], pushes, gravity_change);
        if self.body_count > 0 {
            // Free bodies follow the cars.
            for body in self.chassis.iter_mut().skip(pushes.len()) {
                body.push_replacing_lag(gravity_change, Vec3::ZERO);
                body.is_wheel_loaded = false;
            }
        }
    }

    /// Separates hulls from each other over `dt` s. Returns whether any hulls collide or are hitched. If so, all hulls
    /// that are not suspended are also kept out of the ground: those of a group together with it
    /// ([`Collisions::separate_hulls`]), the others on their own. If not, no chassis changes, also in a world without
    /// collision data.
    #[inline(never)]
    fn separate_hulls(&mut self, dt: f32) -> bool {
        let Some(collisions) = &mut self.collisions else { return false };
        if !collisions.separate_hulls(
            &mut self.chassis,
            &self.ground,
            &mut self.ground_contacts,
            &self.rim_contacts,
            dt,
        ) {
            return false;
        }
        // Chassis that were not solved in a group.
        let is_ungrouped =
            |(car, chassis): &(usize, &mut Chassis)| !chassis.is_suspended && !collisions.is_in_group(*car);
        for (car, chassis) in self.chassis.iter_mut().enumerate().filter(is_ungrouped) {
            self.ground_contacts.separate_from_ground(
                chassis,
                &self.ground,
                rim_contacts_of(&self.rim_contacts, car),
                dt,
            );
        }
        true
    }
}

impl WorldPort for World {
    /// Writes pose and motion of every chassis, cars first. The free velocity is the velocity plus gravity over `dt` s;
    /// the free angular velocity is the current one. The pose lag of every body is half a step, because this world
    /// moves poses with the mean of the velocities before and after a push. The gyroscopic change is computed only in
    /// worlds with trailers, where the rows of hitches need it; otherwise it is zero. No body is asleep.
    fn read_bodies(&self, dt: f32, bodies: &mut [ChassisState]) {
        let gravity_change = Vec3::new(0.0, 0.0, -self.ground.gravity() * dt);
        let has_trailers = self.collisions.as_ref().is_some_and(|collisions| collisions.has_trailers);
        for (chassis, body) in self.chassis.iter().zip(bodies) {
            *body = ChassisState {
                position: chassis.position,
                rotation: chassis.rotation,
                velocity: chassis.velocity,
                angular_velocity: chassis.angular_velocity,
                free_velocity: chassis.velocity + gravity_change,
                free_angular_velocity: chassis.angular_velocity,
                gyroscopic_change: if has_trailers { chassis.gyroscopic_rate_change(dt) } else { Vec3::ZERO },
                wind: self.ground.wind(),
                // `(1 − θ) dt` with θ = 1/2, the weight of the new velocity in the motion of the pose.
                pose_lag: 0.5 * dt,
                position_resolution: 0.0, // positions have 64 bits
                asleep: false,
            };
        }
    }

    /// Writes position, rotation and velocities of every chassis, cars first. The other values of `bodies` stay.
    fn read_bodies_after_step(&self, _dt: f32, bodies: &mut [ChassisState]) {
        for (chassis, body) in self.chassis.iter().zip(bodies) {
            (body.position, body.rotation) = (chassis.position, chassis.rotation);
            (body.velocity, body.angular_velocity) = (chassis.velocity, chassis.angular_velocity);
        }
    }

    /// Answers probes from the ground, then from the hulls of other bodies if there are at least two. Stores the
    /// contact points that stop rims in `rim_contacts`.
    fn probe(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        self.ground.answer_probes(
            probes,
            contacts,
            self.has_rims,
            &mut self.candidate_triangles,
            &mut self.rim_contacts,
        );
        if self.collisions.is_some() && self.chassis.len() > 1 {
            self.probe_hulls(probes, contacts);
        }
    }

    fn is_single_plane(&self) -> bool {
        self.ground.is_plane_only()
    }

    /// Answers repeated probes of a step from the ground, without hulls and without storing rim contacts. Returns
    /// whether it has answered. If the ground near every probe is only the plane, returns false with `contacts`
    /// unchanged: a plane answers as it did to the first probes of the step. Otherwise answers all probes.
    fn probe_again(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) -> bool {
        let is_uneven = probes.iter().any(|probe| self.ground.is_uneven_near(probe));
        if is_uneven {
            self.ground.answer_probes(
                probes,
                contacts,
                self.has_rims,
                &mut self.candidate_triangles,
                &mut self.discarded_rim_contacts,
            );
        }
        is_uneven
    }

    /// Writes to `near_flags` whether each hull may touch the ground in the step of `dt` s if gravity adds to its
    /// speed. See `find_near_ground`.
    fn mark_hulls_near_contact(&mut self, dt: f32, near_flags: &mut [bool]) {
        // Largest change of speed by gravity, m/s.
        let speed_gain = self.ground.gravity() * dt;
        dispatch_simd(
            #[inline(always)]
            || self.find_near_ground(speed_gain, dt, near_flags),
        );
    }

    /// Adds the points at which the hull of `car` may touch the ground in `dt` s to `points`, and the points that stop
    /// its rims. Of more than 16 points, keeps the nearest of the outermost ones. Leaves out impacts (gaps above 0.5
    /// m/s times `dt`), which [`World::advance`] ends.
    fn append_hull_points(&mut self, car: usize, dt: f32, points: &mut Vec<HullPoint>) {
        let speed_gain = self.ground.gravity() * dt;
        let rim_contacts = rim_contacts_of(&self.rim_contacts, car);
        self.ground_contacts.find_contacts(&self.chassis[car], &self.ground, rim_contacts, speed_gain, dt);
        self.ground_contacts.add_nearest_points(&self.chassis[car], points, dt);
    }

    /// Applies `pushes` (one per car) and gravity over `dt` s to all bodies; see `apply_all_pushes`.
    fn apply_impulses(&mut self, dt: f32, pushes: &[ChassisImpulse]) {
        dispatch_simd(
            #[inline(always)]
            || self.apply_all_pushes(dt, pushes),
        );
    }

    fn has_wheels_on_bodies(&self) -> bool {
        self.has_wheels_on_hulls
    }

    /// Returns the index of the car with the number `body`; `None` for a free body or ground.
    fn vehicle_of_body(&self, body: u64) -> Option<usize> {
        self.hull_index(body).filter(|hull| *hull < self.car_count())
    }

    /// Returns the free body with the number `body` as if it had no contacts: centre of mass, current velocities, and
    /// the matrices of inverse mass and inverse inertia, world axes. Gravity of the coming step is not included.
    /// Returns `None` for a car or ground. Normal and step length are not used.
    fn dynamic_body(&self, body: u64, _normal: Vec3, _dt: f32) -> Option<DynamicBody> {
        let body = &self.chassis[self.free_body_index(body)?];
        // Columns of the inverse inertia in world axes, 1/(kg m²): responses to unit angular impulses.
        let columns = Vec3::AXES.map(|axis| body.angular_velocity_change(axis));
        Some(DynamicBody {
            centre: body.position,
            velocity: body.velocity,
            angular_velocity: body.angular_velocity,
            inverse_mass: Mat3::from_diagonal(Vec3::splat(body.inverse_mass)),
            inverse_inertia: Mat3::from_cols(columns[0], columns[1], columns[2]),
        })
    }

    /// Predicts the free body with the number `body` on a copy, with its contacts; `None` for a car or ground.
    fn predict_body(&mut self, body: u64, wheel_impulses: [Vec3; 2], dt: f32) -> Option<PredictedMotion> {
        self.predict_body(body, wheel_impulses, dt)
    }

    /// Applies the wheel impulses `reactions` to the cars and free bodies that they act on; those on ground are
    /// skipped.
    fn apply_ground_reactions(&mut self, _dt: f32, reactions: &[Reaction]) {
        self.push_hulls(reactions);
    }

    /// Sets the end velocity of contacts on hulls to the current velocity of these hulls; other contacts do not change.
    fn update_ground_velocities(&self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        self.update_hull_velocities(probes, contacts);
    }
}
