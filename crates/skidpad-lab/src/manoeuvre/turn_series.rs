//! Series of disturbed turns: ISO 9816 over the lateral acceleration, ISO 7975 over the deceleration.

use skidpad_core::Model;

use super::turn_disturbance::{Disturbance, TurnDisturbance, TurnDisturbanceMetrics};
use super::{Evaluation, Manoeuvre, Procedure, Runner, Setup, StartRequirements};
use crate::metrics::metrics;
use crate::quantity::{ComputedCurve, CurveAxis};

/// Series of runs of a [`TurnDisturbance`] with a rising condition: the lateral acceleration before a power-off, or the
/// deceleration of a braking. It ends after the first condition that the car does not reach, or at the highest one. A
/// run that does not reach its condition is not evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnSeries {
    /// Manoeuvre whose condition varies.
    pub run: TurnDisturbance,
    /// First condition (m/s²), > 0. The following ones are higher by [`CONDITION_STEP_MPS2`].
    pub first_mps2: f64,
    /// Highest condition (m/s²).
    pub last_mps2: f64,
}

/// Step between successive conditions (m/s²).
pub const CONDITION_STEP_MPS2: f64 = 1.0;
/// Share of a condition that a run must reach (–).
const MIN_REACHED_SHARE: f64 = 0.9;
/// Largest path error before the disturbance, relative to the radius (–).
const MAX_PATH_ERROR_SHARE: f64 = 0.02;

metrics! {
    /// Extreme values of all runs. Signs are those of a left turn.
    TurnSeriesMetrics {
        highest_condition_mps2, "m/s²", 1, "Highest condition reached", "Lateral acceleration before the power-off, or deceleration of the braking.";
        largest_yaw_rate_ratio_1s, "-", 3, "Largest yaw rate over reference yaw rate after 1 s", "Above 1 the car turns into the circle.";
        smallest_yaw_rate_ratio_1s, "-", 3, "Smallest yaw rate over reference yaw rate after 1 s", "Below 1 the car leaves the circle.";
        largest_sideslip_deg, "deg", 3, "Largest absolute sideslip angle", "In the two seconds after the disturbance.";
        condition_at_largest_sideslip_mps2, "m/s²", 1, "Condition of the largest sideslip angle", "Lateral acceleration before the power-off, or deceleration of the braking.";
        largest_inward_deviation_m, "m", 3, "Largest path deviation to the inside after 2 s", "0 if no run deviates to the inside.";
        largest_outward_deviation_m, "m", 3, "Largest path deviation to the outside after 2 s", "0 if no run deviates to the outside.";
    }
}

/// Condition of a run (m/s²), and its metrics.
type EvaluatedRun = (f64, TurnDisturbanceMetrics);

impl TurnSeries {
    /// Power-off on 100 m from 2 m/s² to the limit.
    pub const POWER_OFF: Self = Self { run: TurnDisturbance::POWER_OFF, first_mps2: 2.0, last_mps2: 12.0 };
    /// Braking on 100 m at 5 m/s², from 2 m/s² to the limit.
    pub const BRAKING: Self = Self { run: TurnDisturbance::BRAKING, first_mps2: 2.0, last_mps2: 12.0 };

    /// Returns the conditions (m/s²), ascending.
    fn conditions(&self) -> impl Iterator<Item = f64> {
        let count = ((self.last_mps2 - self.first_mps2) / CONDITION_STEP_MPS2).floor() as u32;
        let first = self.first_mps2;
        (0..=count).map(move |i| first + CONDITION_STEP_MPS2 * f64::from(i))
    }

    /// Returns the run with `condition` (m/s²).
    fn run_at(&self, condition: f64) -> TurnDisturbance {
        match self.run.disturbance {
            Disturbance::PowerOff => TurnDisturbance { lateral_acceleration_mps2: condition, ..self.run },
            Disturbance::Braking(_) => TurnDisturbance { disturbance: Disturbance::Braking(condition), ..self.run },
        }
    }

    /// Returns true if a run counts: its condition value is at least 90 % of `condition` (m/s²), and the path error
    /// before the disturbance is at most 2 % of the radius. Returns false for a run without metrics, because it ended
    /// too early.
    fn has_reached(&self, run: &TurnDisturbanceMetrics, condition: f64) -> bool {
        let is_on_circle = |error: f64| error.abs() <= MAX_PATH_ERROR_SHARE * self.run.radius_m.abs();
        run.initial_path_error_m.is_some_and(is_on_circle)
            && self.reached(run).is_some_and(|value| value >= MIN_REACHED_SHARE * condition)
    }

