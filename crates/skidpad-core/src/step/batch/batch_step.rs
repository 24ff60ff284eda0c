//! Step of a batch of plain cars of one model, one car per lane: one sweep, with the same bits as separate steps.
//!
//! A car leaves the batch if it is on moving ground, or needs a rare path (loads whose step is cut, stiff tyres that
//! are iterated). Such a car is solved alone at the end of the step.

use crate::assembly::aero::air_impulses;
use crate::assembly::suspension::axle_links::{BarResponse, update_bar_impulses};
use crate::assists::DriverDemand;
use crate::assists::parameters::AntiLock;
use crate::constants::MAX_WHEELS;
use crate::controls::Controls;
use crate::model::Model;
use crate::model::wheel_pack::WheelPack;
use crate::port::{ChassisImpulse, ChassisState, Contact};
use crate::simd::lane::{CarLanes, F32x4, Lane, pair_from_fn};
use crate::simd::linear::{OuterProducts, SpatialVector};
use crate::simd::vectors::{Mat3Lanes, Vec3Lanes};
use crate::simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups};
use crate::solver_mode::{ImpulseBounds, SolverMode, StepReport};
use crate::step::batch::clutches::BatchClutches;
use crate::step::batch::lane_exchange::{
    self, BATCH_LANES, gather_contacts, gather_textures, has_moving_ground, has_surface_data,
};
use crate::step::batch::shafts::solve_batch_shafts;
use crate::step::batch::workspace::BatchWorkspace;
use crate::step::loads::{SOLVES_BEFORE_CUTS, solve_load_rows};
use crate::step::run_stages;
use crate::step::single_pass::{SINGLE_PASS_REPORT, solve_single_pass};
use crate::step::stages::{BatchInputs, Stages, StepInputs, StepWheels, Velocities};
use crate::suspension::rows::LoadSolution;
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, response, wheel_impulses};
use crate::wheel::rows::GroundMotion;
use bevy_math::Vec3;

/// Maximum number of cars that may leave the batch in a step. With more, a batch is slower than separate steps.
const MAX_UNBATCHED_CARS: usize = 2;

/// Maximum number of separate steps before the cars are batched again. The number starts at one and doubles with each
/// failed attempt.
const MAX_BACKOFF_STEPS: u8 = 64;

/// Solves the step of the `vehicles` of a batch. `room` is the workspace of the batch, which already has the chassis motion of this step.
/// Cars with raw wheel inputs, or with another pose lag than the first car, leave the batch. Runs the stages of [`run_stages`] once for all
/// lanes, then solves the cars that have left one by one. Writes `pushes` (impulses on each chassis, world axes) and `reports`, and returns
/// the combined report. If there are fewer bodies or controls than lanes, nothing happens and the report is the default.
pub(crate) fn solve_batch<W: CarLanes>(
    room: &mut BatchWorkspace<W>,
    vehicles: &mut [Vehicle; BATCH_LANES],
    &BatchInputs { bodies, contacts, controls, dt }: &BatchInputs<'_>,
    pushes: &mut [ChassisImpulse; BATCH_LANES],
    reports: &mut [StepReport],
) -> StepReport {
    let (Some(bodies), Some(controls)) = (bodies.first_chunk(), controls.first_chunk()) else {
        return StepReport::default();
    };
    room.pose_lag = bodies[0].pose_lag;
    for (alone, (controls, body)) in room.is_unbatched.iter_mut().zip(controls.iter().zip(bodies)) {
        *alone |= !controls.wheels.is_empty() | (body.pose_lag != room.pose_lag);
    }
    let wheels = room.wheel_count;
    // Initial values of `has_begun`, `pedals` and `driver_demands`.
    let (begun, pedals, asked) = ([false; BATCH_LANES], [W::default(); 3], [None; BATCH_LANES]);
    let mut cars = BatchStep {
        workspace: room,
        vehicles,
        bodies,
        contacts,
        controls,
        has_begun: begun,
        pedals,
        driver_demands: asked,
        pushes,
        dt,
        has_airborne_wheel: W::Mask::default(),
    };
    W::dispatch_simd(
        #[inline(always)]
        || match wheels {
            // Two axles: loops over wheels have a constant length.
            4 => run_stages::<SingleGroup, _>(&mut cars),
            _ => run_stages::<ManyGroups, _>(&mut cars),
        },
    );
    cars.solve_unbatched_cars(reports)
}

