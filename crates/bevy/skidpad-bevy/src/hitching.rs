//! Hitching and unhitching of trailers when cars enter the world, jump or are removed.

use crate::motion::CarMotion;
use crate::towing::TowedBy;
use crate::world_adapter::{CarHost, CarIndices, PendingCars, StateChange};
use bevy_ecs::prelude::*;
use skidpad_core::state::Tow;
use skidpad_core::{Model, State};
use skidpad_drive::place_trailers_behind;
use std::sync::Arc;

/// Pending change of the hitch of a trailer.
enum HitchChange {
    /// Attachment to this vehicle ahead.
    Attach(Entity),
    /// Detachment, since the vehicle ahead was removed.
    Detach,
}

impl PendingCars<'_, '_> {
    /// Hitches and unhitches trailers after the states of all cars of this tick are set. `state_changes` lists the cars
    /// whose states were set in this tick; trailers that are detached or placed here are added to it.
    ///
    /// First unhitches the cars in `unhitched_cars`, whose [`TowedBy`] was removed; they keep their motion. Then
    /// handles each other trailer whose hitch has to change once. If the vehicle ahead is in no world any more, the
    /// trailer is detached and keeps its motion. Otherwise the trailer and all trailers behind it are placed in line
    /// behind the vehicle ahead, each hitched to the vehicle before it.
    pub(crate) fn apply_hitches(
        &mut self,
        host: &mut dyn CarHost,
        indices: &CarIndices,
        unhitched_cars: &[Entity],
        state_changes: &mut Vec<StateChange>,
    ) {
        for trailer in unhitched_cars {
            if let Some(state) = self.state_of(*trailer, state_changes).filter(|state| state.tow.is_some()) {
                let state = State { tow: None, ..state.clone() };
                let is_teleport = false;
                self.set_car_state(host, indices, *trailer, state, is_teleport);
            }
        }
        // Trailers that need no further change in this tick, so that the loop ends.
        let mut handled_trailers = Vec::new();
        while let Some((trailer, hitch_change)) = self.next_hitch_change(indices, state_changes, &handled_trailers) {
            handled_trailers.push(trailer);
            match hitch_change {
                HitchChange::Detach => {
                    let Some(state) = self.state_of(trailer, state_changes).cloned() else { continue };
                    let state = State { tow: None, ..state };
                    let is_teleport = false;
                    self.set_car_state(host, indices, trailer, state.clone(), is_teleport);
                    record_state(state_changes, trailer, state, is_teleport);
                }
                // The whole chain behind is placed again, because it moves with this trailer.
                HitchChange::Attach(towing_car) => {
                    let chain = self.trailer_chain_from(trailer, &handled_trailers);
                    for (chained_trailer, state) in self.chain_states(&chain, towing_car, indices, state_changes) {
                        handled_trailers.push(chained_trailer);
                        // The trailers jump to their new places.
                        let is_teleport = true;
                        self.set_car_state(host, indices, chained_trailer, state.clone(), is_teleport);
                        record_state(state_changes, chained_trailer, state, is_teleport);
                    }
                }
            }
        }
    }

    /// Returns `trailer` and the chain of trailers behind it, front to back. The chain ends before a trailer that is in
    /// `handled_trailers`.
    fn trailer_chain_from(&self, trailer: Entity, handled_trailers: &[Entity]) -> Vec<Entity> {
        let mut chain = vec![trailer];
        let trailer_behind = |chain: &[Entity]| {
            let is_next = |(entity, towed): &(Entity, &TowedBy)| {
                chain.last() == Some(&towed.0) && !chain.contains(entity) && !handled_trailers.contains(entity)
            };
            self.trailers.iter().find(is_next).map(|(entity, _)| entity)
        };
        while let Some(next_trailer) = trailer_behind(&chain) {
            chain.push(next_trailer);
        }
        chain
    }

    /// Returns the first trailer that is not in `handled_trailers` and whose hitch has to change, with the change;
    /// `None` if there is none.
    ///
    /// A trailer is attached if it is not towed by the vehicle of its [`TowedBy`], or if either of them was teleported
    /// in this tick. The trailer is detached if that vehicle is in no world. A trailer in no world is skipped.
    fn next_hitch_change(
        &self,
        indices: &CarIndices,
        state_changes: &[StateChange],
        handled_trailers: &[Entity],
    ) -> Option<(Entity, HitchChange)> {
        // Whether `car` was teleported in this tick, so that its trailers have to be placed again.
        let is_teleported = |car: Entity| state_changes.iter().any(|change| change.car == car && change.is_teleported);
        self.trailers.iter().filter(|(trailer, _)| !handled_trailers.contains(trailer)).find_map(|(trailer, towed)| {
            let towing_car = towed.0;
            let tow = self.state_of(trailer, state_changes)?.tow;
            let hitch_change = match (indices.index_of(towing_car), tow) {
                // Vehicle ahead in no world, and not hitched: nothing to detach.
                (None, None) => return None,
                (None, Some(_)) => HitchChange::Detach,
                (Some(number), Some(tow))
                    if tow.towing_slot == number as u32 && !is_teleported(towing_car) && !is_teleported(trailer) =>
                {
                    return None;
                }
                (Some(_), _) => HitchChange::Attach(towing_car),
            };
            Some((trailer, hitch_change))
        })
    }

