//! TMeasy: longitudinal and lateral force curves through named points, at the nominal load and at twice the nominal
//! load.
//!
//! Source: G. Rill, *Road Vehicle Dynamics*, 2012, ch. 3 (and *TMeasy, the handling tire model*, Multibody System
//! Dynamics 2013). A curve has an initial slope, a largest force and its slip, a sliding force and its slip. Normalised
//! slips combine both directions. The module computes forces only; the moments and the standstill model of TMeasy are
//! not implemented.

use super::brush::theoretical_slips;
use super::dual::{Dual, sqrt_at_least};
use super::{
    Conditions, MIN_GRIP, MIN_LENGTH_M, MIN_RELAXATION_LENGTH_M, PreparedTyre, Real, TyreForces, TyreModel, ValueFault,
    demand,
};
use crate::simd::lane::{Broadcast, F32x4, Lane, pair_from_fn};

/// Force curve of one direction at one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectionCurve {
    /// Slope at zero slip, N, > 0. Minimum: twice the largest force over its slip, so that the curve rises smoothly.
    pub slope: f32,
    /// Largest force, N, > 0.
    pub largest: f32,
    /// Slip of the largest force, relative to the rim speed, > 0.
    pub largest_slip: f32,
    /// Force at full sliding, N, > 0, at most the largest force.
    pub sliding: f32,
    /// Slip at which full sliding begins, above the slip of the largest force.
    pub sliding_slip: f32,
}

/// TMeasy tyre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TMeasy {
    /// Nominal load, N, > 0.
    pub nominal_load: f32,
    /// Longitudinal and lateral curves at the nominal load.
    pub nominal: [DirectionCurve; 2],
    /// Longitudinal and lateral curves at twice the nominal load.
    pub double: [DirectionCurve; 2],
    /// Longitudinal and lateral relaxation lengths at the nominal load, m, > 0. They are proportional to the slope at
    /// other loads; see [`super::CurveTyre::relaxation`].
    pub relaxation: [f32; 2],
}

/// TMeasy tyre under given conditions.
#[derive(Clone, Copy, Debug)]
pub struct PreparedTMeasy<L> {
    /// Longitudinal and lateral curves at the load and grip.
    curves: [LoadedCurve<L>; 2],
    /// Reference slips. The slips are divided by them before they are combined.
    reference: [L; 2],
    /// Relaxation lengths, m.
    relaxation: [L; 2],
    /// Direction of travel of the wheel: 1 forwards, −1 backwards.
    heading: L,
}

/// Force curve of one direction under a load.
#[derive(Clone, Copy, Debug)]
struct LoadedCurve<L> {
    /// Slope at zero slip, N.
    slope: L,
    /// Largest force, N.
    largest: L,
    /// Slip of the largest force.
    largest_slip: L,
    /// Force at full sliding, N.
    sliding: L,
    /// Slip at which full sliding begins.
    sliding_slip: L,
}

/// Coefficients of the load dependence of the curves, for one tyre or for several tyres in SIMD lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TMeasyConstants<H> {
    /// Nominal load, N.
    nominal_load: H,
    /// Longitudinal and lateral coefficients.
    directions: [DirectionConstants<H>; 2],
}

/// Coefficients of the load dependence of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DirectionConstants<H> {
    /// Slope at zero slip.
    slope: ForceOverLoad<H>,
    /// Largest force.
    largest: ForceOverLoad<H>,
    /// Slip of the largest force.
    largest_slip: SlipOverLoad<H>,
    /// Force at full sliding.
    sliding: ForceOverLoad<H>,
    /// Slip at which full sliding begins.
    sliding_slip: SlipOverLoad<H>,
    /// Relaxation length over slope at the nominal load, m/N.
    carcass_compliance: H,
}

/// Force `linear x − square x²` at x times the nominal load. The parabola passes through 0 at zero load and through
/// both stated values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ForceOverLoad<H> {
    /// Linear coefficient, N.
    linear: H,
    /// Quadratic coefficient, N.
    square: H,
}

