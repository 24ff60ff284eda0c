//! Brush model with a parabolic pressure distribution: the bristles bend, then slide.
//!
//! Source: H. B. Pacejka, *Tire and Vehicle Dynamics*, 3rd ed. 2012, ch. 3.2: closed forms of the steady state. The
//! model has two parameters: the stiffness at zero slip, `2 c a²`, and the slip at which all of the patch slides,
//! `3 μ Fz / (2 c a²)` (theoretical slip; for pure side slip the tangent of the slip angle).
//!
//! If the longitudinal and lateral stiffness differ, the bristles bend in the direction of the elastic force. When the
//! patch begins to slide, the force turns towards the direction of the sliding velocity, which it reaches at full
//! sliding. For equal stiffness this is the isotropic closed form. For equal stiffness and equal friction in both
//! directions, pure side slip results in Fiala's law (E. Fiala, *Seitenkräfte am rollenden Luftreifen*, VDI-Z. 96,
//! 1954).

use super::dual::{Dual, sqrt_at_least};
use super::{
    Conditions, MIN_GRIP, MIN_RELAXATION_LENGTH_M, Moments, PreparedTyre, Real, TyreForces, TyreModel, ValueFault,
    add_fault_unless, friction_ratio, peak_friction_load,
};
use skidpad_simd::lane::{Lane, pair_from_fn};

/// Brush tyre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brush {
    /// Longitudinal and lateral bristle stiffness per length of the patch, N/m², > 0.
    pub bristle_stiffness: [f32; 2],
    /// Half length of the patch at the nominal load, m, > 0. Proportional to the square root of the load.
    pub half_length: f32,
    /// Longitudinal and lateral friction coefficients at the nominal load, –, > 0.
    pub friction: [f32; 2],
    /// Relative loss of friction per relative excess of load, in [0, 1).
    pub load_sensitivity: f32,
    /// Load at which the other values apply, N, > 0.
    pub nominal_load: f32,
}

/// Brush tyre under given conditions.
#[derive(Clone, Copy, Debug)]
pub struct PreparedBrush<L> {
    /// Slopes at zero slip, N per unit slip.
    stiffness: [L; 2],
    /// Largest forces, N.
    limit: [L; 2],
    /// Half length of the patch at the load, m.
    half_length: L,
    /// Direction of travel of the wheel: 1 forwards, −1 backwards.
    heading: L,
}

/// Share of the slip of full sliding below which the force is linear in slip. The relative error is of the same size.
const MAX_LINEAR_SLIP_SHARE: f32 = 1e-6;

/// Minimum rim speed over wheel speed. Below it (a locked wheel) all bristles slide.
pub const MIN_ROLLING_RATIO: f32 = 0.01;

impl Brush {
    /// Returns every value that violates the rule of its field or is of absurd size, or an empty list. Checks for each
    /// direction bristle stiffness (up to 1e12 N/m²) and friction (up to 100), then half length (up to 1 m) and nominal
    /// load (up to 1e6 N), all above 0, and finally load sensitivity (0 to below 1). Results are finite for a tyre
    /// without faults.
    pub fn faults(&self) -> Vec<ValueFault> {
        let mut faults = Vec::new();
        let mut positive = |name, value: f32, max: f32| {
            add_fault_unless(&mut faults, value > 0.0 && value <= max, name, value, "a finite number above 0");
        };
        for (stiffness, friction) in self.bristle_stiffness.into_iter().zip(self.friction) {
            positive("bristle_stiffness", stiffness, 1e12);
            positive("friction", friction, 100.0);
        }
        positive("half_length", self.half_length, 1.0);
        positive("nominal_load", self.nominal_load, 1e6);
        let is_in_range = (0.0..1.0).contains(&self.load_sensitivity);
        add_fault_unless(
            &mut faults,
            is_in_range,
            "load_sensitivity",
            self.load_sensitivity,
            "a number from 0 to below 1",
        );
        faults
    }
}

impl TyreModel for Brush {
    type Prepared<L: Lane> = PreparedBrush<L>;

