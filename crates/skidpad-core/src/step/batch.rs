//! Batch of plain cars of one model: one step for all, one car per SIMD lane, with the same bits as separate steps.

mod batch_step;
pub(crate) mod batch_wheels;
mod clutches;
mod driver_inputs;
mod droop;
pub(crate) mod lane_exchange;
mod shafts;
mod workspace;

pub(crate) use crate::step::batch::lane_exchange::BATCH_LANES;

use std::sync::Arc;

use crate::model::Model;
use crate::model::wheel_pack::WheelPack;
use crate::port::{ChassisImpulse, ChassisState, Probe};
use crate::state::State;
use crate::step::batch::workspace::BatchWorkspace;
use crate::step::stages::BatchInputs;
use crate::step_report::StepReport;
use crate::telemetry::signals::{EngineSignals, WheelContact};
use crate::vehicle::Vehicle;
use skidpad_simd::lane::{F32x8, F32x8Pair, has_wide};

/// Evaluates the expression `$expression` on the workspace `$workspace` of a batch of either lane width.
macro_rules! with_workspace {
    ($cars:ident, $workspace:ident => $expression:expr) => {
        match $cars {
            Self::TwoRegisters($workspace) => $expression,
            Self::OneRegister($workspace) => $expression,
        }
    };
}

/// Batch of plain cars of one model, in lanes as wide as the processor supports.
#[derive(Clone, Debug)]
pub(crate) enum CarBatch {
    /// Eight lanes in two registers of four.
    TwoRegisters(Box<BatchWorkspace<F32x8Pair>>),
    /// Eight lanes in one wide register (AVX2); not used if the processor lacks it.
    OneRegister(Box<BatchWorkspace<F32x8>>),
}

impl CarBatch {
    /// Creates a batch for cars of `model`; returns `None` if the model cannot be batched. All cars count as stepped
    /// alone until the first step, so that the batch has no signals before.
    ///
    /// If `other_batches` contains a batch of this model (the same object), the new batch has the lane type of that
    /// batch and shares its wheel constants. Otherwise the processor determines the lane type:
    /// [`CarBatch::OneRegister`] (eight lanes in one register) if it has wide registers, else
    /// [`CarBatch::TwoRegisters`] (two registers of four lanes).
    pub fn new(model: &Arc<Model>, other_batches: &[Option<Self>]) -> Option<Self> {
        // Batch of the same model, whose wheel packs can be shared.
        let same_model = other_batches.iter().flatten().find(|other| Arc::ptr_eq(other.model(), model));
        match same_model {
            Some(Self::TwoRegisters(workspace)) => {
                return Some(Self::TwoRegisters(workspace.new_sharing_packs().into()));
            }
            Some(Self::OneRegister(workspace)) => return Some(Self::OneRegister(workspace.new_sharing_packs().into())),
            None => (),
        }
        if !is_batchable(model) {
            return None;
        }
        Some(match has_wide() {
            true => Self::OneRegister(BatchWorkspace::new(model).into()),
            false => Self::TwoRegisters(BatchWorkspace::new(model).into()),
        })
    }

    /// Returns the model of the cars.
    fn model(&self) -> &Arc<Model> {
        with_workspace!(self, workspace => &workspace.model)
    }

    /// Returns true if there are exactly [`BATCH_LANES`] `vehicles`, all of the model of the batch (the same object).
    pub fn matches(&self, vehicles: &[Vehicle]) -> bool {
        vehicles.len() == BATCH_LANES && vehicles.iter().all(|vehicle| Arc::ptr_eq(self.model(), vehicle.model()))
    }

    /// Returns true if the cars are to be stepped one by one in this step, because too many cars left the batch in an
    /// earlier one.
    pub fn is_backing_off(&self) -> bool {
        with_workspace!(self, workspace => workspace.is_backing_off())
    }

    /// Returns true if any car was stepped alone in the last step. Only such cars can touch moving ground.
    pub fn has_unbatched_cars(&self) -> bool {
        with_workspace!(self, workspace => workspace.has_unbatched_cars())
    }

    /// Counts down one step in which the cars are stepped one by one, to 0 at least.
    pub fn count_unbatched_step(&mut self) {
        with_workspace!(self, workspace => workspace.count_unbatched_step());
    }

    /// Returns the number of rays of all cars, one per wheel.
    pub fn ray_count(&self) -> usize {
        BATCH_LANES * with_workspace!(self, workspace => workspace.wheel_count)
    }

    /// Begins a step of `dt` s: reads the `bodies`, marks cars with a body that is not finite as leaving the batch, and
    /// writes the probes of all cars into `probes`, car by car, wheel by wheel. The first car has the number
    /// `first_car` in its world. Each probe equals that of [`Vehicle::probes`]. Does nothing if there are fewer than
    /// [`BATCH_LANES`] bodies.
    pub fn write_probes(&mut self, first_car: usize, bodies: &[ChassisState], dt: f32, probes: &mut [Probe]) {
        let Some(bodies) = bodies.first_chunk() else { return };
        match self {
            Self::OneRegister(workspace) if has_wide() => workspace.write_probes(first_car, bodies, dt, probes),
            Self::TwoRegisters(workspace) => workspace.write_probes(first_car, bodies, dt, probes),
            Self::OneRegister(_) => (),
        }
    }

