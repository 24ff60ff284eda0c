//! Deflection of contact patches at the end of a step.

use crate::lane::{Corners, both};
use crate::step::rows::Rows;
use crate::tyre::{LARGEST_SLIP, friction_ellipse};
use crate::wheel::pack::WheelPack;

impl<W: Corners> Rows<W> {
    /// Returns the deflections at the end of the step, m, with sticking and creep, for the sliding speeds `sliding`
    /// there, m/s.
    #[inline(always)]
    pub(crate) fn drifted(&self, sliding: [W; 2]) -> [W; 2] {
        let [along, across] = both(|i| self.tyre.drift[i].at(sliding[i]));
        if !W::any(self.tyre.bends) {
            return [along, across];
        }
        // The row with less force is the row with more slip.
        let (straight, target_impulse) = (self.tyre.straight_drift.at(sliding[0]), self.tyre.target_impulse[0]);
        [W::select((along * target_impulse).less(straight * target_impulse) & self.tyre.bends, straight, along), across]
    }

    /// Returns the deflections after the step, m: of a standing patch, a rolling patch, or a blend of both. `left` are
    /// the deflections of [`Self::drifted`], m; `rolling` is the share of rolling, 0 to 1.
    #[inline(always)]
    pub(crate) fn deflections(&self, bank: &WheelPack<W>, left: [W; 2], rolling: W) -> [W; 2] {
        let one = W::splat(1.0);
        let share = rolling.only(bank.tyre.relaxes());
        let turning = within_largest_slip(left, self.tyre.lengths);
        if !W::any(share.less(one) & bank.present()) {
            return turning;
        }
        self.half_standing(left, turning, share)
    }

    /// Returns the deflections if some patches stand or are between standing and rolling. `turning` are the deflections
    /// of rolling patches, m.
    #[cold]
    #[inline(never)]
    fn half_standing(&self, left: [W; 2], turning: [W; 2], share: W) -> [W; 2] {
        W::called(
            #[inline(always)]
            || {
                let (zero, one) = (W::splat(0.0), W::splat(1.0));
                let standing = self.standing(left);
                // A standing patch is a spring. Deflection that friction cannot hold would be a memory of past sliding.
                let (held, stays) = (self.held_by_friction(), (one - share).at_least(W::splat(f32::MIN_POSITIVE)));
                let most = both(
                    #[inline(always)]
                    |i| held[i] / stays,
                );
                let turned = both(
                    #[inline(always)]
                    |i| turning[i].within(-most[i], most[i]),
                );
                let mixed = both(
                    #[inline(always)]
                    |i| standing[i] * (one - share) + turned[i] * share,
                );
                let (rolls, stands) = (!share.less(one), !zero.less(share));
                both(
                    #[inline(always)]
                    |i| W::select(rolls, turning[i], W::select(stands, standing[i], mixed[i])),
                )
            },
        )
    }

    /// Returns the largest deflections that friction holds, m.
    #[inline(always)]
    fn held_by_friction(&self) -> [W; 2] {
        let (limit, step) = (self.limit(), W::splat(self.dt));
        both(
            #[inline(always)]
            |i| limit[i] / (self.tyre.elastic[i] * step).at_least(W::splat(f32::MIN_POSITIVE)),
        )
    }

    /// Returns the deflections of standing patches, m. A standing patch is a spring on a friction ellipse: while it
    /// slides, its deflection follows from its force.
    #[inline(always)]
    fn standing(&self, rolled: [W; 2]) -> [W; 2] {
        let (limit, step) = (self.limit(), W::splat(self.dt));
        let scale = both(
            #[inline(always)]
            |i| self.tyre.elastic[i] * step,
        );
        let impulse = [rolled[0] * scale[0], rolled[1] * scale[1]];
        let used = [impulse[0] / limit[0], impulse[1] / limit[1]];
        let reach = friction_ellipse::reach(used);
        let holds = !W::splat(1.0).less(reach);
        let slid = both(
            #[inline(always)]
            |i| self.coupled.tyre[i] / scale[i],
        );
        // The damper's share of the force causes no deflection.
        let squared = |u: [W; 2]| u[0] * u[0] + u[1] * u[1];
        let slides = self.coupled.sliding & !squared(rolled).less(squared(slid));
        both(
            #[inline(always)]
            |i| {
                let held = W::select(holds, rolled[i], impulse[i] / reach / scale[i]);
                W::select(slides, slid[i], held)
            },
        )
    }
}

#[inline(always)]
fn within_largest_slip<W: Corners>(deflection: [W; 2], lengths: [W; 2]) -> [W; 2] {
    let slip = [deflection[0] / lengths[0], deflection[1] / lengths[1]];
    let squared = slip[0] * slip[0] + slip[1] * slip[1];
    let largest = W::splat(LARGEST_SLIP);
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
    use crate::lane::{Four, Lane};

    /// Checks that a patch deflected beyond its friction limit returns along its force onto the ellipse of both limits.
    #[test]
    fn a_patch_holds_no_more_than_its_friction() {
        let (dt, stiffness, limit) = (0.01, [200e3, 100e3], [30.0f32, 20.0f32]);
        let mut rows = Rows::<Four> { dt, ..Rows::default() };
        rows.tyre.elastic = stiffness.map(Four::splat);
        (rows.tyre.friction, rows.tyre.unloaded_share) = (limit.map(Four::splat), Four::splat(1.0));
        (rows.tyre.most_load, rows.suspension.pressing_share) = (Four::splat(1e9), Four::splat(1.0));
        rows.suspension.load = Four::splat(1.0);
        let standing = |strain: [f32; 2]| rows.standing(strain.map(Four::splat)).map(|lanes| lanes.at(0));
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
