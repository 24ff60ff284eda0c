//! One vehicle description drives several physics solvers, and their disagreement is measured.
//!
//! This crate only gathers: [`core`] is the physics, [`spec`] the vehicle files, and the laboratory and each solver are
//! features.
//!
//! | feature | backend | world |
//! |---|---|---|
//! | `rapier` | `rapier` | rigid bodies, colliders and queries of rapier3d |
//! | `impulse` | `impulse` | skidpad's own, one sweep of per-wheel impulses |
//! | `constraint` | `constraint`, and its [`modes`] | skidpad's own, all rows solved together |
//! | `peers` | `bullet`, and `rapier-stock` with `rapier` | vehicles of other engines, to be compared with |
//! | `lab` | | `lab`: manoeuvres, metrics, reports; faults of files drawn into their text, importers, tyre fits; with `terrain_files` |
//! | `terrain_files` | | ground of scenes from files: PNG, OBJ, glTF, OpenCRG |
//! | `abreast` | | plain cars of one model eight at a time with `impulse` and `rapier`, with the bits of each alone |
//! | `instruction_sets` | | steps in the widest instructions of the processor they run on, with the same bits |
//! | `deterministic` | | the same bits on every target, at the price of SIMD in glam and Rapier |
//! | `serde` | | `rapier::SavedCars`, beside worlds saved with Rapier's own serde |
//! | `full` (default) | all of them | |
//!
//! ```
//! use skidpad::core::{CarStart, Controls, Scene, state::Placement};
//!
//! let model = skidpad::spec::load("corvette_c5")?.model;
//! let start = CarStart { model, placement: Placement { speed: 20.0, ..Placement::default() } };
//! for backend in skidpad::backends().iter().filter(|b| !b.peer) {
//!     let mut world = (backend.build)(&Scene::flat(), std::slice::from_ref(&start), 1.0 / 120.0);
//!     let left = Controls { steer: 0.05, ..Controls::default() };
//!     for _ in 0..120 {
//!         world.step(std::slice::from_ref(&left));
//!     }
//!     assert!(world.frame(0).yaw_rate_radps > 0.2, "{}", backend.name);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub use skidpad_core as core;
#[cfg(feature = "lab")]
pub use skidpad_lab as lab;

/// The names most games need.
pub mod prelude {
    pub use crate::core::state::Placement;
    pub use crate::core::{Axes, Backend, CarError, CarId, CarStart, Controls, DVec3, Model, Quat, Scene, State, Vec3};
    pub use crate::drive::{Drawn, Driver, Event, Inputs, Keys, Shaping, Ticks, Watch, put_upright};
}

/// What a driving game needs around its cars: input, automatic reverse, ticks, drawn poses, events.
pub use skidpad_drive as drive;

/// Vehicle and scene files, and with the feature `lab` cars of other programs.
pub mod spec {
    #[cfg(feature = "lab")]
    pub use skidpad_import as import;
    pub use skidpad_spec::*;
}

#[cfg(feature = "constraint")]
pub use skidpad_constraint as constraint;
#[cfg(feature = "impulse")]
pub use skidpad_impulse as impulse;
#[cfg(feature = "peers")]
pub use skidpad_peers as peers;
#[cfg(feature = "rapier")]
pub use skidpad_rapier as rapier;

/// The solvers chosen by feature: skidpad's own first, peers last.
pub fn backends() -> Vec<core::BackendInfo> {
    vec![
        #[cfg(feature = "rapier")]
        rapier::BACKEND,
        #[cfg(feature = "impulse")]
        impulse::BACKEND,
        #[cfg(feature = "constraint")]
        constraint::BACKEND,
        #[cfg(all(feature = "peers", feature = "rapier"))]
        peers::stock::BACKEND,
        #[cfg(feature = "peers")]
        peers::bullet::BACKEND,
    ]
}

/// Solvers that are there to be measured by name, not part of [`backends`]: other shapes of the friction limit, wheels
/// with a mass of their own.
pub fn modes() -> Vec<core::BackendInfo> {
    vec![
        #[cfg(feature = "constraint")]
        constraint::MODES[0],
        #[cfg(feature = "constraint")]
        constraint::MODES[1],
        #[cfg(feature = "constraint")]
        constraint::MODES[2],
    ]
}

/// The solver or mode called `name`, if its feature is on.
pub fn backend(name: &str) -> Option<core::BackendInfo> {
    backends().into_iter().chain(modes()).find(|b| b.name == name)
}

/// Snippets of the README and of the book are tests.
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
