//! Step of one vehicle: the stages build the rows, a solver solves them, and the world receives one push.
//!
//! Quantities within [`Vehicle::solve`] are in the vehicle frame in the middle of the step, with arms relative to the
//! centre of mass. Wheels are probed from the pose that the body reaches there ([`ChassisState::midstep_axes`]). The
//! velocities at both ends of the step are expressed in these axes, too. Directions, arms and normals of the midpoint
//! make the motion second-order accurate in the step.

#[cfg(not(feature = "simd_batch"))]
#[path = "unbatched.rs"]
pub(crate) mod batch;
#[cfg(feature = "simd_batch")]
pub(crate) mod batch;
pub(crate) mod batch_pass;
#[cfg(feature = "simd_batch")]
pub(crate) mod block;
pub(crate) mod blocks;
pub(crate) mod car_rows;
pub(crate) mod evaluation;
pub(crate) mod loads;
pub(crate) mod newton;
mod one_car;
pub(crate) mod row_solver;
pub(crate) mod stages;
pub(crate) mod step_wheels;
pub(crate) mod write_back;

use crate::assists::DriverDemand;
use crate::controls::Controls;
use crate::port::{ChassisImpulse, ChassisState, Contact, HullPoint};
use crate::step::one_car::OneCar;
use crate::step::row_solver::RowSolver;
use crate::step::stages::{Stages, StepInputs};
use crate::step::step_wheels::{StepWheels, Velocities};
use crate::step_report::StepReport;
use crate::vehicle::rows::{StartState, WheelRows};
use crate::vehicle::{Vehicle, groups_with_rows, is_body_finite, wheel_impulses};
use skidpad_simd::instruction_set::dispatch_simd;
use skidpad_simd::lane::{F32x4, Lane, Mask32x4};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups};

/// Runs the stages of a step in order, for one car, a batch or a block of cars. Returns the report of the solver.
///
/// Order: driver demand, contacts, external forces, adaptation of wheels (touchdowns, links), struts and axle links,
/// wheel loads, tyre rows, assists, coupled solve of shafts and wheels, output of the impulses. The stages use three
/// chassis velocities at the end of the step: `v_free` (gravity and external forces only), `v_warm` (plus the tyre
/// impulses of the last step along the rows of this step) and `load_solution` (plus the loads). A response is the
/// change of the chassis velocity by an impulse on the chassis.
#[inline(always)]
pub(crate) fn run_stages<B: WheelGroups, S: Stages<B>>(step: &mut S) -> StepReport {
    step.apply_driver_demand();
    step.locate_contacts();
    // Tyre impulses of the last step, without loads (N s, N m s).
    let tyre_impulse = wheel_impulses(step.wheels().rows(), false); // false: without loads
    let tyre_response = step.wheels().body().response(tyre_impulse);
    let external_impulse = step.external_impulses(tyre_response.linear);
    let v_free = step.free_velocity() + step.wheels().body().response(external_impulse);
    let v_warm = v_free + tyre_response;
    let v_warm = step.adapt_wheels(v_free, v_warm);
    step.build_strut_rows();
    let load_solution = step.solve_loads(v_free, v_warm);
    step.build_tyre_rows(load_solution.velocity);
    step.apply_assists(load_solution.velocity);
    let report = step.solve_coupled_rows(&Velocities { v_free, v_warm, load_solution });
    step.write_impulses(external_impulse);
    report
}

impl Vehicle {
    /// Solves one step of length `dt` (s, > 0) on `contacts`, one entry per wheel (`None`: no ground). Returns the
    /// impulses on the body (world axes, N s and N m s, not yet applied to it) and a report. [`Vehicle::finish`] ends
    /// the step after the world has advanced.
    ///
    /// `body` is the chassis at the start of the step; `solver` solves the rows, such as one of `skidpad-impulse` or
    /// `skidpad-constraint`. A solver with [`RowSolver::solves_hull`] also keeps the points of `hull` (contact points
    /// of the bodywork) out of obstacles; otherwise the world does. If `dt` is not the length of a step, nothing
    /// happens; see [`StepReport::for_skipped_step`]. If the body or the result is not finite, the impulses are 0 and
    /// the report has `not_finite`.
    pub fn solve(
        &mut self,
        body: &ChassisState,
        contacts: &[Option<Contact>],
        hull: &[HullPoint],
        controls: &Controls,
        solver: &dyn RowSolver,
        dt: f32,
    ) -> (ChassisImpulse, StepReport) {
        let mut chassis_impulse = ChassisImpulse::default();
        let report = match StepReport::for_skipped_step(dt) {
            Some(report) => report,
            None => {
                let tolerance_factor = 1.0;
                let inputs = StepInputs { body, contacts, hull, controls, solver, tolerance_factor, dt };
                self.solve_step(&mut chassis_impulse, &inputs)
            }
        };
        (chassis_impulse, report)
    }

