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
    buffers: &'a mut CarBuffers,
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
    /// Creates the access for queries between steps; set `dt` for a step. `wind` is the velocity of the air, axes of
    /// the cars, m/s.
    pub fn new(world: &'a World<'w, 's>, slots: &'a mut Vec<CarSlot>, buffers: &'a mut CarBuffers, wind: Vec3) -> Self {
        Self { world, slots, buffers, wind, dt: 0.0, actions: BodyActions::default(), has_loaded_bodies: false }
    }

    /// Returns the number of substeps of Avian in a step.
    fn substeps(&self) -> usize {
        self.world.substeps.0 as usize
    }

    /// Returns the free motion of `body`: velocity (m/s) and angular velocity (rad/s) at the end of a step of `dt` s
    /// without the pushes of the vehicles and contacts, world axes. Repeats Avian's substeps: damping, then gravity and
    /// the accelerations that Avian has collected for the body, and the gyroscopic torque. Without collected
    /// accelerations, as for a sleeping body, only gravity acts. Locked axes are not considered. A missing damping is
    /// 0, a missing gravity scale 1.
    fn free_motion(&self, body: &BodyItem, dt: f32) -> [Vec3; 2] {
        // Number and length (s) of the substeps.
        let substep_count = self.substeps().max(1);
        let substep_s = dt / substep_count as f32;
        let gravity_scale = body.gravity.map_or(1.0, |gravity_scale| gravity_scale.0);
        // Linear (m/s²) and angular (rad/s²) acceleration.
        let [acceleration, angular_acceleration] = body
            .increments
            .map_or([Vec3::ZERO; 2], |increments| [increments.linear_increment, increments.angular_increment]);
        let acceleration = acceleration + self.world.gravity.0 * gravity_scale;
        let velocity = match body.damping.map_or(0.0, |damping| damping.0) {
            // Without damping the substeps add up to one product.
            0.0 => body.velocity.0 + acceleration * dt,
            damping => (0..substep_count)
                .fold(body.velocity.0, |velocity, _| velocity / (1.0 + substep_s * damping) + acceleration * substep_s),
        };
        // Factor of the angular damping per substep.
        let angular_damping_factor = 1.0 / (1.0 + substep_s * body.angular_damping.map_or(0.0, |damping| damping.0));
        let (mut angular_velocity, mut rotation) = (body.angular_velocity.0, body.rotation.0);
        // The gyroscopic torque depends on the rotation, so the substeps are repeated one by one.
        for _ in 0..substep_count {
            angular_velocity = angular_velocity * angular_damping_factor + angular_acceleration * substep_s;
            solve_gyroscopic_torque(&mut angular_velocity, rotation, body.inertia, substep_s);
            rotation = Quat::from_scaled_axis(angular_velocity * substep_s) * rotation;
        }
        [velocity, angular_velocity]
    }

    /// Replaces the list of colliders near one car by those that the rays and rims of its `probes` may touch, sorted by
    /// entity. Excludes sensors, disabled colliders, the car itself, vehicles hitched to it, and colliders that the
    /// collision layers of its chassis exclude. Between steps before the first step, all other colliders are added,
    /// because Avian's search trees are empty. Does nothing if the car does not exist. Panics if `probes` is empty.
    fn find_near_colliders(&mut self, probes: &[Probe]) {
        let Some(slot) = probes.first().and_then(|probe| self.slots.get_mut(probe.car)) else { return };
        slot.near_colliders.clear();
        let bounds = all_probe_bounds(BEVY_AXES, probes);
        // Collision layers of the own chassis.
        let own_layers =
            self.world.colliders.get(slot.chassis).ok().and_then(|(.., layers, _)| layers).copied().unwrap_or_default();
        let (world, chassis, hitched_bodies, near_colliders) =
            (self.world, slot.chassis, &slot.hitched_bodies, &mut slot.near_colliders);
        // Adds the collider if wheels may stand on it; `true` continues the search.
        let mut add_collider = |entity| {
            let Ok((_, _, _, collider_of, layers, _)) = world.colliders.get(entity) else { return true };
            let is_own = collider_of
                .is_some_and(|collider_of| collider_of.body == chassis || hitched_bodies.contains(&collider_of.body));
            if !is_own && own_layers.interacts_with(layers.copied().unwrap_or_default()) {
                near_colliders.push(entity);
            }
            true
        };
        if self.buffers.has_stepped || self.dt > 0.0 {
            let bounds = ColliderAabb::from_min_max(bounds.mins, bounds.maxs);
            world.spatial.aabb_intersections_with_aabb_callback(bounds, add_collider);
        } else {
            // Before the first step Avian's trees are empty.
            world.all_colliders.iter().for_each(|entity| _ = add_collider(entity));
        }
        // The tree has no stable order. Entities have one, which roughly follows their spawning.
        near_colliders.sort_unstable_by_key(|entity| entity.index_u32());
    }

    /// Returns the contact of `probe` in the axes of the cars, with grip, ground data and unevenness; `None` for a
    /// miss. Wheels with a rim query triangles, other wheels cast their ray. Between steps the ground has no velocity
    /// and no body. Start and end velocity of the ground are equal.
    ///
    /// A probe of the purpose [`ProbePurpose::MidStep`] also stores whether a wheel stands on a dynamic body, and the
    /// wall that stops the rim. A probe of the purpose [`ProbePurpose::AlongPath`] stores neither.
    fn query_contact(&mut self, probe: &Probe, purpose: ProbePurpose) -> Option<Contact> {
        let (car_position, ray) = probe_ray(BEVY_AXES, probe);
        let (entity, distance, normal, rim_point) = if probe.rim.is_some() {
            self.query_rim_contact(probe, &ray, purpose)?
        } else {
            self.cast_ray_contact(&ray, probe)?
        };
        // Contact point of a rim in world axes, m.
        let world_rim_point = rim_point.map(|point| car_position + BEVY_AXES.to_world(point));
        let ground_contact = GroundContact {
            point: world_rim_point.unwrap_or_else(|| ray.point_at(distance)),
            normal,
            car_centre: car_position,
        };
        // Body that the collider belongs to; `None` for a collider without one.
        let (.., collider_of, _, _) = self.world.colliders.get(entity).ok()?;
        let surface = self.topmost_surface_at(probe.car, entity, ground_contact.point);
        // Step length and pose lag, s.
        let dt_and_lag = [self.dt, pose_lag(self.dt, self.substeps())];
        // Body of the collider; `None` between steps and for a collider without body.
        let body = collider_of.filter(|_| self.dt > 0.0).map(|collider_of| collider_of.body);
        let is_dynamic = |body| self.world.bodies.get(body).is_ok_and(|body| body.kind.is_dynamic());
        self.has_loaded_bodies |= purpose == ProbePurpose::MidStep && body.is_some_and(is_dynamic);
        let ground = body.and_then(|body| {
            ground_data(self.world, &self.buffers.last_loaded_bodies, body, &ground_contact, dt_and_lag)
        });
        let ground = ground.map(|ground| {
            let velocity = BEVY_AXES.from_world(ground.velocity);
            Ground { start_velocity: velocity, velocity, ..ground }
        });
        let (grip, ground) = (surface.grip, surface.texture().apply_to_ground(ground));
        let contact = Contact { distance, normal: BEVY_AXES.from_world(normal), grip, point: rim_point, ground };
        Some(contact.with_unevenness(probe))
    }

    /// Returns the first contact of the ray of `probe` with the colliders near its car: entity, distance (m), normal in
    /// world axes, and `None` for the contact point of a rim. Returns `None` for a miss. A ray that starts inside a
    /// collider does not hit it. A ray that misses is repeated once with a neighbouring ray, because parry misses some
    /// rays exactly on the grid lines of a height field.
    fn cast_ray_contact(&self, ray: &Ray, probe: &Probe) -> Option<(Entity, f32, Vec3, Option<Vec3>)> {
        let nearest_hit = |ray: &Ray| {
            let mut nearest: Option<(Entity, f32, Vec3, Option<Vec3>)> = None;
            for &entity in &self.slots.get(probe.car)?.near_colliders {
                let Some((collider, pose)) = self.collider_and_pose(entity) else { continue };
                // Only a nearer contact replaces the one found so far.
                let max_distance = nearest.map_or(probe.length, |(_, distance, ..)| distance);
                if let Some(hit) = cast_from_outside(collider.shape_scaled().0.as_ref(), &pose, ray, max_distance) {
                    nearest = Some((entity, hit.time_of_impact, hit.normal, None));
                }
            }
            nearest
        };
        nearest_hit(ray).or_else(|| nearest_hit(&neighbour_ray(ray)))
    }

    /// Returns the contact of the rim of `probe`: entity, distance (m), normal in world axes, and point relative to the
    /// car's centre of mass in the axes of the cars; `None` for a miss. Collects the faces of all colliders near the
    /// car in `wheel_triangles`.
    ///
    /// For [`ProbePurpose::MidStep`], also stores the wall that stops the rim, if any. If any collider near the car has
    /// no faces, such as a ball, `ray` is cast, too. The nearer contact counts; the rim counts at equal distances.
    fn query_rim_contact(
        &mut self,
        probe: &Probe,
        ray: &Ray,
        purpose: ProbePurpose,
    ) -> Option<(Entity, f32, Vec3, Option<Vec3>)> {
        self.buffers.wheel_triangles.clear();
        // Whether any collider near the car has no faces.
        let mut has_round_collider = false;
        for &entity in &self.slots.get(probe.car)?.near_colliders {
            let Some((collider, pose)) = self.collider_and_pose(entity) else { continue };
            has_round_collider |= !self.buffers.wheel_triangles.add(
                BEVY_AXES,
                probe,
                (entity, collider.shape_scaled().0.as_ref()),
                &pose,
            );
        }
        // Contact of the rim with the ground, in the axes of the cars.
        let rim_hit = self.buffers.wheel_triangles.ground_contact(probe);
        if purpose == ProbePurpose::MidStep
            && let Some((point, wall)) =
                self.buffers.wheel_triangles.wall_contact(probe, rim_hit.as_ref().map(|(_, contact)| contact))
        {
            self.add_rim_wall(probe, &point, wall);
        }
        let rim_hit = rim_hit
            .map(|(entity, contact)| (entity, contact.distance, BEVY_AXES.to_world(contact.normal), contact.point));
        let ray_hit = if has_round_collider { self.cast_ray_contact(ray, probe) } else { None };
        // Field 1 of a hit is its distance, m.
        match (rim_hit, ray_hit) {
            (Some(rim_hit), Some(ray_hit)) if ray_hit.1 < rim_hit.1 => Some(ray_hit),
            (rim_hit, ray_hit) => rim_hit.or(ray_hit),
        }
    }

    /// Returns the surface at the contact `point` (world axes, m) of `car` on `entity`. If colliders lie flush there,
    /// within [`FLUSH_TOLERANCE_M`], the one that was spawned last and has a surface determines it, such as a patch of
    /// ice on a road. A collider without a surface has the default one. Only colliders spawned after `entity` are
    /// compared, the newest first.
    fn topmost_surface_at(&self, car: usize, entity: Entity, point: Vec3) -> GroundSurface {
        // Surface of a collider, the last field of its data.
        let surface_of = |entity| self.world.colliders.get(entity).ok().and_then(|(.., surface)| surface).copied();
        let near_colliders = self.slots.get(car).map_or(&[][..], |slot| &slot.near_colliders);
        let flush_surface =
            near_colliders.iter().rev().take_while(|candidate| **candidate != entity).find_map(|&candidate| {
                let surface = surface_of(candidate)?;
                let (collider, pose) = self.collider_and_pose(candidate)?;
                // The distance of a point inside the solid collider is 0.
                let is_solid = true;
                (collider.shape_scaled().distance_to_point(&pose, point, is_solid) <= FLUSH_TOLERANCE_M)
                    .then_some(surface)
            });
        flush_surface.or_else(|| surface_of(entity)).unwrap_or_default()
    }

    /// Returns collider and pose (world axes, m) of `entity`; `None` for sensors, disabled colliders and other
    /// entities.
    fn collider_and_pose(&self, entity: Entity) -> Option<(&'a Collider, Pose)> {
        let (collider, position, rotation, ..) = self.world.colliders.get(entity).ok()?;
        Some((collider, Pose::from_parts(position.0, rotation.0)))
    }

    /// Adds the contact `point` (axes of the cars) at which the collider `wall` stops the rim of `probe` to
    /// `rim_walls`, unless the wall belongs to a dynamic body. The minimum speed along the normal is that which the gap
    /// allows, plus the speed of a kinematic wall along the normal. Does nothing between steps.
    fn add_rim_wall(&mut self, probe: &Probe, point: &HullPoint, wall: Entity) {
        if self.dt <= 0.0 {
            return;
        }
        let collider_of = self.world.colliders.get(wall).ok().and_then(|(_, _, _, collider_of, ..)| collider_of);
        let body = collider_of.and_then(|collider_of| self.world.bodies.get(collider_of.body).ok());
        if body.as_ref().is_some_and(|body| body.kind.is_dynamic()) {
            return;
        }
        let [arm, normal] = [point.arm, point.normal].map(|vector| BEVY_AXES.to_world(vector));
        let probe_position = BEVY_AXES.point_to_world(probe.position).as_vec3();
        let wall_speed = body.map_or(0.0, |body| body_motion(&body).velocity_at(probe_position + arm).dot(normal));
        self.buffers.rim_walls.add(probe.car, arm, normal, point.allowed_speed(self.dt) + wall_speed);
    }

    /// Solves the walls that stop the rims of `car`, whose wheels change the velocities of its `body` by `twist_change`
    /// (m/s, rad/s) in a step of `dt` s. The walls act on the free motion of the body at the end of the step plus
    /// `twist_change`. Returns the changes of velocity and angular velocity by the walls, and whether the stop is an
    /// impact. Returns `None` if no wall is near a rim or no stop is needed.
    fn solve_rim_walls(
        &mut self,
        car: usize,
        body: &BodyItem,
        twist_change: [Vec3; 2],
        dt: f32,
    ) -> Option<([Vec3; 2], bool)> {
        if !self.buffers.rim_walls.has_walls(car) {
            return None;
        }
        let [velocity, angular_velocity] = self.free_motion(body, dt);
        let end_twist = [velocity + twist_change[0], angular_velocity + twist_change[1]];
        let inverse_inertia = body.inertia.rotated(body.rotation.0).inverse();
        let inverse_mass = body.mass.inverse();
        let stop = self
            .buffers
            .rim_walls
            .solve(car, end_twist, Vec3::splat(inverse_mass), |moment| inverse_inertia * moment)?;
        Some(([stop.impulse * inverse_mass, inverse_inertia * stop.angular_impulse], stop.is_impact))
    }

    /// Returns true if the impulses of the wheels on `car` are an impact and its hull would overlap something. An
    /// impact changes the velocity by more than [`IMPACT_SPEED_MPS`]; `twist_change` is the change (m/s, rad/s). The
    /// hull is tested at four times within the coming `dt` s, against the colliders near the wheels.
    ///
    /// Such a change is applied at once instead of as an acceleration. Avian stops the hull within the step, and an
    /// acceleration that acts to its end would throw the car up, because its size assumes the path without the stop.
    /// Landings at 30 Hz would gain up to 0.23 m g h.
    fn is_impact_with_overlap(&self, car: usize, body: &BodyItem, twist_change: [Vec3; 2], dt: f32) -> bool {
        let is_impact = twist_change[0].length() > IMPACT_SPEED_MPS;
        // Four poses on the path are checked, because the wheels may have lifted the hull again at its end.
        is_impact
            && [0.25, 0.5, 0.75, 1.0].into_iter().any(|step_fraction| {
                // Mean velocities (m/s, rad/s) up to that time: the change acts evenly.
                let [linear, angular] = [0, 1]
                    .map(|i| [body.velocity.0, body.angular_velocity.0][i] + twist_change[i] * (0.5 * step_fraction));
                // Pose at the start, and time from the start, s.
                let (start_pose, time) = (Pose::from_parts(body.position.0, body.rotation.0), step_fraction * dt);
                let rotation = Quat::from_scaled_axis(angular * time) * body.rotation.0;
                let centre = start_pose.transform_point(body.centre.0) + linear * time;
                let pose = Pose::from_parts(centre - rotation * body.centre.0, rotation);
                self.hull_overlaps(&self.slots[car], &(pose * start_pose.inverse()))
            })
    }

    /// Returns true if any collider of the chassis, displaced by `displacement` (world axes), overlaps a collider near
    /// its wheels at its current pose. Pairs of shapes that parry cannot test do not count.
    #[cold]
    fn hull_overlaps(&self, slot: &CarSlot, displacement: &Pose) -> bool {
        let hulls = self.world.colliders_of.get(slot.chassis).into_iter().flat_map(RelationshipTarget::iter);
        hulls.filter_map(|hull| self.collider_and_pose(hull)).any(|(hull, pose)| {
            let overlaps = |(near_collider, near_pose): (&Collider, Pose)| {
                intersection_test(
                    &(*displacement * pose),
                    hull.shape_scaled().0.as_ref(),
                    &near_pose,
                    near_collider.shape_scaled().0.as_ref(),
                )
            };
            let near_colliders = slot.near_colliders.iter().filter_map(|&entity| self.collider_and_pose(entity));
            near_colliders.map(overlaps).any(|result| result.is_ok_and(|result| result.intersecting))
        })
    }
}

