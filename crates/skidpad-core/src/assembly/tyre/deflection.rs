//! Deflection of contact patches at the end of a step.

use crate::model::wheel_pack::WheelPack;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{WheelLanes, pair_from_fn};
use skidpad_tyre::{MAX_SLIP, friction_ellipse};

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the deflections at the end of the step, m, by the deflection lines, for the `sliding_speeds` there, m/s.
    /// In degressive lanes, the longitudinal deflection is that of the row with less force: the tangent row, or the
    /// straight row for a slip that vanishes within the step.
    #[inline(always)]
    pub(crate) fn end_deflections(&self, sliding_speeds: [W; 2]) -> [W; 2] {
        let [longitudinal, lateral] = pair_from_fn(|i| self.tyre.deflection_lines[i].evaluate(sliding_speeds[i]));
        if !W::any(self.tyre.degressive) {
            return [longitudinal, lateral];
        }
        // The row with less force is the row with more slip.
        let (straight_deflection, target_impulse) =
            (self.tyre.straight_deflection_line.evaluate(sliding_speeds[0]), self.tyre.target_impulse[0]);
        [
            W::select(
                (longitudinal * target_impulse).less(straight_deflection * target_impulse) & self.tyre.degressive,
                straight_deflection,
                longitudinal,
            ),
            lateral,
        ]
    }

    /// Returns the deflections after the step, m: of a standing patch, a rolling patch, or a blend of both.
    /// `end_deflections` are the results of [`Self::end_deflections`], m; `rolling_share` is the share of rolling, from
    /// 0 to 1. Patches with dry friction, which do not relax, count as standing. The slips of rolling patches
    /// (deflection over length) are limited to [`MAX_SLIP`].
    #[inline(always)]
    pub(crate) fn blended_deflections(
        &self,
        group: &WheelPack<W>,
        end_deflections: [W; 2],
        rolling_share: W,
    ) -> [W; 2] {
        let one = W::splat(1.0);
        let share = rolling_share.masked(group.tyre.relaxing_lanes());
        let rolling_deflections = limit_slip(end_deflections, self.tyre.lengths);
        // All patches of the group roll.
        if !W::any(share.less(one) & group.present_mask()) {
            return rolling_deflections;
        }
        self.blend_standing(end_deflections, rolling_deflections, share)
    }

    /// Returns the deflections, m, of a group in which some patches stand or are between standing and rolling: the
    /// deflection of a standing patch times `1 − share`, plus that of a rolling patch times `share`, 0 to 1.
    /// `end_deflections`: results of [`Self::end_deflections`], m. `rolling_deflections`: deflections of rolling
    /// patches, m, which are limited in the blend to what friction can hold when the patch stands. Fully rolling and
    /// fully standing lanes get their values unchanged.
    #[cold]
    #[inline(never)]
    fn blend_standing(&self, end_deflections: [W; 2], rolling_deflections: [W; 2], share: W) -> [W; 2] {
        W::call_outlined(
            #[inline(always)]
            || {
                let (zero, one) = (W::splat(0.0), W::splat(1.0));
                let standing_deflections = self.standing_deflections(end_deflections);
                // A standing patch is a spring. Deflection that friction cannot hold would be a memory of past sliding.
                let (max_held, standing_share) =
                    (self.max_held_deflections(), (one - share).at_least(W::splat(f32::MIN_POSITIVE)));
                let max_rolling = pair_from_fn(
                    #[inline(always)]
                    |i| max_held[i] / standing_share,
                );
                let limited_rolling = pair_from_fn(
                    #[inline(always)]
                    |i| rolling_deflections[i].clamp_nan_to_low(-max_rolling[i], max_rolling[i]),
                );
                let blended = pair_from_fn(
                    #[inline(always)]
                    |i| standing_deflections[i] * (one - share) + limited_rolling[i] * share,
                );
                let (is_rolling, is_standing) = (!share.less(one), !zero.less(share));
                pair_from_fn(
                    #[inline(always)]
                    |i| {
                        W::select(
                            is_rolling,
                            rolling_deflections[i],
                            W::select(is_standing, standing_deflections[i], blended[i]),
                        )
                    },
                )
            },
        )
    }

    /// Returns the largest deflections that friction holds, m: friction limit over elastic stiffness, in each direction
    /// alone.
    #[inline(always)]
    fn max_held_deflections(&self) -> [W; 2] {
        let (limit, dt) = (self.friction_limit(), W::splat(self.dt));
        pair_from_fn(
            #[inline(always)]
            |i| limit[i] / (self.tyre.elastic_stiffness[i] * dt).at_least(W::splat(f32::MIN_POSITIVE)),
        )
    }

    /// Returns the deflections of standing patches, m. A standing patch is a spring on a friction ellipse:
    /// `deflections` (m) remain where their spring force is inside the ellipse, and are scaled back to the ellipse
    /// outside. The deflections of a sliding patch follow from the solved tyre impulse instead, unless they would be
    /// longer than `deflections`.
    #[inline(always)]
    fn standing_deflections(&self, deflections: [W; 2]) -> [W; 2] {
        let (limit, dt) = (self.friction_limit(), W::splat(self.dt));
        let impulse_per_deflection = pair_from_fn(
            #[inline(always)]
            |i| self.tyre.elastic_stiffness[i] * dt,
        );
        let impulse = [deflections[0] * impulse_per_deflection[0], deflections[1] * impulse_per_deflection[1]];
        let force_ratio = [impulse[0] / limit[0], impulse[1] / limit[1]];
        let utilisation = friction_ellipse::utilisation(force_ratio);
        let is_within_limit = !W::splat(1.0).less(utilisation);
        // Deflection whose spring impulse is the solved tyre impulse, m.
        let sliding_deflections = pair_from_fn(
            #[inline(always)]
            |i| self.solution.tyre_impulse[i] / impulse_per_deflection[i],
        );
        // The damper's share of the force causes no deflection.
        let squared_length = |u: [W; 2]| u[0] * u[0] + u[1] * u[1];
        // The solved impulse counts where its deflection is not longer than the end deflection.
        let is_sliding = self.solution.sliding & !squared_length(deflections).less(squared_length(sliding_deflections));
        pair_from_fn(
            #[inline(always)]
            |i| {
                let held_deflection =
                    W::select(is_within_limit, deflections[i], impulse[i] / utilisation / impulse_per_deflection[i]);
                W::select(is_sliding, sliding_deflections[i], held_deflection)
            },
        )
    }
}

