//! Coupling to Rapier: reads bodies and casts rays, applies forces.

use rapier3d::parry::query::intersection_test;
use rapier3d::prelude::*;
use skidpad_core::{
    ChassisImpulse, ChassisState, Contact, DynamicBody, Ground, PredictedMotion, Probe, Reaction, Vec3, WorldPort,
};

use crate::car_slot::CarSlot;
use crate::chassis::pose_lag;
use crate::ground::{self, WheelLoadedBody};
use crate::rim_walls;
use crate::supported_body::SupportedBody;
use crate::{RapierWorldMut, SurfaceProperties, SurfaceQuery, WorldAxes};
use skidpad_engines::{
    GroundContact, IMPACT_SPEED_MPS, ProbePurpose, RimWalls, WheelTriangles, all_probe_bounds, cast_from_outside,
    is_plane_at_most, neighbour_ray, probe_ray, resolution, triangle_corners,
};

/// Access of the vehicles to a Rapier world within a step.
pub(crate) struct Port<'a> {
    /// Bodies, colliders, joints and queries of the world.
    pub world: RapierWorldMut<'a>,
    /// Convention of the world's axes.
    pub axes: WorldAxes,
    /// Chassis and data of each car.
    pub slots: &'a mut [CarSlot],
    /// Bodies under the wheels of this step.
    pub loaded_bodies: &'a mut Vec<WheelLoadedBody>,
    /// Bodies under the wheels of the step before.
    pub last_loaded_bodies: &'a [WheelLoadedBody],
    /// Bodies under wheels that rest on something, found on demand.
    pub supported_bodies: &'a mut Vec<SupportedBody>,
    /// Buffer for the triangles near a wheel with a rim.
    pub wheel_triangles: &'a mut WheelTriangles<ColliderHandle>,
    /// Contact points that stop rims in this step.
    pub rim_walls: &'a mut RimWalls,
    /// Whether the world was not stepped since its bodies changed, so that its broad phase may be incomplete.
    pub is_unstepped: bool,
    /// Velocity of the air, axes of the cars (z up), m/s.
    pub wind: Vec3,
    /// Whether some wheel stands on a dynamic body in this step.
    pub has_loaded_bodies: bool,
    /// Ground for wheels, in addition to the collision groups and sensors of the chassis.
    pub surfaces: SurfaceProperties<'a>,
}

