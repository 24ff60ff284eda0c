//! Agreement of the solvers on ten shipped vehicles in the manoeuvres of [`MANOEUVRES`], and its acceptance limits.
//! Handling tests and straight tests are not part of it.
//!
//! [`measure`] drives the manoeuvres, [`faults`] judges the results, [`pages`] writes them as Markdown. Below the limit
//! of friction the solvers must agree within [`MAX_SPREAD_PERCENT`], at the limit within [`MAX_LIMIT_SPREAD_PERCENT`].
//! [`KNOWN_REASONS`] explains the metrics with a larger spread.

mod convergence;
mod intended_differences;
mod pages;
mod reasons;

use std::ops::ControlFlow;
use std::sync::Arc;

use skidpad_core::{Model, SolverInfo};

pub use convergence::{COMPARED_RATES_HZ, Convergence};
pub use pages::{Page, SUMMARY_PAGE, acceptance, pages, summary_page_start};
pub use reasons::{KNOWN_REASONS, Reason, find_reason};

use crate::compare::{Progress, Spread, is_noise};
use crate::friction::GRIP_LIMIT_UTILISATION;
use crate::manoeuvre::{MANOEUVRES, Overrides};
use crate::metrics::Metric;
use crate::order::Order;
use crate::rate_runs::{RateRuns, SolverRuns, run_rates};
use crate::run::TimeStep;

/// Shipped vehicles of the comparison: one or several with every tyre model, drivetrain and number of axles. Other
/// shipped vehicles are left out, because each takes the time of all manoeuvres on every solver.
pub const COMPARED_VEHICLES: [&str; 10] = [
    "bmw_320i_commonroad",
    "bmw_320i_mf",
    "bullet_reference",
    "corvette_c5",
    "corvette_c5_mf",
    "corvette_c5_tmeasy",
    "tesla_model3_awd",
    "toyota_4runner",
    "truck_6x4",
    "unity_default",
];
/// Rates at which the metrics are compared (Hz).
pub const RATES_HZ: [f64; 4] = [60.0, 120.0, 240.0, 1000.0];
/// Rate at which the solvers must agree (Hz).
pub const AGREEMENT_RATE_HZ: f64 = 240.0;
/// Rates from which the limit of small steps is extrapolated (Hz); the second is twice the first.
pub const EXTRAPOLATION_RATES_HZ: [f64; 2] = [500.0, 1000.0];
/// Largest accepted spread of a run below the limit of friction (%).
pub const MAX_SPREAD_PERCENT: f64 = 1.0;
/// Largest accepted spread of a run at the limit of friction (%).
pub const MAX_LIMIT_SPREAD_PERCENT: f64 = 3.0;

/// Rates at which [`pages`] needs runs (Hz).
pub const REQUIRED_RATES_HZ: [f64; 5] = [60.0, 120.0, 240.0, 500.0, 1000.0];

/// Results of all manoeuvres of one vehicle.
#[derive(Clone, Debug)]
pub struct VehicleRuns {
    /// Name of the vehicle, as used in files.
    pub vehicle: String,
    /// Model of the vehicle.
    pub model: Arc<Model>,
    /// Results, one per manoeuvre of the catalogue.
    pub manoeuvres: Vec<RateRuns>,
    /// Order of convergence of every script on every solver that is not a peer (a solver that only serves comparisons).
    /// Empty before [`Self::measure_convergence`].
    pub convergence: Vec<Convergence>,
}

impl VehicleRuns {
    /// Determines the order of convergence at [`COMPARED_RATES_HZ`] on the solvers of `backends`, which takes about as
    /// long as the manoeuvres.
    pub fn measure_convergence(&mut self, backends: &[SolverInfo]) {
        self.convergence = convergence::measure_convergence(backends, &self.model);
    }
}

