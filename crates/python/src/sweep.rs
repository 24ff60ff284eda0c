//! Plans and runs of sweeps, for the package `skidpad.sweep`.

use std::path::PathBuf;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use skidpad::core::SolverInfo;
use skidpad::lab::sweep::{CellType, Parameter, Plan, RunTable, Source, Sweep, SweepError, Value};
use skidpad::spec::printable::one_line;
use skidpad::spec::{Faults, LoadError};

use crate::car::{Car, read_vehicle};
use crate::errors::load_error;
use crate::scene::Scene;

/// Runs of a sweep with their identifiers, manifest and shards. The class `Sweep` of the package wraps it.
#[pyclass(frozen, module = "skidpad._core")]
pub struct SweepPlan {
    sweep: Sweep,
}

impl SweepPlan {
    /// Checks that the sweep has the shard `index`.
    ///
    /// # Errors
    /// `IndexError` if there is no such shard.
    fn check_shard(&self, index: u64) -> PyResult<()> {
        let count = self.sweep.shard_count();
        if index < count {
            return Ok(());
        }
        Err(PyIndexError::new_err(format!("shard {index} of a sweep of {count} shards")))
    }
}

/// Returns the solvers that a sweep can name, with the variants.
fn known_solvers() -> Vec<SolverInfo> {
    skidpad::solvers().into_iter().chain(skidpad::solver_variants()).collect()
}

/// Returns the exception `skidpad.sweep.SweepError` with the list `faults`, or the error of its construction.
fn faults_exception(py: Python<'_>, faults: Vec<String>) -> PyErr {
    let create = || py.import("skidpad.sweep.errors")?.getattr("SweepError")?.call1((faults,));
    create().map_or_else(|error| error, PyErr::from_value)
}

/// Returns the exception for an error of a sweep: `OSError` or `ValueError` for a vehicle or file that cannot be
/// loaded, otherwise `SweepError` with all faults as texts.
fn sweep_exception(py: Python<'_>, error: SweepError) -> PyErr {
    match error {
        SweepError::Load(LoadError::Faults(faults)) => faults_exception(py, fault_texts(&faults)),
        SweepError::Load(error) => load_error(py, &error),
        SweepError::Faults(faults) => faults_exception(py, faults),
        error @ (SweepError::Folder { .. } | SweepError::Write(_)) => faults_exception(py, vec![error.to_string()]),
    }
}

/// Returns the faults of a file and of the files that it names, one text each with file, line, column and remedy.
fn fault_texts(faults: &Faults) -> Vec<String> {
    let source = one_line(faults.source_name()).to_string();
    let own = faults.list().iter().map(|fault| {
        let help = fault.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
        format!("{source}:{}:{}: {fault}{help}", fault.line, fault.column)
    });
    own.chain(faults.files().iter().flat_map(fault_texts)).collect()
}

/// Returns a value of a parameter as a Python bool, int, float or str.
fn value_object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Flag(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(integer) => integer.into_pyobject(py)?.into_any(),
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
    })
}

/// Returns a cell of a table as a Python object of the type of its column: `None` for an empty cell. Fails if the text
/// is no number of that type.
fn cell_object<'py>(py: Python<'py>, cell_type: CellType, cell: &str) -> PyResult<Bound<'py, PyAny>> {
    if cell.is_empty() {
        return Ok(py.None().into_bound(py));
    }
    let value = match cell_type {
        CellType::Text => Value::Text(cell.to_owned()),
        CellType::Flag => Value::Flag(cell == "true"),
        CellType::Integer => Value::Integer(cell.parse()?),
        CellType::Number => Value::Number(cell.parse()?),
    };
    value_object(py, &value)
}

