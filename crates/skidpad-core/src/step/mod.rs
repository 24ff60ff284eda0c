//! Step of one vehicle: the stages build the rows, the coupling solves them, and the world receives one push.
//!
//! Quantities within [`Vehicle::solve`] are in the vehicle frame in the middle of the step, with arms relative to the
//! centre of mass. Wheels are probed from the pose that the body reaches there ([`ChassisState::midstep_axes`]). The velocities
//! at both ends of the step are expressed in these axes, too. Directions, arms and normals of the midpoint make the
//! motion second-order accurate in the step.

#[cfg(not(feature = "abreast"))]
#[path = "unbatched.rs"]
pub(crate) mod batch;
#[cfg(feature = "abreast")]
pub(crate) mod batch;
pub(crate) mod converged;
mod dense_reference;
pub(crate) mod loads;
pub(crate) mod newton;
mod one_car;
pub(crate) mod single_pass;
pub(crate) mod stages;
pub(crate) mod write_back;

use crate::assists::DriverDemand;
use crate::controls::Controls;
use crate::port::{ChassisImpulse, ChassisState, Contact, HullPoint};
use crate::simd::instruction_set::dispatch_simd;
use crate::simd::lane::{F32x4, Lane, Mask32x4};
use crate::simd::linear::SpatialVector;
use crate::simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups};
use crate::solver_mode::{FrictionShape, ImpulseBounds, SolverMode, StepReport, StopCriterion};
use crate::step::one_car::OneCar;
use crate::step::single_pass::solve_single_pass;
use crate::step::stages::{Stages, StepInputs, StepWheels, Velocities};
use crate::suspension::rows::LoadSolution;
use crate::vehicle::rows::{StartState, WheelRows};
use crate::vehicle::{Vehicle, banks_with_rows, is_body_finite, response, wheel_impulses};

/// Largest residual (m/s) at which the result of an iteration that did not converge is accepted.
const MAX_RESIDUAL_MPS: f32 = 0.02;

/// Runs the stages of a step in order, for one car or a batch of cars. Returns the report of the coupling.
///
/// Order: driver demand, contacts, external forces, struts and axle links, loads, tyre rows, assists, coupled solve of
/// shafts and wheels, output of the impulses. Three chassis velocities at the end of the step result: `free` (gravity
/// and external forces only), `warm` (plus the tyre impulses of the last step) and `loaded` (plus the loads).
#[inline(always)]
pub(crate) fn run_stages<B: WheelGroups, S: Stages<B>>(step: &mut S) -> StepReport {
    step.apply_driver_demand();
    step.locate_contacts();
    // Tyre impulses of the last step, without loads (N s, N m s).
    let tyres = wheel_impulses(step.wheels().rows(), false);
    let by_tyres = response(step.wheels().model(), tyres);
    let external = step.external_impulses(by_tyres.linear);
    let free = step.free_velocity() + response(step.wheels().model(), external);
    let warm = free + by_tyres;
    let warm = step.adapt_wheels([free, warm]);
    step.build_strut_rows();
    let loaded = step.solve_loads([free, warm]);
    step.build_tyre_rows(loaded.velocity);
    step.apply_assists(loaded.velocity);
    let report = step.solve_coupled_rows(&Velocities { free, warm, loaded });
    step.write_impulses(external);
    report
}

impl Vehicle {
    /// Solves one step of length `dt` (s, > 0) on `contacts`, one entry per wheel (`None`: no ground). Returns the
    /// impulses on the body (world axes, N s and N m s, not yet applied to it) and a report. [`Vehicle::finish`] ends
    /// the step after the world has advanced.
    ///
    /// `body` is the chassis at the start of the step; `coupling` selects one sweep or iteration to convergence. A
    /// converged coupling also keeps the points of `hull` out of what they touch; one sweep leaves them to the world.
    /// If `dt` is not the length of a step, nothing happens; see [`StepReport::for_skipped_step`]. If the body or the
    /// result is not finite, the impulses are 0 and the report has `not_finite`.
    pub fn solve(
        &mut self,
        body: &ChassisState,
        contacts: &[Option<Contact>],
        hull: &[HullPoint],
        controls: &Controls,
        coupling: SolverMode,
        dt: f32,
    ) -> (ChassisImpulse, StepReport) {
        let mut push = ChassisImpulse::default();
        let report = match StepReport::for_skipped_step(dt) {
            Some(nothing) => nothing,
            None => {
                self.solve_step(&mut push, &StepInputs { body, contacts, hull, controls, solver_mode: coupling, dt })
            }
        };
        (push, report)
    }

    /// Solves a step of valid length in the widest instruction set of the processor, and writes the impulses on the
    /// body into `push`; see [`Vehicle::solve`]. Cars on two axles use loops of constant length.
    pub(crate) fn solve_step(&mut self, push: &mut ChassisImpulse, inputs: &StepInputs<'_>) -> StepReport {
        if self.rows.len() == 1 {
            dispatch_simd(
                #[inline(always)]
                || self.solve_or_abort::<SingleGroup>(push, inputs),
            )
        } else {
            dispatch_simd(
                #[inline(always)]
                || self.solve_or_abort::<ManyGroups>(push, inputs),
            )
        }
    }