    /// Solves the step of the `vehicles` by the batch pass of the solver, with the results of [`Vehicle::solve_step`]
    /// for each car. Requires [`CarBatch::write_probes`] before. Writes `impulses` (world axes) and `reports`, and
    /// returns the combined report. Cars that leave the batch are solved alone within this call.
    ///
    /// Does nothing and returns the default report if there are fewer vehicles or `impulses` than lanes, or if the
    /// solver has no batch pass.
    pub fn solve(
        &mut self,
        vehicles: &mut [Vehicle],
        inputs: &BatchInputs<'_>,
        impulses: &mut [ChassisImpulse],
        reports: &mut [StepReport],
    ) -> StepReport {
        let (Some(vehicles), Some(impulses)) = (vehicles.first_chunk_mut(), impulses.first_chunk_mut()) else {
            return StepReport::default();
        };
        let Some(pass) = inputs.solver.batch_pass() else { return StepReport::default() };
        match self {
            Self::OneRegister(workspace) if has_wide() => {
                batch_step::solve_batch(workspace, vehicles, &pass.one_register, inputs, impulses, reports)
            }
            Self::TwoRegisters(workspace) => {
                batch_step::solve_batch(workspace, vehicles, &pass.two_registers, inputs, impulses, reports)
            }
            Self::OneRegister(_) => StepReport::default(),
        }
    }

    /// Returns the contact of a wheel of car `lane` in its last step; `state` is its present state. Returns `None`
    /// without contact, and for a car that was stepped alone in the last step or moved since.
    pub fn wheel_contact(&self, lane: usize, wheel: usize, state: &State) -> Option<WheelContact> {
        with_workspace!(self, workspace => workspace.wheel_rows(lane, wheel)?.contact(state))
    }

    /// Returns the engine signals of car `lane` in its last step; `vehicle` is that car. The engine speeds are those of
    /// the batch, or of the vehicle if each car has its own engine. Returns `None` without an engine, and for a car
    /// that was stepped alone in the last step or moved since.
    pub fn engine_signals(&self, lane: usize, vehicle: &Vehicle) -> Option<EngineSignals> {
        with_workspace!(self, workspace => {
            let dt = workspace.wheel_rows(lane, 0)?.rows.dt;
            let flywheel = workspace.engines.flywheel(lane).or(vehicle.shafts.engine)?;
            vehicle.engine_signals_of_step(&flywheel, dt)
        })
    }

    /// Discards the signals of the last step of car `lane`, for example after the car was moved: contacts and engine
    /// signals become `None`.
    pub fn invalidate_signals(&mut self, lane: usize) {
        with_workspace!(self, workspace => workspace.invalidate_signals(lane));
    }

    /// Finishes the step of the `vehicles` after the world has advanced the `bodies` by `dt` s, as [`Vehicle::finish`]
    /// does. Calls `report_car` with the number and the report of each car that was stepped alone or has a motion that
    /// is not finite; the latter keeps its state. Does not call it for other cars. With fewer vehicles or bodies than
    /// lanes, nothing happens.
    pub fn finish(
        &self,
        vehicles: &mut [Vehicle],
        bodies: &[ChassisState],
        dt: f32,
        report_car: impl FnMut(usize, StepReport),
    ) {
        let (Some(vehicles), Some(bodies)) = (vehicles.first_chunk_mut(), bodies.first_chunk()) else { return };
        match self {
            Self::OneRegister(workspace) if has_wide() => workspace.finish(vehicles, bodies, dt, report_car),
            Self::TwoRegisters(workspace) => workspace.finish(vehicles, bodies, dt, report_car),
            Self::OneRegister(_) => (),
        }
    }
}

/// Returns true if cars of `model` can be stepped in a batch.
///
/// Every axle needs two consecutive wheels on rays, without lateral links or compliance, and axle links only between
/// the wheels of an axle. All assists, force elements included, must be batchable
/// ([`crate::assist_log::Assist::is_batchable`]), and ABS must control each wheel. Engines, motors and couplings do not
/// matter.
fn is_batchable(model: &Model) -> bool {
    // Whether a batch supports the four wheels of a group.
    let has_plain_wheels = |(group_index, group): (usize, &WheelPack)| {
        group.is_consecutive_from(4 * group_index)
            && !group.has_rims
            && group.roll_centre_links.is_none()
            && group.lateral.is_none()
    };
    model.separate_axle_links().is_empty()
        && model.assists().iter().all(|assist| assist.is_batchable())
        && !model.parts().assists.abs.is_some_and(|anti_lock| anti_lock.has_select_low())
        && model.wheel_packs().iter().enumerate().all(has_plain_wheels)
}
