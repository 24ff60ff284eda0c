//! Solver with a Rapier world of its own: the ground, platforms and free bodies of a scene, and cars.
//!
//! The cars never sleep. Stepping must resume bit-identically from states alone, and a state does not contain how long
//! Rapier has seen a body at rest.

use std::sync::Arc;

use rapier3d::prelude::*;
use skidpad_core::{
    BodyMotion, CarError, CarId, CarStart, CarView, Clock, Contact, Controls, FixedBox, LoadError, Probe, SaveError,
    SavedUnit, Scene, Simulation, Slots, SmoothSurface, SolverInfo, State, StepReport, SurfaceTexture,
    ground::scene::FLUSH_TOLERANCE_M,
    simulation::{load_world, save_world},
};

use crate::terrain::{self, TerrainSource};
use crate::{RapierCars, SurfaceProperties, SurfaceQuery, bodies, chassis, platforms};

/// Entry for a list of backends.
pub const BACKEND_INFO: SolverInfo = SolverInfo {
    name: "rapier",
    description: "Rapier world (rigid bodies and ray casts); a single solver pass, applied as forces",
    comparison_only: false,
    has_wheel_rows: true,
    build_world: |scene, cars, dt| Box::new(RapierBackend::new(scene, cars, dt)),
};

/// Backend with a Rapier world of its own.
struct RapierBackend {
    /// Rapier world with ground, platforms, free bodies and chassis.
    world: PhysicsWorld,
    /// Vehicles in the world.
    cars: RapierCars,
    /// Bodies of the platforms of the scene.
    platforms: Vec<RigidBodyHandle>,
    /// Colliders of the height fields and meshes of the scene.
    terrain: Vec<(ColliderHandle, TerrainSource)>,
    /// Free bodies of the scene.
    bodies: Vec<RigidBodyHandle>,
    /// Scene, for surfaces, wind and new cars.
    scene: Scene,
    /// Start of the car in each slot, for a new world when loading.
    starts: Vec<CarStart>,
    /// Step length and number of steps.
    clock: Clock,
}

/// Returns the number of substeps in worlds of this backend: four (Rapier's default), but one for steps below 2 ms.
/// A change Δv of the velocity in a step with n substeps moves the pose too far by `dt Δv / 2n`. This error is small
/// below 2 ms, but the velocity is rounded in every substep: with four substeps at 1920 Hz, a braked car would stop
/// 5.5 mm short after 60 m. Users' worlds keep their own number.
fn substeps(dt: f32) -> usize {
    if dt < 2e-3 { 1 } else { 4 }
}

/// Sets the length of the step to `dt` s and the number of substeps accordingly.
pub fn set_step_length(parameters: &mut IntegrationParameters, dt: f32) {
    (parameters.dt, parameters.num_solver_iterations) = (dt, substeps(dt));
}

/// Prediction distance of contacts in worlds of this backend, m. At Rapier's default of 20 mm, a post 10 mm next to
/// the path of a car counts as a wall across it: at 5 m/s the car stops at the post.
const CONTACT_PREDICTION_DISTANCE_M: f32 = 2e-3;

/// Approach speed above which the landing of a corner is predicted while another corner touches the plane, m/s. Slower
/// corners are also held by springs, and the other solvers spread their impact over two steps.
const MIN_CORNER_FALL_MPS: f32 = 2.0;

/// Number of velocity iterations per substep after the correction of overlaps, while a hull touches the plane and
/// nothing else. Rapier begins a step with the impulses of the step before. After one iteration, some of the impact of
/// a landed hull remains, and a landing at 120 Hz gains 1.2 % of m g h.
const CONTACT_STABILIZATION_ITERATIONS: usize = 4;

/// Creates a world with the gravity and ground of `scene`, without its platforms and free bodies, stepped by `dt` s.
/// The friction of colliders is the grip of the surface, as a factor on the friction of bodywork.
pub fn ground_world(scene: &Scene, dt: f32) -> PhysicsWorld {
    world_and_terrain(scene, dt).0
}

