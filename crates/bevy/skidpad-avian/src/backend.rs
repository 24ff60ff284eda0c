//! Solver with an Avian world of its own, without an app: the ground and platforms of a scene, and cars. Free bodies
//! are not supported.

use std::time::Duration;

use avian3d::collision::contact_types::ContactGraph;
use avian3d::prelude::*;
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemState;
use bevy_time::prelude::*;
use bevy_transform::prelude::*;
use skidpad_bevy::{BEVY_AXES, CarHost, GroundSurface};
use skidpad_core::simulation::save_world;
use skidpad_core::{
    CarError, CarId, CarStart, CarView, Clock, Contact, Controls, FixedBox, HeightField, Platform, Probe, SaveError,
    SavedUnit, Scene, Simulation, Slots, SolverInfo, State, StepReport, SurfaceTexture, Triangle, TriangleMesh, Vec3,
    WorldPort,
};

use crate::cars::{AvianCars, Host};
use crate::port::Port;
use crate::world::World as Read;

/// Entry for a list of backends.
pub const BACKEND_INFO: SolverInfo = SolverInfo {
    name: "avian",
    description: "Avian world (rigid bodies and colliders); a single solver pass, applied as accelerations",
    comparison_only: false,
    has_wheel_rows: true,
    build_world: |scene, cars, dt| Box::new(AvianBackend::new(scene, cars, dt)),
};

/// Backend with an Avian world of its own.
struct AvianBackend {
    /// Bevy world with Avian's resources, ground, platforms and chassis.
    world: World,
    /// Entities of the platforms of the scene.
    platforms: Vec<Entity>,
    /// Entity of each car, by slot.
    cars: Vec<Entity>,
    /// Scene, for wind, platforms and new cars.
    scene: Scene,
    /// Step length and number of steps.
    clock: Clock,
}

/// Returns the number of substeps in worlds of this backend: 6 (Avian's default), but 1 for a step `dt` (s) below 2 ms.
/// A change Δv of the velocity in a step with n substeps moves the pose too far by `dt Δv / 2n`. This error is small
/// for short steps, and every substep rounds the velocity. Users' worlds keep their own number.
fn substeps(dt: f32) -> u32 {
    if dt < 2e-3 { 1 } else { 6 }
}

/// Collision layer of chassis that pass through each other.
const NON_COLLIDING_LAYER: LayerMask = LayerMask(1 << 31);

/// Reason for which a world with a touching car cannot be saved.
const TOUCHING_SAVE_REASON: &str = "the hull has a contact, and Avian keeps the contact forces for its next step";

impl AvianBackend {
    /// Creates a world with Avian's plugins, the systems of the cars, and the ground, platforms and wind of `scene`.
    /// Inserts cars at `starts`. Steps are `dt` s long. The app itself is dropped; only its world remains. Free bodies
    /// of the scene are ignored.
    fn new(scene: &Scene, starts: &[CarStart], dt: f32) -> Self {
        let mut app = App::new();
        app.add_plugins((TaskPoolPlugin::default(), TransformPlugin, PhysicsPlugins::default()))
            .init_resource::<Time>()
            .insert_resource(Gravity(Vec3::NEG_Y * scene.gravity))
            .insert_resource(SubstepCount(substeps(dt)));
        crate::add_step(&mut app);
        app.finish();
        app.cleanup();
        let mut world = std::mem::take(app.world_mut());
        insert_ground(&mut world, scene);
        let platforms = scene.platforms.iter().map(|platform| insert_platform(&mut world, platform)).collect();
        world.resource_mut::<AvianCars>().set_wind(BEVY_AXES.to_world(scene.wind));
        let clock = Clock::new(dt);
        let mut backend = Self { world, platforms, cars: Vec::new(), scene: scene.clone(), clock };
        for start in starts {
            backend.insert(start);
        }
        backend
    }

