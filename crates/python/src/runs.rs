//! Manoeuvres: runs, comparisons of solvers and of step lengths, imports.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use skidpad::core::telemetry::frame::{HITCH_CHANNELS, VEHICLE_CHANNELS, WHEEL_CHANNELS};
use skidpad::core::{Model, Scene as CoreScene, SolverInfo};
use skidpad::lab::compare::{Outcome, run_solver};
use skidpad::lab::manoeuvre::{ManoeuvreEntry, Parameter, START_OPTIONS, by_name, catalogue};
use skidpad::lab::run::MAX_STEPS;
use skidpad::lab::units::{TowedUnit, hitch_trailers};
use skidpad::lab::{Metric, Overrides, Procedure, StepSizeStudy, TimeStep, Trajectory};
use skidpad::spec::files::{FileKind, read_lossy};
use skidpad::spec::import::{ImportOptions, Source};

use crate::car::{Car, read_vehicle};
use crate::errors::{faults_error, unknown_name, unreadable_file, value_error};
use crate::interrupts::run_interruptible;
use crate::scene::Scene;
use crate::world::find_solver;

/// Changes of a manoeuvre.
pub struct Changes<'py> {
    scene: Option<PyRef<'py, Scene>>,
    /// Initial speed (m/s).
    initial_speed: Option<f64>,
    /// Slope (degrees).
    slope: Option<f64>,
    /// Heading (degrees).
    heading: Option<f64>,
    /// Duration (s).
    duration: Option<f64>,
    /// Trailers, from the front.
    trailers: Vec<PyRef<'py, Car>>,
    /// Names and values of parameters.
    parameters: Vec<(String, f64)>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Changes<'py> {
    type Error = PyErr;

    /// Extracts the changes from a Python tuple with the fields in their order.
    fn extract(tuple: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (scene, initial_speed, slope, heading, duration, trailers, parameters) = tuple.extract()?;
        Ok(Self { scene, initial_speed, slope, heading, duration, trailers, parameters })
    }
}

/// Returns the names of the manoeuvres with their descriptions.
#[pyfunction]
pub fn manoeuvres(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for entry in catalogue() {
        names.set_item(entry.name, entry.about)?;
    }
    Ok(names)
}

/// Returns the parameters of a manoeuvre, which `skidpad.run` accepts: a dictionary from the names to (description,
/// smallest value, largest value).
///
/// Raises `ValueError` for an unknown manoeuvre.
#[pyfunction]
pub fn manoeuvre_parameters<'py>(py: Python<'py>, manoeuvre: &str) -> PyResult<Bound<'py, PyDict>> {
    let parameters = PyDict::new(py);
    for Parameter { name, about, range: [low, high], .. } in find_manoeuvre(manoeuvre)?.parameters {
        parameters.set_item(name, (about, low, high))?;
    }
    Ok(parameters)
}

/// Returns the manoeuvre called `name`.
fn find_manoeuvre(name: &str) -> PyResult<&'static ManoeuvreEntry> {
    let known: Vec<&str> = catalogue().map(|entry| entry.name).collect();
    by_name(name).ok_or_else(|| unknown_name("manoeuvre", name, &known))
}

/// Returns the channels of the telemetry with (unit, description). Names of wheels, hitches and shafts get an ending
/// such as `.1l` for the left wheel of the first axle.
#[pyfunction]
pub fn channels(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let channels = PyDict::new(py);
    let groups = [("", VEHICLE_CHANNELS), (".<wheel>", WHEEL_CHANNELS), (".hitch", HITCH_CHANNELS)];
    for (ending, group) in groups {
        for channel in group {
            channels.set_item(format!("{}{ending}", channel.name), (channel.unit, channel.about))?;
        }
    }
    Ok(channels)
}