/// Slip `nominal + rise (x − 1)` at x times the nominal load, at least `least`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SlipOverLoad<H> {
    /// Slip at the nominal load.
    nominal: H,
    /// Difference of the slip from the nominal load to twice that.
    rise: H,
    /// Least slip.
    least: H,
}

/// Range of load over nominal load in which the curves are evaluated. Outside the range, forces are proportional to
/// load.
const LOAD_RATIO_RANGE: [f32; 2] = [0.05, 2.0];

impl TMeasy {
    /// Returns every value that violates the rule of its field, or an empty list: nominal load (1 to 1e6 N), relaxation lengths, all four curves, and
    /// forces at twice the nominal load that would make the curves negative at low loads. Results are finite for a tyre without faults.
    pub fn faults(&self) -> Vec<ValueFault> {
        let mut faults = Vec::new();
        let load = (1.0..=1e6).contains(&self.nominal_load);
        demand(&mut faults, load, "nominal_load", self.nominal_load, "a force from 1 to 1e6 N");
        for length in self.relaxation {
            let accepted = (MIN_LENGTH_M..=100.0).contains(&length);
            demand(&mut faults, accepted, "relaxation", length, "a length from 1e-5 to 100 m");
        }
        for direction in self.nominal.iter().chain(&self.double) {
            direction.check(&mut faults);
        }
        for (one, two) in self.nominal.iter().zip(&self.double) {
            one.check_low_loads(two, &mut faults);
        }
        faults
    }
}

impl DirectionCurve {
    /// Adds a fault for every value outside its range: largest force (0.001 to 1e7 N) and its slip (0.001 to 10), slope (at least twice force over
    /// slip, up to 1e9 N), sliding force (above 0, up to the largest) and its slip (above that of the largest force, up to 100).
    fn check(&self, faults: &mut Vec<ValueFault>) {
        let Self { slope, largest, largest_slip, sliding, sliding_slip } = *self;
        demand(faults, (1e-3..=1e7).contains(&largest), "largest", largest, "a force from 0.001 to 1e7 N");
        demand(faults, (1e-3..=10.0).contains(&largest_slip), "largest_slip", largest_slip, "a slip from 0.001 to 10");
        let least = 2.0 * largest / largest_slip;
        // A smaller slope would start with a convex curve. The factor allows for rounding.
        let steep = slope >= least * 0.999_999 && slope <= 1e9;
        demand(faults, steep, "slope", slope, "at least twice the maximum force divided by its slip");
        demand(
            faults,
            sliding > 0.0 && sliding <= largest,
            "sliding",
            sliding,
            "a force above 0, at most the maximum force",
        );
        let after = sliding_slip > largest_slip && sliding_slip <= 100.0;
        demand(faults, after, "sliding_slip", sliding_slip, "a slip above that of the maximum force, at most 100");
    }

    /// Checks that the values are positive at low loads, and adds a fault for each that is not. They are parabolas over load that pass through 0 at
    /// zero load with the slope `2 one − two / 2`. This slope is negative if `two` exceeds `4 one`.
    fn check_low_loads(&self, double: &Self, faults: &mut Vec<ValueFault>) {
        const BELOW_FOUR_TIMES: &str =
            "less than four times the value at the nominal load; otherwise it is negative at low loads";
        for (name, one, two) in [
            ("slope", self.slope, double.slope),
            ("largest", self.largest, double.largest),
            ("sliding", self.sliding, double.sliding),
        ] {
            demand(faults, two < 4.0 * one, name, two, BELOW_FOUR_TIMES);
        }
    }
}

impl TyreModel for TMeasy {
    type Prepared<L: Lane> = PreparedTMeasy<L>;

    /// Computes the tyre under `conditions`. Camber and pressure have no effect, and only the sign of the speed has
    /// one. Grip scales the forces and their slips, but not the slope at zero slip.
    #[inline(always)]
    fn prepare<L: Lane>(&self, conditions: &Conditions<L>) -> PreparedTMeasy<L> {
        self.constants().prepare(conditions)
    }
}

