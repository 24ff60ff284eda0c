//! Read-only view of one car of a world.

use std::sync::Arc;

use crate::assist_log::AssistLog;
use crate::model::Model;
use crate::port::ChassisImpulse;
use crate::state::State;
use crate::step::batch::CarBatch;
use crate::step_report::StepReport;
use crate::telemetry::frame::Frame;
use crate::telemetry::signals::{EngineSignals, WheelContact};
use crate::vehicle::Vehicle;
use bevy_math::Vec3;

/// A car of a world after its last step.
#[derive(Clone, Copy, Debug)]
pub struct CarView<'a> {
    /// Model of the car.
    pub model: &'a Arc<Model>,
    /// State of the car after the last step.
    pub state: &'a State,
    /// Whether the car is suspended or was removed.
    pub is_inactive: bool,
    /// Report of the last step of the car; the default for a car that is suspended, removed or asleep.
    pub report: StepReport,
    /// Vehicle with the solver rows; `None` for peers. A car that was stepped in a batch has no wheel contacts and
    /// engine signals here: [`CarView::wheel_contact`] and [`CarView::engine_signals`] return them for every car.
    pub vehicle: Option<&'a Vehicle>,
    /// State of the towing vehicle; `None` if no vehicle tows the car.
    pub towing_vehicle: Option<&'a State>,
    /// Batch with which the car was stepped, and the lane of the car; `None` if the last step was not in a batch.
    pub(crate) batch: Option<(&'a CarBatch, usize)>,
    /// Motion input of the last step; `None` if the car was not stepped, or if its state was set since.
    pub(crate) motion_input: Option<MotionInput<'a>>,
}

/// Free velocity of a chassis and impulse of its vehicle in one step. Contacts of the hull change the velocity further.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotionInput<'a> {
    /// Velocity at the end of the step without the impulse of the vehicle and its hitches, m/s. Wheels of other
    /// vehicles on the chassis are included.
    pub free_velocity: Vec3,
    /// Impulse of the vehicle on its chassis, hitches included.
    pub chassis_impulse: &'a ChassisImpulse,
}

impl<'a> CarView<'a> {
    /// Returns the view of a car of a world that solves no rows: without vehicle, towing vehicle, batch and motion
    /// input. `is_inactive` sets [`CarView::is_inactive`].
    pub fn from_state(model: &'a Arc<Model>, state: &'a State, is_inactive: bool, report: StepReport) -> Self {
        Self { model, state, is_inactive, report, vehicle: None, towing_vehicle: None, batch: None, motion_input: None }
    }

    /// Returns the contact of wheel `wheel` in the last step. Returns `None` for a wheel in the air, for a car that is
    /// suspended, removed or not stepped since its state was set, and for peers. For a car that was stepped in a batch,
    /// the contact is that of the batch, else that of the rows of the vehicle.
    pub fn wheel_contact(&self, wheel: usize) -> Option<WheelContact> {
        if self.is_inactive {
            return None;
        }
        let batch_contact = self.batch.and_then(|(batch, lane)| batch.wheel_contact(lane, wheel, self.state));
        batch_contact.or_else(|| self.vehicle?.wheel_contact(wheel))
    }

    /// Returns the engine signals of the last step. Returns `None` for a car without an engine, for a car that is
    /// suspended, removed or not stepped since its state was set, and for peers. For a car that was stepped in a batch,
    /// the signals are those of the batch, else those of the vehicle.
    pub fn engine_signals(&self) -> Option<EngineSignals> {
        let vehicle = self.vehicle.filter(|_| !self.is_inactive)?;
        let batch_signals = self.batch.and_then(|(batch, lane)| batch.engine_signals(lane, vehicle));
        batch_signals.or_else(|| vehicle.engine_signals())
    }

    /// Returns the change of velocity by contacts of the hull in the last step, world axes, m/s: the total change less
    /// that by wheels, air, force elements, hitches, gravity and forces of users. Returns `None` for a car that is
    /// asleep, suspended, removed or not stepped since its state was set, and for peers.
    pub fn collision_velocity_change(&self) -> Option<Vec3> {
        let MotionInput { free_velocity, chassis_impulse } = self.motion_input.filter(|_| !self.is_inactive)?;
        Some(self.state.velocity - free_velocity - chassis_impulse.impulse * self.model.inverse_mass())
    }

    /// Returns the telemetry of the car at `time` s, after a step of `dt` s. The contributions of assists are zero for
    /// peers.
    pub fn frame(&self, time: f64, dt: f32) -> Frame {
        let assist_log = self.vehicle.map_or(AssistLog::default(), |vehicle| *vehicle.assist_log());
        Frame::new(self.model, self.state, self.towing_vehicle, &assist_log, time, dt)
    }
}
