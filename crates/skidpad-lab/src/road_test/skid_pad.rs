//! Skid pad: largest steady lateral acceleration on a circle, by one run at slowly increasing speed. The manoeuvre
//! `skid-pad` searches in steps of 0.01 g instead, which needs many runs.

use skidpad_core::{Controls, Frame, Model};

use crate::closed_form::{Characteristics, GRAVITY_MPS2};
use crate::driver::{DriverInput, DriverModel, PathFollower, ReferencePath, TorqueSpeedController};
use crate::ground_speed;
use crate::manoeuvre::{Manoeuvre, Setup, StartRequirements};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Circle to the left at slowly increasing speed, until the car no longer follows the circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkidPad {
    /// Radius of the circle (m), > 0.
    pub radius_m: f64,
    /// Rate of the speed (m/s²), > 0. A quasi-static test needs a small rate.
    pub rate_mps2: f64,
}

/// Lateral acceleration at the start (m/s²), which every road car reaches.
const START_LATERAL_ACCELERATION_MPS2: f64 = 3.0;
/// Lateral acceleration at which the run ends at the latest (m/s²): twice gravity.
const MAX_LATERAL_ACCELERATION_MPS2: f64 = 2.0 * GRAVITY_MPS2;
/// Distance from the circle beyond which the car no longer follows it (m).
const MAX_PATH_ERROR_M: f64 = 0.5;
/// Time over which the lateral acceleration is averaged (s).
const AVERAGING_TIME_S: f64 = 1.0;
/// Time at the speed of the start (s), in which the car settles.
const SETTLING_TIME_S: f64 = 4.0;

metrics! {
    /// Result of the skid pad.
    SkidPadMetrics {
        lateral_acceleration_mps2, "m/s²", 3, "Lateral acceleration on the skid pad", "Largest mean over 1 s of speed² over the distance from the centre, while the car is within 0.5 m of the circle.";
    }
}

impl SkidPad {
    /// Returns the circle.
    fn path(&self) -> ReferencePath {
        ReferencePath::Circle { radius: self.radius_m }
    }

    /// Returns the lateral distance of the centre of mass from the circle (m), positive inside of it.
    fn offset(&self, frame: &Frame) -> f64 {
        // 0.0: no preview.
        self.path().locate(frame.x_m, frame.y_m, 0.0).offset_m
    }

    /// Computes the metric of a run. The rows before the speed rises, and all rows from the first one beyond 0.5 m of
    /// the circle, do not count. `None` for fewer rows than 1 s has.
    pub fn measure(&self, trajectory: &Trajectory) -> SkidPadMetrics {
        // Lateral acceleration of a row (m/s²). The circle is inside of a car with a negative offset.
        let acceleration = |frame: &Frame| {
            let speed = ground_speed::speed_over_ground(frame);
            speed * speed / (self.radius_m - self.offset(frame))
        };
        let rows = trajectory.time_slice(SETTLING_TIME_S, f64::MAX);
        let values: Vec<f64> = rows
            .take_while(|frame| self.offset(frame).abs() < MAX_PATH_ERROR_M)
            .map(|frame| acceleration(&frame))
            .collect();
        let window = ((AVERAGING_TIME_S / trajectory.dt_s()).round() as usize).max(1);
        let means = values.windows(window).map(|window| window.iter().sum::<f64>() / window.len() as f64);
        SkidPadMetrics { lateral_acceleration_mps2: means.max_by(f64::total_cmp) }
    }

    /// Returns the target speed at `time_s` (m/s).
    fn target_speed(&self, time_s: f64) -> f64 {
        let start = (START_LATERAL_ACCELERATION_MPS2 * self.radius_m).sqrt();
        start + self.rate_mps2 * (time_s - SETTLING_TIME_S).max(0.0)
    }
}

/// Driver of [`SkidPad`].
struct SkidPadDriver {
    skid_pad: SkidPad,
    characteristics: Characteristics,
    speed_controller: TorqueSpeedController,
    path_follower: PathFollower,
}

impl DriverModel for SkidPadDriver {
    /// Steers along the circle and holds the rising target speed by torques at the driven wheels.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let target_speed = self.skid_pad.target_speed(input.time_s());
        let steer = self.path_follower.steer(input, &self.characteristics) as f32;
        Controls { steer, ..self.speed_controller.controls(input, target_speed) }
    }

    fn finished(&self, input: &DriverInput<'_>) -> bool {
        input.has_reached(SETTLING_TIME_S) && self.skid_pad.offset(input.frame).abs() > MAX_PATH_ERROR_M
    }
}

impl Manoeuvre for SkidPad {
    fn name(&self) -> &'static str {
        "road-test-skid-pad"
    }
    fn about(&self) -> String {
        format!("circle with a radius of {:.1} m at increasing speed, until the car leaves it", self.radius_m)
    }
    /// Returns level ground with the car on the circle. The duration is that until twice gravity.
    fn setup(&self, _model: &Model) -> Setup {
        let (start_speed, end_speed) = (self.target_speed(0.0), (MAX_LATERAL_ACCELERATION_MPS2 * self.radius_m).sqrt());
        let duration_s = SETTLING_TIME_S + (end_speed - start_speed) / self.rate_mps2;
        Setup { duration_s, ..Setup::flat(start_speed) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED.from_origin()
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        // 2.0 rad/s and 0.5 1/s: fast enough for a ramp of the speed, slower than the yaw dynamics at the limit.
        Box::new(SkidPadDriver {
            skid_pad: *self,
            characteristics: Characteristics::new(model),
            speed_controller: TorqueSpeedController::default(),
            path_follower: PathFollower::new(self.path(), 2.0, 0.5),
        })
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// The speed on the circle rises by 0.1 m/s². After 20 s of it the car runs wide. The result is the mean of v² / R
    /// over the last second on the circle.
    #[test]
    fn the_last_second_on_the_circle_counts() {
        let skid_pad = SkidPad { radius_m: 50.0, rate_mps2: 0.1 };
        let run = sampled(0.01, 40.0, |t, frame| {
            let speed = 15.0 + 0.1 * t;
            let angle = (15.0 * t + 0.05 * t * t) / 50.0;
            let radius = if t < 24.0 { 50.0 } else { 51.0 };
            (frame.x_m, frame.y_m, frame.vx_mps) = (radius * angle.sin(), 50.0 - radius * angle.cos(), speed);
        });
        let found = skid_pad.measure(&run).lateral_acceleration_mps2.expect("long enough");
        // Mean over the second before 24 s, to the variance of the speed.
        let expected = (15.0f64 + 2.35).powi(2) / 50.0;
        assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
    }
}
