//! FMVSS 126 (49 CFR 571.126): series of sines with dwell of rising amplitude.

use skidpad_core::Model;

use super::procedure::{Evaluation, Procedure, Runner};
use super::sine_with_dwell::{SineWithDwell, SineWithDwellMetrics};
use super::slow_turn::RampSteer;
use super::{KMH_100, Setup, StartRequirements};
use crate::closed_form::GRAVITY_MPS2;
use crate::lost_control::LostControl;
use crate::metrics::metrics;
use crate::steering_wheel::SteeringWheel;
use crate::trajectory::Trajectory;

/// Slowly increasing steer in both directions, then sines with dwell in both directions with rising amplitude. A failed
/// run ends the series of its direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StabilityTest {
    /// Speed of all runs (m/s), > 1.
    pub speed_mps: f64,
}

impl Default for StabilityTest {
    fn default() -> Self {
        Self { speed_mps: 0.8 * KMH_100 }
    }
}

metrics! {
    /// Results of all runs. Amplitudes are steering-wheel angles.
    StabilityMetrics {
        steering_ratio, "-", 1, "Steering ratio", "Steering-wheel angle per mean road-wheel angle: that of the vehicle file, or 16 if it states none.";
        steering_at_0_3g_deg, "deg", 1, "Steering-wheel angle A at 0.3 g", "Mean magnitude of both directions, from the slowly increasing steer.";
        largest_amplitude_deg, "deg", 1, "Largest steering-wheel angle driven", "Largest magnitude in both directions. Below the amplitude of the sine if the steering of the car is too slow or its lock too small for it.";
        planned_amplitude_deg, "deg", 1, "Last steering-wheel angle of the series", "The larger of 6.5 A and 270°, at most 300°.";
        runs, "-", 0, "Sines with dwell driven", "Number of runs in both directions.";
        worst_ratio_1s_percent, "%", 1, "Largest yaw rate ratio after 1.0 s", "Accepted: at most 35 %.";
        worst_ratio_1_75s_percent, "%", 1, "Largest yaw rate ratio after 1.75 s", "Accepted: at most 20 %.";
        least_displacement_m, "m", 2, "Smallest lateral displacement from 5 A on", "Smallest displacement 1.07 s after the beginning of steer, of amplitudes of at least 5 A. Accepted: at least 1.83 m up to 3500 kg, otherwise 1.52 m.";
        failed_amplitude_deg, "deg", 1, "Smallest steering-wheel angle that failed", "Smallest amplitude of a failed run; no value if none failed.";
        passed, "-", 0, "Passed (1) or failed (0)", "1 if the series was driven to its last amplitude in both directions and every run passed. A car that rolls over fails.";
    }
}

/// Lateral acceleration at which the steering-wheel angle `A` is measured (g).
const REFERENCE_ACCELERATION_G: f64 = 0.3;
/// Range of the linear regression of the angle `A` (g), of NHTSA's laboratory test procedure TP-126.
const REGRESSION_RANGE_G: [f64; 2] = [0.1, 0.375];
/// Lateral acceleration at which the slowly increasing steer ends (g).
const END_ACCELERATION_G: f64 = 0.5;
/// Rate of the steering wheel in the slowly increasing steer (°/s).
const SLOW_STEER_RATE_DEGPS: f64 = 13.5;
/// First amplitude and interval of the series, in multiples of `A` (–).
const FIRST_AMPLITUDE_FACTOR: f64 = 1.5;
const AMPLITUDE_INTERVAL_FACTOR: f64 = 0.5;
/// Last amplitude in multiples of `A` (–), the smallest last amplitude and the largest amplitude (°).
const LAST_AMPLITUDE_FACTOR: f64 = 6.5;
const MIN_LAST_AMPLITUDE_DEG: f64 = 270.0;
const MAX_AMPLITUDE_DEG: f64 = 300.0;
/// Amplitude from which on the lateral displacement is judged, in multiples of `A` (–).
const DISPLACEMENT_FACTOR: f64 = 5.0;
/// Accepted yaw rate ratios after 1.0 and 1.75 s (%).
const MAX_RATIO_1S_PERCENT: f64 = 35.0;
const MAX_RATIO_1_75S_PERCENT: f64 = 20.0;
/// Mass up to which a vehicle counts as light (kg), and the accepted displacements of light and heavy vehicles (m).
const LIGHT_MASS_KG: f64 = 3500.0;
const MIN_DISPLACEMENT_LIGHT_M: f64 = 1.83;
const MIN_DISPLACEMENT_HEAVY_M: f64 = 1.52;
/// Maximum number of amplitudes per direction. A very direct steering has a small `A`, so that the interval is raised.
const MAX_AMPLITUDES: u32 = 40;

