//! Cars of a fleet that lanes do not support: small worlds of the solver `impulse`, stepped by all threads.

use std::sync::Arc;

use rayon::prelude::*;
use skidpad_core::state::Placement;
use skidpad_core::{AssistLog, CarStart, Controls, Model, Scene, Simulation, State};
use skidpad_impulse::Sweep;
use skidpad_world::CarWorld;

use crate::blocks::CarStorage;
use crate::observation::{Observation, write_car_observations};

/// Number of cars of a world: two batches of eight, and few enough that all threads have work.
const CARS_PER_WORLD: usize = 16;

/// Small world of a fleet. Cars stay in the slots in which they were inserted.
#[derive(Clone, Debug)]
struct SmallWorld {
    world: CarWorld,
    /// Inputs of the drivers, by slot.
    controls: Vec<Controls>,
    /// Number of steps of each car since its state was set, by slot.
    ages: Vec<u32>,
    /// Bits of the cars whose motion became infinite or NaN.
    failed: u32,
}

/// Cars of a fleet in small worlds.
#[derive(Clone, Debug)]
pub struct SmallWorlds {
    model: Arc<Model>,
    /// World without cars, of which each new world is a copy. Copies share terrain.
    empty_world: CarWorld,
    worlds: Vec<SmallWorld>,
}

impl SmallWorlds {
    /// Creates an empty fleet of cars of `model` on the ground of `scene`, with steps of `dt` s.
    pub fn new(model: &Arc<Model>, scene: &Scene, dt: f32) -> Self {
        let scene = Scene { cars_collide: false, ..scene.clone() };
        let empty_world = CarWorld::new("impulse", &Sweep, &scene, &[], dt);
        Self { model: Arc::clone(model), empty_world, worlds: Vec::new() }
    }

    /// Returns the world and the slot of a car.
    fn world(&self, car: usize) -> (&SmallWorld, usize) {
        (&self.worlds[car / CARS_PER_WORLD], car % CARS_PER_WORLD)
    }

    /// Returns the world and the slot of a car, for changes.
    fn world_mut(&mut self, car: usize) -> (&mut SmallWorld, usize) {
        (&mut self.worlds[car / CARS_PER_WORLD], car % CARS_PER_WORLD)
    }
}

impl SmallWorld {
    /// Inserts a car of `model` into the lowest empty slot, in `state`, without changing controls, age and failure of
    /// that slot.
    fn insert(&mut self, model: &Arc<Model>, state: &State) {
        let start = CarStart { model: Arc::clone(model), placement: Placement::default() };
        let slot = self.world.insert(&start).slot();
        // The fleet has checked the number of wheels, the only error of a car that exists.
        self.world.set_state(slot, state).unwrap_or_default();
    }

    /// Returns whether the car in `slot` is stepped.
    fn is_active(&self, slot: usize) -> bool {
        self.world.slots().is_active(slot)
    }

    /// Sets whether the car in `slot` is stepped: resumes or suspends it. Its state does not change.
    fn set_active(&mut self, slot: usize, is_active: bool) {
        if is_active && !self.is_active(slot) {
            let state = self.world.state(slot).clone();
            self.world.resume(slot, &state).unwrap_or_default();
        } else if !is_active {
            // The slot has a car.
            self.world.suspend(slot).unwrap_or_default();
        }
    }

    /// Advances the active cars by `steps` steps and increments their ages. Cars whose motion would not be finite keep
    /// their state before that step, become inactive and count as failed.
    fn step(&mut self, steps: u32) {
        for _ in 0..steps {
            let report = self.world.step(&self.controls);
            for slot in 0..self.ages.len() {
                if !self.is_active(slot) {
                    continue;
                }
                if report.not_finite && self.world.car(slot).report.not_finite {
                    self.failed |= 1 << slot;
                    self.set_active(slot, false);
                } else {
                    self.ages[slot] = self.ages[slot].saturating_add(1);
                }
            }
        }
    }

    /// Writes the `observations` of all cars into `observation_values`, car by car.
    fn observe(&self, observations: &[Observation], observation_values: &mut [f32]) {
        for (slot, car_values) in observation_values.chunks_exact_mut(observations.len().max(1)).enumerate() {
            write_car_observations(self.world.state(slot), observations, self.world.dt(), car_values);
        }
    }
}

