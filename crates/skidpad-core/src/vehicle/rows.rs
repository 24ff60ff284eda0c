//! Rows of each wheel: its contact, and the impulses of its strut and tyre on the chassis. One group holds four wheels
//! in lanes.
//!
//! A row has the form `impulse = target impulse − gain · speed`, the reciprocal form of a soft constraint (softness
//! = 1/gain). A gain of zero is a constant force, a large gain a rigid contact.

use crate::drivetrain::rows::DriveRows;
use crate::model::wheel_pack::WheelPack;
use crate::state::WheelState;
use crate::steering::rows::SteeringRows;
use crate::suspension::rows::{LoadRows, UnsprungMotion};
use crate::tyre_rows::TyreRows;
use crate::wheel::rows::ContactRows;
use skidpad_simd::lane::{F32x4, WheelLanes};
use skidpad_simd::linear::SpatialVector;

/// Rows of four wheels (one per lane), rebuilt every step. Lanes without a wheel have no contact and no mass.
#[derive(Clone, Debug, Default)]
pub struct WheelRows<W: WheelLanes = F32x4> {
    /// Length of the last step (s); 0 before the first step, see [`WheelRows::has_step`].
    pub(crate) dt: f32,
    /// Whether the group has tyres with a law other than a simple curve; these tyres have moments.
    pub(crate) has_laws: bool,
    /// State of the wheels at the start of the step.
    pub(crate) start: StartState<W>,
    /// Directions of the wheel axles.
    pub steering: SteeringRows<W>,
    /// Impulses of drive, shafts and brake on the spin.
    pub drive: DriveRows<W>,
    /// Contacts and the directions of the three rows of each wheel: normal, longitudinal, lateral.
    pub contact: ContactRows<W>,
    /// Load along the contact normal, with strut and axle links.
    pub suspension: LoadRows<W>,
    /// Whether the wheels of this step move on their own, with an unsprung mass.
    pub(crate) has_unsprung: bool,
    /// Motion of wheels with an unsprung mass; allocated in the first step in which they move on their own.
    pub(crate) unsprung_motion: Option<Box<UnsprungMotion<W>>>,
    /// Linearised tyre forces.
    pub tyre: TyreRows<W>,
    /// Impulses and spins that a solver has found.
    pub solution: WheelSolution<W>,
}

/// State of four wheels at the start of a step; see [`WheelState`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StartState<W: WheelLanes = F32x4> {
    /// Angular velocity about the axle (rad/s).
    pub spin: W,
    /// Longitudinal and lateral deflection of the contact patch (m).
    pub deflection: [W; 2],
    /// Mean longitudinal and lateral tyre force in the last step (N).
    pub tyre: [W; 2],
    /// Mean torque of drive, brake and rolling resistance in the last step (N m).
    pub torque: W,
    /// Speed of the wheel along its rolling direction (m/s).
    pub rolling_speed: W,
    /// Share of rolling: 0 for a standing patch, 1 for a rolling patch.
    pub rolling: W,
    /// Moments about heading and contact normal (N m), only of tyres with laws other than a simple curve. They belong
    /// to the start of the last step until the laws are evaluated, then to the start of this step.
    pub moments: [W; 2],
}

impl StartState {
    /// Reads the start states of the four wheels of `group` from `wheels`, the states of all wheels of the car. Lanes
    /// without a wheel are 0. Moments are read only if some tyre of the group has a law other than a simple curve;
    /// otherwise they are 0.
    #[inline(always)]
    pub(crate) fn read(group: &WheelPack, wheels: &[WheelState]) -> Self {
        let wheels = group.wheel_entries(wheels);
        // Four numbers of each wheel at a time, transposed to one vector of lanes per number.
        let [spin, ux, uy, torque] = group
            .gather_four_fields(wheels, |wheel| [wheel.spin, wheel.deflection[0], wheel.deflection[1], wheel.torque]);
        let [fx, fy, rolling_speed, rolling] = group
            .gather_four_fields(wheels, |wheel| [wheel.tyre[0], wheel.tyre[1], wheel.rolling_speed, wheel.rolling]);
        let mut moments = [F32x4::default(); 2];
        if !group.laws.is_empty() {
            moments = [
                group.gather_field(wheels, |wheel| wheel.overturning),
                group.gather_field(wheels, |wheel| wheel.aligning),
            ];
        }
        Self { spin, deflection: [ux, uy], tyre: [fx, fy], torque, rolling_speed, rolling, moments }
    }
}

impl<W: WheelLanes> StartState<W> {
    /// Stores the `moments` at the start of this step (N m), after those of the last step have been used.
    #[inline(always)]
    pub(crate) fn set_moments(&mut self, moments: [W; 2]) {
        self.moments = moments;
    }
}

