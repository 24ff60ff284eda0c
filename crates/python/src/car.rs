//! Vehicles.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use skidpad::core::Model;
use skidpad::lab::sweep::{Source, Value};
use skidpad::spec::fields::FileFields;
use skidpad::spec::printable::one_line;
use skidpad::spec::{LoadedVehicle, shipped};

use crate::errors::{faults_error, load_error, value_error};

/// Largest depth of lists and dictionaries of a value.
const MAX_VALUE_DEPTH: usize = 32;

/// Vehicle: its description and the model of the simulation.
///
/// Cars are immutable. Two cars are equal if their descriptions and the folders of their files are. Pickles contain the
/// description and this folder; tyre files that the description names are read again from the folder.
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

    /// Returns the description with its name and the folder of the files that it names.
    pub fn description(&self) -> Source {
        let folder = self.folder.as_deref().map(str::to_owned);
        Source { toml: self.toml.to_string(), name: self.source.to_string(), folder }
    }

    /// Creates a car from a loaded vehicle. `source` is the name or path that it was loaded from, `folder` the folder
    /// of the files that its description names (`None` for shipped files).
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
    // Shipped vehicles have no folder.
    let folder = shipped::find(&source).is_none().then(|| folder_of(&name_or_path));
    Car::from_vehicle(vehicle, &source, folder.as_deref())
}

/// Returns the folder of the file at `path` as an absolute path without links, so that all paths of one folder are
/// equal.
pub fn folder_of(path: &Path) -> String {
    let parent = path.parent().unwrap_or_else(|| Path::new(""));
    normal_folder(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

/// Returns the path of `folder` without links and parts such as `..`. A folder that does not exist here, such as that
/// of a car from another machine, is returned as it is.
pub fn normal_folder(folder: &Path) -> String {
    let found = folder.canonicalize();
    found.as_deref().unwrap_or(folder).to_string_lossy().into_owned()
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
    let folder = folder.map(|folder| normal_folder(Path::new(folder)));
    Car::from_vehicle(vehicle.map_err(|faults| faults_error(py, &faults))?, source, folder.as_deref())
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

    /// Returns a car with changed fields of the description. A keyword is the path of a field with `__` between its
    /// keys and numbers, such as `chassis__mass_kg` or `axles__0__track_m`. The last key alone is enough if only one
    /// field at the least depth has it, and its unit may be left out: `mass_kg` and `mass` are short for
    /// `chassis__mass_kg`. Units are those of vehicle files. A field that its table does not have yet is added; a table
    /// is changed field by field. A value is a finite number, a text, a flag, a list, a dictionary, or an array or
    /// number of NumPy.
    ///
    /// Raises `ValueError` with all unknown and ambiguous paths and all values that no file can contain, `TypeError`
    /// for a value of another type, and `VehicleError` with all faults of the new description.
    #[pyo3(signature = (**fields))]
    fn with_(&self, py: Python<'_>, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut file = FileFields::parse(&self.toml).map_err(value_error)?;
        let mut faults = Vec::new();
        for (keyword, value) in fields.into_iter().flatten() {
            let keyword: String = keyword.extract()?;
            let value = match toml_text(&value, MAX_VALUE_DEPTH) {
                Ok(value) => value,
                Err(error) => {
                    faults.push(field_fault(py, &keyword, error)?);
                    continue;
                }
            };
            let changed = file.resolve(&keyword.replace("__", ".")).and_then(|path| file.set(&path, &value));
            faults.extend(changed.err().map(|error| error.to_string()));
        }
        if !faults.is_empty() {
            return Err(value_error(faults.join("\n")));
        }
        read_vehicle(py, file.text(), &self.source, self.folder.as_deref())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.toml == other.toml && self.folder == other.folder
    }

    fn __hash__(&self) -> u64 {
        // Equal cars have equal texts, so that the folder need not be hashed.
        let mut hasher = DefaultHasher::new();
        self.toml.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<skidpad.Car {:?}: {:.0} kg, {} wheels>", self.name(), self.mass(), self.wheel_count())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        // Pickling: `read_vehicle` called with these arguments restores the car.
        let read = py.import("skidpad._core")?.getattr("read_vehicle")?;
        Ok((read, (&*self.toml, &*self.source, self.folder.as_deref()).into_pyobject(py)?))
    }
}

/// Returns the fault of a value of the field `keyword` as text. Returns `error` if it is neither `ValueError` nor
/// `TypeError`; a `TypeError` is returned with the name of the field.
fn field_fault(py: Python<'_>, keyword: &str, error: PyErr) -> PyResult<String> {
    let text = format!("`{}`: {}", one_line(keyword), error.value(py));
    if error.is_instance_of::<PyValueError>(py) {
        return Ok(text);
    }
    Err(if error.is_instance_of::<PyTypeError>(py) { PyTypeError::new_err(text) } else { error })
}

/// Returns a number, a text, a flag, a list, a dictionary, or an array or number of NumPy as a TOML value with at most
/// `depth` lists and dictionaries inside each other.
///
/// # Errors
/// The value has another type or is deeper, a number is not finite, an integer has more than 64 bits, or a key is no
/// text.
fn toml_text(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<String> {
    // A Python bool is also an int, so that flags are tested first.
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Flag(flag.is_true()).to_toml());
    }
    if value.is_instance_of::<PyInt>() {
        return integer_text(value);
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::Text(value.extract()?).to_toml());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return number_text(number.value());
    }
    let Some(inner_depth) = depth.checked_sub(1) else {
        return Err(value_error(format!(
            "the value has more than {MAX_VALUE_DEPTH} lists and dictionaries inside each other"
        )));
    };
    if let Ok(dictionary) = value.cast::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(format!("{} = {}", Value::Text(key.extract()?).to_toml(), toml_text(&value, inner_depth)?))
        };
        let entries = dictionary.iter().map(entry).collect::<PyResult<Vec<_>>>()?;
        return Ok(format!("{{ {} }}", entries.join(", ")));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items: Vec<Bound<'_, PyAny>> = value.extract()?;
        let items = items.iter().map(|item| toml_text(item, inner_depth)).collect::<PyResult<Vec<_>>>()?;
        return Ok(format!("[{}]", items.join(", ")));
    }
    // Arrays and numbers of NumPy become lists, numbers and flags of Python. An extended number returns itself.
    if value.hasattr("tolist")? {
        let plain = value.call_method0("tolist")?;
        if !plain.get_type().is(value.get_type()) {
            return toml_text(&plain, inner_depth);
        }
    }
    if value.hasattr("__float__")? {
        return number_text(value.extract()?);
    }
    Err(PyTypeError::new_err(format!(
        "a field is a number, a text, a flag, a list or a dictionary, not {}",
        value.get_type().name()?
    )))
}

/// Returns an integer as a TOML value. Fails if it has more than 64 bits.
fn integer_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let integer = value.extract().map_err(|error: PyErr| {
        let is_too_large = error.is_instance_of::<PyOverflowError>(value.py());
        if is_too_large { value_error("the integer is outside the range of 64 bits") } else { error }
    })?;
    Ok(Value::Integer(integer).to_toml())
}

/// Returns a number as a TOML value. Fails if it is not finite.
fn number_text(number: f64) -> PyResult<String> {
    if number.is_finite() {
        return Ok(Value::Number(number).to_toml());
    }
    Err(value_error(format!(
        "{number} is not a value: finite numbers, texts, flags, lists and dictionaries are accepted"
    )))
}
