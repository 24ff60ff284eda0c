//! Trains of vehicles that tow each other: each vehicle is solved with its own rows (scalar equations of wheels,
//! suspension and drivetrain), and the hitches couple all vehicles of a train.
//!
//! For given hitch impulses every vehicle is solved separately, with these impulses as external forces. Newton's method
//! finds the impulses that satisfy the hitch constraints. Its derivative includes all rows of each vehicle, so that a
//! train needs two or three iterations.

use core::ops::Range;

use crate::hitch::joint::{BodyResponse, Impulses, Joint, Twist, add_scaled};
use crate::hitch::parameters::{TrailerBrakes, is_reversed};
use crate::port::{ChassisImpulse, ChassisState};
use crate::state::Tow;
use crate::step_report::StepReport;
use crate::vehicle::Vehicle;
use bevy_math::{Mat3, Vec3};

/// Maximum number of iterations of a train in one step.
const MAX_TRAIN_ITERATIONS: u16 = 12;

/// Convergence tolerance of the hitch constraints, m/s.
const HITCH_TOLERANCE_MPS: f32 = 5e-5;

/// Residual accepted once the iteration stops improving, m/s. f32 cannot resolve less for impulses of several tonnes of
/// load.
const STALL_TOLERANCE_MPS: f32 = 1e-3;

/// Maximum number of passes over the hitches of a train.
const MAX_HITCH_PASSES: usize = 200;
/// Change of velocity below which the passes over the hitches end, m/s.
const HITCH_PASS_TOLERANCE_MPS: f32 = 1e-7;

/// Ratio to the smallest residual so far above which an iteration counts as no improvement. The next iteration then
/// moves the impulses halfway back to the best ones.
const SUFFICIENT_DECREASE_RATIO: f32 = 0.9;

/// A vehicle that can be part of a train.
#[derive(Clone, Debug)]
struct TrainMember {
    /// Slot of the vehicle in its world.
    slot: usize,
    /// Snapshot of the vehicle at the start of the step. Every iteration starts from it.
    snapshot: Vehicle,
    /// Body at the start of the step. Its free motion excludes the hitch impulses.
    body: ChassisState,
    /// Range of the indices of the vehicle's wheel rays, one per wheel, among the rays of all vehicles.
    rays: Range<usize>,
    /// Foot brake and handbrake of a trailer that the vehicle ahead applies, 0 to 1; 0 if it is not towed.
    pedals_from_ahead: [f32; 2],
    /// Twist (velocity of the centre of mass, angular velocity) at the end of the step by the last solution.
    end_twist: Twist,
    /// Response (change of the twist per impulse) to impulses on the chassis: by mass and inertia alone, or with all
    /// linearized rows of the vehicle after a Newton step.
    response: BodyResponse,
    /// Train number of the vehicle in this step: the smallest member index in its train; its own index if it is alone.
    train_number: usize,
    /// Whether the vehicle is in a train in this step.
    in_train: bool,
    /// Slot of the vehicle that tows this one in this step; `None` if it is not towed.
    towing_slot: Option<u32>,
}

/// A hitch that is coupled in this step.
#[derive(Clone, Copy, Debug)]
struct CoupledHitch {
    /// Member indices of the towing vehicle and of the trailer.
    members: [usize; 2],
    /// Constraint rows of the hitch.
    joint: Joint,
    /// Impulses of the iteration with the smallest residual so far.
    best_impulses: Impulses,
    /// Actuation of the trailer's brakes.
    brakes: TrailerBrakes,
    /// Share of the brake that the overrun device of the trailer applies, 0 to 1.
    overrun: f32,
}

/// Solver of single vehicles.
pub(crate) trait VehicleSolver {
    /// Returns vehicle `car`.
    fn vehicle(&mut self, car: usize) -> &mut Vehicle;
    /// Returns the body of vehicle `car`, as at the start of the step.
    fn body(&mut self, car: usize) -> &mut ChassisState;
    /// Returns the impulses of the last solution of vehicle `car` on its body.
    fn chassis_impulse(&mut self, car: usize) -> &mut ChassisImpulse;
    /// Returns true if vehicle `car` is stepped.
    fn is_stepped(&self, car: usize) -> bool;
    /// Returns the brake and handbrake inputs of the driver of vehicle `car`, 0 to 1.
    fn pedals(&self, car: usize) -> [f32; 2];
    /// Solves vehicle `car` with the contacts of its `rays`. The larger of its own controls and `pedals` (brake and
    /// handbrake, 0 to 1) applies.
    fn solve(&mut self, car: usize, rays: Range<usize>, pedals: [f32; 2]) -> StepReport;
    /// Accepts the last solution of vehicle `car`: stores `report`, that of the train's step, and the impulses of its
    /// wheels on moving ground.
    fn accept_solution(&mut self, car: usize, rays: Range<usize>, report: StepReport);
}

