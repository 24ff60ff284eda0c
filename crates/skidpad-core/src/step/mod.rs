//! One step of one vehicle: stages make the rows, a coupling solves them, the world gets one push.
//!
//! Everything within [`Vehicle::solve`] is in the vehicle frame in the middle of the step, with arms relative to the centre of mass:
//! wheels are probed from the pose that the body reaches there ([`Body::axes_halfway`]), and the velocities at both ends of the step are seen in
//! its axes. Directions, arms and normals of the middle make the motion of second order in the step.

#[cfg(feature = "abreast")]
pub(crate) mod abreast;
#[cfg(not(feature = "abreast"))]
#[path = "one_by_one.rs"]
pub(crate) mod abreast;
pub(crate) mod converged;
pub(crate) mod coupling;
mod direct;
pub(crate) mod newton;
mod one_car;
pub(crate) mod rows;
pub(crate) mod stages;
pub(crate) mod sweep;
pub(crate) mod vehicle;
pub(crate) mod write_back;

use crate::assists::DriverDemand;
use crate::banks::{Banks, Many, One};
use crate::controls::Controls;
use crate::instruction_set::widest;
use crate::lane::{Four, FourMask, Lane};
use crate::linear::SpatialVector;
use crate::step::coupling::{Coupling, Friction, StepReport, Stop, Within};
use crate::step::one_car::OneCar;
use crate::step::rows::{Begun, Rows};
use crate::step::stages::{Stages, StepInputs, Velocities, Wheels};
use crate::step::sweep::sweep_once;
use crate::step::vehicle::{Vehicle, banks, finite, response, wheel_impulses};
use crate::suspension::rows::Loaded;
use crate::world::seam::{Body, Contact, HullPoint, Push};

/// How far from an answer, m/s, a step may end that is taken although it did not converge.
const LARGEST_RESIDUAL: f32 = 0.02;

/// A step of a car, or of cars abreast: the stages in their order.
#[inline(always)]
pub(crate) fn take<B: Banks, S: Stages<B>>(step: &mut S) -> StepReport {
    step.drive();
    step.locate();
    let tyres = wheel_impulses(step.wheels().rows(), false);
    let by_tyres = response(step.wheels().model(), tyres);
    let external = step.external(by_tyres.linear);
    let free = step.free() + response(step.wheels().model(), external);
    let warm = free + by_tyres;
    let warm = step.follow([free, warm]);
    step.strut_rows();
    let loaded = step.load([free, warm]);
    step.grip(loaded.velocity);
    step.assist(loaded.velocity);
    let report = step.couple(&Velocities { free, warm, loaded });
    step.push(external);
    report
}

impl Vehicle {
    /// Solves one step of length `dt` (s, > 0) on `contacts`, one for each wheel, and returns what to do to the body. A
    /// converged coupling also keeps the points of its `hull` out of what they touch; one sweep leaves that to the world.
    /// Of any other length it does nothing; see [`StepReport::of_no_step`].
    pub fn solve(
        &mut self,
        body: &Body,
        contacts: &[Option<Contact>],
        hull: &[HullPoint],
        controls: &Controls,
        coupling: Coupling,
        dt: f32,
    ) -> (Push, StepReport) {
        let mut push = Push::default();
        let report = match StepReport::of_no_step(dt) {
            Some(nothing) => nothing,
            None => self.solve_into(&mut push, &StepInputs { body, contacts, hull, controls, coupling, dt }),
        };
        (push, report)
    }

    /// The same of a step that is one, with what to do to the body put into `push`.
    pub(crate) fn solve_into(&mut self, push: &mut Push, inputs: &StepInputs<'_>) -> StepReport {
        if self.rows.len() == 1 {
            widest(
                #[inline(always)]
                || self.solve_or_abort::<One>(push, inputs),
            )
        } else {
            widest(
                #[inline(always)]
                || self.solve_or_abort::<Many>(push, inputs),
            )
        }
    }

    /// The same of a car with so many banks.
    #[inline(always)]
    fn solve_or_abort<B: Banks>(&mut self, push: &mut Push, inputs: &StepInputs<'_>) -> StepReport {
        if finite(inputs.body)
            && let Some(report) = self.solve_banks::<B>(push, inputs)
        {
            return report;
        }
        self.abort_step(push, inputs.dt)
    }

    /// The stages of a step; `None` where that ends beyond numbers.
    #[inline(always)]
    fn solve_banks<B: Banks>(&mut self, push: &mut Push, inputs: &StepInputs<'_>) -> Option<StepReport> {
        let mut car = OneCar::of(self, push, inputs);
        let report = take::<B, _>(&mut car);
        car.ends.then_some(report)
    }

    /// Lets wheels meet the ground that come to it by what the others do within the step: a car that one wheel turns comes down on
    /// another one, by metres per second at 30 Hz. Met in the next step only, their struts were compressed by what nothing had paid for.
    #[cold]
    #[inline(never)]
    fn land_by_loads(&mut self, body: &Body, [free, warm]: [SpatialVector<f32>; 2], dt: f32) {
        let any = |of: fn(&Rows) -> FourMask| self.rows.iter().any(|rows| Four::any(of(rows)));
        if !any(Rows::apart) || !any(|rows| rows.contact.in_contact) {
            return;
        }
        self.axle_link_rows::<Many>(dt);
        let loaded = self.solve_any_loads::<Many>(free, warm, dt).velocity.at_each_wheel();
        let to_vehicle = self.to_world.transpose();
        let moving = SpatialVector::of(to_vehicle * body.velocity, to_vehicle * body.angular).at_each_wheel();
        let mut lands = false;
        for (bank, rows) in banks::<Many>(&self.model, &mut self.rows) {
            lands |= rows.land_by(bank, bank.present(), [moving, loaded], Four::splat(body.pose_lag), dt);
        }
        if lands {
            self.hang();
        }
    }

