//! Vehicles whose wheels stand on other vehicles.
//!
//! How the lower one would move if the wheels on it pushed as in the last step is found first, and how it answers what they change.
//! With that the upper one is solved, then the lower one with what really pushes it: springs of both know each other in the same step.

use core::ops::Range;
use std::sync::Arc;

use crate::hitch::joint::{Answer, Twist, add};
use crate::step::coupling::StepReport;
use crate::step::vehicle::Vehicle;
use crate::wheel::ground::give;
use crate::world::seam::{Contact, Probe, Reaction};
use crate::world::trains::{Solver, Trains, free_answer};
use bevy_math::Mat3;

/// Most vehicles that are taken to stand on each other; of more, or of two that do mutually, some know only the last step's pushes.
const HIGHEST: usize = 16;

/// What finding out about vehicles that stand on each other needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Riders {
    /// All vehicles, in the order they are solved in.
    order: Vec<Rider>,
    /// One vehicle of each model, to go back to.
    begun: Vec<Vehicle>,
    /// Of one vehicle.
    reactions: Vec<Reaction>,
}

/// A vehicle in its turn.
#[derive(Clone, Debug)]
struct Rider {
    car: usize,
    rays: Range<usize>,
    /// Most vehicles under it that stand on each other.
    above: usize,
    /// Whether wheels of others stand on it.
    bears: bool,
    /// Whether it is solved with its train, after all others.
    tied: bool,
    /// Velocity and angular velocity its body would end the step with if no wheel of another one pushed it.
    free: Twist,
}

/// What solves single vehicles, and knows what their rays have met.
pub(crate) trait Stack: Solver {
    /// Number of vehicles.
    fn count(&self) -> usize;
    /// Ray number `ray` of all, and what it has met.
    fn met(&mut self, ray: usize) -> (&Probe, &mut Option<Contact>);
    /// The vehicle that it has met.
    fn under(&self, ray: usize) -> Option<usize>;
    /// Adds what `reactions` do to vehicles to their bodies.
    fn bear(&mut self, reactions: &[Reaction]);
    /// The same of what the last solution of `car`, whose rays are `rays`, does to others.
    fn bear_solved(&mut self, car: usize, rays: Range<usize>);
}

impl Riders {
    /// Makes room for the last of `vehicles`. One alone stands on none.
    pub fn enter(&mut self, vehicles: &[Vehicle]) {
        if vehicles.len() < 2 {
            return;
        }
        for vehicle in [&vehicles[0], &vehicles[vehicles.len() - 1]] {
            if !self.begun.iter().any(|one| Arc::ptr_eq(one.model(), vehicle.model())) {
                self.begun.push(vehicle.clone());
                self.reactions.reserve(vehicle.model().wheels().len());
            }
        }
        self.order.reserve(vehicles.len());
    }

    /// Solves all vehicles but those of trains, those that stand on others first.
    #[cold]
    #[inline(never)]
    pub fn solve(&mut self, cars: &mut dyn Stack, trains: Option<&mut Trains>, dt: f32) -> StepReport {
        self.put_in_order(cars, trains);
        for turn in 0..self.order.len() {
            self.bear_as_before(turn, cars, dt);
        }
        for turn in (0..self.order.len()).rev() {
            if self.order[turn].bears {
                self.foresee(turn, cars);
            }
        }
        for Rider { car, free, .. } in &self.order {
            let body = cars.body(*car);
            [body.free_velocity, body.free_angular] = *free;
        }
        for turn in 0..self.order.len() {
            if self.order[turn].tied {
                self.bear_as_before(turn, cars, dt);
            }
        }
        let mut report = StepReport::default();
        for Rider { car, rays, .. } in self.order.iter().filter(|rider| !rider.tied) {
            report = report.and(cars.solve(*car, rays.clone(), [0.0; 2]));
            cars.bear_solved(*car, rays.clone());
        }
        report
    }

