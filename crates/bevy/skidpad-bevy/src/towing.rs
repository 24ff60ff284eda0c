//! Trailers: cars that are towed.

use crate::motion::CarMotion;
use crate::seam::{Arrivals, CarHost, CarNumbers};
use bevy_ecs::prelude::*;
use skidpad_core::{Model, State};
use skidpad_drive::hitched;
use std::sync::Arc;

/// This car is a trailer behind that one, whose hitch its coupler is on. Trailers may tow trailers.
///
/// Put on, it sets the trailer in line behind the vehicle ahead, as fast as that; so does a jump of the vehicle ahead (but
/// [`crate::Teleport::Back`]: rewind both). Taken off, the trailer goes on by itself. A hitch that breaks takes it off, and
/// [`skidpad_drive::Event::Unhitched`] tells. A vehicle without a hitch and a car without a coupler stay as they are.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct TowedBy(pub Entity);

/// A car that was put somewhere since the last tick.
pub(crate) struct Settled {
    pub car: Entity,
    pub state: State,
    /// By a jump, so that what it tows has to follow.
    pub jumped: bool,
}

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
            let (state, jumped) = match hitch {
                Hitch::Off => {
                    (self.state_of(trailer, settled).map(|state| State { tow: None, ..state.clone() }), false)
                }
                Hitch::Up(ahead) => (self.behind(trailer, ahead, numbers, settled), true),
            };
            let Some(state) = state else { continue };
            self.put(host, numbers, trailer, state.clone(), jumped);
            settled.retain(|settled| settled.car != trailer);
            settled.push(Settled { car: trailer, state, jumped });
        }
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

    fn behind(&self, trailer: Entity, ahead: Entity, numbers: &CarNumbers, settled: &[Settled]) -> Option<State> {
        let (first, model) = (self.model_of(ahead)?, self.model_of(trailer)?);
        // Cheaper than to find out that it does not fit.
        if first.parts().hitch.is_none() || model.parts().coupler.is_none() {
            return None;
        }
        hitched(first, self.state_of(ahead, settled)?, numbers.of(ahead)? as u32, model)
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

/// What a hitch that broke held is a trailer no more.
pub(crate) fn unhitch(mut commands: Commands, trailers: Query<(Entity, &CarMotion), With<TowedBy>>) {
    for (trailer, motion) in &trailers {
        if motion.has_come_off() {
            commands.entity(trailer).try_remove::<TowedBy>();
        }
    }
}
