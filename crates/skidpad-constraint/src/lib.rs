//! The `constraint` backend: solves all rows of a car together in every step, to a given residual.
#![forbid(unsafe_code)]

use skidpad_core::{FrictionShape, SolverInfo, SolverMode};
use skidpad_world::CarWorld;

/// Entry for a list of backends.
pub const BACKEND_INFO: SolverInfo = SolverInfo {
    name: "constraint",
    description: "built-in world; wheel loads and tyre forces iterated to convergence, friction cone",
    comparison_only: false,
    has_wheel_rows: true,
    build_world: |scene, cars, dt| {
        // `false`: without unsprung masses.
        Box::new(CarWorld::new("constraint", SolverMode::converged(FrictionShape::Cone, false), scene, cars, dt))
    },
};

/// Variants with other shapes of the friction limit and with unsprung masses, to measure their effect. They solve rows, but
/// comparisons treat them as peers: no agreement is required.
pub const SOLVER_VARIANTS: [SolverInfo; 3] = [
    SolverInfo {
        name: "constraint-pyramid",
        description: "constraint with separate bounds for longitudinal and lateral tyre force (friction pyramid)",
        comparison_only: true,
        has_wheel_rows: true,
        build_world: |scene, cars, dt| {
            Box::new(CarWorld::new(
                "constraint-pyramid",
                // `false`: without unsprung masses.
                SolverMode::converged(FrictionShape::Pyramid, false),
                scene,
                cars,
                dt,
            ))
        },
    },
    SolverInfo {
        name: "constraint-hybrid",
        description: "constraint with explicit longitudinal tyre forces; only lateral forces are iterated",
        comparison_only: true,
        has_wheel_rows: true,
        build_world: |scene, cars, dt| {
            Box::new(CarWorld::new(
                "constraint-hybrid",
                // `false`: without unsprung masses.
                SolverMode::converged(FrictionShape::LongitudinalFirst, false),
                scene,
                cars,
                dt,
            ))
        },
    },
    SolverInfo {
        name: "constraint-unsprung",
        description: "constraint with unsprung masses between suspension and tyre",
        comparison_only: true,
        has_wheel_rows: true,
        build_world: |scene, cars, dt| {
            Box::new(CarWorld::new(
                "constraint-unsprung",
                // `true`: with unsprung masses.
                SolverMode::converged(FrictionShape::Cone, true),
                scene,
                cars,
                dt,
            ))
        },
    },
];
