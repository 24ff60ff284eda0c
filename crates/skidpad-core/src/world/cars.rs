//! All cars of one world, stepped together: one batched probe and one batched push per step.

mod entering;

use core::ops::Range;

use crate::chassis::hull::HullRows;
use crate::controls::{Controls, bounded};
use crate::instruction_set::widest;
use crate::state::State;
use crate::step::abreast::{ABREAST, CarsAbreast};
use crate::step::coupling::{Coupling, StepReport};
use crate::step::stages::{InputsAbreast, StepInputs};
use crate::step::vehicle::Vehicle;
use crate::wheel::along_way::Places;
use crate::world::car_view::{CarView, Moved};
use crate::world::riders::{Riders, Stack};
use crate::world::seam::{Body, Contact, Foreseen, HULL_POINTS, HullPoint, Probe, Push, Pushable, Reaction, WorldPort};
use crate::world::slots::{Occupancy, Slots};
use crate::world::trains::{Solver, Trains};
use bevy_math::{DVec3, Vec3};

/// The vehicles of a world, with the buffers for their step. A step does not allocate, except the first fast step on uneven ground and the
/// first step of a single vehicle on a free body.
#[derive(Clone, Debug)]
pub struct Cars {
    coupling: Coupling,
    /// Vehicles by slot. An empty slot keeps the vehicle that was removed from it last.
    vehicles: Vec<Vehicle>,
    slots: Slots,
    /// Number of wheels of all vehicles.
    wheels: usize,
    bodies: Vec<Body>,
    probes: Vec<Probe>,
    contacts: Vec<Option<Contact>>,
    /// Probes along the paths of the wheels of one vehicle in a step. The first fast step on uneven ground allocates.
    along: Vec<Probe>,
    /// Contacts of these probes.
    met_along: Vec<Option<Contact>>,
    hull: Vec<HullPoint>,
    /// Workspace for hull contacts, shared by all cars.
    hull_rows: HullRows,
    pushes: Vec<Push>,
    /// Velocity of each body at the end of the last step without the impulse in `pushes`, m/s.
    free: Vec<Vec3>,
    /// Whether the state of each vehicle was set since the last step.
    put: Vec<bool>,
    /// Wheel impulses on ground that moves or can be pushed; empty if there is none.
    reactions: Vec<Reaction>,
    /// Whether each hull may touch an obstacle in this step; all false if the coupling does not solve hull contacts.
    near: Vec<bool>,
    /// Whether the last push stepped each vehicle.
    stepped: Vec<bool>,
    /// Whether the last step was in a batch, at the first slot of each batch.
    were_abreast: Vec<bool>,
    /// Report of the last step of each vehicle.
    reports: Vec<StepReport>,
    /// True between [`Cars::push`] and [`Cars::write_back`].
    is_in_step: bool,
    coasting: Controls,
    /// Workspaces of batches, one per [`ABREAST`] slots, `None` for slots that cannot be batched. Empty if the coupling iterates.
    abreast: Vec<Option<CarsAbreast>>,
    /// Vehicles that can tow or be towed; `None` if there is no such vehicle.
    trains: Option<Box<Trains>>,
    /// Workspace for vehicles on bodies that they push.
    riders: Riders,
    /// Buffer for the controls of a trailer, with the pedals of the vehicles ahead.
    towed: Controls,
}

/// Placeholder probe that belongs to no car.
const NOWHERE: Probe =
    Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, reach: 0.0, rim: None };

