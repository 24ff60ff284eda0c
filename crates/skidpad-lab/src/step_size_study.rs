//! Longest step at which each metric is still accurate: every solver is compared with its own shortest step.

use crate::compare::{Spread, is_noise};
use crate::metrics::Metric;
use crate::order::Order;
use crate::rate_runs::{RateRuns, SolverRuns};

/// Effect of the step length on one metric of one solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Value at the shortest step.
    pub reference: Option<f64>,
    /// Values, the longest step first; `None` where the metric has no value.
    pub values: Vec<Option<f64>>,
    /// Deviation of each value from the reference; `None` if one of the two is missing.
    pub deviations: Vec<Option<Spread>>,
    /// Longest step that keeps the metric.
    pub step_limit: StepLimit,
    /// Observed order of convergence over the step lengths.
    pub order: Order,
}

/// Longest step that keeps a metric; every shorter step must keep it too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepLimit {
    /// Metric without a value at the shortest step, or with a value that is shown as 0 there.
    Unknown,
    /// No step but the shortest, which is the reference.
    FinestOnly,
    /// Longest step that keeps the metric (s).
    UpTo(f64),
}

impl StepLimit {
    /// Formats the step for tables, in ms; "-" if unknown, "none" for the reference only.
    pub fn text(self) -> String {
        match self {
            StepLimit::Unknown => "-".into(),
            StepLimit::FinestOnly => "none".into(),
            StepLimit::UpTo(dt_s) => format!("{:.2} ms", dt_s * 1e3),
        }
    }

    /// Returns the step (s); 0 for [`StepLimit::FinestOnly`], `None` for [`StepLimit::Unknown`].
    pub fn seconds(self) -> Option<f64> {
        match self {
            StepLimit::Unknown => None,
            StepLimit::FinestOnly => Some(0.0),
            StepLimit::UpTo(dt_s) => Some(dt_s),
        }
    }
}

/// Verdicts of every solver on one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRow {
    /// Metric, with the value of the first solver at the shortest step.
    pub metric: Metric,
    /// Verdicts, in the order of the solvers.
    pub verdicts: Vec<Verdict>,
}

/// Effect of the step length on every metric of a manoeuvre.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSizeStudy {
    /// Runs that are judged.
    pub rate_runs: RateRuns,
    /// Accepted deviation from the value at the shortest step (%).
    pub within_percent: f64,
    /// Verdicts, one row per metric.
    pub rows: Vec<StudyRow>,
}

/// Longest step that keeps every metric of one solver, and the metrics that limit it.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverSummary {
    /// Name of the solver.
    pub backend: &'static str,
    /// Whether the solver is a peer, which does not have to agree with the others.
    pub peer: bool,
    /// Longest step that keeps every metric.
    pub step_limit: StepLimit,
    /// Labels of the metrics that fail at the next longer step; empty if the longest step keeps all metrics.
    pub limiting_metrics: Vec<String>,
}

impl StepSizeStudy {
    /// Judges the runs of `rate_runs`. A step length keeps a metric if the metric deviates by at most `within_percent`
    /// from its value at the shortest step (% of this value, or percentage points for a metric in %). A deviation that
    /// [`Spread`] does not express in % also keeps it: noise, or less than half a step.
    pub fn new(rate_runs: RateRuns, within_percent: f64) -> Self {
        let study_row = |(index, metric): (usize, &Metric)| StudyRow {
            metric: metric.clone(),
            verdicts: rate_runs
                .solvers
                .iter()
                .map(|solver_runs| judge_metric(solver_runs, index, metric, within_percent))
                .collect(),
        };
        let rows = rate_runs.metrics().iter().enumerate().map(study_row).collect();
        Self { rate_runs, within_percent, rows }
    }

