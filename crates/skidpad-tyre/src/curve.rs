//! Simple force-slip curves with one shape at every load: dry friction, straight lines, and a slip curve.

#[cfg(feature = "simd_batch")]
mod numbers;

use super::{
    Conditions, MIN_GRIP, MIN_LENGTH_M, MIN_LOAD_N, MIN_RELAXATION_LENGTH_M, PreparedTyre, TyreForces, TyreModel,
    ValueFault, add_fault_unless, friction_ratio, peak_friction_load,
};
use skidpad_simd::lane::{Broadcast, F32x4, Lane, pair_from_fn};

/// Tyre force as a function of slip. Index 0 is longitudinal, index 1 lateral.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CurveLaw {
    /// Dry friction. The patch holds by its deflection alone, without creep while rolling.
    Coulomb {
        /// Deflection at which the patch slides under the nominal load, m, > 0.
        deflection: f32,
    },
    /// Linear in slip up to the friction limit, constant beyond.
    Linear {
        /// Slip stiffness, N per unit slip (κ or −tan α), > 0.
        stiffness: [f32; 2],
    },
    /// Linear in slip up to the friction limit, with a stiffness proportional to load. Constant beyond the limit.
    LinearPerLoad {
        /// Slip stiffness over load (force per unit slip and unit load), –, > 0.
        stiffness: [f32; 2],
    },
    /// Curve that rises to an extremum and falls to an asymptote (Unity's `WheelFrictionCurve`): a parabola, then a
    /// cubic, both with zero slope at the extremum. The extremum is the friction limit of the tyre.
    SlipCurve {
        /// Slip at the extremum, > 0.
        extremum_slip: [f32; 2],
        /// Slip from which the force is constant, above `extremum_slip`.
        asymptote_slip: [f32; 2],
        /// Force at and beyond `asymptote_slip`, as a share of the extremum, > 0. Above 1 the force does not fall but
        /// rises to it.
        asymptote: [f32; 2],
    },
}

/// Tyre with a simple curve: friction, law, and relaxation of the contact patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveTyre {
    /// Force as a function of slip.
    pub law: CurveLaw,
    /// Longitudinal and lateral peak friction coefficients at the nominal load, > 0.
    pub friction: [f32; 2],
    /// Relative loss of friction per relative excess of load, in (−1, 1); usually ≥ 0. The friction limit is constant
    /// above the load at which it is largest.
    pub load_sensitivity: f32,
    /// Load at which `friction` applies, N, > 0.
    pub nominal_load: f32,
    /// Longitudinal and lateral relaxation lengths at the nominal load, m, > 0. Coulomb tyres do not use them.
    ///
    /// At other loads the lengths are proportional to the slip stiffness. The rate of the carcass, which is slip
    /// stiffness over relaxation length, is therefore the same at every load (Rill, *Road Vehicle Dynamics*, ch. 3;
    /// Pacejka, *Tire and Vehicle Dynamics*, ch. 7.2). At a constant rate, a deflected patch gains no energy when its
    /// load changes.
    pub relaxation: [f32; 2],
}

/// Coefficients that the laws of [`CurveLaw`] share: a friction limit, a stiffness and a shape between them, as
/// functions of load. They describe one tyre, or several tyres in SIMD lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CurveConstants<H> {
    /// Peak friction coefficients at the nominal load.
    pub friction: [H; 2],
    /// Relative loss of friction per relative excess of load.
    pub load_sensitivity: H,
    /// Load at which the friction limit is largest, N; see [`peak_friction_load`].
    pub peak_friction_load: H,
    /// Nominal load, N.
    pub nominal_load: H,
    /// Inverse of the nominal load, 1/N.
    pub per_nominal_load: H,
    /// Compliance of the carcass: length of the patch over slip stiffness, m/N.
    pub carcass_compliance: [H; 2],
    /// Minimum length of the patch, m.
    pub min_length: H,
    /// 1 if rolling renews the patch; 0 for Coulomb tyres, which hold without creep.
    relaxation_flag: H,
    /// Terms of the slip stiffness `constant_stiffness + stiffness_per_load · load + stiffness_per_limit · limit`, N
    /// per unit slip.
    pub constant_stiffness: [H; 2],
    /// Part of the slip stiffness in proportion to load, 1 per unit slip.
    pub stiffness_per_load: [H; 2],
    /// Part of the slip stiffness in proportion to the friction limit, 1 per unit slip.
    pub stiffness_per_limit: [H; 2],
    /// 1 for a slip curve, 0 for a straight line up to the limit.
    curve_flag: H,
    /// Normalised slip per slip: 1 for Coulomb tyres, 1 over the slip of the extremum for a slip curve. 0 if it follows
    /// from stiffness and limit.
    pub per_slip: [H; 2],
    /// Share of the way from the extremum to the start of the asymptote, per normalised slip beyond 1.
    pub fall_rate: [H; 2],
    /// Loss of force from the extremum to the asymptote, as a share of the extremum.
    pub sliding_loss: [H; 2],
}

