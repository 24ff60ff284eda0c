//! Tyre of a wheel: one of the laws of this crate.

use crate::brush::Brush;
use crate::curve::CurveTyre;
use crate::magic_formula::MagicFormula;
use crate::tmeasy::TMeasy;
use crate::{Conditions, MIN_LOAD_N, Moments, PreparedTyre, TyreForces, TyreModel, ValueFault};

/// Tyre of a vehicle.
#[derive(Clone, Debug, PartialEq)]
pub enum Tyre {
    /// Dry friction, straight lines or a slip curve.
    Curve(CurveTyre),
    /// Brush model: bristles bend, then slide. This law has an aligning moment.
    Brush(Brush),
    /// TMeasy: a curve through named points at two loads.
    TMeasy(TMeasy),
    /// Magic Formula, with camber, pressure and all moments.
    MagicFormula {
        /// Formula as measured on the left side of a car. Each wheel states whether its tyre is mounted mirrored.
        formula: Box<MagicFormula>,
        /// Inflation pressure, N/m²; 0 for the pressure of the file.
        pressure: f32,
    },
}

impl From<CurveTyre> for Tyre {
    fn from(tyre: CurveTyre) -> Self {
        Self::Curve(tyre)
    }
}

impl Tyre {
    /// Computes the forces at the slips (κ, −tan α) under `conditions`. A pressure of 0 or less stands for the tyre's
    /// own.
    pub fn force(&self, slip: [f32; 2], conditions: &Conditions<f32>) -> TyreForces<f32> {
        self.with_prepared(*conditions, |tyre| tyre.force(slip))
    }

    /// Computes the moments at the slips (κ, −tan α) under `conditions`, N m. A pressure of 0 or less stands for the
    /// tyre's own. The moments are 0 for simple curves and TMeasy, and a brush tyre only has an aligning moment.
    pub fn moments(&self, slip: [f32; 2], conditions: &Conditions<f32>) -> Moments<f32> {
        fn evaluate_moments<M: TyreModel>(law: &M, slip: [f32; 2], conditions: &Conditions<f32>) -> Moments<f32> {
            law.moments(&law.prepare(conditions), slip)
        }
        match self {
            Self::Curve(tyre) => evaluate_moments(tyre, slip, conditions),
            Self::Brush(tyre) => evaluate_moments(tyre, slip, conditions),
            Self::TMeasy(tyre) => evaluate_moments(tyre, slip, conditions),
            Self::MagicFormula { formula, pressure } => {
                evaluate_moments(&**formula, slip, &with_default_pressure(*conditions, *pressure))
            }
        }
    }

    /// Returns the longitudinal and lateral friction coefficients of the upright tyre at `load` N, on a surface with
    /// the friction factor 1: the largest forces, each under pure slip, over the load.
    pub fn friction_at(&self, load: f32) -> [f32; 2] {
        let load = load.max(MIN_LOAD_N);
        self.with_upright(load, |tyre| tyre.limit()).map(|limit| limit / load)
    }

    /// Returns the longitudinal and lateral slopes of the force at zero slip of the upright tyre at `load` N, N per
    /// unit slip. For dry friction, returns the friction force over the slip that the sliding deflection represents.
    pub fn stiffness_at(&self, load: f32) -> [f32; 2] {
        self.with_upright(load, |tyre| tyre.stiffness())
    }

    /// Returns the longitudinal and lateral lengths over which the deflection of the patch builds up under
    /// `conditions`, m: the relaxation lengths, or the sliding deflection of dry friction. In every law, deflection
    /// over length is the slip.
    pub fn patch_lengths(&self, conditions: &Conditions<f32>) -> [f32; 2] {
        self.with_prepared(*conditions, |tyre| tyre.relaxation())
    }

    /// Returns the longitudinal and lateral friction coefficients at the nominal load of the tyre, upright and on a
    /// surface with the friction factor 1.
    pub fn nominal_friction(&self) -> [f32; 2] {
        match self {
            Self::Curve(tyre) => tyre.friction,
            Self::Brush(tyre) => tyre.friction,
            Self::TMeasy(tyre) => self.friction_at(tyre.nominal_load),
            Self::MagicFormula { formula, .. } => self.friction_at(formula.coefficients().fnomin),
        }
    }

