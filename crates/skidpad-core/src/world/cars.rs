//! All cars of one world, stepped together: one batched probe and one batched push per step.

use crate::controls::Controls;
use crate::state::State;
use crate::step::coupling::{Coupling, StepReport};
use crate::step::vehicle::{CHASSIS_AT_ORIGIN, Vehicle};
use crate::world::seam::{Body, Contact, HULL_POINTS, HullPoint, Probe, Push, Reaction, WorldPort};

/// The vehicles of a world, with the buffers their step needs. A step allocates nothing.
#[derive(Clone, Debug)]
pub struct Cars {
    vehicles: Vec<Vehicle>,
    /// Which vehicles have left.
    away: Vec<bool>,
    bodies: Vec<Body>,
    probes: Vec<Probe>,
    contacts: Vec<Option<Contact>>,
    hull: Vec<HullPoint>,
    pushes: Vec<Push>,
    /// On ground that moves; empty if none does.
    reactions: Vec<Reaction>,
    /// Which vehicles the last push stepped.
    stepped: Vec<bool>,
    coasting: Controls,
}

impl Cars {
    /// Takes the vehicles in the order of the world's bodies.
    pub fn new(vehicles: Vec<Vehicle>) -> Self {
        let wheels: usize = vehicles.iter().map(|v| v.model().wheels().len()).sum();
        let nowhere = Probe {
            car: 0,
            position: crate::DVec3::ZERO,
            offset: crate::Vec3::ZERO,
            direction: crate::Vec3::NEG_Z,
            reach: 0.0,
        };
        Self {
            away: vec![false; vehicles.len()],
            bodies: vec![CHASSIS_AT_ORIGIN; vehicles.len()],
            probes: vec![nowhere; wheels],
            contacts: vec![None; wheels],
            hull: Vec::with_capacity(HULL_POINTS),
            pushes: vec![Push::default(); vehicles.len()],
            reactions: Vec::with_capacity(wheels),
            stepped: vec![false; vehicles.len()],
            vehicles,
            coasting: Controls::coasting(),
        }
    }

    /// The vehicles, in order.
    pub fn vehicles(&self) -> &[Vehicle] {
        &self.vehicles
    }

    /// Puts vehicle `car` into `state`, from which the next step continues, whether it had left or not. One of another number of
    /// wheels is refused: then nothing changes, and the answer is `false`.
    pub fn set_state(&mut self, car: usize, state: &State) -> bool {
        let taken = self.vehicles[car].set_state(state);
        self.away[car] &= !taken;
        taken
    }

    /// Steps vehicle `car` no more, until [`Cars::set_state`]: it casts no ray and pushes nothing.
    pub fn leave(&mut self, car: usize) {
        self.away[car] = true;
    }

    /// Whether vehicle `car` has left.
    pub fn is_away(&self, car: usize) -> bool {
        self.away[car]
    }

    /// First half of a step: reads bodies, probes the ground, solves the rows and hands the pushes to `world`,
    /// which then advances by `dt` s (> 0). Missing controls coast. Vehicles that have left, or whose bodies are asleep, do
    /// nothing; nor does any in a step that is none ([`StepReport::of_no_step`]), which hands nothing to `world`.
    pub fn push(
        &mut self,
        world: &mut dyn WorldPort,
        controls: &[Controls],
        coupling: Coupling,
        dt: f32,
    ) -> StepReport {
        if let Some(nothing) = StepReport::of_no_step(dt) {
            return nothing;
        }
        world.bodies(dt, &mut self.bodies);
        let mut first = 0;
        for (i, (vehicle, body)) in self.vehicles.iter().zip(&self.bodies).enumerate() {
            self.stepped[i] = !(self.away[i] || body.asleep);
            if !self.stepped[i] {
                continue;
            }
            let last = first + vehicle.model().wheels().len();
            vehicle.probes(i, body, dt, &mut self.probes[first..last]);
            first = last;
        }
        world.probe(&self.probes[..first], &mut self.contacts[..first]);
        self.reactions.clear();
        let (mut first, mut report) = (0, StepReport::default());
        for (i, vehicle) in self.vehicles.iter_mut().enumerate() {
            if !self.stepped[i] {
                self.pushes[i] = Push::default();
                continue;
            }
            let last = first + vehicle.model().wheels().len();
            let asked = controls.get(i).unwrap_or(&self.coasting);
            self.hull.clear();
            if coupling != Coupling::OneSweep {
                world.hull_points(i, dt, &mut self.hull);
            }
            let met = &self.contacts[first..last];
            let (push, done) = vehicle.solve(&self.bodies[i], met, &self.hull, asked, coupling, dt);
            self.pushes[i] = push;
            if vehicle.is_on_moving_ground() {
                let met = self.probes[first..last].iter().zip(&self.contacts[first..last]);
                vehicle.react(met, &mut self.reactions);
            }
            report = report.and(done);
            first = last;
        }
        world.push(dt, &self.pushes);
        if !self.reactions.is_empty() {
            world.react(dt, &self.reactions);
        }
        report
    }

    /// Second half, after the world has advanced: writes the realised motion back into the states. A vehicle that was
    /// woken in between has no rows of this step and only goes with its body.
    pub fn write_back(&mut self, world: &dyn WorldPort, dt: f32) -> StepReport {
        if let Some(nothing) = StepReport::of_no_step(dt) {
            return nothing;
        }
        world.bodies(dt, &mut self.bodies);
        if !self.reactions.is_empty() {
            self.follow_ground(world);
        }
        let mut report = StepReport::default();
        for (i, vehicle) in self.vehicles.iter_mut().enumerate() {
            let body = &self.bodies[i];
            if self.stepped[i] {
                report = report.and(vehicle.finish(body, dt));
            } else if !(self.away[i] || body.asleep) {
                report = report.and(vehicle.follow(body));
            }
        }
        report
    }

    fn follow_ground(&mut self, world: &dyn WorldPort) {
        let mut first = 0;
        for (i, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(i, _)| self.stepped[*i]) {
            let last = first + vehicle.model().wheels().len();
            if vehicle.is_on_moving_ground() {
                let (asked, answered) = (&mut self.probes[first..last], &mut self.contacts[first..last]);
                // A vehicle counts the speeds of its contacts from where its centre of mass has got to, with the arms it
                // started with: only so do both turn alike on a turntable.
                asked.iter_mut().for_each(|probe| probe.position = self.bodies[i].position);
                world.follow_ground(asked, answered);
                vehicle.follow_ground(answered);
            }
            first = last;
        }
    }
}
