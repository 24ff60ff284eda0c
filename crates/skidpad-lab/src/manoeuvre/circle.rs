//! Steady-state cornering at increasing speed: ISO 4138, constant radius.

use skidpad_core::{Controls, Frame, Model};

use super::{Manoeuvre, Setup, StartRequirements};
use crate::closed_form::{Characteristics, GRAVITY_MPS2};
use crate::driver::{DriverInput, DriverModel, PathFollower, ReferencePath, TorqueSpeedController};
use crate::metrics::{Metric, metrics};
use crate::quantity::{Diagram, HANDLING_DIAGRAM, YAW_GAIN_DIAGRAM};
use crate::signal::fit_line;
use crate::trajectory::Trajectory;

/// Circle driven at the speeds of several lateral accelerations, each held until steady.
#[derive(Clone, Debug, PartialEq)]
pub struct Circle {
    /// Radius (m), positive for a left turn.
    pub radius_m: f64,
    /// Levels of lateral acceleration (m/s²), each > 0 and above the previous one. Gradients are fitted over all
    /// levels.
    pub levels_mps2: Vec<f64>,
    /// Time at each level (s). The last [`Circle::AVERAGING_TIME_S`] of it are averaged.
    pub hold_s: f64,
    /// Rate of the speed between levels (m/s²), > 0.
    pub rate_mps2: f64,
}

impl Default for Circle {
    fn default() -> Self {
        Self { radius_m: 100.0, levels_mps2: vec![0.5, 1.0, 2.0, 3.0, 4.0], hold_s: 12.0, rate_mps2: 1.0 }
    }
}

metrics! {
    /// Steady-state cornering. Gradients are slopes of least-squares lines over all levels. Gains are those of the last
    /// level.
    CircleMetrics {
        understeer_gradient_rad_per_mps2, "rad/(m/s²)", 6, "Understeer gradient", "Slope of (mean road-wheel angle − Ackermann angle L ψ̇ / v) over lateral acceleration.";
        understeer_gradient_deg_per_g, "deg/g", 4, "Understeer gradient", "Slope of (mean road-wheel angle − Ackermann angle L ψ̇ / v) over lateral acceleration, in degrees per g.";
        roll_gradient_deg_per_g, "deg/g", 4, "Roll gradient", "Slope of the roll angle over lateral acceleration. Includes tyre compliance only if unsprung masses are simulated.";
        sideslip_gradient_deg_per_g, "deg/g", 3, "Sideslip gradient", "Slope of the sideslip angle over lateral acceleration.";
        yaw_rate_gain_per_s, "1/s", 4, "Yaw rate gain, last level", "Yaw rate per mean road-wheel angle.";
        sideslip_gain, "-", 4, "Sideslip gain, last level", "Sideslip angle per mean road-wheel angle.";
        lateral_acceleration_mps2, "m/s²", 4, "Lateral acceleration, last level", "Mean.";
        speed_mps, "m/s", 4, "Speed, last level", "Mean.";
        steer_deg, "deg", 4, "Road-wheel angle, last level", "Mean.";
        load_transfer_closure_percent, "%", 3, "Load transfer error, last level", "Signed error of Σ ΔN t against m a_y h + m g (h − r) φ; r is the height of the roll axis. Not with trailers.";
        path_error_mm, "mm", 1, "Maximum path error during measurement", "Largest distance of the centre of mass from the circle.";
    }
}

impl Circle {
    /// Averaged time at the end of each level (s).
    pub const AVERAGING_TIME_S: f64 = 3.0;

    /// Returns the speed for the lateral acceleration `level` (m/s²): `√(level R)` (m/s).
    fn level_speed(&self, level: f64) -> f64 {
        (level * self.radius_m.abs()).sqrt()
    }

    /// Returns the target speed at `time_s` (m/s). The speed of each level (of lateral acceleration) is held for
    /// `hold_s`. It then changes linearly to the speed of the next level, at `rate_mps2`. The speed of the last level
    /// is held to the end. Without levels the target is the speed for 1 m/s².
    fn target_speed(&self, time_s: f64) -> f64 {
        let mut current_speed = self.level_speed(self.levels_mps2.first().copied().unwrap_or(1.0));
        // End of the current level (s).
        let mut level_end = self.hold_s;
        for &level in self.levels_mps2.iter().skip(1) {
            let next_speed = self.level_speed(level);
            if time_s < level_end {
                return current_speed;
            }
            let ramp_time = (next_speed - current_speed).abs() / self.rate_mps2;
            if time_s < level_end + ramp_time {
                return current_speed + (next_speed - current_speed) * (time_s - level_end) / ramp_time;
            }
            (current_speed, level_end) = (next_speed, level_end + ramp_time + self.hold_s);
        }
        current_speed
    }