/// Batch of cars during a step.
pub(super) struct BatchStep<'a, W: CarLanes> {
    /// Packs and rows with one car per lane.
    pub(super) workspace: &'a mut BatchWorkspace<W>,
    /// Vehicles, in the order of the lanes.
    pub(super) vehicles: &'a mut [Vehicle; BATCH_LANES],
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
    pub(super) pushes: &'a mut [ChassisImpulse; BATCH_LANES],
    /// Length of the step (s), > 0.
    pub(super) dt: f32,
    /// Mask of the cars with a wheel off the ground.
    pub(super) has_airborne_wheel: W::Mask,
}

impl<B: WheelGroups, W: CarLanes> StepWheels<B> for BatchStep<'_, W> {
    type Lanes = W;

    const MAX_LOAD_SOLVES: usize = SOLVES_BEFORE_CUTS;

    #[inline(always)]
    fn model(&self) -> &Model {
        &self.workspace.model
    }

    #[inline(always)]
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack<W>, &mut WheelRows<W>)> {
        self.workspace.wheels::<B>()
    }

    #[inline(always)]
    fn rows(&self) -> &[WheelRows<W>] {
        self.workspace.rows::<B>()
    }

    /// Computes the impulses of the anti-roll bars between the wheels of an axle; a batch has no other axle links.
    #[inline(always)]
    fn load_axle_links(&mut self) {
        if self.workspace.model.has_axle_links() {
            let (_, rows) = self.workspace.packs_and_rows::<B>();
            for rows in rows.chunks_exact_mut(W::ROWS_PER_AXLE_PAIR) {
                update_bar_impulses(rows);
            }
        }
    }

    /// Adds the derivative of the anti-roll bars to `products`. Returns the change of their impulses from the velocities in the rows to
    /// `warm`. The external impulses are 0 in a batch.
    #[inline(always)]
    fn add_axle_links(&self, products: &mut OuterProducts<W>, warm: SpatialVector<W>) -> SpatialVector<W> {
        let mut given = StepWheels::<B>::external_link_impulse(self);
        if self.workspace.model.has_axle_links() {
            for rows in self.workspace.rows::<B>().chunks_exact(W::ROWS_PER_AXLE_PAIR) {
                given = given + BarResponse::new(rows, warm).add_to(products);
            }
        }
        given
    }

    #[inline(always)]
    fn has_tilted_rows(&self) -> bool {
        false
    }

    /// Solves the rows between spins (clutch, motors, converters, couplings) of all cars, and marks cars whose clutch has not settled as
    /// leaving the batch. If the batch has common engines ([`BatchWorkspace::engines`]), solves all clutches in lanes. Otherwise solves the
    /// cars with a lone clutch in lanes, and those with other rows by `solve_shaft_rows`. Cars that have left, or whose rows cannot carry
    /// an impulse, are skipped.
    #[inline(always)]
    fn solve_shafts(&mut self) {
        if self.workspace.engines.are_batched {
            let BatchWorkspace { engines, is_unbatched: alone, packs, rows, .. } = &mut *self.workspace;
            // Number of packs, those without a wheel included.
            let lanes = B::wheel_count(rows.len());
            let wheels = (&packs[..lanes], &mut rows[..lanes]);
            let (impulse, left) = engines.clutches(alone).solve(self.vehicles, wheels, self.dt);
            engines.set_impulses(impulse);
            self.mark_unbatched(left);
            return;
        }
        // `unsettled`: 1 for cars with a lone clutch to solve; `has_rows`: cars with other rows.
        let (mut unsettled, mut has_rows) = ([0.0; BATCH_LANES], [false; BATCH_LANES]);
        for (car, vehicle) in self.vehicles.iter_mut().enumerate() {
            vehicle.shafts.within = ImpulseBounds::ApproximateCone;
            let is_idle = vehicle.shafts.are_open() | self.workspace.is_unbatched[car];
            let is_clutch = vehicle.shafts.is_lone_clutch();
            has_rows[car] = !(is_idle | is_clutch);
            unsettled[car] = if is_idle | !is_clutch { 0.0 } else { 1.0 };
        }
        if has_rows.contains(&true) {
            self.solve_shaft_rows(has_rows);
        }
        let unsettled = W::splat(0.0).less(W::from_lanes(unsettled));
        if !W::any(unsettled) {
            return;
        }
        let clutches = BatchClutches::from_vehicles(self.vehicles, unsettled);
        let (impulse, left) = clutches.solve(self.vehicles, self.workspace.packs_and_rows::<B>(), self.dt);
        for (vehicle, impulse) in self.vehicles.iter_mut().zip(impulse.to_lanes()) {
            vehicle.shafts.constraints[0].impulse = impulse;
        }
        self.mark_unbatched(left);
    }
}

