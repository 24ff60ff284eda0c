//! Rapier's own `DynamicRayCastVehicleController`, with parameters from a skidpad model in their true units.
//!
//! The backend is a peer for comparisons, not a solver of skidpad's rows. The controller has no wheel spin, no tyre
//! curve and no anti-roll bar, and skidpad's drivetrain drives it as if wheels never slipped. The friction is that of
//! the tyre times the grip of the plane, also on boxes, because the controller does not read the friction of colliders.
//! The roll influence cannot be set. The comparison shows its creep and its dependence on the step length.

use std::sync::Arc;

use skidpad_core::state::WheelState;
use skidpad_core::{
    AssistLog, CarError, CarId, CarStart, CarView, Clock, Controls, LoadError, Model, SaveError, SavedUnit, Scene,
    Simulation, Slots, SolverInfo, State, StepReport,
    simulation::{load_world, save_world},
};
use skidpad_rapier::rapier3d::control::{DynamicRayCastVehicleController, Wheel, WheelTuning};
use skidpad_rapier::rapier3d::prelude::*;

use skidpad_rapier::WorldAxes;
use skidpad_rapier::backend::{TOUCHING_SAVE_REASON, ground_world, has_contacts};
use skidpad_rapier::chassis::{self, set_body_state};

use crate::no_slip::{self, NoSlipDrivetrain};
use crate::ray_cast::{RayWheel, non_physical};

/// Roll influence of every wheel in Rapier 0.36.
const ROLL_INFLUENCE: f32 = 0.1;

/// Entry for a list of backends.
pub const BACKEND_INFO: SolverInfo = SolverInfo {
    name: "rapier-stock",
    description: "DynamicRayCastVehicleController of Rapier",
    comparison_only: true,
    has_wheel_rows: false,
    build_world: |scene, cars, dt| Box::new(StockBackend::new(scene, cars, dt)),
};

/// Backend with Rapier's vehicle controller.
struct StockBackend {
    /// Rapier world with the ground of the scene and the chassis.
    world: PhysicsWorld,
    /// Cars by slot.
    cars: Vec<StockCar>,
    /// Content of the slots.
    slots: Slots,
    /// Scene, for new cars.
    scene: Scene,
    /// Start of the car in each slot, for a new world when loading.
    starts: Vec<CarStart>,
    /// Step length and number of steps.
    clock: Clock,
}

/// Car with its controller.
struct StockCar {
    /// Model that provides parameters, pedals and telemetry.
    model: Arc<Model>,
    /// State after the last step.
    state: State,
    /// Rapier's controller with its wheels.
    controller: DynamicRayCastVehicleController,
    /// Drivetrain that converts pedals to forces at the wheels.
    drivetrain: NoSlipDrivetrain,
    /// Pose of the chassis when the controller last pushed it.
    controller_pose: Pose,
}

impl StockBackend {
    /// Creates a world with the ground of `scene` (without platforms and free bodies) and cars at `starts`, stepped by
    /// `dt` s. Detects collisions once, so that the first rays find the ground. Allocates one slot per car and keeps
    /// copies of scene and starts.
    fn new(scene: &Scene, starts: &[CarStart], dt: f32) -> Self {
        let mut world = ground_world(scene, dt);
        let cars = starts.iter().map(|start| StockCar::new(&mut world, scene, start)).collect();
        // `()`: no physics hooks and no event handler.
        world.detect_collisions(&(), &());
        let mut slots = Slots::default();
        starts.iter().for_each(|start| _ = slots.allocate(start.model.wheels().len()));
        Self { world, cars, slots, scene: scene.clone(), starts: starts.to_vec(), clock: Clock::new(dt) }
    }

    /// Sets state and body of the car in `slot` to `state`, and enables the body.
    fn set_car_state(&mut self, slot: usize, state: &State) {
        let car = &mut self.cars[slot];
        car.state.clone_from(state);
        if let Some(body) = self.world.bodies.get_mut(car.controller.chassis) {
            set_body_state(body, WorldAxes::ZUp, state);
        }
    }