    /// Returns the time at which each level of lateral acceleration ends (s). The first level takes the hold time, each
    /// further level its speed change and the hold time. Without levels there is one end, after the hold time.
    fn level_ends(&self) -> Vec<f64> {
        let speeds: Vec<f64> = self.levels_mps2.iter().map(|&level| self.level_speed(level)).collect();
        let mut level_end = self.hold_s;
        let mut ends = vec![level_end];
        for speed_pair in speeds.windows(2) {
            level_end += (speed_pair[1] - speed_pair[0]).abs() / self.rate_mps2 + self.hold_s;
            ends.push(level_end);
        }
        ends
    }

    /// Computes the metrics of a run from the mean values over the last [`Circle::AVERAGING_TIME_S`] of each level. All
    /// are `None` if the run does not reach the end of every level.
    ///
    /// Gradients are least-squares slopes over the lateral acceleration of all levels. The path error is the largest of
    /// all levels. All other values are those of the last level. The understeer gradient subtracts the Ackermann angle
    /// `L ψ̇ / v` with the wheelbase of the bicycle model, or the geometric one without such a model. The load transfer
    /// error is `None` for a car with trailers.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> CircleMetrics {
        let ends = self.level_ends().into_iter().take_while(|end| trajectory.covers(*end));
        let levels: Vec<SteadyLevel> = ends.map(|end| SteadyLevel::new(self, trajectory, end)).collect();
        // Levels are missing if the run ended early.
        let Some(last_level) = levels.last().filter(|_| levels.len() == self.levels_mps2.len()) else {
            return CircleMetrics::default();
        };
        // The hitch transfers lateral forces of a trailer to the car, so the load transfer of the car alone does not
        // close.
        let has_no_trailers = trajectory.trailers().is_empty();
        let wheelbase = Characteristics::new(model)
            .bicycle
            .map_or(Characteristics::new(model).wheelbase_m, |bicycle| bicycle.wheelbase_m);
        // Slope of a value of the levels over their lateral acceleration.
        let gradient_over_ay = |value: &dyn Fn(&SteadyLevel) -> f64| {
            fit_line(levels.iter().map(|level| (level.ay, value(level)))).map(|line| line.slope)
        };
        let understeer = gradient_over_ay(&|level| level.steer - wheelbase * level.yaw_rate / level.speed);
        let degrees_per_g = |gradient: Option<f64>| gradient.map(|value| (value * GRAVITY_MPS2).to_degrees());
        CircleMetrics {
            understeer_gradient_rad_per_mps2: understeer,
            understeer_gradient_deg_per_g: degrees_per_g(understeer),
            roll_gradient_deg_per_g: degrees_per_g(gradient_over_ay(&|level| level.roll)),
            sideslip_gradient_deg_per_g: degrees_per_g(gradient_over_ay(&|level| level.sideslip)),
            yaw_rate_gain_per_s: Some(last_level.yaw_rate / last_level.steer),
            sideslip_gain: Some(last_level.sideslip / last_level.steer),
            lateral_acceleration_mps2: Some(last_level.ay),
            speed_mps: Some(last_level.speed),
            steer_deg: Some(last_level.steer.to_degrees()),
            load_transfer_closure_percent: has_no_trailers
                .then(|| last_level.roll_moment_error(model, trajectory.ground().gravity_mps2) * 100.0),
            path_error_mm: levels.iter().map(|level| level.path_error * 1e3).max_by(f64::total_cmp),
        }
    }
}

/// Mean values over the measured part of a level, and its largest path error.
struct SteadyLevel {
    /// Lateral acceleration (m/s²).
    ay: f64,
    /// Forward speed (m/s).
    speed: f64,
    /// Mean road-wheel angle (rad).
    steer: f64,
    /// Yaw rate (rad/s).
    yaw_rate: f64,
    /// Sideslip angle (rad).
    sideslip: f64,
    /// Roll angle (rad).
    roll: f64,
    /// Load of each wheel (N).
    loads: Vec<f64>,
    /// Largest distance from the circle (m).
    path_error: f64,
}