impl Cars {
    /// Creates the vehicles of a world, in the order of the world's bodies, to be stepped with `coupling`.
    ///
    /// With [`Coupling::OneSweep`] and the feature `abreast`, simple cars of one model ([`Arc::ptr_eq`](std::sync::Arc::ptr_eq)) are
    /// stepped in batches of eight: slots 0 to 7, 8 to 15 and so on, if all eight are alike. Results are bit-identical to those of single
    /// steps.
    pub fn new(vehicles: Vec<Vehicle>, coupling: Coupling) -> Self {
        let mut cars = Self {
            coupling,
            vehicles: Vec::new(),
            slots: Slots::default(),
            wheels: 0,
            bodies: Vec::new(),
            probes: Vec::new(),
            contacts: Vec::new(),
            along: Vec::new(),
            met_along: Vec::new(),
            hull: Vec::with_capacity(HULL_POINTS),
            hull_rows: HullRows::with_room(),
            pushes: Vec::new(),
            free: Vec::new(),
            put: Vec::new(),
            reactions: Vec::new(),
            near: Vec::new(),
            stepped: Vec::new(),
            were_abreast: Vec::new(),
            reports: Vec::new(),
            is_in_step: false,
            coasting: Controls::coasting(),
            abreast: Vec::new(),
            trains: None,
            riders: Riders::default(),
            towed: Controls::coasting(),
        };
        for vehicle in vehicles {
            cars.insert(vehicle);
        }
        cars
    }

