//! Vehicles whose wheels are on bodies that they push: free bodies, or other vehicles.
//!
//! For an assumed motion of such a body the vehicle on it is solved separately; its wheel impulses then change the motion of the body.
//! Newton's method finds the motion at which both agree, so that a body far lighter than the vehicle neither shakes nor sways. A vehicle
//! below is re-solved in each iteration with the current wheel impulses and then restored. Its final solve follows when all vehicles above
//! have converged.

use core::ops::Range;
use std::sync::Arc;

use crate::hitch::joint::{Answer, Twist, add};
use crate::linear::Symmetric6;
use crate::model::Model;
use crate::step::coupling::StepReport;
use crate::step::vehicle::Vehicle;
use crate::world::line::Line;
use crate::world::seam::{Body, Contact, Foreseen, Ground, Probe, Pushable, Reaction};
use crate::world::trains::{Solver, Trains, free_answer};
use crate::world::under::{Car, Under, columns, solved};
use bevy_math::{Mat3, Vec3};

/// Maximum number of vehicles stacked on each other. In a higher stack, or if two vehicles are on each other, some use the wheel forces of
/// the last step only.
const HIGHEST: usize = 16;

/// Maximum number of Newton iterations of a vehicle in one step. When they are used up, the iterate with the smallest residual is restored.
const LOOKS: usize = 20;

/// Convergence tolerance for the velocity of a pushed body at its contact points, m/s. The error of the impulses is far smaller.
const TOLERANCE: f32 = 1e-4;

/// Residual accepted once the iteration stops improving, m/s. f32 cannot resolve less for a 1 kg body under several tonnes.
const STALLED: f32 = 1e-2;

/// Range of the relaxation factor of a Newton step. Tyres that start or stop sliding make the linearization inaccurate.
const RELAXATION: [f32; 2] = [0.3, 2.0];

/// Ratio to the smallest residual so far above which an iteration counts as no improvement.
const BETTER: f32 = 0.9;

/// Squared cosine of the angle between residual and step below which a line search ends, because the rest of the residual is not along the
/// step.
const SPENT: f32 = 0.1;

/// Share of the Newton step at or below which the step is not halved any further.
const SHORTEST: f32 = 0.3;

/// Workspace for vehicles on bodies that they push.
#[derive(Clone, Debug, Default)]
pub(crate) struct Riders {
    /// Length of the step, s.
    dt: f32,
    /// All vehicles, in the order in which they are solved.
    order: Vec<Rider>,
    /// Index in `order` of each vehicle.
    turns: Vec<usize>,
    /// Bodies under wheels in this step.
    under: Vec<Under>,
    /// Numbers of the bodies in `under`, ascending, each with the index of a ray that hits the body.
    numbers: Vec<(u64, usize)>,
    /// Index in `under` of the body that each ray hits, and the impulse of the wheel on it: that of the last solution, before it an
    /// estimate by the forces of the last step. `None` for other rays.
    pushes: Vec<Option<(usize, Reaction)>>,
    /// Indices in `under` of the bodies below the vehicle that is being solved.
    touched: Vec<usize>,
    /// Snapshots of vehicles, one per model, for the roles [`RIDER`] and [`UNDER`].
    begun: [Vec<Vehicle>; 2],
    /// Buffer for the wheel impulses of one vehicle.
    reactions: Vec<Reaction>,
    /// Line search of the vehicle that is being solved.
    line: Line,
}

/// Index in [`Riders::begun`] of the snapshots of vehicles that are being solved.
const RIDER: usize = 0;
/// Index in [`Riders::begun`] of the snapshots of vehicles under wheels.
const UNDER: usize = 1;

/// A vehicle in the order of solution.
#[derive(Clone, Debug)]
struct Rider {
    car: usize,
    rays: Range<usize>,
    /// Number of vehicles in the highest stack below this vehicle.
    above: usize,
    /// Index in [`Riders::under`] of its body, if wheels of other vehicles are on it.
    under: Option<usize>,
    /// Whether the vehicle is solved with its train, after all other vehicles.
    tied: bool,
    /// Free twist of its body without the wheel impulses of other vehicles on it.
    free: Twist,
}