    /// Returns the trailers of `chain` with their states in line behind `towing_car`, each hitched to the vehicle
    /// before it. The list ends before the first trailer that cannot be hitched. It is empty if `towing_car` has no
    /// hitch or is in no world.
    ///
    /// The states are those of [`place_trailers_behind`]. That function assumes that the vehicles have consecutive
    /// numbers; here each tow gets the number that the vehicle ahead has in the world.
    fn chain_states(
        &self,
        chain: &[Entity],
        towing_car: Entity,
        indices: &CarIndices,
        state_changes: &[StateChange],
    ) -> Vec<(Entity, State)> {
        // States of the chain; `None` if nothing can be hitched.
        let place_states = || {
            let (towing_model, towing_index) = (self.model_of(towing_car)?, indices.index_of(towing_car)? as u32);
            let models: Vec<&Model> = chain.iter().map_while(|car| self.model_of(*car)).map(Arc::as_ref).collect();
            // Without a hitch or a coupler the chain need not be computed.
            if towing_model.parts().hitch.is_none() || models.first()?.parts().coupler.is_none() {
                return None;
            }
            Some(place_trailers_behind(towing_model, self.state_of(towing_car, state_changes)?, towing_index, &models))
        };
        // Vehicle ahead of the current trailer.
        let mut vehicle_ahead = towing_car;
        // Replaces the number of the vehicle ahead in the tow; ends the list at a vehicle in no world.
        let set_towing_index = |(car, state): (&Entity, State)| {
            // The towing vehicle of the next trailer is the current one.
            let towing_index = indices.index_of(vehicle_ahead)? as u32;
            vehicle_ahead = *car;
            Some((*car, State { tow: state.tow.map(|tow| Tow { towing_slot: towing_index, ..tow }), ..state }))
        };
        chain.iter().zip(place_states().unwrap_or_default()).map_while(set_towing_index).collect()
    }

    /// Returns the model of a car; `None` if the entity is no car.
    fn model_of(&self, car: Entity) -> Option<&Arc<Model>> {
        self.cars.get(car).ok().map(|(_, car, ..)| &car.into_inner().0)
    }

    /// Returns the state of a car: the state in `state_changes` if it was set in this tick, otherwise that after the
    /// last step. Returns `None` for a car that is in no world.
    fn state_of<'a>(&'a self, car: Entity, state_changes: &'a [StateChange]) -> Option<&'a State> {
        // State that was set in this tick.
        let changed_state = state_changes.iter().find(|change| change.car == car).map(|change| &change.state);
        changed_state.or_else(|| self.cars.get(car).ok().and_then(|(_, _, _, motion, ..)| motion).map(CarMotion::state))
    }

    /// Sets the state of a car in the world, then in its [`CarMotion`]. If `is_teleport`, the motion is teleported to
    /// `state`; otherwise only its tow is removed, and pose and interpolation stay. A car without the component gets
    /// one. Does nothing for a car that is in no world.
    fn set_car_state(
        &mut self,
        host: &mut dyn CarHost,
        indices: &CarIndices,
        car: Entity,
        state: State,
        is_teleport: bool,
    ) {
        let Some(number) = indices.index_of(car) else { return };
        host.set_state(number, car, &state);
        let Ok((_, car_component, _, motion, ..)) = self.cars.get_mut(car) else { return };
        match motion {
            Some(mut motion) if is_teleport => motion.teleport(&car_component.0, &state),
            Some(mut motion) => motion.unhitch(),
            None => {
                let motion = CarMotion::new(&car_component.0, state);
                self.commands.entity(car).try_insert(motion);
            }
        }
    }
}

/// Records in `state_changes` that `car` was set to `state`, and replaces an earlier record of the car.
fn record_state(state_changes: &mut Vec<StateChange>, car: Entity, state: State, is_teleported: bool) {
    state_changes.retain(|change| change.car != car);
    state_changes.push(StateChange { car, state, is_teleported });
}