/// All vehicles of a world that have a hitch or a coupler (the members), and the workspace of the trains that they form
/// in a step. A train is a group of at least two members that are hitched to each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trains {
    /// Members, ascending by slot.
    members: Vec<TrainMember>,
    /// Member index of each slot of the world; `None` for vehicles that are no members.
    member_of_slot: Vec<Option<usize>>,
    /// Hitches of this step, sorted by train.
    hitches: Vec<CoupledHitch>,
    /// Member indices of all vehicles that are in a train in this step, sorted by train, then by index.
    members_by_train: Vec<usize>,
    /// Length of the step, s.
    dt: f32,
}

/// Train as ranges of [`Trains::members_by_train`] and [`Trains::hitches`]. The default, two empty ranges, precedes the
/// first train.
#[derive(Clone, Debug, Default)]
struct TrainRange {
    /// Range of [`Trains::members_by_train`].
    members: Range<usize>,
    /// Range of [`Trains::hitches`].
    hitches: Range<usize>,
}

impl Trains {
    /// Inserts `vehicle`, which has a hitch or a coupler, as the member of slot `car`, and updates the member index of
    /// every slot. Members stay sorted by slot. The snapshot is a copy of `vehicle`; all other fields are placeholders
    /// until [`Trains::begin_step`], so that the vehicle is in no train before. Reserves memory for hitches and
    /// `members_by_train`: as many entries as there are members.
    pub fn insert(&mut self, car: usize, vehicle: &Vehicle) {
        let index = self.members.partition_point(|member| member.slot < car); // keeps the order by slot
        let member = TrainMember {
            slot: car,
            snapshot: vehicle.clone(),
            body: ChassisState::AT_ORIGIN, // placeholders until the first step
            rays: 0..0,
            pedals_from_ahead: [0.0; 2],
            end_twist: [Vec3::ZERO; 2],
            response: BodyResponse::Free { inverse_mass: 0.0, inverse_inertia: Mat3::ZERO },
            train_number: index,
            in_train: false,
            towing_slot: None,
        };
        self.members.insert(index, member);
        self.update_member_indices(index);
        // Reserved here, because a step must not allocate.
        self.hitches.reserve(self.members.len() - self.hitches.len());
        self.members_by_train.reserve(self.members.len() - self.members_by_train.len());
    }

    /// Removes the member of slot `car`, if there is one. In any case drops the hitches and `members_by_train` of the
    /// last step.
    pub fn remove(&mut self, car: usize) {
        self.members.retain(|member| member.slot != car);
        // Hitches and `members_by_train` contain member indices, which change here.
        self.hitches.clear();
        self.members_by_train.clear();
        // Slots below `car` keep their member indices.
        self.member_of_slot.iter_mut().skip(car).for_each(|slot| *slot = None);
        self.update_member_indices(self.members.partition_point(|member| member.slot < car));
    }

    /// Updates [`Trains::member_of_slot`] for the members from index `first_index` on. Extends the list to the highest
    /// slot of a member; it never shrinks.
    fn update_member_indices(&mut self, first_index: usize) {
        let slot_count = self.members.last().map_or(0, |last_member| last_member.slot + 1);
        self.member_of_slot.resize(slot_count.max(self.member_of_slot.len()), None);
        for (index, member) in self.members.iter().enumerate().skip(first_index) {
            self.member_of_slot[member.slot] = Some(index);
        }
    }

    /// Returns the slots of all members, each with the slot of the vehicle that tows it in this step.
    pub fn towing_slots(&self) -> impl Iterator<Item = (usize, Option<u32>)> {
        self.members.iter().map(|member| (member.slot, member.towing_slot))
    }