    /// Computes the tyre under `conditions`. Camber and pressure have no effect, and only the sign of the speed has
    /// one. Stiffness is proportional to load and independent of grip; the half length is proportional to the square
    /// root of the load. The friction limit is proportional to grip (at least `MIN_GRIP`). Over load, the limit has
    /// load sensitivity up to its maximum and is constant above. Below `MIN_GRIP`, stiffness and limit fade to 0. NaN
    /// loads and grips count as 0.
    #[inline(always)]
    fn prepare<L: Lane>(&self, conditions: &Conditions<L>) -> PreparedBrush<L> {
        let s = L::splat;
        // Upper bounds keep products finite.
        let load = conditions.load.clamp_nan_to_low(s(0.0), s(1e9));
        let relative_load = load / s(self.nominal_load);
        // Relative load up to that of the largest friction limit, and its share of the actual one (1 without load).
        let clamped_load = relative_load.at_most(s(peak_friction_load(self.load_sensitivity)));
        let clamped_share = (clamped_load / relative_load).at_most(s(1.0));
        let friction_share = friction_ratio(s(self.load_sensitivity), clamped_load - s(1.0), clamped_share);
        let grip = conditions.grip.clamp_nan_to_low(s(MIN_GRIP), s(1e3));
        // Below the minimum grip, forces and stiffness fade to 0.
        let fade = conditions.grip.clamp_nan_to_low(s(0.0), grip) / grip;
        // Stiffness `2 c a²` over c at the nominal load, m².
        let squared_lengths = 2.0 * self.half_length * self.half_length;
        PreparedBrush {
            stiffness: self.bristle_stiffness.map(|stiffness| s(stiffness * squared_lengths) * relative_load * fade),
            limit: self.friction.map(|friction| s(friction) * friction_share * load * grip * fade),
            half_length: s(self.half_length) * relative_load.sqrt(),
            heading: conditions.speed.sign(),
        }
    }

    /// Returns the aligning moment; the other moments are 0.
    fn moments<L: Lane>(&self, prepared: &PreparedBrush<L>, slip: [L; 2]) -> Moments<L> {
        Moments { aligning: prepared.aligning(slip), ..Moments::default() }
    }
}

impl<L: Lane> PreparedBrush<L> {
    /// Returns the aligning moment Mz at the slips (κ, −tan α), N m: minus the lateral force times the pneumatic trail
    /// `a (1 − θσ)³ / (3 − 3 θσ + (θσ)²)` (Pacejka, ch. 3.2), with the sign of the direction of travel. a is the half
    /// length of the patch, θσ the slip over the slip of full sliding, at most 1. The moment is 0 at full sliding.
    pub fn aligning(&self, slip: [L; 2]) -> L {
        let s = L::splat;
        let (forces, sliding_share) = self.forces(slip);
        let one = s(1.0);
        let sticking_share = one - sliding_share;
        let trail = self.half_length * sticking_share * sticking_share * sticking_share
            / (s(3.0) - s(3.0) * sliding_share + sliding_share * sliding_share);
        -(forces[1] * trail * self.heading)
    }

    /// Computes the forces, N, at the slips (κ, −tan α), and θσ: the slip over the slip of full sliding, at most 1.
    /// Generic over numbers with derivatives.
    ///
    /// The magnitude of the force is `3 θσ − 3 (θσ)² + (θσ)³` times the friction limit. Its direction turns from that
    /// of the elastic force to that of the sliding velocity as θσ grows to 1. A direction without friction has no
    /// force. Steps: slips relative to the rim speed, components and length of θσ, direction, share of friction. Below
    /// θσ = 1e-6 the force is linear in slip.
    #[inline(always)]
    fn forces<R: Real<L>>(&self, slip: [R; 2]) -> ([R; 2], L) {
        let s = L::splat;
        let (zero, one) = (s(0.0), s(1.0));
        let slip = theoretical_slips(slip, self.heading);
        // Linear force of each slip over three times the friction limit: the component of θσ.
        let relative_slip = pair_from_fn(
            #[inline(always)]
            |i| {
                // A direction without friction.
                let is_frictionless = self.limit[i].less(s(1e-6));
                let slip_factor = self.stiffness[i] / L::select(is_frictionless, one, s(3.0) * self.limit[i]);
                slip[i] * L::select(is_frictionless, zero, slip_factor)
            },
        );
        // θσ, and the length of the theoretical slip; the floor 1e-16 keeps the roots differentiable.
        let theta = sqrt_at_least(relative_slip[0] * relative_slip[0] + relative_slip[1] * relative_slip[1], s(1e-16));
        let slip_length = sqrt_at_least(slip[0] * slip[0] + slip[1] * slip[1], s(1e-16));
        let is_sliding = one.less(theta.value());
        let clamped_theta = R::choose(is_sliding, R::constant(one), theta);
        // Both parts of the direction get the length θσ, with the weights 1 − θσ (elastic) and θσ (sliding velocity).
        let turn_factor = clamped_theta * theta / slip_length;
        let direction = pair_from_fn(
            #[inline(always)]
            |i| relative_slip[i] * (-clamped_theta + one) + slip[i] * turn_factor,
        );
        let direction_length = sqrt_at_least(direction[0] * direction[0] + direction[1] * direction[1], s(1e-16));
        // The share of friction is 3 θσ − 3 (θσ)² + (θσ)³, here divided by the length of `direction`, which vanishes
        // with θσ.
        let is_linear = theta.value().less(s(MAX_LINEAR_SLIP_SHARE));
        let ratio = R::choose(is_linear, R::constant(one), clamped_theta / direction_length);
        let friction_share = ratio * (clamped_theta * (clamped_theta - s(3.0)) + s(3.0));
        let forces = pair_from_fn(
            #[inline(always)]
            |i| direction[i] * friction_share * self.limit[i],
        );
        (forces, clamped_theta.value())
    }
}

