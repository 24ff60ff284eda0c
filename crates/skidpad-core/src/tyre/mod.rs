//! Tyre laws with their known answers: simple curves ([`CurveTyre`]), Magic Formula ([`MagicFormula`]), brush ([`Brush`]) and TMeasy ([`TMeasy`]), for
//! one tyre or several at a time ([`Lane`]).
//!
//! Here: slip, load, camber, pressure and speed in, forces, their slopes, moments, limits and lengths out. Not here:
//! the contact patch that lags behind, files, and who calls these laws.
//!
//! # Axes and signs
//! Those of the whole project, which are also those of `.tir` files (TYDEX W with ISO signs), so nothing is converted
//! on the way in:
//! - x along the wheel's heading, y left, z up, at the contact point. Forces and moments act on the tyre.
//! - Slip ratio κ = (ω Re − Vx) / |Vx|: positive drives, −1 is a locked wheel rolling forwards.
//! - Slip angle α: tan α = Vy / |Vx|: positive when the contact point moves to the left; gives a negative force. Laws
//!   take [`Conditions`] and the *slips* (κ, −tan α), so that each force has the sign of its slip. This is the one
//!   place where the formula's α is made: α = −atan(slip across).
//! - Camber γ: rotation about x, positive with the top leaning right; gives a negative force.
//! - Mz positive turns to the left: it is positive at a positive slip angle, where the trail makes it self-aligning.
//!
//! # Every law
//! - is finite for every input, NaN included: none, negative or endless load, no or endless slip, standing or rolling
//!   backwards;
//! - is differentiable at zero slip, and gives exact slopes: simple curves by formula, the others by carrying them along ([`Dual`]);
//! - holds slip in the range it is good for, and load, camber and pressure where it depends on them. Beyond the range of loads measured
//!   laws (Magic Formula, TMeasy) scale forces in proportion to load (constant friction); simple curves and the brush give no more friction
//!   from the load on at which their load sensitivity lets them give most;
//! - neither allocates nor panics.

mod brush;
mod compliance;
pub(crate) mod curve;
mod deflection;
mod dual;
pub(crate) mod friction_ellipse;
pub mod functions;
pub(crate) mod grip;
pub(crate) mod laws;
pub mod magic_formula;
pub(crate) mod parameters;
pub(crate) mod rows;
pub(crate) mod tmeasy;

pub use brush::{Brush, PreparedBrush};
pub use curve::{CurveLaw, CurveTyre, PreparedCurve};
pub use dual::{Dual, Real};
pub use magic_formula::{MagicFormula, PreparedMagicFormula};
pub use tmeasy::{Direction, PreparedTMeasy, TMeasy};

use crate::lane::Lane;

/// Largest slip that the deflection of a patch stands for; beyond, only its direction is kept.
pub(crate) const LARGEST_SLIP: f32 = 10.0;

/// What a tyre runs under, beside slip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions<L> {
    /// Load, N; nothing is transmitted at 0 and below.
    pub load: L,
    /// Friction of the surface over that of the tyre's measurement, –, ≥ 0.
    pub grip: L,
    /// Camber, rad, positive with the top leaning right.
    pub camber: L,
    /// Speed of the wheel centre along the heading, m/s, negative backwards.
    pub speed: L,
    /// Inflation pressure, N/m²; 0 and below mean the tyre's own.
    pub pressure: L,
}

impl<L: Lane> Conditions<L> {
    /// An upright tyre at its own pressure under `load` N on a surface as measured, at `speed` m/s.
    pub fn upright(load: L, speed: L) -> Self {
        let zero = L::splat(0.0);
        Self { load, grip: L::splat(1.0), camber: zero, speed, pressure: zero }
    }
}

/// Forces at a slip, and how each changes with its own slip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Response<L> {
    /// Fx and Fy, N.
    pub force: [L; 2],
    /// ∂Fx/∂κ and ∂Fy/∂(−tan α), N per unit slip; negative past the peak but for simple curves, which have 0 there.
    pub slope: [L; 2],
}

