//! Gradeability: steepest grade on which the car restarts, found by bisection over restarts on a hill.

use skidpad_core::Model;

use super::hill_start::HillStart;
use super::{Evaluation, Procedure, Runner, Setup, StartRequirements};
use crate::metrics::metrics;

/// Search for the steepest grade on which [`HillStart`] succeeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradeability {
    /// Restart, whose slope is searched.
    pub restart: HillStart,
    /// Steepest searched grade (–, tangent of the slope), > 0.
    pub max_grade: f64,
    /// Number of bisections. Each halves the uncertainty.
    pub bisections: u32,
}

impl Default for Gradeability {
    fn default() -> Self {
        // 1.2 / 2^9: the grade is known to 0.24 percentage points.
        let restart = HillStart { duration_s: 10.0, ..HillStart::default() };
        Self { restart, max_grade: 1.2, bisections: 9 }
    }
}

metrics! {
    /// Result of the search.
    GradeabilityMetrics {
        gradeability_percent, "%", 1, "Gradeability", "Steepest grade on which the car restarts: tangent of the slope.";
        gradeability_deg, "deg", 2, "Steepest slope", "Angle of the steepest grade on which the car restarts.";
        uncertainty_percent, "%", 2, "Uncertainty of the gradeability", "Distance to the next steeper grade that was tried, in percentage points.";
        rollback_mm, "mm", 1, "Rollback on the steepest grade", "Largest distance downhill after the release of the brake.";
    }
}

impl Procedure for Gradeability {
    fn name(&self) -> &'static str {
        "gradeability"
    }
    fn about(&self) -> String {
        let grade = 100.0 * self.max_grade;
        format!("restarts on slopes up to {grade:.0} %, bisected for the steepest grade on which the car drives off")
    }
    fn setup(&self, model: &Model) -> Setup {
        Procedure::setup(&self.restart, model)
    }
    fn start_requirements(&self) -> StartRequirements {
        Procedure::start_requirements(&self.restart).on_own_ground()
    }
    fn cones(&self, _model: &Model) -> Vec<(f64, f64)> {
        Vec::new()
    }
    fn max_runs(&self) -> u32 {
        self.bisections + 1
    }
    /// Drives the steepest grade first. If the car does not restart there, bisects between level ground and that grade.
    /// The gradeability is the steepest grade with a restart, without a value if there is none. The telemetry is that
    /// of this restart, or of the last attempt if there is none.
    fn execute(&self, _model: &Model, runner: &mut dyn Runner) -> Evaluation {
        let mut attempt = |grade: f64| {
            let restart = HillStart { slope_rad: grade.atan(), ..self.restart };
            let trajectory = runner.drive(&restart);
            (restart.has_restarted(&trajectory), trajectory)
        };
        let (has_restarted, mut shown) = attempt(self.max_grade);
        let mut best = has_restarted.then_some(self.max_grade);
        // Grades between which the limit is.
        let (mut low, mut high) = (0.0, self.max_grade);
        if !has_restarted {
            for _ in 0..self.bisections {
                let grade = 0.5 * (low + high);
                let (has_restarted, trajectory) = attempt(grade);
                if has_restarted {
                    (low, best, shown) = (grade, Some(grade), trajectory);
                } else {
                    high = grade;
                    if best.is_none() {
                        shown = trajectory;
                    }
                }
            }
        }
        let rollback_mm = best.and_then(|_| self.restart.measure(&shown).rollback_mm);
        let metrics = GradeabilityMetrics {
            gradeability_percent: best.map(|grade| 100.0 * grade),
            gradeability_deg: best.map(|grade| grade.atan().to_degrees()),
            uncertainty_percent: best.map(|grade| 100.0 * (high - grade)),
            rollback_mm,
        };
        Evaluation {
            trajectory: shown,
            metrics: metrics.list(),
            incomplete: None,
            failed_test: false,
            curves: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manoeuvre::Manoeuvre;
    use crate::testing::{model, sampled};
    use crate::trajectory::Trajectory;

    /// Runner of a car that restarts on grades up to a limit.
    struct LimitedCar {
        /// Steepest grade (–).
        limit: f64,
        /// Number of runs.
        runs: u32,
    }

    impl Runner for LimitedCar {
        fn drive(&mut self, manoeuvre: &dyn Manoeuvre) -> Trajectory {
            self.runs += 1;
            let grade = f64::from(manoeuvre.setup(&model()).scene.slope.tan());
            let speed = if grade <= self.limit { 1.0 } else { -1.0 };
            sampled(0.1, 10.0, |t, frame| {
                (frame.x_m, frame.vx_mps) = (speed * (t - 3.0).max(0.0), speed);
            })
        }
    }

    /// The search finds a limit of 47 % within its uncertainty, and the end of the range for a car without a limit. A car
    /// that restarts nowhere has no gradeability.
    #[test]
    fn the_limit_is_found_within_the_uncertainty() {
        let find = |limit: f64| {
            let mut car = LimitedCar { limit, runs: 0 };
            let evaluation = Gradeability::default().execute(&model(), &mut car);
            assert!(car.runs <= Gradeability::default().max_runs());
            let value = |i: usize| evaluation.metrics[i].value;
            (value(0), value(2))
        };
        let (found, uncertainty) = find(0.47);
        let (found, uncertainty) = (found.expect("restarts"), uncertainty.expect("restarts"));
        assert!(found <= 47.0 && found + uncertainty > 47.0 && uncertainty < 0.25, "{found} {uncertainty}");
        assert_eq!(find(2.0).0, Some(120.0));
        assert_eq!(find(-1.0).0, None);
    }
}
