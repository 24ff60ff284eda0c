//! All cars of one world, stepped together: one batched probe and one batched push per step.

mod insertion;

use core::ops::Range;

use crate::assembly::wheel::mean_contact::MeanContactProbes;
use crate::chassis::hull::HullRows;
use crate::controls::{Controls, clamp_or_zero};
use crate::port::{
    ChassisImpulse, ChassisState, Contact, DynamicBody, HullPoint, MAX_HULL_POINTS, PredictedMotion, Probe, Reaction,
    WorldPort,
};
use crate::simulation::car_view::{CarView, MotionInput};
use crate::simulation::slots::{Occupancy, Slots};
use crate::state::State;
use crate::step::batch::{BATCH_LANES, CarBatch};
use crate::step::row_solver::RowSolver;
use crate::step::stages::{BatchInputs, StepInputs};
use crate::step_report::StepReport;
use crate::traffic::stacked_vehicles::{StackSolver, StackedVehicles};
use crate::traffic::trains::{Trains, VehicleSolver};
use crate::vehicle::Vehicle;
use bevy_math::{DVec3, Vec3};
use skidpad_simd::instruction_set::dispatch_simd;

/// The vehicles of a world, with the buffers for their step. A step does not allocate, except the first step with
/// unsprung masses, the first fast step on uneven ground, and the first step of a single vehicle on a free body.
#[derive(Clone, Debug)]
pub struct Cars {
    solver: &'static dyn RowSolver, // solver of the rows
    vehicles: Vec<Vehicle>,         // vehicles by slot; an empty slot keeps the vehicle that was removed from it last
    slots: Slots,                   // content of each slot and identifiers
    wheel_count: usize,             // number of wheels of all vehicles
    bodies: Vec<ChassisState>,      // chassis by slot: at the start of the step, after `write_back` at its end
    probes: Vec<Probe>,             // rays of the wheels of all stepped vehicles in slot order, without gaps
    contacts: Vec<Option<Contact>>, // contacts of these probes
    /// Probes along the paths of the wheels of one vehicle in a step. The first fast step on uneven ground allocates.
    path_probes: Vec<Probe>,
    path_contacts: Vec<Option<Contact>>, // contacts of these probes
    hull_points: Vec<HullPoint>,         // hull contacts of the vehicle that is being solved
    hull_rows: HullRows,                 // workspace for hull contacts, shared by all cars
    impulses: Vec<ChassisImpulse>,       // impulses of each vehicle on its chassis in this step
    free_velocities: Vec<Vec3>, // velocity of each body at the end of the last step without these impulses, m/s
    state_was_set: Vec<bool>,   // whether the state of each vehicle was set since the last step
    reactions: Vec<Reaction>,   // wheel impulses on ground that moves or can be pushed; empty if there is none
    /// Whether each hull may touch an obstacle in this step; all false if the solver does not solve hull contacts.
    near_obstacle: Vec<bool>,
    is_stepped: Vec<bool>, // whether this step (or the last one) computes each vehicle: it is active and awake
    were_batched: Vec<bool>, // at the first slot of each batch: whether the last step was in the batch
    reports: Vec<StepReport>, // report of the last step of each vehicle
    is_in_step: bool,      // true between `begin_step` and `write_back`
    coasting_controls: Controls, // for vehicles without controls
    /// Workspaces of batches, one per [`BATCH_LANES`] slots, `None` for slots that cannot be batched. Empty if the
    /// solver has no pass for batches.
    batches: Vec<Option<CarBatch>>,
    trains: Option<Box<Trains>>, // vehicles that can tow or be towed; `None` if there is no such vehicle
    stacked_vehicles: StackedVehicles, // workspace for vehicles on bodies that they push
    trailer_controls: Controls,  // buffer for the controls of a trailer, with the pedals of the vehicles ahead
}

