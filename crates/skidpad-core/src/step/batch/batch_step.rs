//! Step of a batch of plain cars of one model, one car per lane, with the same bits as separate steps.
//!
//! A car leaves the batch if it is on moving ground, or in a rare situation (loads whose step is cut, rows that the
//! pass of the solver does not solve). Such a car is solved alone at the end of the step.

use crate::aero::parameters::AeroCoefficients;
use crate::assembly::aero::air_impulses;
use crate::assists::DriverDemand;
use crate::assists::parameters::AntiLock;
use crate::controls::Controls;
use crate::model::wheel_pack::WheelPack;
use crate::port::{ChassisImpulse, ChassisState, Contact};
use crate::step::batch::batch_wheels::BatchWheels;
use crate::step::batch::lane_exchange::{
    self, BATCH_LANES, gather_contacts, gather_textures, has_moving_ground, has_surface_data,
};
use crate::step::batch::workspace::BatchWorkspace;
use crate::step::batch_pass::{BatchFn, LanePass};
use crate::step::loads::{LoadWheels, solve_load_rows};
use crate::step::row_solver::RowSolver;
use crate::step::run_stages;
use crate::step::stages::{BatchInputs, Stages, StepInputs};
use crate::step::step_wheels::Velocities;
use crate::step_report::StepReport;
use crate::suspension::rows::LoadSolution;
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, wheel_impulses};
use bevy_math::Vec3;
use skidpad_simd::lane::{CarLanes, F32x4, Lane};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups};

/// Maximum number of cars that may leave the batch in a step. With more, a batch is slower than separate steps.
const MAX_UNBATCHED_CARS: usize = 2;

/// Maximum number of separate steps before the cars are batched again. The number starts at one and doubles with each
/// failed attempt.
const MAX_BACKOFF_STEPS: u8 = 64;

/// Solves the step of the `vehicles` of a batch. `workspace` is the workspace of the batch, which already has the
/// chassis motion of this step; `pass` has the functions of the solver. Cars with raw wheel inputs, or with another
/// pose lag (time by which poses lag behind velocities) than the first car, leave the batch.
///
/// Runs the stages of [`run_stages`] once for all lanes, then solves the cars that have left one by one. Writes
/// `chassis_impulses` (impulses on each chassis, world axes) and `reports`, and returns the combined report. If there
/// are fewer bodies or controls than lanes, nothing happens and the report is the default.
pub(crate) fn solve_batch<W: CarLanes>(
    workspace: &mut BatchWorkspace<W>,
    vehicles: &mut [Vehicle; BATCH_LANES],
    pass: &LanePass<W>,
    &BatchInputs { bodies, contacts, controls, solver, dt }: &BatchInputs<'_>,
    chassis_impulses: &mut [ChassisImpulse; BATCH_LANES],
    reports: &mut [StepReport],
) -> StepReport {
    let (Some(bodies), Some(controls)) = (bodies.first_chunk(), controls.first_chunk()) else {
        return StepReport::default();
    };
    workspace.pose_lag = bodies[0].pose_lag;
    for (has_left_batch, (controls, body)) in workspace.has_left_batch.iter_mut().zip(controls.iter().zip(bodies)) {
        *has_left_batch |= !controls.wheels.is_empty() | (body.pose_lag != workspace.pose_lag);
    }
    let wheel_count = workspace.wheel_count;
    // Initial values of `has_begun`, `pedals` and `driver_demands`.
    let (has_begun, pedals, driver_demands) = ([false; BATCH_LANES], [W::default(); 3], [None; BATCH_LANES]);
    let mut cars = BatchStep {
        wheels: BatchWheels { workspace, vehicles, dt },
        bodies,
        contacts,
        controls,
        has_begun,
        pedals,
        driver_demands,
        chassis_impulses,
        solver,
        solve_rows: if wheel_count == 4 { pass.single_group } else { pass.many_groups },
        has_airborne_wheel: W::Mask::default(),
    };
    W::dispatch_simd(
        #[inline(always)]
        || match wheel_count {
            // Two axles: loops over wheels have a constant length.
            4 => run_stages::<SingleGroup, _>(&mut cars),
            _ => run_stages::<ManyGroups, _>(&mut cars),
        },
    );
    cars.solve_unbatched_cars(reports)
}

