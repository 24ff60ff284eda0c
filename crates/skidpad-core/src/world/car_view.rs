//! Read-only view of one car of a world.

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
    /// Model of the car.
    pub model: &'a Arc<Model>,
    /// State of the car after the last step.
    pub state: &'a State,
    /// Whether the car is suspended or was removed.
    pub away: bool,
    /// Report of the last step of the car; the default for a car that is suspended, removed or asleep.
    pub report: StepReport,
    /// Vehicle with the solver rows; `None` for peers. A car that was stepped in a batch has no wheel contacts and engine signals here:
    /// [`CarView::wheel_contact`] and [`CarView::engine_signals`] return them for every car.
    pub vehicle: Option<&'a Vehicle>,
    /// State of the towing vehicle; `None` if no vehicle tows the car.
    pub ahead: Option<&'a State>,
    /// Batch with which the car was stepped, and the lane of the car; `None` if the last step was not in a batch.
    pub(crate) abreast: Option<(&'a CarsAbreast, usize)>,
    /// Motion input of the last step; `None` if the car was not stepped, or if its state was set since.
    pub(crate) moved: Option<Moved<'a>>,
}

/// Free velocity of a chassis and impulse of its vehicle in one step. Contacts of the hull change the velocity further.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved<'a> {
    /// Velocity at the end of the step without the impulse of the vehicle and its hitches, m/s. Wheels of other vehicles on the chassis are
    /// included.
    pub free: Vec3,
    /// Impulse of the vehicle on its chassis, hitches included.
    pub push: &'a Push,
}

impl<'a> CarView<'a> {
    /// Returns the view of a car of a world that solves no rows.
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

    /// Returns the telemetry of the car at `time` s, after a step of `dt` s.
    pub fn frame(&self, time: f64, dt: f32) -> Frame {
        let assist_log = self.vehicle.map_or(AssistLog::default(), |vehicle| *vehicle.assist_log());
        Frame::of(self.model, self.state, self.ahead, &assist_log, time, dt)
    }
}
