//! Verdict on a comparison: whether the solvers agree within the accepted limits, and what went wrong in a run.

use crate::agreement::{Reason, accepted_spread, find_reason};
use crate::compare::{Comparison, MetricRow, Outcome};
use crate::friction::max_friction_utilisation;
use crate::verdict::Verdict;
use skidpad_core::Model;

/// Returns the verdict with a mark, for people.
pub fn marked_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✓ pass",
        Verdict::Fail => "✗ FAIL",
        Verdict::NotJudged => "not judged",
    }
}

/// Judgement of a comparison.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Verdict. Fail if a metric exceeds the accepted spread without a known reason, or if a solver that is not a
    /// reference vehicle did not complete its run. Otherwise not judged if there are fewer than two such solvers, or if
    /// no metric has a spread in %. Otherwise pass.
    pub verdict: Verdict,
    /// Largest use of friction of any tyre on a solver that is not a reference vehicle (–).
    pub friction: f64,
    /// Largest accepted spread (%).
    pub accepted_percent: f64,
    /// Table of metrics.
    pub rows: Vec<MetricRow>,
    /// Number of the row with the largest spread; `None` if no spread is known.
    pub largest_spread: Option<usize>,
    /// Known reasons of metrics that exceed the accepted spread, each with the labels of these metrics.
    pub reasons: Vec<(&'static Reason, Vec<String>)>,
    /// Events that a reader must know, each with the name of the solver.
    pub alarms: Vec<String>,
}

impl Judgement {
    /// Judges `comparison`, whose cars have the model `model`. The accepted spread depends on the use of friction (see
    /// [`accepted_spread`]). A run is incomplete if the car left the ground or did not finish its course, a value was
    /// not finite, or a step did not converge. `vehicle` is the name of a shipped vehicle; other vehicles have no known
    /// reasons.
    pub fn new(comparison: &Comparison, model: &Model, vehicle: &str) -> Self {
        let solvers = || comparison.outcomes.iter().filter(|outcome| !outcome.peer);
        let utilisation = |outcome: &Outcome| max_friction_utilisation(model, &comparison.scene, &outcome.trajectory);
        let friction = solvers().map(utilisation).fold(0.0, f64::max);
        let accepted_percent = accepted_spread(friction);
        let rows = comparison.rows();
        let percent = |index: &usize| rows[*index].spread.percent();
        let largest_spread = (0..rows.len())
            .filter(|index| percent(index).is_some())
            .max_by(|a, b| percent(a).unwrap_or(0.0).total_cmp(&percent(b).unwrap_or(0.0)));
        let exceeding = rows.iter().filter(|row| row.spread.percent().is_some_and(|spread| spread > accepted_percent));
        let mut reasons: Vec<(&Reason, Vec<String>)> = Vec::new();
        let mut is_unexplained = false;
        for MetricRow { metric, .. } in exceeding {
            let Some(reason) = find_reason(vehicle, comparison.manoeuvre, &metric.name) else {
                is_unexplained = true;
                continue;
            };
            match reasons.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, labels)) => labels.push(metric.label.clone()),
                None => reasons.push((reason, vec![metric.label.clone()])),
            }
        }
        let is_incomplete = |outcome: &Outcome| {
            let report = outcome.trajectory.worst_report();
            outcome.trajectory.off_scene().is_some()
                || outcome.incomplete.is_some()
                || report.not_finite
                || report.not_converged
        };
        let verdict = if is_unexplained || solvers().any(is_incomplete) {
            Verdict::Fail
        } else if solvers().count() < 2 || largest_spread.is_none() {
            Verdict::NotJudged
        } else {
            Verdict::Pass
        };
        let alarms = comparison.outcomes.iter().flat_map(alarms).collect();
        Self { verdict, friction, accepted_percent, rows, largest_spread, reasons, alarms }
    }
}

/// Returns the events of a run that a reader must know, each with the name of the solver: the car left the ground, did
/// not complete its course or failed a test; a value was not finite; a step did not converge.
fn alarms(outcome: &Outcome) -> Vec<String> {
    let (backend, report) = (outcome.backend, outcome.trajectory.worst_report());
    let off_scene = outcome.trajectory.off_scene().map(|off_scene| off_scene.text());
    let reasons = off_scene.into_iter().chain(outcome.incomplete.map(|incomplete| incomplete.text()));
    let mut alarms: Vec<String> = reasons.map(|reason| format!("{backend}: the car {reason}.")).collect();
    if outcome.failed_test {
        alarms.push(format!("{backend}: the car failed the test."));
    }
    if report.not_finite {
        alarms.push(format!("{backend}: a value was not finite."));
    }
    if report.not_converged {
        let (iterations, residual) = (report.iterations, report.residual);
        alarms.push(format!(
            "{backend}: not every step converged; maximum {iterations} iterations, maximum residual {residual:.1e} m/s."
        ));
    }
    alarms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metric;
    use crate::testing::{comparison, model, sampled};

    /// Judges two solvers with the stopping distances `a` and `b` (m), and `use_of_friction` (–) of the first wheel.
    fn judge(a: f64, b: Option<f64>, use_of_friction: f64) -> Judgement {
        judge_metric("distance_m", "corvette_c5", [Some(a), b], use_of_friction)
    }

    /// Judges two solvers with the values `values` of the metric `name` in braking of `vehicle`, and `use_of_friction` (–) of
    /// the first wheel.
    fn judge_metric(name: &str, vehicle: &str, values: [Option<f64>; 2], use_of_friction: f64) -> Judgement {
        let outcome = |backend, value| Outcome {
            backend,
            peer: false,
            trajectory: sampled(0.1, 1.0, |_, frame| {
                (frame.wheels[0].load_n, frame.wheels[0].fx_n) = (2500.0, 2500.0 * use_of_friction);
            }),
            metrics: vec![Metric::new(name, "Distance", "m", 2, Some(value))],
            incomplete: None,
            failed_test: false,
            curves: Vec::new(),
        };
        let outcomes = ["a", "b"].into_iter().zip(values).filter_map(|(backend, value)| Some(outcome(backend, value?)));
        Judgement::new(&comparison(outcomes.collect()), &model(), vehicle)
    }

    /// A spread with a known reason of the vehicle does not fail, and its reason is listed. The same spread of another
    /// vehicle fails.
    #[test]
    fn a_known_reason_is_no_failure() {
        let judge = |vehicle| judge_metric("lateral_drift_mm", vehicle, [Some(1.0), Some(9.0)], 0.5);
        let known = judge("bmw_320i_mf");
        assert_eq!((known.verdict, known.reasons.len()), (Verdict::Pass, 1));
        assert_eq!(known.reasons[0].1, ["Distance"]);
        let unknown = judge("corvette_c5");
        assert_eq!((unknown.verdict, unknown.reasons.len()), (Verdict::Fail, 0));
    }

    /// A spread of 2 % fails below the limit of friction and passes at it. One solver alone is not judged.
    #[test]
    fn the_limit_follows_the_use_of_friction() {
        assert_eq!(judge(100.0, Some(102.0), 0.5).verdict, Verdict::Fail);
        let at_limit = judge(100.0, Some(102.0), 1.0);
        assert_eq!((at_limit.verdict, at_limit.accepted_percent), (Verdict::Pass, 3.0));
        assert_eq!(judge(100.0, Some(100.5), 0.5).verdict, Verdict::Pass);
        assert_eq!(judge(100.0, None, 0.5).verdict, Verdict::NotJudged);
    }
}