    /// Returns the value of the condition in a run (m/s²): lateral acceleration before the power-off, or mean
    /// deceleration of the braking. `None` for a run without metrics.
    fn reached(&self, run: &TurnDisturbanceMetrics) -> Option<f64> {
        match self.run.disturbance {
            Disturbance::PowerOff => run.initial_lateral_acceleration_mps2,
            Disturbance::Braking(_) => run.mean_deceleration_mps2,
        }
    }

    /// Computes the extreme values of `runs`, which are in ascending order of their conditions. All are `None` without
    /// runs.
    fn measure(&self, runs: &[EvaluatedRun]) -> TurnSeriesMetrics {
        let extreme = |value: fn(&TurnDisturbanceMetrics) -> Option<f64>, sign: f64| {
            let values = runs.iter().filter_map(|(_, run)| value(run));
            values.max_by(|a, b| (sign * a).total_cmp(&(sign * b)))
        };
        let sideslip = |(_, run): &&EvaluatedRun| run.peak_sideslip_deg.unwrap_or(0.0);
        let most_sideslip = runs.iter().max_by(|a, b| sideslip(a).total_cmp(&sideslip(b)));
        TurnSeriesMetrics {
            highest_condition_mps2: runs.last().map(|(condition, _)| *condition),
            largest_yaw_rate_ratio_1s: extreme(|run| run.yaw_rate_ratio_1s, 1.0),
            smallest_yaw_rate_ratio_1s: extreme(|run| run.yaw_rate_ratio_1s, -1.0),
            largest_sideslip_deg: most_sideslip.and_then(|(_, run)| run.peak_sideslip_deg),
            condition_at_largest_sideslip_mps2: most_sideslip.map(|(condition, _)| *condition),
            largest_inward_deviation_m: extreme(|run| run.path_deviation_2s_m, 1.0).map(|value| value.max(0.0)),
            largest_outward_deviation_m: extreme(|run| run.path_deviation_2s_m, -1.0).map(|value| (-value).max(0.0)),
        }
    }

    /// Computes three curves over the condition that each run reached: yaw rate ratio and change of the sideslip angle
    /// after 1 s, path deviation after 2 s. Runs without a value are left out.
    fn curves(&self, runs: &[EvaluatedRun]) -> Vec<ComputedCurve> {
        let label = match self.run.disturbance {
            Disturbance::PowerOff => "lateral acceleration before",
            Disturbance::Braking(_) => "mean deceleration",
        };
        let x = CurveAxis { label, unit: "m/s²", min_span: CONDITION_STEP_MPS2 };
        let curve = |title, y: CurveAxis, value: fn(&TurnDisturbanceMetrics) -> Option<f64>| {
            let point = |(_, run): &EvaluatedRun| Some([self.reached(run)?, value(run)?]);
            ComputedCurve { title, x, y, points: runs.iter().filter_map(point).collect(), has_markers: true }
        };
        let axis = |label, unit, min_span| CurveAxis { label, unit, min_span };
        vec![
            curve("Yaw rate after 1 s", axis("yaw rate ratio", "-", 0.1), |run| run.yaw_rate_ratio_1s),
            curve("Sideslip angle after 1 s", axis("change of the sideslip angle", "deg", 0.5), |run| {
                run.sideslip_change_1s_deg
            }),
            curve("Path after 2 s", axis("deviation to the inside", "m", 0.5), |run| run.path_deviation_2s_m),
        ]
    }
}

