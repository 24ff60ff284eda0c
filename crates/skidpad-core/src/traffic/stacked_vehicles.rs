//! Vehicles whose wheels are on bodies that they push: free bodies, or other vehicles.
//!
//! For an assumed motion of such a body the vehicle on it is solved separately; its wheel impulses then change the motion of the body. Newton's
//! method finds the motion at which both agree, so that even a body far lighter than the vehicle does not oscillate. A vehicle below is re-solved in
//! each iteration with the current wheel impulses and then restored. Its final solve follows when all vehicles above have converged.

use core::ops::Range;
use std::sync::Arc;

use crate::hitch::joint::{BodyResponse, Twist, add_scaled};
use crate::model::Model;
use crate::port::{ChassisState, Contact, DynamicBody, Ground, PredictedMotion, Probe, Reaction};
use crate::step_report::StepReport;
use crate::traffic::line_search::LineSearch;
use crate::traffic::supporting_body::{SupportingBody, VehiclePose, matrix_of, solve_or_zero};
use crate::traffic::trains::{Trains, VehicleSolver, free_response};
use crate::vehicle::Vehicle;
use bevy_math::{Mat3, Vec3};
use skidpad_simd::linear::Symmetric6;

/// Maximum number of stacked vehicles. In a higher stack or a circle, some vehicles use the wheel forces of the last step only.
const MAX_STACKED_VEHICLES: usize = 16;

/// Maximum number of Newton iterations of a vehicle in one step. When they are used up, the iterate with the smallest residual is restored.
const MAX_NEWTON_ITERATIONS: u16 = 20;

/// Convergence tolerance for the velocity of a pushed body at its contact points, m/s. The error of the impulses is far smaller.
const VELOCITY_TOLERANCE_MPS: f32 = 1e-4;

/// Residual accepted once the iteration stops improving, m/s. f32 cannot resolve less for a 1 kg body under several tonnes.
const STALL_TOLERANCE_MPS: f32 = 1e-2;

/// Range of the relaxation factor of a Newton step. Tyres that start or stop sliding make the linearization inaccurate.
const RELAXATION_RANGE: [f32; 2] = [0.3, 2.0];

/// Ratio to the smallest residual so far above which an iteration counts as no improvement.
const SUFFICIENT_DECREASE_RATIO: f32 = 0.9;

/// Squared cosine of the angle between residual and step below which a line search ends: the residual is no longer along the step.
const MIN_RESIDUAL_COSINE_SQUARED: f32 = 0.1;

/// Share of the Newton step at or below which the step is not halved any further.
const MIN_STEP_SHARE: f32 = 0.3;

/// Workspace for vehicles on bodies that they push.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackedVehicles {
    dt: f32,                     // length of the step, s
    order: Vec<StackEntry>,      // all vehicles, in the order in which they are solved
    order_indices: Vec<usize>,   // index in `order` of each vehicle, by slot
    bodies: Vec<SupportingBody>, // bodies under wheels in this step that wheels can push
    /// Numbers of the bodies in `bodies`, ascending, each with the index of a ray that hits the body.
    body_numbers: Vec<(u64, usize)>,
    /// Per ray: index in `bodies` of its body, and the wheel impulse on it by the last solution (first: last step); `None` for others.
    wheel_impulses: Vec<Option<(usize, Reaction)>>,
    bodies_below: Vec<usize>, // indices in `bodies` of the bodies below the vehicle that is being solved
    /// Snapshots of vehicles, one per model, for the roles [`SOLVED_ROLE`] and [`SUPPORTING_ROLE`].
    snapshots: [Vec<Vehicle>; 2],
    reactions: Vec<Reaction>, // buffer for the wheel impulses of one vehicle
    line_search: LineSearch,  // line search of the vehicle that is being solved
}

/// Index in [`StackedVehicles::snapshots`] of the snapshots of vehicles that are being solved.
const SOLVED_ROLE: usize = 0;
/// Index in [`StackedVehicles::snapshots`] of the snapshots of vehicles under wheels.
const SUPPORTING_ROLE: usize = 1;

