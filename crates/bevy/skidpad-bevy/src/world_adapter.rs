//! Interface between cars and the world that simulates them.

use std::sync::Arc;

use crate::car::{Car, CarControls, CarDriver, Teleport};
use crate::motion::CarMotion;
use crate::towing::TowedBy;
use crate::transforms::start_state_at;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_transform::prelude::*;
use skidpad_core::{CarId, Contact, Controls, Model, Probe, State};
use skidpad_drive::{downward_probe, upright_state_on};

/// World that cars are inserted into. The number of a car is its slot. The next inserted car reuses the number of a
/// removed car.
pub trait CarHost {
    /// Inserts a car with entity `car` in `state`, and returns its identifier.
    fn insert(&mut self, car: Entity, model: &Arc<Model>, state: &State) -> CarId;
    /// Returns the model of car `number`, or of the car that had this number last.
    fn model(&self, number: usize) -> &Arc<Model>;
    /// Sets the state of car `number`, whose entity is `car`. Does nothing if the car does not exist or has another
    /// number of wheels.
    fn set_state(&mut self, number: usize, car: Entity, state: &State);
    /// Removes `car` for good. Does nothing if the car was removed before.
    fn remove(&mut self, car: CarId);
    /// Returns the ground contact that `probe` finds; `None` if it finds no ground.
    fn probe_ground(&mut self, probe: &Probe) -> Option<Contact>;
}

/// Numbers of the car entities in a world, in both directions, and the controls of each car for the next step.
#[derive(Clone, Debug, Default)]
pub struct CarIndices {
    /// Identifier of every car in the world.
    ids: EntityHashMap<CarId>,
    /// Entity of the car with each number; `None` if that car was removed.
    cars: Vec<Option<Entity>>,
    /// Controls for the next step, by number.
    controls: Vec<Controls>,
}

impl CarIndices {
    /// Returns the number of `car`; `None` if it is not in this world.
    pub fn index_of(&self, car: Entity) -> Option<usize> {
        self.ids.get(&car).map(|car| car.slot())
    }

    /// Returns the controls of every number for the next step. Copies them from [`CarControls`] of all cars in this
    /// world. A number whose car was removed has default controls.
    pub fn controls(&mut self, cars: &Query<(Entity, &CarControls, &mut CarMotion)>) -> &[Controls] {
        for (entity, car_controls, _) in cars {
            if let Some(number) = self.index_of(entity) {
                self.controls[number].clone_from(&car_controls.0);
            }
        }
        &self.controls
    }

    /// Inserts a car into the world, sets its state there, and records its identifier and number. Enlarges the lists of
    /// cars and controls if the number is new; a new number has default controls.
    fn insert(&mut self, host: &mut dyn CarHost, car: Entity, model: &Arc<Model>, state: &State) {
        let id = host.insert(car, model, state);
        let number = id.slot();
        host.set_state(number, car, state);
        self.ids.insert(car, id);
        // Number of slots.
        let slot_count = self.cars.len().max(number + 1);
        self.cars.resize(slot_count, None);
        self.controls.resize(slot_count, Controls::default());
        self.cars[number] = Some(car);
    }

    /// Removes a car from the world. Does nothing if the car is not in this world. Otherwise its number has no entity
    /// and default controls until it is used again.
    fn remove(&mut self, host: &mut dyn CarHost, car: Entity) {
        if let Some(id) = self.ids.remove(&car) {
            host.remove(id);
            self.cars[id.slot()] = None;
            self.controls[id.slot()] = Controls::default();
        }
    }

    /// Returns the cars in this world for which `is_gone` (entity no longer has a car) returns true, in the order of
    /// their numbers.
    fn removed_cars(&self, is_gone: impl Fn(Entity) -> bool) -> Vec<Entity> {
        self.cars.iter().flatten().copied().filter(|car| is_gone(*car)).collect()
    }
}

/// Record of a car whose state was set in this tick.
pub(crate) struct StateChange {
    pub car: Entity,
    pub state: State,
    /// Whether the trailers behind it have to be placed in line again: true except after [`Teleport::ToState`].
    pub is_teleported: bool,
}

/// Components of a car that decide whether its state or model in the world has to be set.
type CarChange<'w> = (
    Entity,
    Ref<'w, Car>,
    &'w Transform,
    Option<&'w mut CarMotion>,
    Option<&'w mut CarDriver>,
    Option<&'w Teleport>,
    Has<TowedBy>,
);