    /// Stores `rays`, the range of the ray indices of vehicle `car`, in its member. Returns true if the vehicle is in a
    /// train in this step. For a vehicle that is no member, stores nothing and returns false.
    pub fn store_rays(&mut self, car: usize, rays: &Range<usize>) -> bool {
        let Some(index) = self.member_of_slot.get(car).copied().flatten() else { return false };
        let member = &mut self.members[index];
        member.rays.clone_from(rays);
        member.in_train
    }

    /// Returns true if any of `cars` is in a train in this step.
    pub fn any_in_train(&self, mut cars: Range<usize>) -> bool {
        cars.any(|car| {
            self.member_of_slot.get(car).copied().flatten().is_some_and(|index| self.members[index].in_train)
        })
    }

    /// Finds the trains of a step of `dt` s and prepares them. First discards the trains of the last step. Couples
    /// every trailer whose tow state names a vehicle to which it can be coupled ([`Trains::can_couple`]); for any other
    /// stepped vehicle with a tow state, sets the stored hitch force to zero. Sets the pedals of trailers and the towed
    /// masses, and sorts hitches and `members_by_train` by train.
    ///
    /// Then, for each vehicle in a train, stores its body and its snapshot. Then adds the change of the twist by
    /// the initial hitch impulses, `force · dt` of the last step, to the free motion of its body in `cars`. The vehicle
    /// responds to them by its mass and inertia alone, without its wheels. Free motion is the motion at the end of the
    /// step without impulses of the vehicle itself.
    pub fn begin_step(&mut self, cars: &mut dyn VehicleSolver, dt: f32) {
        self.dt = dt;
        self.hitches.clear();
        self.members_by_train.clear();
        for (index, member) in self.members.iter_mut().enumerate() {
            (member.train_number, member.in_train, member.towing_slot) = (index, false, None);
        }
        for trailer in 0..self.members.len() {
            let car = self.members[trailer].slot;
            let Some(tow) = cars.vehicle(car).state().tow else { continue };
            let ahead = self.member_of_slot.get(tow.towing_slot as usize).copied().flatten();
            if let Some(ahead) = ahead.filter(|ahead| self.can_couple(cars, *ahead, trailer)) {
                self.couple([ahead, trailer], tow, cars);
            } else if cars.is_stepped(car) {
                // A hitch that cannot be coupled carries no force.
                cars.vehicle(car).state.tow = Some(Tow { force: Vec3::ZERO, ..tow });
            }
        }
        self.apply_trailer_brakes(cars);
        self.compute_towed_mass(cars);
        let members = &self.members;
        self.members_by_train.extend((0..members.len()).filter(|index| members[*index].in_train));
        self.members_by_train.sort_unstable_by_key(|index| (members[*index].train_number, *index));
        self.hitches.sort_unstable_by_key(|hitch| (members[hitch.members[0]].train_number, hitch.members[1]));
        let mut train = TrainRange::default();
        while self.advance_to_next_train(&mut train) {
            for order_index in train.members.clone() {
                let member = &mut self.members[self.members_by_train[order_index]];
                member.body = *cars.body(member.slot);
                member.snapshot.copy_from(cars.vehicle(member.slot));
                self.apply_hitch_impulses(&train, order_index, cars);
            }
        }
    }

    /// Updates the stored bodies of all trains after wheels of other vehicles on these bodies changed the free motion
    /// in `cars`. The free motion in `cars` includes the present hitch impulses, which the stored one must not: the
    /// response to them (by mass and inertia alone) is added anew in each iteration. Stored free motion = free motion
    /// in `cars` less this response.
    pub fn update_free_motion(&mut self, cars: &mut dyn VehicleSolver) {
        let mut train = TrainRange::default();
        while self.advance_to_next_train(&mut train) {
            for order_index in train.members.clone() {
                let impulse = self.hitch_impulse(&train, order_index);
                let member = &mut self.members[self.members_by_train[order_index]];
                // Change of the free twist.
                let hitch_change = free_response(cars.vehicle(member.slot), &member.body).twist_change(impulse);
                let body = cars.body(member.slot);
                member.body.free_velocity = body.free_velocity - hitch_change[0];
                member.body.free_angular_velocity = body.free_angular_velocity - hitch_change[1];
            }
        }
    }

