//! Who drives: from telemetry to controls, once per step, in simulation time.
//!
//! A driver sees what a frame tells and nothing of the solver, so every solver is driven by the same rules. The
//! inputs of the step from t_k to t_k+1 are decided at t_k; steering is asked for t_k+1, where the step ends.

mod path;
mod speed;

pub use path::{Line, PathFollower, Shift, StraightKeeper};
pub use speed::{Cruise, SpeedHolder};

use skidpad_core::{Controls, Frame, Model};

use crate::over_ground;

/// What a driver knows when a step begins.
#[derive(Clone, Copy, Debug)]
pub struct DriverInput<'a> {
    /// Number of finished steps.
    pub step: u64,
    /// Length of the coming step, s.
    pub dt_s: f64,
    /// The car.
    pub model: &'a Model,
    /// Telemetry of the last step.
    pub frame: &'a Frame,
}

impl DriverInput<'_> {
    /// Start of the coming step, s.
    pub fn time_s(&self) -> f64 {
        self.step as f64 * self.dt_s
    }

    /// End of the coming step, s.
    pub fn end_s(&self) -> f64 {
        (self.step + 1) as f64 * self.dt_s
    }

    /// Whether the coming step begins at or after `time_s`, forgiving the rounding of a millionth of a step.
    pub fn is_from(&self, time_s: f64) -> bool {
        self.time_s() >= time_s - 1e-6 * self.dt_s
    }
}

/// Drives one car. The same frames must give the same controls.
pub trait Driver {
    /// Controls for the coming step.
    fn drive(&mut self, now: &DriverInput<'_>) -> Controls;

    /// Whether the run is over before its time.
    fn finished(&self, _now: &DriverInput<'_>) -> bool {
        false
    }
}

/// Neutral gear, nothing pressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coast;

impl Driver for Coast {
    fn drive(&mut self, _now: &DriverInput<'_>) -> Controls {
        Controls::coasting()
    }
}

/// A driver made of a function from what is known to controls.
pub struct OpenLoop<F>(pub F);

impl<F: FnMut(&DriverInput<'_>) -> Controls> Driver for OpenLoop<F> {
    fn drive(&mut self, now: &DriverInput<'_>) -> Controls {
        (self.0)(now)
    }
}

/// Ends a run some time after its driver's car has come to a stop.
pub struct UntilStop<D> {
    /// Who drives.
    pub driver: D,
    /// Time to record after the first standstill, s.
    pub linger_s: f64,
    /// At the start.
    heading_rad: Option<f64>,
    stopped_s: Option<f64>,
}

impl<D: Driver> UntilStop<D> {
    /// `driver` until `linger_s` s after the first standstill.
    pub fn new(driver: D, linger_s: f64) -> Self {
        Self { driver, linger_s, heading_rad: None, stopped_s: None }
    }
}

impl<D: Driver> Driver for UntilStop<D> {
    fn drive(&mut self, now: &DriverInput<'_>) -> Controls {
        let heading = *self.heading_rad.get_or_insert(now.frame.yaw_rad);
        if self.stopped_s.is_none() && over_ground::until_rest(heading)(now.frame) <= STANDSTILL_MPS {
            self.stopped_s = Some(now.time_s());
        }
        self.driver.drive(now)
    }

    fn finished(&self, now: &DriverInput<'_>) -> bool {
        self.driver.finished(now) || self.stopped_s.is_some_and(|t| now.is_from(t + self.linger_s))
    }
}

/// Speed over the ground that counts as standing, m/s: a brake hold may creep towards zero without ever crossing it.
pub const STANDSTILL_MPS: f64 = 0.005;