/// A vehicle in the order of solution.
#[derive(Clone, Debug)]
struct StackEntry {
    car: usize,          // slot of the vehicle
    rays: Range<usize>,  // range of the rays of its wheels; empty if it is not stepped
    stack_height: usize, // number of vehicles in the highest stack below this vehicle
    /// Index in [`StackedVehicles::bodies`] of its body, if wheels of other vehicles are on it.
    body_index: Option<usize>,
    in_train: bool,    // whether the vehicle is solved with its train, after all other vehicles
    free_twist: Twist, // free twist of its body without the wheel impulses of other vehicles on it
}

/// Solver of single vehicles, with access to the contacts of their rays.
pub(crate) trait StackSolver: VehicleSolver {
    /// Returns the number of vehicles.
    fn vehicle_count(&self) -> usize;
    /// Solves a vehicle once with its present contacts, like [`VehicleSolver::solve`]. `tolerance_scale` scales the solver tolerance: mass of the
    /// lightest body under its wheels over that of the vehicle; may exceed 1.
    fn solve_once(&mut self, car: usize, rays: Range<usize>, pedals: [f32; 2], tolerance_scale: f32) -> StepReport;
    /// Returns probe `ray` of all vehicles, and its contact.
    fn probe_and_contact(&mut self, ray: usize) -> (&Probe, &mut Option<Contact>);
    /// Returns the vehicle whose hull probe `ray` hits.
    fn vehicle_below(&self, ray: usize) -> Option<usize>;
    /// Returns the body that probe `ray` hits, if wheels can push it and it is no vehicle.
    fn dynamic_body(&self, ray: usize) -> Option<DynamicBody>;
    /// Returns the predicted motion of a body, see [`crate::WorldPort::predict_body`].
    fn predict_body(&mut self, body: u64, wheel_impulse: Twist) -> Option<PredictedMotion>;
    /// Adds the wheel impulses on bodies by the last solution of `car`, whose rays are `rays`, to `reactions`.
    fn append_reactions(&self, car: usize, rays: Range<usize>, reactions: &mut Vec<Reaction>);
}

impl StackedVehicles {
    /// Reserves memory for vehicle `car` of `vehicles`, and for vehicle 0, which was left out while it was alone, so
    /// that a step does not allocate: one snapshot per model and role, and buffers. `vehicles` have `wheel_count` wheels
    /// in total. Does nothing for a single vehicle; if it drives onto a free body, the first such step allocates.
    pub fn insert(&mut self, vehicles: &[Vehicle], car: usize, wheel_count: usize) {
        if vehicles.len() < 2 {
            return;
        }
        // Vehicle 0 was skipped while it was alone.
        for vehicle in [&vehicles[0], &vehicles[car]] {
            self.store_snapshot(SOLVED_ROLE, vehicle);
            self.store_snapshot(SUPPORTING_ROLE, vehicle);
            self.reactions.reserve(vehicle.model().wheels().len());
        }
        self.order.reserve(vehicles.len());
        self.order_indices.reserve(vehicles.len());
        self.bodies.reserve(vehicles.len());
        self.body_numbers.reserve(wheel_count);
        self.wheel_impulses.reserve(wheel_count);
        self.bodies_below.reserve(wheel_count);
    }

    /// Frees the snapshots of `model`, which no vehicle uses.
    pub fn remove_model(&mut self, model: &Arc<Model>) {
        self.snapshots.iter_mut().for_each(|list| list.retain(|vehicle| !Arc::ptr_eq(vehicle.model(), model)));
    }

    /// Stores a copy of `vehicle` for `role`. Overwrites the snapshot of its model, or appends one if there is none.
    fn store_snapshot(&mut self, role: usize, vehicle: &Vehicle) {
        match self.snapshots[role].iter_mut().find(|saved| Arc::ptr_eq(saved.model(), vehicle.model())) {
            Some(snapshot) => snapshot.copy_from(vehicle),
            None => self.snapshots[role].push(vehicle.with_unsprung_memory()),
        }
    }

    /// Overwrites `vehicle` by the snapshot of its model for `role`. Does nothing without one.
    fn restore_snapshot(&self, role: usize, vehicle: &mut Vehicle) {
        if let Some(snapshot) = self.snapshots[role].iter().find(|saved| Arc::ptr_eq(saved.model(), vehicle.model())) {
            vehicle.copy_from(snapshot);
        }
    }