/// Batch of cars during a step.
pub(super) struct BatchStep<'a, W: CarLanes> {
    /// Wheels of all cars, and the length of the step.
    pub(super) wheels: BatchWheels<'a, W>,
    /// Bodies at the start of the step.
    pub(super) bodies: &'a [ChassisState; BATCH_LANES],
    /// Contacts, ordered car by car, wheel by wheel.
    pub(super) contacts: &'a [Option<Contact>],
    /// Inputs of each driver.
    pub(super) controls: &'a [&'a Controls; BATCH_LANES],
    /// Whether steering and drivetrain of each car have advanced in the batch in this step; also true for cars that
    /// leave later.
    pub(super) has_begun: [bool; BATCH_LANES],
    /// Demands for throttle, foot brake and handbrake, 0 to 1.
    pub(super) pedals: [W; 3],
    /// Complete demand of each driver, for models whose assists change it.
    pub(super) driver_demands: [Option<DriverDemand>; BATCH_LANES],
    /// Results: impulses on each chassis, world axes.
    pub(super) chassis_impulses: &'a mut [ChassisImpulse; BATCH_LANES],
    /// Solver of the rows.
    pub(super) solver: &'a dyn RowSolver,
    /// Pass of the solver over the rows of this batch.
    pub(super) solve_rows: BatchFn<W>,
    /// Mask of the cars with a wheel off the ground.
    pub(super) has_airborne_wheel: W::Mask,
}

impl<'a, B: WheelGroups, W: CarLanes> Stages<B> for BatchStep<'a, W> {
    type Wheels = BatchWheels<'a, W>;