/// Solution of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub struct WheelSolution<W: WheelLanes = F32x4> {
    /// Speeds and compliances that the tyre rows see.
    pub effective_mass: EffectiveMass<W>,
    /// Velocity of the chassis along the rows, in an iteration.
    pub velocity: RowVelocity<W>,
    /// Largest tyre impulses, longitudinal and lateral (N s).
    pub friction_bound: [W; 2],
    /// State of the gradual update of `friction_bound`, in an iteration.
    pub bound_relaxation: BoundRelaxation<W>,
    /// Tyre impulses at the start of a sweep (N s); set only where tyres are stiff.
    pub start_tyre_impulse: [W; 2],
    /// Longitudinal and lateral tyre impulses (N s).
    pub tyre_impulse: [W; 2],
    /// Angular impulse on the wheel by everything bolted to the chassis: drive, brake, rolling resistance (N m s).
    pub torque: W,
    /// Angular velocity about the axle at the end of the step (rad/s).
    pub spin: W,
    /// Tyres at their friction limit.
    pub sliding: W::Mask,
}

/// Under-relaxation of the friction limits of four wheels towards the limits by their loads.
#[derive(Clone, Copy, Debug)]
pub struct BoundRelaxation<W: WheelLanes = F32x4> {
    /// Share of the difference to the limits that the next update applies, in (0, 1].
    pub factor: W,
    /// Difference to the limits in the last update (N s).
    pub residual: W,
    /// Whether that difference has changed its sign.
    pub sign_changed: W::Mask,
}

impl<W: WheelLanes> Default for BoundRelaxation<W> {
    /// Returns the initial share for the next update, and no difference in the last one.
    fn default() -> Self {
        Self { factor: W::splat(INITIAL_RELAXATION_FACTOR), residual: W::default(), sign_changed: W::Mask::default() }
    }
}

/// Initial share of the difference to a new limit that an update applies.
const INITIAL_RELAXATION_FACTOR: f32 = 0.5;

/// Relative speed of the two tyre rows without the tyre's own impulse, and its change per unit of that impulse.
#[derive(Clone, Copy, Debug, Default)]
pub struct EffectiveMass<L> {
    /// Speeds, longitudinal and lateral, without the wheel's spin (m/s).
    pub speed: [L; 2],
    /// Compliances: longitudinal, coupling of both directions, lateral (1/kg).
    pub compliance: [L; 3],
}

/// Velocity of the chassis relative to the ground along the rows (m/s).
///
/// An iteration adds its changes here, so speeds that rows reduce to zero keep their full precision. If they were
/// rounded anew from the velocity of a fast car, stiff rows would keep changing by newton seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowVelocity<W: WheelLanes = F32x4> {
    /// Speed of separation from the ground along the contact normal.
    pub normal: W,
    /// Speed of the contact patch, longitudinal and lateral.
    pub patch: [W; 2],
    /// Momentum of the unsprung mass due to the chassis motion beyond the free motion (N s).
    pub(crate) heave_momentum: W,
}

impl<W: WheelLanes> WheelRows<W> {
    /// Marks the rows as outdated, so that signals of the last step are not reported.
    #[inline(always)]
    pub(crate) fn invalidate_step(&mut self) {
        self.dt = 0.0;
    }

    /// Returns true if a step has been solved since a state was set.
    pub(crate) fn has_step(&self) -> bool {
        self.dt != 0.0
    }