    /// Calls `action` with a host, which changes cars and their entities. Then updates the hitch joints, because
    /// `action` may have changed hitches, and applies the queued commands to the world. Returns the result of `action`.
    /// Panics if a resource is missing.
    fn with_host<R>(&mut self, action: impl FnOnce(&mut Host) -> R) -> R {
        let mut params = SystemState::<(ResMut<AvianCars>, Commands, Read)>::new(&mut self.world);
        let (mut avian, mut commands, reader) = params.get_mut(&mut self.world).expect("its resources are there");
        let AvianCars { cars, slots, buffers, .. } = &mut *avian;
        let result = action(&mut Host { cars, slots, buffers, commands: &mut commands, world: &reader });
        // States and removals may have changed the hitches.
        avian.update_hitch_joints(&mut commands);
        params.apply(&mut self.world);
        result
    }

    /// Sets every platform to its pose at the start of the coming step, with the velocities that move it through the
    /// step. The pose follows from the clock alone.
    fn move_platforms(&mut self) {
        let (time, dt) = (self.time(), self.clock.dt);
        for (entity, platform) in self.platforms.iter().zip(&self.scene.platforms) {
            let motion = platform.motion(time, dt);
            let position = BEVY_AXES.point_to_world(motion.centre).as_vec3();
            self.world.entity_mut(*entity).insert((
                Position(position),
                Rotation(BEVY_AXES.rotation_to_world(motion.rotation)),
                LinearVelocity(BEVY_AXES.to_world(motion.velocity)),
                AngularVelocity(BEVY_AXES.to_world(motion.angular_velocity)),
            ));
        }
    }
}

impl Simulation for AvianBackend {
    fn name(&self) -> &'static str {
        BACKEND_INFO.name
    }

    /// Takes one step. Sets platforms, wind, controls and the number of substeps, and advances the time of the app by
    /// the step length. Runs the schedule of Avian's physics once, which also runs the systems of the cars. Then
    /// advances the clock. Returns the report of the cars. A step length of zero or an invalid one changes nothing and
    /// returns the report of a skipped step.
    fn step(&mut self, controls: &[Controls]) -> StepReport {
        if let Some(empty_report) = StepReport::for_skipped_step(self.clock.dt) {
            return empty_report;
        }
        let wind = self.scene.wind_at_midstep(self.time(), self.clock.dt);
        self.move_platforms();
        let mut avian = self.world.resource_mut::<AvianCars>();
        avian.set_wind(BEVY_AXES.to_world(wind));
        controls.clone_into(&mut avian.controls);
        self.world.resource_mut::<SubstepCount>().0 = substeps(self.clock.dt);
        self.world.resource_mut::<Time>().advance_by(Duration::from_secs_f64(f64::from(self.clock.dt)));
        // Runs Avian's physics and the systems of the cars.
        self.world.run_schedule(FixedPostUpdate);
        self.world.clear_trackers();
        self.clock.tick();
        self.world.resource::<AvianCars>().report()
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn slots(&self) -> &Slots {
        self.world.resource::<AvianCars>().cars.slots()
    }

    fn slots_mut(&mut self) -> &mut Slots {
        self.world.resource_mut::<AvianCars>().into_inner().cars.slots_mut()
    }

    fn car(&self, slot: usize) -> CarView<'_> {
        self.world.resource::<AvianCars>().car(slot)
    }

    fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots().check_state(slot, state.wheels.len())?;
        let entity = self.cars[slot];
        self.with_host(|host| host.set_state(slot, entity, state));
        Ok(())
    }

    fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.with_host(|host| host.suspend(slot))
    }

    fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots().occupant(slot)?;
        let entity = self.cars[slot];
        self.with_host(|host| host.resume(slot, entity, state))
    }

    fn engine_position(&self, car: usize) -> Option<Vec3> {
        self.world.resource::<AvianCars>().slots[car]
            .position_tracker
            .rounded_engine_position()
            .map(|position| BEVY_AXES.from_world(position))
    }

    fn set_engine_position(&mut self, car: usize, position: Vec3) {
        self.with_host(|host| host.set_engine_position(car, position));
    }

    /// Inserts the car at its start on the ground of the scene, with a new entity. If its slot was used before, the
    /// entity of the removed car is despawned. If cars of the scene do not collide, the chassis gets a collision layer
    /// that does not interact with itself.
    fn insert(&mut self, start: &CarStart) -> CarId {
        let state = State::at_rest(&start.model, &self.scene, &start.placement);
        let entity = self.world.spawn_empty().id();
        let (car, chassis) = self.with_host(|host| {
            let car = host.insert(entity, &start.model, &state);
            (car, host.slots[car.slot()].chassis)
        });
        match self.cars.get_mut(car.slot()) {
            Some(old_entity) => {
                self.world.despawn(core::mem::replace(old_entity, entity));
            }
            None => self.cars.push(entity),
        }
        if !self.scene.cars_collide {
            self.world.entity_mut(chassis).insert(CollisionLayers::new(NON_COLLIDING_LAYER, !NON_COLLIDING_LAYER));
        }
        car
    }

    fn remove(&mut self, car: CarId) -> Result<(), CarError> {
        self.slots().find(car)?;
        self.with_host(|host| host.remove(car));
        Ok(())
    }

    fn probe(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) -> bool {
        contacts.fill(None);
        self.with_host(|host| Port::new(host.world, host.slots, host.buffers, Vec3::ZERO).probe(probes, contacts));
        true
    }

    /// Writes the world to `bytes`. If a hull touches something, returns an error with the first touching car and
    /// leaves `bytes` unchanged, because Avian keeps impulses of contacts.
    fn save_into(&self, bytes: &mut Vec<u8>) -> Result<(), SaveError> {
        let (avian, contacts) = (self.world.resource::<AvianCars>(), self.world.resource::<ContactGraph>());
        let is_touching = |car: &usize| {
            let mut pairs = contacts.contact_pairs_with(avian.slots[*car].chassis);
            pairs.any(avian3d::prelude::ContactPair::is_touching)
        };
        match (0..self.slot_count()).find(is_touching) {
            Some(car) => {
                Err(SaveError { backend: BACKEND_INFO.name, of: SavedUnit::Car(car), reason: TOUCHING_SAVE_REASON })
            }
            None => {
                save_world(self, bytes);
                Ok(())
            }
        }
    }
}

