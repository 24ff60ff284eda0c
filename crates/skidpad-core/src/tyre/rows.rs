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

/// The deflection of a patch at the end of a step, `kept − per_speed · speed` at the sliding speed it ends with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drift<W: Corners = Four> {
    /// m
    pub kept: W,
    /// s
    pub per_speed: W,
}

impl<W: Corners> Drift<W> {
    /// Of a patch with `deflection`, m, in a step of `step` s: the ground holds a share `sticking` of it, and rolling renews it `creep`
    /// times. By implicit Euler.
    #[inline(always)]
    pub fn of(deflection: W, [sticking, creep]: [W; 2], step: W) -> Self {
        let left = W::splat(1.0) / (sticking + creep).at_least(W::splat(LEAST_DECAY));
        Self { kept: sticking * deflection * left, per_speed: step * left }
    }

    /// The same of one that slides at `speed`, m/s, at the start of the step, and the share that the step's end has in its mean
    /// deflection.
    ///
    /// Rolling, a carcass that sticks gives back what it took, by the implicit midpoint rule: its wheel swings on it within a few
    /// steps, and implicit Euler would damp that. What creeps forgets, and a standing patch has a damper of its own: Euler's.
    #[inline(always)]
    pub fn swinging([deflection, speed]: [W; 2], [sticking, creep]: [W; 2], rolling: W, step: W) -> (Self, W) {
        let one = W::splat(1.0);
        let left = one / (sticking + creep).at_least(W::splat(LEAST_DECAY));
        let early = W::splat(0.5) * rolling * sticking * left;
        let late = one - early;
        (Self { kept: (sticking * deflection - early * step * speed) * left, per_speed: late * step * left }, late)
    }

    /// At a sliding `speed`, m/s.
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