/// Creates the world of [`ground_world`]. Sets gravity along −z, step length, prediction distance and an unlimited
/// speed of bodies. Inserts the plane if there is one, boxes, height fields and meshes, all as colliders without
/// bodies. The friction of each collider is the grip of the surface. Height fields and meshes also store grip and
/// texture as user data; boxes and the plane do not.
///
/// Also returns the colliders of height fields and meshes, in this order, with their sources. A mesh has one collider
/// per surface (pair of grip and texture).
fn world_and_terrain(scene: &Scene, dt: f32) -> (PhysicsWorld, Vec<(ColliderHandle, TerrainSource)>) {
    let mut world = PhysicsWorld { gravity: Vector::new(0.0, 0.0, -scene.gravity), ..PhysicsWorld::default() };
    set_step_length(&mut world.integration_parameters, dt);
    world.integration_parameters.normalized_prediction_distance = CONTACT_PREDICTION_DISTANCE_M;
    // Rapier's default limits the speed of bodies to 400 m/s.
    world.integration_parameters.normalized_max_linear_velocity = Real::MAX;
    if scene.has_plane {
        let normal = rapier3d::na::Unit::new_unchecked(scene.plane_normal());
        world.insert_collider(ColliderBuilder::halfspace(normal).friction(scene.grip), None);
    }
    for fixed_box in &scene.boxes {
        let half_extents = fixed_box.half_extents;
        let pose = Pose::from_parts(fixed_box.centre.as_vec3(), fixed_box.rotation);
        world.insert_collider(
            ColliderBuilder::cuboid(half_extents.x, half_extents.y, half_extents.z)
                .position(pose)
                .friction(fixed_box.grip),
            None,
        );
    }
    let fields = scene.height_fields.iter().map(|field| {
        (terrain::field_collider(field), (field.grip(), field.texture()), TerrainSource::Field(Arc::clone(field)))
    });
    let meshes = scene.meshes.iter().flat_map(|mesh| {
        let with_source =
            |(collider, surface, numbers)| (collider, surface, TerrainSource::Mesh(Arc::clone(mesh), numbers));
        terrain::mesh_colliders(mesh).map(with_source)
    });
    let terrain = fields.chain(meshes).map(|(collider, (grip, texture), source)| {
        let collider = collider.friction(grip).user_data(terrain::encode_surface(grip, texture));
        (world.insert_collider(collider, None), source)
    });
    let terrain = terrain.collect();
    (world, terrain)
}

/// Reason for which a world with a touching car cannot be saved.
pub const TOUCHING_SAVE_REASON: &str = "the hull has a contact, and Rapier keeps the contact forces for its next step";

/// Returns true if Rapier has contact points of any collider of `body`.
pub fn has_contacts(world: &PhysicsWorld, body: RigidBodyHandle) -> bool {
    contact_pairs(world, body).any(|pair| pair.manifolds().iter().any(|manifold| !manifold.points.is_empty()))
}

/// Returns true if `body` has no contact points and at most one contact pair, so that Rapier has neither impulses nor
/// an order of pairs to remember.
fn has_no_contact_memory(world: &PhysicsWorld, body: RigidBodyHandle) -> bool {
    contact_pairs(world, body).count() <= 1 && !has_contacts(world, body)
}

/// Returns the contact pairs of the colliders of `body`.
fn contact_pairs(world: &PhysicsWorld, body: RigidBodyHandle) -> impl Iterator<Item = &ContactPair> {
    let colliders = world.bodies.get(body).map_or(&[][..], RigidBody::colliders);
    colliders.iter().flat_map(|&collider| world.narrow_phase.contact_pairs_with(collider))
}

/// Returns grip and texture of the topmost surface of `scene` at the contact `query` of a wheel. The user data of the
/// collider come first (terrain, platforms, free bodies). Otherwise the last box of the scene counts that contains the
/// point within [`FLUSH_TOLERANCE_M`], and without such a box the plane. A box on another box and flush with it comes
/// later in the scene and therefore counts.
fn topmost_surface_at(scene: &Scene, query: &SurfaceQuery) -> (f32, SurfaceTexture) {
    if let Some(surface) = terrain::decode_surface(query.collider.user_data) {
        return surface;
    }
    let point = query.point;
    let contains_point = |fixed_box: &&FixedBox| {
        // Contact point from the centre of the box, in its axes, m.
        let box_point = fixed_box.rotation.inverse() * (point - fixed_box.centre.as_vec3());
        box_point.abs().cmple(fixed_box.half_extents + FLUSH_TOLERANCE_M).all()
    };
    let topmost_box = scene.boxes.iter().rev().find(contains_point);
    topmost_box.map_or((scene.grip, scene.texture), |fixed_box| (fixed_box.grip, fixed_box.texture))
}

