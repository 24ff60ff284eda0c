//! Trains of vehicles that tow each other: each vehicle is solved with its own rows, and the hitches couple all vehicles of a train.
//!
//! For given hitch impulses every vehicle is solved separately, with these impulses as external forces. Newton's method finds the impulses
//! that satisfy the hitch constraints. Its derivative includes all rows of each vehicle, so that a train needs two or three iterations.

use core::ops::Range;

use crate::hitch::joint::{Answer, Impulses, Joint, Twist, add};
use crate::hitch::parameters::{TrailerBrakes, is_reversed};
use crate::state::Tow;
use crate::step::coupling::StepReport;
use crate::step::vehicle::{CHASSIS_AT_ORIGIN, Vehicle};
use crate::world::seam::{Body, Push};
use bevy_math::{Mat3, Vec3};

/// Maximum number of iterations of a train in one step.
const LOOKS: u16 = 12;

/// Convergence tolerance of the hitch constraints, m/s.
const TOLERANCE: f32 = 5e-5;

/// Residual accepted once the iteration stops improving, m/s. f32 cannot resolve less for impulses of several tonnes of load.
const STALLED: f32 = 1e-3;

/// Maximum number of passes over the hitches of a train.
const PASSES: usize = 200;
/// Change of velocity below which the passes over the hitches end, m/s.
const SETTLED_SPEED: f32 = 1e-7;

/// Ratio to the smallest residual so far above which an iteration counts as no improvement. The next iteration then returns half of the
/// way.
const BETTER: f32 = 0.9;

/// A vehicle that can be part of a train.
#[derive(Clone, Debug)]
struct Member {
    /// Slot of the vehicle in its world.
    car: usize,
    /// Snapshot of the vehicle at the start of the step.
    begun: Vehicle,
    /// Body at the start of the step without hitch impulses.
    body: Body,
    /// Range of the vehicle's rays among those of all cars.
    rays: Range<usize>,
    /// Brake and handbrake that the towing vehicle applies, 0 to 1.
    pedals: [f32; 2],
    /// Twist at the end of the step.
    end: Twist,
    /// Response of the vehicle to impulses on its chassis.
    answer: Answer,
    /// Train of the vehicle in this step, as the smallest member index in it; its own index if the vehicle is alone.
    train: usize,
    /// Whether the vehicle is in a train in this step.
    tied: bool,
    /// Slot of the vehicle that tows it in this step.
    by: Option<u32>,
}

/// A hitch that is coupled in this step.
#[derive(Clone, Copy, Debug)]
struct Tie {
    /// Member indices of the towing vehicle and of the trailer.
    between: [usize; 2],
    /// Constraint rows of the hitch.
    joint: Joint,
    /// Impulses of the best iteration so far.
    best: Impulses,
    /// Actuation of the trailer's brakes.
    brakes: TrailerBrakes,
    /// Share of the brake that the overrun device of the trailer applies, 0 to 1.
    overrun: f32,
}

/// Solver of single vehicles.
pub(crate) trait Solver {
    /// Returns vehicle `car`.
    fn vehicle(&mut self, car: usize) -> &mut Vehicle;
    /// Returns the body of vehicle `car`, as at the start of the step.
    fn body(&mut self, car: usize) -> &mut Body;
    /// Returns the impulses of the last solution of vehicle `car` on its body.
    fn push(&mut self, car: usize) -> &mut Push;
    /// Returns true if vehicle `car` is stepped.
    fn is_stepped(&self, car: usize) -> bool;
    /// Returns the brake and handbrake inputs of the driver of vehicle `car`, 0 to 1.
    fn pedals(&self, car: usize) -> [f32; 2];
    /// Solves vehicle `car` with the contacts of its `rays`. The larger of its own controls and `pedals` (brake and handbrake, 0 to 1)
    /// applies.
    fn solve(&mut self, car: usize, rays: Range<usize>, pedals: [f32; 2]) -> StepReport;
    /// Accepts the last solution of vehicle `car`: stores `report`, that of the train's step, and the impulses of its wheels on moving
    /// ground.
    fn end(&mut self, car: usize, rays: Range<usize>, report: StepReport);
}

