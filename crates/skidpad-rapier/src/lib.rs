//! skidpad vehicles in [Rapier](rapier3d) worlds.
//!
//! [`RapierCars`] adds cars to a world that the user owns and steps. [`BACKEND`] is a solver with a Rapier world of its own.
#![forbid(unsafe_code)]

pub mod backend;
mod bearing;
mod bodies;
mod borne;
mod car_slot;
mod cars;
pub mod chassis;
mod ground;
mod hitches;
mod moment;
mod platforms;
mod port;
#[cfg(feature = "serde")]
mod saved;
mod sets;
mod sleep;
mod stops;
mod surfaces;
mod terrain;

pub use backend::BACKEND;
pub use cars::RapierCars;
pub use moment::Moment;
pub use rapier3d;
#[cfg(feature = "serde")]
pub use saved::SavedCars;
pub use sets::Sets;
pub use skidpad_core::Axes;
pub use surfaces::{Met, Surfaces};
