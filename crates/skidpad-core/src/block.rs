//! Blocks of cars whose states live in SIMD lanes, for fleets: public interface of [`BlockStepper`].

pub use crate::assembly::wheel::mean_contact::MeanContactProbes;
pub use crate::step::block::{
    BlockCars, BlockControls, BlockImpulses, BlockModel, BlockState, BlockStepper, BlockWorkspace, DriveBlock,
    MotionLanes, OwnNumbers, ProbeContacts, ProbeTextures, Requirement, WheelBlock, WheelRays, unmet_requirements,
};
pub use skidpad_simd::lane::BlockLanes;
