//! Batch of plain cars of one model: one step for all, one car per SIMD lane, with the same bits as separate steps.

mod clutches;
mod driving;
mod each;
mod hanging;
mod in_step;
mod room;
mod shafts;

pub(crate) use crate::step::abreast::each::ABREAST;

use std::sync::Arc;

use crate::assists::assist_log::Assist;
use crate::lane::{Eight, WideEight, has_wide};
use crate::model::Model;
use crate::state::State;
use crate::step::abreast::room::Room;
use crate::step::coupling::StepReport;
use crate::step::stages::InputsAbreast;
use crate::step::vehicle::Vehicle;
use crate::telemetry::signals::{EngineSignals, WheelContact};
use crate::wheel::pack::WheelPack;
use crate::world::seam::{Body, Probe, Push};

/// Evaluates an expression for a room of either kind.
macro_rules! of_either {
    ($cars:ident, $room:ident => $done:expr) => {
        match $cars {
            Self::InPairs($room) => $done,
            Self::InOne($room) => $done,
        }
    };
}

/// Batch of plain cars of one model, in lanes as wide as the processor supports.
#[derive(Clone, Debug)]
pub(crate) enum CarsAbreast {
    InPairs(Box<Room<Eight>>),
    InOne(Box<Room<WideEight>>),
}

impl CarsAbreast {
    /// Creates a batch for cars of `model`; returns `None` if the model is not plain. Data common to all cars of a
    /// model is shared with a batch of that model among `others`.
    pub fn of(model: &Arc<Model>, others: &[Option<Self>]) -> Option<Self> {
        let alike = others.iter().flatten().find(|other| Arc::ptr_eq(other.model(), model));
        match alike {
            Some(Self::InPairs(room)) => return Some(Self::InPairs(room.another().into())),
            Some(Self::InOne(room)) => return Some(Self::InOne(room.another().into())),
            None => (),
        }
        if !is_plain(model) {
            return None;
        }
        Some(match has_wide() {
            true => Self::InOne(Room::of(model).into()),
            false => Self::InPairs(Room::of(model).into()),
        })
    }

    /// Returns the model of the cars.
    fn model(&self) -> &Arc<Model> {
        of_either!(self, room => &room.model)
    }

    /// Returns true if `vehicles` fill the batch and all have its model.
    pub fn fits(&self, vehicles: &[Vehicle]) -> bool {
        vehicles.len() == ABREAST && vehicles.iter().all(|vehicle| Arc::ptr_eq(self.model(), vehicle.model()))
    }

    /// Returns true if the cars are stepped one by one in this step.
    pub fn go_apart(&self) -> bool {
        of_either!(self, room => room.goes_apart())
    }

    /// Returns true if any car was stepped alone in the last step. Only such cars can touch moving ground.
    pub fn has_parted(&self) -> bool {
        of_either!(self, room => room.has_parted())
    }

    /// Counts a step in which the cars are stepped one by one.
    pub fn went_apart(&mut self) {
        of_either!(self, room => room.went_apart());
    }

    /// Returns the number of rays of all cars.
    pub fn rays(&self) -> usize {
        ABREAST * of_either!(self, room => room.wheels)
    }

    /// Begins a step: writes the probes of all cars into `asked`, car by car, wheel by wheel. The first car has the
    /// number `first`. Each probe equals that of [`Vehicle::probes`].
    pub fn ask(&mut self, first: usize, bodies: &[Body], dt: f32, asked: &mut [Probe]) {
        let Some(bodies) = bodies.first_chunk() else { return };
        match self {
            Self::InOne(room) if has_wide() => room.ask(first, bodies, dt, asked),
            Self::InPairs(room) => room.ask(first, bodies, dt, asked),
            Self::InOne(_) => (),
        }
    }

    /// Solves the step of the vehicles with one sweep, as [`Vehicle::solve_into`]. Requires [`CarsAbreast::ask`]
    /// before. Returns the combined report.
    pub fn solve(
        &mut self,
        vehicles: &mut [Vehicle],
        inputs: &InputsAbreast<'_>,
        pushes: &mut [Push],
        reports: &mut [StepReport],
    ) -> StepReport {
        let (Some(vehicles), Some(pushes)) = (vehicles.first_chunk_mut(), pushes.first_chunk_mut()) else {
            return StepReport::default();
        };
        match self {
            Self::InOne(room) if has_wide() => in_step::solve(room, vehicles, inputs, pushes, reports),
            Self::InPairs(room) => in_step::solve(room, vehicles, inputs, pushes, reports),
            Self::InOne(_) => StepReport::default(),
        }
    }

    /// Returns the contact of a wheel of car `lane` in its last step; `state` is its present state. Returns `None`
    /// without contact, if the car was stepped alone, or if it was moved since.
    pub fn wheel_contact(&self, lane: usize, wheel: usize, state: &State) -> Option<WheelContact> {
        of_either!(self, room => room.wheel_rows(lane, wheel)?.contact(state))
    }

    /// Returns the engine signals of car `lane` in its last step; `vehicle` is that car. Returns `None` without an
    /// engine, if the car was stepped alone, or if it was moved since.
    pub fn engine_signals(&self, lane: usize, vehicle: &Vehicle) -> Option<EngineSignals> {
        of_either!(self, room => {
            let dt = room.wheel_rows(lane, 0)?.rows.dt;
            let flywheel = room.engines.flywheel(lane).or(vehicle.shafts.engine)?;
            vehicle.engine_signals_of_step(&flywheel, dt)
        })
    }

    /// Discards the signals of the last step of car `lane`.
    pub fn forget(&mut self, lane: usize) {
        of_either!(self, room => room.forget(lane));
    }

    /// Finishes the step of the vehicles, as [`Vehicle::finish`]. Calls `tell` with the number and the report of each
    /// car that was stepped alone or has a motion that is not finite.
    pub fn finish(&self, vehicles: &mut [Vehicle], bodies: &[Body], dt: f32, tell: impl FnMut(usize, StepReport)) {
        let (Some(vehicles), Some(bodies)) = (vehicles.first_chunk_mut(), bodies.first_chunk()) else { return };
        match self {
            Self::InOne(room) if has_wide() => room.finish(vehicles, bodies, dt, tell),
            Self::InPairs(room) => room.finish(vehicles, bodies, dt, tell),
            Self::InOne(_) => (),
        }
    }
}

/// Returns true if cars of `model` can be stepped in a batch.
///
/// Every axle needs two consecutive wheels on rays, without lateral links or compliance, and axle links only between
/// the wheels of an axle. Force elements and assists are excluded, except ABS, counter-steer and speed-dependent
/// steering.
fn is_plain(model: &Model) -> bool {
    let bank = |(k, bank): (usize, &WheelPack)| {
        bank.follows(4 * k) && !bank.has_rims && bank.roll_centre_links.is_none() && bank.lateral.is_none()
    };
    let is_seen_before =
        |assist: &Assist| matches!(assist, Assist::AntiLock | Assist::CounterSteer | Assist::SpeedSteering);
    model.axle_links_apart().is_empty()
        && model.assists().iter().all(is_seen_before)
        && model.banks().iter().enumerate().all(bank)
}
