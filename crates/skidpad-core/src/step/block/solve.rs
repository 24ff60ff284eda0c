//! First half of the step of a block: the impulses on the chassis.

use crate::model::block_cars::BlockCars;
use crate::state::block::BlockState;
use crate::step::block::controls::BlockControls;
use crate::step::block::stages::BlockStep;
use crate::step::block::stepper::BlockStepper;
use crate::step::block::wheels::BlockWheels;
use crate::step::run_stages;
use crate::step::step_wheels::RowPass;
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::{ManyGroups, SingleGroup};

/// Impulses of a step on the chassis of each car, world axes.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockImpulses<W> {
    /// Impulse at the centre of mass, N s.
    pub linear: Vec3Lanes<W>,
    /// Angular impulse about the centre of mass, N m s.
    pub angular: Vec3Lanes<W>,
    /// Bits of the cars that need [`crate::Vehicle::solve`]. Their impulses are meaningless and their states unchanged.
    pub unsolved: u32,
}

impl<W: BlockLanes> BlockStepper<W> {
    /// Solves the step of all `cars` by the pass `P`, and returns the impulses on each chassis. Requires
    /// [`BlockStepper::begin`] and the contacts of all wheels. `state` is not changed; the results for
    /// [`BlockStepper::finish`] are stored in the stepper. The cars in the bits `inactive` are computed, but their
    /// results have no meaning, and they never count as unsolved.
    #[inline(always)]
    pub fn solve<P: RowPass>(
        &mut self,
        cars: BlockCars<'_, W>,
        state: &BlockState<W>,
        controls: &BlockControls<W>,
        inactive: u32,
    ) -> BlockImpulses<W> {
        let wheel_count = self.wheel_count;
        let mut step = BlockStep::<W, P>::new(BlockWheels { stepper: self, cars, state, inactive }, controls);
        match wheel_count {
            // Two axles: loops over wheels have a constant length.
            4 => run_stages::<SingleGroup, _>(&mut step),
            _ => run_stages::<ManyGroups, _>(&mut step),
        };
        let [linear, angular] = step.impulses;
        BlockImpulses { linear, angular, unsolved: step.wheels.stepper.unsolved & !inactive }
    }
}
