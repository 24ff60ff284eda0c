//! skidpad's own small rigid-body world: chassis with box hulls on the ground of a [`skidpad_core::Scene`].
//!
//! Contents:
//! - integration with 64-bit positions
//! - ground of plane, boxes, height fields and meshes, for ray probes, rim probes and hulls
//! - moving platforms
//! - contacts between hulls of cars and free bodies, and wheels that stand on hulls and push them
//! - hitches that stay closed while hulls are stopped
//!
//! Tyres, suspension and drivetrain are not part of this crate; their effect arrives as impulses through
//! [`skidpad_core::WorldPort`]. Every body is a box.
#![forbid(unsafe_code)]

mod backend;
mod bounds;
mod chassis;
mod collisions;
mod faces;
mod ground;
mod hull;
mod in_fours;
mod links;
mod pair;
mod passing;
mod riding;
mod settling;
mod side_by_side;
mod terrain;
mod tree;
mod triangles;
mod turning;
mod world;

pub use backend::CarWorld;
pub use chassis::Chassis;
pub use ground::{Ground, Hit};
pub use hull::Touching;
pub use world::World;
