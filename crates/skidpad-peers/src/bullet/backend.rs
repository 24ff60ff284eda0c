//! Backend with Bullet's vehicle.

use std::sync::Arc;

use skidpad_core::state::WheelState;
use skidpad_core::{
    AssistLog, CarError, CarId, CarStart, CarView, Clock, Controls, Model, STANDARD_GRAVITY, Scene, Simulation, Slots,
    SolverInfo, State, StepReport, Vec3,
};
use skidpad_world::Ground;

use crate::no_slip::{self, NoSlipDrivetrain};
use crate::ray_cast::{RayWheel, non_physical};

use super::body::Body;
use super::car::{Car, RETAINED_ROTATION_RATIO, Wheel, WheelInput};
use super::tuning::{Tuning, WheelTuning};

/// Entry for a list of backends.
pub const BACKEND_INFO: SolverInfo = SolverInfo {
    name: "bullet",
    description: "btRaycastVehicle of Bullet 3.24 with Bullet's world step, reproduced including its defects",
    comparison_only: true,
    has_wheel_rows: false,
    build_world: |scene, cars, dt| {
        let with_tuning = |start: &CarStart| (start.clone(), Tuning::from_model(&start.model));
        new_world(scene, &cars.iter().map(with_tuning).collect::<Vec<_>>(), dt)
    },
};

/// Creates a world with `cars` on the ground of `scene`, each with its own tuning, stepped by `dt` s.
///
/// The model provides pedals, steering and telemetry. A tuning must have as many wheels as its model. Cars start with
/// the velocity that Bullet reports for their placement: gravity times `dt` upwards if they stand, zero in the air.
pub fn new_world(scene: &Scene, cars: &[(CarStart, Tuning)], dt: f32) -> Box<dyn Simulation> {
    let ground = Ground::new(scene);
    let cars: Vec<BulletCar> =
        cars.iter().map(|(start, tuning)| BulletCar::new(scene, &ground, start, tuning.clone(), dt)).collect();
    let mut world = BulletWorld { cars, slots: Slots::default(), scene: scene.clone(), ground, clock: Clock::new(dt) };
    world.cars.iter().for_each(|car| _ = world.slots.allocate(car.model.wheels().len()));
    Box::new(world)
}

/// World of Bullet vehicles on the ground of a scene. Cars do not collide.
struct BulletWorld {
    /// Cars by slot.
    cars: Vec<BulletCar>,
    /// Content of the slots.
    slots: Slots,
    /// Scene, for new cars.
    scene: Scene,
    /// Ground of the scene.
    ground: Ground,
    /// Step length and number of steps.
    clock: Clock,
}

/// Car with its model. Each step starts from `state`; the results in `car` are read only for telemetry.
struct BulletCar {
    /// Model that provides pedals, steering and telemetry.
    model: Arc<Model>,
    /// Motion and wheels after the last step.
    state: State,
    /// Bullet's vehicle in 64 bits.
    car: Car,
    /// Drivetrain that converts pedals to forces at the wheels.
    drivetrain: NoSlipDrivetrain,
    /// Inputs of the wheels in the current step.
    inputs: Vec<WheelInput>,
    /// Report of the last step.
    report: StepReport,
}

impl BulletCar {
    /// Creates a car at its start on the ground of `scene`, with inputs of zero. Adds the upward velocity g dt times
    /// the share of the weight on the wheels, because Bullet reports this velocity for a standing car; a step of length
    /// zero adds none. The share is 1 for a start at height 0. Otherwise the wheels are first extended to the ground,
    /// which determines the share ([`BulletCar::extend_wheels`]). `previous_velocity` becomes the resulting velocity.
    fn new(scene: &Scene, ground: &Ground, start: &CarStart, tuning: Tuning, dt: f32) -> Self {
        let state = State::at_rest(&start.model, scene, &start.placement);
        let wheel_count = state.wheels.len();
        let mut bullet_car = Self {
            model: start.model.clone(),
            car: Car::new(tuning, bullet_body(&state)),
            drivetrain: NoSlipDrivetrain::new(&start.model, &state),
            state,
            inputs: vec![WheelInput::default(); wheel_count],
            report: StepReport::default(),
        };
        // Share of the weight on the wheels; a car placed on the ground stands.
        let load_share = if start.placement.height == 0.0 { 1.0 } else { bullet_car.extend_wheels(ground) };
        if StepReport::for_skipped_step(dt).is_none() {
            bullet_car.state.velocity += Vec3::Z * (scene.gravity * dt * load_share);
        }
        bullet_car.state.previous_velocity = bullet_car.state.velocity;
        bullet_car
    }