    /// Finds who stands on whom.
    fn put_in_order(&mut self, cars: &mut dyn Stack, mut trains: Option<&mut Trains>) {
        self.order.clear();
        let mut first = 0;
        for car in 0..cars.count() {
            let last = first + if cars.is_stepped(car) { cars.vehicle(car).model().wheels().len() } else { 0 };
            let tied = trains.as_mut().is_some_and(|trains| trains.take(car, &(first..last)));
            let body = cars.body(car);
            let free = [body.free_velocity, body.free_angular];
            self.order.push(Rider { car, rays: first..last, above: 0, bears: false, tied, free });
            first = last;
        }
        for _ in 0..HIGHEST {
            let mut changed = false;
            for car in 0..self.order.len() {
                for ray in self.order[car].rays.clone() {
                    let Some(under) = cars.under(ray).filter(|under| cars.is_stepped(*under)) else { continue };
                    self.order[under].bears = true;
                    let above = 1 + self.order[under].above;
                    changed |= above > self.order[car].above;
                    self.order[car].above = above.max(self.order[car].above);
                }
            }
            if !changed {
                break;
            }
        }
        self.order.sort_unstable_by_key(|rider| (rider.tied, core::cmp::Reverse(rider.above), rider.car));
    }

    /// Adds what the vehicle in this `turn` does to others, if it pushes as in the last step, to their bodies.
    fn bear_as_before(&mut self, turn: usize, cars: &mut dyn Stack, dt: f32) {
        let Rider { car, ref rays, .. } = self.order[turn];
        let rotation = cars.body(car).rotation;
        self.reactions.clear();
        for (wheel, ray) in rays.clone().enumerate() {
            if cars.under(ray).is_none() {
                continue;
            }
            let (probe, Some(contact)) = cars.met(ray) else { continue };
            let (normal, point) = (contact.normal, probe.at(contact.distance));
            let Some(ground) = contact.ground else { continue };
            let impulse = cars.vehicle(car).last_force(wheel, rotation, normal) * -dt;
            self.reactions.push(Reaction { body: ground.body, point, impulse });
        }
        cars.bear(&self.reactions);
    }

    /// Solves the vehicle in this `turn` as if wheels on it pushed as in the last step, tells them what comes of it, and puts it back.
    fn foresee(&mut self, turn: usize, cars: &mut dyn Stack) {
        let Rider { car, ref rays, .. } = self.order[turn];
        let vehicle = cars.vehicle(car);
        let of_model = |one: &&mut Vehicle| Arc::ptr_eq(one.model(), vehicle.model());
        let Some(begun) = self.begun.iter_mut().find(of_model) else { return };
        begun.copy(vehicle);
        cars.solve(car, rays.clone(), [0.0; 2]);
        let (push, body) = (*cars.push(car), *cars.body(car));
        let pushed = [push.impulse + push.stop, push.angular_impulse + push.angular_stop];
        let free = [body.free_velocity, body.free_angular + body.drift];
        let vehicle = cars.vehicle(car);
        let end = add(free, free_answer(vehicle, &body).to(pushed), 1.0);
        let answer = Answer::Rows { to_world: Mat3::from_quat(body.rotation), system: vehicle.tangent(&body, end) };
        vehicle.copy(begun);
        for rider in &self.order {
            tell(rider, cars, car, end, &answer);
        }
    }
}

/// Tells the wheels of `rider` that stand on vehicle `under` with which twist that would end the step, and how it answers them.
fn tell(rider: &Rider, cars: &mut dyn Stack, under: usize, end: Twist, answer: &Answer) {
    let centre = cars.body(under).position;
    let wheels = rider.rays.clone().filter(|ray| cars.under(*ray) == Some(under)).count() as f32;
    for ray in rider.rays.clone() {
        if cars.under(ray) != Some(under) {
            continue;
        }
        let (probe, Some(contact)) = cars.met(ray) else { continue };
        let on_ray = probe.offset + probe.direction * contact.distance;
        let arm = (probe.position - centre).as_vec3() + contact.point.unwrap_or(on_ray);
        let normal = contact.normal;
        let Some(ground) = &mut contact.ground else { continue };
        ground.velocity = end[0] + end[1].cross(arm);
        let gives = give(normal, |impulse| {
            let [linear, angular] = answer.to([impulse, arm.cross(impulse)]);
            linear + angular.cross(arm)
        });
        // No wheel knows what the others do.
        ground.give = gives.map(|give| give * wheels);
    }
}
