//! The tyre of a wheel: one of the laws of [`crate::tyre`].

use crate::tyre::brush::Brush;
use crate::tyre::curve::CurveTyre;
use crate::tyre::magic_formula::MagicFormula;
use crate::tyre::tmeasy::TMeasy;
use crate::tyre::{Conditions, LEAST_LOAD, Moments, PreparedTyre, Response, TyreModel, ValueFault};

/// A tyre of a vehicle.
#[derive(Clone, Debug, PartialEq)]
pub enum Tyre {
    /// Dry friction, straight lines or a slip curve.
    Curve(CurveTyre),
    /// Bristles that bend, then slide; with an aligning moment.
    Brush(Brush),
    /// A curve through named points at two loads.
    TMeasy(TMeasy),
    /// Magic Formula, with camber, pressure and all moments.
    MagicFormula {
        /// As measured on the left of a car; wheels say whether it is mounted the other way round.
        formula: Box<MagicFormula>,
        /// Inflation pressure, N/m²; 0: the one of the file.
        pressure: f32,
    },
}

impl From<CurveTyre> for Tyre {
    fn from(tyre: CurveTyre) -> Self {
        Self::Curve(tyre)
    }
}

impl Tyre {
    /// Force at the slips (κ, −tan α) under `conditions`; their pressure counts only where it is above 0.
    pub fn force(&self, slip: [f32; 2], conditions: &Conditions<f32>) -> Response<f32> {
        self.under(*conditions, |tyre| tyre.force(slip))
    }

    /// Moments at the slips (κ, −tan α) under `conditions`; see [`Tyre::force`].
    pub fn moments(&self, slip: [f32; 2], conditions: &Conditions<f32>) -> Moments<f32> {
        fn of<M: TyreModel>(law: &M, slip: [f32; 2], conditions: &Conditions<f32>) -> Moments<f32> {
            law.moments(&law.prepare(conditions), slip)
        }
        match self {
            Self::Curve(tyre) => of(tyre, slip, conditions),
            Self::Brush(tyre) => of(tyre, slip, conditions),
            Self::TMeasy(tyre) => of(tyre, slip, conditions),
            Self::MagicFormula { formula, pressure } => of(&**formula, slip, &inflated(*conditions, *pressure)),
        }
    }

    /// Friction coefficients along and across at `load` N of the upright tyre on a surface with factor 1: the largest
    /// forces of each direction alone, over the load.
    pub fn friction_at(&self, load: f32) -> [f32; 2] {
        let load = load.max(LEAST_LOAD);
        self.upright(load, |tyre| tyre.limit()).map(|limit| limit / load)
    }

    /// Slopes of the force at no slip along and across of the upright tyre at `load` N, N per unit slip; of dry friction,
    /// the friction over the slip that its sliding deflection stands for.
    pub fn stiffness_at(&self, load: f32) -> [f32; 2] {
        self.upright(load, |tyre| tyre.stiffness())
    }

    /// Lengths along and across over which the deflection of the patch builds up under `conditions`, m: relaxation lengths,
    /// or the sliding deflection of dry friction. Deflection over length is the slip in every law.
    pub fn lengths(&self, conditions: &Conditions<f32>) -> [f32; 2] {
        self.under(*conditions, |tyre| tyre.relaxation())
    }

    /// Friction coefficients along and across at the load its description is about.
    pub fn nominal_friction(&self) -> [f32; 2] {
        match self {
            Self::Curve(tyre) => tyre.friction,
            Self::Brush(tyre) => tyre.friction,
            Self::TMeasy(tyre) => self.friction_at(tyre.nominal_load),
            Self::MagicFormula { formula, .. } => self.friction_at(formula.coefficients().fnomin),
        }
    }

    /// Slip ratio at which the upright tyre first pulls most at `load` N; `None` for dry friction, which does not creep.
    /// Found in steps of 0.0005 up to 1, but for simple curves, which state it.
    pub fn peak_slip(&self, load: f32) -> Option<f32> {
        if let Self::Curve(tyre) = self {
            return tyre.peak_slip(load);
        }
        let force = |slip: f32| self.force([slip, 0.0], &Conditions::upright(load, 0.0)).force[0];
        let slips = (1..=2000).map(|i| i as f32 / 2000.0);
        let rising = slips.map(|slip| (slip, force(slip)));
        rising.reduce(|best, next| if best.1 < next.1 { next } else { best }).map(|(slip, _)| slip)
    }

    /// Speed over spin of the upright tyre that rolls freely under `load` N as fast as it was measured, m; `None` for laws that
    /// know no radius of their own.
    pub fn rolling_radius(&self, load: f32) -> Option<f32> {
        let Self::MagicFormula { formula, pressure } = self else { return None };
        let speed = formula.coefficients().longvl;
        let spin = speed / formula.coefficients().unloaded_radius;
        let conditions = inflated(Conditions::upright(load, speed), *pressure);
        Some(formula.radii(&conditions, spin, [0.0; 2]).effective)
    }

    /// Whether it creeps while rolling; dry friction holds by its deflection alone.
    pub fn creeps(&self) -> bool {
        !matches!(self, Self::Curve(tyre) if tyre.holds())
    }

    /// Everything that is not as the law wants it.
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

    fn upright<R>(&self, load: f32, ask: impl FnOnce(&dyn PreparedTyre<f32>) -> R) -> R {
        self.under(Conditions::upright(load, 0.0), ask)
    }

    fn under<R>(&self, conditions: Conditions<f32>, ask: impl FnOnce(&dyn PreparedTyre<f32>) -> R) -> R {
        match self {
            Self::Curve(tyre) => ask(&tyre.prepare(&conditions)),
            Self::Brush(tyre) => ask(&tyre.prepare(&conditions)),
            Self::TMeasy(tyre) => ask(&tyre.prepare(&conditions)),
            Self::MagicFormula { formula, pressure } => ask(&formula.prepare(&inflated(conditions, *pressure))),
        }
    }
}

/// `conditions` with the tyre's own `pressure` where they state none.
fn inflated(conditions: Conditions<f32>, pressure: f32) -> Conditions<f32> {
    if conditions.pressure > 0.0 { conditions } else { Conditions { pressure, ..conditions } }
}
