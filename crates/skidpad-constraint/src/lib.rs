//! The solver `constraint`: solves all rows of a car together in every step, to a given residual ([`Newton`]).
#![forbid(unsafe_code)]

mod limits;
mod linear_start;
mod newton;

pub use linear_start::start_from_coupled_rows;
pub use newton::Newton;

#[cfg(feature = "world")]
use {skidpad_core::SolverInfo, skidpad_world::CarWorld};

/// Entry for a list of solvers: the converged solver in the built-in world.
#[cfg(feature = "world")]
pub const BACKEND_INFO: SolverInfo = SolverInfo {
    name: "constraint",
    description: "built-in world; wheel loads and tyre forces iterated to convergence, friction cone",
    comparison_only: false,
    has_wheel_rows: true,
    build_world: |scene, cars, dt| Box::new(CarWorld::new("constraint", &Newton::CONE, scene, cars, dt)),
};

/// Variants with another shape of the friction limit and with unsprung masses, to measure their effect. They solve
/// rows, but comparisons treat them as peers: no agreement is required.
#[cfg(feature = "world")]
pub const SOLVER_VARIANTS: [SolverInfo; 2] = [
    SolverInfo {
        name: "constraint-pyramid",
        description: "constraint with separate bounds for longitudinal and lateral tyre force (friction pyramid)",
        comparison_only: true,
        has_wheel_rows: true,
        build_world: |scene, cars, dt| Box::new(CarWorld::new("constraint-pyramid", &Newton::PYRAMID, scene, cars, dt)),
    },
    SolverInfo {
        name: "constraint-unsprung",
        description: "constraint with unsprung masses between suspension and tyre",
        comparison_only: true,
        has_wheel_rows: true,
        build_world: |scene, cars, dt| {
            Box::new(CarWorld::new("constraint-unsprung", &Newton::UNSPRUNG, scene, cars, dt))
        },
    },
];