    /// Returns the view of vehicle `car` after its last step.
    pub fn car(&self, car: usize) -> CarView<'_> {
        let vehicle = &self.vehicles[car];
        let (away, report) = (!self.slots.is_active(car), self.reports[car]);
        let (state, ahead) = (vehicle.state(), self.ahead(vehicle.state()));
        let abreast = self.room_of(car).map(|room| (room, car % ABREAST));
        let moved =
            (self.stepped[car] && !self.put[car]).then(|| Moved { free: self.free[car], push: &self.pushes[car] });
        CarView { model: vehicle.model(), state, away, report, vehicle: Some(vehicle), ahead, abreast, moved }
    }

    /// Returns the batch in which vehicle `car` was stepped; `None` if the last step was not in a batch.
    fn room_of(&self, car: usize) -> Option<&CarsAbreast> {
        let first = car - car % ABREAST;
        self.abreast.get(first / ABREAST)?.as_ref().filter(|_| self.were_abreast[first])
    }

    /// Returns the state of the active vehicle that tows a vehicle in `state`; `None` if there is none, or if it has no hitch.
    fn ahead(&self, state: &State) -> Option<&State> {
        let by = state.tow?.by as usize;
        let ahead = self.vehicles.get(by).filter(|_| self.slots.is_active(by))?;
        ahead.model().parts().hitch.map(|_| ahead.state())
    }

    /// Returns the vehicles by slot. An empty slot has the vehicle that was removed from it last.
    pub fn vehicles(&self) -> &[Vehicle] {
        &self.vehicles
    }

    /// Returns the slots of the vehicles that can tow or be towed, each with the slot of the towing vehicle. This is `None` if the vehicle
    /// was not towed in the last step, or if its hitch has broken.
    pub fn towed(&self) -> impl Iterator<Item = (usize, Option<u32>)> {
        let towed = self.trains.iter().flat_map(|trains| trains.towed());
        towed.map(|(car, by)| (car, by.filter(|_| self.vehicles[car].state().tow.is_some())))
    }

    /// Applies the breaking force of the hitch to an `impulse` (N s) that the world transmitted to the vehicle `trailer` in a step of `dt`
    /// s, in addition to the force of the hitch in that step. Uncouples the trailer if the sum exceeds the breaking force.
    pub fn jolt(&mut self, trailer: usize, impulse: Vec3, dt: f32) {
        let state = &self.vehicles[trailer].state;
        let Some(tow) = state.tow else { return };
        let ahead = self.vehicles.get(tow.by as usize).and_then(|ahead| ahead.model().parts().hitch);
        let breaks = ahead.is_some_and(|hitch| (tow.force + impulse / dt).length() > hitch.breaking_force);
        if breaks {
            self.vehicles[trailer].state.tow = None;
        }
    }

    /// Performs the first half of a step: reads the bodies, probes the ground, solves the rows and applies the impulses to `world`, which
    /// then advances by `dt` s (> 0). Cars without controls coast. Suspended, removed and sleeping vehicles are not stepped. Returns the
    /// worst report of all vehicles. If `dt` is zero or invalid ([`StepReport::of_no_step`]), no vehicle is stepped and `world` is not
    /// called.
    pub fn push(&mut self, world: &mut dyn WorldPort, controls: &[Controls], dt: f32) -> StepReport {
        if let Some(nothing) = StepReport::of_no_step(dt) {
            return nothing;
        }
        self.is_in_step = true;
        let coupling = self.coupling;
        world.bodies(dt, &mut self.bodies);
        let mut trains = self.trains.take();
        if let Some(trains) = &mut trains {
            self.find_stepped();
            trains.begin(&mut Alone { cars: self, world, controls, coupling, dt }, dt);
        }
        let probes = widest(
            #[inline(always)]
            || self.ask(dt),
        );
        world.probe(&self.probes[..probes], &mut self.contacts[..probes]);
        if !world.is_even() {
            self.probe_along_ways(world, dt);
        }
        if coupling == Coupling::OneSweep {
            self.near.fill(false);
        } else {
            world.near_hulls(dt, &mut self.near);
        }
        self.reactions.clear();
        let mut report = if world.bears_wheels() {
            self.solve_riders_first(world, controls, coupling, trains.as_deref_mut(), dt)
        } else {
            self.riders.clear();
            self.solve_in_order(world, controls, coupling, trains.as_deref_mut(), dt)
        };
        if let Some(trains) = &mut trains {
            if self.riders.any() {
                trains.feel_pushes(&mut Alone { cars: self, world, controls, coupling, dt });
            }
            report = report.and(trains.solve(&mut Alone { cars: self, world, controls, coupling, dt }));
        }
        self.trains = trains;
        world.push(dt, &self.pushes);
        if !self.reactions.is_empty() {
            world.react(dt, &self.reactions);
        }
        report
    }

    /// Marks the vehicles that this step computes: active ones whose bodies are awake.
    #[inline(always)]
    fn find_stepped(&mut self) {
        let cars = self.slots.occupancies().iter().zip(&self.bodies);
        for (stepped, (occupancy, body)) in self.stepped.iter_mut().zip(cars) {
            *stepped = (*occupancy == Occupancy::Active) & !body.asleep;
        }
    }

    /// Writes the probes of all stepped vehicles, and returns their number.
    #[inline(always)]
    fn ask(&mut self, dt: f32) -> usize {
        self.find_stepped();
        let (mut first, mut i) = (0, 0);
        while i < self.vehicles.len() {
            if self.are_abreast(i) {
                first = self.ask_abreast(i, first, dt);
                i += ABREAST;
                continue;
            }
            if self.stepped[i] {
                let (vehicle, body) = (&self.vehicles[i], &self.bodies[i]);
                let last = first + vehicle.model().wheels().len();
                vehicle.probes(i, body, dt, &mut self.probes[first..last]);
                vehicle.reach_with_tyres(self.coupling, &mut self.probes[first..last]);
                first = last;
            }
            i += 1;
        }
        first
    }

    /// Probes along the paths of the wheels of fast vehicles, and replaces their contacts in the middle of the step by the mean.
    #[inline(never)]
    fn probe_along_ways(&mut self, world: &mut dyn WorldPort, dt: f32) {
        let mut first = 0;
        for (i, vehicle) in self.vehicles.iter().enumerate().filter(|(i, _)| self.stepped[*i]) {
            let (body, last) = (&self.bodies[i], first + vehicle.model().wheels().len());
            if let Some(places) = Places::of(vehicle, body, dt) {
                let (probes, met) = (&self.probes[first..last], &mut self.contacts[first..last]);
                places.ask(body, probes, &mut self.along);
                self.met_along.clear();
                self.met_along.resize(self.along.len(), None);
                if world.probe_again(&self.along, &mut self.met_along) {
                    places.settle(vehicle, body, probes, &self.met_along, met);
                }
            }
            first = last;
        }
    }

    /// Writes the probes of the batch that starts at slot `from`, beginning with probe `first`. Returns the index of the next probe.
    fn ask_abreast(&mut self, from: usize, first: usize, dt: f32) -> usize {
        let Some(Some(room)) = self.abreast.get_mut(from / ABREAST) else { return first };
        let (cars, last) = (from..from + ABREAST, first + room.rays());
        room.ask(from, &self.bodies[cars], dt, &mut self.probes[first..last]);
        last
    }

    /// Solves all vehicles except those of trains, if no wheel is on a body that can be pushed.
    #[inline(always)]
    fn solve_in_order(
        &mut self,
        world: &mut dyn WorldPort,
        controls: &[Controls],
        coupling: Coupling,
        mut trains: Option<&mut Trains>,
        dt: f32,
    ) -> StepReport {
        let (mut first, mut report, mut i) = (0, StepReport::default(), 0);
        while i < self.vehicles.len() {
            self.were_abreast[i] =
                self.are_abreast(i) && trains.as_ref().is_none_or(|trains| !trains.have(i..i + ABREAST));
            if self.were_abreast[i] {
                let rays = self.abreast[i / ABREAST].as_ref().map_or(0, CarsAbreast::rays);
                report = report.and(self.solve_abreast(i, first..first + rays, controls, dt));
                (first, i) = (first + rays, i + ABREAST);
                continue;
            }
            let last = first + if self.stepped[i] { self.vehicles[i].model().wheels().len() } else { 0 };
            if i.is_multiple_of(ABREAST)
                && let Some(Some(room)) = self.abreast.get_mut(i / ABREAST)
            {
                room.went_apart();
            }
            if !trains.as_mut().is_some_and(|trains| trains.take(i, &(first..last))) {
                report = report.and(self.solve_one(i, first..last, world, controls.get(i), coupling, dt));
                self.push_ground(i, first..last, dt);
            }
            (first, i) = (last, i + 1);
        }
        report
    }

    /// Solves all vehicles except those of trains, if a wheel is on a body that can be pushed.
    #[cold]
    #[inline(never)]
    fn solve_riders_first(
        &mut self,
        world: &mut dyn WorldPort,
        controls: &[Controls],
        coupling: Coupling,
        trains: Option<&mut Trains>,
        dt: f32,
    ) -> StepReport {
        self.were_abreast.fill(false);
        let mut riders = core::mem::take(&mut self.riders);
        let report = riders.solve(&mut Alone { cars: self, world, controls, coupling, dt }, trains, dt);
        self.riders = riders;
        report
    }

    /// Solves vehicle `i`, whose rays are `rays`. Inlined: with two callers a call would cost 40 instructions per vehicle in a world
    /// without trains.
    #[inline(always)]
    fn solve_one(
        &mut self,
        i: usize,
        rays: Range<usize>,
        world: &mut dyn WorldPort,
        asked: Option<&Controls>,
        coupling: Coupling,
        dt: f32,
    ) -> StepReport {
        let (push, report) = (&mut self.pushes[i], &mut self.reports[i]);
        if !self.stepped[i] {
            (*push, *report) = Default::default();
            return StepReport::default();
        }
        let asked = asked.unwrap_or(&self.coasting);
        self.hull.clear();
        if self.near[i] {
            world.hull_points(i, dt, &mut self.hull);
        }
        let (vehicle, met) = (&mut self.vehicles[i], &self.contacts[rays.clone()]);
        let touches = !self.hull.is_empty();
        if touches {
            core::mem::swap(&mut vehicle.hull, &mut self.hull_rows);
        }
        let (body, hull) = (&self.bodies[i], &self.hull[..]);
        let done = vehicle.solve_into(push, &StepInputs { body, contacts: met, hull, controls: asked, coupling, dt });
        if touches {
            core::mem::swap(&mut vehicle.hull, &mut self.hull_rows);
        }
        *report = done;
        done
    }

    /// Stores the wheel impulses of vehicle `i`, whose rays are `rays`, on ground that moves or can be pushed.
    #[inline(always)]
    fn push_ground(&mut self, i: usize, rays: Range<usize>, dt: f32) {
        let vehicle = &self.vehicles[i];
        if self.stepped[i] && vehicle.is_on_moving_ground() {
            let met = self.probes[rays.clone()].iter().zip(&self.contacts[rays]);
            vehicle.react(met, &mut self.reactions, dt);
        }
    }

    /// Returns true if the vehicles from slot `first` on are stepped in a batch.
    fn are_abreast(&self, first: usize) -> bool {
        first.is_multiple_of(ABREAST)
            && matches!(self.abreast.get(first / ABREAST), Some(Some(room)) if !room.go_apart())
            && self.stepped[first..first + ABREAST].iter().all(|stepped| *stepped)
    }

    /// Solves the batch that starts at slot `first`, whose rays are `rays`.
    fn solve_abreast(&mut self, first: usize, rays: Range<usize>, controls: &[Controls], dt: f32) -> StepReport {
        let Some(Some(room)) = self.abreast.get_mut(first / ABREAST) else { return StepReport::default() };
        let controls: [_; ABREAST] = core::array::from_fn(|k| controls.get(first + k).unwrap_or(&self.coasting));
        let cars = first..first + ABREAST;
        let (vehicles, bodies) = (&mut self.vehicles[cars.clone()], &self.bodies[cars.clone()]);
        let inputs = InputsAbreast { bodies, contacts: &self.contacts[rays.clone()], controls: &controls, dt };
        let report = room.solve(vehicles, &inputs, &mut self.pushes[cars.clone()], &mut self.reports[cars]);
        if !room.has_parted() {
            return report;
        }
        let wheels = rays.len() / ABREAST;
        for (k, vehicle) in vehicles.iter().enumerate().filter(|(_, vehicle)| vehicle.is_on_moving_ground()) {
            let own = rays.start + k * wheels..rays.start + (k + 1) * wheels;
            let met = self.probes[own.clone()].iter().zip(&self.contacts[own]);
            vehicle.react(met, &mut self.reactions, dt);
        }
        report
    }

    /// Performs the second half of a step, after the world has advanced: writes the resulting motion into the states. A vehicle that was
    /// woken in between has no rows of this step and only follows its body. Returns the worst report of the vehicles whose motion is not
    /// finite. If `dt` is zero or invalid ([`StepReport::of_no_step`]), nothing changes.
    pub fn write_back(&mut self, world: &dyn WorldPort, dt: f32) -> StepReport {
        if let Some(nothing) = StepReport::of_no_step(dt) {
            return nothing;
        }
        self.is_in_step = false;
        // Copied here, because worlds may overwrite all fields of the bodies in `moved`.
        for ((free, put), body) in self.free.iter_mut().zip(&mut self.put).zip(&self.bodies) {
            (*free, *put) = (body.free_velocity, false);
        }
        world.moved(dt, &mut self.bodies);
        if !self.reactions.is_empty() {
            self.follow_ground(world);
        }
        widest(
            #[inline(always)]
            || self.finish_all(dt),
        )
    }

    #[inline(always)]
    fn finish_all(&mut self, dt: f32) -> StepReport {
        let (mut report, mut i) = (StepReport::default(), 0);
        while i < self.vehicles.len() {
            let last = if self.were_abreast[i] { i + ABREAST } else { i + 1 };
            let done = self.finish(i..last, dt);
            if done.not_finite {
                report = report.and(done);
            }
            i = last;
        }
        report
    }

    /// Writes the resulting motion into the states of `cars`: a single vehicle or a batch.
    #[inline(always)]
    fn finish(&mut self, cars: Range<usize>, dt: f32) -> StepReport {
        let first = cars.start;
        if self.were_abreast[first]
            && let Some(Some(room)) = self.abreast.get(first / ABREAST)
        {
            let mut report = StepReport::default();
            room.finish(&mut self.vehicles[cars.clone()], &self.bodies[cars], dt, |k, done| {
                self.reports[first + k] = self.reports[first + k].and(done);
                report = report.and(done);
            });
            return report;
        }
        let (vehicle, body) = (&mut self.vehicles[first], &self.bodies[first]);
        let done = if self.stepped[first] {
            vehicle.finish_step(body, dt)
        } else if self.slots.is_active(first) && !body.asleep {
            vehicle.follow(body)
        } else {
            return StepReport::default();
        };
        if done.not_finite {
            self.reports[first] = self.reports[first].and(done);
        }
        done
    }

    fn follow_ground(&mut self, world: &dyn WorldPort) {
        let mut first = 0;
        for (i, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(i, _)| self.stepped[*i]) {
            let last = first + vehicle.model().wheels().len();
            if vehicle.is_on_moving_ground() {
                let (asked, answered) = (&mut self.probes[first..last], &mut self.contacts[first..last]);
                // The velocities of contacts count from the moved centre of mass, with the arms of the middle of the step. Otherwise car and
                // turntable would turn differently.
                asked.iter_mut().for_each(|probe| probe.position = self.bodies[i].position);
                world.follow_ground(asked, answered);
                vehicle.follow_ground(answered);
            }
            first = last;
        }
    }
}

