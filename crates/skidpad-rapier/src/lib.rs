//! skidpad vehicles in [Rapier](rapier3d) worlds.
//!
//! [`RapierCars`] drives cars inside a world the user owns and steps; [`BACKEND`] wraps one with its own world;
//! [`STOCK`] is Rapier's `DynamicRayCastVehicleController` fed from the same description, a peer in comparisons.
#![forbid(unsafe_code)]

mod backend;
mod cars;
mod stock;

pub use backend::BACKEND;
pub use cars::RapierCars;
pub use rapier3d;
pub use stock::STOCK;
