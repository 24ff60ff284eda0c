//! Elk test: search for the highest entry speed at which the car passes the course of ISO 3888-2 without hitting a
//! cone.

use skidpad_core::Model;

use super::lane_change::{LaneChange, LaneChangeCourse, LaneChangeMetrics};
use super::limit_search::LimitSearch;
use super::procedure::{Evaluation, Procedure, Runner};
use super::{KMH_100, Setup, StartRequirements};
use crate::metrics::metrics;

/// Obstacle avoidance of ISO 3888-2 at rising entry speeds. The throttle is released 2 m after the entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElkTest {
    /// Entry speeds (km/h).
    pub speeds_kmh: LimitSearch,
}

impl Default for ElkTest {
    /// Returns entry speeds from 30 to 110 km/h in steps of 5 km/h, then of 1 km/h.
    fn default() -> Self {
        Self { speeds_kmh: LimitSearch { lowest: 30.0, coarse_steps: 16, fine_per_coarse: 5, fine_step: 1.0 } }
    }
}

metrics! {
    /// Results of the search. Values of a run are those at the highest entry speed that passed.
    ElkTestMetrics {
        highest_speed_kmh, "km/h", 0, "Highest entry speed without a cone hit", "Highest passed speed below the lowest failed one.";
        lowest_failed_speed_kmh, "km/h", 0, "Lowest entry speed with a cone hit", "Also counts runs that did not reach the end of the course.";
        exit_speed_kmh, "km/h", 1, "Exit speed at the highest entry speed", "When the front of the body passes the last cones.";
        least_clearance_mm, "mm", 0, "Minimum clearance at the highest entry speed", "Lateral distance between the outline of the body and the nearest cone.";
        wheels_lifted, "-", 0, "Lifted wheels at the highest entry speed", "Wheels without load at any time.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration at the highest entry speed", "Largest absolute value.";
        peak_yaw_rate_degps, "deg/s", 2, "Peak yaw rate at the highest entry speed", "Largest absolute value.";
        peak_steer_deg, "deg", 2, "Peak road-wheel angle at the highest entry speed", "Largest absolute mean road-wheel angle.";
        runs, "-", 0, "Runs", "Number of runs of the search.";
    }
}

impl ElkTest {
    /// Returns the run at `speed_kmh` (km/h).
    fn run_at(speed_kmh: f64) -> LaneChange {
        LaneChange { course: LaneChangeCourse::Obstacle, speed_mps: Some(speed_kmh / 100.0 * KMH_100) }
    }
}

impl Procedure for ElkTest {
    fn name(&self) -> &'static str {
        "elk-test"
    }
    fn about(&self) -> String {
        let LimitSearch { lowest, coarse_steps, fine_per_coarse, fine_step } = self.speeds_kmh;
        let highest = lowest + fine_step * f64::from(coarse_steps * fine_per_coarse);
        format!(
            "course of ISO 3888-2 between cones at entry speeds from {lowest:.0} to {highest:.0} km/h until a cone is hit, \
             coasting from 2 m after the first cones"
        )
    }
    fn setup(&self, model: &Model) -> Setup {
        Self::run_at(self.speeds_kmh.lowest).setup(model)
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED.from_origin()
    }
    fn cones(&self, model: &Model) -> Vec<(f64, f64)> {
        Self::run_at(self.speeds_kmh.lowest).cones(model)
    }
    fn max_runs(&self) -> u32 {
        self.speeds_kmh.max_runs()
    }
    /// Searches the highest passing entry speed. A run passes if it hits no cone and reaches the end of the course.
    /// Telemetry and values of a run are those of the last run that passed. If none passed, the telemetry is that of
    /// the first run, and these values are missing.
    fn execute(&self, model: &Model, runner: &mut dyn Runner) -> Evaluation {
        let mut best_run = None;
        let mut best = LaneChangeMetrics::default();
        let found = self.speeds_kmh.run(|speed_kmh| {
            let run = Self::run_at(speed_kmh);
            let trajectory = runner.drive(&run);
            let measured = run.measure(model, &trajectory);
            let has_passed = measured.cones_hit == Some(0.0);
            if has_passed || best_run.is_none() {
                best = if has_passed { measured } else { LaneChangeMetrics::default() };
                best_run = Some((run, trajectory));
            }
            has_passed
        });
        let to_kmh = |speed: f64| speed / KMH_100 * 100.0;
        let metrics = ElkTestMetrics {
            highest_speed_kmh: found.highest_pass,
            lowest_failed_speed_kmh: found.lowest_fail,
            exit_speed_kmh: best.exit_speed_mps.map(to_kmh),
            least_clearance_mm: best.least_clearance_mm,
            wheels_lifted: best.wheels_lifted,
            peak_lateral_acceleration_mps2: best.peak_lateral_acceleration_mps2,
            peak_yaw_rate_degps: best.peak_yaw_rate_degps,
            peak_steer_deg: best.peak_steer_deg,
            runs: Some(f64::from(found.runs)),
        };
        // The search drives at least one run, so this fallback is never used.
        let (run, trajectory) = best_run.unwrap_or_else(|| {
            let run = Self::run_at(self.speeds_kmh.lowest);
            let trajectory = runner.drive(&run);
            (run, trajectory)
        });
        let incomplete = super::Manoeuvre::incomplete_reason(&run, model, &trajectory);
        Evaluation { trajectory, metrics: metrics.list(), incomplete, failed_test: false, curves: Vec::new() }
    }
}
