//! Data of the tyre rows of four wheels.

use skidpad_simd::lane::{F32x4, WheelLanes, pair_from_fn};
use skidpad_tyre::TyreForces;

/// Minimum divisor in the decay of a deflection. A patch that slides without rolling keeps no deflection.
const MIN_DECAY: f32 = 1e-3;

/// Longitudinal and lateral tyre rows of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub struct TyreRows<W: WheelLanes = F32x4> {
    /// Lanes of tyres with load and friction.
    pub active: W::Mask,
    /// Angular impulses of the tyres about heading and contact normal, N m s: those of the last step, then those of
    /// this step.
    pub(crate) moments: [W; 2],
    /// Lengths of the patch, m; see [`crate::model::Tyre::patch_lengths`].
    pub(crate) lengths: [W; 2],
    /// Largest angular impulse of brake and rolling resistance, N m s.
    pub locking_capacity: W,
    /// Longitudinal and lateral friction coefficients at the nominal load, surface included.
    pub(crate) friction: [W; 2],
    /// Share of friction lost per load impulse, 1/(N s).
    pub(crate) sensitivity: W,
    /// Share of friction at zero load.
    pub(crate) unloaded_share: W,
    /// Load impulse above which the friction limit is constant, N s.
    pub(crate) peak_friction_load: W,
    /// Target impulses, N s: tyre impulses at zero speed.
    pub target_impulse: [W; 2],
    /// Gains, kg: decrease of the tyre impulse with speed.
    pub gain: [W; 2],
    /// Target impulses for slips that vanish within the step, N s. No force exceeds these rows; only valid in lanes of
    /// `degressive`.
    pub(crate) straight_target: [W; 2],
    /// Gains for slips that vanish within the step, kg.
    pub(crate) straight_gain: [W; 2],
    /// Lanes of patches whose force grows more slowly than at zero slip.
    pub(crate) degressive: W::Mask,
    /// Deflections as functions of the sliding speeds at the end of the step.
    pub(crate) deflection_lines: [DeflectionLine<W>; 2],
    /// Longitudinal deflection as a function of the sliding speed, if the straight row applies.
    pub(crate) straight_deflection_line: DeflectionLine<W>,
    /// Elastic stiffness of the patch at zero slip, N/m.
    pub(crate) elastic_stiffness: [W; 2],
}

/// Deflection of a patch at the end of a step, as a function of the sliding speed there:
/// `intercept − per_speed · speed`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeflectionLine<W: WheelLanes = F32x4> {
    /// Deflection at zero sliding speed, m.
    pub intercept: W,
    /// Decrease of the deflection with sliding speed, s.
    pub per_speed: W,
}

/// Motion of a patch over a step: its initial state, and the changes by ground and rolling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatchMotion<W: WheelLanes = F32x4> {
    /// Deflection at the start of the step, m.
    pub deflection: W,
    /// Sliding speed at the start of the step, m/s.
    pub speed: W,
    /// Share of the deflection that sticks to the ground: slope of the force over slope at zero slip, 0 to 1.
    pub sticking: W,
    /// Number of times that rolling renews the patch within the step, ≥ 0.
    pub creep: W,
    /// Share of rolling: 1 for a rolling patch; 0 for a patch that stands or lies on a body that wheels push.
    pub rolling: W,
}

impl<W: WheelLanes> PatchMotion<W> {
    /// Returns the lateral deflection at the end of a step of `step_length` s, and the weight θ of that end in the mean
    /// deflection, 1/2 to 1.
    ///
    /// The equation is `sticking (u₁ − u₀) = −step_length (s₀ + s₁) / 2 − creep ū` with the deflection u, the sliding
    /// speed s and the mean ū = θ u₁ + (1 − θ) u₀. For a rolling patch `1 − θ = 1 / (2 + z/3 + z²/18)` with the decay
    /// `z = creep / sticking`. This is a fit of the exponential decay: θ is 1/2 + z/12 for small z and 1 for large z.
    /// The scheme is of second order and never reverses the sign of the remaining deflection. A patch that rolls
    /// steadily in a turn keeps its deflection, although its sliding speeds at both ends of the step differ in axes
    /// that do not turn.
    ///
    /// A standing patch has a damper of its own, and a patch on a light body would shake that body. Both evaluate speed
    /// and deflection at the end of the step (implicit Euler).
    #[inline(always)]
    pub fn integrate_lateral(&self, step_length: W) -> (DeflectionLine<W>, W) {
        let half_rolling = W::splat(0.5) * self.rolling;
        let (sticking_weight, decay_weight) = self.decay_weights();
        self.integrate(step_length, half_rolling, half_rolling * sticking_weight / decay_weight)
    }

