//! Ground and surroundings of cars.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use skidpad::core::Scene as CoreScene;
use skidpad::lab::sweep::Source;
use skidpad::spec::files::{FileKind, read_text};
use skidpad::spec::{LoadError, LoadedScene};

use crate::car::{folder_of, normal_folder};
use crate::errors::{faults_error, load_error, value_error};

/// Ground of a world: a plane, and what a scene file adds to it.
///
/// ```text
/// >>> skidpad.Scene(grip=0.5, slope_deg=3.0) == skidpad.Scene()
/// False
///
/// ```
#[pyclass(frozen, module = "skidpad")]
#[derive(Clone, Debug)]
pub struct Scene {
    scene: Arc<CoreScene>,
    loaded: Arc<LoadedScene>,
    /// Text of the scene file.
    toml: Arc<str>,
    folder: Option<Arc<str>>,
}

impl Scene {
    /// Returns the ground for the simulation.
    pub fn core(&self) -> &CoreScene {
        &self.scene
    }

    /// Returns the description with the folder of the files that it names.
    pub fn description(&self) -> Source {
        let folder = self.folder.as_deref().map(str::to_owned);
        Source { toml: self.toml.to_string(), name: "scene".into(), folder }
    }

    /// Returns the scene as its file describes it.
    pub fn loaded(&self) -> &LoadedScene {
        &self.loaded
    }
}

/// Returns a copy of the ground of `scene` for the simulation; level dry ground for `None`.
pub fn core_scene(scene: Option<&Scene>) -> CoreScene {
    scene.map_or_else(CoreScene::flat, |scene| scene.core().clone())
}

#[pymethods]
impl Scene {
    /// Creates a plane. `grip` is a factor on the friction of all tyres, `slope_deg` the slope in degrees (positive if
    /// the plane rises along +x), `gravity` the acceleration from 1e-9 to 1000 m/s².
    ///
    /// Raises `VehicleError` for numbers out of range.
    #[new]
    #[pyo3(signature = (*, grip = 1.0, slope_deg = 0.0, gravity = 9.81))]
    fn new(py: Python<'_>, grip: f64, slope_deg: f64, gravity: f64) -> PyResult<Self> {
        if ![grip, slope_deg, gravity].iter().all(|number| number.is_finite()) {
            return Err(value_error("grip, slope_deg and gravity must be finite numbers"));
        }
        let text = format!("grip = {grip:?}\nslope_deg = {slope_deg:?}\ngravity_mps2 = {gravity:?}\n");
        Self::read(py, &text, "scene", None)
    }

    /// Loads the scene file at a path.
    ///
    /// Raises `VehicleError` with all faults of the file, and `FileNotFoundError` or `OSError` if it cannot be read.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let text = py.detach(|| read_text(&path, FileKind::Scene)).map_err(|source| {
            let error = LoadError::UnreadableFile { path: path.clone(), source };
            load_error(py, &error)
        })?;
        Self::read(py, &text, &path.display().to_string(), Some(&folder_of(&path)))
    }

    /// Reads the text of a scene file. `source` names the text in reports. Files that the text names are read from
    /// `folder`.
    ///
    /// Raises `VehicleError` with all faults of the text.
    #[staticmethod]
    #[pyo3(signature = (text, source = "scene", folder = None))]
    pub fn read(py: Python<'_>, text: &str, source: &str, folder: Option<&str>) -> PyResult<Self> {
        let loaded = py.detach(|| match folder {
            Some(folder) => LoadedScene::read_in(folder, source, text),
            None => LoadedScene::read(source, text),
        });
        let loaded = loaded.map_err(|faults| faults_error(py, &faults))?;
        let scene = Arc::new(loaded.scene.clone());
        let folder = folder.map(|folder| normal_folder(Path::new(folder)).into());
        Ok(Self { scene, loaded: Arc::new(loaded), toml: text.into(), folder })
    }

    /// Text of the scene file (TOML).
    #[getter]
    fn toml(&self) -> &str {
        &self.toml
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.scene == other.scene
    }

    fn __repr__(&self) -> String {
        let CoreScene { grip, slope, gravity, .. } = &*self.scene;
        format!("<skidpad.Scene grip {grip}, slope {:.2}°, gravity {gravity} m/s²>", slope.to_degrees())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        // Pickling: `read` called with these arguments restores the scene.
        let read = py.get_type::<Self>().getattr("read")?;
        Ok((read, (&*self.toml, "scene", self.folder.as_deref()).into_pyobject(py)?))
    }
}
