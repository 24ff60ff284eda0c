//! Plugin with a world of skidpad, for games without a physics engine and for servers.

use std::sync::Arc;

use crate::car::CarControls;
use crate::motion::CarMotion;
use crate::plugin::{CarPlugin, CarSystems};
use crate::world_adapter::{CarHost, CarIndices, PendingCars};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::prelude::*;
use skidpad_core::state::Placement;
use skidpad_core::{CarId, CarStart, Contact, Model, Probe, Scene, Simulation, SolverInfo, State};

/// Plugin that steps all cars in a world that one of skidpad's solvers builds. Add it after [`CarPlugin`].
#[derive(Clone, Debug)]
pub struct BuiltinWorldPlugin {
    /// Solver, such as `skidpad_impulse::BACKEND_INFO` or `skidpad_constraint::BACKEND_INFO`.
    pub solver: SolverInfo,
    /// Ground and obstacles, in skidpad's axes: z up.
    pub scene: Scene,
}

impl Plugin for BuiltinWorldPlugin {
    /// Inserts the world without cars and adds its two systems to the schedule of [`CarPlugin`].
    fn build(&self, app: &mut App) {
        let schedule = CarPlugin::schedule_of(app);
        app.insert_resource(BuiltinWorld::new(self.solver, self.scene.clone()))
            .add_systems(schedule, (sync_cars.in_set(CarSystems::SyncCars), step.in_set(CarSystems::Step)));
    }
}

/// World that steps all cars.
#[derive(Resource)]
pub struct BuiltinWorld {
    host: Host,
    /// Map between car entities and slots of the world.
    indices: CarIndices,
    /// Scene from which the world of another solver is built.
    scene: Scene,
}

/// World of the solver, as the host of cars.
struct Host(Box<dyn Simulation>);

/// Initial step length of the world, s. Every step replaces it by the length of the tick.
const INITIAL_STEP_S: f32 = 1.0 / 64.0;

impl BuiltinWorld {
    /// Creates the world of `solver` on the ground of `scene`, without cars, with steps of [`INITIAL_STEP_S`] until the
    /// first tick.
    fn new(solver: SolverInfo, scene: Scene) -> Self {
        Self { host: Host((solver.build_world)(&scene, &[], INITIAL_STEP_S)), indices: CarIndices::default(), scene }
    }

    /// Returns the world.
    pub fn world(&self) -> &dyn Simulation {
        self.host.0.as_ref()
    }

    /// Returns the slot of a car in the world; `None` if it is not in this world.
    pub fn number(&self, car: Entity) -> Option<usize> {
        self.indices.index_of(car)
    }

    /// Replaces the solver of the world by building a new world of the same scene. Every car keeps its slot, its state
    /// and its identifier; empty slots stay empty. Step length, number of steps and time are kept. Free bodies of the
    /// scene return to their start. The new world has no reports of the last step.
    pub fn change_solver(&mut self, solver: SolverInfo) {
        let world = &self.host.0;
        // Every slot gets a car. Cars of empty slots are removed below.
        let cars: Vec<CarStart> = (0..world.slot_count())
            .map(|car| CarStart { model: world.model(car).clone(), placement: Placement::default() })
            .collect();
        let mut new_world = (solver.build_world)(&self.scene, &cars, world.dt());
        for slot in 0..cars.len() {
            // The models are the same, so that every state fits.
            let _ = new_world.set_state(slot, world.state(slot));
        }
        // The new slots have identifiers of their own; those of the entities stay valid.
        new_world.slots_mut().copy_identifiers(world.slots());
        for slot in 0..cars.len() {
            // An empty slot of the old world has no identifier.
            if world.slots().id(slot).is_none()
                && let Some(removed) = new_world.slots().id(slot)
            {
                // The car exists, so that its removal succeeds.
                let _ = new_world.remove(removed);
            }
        }
        // The time is copied, too: after steps of different length it is not their number times the last length.
        *new_world.clock_mut() = *world.clock();
        self.host.0 = new_world;
    }
}

impl CarHost for Host {
    /// Inserts the car at the default placement. The caller then sets its state, so `_state` is not used here.
    fn insert(&mut self, _car: Entity, model: &Arc<Model>, _state: &State) -> CarId {
        self.0.insert(&CarStart { model: model.clone(), placement: Placement::default() })
    }

    fn model(&self, number: usize) -> &Arc<Model> {
        self.0.model(number)
    }

    fn set_state(&mut self, number: usize, _car: Entity, state: &State) {
        let _ = self.0.set_state(number, state);
    }

    fn remove(&mut self, car: CarId) {
        let _ = self.0.remove(car);
    }

    /// Returns the contact of one probe; `None` if it finds no ground or if the solver supports no probes.
    fn probe_ground(&mut self, probe: &Probe) -> Option<Contact> {
        let mut contacts = [None];
        self.0.probe(&[*probe], &mut contacts);
        contacts[0]
    }
}

/// Applies new, removed, teleported and changed cars to the world.
fn sync_cars(mut world: ResMut<BuiltinWorld>, mut pending_cars: PendingCars) {
    let BuiltinWorld { host, indices, .. } = &mut *world;
    pending_cars.sync(host, indices);
}

/// Steps the world by the length of the tick with the controls of all cars, and updates [`CarMotion`] of every car in
/// it. Does nothing if the tick has no length.
fn step(time: Res<Time>, mut world: ResMut<BuiltinWorld>, mut cars: Query<(Entity, &CarControls, &mut CarMotion)>) {
    let dt = time.delta_secs();
    if dt <= 0.0 {
        return;
    }
    let BuiltinWorld { host: Host(world), indices, .. } = &mut *world;
    world.clock_mut().dt = dt;
    world.step(indices.controls(&cars));
    for (entity, _, mut motion) in &mut cars {
        if let Some(number) = indices.index_of(entity) {
            motion.update(&world.car(number), dt);
        }
    }
}
