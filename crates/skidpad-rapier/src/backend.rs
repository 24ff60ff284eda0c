//! A Rapier world of its own for comparisons: ground plane, cars, nothing else. Its cars stay awake, because a state
//! alone must resume bit for bit, and no state holds for how long Rapier saw its body stand still.

use std::sync::Arc;

use rapier3d::prelude::*;
use skidpad_core::{
    Backend, BackendInfo, BodyMotion, CarError, CarId, CarStart, CarView, Clock, Contact, Controls, FixedBox,
    LoadError, Mover, Probe, SaveError, Scene, Slots, Smooth, State, StepReport, Texture,
    world::backend::{load_world, save_world},
    world::scene::FLUSH,
};

use crate::terrain::{self, Source};
use crate::{Met, RapierCars, Surfaces, bodies, chassis, platforms};

/// Entry for a list of backends.
pub const BACKEND: BackendInfo = BackendInfo {
    name: "rapier",
    about: "rapier3d rigid bodies and queries, one sweep handed over as forces",
    peer: false,
    rows: true,
    build: |scene, cars, dt| Box::new(RapierBackend::new(scene, cars, dt)),
};

struct RapierBackend {
    world: PhysicsWorld,
    cars: RapierCars,
    /// Of the scene's platforms.
    platforms: Vec<RigidBodyHandle>,
    /// Fields and meshes of the scene.
    terrain: Vec<(ColliderHandle, Source)>,
    /// Its free bodies.
    bodies: Vec<RigidBodyHandle>,
    scene: Scene,
    starts: Vec<CarStart>,
    clock: Clock,
}

/// Substeps of the comparison's worlds: Rapier's default, since its poses lead by `dt v / 2n`, but a single one in steps
/// below 2 ms, where that is small and the rounding of the velocity in every substep is not: with four of them at 1920 Hz
/// the limit of a braked run lies 5.5 mm short after 60 m. Worlds of users keep theirs.
fn substeps(dt: f32) -> usize {
    if dt < 2e-3 { 1 } else { 4 }
}

/// Lets the comparison's worlds step by `dt` s.
fn step_by(parameters: &mut IntegrationParameters, dt: f32) {
    (parameters.dt, parameters.num_solver_iterations) = (dt, substeps(dt));
}

/// How far ahead of a hull the comparison's worlds look for contacts, m. Rapier's default of 20 mm takes the face of a post
/// 10 mm beside the way of a car for a wall across it: at 5 m/s the car stops at the post.
const SEES_AHEAD: f32 = 2e-3;

/// Speed from which a corner beside one that is at the plane is foreseen to meet it, m/s. Slower ones are held by springs, too, and own
/// solvers then spread their blow over two steps.
const FALLS: f32 = 2.0;

/// Solves of each substep's velocities, after those that part what overlaps, while a hull is at the plane and touches nothing else. Rapier
/// begins a step with the impulses of the one before: one solve leaves some of the blow of a landed hull, and a landing at 120 Hz gained
/// 1.2 % of m g h.
const RELAXING: usize = 4;

/// A world with the scene's gravity and ground, but for its platforms. Its friction is its grip, as a factor on that of bodywork.
pub fn ground_world(scene: &Scene, dt: f32) -> PhysicsWorld {
    world_and_terrain(scene, dt).0
}

/// The same, and what of the scene its fields and meshes are.
fn world_and_terrain(scene: &Scene, dt: f32) -> (PhysicsWorld, Vec<(ColliderHandle, Source)>) {
    let mut world = PhysicsWorld { gravity: Vector::new(0.0, 0.0, -scene.gravity), ..PhysicsWorld::default() };
    step_by(&mut world.integration_parameters, dt);
    world.integration_parameters.normalized_prediction_distance = SEES_AHEAD;
    // Rapier's default holds every body at 400 m/s.
    world.integration_parameters.normalized_max_linear_velocity = Real::MAX;
    if scene.plane {
        let normal = rapier3d::na::Unit::new_unchecked(scene.normal());
        world.insert_collider(ColliderBuilder::halfspace(normal).friction(scene.grip), None);
    }
    for fixed in &scene.boxes {
        let half = fixed.half_extents;
        let pose = Pose::from_parts(fixed.centre.as_vec3(), fixed.rotation);
        world
            .insert_collider(ColliderBuilder::cuboid(half.x, half.y, half.z).position(pose).friction(fixed.grip), None);
    }
    let fields = scene
        .fields
        .iter()
        .map(|field| (terrain::field(field), (field.grip(), field.texture()), Source::Field(Arc::clone(field))));
    let meshes = scene.meshes.iter().flat_map(|mesh| {
        let of_surface = |(collider, surface, numbers)| (collider, surface, Source::Mesh(Arc::clone(mesh), numbers));
        terrain::meshes(mesh).map(of_surface)
    });
    let terrain = fields.chain(meshes).map(|(collider, (grip, texture), source)| {
        let collider = collider.friction(grip).user_data(terrain::note(grip, texture));
        (world.insert_collider(collider, None), source)
    });
    let terrain = terrain.collect();
    (world, terrain)
}

