//! Handling diagram: steady-state cornering up to the limit, from slow changes of steering or speed.

use skidpad_core::{Frame, Model};

use crate::closed_form::{Characteristics, GRAVITY_MPS2};
use crate::metrics::metrics;
use crate::signal::{Line, Signal, fit_line};
use crate::trajectory::Trajectory;

metrics! {
    /// Steady-state cornering up to the limit. Values are moving means over 0.5 s. The dynamic angle is the mean
    /// road-wheel angle less the Ackermann angle `L ψ̇ / v`.
    HandlingMetrics {
        understeer_gradient_deg_per_g, "deg/g", 4, "Understeer gradient, 1 to 4 m/s²", "Slope of the dynamic angle over lateral acceleration from 1 to 4 m/s².";
        sideslip_gradient_deg_per_g, "deg/g", 3, "Sideslip gradient, 1 to 4 m/s²", "Slope of the sideslip angle over lateral acceleration from 1 to 4 m/s².";
        roll_gradient_deg_per_g, "deg/g", 3, "Roll gradient, 1 to 4 m/s²", "Slope of the roll angle over lateral acceleration from 1 to 4 m/s².";
        limit_understeer_gradient_deg_per_g, "deg/g", 2, "Understeer gradient, 80 to 95 % of the limit", "Slope of the dynamic angle over lateral acceleration from 80 to 95 % of the largest lateral acceleration.";
        max_lateral_acceleration_mps2, "m/s²", 3, "Largest lateral acceleration", "Largest moving mean.";
        limit_steer_deg, "deg", 3, "Road-wheel angle at the largest lateral acceleration", "Mean road-wheel angle.";
        limit_sideslip_deg, "deg", 3, "Sideslip angle at the largest lateral acceleration", "atan(v_y / v_x).";
        limit_speed_mps, "m/s", 3, "Speed at the largest lateral acceleration", "Forward speed.";
    }
}

/// Width of the moving mean (s); ISO 4138 asks for at least 0.5 s in continuous methods.
const AVERAGING_TIME_S: f64 = 0.5;
/// Lateral accelerations of the linear range (m/s²), over which gradients are fitted.
const LINEAR_RANGE_MPS2: [f64; 2] = [1.0, 4.0];
/// Lateral accelerations near the limit, relative to the largest one (–).
const LIMIT_RANGE: [f64; 2] = [0.8, 0.95];

/// Values of a run with the sign of the turn removed, as moving means over 0.5 s.
pub(super) struct HandlingDiagram {
    /// Lateral acceleration (m/s²).
    lateral_acceleration: Signal,
    /// Mean road-wheel angle less the Ackermann angle (rad).
    dynamic_steer: Signal,
    /// Mean road-wheel angle (rad).
    steer: Signal,
    /// Sideslip angle (rad).
    sideslip: Signal,
    /// Roll angle (rad).
    roll: Signal,
    /// Forward speed (m/s).
    speed: Signal,
}

impl HandlingDiagram {
    /// Reads a run whose steering has the sign `turn_sign` (1 left, −1 right). All signals except the speed are
    /// multiplied by this sign. The Ackermann angle uses the wheelbase of the bicycle model, or the geometric one
    /// without such a model, and a speed of at least [`MIN_SPEED_MPS`].
    pub(super) fn new(model: &Model, trajectory: &Trajectory, turn_sign: f64) -> Self {
        let figures = Characteristics::new(model);
        let wheelbase = figures.bicycle.map_or(figures.wheelbase_m, |bicycle| bicycle.wheelbase_m);
        let averaged = |channel: &dyn Fn(&Frame) -> f64| {
            Signal::of(trajectory, |frame| turn_sign * channel(frame)).moving_mean(AVERAGING_TIME_S)
        };
        let ackermann = move |frame: &Frame| wheelbase * frame.yaw_rate_radps / frame.vx_mps.max(MIN_SPEED_MPS);
        Self {
            lateral_acceleration: averaged(&|frame| frame.ay_mps2),
            dynamic_steer: averaged(&|frame| frame.steer_rad - ackermann(frame)),
            steer: averaged(&|frame| frame.steer_rad),
            sideslip: averaged(&|frame| frame.vy_mps.atan2(frame.vx_mps)),
            roll: averaged(&|frame| frame.roll_rad),
            speed: Signal::of(trajectory, |frame| frame.vx_mps).moving_mean(AVERAGING_TIME_S),
        }
    }