/// Returns the slowly increasing steer of FMVSS 126 and of NHTSA's rollover tests, to the left for `turn_sign` 1 and to
/// the right for −1, at `speed_mps` (m/s).
pub(super) fn slowly_increasing_steer(speed_mps: f64, wheel: SteeringWheel, turn_sign: f64) -> RampSteer {
    RampSteer {
        speed_mps,
        steer_rate_radps: turn_sign * wheel.road_wheel_rad(SLOW_STEER_RATE_DEGPS),
        end_lateral_acceleration_mps2: END_ACCELERATION_G * GRAVITY_MPS2,
    }
}

/// Drives the slowly increasing steer to the left and to the right. Returns the mean magnitude of the steering-wheel
/// angle at 0.3 g (°), rounded to 0.1°, and the telemetry of the run to the right. The angle is `None` if a run does
/// not exceed the range of the regression, or if the rounded angle is not positive.
pub(super) fn steering_at_0_3g(
    model: &Model,
    runner: &mut dyn Runner,
    speed_mps: f64,
    wheel: SteeringWheel,
) -> (Option<f64>, Trajectory) {
    let mut drive = |turn_sign: f64| {
        let ramp = slowly_increasing_steer(speed_mps, wheel, turn_sign);
        let trajectory = runner.drive(&ramp);
        let [reference, low, high] =
            [REFERENCE_ACCELERATION_G, REGRESSION_RANGE_G[0], REGRESSION_RANGE_G[1]].map(|g| g * GRAVITY_MPS2);
        (ramp.steer_at(model, &trajectory, reference, [low, high]), trajectory)
    };
    let ((left, _), (right, trajectory)) = (drive(1.0), drive(-1.0));
    let mean = left.zip(right).map(|(left, right)| 0.5 * wheel.wheel_deg(left + right));
    (mean.map(|degrees| (10.0 * degrees).round() / 10.0).filter(|degrees| *degrees > 0.0), trajectory)
}

impl StabilityTest {
    /// Returns the amplitudes of the series (°), ascending, for the angle `at_0_3g` (A, °). The first amplitude is 1.5
    /// A. The last one is the larger of 6.5 A and 270°, at most 300°. The interval is 0.5 A, raised if the series would
    /// have more than `MAX_AMPLITUDES` runs; the last interval may be shorter.
    pub fn amplitudes_deg(at_0_3g: f64) -> Vec<f64> {
        let last = (LAST_AMPLITUDE_FACTOR * at_0_3g).clamp(MIN_LAST_AMPLITUDE_DEG, MAX_AMPLITUDE_DEG);
        let first = (FIRST_AMPLITUDE_FACTOR * at_0_3g).min(last);
        let interval = (AMPLITUDE_INTERVAL_FACTOR * at_0_3g).max((last - first) / f64::from(MAX_AMPLITUDES - 1));
        // Number of intervals that end clearly before the last amplitude; 1e-9 covers rounding.
        let count = ((last - first) / interval - 1e-9).floor().max(0.0) as u32;
        let steps = (0..=count).map(|k| first + interval * f64::from(k));
        steps.chain([last]).filter(|amplitude| *amplitude <= last).fold(Vec::new(), |mut series, amplitude| {
            // The last step may be the last amplitude.
            if series.last().is_none_or(|previous| amplitude - previous > 1e-6) {
                series.push(amplitude);
            }
            series
        })
    }

