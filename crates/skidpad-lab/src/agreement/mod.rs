//! Agreement of the solvers on every shipped vehicle and manoeuvre, and its acceptance limits.
//!
//! [`measure`] drives the manoeuvres, [`faults`] judges the results, [`pages`] writes them as Markdown. Below the limit
//! of friction the solvers must agree within [`BELOW_THE_LIMIT`], at the limit within [`AT_THE_LIMIT_PERCENT`].
//! [`REASONS`] explains the metrics with a larger spread.

mod convergence;
mod on_purpose;
mod pages;
mod reasons;

use std::sync::Arc;

use skidpad_core::{BackendInfo, Model};

pub use convergence::{COMPARED_HZ, Convergence};
pub use pages::{Page, SUMMARY, acceptance, judged, pages};
pub use reasons::{REASONS, Reason};

use crate::compare::{Progress, Spread, is_noise};
use crate::friction::AT_THE_LIMIT;
use crate::manoeuvre::{CATALOGUE, Overrides};
use crate::metrics::Metric;
use crate::order::Order;
use crate::run::TimeStep;
use crate::sweep::{RateSweep, Sweep, sweep};

/// Rates at which the metrics are compared (Hz).
pub const RATES_HZ: [f64; 4] = [60.0, 120.0, 240.0, 1000.0];
/// Rate at which the solvers must agree (Hz).
pub const JUDGED_HZ: f64 = 240.0;
/// Rates from which the limit of small steps is extrapolated (Hz); the second is twice the first.
pub const FINE_HZ: [f64; 2] = [500.0, 1000.0];
/// Largest accepted spread of a run below the limit of friction (%).
pub const BELOW_THE_LIMIT: f64 = 1.0;
/// Largest accepted spread of a run at the limit of friction (%).
pub const AT_THE_LIMIT_PERCENT: f64 = 3.0;

/// Rates at which [`pages`] needs runs (Hz).
pub const DRIVEN_HZ: [f64; 5] = [60.0, 120.0, 240.0, 500.0, 1000.0];

/// Results of all manoeuvres of one vehicle.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Name of the vehicle, as used in files.
    pub vehicle: String,
    /// Model of the vehicle.
    pub model: Arc<Model>,
    /// Results, one per manoeuvre of the catalogue.
    pub sweeps: Vec<Sweep>,
    /// Order of convergence of every script on every solver that is not a peer.
    pub convergence: Vec<Convergence>,
}

/// Metric whose spread between the solvers exceeds the accepted one.
#[derive(Clone, Debug)]
pub struct Above<'a> {
    /// Name of the vehicle.
    pub vehicle: &'a str,
    /// Name of the manoeuvre.
    pub manoeuvre: &'static str,
    /// Metric, with the value of the first solver.
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

