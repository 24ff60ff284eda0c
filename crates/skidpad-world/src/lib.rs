//! skidpad's own small rigid-body world: chassis with a box for a hull, on the ground of a [`skidpad_core::Scene`].
//!
//! Here: integration with positions in 64 bits, rays against plane and boxes, hull contacts with both. Not
//! here: wheels (they come through the seam), car-to-car collisions, bodies that move. A wheel is a ray: the side of a
//! box stops hulls, not wheels.
#![forbid(unsafe_code)]

mod backend;
mod ground;
mod hull;
mod passing;
mod world;

pub use backend::CarWorld;
pub use ground::{Ground, Hit};
pub use hull::Touching;
pub use world::{Chassis, World};