/// The vehicles of a world that can tow or be towed, and the workspace of their trains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trains {
    members: Vec<Member>,
    /// Member index of each slot of the world; `None` for vehicles that are no members.
    slots: Vec<Option<usize>>,
    /// Hitches of this step, sorted by train.
    ties: Vec<Tie>,
    /// Indices of members in trains, sorted by train.
    order: Vec<usize>,
    /// Length of the step, s.
    dt: f32,
}

/// Train as ranges of [`Trains::order`] and [`Trains::ties`].
#[derive(Clone, Debug, Default)]
struct Train {
    members: Range<usize>,
    ties: Range<usize>,
}

impl Trains {
    /// Inserts `vehicle`, which has a hitch or a coupler, as number `car` of its world. The members stay sorted by that number.
    pub fn insert(&mut self, car: usize, vehicle: &Vehicle) {
        let at = self.members.partition_point(|member| member.car < car);
        let member = Member {
            car,
            begun: vehicle.clone(),
            body: CHASSIS_AT_ORIGIN,
            rays: 0..0,
            pedals: [0.0; 2],
            end: [Vec3::ZERO; 2],
            answer: Answer::Free { mass: 0.0, inertia: Mat3::ZERO },
            train: at,
            tied: false,
            by: None,
        };
        self.members.insert(at, member);
        self.number_members(at);
        // Reserved here, because a step must not allocate.
        self.ties.reserve(self.members.len() - self.ties.len());
        self.order.reserve(self.members.len() - self.order.len());
    }

    /// Removes vehicle `car`, if it is a member.
    pub fn remove(&mut self, car: usize) {
        self.members.retain(|member| member.car != car);
        // Ties and order hold indices of members, which change here.
        self.ties.clear();
        self.order.clear();
        self.slots.iter_mut().skip(car).for_each(|slot| *slot = None);
        self.number_members(self.members.partition_point(|member| member.car < car));
    }

    /// Updates the index of each member from `first` on in the table from cars to members.
    fn number_members(&mut self, first: usize) {
        let slots = self.members.last().map_or(0, |last| last.car + 1);
        self.slots.resize(slots.max(self.slots.len()), None);
        for (number, member) in self.members.iter().enumerate().skip(first) {
            self.slots[member.car] = Some(number);
        }
    }

    /// Returns the slots of all members, each with the slot of the vehicle that tows it in this step.
    pub fn towed(&self) -> impl Iterator<Item = (usize, Option<u32>)> {
        self.members.iter().map(|member| (member.car, member.by))
    }

    /// Stores the range `rays` of vehicle `car`. Returns true if the vehicle is in a train in this step.
    pub fn take(&mut self, car: usize, rays: &Range<usize>) -> bool {
        let Some(slot) = self.slots.get(car).copied().flatten() else { return false };
        let member = &mut self.members[slot];
        member.rays.clone_from(rays);
        member.tied
    }

    /// Returns true if any of `cars` is in a train in this step.
    pub fn have(&self, mut cars: Range<usize>) -> bool {
        cars.any(|car| self.slots.get(car).copied().flatten().is_some_and(|slot| self.members[slot].tied))
    }

    /// Finds the trains of a step of `dt` s with their brakes and towed masses, and takes snapshots of their vehicles. Adds the hitch
    /// impulses of the last step to the free motion of the bodies.
    pub fn begin(&mut self, cars: &mut dyn Solver, dt: f32) {
        self.dt = dt;
        self.ties.clear();
        self.order.clear();
        for (k, member) in self.members.iter_mut().enumerate() {
            (member.train, member.tied, member.by) = (k, false, None);
        }
        for trailer in 0..self.members.len() {
            let car = self.members[trailer].car;
            let Some(tow) = cars.vehicle(car).state().tow else { continue };
            let ahead = self.slots.get(tow.by as usize).copied().flatten();
            if let Some(ahead) = ahead.filter(|ahead| self.can_tie(cars, *ahead, trailer)) {
                self.tie([ahead, trailer], tow, cars);
            } else if cars.is_stepped(car) {
                // A hitch that cannot be coupled carries no force.
                cars.vehicle(car).state.tow = Some(Tow { force: Vec3::ZERO, ..tow });
            }
        }
        self.hand_on_pedals(cars);
        self.count_towed_mass(cars);
        let members = &self.members;
        self.order.extend((0..members.len()).filter(|k| members[*k].tied));
        self.order.sort_unstable_by_key(|k| (members[*k].train, *k));
        self.ties.sort_unstable_by_key(|tie| (members[tie.between[0]].train, tie.between[1]));
        let mut train = Train::default();
        while self.find_next(&mut train) {
            for n in train.members.clone() {
                let member = &mut self.members[self.order[n]];
                member.body = *cars.body(member.car);
                member.begun.copy(cars.vehicle(member.car));
                self.add_impulses(&train, n, cars);
            }
        }
    }

