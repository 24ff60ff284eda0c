//! Native part of the Python package `skidpad`: vehicles, worlds, fleets, manoeuvres, and environments over arrays.
//!
//! The Python part in `python/skidpad` adds the Gymnasium environments, pictures and tables.
#![forbid(unsafe_code)]

mod arrays;
mod car;
mod course;
mod environments;
mod errors;
mod fleet;
mod index;
mod interrupts;
mod runs;
mod scene;
mod state;
mod sweep;
mod threads;
mod track;
mod world;

use pyo3::prelude::*;

/// Native part of the package `skidpad`.
#[pymodule]
mod _core {
    use numpy::{PyArray1, PyArrayMethods};
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::car::{Car, load, read_vehicle, trailers, vehicles};
    #[pymodule_export]
    use crate::environments::EnvironmentBatch;
    #[pymodule_export]
    use crate::errors::VehicleError;
    #[pymodule_export]
    use crate::fleet::Fleet;
    #[pymodule_export]
    use crate::runs::{
        certify_steps, channels, compare_solvers, import_vehicle, manoeuvre_parameters, manoeuvres, run_manoeuvre,
    };
    #[pymodule_export]
    use crate::scene::Scene;
    #[pymodule_export]
    use crate::state::State;
    #[pymodule_export]
    use crate::sweep::SweepPlan;
    #[pymodule_export]
    use crate::track::PyTrack;
    #[pymodule_export]
    use crate::world::{World, solvers};

    /// Loads the functions of NumPy. Otherwise their first use would load them, and fail while an interrupt is pending.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        // Without NumPy the import fails, instead of the creation of an array.
        py.import("numpy")?;
        drop(PyArray1::<f64>::zeros(py, 0, false).try_readonly());
        Ok(())
    }
}
