//! skidpad's own small rigid-body world: chassis with a box for a hull, on the ground of a [`skidpad_core::Scene`].
//!
//! Here: integration with positions in 64 bits; plane, boxes, fields of heights and meshes, met by rays, by the rims of wheels and
//! by hulls; boxes that move by themselves; hulls of cars and free bodies against each other, and under wheels, which push them;
//! hitches that hold while hulls are stopped. Not here: how tyres, struts and drivetrains act (that comes through the seam), shapes of
//! bodies but boxes.
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