    /// Returns the longitudinal deflection at the end of a step of `step_length` s, and the weight θ of that end in the
    /// mean deflection. `spin_swing` is the squared phase angle of the spin oscillation of the wheel within the step,
    /// rad², ≥ 0.
    ///
    /// The scheme is that of [`Self::integrate_lateral`], except that the mean sliding speed also has the weight θ at
    /// the end. If a step does not resolve the spin oscillation, θ rises to 0.58 or more, so the oscillation decays.
    #[inline(always)]
    pub fn integrate_longitudinal(&self, step_length: W, spin_swing: W) -> (DeflectionLine<W>, W) {
        let six_sticking = W::splat(6.0) * self.sticking;
        let (sticking_weight, decay_weight) = self.decay_weights();
        // Damps the oscillation of the spin. With the factor 1.2, θ tends to 1 − 0.5 / 1.2 = 0.58 for large swings.
        let swing_damping = six_sticking * (self.creep + W::splat(1.2) * self.sticking) * spin_swing;
        let start_weight = W::splat(0.5) * self.rolling * (sticking_weight + six_sticking * self.sticking * spin_swing)
            / (decay_weight + swing_damping);
        self.integrate(step_length, start_weight, start_weight)
    }

    /// Returns `36 sticking²` (at least [`MIN_DECAY`]²) and `36 sticking² + 6 sticking creep + creep²`. Half of their
    /// ratio is the weight of the start of the step in the exponential fit.
    #[inline(always)]
    fn decay_weights(&self) -> (W, W) {
        let six_sticking = W::splat(6.0) * self.sticking;
        let sticking_weight = (six_sticking * six_sticking).at_least(W::splat(MIN_DECAY * MIN_DECAY));
        (sticking_weight, sticking_weight + self.creep * (six_sticking + self.creep))
    }

    /// Returns the deflection line at the end of a step of `step_length` s, and θ = 1 − `start_weight`, if the start of
    /// the step has the weight `speed_start_weight` in the mean sliding speed and `start_weight` in the mean
    /// deflection. Solves the equation of [`Self::integrate_lateral`] for u₁; the divisor `sticking + θ creep` is at
    /// least [`MIN_DECAY`].
    #[inline(always)]
    fn integrate(&self, step_length: W, speed_start_weight: W, start_weight: W) -> (DeflectionLine<W>, W) {
        let (one, end_weight) = (W::splat(1.0), W::splat(1.0) - start_weight);
        let inverse_divisor = one / (self.sticking + end_weight * self.creep).at_least(W::splat(MIN_DECAY));
        let [start_time, end_time] =
            [speed_start_weight, one - speed_start_weight].map(|share| share * step_length * inverse_divisor);
        let remaining_deflection = (self.sticking - start_weight * self.creep) * self.deflection;
        // Sliding at the start shifts the line; sliding at the end is its variable.
        (
            DeflectionLine {
                intercept: remaining_deflection * inverse_divisor - start_time * self.speed,
                per_speed: end_time,
            },
            end_weight,
        )
    }
}

impl<W: WheelLanes> DeflectionLine<W> {
    /// Returns the deflection, m, at a sliding `speed`, m/s.
    #[inline(always)]
    pub fn evaluate(&self, speed: W) -> W {
        self.intercept - self.per_speed * speed
    }
}

/// Linearisation of the tyre laws of the patches of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TyreLinearization<W: WheelLanes = F32x4> {
    /// Slopes of the force at zero slip, N per unit slip.
    pub stiffness: [W; 2],
    /// Lengths of the patch, m; see [`crate::model::Tyre::patch_lengths`].
    pub lengths: [W; 2],
    /// Forces and slopes at the slip at the start of the step.
    pub curve: TyreForces<W>,
    /// Friction coefficients, surface included, at the load at which `unloaded_share − sensitivity · load impulse` is
    /// 1.
    pub friction: [W; 2],
    /// Share of friction lost per load impulse, 1/(N s).
    pub sensitivity: W,
    /// Share of friction at zero load.
    pub unloaded_share: W,
    /// Load impulse above which the friction limit is constant, N s.
    pub peak_friction_load: W,
}

impl<W: WheelLanes> TyreLinearization<W> {
    /// Returns zeros, for a group without simple curves whose laws are evaluated later.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = W::default();
        Self {
            stiffness: [zero; 2],
            lengths: [zero; 2],
            curve: TyreForces { force: [zero; 2], slope: [zero; 2] },
            friction: [zero; 2],
            sensitivity: zero,
            unloaded_share: zero,
            peak_friction_load: zero,
        }
    }

    /// Returns every value of `when_set` in the lanes of `mask`, and of `when_clear` elsewhere.
    #[inline(always)]
    pub fn select(mask: W::Mask, when_set: Self, when_clear: Self) -> Self {
        let select_pair =
            |when_set: [W; 2], when_clear: [W; 2]| pair_from_fn(|i| W::select(mask, when_set[i], when_clear[i]));
        Self {
            stiffness: select_pair(when_set.stiffness, when_clear.stiffness),
            lengths: select_pair(when_set.lengths, when_clear.lengths),
            curve: TyreForces {
                force: select_pair(when_set.curve.force, when_clear.curve.force),
                slope: select_pair(when_set.curve.slope, when_clear.curve.slope),
            },
            friction: select_pair(when_set.friction, when_clear.friction),
            sensitivity: W::select(mask, when_set.sensitivity, when_clear.sensitivity),
            unloaded_share: W::select(mask, when_set.unloaded_share, when_clear.unloaded_share),
            peak_friction_load: W::select(mask, when_set.peak_friction_load, when_clear.peak_friction_load),
        }
    }
}