impl CarStorage for SmallWorlds {
    /// Inserts the car into the last world, with neutral controls. Every [`CARS_PER_WORLD`]-th car starts a new world.
    fn push(&mut self, car: usize, state: &State) {
        if car.is_multiple_of(CARS_PER_WORLD) {
            let world = self.empty_world.clone();
            self.worlds.push(SmallWorld { world, controls: Vec::new(), ages: Vec::new(), failed: 0 });
        }
        let model = Arc::clone(&self.model);
        let (world, _) = self.world_mut(car);
        world.insert(&model, state);
        world.controls.push(Controls::default());
        world.ages.push(0);
    }

    /// Replaces the model of a car: removes its vehicle from its slot and inserts one of `model` in the same state. The
    /// car stays active or inactive as before; controls, age and failure do not change. Returns an error, and changes
    /// nothing, if the number of wheels differs.
    fn set_model(&mut self, car: usize, model: &Arc<Model>) -> Result<(), Vec<&'static str>> {
        if model.wheels().len() != self.model.wheels().len() {
            return Err(vec!["number of wheels"]);
        }
        let (world, slot) = self.world_mut(car);
        let (state, is_active) = (world.world.state(slot).clone(), world.is_active(slot));
        // Shadows the number of the car by the identifier of the vehicle in the slot.
        if let Ok(car) = world.world.slots().occupant(slot) {
            world.world.remove(car).unwrap_or_default();
        }
        // All slots of a world have cars, so that this slot is now the only empty one and is reused.
        world.insert(model, &state);
        // The new vehicle is active.
        world.set_active(slot, is_active);
        Ok(())
    }

    fn own_model(&self, car: usize) -> Option<Arc<Model>> {
        let (world, slot) = self.world(car);
        let model = world.world.model(slot);
        (!Arc::ptr_eq(model, &self.model)).then(|| Arc::clone(model))
    }

    /// Sets the state of a car without its tow. The car becomes active, at age 0 and not failed.
    fn set_state(&mut self, car: usize, state: &State) {
        let (world, slot) = self.world_mut(car);
        // Towing is not supported. The fleet has checked the number of wheels, so that no error remains.
        world.world.resume(slot, &State { tow: None, ..state.clone() }).unwrap_or_default();
        world.ages[slot] = 0;
        world.failed &= !(1 << slot);
    }

    fn write_state(&self, car: usize, state: &mut State) {
        let (world, slot) = self.world(car);
        state.clone_from(world.world.state(slot));
    }

    fn set_controls(&mut self, car: usize, controls: &Controls) {
        let (world, slot) = self.world_mut(car);
        world.controls[slot].clone_from(controls);
    }

    /// Sets the actions of all cars, world by world. Other inputs do not change.
    fn set_actions(&mut self, actions: &[f32]) {
        let controls = self.worlds.iter_mut().flat_map(|world| &mut world.controls);
        for (controls, action) in controls.zip(actions.as_chunks::<{ crate::ACTION_COUNT }>().0) {
            [controls.throttle, controls.brake, controls.handbrake, controls.steer] = *action;
        }
    }

    fn set_active(&mut self, car: usize, is_active: bool) {
        let (world, slot) = self.world_mut(car);
        world.set_active(slot, is_active);
    }

    fn is_active(&self, car: usize) -> bool {
        let (world, slot) = self.world(car);
        world.is_active(slot)
    }

    fn has_failed(&self, car: usize) -> bool {
        let (world, slot) = self.world(car);
        world.failed & (1 << slot) != 0
    }

    fn age(&self, car: usize) -> u32 {
        let (world, slot) = self.world(car);
        world.ages[slot]
    }

    fn assist_log(&self, car: usize) -> AssistLog {
        let (world, slot) = self.world(car);
        world.world.assist_log(slot)
    }

    fn rare_steps(&self) -> u64 {
        0
    }

    /// Steps all worlds on the threads of the pool; each world then writes the observations of its cars. The step
    /// length is that of the worlds; `_dt` is equal.
    fn step(&mut self, steps: u32, _dt: f32, observations: &[Observation], observation_values: &mut [f32]) {
        if observations.is_empty() {
            self.worlds.par_iter_mut().for_each(|world| world.step(steps));
            return;
        }
        let numbers_per_world = CARS_PER_WORLD * observations.len();
        self.worlds.par_iter_mut().zip(observation_values.par_chunks_mut(numbers_per_world)).for_each(
            |(world, values)| {
                world.step(steps);
                world.observe(observations, values);
            },
        );
    }
}
