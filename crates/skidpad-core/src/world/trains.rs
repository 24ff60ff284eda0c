//! Vehicles that tow each other, solved together: each with its own rows, all of a train with those of its hitches.
//!
//! For given impulses of the hitches every vehicle is solved by itself, as if they were forces from outside. Newton's method finds the
//! impulses with which the hitches hold: the derivative is that of all rows of each vehicle, so a train takes two or three looks.

use core::ops::Range;

use crate::hitch::joint::{Answer, Impulses, Joint, Twist, add};
use crate::hitch::parameters::{TrailerBrakes, is_reversed};
use crate::state::Tow;
use crate::step::coupling::StepReport;
use crate::step::vehicle::{CHASSIS_AT_ORIGIN, Vehicle};
use crate::world::seam::{Body, Push};
use bevy_math::{Mat3, Vec3};

/// Most times the vehicles of a train are solved in one step.
const LOOKS: u16 = 12;

/// What hitches may lack of what they ask for, m/s.
const TOLERANCE: f32 = 5e-5;

/// And where another look leaves no less of it: impulses of tonnes of load have no more digits.
const STALLED: f32 = 1e-3;

/// Most passes over the hitches of a train, and the change of velocity that ends them, m/s.
const PASSES: usize = 200;
const SETTLED_SPEED: f32 = 1e-7;

/// Share of what was missing that a look may leave; of more, the next one goes half the way back.
const BETTER: f32 = 0.9;

/// A vehicle that can be in a train.
#[derive(Clone, Debug)]
struct Member {
    /// Its number in the world.
    car: usize,
    /// What it began the step with.
    begun: Vehicle,
    /// Its body without hitches.
    body: Body,
    /// Its rays among those of all cars.
    rays: Range<usize>,
    /// Foot brake and handbrake that the vehicle ahead asks of it.
    pedals: [f32; 2],
    /// Twist at the end of the step.
    end: Twist,
    answer: Answer,
    /// Which train it belongs to in this step, by one of its members; itself if it is alone.
    train: usize,
    /// Whether it is in one.
    tied: bool,
    /// Number in the world of the vehicle that tows it in this step.
    by: Option<u32>,
}

/// A hitch that holds in this step.
#[derive(Clone, Copy, Debug)]
struct Tie {
    /// Members: the vehicle ahead, and the trailer.
    between: [usize; 2],
    joint: Joint,
    best: Impulses,
    /// What presses the brakes of the trailer.
    brakes: TrailerBrakes,
    /// Share of them that its overrun device presses.
    overrun: f32,
}

/// What solves single vehicles.
pub(crate) trait Solver {
    /// Vehicle `car`.
    fn vehicle(&mut self, car: usize) -> &mut Vehicle;
    /// Its body at the start of the step.
    fn body(&mut self, car: usize) -> &mut Body;
    /// What its last solution does to its body.
    fn push(&mut self, car: usize) -> &mut Push;
    /// Whether it is stepped.
    fn is_stepped(&self, car: usize) -> bool;
    /// Foot brake and handbrake its driver asks for.
    fn pedals(&self, car: usize) -> [f32; 2];
    /// Solves it anew on its `rays`; `pedals` press its foot brake and pull its handbrake beside its own controls.
    fn solve(&mut self, car: usize, rays: Range<usize>, pedals: [f32; 2]) -> StepReport;
    /// Keeps its last solution; `report` is how the step of its train went.
    fn end(&mut self, car: usize, rays: Range<usize>, report: StepReport);
}

/// The vehicles of a world that can tow or be towed, and the workspace of their trains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trains {
    members: Vec<Member>,
    /// Number of each car of the world among them.
    slots: Vec<Option<usize>>,
    /// Train by train.
    ties: Vec<Tie>,
    /// Members in trains, train by train.
    order: Vec<usize>,
    /// Of the step, s.
    dt: f32,
}

