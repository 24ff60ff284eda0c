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
    pub sets: RapierWorldMut<'a>,
    /// Convention of the world's axes.
    pub axes: WorldAxes,
    /// Chassis and data of each car.
    pub slots: &'a mut [CarSlot],
    /// Bodies under the wheels of this step.
    pub loaded: &'a mut Vec<WheelLoadedBody>,
    /// Bodies under the wheels of the step before.
    pub last_loaded: &'a [WheelLoadedBody],
    /// Bodies under wheels that rest on something, found on demand.
    pub supported: &'a mut Vec<SupportedBody>,
    /// Buffer for the triangles near a wheel with a rim.
    pub faces: &'a mut WheelTriangles<ColliderHandle>,
    /// Contact points that stop rims in this step.
    pub rim_walls: &'a mut RimWalls,
    /// Whether the world was not stepped with these cars yet, so that its broad phase may be incomplete.
    pub is_unstepped: bool,
    /// Velocity of the air, vehicle-side world axes (z up), m/s.
    pub wind: Vec3,
    /// Whether some wheel stands on a dynamic body in this step.
    pub has_loaded_bodies: bool,
    /// Ground for wheels, in addition to the collision groups and sensors of the chassis.
    pub surfaces: SurfaceProperties<'a>,
}

impl WorldPort for Port<'_> {
    /// Writes pose and motion of every chassis in the axes of the cars, with 64-bit positions. The free motion is that after
    /// `dt` s with gravity, the user's force, damping and gyroscopic torque, without contacts. Missing bodies leave their entry
    /// unchanged.
    fn read_bodies(&self, dt: f32, bodies: &mut [ChassisState]) {
        let pose_lag = pose_lag(self.sets.parameters);
        for (slot, to) in self.slots.iter().zip(bodies) {
            let Some(body) = self.sets.bodies.get(slot.handle) else { continue };
            // Acceleration by gravity and the user's force, m/s².
            let pull = self.sets.gravity * body.gravity_scale() + body.user_force() / body.mass();
            let linear = 1.0 / (1.0 + dt * body.linear_damping());
            let angular = 1.0 / (1.0 + dt * body.angular_damping());
            *to = ChassisState {
                position: self.axes.point_from_world(slot.track.position(body.translation())),
                rotation: self.axes.rotation_from_world(*body.rotation()),
                velocity: self.axes.from_world(body.linvel()),
                angular: self.axes.from_world(body.angvel()),
                free_velocity: self.axes.from_world((body.linvel() + pull * dt) * linear),
                free_angular: self.axes.from_world(body.angvel_with_gyroscopic_forces(dt) * angular),
                // The gyroscopic torque is part of the free motion.
                gyroscopic_change: Vec3::ZERO,
                wind: self.wind,
                pose_lag,
                position_resolution: resolution(body.translation()),
                asleep: body.is_sleeping(),
            };
        }
    }

    /// Answers the probes of each car in turn from the colliders near it. Discards ground, rim stops and supported bodies of
    /// the last step first.
    fn probe(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        self.rim_walls.clear();
        self.supported.clear();
        self.has_loaded_bodies = false;
        let mut answers = &mut *answered;
        for of_car in asked.chunk_by(|one, next| one.car == next.car) {
            let car = of_car[0].car;
            self.slots[car].ground_contacts.clear();
            self.find_colliders_near_car(car, all_probe_bounds(self.axes, of_car));
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
        let Some(&Probe { car, .. }) = asked.first() else { return false };
        let bounds = all_probe_bounds(self.axes, asked);
        self.find_colliders_near_car(car, bounds);
        let colliders = self.slots[car].near.iter().filter_map(|near| self.sets.colliders.get(*near));
        if is_plane_at_most(&bounds, colliders.map(|collider| (collider.shape(), self.pose_of(collider)))) {
            return false;
        }
        for (probe, answer) in asked.iter().zip(answered) {
            *answer = self.query_contact(probe, ProbePurpose::AlongPath);
        }
        true
    }

    /// Applies the pushes of the wheels to the chassis as forces over the step, or at once if they are an impact and the hull
    /// would overlap something. Stores the user's forces and the push. Stops of rims follow. Sleeping bodies are not pushed.
    fn apply_impulses(&mut self, dt: f32, pushes: &[ChassisImpulse]) {
        for (car, push) in pushes.iter().enumerate() {
            // Whether the push acts at once instead of as a force over the step.
            let strikes = self.is_impact_with_overlap(car, push, dt);
            let slot = &mut self.slots[car];
            let Some(body) = self.sets.bodies.get(slot.handle) else { continue };
            slot.sleep.asleep = body.is_sleeping();
            if slot.sleep.asleep {
                continue;
            }
            slot.user_forces = (body.user_force(), body.user_torque());
            slot.sleep.last_push = *push;
            let (impulse, angular) = (self.axes.to_world(push.impulse), self.axes.to_world(push.angular_impulse));
            if let Some(body) = self.sets.bodies.get_mut(slot.handle) {
                if strikes {
                    body.apply_impulse(impulse, false);
                    body.apply_torque_impulse(angular, false);
                } else {
                    body.add_force(impulse / dt, false);
                    body.add_torque(angular / dt, false);
                }
            }
            rim_walls::apply_rim_wall_impulses(self.rim_walls, &mut self.sets, car, slot.handle);
        }
    }

    fn has_wheels_on_bodies(&self) -> bool {
        self.has_loaded_bodies
    }

    fn vehicle_of_body(&self, body: u64) -> Option<usize> {
        self.car_of(ground::body_handle(body))
    }

    fn dynamic_body(&self, body: u64, normal: Vec3, dt: f32) -> Option<DynamicBody> {
        ground::dynamic_body(&self.sets, self.axes, ground::body_handle(body), normal, dt)
    }

    fn predict_body(&mut self, body: u64, pushed: [Vec3; 2], dt: f32) -> Option<PredictedMotion> {
        self.predict_body(ground::body_handle(body), pushed, dt)
    }

    /// Applies the impulses of wheels to dynamic bodies as forces over the step. Bodies that rest on something get the sum of
    /// wheel and contact impulses.
    fn apply_ground_reactions(&mut self, dt: f32, reactions: &[Reaction]) {
        for reaction in reactions {
            let handle = ground::body_handle(reaction.body);
            if !self.is_supported(handle) {
                let (point, push) = (self.axes.point_to_world(reaction.point), self.axes.to_world(reaction.impulse));
                self.push_body(handle, point.as_vec3(), push, dt);
            }
        }
        self.apply_supported_reactions(dt, reactions);
    }

    /// Sets the end velocity of contacts on dynamic bodies to the current velocity of these bodies there, in the axes of the
    /// cars, m/s.
    fn update_ground_velocities(&self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        for (probe, contact) in asked.iter().zip(answered) {
            let Some(contact) = contact else { continue };
            let Some(ground) = &mut contact.ground else { continue };
            // A kinematic body has moved as the solve assumed.
            let body = self.sets.bodies.get(ground::body_handle(ground.body)).filter(|body| body.is_dynamic());
            let Some(body) = body else { continue };
            let point = self.axes.point_to_world(probe.point_at(contact.distance)).as_vec3();
            ground.velocity = self.axes.from_world(body.velocity_at_point(point));
        }
    }
}

