//! Coupling to Avian: reads bodies and casts rays, applies accelerations.

use avian3d::dynamics::integrator::{VelocityIntegrationData, solve_gyroscopic_torque};
use avian3d::dynamics::solver::solver_body::{SolverBodies, SolverBodyIndex};
use avian3d::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::Quat;
use skidpad_bevy::{BEVY_AXES, GroundSurface};
use skidpad_core::ground::scene::FLUSH_TOLERANCE_M;
use skidpad_core::{
    ChassisImpulse, ChassisState, Contact, DynamicBody, Ground, HullPoint, Probe, Reaction, Vec3, WorldPort,
};
use skidpad_engines::parry3d::math::Pose;
use skidpad_engines::parry3d::query::{Ray, intersection_test};
use skidpad_engines::{
    GroundContact, IMPACT_SPEED_MPS, ProbePurpose, all_probe_bounds, cast_from_outside, is_plane_at_most,
    neighbour_ray, pose_lag, probe_ray, resolution,
};

use crate::car_slot::{CarBuffers, CarSlot};
use crate::ground::{WheelLoadedBody, body_motion, dynamic_ground_body, ground_data};
use crate::world::{BodyItem, World};

/// Actions on bodies in a step.
#[derive(Default)]
pub(crate) struct BodyActions {
    /// Accelerations over the coming step, m/s² and rad/s².
    pub accelerations: Vec<(Entity, [Vec3; 2])>,
    /// Changes of velocity at its start, m/s and rad/s.
    pub velocity_changes: Vec<(SolverBodyIndex, [Vec3; 2])>,
}

/// Access of the vehicles to Avian's world within or between steps.
pub(crate) struct Port<'a, 'w, 's> {
    /// Read access to Avian's world.
    world: &'a World<'w, 's>,
    /// Chassis and data of each car.
    slots: &'a mut Vec<CarSlot>,
    /// Buffers and data of all cars.
    memory: &'a mut CarBuffers,
    /// Velocity of the air, axes of the cars, m/s.
    wind: Vec3,
    /// Length of the step, s; 0 between steps.
    pub dt: f32,
    /// Actions that are collected in this step and applied after it is solved.
    pub actions: BodyActions,
    /// Whether some wheel stands on a dynamic body in this step.
    has_loaded_bodies: bool,
}

impl<'a, 'w, 's> Port<'a, 'w, 's> {
    /// Creates the access for queries between steps; set `dt` for a step. `wind` is the velocity of the air, axes of the cars,
    /// m/s.
    pub fn new(world: &'a World<'w, 's>, slots: &'a mut Vec<CarSlot>, memory: &'a mut CarBuffers, wind: Vec3) -> Self {
        Self { world, slots, memory, wind, dt: 0.0, actions: BodyActions::default(), has_loaded_bodies: false }
    }

    fn substeps(&self) -> usize {
        self.world.substeps.0 as usize
    }

    /// Returns velocity (m/s) and angular velocity (rad/s) of `body` at the end of a step of `dt` s without the pushes of the
    /// vehicles and contacts, world axes. Repeats Avian's substeps: damping, gravity and the accelerations that already act on
    /// it, and the gyroscopic torque.
    fn free_motion(&self, body: &BodyItem, dt: f32) -> [Vec3; 2] {
        // Number and length (s) of the substeps.
        let n = self.substeps().max(1);
        let h = dt / n as f32;
        let scale = body.gravity.map_or(1.0, |scale| scale.0);
        // Linear (m/s²) and angular (rad/s²) acceleration.
        let [pull, turn] = body.increments.map_or([Vec3::ZERO; 2], |on| [on.linear_increment, on.angular_increment]);
        let pull = pull + self.world.gravity.0 * scale;
        let velocity = match body.damping.map_or(0.0, |damping| damping.0) {
            0.0 => body.velocity.0 + pull * dt,
            damping => (0..n).fold(body.velocity.0, |velocity, _| velocity / (1.0 + h * damping) + pull * h),
        };
        // Factor of the angular damping per substep.
        let slower_turn = 1.0 / (1.0 + h * body.angular_damping.map_or(0.0, |damping| damping.0));
        let (mut angular, mut rotation) = (body.angular.0, body.rotation.0);
        for _ in 0..n {
            angular = angular * slower_turn + turn * h;
            solve_gyroscopic_torque(&mut angular, rotation, body.inertia, h);
            rotation = Quat::from_scaled_axis(angular * h) * rotation;
        }
        [velocity, angular]
    }

