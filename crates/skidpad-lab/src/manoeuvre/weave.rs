//! On-centre handling: slow steering sine of small amplitude at constant speed (ISO 13674-1, weave test).

use skidpad_core::{Frame, Model, math};

use super::{KMH_100, Manoeuvre, Setup, StartRequirements};
use crate::closed_form::cornering::steer_to_hold;
use crate::driver::{DriverInput, DriverModel, SteeringProgram};
use crate::metrics::{Metric, metrics};
use crate::quantity::{Diagram, TORQUE_OVER_ACCELERATION, TORQUE_OVER_STEERING};
use crate::signal::fit_line;
use crate::steering_wheel::{SteeringWheel, steering_wheel_torque};
use crate::trajectory::Trajectory;

/// Steering sine. Torques at the driven wheels hold the speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weave {
    /// Speed (m/s), > 1.
    pub speed_mps: f64,
    /// Frequency (Hz), > 0.
    pub frequency_hz: f64,
    /// Lateral acceleration of a steady turn with the amplitude of the sine (m/s²), > 0.
    pub lateral_acceleration_mps2: f64,
}

impl Default for Weave {
    fn default() -> Self {
        Self { speed_mps: KMH_100, frequency_hz: 0.2, lateral_acceleration_mps2: 2.0 }
    }
}

metrics! {
    /// Figures of the loops that two signals form over the last three periods. A gradient is the mean slope of the rising and
    /// the falling branch where the first signal passes zero, a width the distance of the branches there. Figures with the
    /// torque need the steering axes of the vehicle file.
    WeaveMetrics {
        steering_sensitivity_mps2_per_100_deg, "m/s²/100deg", 3, "Steering sensitivity", "Gradient of the lateral acceleration over the steering-wheel angle.";
        acceleration_width_mps2, "m/s²", 3, "Lateral acceleration at zero steering, width of the loop", "Distance of the branches of the lateral acceleration over the steering-wheel angle.";
        yaw_rate_gain_per_s, "1/s", 4, "Yaw rate gain per steering-wheel angle", "Gradient of the yaw rate over the steering-wheel angle.";
        angle_width_deg, "deg", 3, "Steering-wheel angle at zero lateral acceleration, width of the loop", "Distance of the branches of the steering-wheel angle over the lateral acceleration.";
        steering_stiffness_nm_per_deg, "N m/deg", 4, "Steering stiffness", "Gradient of the steering-wheel torque over the steering-wheel angle.";
        torque_gradient_nm_per_mps2, "N m s²/m", 4, "Steering torque gradient", "Gradient of the steering-wheel torque over the lateral acceleration: road feel.";
        torque_width_nm, "N m", 4, "Steering torque at zero lateral acceleration, width of the loop", "Distance of the branches of the steering-wheel torque over the lateral acceleration.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration", "Largest absolute value of the evaluated periods.";
    }
}

/// Time at which the sine begins (s).
const SINE_START_S: f64 = 1.0;
/// Number of periods before the evaluated ones, in which transients decay.
const FIRST_PERIODS: f64 = 2.0;
/// Number of evaluated periods.
const EVALUATED_PERIODS: f64 = 3.0;
/// Share of the peak of a signal around zero in which branches are fitted (–).
const FITTED_SHARE: f64 = 0.1;

/// Loop of a signal y over a signal x, at x = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LoopAtZero {
    /// Mean slope of both branches (unit of y per unit of x).
    gradient: f64,
    /// Distance of both branches (unit of y).
    width: f64,
}

impl LoopAtZero {
    /// Fits the branches of the loop of `points` (x, y) in their order in time. A branch is the straight line through all
    /// points with rising or with falling x in the middle tenth of its range. `None` without points on a branch.
    fn fit(points: &[[f64; 2]]) -> Option<Self> {
        let peak = points.iter().map(|[x, _]| x.abs()).fold(0.0, f64::max);
        let branch = |sign: f64| {
            let near_zero = move |pair: &&[[f64; 2]]| {
                sign * (pair[1][0] - pair[0][0]) > 0.0 && pair[0][0].abs() <= FITTED_SHARE * peak
            };
            fit_line(points.windows(2).filter(near_zero).map(|pair| (pair[0][0], pair[0][1])))
        };
        let [rising, falling] = [branch(1.0)?, branch(-1.0)?];
        let gradient = 0.5 * (rising.slope + falling.slope);
        Some(Self { gradient, width: (rising.intercept - falling.intercept).abs() })
    }
}

impl Weave {
    /// Returns the planned duration of a run (s).
    fn duration_s(&self) -> f64 {
        SINE_START_S + (FIRST_PERIODS + EVALUATED_PERIODS) / self.frequency_hz
    }

