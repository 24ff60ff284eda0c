//! On-centre handling: slow steering sine of small amplitude at constant speed (ISO 13674-1, weave test).

use nalgebra::{Complex, Matrix3, Vector3};
use skidpad_core::{Frame, Model, math};

use super::{KMH_100, Manoeuvre, Setup, StartRequirements, steady_turn_text};
use crate::closed_form::cornering::steer_to_hold;
use crate::driver::{DriverInput, DriverModel, SteeringProgram};
use crate::metrics::{Metric, metrics};
use crate::quantity::{Diagram, TORQUE_OVER_ACCELERATION, TORQUE_OVER_STEERING};
use crate::steering_wheel::{SteeringWheel, steering_wheel_torque};
use crate::trajectory::Trajectory;

/// Sinusoidal steering at constant speed. Torques at the driven wheels hold the speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weave {
    /// Speed (m/s), > 1.
    pub speed_mps: f64,
    /// Frequency (Hz), > 0.
    pub frequency_hz: f64,
    /// Steady-state lateral acceleration of the steering amplitude (m/s²), > 0. The amplitude is limited by the
    /// steering lock.
    pub lateral_acceleration_mps2: f64,
}

impl Default for Weave {
    fn default() -> Self {
        Self { speed_mps: KMH_100, frequency_hz: 0.2, lateral_acceleration_mps2: 2.0 }
    }
}

metrics! {
    /// Figures of the loops that two signals form from the end of the second period on, by their first harmonics. A
    /// gradient is the slope of the second signal over the first one where the first one passes zero, a width the
    /// distance of both branches there, without sign. Figures with the torque need the steering axes of the vehicle
    /// file.
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
/// Largest number of periods in a step (–): fewer than eight rows in a period are not evaluated.
const MAX_PERIODS_IN_STEP: f64 = 0.125;

/// Loop of a signal y over a signal x, at x = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LoopAtZero {
    /// Slope of both branches (unit of y per unit of x).
    gradient: f64,
    /// Distance of both branches (unit of y), ≥ 0.
    width: f64,
}

impl LoopAtZero {
    /// Computes the loop of sines with the complex amplitudes `x` and `y`: the ellipse `y = Y cos φ / X · x ± Y sin φ`
    /// near x = 0, with the lag φ of y. `None` without amplitude of x.
    fn of_sines(x: Complex<f64>, y: Complex<f64>) -> Option<Self> {
        let relative = y * x.conj() / x.norm();
        (x.norm() > 0.0).then(|| Self { gradient: relative.re / x.norm(), width: 2.0 * relative.im.abs() })
    }
}

/// Fits `a sin ωt + b cos ωt + c` to the `points` (time in s, value) by least squares, with ω in `omega` (rad/s).
/// Returns the complex amplitude `a + j b`; `None` for fewer than three points.
fn first_harmonic(points: impl Iterator<Item = (f64, f64)>, omega: f64) -> Option<Complex<f64>> {
    let (mut matrix, mut right) = (Matrix3::zeros(), Vector3::zeros());
    for (time, value) in points {
        let (sin, cos) = math::sin_cos_f64(omega * time);
        let row = Vector3::new(sin, cos, 1.0);
        matrix += row * row.transpose();
        right += row * value;
    }
    let solution = matrix.cholesky()?.solve(&right);
    Some(Complex::new(solution.x, solution.y))
}

impl Weave {
    /// Returns the planned duration of a run (s).
    fn duration_s(&self) -> f64 {
        SINE_START_S + (FIRST_PERIODS + EVALUATED_PERIODS) / self.frequency_hz
    }

