//! Skid pad of 300 ft: largest lateral acceleration on a circle at slowly increasing speed.

use std::f64::consts::TAU;

use skidpad_core::{Controls, Frame, Model};

use super::{Manoeuvre, Setup, StartRequirements};
use crate::closed_form::{Characteristics, GRAVITY_MPS2};
use crate::driver::{DriverInput, DriverModel, PathFollower, ReferencePath, TorqueSpeedController};
use crate::metrics::{Metric, metrics};
use crate::quantity::{Diagram, HANDLING_DIAGRAM, YAW_GAIN_DIAGRAM};
use crate::trajectory::Trajectory;

/// Circle at slowly increasing speed, until the car no longer follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkidPad {
    /// Radius of the circle (m), negative for a right turn.
    pub radius_m: f64,
    /// Rate of the speed (m/s²), > 0. A quasi-static test needs a small rate.
    pub rate_mps2: f64,
}

impl Default for SkidPad {
    /// Returns a left turn on a circle of 300 ft diameter. The rate raises the lateral acceleration by at most 0.1 m/s³, as ISO 4138 asks for tests with
    /// continuous changes.
    fn default() -> Self {
        Self { radius_m: 45.72, rate_mps2: 0.1 }
    }
}

/// Lateral acceleration at the start (m/s²).
const START_LATERAL_ACCELERATION_MPS2: f64 = 1.0;
/// Lateral acceleration at which the run ends at the latest (m/s²): twice gravity.
const MAX_LATERAL_ACCELERATION_MPS2: f64 = 2.0 * GRAVITY_MPS2;
/// Distance of the centre of mass from the circle beyond which the car no longer follows it (m).
const MAX_PATH_ERROR_M: f64 = 0.5;
/// Time over which values are averaged (s).
const AVERAGING_TIME_S: f64 = 1.0;
/// Time at the speed of the start (s), in which the car settles.
const SETTLING_TIME_S: f64 = 4.0;

metrics! {
    /// Result of the skid pad. Values are means over the second with the largest mean lateral acceleration, while the car
    /// is within 0.5 m of the circle.
    SkidPadMetrics {
        lateral_acceleration_g, "g", 3, "Lateral acceleration", "Largest mean over 1 s of the acceleration across the direction of travel, over standard gravity.";
        lateral_acceleration_mps2, "m/s²", 3, "Lateral acceleration", "Largest mean over 1 s of the acceleration across the direction of travel.";
        lap_time_s, "s", 3, "Lap time", "Time of a lap of the circle with this lateral acceleration a, 2π √(R / a).";
        speed_mps, "m/s", 3, "Speed", "Mean over the ground.";
        steer_deg, "deg", 3, "Road-wheel angle", "Mean.";
        sideslip_deg, "deg", 3, "Sideslip angle", "atan(v_y / v_x), mean.";
    }
}

/// Row of a run on the circle.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Acceleration across the direction of travel (m/s²), positive towards the centre.
    lateral_acceleration: f64,
    /// Speed over the ground (m/s).
    speed: f64,
    /// Mean road-wheel angle (rad).
    steer: f64,
    /// Sideslip angle (rad).
    sideslip: f64,
}

impl Row {
    /// Reads a row of a turn with the sign `turn_sign` (1 left, −1 right).
    fn of(frame: &Frame, turn_sign: f64) -> Self {
        let sideslip = frame.vy_mps.atan2(frame.vx_mps);
        let (sin, cos) = sideslip.sin_cos();
        Self {
            lateral_acceleration: turn_sign * (frame.ay_mps2 * cos - frame.ax_mps2 * sin),
            speed: frame.vx_mps.hypot(frame.vy_mps),
            steer: frame.steer_rad,
            sideslip,
        }
    }
}

/// Returns the mean of `value` over `rows`.
fn mean(rows: &[Row], value: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(value).sum::<f64>() / rows.len() as f64
}

impl SkidPad {
    /// Returns the circle.
    fn path(&self) -> ReferencePath {
        ReferencePath::Circle { radius: self.radius_m }
    }

    /// Returns the distance of the centre of mass from the circle (m).
    fn path_error(&self, frame: &Frame) -> f64 {
        // 0.0: no preview.
        self.path().locate(frame.x_m, frame.y_m, 0.0).offset_m.abs()
    }