    #[inline(always)]
    fn wheels(&mut self) -> &mut BatchWheels<'a, W> {
        &mut self.wheels
    }

    /// Applies steering and pedals, then begins the rows between spins.
    #[inline(always)]
    fn apply_driver_demand(&mut self) {
        // Driving directions of cars without an engine.
        let directions = self.begin_cars::<B>();
        self.begin_shaft_rows::<B>(directions);
    }

    /// Sets contacts, row directions and initial tyre impulses of every wheel, wheel by wheel for all cars. Cars on
    /// ground that moves or can be moved leave the batch. For each wheel: sets the contact in the middle of the step,
    /// extrapolates the compression to its start, sets the motion of the ground (only a texture is possible) and of the
    /// contact, restores the tyre impulses and moments of the last step, and resets the loads. Wheels without contact
    /// are then moved to their equilibrium in droop.
    #[inline(always)]
    fn locate_contacts(&mut self) {
        let (wheel_count, dt) = (B::wheel_count(self.wheels.workspace.wheel_count), self.wheels.dt);
        let chunks = self.contacts.chunks_exact(wheel_count);
        // Whether any contact of the batch has surface data (motion or texture).
        let has_surface = chunks.clone().take(BATCH_LANES).fold(false, |any, chunk| any | has_surface_data(chunk));
        if has_surface {
            self.wheels
                .workspace
                .has_left_batch
                .iter_mut()
                .zip(chunks)
                .for_each(|(has_left_batch, chunk)| *has_left_batch |= has_moving_ground(chunk));
        }
        let pose_lag = W::splat(self.wheels.workspace.pose_lag);
        // Cars with a wheel off the ground.
        let mut has_airborne_wheel = W::Mask::default();
        let contacts = self.contacts;
        let (chassis, wheels) = self.wheels.workspace.chassis_and_wheels::<B>();
        for (wheel_index, (pack, rows)) in wheels.enumerate() {
            rows.set_contacts(pack, &gather_contacts(contacts, [wheel_index, wheel_count]), &chassis.to_vehicle);
            rows.extrapolate_to_start(pack, chassis.start_velocity, dt);
            if has_surface {
                let (has_texture, rolling_resistance) = gather_textures(contacts, [wheel_index, wheel_count]);
                rows.contact.ground_motion =
                    rows.textured_ground_at_rest(has_texture, rolling_resistance, &chassis.to_vehicle);
            } else {
                rows.contact.ground_motion.reset();
            }
            rows.set_contact_motion(chassis.start_velocity, || chassis.free_velocity, pose_lag, dt);
            rows.warm_start_moments(pack, dt);
            rows.reset();
            has_airborne_wheel = has_airborne_wheel | !rows.contact.in_contact;
        }
        self.has_airborne_wheel = has_airborne_wheel;
        if W::any(has_airborne_wheel) {
            self.set_droop_compressions::<B>(has_airborne_wheel);
        }
    }

    /// Returns the impulses of the air (N s, N m s), at the air velocity at the start of the step plus half of the
    /// change `tyre_response`, with the factors of the aerodynamic maps if the model has maps. A batch has no other
    /// external forces.
    #[inline(always)]
    fn external_impulses(&mut self, tyre_response: Vec3Lanes<W>) -> SpatialVector<W> {
        let (model, air_velocity) =
            (&self.wheels.workspace.model, self.wheels.workspace.chassis.air_velocity + tyre_response * W::splat(0.5));
        // Factors of the aerodynamic maps on drag and both surfaces.
        let mut factors = [W::splat(1.0); 3];
        if model.parts().aero.maps.is_some() {
            factors = lane_exchange::air_factors(self.wheels.vehicles, air_velocity);
        }
        let aero = &model.parts().aero;
        let coefficients = (&AeroCoefficients::of(aero), W::splat(model.mass()));
        air_impulses(aero, coefficients, air_velocity, factors, self.wheels.dt)
    }

    #[inline(always)]
    fn free_velocity(&self) -> SpatialVector<W> {
        self.wheels.workspace.chassis.free_velocity
    }

    /// Detects touchdowns of cars that have a wheel off the ground. Returns `v_warm` unchanged.
    #[inline(always)]
    fn adapt_wheels(&mut self, _: SpatialVector<W>, v_warm: SpatialVector<W>) -> SpatialVector<W> {
        if W::any(self.has_airborne_wheel) {
            self.detect_touchdowns::<B>(self.has_airborne_wheel, v_warm);
        }
        v_warm
    }

    /// Initialises the strut rows, and sums the forces of the axle links at each strut. Axle links of a batch are
    /// anti-roll bars within an axle. Where these links would lift a wheel off the ground, the end of the bar is moved
    /// to the balance of strut and bars.
    #[inline(always)]
    fn build_strut_rows(&mut self) {
        let dt = self.wheels.dt;
        for (pack, rows) in self.wheels.workspace.wheels::<B>() {
            rows.init_strut(pack, dt);
        }
        if self.wheels.workspace.model.has_axle_links() {
            let bar_rate_share = W::from_fn(|car| self.controls[car].bar_rate_share());
            self.update_all_bar_forces::<B>(bar_rate_share);
            let mut lifted = W::Mask::default();
            for (pack, rows) in self.wheels.workspace.wheels::<B>() {
                lifted = lifted | rows.wheels_lifted_by_links(pack);
            }
            if W::any(lifted) {
                self.lift_bar_ends::<B>(lifted, bar_rate_share);
            }
        }
    }

    /// Solves the load rows of all cars from the velocity with the last step's tyre impulses. Cars that have not
    /// converged after the allowed solves leave the batch.
    #[inline(always)]
    fn solve_loads(&mut self, _: SpatialVector<W>, v_warm: SpatialVector<W>) -> LoadSolution<W> {
        let dt = self.wheels.dt;
        let (velocity, converged) = solve_load_rows::<B, _>(&mut self.wheels, v_warm, dt);
        self.wheels.mark_unbatched(!converged);
        // Loads of converged cars are those of the velocity; all others leave the batch.
        LoadSolution { velocity, matches_rows: true }
    }

    /// Linearises the tyre forces of all wheels at the chassis velocity `v_loaded`.
    #[inline(never)]
    fn build_tyre_rows(&mut self, v_loaded: SpatialVector<W>) {
        W::call_outlined(
            #[inline(always)]
            || {
                let (count, model, dt) =
                    (B::wheel_count(self.wheels.workspace.wheel_count), &self.wheels.workspace.model, self.wheels.dt);
                for (pack, rows) in
                    self.wheels.workspace.packs[..count].iter().zip(&mut self.wheels.workspace.rows[..count])
                {
                    rows.linearise_tyre_rows(pack, &model.parts().tyres, v_loaded, dt);
                }
            },
        );
    }

    /// Applies ABS, the only assist of a batch that changes torques. In models with motors, cars with a wheel that
    /// slips under braking leave the batch, because their regeneration may have to be limited. Brake torques are
    /// limited if any driver presses the brake pedal.
    #[inline(always)]
    fn apply_assists(&mut self, v_loaded: SpatialVector<W>) {
        if let Some(anti_lock) = self.wheels.workspace.model.parts().assists.abs {
            let [_, brake_pedal, _] = self.pedals;
            if !self.wheels.workspace.model.parts().motors.is_empty() {
                self.wheels.mark_unbatched(self.brake_slip_mask(&anti_lock));
            }
            if W::any(W::splat(0.0).less(brake_pedal)) {
                self.limit_brake_torques(&anti_lock, brake_pedal, v_loaded);
            }
        }
    }

    /// Solves the rows by the pass of the solver. Cars that need more leave the batch.
    #[inline(always)]
    fn solve_coupled_rows(&mut self, velocities: &Velocities<W>) -> StepReport {
        let unsolved = (self.solve_rows)(&mut self.wheels, velocities);
        self.wheels.mark_unbatched(unsolved);
        StepReport::SINGLE_PASS
    }

    /// Sums `external_impulse`, the impulse of external links (0 in a batch) and the impulses of the wheels, loads
    /// included. Rotates the sums to world axes and writes one push per car, without a hull impulse. Cars with an
    /// impulse or spin that is not finite leave the batch.
    #[inline(always)]
    fn write_impulses(&mut self, external_impulse: SpatialVector<W>) {
        let rows = self.wheels.workspace.rows::<B>();
        // true: loads included.
        let total =
            external_impulse + LoadWheels::<B>::external_link_impulse(&self.wheels) + wheel_impulses(rows, true);
        let spins = rows.iter().fold(W::default(), |sum, rows| sum + rows.solution.spin);
        let to_world = self.wheels.workspace.chassis.to_world;
        // Impulse (N s) and angular impulse about the centre of mass (N m s), world axes.
        let (linear, angular) = (to_world.mul_vector(total.linear), to_world.mul_vector(total.angular));
        let impulse_sum = linear + angular;
        // This sum is finite only if every term is.
        let finite_test = (impulse_sum.x + impulse_sum.y + impulse_sum.z + spins).abs();
        self.wheels.mark_unbatched(!finite_test.less(W::splat(f32::INFINITY)));
        let first = W::transpose_to_cars([linear.x, linear.y, linear.z, angular.x]);
        // The last two numbers only fill the array.
        let last = W::transpose_to_cars([angular.y, angular.z, angular.y, angular.z]);
        for (chassis_impulse, (first, last)) in self.chassis_impulses.iter_mut().zip(first.into_iter().zip(last)) {
            let ([x, y, z, a], [b, c, ..]) = (first.lanes(), last.lanes());
            let (impulse, angular_impulse) = (Vec3::new(x, y, z), Vec3::new(a, b, c));
            *chassis_impulse = ChassisImpulse { impulse, angular_impulse, ..ChassisImpulse::default() };
        }
    }
}

