//! Combined forces of a tyre that was measured under pure slip only: the friction ellipse reduces each force by the
//! other slip.

use super::PreparedMagicFormula;
use crate::Real;
use crate::dual::{self, sqrt_at_least};
use skidpad_simd::lane::Lane;

/// Slip below which the secant slope of a force blends into its slope at zero slip.
const SECANT_BLEND_SLIP: f32 = 1e-3;

/// Maximum slip; larger slips are clamped so that their squares are finite.
const MAX_CLAMPED_SLIP: f32 = 1e6;

impl<L: Lane> PreparedMagicFormula<L> {
    /// Combines the pure-slip `forces` (N) at the slips (κ, −tan α): `F_x = F_x0 / √(1 + (tan α F_x0 / (κ D_y))²)` with
    /// the largest lateral force D_y, and the lateral force by the same rule with the roles exchanged. Near zero slip
    /// the secant `F_x0 / κ` blends into the slope at zero slip. Slips are clamped to ±10⁶. If one of the limits is 0,
    /// the forces are unchanged. Derivatives by the other slip are left out.
    ///
    /// If both directions slide, the combined force lies on the ellipse of both friction limits, in the direction of
    /// the slips. If the other slip is 0, a force is unchanged. This is the friction ellipse of Adams/Tire's PAC2002,
    /// where an angle β defines the direction, written without the tangent of β.
    #[inline(always)]
    pub fn combine_on_ellipse<R: Real<L>>(&self, slip: [R; 2], forces: [R; 2]) -> [R; 2] {
        let s = L::splat;
        let limits = [self.longitudinal.limit(), self.lateral.limit()].map(|limit| limit * self.shared.load_scale);
        let slopes =
            [self.longitudinal.stiffness(), self.lateral.stiffness()].map(|slope| slope * self.shared.load_scale);
        let clamped_slips = slip.map(|slip| dual::clamp(slip, s(-MAX_CLAMPED_SLIP), s(MAX_CLAMPED_SLIP)));
        // Direction `i` (0 longitudinal, 1 lateral); `1 - i` is the other direction.
        [0, 1].map(|i| {
            let (force, slip, other_slip) = (forces[i], clamped_slips[i], clamped_slips[1 - i].value());
            let blend_force = slopes[i] * s(SECANT_BLEND_SLIP);
            // Squared secant slope of the force, N².
            let secant_squared =
                (force * force + blend_force * blend_force) / (slip * slip + s(SECANT_BLEND_SLIP * SECANT_BLEND_SLIP));
            let other_limit = limits[1 - i].at_least(s(f32::MIN_POSITIVE));
            let slip_per_limit = other_slip / other_limit;
            let squared_reduction = secant_squared * (slip_per_limit * slip_per_limit) + s(1.0);
            let has_both_limits = s(0.0).less(limits[0]) & s(0.0).less(limits[1]);
            R::choose(has_both_limits, force / sqrt_at_least(squared_reduction, s(1e-12)), force)
        })
    }

    /// Returns the factors by which the friction ellipse reduces both forces at the slips (κ, −tan α). `ratio` and
    /// `angle` (rad) are the slips of the formula, clamped to its ranges. Computes the pure forces under the actual
    /// load, combines them ([`PreparedMagicFormula::combine_on_ellipse`]) and divides by them. The factors are 1 if the
    /// ellipse is not used, and for forces up to 1e-6 N.
    #[inline(always)]
    pub fn ellipse_factors(&self, slip: [L; 2], [ratio, angle]: [L; 2]) -> [L; 2] {
        let one = L::splat(1.0);
        if !self.uses_ellipse {
            return [one; 2];
        }
        let pure_forces = [
            self.longitudinal.force(ratio, angle, self.combined) * self.shared.load_scale,
            self.lateral.force(ratio, angle, self.combined) * self.shared.load_scale,
        ];
        let combined_forces = self.combine_on_ellipse(slip, pure_forces);
        [0, 1].map(|i| L::select(L::splat(1e-6).less(pure_forces[i].abs()), combined_forces[i] / pure_forces[i], one))
    }
}
