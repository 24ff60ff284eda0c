//! Drivers: convert telemetry into controls, once per step, in simulation time.
//!
//! A driver reads only telemetry and has no access to the solver, so the same control law drives every solver. The
//! inputs of the step from t_k to t_k+1 are decided at t_k. The steering angle is the value for t_k+1, the end of the
//! step.

mod path;
mod speed;
mod steering_program;

pub use path::{LaneShift, PathFollower, ReferencePath, StraightKeeper};
pub use speed::{PedalSpeedController, TorqueSpeedController};
pub use steering_program::SteeringProgram;

use skidpad_core::{Controls, Frame, Model};

use crate::ground_speed;

/// Inputs of a driver at the beginning of a step.
#[derive(Clone, Copy, Debug)]
pub struct DriverInput<'a> {
    /// Number of finished steps.
    pub step: u64,
    /// Length of the coming step, s.
    pub dt_s: f64,
    /// Model of the driven car.
    pub model: &'a Model,
    /// Telemetry of the last step.
    pub frame: &'a Frame,
}

impl DriverInput<'_> {
    /// Returns the start time of the coming step (s).
    pub fn time_s(&self) -> f64 {
        self.step as f64 * self.dt_s
    }

    /// Returns the end time of the coming step (s).
    pub fn end_s(&self) -> f64 {
        (self.step + 1) as f64 * self.dt_s
    }

    /// Returns whether the coming step begins at or after `time_s`, with a tolerance of a millionth of a step.
    pub fn has_reached(&self, time_s: f64) -> bool {
        self.time_s() >= time_s - 1e-6 * self.dt_s
    }
}

/// Driver of one car. The same sequence of frames must produce the same controls.
pub trait DriverModel {
    /// Returns the controls for the coming step.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls;

    /// Returns whether the run ends before its planned duration. Default: never.
    fn finished(&self, _input: &DriverInput<'_>) -> bool {
        false
    }
}

/// Driver that coasts: neutral gear, no pedal pressed, no steering.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoastDriver;

impl DriverModel for CoastDriver {
    fn drive(&mut self, _input: &DriverInput<'_>) -> Controls {
        Controls::coasting()
    }
}

/// Driver made of a function from [`DriverInput`] to controls.
pub struct OpenLoop<F>(pub F);

impl<F: FnMut(&DriverInput<'_>) -> Controls> DriverModel for OpenLoop<F> {
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        (self.0)(input)
    }
}

/// Driver that ends a run a fixed time after the first standstill of the car.
pub struct UntilStop<D> {
    /// Driver that supplies the controls.
    pub driver: D,
    /// Time to record after the first standstill (s).
    pub dwell_s: f64,
    /// Yaw angle at the start (rad); `None` before the first step.
    heading_rad: Option<f64>,
    /// Time of the first standstill (s); `None` before it.
    standstill_time_s: Option<f64>,
}

impl<D: DriverModel> UntilStop<D> {
    /// Creates a driver that applies `driver` and ends the run `dwell_s` s after the first standstill.
    pub fn new(driver: D, dwell_s: f64) -> Self {
        Self { driver, dwell_s, heading_rad: None, standstill_time_s: None }
    }
}

impl<D: DriverModel> DriverModel for UntilStop<D> {
    /// Returns the controls of the inner driver. The first call records the heading at the start. Each call also checks
    /// for the first standstill: the speed over the ground, negative while the car rolls back, is at most
    /// [`STANDSTILL_SPEED_MPS`]. Its time is recorded.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let heading = *self.heading_rad.get_or_insert(input.frame.yaw_rad);
        if self.standstill_time_s.is_none() && ground_speed::signed_speed(heading)(input.frame) <= STANDSTILL_SPEED_MPS
        {
            self.standstill_time_s = Some(input.time_s());
        }
        self.driver.drive(input)
    }

    /// Returns true if the inner driver is finished, or if [`UntilStop::dwell_s`] has passed since the first
    /// standstill.
    fn finished(&self, input: &DriverInput<'_>) -> bool {
        self.driver.finished(input) || self.standstill_time_s.is_some_and(|t| input.has_reached(t + self.dwell_s))
    }
}

/// Speed over the ground below which a car counts as standing (m/s). A car held by its brakes may approach zero without
/// crossing it.
pub const STANDSTILL_SPEED_MPS: f64 = 0.005;
