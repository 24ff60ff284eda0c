//! TMeasy: a curve through named points, at one load and at twice of it, along and across.
//!
//! G. Rill, *Road Vehicle Dynamics*, 2012, ch. 3 (and *TMeasy, the handling tire model*, Multibody System Dynamics
//! 2013): initial slope, largest force and its slip, sliding force and its slip; both directions are merged by
//! normalised slips. Forces only: its moments and its transition to standstill are left out.

use super::brush::theoretical;
use super::dual::{Dual, root};
use super::{
    Conditions, LEAST_GRIP, LEAST_LENGTH, LEAST_RELAXATION, PreparedTyre, Real, Response, TyreModel, ValueFault, demand,
};
use crate::lane::{Four, Lane, Spread, both};

/// The curve of one direction at one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    /// Slope at zero slip, N, > 0; not below twice the largest force over its slip, so that the curve rises smoothly.
    pub slope: f32,
    /// Largest force, N, > 0.
    pub largest: f32,
    /// Its slip (over rolling speed), > 0.
    pub largest_slip: f32,
    /// Force of full sliding, N, > 0, not above the largest.
    pub sliding: f32,
    /// Its slip, above that of the largest.
    pub sliding_slip: f32,
}

/// A TMeasy tyre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TMeasy {
    /// Nominal load, N, > 0.
    pub nominal_load: f32,
    /// Along and across at the nominal load.
    pub nominal: [Direction; 2],
    /// Along and across at twice the nominal load.
    pub double: [Direction; 2],
    /// Relaxation lengths along and across at the nominal load, m, > 0; in proportion to the slope under others, see
    /// [`super::CurveTyre::relaxation`].
    pub relaxation: [f32; 2],
}

/// A TMeasy tyre under given conditions.
#[derive(Clone, Copy, Debug)]
pub struct PreparedTMeasy<L> {
    curves: [Curve<L>; 2],
    /// What one slip counts in the merged slip: it is divided by this.
    reference: [L; 2],
    relaxation: [L; 2],
    /// 1 of a wheel that moves forwards, −1 backwards.
    heading: L,
}

/// The curve of one direction under a load.
#[derive(Clone, Copy, Debug)]
struct Curve<L> {
    slope: L,
    largest: L,
    largest_slip: L,
    sliding: L,
    sliding_slip: L,
}

/// What a tyre's curves are made of, ready to be asked: of one tyre, or of several side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TMeasyConstants<H> {
    nominal_load: H,
    /// Along and across.
    directions: [DirectionConstants<H>; 2],
}

/// The same of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DirectionConstants<H> {
    slope: ForceOverLoad<H>,
    largest: ForceOverLoad<H>,
    largest_slip: SlipOverLoad<H>,
    sliding: ForceOverLoad<H>,
    sliding_slip: SlipOverLoad<H>,
    /// Relaxation length per slope at the nominal load, m/N.
    give: H,
}

/// `linear x − square x²` at a load of x nominal ones: through nothing at no load, and both stated values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ForceOverLoad<H> {
    linear: H,
    square: H,
}

/// `nominal + rise (x − 1)` at a load of x nominal ones, but no less than `least`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SlipOverLoad<H> {
    nominal: H,
    rise: H,
    least: H,
}

/// Loads over the nominal one the data is good for; beyond, forces are proportional to load.
const LOADS: [f32; 2] = [0.05, 2.0];

