//! Lateral force Fy.

use super::{MIN_FRICTION, MagicFormula, SharedQuantities, UseMode, reduction_factor, sine_formula};
use crate::dual::{atan, cos_atan, sin};
use crate::{Real, functions};
use skidpad_simd::lane::Lane;

/// Quantities of Fy that do not depend on slip (book 4.E20 to 4.E30, 4.E60 to 4.E67).
#[derive(Clone, Copy, Debug)]
pub struct LateralForce<L> {
    /// Shape factor C.
    pub shape: L,
    /// Peak factor D, N; 0 for a tyre without lateral force.
    peak: L,
    /// Cornering stiffness K_yα, N/rad, < 0.
    pub cornering: L,
    /// Stiffness factor B: stiffness over shape and peak, < 0.
    pub factor: L,
    /// Curvature factor E before its side terms.
    curvature: L,
    /// Factors of the curvature: a part for both sides, and a part that one side loses and the other side gains.
    curvature_sides: [L; 2],
    /// Horizontal shift, rad.
    pub shift: L,
    /// Vertical shift, N.
    pub vertical_shift: L,
    /// Effect of slip ratio.
    combined: Combined<L>,
}

/// Reduction and shift of Fy by slip ratio.
#[derive(Clone, Copy, Debug)]
struct Combined<L> {
    /// Stiffness factor of the reduction over slip ratio.
    stiffness: L,
    /// Decrease of that factor with slip angle, and the angle at which it is largest, rad.
    by_slip_angle: [f32; 2],
    /// Shape factor of the reduction.
    shape: f32,
    /// Curvature factor of the reduction, at most 1.
    curvature: L,
    /// Horizontal shift of the reduction, slip ratio.
    shift: L,
    /// Largest force that slip ratio adds, N.
    slip_ratio_force: L,
    /// RVY4 to RVY6: decrease with slip angle, shape factor and stiffness factor of that force.
    slip_ratio_shape: [f32; 3],
}

impl<L: Lane> LateralForce<L> {
    /// Computes the quantities of Fy at `camber` rad, which can differ from the camber of `shared`: moments also use
    /// the upright tyre. df is the relative deviation of load, dp that of pressure, γ the camber.
    ///
    /// Friction: `μ = (PDY1 + PDY2 df) (1 + PPY3 dp + PPY4 dp²) (1 − PDY3 γ²) LMUY`, at least [`MIN_FRICTION`], times
    /// grip. Peak: `D = μ F_z`. Stiffness factor: `B = K / (C D)` with the cornering stiffness K. Curvature: `(PEY1 +
    /// PEY2 df) LEY`. Also computes the shifts, and the reduction and added force by slip ratio. In a use mode without
    /// lateral force, peak, vertical shift and added force are 0; all other quantities are computed.
    #[inline(always)]
    pub fn new(tyre: &MagicFormula, shared: &SharedQuantities<L>, camber: L) -> Self {
        let c = &tyre.c;
        let s = L::splat;
        let &SharedQuantities { load, dfz, dpi, grip, .. } = shared;
        let one = s(1.0);
        let camber = camber * s(c.lgay);
        let camber_squared = camber * camber;
        // Factor 0 for a tyre without lateral force.
        let force_flag = s(if matches!(tyre.use_mode, UseMode::Load | UseMode::Longitudinal) { 0.0 } else { 1.0 });
        let friction = (s(c.pdy1) + s(c.pdy2) * dfz)
            * (one + s(c.ppy3) * dpi + s(c.ppy4) * dpi * dpi)
            * (one - s(c.pdy3) * camber_squared)
            * s(c.lmuy);
        let friction = friction.at_least(s(MIN_FRICTION)) * grip;
        let cornering = cornering_stiffness(tyre, shared, camber);
        let shape = s(c.pcy1 * c.lcy);
        let [shift, vertical_shift] = shifts(tyre, shared, camber, cornering);
        // Largest force that slip ratio adds, N.
        let added_force = friction * load * (s(c.rvy1) + s(c.rvy2) * dfz + s(c.rvy3) * camber) * s(c.lvyka);
        Self {
            shape,
            peak: friction * load * force_flag,
            cornering,
            factor: cornering / (shape * friction * load),
            curvature: (s(c.pey1) + s(c.pey2) * dfz) * s(c.ley),
            // Common to both sides, and the part that differs by side.
            curvature_sides: [one + s(c.pey5) * camber_squared, s(c.pey3) + s(c.pey4) * camber],
            shift,
            vertical_shift: vertical_shift * force_flag,
            combined: Combined {
                stiffness: (s(c.rby1) + s(c.rby4) * camber_squared) * s(c.lyka),
                by_slip_angle: [c.rby2, c.rby3],
                shape: c.rcy1,
                curvature: (s(c.rey1) + s(c.rey2) * dfz).at_most(one),
                shift: s(c.rhy1) + s(c.rhy2) * dfz,
                slip_ratio_force: added_force * force_flag,
                slip_ratio_shape: [c.rvy4, c.rvy5, c.rvy6],
            },
        }
    }

    /// Returns Fy, N, at slip ratio `ratio` and slip angle `angle`, rad, under the clamped load. If `combined` is true,
    /// slip ratio has an effect: a factor that reduces the force, and a force that is added.
    #[inline(always)]
    pub fn force<R: Real<L>>(&self, ratio: L, angle: R, combined: bool) -> R {
        let pure = self.pure(angle);
        if combined {
            pure * self.combined.reduction_factor(ratio, angle) + self.combined.slip_ratio_force(ratio, angle)
        } else {
            pure
        }
    }

    /// Returns Fy without slip ratio, N, at slip angle `angle`, rad.
    #[inline(always)]
    pub fn pure_force(&self, angle: L) -> L {
        self.pure(angle)
    }