    /// Removes all bodies under wheels, for a step in which no wheel is on a body that can be pushed.
    pub fn clear(&mut self) {
        self.bodies.clear();
    }

    /// Returns true if a wheel is on a body that can be pushed in this step.
    pub fn has_bodies(&self) -> bool {
        !self.bodies.is_empty()
    }

    /// Solves all vehicles from the top of stacks to the ground and returns the worst report. First finds the bodies under wheels and estimates the
    /// wheel impulses by the last step. Then predicts bodies that are no vehicles, and after them vehicles under wheels, from the ground up, because
    /// a vehicle moves with the bodies below it (vehicles of trains come first). The predicted twist becomes the assumed twist: the first iterate of
    /// the vehicles above. Then, for each vehicle, applies the wheel impulses of the vehicles on it, solves it with the bodies below it, and accepts
    /// the solution. Vehicles of trains only receive these impulses; their train solves them later.
    #[cold]
    #[inline(never)]
    pub fn solve(&mut self, cars: &mut dyn StackSolver, trains: Option<&mut Trains>, dt: f32) -> StepReport {
        self.dt = dt;
        self.collect_vehicles(cars, trains);
        self.find_bodies(cars);
        self.estimate_wheel_impulses(cars);
        self.sort_by_height();
        for body_index in 0..self.bodies.len() {
            if self.bodies[body_index].car.is_none() {
                self.predict_body(body_index, cars); // bodies that are no vehicles
                self.bodies[body_index].assumed_twist = self.bodies[body_index].resulting_twist;
            }
        }
        for entry_index in (0..self.order.len()).rev() {
            if let Some(body_index) = self.order[entry_index].body_index {
                self.set_ground_velocities(self.order[entry_index].rays.clone(), cars); // supporting vehicles, from the ground up
                self.predict_body(body_index, cars);
                self.bodies[body_index].assumed_twist = self.bodies[body_index].resulting_twist;
            }
        }
        let mut report = StepReport::default();
        for entry_index in 0..self.order.len() {
            let StackEntry { car, ref rays, in_train, .. } = self.order[entry_index];
            let rays = rays.clone();
            self.apply_wheel_impulses(entry_index, cars);
            if !in_train {
                let vehicle_report = self.solve_with_bodies(cars, car, rays.clone(), [0.0; 2]); // no pedals of a towing vehicle
                cars.accept_solution(car, rays, vehicle_report);
                report = report.merge_worst(vehicle_report);
            }
        }
        report
    }

    /// Fills `order` anew with all vehicles by slot: present free twist, consecutive ranges of their rays (one for each wheel; empty if not stepped),
    /// whether they belong to one of `trains`; stack heights are 0, body indices `None`. Also stores the ranges in `trains`.
    fn collect_vehicles(&mut self, cars: &mut dyn StackSolver, mut trains: Option<&mut Trains>) {
        self.order.clear();
        let mut first_ray = 0;
        for car in 0..cars.vehicle_count() {
            let end_ray = first_ray + if cars.is_stepped(car) { cars.vehicle(car).model().wheels().len() } else { 0 };
            let in_train = trains.as_mut().is_some_and(|trains| trains.store_rays(car, &(first_ray..end_ray)));
            let body = cars.body(car);
            let free_twist = [body.free_velocity, body.free_angular_velocity];
            self.order.push(StackEntry {
                car,
                rays: first_ray..end_ray,
                stack_height: 0,
                body_index: None,
                in_train,
                free_twist,
            });
            first_ray = end_ray;
        }
    }

    /// Fills `bodies` with one entry per body that rays hit and wheels can push, and `body_numbers` with their sorted numbers.
    fn find_bodies(&mut self, cars: &mut dyn StackSolver) {
        self.bodies.clear();
        self.body_numbers.clear();
        for ray in 0..self.order.last().map_or(0, |entry| entry.rays.end) {
            let ground = cars.probe_and_contact(ray).1.and_then(|contact| contact.ground);
            if let Some(ground) = ground.filter(|ground| ground.body != Ground::STATIC_BODY) {
                self.body_numbers.push((ground.body, ray));
            }
        }
        self.body_numbers.sort_unstable();
        self.body_numbers.dedup_by_key(|(body, _)| *body);
        let mut body_numbers = core::mem::take(&mut self.body_numbers); // taken out: `add_body` borrows `self`
        body_numbers.retain(|(body_number, ray)| self.add_body(*body_number, *ray, cars));
        self.body_numbers = body_numbers;
    }