impl TMeasy {
    /// Returns the coefficients of the load dependence of both directions.
    pub(crate) fn constants(&self) -> TMeasyConstants<f32> {
        let of = |i: usize| DirectionConstants::new(&self.nominal[i], &self.double[i], self.relaxation[i]);
        TMeasyConstants { nominal_load: self.nominal_load, directions: [of(0), of(1)] }
    }
}

impl DirectionConstants<f32> {
    /// Fits forces by parabolas `linear x − square x²` and slips by straight lines through the values at the nominal load (`one`) and twice that
    /// (`two`). Slips are at least a tenth of the nominal ones. `relaxation`: relaxation length at the nominal load, m.
    fn new(one: &DirectionCurve, two: &DirectionCurve, relaxation: f32) -> Self {
        let force = |one: f32, two: f32| ForceOverLoad { linear: 2.0 * one - 0.5 * two, square: one - 0.5 * two };
        let slip = |one: f32, two: f32| SlipOverLoad { nominal: one, rise: two - one, least: 0.1 * one };
        Self {
            slope: force(one.slope, two.slope),
            largest: force(one.largest, two.largest),
            largest_slip: slip(one.largest_slip, two.largest_slip),
            sliding: force(one.sliding, two.sliding),
            sliding_slip: slip(one.sliding_slip, two.sliding_slip),
            carcass_compliance: relaxation / one.slope,
        }
    }
}

impl<H: Copy> TMeasyConstants<H> {
    /// Combines four tyres: applies `to` to the four values of each coefficient, in the order of `tyres`.
    fn zip_tyres<T: Copy>(tyres: [&Self; 4], to: impl Fn([H; 4]) -> T) -> TMeasyConstants<T> {
        let direction = |i: usize| {
            let tyres = tyres.map(|tyre| &tyre.directions[i]);
            let one = |of: &dyn Fn(&DirectionConstants<H>) -> H| to(tyres.map(of));
            let force = |of: fn(&DirectionConstants<H>) -> &ForceOverLoad<H>| ForceOverLoad {
                linear: one(&|tyre| of(tyre).linear),
                square: one(&|tyre| of(tyre).square),
            };
            let slip = |of: fn(&DirectionConstants<H>) -> &SlipOverLoad<H>| SlipOverLoad {
                nominal: one(&|tyre| of(tyre).nominal),
                rise: one(&|tyre| of(tyre).rise),
                least: one(&|tyre| of(tyre).least),
            };
            DirectionConstants {
                slope: force(|tyre| &tyre.slope),
                largest: force(|tyre| &tyre.largest),
                largest_slip: slip(|tyre| &tyre.largest_slip),
                sliding: force(|tyre| &tyre.sliding),
                sliding_slip: slip(|tyre| &tyre.sliding_slip),
                carcass_compliance: one(&|tyre| tyre.carcass_compliance),
            }
        };
        TMeasyConstants {
            nominal_load: to(tyres.map(|tyre| tyre.nominal_load)),
            directions: [direction(0), direction(1)],
        }
    }

