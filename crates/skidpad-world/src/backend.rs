//! Cars in the own world, stepped with one of the core's couplings.

use skidpad_core::{
    Backend, BodyMotion, CarStart, CarView, Cars, Clock, Contact, Controls, Coupling, Probe, Scene, State, StepReport,
    Vehicle,
};

use crate::{Chassis, World};

/// Cars and world of an own backend. The backends differ in their coupling.
#[derive(Clone, Debug)]
pub struct CarWorld {
    name: &'static str,
    cars: Cars,
    world: World,
    scene: Scene,
    clock: Clock,
}

impl CarWorld {
    /// A world with `cars` on the ground of `scene`, stepped by `dt` s with `coupling`.
    pub fn new(name: &'static str, coupling: Coupling, scene: &Scene, cars: &[CarStart], dt: f32) -> Self {
        let mut world = World::new(scene.clone());
        let vehicles = cars.iter().map(|start| vehicle(&mut world, scene, start)).collect();
        Self { name, cars: Cars::new(vehicles, coupling), world, scene: scene.clone(), clock: Clock::new(dt) }
    }

    /// Puts every chassis where its vehicle's last good state is, so that no motion is left outside the states.
    fn follow_states(&mut self) {
        for (car, chassis) in self.world.chassis_mut().iter_mut().enumerate() {
            if !self.cars.is_removed(car) {
                chassis.adopt(self.cars.vehicles()[car].state());
            }
        }
    }
}

/// Puts a car into `world`, on the ground of `scene`.
fn vehicle(world: &mut World, scene: &Scene, start: &CarStart) -> Vehicle {
    let state = State::at_rest(&start.model, scene, &start.placement);
    world.add(Chassis::new(&start.model, &state));
    Vehicle::new(start.model.clone(), state)
}

impl Backend for CarWorld {
    fn name(&self) -> &'static str {
        self.name
    }

    fn step(&mut self, controls: &[Controls]) -> StepReport {
        if let Some(nothing) = StepReport::of_no_step(self.clock.dt) {
            return nothing;
        }
        if !self.scene.gusts.is_empty() {
            self.world.set_wind(self.scene.wind_in(self.time(), self.clock.dt));
        }
        self.world.begin_step(self.time(), self.clock.dt);
        let pushed = self.cars.push(&mut self.world, controls, self.clock.dt);
        for (car, by) in self.cars.towed() {
            self.world.chassis_mut()[car].be_towed(by);
        }
        self.world.advance(self.clock.dt);
        for (trailer, impulse) in self.world.jolts() {
            self.cars.jolt(trailer, impulse, self.clock.dt);
        }
        self.clock.tick();
        let report = pushed.and(self.cars.write_back(&self.world, self.clock.dt));
        if report.not_finite {
            self.follow_states();
        }
        report
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn cars(&self) -> usize {
        self.cars.vehicles().len()
    }

    fn car(&self, car: usize) -> CarView<'_> {
        self.cars.car(car)
    }

    fn set_state(&mut self, car: usize, state: &State) -> bool {
        let taken = self.cars.set_state(car, state);
        if taken {
            self.world.chassis_mut()[car].adopt(state);
        }
        taken
    }

    fn bodies(&self) -> usize {
        self.world.bodies().len()
    }

    fn body(&self, body: usize) -> Option<BodyMotion> {
        self.world.bodies().get(body).map(Chassis::motion_now)
    }

    fn set_body(&mut self, body: usize, motion: &BodyMotion) -> bool {
        let of = self.world.bodies_mut().get_mut(body);
        of.map(|of| of.go_on_from(motion)).is_some()
    }

    fn probe(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) -> bool {
        self.world.ask(asked, answered);
        true
    }

    fn insert(&mut self, start: &CarStart) -> usize {
        self.cars.insert(vehicle(&mut self.world, &self.scene, start))
    }

    fn remove(&mut self, car: usize) {
        self.cars.remove(car);
        self.world.chassis_mut()[car].remove();
    }
}
