//! Vehicles.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use skidpad::core::Model;
use skidpad::spec::{LoadedVehicle, shipped};
use toml::{Table, Value};

use crate::errors::{faults_error, load_error, unknown_name, value_error};

/// Vehicle: its description and the model of the simulation.
///
/// Cars are immutable. Two cars are equal if their descriptions are. Pickles contain the description and the folder of
/// its file; tyre files that the description names are read again from that folder.
///
/// ```text
/// >>> car = skidpad.load("corvette_c5")
/// >>> heavy = car.with_(mass=1700)
/// >>> car.mass, heavy.mass, car == heavy
/// (1545.0, 1700.0, False)
///
/// ```
#[pyclass(frozen, module = "skidpad")]
#[derive(Clone, Debug)]
pub struct Car {
    vehicle: Arc<LoadedVehicle>,
    /// Description as TOML, with all numbers that it has.
    toml: Arc<str>,
    /// Name or path that the vehicle was loaded from.
    source: Arc<str>,
    /// Folder for files that the description names; `None` for shipped vehicles.
    folder: Option<Arc<str>>,
}

impl Car {
    /// Returns the model of the simulation.
    pub fn model(&self) -> &Arc<Model> {
        &self.vehicle.model
    }

    /// Returns the vehicle as it was loaded.
    pub fn vehicle(&self) -> &LoadedVehicle {
        &self.vehicle
    }

    /// Creates a car from a loaded vehicle.
    fn from_vehicle(vehicle: LoadedVehicle, source: &str, folder: Option<&str>) -> PyResult<Self> {
        let toml = vehicle.spec.to_toml().map_err(value_error)?;
        Ok(Self {
            vehicle: Arc::new(vehicle),
            toml: toml.into(),
            source: source.into(),
            folder: folder.map(Into::into),
        })
    }
}

/// Loads a shipped vehicle by name, or the vehicle file at a path.
///
/// ```text
/// >>> skidpad.load("corvette_c5").wheel_count
/// 4
///
/// ```
///
/// Raises `VehicleError` with all faults of the file, `FileNotFoundError` or `OSError` if it cannot be read, and
/// `ValueError` for an unknown name.
#[pyfunction]
pub fn load(py: Python<'_>, name_or_path: PathBuf) -> PyResult<Car> {
    let source = name_or_path.to_string_lossy().into_owned();
    let vehicle = py.detach(|| skidpad::spec::load(&source)).map_err(|error| load_error(py, &error))?;
    let folder = match shipped::find(&source) {
        Some(_) => None,
        None => Some(
            std::path::absolute(&name_or_path)?
                .parent()
                .map_or_else(String::new, |folder| folder.to_string_lossy().into_owned()),
        ),
    };
    Car::from_vehicle(vehicle, &source, folder.as_deref())
}

/// Creates a car from the text of a vehicle file. `source` names the text in reports. Files that the text names are read
/// from `folder`; without a folder they are the shipped ones.
///
/// Raises `VehicleError` with all faults of the text.
#[pyfunction]
#[pyo3(signature = (text, source = "vehicle", folder = None))]
pub fn read_vehicle(py: Python<'_>, text: &str, source: &str, folder: Option<&str>) -> PyResult<Car> {
    let vehicle = py.detach(|| match folder {
        Some(folder) => LoadedVehicle::read_in(folder, source, text),
        None => LoadedVehicle::read(source, text),
    });
    Car::from_vehicle(vehicle.map_err(|faults| faults_error(py, &faults))?, source, folder)
}

/// Returns the names of the shipped vehicles.
#[pyfunction]
pub fn vehicles() -> Vec<&'static str> {
    shipped::names().collect()
}

/// Returns the names of the shipped trailers.
#[pyfunction]
pub fn trailers() -> Vec<&'static str> {
    shipped::trailers().collect()
}

#[pymethods]
impl Car {
    /// Full name of the vehicle.
    #[getter]
    fn name(&self) -> &str {
        &self.vehicle.spec.name
    }

    /// Name or path that the vehicle was loaded from.
    #[getter]
    fn source(&self) -> &str {
        &self.source
    }

    /// Mass with wheels, kg.
    #[getter]
    fn mass(&self) -> f32 {
        self.model().mass()
    }

    /// Number of wheels.
    #[getter]
    fn wheel_count(&self) -> usize {
        self.model().wheels().len()
    }

    /// Description as the text of a vehicle file (TOML).
    #[getter]
    fn toml(&self) -> &str {
        &self.toml
    }

    /// Warnings about unusual values of the file, as texts with file and line.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.vehicle.notes.iter().map(ToString::to_string).collect()
    }

    /// Returns a car with changed fields of the description. A keyword is the path of a field with `__` between its keys
    /// and numbers, such as `chassis__mass_kg` or `axles__0__track_m`. The last key alone is enough if only one field at the
    /// least depth has it, and its unit may be left out: `mass_kg` and `mass` are short for `chassis__mass_kg`. Units are
    /// those of vehicle files.
    ///
    /// Raises `ValueError` for an unknown or ambiguous path, and `VehicleError` with all faults of the new description.
    #[pyo3(signature = (**fields))]
    fn with_(&self, py: Python<'_>, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut table: Table = self.toml.parse().map_err(value_error)?;
        for (keyword, value) in fields.into_iter().flatten() {
            let keyword: String = keyword.extract()?;
            let path = resolve_path(&table, &keyword)?;
            set_field(&mut table, &path, &keyword, to_toml(&value)?)?;
        }
        let text = toml::to_string(&table).map_err(value_error)?;
        read_vehicle(py, &text, &self.source, self.folder.as_deref())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.toml == other.toml && self.folder == other.folder
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.toml.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<skidpad.Car {:?}: {:.0} kg, {} wheels>", self.name(), self.mass(), self.wheel_count())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let read = py.import("skidpad._core")?.getattr("read_vehicle")?;
        Ok((read, (&*self.toml, &*self.source, self.folder.as_deref()).into_pyobject(py)?))
    }
}