/// Solver of single vehicles of a world, for trains and for vehicles on bodies that they push.
struct Alone<'a> {
    cars: &'a mut Cars,
    world: &'a mut dyn WorldPort,
    controls: &'a [Controls],
    coupling: Coupling,
    dt: f32,
}

impl Solver for Alone<'_> {
    fn vehicle(&mut self, car: usize) -> &mut Vehicle {
        &mut self.cars.vehicles[car]
    }

    fn body(&mut self, car: usize) -> &mut Body {
        &mut self.cars.bodies[car]
    }

    fn push(&mut self, car: usize) -> &mut Push {
        &mut self.cars.pushes[car]
    }

    fn is_stepped(&self, car: usize) -> bool {
        self.cars.stepped[car]
    }

    fn pedals(&self, car: usize) -> [f32; 2] {
        self.controls
            .get(car)
            .map_or([0.0; 2], |asked| [asked.brake, asked.handbrake].map(|pedal| bounded(pedal, 0.0, 1.0)))
    }

    fn solve(&mut self, car: usize, rays: Range<usize>, pedals: [f32; 2]) -> StepReport {
        if !self.cars.riders.any() {
            return self.solve_once(car, rays, pedals, 1.0);
        }
        let mut riders = core::mem::take(&mut self.cars.riders);
        let report = riders.settle(self, car, rays, pedals);
        self.cars.riders = riders;
        report
    }

    fn end(&mut self, car: usize, rays: Range<usize>, report: StepReport) {
        self.cars.reports[car] = report;
        self.cars.push_ground(car, rays, self.dt);
    }
}

