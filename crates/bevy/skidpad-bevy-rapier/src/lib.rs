//! skidpad vehicles in [bevy_rapier3d]: cars of [`skidpad_bevy`] drive on the colliders of the default Rapier context.
//!
//! Add Bevy's and Rapier's plugins in one schedule, then this plugin:
//!
//! ```no_run
//! use bevy_app::prelude::*;
//! use bevy_rapier3d::prelude::*;
//! use skidpad_bevy::CarPlugin;
//! use skidpad_bevy_rapier::RapierCarsPlugin;
//!
//! App::new()
//!     .add_plugins((bevy_time::TimePlugin, RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule()))
//!     .add_plugins((CarPlugin::default(), RapierCarsPlugin));
//! ```
//!
//! The chassis is a rigid body with a collider in Rapier's sets; neither has components of bevy_rapier3d. The user data
//! of both is the entity of the car, so that Rapier's collision events and ray casts report the car. Wheels are in
//! contact with any collider that the chassis may collide with. The grip is that of a [`skidpad_bevy::GroundSurface`]
//! on the collider's entity, otherwise 1.
//!
//! A tick is one Rapier step of the same length: the plugin sets `TimestepMode::Fixed` with one substep.
#![forbid(unsafe_code)]

mod host;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_rapier3d::plugin::{PhysicsSet, RapierConfiguration, TimestepMode, WriteRapierContext};
use bevy_rapier3d::prelude::DefaultRapierContext;
use bevy_time::prelude::*;
use skidpad_bevy::core::StepReport;
use skidpad_bevy::{BEVY_AXES, CarControls, CarIndices, CarMotion, CarPlugin, CarSystems, GroundSurface, PendingCars};
use skidpad_rapier::{RapierCars, SurfaceProperties, SurfaceQuery};

pub use bevy_rapier3d;
pub use skidpad_rapier;

use host::{Host, world_mut};

/// Plugin that simulates all cars in the default Rapier context. Add it after [`CarPlugin`] and Rapier's plugin, all
/// three in one schedule.
#[derive(Clone, Copy, Debug, Default)]
pub struct RapierCarsPlugin;

impl Plugin for RapierCarsPlugin {
    /// Inserts [`RapierWorldCars`] and adds the systems of a tick: cars enter and leave after Rapier has read its
    /// components; the forces of the wheels are applied before, and the states of the cars read after, Rapier's step.
    fn build(&self, app: &mut App) {
        let schedule = CarPlugin::schedule_of(app);
        app.init_resource::<RapierWorldCars>()
            .configure_sets(schedule, PhysicsSet::StepSimulation.in_set(CarSystems::Step))
            .configure_sets(schedule, CarSystems::SyncCars.after(PhysicsSet::SyncBackend))
            .add_systems(
                schedule,
                (
                    sync_cars.in_set(CarSystems::SyncCars),
                    before_step.in_set(CarSystems::Step).before(PhysicsSet::StepSimulation),
                    after_step.in_set(CarSystems::Step).after(PhysicsSet::StepSimulation),
                ),
            );
    }
}

/// Cars of the default Rapier context.
#[derive(Resource)]
pub struct RapierWorldCars {
    pub(crate) cars: RapierCars,
    /// Map between car entities and numbers in `cars`.
    indices: CarIndices,
    /// Worst report of all cars in the last step.
    report: StepReport,
}

impl Default for RapierWorldCars {
    /// Returns a resource without cars.
    fn default() -> Self {
        Self {
            cars: RapierCars::from_bodies(BEVY_AXES, Vec::new()),
            indices: CarIndices::default(),
            report: StepReport::default(),
        }
    }
}

impl RapierWorldCars {
    /// Returns the cars with their Rapier bodies.
    pub fn cars(&self) -> &RapierCars {
        &self.cars
    }

    /// Returns the number of a car in [`RapierWorldCars::cars`]; `None` if it is not in this world.
    pub fn number(&self, car: Entity) -> Option<usize> {
        self.indices.index_of(car)
    }

    /// Returns the combined report of the last step of all cars. The report includes misuse of the world, such as
    /// gravity that does not point down.
    pub fn report(&self) -> StepReport {
        self.report
    }
}