    /// Computes the metrics of a run of `model` from the first harmonics of steering-wheel angle, yaw rate, lateral
    /// acceleration and steering-wheel torque, over the evaluated periods. All are `None` for a run that ended before
    /// its planned duration or has fewer than eight telemetry rows in a period. Metrics with the torque are `None` for
    /// a car without known steering axes.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> WeaveMetrics {
        if !trajectory.covers(self.duration_s()) || self.frequency_hz * trajectory.dt_s() > MAX_PERIODS_IN_STEP {
            return WeaveMetrics::default();
        }
        let wheel = SteeringWheel::of(model);
        let omega = std::f64::consts::TAU * self.frequency_hz;
        let start_s = SINE_START_S + FIRST_PERIODS / self.frequency_hz;
        let end_s = self.duration_s();
        let harmonic = |channel: &dyn Fn(&Frame) -> Option<f64>| {
            let points: Option<Vec<(f64, f64)>> =
                trajectory.time_slice(start_s, end_s).map(|frame| Some((frame.t_s, channel(&frame)?))).collect();
            first_harmonic(points?.into_iter(), omega)
        };
        // Accelerations and torques are means over the step before their row. This factor advances their phase by half
        // a step.
        let half_step = Complex::new(0.0, 0.5 * omega * trajectory.dt_s()).exp();
        let step_mean =
            |channel: &dyn Fn(&Frame) -> Option<f64>| harmonic(channel).map(|amplitude| amplitude * half_step);
        let angle = harmonic(&|frame| Some(wheel.wheel_deg(frame.steer_rad)));
        let yaw_rate = harmonic(&|frame| Some(frame.yaw_rate_radps.to_degrees()));
        let lateral = step_mean(&|frame| Some(frame.ay_mps2));
        let torque = step_mean(&steering_wheel_torque);
        // Loop of y over x; `None` without one of both.
        let fit = |x: Option<Complex<f64>>, y: Option<Complex<f64>>| LoopAtZero::of_sines(x?, y?);
        let acceleration_over_angle = fit(angle, lateral);
        let torque_over_acceleration = fit(lateral, torque);
        WeaveMetrics {
            steering_sensitivity_mps2_per_100_deg: acceleration_over_angle.map(|branches| 100.0 * branches.gradient),
            acceleration_width_mps2: acceleration_over_angle.map(|branches| branches.width),
            yaw_rate_gain_per_s: fit(angle, yaw_rate).map(|branches| branches.gradient),
            angle_width_deg: fit(lateral, angle).map(|branches| branches.width),
            steering_stiffness_nm_per_deg: fit(angle, torque).map(|branches| branches.gradient),
            torque_gradient_nm_per_mps2: torque_over_acceleration.map(|branches| branches.gradient),
            torque_width_nm: torque_over_acceleration.map(|branches| branches.width),
            peak_lateral_acceleration_mps2: Some(
                trajectory.time_slice(start_s, end_s).map(|frame| frame.ay_mps2.abs()).fold(0.0, f64::max),
            ),
        }
    }
}

impl Manoeuvre for Weave {
    fn name(&self) -> &'static str {
        "weave"
    }
    fn about(&self) -> String {
        format!(
            "steering sine of {:.2} Hz at {:.1} m/s with the angle of {}",
            self.frequency_hz,
            self.speed_mps,
            steady_turn_text(self.lateral_acceleration_mps2)
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
    /// Creates a driver that holds the speed and steers the sine to the end of the run. The amplitude is the angle of
    /// [`steer_to_hold`] for the lateral acceleration of the test.
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
    /// lags by φ has the gradient `Y cos φ / X` and the width `2 Y sin φ` where the other passes zero, at fine and at
    /// coarse steps. Rows of means lag by half a step.
    #[test]
    fn sines_have_the_gradient_and_width_of_their_lag() {
        for dt in [0.005, 0.1] {
            let (test, model) = (Weave::default(), model());
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
                // Rounding of the times of rows.
                assert!((value / expected - 1.0).abs() < 1e-6, "{value} {expected}");
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
            assert!((found.peak_lateral_acceleration_mps2.expect("measured") - 2.0).abs() < 0.02);
        }
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