/// Tyres at given loads and surface factors, in lanes `L`.
#[derive(Clone, Copy, Debug)]
pub struct CurvePoint<L> {
    /// Largest forces, N.
    limit: [L; 2],
    /// Slopes at zero slip, N per unit slip.
    pub stiffness: [L; 2],
    /// Lengths of the contact patch, m; see [`CurveTyre::patch_lengths`].
    pub lengths: [L; 2],
    /// Normalised slip per slip: the inverse of the reference slip of the similarity method.
    per_slip: [L; 2],
}

/// Tyre with a simple curve under given conditions.
#[derive(Clone, Copy, Debug)]
pub struct PreparedCurve<L> {
    /// Coefficients of the tyre.
    tyre: CurveConstants<f32>,
    /// Tyre at the load and grip of the conditions, raised to their minima.
    point: CurvePoint<L>,
    /// Factor on the forces. The factor is below 1 if the load is below [`MIN_LOAD_N`] or the grip below [`MIN_GRIP`].
    force_share: L,
}

/// Range of the normalised slip beyond 1 (the end of adhesion) over which the force turns from the elastic direction to
/// the direction of full sliding. At full sliding, friction opposes the sliding velocity.
const SLIDING_TURN_RANGE: f32 = 1.0;

/// Minimum normalised slip in divisions.
const MIN_NORMALISED_SLIP: f32 = 1e-9;

impl CurveTyre {
    /// Returns the longitudinal and lateral lengths over which the deflection of the patch builds up under the nominal
    /// load, m: the relaxation lengths, or the sliding deflection of a Coulomb tyre. In every law, deflection over
    /// length is the slip.
    pub fn patch_lengths(&self) -> [f32; 2] {
        match self.law {
            CurveLaw::Coulomb { deflection } => [deflection; 2],
            _ => self.relaxation,
        }
    }

    /// Returns the slip ratio of the largest longitudinal force at `load` N (> 0) on a surface of friction factor 1:
    /// the extremum of a slip curve, or friction limit over stiffness of a straight line. `None` for dry friction.
    pub fn peak_slip(&self, load: f32) -> Option<f32> {
        // A normalised slip of 1 is the peak; 1.0: grip.
        (!self.is_dry_friction()).then(|| 1.0 / self.constants().at_load(load, 1.0).per_slip[0])
    }

    /// Returns true for dry friction, which holds without creep.
    pub fn is_dry_friction(&self) -> bool {
        matches!(self.law, CurveLaw::Coulomb { .. })
    }

