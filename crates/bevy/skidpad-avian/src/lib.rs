//! skidpad vehicles in worlds of [Avian](avian3d): cars of [`skidpad_bevy`] drive on its colliders and collide with its
//! bodies.
//!
//! Add Bevy's and Avian's plugins, then cars in the schedule of Avian's physics, by default `FixedPostUpdate`, then
//! this plugin:
//!
//! ```no_run
//! use avian3d::prelude::*;
//! use bevy_app::prelude::*;
//! use skidpad_avian::AvianCarsPlugin;
//! use skidpad_bevy::CarPlugin;
//!
//! App::new()
//!     .add_plugins((bevy_time::TimePlugin, bevy_transform::TransformPlugin, PhysicsPlugins::default()))
//!     .add_plugins((CarPlugin::in_schedule(FixedPostUpdate), AvianCarsPlugin));
//! ```
//!
//! The chassis is a body on a separate entity with the component [`ChassisOf`]; the car has the component [`Chassis`].
//! Wheels can stand on everything that the chassis may collide with by its layers, except sensors. The grip is that of
//! the [`skidpad_bevy::GroundSurface`] on the entity of the collider, or 1. If colliders lie flush, the one that was
//! spawned last determines the surface. Kinematic bodies carry cars by their velocities; a body that is moved only by
//! its transform has none. Cars do not sleep.
#![forbid(unsafe_code)]

pub mod backend;
mod car_slot;
mod cars;
mod chassis;
mod ground;
mod port;
mod world;

use avian3d::dynamics::integrator::{IntegrationSystems, VelocityIntegrationData, pre_process_velocity_increments};
use avian3d::dynamics::rigid_body::forces::ForceSystems;
use avian3d::dynamics::solver::solver_body::SolverBodies;
use avian3d::prelude::*;
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::prelude::*;
use skidpad_bevy::core::{ApiMisuse, StepReport};
use skidpad_bevy::{BEVY_AXES, CarControls, CarMotion, CarPlugin, CarSystems, PendingCars};
use skidpad_core::Vec3;
use skidpad_engines::pose_lag;

pub use avian3d;
pub use backend::BACKEND_INFO;
pub use cars::AvianCars;
pub use chassis::{Chassis, ChassisOf};

use car_slot::CarSlot;
use cars::Host;
use port::Port;
use world::World;

/// Plugin for cars in Avian's world. Add it after [`CarPlugin`] and Avian's plugins, all in one schedule.
#[derive(Clone, Copy, Debug, Default)]
pub struct AvianCarsPlugin;

impl Plugin for AvianCarsPlugin {
    /// Registers the components and adds the systems of the cars. Order of a tick in the schedule of the cars:
    /// `sync_cars` before all sets of Avian, then the conversion of inputs ([`CarSystems::Input`]), `collect_controls`,
    /// and Avian's physics step. Within the physics step the systems of `add_step` run, and last `update_motion`.
    ///
    /// `ambiguous_with_all` only suppresses reports of an undefined order with other systems; it sets no order.
    fn build(&self, app: &mut App) {
        let schedule = CarPlugin::schedule_of(app);
        app.register_type::<Chassis>()
            .register_type::<ChassisOf>()
            .configure_sets(schedule, PhysicsSystems::StepSimulation.in_set(CarSystems::Step))
            .configure_sets(schedule, CarSystems::SyncCars.before(PhysicsSystems::First))
            .add_systems(
                schedule,
                (
                    sync_cars.in_set(CarSystems::SyncCars),
                    collect_controls.in_set(CarSystems::Step).before(PhysicsSystems::StepSimulation),
                ),
            );
        add_step(app);
        app.add_systems(
            PhysicsSchedule,
            update_motion.after(write_back).in_set(PhysicsStepSystems::Last).ambiguous_with_all(),
        );
    }
}

/// Adds the resource [`AvianCars`] and the systems that step the cars with Avian's bodies: `before_step` after Avian's
/// constant forces and before it integrates velocities; `track_chassis`, then `write_back`, at the end of the physics
/// step.
fn add_step(app: &mut App) {
    let before_integration = before_step
        .in_set(IntegrationSystems::UpdateVelocityIncrements)
        .after(ForceSystems::ApplyConstantForces)
        .before(pre_process_velocity_increments)
        .ambiguous_with_all();
    let after_step = (track_chassis, write_back).chain().in_set(PhysicsStepSystems::Last).ambiguous_with_all();
    app.init_resource::<AvianCars>().add_systems(PhysicsSchedule, (before_integration, after_step));
}

/// Applies all changes of cars since the last tick: insertions, removals, teleports, changed models and hitches.
fn sync_cars(mut pending_cars: PendingCars, mut commands: Commands, mut avian: ResMut<AvianCars>, world: World) {
    let AvianCars { cars, slots, indices, buffers, .. } = &mut *avian;
    pending_cars.sync(&mut Host { cars, slots, buffers, commands: &mut commands, world: &world }, indices);
    avian.update_hitch_joints(&mut commands);
}

/// Stores the controls of all cars for the coming step in [`AvianCars`], in order of slots.
fn collect_controls(mut avian: ResMut<AvianCars>, cars: Query<(Entity, &CarControls, &mut CarMotion)>) {
    let AvianCars { indices, controls, .. } = &mut *avian;
    indices.controls(&cars).clone_into(controls);
}