    /// Solves a step of valid length in the widest instruction set of the processor, and writes the impulses on the
    /// body into `chassis_impulse`; see [`Vehicle::solve`]. Cars with a single group of four wheels use loops of
    /// constant length.
    pub(crate) fn solve_step(&mut self, chassis_impulse: &mut ChassisImpulse, inputs: &StepInputs<'_>) -> StepReport {
        if self.rows.len() == 1 {
            dispatch_simd(
                #[inline(always)]
                || self.solve_or_abort::<SingleGroup>(chassis_impulse, inputs),
            )
        } else {
            dispatch_simd(
                #[inline(always)]
                || self.solve_or_abort::<ManyGroups>(chassis_impulse, inputs),
            )
        }
    }

    /// Solves the step of a car with `B` groups of four wheels. Aborts the step by `abort_step` if the body or
    /// the result is not finite.
    #[inline(always)]
    fn solve_or_abort<B: WheelGroups>(
        &mut self,
        chassis_impulse: &mut ChassisImpulse,
        inputs: &StepInputs<'_>,
    ) -> StepReport {
        if is_body_finite(inputs.body)
            && let Some(report) = self.solve_stages::<B>(chassis_impulse, inputs)
        {
            return report;
        }
        self.abort_step(chassis_impulse, inputs.dt)
    }

    /// Runs the stages of a step and writes the impulses into `chassis_impulse`. Returns `None` if the resulting
    /// impulses or spins are not finite.
    #[inline(always)]
    fn solve_stages<B: WheelGroups>(
        &mut self,
        chassis_impulse: &mut ChassisImpulse,
        inputs: &StepInputs<'_>,
    ) -> Option<StepReport> {
        let mut car = OneCar::new(self, chassis_impulse, inputs);
        let report = run_stages::<B, _>(&mut car);
        car.is_finite.then_some(report)
    }

    /// Detects airborne wheels that touch down during the step because the loads of other wheels move the chassis, and
    /// gives these wheels a contact for the rest of the step. Returns at once unless at least one wheel is above ground
    /// and at least one is in contact.
    ///
    /// Builds the strut rows and solves the loads of the wheels in contact from `v_warm`, the chassis velocity with the
    /// last step's tyre impulses (`v_free`: without any wheel). A wheel lands if the resulting motion closes its gap to
    /// the ground within the step of `dt` s. If any wheel lands, the wheels that remain in the air are moved to their
    /// equilibrium in droop again. Later stages build struts and loads anew.
    ///
    /// A car that turns about one wheel can come down on another one at several m/s at 30 Hz. If the contact were
    /// detected in the next step only, its strut would start compressed, which adds energy.
    #[cold]
    #[inline(never)]
    fn detect_touchdowns(
        &mut self,
        body: &ChassisState,
        v_free: SpatialVector<f32>,
        v_warm: SpatialVector<f32>,
        dt: f32,
    ) {
        let has_wheel =
            |wheel_mask: fn(&WheelRows) -> Mask32x4| self.rows.iter().any(|rows| F32x4::any(wheel_mask(rows)));
        if !has_wheel(WheelRows::airborne_wheels) || !has_wheel(|rows| rows.contact.in_contact) {
            return;
        }
        self.init_struts_and_links::<ManyGroups>(dt);
        let v_loaded = self.solve_any_loads::<ManyGroups>(v_free, v_warm, dt).velocity.broadcast_to_wheels();
        let to_vehicle = self.to_world.transpose();
        // Chassis velocity at the start of the step, vehicle frame.
        let v_start = SpatialVector::from_vec3s(to_vehicle * body.velocity, to_vehicle * body.angular_velocity)
            .broadcast_to_wheels();
        let mut has_touchdown = false;
        for (group, rows) in groups_with_rows::<ManyGroups>(&self.model, &mut self.rows) {
            has_touchdown |= rows.detect_touchdown(
                group,
                group.present_mask(),
                [v_start, v_loaded],
                F32x4::splat(body.pose_lag),
                dt,
            );
        }
        if has_touchdown {
            self.set_droop_compressions();
        }
    }

