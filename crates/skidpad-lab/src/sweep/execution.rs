//! Execution of sweeps on threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use skidpad_core::Model;
use skidpad_spec::LoadedScene;

use super::error::SweepError;
use super::parameter::Value;
use super::plan::{PlannedRun, Sweep};
use super::shards::{FinishedRun, RunResults, ShardState};
use super::target::{Target, changed_text, faults_text};
use crate::compare::{Progress, run_solver};
use crate::manoeuvre::Overrides;
use crate::run::MAX_STEPS;

/// Outcome of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionReport {
    /// Shards whose files were complete before.
    pub kept: u64,
    /// Shards that were simulated and written.
    pub written: u64,
    /// Shards whose files could not be read or lacked runs before; they are simulated again.
    pub torn: u64,
    /// Runs of the written shards with a fault.
    pub faulty_runs: u64,
    /// Whether the execution was stopped before its end.
    pub is_stopped: bool,
}

/// Shards that an execution simulates, and its surroundings.
pub struct Execution<'a> {
    /// Folder of the sweep.
    pub folder: &'a Path,
    /// Numbers of the shards, from 0.
    pub shards: &'a [u64],
    /// Number of threads; 0 for that of all processors.
    pub threads: usize,
    /// Function that receives the progress in runs, those of complete shards included. It is called from all threads.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Function that tells whether to stop. It is called before each run, from all threads.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Shard that is being simulated.
struct OpenShard {
    index: u64,
    /// Finished runs by their numbers.
    runs: Mutex<BTreeMap<u64, FinishedRun>>,
}

/// State that the threads share.
struct Shared<'a> {
    sweep: &'a Sweep,
    execution: &'a Execution<'a>,
    shards: Vec<OpenShard>,
    /// Runs to simulate, each with the index of its shard in `shards`.
    jobs: Vec<(usize, u64)>,
    next_job: AtomicUsize,
    /// Finished runs, those of complete shards included.
    done: AtomicU64,
    total: u64,
    written: AtomicU64,
    faulty_runs: AtomicU64,
    has_failed: AtomicBool,
}

impl Sweep {
    /// Simulates the shards of `execution` whose files are missing or torn, and writes their files. Complete shards are
    /// kept. The folder is created with its manifest if it is missing. Files have the same bytes for any number of
    /// threads.
    ///
    /// If `is_stopped` returns true or a file cannot be written, all threads end after their present runs. The files of
    /// unfinished shards are not written then.
    ///
    /// # Errors
    /// Returns an error if the folder or a file in it belongs to another sweep, or if a file cannot be written. Shards
    /// that were written before stay.
    pub fn execute(&self, execution: &Execution<'_>) -> Result<ExecutionReport, SweepError> {
        self.prepare_folder(execution.folder)?;
        let (mut report, mut shards) = (ExecutionReport::default(), Vec::new());
        let mut kept_runs = 0;
        for &index in execution.shards {
            match self.shard_state(index, execution.folder)? {
                ShardState::Complete => {
                    report.kept += 1;
                    kept_runs += self.shard(index).count() as u64;
                    continue;
                }
                ShardState::Torn => report.torn += 1,
                ShardState::Missing => {}
            }
            shards.push(OpenShard { index, runs: Mutex::default() });
        }
        let runs_of =
            |(open_shard, shard): (usize, &OpenShard)| self.shard(shard.index).map(move |number| (open_shard, number));
        let jobs: Vec<(usize, u64)> = shards.iter().enumerate().flat_map(runs_of).collect();
        let shared = Shared {
            sweep: self,
            execution,
            total: kept_runs + jobs.len() as u64,
            shards,
            jobs,
            next_job: AtomicUsize::new(0),
            done: AtomicU64::new(kept_runs),
            written: AtomicU64::new(0),
            faulty_runs: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
        };
        shared.run_threads()?;
        report.written = shared.written.into_inner();
        report.faulty_runs = shared.faulty_runs.into_inner();
        report.is_stopped = report.written < shared.shards.len() as u64;
        Ok(report)
    }
}

