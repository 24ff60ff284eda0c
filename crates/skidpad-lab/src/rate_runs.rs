//! Runs of one manoeuvre on several solvers with several step lengths. Only the metrics are kept, not the telemetry.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use skidpad_core::{Model, SolverInfo, StepReport};

use crate::compare::{Progress, run_solver};
use crate::friction::max_friction_utilisation;
use crate::manoeuvre::{IncompleteCourse, Overrides, Procedure};
use crate::metrics::Metric;
use crate::parallel::run_in_parallel;
use crate::run::TimeStep;
use crate::runner;
use crate::scene_bounds::OffScene;
use crate::solver_support::can_simulate;

/// Results of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Length of the step (s).
    pub dt_s: f64,
    /// Metrics of the run, in the same order for every solver and step length.
    pub metrics: Vec<Metric>,
    /// Worst value of each field of the step reports of the run.
    pub worst_report: StepReport,
    /// Time and place at which the car left the area of its scene; `None` if it did not.
    pub off_scene: Option<OffScene>,
    /// Reason why the run did not complete its course; `None` if it did.
    pub incomplete: Option<IncompleteCourse>,
    /// Largest friction utilisation of any tyre (–); see [`max_friction_utilisation`].
    pub friction_utilisation: f64,
}

/// Runs of one solver.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverRuns {
    /// Name of the solver.
    pub backend: &'static str,
    /// Whether the solver is a peer: it is listed, but does not have to agree with the others.
    pub peer: bool,
    /// Results, one per step length, the longest step first.
    pub samples: Vec<Sample>,
}

impl SolverRuns {
    /// Returns the values of metric number `index` (from 0), the longest step first. `None` where the metric has no
    /// value.
    pub fn values(&self, index: usize) -> impl DoubleEndedIterator<Item = Option<f64>> + ExactSizeIterator {
        self.samples.iter().map(move |sample| sample.metrics.get(index).and_then(|metric| metric.value))
    }
}

/// Results of one manoeuvre of one car, driven by several solvers with several step lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct RateRuns {
    /// Name of the manoeuvre.
    pub manoeuvre: &'static str,
    /// Description of the manoeuvre in one sentence.
    pub about: String,
    /// Step lengths (s), the longest first.
    pub steps_s: Vec<f64>,
    /// Runs of each solver, in the order of the solvers passed to [`run_rates`].
    pub solvers: Vec<SolverRuns>,
}

impl RateRuns {
    /// Returns the metrics with the values of the first solver at the shortest step; empty if there are no runs.
    pub fn metrics(&self) -> &[Metric] {
        self.solvers.first().and_then(|solver_runs| solver_runs.samples.last()).map_or(&[], |sample| &sample.metrics)
    }
}

/// Drives `manoeuvre` with `model` on every solver of `backends` that can simulate it ([`can_simulate`]), with every
/// step length of `steps`.
///
/// Step lengths are sorted, the longest first, and equal ones are removed. Parameters of the manoeuvre that depend on
/// the car are computed once before. All runs are distributed to threads; results depend neither on the number of
/// threads nor on the order of `steps`. The changes `overrides` are applied without checks and are part of the
/// description.
///
/// `progress` is called from all threads; its total is that of the planned duration of all runs. Once it returns
/// `Break`, all runs end soon, and the results are those of the shortened runs.
pub fn run_rates(
    backends: &[SolverInfo],
    model: &Arc<Model>,
    manoeuvre: &dyn Procedure,
    overrides: &Overrides,
    steps: &[TimeStep],
    progress: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
) -> RateRuns {
    let about = overrides.about_changed(manoeuvre);
    let resolved = manoeuvre.resolve_parameters(model);
    let manoeuvre = resolved.as_deref().unwrap_or(manoeuvre);
    let setup = overrides.apply(manoeuvre.setup(model));
    let backends: Vec<&SolverInfo> = backends.iter().filter(|info| can_simulate(info, &setup)).collect();
    let mut steps: Vec<TimeStep> = steps.to_vec();
    steps.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    steps.dedup();
    let planned_steps = |dt: &TimeStep| runner::planned_steps(manoeuvre, model, overrides, *dt);
    let total = steps.iter().map(planned_steps).sum::<u64>() * backends.len() as u64;
    // Finished steps of all threads.
    let done = AtomicU64::new(0);
    let report_steps =
        |finished: u64| progress(Progress { done: done.fetch_add(finished, Ordering::Relaxed) + finished, total });
    // Jobs are ordered by solver, then by step length.
    let run_job = |job: usize| {
        let (info, dt) = (backends[job / steps.len()], steps[job % steps.len()]);
        run_sample(info, model, manoeuvre, overrides, dt, &report_steps)
    };
    // Every solver takes the next samples, one per step length.
    let mut samples = run_in_parallel(backends.len() * steps.len(), &run_job).into_iter();
    let mut solver_runs = |info: &SolverInfo| SolverRuns {
        backend: info.name,
        peer: info.comparison_only,
        samples: samples.by_ref().take(steps.len()).collect(),
    };
    RateRuns {
        manoeuvre: manoeuvre.name(),
        about,
        solvers: backends.into_iter().map(&mut solver_runs).collect(),
        steps_s: steps.iter().map(|dt| dt.seconds()).collect(),
    }
}