    /// Returns the coefficients of the law ([`CurveConstants`]), which turn all laws into one formula. The normalised
    /// slip is the slip over the slip at which the friction limit is reached.
    ///
    /// - Coulomb: the stiffness is the friction limit per unit slip, the normalised slip equals the slip, and there is
    ///   no relaxation.
    /// - Straight lines: the stiffness is constant or proportional to load; the normalised slip follows from stiffness
    ///   and limit.
    /// - Slip curve: the stiffness is that of the parabola, `2 limit / extremum slip`.
    ///
    /// The carcass compliance is length over stiffness at the nominal load on grip 1. The minimum length is
    /// [`MIN_RELAXATION_LENGTH_M`], or the tyre's own length if that is less.
    #[inline(always)]
    pub fn constants(&self) -> CurveConstants<f32> {
        let lengths = self.patch_lengths();
        let common = CurveConstants {
            friction: self.friction,
            load_sensitivity: self.load_sensitivity,
            peak_friction_load: self.nominal_load * peak_friction_load(self.load_sensitivity),
            nominal_load: self.nominal_load,
            per_nominal_load: 1.0 / self.nominal_load,
            min_length: MIN_RELAXATION_LENGTH_M.min(lengths[0]).min(lengths[1]),
            relaxation_flag: 1.0,
            ..CurveConstants::default()
        };
        // Stiffness and shape of the law.
        let common = match self.law {
            CurveLaw::Coulomb { .. } => {
                CurveConstants { relaxation_flag: 0.0, stiffness_per_limit: [1.0; 2], per_slip: [1.0; 2], ..common }
            }
            CurveLaw::Linear { stiffness } => CurveConstants { constant_stiffness: stiffness, ..common },
            CurveLaw::LinearPerLoad { stiffness } => CurveConstants { stiffness_per_load: stiffness, ..common },
            CurveLaw::SlipCurve { extremum_slip, asymptote_slip, asymptote } => {
                let per_slip = extremum_slip.map(|slip| 1.0 / slip);
                CurveConstants {
                    stiffness_per_limit: per_slip.map(|per_slip| 2.0 * per_slip),
                    curve_flag: 1.0,
                    per_slip,
                    fall_rate: [0, 1].map(|i| extremum_slip[i] / (asymptote_slip[i] - extremum_slip[i])),
                    sliding_loss: asymptote.map(|share| 1.0 - share),
                    ..common
                }
            }
        };
        let stiffness = common.at_load(self.nominal_load, 1.0).stiffness; // 1.0: grip
        CurveConstants { carcass_compliance: [0, 1].map(|i| lengths[i] / stiffness[i]), ..common }
    }

