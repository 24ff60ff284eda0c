//! Simple curves of force over slip, similar at every load: dry friction, straight lines, a slip curve.

use std::borrow::Borrow;

use super::{Conditions, LEAST_FRICTION_SHARE, LEAST_GRIP, Response, TyreAt, TyreModel, ValueFault, demand};
use crate::lane::{Four, Lane};

/// How the force of a tyre grows with slip. Index 0 is along the rolling direction, 1 across it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CurveLaw {
    /// Dry friction: holds by the deflection of the patch alone, no creep while rolling.
    Coulomb {
        /// Deflection of the patch at which it slides, m, > 0.
        deflection: f32,
    },
    /// Linear in slip up to the friction limit, then flat.
    Linear {
        /// Force per unit slip (κ, or rad of slip angle), N, > 0.
        stiffness: [f32; 2],
    },
    /// Linear in slip up to the friction limit, with a stiffness proportional to load.
    LinearPerLoad {
        /// Force per unit slip and unit load, –, > 0.
        stiffness: [f32; 2],
    },
    /// Rises to an extremum, falls to an asymptote (Unity's `WheelFrictionCurve`): a parabola, then a cubic, both with
    /// zero slope where they meet. The extremum is the tyre's friction.
    SlipCurve {
        /// Slip of the extremum, > 0.
        extremum_slip: [f32; 2],
        /// Slip from which the force is constant, above the extremum's.
        asymptote_slip: [f32; 2],
        /// Force at and beyond `asymptote_slip` as a share of the extremum, in (0, 1].
        asymptote: [f32; 2],
    },
}

/// A tyre with a simple curve: friction, law, and the relaxation of its contact patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveTyre {
    /// Force against slip.
    pub law: CurveLaw,
    /// Peak friction coefficient along and across, > 0, at the nominal load.
    pub friction: [f32; 2],
    /// Relative loss of friction per relative excess of load, in [0, 1).
    pub load_sensitivity: f32,
    /// Load at which `friction` holds, N, > 0.
    pub nominal_load: f32,
    /// Relaxation length along and across, m, > 0. Not used by Coulomb tyres.
    pub relaxation: [f32; 2],
}

/// What the laws of [`CurveLaw`] share once the load is known: a limit, a stiffness and a shape between them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CurveConstants<L> {
    pub friction: [L; 2],
    pub load_sensitivity: L,
    pub nominal_load: L,
    /// See [`CurveTyre::lengths`].
    pub lengths: [L; 2],
    /// 1 where rolling renews the patch, 0 for Coulomb tyres, which hold without creep.
    relaxes: L,
    /// Slip stiffness: `fixed + per_load · load + per_limit · limit`, N per unit slip.
    fixed: [L; 2],
    per_load: [L; 2],
    per_limit: [L; 2],
    /// 1 for a slip curve, 0 for a straight line up to the limit.
    curved: L,
    /// Slip of the extremum of a slip curve.
    extremum: [L; 2],
    /// Normalised slip at which the asymptote begins, > 1, and its share of the extremum.
    end: [L; 2],
    asymptote: [L; 2],
}

/// A tyre at one load and surface; `C` holds its constants, or refers to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurvePoint<L, C> {
    /// Largest force, N.
    limit: [L; 2],
    /// Slope at zero slip, N per unit slip.
    pub stiffness: [L; 2],
    /// Slip that counts as 1 in the similarity.
    reference: [L; 2],
    tyre: C,
}

/// A tyre with a simple curve under given conditions.
#[derive(Clone, Copy, Debug)]
pub struct CurveAt<L> {
    point: CurvePoint<L, CurveConstants<L>>,
    /// What no load and no grip leave of its forces.
    share: L,
}

/// Normalised slip from which the force starts to turn from the elastic direction to the direction of sliding, and
/// from which it has turned. Between adhesion (1) and full sliding, where friction opposes the sliding velocity.
const TURN_TO_SLIDING: [f32; 2] = [1.0, 2.0];

/// Normalised slip below which a force is its stiffness times the slip, so that no direction is divided by nothing.
const LEAST_SLIP: f32 = 1e-9;

/// A tyre under less load than this, N, is one under it, scaled down.
const LEAST_LOAD: f32 = 1.0;

impl CurveTyre {
    /// Length over which the deflection of the patch builds up, m: the relaxation lengths, or the sliding deflection of
    /// a Coulomb tyre, so that deflection / length is the slip in every law.
    pub fn lengths(&self) -> [f32; 2] {
        match self.law {
            CurveLaw::Coulomb { deflection } => [deflection; 2],
            _ => self.relaxation,
        }
    }