    /// Adds the body with this `body_number`, which `ray` hits, to `bodies`: a stepped vehicle (response, i.e. change of the twist per impulse, by
    /// its mass alone), a vehicle that is not stepped (no response), or a dynamic body of the world. Returns false if wheels cannot push the body.
    fn add_body(&mut self, body_number: u64, ray: usize, cars: &mut dyn StackSolver) -> bool {
        let vehicle = cars.vehicle_below(ray);
        let stepped_car = vehicle.filter(|car| cars.is_stepped(*car)); // vehicle that this step moves
        // Centre of mass, free twist and response.
        let (centre, free_twist, response) = if let Some(car) = vehicle {
            let body = *cars.body(car);
            match stepped_car {
                Some(_) => {
                    let free_twist = [body.free_velocity, body.free_angular_velocity];
                    (body.position, free_twist, free_response(cars.vehicle(car), &body))
                }
                // The push wakes the vehicle, which moves from the next step on.
                None => (body.position, [body.velocity, body.angular_velocity], BodyResponse::FIXED),
            }
        } else if let Some(body) = cars.dynamic_body(ray) {
            let response =
                BodyResponse::Constrained { inverse_mass: body.inverse_mass, inverse_inertia: body.inverse_inertia };
            (body.centre, [body.velocity, body.angular_velocity], response)
        } else {
            return false;
        };
        if let Some(car) = stepped_car {
            self.order[car].body_index = Some(self.bodies.len());
        }
        self.bodies.push(SupportingBody::new(stepped_car, body_number, centre, free_twist, response));
        true
    }

    /// Estimates the impulse of each wheel on its body: −dt times the ground force of the last step, at the ground point at the start of the step.
    /// Sums these impulses per body and sets the assumed twists to the prediction by the sums.
    fn estimate_wheel_impulses(&mut self, cars: &mut dyn StackSolver) {
        self.wheel_impulses.clear();
        self.wheel_impulses.resize(self.order.last().map_or(0, |entry| entry.rays.end), None);
        for StackEntry { car, rays, .. } in &self.order {
            let rotation = cars.body(*car).rotation; // of the vehicle at the start of the step
            for (wheel, ray) in rays.clone().enumerate() {
                let (probe, Some(contact)) = cars.probe_and_contact(ray) else { continue };
                let Some(ground) = contact.ground else { continue };
                let (normal, body) = (contact.normal, ground.body);
                let point = ground.start_position(probe.point_at(contact.distance), self.dt);
                let Ok(index) = self.body_numbers.binary_search_by_key(&body, |(number, _)| *number) else { continue };
                let impulse = cars.vehicle(*car).last_ground_force(wheel, rotation, normal) * -self.dt;
                let reaction = Reaction { body, point, impulse };
                self.wheel_impulses[ray] = Some((index, reaction));
                self.bodies[index].wheel_impulse = add_scaled(
                    self.bodies[index].wheel_impulse,
                    self.bodies[index].impulse_about_centre(&reaction),
                    1.0,
                );
            }
        }
        for support in &mut self.bodies {
            support.assumed_twist = support.predicted_twist();
        }
    }

    /// Sorts `order` by descending height (number of vehicles below in the highest stack), then slot; vehicles of trains come last. Each of at most
    /// 16 passes sets a height to 1 plus that of the highest vehicle directly below. Updates `order_indices`.
    fn sort_by_height(&mut self) {
        for _ in 0..MAX_STACKED_VEHICLES {
            let mut has_changed = false; // whether a height has grown in this pass
            for car in 0..self.order.len() {
                let wheel_impulses = self.wheel_impulses[self.order[car].rays.clone()].iter().flatten();
                let height = wheel_impulses
                    .filter_map(|(body_index, _)| self.bodies[*body_index].car)
                    .map(|car_below| 1 + self.order[car_below].stack_height);
                let height = height.max().unwrap_or(0);
                has_changed |= height > self.order[car].stack_height;
                self.order[car].stack_height = height.max(self.order[car].stack_height);
            }
            if !has_changed {
                break;
            }
        }
        self.order.sort_unstable_by_key(|entry| (entry.in_train, core::cmp::Reverse(entry.stack_height), entry.car));
        self.order_indices.clear();
        self.order_indices.resize(self.order.len(), 0);
        self.order.iter().enumerate().for_each(|(entry_index, entry)| self.order_indices[entry.car] = entry_index);
    }