/// Returns the towed units behind `car`, from the front: each of `trailers`, after its dolly if it has one. Fails if
/// the unit ahead has no hitch or a trailer has no coupler.
fn towed_units(car: &Car, trailers: &[PyRef<'_, Car>]) -> PyResult<Vec<TowedUnit>> {
    let named = trailers.iter().map(|trailer| (trailer.vehicle().spec.name.as_str(), trailer.vehicle()));
    hitch_trailers(car.model(), named).map_err(|error| value_error(format!("{error}; see skidpad.trailers()")))
}

/// Returns the overrides of `changes` for the manoeuvre of `entry`. The scene also states the start position and,
/// unless `changes` state them, initial speed and heading. All numbers out of range and all unknown parameters are
/// reported at once.
fn to_overrides(car: &Car, entry: &ManoeuvreEntry, changes: &Changes<'_>) -> PyResult<Overrides> {
    let Changes { scene, initial_speed, slope, heading, duration, trailers, parameters } = changes;
    let mut overrides = Overrides::default();
    parameters.iter().for_each(|(name, value)| overrides.parameters.set(name, *value));
    // The options of `START_OPTIONS` are in the same order as these values.
    let values = START_OPTIONS.iter().zip([initial_speed, slope, heading, duration]);
    let mut faults: Vec<String> = values
        .filter_map(|(option, value)| {
            let number = (*value)?;
            let accepts = option.set(&mut overrides, number).err()?;
            Some(format!("{} is {number}, but must be {accepts}", option.name))
        })
        .collect();
    let parameter_faults = overrides.parameters.faults(&[entry]);
    faults.extend(parameter_faults.into_iter().map(|fault| format!("parameter {fault}")));
    if !faults.is_empty() {
        return Err(value_error(faults.join("\n")));
    }
    let spec = scene.as_ref().map(|scene| &scene.loaded().spec);
    Ok(Overrides {
        scene: scene.as_ref().map(|scene| scene.core().clone()),
        start_m: spec.and_then(|spec| spec.start_m),
        initial_speed_mps: overrides.initial_speed_mps.or(spec.and_then(|spec| spec.speed_mps)),
        heading_rad: overrides.heading_rad.or(spec.and_then(|spec| spec.heading_deg).map(f64::to_radians)),
        trailers: towed_units(car, trailers)?,
        ..overrides
    })
}

/// Builds the manoeuvre of `entry` with `overrides` for `model`. Fails if its start is not valid, or if a run with one
/// of the step lengths `steps` would have more than [`MAX_STEPS`] steps.
fn prepare(
    entry: &ManoeuvreEntry,
    model: &Model,
    overrides: &Overrides,
    steps: &[TimeStep],
) -> PyResult<Box<dyn Procedure>> {
    let procedure = entry.build_standard(overrides);
    let setup = overrides.setup(procedure.as_ref(), model).map_err(value_error)?;
    if steps.iter().any(|dt| setup.duration_s / dt.seconds() > MAX_STEPS as f64) {
        return Err(value_error(format!("the run has more than {MAX_STEPS} steps; lower duration or rate")));
    }
    Ok(procedure)
}

/// Returns the step length of a `rate` (Hz). Fails for a rate out of range.
fn time_step(rate: f64) -> PyResult<TimeStep> {
    TimeStep::from_rate_hz(rate).map_err(|accepts| value_error(format!("rate is {rate} Hz, but must be {accepts}")))
}

/// Returns the solvers called `names`, each once, or all solvers without variants if there are no names. Reference
/// vehicles (controllers of other engines) support neither trailers nor moving bodies. If `overrides` have these, a
/// named reference vehicle is an error; without names, reference vehicles are left out.
fn select_solvers(names: &[String], overrides: &Overrides) -> PyResult<Vec<SolverInfo>> {
    let has_moving_bodies = |scene: &CoreScene| !(scene.platforms.is_empty() && scene.free_bodies.is_empty());
    let needs_rows = !overrides.trailers.is_empty() || overrides.scene.as_ref().is_some_and(has_moving_bodies);
    let is_capable = |info: &SolverInfo| !needs_rows || info.has_wheel_rows;
    if names.is_empty() {
        return Ok(skidpad::solvers().into_iter().filter(is_capable).collect());
    }
    let mut infos: Vec<SolverInfo> = Vec::new();
    for name in names {
        let info = find_solver(name)?.info();
        if !is_capable(&info) {
            return Err(value_error(format!(
                "the reference vehicle `{name}` supports neither trailers nor moving boxes"
            )));
        }
        if infos.iter().all(|other| other.name != info.name) {
            infos.push(info);
        }
    }
    Ok(infos)
}

/// Returns the metrics as a list of dictionaries with `metric`, `label`, `value` (a number or `None`) and `unit`.
fn metric_list<'py>(py: Python<'py>, metrics: &[Metric]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for metric in metrics {
        let row = PyDict::new(py);
        row.set_item("metric", &metric.name)?;
        row.set_item("label", &metric.label)?;
        row.set_item("value", metric.value)?;
        row.set_item("unit", metric.unit)?;
        list.append(row)?;
    }
    Ok(list)
}

/// Returns the names of the channels, and their numbers over a run as a float64 array of shape [channels, rows], so
/// that every channel is contiguous in memory. Channels of towed units follow those of the car and begin with the name
/// of their unit.
fn channel_arrays<'py>(py: Python<'py>, trajectory: &Trajectory) -> PyResult<(Vec<String>, Bound<'py, PyAny>)> {
    let (names, numbers, rows) = py.detach(|| {
        let rows = trajectory.row_count();
        let (mut names, mut numbers) = (trajectory.header().to_vec(), Vec::new());
        append_columns(trajectory, rows, 0, &mut numbers);
        for (unit, trailer) in trajectory.trailers() {
            // The first column of a trailer is the time, which the car states already.
            names.extend(trailer.header()[1..].iter().map(|name| format!("{}.{name}", unit.key())));
            append_columns(trailer, rows, 1, &mut numbers);
        }
        (names, numbers, rows)
    });
    let array = PyArray1::from_vec(py, numbers).reshape([names.len(), rows])?;
    Ok((names, array.into_any()))
}

