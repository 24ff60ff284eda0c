//! Longitudinal force Fx.

use super::{MIN_FRICTION, MagicFormula, SharedQuantities, UseMode, reduction_factor, sine_formula};
use crate::dual::cos_atan;
use crate::{Real, functions};
use skidpad_simd::lane::Lane;

/// Quantities of Fx that do not depend on slip (book 4.E10 to 4.E18, 4.E51 to 4.E57).
#[derive(Clone, Copy, Debug)]
pub struct LongitudinalForce<L> {
    /// Shape factor C.
    shape: L,
    /// Peak factor D, N; 0 for a tyre without longitudinal force.
    peak: L,
    /// Slope at the zero crossing, N per unit slip ratio.
    stiffness: L,
    /// Stiffness factor B: stiffness over shape and peak.
    factor: L,
    /// Curvature factor E before the difference of driving and braking.
    curvature: L,
    /// Difference of curvature between driving and braking.
    curvature_difference: f32,
    /// Horizontal shift, slip ratio.
    shift: L,
    /// Vertical shift, N.
    vertical_shift: L,
    /// Effect of slip angle.
    combined: Combined<L>,
}

/// Reduction of Fx by slip angle.
#[derive(Clone, Copy, Debug)]
struct Combined<L> {
    /// Stiffness factor of the reduction over slip angle.
    stiffness: L,
    /// Decrease of that factor with slip ratio.
    by_slip_ratio: f32,
    /// Shape factor of the reduction.
    shape: f32,
    /// Curvature factor of the reduction, at most 1.
    curvature: L,
    /// Horizontal shift of the reduction, rad.
    shift: f32,
}

impl<L: Lane> LongitudinalForce<L> {
    /// Computes the quantities of Fx under the clamped load, at the camber γ, pressure and grip of `shared`. df is the
    /// relative deviation of load, dp that of pressure.
    ///
    /// Friction: `μ = (PDX1 + PDX2 df) (1 + PPX3 dp + PPX4 dp²) (1 − PDX3 γ²) LMUX`, at least [`MIN_FRICTION`], times
    /// grip. Peak: `D = μ F_z`. Slope: `K = F_z (PKX1 + PKX2 df) exp(PKX3 df) (1 + PPX1 dp + PPX2 dp²) LKX`, with the
    /// exponent within ±10. Stiffness factor: `B = K / (C D)`. Also computes curvature, shifts, and the reduction by
    /// slip angle. In a use mode without longitudinal force, the load counts as 0, and with it all forces; the factors
    /// stay finite.
    #[inline(always)]
    pub fn new(tyre: &MagicFormula, shared: &SharedQuantities<L>) -> Self {
        let c = &tyre.c;
        let s = L::splat;
        let &SharedQuantities { load, dfz, dpi, camber, grip, .. } = shared;
        let one = s(1.0);
        let camber = camber * s(c.lgax);
        let camber_squared = camber * camber;
        // Factor 0 for a tyre without longitudinal force.
        let force_flag = s(if matches!(tyre.use_mode, UseMode::Load | UseMode::Lateral) { 0.0 } else { 1.0 });
        let load = load * force_flag;
        let friction = (s(c.pdx1) + s(c.pdx2) * dfz)
            * (one + s(c.ppx3) * dpi + s(c.ppx4) * dpi * dpi)
            * (one - s(c.pdx3) * camber_squared)
            * s(c.lmux);
        let friction = friction.at_least(s(MIN_FRICTION)) * grip;
        let stiffness_per_load = (s(c.pkx1) + s(c.pkx2) * dfz)
            * functions::exp((s(c.pkx3) * dfz).clamp_nan_to_low(s(-10.0), s(10.0)))
            * (one + s(c.ppx1) * dpi + s(c.ppx2) * dpi * dpi)
            * s(c.lkx);
        let shape = s(c.pcx1 * c.lcx);
        Self {
            shape,
            peak: friction * load,
            stiffness: stiffness_per_load * load,
            factor: stiffness_per_load / (shape * friction),
            curvature: (s(c.pex1) + s(c.pex2) * dfz + s(c.pex3) * dfz * dfz) * s(c.lex),
            curvature_difference: c.pex4,
            shift: (s(c.phx1) + s(c.phx2) * dfz) * s(c.lhx),
            vertical_shift: load * (s(c.pvx1) + s(c.pvx2) * dfz) * s(c.lvx * c.lmux) * grip,
            combined: Combined {
                stiffness: (s(c.rbx1) + s(c.rbx3) * camber_squared) * s(c.lxal),
                by_slip_ratio: c.rbx2,
                shape: c.rcx1,
                curvature: (s(c.rex1) + s(c.rex2) * dfz).at_most(one),
                shift: c.rhx1,
            },
        }
    }

    /// Returns Fx, N, at slip ratio `ratio` and slip angle `angle`, rad, under the clamped load:
    /// `D sin(C atan(B κ − E (B κ − atan(B κ)))) + S_V` with κ the ratio plus the horizontal shift. E is at most 1 and
    /// differs between driving and braking. If `combined` is true, the whole force is multiplied by the factor of slip
    /// angle.
    #[inline(always)]
    pub fn force<R: Real<L>>(&self, ratio: R, angle: L, combined: bool) -> R {
        let one = L::splat(1.0);
        let slip = ratio + self.shift;
        let signed_difference = slip.value().sign() * L::splat(self.curvature_difference);
        let curvature = (self.curvature * (one - signed_difference)).at_most(one);
        let pure = sine_formula(slip * self.factor, self.shape, curvature) * self.peak + self.vertical_shift;
        if combined { pure * self.combined.reduction_factor(ratio, angle) } else { pure }
    }

    /// Returns the slope of Fx at the zero crossing of the curve, N, ≥ 0.
    #[inline(always)]
    pub fn stiffness(&self) -> L {
        self.stiffness
    }

    /// Returns the largest force, N, ≥ 0.
    #[inline(always)]
    pub fn limit(&self) -> L {
        self.peak + self.vertical_shift.abs()
    }
}

impl<L: Lane> Combined<L> {
    /// Returns G_xα, the factor by which slip angle reduces Fx, 1 without slip angle. The stiffness of the reduction
    /// falls with slip ratio as `cos(atan(RBX2 κ))`.
    #[inline(always)]
    fn reduction_factor<R: Real<L>>(&self, ratio: R, angle: L) -> R {
        let stiffness = cos_atan(ratio * L::splat(self.by_slip_ratio)) * self.stiffness;
        let shift = L::splat(self.shift);
        reduction_factor(stiffness * (angle + shift), stiffness * shift, L::splat(self.shape), self.curvature)
    }
}
