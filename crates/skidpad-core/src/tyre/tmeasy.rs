//! TMeasy: a curve through named points, at one load and at twice of it, along and across.
//!
//! G. Rill, *Road Vehicle Dynamics*, 2012, ch. 3 (and *TMeasy, the handling tire model*, Multibody System Dynamics
//! 2013): initial slope, largest force and its slip, sliding force and its slip; both directions are merged by
//! normalised slips. Forces only: its moments and its transition to standstill are left out.

use super::brush::theoretical;
use super::dual::{Dual, root};
use super::{Conditions, LEAST_RELAXATION, Lane, Real, Response, TyreAt, TyreModel};

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
    /// Relaxation lengths along and across at the nominal load, m, > 0.
    pub relaxation: [f32; 2],
}

/// A TMeasy tyre under given conditions.
#[derive(Clone, Copy, Debug)]
pub struct TMeasyAt<L> {
    curves: [Curve<L>; 2],
    /// What one slip counts in the merged slip: it is divided by this.
    reference: [L; 2],
    relaxation: [L; 2],
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

/// Loads over the nominal one the data is good for; beyond, forces are proportional to load.
const LOADS: [f32; 2] = [0.05, 2.0];

impl TyreModel for TMeasy {
    type At<L: Lane> = TMeasyAt<L>;

    /// Camber, speed and pressure have no effect. Grip scales the forces, and the slips with them, but not the slope.
    #[inline]
    fn at<L: Lane>(&self, conditions: &Conditions<L>) -> TMeasyAt<L> {
        let s = L::splat;
        let present = conditions.load.within(s(0.0), s(1e9)) / s(self.nominal_load);
        let load = present.within(s(LOADS[0]), s(LOADS[1]));
        let excess = present / load;
        let grip = conditions.grip.within(s(1e-3), s(1e3));
        let fade = conditions.grip.within(s(0.0), grip) / grip;
        let curves = [0, 1].map(|i| {
            let (one, two) = (self.nominal[i], self.double[i]);
            // Through nothing at no load, and both stated values.
            let force = |one: f32, two: f32| load * (s(2.0 * one - 0.5 * two) - s(one - 0.5 * two) * load) * excess;
            let slip = |one: f32, two: f32| (s(one) + s(two - one) * (load - s(1.0))).at_least(s(0.1 * one)) * grip;
            Curve {
                slope: force(one.slope, two.slope) * fade,
                largest: force(one.largest, two.largest) * grip * fade,
                largest_slip: slip(one.largest_slip, two.largest_slip),
                sliding: force(one.sliding, two.sliding) * grip * fade,
                sliding_slip: slip(one.sliding_slip, two.sliding_slip),
            }
        });
        let [along, across] = [0, 1].map(|i| curves[i].largest_slip);
        let rise = curves.map(|curve| curve.largest / curve.slope.at_least(s(1e-6)));
        let rises = (rise[0] + rise[1]).at_least(s(1e-12));
        TMeasyAt {
            curves,
            reference: [along / (along + across) + rise[0] / rises, across / (along + across) + rise[1] / rises],
            relaxation: self.relaxation.map(|length| s(length).at_least(s(LEAST_RELAXATION))),
        }
    }
}

impl<L: Lane> TMeasyAt<L> {
    #[inline(always)]
    fn forces<R: Real<L>>(&self, slip: [R; 2]) -> [R; 2] {
        let s = L::splat;
        let one = s(1.0);
        let slip = theoretical(slip);
        let scaled = [0, 1].map(|i| slip[i] * (one / self.reference[i]));
        let size = root(scaled[0] * scaled[0] + scaled[1] * scaled[1], s(1e-12));
        let resting = size.value().less(s(2e-6));
        let direction =
            scaled.map(|scaled| R::choose(resting, R::constant(s(std::f32::consts::FRAC_1_SQRT_2)), scaled / size));
        let merged = |each: fn(&Curve<L>) -> L, scale: [L; 2]| {
            let [x, y] = [0, 1].map(|i| direction[i] * (each(&self.curves[i]) * scale[i]));
            root(x * x + y * y, s(1e-12))
        };
        let ones = [one; 2];
        let over = self.reference.map(|reference| one / reference);
        let curve = Merged {
            slope: merged(|curve| curve.slope, self.reference),
            largest: merged(|curve| curve.largest, ones),
            largest_slip: merged(|curve| curve.largest_slip, over),
            sliding: merged(|curve| curve.sliding, ones),
            sliding_slip: merged(|curve| curve.sliding_slip, over),
        };
        let per_slip = curve.force_per_slip(size);
        // At rest each direction has its own slope.
        [0, 1].map(|i| {
            let elastic = slip[i] * self.curves[i].slope;
            R::choose(resting, elastic, scaled[i] * per_slip)
        })
    }
}

/// The curve over the merged slip in one direction.
struct Merged<R> {
    slope: R,
    largest: R,
    largest_slip: R,
    sliding: R,
    sliding_slip: R,
}

impl<R> Merged<R> {
    /// Force over slip at the merged slip `size`: a rational rise to the largest force, a cubic fall to the sliding one,
    /// and constant from there on.
    #[inline(always)]
    fn force_per_slip<L: Lane>(self, size: R) -> R
    where
        R: Real<L>,
    {
        let s = L::splat;
        let one = s(1.0);
        let x = size / self.largest_slip;
        let steepness = self.slope * self.largest_slip / self.largest;
        let rising = self.slope / (x * (x + steepness - s(2.0)) + one);
        let fallen = (size - self.largest_slip) / (self.sliding_slip - self.largest_slip);
        let fallen = super::dual::within(fallen, s(0.0), one);
        let fall = (self.largest - self.sliding) * fallen * fallen * (-(fallen + fallen) + s(3.0));
        let falling = (self.largest - fall) / size;
        R::choose(x.value().less(one), rising, falling)
    }
}

impl<L: Lane> TyreAt<L> for TMeasyAt<L> {
    #[inline]
    fn force(&self, slip: [L; 2]) -> Response<L> {
        let forces = self.forces([Dual::<L, 2>::input(slip[0], 0), Dual::input(slip[1], 1)]);
        Response { force: forces.map(|f| f.value), slope: [forces[0].slope[0], forces[1].slope[1]] }
    }

    #[inline]
    fn stiffness(&self) -> [L; 2] {
        self.curves.map(|curve| curve.slope)
    }

    #[inline]
    fn limit(&self) -> [L; 2] {
        self.curves.map(|curve| curve.largest)
    }

    #[inline]
    fn relaxation(&self) -> [L; 2] {
        self.relaxation
    }
}