    /// Updates the stored bodies of trains by the impulses that were applied to the bodies since [`Trains::begin`].
    pub fn feel_pushes(&mut self, cars: &mut dyn Solver) {
        let mut train = Train::default();
        while self.find_next(&mut train) {
            for n in train.members.clone() {
                let impulse = self.impulse(&train, n);
                let member = &mut self.members[self.order[n]];
                let hitches = free_answer(cars.vehicle(member.car), &member.body).to(impulse);
                let body = cars.body(member.car);
                member.body.free_velocity = body.free_velocity - hitches[0];
                member.body.free_angular = body.free_angular - hitches[1];
            }
        }
    }

    /// Returns true if member `trailer` can be coupled to member `ahead`: both are stepped, `ahead` has a hitch, `trailer` has a coupler,
    /// and they are not in one train yet. In a circle of vehicles that tow each other one hitch therefore stays open.
    fn can_tie(&self, cars: &mut dyn Solver, ahead: usize, trailer: usize) -> bool {
        let [first, second] = [ahead, trailer].map(|k| self.members[k].car);
        let hitch = cars.vehicle(first).model().parts().hitch.is_some();
        let coupler = cars.vehicle(second).model().parts().coupler.is_some();
        let awake = cars.is_stepped(first) && cars.is_stepped(second);
        awake && hitch && coupler && self.members[ahead].train != self.members[trailer].train
    }

    fn tie(&mut self, between: [usize; 2], tow: Tow, cars: &mut dyn Solver) {
        let [ahead, trailer] = between.map(|k| self.members[k].car);
        let hitch = cars.vehicle(ahead).model().parts().hitch.unwrap_or_default();
        let coupler = cars.vehicle(trailer).model().parts().coupler.unwrap_or_default();
        let bodies = [ahead, trailer].map(|car| *cars.body(car));
        let joint = Joint::new(&hitch, &coupler, [&bodies[0], &bodies[1]], tow.force, self.dt);
        // Force with which the vehicle ahead holds back the trailer, N.
        let Body { rotation, velocity, free_velocity, .. } = bodies[1];
        let forward = rotation * Vec3::X;
        let push = -tow.force.dot(forward);
        let towed = cars.vehicle(trailer);
        let driven = towed.model().mass() * forward.dot(free_velocity - velocity) / self.dt;
        let paces = towed.state().wheels[0].rolling_speed / towed.model().wheels()[0].walking()[1];
        let reversed = is_reversed(paces, push, driven);
        let (brakes, best) = (coupler.brakes, joint.impulses());
        let overrun = brakes.followed(tow.overrun, if reversed { 0.0 } else { push }, self.dt);
        self.ties.push(Tie { between, joint, best, brakes, overrun });
        self.members[between[1]].by = Some(ahead as u32);
        let [one, other] = between.map(|k| self.members[k].train);
        for (k, member) in self.members.iter_mut().enumerate() {
            member.tied |= between.contains(&k);
            if member.train == one.max(other) {
                member.train = one.min(other);
            }
        }
    }

    /// Computes the mass of all trailers behind each vehicle, with the effective mass of their rotating parts.
    fn count_towed_mass(&mut self, cars: &mut dyn Solver) {
        for member in &self.members {
            cars.vehicle(member.car).towed_mass = 0.0;
        }
        for first in &self.ties {
            // The loop runs from the trailer of this hitch to the front of the train, which has at most as many vehicles as there are
            // hitches.
            let mass = cars.vehicle(self.members[first.between[1]].car).model.rolling_mass();
            let mut trailer = first.between[1];
            while let Some(tie) = self.ties.iter().find(|tie| tie.between[1] == trailer) {
                trailer = tie.between[0];
                cars.vehicle(self.members[trailer].car).towed_mass += mass;
            }
        }
    }