/// Drives every manoeuvre of the catalogue with `model` on every solver of `backends` at each of `rates_hz` (Hz), and
/// determines the order of convergence at [`COMPARED_HZ`]. Calls `progress` with the name of the manoeuvre.
///
/// # Errors
/// Returns a description of the accepted rates if [`TimeStep::per_second`] rejects one.
pub fn measure(
    backends: &[BackendInfo],
    vehicle: &str,
    model: &Arc<Model>,
    rates_hz: &[f64],
    progress: &(dyn Fn(&'static str, Progress) + Sync),
) -> Result<Runs, String> {
    let overrides = Overrides::default();
    let steps = rates_hz.iter().map(|&hz| TimeStep::per_second(hz)).collect::<Result<Vec<_>, _>>()?;
    let drive = |entry: &crate::manoeuvre::Entry| {
        let tell = |p: Progress| progress(entry.name, p);
        sweep(backends, model, entry.standard(&overrides).as_ref(), &overrides, &steps, &tell)
    };
    Ok(Runs {
        vehicle: vehicle.into(),
        model: Arc::clone(model),
        sweeps: CATALOGUE.iter().map(drive).collect(),
        convergence: convergence::observe(backends, model),
    })
}

/// Iterates over the solvers that are not peers.
fn own(sweep: &Sweep) -> impl Iterator<Item = &RateSweep> {
    sweep.rate_sweeps.iter().filter(|rate_sweep| !rate_sweep.peer)
}

/// Returns the number of the sample at `rate_hz` (Hz); `None` if this rate was not driven.
fn at(sweep: &Sweep, rate_hz: f64) -> Option<usize> {
    sweep.steps_s.iter().position(|dt| (dt * rate_hz - 1.0).abs() < 1e-9)
}

/// Computes the spread of metric number `index` over the solvers that are not peers, in sample number `sample`.
fn spread(sweep: &Sweep, index: usize, sample: usize) -> Spread {
    let metric = &sweep.metrics()[index];
    let values: Option<Vec<f64>> = own(sweep).map(|l| l.samples[sample].metrics[index].value).collect();
    values.map_or(Spread::Unknown, |values| Spread::of(&values, metric, sweep.steps_s[sample]))
}

/// Returns the largest friction utilisation of any tyre on any solver that is not a peer, at [`JUDGED_HZ`] (–); 0 if
/// this rate was not driven.
pub fn friction_use(sweep: &Sweep) -> f64 {
    let Some(sample) = at(sweep, JUDGED_HZ) else { return 0.0 };
    own(sweep).map(|rate_sweep| rate_sweep.samples[sample].friction_use).fold(0.0, f64::max)
}

/// Returns the largest accepted spread of a run (%).
pub fn accepted(sweep: &Sweep) -> f64 {
    if friction_use(sweep) > AT_THE_LIMIT { AT_THE_LIMIT_PERCENT } else { BELOW_THE_LIMIT }
}

/// Extrapolates the value of metric number `index` to the limit of small steps from [`FINE_HZ`], assuming first order.
fn limit(sweep: &Sweep, rate_sweep: &RateSweep, index: usize) -> Option<f64> {
    let [coarse, fine] = FINE_HZ.map(|hz| rate_sweep.samples[at(sweep, hz)?].metrics[index].value);
    Some(2.0 * fine? - coarse?)
}

/// Computes the order of convergence of metric number `index` from the differences between neighbouring steps.
fn order(sweep: &Sweep, rate_sweep: &RateSweep, index: usize) -> Order {
    let values: Vec<Option<f64>> = rate_sweep.values(index).collect();
    Order::of_values(&sweep.steps_s, &values, |gap, dt| is_noise(gap, &sweep.metrics()[index], dt))
}

/// Returns the metrics whose spread at [`JUDGED_HZ`] exceeds the accepted one.
pub fn above(runs: &[Runs]) -> Vec<Above<'_>> {
    let mut found = Vec::new();
    for (vehicle, sweep) in runs.iter().flat_map(|r| r.sweeps.iter().map(|sweep| (r.vehicle.as_str(), sweep))) {
        let Some(sample) = at(sweep, JUDGED_HZ) else { continue };
        let (manoeuvre, accepted) = (sweep.manoeuvre, accepted(sweep));
        for (index, metric) in sweep.metrics().iter().enumerate() {
            let Some(spread) = spread(sweep, index, sample).percent().filter(|s| *s > accepted) else { continue };
            let texts = own(sweep).map(|l| l.samples[sample].metrics[index].text()).collect();
            let speaks =
                |r: &&Reason| r.vehicle == vehicle && r.manoeuvre == manoeuvre && r.metrics.contains(&&*metric.name);
            let reason = REASONS.iter().find(speaks);
            found.push(Above { vehicle, manoeuvre, metric: metric.clone(), spread, accepted, texts, reason });
        }
    }
    found
}

/// Returns what has to be corrected, as text: metrics above the accepted spread without a reason, and reasons whose
/// metric is within it.
pub fn faults(runs: &[Runs]) -> Vec<String> {
    let above = above(runs);
    let unexplained = above.iter().filter(|a| a.reason.is_none()).map(|a| {
        let (spread, accepted, values) = (a.spread, a.accepted, a.texts.join(", "));
        format!("{} {} {}: {spread:.2} % apart, {accepted} % accepted: {values}", a.vehicle, a.manoeuvre, a.metric.name)
    });
    let driven = |r: &&Reason| runs.iter().any(|runs| runs.vehicle == r.vehicle);
    let named = REASONS.iter().filter(driven).flat_map(|r| r.metrics.iter().map(move |&metric| (r, metric)));
    let idle = named.filter(|(r, metric)| {
        !above.iter().any(|a| a.metric.name == *metric && a.reason.is_some_and(|found| found == *r))
    });
    let idle = idle.map(|(r, metric)| {
        format!("{} {} {metric}: has a reason, but is within what is accepted", r.vehicle, r.manoeuvre)
    });
    unexplained.chain(idle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manoeuvre::Braking;
    use crate::testing::{POINT_MASS, model};

    fn runs(vehicle: &str, backends: &[BackendInfo]) -> Runs {
        measure(backends, vehicle, &Arc::new(model()), &[JUDGED_HZ], &|_, _| {}).expect("valid rates")
    }

    /// Identical solvers agree. A reason for a car that agrees is a fault; a reason for a car that is not driven is
    /// not.
    #[test]
    fn equal_solvers_have_no_faults_but_idle_reasons() {
        let twice = [POINT_MASS, BackendInfo { name: "second", ..POINT_MASS }];
        assert_eq!(faults(&[runs("a", &twice)]), Vec::<String>::new());
        let named: usize = REASONS.iter().map(|r| r.metrics.len()).sum();
        let explained: Vec<Runs> = REASONS.iter().map(|r| runs(r.vehicle, &twice)).collect();
        assert_eq!(faults(&explained).len(), named, "every reason is idle");
    }

    /// A deviating metric is a fault above 1 % below the limit of friction, and above 3 % at the limit.
    #[test]
    fn what_is_accepted_depends_on_the_friction_used() {
        let mut found = runs("a", &[POINT_MASS, BackendInfo { name: "second", ..POINT_MASS }]);
        let sample = at(&found.sweeps[0], JUDGED_HZ).expect("driven");
        let braking = found.sweeps.iter_mut().find(|s| s.manoeuvre == "braking").expect("in the catalogue");
        let value = &mut braking.rate_sweeps[1].samples[sample].metrics[0].value;
        *value = value.map(|v| v * 1.02);
        let [fault] = &faults(std::slice::from_ref(&found))[..] else { panic!("one fault") };
        assert!(fault.starts_with("a braking distance_m: 1.98 % apart, 1 % accepted"), "{fault}");
        let braking = found.sweeps.iter_mut().find(|s| s.manoeuvre == "braking").expect("in the catalogue");
        braking.rate_sweeps[0].samples[sample].friction_use = 0.95;
        assert_eq!(faults(&[found]), Vec::<String>::new());
    }

    #[test]
    fn the_order_of_a_first_order_solver_is_one_and_of_a_constant_closed() {
        let steps = DRIVEN_HZ.map(|hz| TimeStep::per_second(hz).expect("valid"));
        let (model, overrides) = (Arc::new(model()), Overrides::default());
        let sweep = &sweep(&[POINT_MASS], &model, &Braking::default(), &overrides, &steps, &|_| {});
        let distance = order(sweep, &sweep.rate_sweeps[0], 0);
        assert!(matches!(distance, Order::Of(order) if (order - 1.0).abs() < 0.05), "{distance:?}");
        let drift = sweep.metrics().iter().position(|m| m.name == "lateral_drift_mm").expect("a figure");
        assert_eq!(order(sweep, &sweep.rate_sweeps[0], drift), Order::Closed);
    }
}