/// Drives one run of `manoeuvre` on the solver `info` with the step length `dt`. Returns the step length, metrics,
/// friction utilisation and worst step report, the time and place at which the car left the area of the scene (`None`
/// if it did not), and the reason for an incomplete course. The telemetry is dropped. `report_steps` receives the
/// number of newly finished steps, and stops the run by `Break`.
fn run_sample(
    info: &SolverInfo,
    model: &Arc<Model>,
    manoeuvre: &dyn Procedure,
    overrides: &Overrides,
    dt: TimeStep,
    report_steps: &dyn Fn(u64) -> ControlFlow<()>,
) -> Sample {
    let outcome = run_solver(info, model, manoeuvre, overrides, dt, report_steps);
    let scene = overrides.apply(manoeuvre.setup(model)).scene;
    Sample {
        dt_s: dt.seconds(),
        friction_utilisation: max_friction_utilisation(model, &scene, &outcome.trajectory),
        worst_report: outcome.trajectory.worst_report(),
        off_scene: outcome.trajectory.off_scene(),
        incomplete: outcome.incomplete,
        metrics: outcome.metrics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manoeuvre::Braking;
    use crate::testing::{POINT_MASS, model};

    /// Duplicate steps are removed, and the progress ends at the total. Sweeps have the order and the kind of the
    /// solvers, samples the order of the steps, and the stopping distance grows towards shorter steps.
    #[test]
    fn every_solver_runs_in_every_step_the_longest_first() {
        let backends = [POINT_MASS, SolverInfo { name: "second", comparison_only: true, ..POINT_MASS }];
        let steps = [240.0, 60.0, 120.0, 60.0].map(|hz| TimeStep::from_rate_hz(hz).expect("valid"));
        let last = AtomicU64::new(0);
        let found =
            run_rates(&backends, &Arc::new(model()), &Braking::default(), &Overrides::default(), &steps, &|p| {
                assert_eq!(p.total, 2 * 60 * (60 + 120 + 240));
                last.fetch_max(p.done, Ordering::Relaxed);
                ControlFlow::Continue(())
            });
        assert_eq!(last.into_inner(), 2 * 60 * (60 + 120 + 240));
        assert_eq!(found.steps_s, [1.0 / 60.0, 1.0 / 120.0, 1.0 / 240.0]);
        assert_eq!(
            found.solvers.iter().map(|l| (l.backend, l.peer)).collect::<Vec<_>>(),
            [("point-mass", false), ("second", true)]
        );
        for solver_runs in &found.solvers {
            assert_eq!(solver_runs.samples.iter().map(|s| s.dt_s).collect::<Vec<_>>(), found.steps_s);
            // A point that moves with the speed at the end of the step stops v dt / 2 early.
            let stops: Vec<f64> = solver_runs.values(0).map(|v| v.expect("stops")).collect();
            assert!(stops[0] < stops[1] && stops[1] < stops[2], "{stops:?}");
        }
        assert_eq!(found.metrics()[0].name, "distance_m");
    }
}
