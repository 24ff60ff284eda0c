//! TMeasy: longitudinal and lateral force curves through named points, at the nominal load and at twice the nominal
//! load.
//!
//! Source: G. Rill, *Road Vehicle Dynamics*, 2012, ch. 3 (and *TMeasy, the handling tire model*, Multibody System
//! Dynamics 2013). A curve has an initial slope, a largest force and its slip, a sliding force and its slip. Normalised
//! slips combine both directions. The module computes forces only; the moments and the standstill model of TMeasy are
//! not implemented.

#[cfg(feature = "simd_batch")]
mod numbers;

use super::brush::theoretical_slips;
use super::dual::{Dual, sqrt_at_least};
use super::{
    Conditions, MIN_GRIP, MIN_LENGTH_M, MIN_RELAXATION_LENGTH_M, PreparedTyre, Real, TyreForces, TyreModel, ValueFault,
    add_fault_unless,
};
use skidpad_simd::lane::{Broadcast, F32x4, Lane, pair_from_fn};

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
pub struct TMeasyConstants<H> {
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

/// Slip `nominal + increase (x − 1)` at x times the nominal load, at least `min`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SlipOverLoad<H> {
    /// Slip at the nominal load.
    nominal: H,
    /// Difference of the slip from the nominal load to twice that.
    increase: H,
    /// Least slip.
    min: H,
}

/// Range of load over nominal load in which the curves are evaluated. Outside the range, forces are proportional to
/// load.
const LOAD_RATIO_RANGE: [f32; 2] = [0.05, 2.0];

impl TMeasy {
    /// Returns every value that violates the rule of its field, or an empty list. Checks in this order: nominal load (1
    /// to 1e6 N), relaxation lengths (1e-5 to 100 m), and the values of all four curves ([`DirectionCurve`]). Finally,
    /// a slope or force at twice the nominal load must be below four times the nominal one; otherwise the curve over
    /// load would be negative at low loads. Results are finite for a tyre without faults.
    pub fn faults(&self) -> Vec<ValueFault> {
        let mut faults = Vec::new();
        let is_load_valid = (1.0..=1e6).contains(&self.nominal_load);
        add_fault_unless(&mut faults, is_load_valid, "nominal_load", self.nominal_load, "a force from 1 to 1e6 N");
        for length in self.relaxation {
            let is_accepted = (MIN_LENGTH_M..=100.0).contains(&length);
            add_fault_unless(&mut faults, is_accepted, "relaxation", length, "a length from 1e-5 to 100 m");
        }
        for direction in self.nominal.iter().chain(&self.double) {
            direction.check(&mut faults);
        }
        for (nominal, double) in self.nominal.iter().zip(&self.double) {
            nominal.check_low_loads(double, &mut faults);
        }
        faults
    }
}

impl DirectionCurve {
    /// Adds a fault for every value outside its range. The largest force is 0.001 to 1e7 N, and its slip 0.001 to 10.
    /// The slope is at least twice the largest force over its slip, up to 1e9 N. The sliding force is above 0, up to
    /// the largest force. Its slip is above that of the largest force, up to 100.
    fn check(&self, faults: &mut Vec<ValueFault>) {
        let Self { slope, largest, largest_slip, sliding, sliding_slip } = *self;
        add_fault_unless(faults, (1e-3..=1e7).contains(&largest), "largest", largest, "a force from 0.001 to 1e7 N");
        add_fault_unless(
            faults,
            (1e-3..=10.0).contains(&largest_slip),
            "largest_slip",
            largest_slip,
            "a slip from 0.001 to 10",
        );
        let min_slope = 2.0 * largest / largest_slip;
        // A smaller slope would start with a convex curve. The factor allows for rounding.
        let is_slope_valid = slope >= min_slope * 0.999_999 && slope <= 1e9;
        add_fault_unless(
            faults,
            is_slope_valid,
            "slope",
            slope,
            "at least twice the maximum force divided by its slip",
        );
        add_fault_unless(
            faults,
            sliding > 0.0 && sliding <= largest,
            "sliding",
            sliding,
            "a force above 0, at most the maximum force",
        );
        let is_sliding_slip_valid = sliding_slip > largest_slip && sliding_slip <= 100.0;
        add_fault_unless(
            faults,
            is_sliding_slip_valid,
            "sliding_slip",
            sliding_slip,
            "a slip above that of the maximum force, at most 100",
        );
    }