/// Converts slips (κ, −tan α) to slips relative to the rim speed instead of the speed of the wheel centre: `(κ, −tan α)
/// / |1 + h κ|`. `heading` is h: 1 for a wheel that moves forwards, −1 backwards, where a positive κ brakes. The slips
/// are clamped to ±10⁴ before. The divisor is at least [`MIN_ROLLING_RATIO`].
#[inline(always)]
pub fn theoretical_slips<L: Lane, R: Real<L>>(slip: [R; 2], heading: L) -> [R; 2] {
    let s = L::splat;
    let clamped_slip = pair_from_fn(
        #[inline(always)]
        |i| super::dual::clamp(slip[i], s(-1e4), s(1e4)),
    );
    let rim_ratio = clamped_slip[0] * heading + s(1.0);
    let is_reversed = rim_ratio.value().less(s(0.0));
    let divisor = R::choose(is_reversed, -rim_ratio, rim_ratio);
    let is_locked = divisor.value().less(s(MIN_ROLLING_RATIO));
    let divisor = R::choose(is_locked, R::constant(s(MIN_ROLLING_RATIO)), divisor);
    [clamped_slip[0] / divisor, clamped_slip[1] / divisor]
}

impl<L: Lane> PreparedTyre<L> for PreparedBrush<L> {
    /// Computes the forces with exact slopes by forward-mode differentiation.
    #[inline(always)]
    fn force(&self, slip: [L; 2]) -> TyreForces<L> {
        let inputs = [Dual::<L, 2>::input(slip[0], 0), Dual::input(slip[1], 1)];
        let (forces, _) = self.forces(inputs);
        TyreForces { force: [forces[0].value, forces[1].value], slope: [forces[0].slope[0], forces[1].slope[1]] }
    }

    #[inline(always)]
    fn stiffness(&self) -> [L; 2] {
        self.stiffness
    }

    #[inline(always)]
    fn limit(&self) -> [L; 2] {
        self.limit
    }

