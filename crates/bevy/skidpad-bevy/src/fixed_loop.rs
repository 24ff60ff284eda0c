//! Whether the ticks of cars run in the fixed loop of Bevy.

use bevy_ecs::prelude::*;

/// Whether ticks run in the fixed loop of Bevy, which determines how cars are drawn.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub(crate) struct FixedLoop {
    /// Whether the fixed loop runs now.
    is_running: bool,
    /// Whether the last tick of the cars was in the fixed loop.
    pub has_ticks: bool,
}

/// Stores that the fixed loop runs.
pub(crate) fn enter_fixed_loop(mut fixed_loop: ResMut<FixedLoop>) {
    fixed_loop.is_running = true;
}

/// Stores that the fixed loop does not run.
pub(crate) fn leave_fixed_loop(mut fixed_loop: ResMut<FixedLoop>) {
    fixed_loop.is_running = false;
}

/// Stores whether the tick that begins is in the fixed loop.
pub(crate) fn store_loop_of_tick(mut fixed_loop: ResMut<FixedLoop>) {
    fixed_loop.has_ticks = fixed_loop.is_running;
}