    /// Returns the number of the first sample with the largest lateral acceleration.
    fn limit_index(&self) -> usize {
        let samples = self.lateral_acceleration.samples();
        (0..samples.len()).fold(0, |best, k| if samples[k] > samples[best] { k } else { best })
    }

    /// Fits a straight line to `signal` over the lateral acceleration. Uses the samples up to the largest lateral
    /// acceleration whose lateral acceleration is from `low` to `high` (m/s²). `None` if the largest lateral
    /// acceleration does not exceed `high`, or for fewer than two different accelerations.
    fn line(&self, signal: &Signal, [low, high]: [f64; 2]) -> Option<Line> {
        let limit = self.limit_index();
        let acceleration = self.lateral_acceleration.samples();
        let points = acceleration.iter().copied().zip(signal.samples().iter().copied()).take(limit + 1);
        let range_points: Vec<(f64, f64)> = points.filter(|(ay, _)| (low..=high).contains(ay)).collect();
        (acceleration[limit] > high).then(|| fit_line(range_points.into_iter())).flatten()
    }

    /// Returns the steering angle (rad) at `lateral_acceleration` (m/s²) on the straight line that is fitted to the
    /// samples in `fitted_range` (m/s²). `None` if the run does not exceed this range.
    pub(super) fn steer_at(&self, lateral_acceleration: f64, fitted_range: [f64; 2]) -> Option<f64> {
        self.line(&self.steer, fitted_range).map(|line| line.at(lateral_acceleration))
    }

    /// Computes the metrics. The limit is the sample with the largest lateral acceleration. A gradient is `None` if the
    /// run does not exceed its range of lateral acceleration. All are `None` if the car never turns in the direction of
    /// the steering.
    pub(super) fn metrics(&self) -> HandlingMetrics {
        let limit = self.limit_index();
        let max_lateral_acceleration = self.lateral_acceleration.samples()[limit];
        if max_lateral_acceleration <= 0.0 {
            return HandlingMetrics::default();
        }
        let degrees_per_g = |signal: &Signal, range: [f64; 2]| {
            self.line(signal, range).map(|line| (line.slope * GRAVITY_MPS2).to_degrees())
        };
        let linear = |signal: &Signal| degrees_per_g(signal, LINEAR_RANGE_MPS2);
        let limit_range = LIMIT_RANGE.map(|share| share * max_lateral_acceleration);
        HandlingMetrics {
            understeer_gradient_deg_per_g: linear(&self.dynamic_steer),
            sideslip_gradient_deg_per_g: linear(&self.sideslip),
            roll_gradient_deg_per_g: linear(&self.roll),
            limit_understeer_gradient_deg_per_g: degrees_per_g(&self.dynamic_steer, limit_range),
            max_lateral_acceleration_mps2: Some(max_lateral_acceleration),
            limit_steer_deg: Some(self.steer.samples()[limit].to_degrees()),
            limit_sideslip_deg: Some(self.sideslip.samples()[limit].to_degrees()),
            limit_speed_mps: Some(self.speed.samples()[limit]),
        }
    }
}

/// Lower bound of the speed in the Ackermann angle (m/s).
const MIN_SPEED_MPS: f64 = 1.0;

/// Sideslip angle at which a run ends because the car spins (rad): 20°.
const MAX_SIDESLIP_RAD: f64 = 0.35;
/// Lateral acceleration relative to the largest one at which a run ends because the limit is passed (–).
const PASSED_LIMIT_SHARE: f64 = 0.9;

/// Detector of the cornering limit, for the end of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LimitDetector {
    /// Largest magnitude of the lateral acceleration, low-pass filtered (m/s²).
    largest: f64,
    /// Magnitude of the lateral acceleration, low-pass filtered (m/s²).
    filtered: f64,
    /// Whether the limit was passed.
    is_passed: bool,
}

impl LimitDetector {
    /// Time constant of the low-pass (s).
    const FILTER_TIME_S: f64 = 0.5;

    /// Updates the detector with the telemetry row before a step of `dt_s` (s). The limit is passed in two cases: the
    /// sideslip exceeds [`MAX_SIDESLIP_RAD`], or the low-pass filtered lateral acceleration has fallen below 90 % of
    /// its largest value, which must exceed 2 m/s². A passed limit stays passed.
    pub(super) fn update(&mut self, frame: &Frame, dt_s: f64) {
        let share = (dt_s / Self::FILTER_TIME_S).min(1.0);
        self.filtered += share * (frame.ay_mps2.abs() - self.filtered);
        self.largest = self.largest.max(self.filtered);
        let is_spinning = frame.vx_mps > MIN_SPEED_MPS && frame.vy_mps.abs() > MAX_SIDESLIP_RAD * frame.vx_mps;
        let has_fallen = self.largest > 2.0 && self.filtered < PASSED_LIMIT_SHARE * self.largest;
        self.is_passed |= is_spinning || has_fallen;
    }