    /// Sets the free motion of the vehicle at `entry_index` of `order` to the free twist in its entry plus the response of its mass and inertia, without
    /// its own contacts, to the impulses of other vehicles' wheels on it. Does nothing if no wheels are on it: only such a vehicle has a body index.
    fn apply_wheel_impulses(&self, entry_index: usize, cars: &mut dyn StackSolver) {
        let StackEntry { car, free_twist, body_index: Some(body_index), .. } = self.order[entry_index] else { return };
        let body = *cars.body(car);
        let pushed_twist = add_scaled(
            free_twist,
            free_response(cars.vehicle(car), &body).twist_change(self.bodies[body_index].wheel_impulse),
            1.0,
        );
        let body = cars.body(car);
        [body.free_velocity, body.free_angular_velocity] = pushed_twist;
    }

    /// Predicts body `body_index` under the present wheel impulses: sets its resulting twist (end of the step) and its response (change of this twist
    /// per impulse). A vehicle is solved once with these impulses and linearized with all its rows. Then its state and rows are restored; its free
    /// motion, chassis impulse and report stay those of this solve. Any other body gets the prediction of the world; without one, its resulting twist
    /// is the linear prediction and its response stays.
    fn predict_body(&mut self, body_index: usize, cars: &mut dyn StackSolver) {
        let Some(car) = self.bodies[body_index].car else {
            let support = &mut self.bodies[body_index];
            support.resulting_twist = support.predicted_twist();
            if let Some(PredictedMotion { end_twist, response }) =
                cars.predict_body(support.body_number, support.wheel_impulse)
            {
                (support.resulting_twist, support.response) = (end_twist, BodyResponse::Supported(response));
            }
            return;
        };
        let entry_index = self.order_indices[car];
        self.apply_wheel_impulses(entry_index, cars);
        self.store_snapshot(SUPPORTING_ROLE, cars.vehicle(car));
        cars.solve_once(car, self.order[entry_index].rays.clone(), [0.0; 2], 1.0); // no pedals, unscaled tolerance
        let (body, end_twist) = body_and_end_twist(cars, car);
        let vehicle = cars.vehicle(car);
        let response = BodyResponse::WithRows { to_world: vehicle.to_world, system: vehicle.tangent(&body, end_twist) };
        self.restore_snapshot(SUPPORTING_ROLE, vehicle);
        (self.bodies[body_index].resulting_twist, self.bodies[body_index].response) = (end_twist, response);
    }

    /// Solves `car`, whose rays are `rays`, by Newton's method until its solution agrees with the motion of the bodies below it within 1e-4 m/s (1e-2
    /// m/s if stalled). Solves once if there are none. Each iteration sets the ground velocities, solves the vehicle, predicts the bodies, selects
    /// the next iterate and restores the vehicle. After 20 iterations solves the best iterate and reports `not_converged` if its residual is too
    /// large. `pedals`: see [`VehicleSolver::solve`].
    pub fn solve_with_bodies(
        &mut self,
        cars: &mut dyn StackSolver,
        car: usize,
        rays: Range<usize>,
        pedals: [f32; 2],
    ) -> StepReport {
        self.find_bodies_below(rays.clone());
        if self.bodies_below.is_empty() {
            return cars.solve_once(car, rays, pedals, 1.0); // unscaled tolerance
        }
        self.store_snapshot(SOLVED_ROLE, cars.vehicle(car));
        let (mut min_residual, mut iteration) = (f32::INFINITY, 0); // residual in m/s
        loop {
            iteration += 1;
            self.set_ground_velocities(rays.clone(), cars);
            let tolerance_scale = self.lightest_effective_mass() / cars.vehicle(car).model().mass();
            let report = cars.solve_once(car, rays.clone(), pedals, tolerance_scale);
            let residual = self.update_residual(car, rays.clone(), cars); // m/s
            let is_stalled = residual > SUFFICIENT_DECREASE_RATIO * min_residual; // no sufficient improvement
            let has_converged = residual <= VELOCITY_TOLERANCE_MPS || (is_stalled && residual <= STALL_TOLERANCE_MPS); // or stalled near it
            if has_converged || iteration > MAX_NEWTON_ITERATIONS || report.not_finite {
                let iterations = report.iterations.max(iteration);
                return StepReport { not_converged: report.not_converged | !has_converged, iterations, ..report };
            }
            if residual < min_residual {
                min_residual = residual;
                self.bodies_below
                    .iter()
                    .for_each(|index| self.bodies[*index].best_twist = self.bodies[*index].assumed_twist);
            }
            self.select_next_iterate(car, rays.clone(), cars, iteration == 1, is_stalled);
            for index in &self.bodies_below {
                let support = &mut self.bodies[*index];
                support.assumed_twist = if iteration == MAX_NEWTON_ITERATIONS {
                    support.best_twist
                } else {
                    add_scaled(support.search_start, support.search_step, self.line_search.step_share)
                };
            }
            self.restore_snapshot(SOLVED_ROLE, cars.vehicle(car));
        }
    }

