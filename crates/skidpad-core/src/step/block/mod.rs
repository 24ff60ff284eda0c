//! Step of a block of cars of one model whose states live in SIMD lanes, one car per lane. The stages and their results
//! are those of a single car, bit for bit.
//!
//! A step has two halves: [`BlockStepper::solve`] computes the impulses on the chassis, and [`BlockStepper::finish`]
//! writes the states after the world has moved the chassis. The first half returns the unsolved cars: cars in rare
//! situations that it does not handle, such as a dead engine or loads that do not converge. Their states are those
//! before the step, so that [`crate::Vehicle::solve`] can step them alone.

mod controls;
mod droop;
mod engine;
mod finish;
mod requirements;
mod shafts;
mod solve;
mod stages;
mod steering;
mod stepper;
mod wheels;

pub use crate::assembly::wheel::contact::{ProbeContacts, ProbeTextures};
pub use crate::model::block_cars::{BlockCars, BlockWorkspace};
pub use crate::model::block_model::BlockModel;
pub use crate::model::own_numbers::OwnNumbers;
pub use crate::state::block::{BlockState, DriveBlock, WheelBlock};
pub use crate::step::batch::lane_exchange::MotionLanes;
pub use crate::step::block::controls::BlockControls;
pub use crate::step::block::requirements::{Requirement, unmet_requirements};
pub use crate::step::block::solve::BlockImpulses;
pub use crate::step::block::stepper::{BlockStepper, WheelRays};