    /// Replaces the list of colliders near one car by those that the rays and rims of its probes `asked` may touch, sorted by
    /// entity. Excludes sensors, the car itself, vehicles hitched to it, and colliders that the collision layers of its chassis
    /// exclude. Before the first step all colliders are candidates. Panics if `asked` is empty.
    fn find_near_colliders(&mut self, asked: &[Probe]) {
        let Some(slot) = self.slots.get_mut(asked[0].car) else { return };
        slot.near.clear();
        let around = all_probe_bounds(BEVY_AXES, asked);
        let own =
            self.world.colliders.get(slot.chassis).ok().and_then(|(.., layers, _)| layers).copied().unwrap_or_default();
        let (world, chassis, tied, near) = (self.world, slot.chassis, &slot.hitched_bodies, &mut slot.near);
        // Adds the collider if wheels may stand on it; `true` continues the search.
        let mut look = |entity| {
            let Ok((_, _, _, of, layers, _)) = world.colliders.get(entity) else { return true };
            let is_own = of.is_some_and(|of| of.body == chassis || tied.contains(&of.body));
            if !is_own && own.interacts_with(layers.copied().unwrap_or_default()) {
                near.push(entity);
            }
            true
        };
        if self.memory.has_stepped || self.dt > 0.0 {
            let around = ColliderAabb::from_min_max(around.mins, around.maxs);
            world.spatial.aabb_intersections_with_aabb_callback(around, look);
        } else {
            // Before the first step Avian's trees are empty.
            world.all.iter().for_each(|entity| _ = look(entity));
        }
        // The tree has no stable order. Entities have one, which roughly follows their spawning.
        near.sort_unstable_by_key(|entity| entity.index_u32());
    }

    /// Returns the contact of `probe` in the axes of the cars, with grip, ground data and unevenness; `None` for a miss. Rims
    /// query triangles, other wheels cast their ray. Between steps there is no velocity of the ground. With
    /// [`ProbePurpose::AlongPath`], it stores neither wheels on dynamic bodies nor stops of rims.
    fn query_contact(&mut self, probe: &Probe, asked: ProbePurpose) -> Option<Contact> {
        let (car, ray) = probe_ray(BEVY_AXES, probe);
        let (entity, distance, normal, point) = if probe.rim.is_some() {
            self.query_rim_contact(probe, &ray, asked)?
        } else {
            self.cast_ray_contact(&ray, probe)?
        };
        // Contact point of a rim in world axes, m.
        let on_rim = point.map(|point| car + BEVY_AXES.to_world(point));
        let met = GroundContact { point: on_rim.unwrap_or_else(|| ray.point_at(distance)), normal, car };
        let (.., of, _, _) = self.world.colliders.get(entity).ok()?;
        let surface = self.topmost_surface_at(probe.car, entity, met.point);
        // Step length and pose lag, s.
        let time = [self.dt, pose_lag(self.dt, self.substeps())];
        let body = of.filter(|_| self.dt > 0.0).map(|of| of.body);
        let is_dynamic = |body| self.world.bodies.get(body).is_ok_and(|body| body.kind.is_dynamic());
        self.has_loaded_bodies |= asked == ProbePurpose::MidStep && body.is_some_and(is_dynamic);
        let ground = body.and_then(|body| ground_data(self.world, &self.memory.last_loaded, body, &met, time));
        let ground = ground.map(|ground| {
            let velocity = BEVY_AXES.from_world(ground.velocity);
            Ground { start_velocity: velocity, velocity, ..ground }
        });
        let (grip, ground) = (surface.grip, surface.texture().apply_to_ground(ground));
        let contact = Contact { distance, normal: BEVY_AXES.from_world(normal), grip, point, ground };
        Some(contact.with_unevenness(probe))
    }

