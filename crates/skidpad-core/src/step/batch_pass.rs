//! Pass over the rows of a batch of cars.

use crate::step::step_wheels::RowPass;
#[cfg(feature = "simd_batch")]
use {
    crate::step::batch::batch_wheels::BatchWheels,
    crate::step::step_wheels::Velocities,
    skidpad_simd::lane::{CarLanes, F32x8, F32x8Pair, Lane},
    skidpad_simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups},
};

/// Functions of a [`RowPass`] for each type of batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchPass {
    /// Functions for eight lanes in two registers.
    #[cfg(feature = "simd_batch")]
    pub(crate) two_registers: LanePass<F32x8Pair>,
    /// Functions for eight lanes in one register.
    #[cfg(feature = "simd_batch")]
    pub(crate) one_register: LanePass<F32x8>,
}

/// Functions of a [`RowPass`] for one type of lanes.
#[cfg(feature = "simd_batch")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LanePass<W: CarLanes> {
    /// Function for cars on two axles.
    pub single_group: BatchFn<W>,
    /// Function for all other cars.
    pub many_groups: BatchFn<W>,
}

/// Function that solves the rows of a batch and returns the cars that need more.
#[cfg(feature = "simd_batch")]
pub(crate) type BatchFn<W> = fn(&mut BatchWheels<'_, W>, &Velocities<W>) -> <W as Lane>::Mask;

impl BatchPass {
    /// Returns the functions of the pass `P`.
    pub const fn new<P: RowPass>() -> Self {
        Self {
            #[cfg(feature = "simd_batch")]
            two_registers: LanePass::new::<P>(),
            #[cfg(feature = "simd_batch")]
            one_register: LanePass::new::<P>(),
        }
    }
}

#[cfg(feature = "simd_batch")]
impl<W: CarLanes> LanePass<W> {
    /// Returns the functions of the pass `P`.
    const fn new<P: RowPass>() -> Self {
        Self { single_group: solve_batch_rows::<SingleGroup, W, P>, many_groups: solve_batch_rows::<ManyGroups, W, P> }
    }
}

/// Solves the rows of a batch by the pass `P`, as a function of its own with the instructions of `W`.
#[cfg(feature = "simd_batch")]
#[inline(never)]
fn solve_batch_rows<B: WheelGroups, W: CarLanes, P: RowPass>(
    cars: &mut BatchWheels<'_, W>,
    velocities: &Velocities<W>,
) -> W::Mask {
    W::call_outlined(
        #[inline(always)]
        || P::solve_cars::<B, _>(cars, velocities),
    )
}
