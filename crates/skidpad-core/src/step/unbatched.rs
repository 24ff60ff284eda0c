//! Replacement of `batch.rs` in builds without the feature `simd_batch`: cars are never stepped in a batch.

use std::sync::Arc;

use crate::model::Model;
use crate::port::{ChassisImpulse, ChassisState, Probe};
use crate::state::State;
use crate::step::stages::BatchInputs;
use crate::step_report::StepReport;
use crate::telemetry::signals::{EngineSignals, WheelContact};
use crate::vehicle::Vehicle;

/// Number of cars in a batch.
pub(crate) const BATCH_LANES: usize = 8;

/// Batch of cars. The type has no values in this build, so none of its methods with a `self` can be called.
#[derive(Clone, Debug)]
pub(crate) enum CarBatch {}

impl CarBatch {
    /// Returns `None`: cars are never batched in this build.
    pub fn new(_: &Arc<Model>, _: &[Option<Self>]) -> Option<Self> {
        None
    }

    /// Never called: the type has no values in this build.
    pub fn is_backing_off(&self) -> bool {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn count_unbatched_step(&mut self) {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn has_unbatched_cars(&self) -> bool {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn matches(&self, _: &[Vehicle]) -> bool {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn ray_count(&self) -> usize {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn write_probes(&mut self, _: usize, _: &[ChassisState], _: f32, _: &mut [Probe]) {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn solve(
        &mut self,
        _: &mut [Vehicle],
        _: &BatchInputs<'_>,
        _: &mut [ChassisImpulse],
        _: &mut [StepReport],
    ) -> StepReport {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn wheel_contact(&self, _: usize, _: usize, _: &State) -> Option<WheelContact> {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn engine_signals(&self, _: usize, _: &Vehicle) -> Option<EngineSignals> {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn invalidate_signals(&mut self, _: usize) {
        match *self {}
    }

    /// Never called: the type has no values in this build.
    pub fn finish(&self, _: &mut [Vehicle], _: &[ChassisState], _: f32, _: impl FnMut(usize, StepReport)) {
        match *self {}
    }
}
