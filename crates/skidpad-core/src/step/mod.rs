//! Step of one vehicle: the stages build the rows, the coupling solves them, and the world receives one push.
//!
//! Quantities within [`Vehicle::solve`] are in the vehicle frame in the middle of the step, with arms relative to the
//! centre of mass. Wheels are probed from the pose that the body reaches there ([`Body::axes_halfway`]). The velocities
//! at both ends of the step are expressed in these axes, too. Directions, arms and normals of the midpoint make the
//! motion second-order accurate in the step.

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

/// Largest residual (m/s) at which the result of an iteration that did not converge is accepted.
const LARGEST_RESIDUAL: f32 = 0.02;

/// Runs the stages of a step in order, for one car or a batch of cars. Returns the report of the coupling.
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
    /// Solves one step of length `dt` (s, > 0) on `contacts`, one entry per wheel. Returns the impulses on the body and
    /// a report.
    ///
    /// A converged coupling also keeps the points of `hull` out of what they touch; one sweep leaves them to the world.
    /// If `dt` is not the length of a step, nothing happens; see [`StepReport::of_no_step`].
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

    /// Solves a step of valid length and writes the impulses on the body into `push`; see [`Vehicle::solve`].
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

    /// Solves the step of a car with `B` banks. Aborts the step if the body or the result is not finite.
    #[inline(always)]
    fn solve_or_abort<B: Banks>(&mut self, push: &mut Push, inputs: &StepInputs<'_>) -> StepReport {
        if finite(inputs.body)
            && let Some(report) = self.solve_banks::<B>(push, inputs)
        {
            return report;
        }
        self.abort_step(push, inputs.dt)
    }

    /// Runs the stages of a step. Returns `None` if the resulting impulses or spins are not finite.
    #[inline(always)]
    fn solve_banks<B: Banks>(&mut self, push: &mut Push, inputs: &StepInputs<'_>) -> Option<StepReport> {
        let mut car = OneCar::of(self, push, inputs);
        let report = take::<B, _>(&mut car);
        car.ends.then_some(report)
    }

    /// Detects wheels that touch down during the step because other wheels move the chassis.
    ///
    /// A car that turns about one wheel can come down on another one at several m/s at 30 Hz. If the contact were
    /// detected in the next step only, its strut would start compressed, which adds energy.
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

    /// Adapts the tyre rows of massless wheels that stand on rims or are guided by links to the direction in which the
    /// wheels move. Returns the velocity `warm` with the adapted rows.
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

    /// Applies the controls to steering, anti-roll bars, drivetrain and brakes. Returns the driver's demand.
    #[inline(always)]
    pub(crate) fn apply_controls<B: Banks>(&mut self, body: &Body, controls: &Controls, dt: f32) -> DriverDemand {
        self.begin_at(body, dt);
        let asked = self.steer_as_asked(controls, dt);
        self.begin::<B>();
        self.drive::<B>(controls, &asked, dt);
        asked
    }

    /// Stores the vehicle axes in the middle of the step of `dt` s that starts at `body`, and the pose lag of the body.
    #[inline(always)]
    pub(crate) fn begin_at(&mut self, body: &Body, dt: f32) {
        (self.to_world, self.pose_lag) = (body.axes_halfway(dt), body.pose_lag);
    }

    /// Applies the controls to steering and anti-roll bars. Returns the driver's demand.
    #[inline(always)]
    pub(crate) fn steer_as_asked(&mut self, controls: &Controls, dt: f32) -> DriverDemand {
        let asked = self.read_controls(controls, dt);
        self.steer(controls, &asked, dt);
        self.set_bars(controls);
        asked
    }

    /// Stores the wheel states at the start of the step in the rows. Must follow the steering, which rotates the
    /// deflections of standing contact patches.
    #[inline(always)]
    pub(crate) fn begin<B: Banks>(&mut self) {
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            rows.begun = Begun::of(bank, &self.state.wheels);
        }
    }

    /// Solves the rows from the `velocities` of the chassis, by one sweep or to convergence, as `coupling` says.
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

    /// Solves the rows to convergence. Falls back to one sweep if the result is farther than `LARGEST_RESIDUAL` from a
    /// solution. A separate function, so that it does not share registers with the stages before.
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

    /// Solves the loads and returns the chassis velocity with them. Wheels may have an unsprung mass of their own.
    #[inline(always)]
    fn solve_any_loads<B: Banks>(&mut self, free: SpatialVector<f32>, warm: SpatialVector<f32>, dt: f32) -> Loaded {
        let has_unsprung = B::of(&self.rows).iter().any(|rows| rows.has_unsprung);
        if has_unsprung {
            return Loaded { velocity: self.solve_own_loads(free, warm, dt), in_rows: false };
        }
        self.solve_loads::<B>(warm, dt)
    }

    /// Replaces a step that is far from convergence by one sweep, and leaves the hull to the world. An unfinished
    /// iteration may have any impulses; those of a sweep cannot add energy.
    fn sweep_instead(&mut self, free: SpatialVector<f32>, warm: SpatialVector<f32>, dt: f32) {
        for rows in &mut self.rows {
            rows.recall(dt);
        }
        self.hull.clear();
        self.shafts.within = Within::NearCone;
        let loaded = self.solve_any_loads::<Many>(free, warm, dt);
        sweep_once::<Many, _>(self, loaded.velocity);
    }

    /// Aborts the step: sets `push` to zero and keeps the spin and compression of every wheel, so that the state stays
    /// finite. Returns a report with `not_finite`.
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
