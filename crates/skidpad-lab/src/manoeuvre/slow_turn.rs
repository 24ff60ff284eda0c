//! Quasi-steady cornering up to the limit: ISO 4138 constant speed and constant steering-wheel angle.

use skidpad_core::{Controls, Model};

use super::handling_diagram::{HandlingDiagram, HandlingMetrics, LimitDetector};
use super::{KMH_100, Manoeuvre, Setup, StartRequirements};
use crate::closed_form::{Characteristics, GRAVITY_MPS2};
use crate::driver::{DriverInput, DriverModel, TorqueSpeedController};
use crate::metrics::Metric;
use crate::quantity::{Diagram, HANDLING_DIAGRAM, YAW_GAIN_DIAGRAM};
use crate::steering_wheel::SteeringWheel;
use crate::trajectory::Trajectory;

/// Slowly increasing steering at constant speed (ISO 4138, method of constant speed; FMVSS 126, slowly increasing
/// steer). Torques at the driven wheels hold the speed. The run ends once the limit of the car is passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RampSteer {
    /// Speed (m/s), > 1.
    pub speed_mps: f64,
    /// Rate of the mean road-wheel angle (rad/s), positive to the left, not 0.
    pub steer_rate_radps: f64,
    /// Lateral acceleration at which the run ends (m/s²), if the limit is not passed before.
    pub end_lateral_acceleration_mps2: f64,
}

impl Default for RampSteer {
    fn default() -> Self {
        Self { speed_mps: KMH_100, steer_rate_radps: 0.2f64.to_radians(), end_lateral_acceleration_mps2: f64::INFINITY }
    }
}

/// Slowly increasing speed at a constant road-wheel angle (ISO 4138, method of constant steering-wheel angle). Torques
/// at the driven wheels accelerate the car. The run ends once the limit of the car is passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantSteer {
    /// Radius of the turn at walking pace (m), which determines the angle; negative for a right turn.
    pub radius_m: f64,
    /// Rate of the speed (m/s²), > 0.
    pub rate_mps2: f64,
}

impl Default for ConstantSteer {
    fn default() -> Self {
        Self { radius_m: 100.0, rate_mps2: 0.5 }
    }
}

/// Time at which the ramp of the steering begins (s).
const RAMP_START_S: f64 = 1.0;
/// Longest duration of a ramp of the steering (s).
const MAX_RAMP_TIME_S: f64 = 60.0;
/// Speed at the start of a run with a constant angle (m/s).
const START_SPEED_MPS: f64 = 5.0;
/// Lateral acceleration that the planned speed of a constant angle reaches (g).
const PLANNED_ACCELERATION_G: f64 = 1.6;

/// Returns the metrics of a run, and the steering-wheel angle at its limit.
fn list_with_steering_wheel(model: &Model, metrics: &HandlingMetrics) -> Vec<Metric> {
    let at_limit = SteeringWheel::of(model).limit_metric(metrics.limit_steer_deg);
    metrics.list().into_iter().chain([at_limit]).collect()
}

impl RampSteer {
    /// Returns the handling diagram of a run.
    fn diagram(&self, model: &Model, trajectory: &Trajectory) -> HandlingDiagram {
        HandlingDiagram::new(model, trajectory, self.steer_rate_radps.signum())
    }

    /// Computes the metrics of a run from its handling diagram.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> HandlingMetrics {
        self.diagram(model, trajectory).metrics()
    }

    /// Returns the magnitude of the mean road-wheel angle (rad) at `lateral_acceleration` (m/s²). The angle is that of
    /// a straight line fitted to the samples in `fitted_range` (m/s²). `None` if the run does not exceed this range.
    pub fn steer_at(
        &self,
        model: &Model,
        trajectory: &Trajectory,
        lateral_acceleration: f64,
        fitted_range: [f64; 2],
    ) -> Option<f64> {
        self.diagram(model, trajectory).steer_at(lateral_acceleration, fitted_range)
    }
}

/// Driver of [`RampSteer`].
struct RampDriver {
    test: RampSteer,
    speed_controller: TorqueSpeedController,
    limit: LimitDetector,
}

impl DriverModel for RampDriver {
    /// Holds the speed of the test, and steers the ramp from [`RAMP_START_S`] on, with the angle (rad) at the end of
    /// the step, up to the steering lock on either side. Also updates the detection of the car's limit with the present
    /// frame.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        self.limit.update(input.frame, input.dt_s);
        let lock = f64::from(input.model.parts().steering.lock);
        let angle = self.test.steer_rate_radps * (input.end_s() - RAMP_START_S).max(0.0);
        Controls {
            steer: angle.clamp(-lock, lock) as f32,
            ..self.speed_controller.controls(input, self.test.speed_mps)
        }
    }
    /// Returns true once the limit of the car is passed, or the end acceleration of the test is exceeded.
    fn finished(&self, _input: &DriverInput<'_>) -> bool {
        self.limit.is_passed() || self.limit.largest() > self.test.end_lateral_acceleration_mps2
    }
}