/// System parameter for cars that are new, despawned, teleported or have a new model. A world's system in
/// [`crate::CarSystems::SyncCars`] takes it and calls [`PendingCars::sync`].
#[derive(SystemParam)]
pub struct PendingCars<'w, 's> {
    pub(crate) commands: Commands<'w, 's>,
    pub(crate) cars: Query<'w, 's, CarChange<'static>>,
    pub(crate) trailers: Query<'w, 's, (Entity, &'static TowedBy), With<Car>>,
}

impl PendingCars<'_, '_> {
    /// Applies to `host` all changes of cars since the last tick. First removes the cars that no longer exist or have
    /// lost [`Car`]. Then sets the state of every car that is new, is teleported or has a changed [`Car`]; other cars
    /// are not touched. Finally hitches and unhitches trailers.
    ///
    /// The new state is chosen by these rules. A teleport determines it. Without a teleport, a car that has a state
    /// with as many wheels as its model keeps this state; any other car starts at rest at its transform.
    /// [`Teleport::Upright`] needs a car that is in the world, and [`Teleport::ToState`] a state that fits the model;
    /// otherwise the rules without a teleport apply.
    ///
    /// A car with another model is removed from the world and inserted again. [`Teleport`] is removed, and the driver
    /// is reset except after [`Teleport::ToState`]. [`CarMotion`] is inserted or set to the state, and removed from a
    /// car that left the world.
    pub fn sync(&mut self, host: &mut dyn CarHost, indices: &mut CarIndices) {
        // Bevy keeps removal messages for two frames only, which may pass without a tick. So the entities are compared.
        for car in indices.removed_cars(|car| !self.cars.contains(car)) {
            indices.remove(host, car);
            self.commands.entity(car).try_remove::<CarMotion>();
        }
        // Cars whose states are set in this tick, and cars whose `TowedBy` was removed.
        let (mut state_changes, mut unhitched_cars) = (Vec::new(), Vec::new());
        for (entity, car, transform, motion, driver, teleport, is_towed) in &mut self.cars {
            let was_towed = motion.as_ref().is_some_and(|motion| motion.state().tow.is_some());
            if was_towed && !is_towed {
                unhitched_cars.push(entity);
            }
            // `None` for a car that enters the world in this tick.
            let number = indices.index_of(entity);
            let state = match (teleport, &motion, number) {
                (Some(Teleport::To(transform)), ..) => start_state_at(&car.0, transform),
                (Some(Teleport::ToState(state)), ..) if state.wheels.len() == car.0.wheels().len() => (**state).clone(),
                (Some(Teleport::Upright), Some(motion), Some(number)) => {
                    let probe = downward_probe(number, motion.state());
                    let contact = host.probe_ground(&probe);
                    upright_state_on(&car.0, motion.state(), &probe, contact.as_ref())
                }
                // Nothing has changed.
                (None, _, Some(_)) if !car.is_changed() => continue,
                // The model or the world has changed.
                (_, Some(motion), _) if motion.state().wheels.len() == car.0.wheels().len() => motion.state().clone(),
                // A new car, or a state that does not fit the model.
                _ => start_state_at(&car.0, transform),
            };
            match number {
                // The same model: only the state changes.
                Some(number) if Arc::ptr_eq(host.model(number), &car.0) => host.set_state(number, entity, &state),
                _ => {
                    indices.remove(host, entity);
                    indices.insert(host, entity, &car.0, &state);
                }
            }
            match motion {
                Some(mut motion) => motion.teleport(&car.0, &state),
                None => {
                    self.commands.entity(entity).try_insert(CarMotion::new(&car.0, state.clone()));
                }
            }
            state_changes.push(StateChange {
                car: entity,
                state,
                // A restored state keeps its trailers where they are; they are restored themselves.
                is_teleported: !matches!(teleport, Some(Teleport::ToState(_))),
            });
            let Some(teleport) = teleport else { continue };
            self.commands.entity(entity).try_remove::<Teleport>();
            if let (Some(mut driver), Teleport::To(_) | Teleport::Upright) = (driver, teleport) {
                driver.0.reset();
            }
        }
        self.apply_hitches(host, indices, &unhitched_cars, &mut state_changes);
    }
}