/// Solver of single vehicles, with access to the contacts of their rays.
pub(crate) trait Stack: Solver {
    /// Returns the number of vehicles.
    fn count(&self) -> usize;
    /// Solves a vehicle with its present contacts, like [`Solver::solve`]. The mass of the lightest body under its wheels is `share` of
    /// that of the vehicle; it may exceed 1.
    fn solve_once(&mut self, car: usize, rays: Range<usize>, pedals: [f32; 2], share: f32) -> StepReport;
    /// Returns probe `ray` of all vehicles, and its contact.
    fn met(&mut self, ray: usize) -> (&Probe, &mut Option<Contact>);
    /// Returns the vehicle whose hull probe `ray` hits.
    fn under(&self, ray: usize) -> Option<usize>;
    /// Returns the body that probe `ray` hits, if wheels can push it and it is no vehicle.
    fn pushable(&self, ray: usize) -> Option<Pushable>;
    /// Returns the predicted motion of a body, see [`crate::WorldPort::foresee`].
    fn foresee(&mut self, body: u64, pushed: Twist) -> Option<Foreseen>;
    /// Adds the wheel impulses on bodies by the last solution of `car`, whose rays are `rays`, to `to`.
    fn reactions(&self, car: usize, rays: Range<usize>, to: &mut Vec<Reaction>);
}

/// Response of a body that no impulse moves in this step.
const FIXED: Answer = Answer::Bound { mass: Mat3::ZERO, inertia: Mat3::ZERO };

impl Riders {
    /// Reserves memory for vehicle `car` of `vehicles`, which have `wheels` wheels in total. Reserves none for a single vehicle, which is
    /// on no other one; if it drives onto a free body, the first such step allocates.
    pub fn insert(&mut self, vehicles: &[Vehicle], car: usize, wheels: usize) {
        if vehicles.len() < 2 {
            return;
        }
        for vehicle in [&vehicles[0], &vehicles[car]] {
            self.keep(RIDER, vehicle);
            self.keep(UNDER, vehicle);
            self.reactions.reserve(vehicle.model().wheels().len());
        }
        self.order.reserve(vehicles.len());
        self.turns.reserve(vehicles.len());
        self.under.reserve(vehicles.len());
        self.numbers.reserve(wheels);
        self.pushes.reserve(wheels);
        self.touched.reserve(wheels);
    }

    /// Frees the snapshots of `model`, which no vehicle uses.
    pub fn forget(&mut self, model: &Arc<Model>) {
        self.begun.iter_mut().for_each(|kept| kept.retain(|vehicle| !Arc::ptr_eq(vehicle.model(), model)));
    }

    /// Stores a snapshot of `vehicle` for `role`, in place of that of another vehicle of its model.
    fn keep(&mut self, role: usize, vehicle: &Vehicle) {
        match self.begun[role].iter_mut().find(|one| Arc::ptr_eq(one.model(), vehicle.model())) {
            Some(begun) => begun.copy(vehicle),
            None => self.begun[role].push(vehicle.with_room()),
        }
    }

    /// Restores `vehicle` from the snapshot of its model for `role`.
    fn put_back(&self, role: usize, vehicle: &mut Vehicle) {
        if let Some(begun) = self.begun[role].iter().find(|one| Arc::ptr_eq(one.model(), vehicle.model())) {
            vehicle.copy(begun);
        }
    }

    /// Removes all bodies under wheels, for a step in which no wheel is on a body that can be pushed.
    pub fn clear(&mut self) {
        self.under.clear();
    }

    /// Returns true if a wheel is on a body that can be pushed in this step.
    pub fn any(&self) -> bool {
        !self.under.is_empty()
    }