    /// Returns the first contact of the ray of `probe` with the colliders near its car: entity, distance (m), normal in world
    /// axes, and no rim point; `None` for a miss. A ray that misses is repeated with a neighbouring ray.
    fn cast_ray_contact(&self, ray: &Ray, probe: &Probe) -> Option<(Entity, f32, Vec3, Option<Vec3>)> {
        let first = |ray: &Ray| {
            let mut first: Option<(Entity, f32, Vec3, Option<Vec3>)> = None;
            for &entity in &self.slots.get(probe.car)?.near {
                let Some((collider, pose)) = self.collider_and_pose(entity) else { continue };
                let least = first.map_or(probe.length, |(_, distance, ..)| distance);
                if let Some(hit) = cast_from_outside(collider.shape_scaled().0.as_ref(), &pose, ray, least) {
                    first = Some((entity, hit.time_of_impact, hit.normal, None));
                }
            }
            first
        };
        first(ray).or_else(|| first(&neighbour_ray(ray)))
    }

    /// Returns the contact of the rim of `probe`: entity, distance (m), normal in world axes, and point relative to the car's
    /// centre of mass in the axes of the cars; `None` for a miss. If any collider near has no faces, such as a ball, the ray of
    /// the probe is cast, too, and the nearer contact counts. With [`ProbePurpose::MidStep`] the wall that stops the rim is
    /// stored.
    fn query_rim_contact(
        &mut self,
        probe: &Probe,
        ray: &Ray,
        asked: ProbePurpose,
    ) -> Option<(Entity, f32, Vec3, Option<Vec3>)> {
        self.memory.faces.clear();
        // Whether any collider near the wheel has no faces.
        let mut round = false;
        for &entity in &self.slots.get(probe.car)?.near {
            let Some((collider, pose)) = self.collider_and_pose(entity) else { continue };
            round |= !self.memory.faces.add(BEVY_AXES, probe, (entity, collider.shape_scaled().0.as_ref()), &pose);
        }
        // Contact of the rim with the ground, in the axes of the cars.
        let stands = self.memory.faces.ground_contact(probe);
        if asked == ProbePurpose::MidStep
            && let Some((point, wall)) =
                self.memory.faces.wall_contact(probe, stands.as_ref().map(|(_, contact)| contact))
        {
            self.add_rim_wall(probe, &point, wall);
        }
        let stands = stands
            .map(|(entity, contact)| (entity, contact.distance, BEVY_AXES.to_world(contact.normal), contact.point));
        let by_ray = if round { self.cast_ray_contact(ray, probe) } else { None };
        match (stands, by_ray) {
            (Some(stands), Some(by_ray)) if by_ray.1 < stands.1 => Some(by_ray),
            (stands, by_ray) => stands.or(by_ray),
        }
    }

    /// Returns the surface at the contact `point` (world axes, m) of `car` on `entity`. If colliders lie flush there, within
    /// [`FLUSH_TOLERANCE_M`], the one that was spawned last and has a surface determines it, such as a patch of ice on a road.
    /// A collider without a surface has the default one.
    fn topmost_surface_at(&self, car: usize, entity: Entity, point: Vec3) -> GroundSurface {
        let surface_of = |entity| self.world.colliders.get(entity).ok().and_then(|(.., surface)| surface).copied();
        let near = self.slots.get(car).map_or(&[][..], |slot| &slot.near);
        let flush = near.iter().rev().take_while(|later| **later != entity).find_map(|&later| {
            let surface = surface_of(later)?;
            let (collider, pose) = self.collider_and_pose(later)?;
            (collider.shape_scaled().distance_to_point(&pose, point, true) <= FLUSH_TOLERANCE_M).then_some(surface)
        });
        flush.or_else(|| surface_of(entity)).unwrap_or_default()
    }

    /// Returns collider and pose (world axes, m) of `entity`; `None` for sensors, disabled colliders and other entities.
    fn collider_and_pose(&self, entity: Entity) -> Option<(&'a Collider, Pose)> {
        let (collider, position, rotation, ..) = self.world.colliders.get(entity).ok()?;
        Some((collider, Pose::from_parts(position.0, rotation.0)))
    }

