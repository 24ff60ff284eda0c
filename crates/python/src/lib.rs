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
}