/// Why a world with such a car is not saved.
pub const TOUCHES: &str = "its hull touches something, and Rapier keeps that contact's forces for its next step";

/// Whether Rapier holds contact points of the colliders of a body.
pub fn touches(world: &PhysicsWorld, body: RigidBodyHandle) -> bool {
    pairs(world, body).any(|pair| pair.manifolds().iter().any(|manifold| !manifold.points.is_empty()))
}

/// Whether a body is alone with the ground, so that no order of pairs is left over either, and does not touch it.
fn remembers_nothing(world: &PhysicsWorld, body: RigidBodyHandle) -> bool {
    pairs(world, body).count() <= 1 && !touches(world, body)
}

fn pairs(world: &PhysicsWorld, body: RigidBodyHandle) -> impl Iterator<Item = &ContactPair> {
    let colliders = world.bodies.get(body).map_or(&[][..], RigidBody::colliders);
    colliders.iter().flat_map(|&collider| world.narrow_phase.contact_pairs_with(collider))
}

/// Grip and texture of the surface of `scene` that ends up on top where a wheel `met` it.
fn surface_at(scene: &Scene, met: &Met) -> (f32, Texture) {
    if let Some(surface) = terrain::noted(met.collider.user_data) {
        return surface;
    }
    let point = met.point;
    let reaches = |fixed: &&FixedBox| {
        let from_middle = fixed.rotation.inverse() * (point - fixed.centre.as_vec3());
        from_middle.abs().cmple(fixed.half_extents + FLUSH).all()
    };
    let on_top = scene.boxes.iter().rev().find(reaches);
    on_top.map_or((scene.grip, scene.texture), |fixed| (fixed.grip, fixed.texture))
}

/// How smooth a triangle of a collider of the scene is.
fn smooth_in(terrain: &[(ColliderHandle, Source)], handle: ColliderHandle, number: u32) -> Option<Smooth> {
    terrain.iter().find(|(of, _)| *of == handle)?.1.smooth(number)
}

/// Takes the right to fall asleep of a chassis of the comparison's world, and where cars do not collide what it has of others.
fn settle(world: &mut PhysicsWorld, scene: &Scene, handle: RigidBodyHandle) {
    chassis::keep_awake(&mut world.bodies, handle);
    if !scene.cars_collide {
        chassis::pass_through_others(&world.bodies, &mut world.colliders, handle);
    }
}

/// Whether `body` touches nothing but the plane.
fn is_free(body: &RigidBody, contacts: &NarrowPhase, colliders: &ColliderSet) -> bool {
    let is_plane = |handle| colliders.get(handle).is_some_and(|collider| collider.shape().as_halfspace().is_some());
    let pairs = body.colliders().iter().flat_map(|collider| contacts.contact_pairs_with(*collider));
    pairs.filter(|pair| pair.has_any_active_contact()).all(|pair| is_plane(pair.collider1) || is_plane(pair.collider2))
}

impl RapierBackend {
    fn new(scene: &Scene, starts: &[CarStart], dt: f32) -> Self {
        let (mut world, terrain) = world_and_terrain(scene, dt);
        let platforms = platforms::insert(&mut world, scene);
        let bodies = bodies::insert(&mut world, scene);
        let cars = RapierCars::new(&mut world, scene, starts);
        for car in 0..starts.len() {
            settle(&mut world, scene, cars.handle(car));
        }
        let (scene, starts) = (scene.clone(), starts.to_vec());
        Self { world, cars, platforms, terrain, bodies, scene, starts, clock: Clock::new(dt) }
    }

    /// Cars and free bodies.
    fn movers(&self) -> impl Iterator<Item = (Mover, RigidBodyHandle)> {
        let cars = (0..self.cars.vehicles().len()).map(|car| (Mover::Car(car), self.cars.handle(car)));
        cars.chain(self.bodies.iter().enumerate().map(|(body, handle)| (Mover::Body(body), *handle)))
    }

