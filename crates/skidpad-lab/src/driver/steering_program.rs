//! Open-loop steering at constant speed, or with released throttle.

use skidpad_core::Controls;

use super::{CoastDriver, DriverInput, DriverModel, TorqueSpeedController};

/// Driver with an open-loop steering angle. Torques at the driven wheels hold the speed until the throttle is released;
/// afterwards the car coasts in neutral.
pub struct SteeringProgram<F> {
    /// Function that returns the mean road-wheel angle at the end of the coming step (rad, positive to the left).
    angle: F,
    /// Speed to hold (m/s).
    speed_mps: f64,
    /// Time at which the throttle is released (s).
    release_s: f64,
    speed_controller: TorqueSpeedController,
}

impl<F: FnMut(&DriverInput<'_>) -> f64> SteeringProgram<F> {
    /// Creates a driver that holds `speed_mps` (m/s) and steers the angle that `angle` returns for the end of each step
    /// (rad, positive to the left).
    pub fn new(speed_mps: f64, angle: F) -> Self {
        Self { angle, speed_mps, release_s: f64::INFINITY, speed_controller: TorqueSpeedController::default() }
    }

    /// Returns the driver with the throttle released at `release_s` (s).
    pub fn with_release(self, release_s: f64) -> Self {
        Self { release_s, ..self }
    }
}

impl<F: FnMut(&DriverInput<'_>) -> f64> DriverModel for SteeringProgram<F> {
    /// Steers the angle of the program. Holds the speed before the release of the throttle, coasts in neutral
    /// afterwards.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let steer = (self.angle)(input) as f32;
        if input.has_reached(self.release_s) {
            return Controls { steer, ..CoastDriver.drive(input) };
        }
        Controls { steer, ..self.speed_controller.controls(input, self.speed_mps) }
    }
}