/// Returns the smooth normals of triangle `number` of the collider `handle` of the scene; `None` if it is flat or no
/// terrain.
fn smooth_normals_in(
    terrain: &[(ColliderHandle, TerrainSource)],
    handle: ColliderHandle,
    number: u32,
) -> Option<SmoothSurface> {
    terrain.iter().find(|(known_handle, _)| *known_handle == handle)?.1.smooth_normals(number)
}

/// Prevents a chassis from sleeping, and disables its collisions with other chassis if cars of `scene` do not collide.
fn configure_chassis(world: &mut PhysicsWorld, scene: &Scene, handle: RigidBodyHandle) {
    chassis::keep_awake(&mut world.bodies, handle);
    if !scene.cars_collide {
        chassis::pass_through_others(&world.bodies, &mut world.colliders, handle);
    }
}

/// Returns true if all active contacts of `body` are with the plane. Also true for a body without contacts.
fn touches_only_plane(body: &RigidBody, contacts: &NarrowPhase, colliders: &ColliderSet) -> bool {
    let is_plane = |handle| colliders.get(handle).is_some_and(|collider| collider.shape().as_halfspace().is_some());
    let pairs = body.colliders().iter().flat_map(|collider| contacts.contact_pairs_with(*collider));
    pairs.filter(|pair| pair.has_any_active_contact()).all(|pair| is_plane(pair.collider1) || is_plane(pair.collider2))
}

impl RapierBackend {
    /// Creates the world with ground, then platforms and free bodies of `scene`, and then cars at `starts`, stepped by
    /// `dt` s. The bodies of the cars never sleep, and do not collide with each other if cars of `scene` do not
    /// collide. Keeps copies of scene and starts.
    fn new(scene: &Scene, starts: &[CarStart], dt: f32) -> Self {
        let (mut world, terrain) = world_and_terrain(scene, dt);
        let platforms = platforms::insert(&mut world, scene);
        let bodies = bodies::insert(&mut world, scene);
        let cars = RapierCars::new(&mut world, scene, starts);
        for car in 0..starts.len() {
            configure_chassis(&mut world, scene, cars.handle(car));
        }
        let (scene, starts) = (scene.clone(), starts.to_vec());
        Self { world, cars, platforms, terrain, bodies, scene, starts, clock: Clock::new(dt) }
    }

    /// Returns all slots of cars (also suspended and empty ones), then all free bodies, with the handles of their
    /// bodies.
    fn saved_units(&self) -> impl Iterator<Item = (SavedUnit, RigidBodyHandle)> {
        let cars = (0..self.cars.vehicles().len()).map(|car| (SavedUnit::Car(car), self.cars.handle(car)));
        cars.chain(self.bodies.iter().enumerate().map(|(body, handle)| (SavedUnit::Body(body), *handle)))
    }