    /// Returns true if a run passes: both yaw rate ratios are within their limits and, for amplitudes of at least 5 A,
    /// the displacement is large enough. `amplitude_ratio` is the amplitude over A (–). A missing value fails.
    fn passes(model: &Model, run: &SineWithDwellMetrics, amplitude_ratio: f64) -> bool {
        let is_within = |value: Option<f64>, limit: f64| value.is_some_and(|ratio| ratio.abs() <= limit);
        let is_far = amplitude_ratio < DISPLACEMENT_FACTOR
            || run.displacement_m.is_some_and(|displacement| displacement >= min_displacement_m(model));
        is_within(run.yaw_rate_ratio_1s_percent, MAX_RATIO_1S_PERCENT)
            && is_within(run.yaw_rate_ratio_1_75s_percent, MAX_RATIO_1_75S_PERCENT)
            && is_far
    }
}

/// Returns the smallest accepted displacement of `model` (m).
fn min_displacement_m(model: &Model) -> f64 {
    if f64::from(model.mass()) <= LIGHT_MASS_KG { MIN_DISPLACEMENT_LIGHT_M } else { MIN_DISPLACEMENT_HEAVY_M }
}

/// Returns the larger one of two values of which one may be missing.
fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).max_by(f64::total_cmp)
}

/// Returns the smaller one of two values of which one may be missing.
fn smaller(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).min_by(f64::total_cmp)
}

