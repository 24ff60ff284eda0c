//! Test helpers of this crate: a simple car, a point-mass solver and synthetic trajectories.

use std::sync::Arc;

use skidpad_core::model::{
    Aero, Axle, Hull, Powertrain, ProbeShape, RollingCoefficients, Side, Steering, Strut, Tyre, Wheel,
};
use skidpad_core::tyre::{CurveLaw, CurveTyre};
use skidpad_core::{
    CarError, CarId, CarStart, CarView, Clock, Controls, Frame, Mat3, Model, ModelParts, Scene, Simulation, Slots,
    SolverInfo, State, StepReport, Vec3,
};

use crate::compare::{Comparison, Outcome};
use crate::trajectory::Trajectory;

/// Builds the test car: 1000 kg, inertia 400/1200/1400 kg m² in roll, pitch and yaw, wheelbase 2.5 m, track 1.5 m,
/// centre of mass in the middle and 0.5 m high. Wheels have 0.3 m radius, springs of 25 kN/m, dampers of 1500 N s/m and
/// brakes of 1500 N m. Tyres are linear with 50 kN per unit of slip and friction 1. A motor has 400 N m at each rear
/// wheel; only the front axle steers, without Ackermann geometry. Drag is 0.4 N s²/m², the rolling coefficient 0.01.
pub fn model() -> Model {
    let wheel = |axle: usize, side: Side| Wheel {
        axle,
        side,
        // Half the wheelbase, half the track, ground below the centre of mass.
        contact: Vec3::new(if axle == 0 { 1.25 } else { -1.25 }, if side == Side::Left { 0.75 } else { -0.75 }, -0.5),
        radius: 0.3,
        spin_inertia: 1.0,
        tyre: 0,
        // Rate (N/m), damping (N s/m), bump and droop travel (m).
        strut: Strut { stop_rate: 1e5, stop_travel: 0.04, ..Strut::linear(25e3, 1500.0, [0.08, 0.08]) },
        mirrored: false,
        toe: 0.0,
        camber: 0.0,
        brake_torque: 1500.0,
        handbrake_torque: 0.0,
        disc: None,
        rolling: RollingCoefficients { constant: 0.01, ..RollingCoefficients::default() },
        unsprung: None,
        probe: ProbeShape::Ray,
    };
    let parts = ModelParts {
        mass: 1000.0,
        inertia: Mat3::from_diagonal(Vec3::new(400.0, 1200.0, 1400.0)),
        centre_height: 0.5,
        wheels: [0, 1].iter().flat_map(|&a| [wheel(a, Side::Left), wheel(a, Side::Right)]).collect(),
        axles: vec![
            Axle { steer_ratio: 1.0, ackermann: 0.0, turning_distance: 2.5, ..Axle::default() },
            Axle::default(),
        ],
        tyres: vec![Tyre::Curve(CurveTyre {
            law: CurveLaw::Linear { stiffness: [50e3, 50e3] },
            friction: [1.0, 1.0],
            load_sensitivity: 0.0,
            nominal_load: 2500.0,
            relaxation: [0.1, 0.3],
        })],
        steering: Steering { lock: 0.6, rate: f32::INFINITY, ..Steering::default() },
        powertrain: Powertrain::Direct([0.0, 0.0, 400.0, 400.0].into()),
        aero: Aero { drag: 0.4, ..Aero::default() },
        hull: Hull { centre: Vec3::ZERO, half_extents: Vec3::new(2.0, 0.8, 0.4) },
        ..ModelParts::default()
    };
    Model::new(parts).expect("the test car is valid")
}

/// Builds a trajectory of the test car with rows every `dt` s from 0 to `end` s (rounded to whole steps). Each row is
/// zero except for its time and the changes by `fill_frame(t, frame)`. Step reports are empty.
pub fn sampled(dt: f64, end: f64, fill_frame: impl Fn(f64, &mut Frame)) -> Trajectory {
    let model = model();
    let build_row = |k: u64| {
        let t_s = k as f64 * dt;
        let mut frame = Frame { t_s, wheels: vec![Default::default(); 4], ..Frame::default() };
        fill_frame(t_s, &mut frame);
        frame
    };
    let mut trajectory = Trajectory::new(&model, build_row(0), dt);
    for k in 1..=(end / dt).round() as u64 {
        trajectory.push(build_row(k), StepReport::default());
    }
    trajectory
}