/// Returns the columns of a table as a list of (name, role, type, unit, label, cells), with the cells in the order of
/// the rows.
fn column_list<'py>(py: Python<'py>, table: &RunTable) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (index, column) in table.columns.iter().enumerate() {
        let cells = table.rows.iter().map(|row| cell_object(py, column.cell_type, &row[index]));
        let cells = PyList::new(py, cells.collect::<PyResult<Vec<_>>>()?)?;
        let (role, cell_type) = (column.role.name(), column.cell_type.name());
        list.append((&column.name, role, cell_type, &column.unit, &column.label, cells))?;
    }
    Ok(list)
}

/// Reads the car of a description, which a sweep stores as text.
fn car_of(py: Python<'_>, source: &Source) -> PyResult<Car> {
    read_vehicle(py, &source.toml, &source.name, source.folder.as_deref())
}

/// Reads parameters from their names and their JSON texts. Returns the valid parameters with their names, and one text
/// for each of the others: the name with all its faults.
fn read_parameters(named: &[(String, String)]) -> (Vec<(String, Parameter)>, Vec<String>) {
    let (mut parameters, mut faults) = (Vec::new(), Vec::new());
    for (name, json) in named {
        match Parameter::from_json_text(json) {
            Ok(parameter) => parameters.push((name.clone(), parameter)),
            Err(found) => faults.push(format!("parameters.{name}: {}", found.join("; "))),
        }
    }
    (parameters, faults)
}

#[pymethods]
impl SweepPlan {
    /// Plans a sweep. `parameters` are names with the JSON texts of grids and distributions, in the order of the runs.
    /// `faults` are those that the caller has found; they are reported together with those of the plan.
    ///
    /// Raises `SweepError` with all faults.
    #[new]
    fn new(
        py: Python<'_>,
        car: &Car,
        manoeuvre: String,
        solvers: Vec<String>,
        rate: f64,
        parameters: Vec<(String, String)>,
        samples: u64,
        seed: u64,
        shard_size: Option<u64>,
        scene: Option<&Scene>,
        towing: Vec<PyRef<'_, Car>>,
        faults: Vec<String>,
    ) -> PyResult<Self> {
        let (parameters, parameter_faults) = read_parameters(&parameters);
        let plan = Plan {
            vehicle: car.description(),
            towing: towing.iter().map(|unit| unit.description()).collect(),
            scene: scene.map(|scene| (scene.description(), scene.loaded().clone())),
            manoeuvre,
            solvers,
            rate,
            parameters,
            samples,
            seed,
            shard_size,
        };
        let (sweep, plan_faults) = py.detach(|| plan.build(&known_solvers()));
        let found = plan_faults.iter().map(ToString::to_string);
        let faults: Vec<String> = faults.into_iter().chain(parameter_faults).chain(found).collect();
        match sweep {
            Some(sweep) if faults.is_empty() => Ok(Self { sweep }),
            _ => Err(faults_exception(py, faults)),
        }
    }

    /// Restores the plan of the text of a manifest.
    ///
    /// Raises `SweepError` if the text is no manifest, or if this process would compute another sweep.
    #[staticmethod]
    fn from_manifest(py: Python<'_>, text: &str) -> PyResult<Self> {
        let sweep = py.detach(|| Sweep::from_manifest(text, &known_solvers()));
        Ok(Self { sweep: sweep.map_err(|error| sweep_exception(py, error))? })
    }