/// Metric whose spread between the solvers exceeds the accepted one.
#[derive(Clone, Debug)]
pub struct OverLimit<'a> {
    /// Name of the vehicle.
    pub vehicle: &'a str,
    /// Name of the manoeuvre.
    pub manoeuvre: &'static str,
    /// Metric, with the value of the first solver at the shortest step.
    pub metric: Metric,
    /// Spread of the solvers (%).
    pub spread: f64,
    /// Accepted spread (%).
    pub accepted: f64,
    /// Values as text, in the order of the solvers that are not peers.
    pub texts: Vec<String>,
    /// Reason for the spread; `None` if it is unknown.
    pub reason: Option<&'static Reason>,
}

/// Drives each of [`MANOEUVRES`] with `model` and standard parameters on every solver of `backends` at each
/// of `rates_hz` (Hz), one manoeuvre after the other. `vehicle` is the name of the vehicle in the result.
///
/// Calls `progress` from all threads with the name of the present manoeuvre and the progress within this manoeuvre.
/// Once it returns `Break`, all runs end soon, and the results are those of the shortened runs.
///
/// # Errors
/// Returns a description of the accepted rates if [`TimeStep::from_rate_hz`] rejects one.
pub fn measure(
    backends: &[SolverInfo],
    vehicle: &str,
    model: &Arc<Model>,
    rates_hz: &[f64],
    progress: &(dyn Fn(&'static str, Progress) -> ControlFlow<()> + Sync),
) -> Result<VehicleRuns, String> {
    let overrides = Overrides::default();
    let steps = rates_hz.iter().map(|&hz| TimeStep::from_rate_hz(hz)).collect::<Result<Vec<_>, _>>()?;
    let run_manoeuvre = |entry: &crate::manoeuvre::ManoeuvreEntry| {
        let report_progress = |manoeuvre_progress: Progress| progress(entry.name, manoeuvre_progress);
        run_rates(backends, model, entry.build_standard(&overrides).as_ref(), &overrides, &steps, &report_progress)
    };
    Ok(VehicleRuns {
        vehicle: vehicle.into(),
        model: Arc::clone(model),
        manoeuvres: MANOEUVRES.iter().map(run_manoeuvre).collect(),
        convergence: Vec::new(),
    })
}

/// Iterates over the solvers that must agree: all except the peers, which only serve comparisons.
fn judged_solvers(rate_runs: &RateRuns) -> impl Iterator<Item = &SolverRuns> {
    rate_runs.solvers.iter().filter(|solver_runs| !solver_runs.peer)
}

/// Returns the index of the samples at `rate_hz` (Hz) in each [`SolverRuns`]; `None` if this rate was not driven.
fn sample_index(rate_runs: &RateRuns, rate_hz: f64) -> Option<usize> {
    rate_runs.steps_s.iter().position(|dt| (dt * rate_hz - 1.0).abs() < 1e-9)
}

/// Computes the spread of metric number `index` in sample number `sample` (one per step length) over the solvers that
/// are not peers. The spread is unknown if one of these solvers has no value, if there are fewer than two, or if their
/// mean rounds to 0.
fn spread(rate_runs: &RateRuns, index: usize, sample: usize) -> Spread {
    let metric = &rate_runs.metrics()[index];
    let values: Option<Vec<f64>> =
        judged_solvers(rate_runs).map(|solver_runs| solver_runs.samples[sample].metrics[index].value).collect();
    values.map_or(Spread::Unknown, |values| Spread::between(&values, metric, rate_runs.steps_s[sample]))
}

/// Returns the largest friction utilisation of any tyre on any solver that is not a peer, at [`AGREEMENT_RATE_HZ`] (–);
/// 0 if this rate was not driven.
pub fn friction_utilisation(rate_runs: &RateRuns) -> f64 {
    let Some(sample) = sample_index(rate_runs, AGREEMENT_RATE_HZ) else { return 0.0 };
    judged_solvers(rate_runs).map(|solver_runs| solver_runs.samples[sample].friction_utilisation).fold(0.0, f64::max)
}

/// Returns the largest accepted spread of a run whose tyres use at most the share `friction_utilisation` of their
/// friction (%). At the limit of friction, above [`GRIP_LIMIT_UTILISATION`], it is [`MAX_LIMIT_SPREAD_PERCENT`],
/// otherwise [`MAX_SPREAD_PERCENT`].
pub fn accepted_spread(friction_utilisation: f64) -> f64 {
    if friction_utilisation > GRIP_LIMIT_UTILISATION { MAX_LIMIT_SPREAD_PERCENT } else { MAX_SPREAD_PERCENT }
}

/// Returns the largest accepted spread of `rate_runs` (%), which depends on their friction utilisation; see
/// [`accepted_spread`].
pub fn max_spread(rate_runs: &RateRuns) -> f64 {
    accepted_spread(friction_utilisation(rate_runs))
}

/// Extrapolates the value of metric number `index` of one solver to the limit of small steps, from the values at
/// [`EXTRAPOLATION_RATES_HZ`]. First order is assumed: `2 x(fine) − x(coarse)`. `None` if a rate was not driven or a
/// value is missing.
fn extrapolate_limit(rate_runs: &RateRuns, solver_runs: &SolverRuns, index: usize) -> Option<f64> {
    let [coarse, fine] =
        EXTRAPOLATION_RATES_HZ.map(|hz| solver_runs.samples[sample_index(rate_runs, hz)?].metrics[index].value);
    Some(2.0 * fine? - coarse?)
}

/// Computes the order of convergence of metric number `index` on one solver, from the differences between its values at
/// neighbouring step lengths. Only the differences before the first one within the noise of the metric are used.
fn order(rate_runs: &RateRuns, solver_runs: &SolverRuns, index: usize) -> Order {
    let values: Vec<Option<f64>> = solver_runs.values(index).collect();
    Order::from_values(&rate_runs.steps_s, &values, |gap, dt| is_noise(gap, &rate_runs.metrics()[index], dt))
}

/// Returns the metrics whose spread in % at [`AGREEMENT_RATE_HZ`] exceeds the accepted one, in the order of vehicles,
/// manoeuvres and metrics. Each has the values of the solvers that are not peers, and the first entry of
/// [`KNOWN_REASONS`] for its vehicle, manoeuvre and name.
///
/// Manoeuvres without a run at this rate are left out. So are spreads that are not expressed in %, which count as noise
/// or are unknown.
pub fn over_limit(runs: &[VehicleRuns]) -> Vec<OverLimit<'_>> {
    let mut over_limits = Vec::new();
    for (vehicle, rate_runs) in
        runs.iter().flat_map(|runs| runs.manoeuvres.iter().map(|rate_runs| (runs.vehicle.as_str(), rate_runs)))
    {
        let Some(sample) = sample_index(rate_runs, AGREEMENT_RATE_HZ) else { continue };
        let (manoeuvre, accepted) = (rate_runs.manoeuvre, max_spread(rate_runs));
        for (index, metric) in rate_runs.metrics().iter().enumerate() {
            let Some(spread) = spread(rate_runs, index, sample).percent().filter(|percent| *percent > accepted) else {
                continue;
            };
            let texts = judged_solvers(rate_runs)
                .map(|solver_runs| solver_runs.samples[sample].metrics[index].text())
                .collect();
            let reason = find_reason(vehicle, manoeuvre, &metric.name);
            over_limits.push(OverLimit { vehicle, manoeuvre, metric: metric.clone(), spread, accepted, texts, reason });
        }
    }
    over_limits
}

/// Returns the faults as text; empty if there are none. First come the metrics above the accepted spread without a
/// known reason, each with spread, accepted spread and values. Then come the entries of [`KNOWN_REASONS`] for a driven
/// vehicle that are not needed, because the metric does not exceed the accepted spread. A reason for several metrics is
/// checked for each metric.
pub fn faults(runs: &[VehicleRuns]) -> Vec<String> {
    let over_limits = over_limit(runs);
    let unexplained = over_limits.iter().filter(|over| over.reason.is_none()).map(|over| {
        let (spread, accepted, values) = (over.spread, over.accepted, over.texts.join(", "));
        format!(
            "{} {} {}: spread {spread:.2} %, accepted {accepted} %: {values}",
            over.vehicle, over.manoeuvre, over.metric.name
        )
    });
    let is_driven = |reason: &&Reason| runs.iter().any(|runs| runs.vehicle == reason.vehicle);
    // Pairs of a reason and one of its metrics. Those whose metric is not over the limit are idle.
    let reasoned_metrics = KNOWN_REASONS
        .iter()
        .filter(is_driven)
        .flat_map(|reason| reason.metrics.iter().map(move |&metric| (reason, metric)));
    let idle_reasons = reasoned_metrics.filter(|(reason, metric)| {
        !over_limits.iter().any(|over| over.metric.name == *metric && over.reason.is_some_and(|known| known == *reason))
    });
    let idle_texts = idle_reasons.map(|(reason, metric)| {
        format!("{} {} {metric}: has a stated reason, but its spread is accepted", reason.vehicle, reason.manoeuvre)
    });
    unexplained.chain(idle_texts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manoeuvre::Braking;
    use crate::testing::{POINT_MASS, model};

    /// Drives all manoeuvres with the test car under the name `vehicle` on `backends`, at [`AGREEMENT_RATE_HZ`] only.
    fn runs(vehicle: &str, backends: &[SolverInfo]) -> VehicleRuns {
        measure(backends, vehicle, &Arc::new(model()), &[AGREEMENT_RATE_HZ], &|_, _| ControlFlow::Continue(()))
            .expect("valid rates")
    }

    /// Identical solvers agree. A reason for a car that agrees is a fault; a reason for a car that is not driven is
    /// not.
    #[test]
    fn equal_solvers_have_no_faults_but_idle_reasons() {
        let twice = [POINT_MASS, SolverInfo { name: "second", ..POINT_MASS }];
        assert_eq!(faults(&[runs("a", &twice)]), Vec::<String>::new());
        let named: usize = KNOWN_REASONS.iter().map(|r| r.metrics.len()).sum();
        let explained: Vec<VehicleRuns> = KNOWN_REASONS.iter().map(|r| runs(r.vehicle, &twice)).collect();
        assert_eq!(faults(&explained).len(), named, "every reason is idle");
    }

    /// A deviating metric is a fault above 1 % below the limit of friction, and above 3 % at the limit. A spread of
    /// 1.98 % is reported with its values below the limit, and accepted at it.
    #[test]
    fn what_is_accepted_depends_on_the_friction_used() {
        let mut found = runs("a", &[POINT_MASS, SolverInfo { name: "second", ..POINT_MASS }]);
        let sample = sample_index(&found.manoeuvres[0], AGREEMENT_RATE_HZ).expect("driven");
        let braking = found.manoeuvres.iter_mut().find(|s| s.manoeuvre == "braking").expect("in the catalogue");
        let value = &mut braking.solvers[1].samples[sample].metrics[0].value;
        *value = value.map(|v| v * 1.02);
        let [fault] = &faults(std::slice::from_ref(&found))[..] else { panic!("one fault") };
        assert!(fault.starts_with("a braking distance_m: spread 1.98 %, accepted 1 %"), "{fault}");
        let braking = found.manoeuvres.iter_mut().find(|s| s.manoeuvre == "braking").expect("in the catalogue");
        braking.solvers[0].samples[sample].friction_utilisation = 0.95;
        assert_eq!(faults(&[found]), Vec::<String>::new());
    }

    /// The stopping distance of the point mass has the order 1, and its lateral drift, which is constant, is within the
    /// noise.
    #[test]
    fn the_order_of_a_first_order_solver_is_one_and_of_a_constant_closed() {
        let steps = REQUIRED_RATES_HZ.map(|hz| TimeStep::from_rate_hz(hz).expect("valid"));
        let (model, overrides) = (Arc::new(model()), Overrides::default());
        let rate_runs =
            &run_rates(&[POINT_MASS], &model, &Braking::default(), &overrides, &steps, &|_| ControlFlow::Continue(()));
        let distance = order(rate_runs, &rate_runs.solvers[0], 0);
        assert!(matches!(distance, Order::Observed(order) if (order - 1.0).abs() < 0.05), "{distance:?}");
        let drift = rate_runs.metrics().iter().position(|m| m.name == "lateral_drift_mm").expect("a figure");
        assert_eq!(order(rate_runs, &rate_runs.solvers[0], drift), Order::WithinNoise);
    }
}