    /// Solves all vehicles except those of trains, in the order from the top of stacks to the ground. Returns the worst report.
    #[cold]
    #[inline(never)]
    pub fn solve(&mut self, cars: &mut dyn Stack, trains: Option<&mut Trains>, dt: f32) -> StepReport {
        self.dt = dt;
        self.find_vehicles(cars, trains);
        self.find_bodies(cars);
        self.find_last_pushes(cars);
        self.put_in_order();
        for under in 0..self.under.len() {
            if self.under[under].car.is_none() {
                self.foresee(under, cars);
                self.under[under].at = self.under[under].comes;
            }
        }
        for turn in (0..self.order.len()).rev() {
            if let Some(under) = self.order[turn].under {
                self.tell(self.order[turn].rays.clone(), cars);
                self.foresee(under, cars);
                self.under[under].at = self.under[under].comes;
            }
        }
        let mut report = StepReport::default();
        for turn in 0..self.order.len() {
            let Rider { car, ref rays, tied, .. } = self.order[turn];
            let rays = rays.clone();
            self.push_body(turn, cars);
            if !tied {
                let own = self.settle(cars, car, rays.clone(), [0.0; 2]);
                cars.end(car, rays, own);
                report = report.and(own);
            }
        }
        report
    }

    /// Collects all vehicles, by their slots, with the ranges of their rays.
    fn find_vehicles(&mut self, cars: &mut dyn Stack, mut trains: Option<&mut Trains>) {
        self.order.clear();
        let mut first = 0;
        for car in 0..cars.count() {
            let last = first + if cars.is_stepped(car) { cars.vehicle(car).model().wheels().len() } else { 0 };
            let tied = trains.as_mut().is_some_and(|trains| trains.take(car, &(first..last)));
            let body = cars.body(car);
            let free = [body.free_velocity, body.free_angular];
            self.order.push(Rider { car, rays: first..last, above: 0, under: None, tied, free });
            first = last;
        }
    }

    /// Finds the bodies under wheels.
    fn find_bodies(&mut self, cars: &mut dyn Stack) {
        self.under.clear();
        self.numbers.clear();
        for ray in 0..self.order.last().map_or(0, |rider| rider.rays.end) {
            let ground = cars.met(ray).1.and_then(|contact| contact.ground);
            if let Some(ground) = ground.filter(|ground| ground.body != Ground::STILL) {
                self.numbers.push((ground.body, ray));
            }
        }
        self.numbers.sort_unstable();
        self.numbers.dedup_by_key(|(body, _)| *body);
        let mut numbers = core::mem::take(&mut self.numbers);
        numbers.retain(|(number, ray)| self.find_body(*number, *ray, cars));
        self.numbers = numbers;
    }

    /// Adds the body with this `number`, which `ray` hits, to the bodies under wheels. Returns false if wheels cannot push it.
    fn find_body(&mut self, number: u64, ray: usize, cars: &mut dyn Stack) -> bool {
        let vehicle = cars.under(ray);
        let awake = vehicle.filter(|car| cars.is_stepped(*car));
        let (centre, free, answer) = if let Some(car) = vehicle {
            let body = *cars.body(car);
            match awake {
                Some(_) => {
                    let free = [body.free_velocity, body.free_angular];
                    (body.position, free, free_answer(cars.vehicle(car), &body))
                }
                // The push wakes the vehicle, which moves from the next step on.
                None => (body.position, [body.velocity, body.angular], FIXED),
            }
        } else if let Some(it) = cars.pushable(ray) {
            let answer = Answer::Bound { mass: it.inverse_mass, inertia: it.inverse_inertia };
            (it.centre, [it.velocity, it.angular], answer)
        } else {
            return false;
        };
        if let Some(car) = awake {
            self.order[car].under = Some(self.under.len());
        }
        self.under.push(Under::new(awake, number, centre, free, answer));
        true
    }

    /// Estimates the wheel impulses on bodies, and the motion of these bodies, by the wheel forces of the last step.
    fn find_last_pushes(&mut self, cars: &mut dyn Stack) {
        self.pushes.clear();
        self.pushes.resize(self.order.last().map_or(0, |rider| rider.rays.end), None);
        for Rider { car, rays, .. } in &self.order {
            let rotation = cars.body(*car).rotation;
            for (wheel, ray) in rays.clone().enumerate() {
                let (probe, Some(contact)) = cars.met(ray) else { continue };
                let Some(ground) = contact.ground else { continue };
                let (normal, body) = (contact.normal, ground.body);
                let point = ground.at_start(probe.at(contact.distance), self.dt);
                let Ok(under) = self.numbers.binary_search_by_key(&body, |(number, _)| *number) else { continue };
                let impulse = cars.vehicle(*car).last_force(wheel, rotation, normal) * -self.dt;
                let reaction = Reaction { body, point, impulse };
                self.pushes[ray] = Some((under, reaction));
                self.under[under].pushed = add(self.under[under].pushed, self.under[under].feels(&reaction), 1.0);
            }
        }
        for under in &mut self.under {
            under.at = under.moved();
        }
    }