    /// Solves the step of a car with `B` banks (groups of four wheels). Aborts the step by `abort_step` if the body or
    /// the result is not finite.
    #[inline(always)]
    fn solve_or_abort<B: WheelGroups>(&mut self, push: &mut ChassisImpulse, inputs: &StepInputs<'_>) -> StepReport {
        if is_body_finite(inputs.body)
            && let Some(report) = self.solve_stages::<B>(push, inputs)
        {
            return report;
        }
        self.abort_step(push, inputs.dt)
    }

    /// Runs the stages of a step and writes the impulses into `push`. Returns `None` if the resulting impulses or spins
    /// are not finite.
    #[inline(always)]
    fn solve_stages<B: WheelGroups>(
        &mut self,
        push: &mut ChassisImpulse,
        inputs: &StepInputs<'_>,
    ) -> Option<StepReport> {
        let mut car = OneCar::new(self, push, inputs);
        let report = run_stages::<B, _>(&mut car);
        car.is_finite.then_some(report)
    }

    /// Detects wheels that touch down during the step because other wheels move the chassis, and gives them a contact
    /// for the rest of the step. Requires at least one wheel above ground and one in contact; otherwise nothing
    /// happens.
    ///
    /// Builds strut rows and solves the loads of the other wheels from `warm` (velocity with the last step's tyre
    /// impulses; `free` is that without wheels). A wheel lands if the resulting motion closes its gap within `dt` s.
    /// After a touchdown, wheels still in the air return to their equilibrium in droop.
    ///
    /// A car that turns about one wheel can come down on another one at several m/s at 30 Hz. If the contact were
    /// detected in the next step only, its strut would start compressed, which adds energy.
    #[cold]
    #[inline(never)]
    fn detect_touchdowns(&mut self, body: &ChassisState, [free, warm]: [SpatialVector<f32>; 2], dt: f32) {
        let any = |of: fn(&WheelRows) -> Mask32x4| self.rows.iter().any(|rows| F32x4::any(of(rows)));
        if !any(WheelRows::airborne_wheels) || !any(|rows| rows.contact.in_contact) {
            return;
        }
        self.init_struts_and_links::<ManyGroups>(dt);
        let loaded = self.solve_any_loads::<ManyGroups>(free, warm, dt).velocity.broadcast_to_wheels();
        let to_vehicle = self.to_world.transpose();
        // Chassis velocity at the start of the step, vehicle frame.
        let moving =
            SpatialVector::from_vec3s(to_vehicle * body.velocity, to_vehicle * body.angular).broadcast_to_wheels();
        let mut lands = false;
        for (bank, rows) in banks_with_rows::<ManyGroups>(&self.model, &mut self.rows) {
            lands |=
                rows.detect_touchdown(bank, bank.present_mask(), [moving, loaded], F32x4::splat(body.pose_lag), dt);
        }
        if lands {
            self.set_droop_compressions();
        }
    }

    /// Adapts the tyre rows of massless wheels to the direction in which the wheels move: wheels on rims first (rows
    /// along the strut), then wheels guided by roll-centre links. `free` is the velocity without wheels. Returns the
    /// velocity with the last step's tyre impulses along the adapted rows; without links this is `warm` unchanged.
    #[cold]
    #[inline(never)]
    fn tilt_tyre_rows(
        &mut self,
        body: &ChassisState,
        free: SpatialVector<f32>,
        warm: SpatialVector<f32>,
    ) -> SpatialVector<f32> {
        let to_vehicle = self.to_world.transpose();
        let moving = SpatialVector::from_vec3s(to_vehicle * body.velocity, to_vehicle * body.angular);
        if self.model.has_rims() {
            self.constrain_rims_to_struts(moving);
        }
        if !self.model.has_roll_centre_links() {
            return warm;
        }
        self.align_rows_to_links(moving);
        free + self.response(self.wheel_impulses::<ManyGroups>(false))
    }

    /// Applies the controls for a step of `dt` s: start pose, steering and anti-roll bars, start states of the wheels,
    /// then drivetrain and brakes. Returns the driver's demand with the changes by assists.
    #[inline(always)]
    pub(crate) fn apply_controls<B: WheelGroups>(
        &mut self,
        body: &ChassisState,
        controls: &Controls,
        dt: f32,
    ) -> DriverDemand {
        self.set_start_pose(body, dt);
        let asked = self.apply_steering(controls, dt);
        self.store_start_state::<B>();
        self.apply_pedals::<B>(controls, &asked, dt);
        asked
    }

    /// Stores the vehicle axes in the middle of the step of `dt` s that starts at `body`, and the pose lag of the body.
    #[inline(always)]
    pub(crate) fn set_start_pose(&mut self, body: &ChassisState, dt: f32) {
        (self.to_world, self.pose_lag) = (body.midstep_axes(dt), body.pose_lag);
    }