impl SteadyLevel {
    /// Averages the channels over the last [`Circle::AVERAGING_TIME_S`] before `end` (s), or over the hold time if this
    /// is shorter. The path error is the largest distance of the centre of mass from the circle in this time.
    fn new(circle: &Circle, trajectory: &Trajectory, end: f64) -> Self {
        let averaging_start = end - Circle::AVERAGING_TIME_S.min(circle.hold_s);
        let mean = |channel: &dyn Fn(&Frame) -> f64| trajectory.mean(averaging_start, end, channel);
        let path = ReferencePath::Circle { radius: circle.radius_m };
        // Distance from the circle (m). 0.0: no preview.
        let path_offset = |f: &Frame| path.locate(f.x_m, f.y_m, 0.0).offset_m.abs();
        Self {
            ay: mean(&|f| f.ay_mps2),
            speed: mean(&|f| f.vx_mps),
            steer: mean(&|f| f.steer_rad),
            yaw_rate: mean(&|f| f.yaw_rate_radps),
            sideslip: mean(&|f| f.vy_mps.atan2(f.vx_mps)),
            roll: mean(&|f| f.roll_rad),
            loads: (0..trajectory.first().wheels.len()).map(|i| mean(&|f| f.wheels[i].load_n)).collect(),
            path_error: trajectory.time_slice(averaging_start, end).map(|f| path_offset(&f)).fold(0.0, f64::max),
        }
    }

    /// Computes the relative error of the balance `Σ ΔN t = m a_y h + m g (h − r) φ` (–, signed): the roll moment of
    /// the wheel loads over that of the mass, less 1. `Σ ΔN t` is the sum of load times −y over the wheels, positive if
    /// the right wheels carry more. `m` and `h` are mass and height of the centre of mass of the car, `r` is the height
    /// of the roll axis, `φ` the roll angle, `g` the gravity of the scene, `gravity_mps2` (m/s²).
    fn roll_moment_error(&self, model: &Model, gravity_mps2: f64) -> f64 {
        // Positive if the right wheels (y < 0) carry more (N m).
        let roll_moment: f64 =
            self.loads.iter().zip(model.wheels()).map(|(load, wheel)| -load * f64::from(wheel.contact.y)).sum();
        let centre_height = f64::from(model.parts().centre_height);
        // Roll moment of the weight per mass (m²/s²).
        let weight_moment_per_mass = (centre_height - model.roll_axis_height()) * gravity_mps2 * self.roll;
        roll_moment / (f64::from(model.mass()) * (centre_height * self.ay + weight_moment_per_mass)) - 1.0
    }
}

/// Driver that follows the circle at the target speed.
struct CircleDriver {
    circle: Circle,
    characteristics: Characteristics,
    speed_controller: TorqueSpeedController,
    path_follower: PathFollower,
}

impl DriverModel for CircleDriver {
    /// Steers along the circle and holds the target speed by torques at the driven wheels.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let target_speed = self.circle.target_speed(input.time_s());
        let steer = self.path_follower.steer(input, &self.characteristics) as f32;
        Controls { steer, ..self.speed_controller.controls(input, target_speed) }
    }
}