    /// Returns the effective mass of the lightest body below, kg: 1 / the largest velocity change of a centre along x, y or z by a unit impulse there
    /// in this direction.
    fn lightest_effective_mass(&self) -> f32 {
        let max_compliance = |index: &usize| {
            let support = &self.bodies[*index];
            Vec3::AXES
                .map(|axis| support.response.twist_change([axis, Vec3::ZERO])[0].dot(axis))
                .into_iter()
                .fold(0.0, f32::max)
        };
        1.0 / self.bodies_below.iter().map(max_compliance).fold(f32::MIN_POSITIVE, f32::max)
    }

    /// Selects the next iterate `search_start + step_share · search_step` of the bodies below. A bracket is a pair of iterates whose residuals along
    /// the search step have opposite signs. In the first iteration the step is a full Newton step from the assumed motion. Later, without a bracket:
    /// halves the step share if `is_stalled` and the share is above 0.3, otherwise starts a relaxed Newton step. With a bracket: starts a relaxed
    /// Newton step if the residual is no longer along the search step (`is_exhausted`); otherwise redirects the search along the new Newton step if
    /// this ends inside the bracket, else makes a secant step along the old one.
    fn select_next_iterate(
        &mut self,
        car: usize,
        rays: Range<usize>,
        cars: &mut dyn StackSolver,
        is_first: bool,
        is_stalled: bool,
    ) {
        let step_squared = self.velocity_product(rays.clone(), |body| body.search_step, |body| body.search_step);
        let mut is_exhausted = is_first; // whether the present search is used up
        if !is_first {
            let step_residual = self.velocity_product(rays.clone(), |body| body.search_step, SupportingBody::residual);
            self.line_search.record_residual(step_residual);
            is_exhausted = step_residual * step_residual
                < MIN_RESIDUAL_COSINE_SQUARED
                    * step_squared
                    * self.velocity_product(rays.clone(), SupportingBody::residual, SupportingBody::residual);
        }
        let is_unbracketed = !self.line_search.is_bracketed();
        if is_unbracketed && is_stalled && self.line_search.step_share > MIN_STEP_SHARE {
            self.line_search.step_share *= 0.5;
            return;
        }
        self.compute_newton_steps(car, rays.clone(), cars);
        let newton_residual = self.velocity_product(rays.clone(), |body| body.newton_step, SupportingBody::residual);
        if is_unbracketed || is_exhausted {
            let step_share = if is_first { 1.0 } else { self.relaxation_factor() };
            self.line_search = LineSearch::new(step_share, newton_residual);
        } else {
            let advance = self.velocity_product(rays, |body| body.newton_step, |body| body.search_step) / step_squared; // share of the present step
            if !self.line_search.brackets(advance) {
                self.line_search.secant_step();
                return;
            }
            self.line_search = self.line_search.redirected(advance, newton_residual);
        }
        for index in &self.bodies_below {
            let body = &mut self.bodies[*index];
            (body.search_start, body.search_step) = (body.assumed_twist, body.newton_step);
        }
    }