/// One train, as ranges of [`Trains::order`] and of [`Trains::ties`].
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
        // No step is to ask for memory.
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

    /// Numbers of the vehicles it has taken, each with that of the one that tows it in this step.
    pub fn towed(&self) -> impl Iterator<Item = (usize, Option<u32>)> {
        self.members.iter().map(|member| (member.car, member.by))
    }

    /// Whether vehicle `car` is in a train in this step; then its rays are `rays`.
    pub fn take(&mut self, car: usize, rays: &Range<usize>) -> bool {
        let Some(slot) = self.slots.get(car).copied().flatten() else { return false };
        let member = &mut self.members[slot];
        member.rays.clone_from(rays);
        member.tied
    }

    /// Whether one of `cars` is in a train in this step.
    pub fn have(&self, mut cars: Range<usize>) -> bool {
        cars.any(|car| self.slots.get(car).copied().flatten().is_some_and(|slot| self.members[slot].tied))
    }

    /// Looks for who tows whom, and adds to the bodies what hitches did in the last step.
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
                // What it was hitched to has left.
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

    /// Keeps what the bodies in trains have been pushed by since [`Trains::begin`].
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

    /// Vehicles that tow each other in a circle tow nothing; nor does one that sleeps, is away, or has no hitch.
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
        // The vehicle ahead holds back what runs up on it.
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

    /// Sums the masses of the trailers behind each vehicle.
    fn count_towed_mass(&mut self, cars: &mut dyn Solver) {
        for member in &self.members {
            cars.vehicle(member.car).towed_mass = 0.0;
        }
        for first in &self.ties {
            // From the trailer of this hitch to the front of the train, which has at most as many vehicles as there are hitches.
            let mass = cars.vehicle(self.members[first.between[1]].car).model.rolling_mass();
            let mut trailer = first.between[1];
            while let Some(tie) = self.ties.iter().find(|tie| tie.between[1] == trailer) {
                trailer = tie.between[0];
                cars.vehicle(self.members[trailer].car).towed_mass += mass;
            }
        }
    }

    /// Presses the brakes of trailers by those of the vehicle ahead, from the front of each train: a trailer hands on what presses its own.
    fn hand_on_pedals(&mut self, cars: &mut dyn Solver) {
        for member in &mut self.members {
            member.pedals = [0.0; 2];
        }
        // Numbers of vehicles need not rise to the rear; each pass reaches at least one more trailer of every train.
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

    /// The train behind `train`, if there is one more.
    fn find_next(&self, train: &mut Train) -> bool {
        let (member, tie) = (train.members.end, train.ties.end);
        let Some(first) = self.order.get(member) else { return false };
        let number = self.members[*first].train;
        let members = self.order[member..].partition_point(|k| self.members[*k].train == number);
        let ties = self.ties[tie..].partition_point(|tie| self.members[tie.between[0]].train == number);
        *train = Train { members: member..member + members, ties: tie..tie + ties };
        true
    }

    /// Solves every train; what it does goes into the pushes, and what its hitches carried into the states.
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

    /// Sum of what hitches do to the member `n` of the order.
    fn impulse(&self, train: &Train, n: usize) -> Twist {
        let member = self.order[n];
        let of = self.ties[train.ties.clone()].iter().filter(|tie| tie.between.contains(&member));
        of.fold([Vec3::ZERO; 2], |sum, tie| add(sum, tie.joint.impulse(usize::from(tie.between[1] == member)), 1.0))
    }

    /// Lets the member `n` of the order feel the hitches as they are.
    fn add_impulses(&mut self, train: &Train, n: usize, cars: &mut dyn Solver) {
        let impulse = self.impulse(train, n);
        let member = &self.members[self.order[n]];
        let free = free_answer(cars.vehicle(member.car), &member.body).to(impulse);
        let body = cars.body(member.car);
        body.free_velocity = member.body.free_velocity + free[0];
        body.free_angular = member.body.free_angular + free[1];
    }

    /// Solves every vehicle of a train by itself.
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

    /// How far the hitches of a train are from what they ask for, m/s.
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

    /// Half the way back to the best impulses.
    fn go_back(&mut self, train: &Train) {
        for tie in &mut self.ties[train.ties.clone()] {
            tie.joint.halve(&tie.best);
        }
    }

    /// Newton's step from where a train is.
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

    /// Passes over the hitches of a train until nothing changes.
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

    /// Closes what is left between the points by the vehicles' masses alone, and adds what the hitches do to the pushes.
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

/// How `body` of `vehicle` answers without its wheels.
pub(super) fn free_answer(vehicle: &Vehicle, body: &Body) -> Answer {
    let to_world = Mat3::from_quat(body.rotation);
    let inertia = to_world * *vehicle.model().inverse_inertia() * to_world.transpose();
    Answer::Free { mass: vehicle.model().inverse_mass(), inertia }
}
