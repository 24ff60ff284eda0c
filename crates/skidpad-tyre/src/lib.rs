//! Tyre force laws with known closed-form results: simple curves ([`CurveTyre`]), Magic Formula ([`MagicFormula`]),
//! brush model ([`Brush`]) and TMeasy ([`TMeasy`]). Each law evaluates one tyre, or several tyres in SIMD lanes
//! ([`Lane`]).
//!
//! The inputs of a law are slip, load, surface grip, camber, pressure and speed. The outputs are forces and their
//! slopes, moments, friction limits and relaxation lengths. A law has no state: the solvers integrate the lag of the
//! contact patch.
//!
//! ```
//! use skidpad_tyre::{Brush, Conditions, PreparedTyre, TyreModel};
//!
//! let tyre = Brush {
//!     bristle_stiffness: [8e6, 6e6], // longitudinal and lateral, N/m²
//!     half_length: 0.06,             // of the contact patch, m
//!     friction: [1.1, 1.0],
//!     load_sensitivity: 0.1,
//!     nominal_load: 4000.0, // N
//! };
//! assert!(tyre.faults().is_empty());
//! // Everything that does not depend on slip: 3 kN of load at 20 m/s.
//! let prepared = tyre.prepare(&Conditions::upright(3000.0_f32, 20.0));
//! // Slip ratio 0.02, and −tan(slip angle) 0.05.
//! let forces = prepared.force([0.02, 0.05]);
//! assert!(forces.force[0] > 0.0 && forces.force[1] > 0.0);
//! assert!(forces.force[1] < prepared.limit()[1]);
//! ```
//!
//! # Axes and signs
//! The axes and signs are those of the whole project and of `.tir` files (TYDEX W axes with ISO signs), so values of
//! these files need no conversion.
//! - x points along the wheel's heading, y to the left, z up. The origin is the contact point. Forces and moments act
//!   on the tyre.
//! - Slip ratio κ = (ω Re − Vx) / |Vx|: positive while driving, −1 for a locked wheel that moves forwards.
//! - Slip angle α: tan α = Vy / |Vx|, positive when the contact point moves to the left. A positive α produces a
//!   negative force. Laws take [`Conditions`] and the *slips* (κ, −tan α), so each force has the sign of its slip. The
//!   Magic Formula needs the angle and computes α = −atan(lateral slip).
//! - Camber γ: rotation about x, positive with the top leaning right. A positive γ produces a negative force.
//! - Mz: positive turns to the left. Mz is positive at a positive slip angle, where the pneumatic trail makes it
//!   self-aligning.
//!
//! # Guarantees
//! Every law
//! - returns finite results for every input: NaN, zero, negative or infinite load, zero or infinite slip, standstill
//!   and backward rolling;
//! - is differentiable at zero slip and returns exact slopes: simple curves by formula, the other laws by forward-mode
//!   differentiation ([`Dual`]);
//! - clamps slip to its valid range, and load, camber and pressure if the law depends on them. Outside the range of
//!   loads, measured laws (Magic Formula, TMeasy) scale forces in proportion to load (constant friction). The friction
//!   limit of simple curves and of the brush model is constant above the load at which load sensitivity makes it
//!   largest;
//! - does not allocate and does not panic.
#![forbid(unsafe_code)]

mod brush;
pub mod curve;
mod dual;
pub mod friction_ellipse;
pub mod functions;
pub mod magic_formula;
pub mod parameters;
pub mod tmeasy;

pub use brush::{Brush, PreparedBrush};
pub use curve::{CurveLaw, CurveTyre, PreparedCurve};
pub use dual::{Dual, Real};
pub use magic_formula::{MagicFormula, PreparedMagicFormula};
pub use tmeasy::{DirectionCurve, PreparedTMeasy, TMeasy};

pub use skidpad_simd::lane::Lane;

/// Maximum slip that the deflection of a contact patch represents. A larger deflection is scaled down and keeps its
/// direction.
pub const MAX_SLIP: f32 = 10.0;

/// Operating conditions of a tyre, except slip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions<L> {
    /// Load, N. The tyre transmits no force if it is 0 or negative.
    pub load: L,
    /// Friction of the surface over the friction of the surface of the tyre's measurement, –, ≥ 0.
    pub grip: L,
    /// Camber, rad, positive with the top leaning right.
    pub camber: L,
    /// Speed of the wheel centre along the heading, m/s, negative backwards.
    pub speed: L,
    /// Inflation pressure, N/m². The tyre's own pressure applies if it is 0 or negative.
    pub pressure: L,
}

impl<L: Lane> Conditions<L> {
    /// Returns the conditions of an upright tyre under `load` N at `speed` m/s, with grip 1 and the tyre's own
    /// pressure.
    pub fn upright(load: L, speed: L) -> Self {
        let zero = L::splat(0.0);
        Self { load, grip: L::splat(1.0), camber: zero, speed, pressure: zero }
    }
}