    /// Adds a fault for slope, largest and sliding force in `double` (the curve at twice the nominal load) that is not
    /// below four times that of `self` (nominal load). They are parabolas over load that pass through 0 at zero load
    /// with the slope `2 nominal_value − double_value / 2`, which would be negative at low loads.
    fn check_low_loads(&self, double: &Self, faults: &mut Vec<ValueFault>) {
        const BELOW_FOUR_TIMES: &str =
            "less than four times the value at the nominal load; otherwise it is negative at low loads";
        for (name, nominal_value, double_value) in [
            ("slope", self.slope, double.slope),
            ("largest", self.largest, double.largest),
            ("sliding", self.sliding, double.sliding),
        ] {
            add_fault_unless(faults, double_value < 4.0 * nominal_value, name, double_value, BELOW_FOUR_TIMES);
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
    pub fn constants(&self) -> TMeasyConstants<f32> {
        let direction = |i: usize| DirectionConstants::new(&self.nominal[i], &self.double[i], self.relaxation[i]);
        TMeasyConstants { nominal_load: self.nominal_load, directions: [direction(0), direction(1)] }
    }
}

impl DirectionConstants<f32> {
    /// Fits the load dependence of one direction through its values at the nominal load (`nominal`) and at twice that
    /// load (`double`): forces and slopes by parabolas `linear x − square x²`, slips by straight lines, where x is the
    /// load over the nominal load. Slips are at least a tenth of the nominal ones. `relaxation` is the relaxation
    /// length at the nominal load, m.
    fn new(nominal: &DirectionCurve, double: &DirectionCurve, relaxation: f32) -> Self {
        let force = |at_nominal: f32, at_double: f32| ForceOverLoad {
            linear: 2.0 * at_nominal - 0.5 * at_double,
            square: at_nominal - 0.5 * at_double,
        };
        let slip = |at_nominal: f32, at_double: f32| SlipOverLoad {
            nominal: at_nominal,
            increase: at_double - at_nominal,
            min: 0.1 * at_nominal,
        };
        Self {
            slope: force(nominal.slope, double.slope),
            largest: force(nominal.largest, double.largest),
            largest_slip: slip(nominal.largest_slip, double.largest_slip),
            sliding: force(nominal.sliding, double.sliding),
            sliding_slip: slip(nominal.sliding_slip, double.sliding_slip),
            carcass_compliance: relaxation / nominal.slope,
        }
    }
}

impl<H: Copy> TMeasyConstants<H> {
    /// Combines four tyres: applies `combine` to the four values of each coefficient, in the order of `tyres`, and
    /// returns the results as a set of coefficients.
    fn zip_tyres<T: Copy>(tyres: [&Self; 4], combine: impl Fn([H; 4]) -> T) -> TMeasyConstants<T> {
        // Direction 0 is longitudinal, 1 lateral.
        let direction = |i: usize| {
            let tyres = tyres.map(|tyre| &tyre.directions[i]);
            let combine_field = |field: &dyn Fn(&DirectionConstants<H>) -> H| combine(tyres.map(field));
            let force = |field: fn(&DirectionConstants<H>) -> &ForceOverLoad<H>| ForceOverLoad {
                linear: combine_field(&|tyre| field(tyre).linear),
                square: combine_field(&|tyre| field(tyre).square),
            };
            let slip = |field: fn(&DirectionConstants<H>) -> &SlipOverLoad<H>| SlipOverLoad {
                nominal: combine_field(&|tyre| field(tyre).nominal),
                increase: combine_field(&|tyre| field(tyre).increase),
                min: combine_field(&|tyre| field(tyre).min),
            };
            DirectionConstants {
                slope: force(|tyre| &tyre.slope),
                largest: force(|tyre| &tyre.largest),
                largest_slip: slip(|tyre| &tyre.largest_slip),
                sliding: force(|tyre| &tyre.sliding),
                sliding_slip: slip(|tyre| &tyre.sliding_slip),
                carcass_compliance: combine_field(&|tyre| tyre.carcass_compliance),
            }
        };
        TMeasyConstants {
            nominal_load: combine(tyres.map(|tyre| tyre.nominal_load)),
            directions: [direction(0), direction(1)],
        }
    }

    /// Computes the tyre under `conditions`. The curves are evaluated at the load clamped to `LOAD_RATIO_RANGE` times
    /// the nominal load; outside this range, slopes and forces change in proportion to load. Grip (at least `MIN_GRIP`)
    /// scales forces and slips, not slopes. Below `MIN_GRIP` all slopes and forces fade to 0. NaN counts as 0.
    ///
    /// The slips of both directions are divided by reference slips before they are combined. The reference slip of a
    /// direction is the sum of two shares: its slip of the largest force over the sum of both, and its ratio of largest
    /// force to slope over the sum of both ratios. Relaxation lengths are slope times carcass compliance, at least
    /// [`MIN_RELAXATION_LENGTH_M`].
    #[inline(always)]
    pub fn prepare<L: Lane>(&self, conditions: &Conditions<L>) -> PreparedTMeasy<L>
    where
        H: Broadcast<L>,
    {
        let s = L::splat;
        // Load over nominal load, then clamped to the range of the curves, and the factor between both.
        let relative_load = conditions.load.clamp_nan_to_low(s(0.0), s(1e9)) / self.nominal_load.broadcast();
        let clamped_load = relative_load.clamp_nan_to_low(s(LOAD_RATIO_RANGE[0]), s(LOAD_RATIO_RANGE[1]));
        let load_factor = relative_load / clamped_load;
        let grip = conditions.grip.clamp_nan_to_low(s(MIN_GRIP), s(1e3));
        let fade = conditions.grip.clamp_nan_to_low(s(0.0), grip) / grip; // below 1 under the minimum grip
        let curves = pair_from_fn(
            #[inline(always)]
            |i| {
                let direction = &self.directions[i];
                LoadedCurve {
                    slope: direction.slope.at_load(clamped_load) * load_factor * fade,
                    largest: direction.largest.at_load(clamped_load) * load_factor * grip * fade,
                    largest_slip: direction.largest_slip.at_load(clamped_load) * grip,
                    sliding: direction.sliding.at_load(clamped_load) * load_factor * grip * fade,
                    sliding_slip: direction.sliding_slip.at_load(clamped_load) * grip,
                }
            },
        );
        let [peak_slip_x, peak_slip_y] = pair_from_fn(|i| curves[i].largest_slip);
        // Force over slope: slip at which the initial slope would reach the largest force.
        // The bounds 1e-6 N and 1e-12 avoid divisions by 0 without load.
        let linear_slips = pair_from_fn(|i| curves[i].largest / curves[i].slope.at_least(s(1e-6)));
        let linear_slip_sum = (linear_slips[0] + linear_slips[1]).at_least(s(1e-12));
        PreparedTMeasy {
            curves,
            reference: [
                peak_slip_x / (peak_slip_x + peak_slip_y) + linear_slips[0] / linear_slip_sum,
                peak_slip_y / (peak_slip_x + peak_slip_y) + linear_slips[1] / linear_slip_sum,
            ],
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
    pub fn pack_lanes(tyres: [&TMeasyConstants<f32>; 4]) -> Self {
        TMeasyConstants::zip_tyres(tyres, F32x4::new)
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
        (self.nominal.broadcast() + self.increase.broadcast() * (load - L::splat(1.0))).at_least(self.min.broadcast())
    }
}

impl<L: Lane> PreparedTMeasy<L> {
    /// Computes the forces, N, at the slips (κ, −tan α), generic over numbers with derivatives. First converts the
    /// slips to slips relative to the rim speed, and divides them by the reference slips. The combined slip is the
    /// length of this normalised slip. Then combines the curve parameters of both directions for the direction of the
    /// normalised slip, and evaluates the resulting curve at the combined slip. The force has the direction of the
    /// normalised slip. Below a combined slip of 2e-6 each direction has the force slip times its own slope.
    #[inline(always)]
    fn forces<R: Real<L>>(&self, slip: [R; 2]) -> [R; 2] {
        let s = L::splat;
        let one = s(1.0);
        let slip = theoretical_slips(slip, self.heading);
        let normalised_slip = pair_from_fn(
            #[inline(always)]
            |i| slip[i] * (one / self.reference[i]),
        );
        let combined_slip =
            sqrt_at_least(normalised_slip[0] * normalised_slip[0] + normalised_slip[1] * normalised_slip[1], s(1e-12));
        // Below this combined slip the direction is not defined: a diagonal stands in. The floor of the root is 1e-6.
        let is_at_rest = combined_slip.value().less(s(2e-6));
        let rest_component = R::constant(s(std::f32::consts::FRAC_1_SQRT_2));
        let direction = pair_from_fn(
            #[inline(always)]
            |i| R::choose(is_at_rest, rest_component, normalised_slip[i] / combined_slip),
        );
        let [x, y] = self.curves;
        let unit_scale = [one; 2];
        let inverse_reference = pair_from_fn(
            #[inline(always)]
            |i| one / self.reference[i],
        );
        // Normalised slip = slip / reference: slopes are scaled by the reference, slips by its inverse, forces not.
        let rising_curve = RisingCurve {
            slope: combine_directions(direction, [x.slope, y.slope], self.reference),
            largest: combine_directions(direction, [x.largest, y.largest], unit_scale),
            largest_slip: combine_directions(direction, [x.largest_slip, y.largest_slip], inverse_reference),
        };
        let per_slip = force_per_slip(
            combined_slip,
            rising_curve,
            #[inline(always)]
            || FallingCurve {
                sliding: combine_directions(direction, [x.sliding, y.sliding], unit_scale),
                sliding_slip: combine_directions(direction, [x.sliding_slip, y.sliding_slip], inverse_reference),
            },
        );
        // At zero slip each direction has its own slope.
        pair_from_fn(
            #[inline(always)]
            |i| R::choose(is_at_rest, slip[i] * self.curves[i].slope, normalised_slip[i] * per_slip),
        )
    }
}

/// Returns the value of a curve parameter in the slip `direction` (unit vector): the root of the sum of squares of
/// `direction[i] values[i] scale[i]`.
#[inline(always)]
fn combine_directions<L: Lane, R: Real<L>>(direction: [R; 2], values: [L; 2], scale: [L; 2]) -> R {
    let [x, y] = [direction[0] * (values[0] * scale[0]), direction[1] * (values[1] * scale[1])];
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

/// Returns the force over the `combined_slip`, N. The force is a rational function of slip up to the largest force,
/// then a cubic down to the sliding force, and constant beyond. At zero slip the result is the slope. `falling_curve`
/// returns the parameters beyond the largest force; it is called only if some lane is there.
#[inline(always)]
fn force_per_slip<L: Lane, R: Real<L>>(
    combined_slip: R,
    rising_curve: RisingCurve<R>,
    falling_curve: impl FnOnce() -> FallingCurve<R>,
) -> R {
    let s = L::splat;
    let one = s(1.0);
    let RisingCurve { slope, largest, largest_slip } = rising_curve;
    let x = combined_slip / largest_slip;
    let is_rising = x.value().less(one);
    let steepness = slope * largest_slip / largest;
    // F / s = slope / (1 + x (x + steepness − 2)) at the share x of the peak slip; at x = 1 largest / largest_slip.
    let rising_per_slip = slope / (x * (x + steepness - s(2.0)) + one);
    if !L::any(!is_rising) {
        return rising_per_slip;
    }
    let FallingCurve { sliding, sliding_slip } = falling_curve();
    let fall_share = (combined_slip - largest_slip) / (sliding_slip - largest_slip);
    let fall_share = super::dual::clamp(fall_share, s(0.0), one);
    // Cubic t² (3 − 2 t) of the way from the largest to the sliding force.
    let force_loss = (largest - sliding) * fall_share * fall_share * (-(fall_share + fall_share) + s(3.0));
    R::choose(is_rising, rising_per_slip, (largest - force_loss) / combined_slip)
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

    /// Returns the slips (κ, −tan α) of a forward rolling wheel whose slip relative to the rim speed is `theoretical`
    /// in direction `i` (0 longitudinal, 1 lateral) and 0 in the other.
    fn slip(i: usize, theoretical: f32) -> [f32; 2] {
        if i == 0 { [theoretical / (1.0 - theoretical), 0.0] } else { [0.0, theoretical] }
    }

    /// Checks the slope at zero slip, and the largest and the sliding force at their slips, for both loads and both
    /// directions. Slip in one direction has no force in the other. Sliding slips of 1 and more are not reachable
    /// longitudinally and are left out.
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

    /// Checks that the largest lateral force is a parabola over load: at 1.5 times the nominal load, 0 at zero and
    /// negative load, and proportional to load beyond twice the nominal load.
    #[test]
    fn friction_falls_with_load() {
        let largest = |load: f32| TEST_TYRE.prepare(&Conditions::upright(load, 20.0)).limit()[1];
        let at_half_again = 1.5 * (2.0 * 4200.0 - 0.5 * 7500.0 - (4200.0 - 0.5 * 7500.0) * 1.5);
        assert!((largest(6000.0) / at_half_again - 1.0).abs() < 1e-6);
        assert_eq!((largest(0.0), largest(-5.0)), (0.0, 0.0));
        assert!((largest(16000.0) / 15000.0 - 1.0).abs() < 1e-6, "in proportion beyond the data");
    }

    /// Checks the names and the order of the faults of a tyre with a NaN load and a curve whose slope is too small and
    /// whose sliding force is too large. The slope at twice the load is then also more than four times as large.
    #[test]
    fn faults_are_named() {
        let flat = DirectionCurve { slope: 10e3, sliding: 5000.0, ..LONGITUDINAL_NOMINAL };
        let broken = TMeasy { nominal: [flat, LATERAL_NOMINAL], nominal_load: f32::NAN, ..TEST_TYRE };
        let names: Vec<_> = broken.faults().into_iter().map(|fault| fault.name).collect();
        assert_eq!(names, ["nominal_load", "slope", "sliding", "slope"]);
    }
}