/// Smallest factor on the tolerance of a solver. Below it, f32 cannot resolve pushes of several tonnes of load.
const MIN_TOLERANCE_FACTOR: f32 = 0.1;

/// Placeholder probe that belongs to no car.
const PLACEHOLDER_PROBE: Probe =
    Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: 0.0, rim: None };

impl Cars {
    /// Creates the vehicles of a world, in the order of the world's bodies. `solver` solves their rows (scalar
    /// equations of wheels, suspension and drivetrain).
    ///
    /// If the solver has [`RowSolver::batch_pass`] and the feature `simd_batch` is on, simple cars of one model
    /// ([`Arc::ptr_eq`](std::sync::Arc::ptr_eq)) are stepped in batches of eight: slots 0 to 7, 8 to 15 and so on, if
    /// all eight are alike. Results are bit-identical to those of single steps.
    pub fn new(vehicles: Vec<Vehicle>, solver: &'static dyn RowSolver) -> Self {
        let mut cars = Self {
            solver,
            vehicles: Vec::new(),
            slots: Slots::default(),
            wheel_count: 0,
            bodies: Vec::new(),
            probes: Vec::new(),
            contacts: Vec::new(),
            path_probes: Vec::new(),
            path_contacts: Vec::new(),
            hull_points: Vec::with_capacity(MAX_HULL_POINTS),
            hull_rows: HullRows::preallocated(),
            impulses: Vec::new(),
            free_velocities: Vec::new(),
            state_was_set: Vec::new(),
            reactions: Vec::new(),
            near_obstacle: Vec::new(),
            is_stepped: Vec::new(),
            were_batched: Vec::new(),
            reports: Vec::new(),
            is_in_step: false,
            coasting_controls: Controls::coasting(),
            batches: Vec::new(),
            trains: None,
            stacked_vehicles: StackedVehicles::default(),
            trailer_controls: Controls::coasting(),
        };
        for vehicle in vehicles {
            cars.insert(vehicle);
        }
        cars
    }

