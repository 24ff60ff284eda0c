//! Cars of a block: their states and inputs.

use skidpad_core::block::{BlockControls, BlockLanes, BlockState};

/// Cars of a block, one per SIMD lane.
#[derive(Clone, Debug)]
pub struct Block<W: BlockLanes> {
    /// States of the cars.
    pub state: BlockState<W>,
    /// Inputs of the drivers.
    pub controls: BlockControls<W>,
    /// Bits of the cars that are stepped.
    pub active: u32,
    /// Bits of the cars whose motion became infinite or NaN; their states are those before.
    pub failed: u32,
}
