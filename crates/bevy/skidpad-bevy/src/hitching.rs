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
    /// Hitches and unhitches trailers after all cars of this tick have `settled`. `settled` lists the cars whose states
    /// were set in this tick; changed trailers are added to it.
    ///
    /// First unhitches the cars in `let_go`, whose [`TowedBy`] was removed; they keep their motion. Then handles each
    /// trailer once: detaches it if the vehicle ahead was removed, or places it and all trailers behind it in line
    /// behind the vehicle ahead, each hitched to the vehicle before it.
    pub(crate) fn apply_hitches(
        &mut self,
        host: &mut dyn CarHost,
        numbers: &CarIndices,
        let_go: &[Entity],
        settled: &mut Vec<StateChange>,
    ) {
        for trailer in let_go {
            if let Some(state) = self.state_of(*trailer, settled).filter(|state| state.tow.is_some()) {
                let state = State { tow: None, ..state.clone() };
                self.set_car_state(host, numbers, *trailer, state, false);
            }
        }
        // Trailers that need no further change in this tick.
        let mut done = Vec::new();
        while let Some((trailer, hitch)) = self.next_to_tow(numbers, settled, &done) {
            done.push(trailer);
            match hitch {
                HitchChange::Detach => {
                    let Some(state) = self.state_of(trailer, settled).cloned() else { continue };
                    let state = State { tow: None, ..state };
                    self.set_car_state(host, numbers, trailer, state.clone(), false);
                    record_state(settled, trailer, state, false);
                }
                HitchChange::Attach(ahead) => {
                    let train = self.train_from(trailer, &done);
                    for (trailer, state) in self.states_behind(&train, ahead, numbers, settled) {
                        done.push(trailer);
                        self.set_car_state(host, numbers, trailer, state.clone(), true);
                        record_state(settled, trailer, state, true);
                    }
                }
            }
        }
    }

    /// Returns `trailer` and the chain of trailers behind it, front to back. The chain ends before a trailer that is in
    /// `done`.
    fn train_from(&self, trailer: Entity, done: &[Entity]) -> Vec<Entity> {
        let mut train = vec![trailer];
        let behind = |train: &[Entity]| {
            let is_next = |(entity, towed): &(Entity, &TowedBy)| {
                train.last() == Some(&towed.0) && !train.contains(entity) && !done.contains(entity)
            };
            self.trailers.iter().find(is_next).map(|(entity, _)| entity)
        };
        while let Some(next) = behind(&train) {
            train.push(next);
        }
        train
    }

    /// Returns the first trailer that is not in `done` and whose hitch has to change, with the change; `None` if there
    /// is none.
    ///
    /// A trailer is attached if it is not towed by the vehicle of its [`TowedBy`], or if either of them was teleported
    /// in this tick. It is detached if that vehicle is in no world. A trailer in no world is skipped.
    fn next_to_tow(
        &self,
        numbers: &CarIndices,
        settled: &[StateChange],
        done: &[Entity],
    ) -> Option<(Entity, HitchChange)> {
        // Whether `car` was teleported in this tick, so that its trailers have to be placed again.
        let jumped = |car: Entity| settled.iter().any(|settled| settled.car == car && settled.is_teleported);
        self.trailers.iter().filter(|(trailer, _)| !done.contains(trailer)).find_map(|(trailer, towed)| {
            let ahead = towed.0;
            let tow = self.state_of(trailer, settled)?.tow;
            let hitch = match (numbers.index_of(ahead), tow) {
                (None, None) => return None,
                (None, Some(_)) => HitchChange::Detach,
                (Some(number), Some(tow)) if tow.by == number as u32 && !jumped(ahead) && !jumped(trailer) => {
                    return None;
                }
                (Some(_), _) => HitchChange::Attach(ahead),
            };
            Some((trailer, hitch))
        })
    }

    /// Returns the trailers of `train` with their states in line behind `ahead`, each hitched to the vehicle before it.
    /// The list ends before the first trailer that cannot be hitched, and is empty if `ahead` has no hitch or is in no
    /// world.
    ///
    /// The states are those of [`place_trailers_behind`], which assumes consecutive numbers; here each tow gets the
    /// number that the vehicle ahead has in the world.
    fn states_behind(
        &self,
        train: &[Entity],
        ahead: Entity,
        numbers: &CarIndices,
        settled: &[StateChange],
    ) -> Vec<(Entity, State)> {
        // States of the train; `None` if nothing can be hitched.
        let found = || {
            let (first, number) = (self.model_of(ahead)?, numbers.index_of(ahead)? as u32);
            let models: Vec<&Model> = train.iter().map_while(|car| self.model_of(*car)).map(Arc::as_ref).collect();
            // Without a hitch or a coupler the train need not be computed.
            if first.parts().hitch.is_none() || models.first()?.parts().coupler.is_none() {
                return None;
            }
            Some(place_trailers_behind(first, self.state_of(ahead, settled)?, number, &models))
        };
        // Vehicle ahead of the current trailer.
        let mut ahead = ahead;
        // Replaces the number of the vehicle ahead in the tow; ends the list at a vehicle in no world.
        let told = |(car, state): (&Entity, State)| {
            let by = numbers.index_of(ahead)? as u32;
            ahead = *car;
            Some((*car, State { tow: state.tow.map(|tow| Tow { by, ..tow }), ..state }))
        };
        train.iter().zip(found().unwrap_or_default()).map_while(told).collect()
    }

    /// Returns the model of a car; `None` if the entity is no car.
    fn model_of(&self, car: Entity) -> Option<&Arc<Model>> {
        self.cars.get(car).ok().map(|(_, car, ..)| &car.into_inner().0)
    }

    /// Returns the state of a car: the settled state if it was set in this tick, otherwise that after the last step.
    /// Returns `None` for a car that is in no world.
    fn state_of<'a>(&'a self, car: Entity, settled: &'a [StateChange]) -> Option<&'a State> {
        // State that was set in this tick.
        let put = settled.iter().find(|settled| settled.car == car).map(|settled| &settled.state);
        put.or_else(|| self.cars.get(car).ok().and_then(|(_, _, _, motion, ..)| motion).map(CarMotion::state))
    }

    /// Sets the state of a car in the world and in its [`CarMotion`]. With `jumped` the motion is teleported to
    /// `state`; otherwise only its tow is removed and the pose stays. A car without the component gets one. Does
    /// nothing for a car that is in no world.
    fn set_car_state(&mut self, host: &mut dyn CarHost, numbers: &CarIndices, car: Entity, state: State, jumped: bool) {
        let Some(number) = numbers.index_of(car) else { return };
        host.set_state(number, car, &state);
        let Ok((_, of, _, motion, ..)) = self.cars.get_mut(car) else { return };
        match motion {
            Some(mut motion) if jumped => motion.teleport(&of.0, &state),
            Some(mut motion) => motion.unhitch(),
            None => {
                let motion = CarMotion::new(&of.0, state);
                self.commands.entity(car).try_insert(motion);
            }
        }
    }
}

/// Records in `settled` that `car` was set to `state`, and replaces an earlier record of the car.
fn record_state(settled: &mut Vec<StateChange>, car: Entity, state: State, jumped: bool) {
    settled.retain(|settled| settled.car != car);
    settled.push(StateChange { car, state, is_teleported: jumped });
}
