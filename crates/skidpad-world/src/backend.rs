//! Cars in the own world, stepped with one of the core's couplings.

use std::sync::Arc;

use skidpad_core::{Backend, Budget, CarStart, Cars, Controls, Coupling, Model, Scene, State, StepReport, Vehicle};

use crate::{Chassis, World};

/// Cars and world of an own backend. The backends differ in their coupling.
#[derive(Clone, Debug)]
pub struct CarWorld {
    name: &'static str,
    coupling: Coupling,
    cars: Cars,
    world: World,
    scene: Scene,
    dt: f32,
    steps: u64,
}

impl CarWorld {
    /// A world with `cars` on the ground of `scene`, stepped by `dt` s with `coupling`.
    pub fn new(name: &'static str, coupling: Coupling, scene: &Scene, cars: &[CarStart], dt: f32) -> Self {
        let mut world = World::new(scene.clone());
        let vehicles = cars
            .iter()
            .map(|car| {
                let state = State::at_rest(&car.model, scene, &car.placement);
                world.add(Chassis::new(&car.model, &state));
                Vehicle::new(car.model.clone(), state)
            })
            .collect();
        Self { name, coupling, cars: Cars::new(vehicles), world, scene: scene.clone(), dt, steps: 0 }
    }

    /// Puts every chassis where its vehicle's last good state is, so that no motion is left outside the states.
    fn follow_states(&mut self) {
        for (car, chassis) in self.world.chassis_mut().iter_mut().enumerate() {
            if !self.cars.is_away(car) {
                chassis.adopt(self.cars.vehicles()[car].state());
            }
        }
    }
}

impl Backend for CarWorld {
    fn name(&self) -> &'static str {
        self.name
    }

    fn step(&mut self, controls: &[Controls]) -> StepReport {
        if let Some(nothing) = StepReport::of_no_step(self.dt) {
            return nothing;
        }
        if !self.scene.gusts.is_empty() {
            self.world.set_wind(self.scene.wind_in(self.time(), self.dt));
        }
        let pushed = self.cars.push(&mut self.world, controls, self.coupling, self.dt);
        self.world.advance(self.dt);
        self.steps += 1;
        let report = pushed.and(self.cars.write_back(&self.world, self.dt));
        if report.not_finite {
            self.follow_states();
        }
        report
    }

    fn dt(&self) -> f32 {
        self.dt
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn set_steps(&mut self, steps: u64) {
        self.steps = steps;
    }

    fn cars(&self) -> usize {
        self.cars.vehicles().len()
    }

    fn model(&self, car: usize) -> &Arc<Model> {
        self.cars.vehicles()[car].model()
    }

    fn state(&self, car: usize) -> &State {
        self.cars.vehicles()[car].state()
    }

    fn budget(&self, car: usize) -> Budget {
        *self.cars.vehicles()[car].budget()
    }

    fn set_state(&mut self, car: usize, state: &State) -> bool {
        let taken = self.cars.set_state(car, state);
        if taken {
            self.world.chassis_mut()[car].adopt(state);
        }
        taken
    }

    fn leave(&mut self, car: usize) {
        self.cars.leave(car);
        self.world.chassis_mut()[car].leave();
    }

    fn is_away(&self, car: usize) -> bool {
        self.cars.is_away(car)
    }
}