    /// Disables the body of the car in `slot`.
    fn disable_body(&mut self, slot: usize) {
        if let Some(body) = self.world.bodies.get_mut(self.cars[slot].controller.chassis) {
            body.set_enabled(false);
        }
    }
}

impl StockCar {
    /// Creates the car of `start`: inserts its chassis into `world` on the ground of `scene`, keeps it awake, and
    /// creates the controller with one wheel per wheel of the model, and the drivetrain.
    ///
    /// Spring rates and damping are divided by the mass, as the controller expects. Rest lengths include the static
    /// sag, so that the car rests in its described pose. Friction is the longitudinal one of the tyre times the grip of
    /// the plane. Wheels point down and roll forward in vehicle axes.
    fn new(world: &mut PhysicsWorld, scene: &Scene, start: &CarStart) -> Self {
        let state = State::at_rest(&start.model, scene, &start.placement);
        let chassis = chassis::insert(&mut world.bodies, &mut world.colliders, WorldAxes::ZUp, &start.model, &state);
        // The controller would wake it only for a positive engine force.
        chassis::keep_awake(&mut world.bodies, chassis);
        let mut controller = DynamicRayCastVehicleController::new(chassis);
        // z up, x forward.
        controller.index_up_axis = 2;
        controller.index_forward_axis = 0;
        // Parameters of each wheel, in order.
        for (i, wheel) in start.model.wheels().iter().enumerate() {
            let strut = &wheel.strut;
            let mass = start.model.mass();
            // The controller's spring is slack at its rest length, which is therefore the length at rest plus the
            // static sag.
            let sag = start.model.static_load(i) / strut.rate;
            let tuning = WheelTuning {
                suspension_stiffness: strut.rate / mass,
                suspension_compression: strut.bump_damping / mass,
                suspension_damping: strut.rebound_damping / mass,
                max_suspension_travel: sag + strut.bump_travel,
                // 1.0: default of Rapier.
                side_friction_stiffness: 1.0,
                // [0]: longitudinal.
                friction_slip: start.model.tyre(i).nominal_friction()[0] * scene.grip,
                // `f32::MAX` replaces infinity.
                max_suspension_force: start.model.parts().raycast_reference.largest_suspension_force.min(f32::MAX),
            };
            // The hard point is one wheel radius above the wheel centre at rest, inside the chassis.
            let hard_point = wheel.contact + Vector::new(0.0, 0.0, 2.0 * wheel.radius);
            // Rapier wheels roll towards normal × axle, so that an axle that points to the right drives forward.
            let (down, axle) = (Vector::NEG_Z, Vector::NEG_Y);
            controller.add_wheel(hard_point, down, axle, wheel.radius + sag, wheel.radius, &tuning);
        }
        let drivetrain = NoSlipDrivetrain::new(&start.model, &state);
        Self { model: start.model.clone(), state, controller, drivetrain, controller_pose: Pose::IDENTITY }
    }

    /// Sets the inputs of the wheels of the controller for a step of `dt` s: engine forces (N), brakes (brake force
    /// times `dt`: impulse per step, N s), and then the steering (rad). Before that, advances the drivetrain in the
    /// state. Also stores the steering in the state of each wheel.
    fn apply_controls(&mut self, controls: &Controls, dt: f32) {
        let wheels = self.controller.wheels_mut();
        self.drivetrain.update(&mut self.state, controls, dt, |wheel_index, forces| {
            (wheels[wheel_index].engine_force, wheels[wheel_index].brake) = (forces.drive, forces.brake * dt);
        });
        for (wheel_index, wheel) in wheels.iter_mut().enumerate() {
            wheel.steering = no_slip::update_wheel_steer_angle(&self.model, &mut self.state, wheel_index, controls);
            self.state.wheels[wheel_index].steer = wheel.steering;
        }
    }