    /// Returns G_yκ, the factor by which slip ratio reduces Fy.
    #[inline(always)]
    pub fn reduction_factor(&self, ratio: L, angle: L) -> L {
        self.combined.reduction_factor(ratio, angle)
    }

    /// Returns Fy without slip ratio, N: `D sin(C atan(B α − E (B α − atan(B α)))) + S_V` with α the `angle` (rad) plus
    /// the horizontal shift. E is at most 1 and differs by the sign of α. B is negative, so that a positive angle has a
    /// negative force.
    #[inline(always)]
    fn pure<R: Real<L>>(&self, angle: R) -> R {
        let slip = angle + self.shift;
        let [common_factor, side_difference] = self.curvature_sides;
        let curvature =
            (self.curvature * (common_factor - slip.value().sign() * side_difference)).at_most(L::splat(1.0));
        sine_formula(slip * self.factor, self.shape, curvature) * self.peak + self.vertical_shift
    }

    /// Returns the slope of Fy over −tan α at the zero crossing of the curve, N, ≥ 0: the negative cornering stiffness,
    /// or 0 for a tyre without lateral force.
    #[inline(always)]
    pub fn stiffness(&self) -> L {
        // The peak is 0 for a tyre without lateral force.
        L::select(L::splat(0.0).less(self.peak), -self.cornering, L::splat(0.0))
    }

    /// Returns the largest force, N, ≥ 0.
    #[inline(always)]
    pub fn limit(&self) -> L {
        self.peak + self.vertical_shift.abs()
    }
}

impl<L: Lane> Combined<L> {
    /// Returns G_yκ, the factor by which slip ratio reduces Fy.
    #[inline(always)]
    fn reduction_factor<R: Real<L>>(&self, ratio: L, angle: R) -> R {
        let [steepness, peak_angle] = self.by_slip_angle.map(L::splat);
        let stiffness = cos_atan((angle - peak_angle) * steepness) * self.stiffness;
        reduction_factor(stiffness * (ratio + self.shift), stiffness * self.shift, L::splat(self.shape), self.curvature)
    }

    /// Returns S_Vyκ, the force that slip ratio adds, N: the largest one times
    /// `sin(RVY5 atan(RVY6 κ)) cos(atan(RVY4 α))`.
    #[inline(always)]
    fn slip_ratio_force<R: Real<L>>(&self, ratio: L, angle: R) -> R {
        let [angle_stiffness, shape, stiffness] = self.slip_ratio_shape.map(L::splat);
        let ratio_factor: L = sin(atan(ratio * stiffness) * shape);
        cos_atan(angle * angle_stiffness) * (self.slip_ratio_force * ratio_factor)
    }
}

/// Returns the cornering stiffness K_yα at `camber` rad, N/rad, negative, at most −0.01 times the load (book 4.E25).
/// The magnitude changes with load as `sin(PKY4 atan(load / load of the largest stiffness))`, falls with camber and
/// changes with pressure. The load of the largest stiffness is at least 0.01 times the nominal load; in MF 5.2 it does
/// not depend on camber.
#[inline(always)]
fn cornering_stiffness<L: Lane>(tyre: &MagicFormula, shared: &SharedQuantities<L>, camber: L) -> L {
    let c = &tyre.c;
    let s = L::splat;
    let one = s(1.0);
    let nominal_load = tyre.nominal_load();
    let camber_term = if tyre.is_mf6() { s(c.pky5) * camber * camber } else { s(0.0) };
    // Load of the largest stiffness over nominal load.
    let peak_load_ratio = ((s(c.pky2) + camber_term) * (one + s(c.ppy2) * shared.dpi)).at_least(s(0.01));
    let load_factor = functions::sin(functions::atan(shared.load / (s(nominal_load) * peak_load_ratio)) * s(c.pky4));
    let stiffness = s(c.pky1 * nominal_load * c.lky)
        * (one + s(c.ppy1) * shared.dpi)
        * load_factor
        * (one - s(c.pky3) * camber.abs());
    stiffness.at_most(shared.load * s(-0.01))
}

/// Returns the horizontal shift, rad, and the vertical shift, N, of the curve of Fy at `camber` γ rad (book 4.E27 to
/// 4.E30). Each is the sum of a part of the upright tyre and a part by camber. `cornering` is the cornering stiffness,
/// N/rad. The horizontal part by camber is `(camber stiffness · γ − vertical part by camber) / cornering` from version
/// 6.1 on, and `PHY3 γ` in MF 5.2.
#[inline(always)]
fn shifts<L: Lane>(tyre: &MagicFormula, shared: &SharedQuantities<L>, camber: L, cornering: L) -> [L; 2] {
    let c = &tyre.c;
    let s = L::splat;
    let &SharedQuantities { load, dfz, dpi, grip, .. } = shared;
    let friction = s(c.lmuy) * grip;
    // Horizontal (rad) and vertical (N).
    let upright =
        [(s(c.phy1) + s(c.phy2) * dfz) * s(c.lhy), load * (s(c.pvy1) + s(c.pvy2) * dfz) * s(c.lvy) * friction];
    let camber_vertical = load * (s(c.pvy3) + s(c.pvy4) * dfz) * camber * friction;
    let [camber_horizontal, camber_vertical] = if tyre.is_mf6() {
        let camber_vertical = camber_vertical * s(c.lkyc);
        let camber_stiffness = load * (s(c.pky6) + s(c.pky7) * dfz) * (s(1.0) + s(c.ppy5) * dpi) * s(c.lkyc);
        [(camber_stiffness * camber - camber_vertical) / cornering, camber_vertical]
    } else {
        [s(c.phy3) * camber, camber_vertical]
    };
    [upright[0] + camber_horizontal, upright[1] + camber_vertical]
}