    /// Adds the contact point `point` (axes of the cars) at which `wall` stops the rim of `probe`, unless the wall belongs to a
    /// dynamic body. The allowed speed along the normal is that for the gap, plus the speed of a kinematic wall. Does nothing
    /// between steps.
    fn add_rim_wall(&mut self, probe: &Probe, point: &HullPoint, wall: Entity) {
        if self.dt <= 0.0 {
            return;
        }
        let of = self.world.colliders.get(wall).ok().and_then(|(_, _, _, of, ..)| of);
        let body = of.and_then(|of| self.world.bodies.get(of.body).ok());
        if body.as_ref().is_some_and(|body| body.kind.is_dynamic()) {
            return;
        }
        let [arm, normal] = [point.arm, point.normal].map(|vector| BEVY_AXES.to_world(vector));
        let place = BEVY_AXES.point_to_world(probe.position).as_vec3();
        let moves = body.map_or(0.0, |body| body_motion(&body).velocity_at(place + arm).dot(normal));
        self.memory.rim_walls.add(probe.car, arm, normal, point.allowed_speed(self.dt) + moves);
    }

    /// Computes the stop of the rims of `car`, whose wheels change the velocities of its `body` by `gained` (m/s, rad/s) in a
    /// step of `dt` s. Returns the changes of velocity and angular velocity by the walls, and whether the stop is an impact;
    /// `None` if nothing stops.
    fn solve_rim_walls(
        &mut self,
        car: usize,
        body: &BodyItem,
        gained: [Vec3; 2],
        dt: f32,
    ) -> Option<([Vec3; 2], bool)> {
        if !self.memory.rim_walls.has_walls(car) {
            return None;
        }
        let [velocity, angular] = self.free_motion(body, dt);
        let moving = [velocity + gained[0], angular + gained[1]];
        let inertia = body.inertia.rotated(body.rotation.0).inverse();
        let lighter = body.mass.inverse();
        let held = self.memory.rim_walls.solve(car, moving, Vec3::splat(lighter), |moment| inertia * moment)?;
        Some(([held.impulse * lighter, inertia * held.angular], held.is_impact))
    }

    /// Returns true if the wheels change the velocities of `car` by `gained` (m/s, rad/s), as much as an impact does, and its
    /// hull would nevertheless overlap something near its wheels in the coming `dt` s.
    ///
    /// Such a change is applied at once instead of as an acceleration. Avian stops the hull within the step, and an
    /// acceleration that acts to its end would throw the car up, because its size assumes the path without the stop. Landings
    /// at 30 Hz would gain up to 0.23 m g h.
    fn is_impact_with_overlap(&self, car: usize, body: &BodyItem, gained: [Vec3; 2], dt: f32) -> bool {
        let is_impact = gained[0].length() > IMPACT_SPEED_MPS;
        // Four poses on the path are checked, because the wheels may have lifted the hull again at its end.
        is_impact
            && [0.25, 0.5, 0.75, 1.0].into_iter().any(|share| {
                // Mean velocities up to that time: the change acts evenly.
                let [linear, angular] =
                    [0, 1].map(|i| [body.velocity.0, body.angular.0][i] + gained[i] * (0.5 * share));
                // Pose at the start, and time from the start, s.
                let (begins, time) = (Pose::from_parts(body.position.0, body.rotation.0), share * dt);
                let rotation = Quat::from_scaled_axis(angular * time) * body.rotation.0;
                let centre = begins.transform_point(body.centre.0) + linear * time;
                let then = Pose::from_parts(centre - rotation * body.centre.0, rotation);
                self.hull_overlaps(&self.slots[car], &(then * begins.inverse()))
            })
    }

    /// Returns true if any collider of the chassis, displaced by `moved` (world axes), overlaps a collider near its wheels.
    #[cold]
    fn hull_overlaps(&self, slot: &CarSlot, moved: &Pose) -> bool {
        let hulls = self.world.colliders_of.get(slot.chassis).into_iter().flat_map(RelationshipTarget::iter);
        hulls.filter_map(|hull| self.collider_and_pose(hull)).any(|(hull, pose)| {
            let meets = |(near, at): (&Collider, Pose)| {
                intersection_test(&(*moved * pose), hull.shape_scaled().0.as_ref(), &at, near.shape_scaled().0.as_ref())
            };
            let near = slot.near.iter().filter_map(|&near| self.collider_and_pose(near));
            near.map(meets).any(|met| met.is_ok_and(|met| met.intersecting))
        })
    }
}

