//! Vehicle dynamics: several physics solvers simulate one vehicle description, and their differences are measured.
//!
//! This crate re-exports the others. [`core`] is the physics, [`spec`] reads vehicle files. The laboratory and each
//! solver are features.
//!
//! | feature | backend | world |
//! |---|---|---|
//! | `rapier` | `rapier` | rigid bodies, colliders and queries of rapier3d |
//! | `impulse` | `impulse` | skidpad's world, one sweep of per-wheel impulses |
//! | `constraint` | `constraint`, and its [`solver_variants`] | skidpad's world, all rows solved together |
//! | `peers` | `bullet`, and `rapier-stock` with `rapier` | vehicle models of other engines, for comparison |
//! | `lab` | | `lab`: manoeuvres, metrics, reports; file errors shown in their source text, importers, tyre fits; includes `terrain_files` |
//! | `terrain_files` | | ground of scenes from files: PNG, OBJ, glTF, OpenCRG |
//! | `simd_batch` | | batches of eight cars of one model with `impulse` and `rapier`; bit-identical to scalar steps |
//! | `instruction_sets` | | the widest SIMD instructions of the processor, selected at run time; bit-identical results |
//! | `deterministic` | | bit-identical results on every target, without SIMD in glam and Rapier |
//! | `serde` | | `rapier::SavedCars`, for worlds saved with Rapier's serde support |
//! | `fleet` | | [`fleet`]: very many cars of one model in SIMD lanes, on all threads |
//! | `full` | all of them | every feature of the rows above; the default is `full` without `serde`, `simd_batch`, `instruction_sets` and `fleet` |
//! | `mcap`, `parquet` | | telemetry files in these formats; not part of `full`, because of their build time |
//!
//! ```
//! use skidpad::prelude::*;
//!
//! let model = skidpad::spec::load("corvette_c5")?.model;
//! // Every solver that the selected features contain.
//! for solver in Solver::ALL {
//!     let mut world = World::new(*solver, &Scene::flat(), 1.0 / 120.0);
//!     let car = world.spawn(&model, Placement { speed: 20.0, ..Placement::default() });
//!     world.controls_mut(car)?.steer = 0.05;
//!     for _ in 0..120 {
//!         world.step();
//!     }
//!     assert!(world.frame(car)?.yaw_rate_radps > 0.2, "{solver}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub use skidpad_core as core;
#[cfg(feature = "lab")]
pub use skidpad_lab as lab;

/// Types that most games import.
pub mod prelude {
    pub use crate::core::state::Placement;
    pub use crate::core::{
        CarError, CarId, CarStart, Controls, DVec3, Model, Quat, Scene, Simulation, State, Vec3, WorldAxes,
    };
    pub use crate::drive::{
        Event, EventDetector, FixedTimestep, InputShaping, Inputs, Keys, PlayerController, PoseInterpolator,
        reset_upright,
    };
    pub use crate::{Solver, World};
}

/// Helpers for driving games: input shaping, automatic reverse, fixed ticks, interpolated poses, events.
pub use skidpad_drive as drive;

/// Vehicle and scene files; with the feature `lab` also importers for vehicles of other programs.
pub mod spec {
    #[cfg(feature = "lab")]
    pub use skidpad_import as import;
    pub use skidpad_spec::*;
}

#[cfg(feature = "constraint")]
pub use skidpad_constraint as constraint;
#[cfg(feature = "fleet")]
pub use skidpad_fleet as fleet;
#[cfg(feature = "impulse")]
pub use skidpad_impulse as impulse;
#[cfg(feature = "peers")]
pub use skidpad_peers as peers;
#[cfg(feature = "rapier")]
pub use skidpad_rapier as rapier;
/// Built-in world of rigid bodies, for solvers of your own ([`core::coupling::RowSolver`]).
#[cfg(any(feature = "impulse", feature = "constraint"))]
pub use skidpad_world as built_in_world;

mod solver;
mod world;

pub use solver::{Solver, UnknownSolver};
pub use world::World;

/// Returns the enabled solvers without variants: skidpad's own solvers first, reference vehicles last.
pub fn solvers() -> Vec<core::SolverInfo> {
    Solver::ALL.iter().filter(|solver| !solver.is_variant()).map(|solver| solver.info()).collect()
}

/// Returns the enabled variants of the constraint solver: a friction pyramid, and unsprung masses as separate bodies.
pub fn solver_variants() -> Vec<core::SolverInfo> {
    Solver::ALL.iter().filter(|solver| solver.is_variant()).map(|solver| solver.info()).collect()
}

/// Code snippets of the README and of the book, compiled and run as doc tests.
#[cfg(all(doctest, feature = "impulse"))]
mod snippets {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/book/src/first_car.md")]
    struct FirstCar;
    #[doc = include_str!("../docs/book/src/rollback.md")]
    struct Rollback;
    #[cfg(feature = "rapier")]
    #[doc = include_str!("../docs/book/src/first_car_rapier.md")]
    struct FirstCarInRapier;
}
