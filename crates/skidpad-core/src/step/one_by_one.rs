//! Replacement of `abreast.rs` in builds without the feature `abreast`: cars are never stepped in a batch.

use std::sync::Arc;

use crate::model::Model;
use crate::state::State;
use crate::step::coupling::StepReport;
use crate::step::stages::InputsAbreast;
use crate::step::vehicle::Vehicle;
use crate::telemetry::signals::{EngineSignals, WheelContact};
use crate::world::seam::{Body, Probe, Push};

/// Number of cars in a batch.
pub(crate) const ABREAST: usize = 8;

/// Batch of cars. The type has no values in this build.
#[derive(Clone, Debug)]
pub(crate) enum CarsAbreast {}

impl CarsAbreast {
    pub fn of(_: &Arc<Model>, _: &[Option<Self>]) -> Option<Self> {
        None
    }

    pub fn go_apart(&self) -> bool {
        match *self {}
    }

    pub fn went_apart(&mut self) {
        match *self {}
    }

    pub fn has_parted(&self) -> bool {
        match *self {}
    }

    pub fn fits(&self, _: &[Vehicle]) -> bool {
        match *self {}
    }

    pub fn rays(&self) -> usize {
        match *self {}
    }

    pub fn ask(&mut self, _: usize, _: &[Body], _: f32, _: &mut [Probe]) {
        match *self {}
    }

    pub fn solve(
        &mut self,
        _: &mut [Vehicle],
        _: &InputsAbreast<'_>,
        _: &mut [Push],
        _: &mut [StepReport],
    ) -> StepReport {
        match *self {}
    }

    pub fn wheel_contact(&self, _: usize, _: usize, _: &State) -> Option<WheelContact> {
        match *self {}
    }

    pub fn engine_signals(&self, _: usize, _: &Vehicle) -> Option<EngineSignals> {
        match *self {}
    }

    pub fn forget(&mut self, _: usize) {
        match *self {}
    }

    pub fn finish(&self, _: &mut [Vehicle], _: &[Body], _: f32, _: impl FnMut(usize, StepReport)) {
        match *self {}
    }
}
