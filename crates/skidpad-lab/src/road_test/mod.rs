//! Road test: drives the published tests in a vehicle's own file and compares the figures.
//!
//! A figure is judged if its reference states a tolerance. [`DRIVEN_QUANTITIES`] lists the quantities that can be
//! driven.

mod figure;
mod stall;

use std::ops::ControlFlow;
use std::sync::Arc;

use skidpad_core::{Model, SolverInfo};
use skidpad_spec::spec::{Provenance, Reference};

pub use figure::{DRIVEN_QUANTITIES, Figure};

use crate::compare::{Progress, compare};
use crate::manoeuvre::Overrides;
use crate::run::TimeStep;
use crate::verdict::Verdict;
use figure::Test;

/// Published figure with the simulated values.
#[derive(Clone, Debug, PartialEq)]
pub struct RoadTestRow {
    /// Published figure.
    pub reference: Reference,
    /// Figure that was driven; `None` if the quantity cannot be driven or has another unit.
    pub figure: Option<Figure>,
    /// Values in the order of the solvers, in the unit of the reference; `None` for a solver without a value.
    pub values: Vec<Option<f64>>,
    /// Verdict on the figure: pass if every solver is within the tolerance; fail if a solver is outside of it, has no
    /// value, or has its top speed in another gear than published; not judged if the reference states no tolerance, or
    /// if its quantity cannot be driven.
    pub verdict: Verdict,
}

impl RoadTestRow {
    /// Returns the published unit with a raised exponent of seconds, for tables: `m/s²` for `m/s2`.
    pub fn unit_text(&self) -> String {
        self.reference.unit.replace("s2", "s²")
    }

    /// Returns the label of the figure, or the quantity as the file names it.
    pub fn label(&self) -> String {
        self.figure.map_or_else(|| self.reference.quantity.replace('_', " "), |figure| figure.label())
    }

    /// Returns the deviation from the published value with the largest magnitude, in the unit of the reference, with
    /// its sign; `None` without values.
    pub fn largest_deviation(&self) -> Option<f64> {
        let deviations = self.values.iter().flatten().map(|value| value - self.reference.value);
        deviations.max_by(|a, b| a.abs().total_cmp(&b.abs()))
    }

    /// Returns `value` as text. The number of decimal places, from none to six, shows three significant digits of the
    /// published value; four places for a published 0.
    pub fn value_text(&self, value: f64) -> String {
        let magnitude = self.reference.value.abs();
        // A published 0 has no magnitude.
        let places = if magnitude == 0.0 { 4 } else { (2 - magnitude.log10().floor() as i32).clamp(0, 6) };
        format!("{value:.*}", places as usize)
    }

    /// Returns the largest deviation as text: in % of the published value, in the unit of the reference if the
    /// published value is 0, or "-" without values.
    pub fn deviation_text(&self) -> String {
        match (self.largest_deviation(), self.reference.value) {
            (None, _) => "-".into(),
            (Some(deviation), 0.0) => format!("{deviation:+.1e}"),
            (Some(deviation), published) => format!("{:+.1} %", 100.0 * deviation / published.abs()),
        }
    }

    /// Returns the tolerance as text, or "-" without one.
    pub fn tolerance_text(&self) -> String {
        self.reference.tolerance.map_or("-".into(), |tolerance| format!("± {tolerance}"))
    }

    /// Returns the origin of the published value as text, with `fitted` for a figure that the vehicle was tuned to.
    pub fn provenance_text(&self) -> String {
        let origin = match self.reference.provenance {
            Some(Provenance::Measured) => "measured",
            Some(Provenance::Identified) => "identified",
            Some(Provenance::Estimated) => "estimated",
            None => "unknown",
        };
        if self.reference.fitted { format!("{origin}, fitted") } else { origin.into() }
    }
}