    /// Computes the tyre under `conditions`. The load is clamped to [`LOAD_RATIO_RANGE`] times the nominal load for the curves; outside, forces grow
    /// in proportion to load. Grip scales forces and their slips; below [`MIN_GRIP`] all forces fade. NaN counts as 0. The reference slips are the
    /// mean of the directions' shares of peak slip and of force over slope. Relaxation lengths are slope times carcass compliance, with a minimum.
    #[inline(always)]
    pub(crate) fn prepare<L: Lane>(&self, conditions: &Conditions<L>) -> PreparedTMeasy<L>
    where
        H: Broadcast<L>,
    {
        let s = L::splat;
        // Load over nominal load, then the same within the range of the curves, and the ratio of both.
        let present = conditions.load.clamp_nan_to_low(s(0.0), s(1e9)) / self.nominal_load.broadcast();
        let load = present.clamp_nan_to_low(s(LOAD_RATIO_RANGE[0]), s(LOAD_RATIO_RANGE[1]));
        let excess = present / load;
        let grip = conditions.grip.clamp_nan_to_low(s(MIN_GRIP), s(1e3));
        let fade = conditions.grip.clamp_nan_to_low(s(0.0), grip) / grip;
        let curves = pair_from_fn(
            #[inline(always)]
            |i| {
                let of = &self.directions[i];
                LoadedCurve {
                    slope: of.slope.at_load(load) * excess * fade,
                    largest: of.largest.at_load(load) * excess * grip * fade,
                    largest_slip: of.largest_slip.at_load(load) * grip,
                    sliding: of.sliding.at_load(load) * excess * grip * fade,
                    sliding_slip: of.sliding_slip.at_load(load) * grip,
                }
            },
        );
        let [along, across] = pair_from_fn(|i| curves[i].largest_slip);
        // Force over slope: slip at which the initial slope would reach the largest force.
        let rise = pair_from_fn(|i| curves[i].largest / curves[i].slope.at_least(s(1e-6)));
        let rises = (rise[0] + rise[1]).at_least(s(1e-12));
        PreparedTMeasy {
            curves,
            reference: [along / (along + across) + rise[0] / rises, across / (along + across) + rise[1] / rises],
            relaxation: pair_from_fn(|i| {
                (curves[i].slope * self.directions[i].carcass_compliance.broadcast())
                    .at_least(s(MIN_RELAXATION_LENGTH_M))
            }),
            heading: conditions.speed.sign(),
        }
    }
}

impl TMeasyConstants<F32x4> {
    /// Packs four tyres into SIMD lanes.
    pub(crate) fn pack_lanes(tyres: [&TMeasyConstants<f32>; 4]) -> Self {
        TMeasyConstants::zip_tyres(tyres, F32x4::new)
    }

    /// Returns the coefficients with `to` applied to every number.
    #[cfg(feature = "abreast")]
    pub(crate) fn map<T: Copy>(&self, to: impl Fn(F32x4) -> T) -> TMeasyConstants<T> {
        Self::zip_tyres([self; 4], |[one, ..]| to(one))
    }
}

impl<H: Copy> ForceOverLoad<H> {
    /// Returns the force at `load` times the nominal load, N.
    #[inline(always)]
    fn at_load<L: Lane>(&self, load: L) -> L
    where
        H: Broadcast<L>,
    {
        load * (self.linear.broadcast() - self.square.broadcast() * load)
    }
}

impl<H: Copy> SlipOverLoad<H> {
    /// Returns the slip at `load` times the nominal load, raised to its minimum.
    #[inline(always)]
    fn at_load<L: Lane>(&self, load: L) -> L
    where
        H: Broadcast<L>,
    {
        (self.nominal.broadcast() + self.rise.broadcast() * (load - L::splat(1.0))).at_least(self.least.broadcast())
    }
}

impl<L: Lane> PreparedTMeasy<L> {
    /// Computes the forces, N, at the slips (κ, −tan α), generic over numbers with derivatives. Converts the slips to the rim speed, divides them by
    /// the reference slips, and combines the curve parameters of both directions by the direction of that slip. The force has the size of the
    /// combined curve at the combined slip and the direction of the scaled slip. At zero slip each direction has its own slope.
    #[inline(always)]
    fn forces<R: Real<L>>(&self, slip: [R; 2]) -> [R; 2] {
        let s = L::splat;
        let one = s(1.0);
        let slip = theoretical_slips(slip, self.heading);
        let scaled = pair_from_fn(
            #[inline(always)]
            |i| slip[i] * (one / self.reference[i]),
        );
        let size = sqrt_at_least(scaled[0] * scaled[0] + scaled[1] * scaled[1], s(1e-12));
        // Below this combined slip the direction is not defined.
        let resting = size.value().less(s(2e-6));
        let at_rest = R::constant(s(std::f32::consts::FRAC_1_SQRT_2));
        let direction = pair_from_fn(
            #[inline(always)]
            |i| R::choose(resting, at_rest, scaled[i] / size),
        );
        let [x, y] = self.curves;
        let ones = [one; 2];
        let over = pair_from_fn(
            #[inline(always)]
            |i| one / self.reference[i],
        );
        let rise = RisingCurve {
            slope: combine_directions(direction, [x.slope, y.slope], self.reference),
            largest: combine_directions(direction, [x.largest, y.largest], ones),
            largest_slip: combine_directions(direction, [x.largest_slip, y.largest_slip], over),
        };
        let per_slip = force_per_slip(
            size,
            rise,
            #[inline(always)]
            || FallingCurve {
                sliding: combine_directions(direction, [x.sliding, y.sliding], ones),
                sliding_slip: combine_directions(direction, [x.sliding_slip, y.sliding_slip], over),
            },
        );
        // At zero slip each direction has its own slope.
        pair_from_fn(
            #[inline(always)]
            |i| R::choose(resting, slip[i] * self.curves[i].slope, scaled[i] * per_slip),
        )
    }
}

