//! World of cars that one solver steps, with a handle for each car.

use std::sync::Arc;

use crate::Solver;
use crate::core::state::Placement;
use crate::core::{
    CarError, CarId, CarStart, CarView, Controls, Frame, LoadError, Model, SaveError, Scene, Simulation, State,
    StepReport,
};

/// World of cars on the ground of a scene.
///
/// A [`CarId`] is the handle of a car. A handle stays valid until the car is despawned. Afterwards every method that
/// takes it returns an error, even if another car has reused the slot.
///
/// ```
/// use skidpad::prelude::*;
///
/// let model = skidpad::spec::load("corvette_c5")?.model;
/// let mut world = World::new(Solver::Impulse, &Scene::flat(), 1.0 / 60.0);
/// let car = world.spawn(&model, Placement { speed: 20.0, ..Placement::default() });
/// for _ in 0..60 {
///     world.controls_mut(car)?.steer = 0.05;
///     world.step();
/// }
/// assert!(world.car(car)?.state.angular_velocity.z > 0.1, "it turns left");
///
/// world.despawn(car)?;
/// assert!(world.car(car).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct World {
    /// World of the solver, whose slots hold the cars.
    simulation: Box<dyn Simulation>,
    /// Controls of the car in each slot.
    controls: Vec<Controls>,
}

impl World {
    /// Creates a world without cars on the ground of `scene`. Steps are `dt` s long.
    pub fn new(solver: Solver, scene: &Scene, dt: f32) -> Self {
        Self { simulation: (solver.info().build_world)(scene, &[], dt), controls: Vec::new() }
    }

    /// Inserts a car of `model` at `placement` with neutral controls into the first empty slot, or a new one, and
    /// returns its handle. The next step moves it.
    pub fn spawn(&mut self, model: &Arc<Model>, placement: Placement) -> CarId {
        let car = self.simulation.insert(&CarStart { model: model.clone(), placement });
        self.controls.resize_with(self.simulation.slot_count(), Controls::default);
        self.controls[car.slot()] = Controls::default();
        car
    }

    /// Removes a car and uncouples its trailer.
    ///
    /// # Errors
    /// The car was despawned before, or belongs to another world.
    pub fn despawn(&mut self, car: CarId) -> Result<(), CarError> {
        self.simulation.remove(car)
    }

    /// Returns the handles of all cars, in the order of their slots.
    pub fn cars(&self) -> impl Iterator<Item = CarId> + '_ {
        self.simulation.slots().ids()
    }

    /// Returns the controls of a car for changes. They stay as they are until they are changed. Cars that were added
    /// through [`World::simulation_mut`] get neutral controls.
    ///
    /// # Errors
    /// The car was despawned, or belongs to another world.
    pub fn controls_mut(&mut self, car: CarId) -> Result<&mut Controls, CarError> {
        let slot = self.simulation.slots().find(car)?;
        self.controls.resize_with(self.simulation.slot_count(), Controls::default);
        Ok(&mut self.controls[slot])
    }

    /// Advances all cars by one step with their controls. Returns the worst value of each field of the reports of all
    /// cars. Suspended cars are not stepped. Nothing changes if the step length is 0 or invalid.
    pub fn step(&mut self) -> StepReport {
        self.simulation.step(&self.controls)
    }

    /// Returns model, state, signals and step report of a car after the last step.
    ///
    /// # Errors
    /// The car was despawned, or belongs to another world.
    pub fn car(&self, car: CarId) -> Result<CarView<'_>, CarError> {
        Ok(self.simulation.car(self.simulation.slots().find(car)?))
    }

    /// Returns the telemetry of a car after the last step.
    ///
    /// # Errors
    /// The car was despawned, or belongs to another world.
    pub fn frame(&self, car: CarId) -> Result<Frame, CarError> {
        Ok(self.simulation.frame(self.simulation.slots().find(car)?))
    }

    /// Sets the state of a car. The next step continues from it.
    ///
    /// # Errors
    /// The car was despawned, belongs to another world or is suspended, or `state` has another number of wheels.
    pub fn set_state(&mut self, car: CarId, state: &State) -> Result<(), CarError> {
        let slot = self.simulation.slots().find(car)?;
        self.simulation.set_state(slot, state)
    }

    /// Returns the step length, s.
    pub fn dt(&self) -> f32 {
        self.simulation.dt()
    }

    /// Sets the length of the following steps, s. The value is not checked here: a step of length 0 changes nothing,
    /// and [`World::step`] reports one that is negative or not finite.
    pub fn set_dt(&mut self, dt: f32) {
        self.simulation.clock_mut().dt = dt;
    }

    /// Returns the time since the start, s: the sum of the lengths of all steps.
    pub fn time(&self) -> f64 {
        self.simulation.time()
    }

    /// Returns the complete state of the world, without controls. [`World::load`] resumes from it bit for bit.
    ///
    /// # Errors
    /// The solver cannot save now; see [`Simulation::save`].
    pub fn save(&self) -> Result<Vec<u8>, SaveError> {
        self.simulation.save()
    }

    /// Restores what [`World::save`] returned for a world of the same scene, cars and step length. Controls stay as
    /// they are.
    ///
    /// # Errors
    /// The difference between `bytes` and this world. Nothing is changed then.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        self.simulation.load(bytes)
    }

    /// Returns the simulation below, whose methods take slots instead of handles: probes, free bodies, suspended cars.
    pub fn simulation(&self) -> &dyn Simulation {
        self.simulation.as_ref()
    }

    /// Returns the simulation below to change it.
    pub fn simulation_mut(&mut self) -> &mut dyn Simulation {
        self.simulation.as_mut()
    }
}

impl std::fmt::Debug for World {
    /// Writes the name of the solver and the handles of the cars.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cars: Vec<CarId> = self.cars().collect();
        f.debug_struct("World").field("solver", &self.simulation.name()).field("cars", &cars).finish_non_exhaustive()
    }
}
