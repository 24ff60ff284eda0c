//! Magic Formula in its versions PAC2002 / MF 5.2, 6.1 and 6.2: steady-state forces, moments, radii and relaxation
//! lengths from coefficients.
//!
//! # Sources and choices
//! H. B. Pacejka, *Tire and Vehicle Dynamics*, 3rd ed. 2012, eqs 4.E1 to 4.E78 ("the book"); I. Besselink, A.
//! Schmeitz, H. Pacejka, *An improved Magic Formula/Swift tyre model that can handle inflation pressure changes*,
//! Vehicle System Dynamics 48 (2010), appendix ("the paper"); for PAC2002 the equations of H. B. Pacejka, *Tyre and
//! Vehicle Dynamics*, 1st ed. 2002, ch. 4.3 with the shifts of MF-Tyre 5.2. If the sources differ, this module
//! follows MF-Tyre:
//! - The slip angle of the curves is α itself, not tan α, and the camber is γ, not sin γ (book: 4.E3, 4.E4).
//! - Friction does not fall with sliding speed (no LMUV), so A_μ has no effect (book: 4.E7, 4.E8).
//! - Curvatures E are at most 1.
//! - Mz follows the paper: atan in the equivalent slip angles, trail by the nominal load without LFZO.
//! - Turn slip is off: every ζ is 1. The solvers model parking and low speed, instead of parking moments and the
//!   low-speed model of the tyre (VXLOW).
//!
//! # Ranges
//! Slip ratio, slip angle, camber and pressure are clamped to the ranges of the file. Load is clamped to FZMIN..FZMAX,
//! and to the range from a hundredth to five times the nominal load. Forces and moments are then scaled by the actual
//! load over the clamped load.

mod checks;
mod coefficients;
mod ellipse;
mod lateral;
mod lengths;
mod longitudinal;
mod moments;
mod radius;

pub use coefficients::{Coefficients, ENTRIES, Entry, Unit};
pub use radius::Radii;

use super::dual::{self, Dual};
use super::{Conditions, MIN_GRIP, Moments, PreparedTyre, Real, TyreForces, TyreModel, ValueFault};
use lateral::LateralForce;
use lengths::RelaxationLengths;
use longitudinal::LongitudinalForce;
use skidpad_simd::lane::{F32x8Pair, Lane};

/// Version of the equations that the coefficients belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// MF 5.2, as in Adams PAC2002.
    Mf52,
    /// MF 6.1: adds pressure and a camber stiffness of its own.
    Mf61,
    /// MF 6.2: like 6.1, except for the loaded radius under camber.
    Mf62,
}

/// Set of forces that a tyre has (last digit of `USE_MODE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseMode {
    /// Load only (0).
    Load,
    /// Longitudinal force only (1).
    Longitudinal,
    /// Lateral force only (2).
    Lateral,
    /// Both forces, each as under pure slip (3).
    Uncombined,
    /// Both forces, each reduced by the other slip (4).
    Combined,
}

/// Magic Formula tyre with finite results: [`MagicFormula::new`] rejects coefficients that lead to others.
#[derive(Clone, Debug, PartialEq)]
pub struct MagicFormula {
    /// Checked coefficients; those that the use mode does not need have harmless values.
    c: Coefficients,
    /// Version of the equations.
    version: Version,
    /// Set of forces that the tyre has.
    use_mode: UseMode,
}

/// Magic Formula tyre under given conditions.
#[derive(Clone, Copy, Debug)]
pub struct PreparedMagicFormula<L> {
    /// Quantities that do not depend on slip.
    shared: SharedQuantities<L>,
    /// Longitudinal force law at these conditions.
    longitudinal: LongitudinalForce<L>,
    /// Lateral force law at these conditions.
    lateral: LateralForce<L>,
    /// Lowest and highest slip ratio, and slip angle (rad), at which the formula is evaluated.
    slip_range: [[f32; 2]; 2],
    /// Whether each force is reduced by the other slip.
    combined: bool,
    /// Whether the friction ellipse combines the forces, instead of the coefficients of combined slip.
    uses_ellipse: bool,
    /// Relaxation lengths as functions of load.
    lengths: RelaxationLengths,
    /// Speed of the wheel centre along the heading, m/s.
    speed: L,
}

