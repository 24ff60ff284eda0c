//! Wheels of a block of cars, as load solve and solvers see them.

use crate::assembly::suspension::axle_links::{BarResponse, update_bar_impulses};
use crate::model::Model;
use crate::model::block_cars::BlockCars;
use crate::model::body::BodyConstants;
use crate::model::wheel_pack::WheelPack;
use crate::state::block::BlockState;
use crate::step::block::stepper::BlockStepper;
use crate::step::loads::{LoadWheels, SOLVES_BEFORE_CUTS, solve_load_rows};
use crate::step::step_wheels::StepWheels;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::linear::{OuterProducts, SpatialVector};
use skidpad_simd::wheel_groups::WheelGroups;

/// Wheels of a block of cars during a step.
pub(crate) struct BlockWheels<'a, W: BlockLanes> {
    /// Rows.
    pub stepper: &'a mut BlockStepper<W>,
    /// Constants and models of the cars.
    pub cars: BlockCars<'a, W>,
    /// States at the start of the step.
    pub state: &'a BlockState<W>,
    /// Bits of the cars whose results have no meaning.
    pub inactive: u32,
}

impl<W: BlockLanes> BlockWheels<'_, W> {
    /// Marks the cars of `mask` as unsolved: the block cannot solve them in this step, and the caller steps them alone.
    #[inline(always)]
    pub fn mark_unsolved(&mut self, mask: W::Mask) {
        self.stepper.unsolved |= W::mask_bits(mask);
    }
}

impl<'a, W: BlockLanes> BlockWheels<'a, W> {
    /// Returns the packs and the rows of the wheels of a car, each for all cars. Empty places of the groups are left
    /// out.
    #[inline(always)]
    pub(super) fn wheels<B: WheelGroups>(&mut self) -> impl Iterator<Item = (&'a WheelPack<W>, &mut WheelRows<W>)> {
        let wheel_count = B::wheel_count(self.stepper.wheel_count);
        self.cars.constants.packs[..wheel_count].iter().zip(&mut self.stepper.rows[..wheel_count])
    }

    /// Returns the packs and the rows of all places of the groups, including those without a wheel.
    #[inline(always)]
    pub(super) fn packs_and_rows<B: WheelGroups>(&mut self) -> (&'a [WheelPack<W>], &mut [WheelRows<W>]) {
        let pack_count = B::wheel_count(self.stepper.rows.len());
        (&self.cars.constants.packs[..pack_count], &mut self.stepper.rows[..pack_count])
    }
}

impl<B: WheelGroups, W: BlockLanes> StepWheels<B> for BlockWheels<'_, W> {
    type Lanes = W;

    #[inline(always)]
    fn model(&self) -> &Model {
        self.cars.constants.layout()
    }

    #[inline(always)]
    fn body(&self) -> BodyConstants<W> {
        self.cars.constants.car.body
    }

    #[inline(always)]
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack<W>, &mut WheelRows<W>)> {
        let wheel_count = B::wheel_count(self.stepper.wheel_count);
        self.cars.constants.packs[..wheel_count].iter().zip(&mut self.stepper.rows[..wheel_count])
    }

    #[inline(always)]
    fn rows(&self) -> &[WheelRows<W>] {
        &self.stepper.rows[..B::wheel_count(self.stepper.rows.len())]
    }

    /// Returns false: a block has neither rims nor roll-centre links.
    #[inline(always)]
    fn has_tilted_rows(&self) -> bool {
        false
    }

    /// Solves the clutches, which are the only rows between spins in a block. Marks cars whose clutch has not converged
    /// as unsolved.
    #[inline(always)]
    fn solve_shafts(&mut self) {
        self.solve_clutches::<B>();
    }

    /// Solves the loads from `v_warm`. The velocity without wheels is not needed: in a block, unsprung masses do not
    /// move relative to the chassis.
    #[inline(always)]
    fn solve_loads(&mut self, _: SpatialVector<W>, v_warm: SpatialVector<W>) -> (SpatialVector<W>, W::Mask) {
        let dt = self.stepper.dt;
        solve_load_rows::<B, _>(self, v_warm, dt)
    }
}

impl<B: WheelGroups, W: BlockLanes> LoadWheels<B> for BlockWheels<'_, W> {
    const MAX_LOAD_SOLVES: usize = SOLVES_BEFORE_CUTS;

    /// Computes the impulses of the anti-roll bars between the wheels of an axle; a block has no other axle links.
    #[inline(always)]
    fn update_link_impulses(&mut self) {
        if self.cars.constants.layout().has_axle_links() {
            let (_, rows) = self.packs_and_rows::<B>();
            for rows in rows.chunks_exact_mut(W::ROWS_PER_AXLE_PAIR) {
                update_bar_impulses(rows);
            }
        }
    }

    /// Adds the derivative of the anti-roll bar impulses with respect to the chassis velocity to `products`. Returns
    /// the change of these impulses from the velocities in the rows to `v_warm`. The external impulses are 0 in a
    /// block.
    #[inline(always)]
    fn add_axle_links(&self, products: &mut OuterProducts<W>, v_warm: SpatialVector<W>) -> SpatialVector<W> {
        let mut link_impulse = LoadWheels::<B>::external_link_impulse(self);
        if self.cars.constants.layout().has_axle_links() {
            for rows in StepWheels::<B>::rows(self).chunks_exact(W::ROWS_PER_AXLE_PAIR) {
                link_impulse = link_impulse + BarResponse::new(rows, v_warm).add_to(products);
            }
        }
        link_impulse
    }
}
