//! Comparison of one manoeuvre on several solvers, and the deviation between them.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use skidpad_core::{Model, Scene, SolverInfo};

use crate::manoeuvre::{Evaluation, IncompleteCourse, Overrides, Procedure};
use crate::metrics::Metric;
use crate::quantity::{ComputedCurve, Diagram};
use crate::run::TimeStep;
use crate::runner;
use crate::solver_support::can_simulate;
use crate::trajectory::Trajectory;
use crate::units::TowedUnit;

/// Progress of a comparison or a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of finished steps, summed over all runs.
    pub done: u64,
    /// Maximum number of steps. Drivers may finish earlier.
    pub total: u64,
}

/// Result of one solver.
#[derive(Debug)]
pub struct Outcome {
    /// Name of the solver.
    pub backend: &'static str,
    /// Whether the solver is a peer: it is listed, but does not count in the spread.
    pub peer: bool,
    /// Telemetry of every step; of the run that [`Evaluation::trajectory`] selects if there are several.
    pub trajectory: Trajectory,
    /// Metrics of the run, in the same order for every solver.
    pub metrics: Vec<Metric>,
    /// Reason why the run did not complete its course; `None` if it did.
    pub incomplete: Option<IncompleteCourse>,
    /// Whether the car failed a test with stated limits.
    pub failed_test: bool,
    /// Curves that the procedure computed from its runs.
    pub curves: Vec<ComputedCurve>,
}

/// Results of one manoeuvre of one car, driven by several solvers.
#[derive(Debug)]
pub struct Comparison {
    /// Name of the manoeuvre.
    pub manoeuvre: &'static str,
    /// Description of the manoeuvre in one sentence.
    pub about: String,
    /// Length of a step (s).
    pub dt_s: f64,
    /// Positions of the cones beside the course, (x, y), m.
    pub cones: Vec<(f64, f64)>,
    /// Diagrams that the report shows beside the standard plots.
    pub diagrams: Vec<Diagram>,
    /// Closed-form curves, drawn with the curves of the same title that the procedure computed.
    pub closed_form_curves: Vec<ComputedCurve>,
    /// Towed units, from the front.
    pub trailers: Vec<TowedUnit>,
    /// Scene that was driven on.
    pub scene: Scene,
    /// Results, in the order of the solvers passed to [`compare`].
    pub outcomes: Vec<Outcome>,
}

/// Row of the table of metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRow {
    /// Metric, with the value of the first solver.
    pub metric: Metric,
    /// Values as text, in the order of the solvers.
    pub texts: Vec<String>,
    /// Spread of the values of the solvers that are not peers.
    pub spread: Spread,
}

/// Spread of values, or deviation of a value from its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Unknown spread: a value is missing, there are fewer than two, or their mean rounds to 0.
    Unknown,
    /// Spread of lengths in mm below [`POSITION_NOISE_MM`].
    WithinNoise,
    /// Spread of times below half a step, but above 0.1 %.
    HalfStep,
    /// Spread `(max − min) / |mean|` in %. For a metric in %: `max − min` in percentage points.
    Percent(f64),
}

/// Threshold below which a difference in position counts as zero (mm). Positions of f32 solvers have this much noise
/// over a run.
pub const POSITION_NOISE_MM: f64 = 3.0;

/// Returns true if a `gap` (≥ 0) between two values of `metric` is too small to judge a solver. This is a length in mm
/// below [`POSITION_NOISE_MM`], a time in s below half a step, or any gap that rounds to 0 in the digits of the metric.
/// `dt` is the longer one of the steps of both values (s).
pub fn is_noise(gap: f64, metric: &Metric, dt: f64) -> bool {
    let is_within_unit_noise = match metric.unit {
        "mm" => gap < POSITION_NOISE_MM,
        "s" => gap < 0.5 * dt,
        _ => false,
    };
    is_within_unit_noise || metric.rounds_to_zero(gap)
}

impl Spread {
    /// Computes the spread of `values`, which have the unit and digits of `metric` and were measured with a step of
    /// `dt` s. The spread is the difference of the largest and the smallest value; a percentage refers to the magnitude
    /// of the mean. `Unknown` for fewer than two values.
    pub fn between(values: &[f64], metric: &Metric, dt: f64) -> Self {
        if values.len() < 2 {
            return Spread::Unknown;
        }
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
        Self::classify(high - low, values.iter().sum::<f64>() / values.len() as f64, metric, dt)
    }