impl Procedure for StabilityTest {
    fn name(&self) -> &'static str {
        "fmvss-126"
    }
    fn about(&self) -> String {
        format!(
            "slowly increasing steer, then sines with dwell of 0.7 Hz at {:.1} m/s in both directions, with amplitudes up to \
             the larger of {LAST_AMPLITUDE_FACTOR} times the steering-wheel angle at 0.3 g and {MIN_LAST_AMPLITUDE_DEG}°, at \
             most {MAX_AMPLITUDE_DEG}°",
            self.speed_mps
        )
    }
    /// Returns the setup of the slowly increasing steer, which is the first run.
    fn setup(&self, model: &Model) -> Setup {
        slowly_increasing_steer(self.speed_mps, SteeringWheel::of(model), 1.0).setup(model)
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED.on_level_ground()
    }
    fn cones(&self, _model: &Model) -> Vec<(f64, f64)> {
        Vec::new()
    }
    /// Returns two slow runs and twice the maximum number of amplitudes.
    fn max_runs(&self) -> u32 {
        2 + 2 * MAX_AMPLITUDES
    }
    /// Drives the slowly increasing steer, then the series of amplitudes to the left and to the right. A run also fails
    /// if the car rolls over. A failed run ends the series of its direction. It also limits the second direction to
    /// amplitudes up to its own. The telemetry is that of the failed run with the smallest amplitude (the later one of
    /// equals), or of the last run if none failed.
    ///
    /// There is no series if the car does not reach the lateral accelerations of the regression; `passed` then has no
    /// value.
    fn execute(&self, model: &Model, runner: &mut dyn Runner) -> Evaluation {
        let wheel = SteeringWheel::of(model);
        let (at_0_3g, mut shown) = steering_at_0_3g(model, runner, self.speed_mps, wheel);
        let mut result = StabilityMetrics {
            steering_ratio: Some(wheel.ratio),
            steering_at_0_3g_deg: at_0_3g,
            ..StabilityMetrics::default()
        };
        let series = at_0_3g.map(Self::amplitudes_deg).unwrap_or_default();
        let mut run_count = 0;
        for direction in [1.0, -1.0] {
            for amplitude in &series {
                // A failed run of the first direction also limits the second one to its amplitude.
                if result.failed_amplitude_deg.is_some_and(|failed| *amplitude > failed) {
                    break;
                }
                let run = SineWithDwell { speed_mps: self.speed_mps, amplitude_deg: direction * amplitude, wheel };
                let trajectory = runner.drive(&run);
                let found = run.measure(&trajectory);
                run_count += 1;
                // Amplitude over A (–), with a tolerance for rounding.
                let amplitude_ratio = at_0_3g.map_or(0.0, |angle| amplitude / angle + 1e-9);
                // The telemetry has the angle of the first steered axle.
                let wheel_angle = |steer_rad: f64| wheel.wheel_deg(steer_rad.abs() / f64::from(model.steer_ratio()));
                let driven_amplitude = trajectory.rows().map(|row| wheel_angle(row.steer_rad)).max_by(f64::total_cmp);
                result.largest_amplitude_deg = larger(result.largest_amplitude_deg, driven_amplitude);
                let magnitude = |ratio: Option<f64>| ratio.map(f64::abs);
                result.worst_ratio_1s_percent =
                    larger(result.worst_ratio_1s_percent, magnitude(found.yaw_rate_ratio_1s_percent));
                result.worst_ratio_1_75s_percent =
                    larger(result.worst_ratio_1_75s_percent, magnitude(found.yaw_rate_ratio_1_75s_percent));
                let judged_displacement = found.displacement_m.filter(|_| amplitude_ratio >= DISPLACEMENT_FACTOR);
                result.least_displacement_m = smaller(result.least_displacement_m, judged_displacement);
                // A car on its side has no yaw rate, so that both ratios pass.
                let has_failed =
                    !Self::passes(model, &found, amplitude_ratio) || LostControl::has_rolled_over(&trajectory);
                if has_failed || result.failed_amplitude_deg.is_none() {
                    shown = trajectory;
                }
                if has_failed {
                    result.failed_amplitude_deg = smaller(result.failed_amplitude_deg, Some(*amplitude));
                    break;
                }
            }
        }
        result.planned_amplitude_deg = series.last().copied();
        result.runs = Some(f64::from(run_count));
        result.passed = at_0_3g.map(|_| if result.failed_amplitude_deg.is_none() { 1.0 } else { 0.0 });
        let failed_test = result.passed == Some(0.0);
        Evaluation { trajectory: shown, metrics: result.list(), incomplete: None, failed_test, curves: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::model;

    /// The series of the standard: 1.5 A with steps of 0.5 A up to 6.5 A if this exceeds 270°, otherwise 270°, at most
    /// 300°.
    #[test]
    fn amplitudes_are_those_of_the_standard() {
        let series = StabilityTest::amplitudes_deg(44.0);
        assert_eq!(series.len(), 11);
        assert!((series[0] - 66.0).abs() < 1e-9 && (series[10] - 286.0).abs() < 1e-9, "{series:?}");
        let series = StabilityTest::amplitudes_deg(30.0);
        assert!((series[1] - 60.0).abs() < 1e-9 && series.last() == Some(&270.0), "{series:?}");
        let series = StabilityTest::amplitudes_deg(60.0);
        assert_eq!(series.last(), Some(&300.0));
        // Very direct steering: limited number of runs.
        let series = StabilityTest::amplitudes_deg(0.5);
        assert!(series.len() <= MAX_AMPLITUDES as usize + 1 && series.last() == Some(&270.0), "{}", series.len());
    }

    /// A run passes at the limits. The displacement is judged from 5 A on, and a missing ratio fails.
    #[test]
    fn runs_are_judged_by_the_limits_of_the_standard() {
        let run = SineWithDwellMetrics {
            yaw_rate_ratio_1s_percent: Some(35.0),
            yaw_rate_ratio_1_75s_percent: Some(-20.0),
            displacement_m: Some(1.82),
            ..SineWithDwellMetrics::default()
        };
        assert!(StabilityTest::passes(&model(), &run, 4.5));
        assert!(!StabilityTest::passes(&model(), &run, 5.0));
        let far = SineWithDwellMetrics { displacement_m: Some(1.83), ..run };
        assert!(StabilityTest::passes(&model(), &far, 5.0));
        let spinning = SineWithDwellMetrics { yaw_rate_ratio_1s_percent: Some(35.1), ..far };
        assert!(!StabilityTest::passes(&model(), &spinning, 5.0));
        let unknown = SineWithDwellMetrics { yaw_rate_ratio_1_75s_percent: None, ..far };
        assert!(!StabilityTest::passes(&model(), &unknown, 5.0));
    }
}