    /// Computes the metrics of a run of `model`; all are `None` for a run that was cut short. Accelerations and torques,
    /// which are means of the steps before and after a row, are compared with the angles and rates of the row.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> WeaveMetrics {
        if !trajectory.covers(self.duration_s()) {
            return WeaveMetrics::default();
        }
        let wheel = SteeringWheel::of(model);
        let start_s = SINE_START_S + FIRST_PERIODS / self.frequency_hz;
        let frames: Vec<Frame> = trajectory.time_slice(start_s, f64::MAX).map(|frame| frame.into_owned()).collect();
        let at_rows = |channel: &dyn Fn(&Frame) -> Option<f64>| -> Option<Vec<f64>> {
            frames.windows(2).map(|pair| channel(&pair[0])).collect()
        };
        let means = |channel: &dyn Fn(&Frame) -> Option<f64>| -> Option<Vec<f64>> {
            frames.windows(2).map(|pair| Some(0.5 * (channel(&pair[0])? + channel(&pair[1])?))).collect()
        };
        let angle = at_rows(&|frame| Some(wheel.wheel_deg(frame.steer_rad)));
        let yaw_rate = at_rows(&|frame| Some(frame.yaw_rate_radps.to_degrees()));
        let lateral = means(&|frame| Some(frame.ay_mps2));
        let torque = means(&steering_wheel_torque);
        let fit = |x: &Option<Vec<f64>>, y: &Option<Vec<f64>>| {
            let points: Vec<[f64; 2]> = x.as_ref()?.iter().zip(y.as_ref()?).map(|(x, y)| [*x, *y]).collect();
            LoopAtZero::fit(&points)
        };
        let acceleration_over_angle = fit(&angle, &lateral);
        let torque_over_acceleration = fit(&lateral, &torque);
        WeaveMetrics {
            steering_sensitivity_mps2_per_100_deg: acceleration_over_angle.map(|branches| 100.0 * branches.gradient),
            acceleration_width_mps2: acceleration_over_angle.map(|branches| branches.width),
            yaw_rate_gain_per_s: fit(&angle, &yaw_rate).map(|branches| branches.gradient),
            angle_width_deg: fit(&lateral, &angle).map(|branches| branches.width),
            steering_stiffness_nm_per_deg: fit(&angle, &torque).map(|branches| branches.gradient),
            torque_gradient_nm_per_mps2: torque_over_acceleration.map(|branches| branches.gradient),
            torque_width_nm: torque_over_acceleration.map(|branches| branches.width),
            peak_lateral_acceleration_mps2: lateral
                .map(|values| values.into_iter().fold(0.0, |peak: f64, value| peak.max(value.abs()))),
        }
    }
}

impl Manoeuvre for Weave {
    fn name(&self) -> &'static str {
        "weave"
    }
    fn about(&self) -> String {
        format!(
            "steering sine of {:.1} Hz at {:.1} m/s with the angle of a steady turn at {:.1} m/s²",
            self.frequency_hz, self.speed_mps, self.lateral_acceleration_mps2
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: self.duration_s(), ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING
    }
    /// Returns the loops of the torque; cars without known steering axes have none.
    fn diagrams(&self) -> Vec<Diagram> {
        vec![TORQUE_OVER_ACCELERATION, TORQUE_OVER_STEERING]
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        let test = *self;
        let amplitude = steer_to_hold(model, test.lateral_acceleration_mps2, test.speed_mps);
        Box::new(SteeringProgram::new(test.speed_mps, move |input: &DriverInput<'_>| {
            let cycles = ((input.end_s() - SINE_START_S) * test.frequency_hz).max(0.0);
            amplitude * math::sin_cos_f64(std::f64::consts::TAU * cycles).0
        }))
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(model, trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};
    use skidpad_core::Shaft;

    /// Synthetic loops: the lateral acceleration lags the steering by 0.3 rad, the torque leads it by 0.2 rad. A sine that
    /// lags by φ has the gradient `Y cos φ / X` and the width `2 Y sin φ` where the other passes zero. The tolerance is the
    /// curvature of the sines in the fitted tenth. Rows of means lag by half a step.
    #[test]
    fn sines_have_the_gradient_and_width_of_their_lag() {
        let (test, model, dt) = (Weave::default(), model(), 0.005);
        let wave = |t: f64, lag: f64| (std::f64::consts::TAU * 0.2 * (t - SINE_START_S) - lag).sin();
        let run = sampled(dt, test.duration_s(), |t, frame| {
            frame.steer_rad = 0.01 * wave(t, 0.0);
            frame.yaw_rate_radps = 0.05 * wave(t, 0.1);
            frame.ay_mps2 = 2.0 * wave(t - 0.5 * dt, 0.3);
            frame.shafts = vec![(Shaft::SteeringWheel, 3.0 * wave(t - 0.5 * dt, -0.2))];
        });
        let found = test.measure(&model, &run);
        let close = |value: Option<f64>, expected: f64| {
            let value = value.expect("measured");
            assert!((value / expected - 1.0).abs() < 4e-3, "{value} {expected}");
        };
        // Steering-wheel angle of a car with an assumed ratio of 16.
        let angle = 0.16f64.to_degrees();
        close(found.steering_sensitivity_mps2_per_100_deg, 100.0 * 2.0 * 0.3f64.cos() / angle);
        close(found.acceleration_width_mps2, 4.0 * 0.3f64.sin());
        close(found.yaw_rate_gain_per_s, 0.05 * 0.1f64.cos() / 0.16);
        close(found.angle_width_deg, 2.0 * angle * 0.3f64.sin());
        close(found.steering_stiffness_nm_per_deg, 3.0 * 0.2f64.cos() / angle);
        close(found.torque_gradient_nm_per_mps2, 1.5 * 0.5f64.cos());
        close(found.torque_width_nm, 6.0 * 0.5f64.sin());
        close(found.peak_lateral_acceleration_mps2, 2.0);
    }

    /// A car without steering axes has no figures of the torque, and a run that was cut short has none at all.
    #[test]
    fn cars_without_steering_axes_have_no_torque() {
        let test = Weave::default();
        let run = sampled(0.01, test.duration_s(), |t, frame| {
            (frame.steer_rad, frame.ay_mps2) = (0.01 * t.sin(), t.sin());
        });
        let found = test.measure(&model(), &run);
        assert!(found.steering_sensitivity_mps2_per_100_deg.is_some());
        assert_eq!((found.torque_gradient_nm_per_mps2, found.steering_stiffness_nm_per_deg), (None, None));
        assert_eq!(test.measure(&model(), &sampled(0.1, 10.0, |_, _| {})), WeaveMetrics::default());
    }
}