    /// Computes the deviation of `value` from `reference`, both values of `metric`. `dt` is the longer of their steps
    /// (s). Percentages refer to `reference`.
    pub fn from_reference(reference: f64, value: f64, metric: &Metric, dt: f64) -> Self {
        Self::classify((value - reference).abs(), reference, metric, dt)
    }

    /// Classifies the difference `gap` (≥ 0) between values whose mean or reference is `reference`. The first rule that
    /// applies counts:
    ///
    /// - A metric in % has percentage points.
    /// - A length in mm below [`POSITION_NOISE_MM`] is noise.
    /// - A time in s below `0.5 dt` is half a step, if it also exceeds 0.1 % of the magnitude of `reference`.
    /// - A `reference` that rounds to 0 gives an unknown spread.
    /// - Otherwise the result is `gap` in % of the magnitude of `reference`.
    fn classify(gap: f64, reference: f64, metric: &Metric, dt: f64) -> Self {
        match metric.unit {
            "%" => Spread::Percent(gap),
            "mm" if gap < POSITION_NOISE_MM => Spread::WithinNoise,
            // A smaller time difference is accurate as a percentage.
            "s" if gap < 0.5 * dt && gap > 0.001 * reference.abs() => Spread::HalfStep,
            _ if metric.rounds_to_zero(reference) => Spread::Unknown,
            _ => Spread::Percent(gap / reference.abs() * 100.0),
        }
    }

    /// Returns the spread in %; `None` if it is not expressed in %.
    pub fn percent(self) -> Option<f64> {
        match self {
            Spread::Percent(value) => Some(value),
            Spread::Unknown | Spread::WithinNoise | Spread::HalfStep => None,
        }
    }

    /// Formats the spread for tables: "-" if unknown, bounds for noise and half a step, percentages with three
    /// decimal places or as "< 0.001 %".
    pub fn text(self) -> String {
        match self {
            Spread::Unknown => "-".into(),
            Spread::WithinNoise => format!("< {POSITION_NOISE_MM} mm"),
            Spread::HalfStep => "< half a step".into(),
            Spread::Percent(value) if value < 0.001 => "< 0.001 %".into(),
            Spread::Percent(value) => format!("{value:.3} %"),
        }
    }
}

impl Comparison {
    /// Returns the table of metrics, one row per metric of the first solver; empty without solvers. A missing value is
    /// shown as "-". The spread is that of the solvers that are not peers (peers are reference vehicles, which are
    /// listed only).
    pub fn rows(&self) -> Vec<MetricRow> {
        let Some(first) = self.outcomes.first() else { return Vec::new() };
        first
            .metrics
            .iter()
            .enumerate()
            .map(|(index, metric)| MetricRow {
                metric: metric.clone(),
                texts: self
                    .outcomes
                    .iter()
                    .map(|outcome| outcome.metrics.get(index).map_or("-".into(), Metric::text))
                    .collect(),
                spread: self.spread(index, metric),
            })
            .collect()
    }

    /// Returns the result of the first solver that is not a peer (reference vehicle). If all are peers, returns that of
    /// the first solver. `None` without solvers.
    pub fn main_outcome(&self) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| !outcome.peer).or(self.outcomes.first())
    }

    /// Returns the larger spread of the metric called `name` in two comparisons. A spread in % counts as larger than
    /// one that is not expressed in %. If neither is in %, the result is that of the first comparison. A comparison
    /// without the metric has an unknown spread.
    pub fn larger_spread(comparisons: [&Self; 2], name: &str) -> Spread {
        let spread_of = |comparison: &Self| {
            let rows = comparison.rows();
            rows.iter().find(|row| row.metric.name == name).map_or(Spread::Unknown, |row| row.spread)
        };
        let [a, b] = comparisons.map(spread_of);
        if b.percent() > a.percent() { b } else { a }
    }

    /// Computes the spread of metric number `index` over the solvers that are not peers (reference vehicles). The
    /// spread is unknown if one of these solvers has no value.
    fn spread(&self, index: usize, metric: &Metric) -> Spread {
        let metric_value = |outcome: &Outcome| outcome.metrics.get(index).and_then(|metric| metric.value);
        let values: Option<Vec<f64>> = self.outcomes.iter().filter(|outcome| !outcome.peer).map(metric_value).collect();
        values.map_or(Spread::Unknown, |values| Spread::between(&values, metric, self.dt_s))
    }
}