impl Manoeuvre for Circle {
    fn name(&self) -> &'static str {
        "circle"
    }
    fn about(&self) -> String {
        let highest_level = self.levels_mps2.last().copied().unwrap_or(0.0);
        let level_count = self.levels_mps2.len();
        format!(
            "circle of {:.0} m radius, {level_count} steady levels of lateral acceleration up to {highest_level:.1} m/s²",
            self.radius_m
        )
    }
    /// Returns level ground, the speed of the first level, and the end of the last level as duration.
    fn setup(&self, _model: &Model) -> Setup {
        let duration_s = self.level_ends().last().copied().unwrap_or(self.hold_s);
        Setup { duration_s, ..Setup::flat(self.target_speed(0.0)) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED.from_origin()
    }
    fn diagrams(&self) -> Vec<Diagram> {
        vec![HANDLING_DIAGRAM, YAW_GAIN_DIAGRAM]
    }
    /// Creates a driver that steers along the circle from its start at the origin and follows the target speed of the
    /// levels.
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        let path = ReferencePath::Circle { radius: self.radius_m };
        Box::new(CircleDriver {
            circle: self.clone(),
            characteristics: Characteristics::new(model),
            speed_controller: TorqueSpeedController::default(),
            // Natural frequency (rad/s) and relative integral gain (1/s).
            path_follower: PathFollower::new(path, 1.5, 0.5),
        })
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(model, trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};
    use crate::trajectory::GroundProperties;

    /// Checks that two levels end at their hold times with the speed change between them, and that the target speed
    /// follows them.
    #[test]
    fn levels_follow_each_other() {
        let circle = Circle { levels_mps2: vec![1.0, 4.0], ..Circle::default() };
        assert_eq!(circle.level_ends(), [12.0, 34.0]);
        for (time, speed) in [(0.0, 10.0), (12.0, 10.0), (17.0, 15.0), (22.0, 20.0), (99.0, 20.0)] {
            assert_eq!(circle.target_speed(time), speed, "at {time} s");
        }
    }

    /// Returns a run of a car with the understeer `gradient` (rad/(m/s²)) under the gravity `gravity_mps2`: δ = L/R + K
    /// a_y, roll and sideslip linear in a_y, loads that close the moment balance. The run lasts until the end of the
    /// fifth level at the radius 100 m; the position is on the circle.
    fn understeering_run(circle: &Circle, gradient: f64, gravity_mps2: f64) -> Trajectory {
        sampled(0.05, circle.level_ends()[4], |t, frame| {
            let v = circle.target_speed(t);
            let ay = v * v / 100.0;
            frame.vx_mps = v;
            frame.yaw_rate_radps = v / 100.0;
            frame.ay_mps2 = ay;
            frame.steer_rad = 2.5 / 100.0 + gradient * ay;
            frame.roll_rad = 0.01 * ay;
            // A sideslip angle of −0.002 rad per m/s².
            frame.vy_mps = -0.002 * ay * v;
            // On the circle about (0, 100 m).
            (frame.x_m, frame.y_m) = (100.0, 100.0);
            // Load that each right wheel gains and each left wheel loses (N).
            let transfer = 1000.0 * 0.5 * (ay + gravity_mps2 * frame.roll_rad) / (2.0 * 1.5);
            for (i, wheel) in frame.wheels.iter_mut().enumerate() {
                wheel.load_n = 2452.5 + if i % 2 == 0 { -transfer } else { transfer };
            }
        })
    }

    /// Understeer and roll gradient, yaw rate gain, load transfer closure and path error of the synthetic run have
    /// their known values.
    #[test]
    fn a_synthetic_understeering_car_is_measured_as_made() {
        let (circle, gradient, model) = (Circle::default(), 1.2e-3, model());
        let run = understeering_run(&circle, gradient, GRAVITY_MPS2);
        let found = circle.measure(&model, &run);
        let close = |value: Option<f64>, expected: f64| {
            assert!(
                (value.expect("measured") - expected).abs() < 1e-5 * expected.abs().max(1.0),
                "{value:?} {expected}"
            );
        };
        close(found.understeer_gradient_rad_per_mps2.map(|k| k / gradient), 1.0);
        close(found.roll_gradient_deg_per_g, (0.01f64 * 9.81).to_degrees());
        close(found.yaw_rate_gain_per_s, 0.2 / (0.025 + 4.0 * gradient));
        close(found.load_transfer_closure_percent, 0.0);
        close(found.path_error_mm, 0.0);
    }

    /// The load transfer also closes under the gravity of the Moon.
    #[test]
    fn load_transfer_closes_under_the_gravity_of_the_scene() {
        let circle = Circle::default();
        let ground = GroundProperties { gravity_mps2: 1.62, slope_rad: 0.0 };
        let run = understeering_run(&circle, 1.2e-3, 1.62).with_ground(ground);
        let closure = circle.measure(&model(), &run).load_transfer_closure_percent.expect("measured");
        assert!(closure.abs() < 1e-5, "{closure} %");
    }

    #[test]
    fn a_run_cut_short_has_no_figures() {
        let run = sampled(0.1, 2.0, |_, _| {});
        assert_eq!(Circle::default().measure(&model(), &run), CircleMetrics::default());
    }
}
