//! The contract every solver meets, object-safe, so that laboratories and games choose one by name.

use std::sync::Arc;

use crate::state::Placement;
use crate::{Controls, Frame, Model, Scene, State, StepReport};

/// A car to put into a world.
#[derive(Clone, Debug)]
pub struct CarStart {
    /// What it is.
    pub model: Arc<Model>,
    /// Where and how it starts.
    pub placement: Placement,
}

/// A world with cars in it, advanced by one solver in steps of fixed length.
pub trait Backend {
    /// Name by which users choose it.
    fn name(&self) -> &'static str;
    /// Advances every car by one step. `controls[i]` drives car `i`; missing ones coast.
    fn step(&mut self, controls: &[Controls]) -> StepReport;
    /// Length of a step, s.
    fn dt(&self) -> f32;
    /// Time since the start, s.
    fn time(&self) -> f64;
    /// Number of cars.
    fn cars(&self) -> usize;
    /// Model of car `car`.
    fn model(&self, car: usize) -> &Arc<Model>;
    /// Motion of car `car` after the last step.
    fn state(&self, car: usize) -> &State;
    /// Puts car `car` into `state`; the next step continues from it.
    fn set_state(&mut self, car: usize, state: &State);
    /// Telemetry of car `car` after the last step.
    fn frame(&self, car: usize) -> Frame {
        Frame::of(self.model(car), self.state(car), self.time(), self.dt())
    }
}

/// An entry of the list of solvers the facade offers.
#[derive(Clone, Copy)]
pub struct BackendInfo {
    /// Name by which users choose it.
    pub name: &'static str,
    /// One line: the world and how the rows are coupled.
    pub about: &'static str,
    /// Whether it solves skidpad's rows (and must agree with its siblings) or stands in comparisons as a peer.
    pub peer: bool,
    /// Makes a world with `cars` on the ground of a scene, stepped by `dt` s.
    pub build: fn(scene: &Scene, cars: &[CarStart], dt: f32) -> Box<dyn Backend>,
}

impl core::fmt::Debug for BackendInfo {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BackendInfo").field("name", &self.name).field("peer", &self.peer).finish_non_exhaustive()
    }
}
