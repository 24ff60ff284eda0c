//! What a world tells of a car.

use std::sync::Arc;

use crate::assists::assist_log::AssistLog;
use crate::model::Model;
use crate::state::State;
use crate::step::abreast::CarsAbreast;
use crate::step::coupling::StepReport;
use crate::step::vehicle::Vehicle;
use crate::telemetry::frame::Frame;
use crate::telemetry::signals::{EngineSignals, WheelContact};
use crate::world::seam::Push;
use bevy_math::Vec3;

/// A car of a world after its last step.
#[derive(Clone, Copy, Debug)]
pub struct CarView<'a> {
    /// What it is.
    pub model: &'a Arc<Model>,
    /// What it is doing.
    pub state: &'a State,
    /// True if the car is suspended or was removed.
    pub away: bool,
    /// Report of the last step of the car; the default for a car that is suspended, removed or asleep.
    pub report: StepReport,
    /// The rows it drives on; peers have none. Where wheels touch and what an engine does is told by [`CarView::wheel_contact`] and
    /// [`CarView::engine_signals`], of a car that was stepped abreast by these alone.
    pub vehicle: Option<&'a Vehicle>,
    /// What the vehicle does that tows it; `None` of one on its own.
    pub ahead: Option<&'a State>,
    /// Those it was stepped beside, and its number among them.
    pub(crate) abreast: Option<(&'a CarsAbreast, usize)>,
    /// What moved its body in the last step; `None` of one that was not stepped.
    pub(crate) moved: Option<Moved<'a>>,
}

/// What moves a body within a step, but for what its hull meets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved<'a> {
    /// Velocity the step would have ended with if the vehicle had pushed nothing, hitches and what stands on it apart, m/s.
    pub free: Vec3,
    /// What the vehicle pushed.
    pub push: &'a Push,
}

impl<'a> CarView<'a> {
    /// A car of a world that solves no rows.
    pub fn without_rows(model: &'a Arc<Model>, state: &'a State, away: bool, report: StepReport) -> Self {
        Self { model, state, away, report, vehicle: None, ahead: None, abreast: None, moved: None }
    }

    /// Returns the contact of wheel `wheel` in the last step. Returns `None` for a wheel in the air, for a car that is suspended, removed or
    /// not stepped since its state was set, and for peers.
    pub fn wheel_contact(&self, wheel: usize) -> Option<WheelContact> {
        if self.away {
            return None;
        }
        let abreast = self.abreast.and_then(|(cars, lane)| cars.wheel_contact(lane, wheel, self.state));
        abreast.or_else(|| self.vehicle?.wheel_contact(wheel))
    }

    /// Returns the engine signals of the last step. Returns `None` for a car without an engine, for a car that is suspended, removed or not
    /// stepped since its state was set, and for peers.
    pub fn engine_signals(&self) -> Option<EngineSignals> {
        let vehicle = self.vehicle.filter(|_| !self.away)?;
        let abreast = self.abreast.and_then(|(cars, lane)| cars.engine_signals(lane, vehicle));
        abreast.or_else(|| vehicle.engine_signals())
    }

    /// Returns the change of velocity by contacts of the hull in the last step, world axes, m/s: the total change less that by wheels, air,
    /// force elements, hitches, gravity and forces of users. Returns `None` for a car that is asleep, suspended, removed or not stepped since
    /// its state was set, and for peers.
    pub fn blow(&self) -> Option<Vec3> {
        let Moved { free, push } = self.moved.filter(|_| !self.away)?;
        Some(self.state.velocity - free - push.impulse * self.model.inverse_mass())
    }

    /// Its telemetry at `time` s, after a step of `dt` s.
    pub fn frame(&self, time: f64, dt: f32) -> Frame {
        let assist_log = self.vehicle.map_or(AssistLog::default(), |vehicle| *vehicle.assist_log());
        Frame::of(self.model, self.state, self.ahead, &assist_log, time, dt)
    }
}