impl Procedure for TurnSeries {
    fn name(&self) -> &'static str {
        match self.run.disturbance {
            Disturbance::PowerOff => "power-off-series",
            Disturbance::Braking(_) => "braking-series",
        }
    }
    /// Describes the turns and the condition that rises: lateral acceleration before a power-off, or deceleration of a
    /// braking.
    fn about(&self) -> String {
        let varied = match self.run.disturbance {
            Disturbance::PowerOff => "lateral acceleration before the throttle is released",
            Disturbance::Braking(_) => "deceleration of the braking",
        };
        format!(
            "turns of {:.0} m radius with fixed steering after the disturbance; {varied} from {:.0} m/s² in steps of {:.0} \
             m/s² to the limit of the car",
            self.run.radius_m, self.first_mps2, CONDITION_STEP_MPS2
        )
    }
    /// Returns the setup of the run with the first condition.
    fn setup(&self, model: &Model) -> Setup {
        Manoeuvre::setup(&self.run_at(self.first_mps2), model)
    }
    fn start_requirements(&self) -> StartRequirements {
        Manoeuvre::start_requirements(&self.run)
    }
    fn cones(&self, _model: &Model) -> Vec<(f64, f64)> {
        Vec::new()
    }
    fn max_runs(&self) -> u32 {
        self.conditions().count() as u32
    }
    /// Drives the conditions in ascending order, up to the first one that the car does not reach. The telemetry is that
    /// of the last run that counts, or of the first run if none counts.
    fn execute(&self, _model: &Model, runner: &mut dyn Runner) -> Evaluation {
        let mut runs: Vec<EvaluatedRun> = Vec::new();
        let mut shown = None;
        for condition in self.conditions() {
            let run = self.run_at(condition);
            let trajectory = runner.drive(&run);
            let metrics = run.measure(&trajectory);
            let is_reached = self.has_reached(&metrics, condition);
            if is_reached {
                runs.push((condition, metrics));
            }
            if is_reached || shown.is_none() {
                shown = Some(trajectory);
            }
            if !is_reached {
                break;
            }
        }
        let trajectory = shown.unwrap_or_else(|| runner.drive(&self.run_at(self.first_mps2)));
        Evaluation {
            trajectory,
            metrics: self.measure(&runs).list(),
            incomplete: None,
            failed_test: false,
            curves: self.curves(&runs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};
    use crate::trajectory::Trajectory;

    /// Runner of a synthetic car with a largest lateral acceleration.
    struct LimitedCar {
        /// Largest lateral acceleration (m/s²).
        limit_mps2: f64,
        /// Number of runs.
        runs: u32,
    }

    impl Runner for LimitedCar {
        fn drive(&mut self, manoeuvre: &dyn Manoeuvre) -> Trajectory {
            self.runs += 1;
            let speed = f64::from(manoeuvre.setup(&model()).placement.speed);
            let reached = (speed * speed / 100.0).min(self.limit_mps2);
            sampled(0.01, 15.0, |t, frame| {
                (frame.vx_mps, frame.ay_mps2) = (speed, reached);
                let angle = speed * t / 100.0;
                (frame.x_m, frame.y_m) = (100.0 * angle.sin(), 100.0 - 100.0 * angle.cos());
                // 12 s: time of the disturbance. The ratio of the yaw rate rises with the acceleration.
                let gain = if t > 12.0 { 1.0 + 0.01 * reached } else { 1.0 };
                frame.yaw_rate_radps = gain * speed / 100.0;
            })
        }
    }

    /// A car with a limit of 7.5 m/s² is driven at 2 to 8 m/s² (93.75 % of the condition) and tried at 9 m/s². The curves
    /// have a point for each condition, and the largest ratio is that of the limit.
    #[test]
    fn the_series_ends_at_the_limit_of_the_car() {
        let mut car = LimitedCar { limit_mps2: 7.5, runs: 0 };
        let evaluation = TurnSeries::POWER_OFF.execute(&model(), &mut car);
        assert_eq!(car.runs, 8);
        let value = |name: &str| {
            let metric = evaluation.metrics.iter().find(|metric| metric.name == name);
            metric.and_then(|metric| metric.value).expect("measured")
        };
        assert_eq!(value("highest_condition_mps2"), 8.0);
        assert!((value("largest_yaw_rate_ratio_1s") - 1.075).abs() < 1e-6);
        assert!((value("smallest_yaw_rate_ratio_1s") - 1.02).abs() < 1e-6);
        let counts: Vec<usize> = evaluation.curves.iter().map(|curve| curve.points.len()).collect();
        assert_eq!(counts, [7, 7, 7]);
        let last = evaluation.curves[0].points[6];
        assert!((last[0] - 7.5).abs() < 1e-6 && (last[1] - 1.075).abs() < 1e-6, "{last:?}");
    }

    /// A car that does not reach the first condition has no metrics, and the first run is shown.
    #[test]
    fn a_car_below_the_first_condition_has_no_values() {
        let mut car = LimitedCar { limit_mps2: 1.0, runs: 0 };
        let evaluation = TurnSeries::POWER_OFF.execute(&model(), &mut car);
        assert_eq!(car.runs, 1);
        assert!(evaluation.metrics.iter().all(|metric| metric.value.is_none()));
        assert!(evaluation.trajectory.row_count() > 0);
    }
}