/// Returns the value of a curve parameter in the slip `direction` (unit vector): the root of the sum of squares of `direction[i] of[i] scale[i]`.
#[inline(always)]
fn combine_directions<L: Lane, R: Real<L>>(direction: [R; 2], of: [L; 2], scale: [L; 2]) -> R {
    let [x, y] = [direction[0] * (of[0] * scale[0]), direction[1] * (of[1] * scale[1])];
    sqrt_at_least(x * x + y * y, L::splat(1e-12))
}

/// Curve over the combined slip in one slip direction, up to the largest force.
struct RisingCurve<R> {
    /// Slope at zero slip, N.
    slope: R,
    /// Largest force, N.
    largest: R,
    /// Combined slip of the largest force.
    largest_slip: R,
}

/// Curve over the combined slip in one slip direction, beyond the largest force.
struct FallingCurve<R> {
    /// Force at full sliding, N.
    sliding: R,
    /// Combined slip at which full sliding begins.
    sliding_slip: R,
}

/// Returns the force over the combined slip `size`, N. The curve is a rational function up to the largest force, a cubic down to the sliding force,
/// and constant beyond. `fall` is called only if some lane is beyond the largest force.
#[inline(always)]
fn force_per_slip<L: Lane, R: Real<L>>(size: R, rise: RisingCurve<R>, fall: impl FnOnce() -> FallingCurve<R>) -> R {
    let s = L::splat;
    let one = s(1.0);
    let RisingCurve { slope, largest, largest_slip } = rise;
    let x = size / largest_slip;
    let rises = x.value().less(one);
    let steepness = slope * largest_slip / largest;
    let rising = slope / (x * (x + steepness - s(2.0)) + one);
    if !L::any(!rises) {
        return rising;
    }
    let FallingCurve { sliding, sliding_slip } = fall();
    let fallen = (size - largest_slip) / (sliding_slip - largest_slip);
    let fallen = super::dual::clamp(fallen, s(0.0), one);
    let fall = (largest - sliding) * fallen * fallen * (-(fallen + fallen) + s(3.0));
    R::choose(rises, rising, (largest - fall) / size)
}

impl<L: Lane> PreparedTyre<L> for PreparedTMeasy<L> {
    /// Computes the forces with exact slopes by forward-mode differentiation.
    #[inline(always)]
    fn force(&self, slip: [L; 2]) -> TyreForces<L> {
        let forces = self.forces([Dual::<L, 2>::input(slip[0], 0), Dual::input(slip[1], 1)]);
        TyreForces { force: [forces[0].value, forces[1].value], slope: [forces[0].slope[0], forces[1].slope[1]] }
    }

    #[inline(always)]
    fn stiffness(&self) -> [L; 2] {
        pair_from_fn(|i| self.curves[i].slope)
    }

    #[inline(always)]
    fn limit(&self) -> [L; 2] {
        pair_from_fn(|i| self.curves[i].largest)
    }