    /// Computes the metrics of a run. The rows before the speed rises, and all rows from the first one beyond 0.5 m of
    /// the circle, do not count. All are `None` for fewer rows than 1 s has.
    pub fn measure(&self, trajectory: &Trajectory) -> SkidPadMetrics {
        let rows: Vec<Row> = trajectory
            .time_slice(SETTLING_TIME_S, f64::MAX)
            .take_while(|frame| self.path_error(frame) < MAX_PATH_ERROR_M)
            .map(|frame| Row::of(&frame, self.radius_m.signum()))
            .collect();
        // Number of rows of the averaging time.
        let window = ((AVERAGING_TIME_S / trajectory.dt_s()).round() as usize).max(1);
        let acceleration = |rows: &[Row]| mean(rows, |row| row.lateral_acceleration);
        let best = rows.windows(window).max_by(|a, b| acceleration(a).total_cmp(&acceleration(b)));
        let Some(best) = best.filter(|rows| acceleration(rows) > 0.0) else { return SkidPadMetrics::default() };
        SkidPadMetrics {
            lateral_acceleration_g: Some(acceleration(best) / GRAVITY_MPS2),
            lateral_acceleration_mps2: Some(acceleration(best)),
            lap_time_s: Some(TAU * (self.radius_m.abs() / acceleration(best)).sqrt()),
            speed_mps: Some(mean(best, |row| row.speed)),
            steer_deg: Some(mean(best, |row| row.steer).to_degrees()),
            sideslip_deg: Some(mean(best, |row| row.sideslip).to_degrees()),
        }
    }

    /// Returns the speed (m/s) of the lateral acceleration `acceleration_mps2` (m/s²).
    fn speed_of(&self, acceleration_mps2: f64) -> f64 {
        (acceleration_mps2 * self.radius_m.abs()).sqrt()
    }

    /// Returns the target speed at `time_s` (m/s).
    fn target_speed(&self, time_s: f64) -> f64 {
        self.speed_of(START_LATERAL_ACCELERATION_MPS2) + self.rate_mps2 * (time_s - SETTLING_TIME_S).max(0.0)
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
        input.has_reached(SETTLING_TIME_S) && self.skid_pad.path_error(input.frame) > MAX_PATH_ERROR_M
    }
}

impl Manoeuvre for SkidPad {
    fn name(&self) -> &'static str {
        "skid-pad"
    }
    fn about(&self) -> String {
        let radius = self.radius_m.abs();
        format!("circle of {radius:.1} m radius at increasing speed, until the car leaves it by {MAX_PATH_ERROR_M} m")
    }
    /// Returns level ground with the car on the circle. The duration is that until twice gravity.
    fn setup(&self, _model: &Model) -> Setup {
        let (start_speed, end_speed) = (self.target_speed(0.0), self.speed_of(MAX_LATERAL_ACCELERATION_MPS2));
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
    fn diagrams(&self) -> Vec<Diagram> {
        vec![HANDLING_DIAGRAM, YAW_GAIN_DIAGRAM]
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// The speed on the circle rises by 0.1 m/s². After 20 s of it the car runs wide. The result is the mean over the last
    /// second on the circle, for both directions of the turn and for a car that slides sideways on the circle.
    #[test]
    fn the_last_second_on_the_circle_counts() {
        for (turn_sign, sideslip) in [(1.0, 0.0), (-1.0, 0.0), (1.0, -0.3)] {
            let skid_pad = SkidPad { radius_m: turn_sign * 50.0, rate_mps2: 0.1 };
            let run = sampled(0.01, 40.0, |t, frame| {
                let speed = 15.0 + 0.1 * t;
                let angle = (15.0 * t + 0.05 * t * t) / 50.0;
                let radius = if t < 24.0 { 50.0 } else { 51.0 };
                (frame.x_m, frame.y_m) = (radius * angle.sin(), turn_sign * (50.0 - radius * angle.cos()));
                // Components of velocity and acceleration along the axes of the car.
                let (sin, cos) = f64::sin_cos(sideslip);
                let [along, across] = [0.1, turn_sign * speed * speed / 50.0];
                (frame.vx_mps, frame.vy_mps) = (speed * cos, speed * sin);
                (frame.ax_mps2, frame.ay_mps2) = (along * cos - across * sin, along * sin + across * cos);
                frame.steer_rad = 0.1;
            });
            let found = skid_pad.measure(&run);
            // Mean over the second before 24 s, to the variance of the speed.
            let expected = (15.0f64 + 2.35).powi(2) / 50.0;
            let close = |value: Option<f64>, expected: f64| {
                let value = value.expect("long enough");
                assert!((value / expected - 1.0).abs() < 1e-4, "{value} {expected}");
            };
            close(found.lateral_acceleration_mps2, expected);
            close(found.lateral_acceleration_g, expected / GRAVITY_MPS2);
            close(found.lap_time_s, TAU * 50.0 / 17.35);
            close(found.speed_mps, 17.35);
            close(found.steer_deg, 0.1f64.to_degrees());
            assert!((found.sideslip_deg.expect("long enough") - sideslip.to_degrees()).abs() < 1e-9);
        }
    }

    /// A car that never follows the circle has no values.
    #[test]
    fn a_car_beside_the_circle_has_no_values() {
        let run = sampled(0.01, 20.0, |_, frame| (frame.vx_mps, frame.y_m, frame.ay_mps2) = (10.0, -3.0, 5.0));
        assert_eq!(SkidPad::default().measure(&run), SkidPadMetrics::default());
    }
}
