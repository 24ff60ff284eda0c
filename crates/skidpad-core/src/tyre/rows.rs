//! What the tyre rows of four wheels are.

use crate::lane::{Corners, Four, both};
use crate::tyre::Response;

/// A patch that slides without rolling keeps nothing of its deflection.
const LEAST_DECAY: f32 = 1e-3;

/// Tyre rows of four wheels, along and across.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TyreRows<W: Corners = Four> {
    /// Tyres that have a load and friction.
    pub active: W::Mask,
    /// Angular impulses of the tyres about heading and contact normal, N m s: first of the last step, then of this one.
    pub moments: [W; 2],
    /// See [`crate::model::Tyre::lengths`], m.
    pub lengths: [W; 2],
    /// Largest angular impulse of brake and rolling resistance, N m s.
    pub locking_capacity: W,
    /// Friction coefficients along and across at the nominal load, surface included.
    pub friction: [W; 2],
    /// Share of friction lost per N s of load impulse, and the share at none.
    pub sensitivity: W,
    pub unloaded_share: W,
    /// Load impulse from which friction gives no more, N s.
    pub most_load: W,
    pub target_impulse: [W; 2],
    pub gain: [W; 2],
    /// The same of slips that go away within the step, which no force exceeds; only where `bends`.
    pub straight_target: [W; 2],
    pub straight_gain: [W; 2],
    /// Patches whose force grows slower than at no slip.
    pub bends: W::Mask,
    /// How the deflections move with the sliding speeds at the end of the step, and along where the straight row holds.
    pub drift: [Drift<W>; 2],
    pub straight_drift: Drift<W>,
    /// Elastic stiffness of the patch at rest, N/m.
    pub elastic: [W; 2],
}

/// Deflection of a patch at the end of a step: `kept − per_speed · speed` for the sliding speed at its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drift<W: Corners = Four> {
    /// m
    pub kept: W,
    /// s
    pub per_speed: W,
}

/// Motion of a patch over a step: what it begins with, and how the ground and rolling change that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatchMotion<W: Corners = Four> {
    /// Deflection at the start of the step, m.
    pub deflection: W,
    /// Sliding speed at the start of the step, m/s.
    pub speed: W,
    /// Share of the deflection that the ground holds: the slope of the force over that at no slip, 0 to 1.
    pub sticking: W,
    /// Number of times that rolling renews the patch within the step, ≥ 0.
    pub creep: W,
    /// 0 of a patch that stands, or lies on a body that wheels push, to 1 of one that rolls.
    pub rolling: W,
}

impl<W: Corners> PatchMotion<W> {
    /// Returns how a deflection across ends a step of `step` s, and the share of that end in the mean deflection, 1/2 to 1.
    ///
    /// `sticking (u₁ − u₀) = −step (s₀ + s₁) / 2 − creep ū` with the mean ū = θ u₁ + (1 − θ) u₀. A patch that rolls has θ = 1/2 + z/12 for a
    /// small decay z = creep / sticking, and 1 for a large one, `1 − θ = 1 / (2 + z/3 + z²/18)`: an exponential fit of that decay. It is of
    /// second order and keeps nothing with the wrong sign; what
    /// rolls steadily in a turn, whose sliding speed differs at both ends in axes that do not turn, keeps its deflection. A patch that
    /// stands has a damper of its own, and one on a light body would shake that: these count the end of the step alone (implicit Euler).
    #[inline(always)]
    pub fn across(&self, step: W) -> (Drift<W>, W) {
        let half = W::splat(0.5) * self.rolling;
        let (held, fades) = self.fit();
        self.over(step, half, half * held / fades)
    }

