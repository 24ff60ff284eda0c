//! Rewind while a key is pressed. The state of every tick is stored, a few hundred bytes each.

use bevy::prelude::*;
use skidpad_bevy::core::State;
use skidpad_bevy::{Car, CarDriver, CarMotion, CarSystems, Teleport};
use skidpad_drive::PlayerController;
use std::collections::VecDeque;

use crate::ghost::Ghost;
use crate::player_input::PlayerInput;

/// Stored states of a car with its driver, one per tick, oldest first.
#[derive(Component, Default)]
struct History(VecDeque<(State, Option<PlayerController>)>);

/// Duration of the stored history, s.
const HISTORY_DURATION_S: f32 = 60.0;

/// Status of the rewind: whether it runs, the fraction of a tick still to rewind, and whether the game was paused
/// before.
#[derive(Resource, Default)]
pub struct Rewinding {
    pub is_active: bool,
    /// Fraction of a tick, 0 to 1.
    remaining_ticks: f32,
    was_paused: bool,
}

/// Adds a history to every car and ghost, records it after each step, and rewinds once a frame.
pub fn plugin(app: &mut App) {
    app.init_resource::<Rewinding>()
        .register_required_components::<Car, History>()
        .register_required_components::<Ghost, History>()
        .add_systems(FixedUpdate, record_states.after(CarSystems::Step))
        .add_systems(Update, (begin_or_end_rewind, step_back).chain());
}

/// Appends the state of every car and ghost after the step to its history, with the driver of a car. Removes the oldest
/// entry if the history is [`HISTORY_DURATION_S`] long. The history of a ghost has no driver.
fn record_states(
    time: Res<Time>,
    mut cars: Query<(&CarMotion, Option<&CarDriver>, &mut History)>,
    mut ghosts: Query<(&Ghost, &mut History), Without<CarMotion>>,
) {
    // Maximum number of entries.
    let max_entries = (HISTORY_DURATION_S / time.delta_secs()) as usize;
    // Appends an entry.
    let append = |history: &mut History, state: &State, driver| {
        if history.0.len() >= max_entries {
            history.0.pop_front();
        }
        history.0.push_back((state.clone(), driver));
    };
    for (motion, driver, mut history) in &mut cars {
        append(&mut history, motion.state(), driver.map(|driver| driver.0.clone()));
    }
    for (ghost, mut history) in &mut ghosts {
        append(&mut history, ghost.state(), None);
    }
}

/// Pauses the physics when a rewind begins. When it ends, resumes the physics and restores state and driver of every
/// car from the newest stored tick. A pause before the rewind is kept. Does nothing while the key does not change.
fn begin_or_end_rewind(
    player_input: Res<PlayerInput>,
    mut commands: Commands,
    mut rewinding: ResMut<Rewinding>,
    mut time: ResMut<Time<Virtual>>,
    mut cars: Query<(Entity, &History, Option<&mut CarDriver>), With<CarMotion>>,
) {
    if player_input.rewind == rewinding.is_active {
        return;
    }
    rewinding.is_active = player_input.rewind;
    if player_input.rewind {
        rewinding.was_paused = time.is_paused();
        time.pause();
        return;
    }
    if !rewinding.was_paused {
        time.unpause();
    }
    for (car, history, driver) in &mut cars {
        let Some((state, stored_driver)) = history.0.back() else { continue };
        commands.entity(car).try_insert(Teleport::ToState(Box::new(state.clone())));
        if let (Some(mut driver), Some(stored_driver)) = (driver, stored_driver) {
            driver.0.clone_from(stored_driver);
        }
    }
}

/// Moves every car and ghost back while the rewind is active, by as many stored ticks as the real time of the frame
/// has. The fraction of a tick is kept for the next frame.
///
/// For cars, only the drawn states change; their world is restored at the end of the rewind ([`begin_or_end_rewind`]).
/// A ghost is set in its own world at once. A car stops at its oldest entry. A ghost is despawned there, since it did
/// not exist before.
fn step_back(
    (real, fixed): (Res<Time<Real>>, Res<Time<Fixed>>),
    mut rewinding: ResMut<Rewinding>,
    mut cars: Query<(&Car, &mut CarMotion, &mut History)>,
    mut ghosts: Query<(Entity, &mut Ghost, &mut History), Without<CarMotion>>,
    mut commands: Commands,
) {
    if !rewinding.is_active {
        return;
    }
    // Ticks to rewind in this frame, with the fraction left over from the last one.
    let ticks = rewinding.remaining_ticks + real.delta_secs() / fixed.timestep().as_secs_f32();
    rewinding.remaining_ticks = ticks.fract();
    for (car, mut motion, mut history) in &mut cars {
        if let Some(state) = history.rewind_by(ticks as usize) {
            motion.teleport(&car.0, state);
        }
    }
    for (entity, mut ghost, mut history) in &mut ghosts {
        // The history of the ghost is used up: it did not exist before.
        if history.0.len() <= ticks as usize {
            commands.entity(entity).try_despawn();
        } else if let Some(state) = history.rewind_by(ticks as usize) {
            ghost.teleport(state);
        }
    }
}

impl History {
    /// Removes the newest `ticks` entries but keeps the oldest, and returns the newest remaining state; `None` if the
    /// history is empty.
    fn rewind_by(&mut self, ticks: usize) -> Option<&State> {
        self.0.truncate(self.0.len().saturating_sub(ticks).max(1));
        self.0.back().map(|(state, _)| state)
    }
}