    /// Sorts the vehicles so that each precedes those below it, and vehicles of trains come last.
    fn put_in_order(&mut self) {
        for _ in 0..HIGHEST {
            let mut changed = false;
            for car in 0..self.order.len() {
                let own = self.pushes[self.order[car].rays.clone()].iter().flatten();
                let above =
                    own.filter_map(|(under, _)| self.under[*under].car).map(|under| 1 + self.order[under].above);
                let above = above.max().unwrap_or(0);
                changed |= above > self.order[car].above;
                self.order[car].above = above.max(self.order[car].above);
            }
            if !changed {
                break;
            }
        }
        self.order.sort_unstable_by_key(|rider| (rider.tied, core::cmp::Reverse(rider.above), rider.car));
        self.turns.clear();
        self.turns.resize(self.order.len(), 0);
        self.order.iter().enumerate().for_each(|(turn, rider)| self.turns[rider.car] = turn);
    }

    /// Adds the wheel impulses of other vehicles to the free motion of the vehicle at index `turn` of the order.
    fn push_body(&self, turn: usize, cars: &mut dyn Stack) {
        let Rider { car, free, under: Some(under), .. } = self.order[turn] else { return };
        let body = *cars.body(car);
        let pushed = add(free, free_answer(cars.vehicle(car), &body).to(self.under[under].pushed), 1.0);
        let body = cars.body(car);
        [body.free_velocity, body.free_angular] = pushed;
    }

    /// Predicts the motion of body `under` at the end of the step, and its response, by the present wheel impulses. A vehicle is solved for
    /// this and restored.
    fn foresee(&mut self, under: usize, cars: &mut dyn Stack) {
        let Some(car) = self.under[under].car else {
            let of = &mut self.under[under];
            of.comes = of.moved();
            if let Some(Foreseen { ends, answer }) = cars.foresee(of.number, of.pushed) {
                (of.comes, of.answer) = (ends, Answer::Held(answer));
            }
            return;
        };
        let turn = self.turns[car];
        self.push_body(turn, cars);
        self.keep(UNDER, cars.vehicle(car));
        cars.solve_once(car, self.order[turn].rays.clone(), [0.0; 2], 1.0);
        let (body, end) = ended(cars, car);
        let vehicle = cars.vehicle(car);
        let answer = Answer::Rows { to_world: vehicle.to_world, system: vehicle.tangent(&body, end) };
        self.put_back(UNDER, vehicle);
        (self.under[under].comes, self.under[under].answer) = (end, answer);
    }

    /// Solves `car`, whose rays are `rays`, until its solution agrees with the motion of the bodies below it. `pedals` are those of
    /// [`Solver::solve`].
    pub fn settle(&mut self, cars: &mut dyn Stack, car: usize, rays: Range<usize>, pedals: [f32; 2]) -> StepReport {
        self.touch(rays.clone());
        if self.touched.is_empty() {
            return cars.solve_once(car, rays, pedals, 1.0);
        }
        self.keep(RIDER, cars.vehicle(car));
        let (mut least, mut look) = (f32::INFINITY, 0);
        loop {
            look += 1;
            self.tell(rays.clone(), cars);
            let share = self.lightest() / cars.vehicle(car).model().mass();
            let report = cars.solve_once(car, rays.clone(), pedals, share);
            let missing = self.missing(car, rays.clone(), cars);
            let worse = missing > BETTER * least;
            let found = missing <= TOLERANCE || (worse && missing <= STALLED);
            if found || look > LOOKS || report.not_finite {
                return StepReport { not_converged: report.not_converged | !found, ..report };
            }
            if missing < least {
                least = missing;
                self.touched.iter().for_each(|k| self.under[*k].nearest = self.under[*k].at);
            }
            self.look_on(car, rays.clone(), cars, look == 1, worse);
            for k in &self.touched {
                let under = &mut self.under[*k];
                under.at = if look == LOOKS { under.nearest } else { add(under.begun, under.step, self.line.gone) };
            }
            self.put_back(RIDER, cars.vehicle(car));
        }
    }