    /// Returns the same of a deflection along, where the wheel alone would swing on its patch within the step by an angle of the square
    /// `spin_swing`, rad², ≥ 0.
    ///
    /// The scheme is that of [`Self::across`], but the mean sliding speed has the share θ of s₁, too. Where a step does not resolve the swing of the
    /// wheel, θ is at least 0.59: it dies out.
    #[inline(always)]
    pub fn along(&self, step: W, spin_swing: W) -> (Drift<W>, W) {
        let six = W::splat(6.0) * self.sticking;
        let (held, fades) = self.fit();
        let swinging = six * (self.creep + W::splat(1.2) * self.sticking) * spin_swing;
        let early = W::splat(0.5) * self.rolling * (held + six * self.sticking * spin_swing) / (fades + swinging);
        self.over(step, early, early)
    }

    /// Returns `36 sticking²`, and `36 sticking² + 6 sticking creep + creep²`: the exponential fit has half the ratio of both as the share
    /// of the start.
    #[inline(always)]
    fn fit(&self) -> (W, W) {
        let six = W::splat(6.0) * self.sticking;
        let held = (six * six).at_least(W::splat(LEAST_DECAY * LEAST_DECAY));
        (held, held + self.creep * (six + self.creep))
    }

    /// Returns the same where the start has the share `of_speed` in the mean sliding speed and `early` in the mean deflection.
    #[inline(always)]
    fn over(&self, step: W, of_speed: W, early: W) -> (Drift<W>, W) {
        let (one, late) = (W::splat(1.0), W::splat(1.0) - early);
        let left = one / (self.sticking + late * self.creep).at_least(W::splat(LEAST_DECAY));
        let [of_start, of_end] = [of_speed, one - of_speed].map(|share| share * step * left);
        let held = (self.sticking - early * self.creep) * self.deflection;
        (Drift { kept: held * left - of_start * self.speed, per_speed: of_end }, late)
    }
}

impl<W: Corners> Drift<W> {
    /// Returns the deflection, m, at a sliding `speed`, m/s.
    #[inline(always)]
    pub fn at(&self, speed: W) -> W {
        self.kept - self.per_speed * speed
    }
}

/// How the patches of a bank linearised.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TyreLinearization<W: Corners = Four> {
    /// Slopes of the force at zero slip, N per unit slip.
    pub stiffness: [W; 2],
    /// See [`crate::model::Tyre::lengths`], m.
    pub lengths: [W; 2],
    /// Force at the slip the step starts with.
    pub curve: Response<W>,
    /// Friction coefficients, surface included, at the load `unloaded_share` and `sensitivity` count from.
    pub friction: [W; 2],
    /// Share of friction lost per N s of load impulse, and the share at none.
    pub sensitivity: W,
    pub unloaded_share: W,
    /// Load impulse from which friction gives no more, N s.
    pub most_load: W,
}

impl<W: Corners> TyreLinearization<W> {
    /// Of patches that are all laws' of their own, until these tell.
    #[inline(always)]
    pub fn none() -> Self {
        let none = W::default();
        Self {
            stiffness: [none; 2],
            lengths: [none; 2],
            curve: Response { force: [none; 2], slope: [none; 2] },
            friction: [none; 2],
            sensitivity: none,
            unloaded_share: none,
            most_load: none,
        }
    }

    #[inline(always)]
    pub fn select(mask: W::Mask, yes: Self, no: Self) -> Self {
        let of_both = |yes: [W; 2], no: [W; 2]| both(|i| W::select(mask, yes[i], no[i]));
        Self {
            stiffness: of_both(yes.stiffness, no.stiffness),
            lengths: of_both(yes.lengths, no.lengths),
            curve: Response {
                force: of_both(yes.curve.force, no.curve.force),
                slope: of_both(yes.curve.slope, no.curve.slope),
            },
            friction: of_both(yes.friction, no.friction),
            sensitivity: W::select(mask, yes.sensitivity, no.sensitivity),
            unloaded_share: W::select(mask, yes.unloaded_share, no.unloaded_share),
            most_load: W::select(mask, yes.most_load, no.most_load),
        }
    }
}