/// Quantities that all equations use.
#[derive(Clone, Copy, Debug)]
pub struct SharedQuantities<L> {
    /// Load clamped to the range of the coefficients, N.
    load: L,
    /// Actual load over clamped load. A prepared tyre also includes the fade below [`MIN_GRIP`].
    load_scale: L,
    /// Relative deviation from the nominal load, df_z.
    dfz: L,
    /// Relative deviation from the nominal pressure, dp_i.
    dpi: L,
    /// Pressure over nominal pressure.
    pressure_ratio: L,
    /// Camber clamped to its range, rad.
    camber: L,
    /// Friction factor of the surface, at least [`MIN_GRIP`].
    grip: L,
}

/// Minimum friction coefficient at any load and camber. A negative coefficient would reverse the force.
const MIN_FRICTION: f32 = 0.01;

/// Minimum load over nominal load at which the formula is evaluated, if FZMIN is lower. Forces are proportional to
/// lower loads.
const MIN_LOAD_RATIO: f32 = 0.01;
/// Maximum load over nominal load at which the formula is evaluated, if FZMAX is higher. Forces are proportional to
/// higher loads.
const MAX_LOAD_RATIO: f32 = 5.0;

impl MagicFormula {
    /// Builds a tyre from `coefficients` in SI units. Coefficients of a direction that `use_mode` leaves out may be
    /// missing (NaN): shape factors, friction, stiffnesses and their scales of that direction are replaced by ±1. They
    /// then have no effect.
    ///
    /// # Errors
    ///
    /// Returns every coefficient for which the formula is undefined or not finite.
    pub fn new(coefficients: Coefficients, version: Version, use_mode: UseMode) -> Result<Self, Vec<ValueFault>> {
        let faults = checks::faults(&coefficients, use_mode);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut c = coefficients;
        // Unused coefficients may be missing. A NaN must not enter products with 0.
        if matches!(use_mode, UseMode::Load | UseMode::Lateral) {
            (c.pcx1, c.pdx1, c.pkx1, c.lcx) = (1.0, 1.0, 1.0, 1.0);
        }
        if matches!(use_mode, UseMode::Load | UseMode::Longitudinal) {
            (c.pcy1, c.pdy1, c.pky1, c.pky2, c.lcy, c.lky) = (1.0, 1.0, -1.0, 1.0, 1.0, 1.0);
        }
        Ok(Self { c, version, use_mode })
    }

    /// Returns the coefficients.
    pub fn coefficients(&self) -> &Coefficients {
        &self.c
    }

    /// Returns the version of the equations.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the set of forces.
    pub fn use_mode(&self) -> UseMode {
        self.use_mode
    }

    /// Returns true if the friction ellipse combines the forces. This is the case for the use mode
    /// [`UseMode::Combined`] if the tyre has coefficients of combined slip in neither direction. Without the ellipse,
    /// two pure forces together could reach √2 times the friction.
    pub fn combines_by_ellipse(&self) -> bool {
        let c = &self.c;
        let has_longitudinal = c.rcx1 != 0.0 && (c.rbx1, c.rbx3) != (0.0, 0.0);
        let has_lateral = c.rcy1 != 0.0 && (c.rby1, c.rby4) != (0.0, 0.0);
        self.use_mode == UseMode::Combined && !has_longitudinal && !has_lateral
    }

    /// Computes the longitudinal and lateral forces of eight samples in SIMD lanes at the slips (κ, −tan α), N. Fits of
    /// coefficients need millions of samples; this function uses the instruction set that this crate is compiled for,
    /// whichever crate calls it.
    pub fn forces_x8(&self, slip: [F32x8Pair; 2], conditions: &Conditions<F32x8Pair>) -> [F32x8Pair; 2] {
        self.prepare(conditions).force(slip).force
    }