    /// Copies `other` into this value. Memory of the unsprung motion is reused; its content is copied only if the
    /// wheels of `other` use it in this step.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let mut unsprung_motion = self.unsprung_motion.take();
        if other.has_unsprung {
            unsprung_motion.clone_from(&other.unsprung_motion);
        }
        *self = Self { unsprung_motion, ..*other };
    }

    /// Returns the motion of wheels with an unsprung mass; `None` if the wheels of this step do not move on their own.
    #[inline(always)]
    pub(crate) fn unsprung(&self) -> Option<&UnsprungMotion<W>> {
        if self.has_unsprung { self.unsprung_motion.as_deref() } else { None }
    }

    /// Resets the rows at the start of a step: no unsprung motion, no gripping tyre, loads of 0, and the full load on
    /// the ground (both shares 1). Contacts, tyre impulses and drive stay.
    #[inline(always)]
    pub(crate) fn reset(&mut self) {
        self.has_unsprung = false;
        self.tyre.active = W::Mask::default();
        (self.suspension.load, self.suspension.pressing_share) = (W::default(), W::splat(1.0));
        self.suspension.beam_share = W::splat(1.0);
    }

    /// Returns the speeds of the contact patches over the ground (m/s), longitudinal and lateral, at the chassis
    /// `velocity`: `row · velocity` minus the speed of the ground at the end of the step. The spin of the wheel, and
    /// the motion that links add to wheels with an unsprung mass, are not included.
    #[inline(always)]
    pub(crate) fn speeds(&self, velocity: SpatialVector<W>) -> [W; 2] {
        [
            self.contact.forward.dot(velocity) - self.contact.ground_motion.end_speed[0],
            self.contact.side.dot(velocity) - self.contact.ground_motion.end_speed[1],
        ]
    }

    /// Returns the speeds of [`Self::speeds`] with the ground motion at the start of the step.
    #[inline(always)]
    pub(crate) fn start_speeds(&self, velocity: SpatialVector<W>) -> [W; 2] {
        [
            self.contact.forward.dot(velocity) - self.contact.ground_motion.start_speed[0],
            self.contact.side.dot(velocity) - self.contact.ground_motion.start_speed[1],
        ]
    }

    /// Returns the speeds of the contact patches over the ground (m/s), longitudinal and lateral, at the chassis
    /// `velocity`: `Self::speeds`, plus the scrub of wheels with an unsprung mass on links (sideways motion while they
    /// travel). The circumferential speed of the wheel is not subtracted.
    #[inline(always)]
    pub fn patch_speeds(&self, velocity: SpatialVector<W>) -> [W; 2] {
        let [longitudinal_speed, lateral_speed] = self.speeds(velocity);
        let Some(unsprung) = self.unsprung() else { return [longitudinal_speed, lateral_speed] };
        let [longitudinal_scrub, lateral_scrub] = unsprung.scrub.speed;
        [longitudinal_speed + longitudinal_scrub, lateral_speed + lateral_scrub]
    }

    /// Returns the impulse of the static load of each strut in the step (N s), for example as the scale of a tolerance.
    #[inline(always)]
    pub fn static_load(&self) -> W {
        self.suspension.strut.weight_impulse
    }

    /// Returns the normal impulse on the ground (N s): the load without the part that links carry.
    #[inline(always)]
    pub(crate) fn normal_impulse(&self) -> W {
        self.suspension.load * self.suspension.pressing_share
    }

    /// Returns the speed of separation from the ground along the contact normal (m/s) at the chassis `velocity`.
    #[inline(always)]
    pub(crate) fn separation_velocity(&self, velocity: SpatialVector<W>) -> W {
        self.contact.normal.dot(velocity) - self.contact.ground_motion.end_speed[2]
    }

    /// Stores the velocities of the rows at the chassis `velocity`: separation speed, patch speeds without scrub, and
    /// the momentum of the unsprung mass due to `velocity_gain`, the part of `velocity` beyond the free motion.
    #[inline(always)]
    pub(crate) fn set_velocity(&mut self, velocity: SpatialVector<W>, velocity_gain: SpatialVector<W>) {
        self.solution.velocity = RowVelocity {
            normal: self.separation_velocity(velocity),
            patch: self.speeds(velocity),
            heave_momentum: self.heave_change(velocity_gain),
        };
    }

    /// Adds a `change` of the chassis velocity to the separation speed, patch speeds and heave momentum of the rows.
    #[inline(always)]
    pub(crate) fn add_velocity(&mut self, change: SpatialVector<W>) {
        let [longitudinal_speed, lateral_speed] = self.solution.velocity.patch;
        self.solution.velocity.normal += self.contact.normal.dot(change);
        self.solution.velocity.patch =
            [longitudinal_speed + self.contact.forward.dot(change), lateral_speed + self.contact.side.dot(change)];
        self.solution.velocity.heave_momentum += self.heave_change(change);
    }

    /// Returns the momentum of the unsprung mass along the travel of its wheel (N s) due to a `change` of the chassis
    /// velocity; 0 for wheels without an unsprung mass.
    #[inline(always)]
    fn heave_change(&self, change: SpatialVector<W>) -> W {
        match self.unsprung() {
            Some(unsprung) => unsprung.momentum_row.dot(change),
            None => W::default(),
        }
    }

    /// Returns the impulse of each wheel on the chassis (N s, and N m s about the centre of mass): longitudinal and
    /// lateral tyre impulse, the reaction of drive and brake torque about the axle (`−torque`), and the moments of
    /// tyres with a law other than a simple curve. If `with_loads`, adds the load along the normal, and the travel
    /// impulse of an unsprung mass.
    #[inline(always)]
    pub fn impulse(&self, with_loads: bool) -> SpatialVector<W> {
        let mut sum =
            self.contact.forward * self.solution.tyre_impulse[0] + self.contact.side * self.solution.tyre_impulse[1];
        sum.angular = sum.angular - self.steering.axle * self.solution.torque;
        if self.has_laws {
            sum = sum + self.moment_impulse();
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