impl WorldPort for Port<'_> {
    /// Writes pose and motion of every chassis in the axes of the cars: 64-bit position, wind, pose lag (time by which
    /// poses lag velocities), resolution of the position and whether the body sleeps. The free motion is that after
    /// `dt` s with gravity, the user's force, damping and gyroscopic torque, without contacts and the user's torque.
    /// Entries of missing bodies do not change.
    fn read_bodies(&self, dt: f32, bodies: &mut [ChassisState]) {
        let pose_lag = pose_lag(self.world.parameters);
        for (slot, state) in self.slots.iter().zip(bodies) {
            let Some(body) = self.world.bodies.get(slot.handle) else { continue };
            // Acceleration by gravity and the user's force, m/s².
            let acceleration = self.world.gravity * body.gravity_scale() + body.user_force() / body.mass();
            // Rapier divides a velocity by 1 + dt c in a step.
            let linear_factor = 1.0 / (1.0 + dt * body.linear_damping());
            let angular_factor = 1.0 / (1.0 + dt * body.angular_damping());
            *state = ChassisState {
                position: self.axes.point_from_world(slot.position_tracker.position(body.translation())),
                rotation: self.axes.rotation_from_world(*body.rotation()),
                velocity: self.axes.from_world(body.linvel()),
                angular_velocity: self.axes.from_world(body.angvel()),
                free_velocity: self.axes.from_world((body.linvel() + acceleration * dt) * linear_factor),
                free_angular_velocity: self.axes.from_world(body.angvel_with_gyroscopic_forces(dt) * angular_factor),
                // The gyroscopic torque is part of the free motion.
                gyroscopic_change: Vec3::ZERO,
                wind: self.wind,
                pose_lag,
                position_resolution: resolution(body.translation()),
                asleep: body.is_sleeping(),
            };
        }
    }

    /// Answers the probes of each car in turn from the colliders near it; probes of a car are consecutive. First clears
    /// the walls that stop rims, the supported bodies and the flag of loaded bodies of the last step. For each probed
    /// car, clears its list of ground and finds the colliders near all its rays. Each probe then stores walls, ground
    /// and flag again ([`ProbePurpose::MidStep`]); supported bodies are found later, on demand.
    fn probe(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        self.rim_walls.clear();
        self.supported_bodies.clear();
        self.has_loaded_bodies = false;
        let mut remaining_contacts = &mut *contacts;
        for car_probes in probes.chunk_by(|previous, next| previous.car == next.car) {
            // Discards the ground of the last step and finds the colliders near all rays of the car.
            let car = car_probes[0].car;
            self.slots[car].ground_contacts.clear();
            self.find_colliders_near_car(car, all_probe_bounds(self.axes, car_probes));
            let (car_contacts, other_contacts) = remaining_contacts.split_at_mut(car_probes.len());
            for (probe, contact) in car_probes.iter().zip(car_contacts) {
                *contact = self.query_contact(probe, ProbePurpose::MidStep);
            }
            remaining_contacts = other_contacts;
        }
    }

    fn is_single_plane(&self) -> bool {
        false
    }

    /// Answers repeated probes of one car at other points of its path. Stores only the colliders near the car, because
    /// probes with [`ProbePurpose::AlongPath`] store neither walls nor ground nor the flag of loaded bodies.
    ///
    /// Returns false, with `contacts` unchanged, if there are no probes, or if no collider or only a single plane
    /// (half-space) is near. A single plane needs no repetition: the first contact describes it along the whole path.
    /// Returns true otherwise.
    fn probe_again(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) -> bool {
        let Some(&Probe { car, .. }) = probes.first() else { return false };
        let bounds = all_probe_bounds(self.axes, probes);
        self.find_colliders_near_car(car, bounds);
        let colliders = self.slots[car].near_colliders.iter().filter_map(|handle| self.world.colliders.get(*handle));
        if is_plane_at_most(&bounds, colliders.map(|collider| (collider.shape(), self.pose_of(collider)))) {
            return false;
        }
        for (probe, contact) in probes.iter().zip(contacts) {
            *contact = self.query_contact(probe, ProbePurpose::AlongPath);
        }
        true
    }

    /// Applies the pushes of the vehicles (one per car) to their chassis. For each car, first stores whether its body
    /// sleeps; a sleeping or missing body is skipped. Then stores the user's forces and the push. Applies the push as
    /// force and torque over the step of `dt` s, or as an impulse at once if it is an impact and the hull would overlap
    /// something ([`Port::is_impact_with_overlap`]). Finally applies the impulses of walls that stop its rims
    /// ([`rim_walls::apply_rim_wall_impulses`]). Impulses on the hull are ignored: Rapier solves its contacts.
    fn apply_impulses(&mut self, dt: f32, pushes: &[ChassisImpulse]) {
        for (car, push) in pushes.iter().enumerate() {
            // Whether the push acts at once instead of as a force over the step.
            let acts_at_once = self.is_impact_with_overlap(car, push, dt);
            let slot = &mut self.slots[car];
            let Some(body) = self.world.bodies.get(slot.handle) else { continue };
            slot.sleep.asleep = body.is_sleeping();
            if slot.sleep.asleep {
                continue;
            }
            slot.user_forces = (body.user_force(), body.user_torque());
            slot.sleep.last_push = *push;
            let (impulse, angular_impulse) =
                (self.axes.to_world(push.impulse), self.axes.to_world(push.angular_impulse));
            if let Some(body) = self.world.bodies.get_mut(slot.handle) {
                // `false`: the calls do not wake the body, which is awake.
                if acts_at_once {
                    body.apply_impulse(impulse, false);
                    body.apply_torque_impulse(angular_impulse, false);
                } else {
                    body.add_force(impulse / dt, false);
                    body.add_torque(angular_impulse / dt, false);
                }
            }
            rim_walls::apply_rim_wall_impulses(self.rim_walls, &mut self.world, car, slot.handle);
        }
    }

    fn has_wheels_on_bodies(&self) -> bool {
        self.has_loaded_bodies
    }

    fn vehicle_of_body(&self, body: u64) -> Option<usize> {
        self.car_of_body(ground::body_handle(body))
    }

    fn dynamic_body(&self, body: u64, normal: Vec3, dt: f32) -> Option<DynamicBody> {
        ground::dynamic_body(&self.world, self.axes, ground::body_handle(body), normal, dt)
    }

    fn predict_body(&mut self, body: u64, wheel_impulses: [Vec3; 2], dt: f32) -> Option<PredictedMotion> {
        self.predict_body(ground::body_handle(body), wheel_impulses, dt)
    }

    /// Applies the impulses of wheels to dynamic bodies as forces over the step of `dt` s, at the points of
    /// application, and stores the user's forces on these bodies before. Wakes them; other bodies are not pushed.
    /// Bodies whose contact points are solved together with the wheels ([`Port::is_supported`]) are skipped in this
    /// pass. They come last and get the sum of wheel and contact impulses ([`Port::apply_supported_reactions`]).
    fn apply_ground_reactions(&mut self, dt: f32, reactions: &[Reaction]) {
        for reaction in reactions {
            let handle = ground::body_handle(reaction.body);
            if !self.is_supported(handle) {
                let (point, impulse) = (self.axes.point_to_world(reaction.point), self.axes.to_world(reaction.impulse));
                self.push_body(handle, point.as_vec3(), impulse, dt);
            }
        }
        self.apply_supported_reactions(dt, reactions);
    }

    /// Sets the end velocity of contacts on dynamic bodies, in the axes of the cars, m/s. This is the current velocity
    /// of the body at the contact point on the ray. Does not change misses, contacts with other ground, and start
    /// velocities.
    fn update_ground_velocities(&self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        for (probe, contact) in probes.iter().zip(contacts) {
            let Some(contact) = contact else { continue };
            let Some(ground) = &mut contact.ground else { continue };
            // A kinematic body has moved as the solve assumed.
            let body = self.world.bodies.get(ground::body_handle(ground.body)).filter(|body| body.is_dynamic());
            let Some(body) = body else { continue };
            let point = self.axes.point_to_world(probe.point_at(contact.distance)).as_vec3();
            ground.velocity = self.axes.from_world(body.velocity_at_point(point));
        }
    }
}