    /// Applies the brakes of trailers by those of the vehicle ahead, from the front of each train. A trailer passes its applied brake on to
    /// the next one.
    fn hand_on_pedals(&mut self, cars: &mut dyn Solver) {
        for member in &mut self.members {
            member.pedals = [0.0; 2];
        }
        // Slots need not increase to the rear; each pass reaches at least one more trailer of every train.
        for _ in 0..self.ties.len() {
            let mut changed = false;
            for tie in &self.ties {
                let [ahead, trailer] = tie.between;
                let own = cars.pedals(self.members[ahead].car);
                let [brake, handbrake] = [0, 1].map(|k| own[k].max(self.members[ahead].pedals[k]));
                let pedals = [tie.brakes.pressed(brake, tie.overrun), tie.brakes.pulled(handbrake)];
                changed |= pedals != self.members[trailer].pedals;
                self.members[trailer].pedals = pedals;
            }
            if !changed {
                return;
            }
        }
    }

    /// Sets `train` to the train after it in the order. Returns false if there is none.
    fn find_next(&self, train: &mut Train) -> bool {
        let (member, tie) = (train.members.end, train.ties.end);
        let Some(first) = self.order.get(member) else { return false };
        let number = self.members[*first].train;
        let members = self.order[member..].partition_point(|k| self.members[*k].train == number);
        let ties = self.ties[tie..].partition_point(|tie| self.members[tie.between[0]].train == number);
        *train = Train { members: member..member + members, ties: tie..tie + ties };
        true
    }

    /// Solves every train. Adds the hitch impulses to the pushes of the vehicles, and stores the hitch forces in the states of the
    /// trailers. A hitch that exceeds its breaking force is uncoupled.
    pub fn solve(&mut self, cars: &mut dyn Solver) -> StepReport {
        let (mut report, mut train) = (StepReport::default(), Train::default());
        while self.find_next(&mut train) {
            report = report.and(self.solve_train(&train, cars));
        }
        for tie in &self.ties {
            let [ahead, trailer] = tie.between.map(|k| self.members[k].car);
            let hitch = cars.vehicle(ahead).model().parts().hitch.unwrap_or_default();
            let force = tie.joint.force(self.dt);
            let holds = force.length() <= hitch.breaking_force;
            cars.vehicle(trailer).state.tow = holds.then_some(Tow { by: ahead as u32, force, overrun: tie.overrun });
        }
        report
    }

    fn solve_train(&mut self, train: &Train, cars: &mut dyn Solver) -> StepReport {
        let (mut least, mut looks) = (f32::INFINITY, 0);
        let report = loop {
            looks += 1;
            let report = self.look(train, cars);
            let missing = self.missing(train);
            let worse = missing > BETTER * least;
            let found = missing <= TOLERANCE || (worse && missing <= STALLED);
            if found || looks == LOOKS || report.not_finite {
                break StepReport { not_converged: report.not_converged | !found, ..report };
            }
            if worse {
                self.go_back(train);
            } else {
                least = missing;
                self.step_on(train, cars);
            }
            for n in train.members.clone() {
                self.add_impulses(train, n, cars);
                let member = &self.members[self.order[n]];
                cars.vehicle(member.car).copy(&member.begun);
            }
        };
        let report = StepReport { iterations: report.iterations.max(looks), ..report };
        self.close(train, cars, report);
        report
    }

    /// Returns the sum of the hitch impulses on member `n` of the order.
    fn impulse(&self, train: &Train, n: usize) -> Twist {
        let member = self.order[n];
        let of = self.ties[train.ties.clone()].iter().filter(|tie| tie.between.contains(&member));
        of.fold([Vec3::ZERO; 2], |sum, tie| add(sum, tie.joint.impulse(usize::from(tie.between[1] == member)), 1.0))
    }

