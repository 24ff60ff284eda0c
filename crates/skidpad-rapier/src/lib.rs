//! skidpad vehicles in [Rapier](rapier3d) worlds.
//!
//! [`RapierCars`] adds cars to a world that the user owns and steps. [`BACKEND_INFO`] is a solver with a Rapier world
//! of its own.
#![forbid(unsafe_code)]

pub mod backend;
mod bodies;
mod car_slot;
mod cars;
pub mod chassis;
mod ground;
mod hitches;
mod platforms;
mod port;
mod rim_walls;
#[cfg(feature = "serde")]
mod saved;
mod sleep;
mod snapshot;
mod support_contacts;
mod supported_body;
mod surfaces;
mod terrain;
mod world_mut;

pub use backend::BACKEND_INFO;
pub use cars::RapierCars;
pub use rapier3d;
#[cfg(feature = "serde")]
pub use saved::SavedCars;
pub use skidpad_core::WorldAxes;
pub use snapshot::WorldSnapshot;
pub use surfaces::{SurfaceProperties, SurfaceQuery};
pub use world_mut::RapierWorldMut;