    /// Computes the aligning moments of eight samples at the slips (κ, −tan α), N m.
    pub fn aligning_x8(&self, slip: [F32x8Pair; 2], conditions: &Conditions<F32x8Pair>) -> F32x8Pair {
        self.moments(&self.prepare(conditions), slip).aligning
    }

    /// Returns the tyre for the other side of the car, with left and right reflected: Fy(κ, α, γ) becomes −Fy(κ, −α,
    /// −γ). The 18 coefficients that are odd under reflection change sign, and the ranges of slip angle and camber are
    /// reflected.
    pub fn mirrored(&self) -> Self {
        let mut tyre = self.clone();
        for coefficient in mirrored_coefficients(&mut tyre.c) {
            *coefficient = -*coefficient;
        }
        let c = &mut tyre.c;
        (c.alpmin, c.alpmax) = (-c.alpmax, -c.alpmin);
        (c.cammin, c.cammax) = (-c.cammax, -c.cammin);
        tyre
    }

    /// Returns the tyre without differences of left and right (conicity, ply steer) and without shifts of Fx, so that
    /// it has no force at zero slip and zero camber. Sets the 18 coefficients that are odd under reflection and the
    /// four of the shifts of Fx to 0. A measured tyre pulls to one side by a hundredth of its load, even at standstill.
    pub fn symmetric(&self) -> Self {
        let mut tyre = self.clone();
        for coefficient in mirrored_coefficients(&mut tyre.c) {
            *coefficient = 0.0;
        }
        let c = &mut tyre.c;
        (c.phx1, c.phx2, c.pvx1, c.pvx2) = (0.0, 0.0, 0.0, 0.0);
        tyre
    }

    /// Returns true if the equations of version 6.1 and later apply.
    fn is_mf6(&self) -> bool {
        self.version != Version::Mf52
    }

    /// Returns the scaled nominal load, N (book 4.E1).
    fn nominal_load(&self) -> f32 {
        self.c.lfzo * self.c.fnomin
    }

    /// Computes the quantities that all equations use ([`SharedQuantities`]) from `conditions`. NaN counts as the lower
    /// bound of each range, but a pressure of NaN as not stated.
    ///
    /// The load is clamped to FZMIN to FZMAX and to the ratios [`MIN_LOAD_RATIO`] to [`MAX_LOAD_RATIO`] of the nominal
    /// load; the load scale is the actual load over the clamped one. The pressure is that of `conditions` if above 0,
    /// else INFLPRES, else the nominal one, clamped to its range. Without a nominal pressure in the file, pressure has
    /// no effect. Camber is clamped to its range, and grip to [`MIN_GRIP`] to 1000.
    #[inline(always)]
    fn shared<L: Lane>(&self, conditions: &Conditions<L>) -> SharedQuantities<L> {
        let c = &self.c;
        let s = L::splat;
        let min_load = (MIN_LOAD_RATIO * c.fnomin).max(c.fzmin);
        let load =
            conditions.load.clamp_nan_to_low(s(min_load), s(c.fzmax.min(MAX_LOAD_RATIO * c.fnomin).max(min_load)));
        // Actual load, N, without the lower bound of the formula. The upper bound keeps products finite.
        let actual_load = conditions.load.clamp_nan_to_low(s(0.0), s(1e9));
        let has_nominal_pressure = c.nompres > 0.0;
        // 1: any number above 0, because the ratio below is then 1.
        let nominal_pressure = if has_nominal_pressure { c.nompres } else { 1.0 };
        let default_pressure = if c.inflpres > 0.0 { c.inflpres } else { nominal_pressure };
        let stated_pressure = L::select(s(0.0).less(conditions.pressure), conditions.pressure, s(default_pressure));
        // A thousandth of the nominal pressure: lower bound that avoids a division by 0.
        let clamped_pressure =
            stated_pressure.clamp_nan_to_low(s(c.presmin.max(1e-3 * nominal_pressure)), s(c.presmax));
        let pressure_ratio = if has_nominal_pressure { clamped_pressure / s(nominal_pressure) } else { s(1.0) };
        SharedQuantities {
            load,
            load_scale: actual_load / load,
            dfz: (load - s(self.nominal_load())) / s(self.nominal_load()),
            dpi: pressure_ratio - s(1.0),
            pressure_ratio,
            camber: conditions.camber.clamp_nan_to_low(s(c.cammin), s(c.cammax)),
            grip: conditions.grip.clamp_nan_to_low(s(MIN_GRIP), s(1e3)),
        }
    }
}

