//! Cars in skidpad's own world, whose rows a solver solves.

use skidpad_core::coupling::RowSolver;
use skidpad_core::{
    BodyMotion, CarError, CarId, CarStart, CarView, Cars, Clock, Contact, Controls, Probe, Scene, Simulation, Slots,
    State, StepReport, Vehicle,
};

use crate::{Chassis, World};

/// Cars and world of a solver in skidpad's own world.
#[derive(Clone, Debug)]
pub struct CarWorld {
    /// Name of the solver.
    name: &'static str,
    /// Vehicles and slots of the cars, with the solver of their rows.
    cars: Cars,
    /// Chassis, free bodies and ground.
    world: World,
    /// Scene, for new cars and for gusts.
    scene: Scene,
    /// Step length and number of steps.
    clock: Clock,
}

impl CarWorld {
    /// Creates a world called `name` with `cars` on the ground of `scene`, each at rest or with its initial speed,
    /// stepped by `dt` s. `solver` solves the rows (equations of tyres, suspension and drivetrain) with the chassis.
    pub fn new(name: &'static str, solver: &'static dyn RowSolver, scene: &Scene, cars: &[CarStart], dt: f32) -> Self {
        let (empty_cars, world) = (Cars::new(Vec::new(), solver), World::new(scene.clone()));
        let mut car_world = Self { name, cars: empty_cars, world, scene: scene.clone(), clock: Clock::new(dt) };
        for start in cars {
            car_world.insert(start);
        }
        car_world
    }

    /// Sets every active chassis to the state of its vehicle, the last valid one. The motion in the world then agrees
    /// with the states.
    fn restore_states(&mut self) {
        for (car, chassis) in self.world.chassis_mut().iter_mut().enumerate() {
            if self.cars.slots().is_active(car) {
                chassis.set_state(self.cars.vehicles()[car].state());
            }
        }
    }
}

impl Simulation for CarWorld {
    fn name(&self) -> &'static str {
        self.name
    }

    /// Takes one step: sets the wind if the scene has gusts, places platforms, solves and pushes the vehicles, updates
    /// who tows whom, and moves all bodies. A hitch that is overloaded by a stopped hull then opens. Then advances the
    /// clock and writes the motion to the states. If a motion is not finite, every active chassis returns to the last
    /// valid state of its vehicle. Returns the worse of the reports of both halves; for a step length of zero or an
    /// invalid one does nothing and returns a report of a skipped step.
    fn step(&mut self, controls: &[Controls]) -> StepReport {
        if let Some(skipped_report) = StepReport::for_skipped_step(self.clock.dt) {
            return skipped_report;
        }
        if !self.scene.gusts.is_empty() {
            self.world.set_wind(self.scene.wind_at_midstep(self.time(), self.clock.dt));
        }
        self.world.begin_step(self.time(), self.clock.dt);
        let report_before_step = self.cars.begin_step(&mut self.world, controls, self.clock.dt);
        for (car, towing_slot) in self.cars.towing_slots() {
            self.world.chassis_mut()[car].set_towing_vehicle(towing_slot);
        }
        self.world.advance(self.clock.dt);
        for (trailer, impulse) in self.world.hitch_impulses() {
            self.cars.uncouple_if_overloaded(trailer, impulse, self.clock.dt);
        }
        self.clock.tick();
        let report = report_before_step.merge_worst(self.cars.write_back(&self.world, self.clock.dt));
        if report.not_finite {
            self.restore_states();
        }
        report
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn slots(&self) -> &Slots {
        self.cars.slots()
    }

    fn slots_mut(&mut self) -> &mut Slots {
        self.cars.slots_mut()
    }

    fn car(&self, slot: usize) -> CarView<'_> {
        self.cars.car(slot)
    }

    /// Sets the state of the active car in `slot`, then pose and motion of its chassis. An error changes nothing.
    fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.cars.set_state(slot, state)?;
        self.world.set_state(slot, state);
        Ok(())
    }

    /// Inserts the car at its start on the ground of the scene, in the first empty slot or a new one, and its chassis
    /// in the same slot of the world. Returns the identifier of the car.
    fn insert(&mut self, start: &CarStart) -> CarId {
        let state = State::at_rest(&start.model, &self.scene, &start.placement);
        let chassis = Chassis::new(&start.model, &state);
        let car = self.cars.insert(Vehicle::new(start.model.clone(), state));
        self.world.insert_chassis(car.slot(), chassis);
        car
    }

    /// Removes the car; its chassis stays suspended until the slot is used again.
    fn remove(&mut self, car: CarId) -> Result<(), CarError> {
        let slot = self.cars.remove(car)?;
        self.world.suspend(slot);
        Ok(())
    }

    /// Suspends the car in `slot` and its chassis. An error changes nothing.
    fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.cars.suspend(slot)?;
        self.world.suspend(slot);
        Ok(())
    }

    /// Resumes the suspended car in `slot` with `state`, and its chassis. An error changes nothing.
    fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.cars.resume(slot, state)?;
        self.world.set_state(slot, state);
        Ok(())
    }

    fn body_count(&self) -> usize {
        self.world.bodies().len()
    }

    fn body_motion(&self, body: usize) -> Option<BodyMotion> {
        self.world.bodies().get(body).map(Chassis::body_motion)
    }

    fn set_body_motion(&mut self, body: usize, motion: &BodyMotion) -> bool {
        let chassis = self.world.bodies_mut().get_mut(body);
        chassis.map(|chassis| chassis.set_motion(motion)).is_some()
    }

    fn probe(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) -> bool {
        self.world.query_probes(probes, contacts);
        true
    }
}
