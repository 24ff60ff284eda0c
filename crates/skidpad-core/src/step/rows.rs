//! The rows of each wheel: where it is, what its strut and its tyre ask of the chassis. Four wheels side by side.
//!
//! A row is kept as `impulse = target impulse − gain · speed`, the reciprocal form of a soft constraint (softness 1 /
//! gain): zero gain is a plain force, a large one is a rigid contact.

use crate::drivetrain::rows::DriveRows;
use crate::lane::{Corners, Four};
use crate::linear::SpatialVector;
use crate::state::WheelState;
use crate::steering::rows::SteeringRows;
use crate::suspension::rows::{LoadRows, UnsprungMotion};
use crate::tyre::rows::TyreRows;
use crate::wheel::pack::WheelPack;
use crate::wheel::rows::ContactRows;

/// Workspace of four wheels, rebuilt every step. Lanes without a wheel touch nothing and weigh nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows<W: Corners = Four> {
    /// Of the last step, s; 0 before there is one, see [`Rows::have_step`].
    pub dt: f32,
    /// Whether the bank has tyres with laws of their own; then those have moments.
    pub has_laws: bool,
    pub begun: Begun<W>,
    pub steering: SteeringRows<W>,
    pub drive: DriveRows<W>,
    pub contact: ContactRows<W>,
    pub suspension: LoadRows<W>,
    /// Whether the wheels of this step move on their own.
    pub has_unsprung: bool,
    /// What they have then; the first such step asks for the memory.
    pub unsprung_motion: Option<Box<UnsprungMotion<W>>>,
    pub tyre: TyreRows<W>,
    pub coupled: CoupledRows<W>,
}

/// What a step begins with of four wheels: see [`WheelState`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun<W: Corners = Four> {
    pub spin: W,
    pub deflection: [W; 2],
    pub tyre: [W; 2],
    pub torque: W,
    pub rolling_speed: W,
    pub rolling: W,
    /// Moments about heading and contact normal, N m, only of tyres with laws of their own: those at the start of the last step, and once
    /// the laws have been asked those at the start of this one.
    pub moments: [W; 2],
}

impl Begun {
    /// Of the wheels of `bank` among `wheels`.
    #[inline(always)]
    pub(crate) fn of(bank: &WheelPack, wheels: &[WheelState]) -> Self {
        let wheels = bank.pick(wheels);
        let [spin, u, v, torque] = bank.read_four(wheels, |w| [w.spin, w.deflection[0], w.deflection[1], w.torque]);
        let [along, across, rolling_speed, rolling] =
            bank.read_four(wheels, |w| [w.tyre[0], w.tyre[1], w.rolling_speed, w.rolling]);
        let mut moments = [Four::default(); 2];
        if !bank.laws.is_empty() {
            moments = [bank.read(wheels, |w| w.overturning), bank.read(wheels, |w| w.aligning)];
        }
        Self { spin, deflection: [u, v], tyre: [along, across], torque, rolling_speed, rolling, moments }
    }
}

impl<W: Corners> Begun<W> {
    /// Takes the `moments` at the start of this step, N m, once those at the start of the last one have been used.
    #[inline(always)]
    pub(crate) fn take_moments(&mut self, moments: [W; 2]) {
        self.moments = moments;
    }
}

/// What a coupling finds for four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoupledRows<W: Corners = Four> {
    pub surroundings: Surroundings<W>,
    /// Of the chassis in an iteration.
    pub velocity: RowVelocity<W>,
    /// Largest tyre impulses along and across, N s.
    pub friction_bound: [W; 2],
    pub approach: Approach<W>,
    /// Tyre impulses with which a sweep began; only where tyres are stiff.
    pub began: [W; 2],
    pub tyre: [W; 2],
    /// Angular impulse on the wheel by everything bolted to the chassis, N m s.
    pub torque: W,
    pub spin: W,
    pub sliding: W::Mask,
}

/// How far the friction limits of four wheels go at a time towards those by their loads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Approach<W: Corners = Four> {
    pub share: W,
    /// What was missing of the last way, N s.
    pub missing: W,
    /// Whether it led back.
    pub turned: W::Mask,
}

impl<W: Corners> Default for Approach<W> {
    fn default() -> Self {
        Self { share: W::splat(FIRST_SHARE), missing: W::default(), turned: W::Mask::default() }
    }
}

/// Share of the way to a new limit to begin with, and by how much it changes: where a way leads back, it is halved.
const FIRST_SHARE: f32 = 0.5;

/// The relative speed of the two tyre rows before the tyre acts, and what each unit of impulse changes in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings<L> {
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
pub(crate) struct RowVelocity<W: Corners = Four> {
    pub normal: W,
    /// Along and across.
    pub patch: [W; 2],
    /// Momentum that the free motion of the step would give the wheel on its own less, N s.
    pub heave: W,
}