/// Returns `deflection` (m), scaled down in its direction where its slip, deflection over `lengths`, exceeds
/// [`MAX_SLIP`] in magnitude.
#[inline(always)]
fn limit_slip<W: WheelLanes>(deflection: [W; 2], lengths: [W; 2]) -> [W; 2] {
    let slip = [deflection[0] / lengths[0], deflection[1] / lengths[1]];
    let squared = slip[0] * slip[0] + slip[1] * slip[1];
    let max_slip = W::splat(MAX_SLIP);
    let is_over_limit = (max_slip * max_slip).less(squared);
    if !W::any(is_over_limit) {
        return deflection;
    }
    let scale = max_slip / squared.sqrt();
    deflection.map(|u| W::select(is_over_limit, u * scale, u))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_simd::lane::{F32x4, Lane};

    /// Checks that a patch deflected within its friction limits keeps its deflection to the bit, and that one beyond
    /// them returns along its force onto the ellipse of both limits.
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
        let (inside, outside) = ([0.006, 0.01], [0.018, 0.03f32]);
        assert_eq!(standing(inside), inside);
        let force_ratio = [0, 1].map(|i| outside[i] * stiffness[i] * dt / limit[i]);
        let utilisation = (force_ratio[0] * force_ratio[0] + force_ratio[1] * force_ratio[1]).sqrt();
        for (found, strain) in standing(outside).into_iter().zip(outside) {
            // Rounding of f32.
            assert!((found * utilisation / strain - 1.0).abs() < 1e-6, "{found} m of {strain} m");
        }
    }
}