    /// Sets the free motion of the body of member `n` of the order to that under the present hitch impulses.
    fn add_impulses(&mut self, train: &Train, n: usize, cars: &mut dyn Solver) {
        let impulse = self.impulse(train, n);
        let member = &self.members[self.order[n]];
        let free = free_answer(cars.vehicle(member.car), &member.body).to(impulse);
        let body = cars.body(member.car);
        body.free_velocity = member.body.free_velocity + free[0];
        body.free_angular = member.body.free_angular + free[1];
    }

    /// Solves every vehicle of a train separately, and stores the twists at the end of the step.
    fn look(&mut self, train: &Train, cars: &mut dyn Solver) -> StepReport {
        let mut report = StepReport::default();
        for k in &self.order[train.members.clone()] {
            let member = &mut self.members[*k];
            report = report.and(cars.solve(member.car, member.rays.clone(), member.pedals));
            let (push, body) = (*cars.push(member.car), *cars.body(member.car));
            member.answer = free_answer(cars.vehicle(member.car), &body);
            let pushed = [push.impulse + push.stop, push.angular_impulse + push.angular_stop];
            let free = [body.free_velocity, body.free_angular + body.drift];
            member.end = add(free, member.answer.to(pushed), 1.0);
        }
        report
    }

    /// Returns the largest residual of the hitch constraints of a train, m/s.
    fn missing(&mut self, train: &Train) -> f32 {
        self.learn(train);
        let of = self.ties[train.ties.clone()].iter();
        let residual = |tie: &Tie| tie.joint.residual(tie.between.map(|k| self.members[k].end));
        of.map(residual).fold(0.0, f32::max)
    }

    fn learn(&mut self, train: &Train) {
        for tie in &mut self.ties[train.ties.clone()] {
            let [ahead, trailer] = tie.between.map(|k| &self.members[k]);
            tie.joint.turn([&ahead.body, &trailer.body], [ahead.end[1], trailer.end[1]], self.dt);
            tie.joint.learn(tie.between.map(|k| &self.members[k].answer));
        }
    }

    /// Moves the impulses of all hitches half of the way back to the best ones.
    fn go_back(&mut self, train: &Train) {
        for tie in &mut self.ties[train.ties.clone()] {
            tie.joint.halve(&tie.best);
        }
    }

    /// Performs a Newton step from the present iterate of a train, and stores its impulses as the best ones.
    fn step_on(&mut self, train: &Train, cars: &mut dyn Solver) {
        for k in &self.order[train.members.clone()] {
            let member = &mut self.members[*k];
            let body = *cars.body(member.car);
            let vehicle = cars.vehicle(member.car);
            let system = vehicle.tangent(&body, member.end);
            member.answer = Answer::Rows { to_world: vehicle.to_world, system };
        }
        for tie in &mut self.ties[train.ties.clone()] {
            tie.best = tie.joint.impulses();
        }
        self.learn(train);
        self.relax(train);
    }

    /// Iterates over the hitches of a train until the velocities converge.
    fn relax(&mut self, train: &Train) {
        for _ in 0..PASSES {
            let mut changed: f32 = 0.0;
            for tie in &mut self.ties[train.ties.clone()] {
                let Ok(members) = self.members.get_disjoint_mut(tie.between) else { continue };
                changed = changed.max(tie.joint.relax(members.map(|member| &mut member.end)));
            }
            if changed <= SETTLED_SPEED {
                return;
            }
        }
    }

    /// Removes the remaining residual of the hitches with the masses of the vehicles alone, adds the hitch impulses to the pushes, and
    /// accepts the solutions.
    fn close(&mut self, train: &Train, cars: &mut dyn Solver, report: StepReport) {
        self.relax(train);
        for n in train.members.clone() {
            let [impulse, moment] = self.impulse(train, n);
            let member = &self.members[self.order[n]];
            *cars.body(member.car) = member.body;
            let push = cars.push(member.car);
            push.impulse += impulse;
            push.angular_impulse += moment;
            cars.end(member.car, member.rays.clone(), report);
        }
    }
}

/// Returns the response of `body` of `vehicle` to impulses without its wheels.
pub(super) fn free_answer(vehicle: &Vehicle, body: &Body) -> Answer {
    let to_world = Mat3::from_quat(body.rotation);
    let inertia = to_world * *vehicle.model().inverse_inertia() * to_world.transpose();
    Answer::Free { mass: vehicle.model().inverse_mass(), inertia }
}
