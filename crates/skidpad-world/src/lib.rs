//! skidpad's own small rigid-body world: chassis with a box for a hull, on the ground of a [`skidpad_core::Scene`].
//!
//! Here: integration with positions in 64 bits, rays against the ground, hull contacts. Not here: wheels
//! (they come through the seam), car-to-car collisions, other bodies.
#![forbid(unsafe_code)]

mod backend;
mod hull;
mod world;

pub use backend::CarWorld;
pub use world::{Chassis, World};