    /// Returns true if member `trailer` can be coupled to member `ahead`: both are stepped, `ahead` has a hitch,
    /// `trailer` has a coupler, and they are not in one train yet. Among vehicles that tow each other in a circle, the
    /// last hitch therefore stays open.
    fn can_couple(&self, cars: &mut dyn VehicleSolver, ahead: usize, trailer: usize) -> bool {
        let [towing_car, trailer_car] = [ahead, trailer].map(|index| self.members[index].slot);
        let has_hitch = cars.vehicle(towing_car).model().parts().hitch.is_some();
        let has_coupler = cars.vehicle(trailer_car).model().parts().coupler.is_some();
        let are_stepped = cars.is_stepped(towing_car) && cars.is_stepped(trailer_car);
        are_stepped
            && has_hitch
            && has_coupler
            && self.members[ahead].train_number != self.members[trailer].train_number
    }

    /// Couples the two `members` (towing vehicle, trailer); `tow` is the tow state of the trailer. Adds a
    /// [`CoupledHitch`] with its constraint rows and with the share of the overrun brake (brake that the trailer's push
    /// on the hitch applies) at the end of the step. A trailer that is reversed ([`is_reversed`]) releases this brake.
    /// Sets the towing slot of the trailer, marks both members as in a train, and merges their trains under the smaller
    /// train number.
    fn couple(&mut self, members: [usize; 2], tow: Tow, cars: &mut dyn VehicleSolver) {
        let [ahead, trailer] = members.map(|index| self.members[index].slot);
        let hitch = cars.vehicle(ahead).model().parts().hitch.unwrap_or_default();
        let coupler = cars.vehicle(trailer).model().parts().coupler.unwrap_or_default();
        let bodies = [ahead, trailer].map(|car| *cars.body(car));
        let joint = Joint::new(&hitch, &coupler, [&bodies[0], &bodies[1]], tow.force, self.dt);
        let ChassisState { rotation, velocity, free_velocity, .. } = bodies[1];
        let forward = rotation * Vec3::X;
        let push_force = -tow.force.dot(forward); // force with which the vehicle ahead holds back the trailer, N
        let trailer_vehicle = cars.vehicle(trailer);
        // Force of weight and air along the trailer's x axis, N.
        let driving_force = trailer_vehicle.model().mass() * forward.dot(free_velocity - velocity) / self.dt;
        // Rolling speed of the trailer's first wheel over the upper walking speed (index 1).
        let pace_ratio =
            trailer_vehicle.state().wheels[0].rolling_speed / trailer_vehicle.model().wheels()[0].walking_speeds()[1];
        let is_backing = is_reversed(pace_ratio, push_force, driving_force);
        let (brakes, best_impulses) = (coupler.brakes, joint.impulses());
        let overrun = brakes.next_overrun(tow.overrun, if is_backing { 0.0 } else { push_force }, self.dt);
        self.hitches.push(CoupledHitch { members, joint, best_impulses, brakes, overrun });
        self.members[members[1]].towing_slot = Some(ahead as u32);
        let [ahead_train, trailer_train] = members.map(|index| self.members[index].train_number);
        for (index, member) in self.members.iter_mut().enumerate() {
            member.in_train |= members.contains(&index);
            if member.train_number == ahead_train.max(trailer_train) {
                member.train_number = ahead_train.min(trailer_train);
            }
        }
    }

    /// Sets the towed mass of each member, kg: the sum of the rolling masses (mass plus effective mass of rotating
    /// parts) of all trailers behind it, direct and indirect; 0 without trailers.
    fn compute_towed_mass(&mut self, cars: &mut dyn VehicleSolver) {
        for member in &self.members {
            cars.vehicle(member.slot).towed_mass = 0.0;
        }
        for rear_hitch in &self.hitches {
            // The loop runs from the trailer of this hitch to the front of the train, which has at most as many
            // vehicles as there are hitches.
            let mass = cars.vehicle(self.members[rear_hitch.members[1]].slot).model.rolling_mass();
            let mut trailer = rear_hitch.members[1];
            while let Some(hitch) = self.hitches.iter().find(|hitch| hitch.members[1] == trailer) {
                trailer = hitch.members[0];
                cars.vehicle(self.members[trailer].slot).towed_mass += mass;
            }
        }
    }

