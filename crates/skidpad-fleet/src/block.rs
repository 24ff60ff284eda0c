//! Cars of a block: their states and inputs.

use skidpad_core::State;
use skidpad_core::block::{BlockControls, BlockLanes, BlockState, OwnNumbers};

/// Cars of a block, one per SIMD lane.
#[derive(Clone, Debug)]
pub struct Block<W: BlockLanes> {
    /// Numbers in which cars differ from the model of the fleet; `None` if all are of this model.
    pub own_numbers: Option<Box<OwnNumbers<W>>>,
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

impl<W: BlockLanes> Block<W> {
    /// Creates a block of cars of the model of the fleet, which all have `state`, neutral controls and age 0. No car is
    /// stepped yet.
    pub fn new(state: &State) -> Self {
        Self {
            own_numbers: None,
            state: BlockState::new(state),
            controls: BlockControls::default(),
            active: 0,
            ages: W::array_from_fn(|_| 0),
            failed: 0,
        }
    }

    /// Sets the state of the car in `lane`. From then on the car is stepped, has the age 0 and does not count as
    /// failed.
    pub fn set_state(&mut self, lane: usize, state: &State) {
        self.state.set_car(lane, state);
        self.ages.as_mut()[lane] = 0;
        self.active |= 1 << lane;
        self.failed &= !(1 << lane);
    }
}