    /// Adapts the tyre rows of wheels without an unsprung mass of their own to the directions in which these wheels can
    /// move. First aligns the rows of wheels with rim probes to their struts, then the rows of wheels guided by
    /// roll-centre links (axles whose roll centre is off the ground) to these links.
    ///
    /// Returns `v_warm` unchanged if there are no links. Otherwise returns `v_free` (velocity without wheels) plus the
    /// change by the last step's tyre impulses along the adapted rows.
    #[cold]
    #[inline(never)]
    fn tilt_tyre_rows(
        &mut self,
        body: &ChassisState,
        v_free: SpatialVector<f32>,
        v_warm: SpatialVector<f32>,
    ) -> SpatialVector<f32> {
        let to_vehicle = self.to_world.transpose();
        let v_start = SpatialVector::from_vec3s(to_vehicle * body.velocity, to_vehicle * body.angular_velocity);
        if self.model.has_rims() {
            self.constrain_rims_to_struts(v_start);
        }
        if !self.model.has_roll_centre_links() {
            return v_warm;
        }
        self.align_rows_to_links(v_start);
        v_free + self.response(self.wheel_impulses::<ManyGroups>(false)) // false: without loads
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
        let demand = self.apply_steering(controls, dt);
        self.store_start_state::<B>();
        self.apply_pedals::<B>(controls, &demand, dt);
        demand
    }

    /// Stores the vehicle axes in the middle of the step of `dt` s that starts at `body`, and the pose lag of the body.
    #[inline(always)]
    pub(crate) fn set_start_pose(&mut self, body: &ChassisState, dt: f32) {
        (self.to_world, self.pose_lag) = (body.midstep_axes(dt), body.pose_lag);
    }

    /// Reads the controls with the changes by assists, moves the steering angle towards the demand within its rate,
    /// turns the wheels, and stores the share of their rate that the anti-roll bars have in this step. Returns the
    /// driver's demand.
    #[inline(always)]
    pub(crate) fn apply_steering(&mut self, controls: &Controls, dt: f32) -> DriverDemand {
        let demand = self.read_controls(controls, dt);
        self.steer(controls, &demand, dt);
        self.read_bar_control(controls);
        demand
    }

    /// Copies the wheel states at the start of the step into the rows. Must follow the steering, which rotates the
    /// deflections of standing contact patches.
    #[inline(always)]
    pub(crate) fn store_start_state<B: WheelGroups>(&mut self) {
        for (group, rows) in groups_with_rows::<B>(&self.model, &mut self.rows) {
            rows.start = StartState::read(group, &self.state.wheels);
        }
    }

    /// Aborts the step: sets `chassis_impulse` to zero and resets rows, shafts, hull, assist log and bar impulses to
    /// their defaults. The rows keep the step length `dt` (s), and the spin and compression of every wheel in the
    /// state, so that [`Vehicle::finish`] writes finite values. The next step turns the wheels again. Returns a report
    /// with `not_finite`.
    #[cold]
    #[inline(never)]
    fn abort_step(&mut self, chassis_impulse: &mut ChassisImpulse, dt: f32) -> StepReport {
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            *rows = WheelRows { dt, unsprung_motion: rows.unsprung_motion.take(), ..WheelRows::default() };
            rows.solution.spin = group.gather(|i| self.state.wheels[i].spin);
            rows.contact.compression = group.gather(|i| self.state.wheels[i].compression);
        }
        self.shafts.clear();
        self.hull.clear();
        // Replaces the log, if there is one, by an empty log.
        self.assist_log.as_deref_mut().map(core::mem::take);
        // The reset axle directions are set again in the next step.
        (self.external_bar_impulse, self.applied_steer_bits) = Default::default();
        *chassis_impulse = ChassisImpulse::default();
        StepReport { not_finite: true, ..StepReport::default() }
    }
}