/// Appends the columns of `trajectory` from index `first` on to `numbers`, column by column with `rows` numbers each.
/// Rows that a shorter trajectory lacks are NaN.
fn append_columns(trajectory: &Trajectory, rows: usize, first: usize, numbers: &mut Vec<f64>) {
    let count = trajectory.header().len() - first;
    let start = numbers.len();
    numbers.resize(start + count * rows, f64::NAN);
    for (row, frame) in trajectory.rows().enumerate().take(rows) {
        for (column, value) in frame.row().into_iter().skip(first).enumerate() {
            numbers[start + column * rows + row] = value;
        }
    }
}

/// Returns a run as a dictionary: `solver` (name), `metrics` (list), `channels` (names), `array` (numbers of these
/// channels) and `health`. `health` has two flags, `not_finite` and `not_converged` (true if it happened in any step),
/// `most_iterations` and `largest_residual` (m/s) of any step, `left_ground` (text, or `None`), and `incomplete`
/// (reason why the run ended early, or `None`). Fails if the check of the trajectory fails.
fn run_dict<'py>(
    py: Python<'py>,
    solver: &str,
    trajectory: &Trajectory,
    metrics: &[Metric],
    incomplete: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    trajectory.check()?;
    let (names, array) = channel_arrays(py, trajectory)?;
    let (report, health) = (trajectory.worst_report(), PyDict::new(py));
    health.set_item("not_finite", report.not_finite)?;
    health.set_item("not_converged", report.not_converged)?;
    health.set_item("most_iterations", report.iterations)?;
    health.set_item("largest_residual", report.residual)?;
    health.set_item("left_ground", trajectory.off_scene().map(|event| event.text()))?;
    health.set_item("incomplete", incomplete)?;
    let run = PyDict::new(py);
    run.set_item("solver", solver)?;
    run.set_item("metrics", metric_list(py, metrics)?)?;
    run.set_item("channels", names)?;
    run.set_item("array", array)?;
    run.set_item("health", health)?;
    Ok(run)
}

/// Simulates a manoeuvre on one solver at `rate` (Hz); see `skidpad.run`.
#[pyfunction]
pub fn run_manoeuvre<'py>(
    py: Python<'py>,
    car: &Car,
    manoeuvre: &str,
    solver: &str,
    rate: f64,
    changes: Changes<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (dt, entry) = (time_step(rate)?, find_manoeuvre(manoeuvre)?);
    let overrides = to_overrides(car, entry, &changes)?;
    // A single name selects a single solver.
    let info = select_solvers(&[solver.to_owned()], &overrides)?[0];
    let manoeuvre = prepare(entry, car.model(), &overrides, &[dt])?;
    let model = Arc::clone(car.model());
    let outcome = run_interruptible(py, |flow| {
        // The progress is not reported here.
        run_solver(&info, &model, manoeuvre.as_ref(), &overrides, dt, &|_| flow())
    })?;
    let Outcome { trajectory, metrics, incomplete, .. } = outcome;
    run_dict(py, info.name, &trajectory, &metrics, incomplete.map(|reason| reason.text()))
}

/// Simulates a manoeuvre on several solvers at `rate` (Hz); see `skidpad.compare`.
#[pyfunction]
pub fn compare_solvers<'py>(
    py: Python<'py>,
    car: &Car,
    manoeuvre: &str,
    solvers: Vec<String>,
    rate: f64,
    changes: Changes<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (dt, entry) = (time_step(rate)?, find_manoeuvre(manoeuvre)?);
    let overrides = to_overrides(car, entry, &changes)?;
    let infos = select_solvers(&solvers, &overrides)?;
    let manoeuvre = prepare(entry, car.model(), &overrides, &[dt])?;
    let model = Arc::clone(car.model());
    let comparison = run_interruptible(py, |flow| {
        skidpad::lab::compare(&infos, &model, manoeuvre.as_ref(), &overrides, dt, &|_| flow())
    })?;
    let (rows, runs) = (PyList::empty(py), PyList::empty(py));
    for (index, row) in comparison.rows().iter().enumerate() {
        let entry = PyDict::new(py);
        entry.set_item("metric", &row.metric.name)?;
        entry.set_item("label", &row.metric.label)?;
        entry.set_item("unit", row.metric.unit)?;
        for outcome in &comparison.outcomes {
            entry.set_item(outcome.backend, outcome.metrics.get(index).and_then(|metric| metric.value))?;
        }
        entry.set_item("spread_percent", row.spread.percent())?;
        entry.set_item("spread", row.spread.text())?;
        rows.append(entry)?;
    }
    for outcome in &comparison.outcomes {
        let incomplete = outcome.incomplete.map(|reason| reason.text());
        let run = run_dict(py, outcome.backend, &outcome.trajectory, &outcome.metrics, incomplete)?;
        run.set_item("is_reference", outcome.peer)?;
        runs.append(run)?;
    }
    let result = PyDict::new(py);
    result.set_item("about", &comparison.about)?;
    result.set_item("rows", rows)?;
    result.set_item("runs", runs)?;
    Ok(result)
}

