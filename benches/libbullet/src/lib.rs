//! Backend for the installed libbullet. Benches measure its `btRaycastVehicle` in the same run as every other solver,
//! with equal cars, steps and controls. Only for benches.
//!
//! The whole crate requires the feature `link`. No other crate of the workspace requires that feature.
#![cfg(feature = "link")]

mod backend;
mod world;

pub use backend::{BACKEND_INFO, STATICS_ONLY_INFO};
