//! Execution of a procedure on one solver, with its progress.

use std::ops::ControlFlow;
use std::sync::Arc;

use skidpad_core::{Model, SolverInfo, StepReport};

use crate::manoeuvre::{Evaluation, Manoeuvre, Overrides, Procedure, Runner};
use crate::run::{TimeStep, simulate};
use crate::scene_bounds::OffScene;
use crate::trajectory::Trajectory;

/// Largest number of steps between two reports of the progress of a run.
pub const MAX_STEPS_PER_REPORT: u64 = 1000;

/// Returns the number of steps that the progress of `procedure` counts: those of its first run with the changes
/// `overrides`, times the maximum number of runs.
pub fn planned_steps(procedure: &dyn Procedure, model: &Model, overrides: &Overrides, dt: TimeStep) -> u64 {
    dt.steps(overrides.apply(procedure.setup(model)).duration_s) * u64::from(procedure.max_runs())
}

/// Executes `procedure` with `model` on the solver `info` with the step length `dt`. The changes `overrides` are
/// applied to the start of every run, without checks. Parameters of the procedure that depend on the car are computed
/// first.
///
/// Calls `report_steps` with the number of newly finished steps, about 200 times per run and at least once in
/// [`MAX_STEPS_PER_REPORT`] steps. Every run counts as many steps as planned for the first one, even if its duration
/// differs. The last call includes the steps of runs that were not needed or ended early, so the sum is always that of
/// [`planned_steps`]. If `report_steps` returns `Break`, the present run ends and every later one ends after its first
/// step; the evaluation is then that of the shortened runs.
///
/// The worst step report of all runs, and the first place at which a car left its ground, are merged into the telemetry
/// of the evaluation.
pub fn execute(
    info: &SolverInfo,
    model: &Arc<Model>,
    procedure: &dyn Procedure,
    overrides: &Overrides,
    dt: TimeStep,
    report_steps: &dyn Fn(u64) -> ControlFlow<()>,
) -> Evaluation {
    let resolved = procedure.resolve_parameters(model);
    let procedure = resolved.as_deref().unwrap_or(procedure);
    let planned = planned_steps(procedure, model, overrides, dt);
    let mut runner = SolverRunner {
        info,
        model,
        overrides,
        dt,
        report_steps,
        steps_per_run: planned / u64::from(procedure.max_runs().max(1)),
        planned_steps: planned,
        finished_runs: 0,
        reported_steps: 0,
        worst_report: StepReport::default(),
        off_scene: None,
        flow: ControlFlow::Continue(()),
    };
    let mut evaluation = procedure.execute(model, &mut runner);
    runner.report_until(planned);
    evaluation.trajectory.merge_health(runner.worst_report, runner.off_scene);
    evaluation
}

/// Runner of one solver.
struct SolverRunner<'a> {
    info: &'a SolverInfo,
    model: &'a Arc<Model>,
    /// Changes to the start of every run.
    overrides: &'a Overrides,
    dt: TimeStep,
    /// Receives the number of newly finished steps.
    report_steps: &'a dyn Fn(u64) -> ControlFlow<()>,
    /// Steps that a run counts in the progress.
    steps_per_run: u64,
    /// Steps of the whole procedure.
    planned_steps: u64,
    finished_runs: u64,
    reported_steps: u64,
    /// Worst value of each field of the step reports of all runs.
    worst_report: StepReport,
    /// First time and place at which a car left its ground.
    off_scene: Option<OffScene>,
    /// `Break` after a report that stopped the runs.
    flow: ControlFlow<()>,
}

impl SolverRunner<'_> {
    /// Reports the steps up to the number `steps` of the whole procedure, and stores whether the runs are stopped.
    /// Does nothing if these steps have been reported.
    fn report_until(&mut self, steps: u64) {
        let steps = steps.min(self.planned_steps);
        if steps > self.reported_steps {
            let flow = (self.report_steps)(steps - self.reported_steps);
            self.reported_steps = steps;
            if flow.is_break() {
                self.flow = flow;
            }
        }
    }
}

impl Runner for SolverRunner<'_> {
    /// Drives `manoeuvre` with the changes of `overrides` and a new driver. Reports the steps finished so far, scaled
    /// such that every run counts `steps_per_run`. Ends the run if it is stopped. Merges the worst step report, and the place where the
    /// car left its ground if no earlier run has one.
    fn drive(&mut self, manoeuvre: &dyn Manoeuvre) -> Trajectory {
        let setup = self.overrides.apply(manoeuvre.setup(self.model));
        let step_count = self.dt.steps(setup.duration_s);
        let (first_step, steps_per_run) = (self.finished_runs * self.steps_per_run, self.steps_per_run);
        let mut driver = manoeuvre.driver(self.model);
        let (info, model, dt) = (self.info, self.model, self.dt);
        let trajectory = simulate(info, model, &setup, driver.as_mut(), dt, &mut |step, _| {
            // Reports every 200th part of the run, or more often.
            if step % (step_count / 200).clamp(1, MAX_STEPS_PER_REPORT) == 0 {
                // The product of two numbers of steps fits into u128.
                let share = u128::from(steps_per_run) * u128::from(step) / u128::from(step_count);
                self.report_until(first_step + share as u64);
            }
            self.flow
        });
        self.finished_runs += 1;
        self.worst_report = self.worst_report.merge_worst(trajectory.worst_report());
        self.off_scene = self.off_scene.or(trajectory.off_scene());
        trajectory
    }
}