    /// Returns the slip ratio at which the upright tyre has its largest longitudinal force at `load` N and standstill,
    /// on grip 1. `None` for dry friction, which does not creep. Simple curves have a formula, and its result can be
    /// above 1. For all other laws, searches slips from 0.0005 to 1 in steps of 0.0005, without lateral slip. Returns
    /// the smallest slip of the largest force.
    pub fn peak_slip(&self, load: f32) -> Option<f32> {
        if let Self::Curve(tyre) = self {
            return tyre.peak_slip(load);
        }
        let force = |slip: f32| self.force([slip, 0.0], &Conditions::upright(load, 0.0)).force[0];
        // Largest force, `.1`; the first of equal ones.
        let slips = (1..=2000).map(|i| i as f32 / 2000.0);
        let slip_forces = slips.map(|slip| (slip, force(slip)));
        slip_forces.reduce(|best, next| if best.1 < next.1 { next } else { best }).map(|(slip, _)| slip)
    }

    /// Returns the effective rolling radius (speed over spin) of the upright tyre, m, rolling freely under `load` N at
    /// the speed of its measurement and its own pressure; `None` for laws without a radius, that is all but the Magic
    /// Formula.
    pub fn rolling_radius(&self, load: f32) -> Option<f32> {
        let Self::MagicFormula { formula, pressure } = self else { return None };
        let speed = formula.coefficients().longvl;
        // Spin by the unloaded radius, which only affects the growth of the radius.
        let spin = speed / formula.coefficients().unloaded_radius;
        let conditions = with_default_pressure(Conditions::upright(load, speed), *pressure);
        // Without forces.
        Some(formula.radii(&conditions, spin, [0.0; 2]).effective)
    }

    /// Returns true if the tyre creeps while rolling. Dry friction holds by its deflection alone.
    pub fn has_deflection_dynamics(&self) -> bool {
        !matches!(self, Self::Curve(tyre) if tyre.is_dry_friction())
    }

    /// Returns every value that the law does not accept, or an empty list. The coefficients of a Magic Formula were
    /// checked when it was built; here only its pressure is, which must be finite and at least 0.
    pub fn faults(&self) -> Vec<ValueFault> {
        match self {
            Self::Curve(tyre) => tyre.faults(),
            Self::Brush(tyre) => tyre.faults(),
            Self::TMeasy(tyre) => tyre.faults(),
            Self::MagicFormula { pressure, .. } if *pressure >= 0.0 && pressure.is_finite() => Vec::new(),
            Self::MagicFormula { pressure, .. } => {
                vec![ValueFault { name: "pressure", found: *pressure, accepts: "a pressure above 0, or 0" }]
            }
        }
    }

    /// Calls `query` with the upright tyre under `load` N at rest, with grip 1 and its own pressure, and returns the
    /// result.
    fn with_upright<R>(&self, load: f32, query: impl FnOnce(&dyn PreparedTyre<f32>) -> R) -> R {
        self.with_prepared(Conditions::upright(load, 0.0), query)
    }

    /// Calls `query` once with the tyre prepared for `conditions` and returns the result. For a Magic Formula, a
    /// pressure of 0 or less in `conditions` is replaced by the pressure of this tyre.
    fn with_prepared<R>(&self, conditions: Conditions<f32>, query: impl FnOnce(&dyn PreparedTyre<f32>) -> R) -> R {
        match self {
            Self::Curve(tyre) => query(&tyre.prepare(&conditions)),
            Self::Brush(tyre) => query(&tyre.prepare(&conditions)),
            Self::TMeasy(tyre) => query(&tyre.prepare(&conditions)),
            Self::MagicFormula { formula, pressure } => {
                query(&formula.prepare(&with_default_pressure(conditions, *pressure)))
            }
        }
    }
}

/// Returns `conditions`, with the tyre's own `pressure` if they state none.
fn with_default_pressure(conditions: Conditions<f32>, pressure: f32) -> Conditions<f32> {
    if conditions.pressure > 0.0 { conditions } else { Conditions { pressure, ..conditions } }
}