/// Query for the configuration of the default Rapier context: gravity, and whether its pipeline is active.
type Configuration<'w, 's> = Query<'w, 's, &'static RapierConfiguration, With<DefaultRapierContext>>;

/// Applies new, removed, teleported and changed cars to the default Rapier context. Does nothing without that context;
/// the changes wait for the next tick.
fn sync_cars(
    mut pending_cars: PendingCars,
    mut world: ResMut<RapierWorldCars>,
    mut context: WriteRapierContext,
    configuration: Configuration,
) {
    let (Ok(mut context), Ok(configuration)) = (context.single_mut(), configuration.single()) else { return };
    let RapierWorldCars { cars, indices, .. } = &mut *world;
    let gravity = configuration.gravity;
    pending_cars.sync(&mut Host { cars, context: &mut context, gravity }, indices);
}

/// Solves the wheels of all cars and applies their forces to the bodies, before Rapier's step. Stores the worst report
/// of all cars.
///
/// First sets Rapier's step to one substep of the length of the tick. The controls are those of [`CarControls`]. Grip
/// and texture of the ground are those of the [`GroundSurface`] on the entity in the collider's user data, otherwise
/// grip 1 and even. For a tick of length 0 or an inactive pipeline only sets Rapier's step. Does nothing without the
/// default context.
fn before_step(
    time: Res<Time>,
    mut mode: ResMut<TimestepMode>,
    mut world: ResMut<RapierWorldCars>,
    mut context: WriteRapierContext,
    configuration: Configuration,
    cars: Query<(Entity, &CarControls, &mut CarMotion)>,
    surfaces: Query<&GroundSurface>,
) {
    // Without the default context there is no world to step.
    let (Ok(mut context), Ok(configuration)) = (context.single_mut(), configuration.single()) else { return };
    let dt = time.delta_secs();
    *mode = TimestepMode::Fixed { dt, substeps: 1 };
    if dt <= 0.0 || !configuration.physics_pipeline_active {
        return;
    }
    context.simulation.integration_parameters.dt = dt;
    // Surface of a collider. bevy_rapier3d stores the entity of a collider in its user data.
    let surface = |query: &SurfaceQuery| {
        let entity = Entity::try_from_bits(query.collider.user_data as u64);
        entity.and_then(|entity| surfaces.get(entity).ok()).copied().unwrap_or_default()
    };
    // Grip and texture are asked for each contact of a wheel.
    let ground = SurfaceProperties {
        grip: Some(&|query| surface(query).grip),
        texture: Some(&|query| surface(query).texture()),
        ..SurfaceProperties::default()
    };
    let RapierWorldCars { cars: rapier_cars, indices, report } = &mut *world;
    *report = rapier_cars.before_step_with_surfaces(
        world_mut(&mut context, configuration.gravity),
        indices.controls(&cars),
        ground,
    );
}

/// Reads the motion of the bodies after Rapier's step into the states of the cars, merges the report of this half of
/// the step, and updates [`CarMotion`] of every car. Does nothing for a tick of length 0, with an inactive pipeline, or
/// without the default context.
fn after_step(
    time: Res<Time>,
    mut world: ResMut<RapierWorldCars>,
    mut context: WriteRapierContext,
    configuration: Configuration,
    mut cars: Query<(Entity, &CarControls, &mut CarMotion)>,
) {
    let (Ok(mut context), Ok(configuration)) = (context.single_mut(), configuration.single()) else { return };
    let dt = time.delta_secs();
    if dt <= 0.0 || !configuration.physics_pipeline_active {
        return;
    }
    let RapierWorldCars { cars: rapier_cars, indices, report } = &mut *world;
    *report = report.merge_worst(rapier_cars.after_step(world_mut(&mut context, configuration.gravity)));
    for (entity, _, mut motion) in &mut cars {
        if let Some(number) = indices.index_of(entity) {
            motion.update(&rapier_cars.car(number), dt);
        }
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Code snippets of the book's page on Bevy, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/book/src/first_car_bevy.md")]
struct Book;