impl Shared<'_> {
    /// Runs all jobs on `execution.threads` threads (0: the number of processors), but on at most one thread per job.
    /// Waits for all threads and returns an error of one of them. A panic of a thread is passed on.
    fn run_threads(&self) -> Result<(), SweepError> {
        let usual_threads = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match self.execution.threads {
            0 => usual_threads(),
            threads => threads,
        };
        let threads = threads.min(self.jobs.len());
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| self.run_jobs())).collect();
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// Simulates and stores the next free jobs until none is left, the execution is stopped, or a thread has failed.
    /// Reports the progress after each run.
    ///
    /// # Errors
    /// Returns the error of a shard that cannot be written, and makes the other threads end.
    fn run_jobs(&self) -> Result<(), SweepError> {
        let mut cache = VehicleCache::default();
        while !(self.execution.is_stopped)() && !self.has_failed.load(Ordering::Relaxed) {
            let Some(&(open_shard, number)) = self.jobs.get(self.next_job.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            let plan = self.sweep.run(number);
            let results = self.sweep.drive(&plan, &mut cache);
            let result = self.store(open_shard, FinishedRun { plan, results });
            if result.is_err() {
                self.has_failed.store(true, Ordering::Relaxed);
                return result;
            }
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.execution.progress)(Progress { done, total: self.total });
        }
        Ok(())
    }

    /// Stores a finished run in the shard with the index `open_shard` in `self.shards`. If this was the last missing
    /// run of the shard, writes the file of the shard and counts its faulty runs.
    fn store(&self, open_shard: usize, run: FinishedRun) -> Result<(), SweepError> {
        let shard = &self.shards[open_shard];
        let mut runs = shard.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.insert(run.plan.number, run);
        if runs.len() as u64 != self.sweep.shard(shard.index).count() as u64 {
            return Ok(());
        }
        let complete: Vec<FinishedRun> = std::mem::take(&mut *runs).into_values().collect();
        drop(runs);
        self.sweep.write_shard(shard.index, &complete, self.execution.folder)?;
        let faulty = complete.iter().filter(|run| run.results.is_err()).count() as u64;
        self.faulty_runs.fetch_add(faulty, Ordering::Relaxed);
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Last vehicle with changed fields of a thread. Runs that differ only in the solver follow each other, so that one
/// entry is enough.
#[derive(Default)]
struct VehicleCache {
    /// Last vehicle; `None` before the first one.
    last: Option<ChangedVehicle>,
}

/// Vehicle with changed fields.
struct ChangedVehicle {
    /// Values of the changed fields.
    values: Vec<Value>,
    /// Model, or the faults of the description.
    model: Result<Arc<Model>, String>,
}

impl Sweep {
    /// Simulates the runs of the shard `index`, which counts from 0, on this thread, and returns them in their order.
    /// No file is written. `is_stopped` is called before each run; returns `None` if it returns true.
    pub fn simulate_shard(&self, index: u64, is_stopped: &dyn Fn() -> bool) -> Option<Vec<FinishedRun>> {
        let mut cache = VehicleCache::default();
        let simulate = |number| {
            if is_stopped() {
                return None;
            }
            let plan = self.run(number);
            let results = self.drive(&plan, &mut cache);
            Some(FinishedRun { plan, results })
        };
        self.shard(index).map(simulate).collect()
    }

    /// Simulates a run and returns its results. Otherwise returns the text of the fault: the changed vehicle or scene
    /// is not valid, the manoeuvre does not accept a value or the start, the run has more than [`MAX_STEPS`] steps, or
    /// the temporary file with the telemetry fails.
    fn drive(&self, plan: &PlannedRun, cache: &mut VehicleCache) -> Result<RunResults, String> {
        let model = self.changed_model(plan, cache)?;
        let overrides = self.changed_overrides(plan)?;
        let manoeuvre = self.manoeuvre.build_standard(&overrides);
        let setup = overrides.setup(manoeuvre.as_ref(), &model).map_err(|error| error.to_string())?;
        if setup.duration_s / self.dt.seconds() > MAX_STEPS as f64 {
            return Err(format!("the run has more than {MAX_STEPS} steps; lower duration or rate"));
        }
        let info = &self.solvers[plan.solver];
        let outcome = run_solver(info, &model, manoeuvre.as_ref(), &overrides, self.dt, &|_| ControlFlow::Continue(()));
        outcome.trajectory.check().map_err(|error| error.to_string())?;
        let report = outcome.trajectory.worst_report();
        Ok(RunResults {
            metrics: outcome.metrics,
            not_finite: report.not_finite,
            not_converged: report.not_converged,
            left_ground: outcome.trajectory.off_scene().map(|event| event.text()).unwrap_or_default(),
            incomplete: outcome.incomplete.map(|reason| reason.text()).unwrap_or_default(),
        })
    }

    /// Returns the model of a run, with the changed fields of the vehicle. Without such fields it is the model of the
    /// sweep. A changed vehicle is read again only if its values differ from those of the last vehicle in `cache`.
    fn changed_model(&self, plan: &PlannedRun, cache: &mut VehicleCache) -> Result<Arc<Model>, String> {
        let entries = self.parameters.iter().zip(&plan.values);
        let changes: Vec<_> = entries
            .filter_map(|(entry, value)| match &entry.target {
                Target::Field(path) => Some((path, value)),
                Target::Start(_) | Target::Scene(_) | Target::Manoeuvre(_) => None,
            })
            .collect();
        if changes.is_empty() {
            return Ok(Arc::clone(self.model()));
        }
        let values: Vec<Value> = changes.iter().map(|(_, value)| (*value).clone()).collect();
        if let Some(last) = cache.last.as_ref().filter(|last| last.values == values) {
            return last.model.clone();
        }
        let model = changed_text(&self.vehicle.toml, changes).and_then(|text| {
            self.vehicle.read_vehicle(&text).map(|vehicle| vehicle.model).map_err(|faults| faults_text(&faults))
        });
        cache.last = Some(ChangedVehicle { values, model: model.clone() });
        model
    }

    /// Returns the changes of start, ground and manoeuvre of a run: the changes of all runs, with the values of the
    /// varied parameters set. Varied keys of a level plane replace the ground by this plane. Fields of the vehicle are
    /// skipped; see [`Self::changed_model`]. The error is a sentence about a value that is not accepted.
    fn changed_overrides(&self, plan: &PlannedRun) -> Result<Overrides, String> {
        let mut overrides = self.overrides.clone();
        let mut scene_text = String::new();
        for (entry, value) in self.parameters.iter().zip(&plan.values) {
            let number = value.number().unwrap_or(f64::NAN);
            match &entry.target {
                Target::Field(_) => {}
                Target::Start(option) => option
                    .set(&mut overrides, number)
                    .map_err(|accepts| format!("{} is {number}, but must be {accepts}", option.name))?,
                Target::Manoeuvre(name) => overrides.parameters.set(name, number),
                Target::Scene(scene) => scene_text.push_str(&format!("{} = {number:?}\n", scene.key)),
            }
        }
        if let Some(fault) = overrides.parameters.faults(&[self.manoeuvre]).first() {
            return Err(format!("parameter {fault}"));
        }
        if !scene_text.is_empty() {
            let scene = LoadedScene::read("scene", &scene_text).map_err(|faults| faults_text(&faults))?;
            overrides.scene = Some(scene.scene);
        }
        Ok(overrides)
    }
}