impl Stack for Alone<'_> {
    fn count(&self) -> usize {
        self.cars.vehicles.len()
    }

    fn solve_once(&mut self, car: usize, rays: Range<usize>, [brake, handbrake]: [f32; 2], share: f32) -> StepReport {
        let mut asked = core::mem::take(&mut self.cars.towed);
        asked.copy(self.controls.get(car).unwrap_or(&self.cars.coasting));
        asked.brake = bounded(asked.brake, 0.0, 1.0).max(brake);
        asked.handbrake = bounded(asked.handbrake, 0.0, 1.0).max(handbrake);
        let report = self.cars.solve_one(car, rays, self.world, Some(&asked), self.coupling.above(share), self.dt);
        self.cars.towed = asked;
        report
    }

    fn met(&mut self, ray: usize) -> (&Probe, &mut Option<Contact>) {
        (&self.cars.probes[ray], &mut self.cars.contacts[ray])
    }

    fn under(&self, ray: usize) -> Option<usize> {
        self.world.vehicle_of(self.cars.contacts[ray]?.ground?.body)
    }

    fn pushable(&self, ray: usize) -> Option<Pushable> {
        let contact = self.cars.contacts[ray]?;
        self.world.pushable(contact.ground?.body, contact.normal, self.dt)
    }

    fn foresee(&mut self, body: u64, pushed: [Vec3; 2]) -> Option<Foreseen> {
        self.world.foresee(body, pushed, self.dt)
    }

    fn reactions(&self, car: usize, rays: Range<usize>, to: &mut Vec<Reaction>) {
        let met = self.cars.probes[rays.clone()].iter().zip(&self.cars.contacts[rays]);
        self.cars.vehicles[car].react(met, to, self.dt);
    }
}