    /// Returns the contributions of the controller's non-physical forces to the car in the last step of `dt` s
    /// ([`non_physical`]). Uses the mean forces at its wheels in the vehicle frame, at the pose that the chassis had
    /// when the controller pushed it. Nothing changes.
    fn non_physical(&self, dt: f32) -> AssistLog {
        let (centre, to_vehicle) = (self.controller_pose.translation, self.controller_pose.rotation.inverse());
        let ray_wheel = |wheel: &Wheel| {
            let ray = wheel.raycast_info();
            let normal = ray.contact_normal_ws;
            // Axle projected onto the ground (to the right), and rolling direction, unit vectors in world axes.
            let lateral_axis = (wheel.axle() - normal * wheel.axle().dot(normal)).normalize_or_zero();
            let longitudinal_axis = normal.cross(lateral_axis).normalize_or_zero();
            RayWheel {
                arm: to_vehicle * (ray.contact_point_ws - centre),
                normal: to_vehicle * normal,
                suspension_force: wheel.wheel_suspension_force,
                max_suspension_force: wheel.max_suspension_force,
                longitudinal_force: to_vehicle * longitudinal_axis * (wheel.forward_impulse / dt),
                lateral_force: to_vehicle * lateral_axis * (wheel.side_impulse / dt),
                roll_influence: ROLL_INFLUENCE,
            }
        };
        non_physical(&self.model, self.controller.wheels().iter().map(ray_wheel))
    }

    /// Copies motion and wheels of the car from `world` to its state after a step of `dt` s. The old velocity becomes
    /// `previous_velocity`. Spins are those of rolling without slip at the forward speed of the car. Loads are the
    /// suspension forces before their bound. Tyre forces are mean forces over the step, with the lateral one positive
    /// to the left. All other values of each wheel are reset. A missing body changes nothing.
    fn read_state(&mut self, world: &PhysicsWorld, dt: f32) {
        let Some(body) = world.bodies.get(self.controller.chassis) else { return };
        let state = &mut self.state;
        state.previous_velocity = state.velocity;
        state.position = body.translation().as_dvec3();
        state.rotation = *body.rotation();
        state.velocity = body.linvel();
        state.angular_velocity = body.angvel();
        // The wheels of the controller roll without slip.
        let forward_speed = body.linvel().dot(*body.rotation() * Vector::X);
        for ((wheel, controller_wheel), wheel_state) in
            self.model.wheels().iter().zip(self.controller.wheels()).zip(&mut state.wheels)
        {
            let ray = controller_wheel.raycast_info();
            *wheel_state = WheelState {
                spin: forward_speed / wheel.radius,
                rolling_speed: forward_speed,
                // 1: the patch rolls; it never sticks.
                rolling: 1.0,
                // The hard point is one radius above the wheel centre at rest.
                compression: wheel.radius - ray.suspension_length,
                load: controller_wheel.wheel_suspension_force,
                // The axle points to the right.
                tyre: [controller_wheel.forward_impulse / dt, -controller_wheel.side_impulse / dt],
                contact: ray.is_in_contact,
                steer: controller_wheel.steering,
                ..WheelState::default()
            };
        }
    }
}