/// Simulates a manoeuvre at several rates (Hz) and judges the longest step; see `skidpad.certify`.
#[pyfunction]
pub fn certify_steps<'py>(
    py: Python<'py>,
    car: &Car,
    manoeuvre: &str,
    solvers: Vec<String>,
    rates: Vec<f64>,
    within_percent: f64,
    changes: Changes<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let steps = rates.iter().map(|rate| time_step(*rate)).collect::<PyResult<Vec<_>>>()?;
    if steps.iter().all(|step| Some(step) == steps.first()) {
        return Err(value_error("rates must be at least two different rates"));
    }
    if !(within_percent.is_finite() && within_percent > 0.0) {
        return Err(value_error(format!("within_percent is {within_percent}, but must be a finite number above 0")));
    }
    let entry = find_manoeuvre(manoeuvre)?;
    let overrides = to_overrides(car, entry, &changes)?;
    let infos = select_solvers(&solvers, &overrides)?;
    let manoeuvre = prepare(entry, car.model(), &overrides, &steps)?;
    let model = Arc::clone(car.model());
    let rate_runs = run_interruptible(py, |flow| {
        skidpad::lab::run_rates(&infos, &model, manoeuvre.as_ref(), &overrides, &steps, &|_| flow())
    })?;
    let study = py.detach(|| StepSizeStudy::new(rate_runs, within_percent));
    let (rows, summaries) = (PyList::empty(py), PyList::empty(py));
    for row in &study.rows {
        for (info, verdict) in infos.iter().zip(&row.verdicts) {
            let entry = PyDict::new(py);
            entry.set_item("metric", &row.metric.name)?;
            entry.set_item("label", &row.metric.label)?;
            entry.set_item("unit", row.metric.unit)?;
            entry.set_item("solver", info.name)?;
            for (step, value) in study.rate_runs.steps_s.iter().zip(&verdict.values) {
                entry.set_item(format!("{:.0} Hz", 1.0 / step), *value)?;
            }
            entry.set_item("order", verdict.order.text())?;
            entry.set_item("longest_step_s", verdict.step_limit.seconds())?;
            rows.append(entry)?;
        }
    }
    for summary in study.solver_summaries() {
        let entry = PyDict::new(py);
        entry.set_item("solver", summary.backend)?;
        entry.set_item("longest_step_s", summary.step_limit.seconds())?;
        entry.set_item("limited_by", summary.limiting_metrics.join(", "))?;
        summaries.append(entry)?;
    }
    let result = PyDict::new(py);
    result.set_item("about", &study.rate_runs.about)?;
    result.set_item("rows", rows)?;
    result.set_item("summaries", summaries)?;
    Ok(result)
}

/// Converts the file of a car of another program: `bullet`, `rapier`, `godot`, `unity`, `jolt`, `physx` or
/// `commonroad`. `rate` is the step rate (Hz) of that program, for sources whose numbers depend on it. Returns the car
/// and the notes about properties that a vehicle file cannot contain.
///
/// Raises `VehicleError` with all faults of the file, and `OSError` if it cannot be read.
#[pyfunction]
#[pyo3(signature = (format, path, *, rate = None))]
pub fn import_vehicle(py: Python<'_>, format: &str, path: PathBuf, rate: Option<f64>) -> PyResult<(Car, Vec<String>)> {
    let known = Source::ALL.map(|(name, _)| name);
    let source = Source::ALL.into_iter().find(|(name, _)| *name == format);
    let Some((_, source)) = source else { return Err(unknown_name("format", format, &known)) };
    let options = match rate {
        Some(rate) => ImportOptions { dt_s: time_step(rate)?.seconds() },
        None => ImportOptions::default(),
    };
    let name = path.display().to_string();
    let text = read_lossy(&path, FileKind::Import).map_err(|error| unreadable_file(py, &path, &error))?;
    let imported = source.import(&name, &text, options).map_err(|faults| faults_error(py, &faults))?;
    let car = read_vehicle(py, &imported.text, &name, None)?;
    Ok((car, imported.notes.iter().map(ToString::to_string).collect()))
}