    /// Returns half the length of the patch: the mean distance that a bristle rolls before it is replaced.
    #[inline(always)]
    fn relaxation(&self) -> [L; 2] {
        [self.half_length.clamp_nan_to_low(L::splat(MIN_RELAXATION_LENGTH_M), L::splat(100.0)); 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_BRUSH: Brush = Brush {
        bristle_stiffness: [9e6, 7e6],
        half_length: 0.06,
        friction: [1.0; 2],
        load_sensitivity: 0.0,
        nominal_load: 4000.0,
    };

    /// Returns `brush`, which must have no faults, prepared for `load` N at 20 m/s on grip 1.
    fn at(brush: Brush, load: f32) -> PreparedBrush<f32> {
        assert!(brush.faults().is_empty());
        brush.prepare(&Conditions::upright(load, 20.0))
    }

    /// Checks the cornering stiffness `2 c a²`, almost full friction just before the angle of full sliding,
    /// `tan α = 3 μ Fz / C`, full friction there and beyond, and 7/8 of it at half that slip.
    #[test]
    fn closed_forms_of_side_slip() {
        let brush = at(TEST_BRUSH, 4000.0);
        let stiffness = 2.0 * 7e6 * 0.06 * 0.06;
        assert!((brush.force([0.0, 0.0]).slope[1] / stiffness - 1.0).abs() < 1e-5);
        assert!((brush.stiffness()[1] / stiffness - 1.0).abs() < 1e-6);
        let slide = 3.0 * 4000.0 / stiffness; // slip of full sliding
        let just_before = brush.force([0.0, 0.99 * slide]).force[1];
        assert!(just_before < 4000.0 && (just_before / 4000.0 - (1.0 - 1e-6)).abs() < 1e-6);
        assert!((brush.force([0.0, slide]).force[1] / 4000.0 - 1.0).abs() < 1e-6);
        assert!((brush.force([0.0, 3.0]).force[1] / 4000.0 - 1.0).abs() < 1e-6);
        // Force at half the slip of full sliding: 1 − (1/2)³ of the friction.
        assert!((brush.force([0.0, 0.5 * slide]).force[1] / 3500.0 - 1.0).abs() < 1e-6);
    }

    /// Checks that a wheel that moves backwards is the mirror image of one that moves forwards: with the opposite slip
    /// ratio, the longitudinal force is opposite, and the lateral force and both slopes are equal.
    #[test]
    fn a_wheel_that_moves_backwards_mirrors_one_that_moves_forwards() {
        let [forwards, backwards] = [20.0, -20.0].map(|speed| TEST_BRUSH.prepare(&Conditions::upright(4000.0, speed)));
        for slip in [[0.05, 0.02], [-0.05, 0.02], [-1.0, 0.1], [0.8, -0.3]] {
            let [ahead, behind] = [forwards.force(slip), backwards.force([-slip[0], slip[1]])];
            assert_eq!(ahead.force, [-behind.force[0], behind.force[1]], "{slip:?}");
            assert_eq!(ahead.slope, behind.slope, "{slip:?}");
        }
    }

    /// Checks under pure side slip that the moment peaks at a quarter of full sliding with `−27/256 μ Fz a`, and
    /// vanishes at full sliding.
    #[test]
    fn closed_forms_of_the_moment() {
        let brush = at(TEST_BRUSH, 4000.0);
        let slide = 3.0 * 4000.0 / (2.0 * 7e6 * 0.06 * 0.06); // slip of full sliding
        let moment = |share: f32| -brush.aligning([0.0, share * slide]);
        assert!((moment(0.25) / (27.0 / 256.0 * 4000.0 * 0.06) - 1.0).abs() < 1e-5);
        assert!(moment(0.25) > moment(0.24) && moment(0.25) > moment(0.26));
        assert!(moment(1.0).abs() < 1e-3);
    }

    /// Checks that the pneumatic trail is a third of the half length at small slip.
    #[test]
    fn trail_at_small_slip() {
        let brush = at(TEST_BRUSH, 4000.0);
        let slip = [0.0, 1e-4];
        let trail = -brush.aligning(slip) / brush.force(slip).force[1];
        assert!((trail / 0.02 - 1.0).abs() < 1e-2, "{trail}");
    }

    /// Checks that full sliding opposes the sliding velocity for different longitudinal and lateral stiffness, with the
    /// full friction: at a locked wheel with three side slips and at a spinning wheel.
    #[test]
    fn full_slide_opposes_the_sliding_velocity() {
        let brush = at(TEST_BRUSH, 4000.0);
        for slip in [[-1.0, 0.5], [-1.0, -3.0], [4.0, 2.0], [-1.0, 1e-3]] {
            let force = brush.force(slip).force;
            let length = (slip[0] * slip[0] + slip[1] * slip[1]).sqrt();
            for i in 0..2 {
                assert!((force[i] / 4000.0 - slip[i] / length).abs() < 1e-5, "{slip:?} {force:?}");
            }
        }
    }

    /// Checks with a load sensitivity of 0.2 that twice the load doubles the longitudinal stiffness and raises the
    /// lateral friction limit 1.6 times.
    #[test]
    fn stiffness_follows_load_and_friction_falls_with_it() {
        let brush = Brush { load_sensitivity: 0.2, ..TEST_BRUSH };
        let [one, two] = [4000.0, 8000.0].map(|load| at(brush, load));
        assert!((two.stiffness()[0] / one.stiffness()[0] - 2.0).abs() < 1e-6);
        assert!((two.limit()[1] / one.limit()[1] - 1.6).abs() < 1e-6);
    }
}
