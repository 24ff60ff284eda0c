//! Runs that an interrupt of Python (Ctrl-C) stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use skidpad::core::{Controls, Model};
use skidpad::lab::manoeuvre::{Evaluation, IncompleteCourse, Runner, StartRequirements};
use skidpad::lab::quantity::{ComputedCurve, Diagram};
use skidpad::lab::{DriverInput, DriverModel, Manoeuvre, Metric, Procedure, Setup, Trajectory};

/// Time between two checks for an interrupt.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `work` on another thread and returns its result. This thread checks for interrupts meanwhile, without the lock
/// of the interpreter between the checks. The first interrupt sets `stop`, which `work` has to observe; its exception
/// is returned after `work` has returned. Only the main thread of Python receives interrupts. A panic of `work` is
/// passed on.
pub fn run_interruptible<R: Send>(py: Python<'_>, stop: &AtomicBool, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let mut failure: Option<PyErr> = None;
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            // The receiver returns as soon as the sender is dropped, also by a panic.
            let (sender, receiver) = channel::<()>();
            let worker = thread::Builder::new().name("skidpad run".into()).spawn_scoped(scope, move || {
                let result = work();
                drop(sender);
                result
            })?;
            while receiver.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if failure.is_none() {
                    failure = Python::attach(|py| py.check_signals()).err();
                    stop.store(failure.is_some(), Ordering::Relaxed);
                }
            }
            Ok::<_, std::io::Error>(worker.join())
        })
    })?;
    match (failure, outcome) {
        (Some(failure), _) => Err(failure),
        (None, Ok(result)) => Ok(result),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}

/// Procedure whose runs end after the present step when `stop` is set.
#[derive(Debug)]
pub struct Stoppable {
    /// Procedure that drives and evaluates the runs.
    pub procedure: Box<dyn Procedure>,
    /// Flag that ends the runs.
    pub stop: Arc<AtomicBool>,
}

impl Procedure for Stoppable {
    fn name(&self) -> &'static str {
        self.procedure.name()
    }
    fn about(&self) -> String {
        self.procedure.about()
    }
    fn setup(&self, model: &Model) -> Setup {
        self.procedure.setup(model)
    }
    fn start_requirements(&self) -> StartRequirements {
        self.procedure.start_requirements()
    }
    fn cones(&self, model: &Model) -> Vec<(f64, f64)> {
        self.procedure.cones(model)
    }
    fn diagrams(&self) -> Vec<Diagram> {
        self.procedure.diagrams()
    }
    fn closed_form_curves(&self, model: &Model) -> Vec<ComputedCurve> {
        self.procedure.closed_form_curves(model)
    }
    fn max_runs(&self) -> u32 {
        self.procedure.max_runs()
    }
    fn resolve_parameters(&self, model: &Model) -> Option<Box<dyn Procedure>> {
        let procedure = self.procedure.resolve_parameters(model)?;
        Some(Box::new(Self { procedure, stop: Arc::clone(&self.stop) }))
    }
    fn execute(&self, model: &Model, runner: &mut dyn Runner) -> Evaluation {
        self.procedure.execute(model, &mut StoppableRunner { runner, stop: &self.stop })
    }
}

/// Runner of a [`Stoppable`].
struct StoppableRunner<'a> {
    runner: &'a mut dyn Runner,
    stop: &'a Arc<AtomicBool>,
}

impl Runner for StoppableRunner<'_> {
    fn drive(&mut self, manoeuvre: &dyn Manoeuvre) -> Trajectory {
        self.runner.drive(&StoppableManoeuvre { manoeuvre, stop: self.stop })
    }
}

/// Manoeuvre of a [`Stoppable`]. Only its start and its driver are used.
#[derive(Debug)]
struct StoppableManoeuvre<'a> {
    manoeuvre: &'a dyn Manoeuvre,
    stop: &'a Arc<AtomicBool>,
}

impl Manoeuvre for StoppableManoeuvre<'_> {
    fn name(&self) -> &'static str {
        self.manoeuvre.name()
    }
    fn about(&self) -> String {
        self.manoeuvre.about()
    }
    fn setup(&self, model: &Model) -> Setup {
        self.manoeuvre.setup(model)
    }
    fn start_requirements(&self) -> StartRequirements {
        self.manoeuvre.start_requirements()
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        Box::new(StoppableDriver { driver: self.manoeuvre.driver(model), stop: Arc::clone(self.stop) })
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.manoeuvre.metrics(model, trajectory)
    }
    fn incomplete_reason(&self, model: &Model, trajectory: &Trajectory) -> Option<IncompleteCourse> {
        self.manoeuvre.incomplete_reason(model, trajectory)
    }
}

/// Driver of a [`Stoppable`].
struct StoppableDriver {
    driver: Box<dyn DriverModel>,
    stop: Arc<AtomicBool>,
}

impl DriverModel for StoppableDriver {
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        self.driver.drive(input)
    }

    /// Returns whether the driver is finished or stopped. A stopped run has one step at least, as every other run.
    fn finished(&self, input: &DriverInput<'_>) -> bool {
        self.driver.finished(input) || (input.step > 0 && self.stop.load(Ordering::Relaxed))
    }
}