/// Solves the cars before Avian integrates velocities. First makes the list of bodies under wheels that of the last
/// step, and empties the list of this step. Searches for misuse of the world, probes it, and solves the rows (equations
/// of tyres, suspension and drivetrain). Stores the report with the misuse. At the end applies the collected
/// accelerations and changes of velocity to the bodies, in addition to the accelerations of users.
fn before_step(
    time: Res<Time>,
    mut avian: ResMut<AvianCars>,
    mut params: ParamSet<(World, (Query<&mut VelocityIntegrationData>, ResMut<SolverBodies>))>,
    mut commands: Commands,
) {
    let dt = time.delta_secs();
    let AvianCars { cars, slots, controls, buffers, report, wind, .. } = &mut *avian;
    std::mem::swap(&mut buffers.loaded_bodies, &mut buffers.last_loaded_bodies);
    buffers.loaded_bodies.clear();
    // `p0` reads the world, `p1` writes velocities; both cannot be borrowed at once.
    let world = params.p0();
    let misuse = find_misuse(&world, cars.vehicles(), slots);
    let mut port = Port::new(&world, slots, buffers, *wind);
    port.dt = dt;
    let solve_report = cars.begin_step(&mut port, controls, dt);
    *report = StepReport { misuse, ..StepReport::default() }.merge_worst(solve_report);
    let actions = port.actions;
    let (mut increments, mut solver_bodies) = params.p1();
    actions.apply(&mut increments, &mut solver_bodies, &mut commands);
}

/// Tracks every chassis in 64 bits and sets its position to the rounded result, unless something else than the car
/// moved it. If the velocity differs from the expected `end_velocity` only by the rounding of Avian's substeps, it is
/// set to the expected one: by this rounding, a coasting car would lose 1 % too little speed. A car whose body is
/// missing is skipped.
fn track_chassis(
    time: Res<Time>,
    substeps: Res<SubstepCount>,
    mut avian: ResMut<AvianCars>,
    mut bodies: Query<(&mut Position, &mut LinearVelocity)>,
) {
    let (dt, max_rounding) = (time.delta_secs(), f32::EPSILON * substeps.0 as f32);
    let AvianCars { cars, slots, .. } = &mut *avian;
    for (slot, vehicle) in slots.iter_mut().zip(cars.vehicles()) {
        let Ok((mut position, mut velocity)) = bodies.get_mut(slot.chassis) else { continue };
        // Largest component of the difference against the rounding of all substeps.
        let velocity_error = (velocity.0 - slot.end_velocity).abs();
        if velocity_error.max_element() <= max_rounding * slot.end_velocity.abs().max_element() {
            velocity.0 = slot.end_velocity;
        }
        let start_velocity = BEVY_AXES.to_world(vehicle.state().velocity);
        let pose_lag = pose_lag(dt, substeps.0 as usize);
        if let Some(tracked_position) =
            slot.position_tracker.update(position.0, [start_velocity, velocity.0], dt, pose_lag)
        {
            position.0 = tracked_position;
        }
    }
}

/// Writes the resulting motion of all chassis to the states, and merges the report of this half of the step into that
/// of the whole step. Marks the world as stepped, so that later queries use Avian's search trees.
fn write_back(time: Res<Time>, mut avian: ResMut<AvianCars>, world: World) {
    let AvianCars { cars, slots, buffers, report, wind, .. } = &mut *avian;
    buffers.has_stepped = true;
    let mut port = Port::new(&world, slots, buffers, *wind);
    port.dt = time.delta_secs();
    *report = report.merge_worst(cars.write_back(&port, time.delta_secs()));
}

/// Copies the motion of all cars after the step to their [`CarMotion`]. An entity whose car is not in this world keeps
/// its motion.
fn update_motion(time: Res<Time>, avian: Res<AvianCars>, mut cars: Query<(Entity, &mut CarMotion)>) {
    for (entity, mut motion) in &mut cars {
        if let Some(number) = avian.number(entity) {
            motion.update(&avian.car(number), time.delta_secs());
        }
    }
}

/// Minimum share of gravity that must point down. A tilted gravity can represent a steep slope.
const MIN_DOWNWARD_GRAVITY_SHARE: f32 = 0.5;

/// Relative difference above which the mass of a chassis counts as changed. Avian inverts the mass.
const MASS_TOLERANCE_RATIO: f32 = 1e-3;

/// Returns the first misuse of the world, or `None`: gravity of which less than half points down (zero gravity is
/// allowed), or a chassis whose mass differs from its model by more than [`MASS_TOLERANCE_RATIO`].
fn find_misuse(world: &World, vehicles: &[skidpad_core::Vehicle], slots: &[CarSlot]) -> Option<ApiMisuse> {
    let gravity = world.gravity.0;
    // Gravity that points down has a negative component along the up axis.
    if gravity.dot(BEVY_AXES.to_world(Vec3::Z)) > -MIN_DOWNWARD_GRAVITY_SHARE * gravity.length()
        && gravity != Vec3::ZERO
    {
        return Some(ApiMisuse::AxesMismatch);
    }
    let has_other_mass = |(slot, vehicle): (&CarSlot, &skidpad_core::Vehicle)| {
        let Ok(body) = world.bodies.get(slot.chassis) else { return false };
        // The product is 1 if both masses are equal.
        (body.mass.inverse() * vehicle.model().mass() - 1.0).abs() > MASS_TOLERANCE_RATIO
    };
    slots.iter().zip(vehicles).any(has_other_mass).then_some(ApiMisuse::MassMismatch)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The book's snippets for Avian.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/book/src/first_car_avian.md")]
struct Book;