/// Executes `procedure` with `model` on the solver `info` with the step length `dt` and the changes `overrides`. Calls
/// `report_steps` about 200 times per run with the number of newly finished steps. The sum of these numbers is always
/// the planned number of steps. `Break` stops all runs; the outcome is then that of the shortened runs.
pub fn run_solver(
    info: &SolverInfo,
    model: &Arc<Model>,
    procedure: &dyn Procedure,
    overrides: &Overrides,
    dt: TimeStep,
    report_steps: &dyn Fn(u64) -> ControlFlow<()>,
) -> Outcome {
    let Evaluation { trajectory, metrics, incomplete, failed_test, curves } =
        runner::execute(info, model, procedure, overrides, dt, report_steps);
    Outcome { backend: info.name, peer: info.comparison_only, trajectory, metrics, incomplete, failed_test, curves }
}

/// Drives `manoeuvre` with `model` on every solver of `backends` that can simulate it ([`can_simulate`]), each on its
/// own thread, and measures the runs.
///
/// Parameters of the manoeuvre that depend on the car are computed once before. The changes `overrides` are applied
/// without checks; the description includes them. Results have the order of `backends` and do not depend on the timing
/// of the threads. A panic of a run is passed on.
///
/// `progress` is called from all threads, about 200 times each. Its total is that of the planned duration on all
/// solvers. Once it returns `Break`, all runs end soon, and the results are those of the shortened runs.
pub fn compare(
    backends: &[SolverInfo],
    model: &Arc<Model>,
    manoeuvre: &dyn Procedure,
    overrides: &Overrides,
    dt: TimeStep,
    progress: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
) -> Comparison {
    let about = overrides.about_changed(manoeuvre);
    let resolved = manoeuvre.resolve_parameters(model);
    let manoeuvre = resolved.as_deref().unwrap_or(manoeuvre);
    let setup = overrides.apply(manoeuvre.setup(model));
    let backends: Vec<&SolverInfo> = backends.iter().filter(|info| can_simulate(info, &setup)).collect();
    let total = runner::planned_steps(manoeuvre, model, overrides, dt) * backends.len() as u64;
    // Finished steps of all threads.
    let done = AtomicU64::new(0);
    let report_steps =
        |finished: u64| progress(Progress { done: done.fetch_add(finished, Ordering::Relaxed) + finished, total });
    let outcomes = std::thread::scope(|scope| {
        // Reference, which the closures of all threads can copy.
        let report_steps = &report_steps;
        let spawn_run = |info| scope.spawn(move || run_solver(info, model, manoeuvre, overrides, dt, report_steps));
        let threads: Vec<_> = backends.into_iter().map(spawn_run).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    Comparison {
        manoeuvre: manoeuvre.name(),
        about,
        dt_s: dt.seconds(),
        cones: manoeuvre.cones(model),
        diagrams: manoeuvre.diagrams(),
        closed_form_curves: manoeuvre.closed_form_curves(model),
        trailers: overrides.trailers.clone(),
        scene: setup.scene,
        outcomes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manoeuvre::Braking;
    use crate::testing::{POINT_MASS, comparison, model, sampled};

    /// Builds the outcome of the solver `backend` with the distance `value` (m) as its only metric.
    fn outcome(backend: &'static str, peer: bool, value: Option<f64>) -> Outcome {
        let metrics = vec![Metric::new("distance_m", "Distance", "m", 2, value)];
        Outcome {
            backend,
            peer,
            trajectory: sampled(1.0, 1.0, |_, _| {}),
            metrics,
            incomplete: None,
            failed_test: false,
            curves: Vec::new(),
        }
    }

    /// Returns the only row of the table of a comparison of `outcomes`, with a step of 0.01 s.
    fn row(outcomes: Vec<Outcome>) -> MetricRow {
        comparison(outcomes).rows().remove(0)
    }

    /// The texts include the peer, the spread does not.
    #[test]
    fn peers_do_not_count_in_the_spread() {
        let outcomes =
            vec![outcome("a", false, Some(39.0)), outcome("b", false, Some(41.0)), outcome("c", true, Some(60.0))];
        let row = row(outcomes);
        assert_eq!(row.texts, ["39.00", "41.00", "60.00"]);
        assert_eq!(row.spread, Spread::Percent(5.0));
    }

    /// The spread is unknown with a missing value, with a mean that rounds to 0 and with one value. Equal values have a
    /// spread below 0.001 %.
    #[test]
    fn a_figure_that_is_missing_or_zero_has_no_spread() {
        let spread = |values: &[Option<f64>]| row(values.iter().map(|v| outcome("a", false, *v)).collect()).spread;
        assert_eq!(spread(&[None, Some(1.0)]), Spread::Unknown);
        assert_eq!(spread(&[Some(1e-4), Some(0.0)]), Spread::Unknown);
        assert_eq!(spread(&[Some(1.0)]), Spread::Unknown);
        assert_eq!(spread(&[Some(2.0), Some(2.0)]).text(), "< 0.001 %");
    }

    /// Spreads are points for %, noise for small lengths in mm, half a step for small times, and otherwise percentages
    /// of the mean.
    #[test]
    fn percentages_differ_in_points_and_small_gaps_are_closed() {
        let spread = |unit, values: &[f64]| Spread::between(values, &Metric::new("m", "M", unit, 2, None), 0.1);
        assert!((spread("%", &[5.24, 5.11]).percent().expect("points") - 0.13).abs() < 1e-9);
        assert_eq!(spread("mm", &[7.9, 8.2]), Spread::WithinNoise);
        assert_eq!(spread("mm", &[10.0, 30.0]), Spread::Percent(100.0));
        assert_eq!(spread("s", &[1.0, 1.04]), Spread::HalfStep);
        // 0.01 % of the magnitude is accurate as a percentage, also for a negative time.
        assert!(spread("s", &[-100.0, -100.01]).percent().is_some());
        assert_eq!(spread("s", &[1.0, 3.0]), Spread::Percent(100.0));
    }

    /// Outcomes have the order of the solvers. The progress never exceeds the total and ends there. Rows and stopping
    /// distance are those of braking.
    #[test]
    fn solvers_keep_their_order_and_progress_ends_at_the_total() {
        let model = Arc::new(model());
        let backends = [POINT_MASS, SolverInfo { name: "second", comparison_only: true, ..POINT_MASS }];
        let last = AtomicU64::new(0);
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let found = compare(&backends, &model, &Braking::default(), &Overrides::default(), dt, &|p| {
            last.fetch_max(p.done, Ordering::Relaxed);
            assert!(p.done <= p.total);
            ControlFlow::Continue(())
        });
        assert_eq!(found.outcomes.iter().map(|o| o.backend).collect::<Vec<_>>(), ["point-mass", "second"]);
        assert_eq!(last.load(Ordering::Relaxed), 2 * 60 * 60);
        assert_eq!(found.rows().len(), 8);
        assert!(found.outcomes[0].metrics[0].value.is_some_and(|d| (15.0..25.0).contains(&d)), "{:?}", found.rows());
    }
    /// After `Break` the present run ends, and a search has no full run any more: the only further report is that of
    /// the remaining steps. Without `Break` there are many reports.
    #[test]
    fn break_stops_all_runs() {
        use std::cell::Cell;

        let (model, dt) = (Arc::new(model()), TimeStep::from_rate_hz(240.0).expect("valid"));
        let overrides = Overrides::default();
        let drive = |name: &str, flow: ControlFlow<()>| {
            let procedure = crate::manoeuvre::by_name(name).expect("known").build_standard(&overrides);
            let (reports, steps) = (Cell::new(0), Cell::new(0));
            let outcome = run_solver(&POINT_MASS, &model, procedure.as_ref(), &overrides, dt, &|finished| {
                reports.set(reports.get() + 1);
                steps.set(steps.get() + finished);
                flow
            });
            assert_eq!(steps.get(), runner::planned_steps(procedure.as_ref(), &model, &overrides, dt));
            (reports.get(), outcome.trajectory.row_count())
        };
        for name in ["top-speed", "j-turn"] {
            let (full_reports, full_rows) = drive(name, ControlFlow::Continue(()));
            let (reports, rows) = drive(name, ControlFlow::Break(()));
            assert!(full_reports > 20 && reports == 2, "{name}: {full_reports}, {reports}");
            assert!(full_rows > 10 * rows, "{name}: {full_rows}, {rows}");
        }
    }
}