impl Port<'_> {
    /// Returns true if the impulse of the wheels on `car` changes its velocity by more than [`IMPACT_SPEED_MPS`], and
    /// its hull would overlap something near at the end of the coming `dt` s.
    ///
    /// Such a push is applied as an impulse instead of a force. Rapier stops the hull within the step, and a force that
    /// acts to its end would throw the car up, because its size assumes the path without the stop. Landings at 30 Hz
    /// would gain up to 0.06 m g h.
    #[inline(always)]
    fn is_impact_with_overlap(&mut self, car: usize, push: &ChassisImpulse, dt: f32) -> bool {
        let Some(body) = self.world.bodies.get(self.slots[car].handle) else { return false };
        push.impulse.length() > IMPACT_SPEED_MPS * body.mass() && self.chassis_would_overlap(car, push, dt)
    }

    /// Returns true if any collider of the chassis of `car` overlaps something near after `dt` s of motion with the
    /// current velocities plus half of their change by `push`. Gravity is not included. False for a missing body.
    /// Replaces the list of colliders near the car.
    #[cold]
    #[inline(never)]
    fn chassis_would_overlap(&mut self, car: usize, push: &ChassisImpulse, dt: f32) -> bool {
        let Some(body) = self.world.bodies.get(self.slots[car].handle) else { return false };
        let velocity_change = self.axes.to_world(push.impulse) / body.mass();
        let angular_change =
            body.mass_properties().effective_world_inv_inertia * self.axes.to_world(push.angular_impulse);
        // Mean velocities over the step.
        let [linear, angular] = [body.linvel() + velocity_change * 0.5, body.angvel() + angular_change * 0.5];
        let mean_velocity = RigidBodyVelocity { linvel: linear, angvel: angular };
        let end_pose = mean_velocity.integrate(dt, body.position(), &body.local_center_of_mass());
        let collider_count = body.colliders().len();
        (0..collider_count).any(|collider_index| self.collider_would_overlap(car, collider_index, &end_pose))
    }

    /// Returns true if collider number `collider_index` of the chassis of `car` overlaps any collider near it when the
    /// body is at `end_pose`. Other bodies are tested at their current poses. False for a sensor, a missing collider,
    /// or shapes that parry cannot test.
    ///
    /// Replaces the list of colliders near the car by those near `end_pose`, because the list for the rays may lack
    /// some.
    fn collider_would_overlap(&mut self, car: usize, collider_index: usize, end_pose: &Pose) -> bool {
        let body = self.world.bodies.get(self.slots[car].handle);
        let handle = body.and_then(|body| body.colliders().get(collider_index).copied());
        let Some(collider) = handle.and_then(|handle| self.world.colliders.get(handle)) else { return false };
        if collider.is_sensor() {
            return false;
        }
        let pose = collider.position_wrt_parent().map_or(*end_pose, |local_pose| *end_pose * *local_pose);
        let shape = collider.shared_shape().clone();
        self.find_colliders_near_car(car, shape.compute_aabb(&pose));
        let near_colliders =
            self.slots[car].near_colliders.iter().filter_map(|handle| self.world.colliders.get(*handle));
        let test_overlap = |other: &Collider| intersection_test(&pose, &*shape, &self.pose_of(other), other.shape());
        near_colliders.into_iter().any(|other| test_overlap(other).is_ok_and(|result| result.intersecting))
    }

    /// Stores the user's forces on a body that wheels push in this step, so that they can be restored after the step.
    /// Also stores its motion in the coming step of `dt` s. Both are one entry in `loaded_bodies`. Only the first call
    /// for a body in a step stores anything. A missing body is ignored.
    pub(crate) fn store_user_forces(&mut self, handle: RigidBodyHandle, dt: f32) {
        let Some(body) = self.world.bodies.get(handle) else { return };
        if !self.loaded_bodies.iter().rev().any(|loaded_body| loaded_body.handle == handle) {
            self.loaded_bodies.push(WheelLoadedBody::new(handle, body, dt));
        }
    }

    /// Returns the index of the car whose chassis is `handle`.
    pub(crate) fn car_of_body(&self, handle: RigidBodyHandle) -> Option<usize> {
        self.slots.iter().position(|slot| slot.handle == handle)
    }

    /// Replaces the list of colliders near `car` by those that its rays or hull may touch within `bounds` (world axes,
    /// m). Excludes sensors, the car itself, vehicles hitched to it, and all colliders that the user's filter rejects
    /// by its groups, flags, excluded body or predicate. If the user's filter has no groups, the collision groups of
    /// the chassis apply.
    fn find_colliders_near_car(&mut self, car: usize, bounds: Aabb) {
        let slot = &mut self.slots[car];
        slot.near_colliders.clear();
        let (chassis, user_filter) = (slot.handle, self.surfaces.filter);
        // Bodies hitched to the car, put back below.
        let hitched_bodies = std::mem::take(&mut slot.hitched_bodies);
        // Predicate for a filter that cannot exclude the car by itself.
        let is_ground = |handle: ColliderHandle, collider: &Collider| {
            let is_other_body = collider.parent().is_none_or(|body| body != chassis && !hitched_bodies.contains(&body));
            is_other_body && user_filter.predicate.is_none_or(|predicate| predicate(handle, collider))
        };
        let mut filter =
            QueryFilter { groups: user_filter.groups.or(slot.collision_groups), ..user_filter }.exclude_sensors();
        // The filter can exclude only one body.
        if user_filter.exclude_rigid_body.is_none() && hitched_bodies.is_empty() {
            filter.exclude_rigid_body = Some(chassis);
        } else {
            filter.predicate = Some(&is_ground);
        }
        let mut near_colliders = std::mem::take(&mut slot.near_colliders);
        self.find_near_colliders(filter, bounds, &mut near_colliders);
        let slot = &mut self.slots[car];
        slot.near_colliders = near_colliders;
        slot.hitched_bodies = hitched_bodies;
    }

    /// Adds the colliders that pass `filter` and may reach into `bounds` (world axes, m) to `near_colliders`, in no
    /// stable order. Before the first step of the world the broad phase is incomplete; then all enabled colliders that
    /// pass are added.
    pub(crate) fn find_near_colliders(
        &self,
        filter: QueryFilter<'_>,
        bounds: Aabb,
        near_colliders: &mut Vec<ColliderHandle>,
    ) {
        let RapierWorldMut { broad_phase, narrow_phase, bodies, colliders, .. } = &self.world;
        if self.is_unstepped {
            let passing_colliders =
                colliders.iter_enabled().filter(|(handle, collider)| filter.test(bodies, *handle, collider));
            near_colliders.extend(passing_colliders.map(|(handle, _)| handle));
        } else {
            let queries = broad_phase.as_query_pipeline(narrow_phase.query_dispatcher(), bodies, colliders, filter);
            near_colliders.extend(queries.intersect_aabb_conservative(bounds).map(|(handle, _)| handle));
        }
    }

    /// Returns the contact of `probe` in the axes of the cars, with grip, ground data and unevenness; `None` for a
    /// miss. Wheels with a rim query triangles, other wheels cast their ray at the colliders near the car. Start and
    /// end velocity of the ground are equal.
    ///
    /// A probe of the purpose [`ProbePurpose::MidStep`] also adds the collider to the ground of the car, unless the
    /// last entry is the same collider. It stores whether any wheel stands on a dynamic body. A probe of the purpose
    /// [`ProbePurpose::AlongPath`] stores nothing.
    fn query_contact(&mut self, probe: &Probe, purpose: ProbePurpose) -> Option<Contact> {
        let (car_position, ray) = probe_ray(self.axes, probe);
        let WheelContact { handle, distance, normal, feature, point } = if probe.rim.is_some() {
            self.query_rim_contact(probe, &ray, purpose)?
        } else {
            self.cast_ray_contact(&ray, probe)?
        };
        let collider = self.world.colliders.get(handle)?;
        let slot = &mut self.slots[probe.car];
        if purpose == ProbePurpose::MidStep
            && slot.ground_contacts.last().is_none_or(|(last_handle, _)| *last_handle != handle)
        {
            slot.ground_contacts.push((handle, *collider.position()));
        }
        // Contact point of a rim in world axes, m.
        let rim_point = point.map(|point| car_position + self.axes.to_world(point));
        let ground_contact = GroundContact {
            point: rim_point.unwrap_or_else(|| ray.point_at(distance)),
            normal,
            car_centre: car_position,
        };
        let surface_query = SurfaceQuery { handle, collider, point: ground_contact.point, normal, feature };
        // Body of the collider, and its ground data with the velocity in world axes; then in the axes of the cars.
        let body = collider.parent().and_then(|parent| Some((parent, self.world.bodies.get(parent)?)));
        let ground =
            body.and_then(|body| ground::ground_data(&self.world, self.last_loaded_bodies, body, &ground_contact));
        let ground = ground.map(|ground| {
            let velocity = self.axes.from_world(ground.velocity);
            Ground { start_velocity: velocity, velocity, ..ground }
        });
        let contact = Contact {
            distance,
            normal: self.axes.from_world(normal),
            grip: self.surfaces.grip_of(&surface_query),
            point,
            ground: self.surfaces.texture_of(&surface_query).apply_to_ground(ground),
        };
        self.has_loaded_bodies |= purpose == ProbePurpose::MidStep && body.is_some_and(|(_, body)| body.is_dynamic());
        Some(contact.with_unevenness(probe))
    }

    /// Returns the first contact of `ray`, that of `probe`, with the colliders near its car within the length of the
    /// probe, in world axes; `None` for a miss. A ray that misses is repeated once with a neighbouring ray. On smooth
    /// surfaces the normal is the smooth one ([`Port::smooth_normal`]).
    fn cast_ray_contact(&self, ray: &Ray, probe: &Probe) -> Option<WheelContact> {
        let cast_ray = |ray: &Ray| self.first_hit(&self.slots[probe.car].near_colliders, ray, probe.length);
        let (handle, hit) = cast_ray(ray).or_else(|| cast_ray(&neighbour_ray(ray)))?;
        let (distance, feature) = (hit.time_of_impact, hit.feature);
        let normal = self.smooth_normal(handle, &hit, ray).unwrap_or(hit.normal);
        Some(WheelContact { handle, distance, normal, feature, point: None })
    }

    /// Returns the normal (world axes) of a smooth surface where `ray` hits it, interpolated between the normals at the
    /// corners of the triangle. Returns `None` without a function for smooth normals in `surfaces`, for a flat
    /// triangle, and for a shape without triangles.
    fn smooth_normal(&self, handle: ColliderHandle, hit: &RayIntersection, ray: &Ray) -> Option<Vector> {
        let smooth_surface = self.surfaces.smooth_normals?(handle, hit.subshape)?;
        let collider = self.world.colliders.get(handle)?;
        let pose = self.pose_of(collider);
        let relative_to_start = |corner: Vector| self.axes.from_world(pose * corner - ray.origin);
        let corners = triangle_corners(collider.shape(), hit.subshape)?.map(relative_to_start);
        // Relative to the start of the ray, as the corners.
        let [point, up] = [ray.dir * hit.time_of_impact, -ray.dir].map(|vector| self.axes.from_world(vector));
        Some(self.axes.to_world(smooth_surface.normal_at(&corners, point, up)))
    }

    /// Returns the contact of the rim of `probe` with the faces near its car; `None` for a miss. The normal has world
    /// axes, the contact point the axes of the cars. Collects the faces of all colliders near the car in
    /// `wheel_triangles`. On triangles for which the user's function returns smooth normals, these replace the flat
    /// ones.
    ///
    /// For [`ProbePurpose::MidStep`], also stores the wall that stops the rim, if any, in `rim_walls`. If any collider
    /// near the car has no faces, such as a ball, `ray` is cast, too. The nearer contact counts; the rim counts at
    /// equal distances.
    fn query_rim_contact(&mut self, probe: &Probe, ray: &Ray, purpose: ProbePurpose) -> Option<WheelContact> {
        self.wheel_triangles.clear();
        // Whether any collider near the car has no faces.
        let mut has_faceless_collider = false;
        for &handle in &self.slots[probe.car].near_colliders {
            let Some(collider) = self.world.colliders.get(handle) else { continue };
            let pose = self.pose_of(collider);
            has_faceless_collider |= !self.wheel_triangles.add(self.axes, probe, (handle, collider.shape()), &pose);
        }
        // Function of the user that returns smooth normals. Without such a function, `?` below returns `None` for every
        // triangle: all triangles are flat.
        let smooth_normals = self.surfaces.smooth_normals;
        // Contact of the rim with the ground, in the axes of the cars.
        let rim_contact =
            self.wheel_triangles.smooth_ground_contact(probe, |handle, number| smooth_normals?(handle, number));
        // The wheel stands on the ground contact, if any, when the wall stops its rim.
        if purpose == ProbePurpose::MidStep
            && let Some(rim_wall) =
                self.wheel_triangles.wall_contact(probe, rim_contact.as_ref().map(|(_, contact)| contact))
        {
            let car_position = self.axes.point_to_world(probe.position).as_vec3();
            rim_walls::add_rim_wall(self.rim_walls, &self.world, self.axes, probe.car, rim_wall, car_position);
        }
        let rim_contact = rim_contact.map(|(handle, contact)| WheelContact {
            handle,
            distance: contact.distance,
            normal: self.axes.to_world(contact.normal),
            feature: FeatureId::Unknown, // rims have no feature
            point: contact.point,
        });
        let ray_contact = if has_faceless_collider { self.cast_ray_contact(ray, probe) } else { None };
        match (rim_contact, ray_contact) {
            (Some(rim_contact), Some(ray_contact)) if ray_contact.distance < rim_contact.distance => Some(ray_contact),
            (rim_contact, ray_contact) => rim_contact.or(ray_contact),
        }
    }

    /// Returns the first hit of a ray on the colliders `near_colliders` within `reach` m, from outside, with the handle
    /// of the collider; `None` for a miss. A ray that starts inside a shape does not hit it.
    fn first_hit(
        &self,
        near_colliders: &[ColliderHandle],
        ray: &Ray,
        reach: f32,
    ) -> Option<(ColliderHandle, RayIntersection)> {
        let mut first_hit: Option<(ColliderHandle, RayIntersection)> = None;
        for &handle in near_colliders {
            let Some(collider) = self.world.colliders.get(handle) else { continue };
            let pose = self.pose_of(collider);
            // Only nearer hits replace the first one so far.
            let max_distance = first_hit.map_or(reach, |(_, hit)| hit.time_of_impact);
            if let Some(hit) = cast_from_outside(collider.shape(), &pose, ray, max_distance) {
                first_hit = Some((handle, hit));
            }
        }
        first_hit
    }

    /// Returns the pose of a collider. Before the first step, Rapier has not yet moved it with its parent.
    #[inline(always)]
    pub(crate) fn pose_of(&self, collider: &Collider) -> Pose {
        if self.is_unstepped { self.pose_by_parent(collider) } else { *collider.position() }
    }

    /// Returns the pose of a collider, computed from the pose of its parent; its own pose without a parent.
    #[cold]
    #[inline(never)]
    fn pose_by_parent(&self, collider: &Collider) -> Pose {
        let parent = collider.parent().and_then(|parent| self.world.bodies.get(parent)).map(RigidBody::position);
        match (parent, collider.position_wrt_parent()) {
            (Some(parent), Some(local_pose)) => *parent * *local_pose,
            _ => *collider.position(),
        }
    }
}

/// Contact of a wheel with a collider, in world axes unless stated otherwise.
struct WheelContact {
    /// Collider that the wheel touches.
    handle: ColliderHandle,
    /// Distance from the start of the ray to the contact, or to the lowest point of a supported rim, m.
    distance: f32,
    /// Normal in world axes.
    normal: Vector,
    /// Feature of the shape; `Unknown` for rims.
    feature: FeatureId,
    /// Contact point as in [`Contact::point`], in the axes of the cars; `None` for rays.
    point: Option<Vec3>,
}
