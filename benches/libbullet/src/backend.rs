//! Vehicle of libbullet with the parameters of a skidpad model, like the peer `bullet`. Its corrections of the motion
//! are not reported.

use std::sync::Arc;

use skidpad_core::model::Hull;
use skidpad_core::state::WheelState;
use skidpad_core::{
    CarError, CarId, CarStart, CarView, Clock, Controls, DVec3, Model, Quat, SaveError, SavedUnit, Scene, Simulation,
    Slots, SolverInfo, State, StepReport, Vec3,
};
use skidpad_peers::bullet::Tuning;
use skidpad_peers::no_slip::{self, NoSlipDrivetrain};

use crate::world::{CarTuning, Motion, Wheel, WheelInput, WheelTuning, World};

/// Backend with Bullet's default ray caster, as in games. It tests the ray of every wheel against the car's own box
/// too.
pub const BACKEND_INFO: SolverInfo = SolverInfo {
    name: "libbullet",
    description: "the installed libbullet's btRaycastVehicle with its default caster, a peer of the benches",
    comparison_only: true,
    has_wheel_rows: false,
    build_world: |scene, cars, dt| Box::new(BulletWorld::new(scene, cars, dt, false)),
};

/// Backend whose rays collide with static bodies only.
pub const STATICS_ONLY_INFO: SolverInfo = SolverInfo {
    name: "libbullet-statics-only",
    description: "the installed libbullet's btRaycastVehicle with rays that meet static bodies only, a peer of the benches",
    comparison_only: true,
    has_wheel_rows: false,
    build_world: |scene, cars, dt| Box::new(BulletWorld::new(scene, cars, dt, true)),
};

/// Factor by which Bullet scales the rotation of a wheel in each step.
const RETAINED_ROTATION_RATIO: f32 = 0.99;

struct BulletWorld {
    world: World,
    cars: Vec<BulletCar>,
    slots: Slots,
    scene: Scene,
    clock: Clock,
    statics_only: bool,
}

struct BulletCar {
    model: Arc<Model>,
    tuning: Tuning,
    state: State,
    drivetrain: NoSlipDrivetrain,
    inputs: Vec<WheelInput>,
    wheels: Vec<Wheel>,
}

impl BulletWorld {
    /// Creates a world with the plane of `scene`. `statics_only` restricts wheel rays to static bodies.
    fn new(scene: &Scene, cars: &[CarStart], dt: f32, statics_only: bool) -> Self {
        assert!(scene.boxes.is_empty(), "the benches' Bullet world is a plane");
        let world = World::new(scene.gravity, scene.plane_normal().to_array(), statics_only);
        let (scene, clock) = (scene.clone(), Clock::new(dt));
        let mut backend = Self { cars: Vec::new(), slots: Slots::default(), world, scene, clock, statics_only };
        for start in cars {
            backend.insert(start);
        }
        backend
    }

    fn set_car_state(&mut self, slot: usize, state: &State) {
        self.cars[slot].state.clone_from(state);
        self.world.set_motion(slot, &motion(state));
    }
}

/// Inserts `car` into `slot` of Bullet's world.
fn insert_car(world: &mut World, slot: usize, car: &BulletCar) {
    let wheels: Vec<WheelTuning> = car.tuning.wheels.iter().map(wheel_tuning).collect();
    world.insert_car(slot, &car_tuning(&car.tuning, &car.model.parts().hull), &wheels, &motion(&car.state));
}

impl BulletCar {
    fn new(scene: &Scene, start: &CarStart, dt: f32) -> Self {
        let mut state = State::at_rest(&start.model, scene, &start.placement);
        // Bullet reports this velocity for a car at rest: its vehicle applies wheel forces after the pose is
        // integrated.
        if state.wheels.iter().any(|wheel| wheel.contact) {
            state.velocity += Vec3::Z * (scene.gravity * dt);
        }
        let wheels = state.wheels.len();
        Self {
            model: start.model.clone(),
            tuning: Tuning::from_model(&start.model),
            drivetrain: NoSlipDrivetrain::new(&start.model, &state),
            state,
            inputs: vec![WheelInput::default(); wheels],
            wheels: vec![Wheel::default(); wheels],
        }
    }