    /// Slip ratio from which it pulls most at `load` N; `None` for dry friction.
    pub(crate) fn peak_slip(&self, load: f32) -> Option<f32> {
        (!self.holds()).then(|| self.constants().at(load, 1.0).reference[0])
    }

    /// Whether it is dry friction, which holds without creep.
    pub fn holds(&self) -> bool {
        matches!(self.law, CurveLaw::Coulomb { .. })
    }

    pub(crate) fn constants(&self) -> CurveConstants<f32> {
        let all = CurveConstants {
            friction: self.friction,
            load_sensitivity: self.load_sensitivity,
            nominal_load: self.nominal_load,
            lengths: self.lengths(),
            relaxes: 1.0,
            end: [2.0; 2],
            asymptote: [1.0; 2],
            ..CurveConstants::default()
        };
        match self.law {
            CurveLaw::Coulomb { .. } => CurveConstants { relaxes: 0.0, per_limit: [1.0; 2], ..all },
            CurveLaw::Linear { stiffness } => CurveConstants { fixed: stiffness, ..all },
            CurveLaw::LinearPerLoad { stiffness } => CurveConstants { per_load: stiffness, ..all },
            CurveLaw::SlipCurve { extremum_slip, asymptote_slip, asymptote } => CurveConstants {
                per_limit: extremum_slip.map(|slip| 2.0 / slip),
                curved: 1.0,
                extremum: extremum_slip,
                end: [asymptote_slip[0] / extremum_slip[0], asymptote_slip[1] / extremum_slip[1]],
                asymptote,
                ..all
            },
        }
    }

    /// Everything that is not as the fields say; results are finite for a tyre without faults.
    pub fn faults(&self) -> Vec<ValueFault> {
        let mut faults = Vec::new();
        let mut positive = |name, value: f32| {
            demand(&mut faults, value > 0.0 && value.is_finite(), name, value, "a finite number above 0");
        };
        positive("nominal_load", self.nominal_load);
        positive("1 - load_sensitivity", 1.0 - self.load_sensitivity);
        positive("1 + load_sensitivity", 1.0 + self.load_sensitivity);
        for i in [0, 1] {
            positive("friction", self.friction[i]);
            positive("relaxation", self.relaxation[i]);
            match self.law {
                CurveLaw::Coulomb { deflection } => positive("deflection", deflection),
                CurveLaw::Linear { stiffness } | CurveLaw::LinearPerLoad { stiffness } => {
                    positive("stiffness", stiffness[i]);
                }
                CurveLaw::SlipCurve { extremum_slip, asymptote_slip, asymptote } => {
                    positive("extremum_slip", extremum_slip[i]);
                    positive("asymptote_slip - extremum_slip", asymptote_slip[i] - extremum_slip[i]);
                    positive("asymptote", asymptote[i]);
                }
            }
        }
        faults
    }
}

impl TyreModel for CurveTyre {
    type At<L: Lane> = CurveAt<L>;

    /// Camber, speed and pressure have no effect.
    fn at<L: Lane>(&self, conditions: &Conditions<L>) -> CurveAt<L> {
        let s = L::splat;
        let constants = self.constants().splat();
        let load = conditions.load.within(s(LEAST_LOAD), s(1e9));
        let grip = conditions.grip.within(s(LEAST_GRIP), s(1e3));
        let CurvePoint { limit, stiffness, reference, .. } = constants.at(load, grip);
        // With numbers that are none as 0.
        let slight = conditions.load.at_least(s(0.0)).less(load) | conditions.grip.at_least(s(0.0)).less(grip);
        let mut share = s(1.0);
        if L::any(slight) {
            share = conditions.load.within(s(0.0), load) / load * (conditions.grip.within(s(0.0), grip) / grip);
        }
        CurveAt { point: CurvePoint { limit, stiffness, reference, tyre: constants }, share }
    }
}

impl<L: Lane> TyreAt<L> for CurveAt<L> {
    fn force(&self, slip: [L; 2]) -> Response<L> {
        let Response { force, slope } = self.point.force(slip.map(|slip| slip.within(L::splat(-1e4), L::splat(1e4))));
        Response { force: force.map(|f| f * self.share), slope: slope.map(|slope| slope * self.share) }
    }

    fn stiffness(&self) -> [L; 2] {
        self.point.stiffness.map(|stiffness| stiffness * self.share)
    }

    fn limit(&self) -> [L; 2] {
        self.point.limit.map(|limit| limit * self.share)
    }

    /// The stated lengths, or the sliding deflection of dry friction.
    fn relaxation(&self) -> [L; 2] {
        self.point.tyre.lengths
    }
}