impl TyreModel for MagicFormula {
    type Prepared<L: Lane> = PreparedMagicFormula<L>;

    /// Computes the tyre under `conditions`: shared quantities, then both force laws at the clamped load. Below
    /// `MIN_GRIP` the load scale (factor on all forces and moments) is reduced in proportion to grip.
    #[inline(always)]
    fn prepare<L: Lane>(&self, conditions: &Conditions<L>) -> PreparedMagicFormula<L> {
        let shared = self.shared(conditions);
        let longitudinal = LongitudinalForce::new(self, &shared);
        let lateral = LateralForce::new(self, &shared, shared.camber);
        // Below the minimum grip, forces fade to 0.
        let fade = conditions.grip.clamp_nan_to_low(L::splat(0.0), shared.grip) / shared.grip;
        let shared = SharedQuantities { load_scale: shared.load_scale * fade, ..shared };
        let c = &self.c;
        PreparedMagicFormula {
            lengths: RelaxationLengths::new(self),
            shared,
            longitudinal,
            lateral,
            slip_range: [[c.kpumin, c.kpumax], [c.alpmin, c.alpmax]],
            combined: self.use_mode == UseMode::Combined,
            uses_ellipse: self.combines_by_ellipse(),
            speed: conditions.speed,
        }
    }

    #[inline(always)]
    fn moments<L: Lane>(&self, prepared: &PreparedMagicFormula<L>, slip: [L; 2]) -> Moments<L> {
        moments::moments(self, prepared, slip)
    }

    #[inline(always)]
    fn rolling_resistance<L: Lane>(&self, prepared: &PreparedMagicFormula<L>, slip: [L; 2]) -> L {
        moments::rolling_resistance(self, prepared, slip)
    }
}

impl<L: Lane> PreparedMagicFormula<L> {
    /// Returns the slip ratio at which the formula is evaluated: `longitudinal_slip`, clamped to the range of the file.
    #[inline(always)]
    fn ratio<R: Real<L>>(&self, longitudinal_slip: R) -> R {
        let [low, high] = self.slip_range[0].map(L::splat);
        dual::clamp(longitudinal_slip, low, high)
    }

    /// Returns the slip angle α at which the formula is evaluated, rad, for the `lateral_slip` −tan α, clamped to the
    /// range of the file.
    #[inline(always)]
    fn angle<R: Real<L>>(&self, lateral_slip: R) -> R {
        let [low, high] = self.slip_range[1].map(L::splat);
        // tan 89.99994°, so that its square is finite.
        let lateral_slip = dual::clamp(lateral_slip, L::splat(-1e6), L::splat(1e6));
        dual::clamp(-dual::atan(lateral_slip), low, high)
    }
}