    /// Returns `Σ v₁·v₂` over the wheels with `rays`, m²/s²: velocities of the body at the contact for its twists selected by `first` and `second`.
    fn velocity_product(
        &self,
        rays: Range<usize>,
        first: fn(&SupportingBody) -> Twist,
        second: fn(&SupportingBody) -> Twist,
    ) -> f32 {
        let product = |(index, reaction): &(usize, Reaction)| {
            let body = &self.bodies[*index];
            body.velocity_at(reaction.point, first(body)).dot(body.velocity_at(reaction.point, second(body)))
        };
        self.wheel_impulses[rays].iter().flatten().map(product).sum()
    }

    /// Fills `bodies_below` with the bodies under the wheels with `rays`, and sets their `other_impulse`: wheel impulse less that of these wheels.
    fn find_bodies_below(&mut self, rays: Range<usize>) {
        self.bodies_below.clear();
        for (index, reaction) in self.wheel_impulses[rays].iter().flatten() {
            let support = &mut self.bodies[*index];
            if !self.bodies_below.contains(index) {
                self.bodies_below.push(*index);
                support.other_impulse = support.wheel_impulse;
            }
            support.other_impulse = add_scaled(support.other_impulse, support.impulse_about_centre(reaction), -1.0);
        }
    }

    /// Sets the ground velocities in the contacts of `rays` to the assumed motion of the bodies, at the ground points at the start of the step. Skips
    /// rays that hit no body that wheels can push.
    fn set_ground_velocities(&self, rays: Range<usize>, cars: &mut dyn StackSolver) {
        for ray in rays {
            let (Some((index, _)), (probe, Some(contact))) = (self.wheel_impulses[ray], cars.probe_and_contact(ray))
            else {
                continue;
            };
            let ray_point = probe.offset + probe.direction * contact.distance;
            let point = probe.position + contact.point.unwrap_or(ray_point).as_dvec3();
            let support = &self.bodies[index];
            if let Some(ground) = &mut contact.ground {
                let point = ground.start_position(point, self.dt);
                ground.velocity =
                    support.assumed_twist[0] + support.assumed_twist[1].cross((point - support.centre).as_vec3());
            }
        }
    }

    /// Updates the wheel impulses of `car` by its last solution, their sums per body, and the prediction of the bodies. Returns the largest
    /// difference between resulting and assumed velocity of the bodies at its contacts, m/s; 0 without contacts.
    fn update_residual(&mut self, car: usize, rays: Range<usize>, cars: &mut dyn StackSolver) -> f32 {
        let mut reactions = core::mem::take(&mut self.reactions);
        reactions.clear();
        cars.append_reactions(car, rays.clone(), &mut reactions);
        for index in &self.bodies_below {
            self.bodies[*index].wheel_impulse = self.bodies[*index].other_impulse;
        }
        let mut unassigned = reactions.iter();
        for (index, stored) in self.wheel_impulses[rays.clone()].iter_mut().flatten() {
            // Each wheel on moving ground has one reaction, in order. Reactions on ground that wheels cannot push are skipped.
            if let Some(reaction) = unassigned.find(|reaction| reaction.body == stored.body) {
                *stored = *reaction;
            }
            self.bodies[*index].wheel_impulse =
                add_scaled(self.bodies[*index].wheel_impulse, self.bodies[*index].impulse_about_centre(stored), 1.0);
        }
        self.reactions = reactions;
        for i in 0..self.bodies_below.len() {
            self.predict_body(self.bodies_below[i], cars);
        }
        let velocity_error = |(index, stored): &(usize, Reaction)| {
            let support = &self.bodies[*index];
            support.velocity_at(stored.point, support.residual()).length()
        };
        self.wheel_impulses[rays].iter().flatten().map(velocity_error).fold(0.0, f32::max)
    }