    /// Turns rows of tyres to where wheels without mass move that stand on rims, or that links lead; returns the velocity `warm` with them.
    #[cold]
    #[inline(never)]
    fn slant_rows(&mut self, body: &Body, free: SpatialVector<f32>, warm: SpatialVector<f32>) -> SpatialVector<f32> {
        let to_vehicle = self.to_world.transpose();
        let moving = SpatialVector::of(to_vehicle * body.velocity, to_vehicle * body.angular);
        if self.model.has_rims() {
            self.hold_rims_by_struts(moving);
        }
        if !self.model.has_links() {
            return warm;
        }
        self.lean_on_links(moving);
        free + self.response(self.wheel_impulses::<Many>(false))
    }

    /// Lets the driver steer and drive; returns what that asks for.
    #[inline(always)]
    pub(crate) fn apply_controls<B: Banks>(&mut self, body: &Body, controls: &Controls, dt: f32) -> DriverDemand {
        self.begin_at(body, dt);
        let asked = self.steer_as_asked(controls, dt);
        self.begin::<B>();
        self.drive::<B>(controls, &asked, dt);
        asked
    }

    /// Takes the axes of the step of `dt` s that begins where `body` is.
    #[inline(always)]
    pub(crate) fn begin_at(&mut self, body: &Body, dt: f32) {
        (self.to_world, self.pose_lag) = (body.axes_halfway(dt), body.pose_lag);
    }

    /// Lets the driver steer and set the bars; returns what that asks for.
    #[inline(always)]
    pub(crate) fn steer_as_asked(&mut self, controls: &Controls, dt: f32) -> DriverDemand {
        let asked = self.read_controls(controls, dt);
        self.steer(controls, &asked, dt);
        self.set_bars(controls);
        asked
    }

    /// Reads what the wheels begin with, once they are steered: that turns them over their patches.
    #[inline(always)]
    pub(crate) fn begin<B: Banks>(&mut self) {
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            rows.begun = Begun::of(bank, &self.state.wheels);
        }
    }

    /// Solves the rows from the `velocities`.
    #[inline(always)]
    fn couple<B: Banks>(
        &mut self,
        coupling: Coupling,
        velocities: &Velocities,
        hull: &[HullPoint],
        dt: f32,
    ) -> StepReport {
        self.hull.clear();
        self.shafts.within = Within::NearCone;
        let Coupling::Converged { tolerance, iterations, friction, .. } = coupling else {
            return self.sweep::<B>(velocities, dt);
        };
        self.hull.set_contacts(hull, &self.to_world, self.model.mass(), dt);
        self.iterate::<B>(velocities, Stop { tolerance, iterations }, friction, dt)
    }

    /// The converged coupling, or one sweep where that ends far from an answer. A function of its own, so that its registers are not
    /// those of the stages before.
    #[inline(never)]
    fn iterate<B: Banks>(&mut self, velocities: &Velocities, stop: Stop, friction: Friction, dt: f32) -> StepReport {
        widest(
            #[inline(always)]
            || {
                let (report, missing) = self.converge::<B>(velocities.free, velocities.loaded, stop, friction);
                if missing > LARGEST_RESIDUAL {
                    self.sweep_instead(velocities.free, velocities.warm, dt);
                }
                report
            },
        )
    }

    /// Loads of wheels that move on their own, or with the chassis.
    #[inline(always)]
    fn solve_any_loads<B: Banks>(&mut self, free: SpatialVector<f32>, warm: SpatialVector<f32>, dt: f32) -> Loaded {
        let has_unsprung = B::of(&self.rows).iter().any(|rows| rows.has_unsprung);
        if has_unsprung {
            return Loaded { velocity: self.solve_own_loads(free, warm, dt), in_rows: false };
        }
        self.solve_loads::<B>(warm, dt)
    }

    /// Takes a step that is far from convergence with one sweep, and leaves the hull to the world: what an unfinished iteration has
    /// may be any impulse, those of a sweep cannot give energy.
    fn sweep_instead(&mut self, free: SpatialVector<f32>, warm: SpatialVector<f32>, dt: f32) {
        for rows in &mut self.rows {
            rows.recall(dt);
        }
        self.hull.clear();
        self.shafts.within = Within::NearCone;
        let loaded = self.solve_any_loads::<Many>(free, warm, dt);
        sweep_once::<Many, _>(self, loaded.velocity);
    }

    /// Pushes nothing and lets every wheel keep its spin, so that the state stays finite.
    #[cold]
    #[inline(never)]
    fn abort_step(&mut self, push: &mut Push, dt: f32) -> StepReport {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            *rows = Rows { dt, unsprung_motion: rows.unsprung_motion.take(), ..Rows::default() };
            rows.coupled.spin = bank.gather(|i| self.state.wheels[i].spin);
            rows.contact.compression = bank.gather(|i| self.state.wheels[i].compression);
        }
        self.shafts.clear();
        self.hull.clear();
        self.assist_log.as_deref_mut().map(core::mem::take);
        (self.beside, self.turned_to) = Default::default();
        *push = Push::default();
        StepReport { not_finite: true, ..StepReport::default() }
    }
}
