//! Several plain cars of one model in one step, a wheel of each in a lane, with the bits of each alone.

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

/// Does the same to a room of either kind.
macro_rules! of_either {
    ($cars:ident, $room:ident => $done:expr) => {
        match $cars {
            Self::InPairs($room) => $done,
            Self::InOne($room) => $done,
        }
    };
}

/// Plain cars of one model, in lanes as wide as the processor has them.
#[derive(Clone, Debug)]
pub(crate) enum CarsAbreast {
    InPairs(Box<Room<Eight>>),
    InOne(Box<Room<WideEight>>),
}

impl CarsAbreast {
    /// Room for cars of `model`; `None` where that is not plain. What is the same of all cars of a model is taken over from those that
    /// have room already.
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

    fn model(&self) -> &Arc<Model> {
        of_either!(self, room => &room.model)
    }

    /// Whether all of `vehicles` are of its model.
    pub fn fits(&self, vehicles: &[Vehicle]) -> bool {
        vehicles.len() == ABREAST && vehicles.iter().all(|vehicle| Arc::ptr_eq(self.model(), vehicle.model()))
    }

    /// Whether they go one by one in this step.
    pub fn go_apart(&self) -> bool {
        of_either!(self, room => room.goes_apart())
    }

    /// Whether any went alone in the last step. Only those touch ground that moves.
    pub fn has_parted(&self) -> bool {
        of_either!(self, room => room.has_parted())
    }

    /// Counts a step in which they go one by one.
    pub fn went_apart(&mut self) {
        of_either!(self, room => room.went_apart());
    }

    /// How many rays they cast.
    pub fn rays(&self) -> usize {
        ABREAST * of_either!(self, room => room.wheels)
    }

    /// As [`Vehicle::probes`] of each of [`ABREAST`] vehicles, from number `first` on: `asked` are wheel by wheel, car by car. A step
    /// begins with it.
    pub fn ask(&mut self, first: usize, bodies: &[Body], dt: f32, asked: &mut [Probe]) {
        let Some(bodies) = bodies.first_chunk() else { return };
        match self {
            Self::InOne(room) if has_wide() => room.ask(first, bodies, dt, asked),
            Self::InPairs(room) => room.ask(first, bodies, dt, asked),
            Self::InOne(_) => (),
        }
    }

    /// As [`Vehicle::solve_into`] of each of the vehicles that have asked, in one sweep; returns what they report together.
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

    /// What is told of car `lane` after its last step, in `state` since; `None` where it went alone or has been put elsewhere.
    pub fn wheel_contact(&self, lane: usize, wheel: usize, state: &State) -> Option<WheelContact> {
        of_either!(self, room => room.wheel_rows(lane, wheel)?.contact(state))
    }

    /// What is told of the engine of car `lane`, which is `vehicle`; likewise.
    pub fn engine_signals(&self, lane: usize, vehicle: &Vehicle) -> Option<EngineSignals> {
        of_either!(self, room => {
            let dt = room.wheel_rows(lane, 0)?.rows.dt;
            let flywheel = room.engines.flywheel(lane).or(vehicle.shafts.engine)?;
            vehicle.engine_signals_of_step(&flywheel, dt)
        })
    }

    /// Tells nothing more of the last step of car `lane`.
    pub fn forget(&mut self, lane: usize) {
        of_either!(self, room => room.forget(lane));
    }

    /// As [`Vehicle::finish`] of each; `tell` has the reports of those that went alone, or found no numbers.
    pub fn finish(&self, vehicles: &mut [Vehicle], bodies: &[Body], dt: f32, tell: impl FnMut(usize, StepReport)) {
        let (Some(vehicles), Some(bodies)) = (vehicles.first_chunk_mut(), bodies.first_chunk()) else { return };
        match self {
            Self::InOne(room) if has_wide() => room.finish(vehicles, bodies, dt, tell),
            Self::InPairs(room) => room.finish(vehicles, bodies, dt, tell),
            Self::InOne(_) => (),
        }
    }
}

/// Whether cars of `model` can go abreast: axles of two wheels, one after the other, on rays that links do not lead sideways; bars between
/// the wheels of an axle; of assists those whose say is known from the pedals, and no force elements.
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
