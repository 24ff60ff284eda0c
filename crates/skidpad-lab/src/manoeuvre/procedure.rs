//! Procedures: one or several runs with a common evaluation, for example a search for the highest passing speed.

use skidpad_core::Model;

use super::{IncompleteCourse, Manoeuvre, Setup, StartRequirements};
use crate::metrics::Metric;
use crate::quantity::{ComputedCurve, Diagram};
use crate::trajectory::Trajectory;

/// Drives the runs of a [`Procedure`] on one solver.
pub trait Runner {
    /// Drives `manoeuvre` from its start to its end and returns the telemetry.
    fn drive(&mut self, manoeuvre: &dyn Manoeuvre) -> Trajectory;
}

/// Result of a [`Procedure`] on one solver.
#[derive(Debug)]
pub struct Evaluation {
    /// Telemetry of the run that reports show.
    pub trajectory: Trajectory,
    /// Metrics of all runs together, in the same order for every solver.
    pub metrics: Vec<Metric>,
    /// Reason why the course was not completed; `None` if it was, or if there is no course.
    pub incomplete: Option<IncompleteCourse>,
    /// Whether the car failed a test with stated limits, such as FMVSS 126; false for procedures without limits.
    pub failed_test: bool,
    /// Curves that reports show beside the diagrams; empty in most procedures.
    pub curves: Vec<ComputedCurve>,
}

/// Procedure of one or several runs with a common evaluation. Every [`Manoeuvre`] is a procedure with one run. A search
/// over speed or amplitude decides after each run whether it drives another one.
pub trait Procedure: Send + Sync + core::fmt::Debug {
    /// Returns the name by which users select the procedure.
    fn name(&self) -> &'static str;
    /// Returns a description in one sentence, with the parameters.
    fn about(&self) -> String;
    /// Returns ground, start and duration of the first run.
    fn setup(&self, model: &Model) -> Setup;
    /// Returns the changes of the start that the procedure accepts.
    fn start_requirements(&self) -> StartRequirements;
    /// Returns the positions of the cones beside the course, (x, y) in m, for pictures.
    fn cones(&self, model: &Model) -> Vec<(f64, f64)>;
    /// Returns the diagrams that the report shows beside the standard plots; see [`Manoeuvre::diagrams`].
    fn diagrams(&self) -> Vec<Diagram> {
        Vec::new()
    }
    /// Returns the closed-form curves of a car of `model`; see [`Manoeuvre::closed_form_curves`].
    fn closed_form_curves(&self, _model: &Model) -> Vec<ComputedCurve> {
        Vec::new()
    }
    /// Returns the maximum number of runs, at least 1. It determines the total of the progress.
    fn max_runs(&self) -> u32;
    /// Returns this procedure with the parameters that it computes from `model`, so that several runs of one car
    /// compute them once. The results for `model` are the same. `None` if no parameter depends on the car.
    fn resolve_parameters(&self, _model: &Model) -> Option<Box<dyn Procedure>> {
        None
    }
    /// Drives the runs and evaluates them.
    fn execute(&self, model: &Model, runner: &mut dyn Runner) -> Evaluation;
}

impl<M: Manoeuvre> Procedure for M {
    fn name(&self) -> &'static str {
        Manoeuvre::name(self)
    }
    fn about(&self) -> String {
        Manoeuvre::about(self)
    }
    fn setup(&self, model: &Model) -> Setup {
        Manoeuvre::setup(self, model)
    }
    fn start_requirements(&self) -> StartRequirements {
        Manoeuvre::start_requirements(self)
    }
    fn cones(&self, model: &Model) -> Vec<(f64, f64)> {
        Manoeuvre::cones(self, model)
    }
    fn diagrams(&self) -> Vec<Diagram> {
        Manoeuvre::diagrams(self)
    }
    fn closed_form_curves(&self, model: &Model) -> Vec<ComputedCurve> {
        Manoeuvre::closed_form_curves(self, model)
    }
    fn max_runs(&self) -> u32 {
        1
    }
    fn resolve_parameters(&self, model: &Model) -> Option<Box<dyn Procedure>> {
        Manoeuvre::resolve_parameters(self, model)
    }
    /// Drives the manoeuvre once. The metrics of every hitch follow those of the manoeuvre. `failed_test` is always
    /// false.
    fn execute(&self, model: &Model, runner: &mut dyn Runner) -> Evaluation {
        let trajectory = runner.drive(self);
        let (metrics, curves) = self.results_of_train(model, &trajectory);
        let incomplete = self.incomplete_reason(model, &trajectory);
        Evaluation { trajectory, metrics, incomplete, failed_test: false, curves }
    }
}