    /// Extends the wheels to the ground below them at the current pose of the car, and stores contact, load (bounded by
    /// the maximum force) and compression in the state. Returns the share of the weight m g (g: standard gravity) that
    /// the suspension carries, ≥ 0, also above 1.
    fn extend_wheels(&mut self, ground: &Ground) -> f32 {
        self.car.update_suspension(ground);
        let mut load_share = 0.0;
        for (i, (wheel, tuning)) in self.car.wheels().iter().zip(&self.car.tuning().wheels).enumerate() {
            let wheel_state = &mut self.state.wheels[i];
            (wheel_state.contact, wheel_state.load) =
                (wheel.contact, applied_suspension_force(wheel, tuning.max_force) as f32);
            wheel_state.compression = compression(&self.model, i, wheel, tuning) as f32;
            load_share += wheel_state.load / (self.model.mass() * STANDARD_GRAVITY);
        }
        load_share
    }

    /// Takes a step of `dt` s from `state` with `controls`: sets the inputs (which advances the drivetrain), copies
    /// motion and spins of `state` to Bullet's vehicle, steps it, and copies the result to `state`. Returns a report of
    /// one iteration. If the resulting motion is not finite, `state` keeps the motion before the step and the report
    /// has `not_finite` set.
    fn step(&mut self, ground: &Ground, controls: &Controls, dt: f32) -> StepReport {
        self.apply_controls(controls, dt);
        self.car.body = bullet_body(&self.state);
        let wheels = &self.state.wheels;
        // Rotation per step in the air follows from the spin of the state.
        self.car.set_retained_rotations(|i| f64::from(wheels[i].spin) * f64::from(dt) * RETAINED_ROTATION_RATIO);
        self.car.step(ground, &self.inputs, f64::from(dt));
        if !self.car.body.is_finite() {
            return StepReport { not_finite: true, ..StepReport::default() };
        }
        self.read_state(f64::from(dt));
        StepReport { iterations: 1, ..StepReport::default() }
    }

    /// Sets the inputs of all wheels from `controls` for a step of `dt` s: engine force (N), brake impulse (N s) and
    /// steering angle (rad). Bullet takes the brake as an impulse: the brake force times the brake step of the tuning,
    /// or times `dt` without one. Also advances the drivetrain in `state`, and stores the demanded mean steering angle
    /// there.
    fn apply_controls(&mut self, controls: &Controls, dt: f32) {
        let brake_step = self.car.tuning().brake_step.unwrap_or(f64::from(dt));
        let inputs = &mut self.inputs;
        self.drivetrain.update(&mut self.state, controls, dt, |i, forces| {
            (inputs[i].engine_force, inputs[i].brake) = (forces.drive.into(), f64::from(forces.brake) * brake_step);
        });
        for (i, input) in self.inputs.iter_mut().enumerate() {
            input.steering = no_slip::update_wheel_steer_angle(&self.model, &mut self.state, i, controls).into();
        }
    }

    /// Copies motion and wheels after a step of `dt` s to `state`, in 32 bits except for the position; the old velocity
    /// becomes `previous_velocity`. The spin is the rotation of the last step over `dt`. Loads are bounded by the
    /// maximum force. Tyre forces are mean forces over the step, with the lateral one positive to the left. The other
    /// values of each wheel are reset.
    fn read_state(&mut self, dt: f64) {
        let (body, state) = (self.car.body, &mut self.state);
        state.previous_velocity = state.velocity;
        state.position = body.position;
        state.rotation = body.rotation.as_quat();
        state.velocity = body.velocity.as_vec3();
        state.angular_velocity = body.angular_velocity.as_vec3();
        let tunings = &self.car.tuning().wheels;
        for (i, (wheel, wheel_state)) in self.car.wheels().iter().zip(&mut state.wheels).enumerate() {
            // Rotation of the last step, before 1 % of it was dropped, over the step, rad/s.
            let spin = wheel.retained_rotation / RETAINED_ROTATION_RATIO / dt;
            *wheel_state = WheelState {
                spin: spin as f32,
                compression: compression(&self.model, i, wheel, &tunings[i]) as f32,
                load: applied_suspension_force(wheel, tunings[i].max_force) as f32,
                // Bullet's axle points to the right.
                tyre: [wheel.forward_impulse / dt, -wheel.side_impulse / dt].map(|force| force as f32),
                rolling_speed: (spin * tunings[i].radius) as f32,
                // 1: the patch rolls; it never sticks.
                rolling: 1.0,
                steer: wheel.input.steering as f32,
                contact: wheel.contact,
                ..WheelState::default()
            };
        }
    }
}

/// Returns the height of the centre of wheel `i` above its place at rest, vehicle axes, m; negative if the strut is
/// extended.
fn compression(model: &Model, i: usize, wheel: &Wheel, tuning: &WheelTuning) -> f64 {
    let wheel_spec = &model.wheels()[i];
    let centre = tuning.hard_point + tuning.direction * wheel.length;
    centre.z - f64::from(wheel_spec.contact.z + wheel_spec.radius)
}

