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
mod body_lanes;
mod bounds;
pub mod ceiling;
mod chassis;
mod chassis_simd;
mod collisions;
mod ground;
mod hitch_impulses;
mod hull;
mod hull_pair;
pub mod motion;
mod rotation;
mod supported_body;
mod swept_contact;
mod terrain;
mod tree;
mod triangle_contacts;
mod triangles;
mod underside;
mod wheels_on_bodies;
mod world;

pub use backend::CarWorld;
pub use chassis::Chassis;
pub use ground::{Ground, Hit};
pub use hull::GroundContacts;
pub use world::World;
