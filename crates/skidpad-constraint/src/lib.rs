//! The `constraint` backend: solves all rows of a car together in every step, to a given residual.
#![forbid(unsafe_code)]

use skidpad_core::{BackendInfo, Coupling, Friction};
use skidpad_world::CarWorld;

/// Entry for a list of backends.
pub const BACKEND_INFO: BackendInfo = BackendInfo {
    name: "constraint",
    about: "own world, loads and tyres iterated to convergence on a friction cone",
    peer: false,
    rows: true,
    build: |scene, cars, dt| {
        Box::new(CarWorld::new("constraint", Coupling::converged(Friction::Cone, false), scene, cars, dt))
    },
};

/// Variants with other shapes of the friction limit and with unsprung masses, to measure their effect. They solve rows, but
/// comparisons treat them as peers: no agreement is required.
pub const SOLVER_VARIANTS: [BackendInfo; 3] = [
    BackendInfo {
        name: "constraint-pyramid",
        about: "constraint with each tyre direction bounded on its own, as box-bounded solvers do",
        peer: true,
        rows: true,
        build: |scene, cars, dt| {
            Box::new(CarWorld::new(
                "constraint-pyramid",
                Coupling::converged(Friction::Pyramid, false),
                scene,
                cars,
                dt,
            ))
        },
    },
    BackendInfo {
        name: "constraint-hybrid",
        about: "constraint with the forward force from outside, only side rows inside",
        peer: true,
        rows: true,
        build: |scene, cars, dt| {
            Box::new(CarWorld::new("constraint-hybrid", Coupling::converged(Friction::Hybrid, false), scene, cars, dt))
        },
    },
    BackendInfo {
        name: "constraint-unsprung",
        about: "constraint with wheels that move on their own between strut and tyre",
        peer: true,
        rows: true,
        build: |scene, cars, dt| {
            Box::new(CarWorld::new("constraint-unsprung", Coupling::converged(Friction::Cone, true), scene, cars, dt))
        },
    },
];