    /// Sets `pedals_from_ahead` of each member: foot brake and handbrake, 0 to 1, that the vehicle ahead applies; 0 for
    /// vehicles that are not towed. The input is the larger of two values: the pedal of the driver ahead, and the
    /// `pedals_from_ahead` of the vehicle ahead. A trailer thus passes its brake on to the next one. The type of the
    /// brakes ([`TrailerBrakes`]) maps the input and the overrun share to the pedals. Repeats until nothing changes, at
    /// most once per hitch.
    fn apply_trailer_brakes(&mut self, cars: &mut dyn VehicleSolver) {
        for member in &mut self.members {
            member.pedals_from_ahead = [0.0; 2];
        }
        // Slots need not increase to the rear; each pass reaches at least one more trailer of every train.
        for _ in 0..self.hitches.len() {
            let mut has_changed = false;
            for hitch in &self.hitches {
                let [ahead, trailer] = hitch.members;
                let driver_pedals = cars.pedals(self.members[ahead].slot);
                let [brake, handbrake] = [0, 1].map(|k| driver_pedals[k].max(self.members[ahead].pedals_from_ahead[k]));
                let pedals =
                    [hitch.brakes.foot_brake_share(brake, hitch.overrun), hitch.brakes.handbrake_share(handbrake)];
                has_changed |= pedals != self.members[trailer].pedals_from_ahead;
                self.members[trailer].pedals_from_ahead = pedals;
            }
            if !has_changed {
                return;
            }
        }
    }

    /// Replaces `train` by the train that follows it in [`Trains::members_by_train`]. Returns false, and leaves `train`
    /// unchanged, if it is the last one.
    fn advance_to_next_train(&self, train: &mut TrainRange) -> bool {
        let (first_entry, first_hitch) = (train.members.end, train.hitches.end); // of the next train
        let Some(first_member) = self.members_by_train.get(first_entry) else { return false };
        let train_number = self.members[*first_member].train_number;
        let member_count = self.members_by_train[first_entry..]
            .partition_point(|index| self.members[*index].train_number == train_number);
        let hitch_count = self.hitches[first_hitch..]
            .partition_point(|hitch| self.members[hitch.members[0]].train_number == train_number);
        *train = TrainRange {
            members: first_entry..first_entry + member_count,
            hitches: first_hitch..first_hitch + hitch_count,
        };
        true
    }

    /// Solves every train, accepts its solution, and returns the worst report. The impulses on the chassis then include
    /// the hitch impulses. Stores the mean hitch force of the step and the share of the overrun brake in the tow states
    /// of the trailers. A hitch whose force exceeds its breaking force is uncoupled from the next step on: the tow
    /// state of the trailer becomes `None`.
    pub fn solve(&mut self, cars: &mut dyn VehicleSolver) -> StepReport {
        let (mut report, mut train) = (StepReport::default(), TrainRange::default());
        while self.advance_to_next_train(&mut train) {
            report = report.merge_worst(self.solve_train(&train, cars));
        }
        for coupled in &self.hitches {
            let [ahead, trailer] = coupled.members.map(|index| self.members[index].slot);
            let hitch = cars.vehicle(ahead).model().parts().hitch.unwrap_or_default();
            let force = coupled.joint.force(self.dt);
            let is_intact = force.length() <= hitch.breaking_force;
            cars.vehicle(trailer).state.tow =
                is_intact.then_some(Tow { towing_slot: ahead as u32, force, overrun: coupled.overrun });
        }
        report
    }

    /// Solves one train by Newton's method for its hitch impulses and returns the worst report of its vehicles. Each
    /// iteration solves every vehicle separately and computes the residual, the largest velocity error of the hitches.
    /// Converges at 5e-5 m/s, or at 1e-3 m/s if the residual decreased by less than 10 %. After a larger decrease
    /// performs a Newton step, otherwise moves the impulses halfway back to the best ones; then restores the vehicles
    /// from their snapshots. Stops after 12 iterations (`not_converged`) or if a result is not finite. In any case
    /// accepts the last iterate with [`Trains::accept_train`].
    fn solve_train(&mut self, train: &TrainRange, cars: &mut dyn VehicleSolver) -> StepReport {
        let (mut min_residual, mut iterations) = (f32::INFINITY, 0); // residual in m/s
        let report = loop {
            iterations += 1;
            let report = self.solve_members(train, cars);
            let residual = self.hitch_residual(train); // m/s
            let is_stalled = residual > SUFFICIENT_DECREASE_RATIO * min_residual; // no sufficient improvement
            let has_converged = residual <= HITCH_TOLERANCE_MPS || (is_stalled && residual <= STALL_TOLERANCE_MPS); // or stalled
            if has_converged || iterations == MAX_TRAIN_ITERATIONS || report.not_finite {
                break StepReport { not_converged: report.not_converged | !has_converged, ..report };
            }
            if is_stalled {
                self.backtrack(train);
            } else {
                min_residual = residual;
                self.perform_newton_step(train, cars);
            }
            for order_index in train.members.clone() {
                self.apply_hitch_impulses(train, order_index, cars);
                let member = &self.members[self.members_by_train[order_index]];
                cars.vehicle(member.slot).copy_from(&member.snapshot);
            }
        };
        let report = StepReport { iterations: report.iterations.max(iterations), ..report };
        self.accept_train(train, cars, report);
        report
    }