    /// Loads a manifest, or a description in TOML.
    ///
    /// Raises `SweepError` with all faults, and `OSError` if a file cannot be read.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let sweep = py.detach(|| Sweep::load(&path, &known_solvers()));
        Ok(Self { sweep: sweep.map_err(|error| sweep_exception(py, error))? })
    }

    /// Returns the manifest with its hash and the descriptions of vehicles and scene as a JSON text.
    fn to_manifest(&self) -> String {
        self.sweep.to_manifest()
    }

    /// Everything that the results depend on, as a JSON text.
    #[getter]
    fn manifest(&self) -> String {
        self.sweep.manifest().to_string()
    }

    /// Hash of the manifest.
    #[getter]
    fn hash(&self) -> &str {
        self.sweep.hash()
    }

    /// Vehicle.
    #[getter]
    fn car(&self, py: Python<'_>) -> PyResult<Car> {
        car_of(py, self.sweep.vehicle())
    }

    /// Trailers from the front.
    #[getter]
    fn towing(&self, py: Python<'_>) -> PyResult<Vec<Car>> {
        self.sweep.towing().iter().map(|source| car_of(py, source)).collect()
    }

    /// Ground that replaces that of the manoeuvre, or `None`.
    #[getter]
    fn scene(&self, py: Python<'_>) -> PyResult<Option<Scene>> {
        let source = self.sweep.scene();
        source.map(|source| Scene::read(py, &source.toml, &source.name, source.folder.as_deref())).transpose()
    }

    /// Number of shards.
    #[getter]
    fn shard_count(&self) -> u64 {
        self.sweep.shard_count()
    }

    fn __len__(&self) -> usize {
        self.sweep.run_count() as usize
    }

    /// Returns (first number, number after the last) of the runs of a shard, which counts from 0.
    ///
    /// Raises `IndexError` if there is no such shard.
    fn shard(&self, index: u64) -> PyResult<(u64, u64)> {
        self.check_shard(index)?;
        let runs = self.sweep.shard(index);
        Ok((runs.start, runs.end))
    }

    /// Returns (identifier, number of the sample, solver, values of the parameters) of the run `number`, from 0.
    ///
    /// Raises `IndexError` if there is no such run.
    fn run<'py>(&self, py: Python<'py>, number: u64) -> PyResult<(String, u64, &'static str, Bound<'py, PyTuple>)> {
        let count = self.sweep.run_count();
        if number >= count {
            return Err(PyIndexError::new_err(format!("run {number} of a sweep of {count} runs")));
        }
        let run = self.sweep.run(number);
        let values = run.values.iter().map(|value| value_object(py, value)).collect::<PyResult<Vec<_>>>()?;
        Ok((run.id, run.sample, self.sweep.solvers()[run.solver].name, PyTuple::new(py, values)?))
    }

    /// Creates the folder with the manifest of the sweep, unless it has that already.
    ///
    /// Raises `SweepError` with the differences if the folder has the manifest of another sweep.
    fn prepare_folder(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| self.sweep.prepare_folder(&folder)).map_err(|error| sweep_exception(py, error))
    }

    /// Checks that the folder has the manifest of the sweep.
    ///
    /// Raises `SweepError` with the differences, or if the manifest cannot be read.
    fn check_folder(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| self.sweep.check_folder(&folder)).map_err(|error| sweep_exception(py, error))
    }

    /// Simulates the runs of a shard. `is_stopped` is called before each run. Returns the columns of the table as a list of
    /// (name, role, type, unit, label, cells), and the number of runs with a fault; `None` if `is_stopped` returned true.
    ///
    /// Raises `IndexError` if there is no such shard, `SweepError` if columns have equal names or a metric has several
    /// units, and the exception of `is_stopped`.
    fn simulate_shard<'py>(
        &self,
        py: Python<'py>,
        index: u64,
        is_stopped: Py<PyAny>,
    ) -> PyResult<Option<(Bound<'py, PyList>, usize)>> {
        self.check_shard(index)?;
        // Exception of `is_stopped`, which stops the simulation and is raised afterwards.
        let failure = std::sync::Mutex::new(None);
        let stops = || {
            let result = Python::attach(|py| is_stopped.bind(py).call0()?.is_truthy());
            result.unwrap_or_else(|error| {
                *failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
                true
            })
        };
        let runs = py.detach(|| self.sweep.simulate_shard(index, &stops));
        if let Some(error) = failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            return Err(error);
        }
        let Some(runs) = runs else { return Ok(None) };
        let table = self.sweep.shard_table(&runs).map_err(|error| sweep_exception(py, error))?;
        let faulty_count = runs.iter().filter(|run| run.results.is_err()).count();
        Ok(Some((column_list(py, &table)?, faulty_count)))
    }
}