    fn apply_controls(&mut self, controls: &Controls, dt: f32) {
        let inputs = &mut self.inputs;
        self.drivetrain.update(&mut self.state, controls, dt, |i, forces| {
            (inputs[i].engine_force, inputs[i].brake) = (forces.drive, forces.brake * dt);
        });
        for (i, input) in self.inputs.iter_mut().enumerate() {
            input.steering = no_slip::update_wheel_steer_angle(&self.model, &mut self.state, i, controls);
        }
    }

    fn read_state(&mut self, motion: &Motion, dt: f32) {
        let state = &mut self.state;
        state.previous_velocity = state.velocity;
        state.position = Vec3::from_array(motion.position).as_dvec3();
        state.rotation = Quat::from_array(motion.rotation);
        state.velocity = Vec3::from_array(motion.velocity);
        state.angular_velocity = Vec3::from_array(motion.angular_velocity);
        for (i, (wheel, wheel_state)) in self.wheels.iter().zip(&mut state.wheels).enumerate() {
            let (tuning, wheel_model) = (&self.tuning.wheels[i], &self.model.wheels()[i]);
            let spin = wheel.rotation_step / RETAINED_ROTATION_RATIO / dt;
            let height = (tuning.hard_point + tuning.direction * f64::from(wheel.length)).z as f32;
            *wheel_state = WheelState {
                spin,
                compression: height - wheel_model.contact.z - wheel_model.radius,
                load: wheel.force.min(tuning.max_force as f32),
                rolling_speed: spin * wheel_model.radius,
                rolling: 1.0,
                steer: self.inputs[i].steering,
                contact: wheel.contact != 0,
                ..WheelState::default()
            };
        }
    }
}

impl Simulation for BulletWorld {
    fn name(&self) -> &'static str {
        if self.statics_only { STATICS_ONLY_INFO.name } else { BACKEND_INFO.name }
    }

    fn step(&mut self, controls: &[Controls]) -> StepReport {
        let coasting = Controls::coasting();
        for (i, car) in self.cars.iter_mut().enumerate().filter(|(slot, _)| self.slots.is_active(*slot)) {
            car.apply_controls(controls.get(i).unwrap_or(&coasting), self.clock.dt);
            self.world.set_inputs(i, &car.inputs);
        }
        self.world.step(self.clock.dt);
        self.clock.tick();
        for (i, car) in self.cars.iter_mut().enumerate().filter(|(slot, _)| self.slots.is_active(*slot)) {
            let motion = self.world.read_car(i, &mut car.wheels);
            car.read_state(&motion, self.clock.dt);
        }
        StepReport { iterations: 1, ..StepReport::default() }
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
        let BulletCar { model, state, .. } = &self.cars[slot];
        CarView::from_state(model, state, !self.slots.is_active(slot), StepReport::default())
    }

    fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.check_state(slot, state.wheels.len())?;
        self.set_car_state(slot, state);
        Ok(())
    }

    fn insert(&mut self, start: &CarStart) -> CarId {
        let id = self.slots.allocate(start.model.wheels().len());
        let car = BulletCar::new(&self.scene, start, self.clock.dt);
        insert_car(&mut self.world, id.slot(), &car);
        match self.cars.get_mut(id.slot()) {
            Some(existing_car) => *existing_car = car,
            None => self.cars.push(car),
        }
        id
    }

    fn remove(&mut self, car: CarId) -> Result<(), CarError> {
        let slot = self.slots.release(car)?;
        self.world.suspend_car(slot);
        Ok(())
    }

    fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.slots.suspend(slot)?;
        self.world.suspend_car(slot);
        Ok(())
    }

    fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.resume(slot, state.wheels.len())?;
        self.set_car_state(slot, state);
        Ok(())
    }

    fn save_into(&self, _bytes: &mut Vec<u8>) -> Result<(), SaveError> {
        Err(SaveError {
            backend: self.name(),
            of: SavedUnit::Car(0),
            reason: "Bullet keeps the wheels' turns and the contacts of hulls",
        })
    }
}