impl WorldPort for Port<'_, '_, '_> {
    /// Writes pose and motion of every chassis in the axes of the cars, with 64-bit positions and the free motion of
    /// [`Port::free_motion`]. Missing bodies leave their entry unchanged.
    fn read_bodies(&self, dt: f32, bodies: &mut [ChassisState]) {
        let pose_lag = pose_lag(dt, self.substeps());
        for (slot, chassis_state) in self.slots.iter().zip(bodies) {
            let Ok(body) = self.world.bodies.get(slot.chassis) else { continue };
            let [free_velocity, free_angular_velocity] =
                self.free_motion(&body, dt).map(|vector| BEVY_AXES.from_world(vector));
            *chassis_state = ChassisState {
                position: BEVY_AXES.point_from_world(slot.position_tracker.position(body.position.0)),
                rotation: BEVY_AXES.rotation_from_world(body.rotation.0),
                velocity: BEVY_AXES.from_world(body.velocity.0),
                angular_velocity: BEVY_AXES.from_world(body.angular_velocity.0),
                free_velocity,
                free_angular_velocity,
                // The gyroscopic torque is part of the free motion.
                gyroscopic_change: Vec3::ZERO,
                wind: self.wind,
                pose_lag,
                position_resolution: resolution(body.position.0),
                asleep: false,
            };
        }
    }

    /// Answers the probes of each car in turn from the colliders near it, and replaces the list of these colliders.
    /// First clears the walls that stop rims and the flag of loaded bodies of the last step, which the probes store
    /// again. `probes` are sorted by car; `contacts` has the same order.
    fn probe(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        self.buffers.rim_walls.clear();
        self.has_loaded_bodies = false;
        let mut remaining = &mut *contacts;
        for car_probes in probes.chunk_by(|a, b| a.car == b.car) {
            self.find_near_colliders(car_probes);
            let (car_contacts, rest) = remaining.split_at_mut(car_probes.len());
            for (probe, contact) in car_probes.iter().zip(car_contacts) {
                *contact = self.query_contact(probe, ProbePurpose::MidStep);
            }
            remaining = rest;
        }
    }

    fn is_single_plane(&self) -> bool {
        false
    }

    /// Answers repeated probes of one car along its path. Replaces the list of colliders near the car, and stores
    /// nothing else. Returns false, and does not change `contacts`, if no more than a single plane is near.
    fn probe_again(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) -> bool {
        self.find_near_colliders(probes);
        let near_colliders =
            probes.first().and_then(|probe| self.slots.get(probe.car)).map_or(&[][..], |slot| &slot.near_colliders);
        let colliders = near_colliders.iter().filter_map(|&entity| self.collider_and_pose(entity));
        let shapes = colliders.map(|(collider, pose)| (collider.shape_scaled().0.as_ref(), pose));
        if is_plane_at_most(&all_probe_bounds(BEVY_AXES, probes), shapes) {
            return false;
        }
        for (probe, contact) in probes.iter().zip(contacts) {
            *contact = self.query_contact(probe, ProbePurpose::AlongPath);
        }
        true
    }

    /// Collects the changes of velocity of each chassis by its wheels and by walls at its rims in `actions`, and
    /// applies nothing. A change acts as an acceleration over the step. A change that is an impact acts at once, if
    /// Avian solves the body: for wheels [`Port::is_impact_with_overlap`] decides, for walls [`Port::solve_rim_walls`].
    ///
    /// Also stores in `end_velocity` the free velocity at the end of the step plus the changes by accelerations,
    /// without those at once. Cars without a body are skipped.
    fn apply_impulses(&mut self, dt: f32, chassis_impulses: &[ChassisImpulse]) {
        for (car, chassis_impulse) in chassis_impulses.iter().enumerate() {
            let Some(slot) = self.slots.get(car) else { continue };
            let Ok(body) = self.world.bodies.get(slot.chassis) else { continue };
            let chassis = slot.chassis;
            let inverse_inertia = body.inertia.rotated(body.rotation.0).inverse();
            let twist_change = [
                BEVY_AXES.to_world(chassis_impulse.impulse) * body.mass.inverse(),
                inverse_inertia * BEVY_AXES.to_world(chassis_impulse.angular_impulse),
            ];
            let is_wheel_impact = self.is_impact_with_overlap(car, &body, twist_change, dt);
            let rim_stop = self.solve_rim_walls(car, &body, twist_change, dt);
            // Changes that act evenly over the step, and those that act at once: [m/s, rad/s].
            let (mut gradual, mut instant) = ([Vec3::ZERO; 2], [Vec3::ZERO; 2]);
            for (change, is_impact) in [Some((twist_change, is_wheel_impact)), rim_stop].into_iter().flatten() {
                // A body outside Avian's solver has no index and cannot be changed at once.
                let total = if is_impact && body.index.is_some() { &mut instant } else { &mut gradual };
                (0..2).for_each(|i| total[i] += change[i]);
            }
            self.actions.accelerations.push((chassis, gradual.map(|change| change / dt)));
            if let Some(index) = body.index.filter(|_| instant != [Vec3::ZERO; 2]) {
                self.actions.velocity_changes.push((*index, instant));
            }
            // Velocity at the end of the step if nothing else acts, m/s.
            let end_velocity = self.free_motion(&body, dt)[0] + gradual[0];
            self.slots[car].end_velocity = end_velocity;
        }
    }

    fn has_wheels_on_bodies(&self) -> bool {
        self.has_loaded_bodies
    }

    fn vehicle_of_body(&self, body: u64) -> Option<usize> {
        let entity = Entity::try_from_bits(body)?;
        self.slots.iter().position(|slot| slot.chassis == entity)
    }

    /// Returns motion and response (inverse mass and inertia) of a dynamic body under a wheel, in the axes of the cars;
    /// `None` for any other body. The motion at the end of the step includes gravity, damping, gyroscopic torque and
    /// accelerations that users set. Contacts that support the body lock part of its response
    /// (`DynamicGroundBody::dynamic_body`).
    fn dynamic_body(&self, body: u64, normal: Vec3, dt: f32) -> Option<DynamicBody> {
        let entity = Entity::try_from_bits(body)?;
        let body = self.world.bodies.get(entity).ok().filter(|body| body.kind.is_dynamic())?;
        let end_twist = self.free_motion(&body, dt);
        Some(
            dynamic_ground_body(self.world, entity, &body, end_twist)
                .dynamic_body(BEVY_AXES, BEVY_AXES.to_world(normal)),
        )
    }

    /// Collects the accelerations of dynamic bodies by the impulses of wheels in `actions`. Before that, stores each
    /// body under wheels once in `loaded_bodies`, with its motion at the start of the step. Kinematic bodies are
    /// stored, too, but get no acceleration. Reactions on missing bodies are skipped.
    fn apply_ground_reactions(&mut self, dt: f32, reactions: &[Reaction]) {
        for reaction in reactions {
            let Some(entity) = Entity::try_from_bits(reaction.body) else { continue };
            let Ok(body) = self.world.bodies.get(entity) else { continue };
            let motion = body_motion(&body);
            if !self.buffers.loaded_bodies.iter().rev().any(|loaded_body| loaded_body.body == entity) {
                self.buffers.loaded_bodies.push(WheelLoadedBody { body: entity, motion });
            }
            if !body.kind.is_dynamic() {
                continue;
            }
            // Lever of the force about the centre of mass, m.
            let arm = BEVY_AXES.point_to_world(reaction.point).as_vec3() - motion.centre;
            let force = BEVY_AXES.to_world(reaction.impulse) / dt;
            let inverse_inertia = body.inertia.rotated(body.rotation.0).inverse();
            self.actions
                .accelerations
                .push((entity, [force * body.mass.inverse(), inverse_inertia * arm.cross(force)]));
        }
    }

    /// Sets the end velocity of contacts on dynamic bodies, in the axes of the cars, m/s. This is the current velocity
    /// of the body at the contact point on the ray. Does not change misses, contacts with other ground, and start
    /// velocities.
    fn update_ground_velocities(&self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        for (probe, contact) in probes.iter().zip(contacts) {
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
    /// Applies all accelerations to the bodies for the coming step, in addition to those of users, and changes of
    /// velocity at once. A body without acceleration data sleeps: waking it is queued, and its acceleration is lost in
    /// this step.
    pub fn apply(
        self,
        increments: &mut Query<&mut VelocityIntegrationData>,
        solver: &mut SolverBodies,
        commands: &mut Commands,
    ) {
        for (entity, [linear, angular]) in self.accelerations {
            match increments.get_mut(entity) {
                Ok(mut body_increments) => {
                    body_increments.apply_linear_acceleration(linear);
                    body_increments.apply_angular_acceleration(angular);
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