    /// Reads the controls with the changes by assists, moves the steering towards them within its rate, and reads the
    /// share of the anti-roll bars. Returns the driver's demand.
    #[inline(always)]
    pub(crate) fn apply_steering(&mut self, controls: &Controls, dt: f32) -> DriverDemand {
        let asked = self.read_controls(controls, dt);
        self.steer(controls, &asked, dt);
        self.read_bar_control(controls);
        asked
    }

    /// Copies the wheel states at the start of the step into the rows. Must follow the steering, which rotates the
    /// deflections of standing contact patches.
    #[inline(always)]
    pub(crate) fn store_start_state<B: WheelGroups>(&mut self) {
        for (bank, rows) in banks_with_rows::<B>(&self.model, &mut self.rows) {
            rows.start = StartState::read(bank, &self.state.wheels);
        }
    }

    /// Solves shafts, tyres and hull from the `velocities` of the chassis, by one sweep or to convergence, as
    /// `coupling` says. The points of `hull` become rows only for convergence; otherwise the hull has none. Returns the
    /// report.
    #[inline(always)]
    fn solve_coupled_rows<B: WheelGroups>(
        &mut self,
        coupling: SolverMode,
        velocities: &Velocities,
        hull: &[HullPoint],
        dt: f32,
    ) -> StepReport {
        self.hull.clear();
        self.shafts.within = ImpulseBounds::ApproximateCone;
        let SolverMode::Converged { tolerance, iterations, friction, .. } = coupling else {
            return self.run_single_pass::<B>(velocities, dt);
        };
        self.hull.set_contacts(hull, &self.to_world, self.model.mass(), dt);
        self.iterate::<B>(velocities, StopCriterion { tolerance, iterations }, friction, dt)
    }

    /// Solves the rows to convergence from `velocities`. If the result is farther than `MAX_RESIDUAL_MPS` from a
    /// solution, replaces it by one sweep; the report still describes the iteration (`not_converged`). A separate
    /// function, so that it does not share registers with the stages before.
    #[inline(never)]
    fn iterate<B: WheelGroups>(
        &mut self,
        velocities: &Velocities,
        stop: StopCriterion,
        friction: FrictionShape,
        dt: f32,
    ) -> StepReport {
        dispatch_simd(
            #[inline(always)]
            || {
                let (report, missing) = self.solve_converged::<B>(velocities.free, velocities.loaded, stop, friction);
                if missing > MAX_RESIDUAL_MPS {
                    self.fall_back_to_pass(velocities.free, velocities.warm, dt);
                }
                report
            },
        )
    }

    /// Solves the loads from the velocity `warm` (with the last step's tyre impulses) and returns the chassis velocity
    /// with them. Wheels with an unsprung mass are solved together with their travel rates, from `free`; their rows
    /// then never count as current (`matches_rows`).
    #[inline(always)]
    fn solve_any_loads<B: WheelGroups>(
        &mut self,
        free: SpatialVector<f32>,
        warm: SpatialVector<f32>,
        dt: f32,
    ) -> LoadSolution {
        let has_unsprung = B::slice(&self.rows).iter().any(|rows| rows.has_unsprung);
        if has_unsprung {
            return LoadSolution { velocity: self.solve_unsprung_loads(free, warm, dt), matches_rows: false };
        }
        self.solve_loads::<B>(warm, dt)
    }

    /// Replaces a step that is far from convergence by one sweep. Restores the tyre impulses of the last step, removes
    /// the hull rows (the hull is left to the world), solves the loads from `warm` and performs the sweep. An
    /// unfinished iteration may have any impulses; those of a sweep cannot add energy.
    fn fall_back_to_pass(&mut self, free: SpatialVector<f32>, warm: SpatialVector<f32>, dt: f32) {
        for rows in &mut self.rows {
            rows.warm_start_tyres(dt);
        }
        self.hull.clear();
        self.shafts.within = ImpulseBounds::ApproximateCone;
        let loaded = self.solve_any_loads::<ManyGroups>(free, warm, dt);
        solve_single_pass::<ManyGroups, _>(self, loaded.velocity);
    }

    /// Aborts the step: sets `push` to zero and resets rows, shafts, hull, assist log and bar impulses. The rows keep
    /// the spin and compression of every wheel from the state, so that the state stays finite. Returns a report with
    /// `not_finite`.
    #[cold]
    #[inline(never)]
    fn abort_step(&mut self, push: &mut ChassisImpulse, dt: f32) -> StepReport {
        for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            *rows = WheelRows { dt, unsprung_motion: rows.unsprung_motion.take(), ..WheelRows::default() };
            rows.solution.spin = bank.gather(|i| self.state.wheels[i].spin);
            rows.contact.compression = bank.gather(|i| self.state.wheels[i].compression);
        }
        self.shafts.clear();
        self.hull.clear();
        self.assist_log.as_deref_mut().map(core::mem::take);
        // The reset axle directions are set again in the next step.
        (self.external_bar_impulse, self.applied_steer_bits) = Default::default();
        *push = ChassisImpulse::default();
        StepReport { not_finite: true, ..StepReport::default() }
    }
}