    /// Lets Rapier stop the hulls that would end the coming step in the plane where they meet it. It lifts those that sank in, by up to
    /// 0.25 % of m g h within three steps at 60 Hz. No other hull sees as far: it would take for a wall what it passes.
    fn foresee_landings(&mut self) {
        let (normal, dt) = (self.scene.normal(), self.clock.dt);
        let near = SEES_AHEAD + self.scene.gravity * dt * dt;
        let mut relaxing = 1;
        for (car, vehicle) in self.cars.vehicles().iter().enumerate() {
            let Some(body) = self.world.bodies.get_mut(self.cars.handle(car)) else { continue };
            let hull = &vehicle.model().parts().hull;
            let [now, then] = [0.0, dt].map(|dt| chassis::lowest(body, hull, normal, dt));
            let meets = then.min(now) < near && is_free(body, &self.world.narrow_phase, &self.world.colliders);
            // Where no wheel presses, as on a car that lies, no spring holds them.
            let held = vehicle.state().wheels.iter().any(|wheel| wheel.load > 0.0);
            let least = if held { FALLS } else { 0.0 };
            let falls = |corner: Vec3| {
                let [now, then] = [0.0, dt].map(|dt| chassis::height(body, corner, normal, dt));
                now >= SEES_AHEAD && then < near && now - then > least * dt
            };
            // One that slides along the plane has landed, but other corners of it may still come down.
            let lands = meets && (now >= near || chassis::corners(hull).any(falls));
            // No farther than what lands: it would take edges beside its way for walls.
            let closing = -body.linvel().dot(normal) + body.angvel().length() * hull.half_extents.length();
            body.set_soft_ccd_prediction(if lands { dt * closing.max(0.0) } else { 0.0 });
            if meets {
                relaxing = RELAXING;
            }
        }
        self.world.integration_parameters.num_internal_stabilization_iterations = relaxing;
    }
}

impl Backend for RapierBackend {
    fn name(&self) -> &'static str {
        BACKEND.name
    }

    fn step(&mut self, controls: &[Controls]) -> StepReport {
        if let Some(nothing) = StepReport::of_no_step(self.clock.dt) {
            return nothing;
        }
        step_by(&mut self.world.integration_parameters, self.clock.dt);
        if !self.scene.gusts.is_empty() {
            self.cars.set_wind(self.scene.wind_in(self.time(), self.clock.dt));
        }
        if !self.platforms.is_empty() {
            let time = self.time();
            platforms::begin_step(&mut self.world, &mut self.cars, &self.platforms, &self.scene, time);
        }
        let scene = &self.scene;
        let (grip, texture) = (|met: &Met<'_>| surface_at(scene, met).0, |met: &Met<'_>| surface_at(scene, met).1);
        let smooth = |handle: ColliderHandle, number: u32| smooth_in(&self.terrain, handle, number);
        let (grip, texture) = (Some(&grip as _), Some(&texture as _));
        let ground = Surfaces { grip, texture, smooth: Some(&smooth), ..Surfaces::default() };
        let before = self.cars.before_step_on(&mut self.world, controls, ground);
        if self.scene.plane {
            self.foresee_landings();
        }
        self.world.step();
        self.clock.tick();
        before.and(self.cars.after_step(&mut self.world))
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

    fn place(&self, car: usize) -> Option<Vec3> {
        self.cars.place(car)
    }

    fn set_place(&mut self, car: usize, place: Vec3) {
        self.cars.set_place(&mut self.world, car, place);
    }

    fn bodies(&self) -> usize {
        self.bodies.len()
    }

    fn body(&self, body: usize) -> Option<BodyMotion> {
        bodies::motion(&self.world, *self.bodies.get(body)?)
    }

    fn set_body(&mut self, body: usize, motion: &BodyMotion) -> bool {
        let handle = self.bodies.get(body).copied();
        handle.map(|handle| bodies::set(&mut self.world, handle, motion)).is_some()
    }

    fn probe(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) -> bool {
        let scene = &self.scene;
        let (grip, texture) = (|met: &Met<'_>| surface_at(scene, met).0, |met: &Met<'_>| surface_at(scene, met).1);
        let smooth = |handle: ColliderHandle, number: u32| smooth_in(&self.terrain, handle, number);
        let (grip, texture) = (Some(&grip as _), Some(&texture as _));
        let ground = Surfaces { grip, texture, smooth: Some(&smooth), ..Surfaces::default() };
        self.cars.probe(&mut self.world, asked, answered, ground);
        true
    }

    fn insert(&mut self, start: &CarStart) -> CarId {
        let car = self.cars.insert(&mut self.world, &self.scene, start);
        settle(&mut self.world, &self.scene, self.cars.handle(car.slot()));
        match self.starts.get_mut(car.slot()) {
            Some(own) => *own = start.clone(),
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

    fn save_into(&self, bytes: &mut Vec<u8>) -> Result<(), SaveError> {
        match self.movers().find(|(_, handle)| touches(&self.world, *handle)) {
            Some((of, _)) => Err(SaveError { backend: BACKEND.name, of, reason: TOUCHES }),
            None => {
                save_world(self, bytes);
                Ok(())
            }
        }
    }

    /// Into a world built anew if the present one may remember contacts that the loaded one never had.
    fn load(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        if self.movers().all(|(_, handle)| remembers_nothing(&self.world, handle)) {
            return load_world(self, bytes);
        }
        let mut fresh = Self::new(&self.scene, &self.starts, self.clock.dt);
        fresh.cars.cars.slots_mut().rename_as(self.slots());
        load_world(&mut fresh, bytes)?;
        *self = fresh;
        Ok(())
    }
}