/// Inserts plane, boxes, height fields and meshes of `scene` as static colliders with their grip and texture, without
/// its platforms. A mesh gets one collider per surface (pair of grip and texture). Height fields and meshes that Avian
/// rejects are left out. The friction of colliders is the grip of the surface, as a factor on the friction of bodywork.
fn insert_ground(world: &mut World, scene: &Scene) {
    if scene.has_plane {
        let plane = Collider::half_space(BEVY_AXES.to_world(scene.plane_normal()));
        insert_static(world, plane, Transform::IDENTITY, GroundSurface::new(scene.grip, scene.texture));
    }
    for fixed_box in &scene.boxes {
        insert_static(
            world,
            box_collider(fixed_box),
            box_transform(fixed_box),
            GroundSurface::new(fixed_box.grip, fixed_box.texture),
        );
    }
    for field in &scene.height_fields {
        if let Some(collider) = height_field_collider(field) {
            insert_static(
                world,
                collider,
                transform_at(field.origin()),
                GroundSurface::new(field.grip(), field.texture()),
            );
        }
    }
    for mesh in &scene.meshes {
        // All vertices belong to each collider; only the triangles differ.
        for (surface, triangles) in surface_triangles(mesh) {
            let corners = mesh.vertices().iter().map(|corner| BEVY_AXES.to_world(*corner)).collect();
            let flags = TrimeshFlags::FIX_INTERNAL_EDGES;
            if let Ok(collider) = Collider::try_trimesh_with_config(corners, triangles, flags) {
                insert_static(world, collider, transform_at(mesh.origin()), surface);
            }
        }
    }
}