impl CurveConstants<f32> {
    /// The same tyre in every lane.
    fn splat<L: Lane>(&self) -> CurveConstants<L> {
        let both = |values: [f32; 2]| values.map(L::splat);
        CurveConstants {
            friction: both(self.friction),
            load_sensitivity: L::splat(self.load_sensitivity),
            nominal_load: L::splat(self.nominal_load),
            lengths: both(self.lengths),
            relaxes: L::splat(self.relaxes),
            fixed: both(self.fixed),
            per_load: both(self.per_load),
            per_limit: both(self.per_limit),
            curved: L::splat(self.curved),
            extremum: both(self.extremum),
            end: both(self.end),
            asymptote: both(self.asymptote),
        }
    }
}

impl CurveConstants<Four> {
    /// Four tyres side by side.
    pub fn side_by_side(tyres: [CurveConstants<f32>; 4]) -> Self {
        let one = |of: fn(&CurveConstants<f32>) -> f32| Four::new([0, 1, 2, 3].map(|k| of(&tyres[k])));
        let both = |of: fn(&CurveConstants<f32>) -> [f32; 2]| {
            [0, 1].map(|i| Four::new([0, 1, 2, 3].map(|k| of(&tyres[k])[i])))
        };
        Self {
            friction: both(|t| t.friction),
            load_sensitivity: one(|t| t.load_sensitivity),
            nominal_load: one(|t| t.nominal_load),
            lengths: both(|t| t.lengths),
            relaxes: one(|t| t.relaxes),
            fixed: both(|t| t.fixed),
            per_load: both(|t| t.per_load),
            per_limit: both(|t| t.per_limit),
            curved: one(|t| t.curved),
            extremum: both(|t| t.extremum),
            end: both(|t| t.end),
            asymptote: both(|t| t.asymptote),
        }
    }
}

impl<L: Lane> CurveConstants<L> {
    /// Where rolling renews the patch.
    #[inline(always)]
    pub fn relaxes(&self) -> L::Mask {
        L::splat(0.0).less(self.relaxes)
    }

    /// Friction coefficients at `load` N.
    #[inline(always)]
    pub fn friction_at(&self, load: L) -> [L; 2] {
        let excess = (load - self.nominal_load) / self.nominal_load;
        let share = (L::splat(1.0) - self.load_sensitivity * excess).at_least(L::splat(LEAST_FRICTION_SHARE));
        self.friction.map(|mu| mu * share)
    }

    /// The tyre at `load` N, > 0, on a surface with factor `grip`, > 0.
    #[inline(always)]
    pub fn at(&self, load: L, grip: L) -> CurvePoint<L, &Self> {
        let limit = self.friction_at(load).map(|mu| mu * load * grip);
        let curved = L::splat(0.0).less(self.curved);
        let stiffness = [0, 1].map(|i| self.fixed[i] + self.per_load[i] * load + self.per_limit[i] * limit[i]);
        let reference = if L::any(!curved) {
            [0, 1].map(|i| L::select(curved, self.extremum[i], limit[i] / stiffness[i]))
        } else {
            self.extremum
        };
        CurvePoint { limit, stiffness, reference, tyre: self }
    }
}

impl<L: Lane, C: Borrow<CurveConstants<L>>> CurvePoint<L, C> {
    /// Similarity: both slips are scaled by their reference, the pure curves are read at the common magnitude, and the
    /// force points along the scaled slip in adhesion and along the slip itself in full sliding.
    #[inline(always)]
    pub fn force(&self, slip: [L; 2]) -> Response<L> {
        let scaled = [slip[0] / self.reference[0], slip[1] / self.reference[1]];
        let magnitude = (scaled[0] * scaled[0] + scaled[1] * scaled[1]).sqrt();
        let slight = magnitude.less(L::splat(LEAST_SLIP));
        let magnitude = L::select(slight, L::splat(1.0), magnitude);
        let direction = self.direction(slip, scaled, magnitude);
        let mut result = Response::default();
        for i in [0, 1] {
            let (share, rise) = self.shape(magnitude, i);
            let along = direction[i] * direction[i];
            let slope = (rise * along + share / magnitude * (L::splat(1.0) - along)).at_least(L::splat(0.0));
            let stiffness = self.stiffness[i];
            result.force[i] = L::select(slight, stiffness * slip[i], self.limit[i] * share * direction[i]);
            result.slope[i] = L::select(slight, stiffness, self.limit[i] / self.reference[i] * slope);
        }
        result
    }