impl Manoeuvre for RampSteer {
    fn name(&self) -> &'static str {
        "constant-speed"
    }
    fn about(&self) -> String {
        format!(
            "road-wheel angle that rises by {:.2}°/s at {:.1} m/s until the limit is passed; torques at the driven wheels \
             keep the speed",
            self.steer_rate_radps.to_degrees(),
            self.speed_mps
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: RAMP_START_S + MAX_RAMP_TIME_S, ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING
    }
    fn diagrams(&self) -> Vec<Diagram> {
        vec![HANDLING_DIAGRAM]
    }
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        Box::new(RampDriver {
            test: *self,
            speed_controller: TorqueSpeedController::default(),
            limit: LimitDetector::default(),
        })
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        list_with_steering_wheel(model, &self.measure(model, trajectory))
    }
}

impl ConstantSteer {
    /// Returns the mean road-wheel angle (rad): the Ackermann angle `L / R`, clamped to the steering lock.
    pub fn angle(&self, model: &Model) -> f64 {
        let figures = Characteristics::new(model);
        let wheelbase = figures.bicycle.map_or(figures.wheelbase_m, |bicycle| bicycle.wheelbase_m);
        let lock = f64::from(model.parts().steering.lock);
        (wheelbase / self.radius_m).clamp(-lock, lock)
    }

    /// Returns the planned duration of a run (s): until the speed of 1.6 g on the radius.
    fn duration_s(&self) -> f64 {
        let end_speed = (PLANNED_ACCELERATION_G * GRAVITY_MPS2 * self.radius_m.abs()).sqrt();
        (end_speed - START_SPEED_MPS).max(1.0) / self.rate_mps2
    }

    /// Computes the metrics of a run from its handling diagram.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> HandlingMetrics {
        HandlingDiagram::new(model, trajectory, self.radius_m.signum()).metrics()
    }
}

/// Driver of [`ConstantSteer`].
struct ConstantSteerDriver {
    test: ConstantSteer,
    /// Mean road-wheel angle (rad).
    angle: f64,
    speed_controller: TorqueSpeedController,
    limit: LimitDetector,
}

/// Time over which the angle is applied at the start (s).
const ANGLE_RISE_TIME_S: f64 = 1.0;

impl DriverModel for ConstantSteerDriver {
    /// Applies the angle within a second, then keeps it, and raises the speed.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        self.limit.update(input.frame, input.dt_s);
        let angle = self.angle * (input.end_s() / ANGLE_RISE_TIME_S).min(1.0);
        let target_speed = START_SPEED_MPS + self.test.rate_mps2 * input.time_s();
        Controls { steer: angle as f32, ..self.speed_controller.controls(input, target_speed) }
    }
    fn finished(&self, _input: &DriverInput<'_>) -> bool {
        self.limit.is_passed()
    }
}

impl Manoeuvre for ConstantSteer {
    fn name(&self) -> &'static str {
        "constant-steer"
    }
    fn about(&self) -> String {
        format!(
            "constant road-wheel angle of a turn of {:.0} m radius at walking pace, speed rising by {:.2} m/s² until the \
             limit is passed",
            self.radius_m, self.rate_mps2
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: self.duration_s(), ..Setup::flat(START_SPEED_MPS) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED
    }
    fn diagrams(&self) -> Vec<Diagram> {
        vec![HANDLING_DIAGRAM, YAW_GAIN_DIAGRAM]
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        Box::new(ConstantSteerDriver {
            test: *self,
            angle: self.angle(model),
            speed_controller: TorqueSpeedController::default(),
            limit: LimitDetector::default(),
        })
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        list_with_steering_wheel(model, &self.measure(model, trajectory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::model;

    /// The angle is `L / R` with the sign of the turn, within the lock. The planned time reaches 1.6 g.
    #[test]
    fn the_angle_is_that_of_the_radius() {
        let test = ConstantSteer { radius_m: -50.0, ..ConstantSteer::default() };
        assert!((test.angle(&model()) + 2.5 / 50.0).abs() < 1e-6);
        assert!((ConstantSteer { radius_m: 1.0, ..test }.angle(&model()) - 0.6).abs() < 1e-6);
        let speed = START_SPEED_MPS + test.rate_mps2 * test.duration_s();
        assert!((speed * speed / 50.0 - 1.6 * GRAVITY_MPS2).abs() < 1e-9);
    }
}