    /// Returns the view of vehicle `car` after its last step: references to its model, state, report and towing
    /// vehicle, and its batch and lane. The motion input is `None` if the last step did not compute the vehicle, or if
    /// its state was set since.
    pub fn car(&self, car: usize) -> CarView<'_> {
        let vehicle = &self.vehicles[car];
        let (is_inactive, report) = (!self.slots.is_active(car), self.reports[car]); // whether the slot is empty or suspended
        let (state, towing_vehicle) = (vehicle.state(), self.towing_state(vehicle.state()));
        let batch = self.batch_of(car).map(|batch| (batch, car % BATCH_LANES)); // batch and lane
        let motion_input = (self.is_stepped[car] && !self.state_was_set[car])
            .then(|| MotionInput { free_velocity: self.free_velocities[car], chassis_impulse: &self.impulses[car] });
        CarView {
            model: vehicle.model(),
            state,
            is_inactive,
            report,
            vehicle: Some(vehicle),
            towing_vehicle,
            batch,
            motion_input,
        }
    }

    /// Returns the batch in which vehicle `car` was stepped; `None` if the last step was not in a batch.
    fn batch_of(&self, car: usize) -> Option<&CarBatch> {
        let first_slot = car - car % BATCH_LANES;
        self.batches.get(first_slot / BATCH_LANES)?.as_ref().filter(|_| self.were_batched[first_slot])
    }

    /// Returns the state of the active vehicle that tows a vehicle in `state`; `None` if there is none, or if it has no
    /// hitch.
    fn towing_state(&self, state: &State) -> Option<&State> {
        let towing_slot = state.tow?.towing_slot as usize;
        let towing_vehicle = self.vehicles.get(towing_slot).filter(|_| self.slots.is_active(towing_slot))?;
        towing_vehicle.model().parts().hitch.map(|_| towing_vehicle.state())
    }

    /// Returns the vehicles by slot. An empty slot has the vehicle that was removed from it last.
    pub fn vehicles(&self) -> &[Vehicle] {
        &self.vehicles
    }

    /// Returns the slots of the vehicles that can tow or be towed, each with the slot of its towing vehicle: `None` if
    /// it was not towed in the last step, or if its hitch has broken.
    pub fn towing_slots(&self) -> impl Iterator<Item = (usize, Option<u32>)> {
        let members = self.trains.iter().flat_map(|trains| trains.towing_slots());
        members.map(|(car, towing_slot)| (car, towing_slot.filter(|_| self.vehicles[car].state().tow.is_some())))
    }

    /// Uncouples the vehicle `trailer` if the mean hitch force of the step plus `impulse / dt` exceeds the breaking
    /// force of the hitch. The world transmits `impulse` (N s) in the step of `dt` s, in addition to the hitch. Does
    /// nothing to a vehicle that is not towed.
    pub fn uncouple_if_overloaded(&mut self, trailer: usize, impulse: Vec3, dt: f32) {
        let state = &self.vehicles[trailer].state;
        let Some(tow) = state.tow else { return };
        let hitch = self.vehicles.get(tow.towing_slot as usize).and_then(|vehicle| vehicle.model().parts().hitch);
        let is_overloaded = hitch.is_some_and(|hitch| (tow.force + impulse / dt).length() > hitch.breaking_force);
        if is_overloaded {
            self.vehicles[trailer].state.tow = None;
        }
    }

    /// Performs the first half of a step of `dt` s (> 0), before `world` advances. Reads the bodies, couples trains,
    /// casts one ray per wheel (probe), solves single vehicles, then trains, and applies the impulses on chassis and
    /// ground to `world`. Cars without controls coast. Suspended, removed and sleeping vehicles are not stepped.
    /// Returns the worst report. If `dt` is zero or invalid ([`StepReport::for_skipped_step`]), changes nothing.
    pub fn begin_step(&mut self, world: &mut dyn WorldPort, controls: &[Controls], dt: f32) -> StepReport {
        if let Some(skipped_report) = StepReport::for_skipped_step(dt) {
            return skipped_report;
        }
        self.is_in_step = true;
        world.read_bodies(dt, &mut self.bodies);
        let mut trains = self.trains.take();
        if let Some(trains) = &mut trains {
            self.mark_stepped();
            trains.begin_step(&mut SingleVehicleSolver { cars: self, world, controls, dt }, dt);
        }
        let probe_count = dispatch_simd(
            #[inline(always)]
            || self.write_probes(dt),
        );
        world.probe(&self.probes[..probe_count], &mut self.contacts[..probe_count]);
        if !world.is_single_plane() {
            self.probe_wheel_paths(world, dt);
        }
        if self.solver.solves_hull() {
            world.mark_hulls_near_contact(dt, &mut self.near_obstacle);
        } else {
            self.near_obstacle.fill(false);
        }
        self.reactions.clear();
        let mut report = if world.has_wheels_on_bodies() {
            self.solve_stacked(world, controls, trains.as_deref_mut(), dt)
        } else {
            self.stacked_vehicles.clear();
            self.solve_vehicles(world, controls, trains.as_deref_mut(), dt)
        };
        if let Some(trains) = &mut trains {
            if self.stacked_vehicles.has_bodies() {
                trains.update_free_motion(&mut SingleVehicleSolver { cars: self, world, controls, dt });
            }
            report = report.merge_worst(trains.solve(&mut SingleVehicleSolver { cars: self, world, controls, dt }));
        }
        self.trains = trains;
        world.apply_impulses(dt, &self.impulses);
        if !self.reactions.is_empty() {
            world.apply_ground_reactions(dt, &self.reactions);
        }
        report
    }

    /// Marks the vehicles that this step computes: active ones whose bodies are awake.
    #[inline(always)]
    fn mark_stepped(&mut self) {
        let slots_and_bodies = self.slots.occupancies().iter().zip(&self.bodies);
        for (is_stepped, (occupancy, body)) in self.is_stepped.iter_mut().zip(slots_and_bodies) {
            *is_stepped = (*occupancy == Occupancy::Active) & !body.asleep;
        }
    }

    /// Marks the vehicles that this step computes and writes their probes without gaps, in slot order; a batch writes
    /// the probes of its eight cars at once. Outside batches, lengthens the rays by the static tyre deflection if the
    /// solver moves unsprung masses and the vehicle has them. Returns the number of probes.
    #[inline(always)]
    fn write_probes(&mut self, dt: f32) -> usize {
        self.mark_stepped();
        let (mut first_probe, mut slot) = (0, 0);
        while slot < self.vehicles.len() {
            if self.is_batched(slot) {
                first_probe = self.write_batch_probes(slot, first_probe, dt);
                slot += BATCH_LANES;
                continue;
            }
            if self.is_stepped[slot] {
                let (vehicle, body) = (&self.vehicles[slot], &self.bodies[slot]);
                let end_probe = first_probe + vehicle.model().wheels().len();
                vehicle.probes(slot, body, dt, &mut self.probes[first_probe..end_probe]);
                if self.solver.moves_unsprung_masses() && vehicle.has_unsprung_masses() {
                    vehicle.extend_probes_by_tyres(&mut self.probes[first_probe..end_probe]);
                }
                first_probe = end_probe;
            }
            slot += 1;
        }
        first_probe
    }

    /// Probes along the wheel paths of vehicles with a wheel that moves by more than its radius in the step, and
    /// replaces their contacts by the mean along the path. A contact stays if the ground nearby is one plane, or if the
    /// path has moving ground or no ground in reach.
    #[inline(never)]
    fn probe_wheel_paths(&mut self, world: &mut dyn WorldPort, dt: f32) {
        let mut first_probe = 0;
        for (slot, vehicle) in self.vehicles.iter().enumerate().filter(|(slot, _)| self.is_stepped[*slot]) {
            let (body, end_probe) = (&self.bodies[slot], first_probe + vehicle.model().wheels().len());
            if let Some(path) = MeanContactProbes::for_step(vehicle.model(), body, dt) {
                let (probes, contacts) =
                    (&self.probes[first_probe..end_probe], &mut self.contacts[first_probe..end_probe]);
                path.write_probes(body, probes, &mut self.path_probes);
                self.path_contacts.clear();
                self.path_contacts.resize(self.path_probes.len(), None);
                if world.probe_again(&self.path_probes, &mut self.path_contacts) {
                    path.average_contacts(vehicle.model(), body, probes, &self.path_contacts, contacts);
                }
            }
            first_probe = end_probe;
        }
    }

    /// Writes the probes of the batch at slot `first_slot`, from index `first_probe` on. Returns the index after the
    /// last one (`first_probe` without a batch).
    fn write_batch_probes(&mut self, first_slot: usize, first_probe: usize, dt: f32) -> usize {
        let Some(Some(batch)) = self.batches.get_mut(first_slot / BATCH_LANES) else { return first_probe };
        let (slots, end_probe) = (first_slot..first_slot + BATCH_LANES, first_probe + batch.ray_count());
        batch.write_probes(first_slot, &self.bodies[slots], dt, &mut self.probes[first_probe..end_probe]);
        end_probe
    }

    /// Solves all vehicles except those of trains, in a step in which no wheel is on a body that can be pushed. A batch
    /// whose cars are all stepped and in no train is solved at once, other vehicles one by one. Stores in
    /// `were_batched` which case applied. Appends wheel impulses on moving ground to `reactions`. For a vehicle of a
    /// train only stores the range of its rays. Returns the worst report.
    #[inline(always)]
    fn solve_vehicles(
        &mut self,
        world: &mut dyn WorldPort,
        controls: &[Controls],
        mut trains: Option<&mut Trains>,
        dt: f32, // length of the step, s
    ) -> StepReport {
        let (mut first_ray, mut report, mut slot) = (0, StepReport::default(), 0);
        while slot < self.vehicles.len() {
            self.were_batched[slot] = self.is_batched(slot)
                && trains.as_ref().is_none_or(|trains| !trains.any_in_train(slot..slot + BATCH_LANES));
            if self.were_batched[slot] {
                let ray_count = self.batches[slot / BATCH_LANES].as_ref().map_or(0, CarBatch::ray_count);
                report = report.merge_worst(self.solve_batch(slot, first_ray..first_ray + ray_count, controls, dt));
                (first_ray, slot) = (first_ray + ray_count, slot + BATCH_LANES);
                continue;
            }
            let end_ray =
                first_ray + if self.is_stepped[slot] { self.vehicles[slot].model().wheels().len() } else { 0 };
            if slot.is_multiple_of(BATCH_LANES)
                && let Some(Some(batch)) = self.batches.get_mut(slot / BATCH_LANES)
            {
                batch.count_unbatched_step(); // counts down the steps for which a batch backs off
            }
            if !trains.as_mut().is_some_and(|trains| trains.store_rays(slot, &(first_ray..end_ray))) {
                let controls = controls.get(slot);
                let slot_report = self.solve_vehicle(slot, first_ray..end_ray, world, controls, 1.0, dt);
                report = report.merge_worst(slot_report);
                self.store_ground_reactions(slot, first_ray..end_ray, dt);
            }
            (first_ray, slot) = (end_ray, slot + 1);
        }
        report
    }

    /// Solves all vehicles except those of trains with [`StackedVehicles`], none in a batch, in a step in which a wheel
    /// is on a body that can be pushed.
    #[cold]
    #[inline(never)]
    fn solve_stacked(
        &mut self,
        world: &mut dyn WorldPort,
        controls: &[Controls],
        trains: Option<&mut Trains>,
        dt: f32,
    ) -> StepReport {
        self.were_batched.fill(false);
        let mut stacked = core::mem::take(&mut self.stacked_vehicles); // taken out: the solver borrows `self`
        let report = stacked.solve(&mut SingleVehicleSolver { cars: self, world, controls, dt }, trains, dt);
        self.stacked_vehicles = stacked;
        report
    }

    /// Solves vehicle `slot`, whose rays are `rays`, with `controls` (`None`: it coasts). If the hull is near an
    /// obstacle, also solves hull contacts. `tolerance_factor` scales the tolerance of the solver. Stores impulse and
    /// report of the vehicle; both are zero (default) if it is not stepped. Inlined, because a call would cost 40
    /// instructions per vehicle.
    #[inline(always)]
    fn solve_vehicle(
        &mut self,
        slot: usize,
        rays: Range<usize>,
        world: &mut dyn WorldPort,
        controls: Option<&Controls>,
        tolerance_factor: f32,
        dt: f32,
    ) -> StepReport {
        let (chassis_impulse, report) = (&mut self.impulses[slot], &mut self.reports[slot]);
        if !self.is_stepped[slot] {
            (*chassis_impulse, *report) = Default::default();
            return StepReport::default();
        }
        let controls = controls.unwrap_or(&self.coasting_controls);
        self.hull_points.clear();
        if self.near_obstacle[slot] {
            world.append_hull_points(slot, dt, &mut self.hull_points);
        }
        let (vehicle, contacts) = (&mut self.vehicles[slot], &self.contacts[rays.clone()]); // wheel contacts
        let has_hull_contacts = !self.hull_points.is_empty(); // the vehicle then borrows the shared workspace
        if has_hull_contacts {
            core::mem::swap(&mut vehicle.hull, &mut self.hull_rows);
        }
        let (body, hull) = (&self.bodies[slot], &self.hull_points[..]);
        let inputs = StepInputs { body, contacts, hull, controls, solver: self.solver, tolerance_factor, dt };
        let step_report = vehicle.solve_step(chassis_impulse, &inputs);
        if has_hull_contacts {
            core::mem::swap(&mut vehicle.hull, &mut self.hull_rows);
        }
        *report = step_report;
        step_report
    }

    /// Appends the wheel impulses of vehicle `slot`, whose rays are `rays`, on ground that moves or can be pushed to
    /// `reactions`. Does nothing if the vehicle is not stepped or all its wheels are on ground at rest.
    #[inline(always)]
    fn store_ground_reactions(&mut self, slot: usize, rays: Range<usize>, dt: f32) {
        let vehicle = &self.vehicles[slot];
        if self.is_stepped[slot] && vehicle.is_on_moving_ground() {
            let probes_and_contacts = self.probes[rays.clone()].iter().zip(&self.contacts[rays]);
            vehicle.append_reactions(probes_and_contacts, &mut self.reactions, dt);
        }
    }

    /// Returns true if a batch starts at slot `first_slot`, all its vehicles are stepped, and it does not back off
    /// (step its cars one by one for some steps after cars had left the batch).
    fn is_batched(&self, first_slot: usize) -> bool {
        first_slot.is_multiple_of(BATCH_LANES)
            && matches!(self.batches.get(first_slot / BATCH_LANES), Some(Some(batch)) if !batch.is_backing_off())
            && self.is_stepped[first_slot..first_slot + BATCH_LANES].iter().all(|is_stepped| *is_stepped)
    }

    /// Solves the batch that starts at slot `first_slot`, whose rays are `rays`, and sets impulses and reports of its
    /// cars. Only cars that left the batch within the step can be on moving ground; their wheel impulses are appended
    /// to `reactions`. Returns the worst report.
    fn solve_batch(&mut self, first_slot: usize, rays: Range<usize>, controls: &[Controls], dt: f32) -> StepReport {
        let Some(Some(batch)) = self.batches.get_mut(first_slot / BATCH_LANES) else { return StepReport::default() };
        let controls: [_; BATCH_LANES] =
            core::array::from_fn(|lane| controls.get(first_slot + lane).unwrap_or(&self.coasting_controls));
        let slots = first_slot..first_slot + BATCH_LANES;
        let (vehicles, bodies) = (&mut self.vehicles[slots.clone()], &self.bodies[slots.clone()]);
        let contacts = &self.contacts[rays.clone()];
        let inputs = BatchInputs { bodies, contacts, controls: &controls, solver: self.solver, dt };
        let report = batch.solve(vehicles, &inputs, &mut self.impulses[slots.clone()], &mut self.reports[slots]);
        if !batch.has_unbatched_cars() {
            return report;
        }
        let wheels_per_car = rays.len() / BATCH_LANES;
        for (lane, vehicle) in vehicles.iter().enumerate().filter(|(_, vehicle)| vehicle.is_on_moving_ground()) {
            let car_rays = rays.start + lane * wheels_per_car..rays.start + (lane + 1) * wheels_per_car;
            let probes_and_contacts = self.probes[car_rays.clone()].iter().zip(&self.contacts[car_rays]);
            vehicle.append_reactions(probes_and_contacts, &mut self.reactions, dt);
        }
        report
    }

    /// Performs the second half of a step, after the world has advanced: stores the free velocities of the step, reads
    /// the bodies, updates the velocities of moving ground and writes the motion into the states. A vehicle that woke
    /// up in between takes the motion of its body only. Returns the worst report of vehicles whose motion is not
    /// finite. If `dt` is zero or invalid ([`StepReport::for_skipped_step`]), changes nothing.
    pub fn write_back(&mut self, world: &dyn WorldPort, dt: f32) -> StepReport {
        if let Some(skipped_report) = StepReport::for_skipped_step(dt) {
            return skipped_report;
        }
        self.is_in_step = false;
        // Copied here, because worlds may overwrite all fields of the bodies.
        for ((free_velocity, was_set), body) in
            self.free_velocities.iter_mut().zip(&mut self.state_was_set).zip(&self.bodies)
        {
            (*free_velocity, *was_set) = (body.free_velocity, false);
        }
        world.read_bodies_after_step(dt, &mut self.bodies);
        if !self.reactions.is_empty() {
            self.update_ground_velocities(world);
        }
        dispatch_simd(
            #[inline(always)]
            || self.finish_all(dt),
        )
    }

    /// Writes the resulting motion into all states. Returns the worst report of those that are not finite.
    #[inline(always)]
    fn finish_all(&mut self, dt: f32) -> StepReport {
        let (mut report, mut slot) = (StepReport::default(), 0);
        while slot < self.vehicles.len() {
            let end_slot = if self.were_batched[slot] { slot + BATCH_LANES } else { slot + 1 };
            let finish_report = self.finish_vehicles(slot..end_slot, dt);
            if finish_report.not_finite {
                report = report.merge_worst(finish_report);
            }
            slot = end_slot;
        }
        report
    }

    /// Finishes the step of `slots`, a single vehicle or a batch: writes the motion of the bodies and the wheel motion
    /// into the states. A vehicle that was not stepped takes the motion of its body if it is active and awake;
    /// otherwise its state stays. Motion that is not finite is merged into the report of the vehicle. Returns the
    /// report on finishing.
    #[inline(always)]
    fn finish_vehicles(&mut self, slots: Range<usize>, dt: f32) -> StepReport {
        let first_slot = slots.start;
        if self.were_batched[first_slot]
            && let Some(Some(batch)) = self.batches.get(first_slot / BATCH_LANES)
        {
            let mut report = StepReport::default();
            batch.finish(&mut self.vehicles[slots.clone()], &self.bodies[slots], dt, |lane, lane_report| {
                self.reports[first_slot + lane] = self.reports[first_slot + lane].merge_worst(lane_report);
                report = report.merge_worst(lane_report);
            });
            return report;
        }
        let (vehicle, body) = (&mut self.vehicles[first_slot], &self.bodies[first_slot]);
        let finish_report = if self.is_stepped[first_slot] {
            vehicle.finish_step(body, dt)
        } else if self.slots.is_active(first_slot) && !body.asleep {
            vehicle.set_motion(body)
        } else {
            return StepReport::default();
        };
        if finish_report.not_finite {
            self.reports[first_slot] = self.reports[first_slot].merge_worst(finish_report);
        }
        finish_report
    }

    /// Updates the ground velocities under stepped vehicles on moving ground to those after the step. Moves the origins
    /// of their probes to the new centres of mass, lets `world` overwrite the ground velocities in `contacts`, and
    /// passes these on to the wheel rows of the vehicle.
    fn update_ground_velocities(&mut self, world: &dyn WorldPort) {
        let mut first_probe = 0;
        for (slot, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(slot, _)| self.is_stepped[*slot]) {
            let end_probe = first_probe + vehicle.model().wheels().len();
            if vehicle.is_on_moving_ground() {
                let (probes, contacts) =
                    (&mut self.probes[first_probe..end_probe], &mut self.contacts[first_probe..end_probe]);
                // The arms from the centre of mass to the contacts stay those of the middle of the step. With other
                // arms, a car and the turntable under it would turn at different rates.
                probes.iter_mut().for_each(|probe| probe.position = self.bodies[slot].position);
                world.update_ground_velocities(probes, contacts);
                vehicle.update_ground_velocities(contacts);
            }
            first_probe = end_probe;
        }
    }
}