    /// Sets the prediction distance of each hull for the coming step, so that Rapier stops a landing hull where it
    /// reaches the plane. Rapier lifts hulls that have sunk in, which adds up to 0.25 % of m g h within three steps at
    /// 60 Hz. All other hulls keep a prediction distance of zero, because a larger one would treat objects next to the
    /// path as walls.
    ///
    /// A hull is near the plane if its lowest corner is below a small height at the start or end of this step. It must
    /// also touch nothing but the plane. A hull near the plane lands if its lowest corner is not near the plane at the
    /// start. It also lands if some other corner comes near the plane faster than [`MIN_CORNER_FALL_MPS`], or at any
    /// speed without a loaded wheel. The prediction distance is then the distance by which the fastest corner can
    /// approach the plane in the step, ≥ 0.
    ///
    /// Also sets the number of velocity iterations of the world: [`CONTACT_STABILIZATION_ITERATIONS`] if any hull is
    /// near the plane, otherwise 1. Missing bodies are skipped.
    fn predict_landings(&mut self) {
        let (normal, dt) = (self.scene.plane_normal(), self.clock.dt);
        // Height below which a corner is near the plane, m; includes the fall by gravity in the step.
        let near_height = CONTACT_PREDICTION_DISTANCE_M + self.scene.gravity * dt * dt;
        // Number of iterations unless a hull is near the plane.
        let mut iterations = 1;
        for (car, vehicle) in self.cars.vehicles().iter().enumerate() {
            let Some(body) = self.world.bodies.get_mut(self.cars.handle(car)) else { continue };
            let hull = &vehicle.model().parts().hull;
            // Height of the lowest corner at the start and at the end of the step, m.
            let [start_height, end_height] =
                [0.0, dt].map(|time| chassis::lowest_corner_height(body, hull, normal, time));
            let is_near_plane = end_height.min(start_height) < near_height
                && touches_only_plane(body, &self.world.narrow_phase, &self.world.colliders);
            // No spring holds the corners of a car without a loaded wheel, such as one on its side.
            let has_loaded_wheel = vehicle.state().wheels.iter().any(|wheel| wheel.load > 0.0);
            // Speed below which a falling corner is not predicted, m/s.
            let min_fall_speed = if has_loaded_wheel { MIN_CORNER_FALL_MPS } else { 0.0 };
            // Whether the corner is above the plane, reaches it in the step, and falls fast enough.
            let is_landing_corner = |corner: Vec3| {
                let [corner_start_height, corner_end_height] =
                    [0.0, dt].map(|time| chassis::point_height(body, corner, normal, time));
                corner_start_height >= CONTACT_PREDICTION_DISTANCE_M
                    && corner_end_height < near_height
                    && corner_start_height - corner_end_height > min_fall_speed * dt
            };
            // A hull that slides along the plane has landed, but other corners of it may still come down.
            let is_landing =
                is_near_plane && (start_height >= near_height || chassis::corners(hull).any(is_landing_corner));
            // Approach speed with the largest speed of a corner by rotation about the middle of the hull, m/s; negative
            // if the hull moves away. The distance is only as long as the landing needs: edges next to the path would
            // count as walls.
            let approach_speed = -body.linvel().dot(normal) + body.angvel().length() * hull.half_extents.length();
            body.set_soft_ccd_prediction(if is_landing { dt * approach_speed.max(0.0) } else { 0.0 });
            if is_near_plane {
                iterations = CONTACT_STABILIZATION_ITERATIONS;
            }
        }
        self.world.integration_parameters.num_internal_stabilization_iterations = iterations;
    }
}