impl<W: CarLanes> BatchStep<'_, W> {
    /// Returns the mask of cars with a braked wheel that is slower than the road by more than half of the slip of
    /// `anti_lock`, at a speed above its minimum. The motors of such cars may have to be limited.
    #[inline(never)]
    fn brake_slip_mask(&self, anti_lock: &AntiLock) -> W::Mask {
        let wheels =
            self.wheels.workspace.packs.iter().zip(&self.wheels.workspace.rows).take(self.wheels.workspace.wheel_count);
        let slip_mask = |(pack, rows): (&WheelPack<W>, &WheelRows<W>)| {
            rows.braking_slip_mask(pack, anti_lock.slip, anti_lock.min_speed)
        };
        wheels.map(slip_mask).fold(W::Mask::default(), |combined, mask| combined | mask)
    }

    /// Removes the part of the brake impulses that would lock wheels (ABS), with the chassis velocity `v_loaded` as
    /// prediction of the end of the step. `brake_pedal` is the position of the brake pedal, 0 to 1. Stores the removed
    /// impulse of each car in `removed_brake_impulse` (N m s).
    #[inline(never)]
    fn limit_brake_torques(&mut self, anti_lock: &AntiLock, brake_pedal: W, v_loaded: SpatialVector<W>) {
        W::call_outlined(
            #[inline(always)]
            || {
                let dt = self.wheels.dt;
                self.wheels.workspace.removed_brake_impulse = W::default();
                let (packs, _) = self.wheels.workspace.packs.as_chunks::<4>();
                let (rows, _) = self.wheels.workspace.rows.as_chunks_mut::<4>();
                for (packs, rows) in packs.iter().zip(rows) {
                    // Removed impulses of the wheels of two axles (N m s).
                    let mut removed_impulses = [W::default(); 4];
                    for ((removed_impulse, rows), pack) in removed_impulses.iter_mut().zip(rows).zip(packs) {
                        *removed_impulse = rows.limit_brake_slip(pack, anti_lock, brake_pedal, v_loaded, dt);
                    }
                    self.wheels.workspace.removed_brake_impulse += W::sum_over_wheels(|k| removed_impulses[k]);
                }
            },
        );
    }

    /// Ends the step. Solves the cars that have left the batch one by one by [`Vehicle::solve_step`] and writes their
    /// `reports`. All other cars get the report of one pass and their ABS log, and the rows of their vehicles are
    /// marked as outdated, because the batch has the rows of this step. Returns the combined report.
    ///
    /// If more than [`MAX_UNBATCHED_CARS`] cars have left, all cars are stepped one by one in the next steps. The
    /// number of these steps starts at 1 and doubles each time in a row, up to [`MAX_BACKOFF_STEPS`].
    #[inline(always)]
    fn solve_unbatched_cars(&mut self, reports: &mut [StepReport]) -> StepReport {
        let [_, brake, _] = self.pedals;
        let Self {
            wheels: BatchWheels { workspace, vehicles, dt },
            bodies,
            contacts,
            controls,
            has_begun,
            driver_demands,
            chassis_impulses,
            solver,
            ..
        } = self;
        let (dt, solver) = (*dt, *solver);
        let exceeds_limit = workspace.has_left_batch.iter().filter(|flag| **flag).count() > MAX_UNBATCHED_CARS;
        // Number of separate steps if too many cars have left.
        let next = workspace.backoff_steps[1];
        workspace.backoff_steps = if exceeds_limit { [next, (2 * next).min(MAX_BACKOFF_STEPS)] } else { [0, 1] };
        reports.fill(StepReport::SINGLE_PASS);
        let mut report =
            if workspace.has_left_batch.contains(&false) { StepReport::SINGLE_PASS } else { StepReport::default() };
        for (car, (vehicle, chassis_impulse)) in vehicles.iter_mut().zip(chassis_impulses.iter_mut()).enumerate() {
            if workspace.has_left_batch[car] {
                let (body, controls) = (&bodies[car], controls[car]);
                let contacts = &contacts[car * workspace.wheel_count..][..workspace.wheel_count];
                let inputs = StepInputs { body, contacts, hull: &[], controls, solver, tolerance_factor: 1.0, dt };
                // Steering and drivetrain of the car have already taken this step; they must not advance twice.
                if has_begun[car] {
                    prepare_unbatched(workspace, vehicle, car, &inputs, driver_demands[car]);
                }
                reports[car] = vehicle.solve_step(chassis_impulse, &inputs);
                report = report.merge_worst(reports[car]);
                continue;
            }
            if workspace.has_abs() && brake.car(car) > 0.0 {
                vehicle.record_anti_lock(workspace.removed_brake_impulse.car(car), dt);
            }
            // The rows of the vehicle do not contain this step.
            for rows in &mut vehicle.rows {
                rows.invalidate_step();
                rows.contact.ground_motion.reset();
            }
        }
        report
    }
}