impl<W: Corners> Rows<W> {
    /// Forgets the last step: nothing is told of it any more.
    #[inline(always)]
    pub(crate) fn forget_step(&mut self) {
        self.dt = 0.0;
    }

    /// Whether there has been a step since a state was put in.
    pub(crate) fn have_step(&self) -> bool {
        self.dt != 0.0
    }

    /// Goes back to where `other` is, in the memory that is there.
    pub(crate) fn copy(&mut self, other: &Self) {
        let mut unsprung_motion = self.unsprung_motion.take();
        if other.has_unsprung {
            unsprung_motion.clone_from(&other.unsprung_motion);
        }
        *self = Self { unsprung_motion, ..*other };
    }

    /// What wheels have that move on their own in this step.
    #[inline(always)]
    pub(crate) fn unsprung(&self) -> Option<&UnsprungMotion<W>> {
        if self.has_unsprung { self.unsprung_motion.as_deref() } else { None }
    }

    /// Nothing carries, grips or moves on its own yet.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        self.has_unsprung = false;
        self.tyre.active = W::Mask::default();
        (self.suspension.load, self.suspension.pressing_share) = (W::default(), W::splat(1.0));
        self.suspension.beam_share = W::splat(1.0);
    }

    /// Speeds of the contact patches over the ground at chassis velocity `at`, along and across, but for what links add to those of
    /// wheels on their own.
    #[inline(always)]
    pub(crate) fn speeds(&self, at: SpatialVector<W>) -> [W; 2] {
        [
            self.contact.forward.dot(at) - self.contact.ground_motion.speed[0],
            self.contact.side.dot(at) - self.contact.ground_motion.speed[1],
        ]
    }

    /// Returns the speeds of [`Self::speeds`] at the start of the step.
    #[inline(always)]
    pub(crate) fn starting_speeds(&self, at: SpatialVector<W>) -> [W; 2] {
        [
            self.contact.forward.dot(at) - self.contact.ground_motion.begun[0],
            self.contact.side.dot(at) - self.contact.ground_motion.begun[1],
        ]
    }

    /// Speeds of the contact patches over the ground at chassis velocity `at`, along and across.
    #[inline(always)]
    pub(crate) fn patch_speeds(&self, at: SpatialVector<W>) -> [W; 2] {
        let [along, across] = self.speeds(at);
        let Some(unsprung) = self.unsprung() else { return [along, across] };
        let [more_along, more_across] = unsprung.scrub.speed;
        [along + more_along, across + more_across]
    }

    /// What presses on the ground, N s: the load, but for what links take of it.
    #[inline(always)]
    pub(crate) fn pressing(&self) -> W {
        self.suspension.load * self.suspension.pressing_share
    }

    /// Speed away from the ground along the contact normal at chassis velocity `at`.
    #[inline(always)]
    pub(crate) fn separation_velocity(&self, at: SpatialVector<W>) -> W {
        self.contact.normal.dot(at) - self.contact.ground_motion.speed[2]
    }

    /// Velocities of the rows at the chassis velocity `at`, of which `gained` is beyond the free motion.
    #[inline(always)]
    pub(crate) fn set_velocity(&mut self, at: SpatialVector<W>, gained: SpatialVector<W>) {
        self.coupled.velocity =
            RowVelocity { normal: self.separation_velocity(at), patch: self.speeds(at), heave: self.heave_by(gained) };
    }

    /// Adds those of a `change` of it.
    #[inline(always)]
    pub(crate) fn add_velocity(&mut self, change: SpatialVector<W>) {
        let [along, across] = self.coupled.velocity.patch;
        self.coupled.velocity.normal += self.contact.normal.dot(change);
        self.coupled.velocity.patch =
            [along + self.contact.forward.dot(change), across + self.contact.side.dot(change)];
        self.coupled.velocity.heave += self.heave_by(change);
    }

    #[inline(always)]
    fn heave_by(&self, change: SpatialVector<W>) -> W {
        match self.unsprung() {
            Some(unsprung) => unsprung.heave.dot(change),
            None => W::default(),
        }
    }

    /// What tyres and struts do to the chassis; without the loads when `with_loads` is off.
    #[inline(always)]
    pub(crate) fn impulse(&self, with_loads: bool) -> SpatialVector<W> {
        let mut sum = self.contact.forward * self.coupled.tyre[0] + self.contact.side * self.coupled.tyre[1];
        sum.angular = sum.angular - self.steering.axle * self.coupled.torque;
        if self.has_laws {
            sum = sum + self.twist();
        }
        if !with_loads {
            return sum;
        }
        let sum = sum + self.contact.normal * self.suspension.load;
        match self.unsprung() {
            Some(unsprung) => sum + unsprung.travel_impulse(),
            None => sum,
        }
    }
}