impl Port<'_> {
    /// Returns true if the impulse of the wheels on `car` changes its velocity by more than [`IMPACT_SPEED_MPS`], and its hull
    /// would overlap something near at the end of the coming `dt` s.
    ///
    /// Such a push is applied as an impulse instead of a force. Rapier stops the hull within the step, and a force that acts to
    /// its end would throw the car up, because its size assumes the path without the stop. Landings at 30 Hz would gain up to
    /// 0.06 m g h.
    #[inline(always)]
    fn is_impact_with_overlap(&mut self, car: usize, push: &ChassisImpulse, dt: f32) -> bool {
        let Some(body) = self.sets.bodies.get(self.slots[car].handle) else { return false };
        push.impulse.length() > IMPACT_SPEED_MPS * body.mass() && self.chassis_would_overlap(car, push, dt)
    }

    /// Returns true if a collider of the chassis of `car` overlaps something near after `dt` s of motion with the current
    /// velocity plus half of the change by `push`. Gravity is not included.
    #[cold]
    #[inline(never)]
    fn chassis_would_overlap(&mut self, car: usize, push: &ChassisImpulse, dt: f32) -> bool {
        let Some(body) = self.sets.bodies.get(self.slots[car].handle) else { return false };
        let gained = self.axes.to_world(push.impulse) / body.mass();
        let spun = body.mass_properties().effective_world_inv_inertia * self.axes.to_world(push.angular_impulse);
        // Mean velocities over the step.
        let [linear, angular] = [body.linvel() + gained * 0.5, body.angvel() + spun * 0.5];
        let moves = RigidBodyVelocity { linvel: linear, angvel: angular };
        let ends = moves.integrate(dt, body.position(), &body.local_center_of_mass());
        let hulls = body.colliders().len();
        (0..hulls).any(|hull| self.collider_would_overlap(car, hull, &ends))
    }

    /// Returns true if collider number `hull` of the chassis of `car` overlaps anything when the body is at `ends`; false for a
    /// sensor. Replaces the list of colliders near the car by those near this pose, since those near the rays may not be all.
    fn collider_would_overlap(&mut self, car: usize, hull: usize, ends: &Pose) -> bool {
        let body = self.sets.bodies.get(self.slots[car].handle);
        let handle = body.and_then(|body| body.colliders().get(hull).copied());
        let Some(hull) = handle.and_then(|handle| self.sets.colliders.get(handle)) else { return false };
        if hull.is_sensor() {
            return false;
        }
        let pose = hull.position_wrt_parent().map_or(*ends, |within| *ends * *within);
        let shape = hull.shared_shape().clone();
        self.find_colliders_near_car(car, shape.compute_aabb(&pose));
        let near = self.slots[car].near.iter().filter_map(|near| self.sets.colliders.get(*near));
        let meets = |near: &Collider| intersection_test(&pose, &*shape, &self.pose_of(near), near.shape());
        near.into_iter().any(|near| meets(near).is_ok_and(|met| met.intersecting))
    }

    /// Stores the user's forces on a body that is pushed in this step, and its motion in the coming step of `dt` s, for their
    /// restoration after it. Only the first call for a body in a step stores anything.
    pub(crate) fn store_user_forces(&mut self, handle: RigidBodyHandle, dt: f32) {
        let Some(body) = self.sets.bodies.get(handle) else { return };
        if !self.loaded.iter().rev().any(|known| known.handle == handle) {
            self.loaded.push(WheelLoadedBody::new(handle, body, dt));
        }
    }

    /// Returns the index of the car whose chassis is `handle`.
    pub(crate) fn car_of(&self, handle: RigidBodyHandle) -> Option<usize> {
        self.slots.iter().position(|slot| slot.handle == handle)
    }

    /// Replaces the list of colliders near `car` by those that its rays or hull may touch within `bounds` (world axes, m).
    /// Excludes sensors, the car itself, vehicles hitched to it, colliders outside the collision groups of the user's filter or
    /// else of the chassis, and colliders that the user's filter rejects.
    fn find_colliders_near_car(&mut self, car: usize, bounds: Aabb) {
        let slot = &mut self.slots[car];
        slot.near.clear();
        let (own, user) = (slot.handle, self.surfaces.filter);
        // Bodies hitched to the car, put back below.
        let tied = std::mem::take(&mut slot.hitched_bodies);
        let is_ground = |handle: ColliderHandle, collider: &Collider| {
            let other = collider.parent().is_none_or(|body| body != own && !tied.contains(&body));
            other && user.predicate.is_none_or(|passes| passes(handle, collider))
        };
        let mut filter = QueryFilter { groups: user.groups.or(slot.groups), ..user }.exclude_sensors();
        // The filter can exclude only one body.
        if user.exclude_rigid_body.is_none() && tied.is_empty() {
            filter.exclude_rigid_body = Some(own);
        } else {
            filter.predicate = Some(&is_ground);
        }
        let mut near = std::mem::take(&mut slot.near);
        self.find_near(filter, bounds, &mut near);
        let slot = &mut self.slots[car];
        slot.near = near;
        slot.hitched_bodies = tied;
    }

    /// Adds the colliders that pass `filter` and may reach into `bounds` (world axes, m) to `near`, in no stable order. Before
    /// the first step of the world the broad phase is incomplete; then all enabled colliders that pass are added.
    pub(crate) fn find_near(&self, filter: QueryFilter<'_>, bounds: Aabb, near: &mut Vec<ColliderHandle>) {
        let RapierWorldMut { broad_phase, narrow_phase, bodies, colliders, .. } = &self.sets;
        if self.is_unstepped {
            let passes = colliders.iter_enabled().filter(|(handle, of)| filter.test(bodies, *handle, of));
            near.extend(passes.map(|(handle, _)| handle));
        } else {
            let queries = broad_phase.as_query_pipeline(narrow_phase.query_dispatcher(), bodies, colliders, filter);
            near.extend(queries.intersect_aabb_conservative(bounds).map(|(handle, _)| handle));
        }
    }

    /// Returns the contact of `probe` in the axes of the cars, with grip, ground data and unevenness; `None` for a miss. Rims
    /// query triangles, other wheels cast their ray at the colliders near the car. With [`ProbePurpose::MidStep`] it also
    /// stores the collider as ground of the car and whether any wheel stands on a dynamic body; with
    /// [`ProbePurpose::AlongPath`] it stores neither these nor stops of rims.
    fn query_contact(&mut self, probe: &Probe, asked: ProbePurpose) -> Option<Contact> {
        let (car, ray) = probe_ray(self.axes, probe);
        let WheelContact { handle, distance, normal, feature, point } = if probe.rim.is_some() {
            self.query_rim_contact(probe, &ray, asked)?
        } else {
            self.cast_ray_contact(&ray, probe)?
        };
        let collider = self.sets.colliders.get(handle)?;
        let slot = &mut self.slots[probe.car];
        if asked == ProbePurpose::MidStep && slot.ground_contacts.last().is_none_or(|(last, _)| *last != handle) {
            slot.ground_contacts.push((handle, *collider.position()));
        }
        // Contact point of a rim in world axes, m.
        let on_rim = point.map(|point| car + self.axes.to_world(point));
        let meeting = GroundContact { point: on_rim.unwrap_or_else(|| ray.point_at(distance)), normal, car };
        let met = SurfaceQuery { handle, collider, point: meeting.point, normal, feature };
        let body = collider.parent().and_then(|parent| Some((parent, self.sets.bodies.get(parent)?)));
        let ground = body.and_then(|body| ground::ground_data(&self.sets, self.last_loaded, body, &meeting));
        let ground = ground.map(|ground| {
            let velocity = self.axes.from_world(ground.velocity);
            Ground { start_velocity: velocity, velocity, ..ground }
        });
        let contact = Contact {
            distance,
            normal: self.axes.from_world(normal),
            grip: self.surfaces.grip_of(&met),
            point,
            ground: self.surfaces.texture_of(&met).apply_to_ground(ground),
        };
        self.has_loaded_bodies |= asked == ProbePurpose::MidStep && body.is_some_and(|(_, body)| body.is_dynamic());
        Some(contact.with_unevenness(probe))
    }

    /// Returns the first contact of the ray of `probe` with the colliders near its car, in world axes; `None` for a miss. A ray
    /// that misses is repeated with a neighbouring ray. On smooth surfaces the normal is the smooth one.
    fn cast_ray_contact(&self, ray: &Ray, probe: &Probe) -> Option<WheelContact> {
        let first = |ray: &Ray| self.first_hit(&self.slots[probe.car].near, ray, probe.length);
        let (handle, hit) = first(ray).or_else(|| first(&neighbour_ray(ray)))?;
        let (distance, feature) = (hit.time_of_impact, hit.feature);
        let normal = self.smooth_normal(handle, &hit, ray).unwrap_or(hit.normal);
        Some(WheelContact { handle, distance, normal, feature, point: None })
    }

    /// Returns the normal (world axes) of a smooth surface where `ray` hits it, interpolated between the corners of the
    /// triangle; `None` if the surface is not smooth or no triangle.
    fn smooth_normal(&self, handle: ColliderHandle, hit: &RayIntersection, ray: &Ray) -> Option<Vector> {
        let smooth = self.surfaces.smooth_normals?(handle, hit.subshape)?;
        let collider = self.sets.colliders.get(handle)?;
        let pose = self.pose_of(collider);
        let from_start = |corner: Vector| self.axes.from_world(pose * corner - ray.origin);
        let corners = triangle_corners(collider.shape(), hit.subshape)?.map(from_start);
        let [point, up] = [ray.dir * hit.time_of_impact, -ray.dir].map(|vector| self.axes.from_world(vector));
        Some(self.axes.to_world(smooth.normal_at(&corners, point, up)))
    }

    /// Returns the contact of the rim of `probe` with the faces near its car, in world axes; `None` for a miss. If any collider
    /// near has no faces, such as a ball, the ray of the probe is cast, too, and the nearer contact counts. With
    /// [`ProbePurpose::MidStep`] the wall that stops the rim is stored.
    fn query_rim_contact(&mut self, probe: &Probe, ray: &Ray, asked: ProbePurpose) -> Option<WheelContact> {
        self.faces.clear();
        // Whether any collider near the wheel has no faces.
        let mut round = false;
        for &handle in &self.slots[probe.car].near {
            let Some(collider) = self.sets.colliders.get(handle) else { continue };
            let pose = self.pose_of(collider);
            round |= !self.faces.add(self.axes, probe, (handle, collider.shape()), &pose);
        }
        // Function of the user that returns smooth normals, if any.
        let told = self.surfaces.smooth_normals;
        // Contact of the rim with the ground, in the axes of the cars.
        let stands = self.faces.smooth_ground_contact(probe, |handle, number| told?(handle, number));
        if asked == ProbePurpose::MidStep
            && let Some(stop) = self.faces.wall_contact(probe, stands.as_ref().map(|(_, contact)| contact))
        {
            let place = self.axes.point_to_world(probe.position).as_vec3();
            rim_walls::add_rim_wall(self.rim_walls, &self.sets, self.axes, probe.car, stop, place);
        }
        let stands = stands.map(|(handle, contact)| WheelContact {
            handle,
            distance: contact.distance,
            normal: self.axes.to_world(contact.normal),
            feature: FeatureId::Unknown,
            point: contact.point,
        });
        let by_ray = if round { self.cast_ray_contact(ray, probe) } else { None };
        match (stands, by_ray) {
            (Some(stands), Some(by_ray)) if by_ray.distance < stands.distance => Some(by_ray),
            (stands, by_ray) => stands.or(by_ray),
        }
    }

    /// Returns the first hit of a ray on the colliders `near` within `reach` m, from outside, with the handle of the collider;
    /// `None` for a miss. A ray that starts inside a shape does not hit it.
    fn first_hit(&self, near: &[ColliderHandle], ray: &Ray, reach: f32) -> Option<(ColliderHandle, RayIntersection)> {
        let mut first: Option<(ColliderHandle, RayIntersection)> = None;
        for &handle in near {
            let Some(collider) = self.sets.colliders.get(handle) else { continue };
            let pose = self.pose_of(collider);
            let least = first.map_or(reach, |(_, hit)| hit.time_of_impact);
            if let Some(hit) = cast_from_outside(collider.shape(), &pose, ray, least) {
                first = Some((handle, hit));
            }
        }
        first
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
        let parent = collider.parent().and_then(|parent| self.sets.bodies.get(parent)).map(RigidBody::position);
        match (parent, collider.position_wrt_parent()) {
            (Some(parent), Some(within)) => *parent * *within,
            _ => *collider.position(),
        }
    }
}

/// Contact of a wheel with a collider, in world axes unless stated otherwise.
struct WheelContact {
    /// Collider that the wheel touches.
    handle: ColliderHandle,
    /// Distance as in [`Contact::distance`], m.
    distance: f32,
    /// Normal in world axes.
    normal: Vector,
    /// Feature of the shape; `Unknown` for rims.
    feature: FeatureId,
    /// Contact point as in [`Contact::point`], in the axes of the cars; `None` for rays.
    point: Option<Vec3>,
}
