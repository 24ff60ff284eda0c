//! Blocks of cars whose states live in SIMD lanes, for fleets: public interface of [`BlockStepper`].

pub use crate::assembly::wheel::mean_contact::MeanContactProbes;
pub use crate::step::block::{
    BlockControls, BlockImpulses, BlockModel, BlockState, BlockStepper, DriveBlock, MotionLanes, ProbeContacts,
    ProbeTextures, Requirement, WheelBlock, WheelRays, unmet_requirements,
};
pub use skidpad_simd::lane::BlockLanes;