    /// Returns the effective mass of the lightest body under the vehicle being solved, by the present response of the bodies, kg.
    fn lightest(&self) -> f32 {
        let gives = |k: &usize| {
            let under = &self.under[*k];
            Vec3::AXES.map(|axis| under.answer.to([axis, Vec3::ZERO])[0].dot(axis)).into_iter().fold(0.0, f32::max)
        };
        1.0 / self.touched.iter().map(gives).fold(f32::MIN_POSITIVE, f32::max)
    }

    /// Selects the next iterate: a Newton step from the present one, or a share of the current step if that was too long.
    fn look_on(&mut self, car: usize, rays: Range<usize>, cars: &mut dyn Stack, is_first: bool, worse: bool) {
        let whole = self.along(rays.clone(), |under| under.step, |under| under.step);
        let mut spent = is_first;
        if !is_first {
            let left = self.along(rays.clone(), |under| under.step, Under::misses);
            self.line.look(left);
            spent = left * left < SPENT * whole * self.along(rays.clone(), Under::misses, Under::misses);
        }
        let is_open = !self.line.is_closed();
        if is_open && worse && self.line.gone > SHORTEST {
            self.line.gone *= 0.5;
            return;
        }
        self.find_step(car, rays.clone(), cars);
        let missing = self.along(rays.clone(), |under| under.newton, Under::misses);
        if is_open || spent {
            let share = if is_first { 1.0 } else { self.relaxation() };
            self.line = Line::new(share, missing);
        } else {
            let ahead = self.along(rays, |under| under.newton, |under| under.step) / whole;
            if !self.line.holds(ahead) {
                self.line.cut();
                return;
            }
            self.line = self.line.turned(ahead, missing);
        }
        for k in &self.touched {
            let under = &mut self.under[*k];
            (under.begun, under.step) = (under.at, under.newton);
        }
    }

    /// Returns the sum over the wheels with `rays` of the product of two velocities of the body at the contact, m²/s².
    fn along(&self, rays: Range<usize>, one: fn(&Under) -> Twist, other: fn(&Under) -> Twist) -> f32 {
        let product = |(k, push): &(usize, Reaction)| {
            let under = &self.under[*k];
            under.speed_at(push.point, one(under)).dot(under.speed_at(push.point, other(under)))
        };
        self.pushes[rays].iter().flatten().map(product).sum()
    }

    /// Finds the bodies under the wheels with `rays`, and the impulses of other wheels on them.
    fn touch(&mut self, rays: Range<usize>) {
        self.touched.clear();
        for (k, reaction) in self.pushes[rays].iter().flatten() {
            let under = &mut self.under[*k];
            if !self.touched.contains(k) {
                self.touched.push(*k);
                under.others = under.pushed;
            }
            under.others = add(under.others, under.feels(reaction), -1.0);
        }
    }

    /// Sets the ground velocity in the contacts of the wheels with `rays` to that of the assumed motion of the bodies.
    fn tell(&self, rays: Range<usize>, cars: &mut dyn Stack) {
        for ray in rays {
            let (Some((k, _)), (probe, Some(contact))) = (self.pushes[ray], cars.met(ray)) else { continue };
            let on_ray = probe.offset + probe.direction * contact.distance;
            let place = probe.position + contact.point.unwrap_or(on_ray).as_dvec3();
            let under = &self.under[k];
            if let Some(ground) = &mut contact.ground {
                let place = ground.at_start(place, self.dt);
                ground.velocity = under.at[0] + under.at[1].cross((place - under.centre).as_vec3());
            }
        }
    }