impl<B: WheelGroups, W: CarLanes> Stages<B> for BatchStep<'_, W> {
    type Wheels = Self;

    #[inline(always)]
    fn wheels(&mut self) -> &mut Self {
        self
    }

    /// Applies steering and pedals, then begins the rows between spins.
    #[inline(always)]
    fn apply_driver_demand(&mut self) {
        // Driving directions of cars without an engine.
        let towards = self.apply_pedals::<B>();
        self.begin_shaft_rows::<B>(towards);
    }

    /// Sets contacts, row directions and initial tyre impulses of every wheel, wheel by wheel for all cars. Cars on ground that moves or
    /// can be moved leave the batch. For each wheel: sets the contact in the middle of the step, extrapolates the compression to its start,
    /// sets the motion of the ground (only a texture is possible) and of the contact, restores the tyre impulses and moments of the last
    /// step, and resets the loads. Wheels without contact are then moved to their equilibrium in droop.
    #[inline(always)]
    fn locate_contacts(&mut self) {
        let (wheels, chassis, dt) = (B::wheel_count(self.workspace.wheel_count), self.workspace.chassis, self.dt);
        let all_met = self.contacts.chunks_exact(wheels);
        // Whether any contact of the batch has surface data (motion or texture).
        let is_told = all_met.clone().take(BATCH_LANES).fold(false, |any, met| any | has_surface_data(met));
        if is_told {
            self.workspace
                .is_unbatched
                .iter_mut()
                .zip(all_met)
                .for_each(|(alone, met)| *alone |= has_moving_ground(met));
        }
        let pose_lag = W::splat(self.workspace.pose_lag);
        // Cars with a wheel off the ground.
        let mut hangs = W::Mask::default();
        let contacts = self.contacts;
        for (k, (bank, rows)) in self.workspace.wheels::<B>().enumerate() {
            rows.set_contacts(bank, &gather_contacts(contacts, [k, wheels]), &chassis.to_vehicle);
            rows.extrapolate_to_start(bank, chassis.start_velocity, dt);
            if is_told {
                rows.contact.ground_motion = textured_ground_motion(rows, contacts, [k, wheels], chassis.to_vehicle);
            } else {
                rows.contact.ground_motion.reset();
            }
            rows.set_contact_motion(chassis.start_velocity, || chassis.free_velocity, pose_lag, dt);
            rows.warm_start_moments(bank, dt);
            rows.reset();
            hangs = hangs | !rows.contact.in_contact;
        }
        self.has_airborne_wheel = hangs;
        if W::any(hangs) {
            self.set_droop_compressions::<B>(hangs);
        }
    }

    /// Returns the impulses of the air (N s, N m s), at the air velocity at the start of the step plus half of the change `by_tyres`. A
    /// batch has no other external forces.
    #[inline(always)]
    fn external_impulses(&mut self, by_tyres: Vec3Lanes<W>) -> SpatialVector<W> {
        let (model, in_air) = (&self.workspace.model, self.workspace.chassis.air_velocity + by_tyres * W::splat(0.5));
        // Factors of the aerodynamic maps on drag and both surfaces.
        let mut factors = [W::splat(1.0); 3];
        if model.parts().aero.maps.is_some() {
            factors = lane_exchange::air_factors(self.vehicles, in_air);
        }
        air_impulses(model, in_air, factors, self.dt)
    }

    #[inline(always)]
    fn free_velocity(&self) -> SpatialVector<W> {
        self.workspace.chassis.free_velocity
    }

    /// Detects touchdowns of cars that have a wheel off the ground. Returns `warm` unchanged.
    #[inline(always)]
    fn adapt_wheels(&mut self, [_, warm]: [SpatialVector<W>; 2]) -> SpatialVector<W> {
        if W::any(self.has_airborne_wheel) {
            self.detect_touchdowns::<B>(self.has_airborne_wheel, warm);
        }
        warm
    }

    /// Initialises the strut rows and sums the forces of the anti-roll bars at each strut. Where bars would lift a wheel off the ground,
    /// the bar end is moved to the balance of strut and bars.
    #[inline(always)]
    fn build_strut_rows(&mut self) {
        let dt = self.dt;
        for (bank, rows) in self.workspace.wheels::<B>() {
            rows.init_strut(bank, dt);
        }
        if self.workspace.model.has_axle_links() {
            let share = W::from_fn(|car| self.controls[car].bar_rate_share());
            self.sum_bars::<B>(share);
            let mut lifted = W::Mask::default();
            for (bank, rows) in self.workspace.wheels::<B>() {
                lifted = lifted | rows.wheels_lifted_by_links(bank);
            }
            if W::any(lifted) {
                self.lift_bar_ends::<B>(lifted, share);
            }
        }
    }

    /// Solves the load rows of all cars from the velocity with the last step's tyre impulses. Cars that have not converged after the
    /// allowed solves leave the batch.
    #[inline(always)]
    fn solve_loads(&mut self, [_, warm]: [SpatialVector<W>; 2]) -> LoadSolution<W> {
        let dt = self.dt;
        let (velocity, settled) = solve_load_rows::<B, _>(self, warm, dt);
        self.mark_unbatched(!settled);
        // Loads of converged cars are those of the velocity; all others leave the batch.
        LoadSolution { velocity, matches_rows: true }
    }

    /// Linearises the tyre forces of all wheels at the chassis velocity `loaded`.
    #[inline(never)]
    fn build_tyre_rows(&mut self, loaded: SpatialVector<W>) {
        W::call_outlined(
            #[inline(always)]
            || {
                let (wheels, model, dt) = (B::wheel_count(self.workspace.wheel_count), &self.workspace.model, self.dt);
                for (bank, rows) in self.workspace.packs[..wheels].iter().zip(&mut self.workspace.rows[..wheels]) {
                    rows.linearise_tyre_rows(bank, &model.parts().tyres, loaded, dt);
                }
            },
        );
    }

    /// Applies ABS, the only assist of a batch that changes torques. In models with motors, cars with a wheel that slips under braking
    /// leave the batch, because their regeneration may have to be limited. Brake torques are limited if any driver presses the brake pedal.
    #[inline(always)]
    fn apply_assists(&mut self, loaded: SpatialVector<W>) {
        if let Some(anti_lock) = self.workspace.model.parts().assists.abs {
            let [_, pedal, _] = self.pedals;
            if !self.workspace.model.parts().motors.is_empty() {
                self.mark_unbatched(self.brake_slip_mask(&anti_lock));
            }
            if W::any(W::splat(0.0).less(pedal)) {
                self.limit_brake_torques(&anti_lock, pedal, loaded);
            }
        }
    }

    /// Performs one sweep over shafts and wheel blocks from the velocity with loads, and checks cars with stiff tyres. Always returns the
    /// report of one sweep; cars that have to iterate leave the batch.
    #[inline(never)]
    fn solve_coupled_rows(&mut self, velocities: &Velocities<W>) -> StepReport {
        W::call_outlined(
            #[inline(always)]
            || {
                let stiff = solve_single_pass::<B, _>(self, velocities.loaded.velocity);
                if W::any(stiff) {
                    self.check_stiff_tyres::<B>(stiff, velocities.free);
                }
            },
        );
        SINGLE_PASS_REPORT
    }

    /// Sums the impulses of `external` forces, bars and wheels (loads included), rotates them to world axes and writes one push per car,
    /// without a hull impulse. Cars with an impulse or spin that is not finite leave the batch.
    #[inline(always)]
    fn write_impulses(&mut self, external: SpatialVector<W>) {
        let rows = self.workspace.rows::<B>();
        let given = external + StepWheels::<B>::external_link_impulse(self) + wheel_impulses(rows, true);
        let spins = rows.iter().fold(W::default(), |sum, rows| sum + rows.solution.spin);
        let to_world = self.workspace.chassis.to_world;
        // Impulse (N s) and angular impulse about the centre of mass (N m s), world axes.
        let (impulse, turn) = (to_world.mul_vector(given.linear), to_world.mul_vector(given.angular));
        let all = impulse + turn;
        // This sum is finite only if every term is.
        let size = (all.x + all.y + all.z + spins).abs();
        self.mark_unbatched(!size.less(W::splat(f32::INFINITY)));
        let first = W::transpose_to_cars([impulse.x, impulse.y, impulse.z, turn.x]);
        // The last two numbers only fill the array.
        let last = W::transpose_to_cars([turn.y, turn.z, turn.y, turn.z]);
        for (push, (first, last)) in self.pushes.iter_mut().zip(first.into_iter().zip(last)) {
            let ([x, y, z, a], [b, c, ..]) = (first.lanes(), last.lanes());
            let (impulse, angular_impulse) = (Vec3::new(x, y, z), Vec3::new(a, b, c));
            *push = ChassisImpulse { impulse, angular_impulse, ..ChassisImpulse::default() };
        }
    }
}

