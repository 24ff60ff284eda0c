//! Deflection of contact patches at the end of a step.

use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::{WheelLanes, pair_from_fn};
use crate::tyre::{MAX_SLIP, friction_ellipse};
use crate::vehicle::rows::WheelRows;

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the deflections at the end of the step, m, with sticking and creep, for the sliding speeds `sliding` there, m/s. In degressive lanes,
    /// the longitudinal deflection is that of the row with less force, tangent or straight.
    #[inline(always)]
    pub(crate) fn end_deflections(&self, sliding: [W; 2]) -> [W; 2] {
        let [along, across] = pair_from_fn(|i| self.tyre.deflection_lines[i].evaluate(sliding[i]));
        if !W::any(self.tyre.degressive) {
            return [along, across];
        }
        // The row with less force is the row with more slip.
        let (straight, target_impulse) =
            (self.tyre.straight_deflection_line.evaluate(sliding[0]), self.tyre.target_impulse[0]);
        [
            W::select((along * target_impulse).less(straight * target_impulse) & self.tyre.degressive, straight, along),
            across,
        ]
    }

    /// Returns the deflections after the step, m: of a standing patch, a rolling patch, or a blend of both. `left` are
    /// the deflections of [`Self::end_deflections`], m; `rolling` is the share of rolling, 0 to 1.
    #[inline(always)]
    pub(crate) fn blended_deflections(&self, bank: &WheelPack<W>, left: [W; 2], rolling: W) -> [W; 2] {
        let one = W::splat(1.0);
        let share = rolling.masked(bank.tyre.relaxing_lanes());
        let turning = limit_slip(left, self.tyre.lengths);
        if !W::any(share.less(one) & bank.present_mask()) {
            return turning;
        }
        self.blend_standing(left, turning, share)
    }

    /// Returns the deflections, m, if some patches stand or are between standing and rolling: that of a standing patch times `1 − share`, plus that
    /// of a rolling patch times `share`, 0 to 1. `left`: deflections of [`Self::end_deflections`], m; `turning`: deflections of rolling patches, m,
    /// here limited to what friction can hold when the patch stands.
    #[cold]
    #[inline(never)]
    fn blend_standing(&self, left: [W; 2], turning: [W; 2], share: W) -> [W; 2] {
        W::call_outlined(
            #[inline(always)]
            || {
                let (zero, one) = (W::splat(0.0), W::splat(1.0));
                let standing = self.standing_deflections(left);
                // A standing patch is a spring. Deflection that friction cannot hold would be a memory of past sliding.
                let (held, stays) = (self.max_held_deflections(), (one - share).at_least(W::splat(f32::MIN_POSITIVE)));
                let most = pair_from_fn(
                    #[inline(always)]
                    |i| held[i] / stays,
                );
                let turned = pair_from_fn(
                    #[inline(always)]
                    |i| turning[i].clamp_nan_to_low(-most[i], most[i]),
                );
                let mixed = pair_from_fn(
                    #[inline(always)]
                    |i| standing[i] * (one - share) + turned[i] * share,
                );
                let (rolls, stands) = (!share.less(one), !zero.less(share));
                pair_from_fn(
                    #[inline(always)]
                    |i| W::select(rolls, turning[i], W::select(stands, standing[i], mixed[i])),
                )
            },
        )
    }

    /// Returns the largest deflections that friction holds, m: friction limit over elastic stiffness, in each direction alone.
    #[inline(always)]
    fn max_held_deflections(&self) -> [W; 2] {
        let (limit, step) = (self.friction_limit(), W::splat(self.dt));
        pair_from_fn(
            #[inline(always)]
            |i| limit[i] / (self.tyre.elastic_stiffness[i] * step).at_least(W::splat(f32::MIN_POSITIVE)),
        )
    }

    /// Returns the deflections of standing patches, m. A standing patch is a spring on a friction ellipse: `rolled` (m) remains where its spring
    /// force is inside the ellipse, and is scaled back to the ellipse outside. While the patch slides, its deflection follows from the solved tyre
    /// impulse, if that is smaller.
    #[inline(always)]
    fn standing_deflections(&self, rolled: [W; 2]) -> [W; 2] {
        let (limit, step) = (self.friction_limit(), W::splat(self.dt));
        let scale = pair_from_fn(
            #[inline(always)]
            |i| self.tyre.elastic_stiffness[i] * step,
        );
        let impulse = [rolled[0] * scale[0], rolled[1] * scale[1]];
        let used = [impulse[0] / limit[0], impulse[1] / limit[1]];
        let reach = friction_ellipse::utilisation(used);
        let holds = !W::splat(1.0).less(reach);
        // Deflection whose spring impulse is the solved tyre impulse, m.
        let slid = pair_from_fn(
            #[inline(always)]
            |i| self.solution.tyre_impulse[i] / scale[i],
        );
        // The damper's share of the force causes no deflection.
        let squared = |u: [W; 2]| u[0] * u[0] + u[1] * u[1];
        let slides = self.solution.sliding & !squared(rolled).less(squared(slid));
        pair_from_fn(
            #[inline(always)]
            |i| {
                let held = W::select(holds, rolled[i], impulse[i] / reach / scale[i]);
                W::select(slides, slid[i], held)
            },
        )
    }
}

/// Returns `deflection` (m), scaled down in its direction where its slip, deflection over `lengths`, exceeds [`MAX_SLIP`] in magnitude.
#[inline(always)]
fn limit_slip<W: WheelLanes>(deflection: [W; 2], lengths: [W; 2]) -> [W; 2] {
    let slip = [deflection[0] / lengths[0], deflection[1] / lengths[1]];
    let squared = slip[0] * slip[0] + slip[1] * slip[1];
    let largest = W::splat(MAX_SLIP);
    let over = (largest * largest).less(squared);
    if !W::any(over) {
        return deflection;
    }
    let share = largest / squared.sqrt();
    deflection.map(|u| W::select(over, u * share, u))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::lane::{F32x4, Lane};

    /// Checks that a patch deflected beyond its friction limit returns along its force onto the ellipse of both limits.
    #[test]
    fn a_patch_holds_no_more_than_its_friction() {
        let (dt, stiffness, limit) = (0.01, [200e3, 100e3], [30.0f32, 20.0f32]);
        let mut rows = WheelRows::<F32x4> { dt, ..WheelRows::default() };
        rows.tyre.elastic_stiffness = stiffness.map(F32x4::splat);
        (rows.tyre.friction, rows.tyre.unloaded_share) = (limit.map(F32x4::splat), F32x4::splat(1.0));
        (rows.tyre.peak_friction_load, rows.suspension.pressing_share) = (F32x4::splat(1e9), F32x4::splat(1.0));
        rows.suspension.load = F32x4::splat(1.0);
        let standing =
            |strain: [f32; 2]| rows.standing_deflections(strain.map(F32x4::splat)).map(|lanes| lanes.lane_value(0));
        // Impulses of 0.4 and 0.5 of the limits, then three times as much.
        let (within, beyond) = ([0.006, 0.01], [0.018, 0.03f32]);
        assert_eq!(standing(within), within);
        let used = [0, 1].map(|i| beyond[i] * stiffness[i] * dt / limit[i]);
        let reach = (used[0] * used[0] + used[1] * used[1]).sqrt();
        for (found, strain) in standing(beyond).into_iter().zip(beyond) {
            // Rounding of f32.
            assert!((found * reach / strain - 1.0).abs() < 1e-6, "{found} m of {strain} m");
        }
    }
}