impl<L: Lane> PreparedTyre<L> for PreparedMagicFormula<L> {
    /// Computes the forces and, by forward-mode differentiation, the slope of each force over its own slip, under the
    /// actual load. Slips are clamped to their ranges. Combined slip reduces the forces by the coefficients, or on the
    /// friction ellipse if the tyre has no such coefficients.
    #[inline(always)]
    fn force(&self, slip: [L; 2]) -> TyreForces<L> {
        // Each slip is the only input of its own force: derivatives by the other slip are not needed.
        let inputs @ [longitudinal_slip, lateral_slip] = slip.map(|slip| Dual::<L, 1>::input(slip, 0));
        let (ratio, angle) = (self.ratio(longitudinal_slip), self.angle(lateral_slip));
        let fx = self.longitudinal.force(ratio, angle.value, self.combined) * self.shared.load_scale;
        let fy = self.lateral.force(ratio.value, angle, self.combined) * self.shared.load_scale;
        if self.uses_ellipse {
            let [fx, fy] = self.combine_on_ellipse(inputs, [fx, fy]);
            return TyreForces { force: [fx.value, fy.value], slope: [fx.slope[0], fy.slope[0]] };
        }
        TyreForces { force: [fx.value, fy.value], slope: [fx.slope[0], fy.slope[0]] }
    }

    #[inline(always)]
    fn stiffness(&self) -> [L; 2] {
        [self.longitudinal.stiffness() * self.shared.load_scale, self.lateral.stiffness() * self.shared.load_scale]
    }

    /// Returns the peaks of the curves plus their vertical shifts, N. Slip ratio can add up to `RVY1..3` times the
    /// friction to the lateral force.
    #[inline(always)]
    fn limit(&self) -> [L; 2] {
        [self.longitudinal.limit() * self.shared.load_scale, self.lateral.limit() * self.shared.load_scale]
    }

    #[inline(always)]
    fn relaxation(&self) -> [L; 2] {
        self.lengths.lengths_at(&self.shared, [self.longitudinal.stiffness(), self.lateral.stiffness()])
    }
}

/// Returns the coefficients that are odd under reflection of left and right: shifts, conicity, ply steer and side
/// differences of curvature.
fn mirrored_coefficients(c: &mut Coefficients) -> [&mut f32; 18] {
    [
        &mut c.rhx1,
        &mut c.pey3,
        &mut c.phy1,
        &mut c.phy2,
        &mut c.pvy1,
        &mut c.pvy2,
        &mut c.rby3,
        &mut c.rvy1,
        &mut c.rvy2,
        &mut c.qsx1,
        &mut c.qbz4,
        &mut c.qdz3,
        &mut c.qdz6,
        &mut c.qdz7,
        &mut c.qez4,
        &mut c.qhz1,
        &mut c.qhz2,
        &mut c.ssz1,
    ]
}

/// Returns `x − E (x − atan x)`, the argument of the formula. x is stiffness factor times slip (book 4.E9, 4.E19).
#[inline(always)]
fn curved_argument<L: Lane, R: Real<L>>(x: R, curvature: L) -> R {
    x - (x - dual::atan(x)) * curvature
}

/// Returns `sin(C atan(x − E (x − atan x)))`.
#[inline(always)]
fn sine_formula<L: Lane, R: Real<L>>(x: R, shape: L, curvature: L) -> R {
    dual::sin(dual::atan(curved_argument(x, curvature)) * shape)
}

/// Returns `cos(C atan(x − E (x − atan x)))`.
#[inline(always)]
fn cosine_formula<L: Lane, R: Real<L>>(x: R, shape: L, curvature: L) -> R {
    dual::cos(dual::atan(curved_argument(x, curvature)) * shape)
}

/// Returns the factor by which the other slip reduces a force: `G(slip_argument) / G(shift_argument)` with the cosine
/// formula G ([`cosine_formula`]) of this `shape` and `curvature`. Both arguments are stiffness times slip: with slip
/// and shift, and with the shift alone. The factor is 1 without slip. The divisor is at least 0.01.
#[inline(always)]
fn reduction_factor<L: Lane, R: Real<L>>(slip_argument: R, shift_argument: R, shape: L, curvature: L) -> R {
    let reference = cosine_formula(shift_argument, shape, curvature);
    let min_reference = L::splat(0.01);
    let is_above_minimum = min_reference.less(reference.value());
    let reference = R::choose(is_above_minimum, reference, R::constant(min_reference));
    cosine_formula(slip_argument, shape, curvature) / reference
}
