//! What the tyre rows of four wheels are.

use crate::lane::{Four, FourMask, Lane};
use crate::tyre::Response;

/// A patch that slides without rolling keeps nothing of its deflection.
const LEAST_DECAY: f32 = 1e-3;

/// Tyre rows of four wheels, along and across.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PatchRows {
    pub gripping: FourMask,
    /// Whether the bank has tyres with laws of their own; then those have moments.
    pub has_laws: bool,
    /// Angular impulses of the tyres about heading and contact normal, N m s: first of the last step, then of this one.
    pub moments: [Four; 2],
    /// See [`crate::model::Tyre::lengths`], m.
    pub lengths: [Four; 2],
    /// Largest angular impulse of brake and rolling resistance, N m s.
    pub hold: Four,
    /// Friction coefficients along and across at the nominal load, surface included.
    pub friction: [Four; 2],
    /// Share of friction lost per N s of load impulse, and the share at none.
    pub sensitivity: Four,
    pub unloaded_share: Four,
    /// Load impulse from which friction gives no more, N s.
    pub most_load: Four,
    pub target_impulse: [Four; 2],
    pub gain: [Four; 2],
    /// The same of slips that go away within the step, which no force exceeds; only where `bends`.
    pub straight_target: [Four; 2],
    pub straight_gain: [Four; 2],
    /// Patches whose force grows slower than at no slip.
    pub bends: FourMask,
    /// How the deflections move with the sliding speeds at the end of the step, and along where the straight row holds.
    pub drift: [Drift; 2],
    pub straight_drift: Drift,
    /// Elastic stiffness of the patch at rest, N/m.
    pub elastic: [Four; 2],
}

/// The deflection of a patch at the end of a step, `kept − per_speed · speed` at the sliding speed it ends with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drift {
    /// m
    pub kept: Four,
    /// s
    pub per_speed: Four,
}

impl Drift {
    /// Of a patch with `deflection`, m, in a step of `step` s: the ground holds a share `sticking` of it, and rolling renews it `creep`
    /// times. By implicit Euler.
    #[inline(always)]
    pub fn of(deflection: Four, [sticking, creep]: [Four; 2], step: Four) -> Self {
        let left = Four::splat(1.0) / (sticking + creep).at_least(Four::splat(LEAST_DECAY));
        Self { kept: sticking * deflection * left, per_speed: step * left }
    }

    /// The same of one that slides at `speed`, m/s, at the start of the step, and the share that the step's end has in its mean
    /// deflection.
    ///
    /// Rolling, a carcass that sticks gives back what it took, by the implicit midpoint rule: its wheel swings on it within a few
    /// steps, and implicit Euler would damp that. What creeps forgets, and a standing patch has a damper of its own: Euler's.
    #[inline(always)]
    pub fn swinging(
        [deflection, speed]: [Four; 2],
        [sticking, creep]: [Four; 2],
        rolling: Four,
        step: Four,
    ) -> (Self, Four) {
        let one = Four::splat(1.0);
        let left = one / (sticking + creep).at_least(Four::splat(LEAST_DECAY));
        let early = Four::splat(0.5) * rolling * sticking * left;
        let late = one - early;
        (Self { kept: (sticking * deflection - early * step * speed) * left, per_speed: late * step * left }, late)
    }

    /// At a sliding `speed`, m/s.
    #[inline(always)]
    pub fn at(&self, speed: Four) -> Four {
        self.kept - self.per_speed * speed
    }
}

/// How the patches of a bank bite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TyreLinearization {
    /// Slopes of the force at zero slip, N per unit slip.
    pub stiffness: [Four; 2],
    /// See [`Tyre::lengths`], m.
    pub lengths: [Four; 2],
    /// Force at the slip the step starts with.
    pub curve: Response<Four>,
    /// Friction coefficients, surface included, at the load `unloaded_share` and `sensitivity` count from.
    pub friction: [Four; 2],
    /// Share of friction lost per N s of load impulse, and the share at none.
    pub sensitivity: Four,
    pub unloaded_share: Four,
    /// Load impulse from which friction gives no more, N s.
    pub most_load: Four,
}

impl TyreLinearization {
    #[inline(always)]
    pub fn select(mask: FourMask, yes: Self, no: Self) -> Self {
        let both = |yes: [Four; 2], no: [Four; 2]| [0, 1].map(|i| Four::select(mask, yes[i], no[i]));
        Self {
            stiffness: both(yes.stiffness, no.stiffness),
            lengths: both(yes.lengths, no.lengths),
            curve: Response {
                force: both(yes.curve.force, no.curve.force),
                slope: both(yes.curve.slope, no.curve.slope),
            },
            friction: both(yes.friction, no.friction),
            sensitivity: Four::select(mask, yes.sensitivity, no.sensitivity),
            unloaded_share: Four::select(mask, yes.unloaded_share, no.unloaded_share),
            most_load: Four::select(mask, yes.most_load, no.most_load),
        }
    }
}