    #[inline(always)]
    fn relaxation(&self) -> [L; 2] {
        self.relaxation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGITUDINAL_NOMINAL: DirectionCurve =
        DirectionCurve { slope: 120e3, largest: 4400.0, largest_slip: 0.11, sliding: 4300.0, sliding_slip: 0.5 };
    const LATERAL_NOMINAL: DirectionCurve =
        DirectionCurve { slope: 90e3, largest: 4200.0, largest_slip: 0.2, sliding: 4100.0, sliding_slip: 0.8 };
    const LONGITUDINAL_DOUBLE: DirectionCurve =
        DirectionCurve { slope: 200e3, largest: 8700.0, largest_slip: 0.12, sliding: 7500.0, sliding_slip: 0.8 };
    const LATERAL_DOUBLE: DirectionCurve =
        DirectionCurve { slope: 130e3, largest: 7500.0, largest_slip: 0.24, sliding: 7400.0, sliding_slip: 1.0 };
    const TEST_TYRE: TMeasy = TMeasy {
        nominal_load: 4000.0,
        nominal: [LONGITUDINAL_NOMINAL, LATERAL_NOMINAL],
        double: [LONGITUDINAL_DOUBLE, LATERAL_DOUBLE],
        relaxation: [0.1, 0.3],
    };

    /// Returns the slips (κ, −tan α) of direction `i` whose slip relative to the rim speed is `theoretical_slips`.
    fn slip(i: usize, theoretical: f32) -> [f32; 2] {
        if i == 0 { [theoretical / (1.0 - theoretical), 0.0] } else { [0.0, theoretical] }
    }

    /// Checks the slope at zero slip, and the largest and the sliding force at their slips, for both loads and both
    /// directions.
    #[test]
    fn curves_pass_their_named_points() {
        assert!(TEST_TYRE.faults().is_empty(), "{:?}", TEST_TYRE.faults());
        for (load, directions) in [(4000.0, TEST_TYRE.nominal), (8000.0, TEST_TYRE.double)] {
            let tyre: PreparedTMeasy<f32> = TEST_TYRE.prepare(&Conditions::upright(load, 20.0));
            for (i, direction) in directions.into_iter().enumerate() {
                let force = |theoretical: f32| tyre.force(slip(i, theoretical)).force[i];
                let close = |found: f32, expected: f32| {
                    assert!((found / expected - 1.0).abs() < 1e-5, "{direction:?}: {found} for {expected}");
                };
                close(tyre.force([0.0; 2]).slope[i], direction.slope);
                close(force(direction.largest_slip), direction.largest);
                let other = 1 - i;
                assert_eq!(tyre.force(slip(i, 0.05)).force[other], 0.0);
                if direction.sliding_slip < 1.0 || i == 1 {
                    close(force(direction.sliding_slip), direction.sliding);
                    close(tyre.force(if i == 0 { [-1.0, 0.0] } else { [0.0, 3.0] }).force[i].abs(), direction.sliding);
                }
            }
        }
    }

    /// Checks that the force is a parabola over load: through 0, the value at the nominal load and the value at twice
    /// the load.
    #[test]
    fn friction_falls_with_load() {
        let largest = |load: f32| TEST_TYRE.prepare(&Conditions::upright(load, 20.0)).limit()[1];
        let at_half_again = 1.5 * (2.0 * 4200.0 - 0.5 * 7500.0 - (4200.0 - 0.5 * 7500.0) * 1.5);
        assert!((largest(6000.0) / at_half_again - 1.0).abs() < 1e-6);
        assert_eq!((largest(0.0), largest(-5.0)), (0.0, 0.0));
        assert!((largest(16000.0) / 15000.0 - 1.0).abs() < 1e-6, "in proportion beyond the data");
    }

    #[test]
    fn faults_are_named() {
        let flat = DirectionCurve { slope: 10e3, sliding: 5000.0, ..LONGITUDINAL_NOMINAL };
        let broken = TMeasy { nominal: [flat, LATERAL_NOMINAL], nominal_load: f32::NAN, ..TEST_TYRE };
        let names: Vec<_> = broken.faults().into_iter().map(|fault| fault.name).collect();
        assert_eq!(names, ["nominal_load", "slope", "sliding", "slope"]);
    }
}