/// Moments at the contact point, N m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments<L> {
    /// Mx, overturning: positive leans the top to the right.
    pub overturning: L,
    /// My, rolling resistance: negative while rolling forwards.
    pub rolling: L,
    /// Mz, aligning: positive turns to the left.
    pub aligning: L,
}

/// A law of tyre forces.
pub trait TyreModel {
    /// The tyre under conditions.
    type Prepared<L: Lane>: PreparedTyre<L>;

    /// The tyre under `conditions`: everything that does not depend on slip, to be computed once.
    fn prepare<L: Lane>(&self, conditions: &Conditions<L>) -> Self::Prepared<L>;

    /// Moments at the slips (κ, −tan α) of the tyre `at` conditions; a law that knows none has none.
    fn moments<L: Lane>(&self, _at: &Self::Prepared<L>, _slip: [L; 2]) -> Moments<L> {
        Moments::default()
    }

    /// Size of the moment that rolling resistance has while the tyre rolls, N m, ≥ 0: a wheel that stands is held by up
    /// to it.
    fn rolling_resistance<L: Lane>(&self, _at: &Self::Prepared<L>, _slip: [L; 2]) -> L {
        L::splat(0.0)
    }
}

/// A tyre under given conditions.
pub trait PreparedTyre<L> {
    /// Forces at the slips (κ, −tan α), with slopes.
    fn force(&self, slip: [L; 2]) -> Response<L>;

    /// Slopes of the two curves where they cross their own zero, N per unit slip, ≥ 0: at zero slip but for the shifts
    /// of a Magic Formula.
    fn stiffness(&self) -> [L; 2];

    /// Largest forces along and across, each alone, N, ≥ 0.
    fn limit(&self) -> [L; 2];

    /// Relaxation lengths along and across, m, > 0.
    fn relaxation(&self) -> [L; 2];
}

/// A number a tyre cannot be made of.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueFault {
    /// What it is called: in `.tir` files, or the field's name.
    pub name: &'static str,
    /// Its value, SI; NaN when it was not stated.
    pub found: f32,
    /// What would be accepted.
    pub accepts: &'static str,
}

impl std::fmt::Display for ValueFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is {}, but must be {}", self.name, self.found, self.accepts)
    }
}

impl std::error::Error for ValueFault {}

/// Adds a fault unless `fine`.
fn demand(faults: &mut Vec<ValueFault>, fine: bool, name: &'static str, found: f32, accepts: &'static str) {
    if !fine {
        faults.push(ValueFault { name, found, accepts });
    }
}

/// Shortest relaxation length, m. Lengths of measured tyres vanish with load; a step divides by them.
pub const LEAST_RELAXATION: f32 = 0.01;

/// Shortest relaxation length, and shortest sliding deflection, of a valid tyre, m: a hundredth of a millimetre. Of still shorter ones the rates
/// of carcasses are beyond what numbers of 32 bits solve.
const LEAST_LENGTH: f32 = 1e-5;

/// Load below which friction and lengths are those at it, N, and forces in proportion to load: nothing is divided by no load.
const LEAST_LOAD: f32 = 1.0;

/// A tyre on a surface with less grip than this is one on this grip, scaled down: stiffness over friction stays finite.
const LEAST_GRIP: f32 = 1e-3;

/// Load, over the nominal one, from which a tyre of this load sensitivity grips no more: the limit `N (1 − s (N − 1))` would fall
/// with the load beyond, and a tyre that is let go would grip more.
///
/// [`friction_share`] is the law; a step has it per load impulse, as [`rows::TyreRows::unloaded_share`] less
/// [`rows::TyreRows::sensitivity`] times that.
pub(crate) fn most_load(sensitivity: f32) -> f32 {
    if sensitivity > 0.0 { (1.0 + sensitivity) / (2.0 * sensitivity) } else { f32::INFINITY }
}

/// Friction coefficient over the nominal one under a load that is `excess` nominal loads above the nominal one, of which a share `held`
/// counts: the rest is beyond [`most_load`].
#[inline(always)]
pub(crate) fn friction_share<L: Lane>(sensitivity: L, excess: L, held: L) -> L {
    (L::splat(1.0) - sensitivity * excess) * held
}
