//! The rows of each wheel: where it is, what its strut and its tyre ask of the chassis. Four wheels side by side.
//!
//! A row is kept as `impulse = target impulse − gain · speed`, the reciprocal form of a soft constraint (softness 1 /
//! gain): zero gain is a plain force, a large one is a rigid contact.

use crate::drivetrain::rows::DriveRows;
use crate::lane::{Four, FourMask, Lane};
use crate::linear::SpatialVector;
use crate::steering::rows::SteeringRows;
use crate::suspension::rows::{LoadRows, Travel};
use crate::tyre::rows::PatchRows;
use crate::wheel::rows::ContactRows;

/// Workspace of four wheels, rebuilt every step. Lanes without a wheel touch nothing and weigh nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rows {
    pub dt: f32,
    pub steering: SteeringRows,
    pub drive: DriveRows,
    pub contact: ContactRows,
    pub suspension: LoadRows,
    pub travel: Travel,
    pub patch: PatchRows,
    pub coupled: CoupledRows,
}

/// What a coupling finds for four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoupledRows {
    pub around: EffectiveMass<Four>,
    /// Of the chassis in an iteration.
    pub seen: RowVelocity,
    /// Largest tyre impulses along and across, N s.
    pub reach: [Four; 2],
    pub approach: Approach,
    /// Tyre impulses with which a sweep began; only where tyres are stiff.
    pub began: [Four; 2],
    pub tyre: [Four; 2],
    /// Angular impulse on the wheel by everything bolted to the chassis, N m s.
    pub torque: Four,
    pub spin: Four,
    pub sliding: FourMask,
}

/// How far the friction limits of four wheels go at a time towards those by their loads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Approach {
    pub share: Four,
    /// What was missing of the last way, N s.
    pub missing: Four,
    /// Whether it led back.
    pub turned: FourMask,
}

impl Default for Approach {
    fn default() -> Self {
        Self { share: Four::splat(FIRST_SHARE), missing: Four::default(), turned: FourMask::default() }
    }
}

/// Share of the way to a new limit to begin with, and by how much it changes: where a way leads back, it is halved.
const FIRST_SHARE: f32 = 0.5;

/// The relative speed of the two tyre rows before the tyre acts, and what each unit of impulse changes in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EffectiveMass<L> {
    /// m/s along and across, the wheel's spin not counted.
    pub speed: [L; 2],
    /// 1/kg: along, between the two, across.
    pub compliance: [L; 3],
}

/// The velocity of the chassis against the ground as the rows see it, m/s.
///
/// An iteration adds its changes here: speeds that rows bring to nothing are then exact to the last bit of that nothing.
/// Rounded anew from the velocity of a fast car, they would throw stiff rows about by newton seconds for ever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowVelocity {
    pub normal: Four,
    /// Along and across.
    pub patch: [Four; 2],
    /// Momentum that the free motion of the step would give the wheel on its own less, N s.
    pub heave: Four,
}

impl Rows {
    /// Nothing carries, grips or moves on its own yet.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        self.patch.gripping = FourMask::default();
        self.suspension.load = Four::default();
        self.travel.own = false;
    }

    /// Speeds of the contact patches over the ground at chassis velocity `at`, along and across.
    #[inline(always)]
    pub(crate) fn speeds(&self, at: SpatialVector<Four>) -> [Four; 2] {
        [
            self.contact.forward.dot(at) - self.contact.footing.speed[0],
            self.contact.side.dot(at) - self.contact.footing.speed[1],
        ]
    }

    /// Speed away from the ground along the contact normal at chassis velocity `at`.
    #[inline(always)]
    pub(crate) fn parting(&self, at: SpatialVector<Four>) -> Four {
        self.contact.normal.dot(at) - self.contact.footing.speed[2]
    }

    /// Sees the chassis move at `at`, `gained` of it beyond the free motion.
    #[inline(always)]
    pub(crate) fn see(&mut self, at: SpatialVector<Four>, gained: SpatialVector<Four>) {
        self.coupled.seen =
            RowVelocity { normal: self.parting(at), patch: self.speeds(at), heave: self.heave_by(gained) };
    }

    /// Sees the chassis move by `change` faster.
    #[inline(always)]
    pub(crate) fn see_change(&mut self, change: SpatialVector<Four>) {
        let [along, across] = self.coupled.seen.patch;
        self.coupled.seen.normal += self.contact.normal.dot(change);
        self.coupled.seen.patch = [along + self.contact.forward.dot(change), across + self.contact.side.dot(change)];
        self.coupled.seen.heave += self.heave_by(change);
    }

    #[inline(always)]
    fn heave_by(&self, change: SpatialVector<Four>) -> Four {
        if self.travel.own { self.travel.heave.dot(change) } else { Four::default() }
    }

    /// What tyres and struts do to the chassis; without the loads when `with_loads` is off.
    #[inline(always)]
    pub(crate) fn impulse(&self, with_loads: bool) -> SpatialVector<Four> {
        let mut sum = self.contact.forward * self.coupled.tyre[0] + self.contact.side * self.coupled.tyre[1];
        sum.angular = sum.angular - self.contact.axle * self.coupled.torque;
        if self.patch.has_laws {
            sum = sum + self.twist();
        }
        if !with_loads {
            return sum;
        }
        let sum = sum + self.contact.normal * self.suspension.load;
        if self.travel.own { sum + self.travel_impulse() } else { sum }
    }
}
