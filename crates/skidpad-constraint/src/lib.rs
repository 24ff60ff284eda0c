//! The `constraint` backend: all rows of a car solved together, every step, to a stated residual.
#![forbid(unsafe_code)]

use skidpad_core::{BackendInfo, Coupling};
use skidpad_world::CarWorld;

/// The coupling as shipped.
///
/// The tolerance is a change of velocity: 1e-5 m/s moves a car 0.2 µm in a step at 60 Hz, four times the last bit of a
/// speed of 25 m/s. Tighter only adds iterations; ten times looser shows as noise in the order of convergence.
pub const COUPLING: Coupling = Coupling::Converged { tolerance: 1e-5, iterations: 30 };

/// Entry for a list of backends.
pub const BACKEND: BackendInfo = BackendInfo {
    name: "constraint",
    about: "own world, loads and tyres iterated to convergence on a friction cone",
    peer: false,
    build: |scene, cars, dt| Box::new(CarWorld::new("constraint", COUPLING, scene, cars, dt)),
};