    /// Returns the present impulse (N s) and angular impulse about the centre of mass (N m s) of all hitches of `train`
    /// on the vehicle at index `order_index` of [`Trains::members_by_train`], world axes.
    fn hitch_impulse(&self, train: &TrainRange, order_index: usize) -> Twist {
        let member = self.members_by_train[order_index];
        let hitches = self.hitches[train.hitches.clone()].iter().filter(|hitch| hitch.members.contains(&member));
        hitches.fold([Vec3::ZERO; 2], |sum, hitch| {
            // Argument of `impulse_on`: 1 if the vehicle is the trailer of this hitch, 0 if it is the vehicle ahead.
            add_scaled(sum, hitch.joint.impulse_on(usize::from(hitch.members[1] == member)), 1.0)
        })
    }

    /// Sets the free motion of the vehicle at index `order_index` of [`Trains::members_by_train`] to its stored free
    /// motion plus the response, by mass and inertia alone, to the present hitch impulses. The solution of the vehicle
    /// then includes the hitches.
    fn apply_hitch_impulses(&mut self, train: &TrainRange, order_index: usize, cars: &mut dyn VehicleSolver) {
        let impulse = self.hitch_impulse(train, order_index); // about the centre of mass
        let member = &self.members[self.members_by_train[order_index]];
        let hitch_change = free_response(cars.vehicle(member.slot), &member.body).twist_change(impulse);
        let body = cars.body(member.slot);
        body.free_velocity = member.body.free_velocity + hitch_change[0];
        body.free_angular_velocity = member.body.free_angular_velocity + hitch_change[1];
    }

    /// Solves every vehicle of a train separately, with its `pedals_from_ahead`, and returns the worst report. Stores
    /// the twist of each vehicle at the end of the step: free motion (with hitch impulses), gyroscopic change, and
    /// impulses of wheels and hull. Resets the response of each vehicle to that of mass and inertia alone.
    fn solve_members(&mut self, train: &TrainRange, cars: &mut dyn VehicleSolver) -> StepReport {
        let mut report = StepReport::default();
        for index in &self.members_by_train[train.members.clone()] {
            let member = &mut self.members[*index];
            report = report.merge_worst(cars.solve(member.slot, member.rays.clone(), member.pedals_from_ahead));
            let (chassis_impulse, body) = (*cars.chassis_impulse(member.slot), *cars.body(member.slot));
            member.response = free_response(cars.vehicle(member.slot), &body);
            let impulse = [
                chassis_impulse.impulse + chassis_impulse.hull_impulse,
                chassis_impulse.angular_impulse + chassis_impulse.hull_angular_impulse,
            ]; // wheels and hull
            // Without impulses of the vehicle.
            let free_twist = [body.free_velocity, body.free_angular_velocity + body.gyroscopic_change];
            member.end_twist = add_scaled(free_twist, member.response.twist_change(impulse), 1.0);
        }
        report
    }

    /// Updates the rows of the hitches of a train to the present end twists. Returns the largest residual of the hitch
    /// constraints, m/s (rotations at an arm of 1 m).
    fn hitch_residual(&mut self, train: &TrainRange) -> f32 {
        self.update_hitch_rows(train);
        let hitches = self.hitches[train.hitches.clone()].iter();
        let residual =
            |hitch: &CoupledHitch| hitch.joint.residual(hitch.members.map(|index| self.members[index].end_twist));
        hitches.map(residual).fold(0.0, f32::max)
    }