/// Returns the path of the field that `keyword` names: the keyword itself if its first key is one of `table`, otherwise
/// the only path with the fewest keys to a number, text or flag whose last key is the keyword, with or without its unit.
fn resolve_path(table: &Table, keyword: &str) -> PyResult<Vec<String>> {
    let dotted = keyword.replace("__", ".").replace('[', ".").replace(']', "");
    let path: Vec<String> = dotted.split('.').map(str::to_owned).collect();
    if path.len() > 1 || table.contains_key(keyword) {
        return Ok(path);
    }
    let mut paths = Vec::new();
    for (key, value) in table {
        collect_paths(value, vec![key.clone()], &mut paths);
    }
    let last_key = |path: &[String]| path.last().cloned().unwrap_or_default();
    let matches = |is_match: &dyn Fn(&str) -> bool| -> Vec<Vec<String>> {
        paths.iter().filter(|path| is_match(&last_key(path))).cloned().collect()
    };
    let mut found = matches(&|key| key == keyword);
    if found.is_empty() {
        found = matches(&|key| key.strip_prefix(keyword).is_some_and(is_unit));
    }
    // A field of the vehicle precedes one of its parts.
    let least_depth = found.iter().map(Vec::len).min();
    found.retain(|path| Some(path.len()) == least_depth);
    match &found[..] {
        [path] => Ok(path.clone()),
        [] => {
            let keys: Vec<String> = paths.iter().map(|path| last_key(path)).collect();
            let known: Vec<&str> = keys.iter().map(String::as_str).collect();
            Err(unknown_name("field", keyword, &known))
        }
        several => {
            let paths: Vec<String> = several.iter().map(|path| path.join("__")).collect();
            Err(value_error(format!(
                "several fields are called `{keyword}`: {}; use one of these paths",
                paths.join(", ")
            )))
        }
    }
}

/// Returns whether the rest of a key behind a name is a unit, such as `_kg` or `_n_per_m`.
fn is_unit(rest: &str) -> bool {
    const UNIT_PARTS: [&str; 20] = [
        "kg", "m", "m2", "m3", "n", "nm", "s", "s2", "rad", "deg", "per", "w", "kw", "k", "j", "rpm", "mps", "mps2",
        "hz", "radps",
    ];
    rest.strip_prefix('_').is_some_and(|unit| unit.split('_').all(|part| UNIT_PARTS.contains(&part)))
}

/// Appends the paths of all numbers, texts and flags of `value`, whose own path is `path`.
fn collect_paths(value: &Value, path: Vec<String>, paths: &mut Vec<Vec<String>>) {
    let extended = |key: String| [&path[..], &[key]].concat();
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| collect_paths(value, extended(key.clone()), paths)),
        Value::Array(list) if list.iter().any(Value::is_table) => {
            list.iter().enumerate().for_each(|(i, value)| collect_paths(value, extended(i.to_string()), paths));
        }
        _ => paths.push(path),
    }
}

/// Sets the field at `path` of `table`. The last key of a table may be new; the reader of vehicle files checks it.
fn set_field(table: &mut Table, path: &[String], keyword: &str, new_value: Value) -> PyResult<()> {
    let [keys @ .., last] = path else { return Err(value_error("the path of a field is empty")) };
    let Some((first, keys)) = keys.split_first() else {
        table.insert(last.clone(), new_value);
        return Ok(());
    };
    let missing = || value_error(format!("`{keyword}`: the description has no such table"));
    let mut parent = table.get_mut(first).ok_or_else(missing)?;
    for key in keys {
        parent = child(parent, key).ok_or_else(missing)?;
    }
    match parent {
        Value::Table(table) => {
            table.insert(last.clone(), new_value);
        }
        other => *child(other, last).ok_or_else(missing)? = new_value,
    }
    Ok(())
}

/// Returns the entry `key` of a table or list; `None` without such an entry.
fn child<'a>(parent: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    match parent {
        Value::Table(table) => table.get_mut(key),
        Value::Array(list) => list.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Converts a number, a text, a flag, a list or a dictionary to TOML.
fn to_toml(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Boolean(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Value::Integer(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::String(value.extract()?));
    }
    if let Ok(dictionary) = value.cast::<PyDict>() {
        let entries = dictionary.iter().map(|(key, value)| Ok((key.extract()?, to_toml(&value)?)));
        return Ok(Value::Table(entries.collect::<PyResult<Table>>()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items: Vec<Bound<'_, PyAny>> = value.extract()?;
        return Ok(Value::Array(items.iter().map(to_toml).collect::<PyResult<_>>()?));
    }
    if value.is_instance_of::<PyFloat>() || value.hasattr("__float__")? {
        return Ok(Value::Float(value.extract()?));
    }
    Err(PyTypeError::new_err(format!(
        "a field is a number, a text, a flag, a list or a dictionary, not {}",
        value.get_type().name()?
    )))
}