/// Builds a comparison of braking on a plane with the results `outcomes` and steps of 0.01 s.
pub fn comparison(outcomes: Vec<Outcome>) -> Comparison {
    Comparison {
        manoeuvre: "braking",
        about: String::new(),
        dt_s: 0.01,
        cones: Vec::new(),
        diagrams: Vec::new(),
        closed_form_curves: Vec::new(),
        trailers: Vec::new(),
        scene: Scene::flat(),
        outcomes,
    }
}

/// Solver without tyres and springs. Motor torques, brakes and drag accelerate a point along its heading, and the
/// steering turns it like a kinematic bicycle model.
pub const POINT_MASS: SolverInfo = SolverInfo {
    name: "point-mass",
    description: "kinematics for tests",
    comparison_only: false,
    has_wheel_rows: true,
    build_world: build_point_mass,
};

/// World of [`POINT_MASS`].
struct PointMass {
    model: Arc<Model>,
    state: State,
    slots: Slots,
    clock: Clock,
    /// Yaw angle (rad).
    yaw: f64,
    /// Forward speed (m/s).
    speed: f64,
}

/// Creates the world with the first of `cars` only; further cars are ignored. The point starts at the placement, with
/// its heading and speed, in the rest pose of the car.
fn build_point_mass(scene: &Scene, cars: &[CarStart], dt: f32) -> Box<dyn Simulation> {
    // The first car alone; its slot is the first one.
    let start = &cars[0];
    let state = State::at_rest(&start.model, scene, &start.placement);
    let (yaw, speed) = (f64::from(start.placement.heading), f64::from(start.placement.speed));
    let mut slots = Slots::default();
    slots.allocate(start.model.wheels().len());
    Box::new(PointMass { model: Arc::clone(&start.model), state, slots, clock: Clock::new(dt), yaw, speed })
}

impl Simulation for PointMass {
    fn name(&self) -> &'static str {
        POINT_MASS.name
    }
    /// Advances the point by one step with the controls of the first car. The new speed follows from motor torques,
    /// throttle (800 N m), brake (6000 N m) and drag at 1000 kg; the brake stops a forward motion at 0. The yaw angle
    /// follows from the steering, the position from the new speed and heading. Loads and other wheel states do not
    /// change. Advances the clock.
    fn step(&mut self, controls: &[Controls]) -> StepReport {
        let (car_controls, dt) = (&controls[0], f64::from(self.clock.dt));
        // Forces (N): torques over the wheel radius of 0.3 m.
        let motor: f64 = car_controls.wheels.iter().map(|wheel| f64::from(wheel.motor_torque) / 0.3).sum();
        // Throttle: 2 motors of 400 N m. Brake: 4 brakes of 1500 N m. Drag: 0.4 N s²/m².
        let throttle = f64::from(car_controls.throttle) * 800.0 / 0.3;
        let brake = f64::from(car_controls.brake) * 6000.0 / 0.3;
        let force = motor + throttle - 0.4 * self.speed * self.speed;
        let previous_speed = self.speed;
        // Mass 1000 kg. A step neither reverses a forward motion nor slows a backward one by the brake.
        self.speed = (self.speed + dt * force / 1000.0 - dt * brake / 1000.0).max(previous_speed.min(0.0));
        // Kinematic bicycle model with the wheelbase 2.5 m.
        self.yaw += dt * self.speed * f64::from(car_controls.steer).tan() / 2.5;
        self.state.previous_velocity = self.state.velocity;
        let heading = skidpad_core::DVec3::new(self.yaw.cos(), self.yaw.sin(), 0.0);
        self.state.position += heading * (self.speed * dt);
        self.state.velocity = (heading * self.speed).as_vec3();
        self.state.angular_velocity = Vec3::Z * ((self.speed * f64::from(car_controls.steer).tan() / 2.5) as f32);
        self.state.rotation = Scene::flat().upright_orientation(self.yaw as f32);
        self.state.steer = car_controls.steer;
        self.clock.tick();
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
        CarView::from_state(&self.model, &self.state, !self.slots.is_active(slot), StepReport::default())
    }
    fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.check_state(slot, state.wheels.len())?;
        self.state.clone_from(state);
        Ok(())
    }
    /// Allocates a slot. All cars share one point.
    fn insert(&mut self, start: &CarStart) -> CarId {
        self.slots.allocate(start.model.wheels().len())
    }
    fn remove(&mut self, car: CarId) -> Result<(), CarError> {
        self.slots.release(car).map(|_| ())
    }
    fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.slots.suspend(slot)
    }
    fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.resume(slot, state.wheels.len())?;
        self.state.clone_from(state);
        Ok(())
    }
}