/// Spawns a static body with a collider, grip and texture for wheels, and the grip as friction for bodies.
fn insert_static(world: &mut World, collider: Collider, transform: Transform, surface: GroundSurface) {
    world.spawn((RigidBody::Static, collider, transform, surface, Friction::new(surface.grip)));
}

/// Returns the transform at `point`, m.
fn transform_at(point: skidpad_core::DVec3) -> Transform {
    Transform::from_translation(BEVY_AXES.point_to_world(point).as_vec3())
}

/// Returns the transform of a box of the scene.
fn box_transform(fixed_box: &FixedBox) -> Transform {
    transform_at(fixed_box.centre).with_rotation(BEVY_AXES.rotation_to_world(fixed_box.rotation))
}

/// Builds the collider of a box of the scene.
fn box_collider(fixed_box: &FixedBox) -> Collider {
    let size = BEVY_AXES.to_world(fixed_box.half_extents).abs() * 2.0;
    Collider::cuboid(size.x, size.y, size.z)
}

/// Builds the collider of a height field as a triangle mesh relative to its origin, because Avian's height fields have
/// their rows along other axes. Returns `None` if Avian rejects it.
fn height_field_collider(field: &HeightField) -> Option<Collider> {
    let ([columns, rows], [x_spacing, y_spacing]) = (field.counts(), field.spacing());
    // Corners of the grid, row by row.
    let mut corners = Vec::with_capacity(columns * rows);
    for row in 0..rows {
        for column in 0..columns {
            let local = Vec3::new(column as f32 * x_spacing, row as f32 * y_spacing, field.height(column, row));
            corners.push(BEVY_AXES.to_world(local));
        }
    }
    let mut triangles: Vec<Triangle> = Vec::with_capacity(2 * (columns - 1) * (rows - 1));
    // Every triangle of the field, relative to its origin. Source number 0 is not used.
    field.visit_near(Vec3::MIN, Vec3::MAX, skidpad_core::DVec3::ZERO, 0, &mut triangles);
    // Index of the corner, from its place in the grid.
    let corner_index = |point: Vec3| {
        let (column, row) = ((point.x / x_spacing).round() as u32, (point.y / y_spacing).round() as u32);
        row * columns as u32 + column
    };
    let triangles = triangles.iter().map(|triangle| triangle.corners.map(corner_index)).collect();
    Collider::try_trimesh_with_config(corners, triangles, TrimeshFlags::FIX_INTERNAL_EDGES).ok()
}

/// Groups the triangles of a mesh by their surface (grip and texture). Returns each surface with the corner indices of
/// its triangles.
fn surface_triangles(mesh: &TriangleMesh) -> Vec<(GroundSurface, Vec<[u32; 3]>)> {
    let mut surfaces: Vec<(GroundSurface, Vec<[u32; 3]>)> = Vec::new();
    for (triangle_index, (&corners, &grip)) in (0..).zip(mesh.triangles().iter().zip(mesh.grips())) {
        let surface = GroundSurface::new(grip, mesh.texture(triangle_index));
        // Neighbouring triangles mostly have the surface that was added last.
        match surfaces.iter_mut().rev().find(|(known, _)| *known == surface) {
            Some((_, triangles)) => triangles.push(corners),
            None => surfaces.push((surface, vec![corners])),
        }
    }
    surfaces
}

/// Inserts a platform as a kinematic body at its pose for time 0, at rest, without unevenness of its texture. Friction
/// is the grip. Returns its entity.
fn insert_platform(world: &mut World, platform: &Platform) -> Entity {
    let initial_box = platform.box_at(0.0);
    let texture = SurfaceTexture { amplitude: 0.0, ..initial_box.texture };
    let surface = GroundSurface::new(initial_box.grip, texture);
    let body = (
        RigidBody::Kinematic,
        box_collider(&initial_box),
        box_transform(&initial_box),
        surface,
        Friction::new(surface.grip),
    );
    world.spawn(body).id()
}