/// Tyre forces at a slip, with the slope of each force over its own slip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TyreForces<L> {
    /// Forces Fx and Fy, N.
    pub force: [L; 2],
    /// Slopes ∂Fx/∂κ and ∂Fy/∂(−tan α), N per unit slip. They are negative past the peak, except for simple curves,
    /// whose slopes are at least 0.
    pub slope: [L; 2],
}

/// Moments at the contact point, N m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments<L> {
    /// Overturning moment Mx. A positive moment leans the top to the right.
    pub overturning: L,
    /// Rolling resistance moment My, negative while rolling forwards.
    pub rolling: L,
    /// Aligning moment Mz. A positive moment turns to the left.
    pub aligning: L,
}

/// Tyre force law.
pub trait TyreModel {
    /// Tyre under given conditions.
    type Prepared<L: Lane>: PreparedTyre<L>;

    /// Computes everything that does not depend on slip for the tyre under `conditions`. The result can be evaluated at
    /// any number of slips.
    fn prepare<L: Lane>(&self, conditions: &Conditions<L>) -> Self::Prepared<L>;

    /// Returns the moments at the slips (κ, −tan α) of the prepared tyre. Default: 0, for laws without moments.
    fn moments<L: Lane>(&self, _prepared: &Self::Prepared<L>, _slip: [L; 2]) -> Moments<L> {
        Moments::default()
    }

    /// Returns the magnitude of the rolling resistance moment of a rolling tyre, N m, ≥ 0. The moment also holds a
    /// wheel at rest, up to this magnitude. Default: 0.
    fn rolling_resistance<L: Lane>(&self, _prepared: &Self::Prepared<L>, _slip: [L; 2]) -> L {
        L::splat(0.0)
    }
}

/// Tyre under given conditions, ready to be evaluated at any slip.
pub trait PreparedTyre<L> {
    /// Returns the forces at the slips (κ, −tan α), with their slopes.
    fn force(&self, slip: [L; 2]) -> TyreForces<L>;

    /// Returns the slopes of the longitudinal and the lateral curve at their zero crossings, N per unit slip, ≥ 0. The
    /// crossings are at zero slip, except for a Magic Formula with shifts.
    fn stiffness(&self) -> [L; 2];

    /// Returns the largest longitudinal and lateral forces, each under pure slip, N, ≥ 0.
    fn limit(&self) -> [L; 2];

    /// Returns the longitudinal and lateral relaxation lengths, m, > 0.
    fn relaxation(&self) -> [L; 2];
}

/// Value of a tyre parameter that is not accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueFault {
    /// Name of the coefficient in `.tir` files, or of the field.
    pub name: &'static str,
    /// Value in SI units; NaN if it was not stated.
    pub found: f32,
    /// Accepted values, as a text.
    pub accepts: &'static str,
}

impl std::fmt::Display for ValueFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is {}, but must be {}", self.name, self.found, self.accepts)
    }
}

impl std::error::Error for ValueFault {}

/// Adds a fault to `faults` unless `is_accepted` is true.
fn add_fault_unless(
    faults: &mut Vec<ValueFault>,
    is_accepted: bool,
    name: &'static str,
    found: f32,
    accepts: &'static str,
) {
    if !is_accepted {
        faults.push(ValueFault { name, found, accepts });
    }
}

/// Minimum relaxation length, m. The relaxation lengths of measured tyres vanish with load, and a step divides by them.
pub const MIN_RELAXATION_LENGTH_M: f32 = 0.01;

/// Minimum relaxation length, and minimum sliding deflection, of a valid tyre, m. f32 cannot resolve the carcass rates
/// of shorter lengths.
const MIN_LENGTH_M: f32 = 1e-5;

/// Minimum load at which friction and relaxation lengths are evaluated, N. At lower loads, forces are proportional to
/// load, which avoids a division by zero.
const MIN_LOAD_N: f32 = 1.0;

/// Minimum grip at which a tyre is evaluated. Below it the forces are scaled down in proportion, so that stiffness over
/// friction stays finite.
const MIN_GRIP: f32 = 1e-3;

/// Returns the load over the nominal load at which the friction limit is largest, for the load `sensitivity` s;
/// infinite for s ≤ 0. Relative to its value at the nominal load, the limit is `N (1 − s (N − 1))` with the load N over
/// the nominal load. Beyond its maximum it would fall, so that a tyre would gain grip when its load decreases. Laws
/// therefore keep the limit constant above this load.
///
/// [`friction_ratio`] evaluates the limit.
pub fn peak_friction_load(sensitivity: f32) -> f32 {
    if sensitivity > 0.0 { (1.0 + sensitivity) / (2.0 * sensitivity) } else { f32::INFINITY }
}

/// Returns the friction coefficient over the nominal one, `(1 − sensitivity · excess) · clamped_share`. The load is
/// clamped to [`peak_friction_load`]. `excess` is the clamped load minus the nominal load, over the nominal load.
/// `clamped_share` is the clamped load over the actual load.
#[inline(always)]
pub fn friction_ratio<L: Lane>(sensitivity: L, excess: L, clamped_share: L) -> L {
    (L::splat(1.0) - sensitivity * excess) * clamped_share
}