/// Solver of single vehicles of a world, for trains and for vehicles on bodies that they push.
struct SingleVehicleSolver<'a> {
    cars: &'a mut Cars,
    world: &'a mut dyn WorldPort,
    controls: &'a [Controls], // controls of the drivers by slot; a vehicle beyond the end coasts
    dt: f32,
}

impl VehicleSolver for SingleVehicleSolver<'_> {
    fn vehicle(&mut self, car: usize) -> &mut Vehicle {
        &mut self.cars.vehicles[car]
    }
    fn body(&mut self, car: usize) -> &mut ChassisState {
        &mut self.cars.bodies[car]
    }
    fn chassis_impulse(&mut self, car: usize) -> &mut ChassisImpulse {
        &mut self.cars.impulses[car]
    }
    fn is_stepped(&self, car: usize) -> bool {
        self.cars.is_stepped[car]
    }
    fn pedals(&self, car: usize) -> [f32; 2] {
        self.controls.get(car).map_or([0.0; 2], |controls| {
            [controls.brake, controls.handbrake].map(|pedal| clamp_or_zero(pedal, 0.0, 1.0))
        })
    }
    /// Solves vehicle `car`, together with the bodies that its wheels push if any vehicle is on such a body, else once.
    fn solve(&mut self, car: usize, rays: Range<usize>, pedals: [f32; 2]) -> StepReport {
        if !self.cars.stacked_vehicles.has_bodies() {
            return self.solve_once(car, rays, pedals, 1.0);
        }
        let mut stacked = core::mem::take(&mut self.cars.stacked_vehicles);
        let report = stacked.solve_with_bodies(self, car, rays, pedals);
        self.cars.stacked_vehicles = stacked;
        report
    }
    fn accept_solution(&mut self, car: usize, rays: Range<usize>, report: StepReport) {
        self.cars.reports[car] = report;
        self.cars.store_ground_reactions(car, rays, self.dt);
    }
}