impl<W: CarLanes> BatchStep<'_, W> {
    /// Marks the cars of `mask` as leaving the batch.
    #[inline(always)]
    pub(super) fn mark_unbatched(&mut self, mask: W::Mask) {
        let bits = W::bits(mask);
        if bits != 0 {
            for (car, alone) in self.workspace.is_unbatched.iter_mut().enumerate() {
                *alone |= bits & (1 << car) != 0;
            }
        }
    }

    /// Returns the mask of cars with a braked wheel that is slower than the road by more than half of the slip of `anti_lock`, at a speed
    /// above its minimum. The motors of such cars may have to be limited.
    #[inline(never)]
    fn brake_slip_mask(&self, anti_lock: &AntiLock) -> W::Mask {
        let wheels = self.workspace.packs.iter().zip(&self.workspace.rows).take(self.workspace.wheel_count);
        let slips = |(bank, rows): (&WheelPack<W>, &WheelRows<W>)| {
            rows.braking_slip_mask(bank, anti_lock.slip, anti_lock.min_speed)
        };
        wheels.map(slips).fold(W::Mask::default(), |any, one| any | one)
    }

    /// Removes the part of the brake impulses that would lock wheels (ABS), with the chassis velocity `loaded` as prediction of the end of
    /// the step. `pedal` is the position of the brake pedal, 0 to 1. Stores the removed impulse of each car in `removed_brake_impulse` (N m
    /// s).
    #[inline(never)]
    fn limit_brake_torques(&mut self, anti_lock: &AntiLock, pedal: W, loaded: SpatialVector<W>) {
        W::call_outlined(
            #[inline(always)]
            || {
                let dt = self.dt;
                self.workspace.removed_brake_impulse = W::default();
                let (packs, _) = self.workspace.packs.as_chunks::<4>();
                let (rows, _) = self.workspace.rows.as_chunks_mut::<4>();
                for (packs, rows) in packs.iter().zip(rows) {
                    // Removed impulses of the wheels of two axles (N m s).
                    let mut taken = [W::default(); 4];
                    for ((taken, rows), bank) in taken.iter_mut().zip(rows).zip(packs) {
                        *taken = rows.limit_brake_slip(bank, anti_lock, pedal, loaded, dt);
                    }
                    self.workspace.removed_brake_impulse += W::sum_over_wheels(|k| taken[k]);
                }
            },
        );
    }

    /// Checks whether the sweep of `stiff` cars is consistent. `free` is the velocity without wheels. Solves the loads again with the tyre
    /// impulses of the sweep. Stiff cars keep the new loads, and their tyre impulses are clamped to the friction ellipse; all others keep
    /// the results of the sweep. Stiff cars whose loads did not converge, or changed, or whose tyre impulses changed within the sweep by
    /// more than 1 % of load plus static load, leave the batch, because they have to iterate.
    #[cold]
    #[inline(never)]
    fn check_stiff_tyres<B: WheelGroups>(&mut self, stiff: W::Mask, free: SpatialVector<W>) {
        W::call_outlined(
            #[inline(always)]
            || {
                let mut before = [W::default(); MAX_WHEELS];
                let rows = self.workspace.rows::<B>();
                before.iter_mut().zip(rows).for_each(|(before, rows)| *before = rows.suspension.load);
                let warm = free + response(&self.workspace.model, wheel_impulses(rows, false));
                let dt = self.dt;
                let (_, settled) = solve_load_rows::<B, _>(self, warm, dt);
                // Cars with an inconsistent sweep.
                let mut moved = !settled;
                for (before, (_, rows)) in before.into_iter().zip(self.workspace.wheels::<B>()) {
                    moved = moved | rows.has_changed(before);
                    rows.suspension.load = W::select(stiff, rows.suspension.load, before);
                    // Tyre impulses of the sweep.
                    let swept = rows.solution.tyre_impulse;
                    rows.clamp_to_friction(ImpulseBounds::Cone);
                    rows.solution.tyre_impulse =
                        pair_from_fn(|i| W::select(stiff, rows.solution.tyre_impulse[i], swept[i]));
                }
                self.mark_unbatched(stiff & moved);
            },
        );
    }

    /// Solves the rows between spins (motors, converters, couplings) of the cars in `has_rows`, starting from the last step. The start
    /// needs the speed that each car gained forward in the last step (m/s).
    #[inline(never)]
    fn solve_shaft_rows(&mut self, has_rows: [bool; BATCH_LANES]) {
        let (x, mut gained) = (self.workspace.chassis.to_world.x, [None; BATCH_LANES]);
        for (car, vehicle) in self.vehicles.iter().enumerate().filter(|(car, _)| has_rows[*car]) {
            let state = &vehicle.state;
            gained[car] = Some(Vec3::from(x.lane(car)).dot(state.velocity - state.previous_velocity));
        }
        let BatchWorkspace { packs, rows, start_impulses: began, .. } = &mut *self.workspace;
        solve_batch_shafts(self.vehicles, gained, began, (packs, rows));
    }

    /// Ends the step. Solves the cars that have left the batch one by one with the single sweep of [`Vehicle::solve_step`] and writes their
    /// `reports`. All other cars get the report of one sweep; their ABS log is written, and the rows of their vehicles are marked as
    /// outdated, because the batch has the rows of this step. If more than [`MAX_UNBATCHED_CARS`] cars left, the next steps are taken one
    /// by one, with a number of steps that doubles each time. Returns the combined report.
    #[inline(always)]
    fn solve_unbatched_cars(&mut self, reports: &mut [StepReport]) -> StepReport {
        let [_, brake, _] = self.pedals;
        let Self {
            workspace: room,
            vehicles,
            bodies,
            contacts,
            controls,
            has_begun: begun,
            driver_demands: asked,
            pushes,
            dt,
            ..
        } = self;
        let dt = *dt;
        let too_many = room.is_unbatched.iter().filter(|alone| **alone).count() > MAX_UNBATCHED_CARS;
        // Number of separate steps if too many cars have left.
        let next = room.backoff_steps[1];
        room.backoff_steps = if too_many { [next, (2 * next).min(MAX_BACKOFF_STEPS)] } else { [0, 1] };
        reports.fill(SINGLE_PASS_REPORT);
        let mut report = if room.is_unbatched.contains(&false) { SINGLE_PASS_REPORT } else { StepReport::default() };
        for (car, (vehicle, push)) in vehicles.iter_mut().zip(pushes.iter_mut()).enumerate() {
            if room.is_unbatched[car] {
                let (body, controls) = (&bodies[car], controls[car]);
                let contacts = &contacts[car * room.wheel_count..][..room.wheel_count];
                let inputs =
                    StepInputs { body, contacts, hull: &[], controls, solver_mode: SolverMode::SinglePass, dt };
                // Its steering and drivetrain have already taken this step; they must not advance twice.
                if begun[car] {
                    prepare_unbatched(room, vehicle, car, &inputs, asked[car]);
                }
                reports[car] = vehicle.solve_step(push, &inputs);
                report = report.merge_worst(reports[car]);
                continue;
            }
            if room.has_abs() && brake.car(car) > 0.0 {
                vehicle.record_anti_lock(room.removed_brake_impulse.car(car), dt);
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

/// Returns the ground motion of one wheel of each car on ground with a texture. `wheel` is the index of the wheel and the number of wheels
/// per car. The ground itself is at rest: all speeds are zero, with the sign bits of a separate step. The texture adds rolling resistance.
#[cold]
#[inline(never)]
fn textured_ground_motion<W: CarLanes>(
    rows: &WheelRows<W>,
    contacts: &[Option<Contact>],
    wheel: [usize; 2],
    to_vehicle: Mat3Lanes<W>,
) -> GroundMotion<W> {
    W::call_outlined(
        #[inline(always)]
        || {
            // Mask of cars on textured ground, and the added rolling resistance coefficient.
            let (told, rolling) = gather_textures(contacts, wheel);
            let still = to_vehicle.mul_vector(Vec3Lanes::default());
            let mut motion = rows.ground_motion_along_rows([still; 2], rolling);
            for speed in motion.start_speed.iter_mut().chain(&mut motion.end_speed) {
                *speed = speed.masked(told);
            }
            motion
        },
    )
}

/// Prepares `vehicle`, number `car` of the batch, to be solved alone although its steering, gear and engine have advanced in the batch.
/// `asked` is the demand of its driver; `None` reads the controls. Sets the start pose, bar share and start states of the wheels, and the
/// impulses of direct drive and brakes. Restores the clutch or first row between spins as it was at the start of the step, and its impulse
/// on the wheels. Finally stores the demand, so that [`Vehicle::solve`] does not apply the controls again.
#[cold]
#[inline(never)]
fn prepare_unbatched<W: CarLanes>(
    room: &BatchWorkspace<W>,
    vehicle: &mut Vehicle,
    car: usize,
    inputs: &StepInputs<'_>,
    asked: Option<DriverDemand>,
) {
    let asked = asked.unwrap_or_else(|| DriverDemand::from_controls(inputs.controls, &room.model.parts().steering));
    vehicle.set_start_pose(inputs.body, inputs.dt);
    vehicle.read_bar_control(inputs.controls);
    vehicle.store_start_state::<ManyGroups>();
    let direction = if room.has_engine() { 0.0 } else { vehicle.shafts.pedal_demand.direction };
    vehicle.apply_wheel_torques::<ManyGroups>(inputs.controls, &asked, direction, inputs.dt);
    // Initial impulse of clutch or converter on the propeller shaft (N m s).
    let shaft = if room.engines.are_batched {
        room.engines.copy_start_to_vehicle(vehicle, car, inputs.dt)
    } else {
        // Impulse through the first row, and on the shaft (N m s).
        let [carried, shaft] = room.start_impulses[car];
        vehicle.shafts.constraints.iter_mut().for_each(|row| row.impulse = 0.0);
        vehicle.shafts.constraints[0].impulse = carried;
        shaft
    };
    if room.has_engine() {
        for (bank, rows) in room.model.wheel_packs().iter().zip(&mut vehicle.rows) {
            rows.drive.shaft = bank.shaft_jacobian[0] * F32x4::splat(shaft);
        }
    }
    vehicle.applied_demand = Some(asked);
}