    /// Sets `newton_step` of the bodies below `car` by its last solution. Solves `(1 + C A) ΔV = r + C A Δv` and `S Δv = Σ A ΔV` for the step ΔV of
    /// each body (stored as `newton_step`) and the step Δv of the vehicle (`vehicle_step`, not stored). A are the `wheel_rows` of the vehicle on the
    /// body, C is the `response` and r the `residual` of the body, and S is the `system` of the vehicle with all its rows. Solves for Δv first, with
    /// the 6 × 6 `matrix` `S − Σ A (1 + C A)⁻¹ C A`; Δv is zero if it is singular. Products with A and S use twists about the centre of mass of the
    /// vehicle. Stores the `wheel_rows` of the bodies. Overwrites the solution in the rows of the vehicle, which is restored later.
    fn compute_newton_steps(&mut self, car: usize, rays: Range<usize>, cars: &mut dyn StackSolver) {
        let (body, end_twist) = body_and_end_twist(cars, car);
        let rows = cars.vehicle(car).tangent_by_wheel(&body, end_twist); // linearized rows, one wheel per SIMD lane
        let pose = VehiclePose { centre: body.position, to_world: Mat3::from_quat(body.rotation) };
        let model = cars.vehicle(car).model().clone();
        let system = Symmetric6::new(model.mass(), model.inertia(), &rows); // vehicle with all its wheels
        for body_index in &self.bodies_below {
            let is_on_body = |wheel: usize| {
                self.wheel_impulses
                    .get(rays.start + wheel)
                    .is_some_and(|wheel_impulse| wheel_impulse.is_some_and(|(index, _)| index == *body_index))
            };
            let lane_shares = model.share_of_lanes(is_on_body); // share of the wheels in each SIMD lane that are on this body
            let support = &mut self.bodies[*body_index];
            support.set_wheel_rows(&pose, Symmetric6::new(0.0, &Mat3::ZERO, &rows.scaled_by(lane_shares)));
        }
        let iter_supports = || self.bodies_below.iter().map(|body_index| &self.bodies[*body_index]);
        // Adds the product of A with the change of the twist of a body, times `factor`.
        let add_product = |sum: Twist, support: &SupportingBody, body_change: Twist, factor: f32| {
            let change = support.twist_about(pose.centre, body_change);
            add_scaled(sum, pose.apply_system(&support.wheel_rows, change), factor)
        };
        // Right side `Σ A (1 + C A)⁻¹ r`: impulses on the vehicle by the Newton steps of the bodies without it.
        let impulses = iter_supports()
            .fold([Vec3::ZERO; 2], |sum, support| add_product(sum, support, support.uncoupled_newton_step(), 1.0));
        let matrix = matrix_of(|unit_twist| {
            iter_supports().fold(pose.apply_system(&system, unit_twist), |sum, support| {
                add_product(sum, support, support.induced_change(&pose, unit_twist), -1.0)
            })
        });
        let vehicle_step = solve_or_zero(&matrix, impulses); // Newton step of the vehicle
        for body_index in &self.bodies_below {
            let support = &mut self.bodies[*body_index];
            support.newton_step =
                add_scaled(support.uncoupled_newton_step(), support.induced_change(&pose, vehicle_step), 1.0);
        }
    }

    /// Returns the relaxation factor by Aitken, from step share ω, last step s, next step n: `−ω s·(n−s) / |n−s|²`, within 0.3 to 2; 1 if not finite.
    fn relaxation_factor(&self) -> f32 {
        let mut sums = [0.0; 2];
        for SupportingBody { search_step, newton_step, .. } in
            self.bodies_below.iter().map(|index| &self.bodies[*index])
        {
            let step_change = add_scaled(*newton_step, *search_step, -1.0); // change between the steps
            let dot = |a: &Twist, b: &Twist| a[0].dot(b[0]) + a[1].dot(b[1]);
            sums = [sums[0] + dot(search_step, &step_change), sums[1] + dot(&step_change, &step_change)];
        }
        let factor = -self.line_search.step_share * sums[0] / sums[1];
        if factor.is_finite() { factor.clamp(RELAXATION_RANGE[0], RELAXATION_RANGE[1]) } else { 1.0 }
    }
}

/// Returns the body of `car` and its end twist by the last solution: free twist, gyroscopic change, and impulses of vehicle and hull.
fn body_and_end_twist(cars: &mut dyn StackSolver, car: usize) -> (ChassisState, Twist) {
    let (push, body) = (*cars.chassis_impulse(car), *cars.body(car));
    let impulse = [push.impulse + push.hull_impulse, push.angular_impulse + push.hull_angular_impulse];
    let free_twist = [body.free_velocity, body.free_angular_velocity + body.gyroscopic_change];
    (body, add_scaled(free_twist, free_response(cars.vehicle(car), &body).twist_change(impulse), 1.0))
}