    /// Returns whether the limit was passed.
    pub(super) fn is_passed(&self) -> bool {
        self.is_passed
    }

    /// Returns the largest low-pass filtered lateral acceleration (m/s²).
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    /// A synthetic car in a right turn with the dynamic angle `K a_y + c a_y⁵`, a sideslip angle of −0.002 rad per m/s² and
    /// a roll angle of 0.01 rad per m/s² has these gradients. Its largest lateral acceleration is 8 m/s².
    #[test]
    fn a_synthetic_car_is_measured_as_made() {
        let (gradient, curvature) = (1.2e-3, 2e-7);
        let run = sampled(0.05, 60.0, |t, frame| {
            // Rises to 8 m/s² in 50 s, then falls.
            let ay = if t < 50.0 { 0.16 * t } else { 8.0 - 0.5 * (t - 50.0) };
            frame.vx_mps = 25.0;
            frame.vy_mps = (0.002 * ay).tan() * 25.0;
            frame.ay_mps2 = -ay;
            frame.yaw_rate_radps = -ay / 25.0;
            frame.steer_rad = -(2.5 * ay / 625.0 + gradient * ay + curvature * ay.powi(5));
            frame.roll_rad = -0.01 * ay;
        });
        let found = HandlingDiagram::new(&model(), &run, -1.0).metrics();
        let close = |value: Option<f64>, expected: f64, tolerance: f64| {
            assert!((value.expect("measured") - expected).abs() < tolerance, "{value:?} {expected}");
        };
        let per_g = |slope: f64| (slope * GRAVITY_MPS2).to_degrees();
        // The term of fifth order adds 4 % in the fitted range.
        close(found.understeer_gradient_deg_per_g, per_g(gradient), 0.06 * per_g(gradient));
        close(found.sideslip_gradient_deg_per_g, per_g(-0.002), 1e-6);
        close(found.roll_gradient_deg_per_g, per_g(0.01), 1e-6);
        // d/da of K a + c a⁵ at 7 m/s² is K + 5 c a⁴.
        let limit = per_g(gradient + 5.0 * curvature * 7.0f64.powi(4));
        close(found.limit_understeer_gradient_deg_per_g, limit, 0.02 * limit);
        close(found.max_lateral_acceleration_mps2, 8.0, 0.1);
        close(found.limit_speed_mps, 25.0, 1e-9);
    }

    /// The steering angle at 0.3 g of a linear car is exact. A run that does not exceed the fitted range has none.
    #[test]
    fn the_steering_angle_of_a_lateral_acceleration_is_interpolated() {
        let run = |top: f64| {
            sampled(0.05, 20.0, move |t, frame| {
                frame.vx_mps = 22.0;
                frame.ay_mps2 = top * t / 20.0;
                frame.steer_rad = 0.004 * frame.ay_mps2;
            })
        };
        let found = |top: f64| HandlingDiagram::new(&model(), &run(top), 1.0).steer_at(2.943, [0.981, 3.679]);
        assert!((found(5.0).expect("covered") - 0.004 * 2.943).abs() < 1e-9);
        assert_eq!(found(3.0), None);
        let straight = sampled(0.1, 5.0, |_, _| {});
        assert_eq!(HandlingDiagram::new(&model(), &straight, 1.0).metrics(), HandlingMetrics::default());
    }

    /// The detector reports a fall of the lateral acceleration and a spin, but not a steady turn.
    #[test]
    fn the_limit_is_detected_once() {
        let mut detector = LimitDetector::default();
        let steady = Frame { vx_mps: 20.0, ay_mps2: -6.0, ..Frame::default() };
        (0..500).for_each(|_| detector.update(&steady, 0.01));
        assert!(!detector.is_passed() && (detector.largest() - 6.0).abs() < 0.01);
        let spinning = Frame { vy_mps: 9.0, ..steady.clone() };
        let mut spin = detector;
        spin.update(&spinning, 0.01);
        assert!(spin.is_passed());
        let weak = Frame { ay_mps2: 4.0, ..steady };
        (0..500).for_each(|_| detector.update(&weak, 0.01));
        assert!(detector.is_passed());
    }
}