    /// Updates the rows of every hitch of a train: the velocity arms (from each centre of mass to the coupling point)
    /// by the end twists of both vehicles, and the effective masses by their present responses.
    fn update_hitch_rows(&mut self, train: &TrainRange) {
        for hitch in &mut self.hitches[train.hitches.clone()] {
            let [ahead, trailer] = hitch.members.map(|index| &self.members[index]);
            hitch.joint.update_velocity_arms(
                [&ahead.body, &trailer.body],
                [ahead.end_twist[1], trailer.end_twist[1]],
                self.dt,
            );
            hitch.joint.update_responses(hitch.members.map(|index| &self.members[index].response));
        }
    }

    /// Replaces the impulses of all hitches of a train by the mean of the present and the best ones.
    fn backtrack(&mut self, train: &TrainRange) {
        for hitch in &mut self.hitches[train.hitches.clone()] {
            hitch.joint.average_with(&hitch.best_impulses);
        }
    }

    /// Performs a Newton step from the present iterate of a train. Sets the response of each vehicle to that with all
    /// its linearized rows, stores the present impulses as the best ones, and solves the coupled hitch rows with
    /// [`Trains::iterate_hitches`]. Does not solve the vehicles again. The linearization overwrites the solution in
    /// their rows, so that the caller must restore them.
    fn perform_newton_step(&mut self, train: &TrainRange, cars: &mut dyn VehicleSolver) {
        for index in &self.members_by_train[train.members.clone()] {
            let member = &mut self.members[*index];
            let body = *cars.body(member.slot);
            let vehicle = cars.vehicle(member.slot);
            let system = vehicle.tangent(&body, member.end_twist);
            member.response = BodyResponse::WithRows { to_world: vehicle.to_world, system };
        }
        for hitch in &mut self.hitches[train.hitches.clone()] {
            hitch.best_impulses = hitch.joint.impulses();
        }
        self.update_hitch_rows(train);
        self.iterate_hitches(train);
    }

    /// Solves the hitch rows of a train by sequential impulses: corrects one hitch after the other with the present
    /// responses. Changes the impulses of the hitches and the stored end twists of the vehicles. Stops after a pass
    /// that changes no velocity by more than 1e-7 m/s, or after 200 passes.
    fn iterate_hitches(&mut self, train: &TrainRange) {
        for _ in 0..MAX_HITCH_PASSES {
            let mut max_velocity_change: f32 = 0.0; // m/s
            for hitch in &mut self.hitches[train.hitches.clone()] {
                let Ok(members) = self.members.get_disjoint_mut(hitch.members) else { continue };
                max_velocity_change =
                    max_velocity_change.max(hitch.joint.solve_pass(members.map(|member| &mut member.end_twist)));
            }
            if max_velocity_change <= HITCH_PASS_TOLERANCE_MPS {
                return;
            }
        }
    }

    /// Finishes a train. First removes the remaining residual of the hitches, with the responses of the last iterate
    /// (mass and inertia alone). Then, for each vehicle, restores the stored body (free motion without hitches), adds
    /// the hitch impulses to its chassis impulse, and accepts its last solution with `report`.
    fn accept_train(&mut self, train: &TrainRange, cars: &mut dyn VehicleSolver, report: StepReport) {
        self.iterate_hitches(train);
        for order_index in train.members.clone() {
            let [impulse, moment] = self.hitch_impulse(train, order_index);
            let member = &self.members[self.members_by_train[order_index]];
            *cars.body(member.slot) = member.body;
            let chassis_impulse = cars.chassis_impulse(member.slot);
            chassis_impulse.impulse += impulse;
            chassis_impulse.angular_impulse += moment;
            cars.accept_solution(member.slot, member.rays.clone(), report);
        }
    }
}

/// Returns the response (change of the twist per impulse) of `body` of `vehicle` by mass and inertia alone, world axes.
/// Wheels, hitches and contacts have no effect.
pub(super) fn free_response(vehicle: &Vehicle, body: &ChassisState) -> BodyResponse {
    let to_world = Mat3::from_quat(body.rotation);
    let inverse_inertia = to_world * *vehicle.model().inverse_inertia() * to_world.transpose();
    BodyResponse::Free { inverse_mass: vehicle.model().inverse_mass(), inverse_inertia }
}