/// Prepares `vehicle`, number `car` of the batch, to be solved alone although its steering, gear and engine have
/// advanced in the batch. `demand` is the demand of its driver; `None` reads the controls.
///
/// Sets the start pose, bar share and start states of the wheels, and the impulses of direct drive and brakes. Restores
/// the clutch or the first row between spins as it was at the start of the step, clears the impulses of the other rows,
/// and sets the impulse of clutch or converter on the wheels. Finally stores the demand, so that [`Vehicle::solve`]
/// does not apply the controls again.
#[cold]
#[inline(never)]
fn prepare_unbatched<W: CarLanes>(
    workspace: &BatchWorkspace<W>,
    vehicle: &mut Vehicle,
    car: usize,
    inputs: &StepInputs<'_>,
    demand: Option<DriverDemand>,
) {
    let demand =
        demand.unwrap_or_else(|| DriverDemand::from_controls(inputs.controls, &workspace.model.parts().steering));
    vehicle.set_start_pose(inputs.body, inputs.dt);
    vehicle.read_bar_control(inputs.controls);
    vehicle.store_start_state::<ManyGroups>();
    let direction = if workspace.has_engine() { 0.0 } else { vehicle.shafts.pedal_demand.direction };
    vehicle.apply_wheel_torques::<ManyGroups>(inputs.controls, &demand, direction, inputs.dt);
    // Initial impulse of clutch or converter on the propeller shaft (N m s).
    let shaft_impulse = if workspace.engines.are_batched {
        workspace.engines.copy_start_to_vehicle(vehicle, car, inputs.dt)
    } else {
        // Impulse through the first row, and on the shaft (N m s).
        let [row_impulse, shaft_impulse] = workspace.start_impulses[car];
        vehicle.shafts.constraints.iter_mut().for_each(|row| row.impulse = 0.0);
        vehicle.shafts.constraints[0].impulse = row_impulse;
        shaft_impulse
    };
    if workspace.has_engine() {
        for (group, rows) in workspace.model.wheel_packs().iter().zip(&mut vehicle.rows) {
            rows.drive.shaft = group.shaft_jacobian[0] * F32x4::splat(shaft_impulse);
        }
    }
    vehicle.applied_demand = Some(demand);
}