/// Results of a road test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoadTest {
    /// Names of the solvers, in the order of the values.
    pub solvers: Vec<&'static str>,
    /// Figures, in the order of the vehicle file.
    pub rows: Vec<RoadTestRow>,
    /// Solvers in whose runs not every step was solved, each with the manoeuvre.
    pub unsolved: Vec<(&'static str, &'static str)>,
}

impl RoadTest {
    /// Returns whether no figure failed and every step of every run was solved.
    pub fn has_passed(&self) -> bool {
        self.unsolved.is_empty() && self.rows.iter().all(|row| row.verdict != Verdict::Fail)
    }
}

/// Drives every published test of `references` with `model` on every solver of `backends` with the steps `dt`. Figures
/// of one manoeuvre share its runs. `progress` is called from all threads with the name of the manoeuvre and its own
/// progress. Once it returns `Break`, all runs end soon, and the figures are those of the shortened runs.
pub fn road_test(
    backends: &[SolverInfo],
    model: &Arc<Model>,
    references: &[Reference],
    dt: TimeStep,
    progress: &(dyn Fn(&'static str, Progress) -> ControlFlow<()> + Sync),
) -> RoadTest {
    drive_figures(backends, model, references, &|_| true, dt, progress)
}

/// Drives the published tests of `references` as [`road_test`] does, but only those that have the purpose of one of the
/// standard manoeuvres `manoeuvres`, such as `braking`. Other figures have no values and are not judged.
pub fn road_test_of_manoeuvres(
    backends: &[SolverInfo],
    model: &Arc<Model>,
    references: &[Reference],
    manoeuvres: &[&str],
    dt: TimeStep,
) -> RoadTest {
    let is_named = |test: &Test| test.standard_manoeuvres().iter().any(|name| manoeuvres.contains(name));
    drive_figures(backends, model, references, &is_named, dt, &|_, _| ControlFlow::Continue(()))
}

/// Drives the tests (manoeuvres of figures) of `references` for which `is_driven` returns true, on all solvers. Equal
/// tests are driven once. A reference whose quantity cannot be driven, or that has another unit, has no figure, no
/// values and no verdict. A run of a solver that is no peer (reference vehicle) in which a step was not solved or not
/// finite is listed as unsolved. `progress` receives the name of the manoeuvre and its own progress.
fn drive_figures(
    backends: &[SolverInfo],
    model: &Arc<Model>,
    references: &[Reference],
    is_driven: &dyn Fn(&Test) -> bool,
    dt: TimeStep,
    progress: &(dyn Fn(&'static str, Progress) -> ControlFlow<()> + Sync),
) -> RoadTest {
    let solvers: Vec<&'static str> = backends.iter().map(|info| info.name).collect();
    let no_values = || vec![None; backends.len()];
    let mut rows: Vec<RoadTestRow> = references
        .iter()
        .map(|reference| RoadTestRow {
            reference: reference.clone(),
            figure: Figure::of(reference).filter(|figure| figure.unit() == reference.unit),
            values: no_values(),
            verdict: Verdict::NotJudged,
        })
        .collect();
    let mut tests: Vec<Test> = Vec::new();
    for test in rows.iter().filter_map(|row| row.figure).map(|figure| figure.test()) {
        if !tests.contains(&test) && is_driven(&test) {
            tests.push(test);
        }
    }
    let mut unsolved = Vec::new();
    for test in &tests {
        let name = test.manoeuvre().name();
        let report_progress = |step_progress: Progress| progress(name, step_progress);
        let comparison = compare(backends, model, test.manoeuvre(), &Overrides::default(), dt, &report_progress);
        for outcome in comparison.outcomes.iter().filter(|outcome| !outcome.peer) {
            let report = outcome.trajectory.worst_report();
            if report.not_finite || report.not_converged {
                unsolved.push((outcome.backend, name));
            }
        }
        for row in &mut rows {
            let Some(figure) = row.figure.filter(|figure| figure.test() == *test) else { continue };
            let runs = || comparison.outcomes.iter().map(|outcome| &outcome.trajectory);
            row.values = runs().map(|run| figure.value(test, model, run)).collect();
            let is_in_named_gear = runs().all(|run| figure.is_in_named_gear(test, model, run));
            row.verdict = judge(&row.reference, &row.values, is_in_named_gear);
        }
    }
    RoadTest { solvers, rows, unsolved }
}

/// Judges the `values` of the solvers against `reference`: passes if every value is within the tolerance and
/// `is_in_named_gear` is true. A missing value fails. Without a tolerance the figure is not judged.
fn judge(reference: &Reference, values: &[Option<f64>], is_in_named_gear: bool) -> Verdict {
    let Some(tolerance) = reference.tolerance else { return Verdict::NotJudged };
    let is_within = |value: &Option<f64>| value.is_some_and(|value| (value - reference.value).abs() <= tolerance);
    if is_in_named_gear && values.iter().all(is_within) { Verdict::Pass } else { Verdict::Fail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{POINT_MASS, model};

    /// Builds a reference in `unit`, with a tolerance if it is above 0.
    fn reference(quantity: &str, value: f64, tolerance: f64, unit: &str) -> Reference {
        Reference {
            quantity: quantity.into(),
            value,
            tolerance: (tolerance > 0.0).then_some(tolerance),
            unit: unit.into(),
            source: "test".into(),
            provenance: Some(Provenance::Measured),
            fitted: true,
            conditions: None,
        }
    }

    /// The point mass stops within v² / 2 a of its brakes, 20 m/s². Figures without tolerance, with an unknown quantity
    /// or with another unit are not judged; a figure outside its tolerance fails.
    #[test]
    fn figures_are_judged_by_their_tolerance() {
        let distance = 400.0 / (2.0 * 20.0);
        let quantity = "stopping_distance_from_20_m_per_s";
        let references = [
            reference(quantity, distance, 0.5, "m"),
            reference(quantity, distance + 2.0, 0.5, "m"),
            reference(quantity, distance, 0.0, "m"),
            reference(quantity, distance, 0.5, "ft"),
            reference("noise_at_idle", 50.0, 1.0, "dB"),
        ];
        let step = TimeStep::from_rate_hz(240.0).expect("valid");
        let found = road_test(&[POINT_MASS], &Arc::new(model()), &references, step, &|_, _| ControlFlow::Continue(()));
        let verdicts: Vec<Verdict> = found.rows.iter().map(|row| row.verdict).collect();
        let not_judged = Verdict::NotJudged;
        assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail, not_judged, not_judged, not_judged], "{found:?}");
        assert!(!found.has_passed());
        assert!(found.rows[1].largest_deviation().is_some_and(|deviation| (deviation + 2.0).abs() < 0.5));
        assert_eq!(found.rows[0].provenance_text(), "measured, fitted");
        assert_eq!(found.rows[3].values, [None]);
        // About 10 m for 12 m published.
        assert_eq!(found.rows[1].value_text(21.234), "21.2");
        assert!(found.rows[1].deviation_text().starts_with("-17."), "{}", found.rows[1].deviation_text());
        // Without a braking manoeuvre no figure is driven.
        let point_mass = [POINT_MASS];
        let not_driven = road_test_of_manoeuvres(&point_mass, &Arc::new(model()), &references, &["circle"], step);
        assert!(not_driven.rows.iter().all(|row| row.values == [None] && row.verdict == Verdict::NotJudged));
        let driven = road_test_of_manoeuvres(&point_mass, &Arc::new(model()), &references, &["braking"], step);
        assert_eq!(driven, found);
    }

    /// Numbers have three significant digits of the published value.
    #[test]
    fn numbers_have_three_significant_digits() {
        let text = |value: f64| {
            let reference = reference("top_speed", value, 0.0, "m/s");
            RoadTestRow { reference, figure: None, values: Vec::new(), verdict: Verdict::NotJudged }.value_text(value)
        };
        assert_eq!([4.8, 13.25, 76.5, 0.0061, 251.3].map(text), ["4.80", "13.2", "76.5", "0.00610", "251"]);
    }
}