impl WorldPort for Port<'_, '_, '_> {
    /// Writes pose and motion of every chassis in the axes of the cars, with 64-bit positions and the free motion of
    /// [`Port::free_motion`]. Missing bodies leave their entry unchanged.
    fn read_bodies(&self, dt: f32, bodies: &mut [ChassisState]) {
        let pose_lag = pose_lag(dt, self.substeps());
        for (slot, to) in self.slots.iter().zip(bodies) {
            let Ok(body) = self.world.bodies.get(slot.chassis) else { continue };
            let [free_velocity, free_angular] = self.free_motion(&body, dt).map(|free| BEVY_AXES.from_world(free));
            *to = ChassisState {
                position: BEVY_AXES.point_from_world(slot.track.position(body.position.0)),
                rotation: BEVY_AXES.rotation_from_world(body.rotation.0),
                velocity: BEVY_AXES.from_world(body.velocity.0),
                angular: BEVY_AXES.from_world(body.angular.0),
                free_velocity,
                free_angular,
                // The gyroscopic torque is part of the free motion.
                gyroscopic_change: Vec3::ZERO,
                wind: self.wind,
                pose_lag,
                position_resolution: resolution(body.position.0),
                asleep: false,
            };
        }
    }

    /// Answers the probes of each car in turn from the colliders near it. Discards rim stops of the last step first.
    fn probe(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        self.memory.rim_walls.clear();
        self.has_loaded_bodies = false;
        let mut answers = &mut *answered;
        for of_car in asked.chunk_by(|one, next| one.car == next.car) {
            self.find_near_colliders(of_car);
            let (of_car_answers, others) = answers.split_at_mut(of_car.len());
            for (probe, answer) in of_car.iter().zip(of_car_answers) {
                *answer = self.query_contact(probe, ProbePurpose::MidStep);
            }
            answers = others;
        }
    }

    fn is_single_plane(&self) -> bool {
        false
    }

    /// Answers repeated probes of one car along its path without storing anything. Returns false, and answers nothing, if no
    /// more than a plane is near.
    fn probe_again(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) -> bool {
        self.find_near_colliders(asked);
        let near = asked.first().and_then(|probe| self.slots.get(probe.car)).map_or(&[][..], |slot| &slot.near);
        let colliders = near.iter().filter_map(|&entity| self.collider_and_pose(entity));
        let shapes = colliders.map(|(collider, pose)| (collider.shape_scaled().0.as_ref(), pose));
        if is_plane_at_most(&all_probe_bounds(BEVY_AXES, asked), shapes) {
            return false;
        }
        for (probe, answer) in asked.iter().zip(answered) {
            *answer = self.query_contact(probe, ProbePurpose::AlongPath);
        }
        true
    }

    /// Collects the changes of velocity of each chassis by its wheels and by walls at its rims: as accelerations over the step,
    /// or at once if they are impacts. Stores the velocity at the end of the step if nothing else acts.
    fn apply_impulses(&mut self, dt: f32, pushes: &[ChassisImpulse]) {
        for (car, push) in pushes.iter().enumerate() {
            let Some(slot) = self.slots.get(car) else { continue };
            let Ok(body) = self.world.bodies.get(slot.chassis) else { continue };
            let chassis = slot.chassis;
            let inertia = body.inertia.rotated(body.rotation.0).inverse();
            let gained = [
                BEVY_AXES.to_world(push.impulse) * body.mass.inverse(),
                inertia * BEVY_AXES.to_world(push.angular_impulse),
            ];
            let strikes = self.is_impact_with_overlap(car, &body, gained, dt);
            let held = self.solve_rim_walls(car, &body, gained, dt);
            // Changes that act evenly over the step, and those that act at once: [m/s, rad/s].
            let (mut even, mut at_once) = ([Vec3::ZERO; 2], [Vec3::ZERO; 2]);
            for (change, is_impact) in [Some((gained, strikes)), held].into_iter().flatten() {
                let to = if is_impact && body.index.is_some() { &mut at_once } else { &mut even };
                (0..2).for_each(|i| to[i] += change[i]);
            }
            self.actions.accelerations.push((chassis, even.map(|change| change / dt)));
            if let Some(index) = body.index.filter(|_| at_once != [Vec3::ZERO; 2]) {
                self.actions.velocity_changes.push((*index, at_once));
            }
            // Velocity at the end of the step if nothing else acts, m/s.
            let ends = self.free_motion(&body, dt)[0] + even[0];
            self.slots[car].end_velocity = ends;
        }
    }

    fn has_wheels_on_bodies(&self) -> bool {
        self.has_loaded_bodies
    }

    fn vehicle_of_body(&self, body: u64) -> Option<usize> {
        let entity = Entity::try_from_bits(body)?;
        self.slots.iter().position(|slot| slot.chassis == entity)
    }

    /// Returns motion and response of a dynamic body under a wheel, in the axes of the cars; `None` for any other body. The
    /// motion at the end of the step includes gravity, damping and forces of others.
    fn dynamic_body(&self, body: u64, normal: Vec3, dt: f32) -> Option<DynamicBody> {
        let entity = Entity::try_from_bits(body)?;
        let body = self.world.bodies.get(entity).ok().filter(|body| body.kind.is_dynamic())?;
        let ends = self.free_motion(&body, dt);
        Some(dynamic_ground_body(self.world, entity, &body, ends).dynamic_body(BEVY_AXES, BEVY_AXES.to_world(normal)))
    }

    /// Collects the accelerations of dynamic bodies by the impulses of wheels, and stores all bodies under wheels with their
    /// motion.
    fn apply_ground_reactions(&mut self, dt: f32, reactions: &[Reaction]) {
        for reaction in reactions {
            let Some(entity) = Entity::try_from_bits(reaction.body) else { continue };
            let Ok(body) = self.world.bodies.get(entity) else { continue };
            let motion = body_motion(&body);
            if !self.memory.loaded.iter().rev().any(|known| known.body == entity) {
                self.memory.loaded.push(WheelLoadedBody { body: entity, motion });
            }
            if !body.kind.is_dynamic() {
                continue;
            }
            let arm = BEVY_AXES.point_to_world(reaction.point).as_vec3() - motion.centre;
            let force = BEVY_AXES.to_world(reaction.impulse) / dt;
            let inertia = body.inertia.rotated(body.rotation.0).inverse();
            self.actions.accelerations.push((entity, [force * body.mass.inverse(), inertia * arm.cross(force)]));
        }
    }

    /// Sets the end velocity of contacts on dynamic bodies to the current velocity of these bodies there, in the axes of the
    /// cars, m/s.
    fn update_ground_velocities(&self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        for (probe, contact) in asked.iter().zip(answered) {
            let Some(contact) = contact else { continue };
            let Some(ground) = &mut contact.ground else { continue };
            // A kinematic body has moved as the solve assumed.
            let body = Entity::try_from_bits(ground.body).and_then(|entity| self.world.bodies.get(entity).ok());
            let Some(body) = body.filter(|body| body.kind.is_dynamic()) else { continue };
            let point = BEVY_AXES.point_to_world(probe.point_at(contact.distance)).as_vec3();
            ground.velocity = BEVY_AXES.from_world(body_motion(&body).velocity_at(point));
        }
    }
}

impl BodyActions {
    /// Applies all accelerations to the bodies for the coming step, and changes of velocity at once. A sleeping body under a
    /// wheel is woken; its acceleration is lost in this step.
    pub fn apply(
        self,
        increments: &mut Query<&mut VelocityIntegrationData>,
        solver: &mut SolverBodies,
        commands: &mut Commands,
    ) {
        for (entity, [linear, angular]) in self.accelerations {
            match increments.get_mut(entity) {
                Ok(mut on) => {
                    on.apply_linear_acceleration(linear);
                    on.apply_angular_acceleration(angular);
                }
                // The body is asleep, and a wheel rolls on to it.
                Err(_) => commands.queue(WakeBody(entity)),
            }
        }
        for (index, [linear, angular]) in self.velocity_changes {
            if let Some(body) = solver.get_mut(index) {
                body.linear_velocity += linear;
                body.angular_velocity += angular;
            }
        }
    }
}