impl StackSolver for SingleVehicleSolver<'_> {
    fn vehicle_count(&self) -> usize {
        self.cars.vehicles.len()
    }
    /// Solves vehicle `car` once with its driver's controls. The larger of the driver's and the given pedals (0 to 1)
    /// applies. `tolerance_scale`, clamped to 0.1 to 1, is a factor on the solver tolerance.
    fn solve_once(&mut self, car: usize, rays: Range<usize>, pedals: [f32; 2], tolerance_scale: f32) -> StepReport {
        let mut controls = core::mem::take(&mut self.cars.trailer_controls);
        controls.copy_from(self.controls.get(car).unwrap_or(&self.cars.coasting_controls));
        controls.brake = clamp_or_zero(controls.brake, 0.0, 1.0).max(pedals[0]);
        controls.handbrake = clamp_or_zero(controls.handbrake, 0.0, 1.0).max(pedals[1]);
        let report = self.cars.solve_vehicle(
            car,
            rays,
            self.world,
            Some(&controls),
            tolerance_scale.clamp(MIN_TOLERANCE_FACTOR, 1.0),
            self.dt,
        );
        self.cars.trailer_controls = controls;
        report
    }
    fn probe_and_contact(&mut self, ray: usize) -> (&Probe, &mut Option<Contact>) {
        (&self.cars.probes[ray], &mut self.cars.contacts[ray])
    }
    fn vehicle_below(&self, ray: usize) -> Option<usize> {
        self.world.vehicle_of_body(self.cars.contacts[ray]?.ground?.body)
    }
    fn dynamic_body(&self, ray: usize) -> Option<DynamicBody> {
        let contact = self.cars.contacts[ray]?;
        self.world.dynamic_body(contact.ground?.body, contact.normal, self.dt)
    }
    fn predict_body(&mut self, body: u64, wheel_impulse: [Vec3; 2]) -> Option<PredictedMotion> {
        self.world.predict_body(body, wheel_impulse, self.dt)
    }
    fn append_reactions(&self, car: usize, rays: Range<usize>, reactions: &mut Vec<Reaction>) {
        let probes_and_contacts = self.cars.probes[rays.clone()].iter().zip(&self.cars.contacts[rays]);
        self.cars.vehicles[car].append_reactions(probes_and_contacts, reactions, self.dt);
    }
}