impl Simulation for RapierBackend {
    fn name(&self) -> &'static str {
        BACKEND_INFO.name
    }

    /// Takes one step. Sets the step length, the wind if the scene has gusts, and the platforms. Solves the cars on the
    /// surfaces of the scene and applies their forces. Predicts landings if there is a plane. Then steps Rapier's
    /// world, advances the clock, and writes the states. Returns the worse of the reports before and after Rapier's
    /// step. For a step length of zero or an invalid one does nothing and returns the report of a skipped step.
    fn step(&mut self, controls: &[Controls]) -> StepReport {
        if let Some(skipped_report) = StepReport::for_skipped_step(self.clock.dt) {
            return skipped_report;
        }
        set_step_length(&mut self.world.integration_parameters, self.clock.dt);
        if !self.scene.gusts.is_empty() {
            self.cars.set_wind(self.scene.wind_at_midstep(self.time(), self.clock.dt));
        }
        if !self.platforms.is_empty() {
            let time = self.time();
            platforms::begin_step(&mut self.world, &mut self.cars, &self.platforms, &self.scene, time);
        }
        let scene = &self.scene;
        // Functions that return grip and texture of the surface at a contact.
        let (grip, texture) = (
            |query: &SurfaceQuery<'_>| topmost_surface_at(scene, query).0,
            |query: &SurfaceQuery<'_>| topmost_surface_at(scene, query).1,
        );
        let smooth_normals = |handle: ColliderHandle, number: u32| smooth_normals_in(&self.terrain, handle, number);
        let (grip, texture) = (Some(&grip as _), Some(&texture as _));
        let ground =
            SurfaceProperties { grip, texture, smooth_normals: Some(&smooth_normals), ..SurfaceProperties::default() };
        let report_before_step = self.cars.before_step_with_surfaces(&mut self.world, controls, ground);
        if self.scene.has_plane {
            self.predict_landings();
        }
        self.world.step();
        self.clock.tick();
        report_before_step.merge_worst(self.cars.after_step(&mut self.world))
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn slots(&self) -> &Slots {
        self.cars.slots()
    }

    fn slots_mut(&mut self) -> &mut Slots {
        self.cars.cars.slots_mut()
    }

    fn car(&self, slot: usize) -> CarView<'_> {
        self.cars.car(slot)
    }

    fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.cars.set_state(&mut self.world, slot, state)
    }

    fn engine_position(&self, car: usize) -> Option<Vec3> {
        self.cars.engine_position(car)
    }

    fn set_engine_position(&mut self, car: usize, position: Vec3) {
        self.cars.set_engine_position(&mut self.world, car, position);
    }

    fn body_count(&self) -> usize {
        self.bodies.len()
    }

    fn body_motion(&self, body: usize) -> Option<BodyMotion> {
        bodies::motion(&self.world, *self.bodies.get(body)?)
    }

    fn set_body_motion(&mut self, body: usize, motion: &BodyMotion) -> bool {
        let handle = self.bodies.get(body).copied();
        handle.map(|handle| bodies::set_motion(&mut self.world, handle, motion)).is_some()
    }

    /// Answers probes between steps with grip, texture and smooth normals of the scene ([`RapierCars::probe`]). Always
    /// returns true: this backend answers probes.
    fn probe(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) -> bool {
        let scene = &self.scene;
        let (grip, texture) = (
            |query: &SurfaceQuery<'_>| topmost_surface_at(scene, query).0,
            |query: &SurfaceQuery<'_>| topmost_surface_at(scene, query).1,
        );
        let smooth_normals = |handle: ColliderHandle, number: u32| smooth_normals_in(&self.terrain, handle, number);
        let (grip, texture) = (Some(&grip as _), Some(&texture as _));
        let ground =
            SurfaceProperties { grip, texture, smooth_normals: Some(&smooth_normals), ..SurfaceProperties::default() };
        self.cars.probe(&mut self.world, probes, contacts, ground);
        true
    }

    /// Inserts the car, keeps its body awake and applies the collision setting of the scene. Stores its start in its
    /// slot for loading. Returns the identifier of the car.
    fn insert(&mut self, start: &CarStart) -> CarId {
        let car = self.cars.insert(&mut self.world, &self.scene, start);
        configure_chassis(&mut self.world, &self.scene, self.cars.handle(car.slot()));
        match self.starts.get_mut(car.slot()) {
            Some(stored_start) => *stored_start = start.clone(),
            None => self.starts.push(start.clone()),
        }
        car
    }

    fn remove(&mut self, car: CarId) -> Result<(), CarError> {
        self.cars.remove(&mut self.world, car)
    }

    fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.cars.suspend(&mut self.world, slot)
    }

    fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.cars.resume(&mut self.world, slot, state)
    }

    /// Writes the world to `bytes`. Returns an error with the first car or free body that touches something, because
    /// Rapier keeps impulses of contacts; `bytes` does not change then.
    fn save_into(&self, bytes: &mut Vec<u8>) -> Result<(), SaveError> {
        match self.saved_units().find(|(_, handle)| has_contacts(&self.world, *handle)) {
            Some((unit, _)) => Err(SaveError { backend: BACKEND_INFO.name, of: unit, reason: TOUCHING_SAVE_REASON }),
            None => {
                save_world(self, bytes);
                Ok(())
            }
        }
    }

    /// Restores the saved world. If all hulls and free bodies have at most one contact pair and no contact points,
    /// loads into the current world. Otherwise Rapier may remember contacts that the saved world does not have: creates
    /// a new world from scene and starts with the identifiers of the current cars, loads into it, and replaces the
    /// current one. An error changes nothing.
    fn load(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        if self.saved_units().all(|(_, handle)| has_no_contact_memory(&self.world, handle)) {
            return load_world(self, bytes);
        }
        let mut new_backend = Self::new(&self.scene, &self.starts, self.clock.dt);
        new_backend.cars.cars.slots_mut().copy_identifiers(self.slots());
        load_world(&mut new_backend, bytes)?;
        *self = new_backend;
        Ok(())
    }
}
