//! Bullet itself, the installed libbullet, behind skidpad's contract, so that benches measure its `btRaycastVehicle` in the
//! same run, with the same car, steps and controls as every other solver. For benches only.
//!
//! Everything here needs the feature `link`; nothing else in the workspace needs it.
#![cfg(feature = "link")]

mod backend;
mod world;

pub use backend::{BACKEND, STATICS_ONLY};