impl TMeasy {
    /// Everything that is not as the fields say; results are finite for a tyre without faults.
    pub fn faults(&self) -> Vec<ValueFault> {
        let mut faults = Vec::new();
        let load = (1.0..=1e6).contains(&self.nominal_load);
        demand(&mut faults, load, "nominal_load", self.nominal_load, "a force from 1 to 1e6 N");
        for length in self.relaxation {
            let accepted = (LEAST_LENGTH..=100.0).contains(&length);
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

impl Direction {
    fn check(&self, faults: &mut Vec<ValueFault>) {
        let Self { slope, largest, largest_slip, sliding, sliding_slip } = *self;
        demand(faults, (1e-3..=1e7).contains(&largest), "largest", largest, "a force from 0.001 to 1e7 N");
        demand(faults, (1e-3..=10.0).contains(&largest_slip), "largest_slip", largest_slip, "a slip from 0.001 to 10");
        let least = 2.0 * largest / largest_slip;
        // The equal sign is meant: a parabola is the flattest rise.
        let steep = slope >= least * 0.999_999 && slope <= 1e9;
        demand(faults, steep, "slope", slope, "at least twice the largest force over its slip");
        demand(faults, sliding > 0.0 && sliding <= largest, "sliding", sliding, "a force above 0, up to the largest");
        let after = sliding_slip > largest_slip && sliding_slip <= 100.0;
        demand(faults, after, "sliding_slip", sliding_slip, "a slip above that of the largest force, up to 100");
    }

    /// Values over load are parabolas through nothing at no load, with a slope of `2 one - two / 2` there: from `two = 4 one` on
    /// they are negative at low loads.
    fn check_low_loads(&self, double: &Self, faults: &mut Vec<ValueFault>) {
        const BELOW_FOUR_TIMES: &str =
            "less than four times that at the nominal load, else it is negative at low loads";
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

    /// Camber and pressure have no effect, speed only through its sign. Grip scales the forces, and the slips with them, but not the slope.
    #[inline(always)]
    fn prepare<L: Lane>(&self, conditions: &Conditions<L>) -> PreparedTMeasy<L> {
        self.constants().at(conditions)
    }
}

impl TMeasy {
    pub(crate) fn constants(&self) -> TMeasyConstants<f32> {
        let of = |i: usize| DirectionConstants::of(&self.nominal[i], &self.double[i], self.relaxation[i]);
        TMeasyConstants { nominal_load: self.nominal_load, directions: [of(0), of(1)] }
    }
}

impl DirectionConstants<f32> {
    fn of(one: &Direction, two: &Direction, relaxation: f32) -> Self {
        let force = |one: f32, two: f32| ForceOverLoad { linear: 2.0 * one - 0.5 * two, square: one - 0.5 * two };
        let slip = |one: f32, two: f32| SlipOverLoad { nominal: one, rise: two - one, least: 0.1 * one };
        Self {
            slope: force(one.slope, two.slope),
            largest: force(one.largest, two.largest),
            largest_slip: slip(one.largest_slip, two.largest_slip),
            sliding: force(one.sliding, two.sliding),
            sliding_slip: slip(one.sliding_slip, two.sliding_slip),
            give: relaxation / one.slope,
        }
    }
}

impl<H: Copy> TMeasyConstants<H> {
    /// Every number as `to` has those of four tyres.
    fn joined<T: Copy>(tyres: [&Self; 4], to: impl Fn([H; 4]) -> T) -> TMeasyConstants<T> {
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
                give: one(&|tyre| tyre.give),
            }
        };
        TMeasyConstants {
            nominal_load: to(tyres.map(|tyre| tyre.nominal_load)),
            directions: [direction(0), direction(1)],
        }
    }

    /// The tyre under `conditions`.
    #[inline(always)]
    pub(crate) fn at<L: Lane>(&self, conditions: &Conditions<L>) -> PreparedTMeasy<L>
    where
        H: Spread<L>,
    {
        let s = L::splat;
        let present = conditions.load.within(s(0.0), s(1e9)) / self.nominal_load.spread();
        let load = present.within(s(LOADS[0]), s(LOADS[1]));
        let excess = present / load;
        let grip = conditions.grip.within(s(LEAST_GRIP), s(1e3));
        let fade = conditions.grip.within(s(0.0), grip) / grip;
        let curves = both(
            #[inline(always)]
            |i| {
                let of = &self.directions[i];
                Curve {
                    slope: of.slope.at(load) * excess * fade,
                    largest: of.largest.at(load) * excess * grip * fade,
                    largest_slip: of.largest_slip.at(load) * grip,
                    sliding: of.sliding.at(load) * excess * grip * fade,
                    sliding_slip: of.sliding_slip.at(load) * grip,
                }
            },
        );
        let [along, across] = both(|i| curves[i].largest_slip);
        let rise = both(|i| curves[i].largest / curves[i].slope.at_least(s(1e-6)));
        let rises = (rise[0] + rise[1]).at_least(s(1e-12));
        PreparedTMeasy {
            curves,
            reference: [along / (along + across) + rise[0] / rises, across / (along + across) + rise[1] / rises],
            relaxation: both(|i| (curves[i].slope * self.directions[i].give.spread()).at_least(s(LEAST_RELAXATION))),
            heading: conditions.speed.sign(),
        }
    }
}

impl TMeasyConstants<Four> {
    /// Four tyres side by side.
    pub(crate) fn side_by_side(tyres: [&TMeasyConstants<f32>; 4]) -> Self {
        TMeasyConstants::joined(tyres, Four::new)
    }

    /// Every number as `to` has it.
    #[cfg(feature = "abreast")]
    pub(crate) fn map<T: Copy>(&self, to: impl Fn(Four) -> T) -> TMeasyConstants<T> {
        Self::joined([self; 4], |[one, ..]| to(one))
    }
}

impl<H: Copy> ForceOverLoad<H> {
    #[inline(always)]
    fn at<L: Lane>(&self, load: L) -> L
    where
        H: Spread<L>,
    {
        load * (self.linear.spread() - self.square.spread() * load)
    }
}

impl<H: Copy> SlipOverLoad<H> {
    #[inline(always)]
    fn at<L: Lane>(&self, load: L) -> L
    where
        H: Spread<L>,
    {
        (self.nominal.spread() + self.rise.spread() * (load - L::splat(1.0))).at_least(self.least.spread())
    }
}

impl<L: Lane> PreparedTMeasy<L> {
    #[inline(always)]
    fn forces<R: Real<L>>(&self, slip: [R; 2]) -> [R; 2] {
        let s = L::splat;
        let one = s(1.0);
        let slip = theoretical(slip, self.heading);
        let scaled = both(
            #[inline(always)]
            |i| slip[i] * (one / self.reference[i]),
        );
        let size = root(scaled[0] * scaled[0] + scaled[1] * scaled[1], s(1e-12));
        let resting = size.value().less(s(2e-6));
        let at_rest = R::constant(s(std::f32::consts::FRAC_1_SQRT_2));
        let direction = both(
            #[inline(always)]
            |i| R::choose(resting, at_rest, scaled[i] / size),
        );
        let [x, y] = self.curves;
        let ones = [one; 2];
        let over = both(
            #[inline(always)]
            |i| one / self.reference[i],
        );
        let rise = Rise {
            slope: merged(direction, [x.slope, y.slope], self.reference),
            largest: merged(direction, [x.largest, y.largest], ones),
            largest_slip: merged(direction, [x.largest_slip, y.largest_slip], over),
        };
        let per_slip = force_per_slip(
            size,
            rise,
            #[inline(always)]
            || Fall {
                sliding: merged(direction, [x.sliding, y.sliding], ones),
                sliding_slip: merged(direction, [x.sliding_slip, y.sliding_slip], over),
            },
        );
        // At rest each direction has its own slope.
        both(
            #[inline(always)]
            |i| R::choose(resting, slip[i] * self.curves[i].slope, scaled[i] * per_slip),
        )
    }
}

/// Of both numbers, each in its own direction and times its `scale`, the one that counts in `direction`.
#[inline(always)]
fn merged<L: Lane, R: Real<L>>(direction: [R; 2], of: [L; 2], scale: [L; 2]) -> R {
    let [x, y] = [direction[0] * (of[0] * scale[0]), direction[1] * (of[1] * scale[1])];
    root(x * x + y * y, L::splat(1e-12))
}

/// The curve over the merged slip in one direction, up to the largest force.
struct Rise<R> {
    slope: R,
    largest: R,
    largest_slip: R,
}

/// The same beyond it.
struct Fall<R> {
    sliding: R,
    sliding_slip: R,
}

/// Force over slip at the merged slip `size`: a rational rise to the largest force, a cubic `fall` to the sliding one, which is looked at
/// only where some slip is as large, and constant from there on.
#[inline(always)]
fn force_per_slip<L: Lane, R: Real<L>>(size: R, rise: Rise<R>, fall: impl FnOnce() -> Fall<R>) -> R {
    let s = L::splat;
    let one = s(1.0);
    let Rise { slope, largest, largest_slip } = rise;
    let x = size / largest_slip;
    let rises = x.value().less(one);
    let steepness = slope * largest_slip / largest;
    let rising = slope / (x * (x + steepness - s(2.0)) + one);
    if !L::any(!rises) {
        return rising;
    }
    let Fall { sliding, sliding_slip } = fall();
    let fallen = (size - largest_slip) / (sliding_slip - largest_slip);
    let fallen = super::dual::within(fallen, s(0.0), one);
    let fall = (largest - sliding) * fallen * fallen * (-(fallen + fallen) + s(3.0));
    R::choose(rises, rising, (largest - fall) / size)
}

impl<L: Lane> PreparedTyre<L> for PreparedTMeasy<L> {
    #[inline(always)]
    fn force(&self, slip: [L; 2]) -> Response<L> {
        let forces = self.forces([Dual::<L, 2>::input(slip[0], 0), Dual::input(slip[1], 1)]);
        Response { force: [forces[0].value, forces[1].value], slope: [forces[0].slope[0], forces[1].slope[1]] }
    }

    #[inline(always)]
    fn stiffness(&self) -> [L; 2] {
        both(|i| self.curves[i].slope)
    }

    #[inline(always)]
    fn limit(&self) -> [L; 2] {
        both(|i| self.curves[i].largest)
    }

    #[inline(always)]
    fn relaxation(&self) -> [L; 2] {
        self.relaxation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONG: Direction =
        Direction { slope: 120e3, largest: 4400.0, largest_slip: 0.11, sliding: 4300.0, sliding_slip: 0.5 };
    const ACROSS: Direction =
        Direction { slope: 90e3, largest: 4200.0, largest_slip: 0.2, sliding: 4100.0, sliding_slip: 0.8 };
    const ALONG_2: Direction =
        Direction { slope: 200e3, largest: 8700.0, largest_slip: 0.12, sliding: 7500.0, sliding_slip: 0.8 };
    const ACROSS_2: Direction =
        Direction { slope: 130e3, largest: 7500.0, largest_slip: 0.24, sliding: 7400.0, sliding_slip: 1.0 };
    const TYRE: TMeasy =
        TMeasy { nominal_load: 4000.0, nominal: [ALONG, ACROSS], double: [ALONG_2, ACROSS_2], relaxation: [0.1, 0.3] };

    /// Slip (κ or −tan α) whose slip over rolling speed is `theoretical`.
    fn slip(i: usize, theoretical: f32) -> [f32; 2] {
        if i == 0 { [theoretical / (1.0 - theoretical), 0.0] } else { [0.0, theoretical] }
    }

    /// Slope at zero, the largest and the sliding force at their slips, at both loads and in both directions.
    #[test]
    fn curves_pass_their_named_points() {
        assert!(TYRE.faults().is_empty(), "{:?}", TYRE.faults());
        for (load, directions) in [(4000.0, TYRE.nominal), (8000.0, TYRE.double)] {
            let tyre: PreparedTMeasy<f32> = TYRE.prepare(&Conditions::upright(load, 20.0));
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

    /// Between the loads the force bends down: a parabola through none, the nominal load and twice of it.
    #[test]
    fn friction_falls_with_load() {
        let largest = |load: f32| TYRE.prepare(&Conditions::upright(load, 20.0)).limit()[1];
        let at_half_again = 1.5 * (2.0 * 4200.0 - 0.5 * 7500.0 - (4200.0 - 0.5 * 7500.0) * 1.5);
        assert!((largest(6000.0) / at_half_again - 1.0).abs() < 1e-6);
        assert_eq!((largest(0.0), largest(-5.0)), (0.0, 0.0));
        assert!((largest(16000.0) / 15000.0 - 1.0).abs() < 1e-6, "in proportion beyond the data");
    }

    #[test]
    fn faults_are_named() {
        let flat = Direction { slope: 10e3, sliding: 5000.0, ..ALONG };
        let broken = TMeasy { nominal: [flat, ACROSS], nominal_load: f32::NAN, ..TYRE };
        let names: Vec<_> = broken.faults().into_iter().map(|fault| fault.name).collect();
        assert_eq!(names, ["nominal_load", "slope", "sliding", "slope"]);
    }
}