    /// Returns the overall result of each solver, in the order of the solvers. Its step limit is the shortest of the
    /// step limits of all metrics. Metrics with an unknown limit do not count; the overall limit is unknown if all are.
    /// The result also has the labels of the metrics with this limit. There are no labels if the limit is the longest
    /// step of the runs.
    pub fn solver_summaries(&self) -> Vec<SolverSummary> {
        let solver_summary = |(solver_index, solver_runs): (usize, &SolverRuns)| {
            let limit_of = |row: &StudyRow| row.verdicts[solver_index].step_limit;
            // A metric that only the shortest step keeps has the limit 0 s.
            let shortest_limit =
                self.rows.iter().map(limit_of).filter(|limit| *limit != StepLimit::Unknown).min_by(|a, b| {
                    let limits_s = [a, b].map(|limit| limit.seconds().unwrap_or(f64::MAX));
                    limits_s[0].total_cmp(&limits_s[1])
                });
            let step_limit = shortest_limit.unwrap_or(StepLimit::Unknown);
            // The longest step of the runs keeps all metrics, so none limits it.
            let is_longest_step = step_limit.seconds() == self.rate_runs.steps_s.first().copied();
            let is_limiting = |row: &&StudyRow| !is_longest_step && limit_of(row) == step_limit;
            let limiting_metrics = match step_limit {
                StepLimit::Unknown => Vec::new(),
                _ => self.rows.iter().filter(is_limiting).map(|row| row.metric.label.clone()).collect(),
            };
            SolverSummary { backend: solver_runs.backend, peer: solver_runs.peer, step_limit, limiting_metrics }
        };
        self.rate_runs.solvers.iter().enumerate().map(solver_summary).collect()
    }
}