fn motion(state: &State) -> Motion {
    Motion {
        position: to_f32(state.position),
        rotation: state.rotation.normalize().to_array(),
        velocity: state.velocity.to_array(),
        angular_velocity: state.angular_velocity.to_array(),
    }
}

/// Returns mass, inertia and hull for Bullet. Products of inertia are dropped, since Bullet has none; those of shipped
/// cars are 0.
fn car_tuning(tuning: &Tuning, hull: &Hull) -> CarTuning {
    let inertia = tuning.inertia;
    CarTuning {
        mass: tuning.mass as f32,
        inertia: [inertia.x_axis.x, inertia.y_axis.y, inertia.z_axis.z].map(|moment| moment as f32),
        hull_centre: hull.centre.to_array(),
        hull_half_extents: hull.half_extents.to_array(),
    }
}

fn wheel_tuning(tuning: &skidpad_peers::bullet::WheelTuning) -> WheelTuning {
    WheelTuning {
        hard_point: to_f32(tuning.hard_point),
        direction: to_f32(tuning.direction),
        axle: to_f32(tuning.axle),
        rest_length: tuning.rest_length as f32,
        radius: tuning.radius as f32,
        stiffness: tuning.stiffness as f32,
        damping_compression: tuning.damping_compression as f32,
        damping_relaxation: tuning.damping_relaxation as f32,
        travel: tuning.max_travel as f32,
        max_force: tuning.max_force as f32,
        friction_slip: tuning.friction_slip as f32,
        roll_influence: tuning.roll_influence as f32,
    }
}

fn to_f32(vector: DVec3) -> [f32; 3] {
    vector.as_vec3().to_array()
}

#[cfg(test)]
mod tests {
    use skidpad_core::state::Placement;

    use super::*;

    /// Checks that the peer `bullet` (64 bits) and Bullet (32 bits) stay within 5 mm through throttle, steering and
    /// braking. Both simulate one vehicle model, so that their costs are comparable.
    #[test]
    fn bullet_and_its_reproduction_drive_alike() {
        for name in ["bullet_reference", "corvette_c5"] {
            let model = skidpad_spec::load(name).expect("shipped").model;
            let start = CarStart { model, placement: Placement { speed: 20.0, ..Placement::default() } };
            let peer = skidpad_peers::bullet::BACKEND_INFO;
            for solver in [BACKEND_INFO, STATICS_ONLY_INFO] {
                let worlds = [solver, peer]
                    .map(|info| (info.build_world)(&Scene::flat(), std::slice::from_ref(&start), 1.0 / 60.0));
                let [mut bullet, mut peer_world] = worlds;
                for step in 0..600u16 {
                    let controls = match step {
                        0..180 => Controls { throttle: 0.3, ..Controls::default() },
                        180..420 => Controls { throttle: 0.1, steer: 0.02, ..Controls::default() },
                        _ => Controls { brake: 0.3, ..Controls::default() },
                    };
                    bullet.step(std::slice::from_ref(&controls));
                    peer_world.step(std::slice::from_ref(&controls));
                    let distance = (bullet.state(0).position - peer_world.state(0).position).length();
                    assert!(distance < 5e-3, "{name}, {}: {distance} m apart after {step} steps", solver.name);
                }
                assert!(peer_world.state(0).position.x > 50.0 && peer_world.state(0).velocity.length() < 20.0);
            }
        }
    }
}