    /// Returns every value that violates the rule of its field, or an empty list. Checks in this order: nominal load;
    /// load sensitivity, which must be within ±1; for each direction friction and the values of the law (finite and
    /// above 0, the asymptote slip beyond the extremum slip); deflection or relaxation lengths, at least
    /// `MIN_LENGTH_M`. A violated difference or sum is reported as a fault of its own, such as `1 - load_sensitivity`,
    /// with its value. Results are finite for a tyre without faults.
    pub fn faults(&self) -> Vec<ValueFault> {
        let mut faults = Vec::new();
        let mut positive = |name, value: f32| {
            add_fault_unless(&mut faults, value > 0.0 && value.is_finite(), name, value, "a finite number above 0");
        };
        positive("nominal_load", self.nominal_load);
        positive("1 - load_sensitivity", 1.0 - self.load_sensitivity);
        positive("1 + load_sensitivity", 1.0 + self.load_sensitivity);
        for i in [0, 1] {
            positive("friction", self.friction[i]);
            match self.law {
                CurveLaw::Coulomb { .. } => (),
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
        let mut length = |name, value: f32| {
            let accepts = "a finite length of at least 1e-5 m";
            add_fault_unless(&mut faults, value >= MIN_LENGTH_M && value.is_finite(), name, value, accepts);
        };
        match self.law {
            CurveLaw::Coulomb { deflection } => length("deflection", deflection),
            _ => self.relaxation.into_iter().for_each(|value| length("relaxation", value)),
        }
        faults
    }
}

impl TyreModel for CurveTyre {
    type Prepared<L: Lane> = PreparedCurve<L>;

    /// Computes the tyre under `conditions`. Camber, speed and pressure have no effect. Load and grip are clamped to
    /// `MIN_LOAD_N` to 1e9 N and `MIN_GRIP` to 1000; NaN counts as the lower bound. If load or grip is below its lower
    /// bound (NaN counts as 0), the force share, a factor on all forces, stiffnesses and limits, is reduced in
    /// proportion. The lengths are not reduced.
    fn prepare<L: Lane>(&self, conditions: &Conditions<L>) -> PreparedCurve<L> {
        let s = L::splat;
        let tyre = self.constants();
        // Upper bounds keep products finite.
        let load = conditions.load.clamp_nan_to_low(s(MIN_LOAD_N), s(1e9));
        let grip = conditions.grip.clamp_nan_to_low(s(MIN_GRIP), s(1e3));
        let point = tyre.at_load(load, grip);
        // A NaN counts as 0. Division by the bounds is skipped if no lane is below them.
        let is_below_minimum =
            conditions.load.at_least(s(0.0)).less(load) | conditions.grip.at_least(s(0.0)).less(grip);
        let mut force_share = s(1.0);
        if L::any(is_below_minimum) {
            force_share = conditions.load.clamp_nan_to_low(s(0.0), load) / load
                * (conditions.grip.clamp_nan_to_low(s(0.0), grip) / grip);
        }
        PreparedCurve { tyre, point, force_share }
    }
}

impl<L: Lane> PreparedTyre<L> for PreparedCurve<L> {
    /// Computes the forces at slips clamped to ±10⁴; NaN becomes −10⁴.
    fn force(&self, slip: [L; 2]) -> TyreForces<L> {
        let TyreForces { force, slope } =
            self.tyre.force(&self.point, slip.map(|slip| slip.clamp_nan_to_low(L::splat(-1e4), L::splat(1e4))));
        TyreForces { force: force.map(|f| f * self.force_share), slope: slope.map(|slope| slope * self.force_share) }
    }

    fn stiffness(&self) -> [L; 2] {
        self.point.stiffness.map(|stiffness| stiffness * self.force_share)
    }

    fn limit(&self) -> [L; 2] {
        self.point.limit.map(|limit| limit * self.force_share)
    }

    /// Returns the lengths of the patch, see [`CurveTyre::relaxation`]; for dry friction, the sliding deflection.
    fn relaxation(&self) -> [L; 2] {
        self.point.lengths
    }
}

impl CurveConstants<F32x4> {
    /// Packs the coefficients of four tyres into SIMD lanes, tyre k in lane k.
    pub fn pack_lanes(tyres: [CurveConstants<f32>; 4]) -> Self {
        let pack = |value: fn(&CurveConstants<f32>) -> f32| F32x4::new([0, 1, 2, 3].map(|k| value(&tyres[k])));
        let pack_pair = |value: fn(&CurveConstants<f32>) -> [f32; 2]| {
            [0, 1].map(|i| F32x4::new([0, 1, 2, 3].map(|k| value(&tyres[k])[i])))
        };
        Self {
            friction: pack_pair(|tyre| tyre.friction),
            load_sensitivity: pack(|tyre| tyre.load_sensitivity),
            peak_friction_load: pack(|tyre| tyre.peak_friction_load),
            nominal_load: pack(|tyre| tyre.nominal_load),
            per_nominal_load: pack(|tyre| tyre.per_nominal_load),
            carcass_compliance: pack_pair(|tyre| tyre.carcass_compliance),
            min_length: pack(|tyre| tyre.min_length),
            relaxation_flag: pack(|tyre| tyre.relaxation_flag),
            constant_stiffness: pack_pair(|tyre| tyre.constant_stiffness),
            stiffness_per_load: pack_pair(|tyre| tyre.stiffness_per_load),
            stiffness_per_limit: pack_pair(|tyre| tyre.stiffness_per_limit),
            curve_flag: pack(|tyre| tyre.curve_flag),
            per_slip: pack_pair(|tyre| tyre.per_slip),
            fall_rate: pack_pair(|tyre| tyre.fall_rate),
            sliding_loss: pack_pair(|tyre| tyre.sliding_loss),
        }
    }
}

impl<H: Copy> CurveConstants<H> {
    /// Returns the lanes in which rolling renews the patch.
    #[inline(always)]
    pub fn relaxing_lanes<L: Lane>(&self) -> L::Mask
    where
        H: Broadcast<L>,
    {
        L::splat(0.0).less(self.relaxation_flag.broadcast())
    }

    /// Returns the longitudinal and lateral friction coefficients at `load` N, > 0, without the surface:
    /// `μ (1 − s (N − 1))` at the relative load N, with the load sensitivity s. Above the load of the largest limit
    /// they fall in inverse proportion to load, so that the limit is constant.
    #[inline(always)]
    pub fn friction_at<L: Lane>(&self, load: L) -> [L; 2]
    where
        H: Broadcast<L>,
    {
        let clamped_load = load.at_most(self.peak_friction_load.broadcast());
        let excess = (clamped_load - self.nominal_load.broadcast()) * self.per_nominal_load.broadcast();
        let friction_share = friction_ratio(self.load_sensitivity.broadcast(), excess, clamped_load / load);
        pair_from_fn(
            #[inline(always)]
            |i| self.friction[i].broadcast() * friction_share,
        )
    }

    /// Computes the tyre at `load` N, > 0, on a surface with the friction factor `grip`, > 0. The friction limit is
    /// coefficient times load times grip. The lengths of the patch are slip stiffness times carcass compliance, with a
    /// minimum. The normalised slip per slip of straight lines is stiffness over limit.
    #[inline(always)]
    pub fn at_load<L: Lane>(&self, load: L, grip: L) -> CurvePoint<L>
    where
        H: Broadcast<L>,
    {
        let friction = self.friction_at(load);
        let limit = pair_from_fn(
            #[inline(always)]
            |i| friction[i] * load * grip,
        );
        let linear_stiffness =
            pair_from_fn(|i| self.constant_stiffness[i].broadcast() + self.stiffness_per_load[i].broadcast() * load);
        let stiffness = pair_from_fn(|i| linear_stiffness[i] + self.stiffness_per_limit[i].broadcast() * limit[i]);
        // Straight lines have 0 here: their reference slip is limit over stiffness. Other laws have no linear
        // stiffness.
        let mut per_slip = pair_from_fn(
            #[inline(always)]
            |i| self.per_slip[i].broadcast(),
        );
        if L::any(!L::splat(0.0).less(per_slip[0])) {
            per_slip = pair_from_fn(
                #[inline(always)]
                |i| per_slip[i] + linear_stiffness[i] / limit[i],
            );
        }
        let lengths = pair_from_fn(|i| {
            (stiffness[i] * self.carcass_compliance[i].broadcast()).at_least(self.min_length.broadcast())
        });
        CurvePoint { limit, stiffness, lengths, per_slip }
    }

    /// Computes the forces, N, at `slip` (κ, −tan α) by the similarity method, with slopes, N per unit slip. Each slip
    /// is divided by its reference slip, at which the friction limit is reached. Both pure curves are evaluated at the
    /// magnitude of this normalised slip: up to 1 the line or parabola, beyond 1 the fall to the asymptote. The force
    /// points along the normalised slip up to 1, and beyond it turns to the direction of the slip itself
    /// (`force_direction`).
    ///
    /// Each slope is that over its own slip at fixed other slip, at least 0. Beyond 1 only the turn of the direction
    /// counts, not the fall of the force. The part beyond 1 is skipped if no lane is there.
    #[inline(always)]
    pub fn force<L: Lane>(&self, point: &CurvePoint<L>, slip: [L; 2]) -> TyreForces<L>
    where
        H: Broadcast<L>,
    {
        let (one, curve_flag) = (L::splat(1.0), self.curve_flag.broadcast());
        let normalised_slip = pair_from_fn(
            #[inline(always)]
            |i| slip[i] * point.per_slip[i],
        );
        let magnitude = slip_magnitude(normalised_slip);
        let inverse_magnitude = one / magnitude;
        let excess = magnitude - one;
        let mut direction = pair_from_fn(
            #[inline(always)]
            |i| normalised_slip[i] * inverse_magnitude,
        );
        // Share of the friction limit: parabola m (2 − m) of the magnitude m (flag 1), or straight line m (flag 0).
        let mut limit_share = [magnitude * (one - curve_flag * excess); 2];
        // Derivative of that share by the magnitude: 2 − 2 m or 1.
        let mut share_slope = one - curve_flag * (excess + magnitude);
        let is_beyond_peak = L::splat(0.0).less(excess);
        if L::any(is_beyond_peak) {
            direction = force_direction(point, slip, normalised_slip, excess);
            limit_share = pair_from_fn(
                #[inline(always)]
                |i| L::select(is_beyond_peak, self.sliding_share(excess, i), limit_share[i]),
            );
            share_slope = share_slope.masked(!is_beyond_peak);
        }
        let mut result = TyreForces::default();
        for i in [0, 1] {
            let cosine_squared = direction[i] * direction[i];
            // Along the slip the share changes by its slope; across it the force only turns, by share over magnitude.
            let slope = (share_slope * cosine_squared + limit_share[i] * inverse_magnitude * (one - cosine_squared))
                .at_least(L::splat(0.0));
            result.force[i] = point.limit[i] * limit_share[i] * direction[i];
            result.slope[i] = point.limit[i] * point.per_slip[i] * slope;
        }
        result
    }

    /// Returns the share of the friction limit in direction `i` (0 longitudinal, 1 lateral). The normalised slip is
    /// `1 + excess`. The share is 1 at the extremum (`excess` ≤ 0) and falls by a smooth cubic to the asymptote. It is 1
    /// for laws without a fall.
    #[inline(always)]
    fn sliding_share<L: Lane>(&self, excess: L, i: usize) -> L
    where
        H: Broadcast<L>,
    {
        L::splat(1.0) - self.sliding_loss[i].broadcast() * (self.fall_rate[i].broadcast() * excess).smoothstep_unit()
    }
}

/// Returns the unit direction of the force at a normalised slip of `1 + excess`. `normalised_slip` is `slip` times its
/// scale factors (`per_slip` of `point`). As `excess` grows from 0 to [`SLIDING_TURN_RANGE`], both scale factors
/// approach their mean by a smooth cubic. From there on the direction is that of `slip`, which opposes the sliding
/// velocity.
#[inline(always)]
fn force_direction<L: Lane>(point: &CurvePoint<L>, slip: [L; 2], normalised_slip: [L; 2], excess: L) -> [L; 2] {
    let mean_per_slip = L::splat(0.5) * (point.per_slip[0] + point.per_slip[1]);
    let turn_share = (excess * L::splat(1.0 / SLIDING_TURN_RANGE)).smoothstep_unit();
    let direction = pair_from_fn(
        #[inline(always)]
        |i| normalised_slip[i] + turn_share * (mean_per_slip * slip[i] - normalised_slip[i]),
    );
    let inverse_length = L::splat(1.0) / slip_magnitude(direction);
    pair_from_fn(
        #[inline(always)]
        |i| direction[i] * inverse_length,
    )
}

/// Returns the magnitude of a normalised slip, raised to [`MIN_NORMALISED_SLIP`] so that it can be divided by. Below
/// that, the direction of the force is shorter than 1, and the force is still the stiffness times the slip.
#[inline(always)]
fn slip_magnitude<L: Lane>(normalised_slip: [L; 2]) -> L {
    (normalised_slip[0] * normalised_slip[0] + normalised_slip[1] * normalised_slip[1])
        .sqrt()
        .at_least(L::splat(MIN_NORMALISED_SLIP))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITY_TYRE: CurveTyre = CurveTyre {
        law: CurveLaw::SlipCurve { extremum_slip: [0.4, 0.2], asymptote_slip: [0.8, 0.5], asymptote: [0.5, 0.75] },
        friction: [1.0, 1.0],
        load_sensitivity: 0.0,
        nominal_load: 1000.0,
        relaxation: [0.1, 0.2],
    };

    /// Returns the forces of a `tyre` without faults at the `slip` (κ, −tan α) under `load` N, N.
    fn force(tyre: &CurveTyre, slip: [f32; 2], load: f32) -> [f32; 2] {
        assert!(tyre.faults().is_empty(), "{:?}", tyre.faults());
        tyre.prepare(&Conditions::upright(load, 20.0)).force(slip).force
    }

    /// Checks row C8: Unity's longitudinal slip curve passes through its named points, is odd, constant beyond the
    /// asymptote, rises up to the extremum and does not rise after it. The lateral force is 0.
    #[test]
    fn c8_slip_curve_passes_its_points() {
        for (slip, expected) in [(0.0, 0.0), (0.4, 1000.0), (0.8, 500.0), (3.0, 500.0), (-0.4, -1000.0)] {
            let found = force(&UNITY_TYRE, [slip, 0.0], 1000.0);
            assert!((found[0] - expected).abs() < 1e-3, "slip {slip}: {found:?}");
            assert_eq!(found[1], 0.0);
        }
        let at = |s: f32| force(&UNITY_TYRE, [s, 0.0], 1000.0)[0];
        assert!((0..40).all(|i| at(i as f32 * 0.01) < at((i + 1) as f32 * 0.01)));
        assert!((40..80).all(|i| at(i as f32 * 0.01) >= at((i + 1) as f32 * 0.01)));
    }

    /// Checks that a tyre with different stiffness by direction has the full friction against a sliding velocity of any
    /// angle, at slips of length 1.
    #[test]
    fn full_sliding_opposes_the_sliding_velocity_at_any_angle() {
        let tyre = CurveTyre { law: CurveLaw::Linear { stiffness: [100e3, 60e3] }, ..UNITY_TYRE };
        for i in 0..=18 {
            let (sin, cos) = skidpad_simd::math::sin_cos(i as f32 * 5.0f32.to_radians());
            let force = force(&tyre, [-cos, -sin], 3800.0);
            let along = -(force[0] * cos + force[1] * sin);
            assert!((along / 3800.0 - 1.0).abs() < 1e-5, "{i}: {force:?}");
        }
    }

    /// Checks that both forces at a small slip are stiffness per load times load times slip.
    #[test]
    fn stiffness_at_zero_slip_is_the_stated_one() {
        let tyre = CurveTyre { law: CurveLaw::LinearPerLoad { stiffness: [22.303, 21.92] }, ..UNITY_TYRE };
        let force = force(&tyre, [1e-4, 2e-4], 2926.0);
        assert!((force[0] / (22.303 * 2926.0 * 1e-4) - 1.0).abs() < 1e-5);
        assert!((force[1] / (21.92 * 2926.0 * 2e-4) - 1.0).abs() < 1e-5);
    }

    /// Checks the lateral friction coefficient of a tyre with load sensitivity at three times its nominal load.
    #[test]
    fn friction_falls_with_load() {
        // Friction of Limebeer's Formula 1 car: the lateral coefficient falls from 1.80 at 2 kN to 1.45 at 6 kN.
        let tyre = CurveTyre {
            friction: [1.75, 1.80],
            load_sensitivity: (1.0 - 1.45 / 1.80) / 2.0,
            nominal_load: 2000.0,
            ..UNITY_TYRE
        };
        assert!((tyre.constants().friction_at(6000.0)[1] - 1.45).abs() < 1e-5);
    }

    /// Checks that each invalid number leads to exactly one fault, with the name of its field, and that a load
    /// sensitivity of ±1 is a fault.
    #[test]
    fn numbers_that_make_no_tyre_are_told() {
        for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            for (name, tyre) in [
                ("nominal_load", CurveTyre { nominal_load: bad, ..UNITY_TYRE }),
                ("friction", CurveTyre { friction: [1.0, bad], ..UNITY_TYRE }),
                ("relaxation", CurveTyre { relaxation: [bad, 1.0], ..UNITY_TYRE }),
                ("stiffness", CurveTyre { law: CurveLaw::Linear { stiffness: [1e4, bad] }, ..UNITY_TYRE }),
            ] {
                let faults = tyre.faults();
                assert!(faults.len() == 1 && faults[0].to_string().contains(name), "{name} of {bad}: {faults:?}");
            }
        }
        for load_sensitivity in [1.0, -1.0] {
            assert_eq!(CurveTyre { load_sensitivity, ..UNITY_TYRE }.faults().len(), 1, "{load_sensitivity}");
        }
    }

    /// Compares the slope of the longitudinal force with finite differences of ±0.001 up to the peak, without lateral
    /// slip.
    #[test]
    fn the_slope_of_a_force_is_its_difference() {
        for slip in [0.01, 0.1, 0.2, 0.3, 0.38] {
            let response = |slip: f32| UNITY_TYRE.prepare(&Conditions::upright(1000.0, 20.0)).force([slip, 0.0]);
            let difference = (response(slip + 1e-3).force[0] - response(slip - 1e-3).force[0]) / 2e-3;
            let slope = response(slip).slope[0];
            // Rounding of forces of 1000 N in f32, divided by 0.002.
            assert!((slope - difference).abs() < 0.5, "{slope} and {difference} N at {slip}");
        }
    }
}
