//! Trailers are hitched up and unhitched when cars arrive, jump or go.

use crate::motion::CarMotion;
use crate::seam::{Arrivals, CarHost, CarNumbers, Settled};
use crate::towing::TowedBy;
use bevy_ecs::prelude::*;
use skidpad_core::state::Tow;
use skidpad_core::{Model, State};
use skidpad_drive::hitched;
use std::sync::Arc;

/// What is to be done with a trailer.
enum Hitch {
    /// To the vehicle ahead.
    Up(Entity),
    /// From the vehicle that is gone.
    Off,
}

impl Arrivals<'_, '_> {
    /// Hitches up and unhitches what is to be, after all others have `settled`. Cars in `let_go` are trailers no more.
    pub(crate) fn tow(
        &mut self,
        host: &mut dyn CarHost,
        numbers: &CarNumbers,
        let_go: &[Entity],
        settled: &mut Vec<Settled>,
    ) {
        for trailer in let_go {
            if let Some(state) = self.state_of(*trailer, settled).filter(|state| state.tow.is_some()) {
                let state = State { tow: None, ..state.clone() };
                self.put(host, numbers, *trailer, state, false);
            }
        }
        let mut done = Vec::new();
        while let Some((trailer, hitch)) = self.next_to_tow(numbers, settled, &done) {
            done.push(trailer);
            match hitch {
                Hitch::Off => {
                    let Some(state) = self.state_of(trailer, settled).cloned() else { continue };
                    let state = State { tow: None, ..state };
                    self.put(host, numbers, trailer, state.clone(), false);
                    settle(settled, trailer, state, false);
                }
                Hitch::Up(ahead) => {
                    let train = self.train_from(trailer, &done);
                    for (trailer, state) in self.behind(&train, ahead, numbers, settled) {
                        done.push(trailer);
                        self.put(host, numbers, trailer, state.clone(), true);
                        settle(settled, trailer, state, true);
                    }
                }
            }
        }
    }

    /// `trailer`, what it tows, what that tows and so on, but for what is `done`.
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

    fn next_to_tow(&self, numbers: &CarNumbers, settled: &[Settled], done: &[Entity]) -> Option<(Entity, Hitch)> {
        let jumped = |car: Entity| settled.iter().any(|settled| settled.car == car && settled.jumped);
        self.trailers.iter().filter(|(trailer, _)| !done.contains(trailer)).find_map(|(trailer, towed)| {
            let ahead = towed.0;
            let tow = self.state_of(trailer, settled)?.tow;
            let hitch = match (numbers.of(ahead), tow) {
                (None, None) => return None,
                (None, Some(_)) => Hitch::Off,
                (Some(number), Some(tow)) if tow.by == number as u32 && !jumped(ahead) && !jumped(trailer) => {
                    return None;
                }
                (Some(_), _) => Hitch::Up(ahead),
            };
            Some((trailer, hitch))
        })
    }

    /// Those of `train` that can be towed by `ahead`, and each by the one before, and where they are then.
    fn behind(
        &self,
        train: &[Entity],
        ahead: Entity,
        numbers: &CarNumbers,
        settled: &[Settled],
    ) -> Vec<(Entity, State)> {
        let found = || {
            let (first, number) = (self.model_of(ahead)?, numbers.of(ahead)? as u32);
            let models: Vec<&Model> = train.iter().map_while(|car| self.model_of(*car)).map(Arc::as_ref).collect();
            // Cheaper than to find out that it does not fit.
            if first.parts().hitch.is_none() || models.first()?.parts().coupler.is_none() {
                return None;
            }
            Some(hitched(first, self.state_of(ahead, settled)?, number, &models))
        };
        let mut ahead = ahead;
        let told = |(car, state): (&Entity, State)| {
            let by = numbers.of(ahead)? as u32;
            ahead = *car;
            Some((*car, State { tow: state.tow.map(|tow| Tow { by, ..tow }), ..state }))
        };
        train.iter().zip(found().unwrap_or_default()).map_while(told).collect()
    }

    fn model_of(&self, car: Entity) -> Option<&Arc<Model>> {
        self.cars.get(car).ok().map(|(_, car, ..)| &car.into_inner().0)
    }

    /// Where a car is that has been in a world before this tick, or has been put into one.
    fn state_of<'a>(&'a self, car: Entity, settled: &'a [Settled]) -> Option<&'a State> {
        let put = settled.iter().find(|settled| settled.car == car).map(|settled| &settled.state);
        put.or_else(|| self.cars.get(car).ok().and_then(|(_, _, _, motion, ..)| motion).map(CarMotion::state))
    }

    fn put(&mut self, host: &mut dyn CarHost, numbers: &CarNumbers, car: Entity, state: State, jumped: bool) {
        let Some(number) = numbers.of(car) else { return };
        host.set_state(number, car, &state);
        let Ok((_, of, _, motion, ..)) = self.cars.get_mut(car) else { return };
        match motion {
            Some(mut motion) if jumped => motion.jump(&of.0, &state),
            Some(mut motion) => motion.unhitch(),
            None => {
                let motion = CarMotion::new(&of.0, state);
                self.commands.entity(car).try_insert(motion);
            }
        }
    }
}

/// `car` was put into `state`.
fn settle(settled: &mut Vec<Settled>, car: Entity, state: State, jumped: bool) {
    settled.retain(|settled| settled.car != car);
    settled.push(Settled { car, state, jumped });
}