    /// Updates the wheel impulses of `car` by its last solution and predicts the motion of the bodies below it. Returns the largest
    /// difference to their assumed motion at its wheels, m/s.
    fn missing(&mut self, car: usize, rays: Range<usize>, cars: &mut dyn Stack) -> f32 {
        let mut reactions = core::mem::take(&mut self.reactions);
        reactions.clear();
        cars.reactions(car, rays.clone(), &mut reactions);
        for k in &self.touched {
            self.under[*k].pushed = self.under[*k].others;
        }
        let mut left = reactions.iter();
        for (k, push) in self.pushes[rays.clone()].iter_mut().flatten() {
            // Each wheel on moving ground has one reaction, in order. Reactions on ground that wheels cannot push are skipped.
            if let Some(reaction) = left.find(|reaction| reaction.body == push.body) {
                *push = *reaction;
            }
            self.under[*k].pushed = add(self.under[*k].pushed, self.under[*k].feels(push), 1.0);
        }
        self.reactions = reactions;
        for n in 0..self.touched.len() {
            self.foresee(self.touched[n], cars);
        }
        let missing = |(k, push): &(usize, Reaction)| {
            let under = &self.under[*k];
            under.speed_at(push.point, under.misses()).length()
        };
        self.pushes[rays].iter().flatten().map(missing).fold(0.0, f32::max)
    }

    /// Computes the Newton step of the bodies under `car` from its last solution. With the rows A of the wheels on each body, the response
    /// C of the body and the system S of the vehicle: `(1 + C A) ΔV = r + C A Δv` and `S Δv = Σ A ΔV`, both about the same point.
    fn find_step(&mut self, car: usize, rays: Range<usize>, cars: &mut dyn Stack) {
        let (body, end) = ended(cars, car);
        let rows = cars.vehicle(car).tangent_by_wheel(&body, end);
        let it = Car { centre: body.position, to_world: Mat3::from_quat(body.rotation) };
        let model = cars.vehicle(car).model().clone();
        let system = Symmetric6::new(model.mass(), model.inertia(), &rows);
        for k in &self.touched {
            let on_it = |wheel: usize| {
                self.pushes.get(rays.start + wheel).is_some_and(|push| push.is_some_and(|(of, _)| of == *k))
            };
            let share = model.share_of_lanes(on_it);
            let under = &mut self.under[*k];
            under.settle_under(&it, Symmetric6::new(0.0, &Mat3::ZERO, &rows.shared(share)));
        }
        let touched = || self.touched.iter().map(|k| &self.under[*k]);
        // Impulses on the vehicle by the Newton steps of the bodies without it, and the effect of their response on its system.
        let pulls = touched().fold([Vec3::ZERO; 2], |sum, under| {
            add(sum, it.given(&under.rows, under.about(it.centre, under.alone())), 1.0)
        });
        let matrix = columns(|unit| {
            touched().fold(it.given(&system, unit), |sum, under| {
                let follows = under.follows(&it, unit);
                add(sum, it.given(&under.rows, under.about(it.centre, follows)), -1.0)
            })
        });
        let change = solved(&matrix, pulls);
        for k in &self.touched {
            let under = &mut self.under[*k];
            under.newton = add(under.alone(), under.follows(&it, change), 1.0);
        }
    }

    /// Returns the relaxation factor of the next Newton step by Aitken's method: it extrapolates the change between the last two Newton
    /// steps.
    fn relaxation(&self) -> f32 {
        let mut sums = [0.0; 2];
        for Under { step, newton, .. } in self.touched.iter().map(|k| &self.under[*k]) {
            let turned = add(*newton, *step, -1.0);
            let dot = |a: &Twist, b: &Twist| a[0].dot(b[0]) + a[1].dot(b[1]);
            sums = [sums[0] + dot(step, &turned), sums[1] + dot(&turned, &turned)];
        }
        let better = -self.line.gone * sums[0] / sums[1];
        if better.is_finite() { better.clamp(RELAXATION[0], RELAXATION[1]) } else { 1.0 }
    }
}

/// Returns the body of `car`, and its twist at the end of the step by the last solution.
fn ended(cars: &mut dyn Stack, car: usize) -> (Body, Twist) {
    let (push, body) = (*cars.push(car), *cars.body(car));
    let pushed = [push.impulse + push.stop, push.angular_impulse + push.angular_stop];
    let free = [body.free_velocity, body.free_angular + body.drift];
    (body, add(free, free_answer(cars.vehicle(car), &body).to(pushed), 1.0))
}
