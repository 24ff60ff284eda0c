//! Solution of the clutches of a block.

use crate::assembly::drivetrain::lone_clutch::solve_lone_clutches;
use crate::drivetrain::constraints::{ClutchRow, holding_impulse, is_within_tolerance, shaft_impulse, torque_ratio};
use crate::drivetrain::rows::Shafts;
use crate::impulse_bounds::ImpulseBounds;
use crate::step::batch::lane_exchange::NEUTRAL_ADDEND;
use crate::step::block::stepper::{BlockEngines, BlockStepper};
use crate::step::block::wheels::BlockWheels;
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::wheel_groups::WheelGroups;

impl<W: BlockLanes> BlockWheels<'_, W> {
    /// Solves the clutches of all cars in lanes by at most three Newton passes, and adds the changes to the shaft
    /// impulses of their wheels. Does nothing without an engine.
    ///
    /// Clutches without capacity, and those of inactive or unsolved cars, keep their impulse. Marks cars whose clutch
    /// has not converged as unsolved: they are stepped alone outside the block.
    #[inline(always)]
    pub(super) fn solve_clutches<B: WheelGroups>(&mut self) {
        let (stepper, model) = (&mut *self.stepper, self.cars.constants);
        if model.packs[0].shaft_jacobian.is_empty() {
            return;
        }
        // Unsolved cars are stepped alone, and inactive ones not at all.
        let skipped = stepper.unsolved | self.inactive;
        let mut unconverged = W::splat(0.0).less(stepper.engines.clutch.bounds[1]);
        if skipped != 0 {
            unconverged = unconverged & W::mask_from_bits(!skipped);
        }
        if W::any(unconverged) {
            let BlockStepper { engines, shafts, rows, .. } = &mut *stepper;
            let pack_count = B::wheel_count(rows.len());
            solve_lone_clutches(
                &model.packs[..pack_count],
                &mut rows[..pack_count],
                #[inline(always)]
                |measurement| engines.solve_pass(shafts, &mut unconverged, measurement),
            );
        }
        self.mark_unsolved(unconverged);
    }
}

impl<W: BlockLanes> BlockEngines<W> {
    /// Performs one Newton pass on the clutches of `unconverged`, and removes those whose impulse changes by less than
    /// the tolerance from this mask. `shaft_speed` is the speed of the shafts by their wheels (rad/s), `response` the
    /// change of this speed per impulse on the wheels (1/(kg m²)).
    ///
    /// Each of these clutches gets the impulse at which it holds, without slip. If this impulse is beyond its capacity,
    /// the clutch is solved alone in the workspace `shafts`. All other clutches keep their impulse.
    ///
    /// Returns the changes of the impulses on the shafts (N m s; −0 for the other clutches), and whether all clutches
    /// have converged.
    #[inline(always)]
    fn solve_pass(
        &mut self,
        shafts: &mut Shafts,
        unconverged: &mut W::Mask,
        [shaft_speed, response]: [W; 2],
    ) -> (W, bool) {
        let row = &mut self.clutch;
        let impulse_before = row.impulse;
        let speed = shaft_speed * row.ratio;
        let response = response * (row.ratio * torque_ratio(row.torque_ratios, impulse_before));
        // Per impulse, per speed (1 for a clutch), and target of the law.
        let row_law = [row.per_impulse, W::splat(1.0), row.free_speed];
        let (mut impulse_after, is_holding) = holding_impulse(row_law, row.bounds, impulse_before, [speed, response]);
        let slipping = W::mask_bits(*unconverged & !is_holding);
        if slipping != 0 {
            impulse_after = slipping_impulses(row, shafts, slipping, impulse_after, [speed, response]);
        }
        let change = shaft_impulse(row.torque_ratios, impulse_after) - shaft_impulse(row.torque_ratios, impulse_before);
        let change = W::select(*unconverged, change, W::splat(NEUTRAL_ADDEND));
        row.impulse = W::select(*unconverged, impulse_after, impulse_before);
        *unconverged = *unconverged
            & !is_within_tolerance(row.tolerance, [impulse_before, impulse_after], ImpulseBounds::ApproximateCone);
        (change, !W::any(*unconverged))
    }
}

/// Returns `impulses` (N m s) with the numbers of the cars in the bits `slipping` replaced; bit `i` is the car in lane
/// `i`. The clutches of these cars may begin or cease to slip, and `Shafts::slipping_impulse` solves them one by one,
/// from the impulse in `row`. `speed` is the speed of the rows (rad/s), `response` its change per impulse (1/(kg m²)).
///
/// Overwrites the first row, the row count and the impulse bounds of the workspace `shafts`.
#[cold]
#[inline(never)]
fn slipping_impulses<W: BlockLanes>(
    row: &ClutchRow<W>,
    shafts: &mut Shafts,
    slipping: u32,
    mut impulses: W,
    [speed, response]: [W; 2],
) -> W {
    for car in (0..W::LANE_COUNT).filter(|car| slipping & (1 << car) != 0) {
        let value_of_car = |lanes: W| lanes.number(car);
        let clutch = ClutchRow {
            ratio: value_of_car(row.ratio),
            torque_ratios: row.torque_ratios.map(value_of_car),
            per_impulse: value_of_car(row.per_impulse),
            free_speed: value_of_car(row.free_speed),
            bounds: row.bounds.map(value_of_car),
            tolerance: row.tolerance.map(value_of_car),
            impulse: value_of_car(row.impulse),
        };
        shafts.constraints[0] = clutch.into();
        (shafts.row_count, shafts.impulse_bounds) = (1, ImpulseBounds::ApproximateCone);
        impulses = impulses.with_number(car, shafts.slipping_impulse(value_of_car(speed), value_of_car(response)));
    }
    impulses
}