impl Simulation for StockBackend {
    fn name(&self) -> &'static str {
        BACKEND_INFO.name
    }

    /// Takes one step. For each active car in turn: sets the inputs, updates its controller, which casts its rays and
    /// changes the velocities of the chassis at once, and stores the pose of the chassis. Then steps Rapier's world,
    /// advances the clock and reads the states. Cars without controls coast. Returns an empty report; for a step length
    /// of zero or an invalid one does nothing and returns that of a skipped step.
    fn step(&mut self, controls: &[Controls]) -> StepReport {
        if let Some(skipped_report) = StepReport::for_skipped_step(self.clock.dt) {
            return skipped_report;
        }
        skidpad_rapier::backend::set_step_length(&mut self.world.integration_parameters, self.clock.dt);
        let coasting = Controls::coasting();
        for (slot, car) in self.cars.iter_mut().enumerate().filter(|(slot, _)| self.slots.is_active(*slot)) {
            car.apply_controls(controls.get(slot).unwrap_or(&coasting), self.clock.dt);
            let world = &mut self.world;
            // Rays hit neither the car itself nor sensors.
            let filter = QueryFilter::default().exclude_rigid_body(car.controller.chassis).exclude_sensors();
            let queries = world.broad_phase.as_query_pipeline_mut(
                world.narrow_phase.query_dispatcher(),
                &mut world.bodies,
                &mut world.colliders,
                filter,
            );
            car.controller.update_vehicle(self.clock.dt, queries);
            if let Some(body) = self.world.bodies.get(car.controller.chassis) {
                car.controller_pose = *body.position();
            }
        }
        self.world.step();
        self.clock.tick();
        for (_, car) in self.cars.iter_mut().enumerate().filter(|(slot, _)| self.slots.is_active(*slot)) {
            car.read_state(&self.world, self.clock.dt);
        }
        StepReport::default()
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn slots(&self) -> &Slots {
        &self.slots
    }

    fn slots_mut(&mut self) -> &mut Slots {
        &mut self.slots
    }

    fn car(&self, slot: usize) -> CarView<'_> {
        let StockCar { model, state, .. } = &self.cars[slot];
        CarView::from_state(model, state, !self.slots.is_active(slot), StepReport::default())
    }

    /// Returns the non-physical forces of car `car` in the last step; none for a step length of zero or an invalid one.
    fn assist_log(&self, car: usize) -> AssistLog {
        if StepReport::for_skipped_step(self.clock.dt).is_some() {
            return AssistLog::default();
        }
        self.cars[car].non_physical(self.clock.dt)
    }

    /// Sets state and body of the active car in `slot`. An error changes nothing.
    fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.check_state(slot, state.wheels.len())?;
        self.set_car_state(slot, state);
        Ok(())
    }

    /// Inserts the car at its start in the first empty slot, whose old body is removed from the world, or in a new one,
    /// and stores the start for loading. Returns the identifier of the car.
    fn insert(&mut self, start: &CarStart) -> CarId {
        let id = self.slots.allocate(start.model.wheels().len());
        let car = StockCar::new(&mut self.world, &self.scene, start);
        match self.cars.get_mut(id.slot()) {
            Some(old_car) => {
                self.world.remove_body(old_car.controller.chassis);
                *old_car = car;
                self.starts[id.slot()] = start.clone();
            }
            None => {
                self.cars.push(car);
                self.starts.push(start.clone());
            }
        }
        id
    }

    /// Empties the slot of `car` and disables its body, which stays in the world until the slot is used again.
    fn remove(&mut self, car: CarId) -> Result<(), CarError> {
        let slot = self.slots.release(car)?;
        self.disable_body(slot);
        Ok(())
    }

    /// Suspends the car in `slot` and disables its body. An error changes nothing.
    fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.slots.suspend(slot)?;
        self.disable_body(slot);
        Ok(())
    }

    /// Resumes the car in `slot` with `state`, and enables its body there. An error changes nothing.
    fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.resume(slot, state.wheels.len())?;
        self.set_car_state(slot, state);
        Ok(())
    }

    /// Writes the world to `bytes`. Returns an error with the first car whose hull touches something, because Rapier
    /// keeps impulses of contacts; `bytes` does not change then.
    fn save_into(&self, bytes: &mut Vec<u8>) -> Result<(), SaveError> {
        match self.cars.iter().position(|car| has_contacts(&self.world, car.controller.chassis)) {
            Some(car) => {
                return Err(SaveError {
                    backend: BACKEND_INFO.name,
                    of: SavedUnit::Car(car),
                    reason: TOUCHING_SAVE_REASON,
                });
            }
            None => save_world(self, bytes),
        }
        Ok(())
    }

    /// Restores the saved world in a new Rapier world with cars at the same starts and the same identifiers, which then
    /// replaces the current one. An error changes nothing.
    fn load(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let mut new_backend = Self::new(&self.scene, &self.starts, self.clock.dt);
        new_backend.slots.copy_identifiers(&self.slots);
        load_world(&mut new_backend, bytes)?;
        *self = new_backend;
        Ok(())
    }
}