    #[inline(always)]
    fn direction(&self, slip: [L; 2], scaled: [L; 2], magnitude: L) -> [L; 2] {
        let elastic = scaled.map(|s| s / magnitude);
        let [start, end] = TURN_TO_SLIDING.map(L::splat);
        let turning = start.less(magnitude);
        if !L::any(turning) {
            return elastic;
        }
        let turned = magnitude.smoothstep(start, end);
        let length = (slip[0] * slip[0] + slip[1] * slip[1]).sqrt();
        let mixed = [0, 1].map(|i| elastic[i] * (L::splat(1.0) - turned) + slip[i] / length * turned);
        let norm = (mixed[0] * mixed[0] + mixed[1] * mixed[1]).sqrt();
        [0, 1].map(|i| L::select(turning, mixed[i] / norm, elastic[i]))
    }

    /// Share of the limit, and its slope, at normalised slip `x` ≥ 0 in direction `i`.
    #[inline(always)]
    fn shape(&self, x: L, i: usize) -> (L, L) {
        let (one, two) = (L::splat(1.0), L::splat(2.0));
        let curved = L::splat(0.0).less(self.tyre.borrow().curved);
        let adhesion = L::select(curved, x * (two - x), x);
        let rise = L::select(curved, two - two * x, one);
        let beyond = one.less(x);
        if !L::any(beyond) {
            return (adhesion, rise);
        }
        let rise = L::select(beyond, L::splat(0.0), rise);
        if !L::any(curved) {
            return (L::select(beyond, one, adhesion), rise);
        }
        let tyre = self.tyre.borrow();
        let sliding = one + (tyre.asymptote[i] - one) * x.smoothstep(one, tyre.end[i]);
        (L::select(beyond, sliding, adhesion), rise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITY: CurveTyre = CurveTyre {
        law: CurveLaw::SlipCurve { extremum_slip: [0.4, 0.2], asymptote_slip: [0.8, 0.5], asymptote: [0.5, 0.75] },
        friction: [1.0, 1.0],
        load_sensitivity: 0.0,
        nominal_load: 1000.0,
        relaxation: [0.1, 0.2],
    };

    fn force(tyre: &CurveTyre, slip: [f32; 2], load: f32) -> [f32; 2] {
        assert!(tyre.faults().is_empty(), "{:?}", tyre.faults());
        tyre.at(&Conditions::upright(load, 20.0)).force(slip).force
    }

    /// Row C8: the curve of Unity passes its named points, flat beyond, monotone between.
    #[test]
    fn c8_slip_curve_passes_its_points() {
        for (slip, expected) in [(0.0, 0.0), (0.4, 1000.0), (0.8, 500.0), (3.0, 500.0), (-0.4, -1000.0)] {
            let found = force(&UNITY, [slip, 0.0], 1000.0);
            assert!((found[0] - expected).abs() < 1e-3, "slip {slip}: {found:?}");
            assert_eq!(found[1], 0.0);
        }
        let at = |s: f32| force(&UNITY, [s, 0.0], 1000.0)[0];
        assert!((0..40).all(|i| at(i as f32 * 0.01) < at((i + 1) as f32 * 0.01)));
        assert!((40..80).all(|i| at(i as f32 * 0.01) >= at((i + 1) as f32 * 0.01)));
    }

    #[test]
    fn full_sliding_opposes_the_sliding_velocity_at_any_angle() {
        let tyre = CurveTyre { law: CurveLaw::Linear { stiffness: [100e3, 60e3] }, ..UNITY };
        for i in 0..=18 {
            let (sin, cos) = crate::math::sin_cos(i as f32 * 5.0f32.to_radians());
            let force = force(&tyre, [-cos, -sin], 3800.0);
            let along = -(force[0] * cos + force[1] * sin);
            assert!((along / 3800.0 - 1.0).abs() < 1e-5, "{i}: {force:?}");
        }
    }

    #[test]
    fn stiffness_at_zero_slip_is_the_stated_one() {
        let tyre = CurveTyre { law: CurveLaw::LinearPerLoad { stiffness: [22.303, 21.92] }, ..UNITY };
        let force = force(&tyre, [1e-4, 2e-4], 2926.0);
        assert!((force[0] / (22.303 * 2926.0 * 1e-4) - 1.0).abs() < 1e-5);
        assert!((force[1] / (21.92 * 2926.0 * 2e-4) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn friction_falls_with_load() {
        // Limebeer's Formula 1 car: lateral friction 1.80 at 2 kN to 1.45 at 6 kN.
        let tyre = CurveTyre {
            friction: [1.75, 1.80],
            load_sensitivity: (1.0 - 1.45 / 1.80) / 2.0,
            nominal_load: 2000.0,
            ..UNITY
        };
        assert!((tyre.constants().friction_at(6000.0)[1] - 1.45).abs() < 1e-5);
    }
}
