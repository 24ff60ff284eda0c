//! Cars of a block: their states and inputs.

use std::sync::Arc;

use skidpad_core::block::{BlockControls, BlockLanes, BlockModel, BlockState};

/// Cars of a block, one per SIMD lane.
#[derive(Clone, Debug)]
pub struct Block<W: BlockLanes> {
    /// Constants of the cars, shared by all blocks whose cars are of the model of the fleet.
    pub model: Arc<BlockModel<W>>,
    /// States of the cars.
    pub state: BlockState<W>,
    /// Inputs of the drivers.
    pub controls: BlockControls<W>,
    /// Bits of the cars that are stepped.
    pub active: u32,
    /// Number of steps of each car since its state was set, up to the largest number.
    pub ages: W::Array<u32>,
    /// Bits of the cars whose motion became infinite or NaN; their states are those before.
    pub failed: u32,
}