/// Returns the suspension force that acts on the car, N: the force of the strut, at most `max_force`.
fn applied_suspension_force(wheel: &Wheel, max_force: f64) -> f64 {
    wheel.suspension_force.min(max_force)
}

/// Returns the actions of the wheels of `car` in its last step of `dt` s, in order: contact point, normal and mean
/// forces in the vehicle frame at the current pose, suspension force before its bound, that bound, and the roll
/// influence.
fn ray_wheels(car: &Car, dt: f64) -> impl Iterator<Item = RayWheel> {
    let to_vehicle = car.body.rotation.inverse();
    car.wheels().iter().zip(&car.tuning().wheels).map(move |(wheel, tuning)| RayWheel {
        arm: (to_vehicle * (wheel.point - car.body.position)).as_vec3(),
        normal: (to_vehicle * wheel.normal).as_vec3(),
        suspension_force: wheel.suspension_force as f32,
        max_suspension_force: tuning.max_force as f32,
        longitudinal_force: (to_vehicle * wheel.longitudinal_axis * (wheel.forward_impulse / dt)).as_vec3(),
        lateral_force: (to_vehicle * wheel.lateral_axis * (wheel.side_impulse / dt)).as_vec3(),
        roll_influence: tuning.roll_influence as f32,
    })
}

/// Converts the motion of `state` to Bullet's 64-bit body. The rotation is normalised, because that of the state has 32
/// bits.
fn bullet_body(state: &State) -> Body {
    Body {
        position: state.position,
        rotation: state.rotation.as_dquat().normalize(),
        velocity: state.velocity.as_dvec3(),
        angular_velocity: state.angular_velocity.as_dvec3(),
    }
}

impl Simulation for BulletWorld {
    fn name(&self) -> &'static str {
        BACKEND_INFO.name
    }

    /// Advances the clock, then steps every active car on its own and stores its report. Cars without controls coast.
    /// Returns the worst report; for a step length of zero or an invalid one does nothing and returns that of a skipped
    /// step.
    fn step(&mut self, controls: &[Controls]) -> StepReport {
        if let Some(skipped_report) = StepReport::for_skipped_step(self.clock.dt) {
            return skipped_report;
        }
        let coasting = Controls::coasting();
        self.clock.tick();
        let mut report = StepReport::default();
        for (slot, car) in self.cars.iter_mut().enumerate().filter(|(slot, _)| self.slots.is_active(*slot)) {
            car.report = car.step(&self.ground, controls.get(slot).unwrap_or(&coasting), self.clock.dt);
            report = report.merge_worst(car.report);
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
        &self.slots
    }

    fn slots_mut(&mut self) -> &mut Slots {
        &mut self.slots
    }

    fn car(&self, slot: usize) -> CarView<'_> {
        let BulletCar { model, state, report, .. } = &self.cars[slot];
        CarView::from_state(model, state, !self.slots.is_active(slot), *report)
    }

    /// Returns the non-physical forces of car `car` in the last step; none for a step length of zero or an invalid one.
    fn assist_log(&self, car: usize) -> AssistLog {
        if StepReport::for_skipped_step(self.clock.dt).is_some() {
            return AssistLog::default();
        }
        let BulletCar { model, car, .. } = &self.cars[car];
        non_physical(model, ray_wheels(car, f64::from(self.clock.dt)))
    }

    /// Sets the state of the active car in `slot`; the next step starts from it. An error changes nothing.
    fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.check_state(slot, state.wheels.len())?;
        self.cars[slot].state.clone_from(state);
        Ok(())
    }

    /// Inserts a car at its start in the first empty slot or a new one, with the tuning derived from its model. Each
    /// car has a Bullet vehicle and body of its own on the common ground, and does not affect other cars. Returns the
    /// identifier of the car.
    fn insert(&mut self, start: &CarStart) -> CarId {
        let id = self.slots.allocate(start.model.wheels().len());
        let tuning = Tuning::from_model(&start.model);
        let car = BulletCar::new(&self.scene, &self.ground, start, tuning, self.clock.dt);
        match self.cars.get_mut(id.slot()) {
            Some(old_car) => *old_car = car,
            None => self.cars.push(car),
        }
        id
    }

    /// Empties the slot of `car` and clears its report.
    fn remove(&mut self, car: CarId) -> Result<(), CarError> {
        let slot = self.slots.release(car)?;
        self.cars[slot].report = StepReport::default();
        Ok(())
    }

    /// Suspends the car in `slot` and clears its report. An error changes nothing.
    fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.slots.suspend(slot)?;
        self.cars[slot].report = StepReport::default();
        Ok(())
    }

    /// Resumes the car in `slot` with `state`. An error changes nothing.
    fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.resume(slot, state.wheels.len())?;
        self.cars[slot].state.clone_from(state);
        Ok(())
    }
}