/// Judges metric number `index` of one solver. `reference` is the value at the shortest step, and each value has its
/// deviation from the reference.
///
/// A step keeps the metric if the deviation is at most `within_percent`, or is not expressed in %. A missing value does
/// not keep it. The step limit is the longest step that keeps the metric together with all shorter steps. It is unknown
/// if the reference is missing or rounds to 0. The result also has the order of convergence.
fn judge_metric(solver_runs: &SolverRuns, index: usize, metric: &Metric, within_percent: f64) -> Verdict {
    let values: Vec<Option<f64>> = solver_runs.values(index).collect();
    // Value at the shortest step.
    let reference = values.last().copied().flatten();
    let deviation = |(value, dt): (&Option<f64>, f64)| Some(Spread::from_reference(reference?, (*value)?, metric, dt));
    let deviations: Vec<Option<Spread>> =
        values.iter().zip(solver_runs.samples.iter().map(|s| s.dt_s)).map(deviation).collect();
    let is_kept = |deviation: &Option<Spread>| {
        deviation.is_some_and(|deviation| deviation.percent().is_none_or(|percent| percent <= within_percent))
    };
    // Number of steps longer than the reference.
    let coarser_count = deviations.len().saturating_sub(1);
    // Index of the longest step after the last failure; steps are sorted, the longest first.
    let first_kept = deviations[..coarser_count]
        .iter()
        .rposition(|deviation| !is_kept(deviation))
        .map_or(0, |failure_index| failure_index + 1);
    // There is no kept step if even the step before the shortest fails.
    let step_limit = match reference {
        Some(value) if !metric.rounds_to_zero(value) => match solver_runs.samples[..coarser_count].get(first_kept) {
            Some(sample) => StepLimit::UpTo(sample.dt_s),
            None => StepLimit::FinestOnly,
        },
        _ => StepLimit::Unknown,
    };
    let steps: Vec<f64> = solver_runs.samples.iter().map(|sample| sample.dt_s).collect();
    let order = Order::from_values(&steps, &values, |deviation, dt| is_noise(deviation, metric, dt));
    Verdict { reference, values, deviations, step_limit, order }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_runs::Sample;
    use skidpad_core::StepReport;

    const STEPS_S: [f64; 4] = [0.04, 0.02, 0.01, 0.001];

    /// Builds the runs of one solver over [`STEPS_S`] with one metric of the unit `unit` and the values `values`, the
    /// longest step first.
    fn solver_runs(unit: &'static str, values: [Option<f64>; 4]) -> SolverRuns {
        let sample = |(dt_s, value)| Sample {
            dt_s,
            metrics: vec![Metric::new("m", "M", unit, 2, value)],
            worst_report: StepReport::default(),
            off_scene: None,
            incomplete: None,
            friction_utilisation: 0.0,
        };
        SolverRuns { backend: "a", peer: false, samples: STEPS_S.into_iter().zip(values).map(sample).collect() }
    }

    /// Builds the study of runs with the only solver of [`solver_runs`], with an accepted deviation of 2 %.
    fn certificate(unit: &'static str, values: [Option<f64>; 4]) -> StepSizeStudy {
        let solvers = vec![solver_runs(unit, values)];
        StepSizeStudy::new(RateRuns { manoeuvre: "m", about: String::new(), steps_s: STEPS_S.into(), solvers }, 2.0)
    }

    /// Asserts that the step limit of the metric with these values is `expected`.
    #[track_caller]
    fn holds(unit: &'static str, values: [Option<f64>; 4], expected: StepLimit) {
        assert_eq!(certificate(unit, values).rows[0].verdicts[0].step_limit, expected);
    }

    /// The step limit is the longest step for which this and all shorter steps deviate by at most 2 %; a missing value
    /// fails. The limit is unknown without a reference or for one that rounds to 0.
    #[test]
    fn the_longest_step_below_which_all_hold() {
        let some = |values: [f64; 4]| values.map(Some);
        holds("m", some([105.0, 101.9, 101.0, 100.0]), StepLimit::UpTo(0.02));
        holds("m", some([100.0, 103.0, 101.0, 100.0]), StepLimit::UpTo(0.01));
        holds("m", some([100.0, 100.0, 97.0, 100.0]), StepLimit::FinestOnly);
        holds("m", some([100.0, 100.0, 100.0, 100.0]), StepLimit::UpTo(0.04));
        holds("m", [None, Some(100.0), Some(100.0), Some(100.0)], StepLimit::UpTo(0.02));
        holds("m", [Some(1.0), Some(1.0), Some(1.0), None], StepLimit::Unknown);
        holds("m", some([1.0, 1.0, 1.0, 0.001]), StepLimit::Unknown);
    }

    /// Deviations of 2 points, 3 mm and half a step keep the metric.
    #[test]
    fn points_small_lengths_and_half_steps_are_forgiven() {
        let some = |values: [f64; 4]| values.map(Some);
        holds("%", some([7.1, 6.9, 5.0, 5.0]), StepLimit::UpTo(0.02));
        holds("mm", some([4.1, 3.9, 1.0, 1.0]), StepLimit::UpTo(0.02));
        holds("s", some([0.125, 0.109, 0.1, 0.1]), StepLimit::UpTo(0.02));
    }

    /// Errors are proportional to the square of the step. The observed order is 2; differences below the noise have
    /// none.
    #[test]
    fn the_order_is_observed_over_all_steps() {
        let found = certificate("m", STEPS_S.map(|dt| Some(100.0 + 1e4 * dt * dt))).rows[0].verdicts[0].order;
        assert!(matches!(found, Order::Observed(order) if (order - 2.0).abs() < 0.01), "{found:?}");
        assert_eq!(certificate("mm", [4.1, 3.9, 2.0, 1.5].map(Some)).rows[0].verdicts[0].order, Order::WithinNoise);
    }

    /// The summary has the limit of its only metric and its label; without a limiting metric there is no label.
    #[test]
    fn the_worst_figure_decides() {
        let [total] = &certificate("m", [110.0, 110.0, 100.0, 100.0].map(Some)).solver_summaries()[..] else {
            panic!("one")
        };
        assert_eq!((total.step_limit, &total.limiting_metrics[..]), (StepLimit::UpTo(0.01), &["M".to_string()][..]));
        let [total] = &certificate("m", [100.0; 4].map(Some)).solver_summaries()[..] else { panic!("one") };
        assert_eq!((total.step_limit, total.limiting_metrics.len()), (StepLimit::UpTo(0.04), 0));
    }
}
