//! `bullet` against recorded runs of Bullet 3.24 (see `data/bullet/README.md`).

use skidpad::core::state::Placement;
use skidpad::core::{CarStart, Controls, DMat3, DQuat, DVec3, FixedBox, Scene, Vec3, WheelControls, model::Hull};
use skidpad::peers::bullet::{Body, Car, Ground, Tuning, WheelInput, WheelTuning, new_world};

use crate::common::{Simplify, shipped};

/// Recorded run: car, ground, inputs and some rows of the motion. Lengths in m, times in s, angles in rad, brake in N·s per
/// step.
struct Run {
    name: String,
    dt: f64,
    roll_influence: f64,
    friction_slip: f64,
    on_box: bool,
    start_height: f64,
    settle: f64,
    end: f64,
    speed: f64,
    engine: f64,
    brake: f64,
    brake_from: f64,
    steer: f64,
    steer_from: f64,
    slope: f64,
    heading: f64,
    rows: Vec<Row>,
}

/// Motion of a car in axes of the ground: x along the car's initial heading, y to its left, z along the normal.
struct Row {
    time: f64,
    position: DVec3,
    rotation: DQuat,
    velocity: DVec3,
    lengths: [f64; 4],
    contacts: [bool; 4],
}

fn recorded() -> Vec<Run> {
    let list: serde_json::Value = serde_json::from_str(include_str!("../data/bullet/runs.json")).expect("valid");
    let rows = include_str!("../data/bullet/recorded.csv");
    list.as_array().expect("a list").iter().map(|run| Run::of(run, rows)).collect()
}

impl Run {
    fn of(run: &serde_json::Value, rows: &str) -> Self {
        let number = |key: &str| run[key].as_f64().expect(key);
        let name = run["run"].as_str().expect("a name").to_owned();
        let always = number("brake_always_Ns_per_step");
        let (along, across) = (number("slope_uphill_toward_plusZ_rad"), number("slope_uphill_toward_plusX_rad"));
        let settle = number("settle_s");
        Self {
            dt: number("dt"),
            roll_influence: number("roll_influence"),
            friction_slip: number("friction_slip"),
            on_box: run["box"] == true,
            start_height: number("start_y"),
            settle,
            end: settle + number("duration_s"),
            speed: number("v0"),
            engine: number("engine_rear_each_N"),
            brake: if always > 0.0 { always } else { number("brake_Ns_per_step_all") },
            brake_from: if always > 0.0 { 0.0 } else { run["brake_from_ts"].as_f64().unwrap_or(f64::INFINITY) },
            steer: number("steer_amp"),
            steer_from: number("steer_from_ts"),
            slope: along + across,
            heading: if across > 0.0 { -std::f64::consts::FRAC_PI_2 } else { 0.0 },
            rows: rows.lines().filter_map(|l| l.strip_prefix(&name)?.strip_prefix(',')).map(Row::of).collect(),
            name,
        }
    }

    fn scene(&self) -> Scene {
        let step = FixedBox::axis_aligned(DVec3::new(10.0, 0.0, -0.425), Vec3::new(40.0, 20.0, 1.15));
        let boxes = if self.on_box { vec![step] } else { Vec::new() };
        Scene { boxes, ..Scene::sloping(self.slope as f32) }
    }

    /// Returns the rotation from axes of the ground to world axes.
    fn axes(&self) -> DQuat {
        self.scene().upright_orientation(self.heading as f32).as_dquat().normalize()
    }

    /// Returns the engine force at each rear wheel (N), the brake impulse at each wheel (N·s per step) and the steering of
    /// the front wheels (rad) in step `step`.
    fn inputs(&self, step: usize) -> (f64, f64, f64) {
        // The margin keeps rounding from moving a step before the second at which it begins.
        let time = step as f64 * self.dt - self.settle + 1e-9;
        let from = |start: f64, value: f64| if time >= start { value } else { 0.0 };
        (from(0.0, self.engine), from(self.brake_from, self.brake), from(self.steer_from, self.steer))
    }

    fn steps(&self) -> usize {
        (self.end / self.dt).round() as usize
    }

    /// Returns the step before which the recording set the speed; `None` if it set none.
    fn launch(&self) -> Option<usize> {
        (self.speed != 0.0).then(|| (self.settle / self.dt).round() as usize)
    }
}

impl Row {
    fn of(line: &str) -> Self {
        let v: Vec<f64> = line.split(',').map(|v| v.parse().expect("a number")).collect();
        // Bullet's runs have y up and z forward, so that x points left.
        Self {
            time: v[0],
            position: DVec3::new(v[3], v[1], v[2]),
            rotation: DQuat::from_xyzw(v[6], v[4], v[5], v[7]),
            velocity: DVec3::new(v[10], v[8], v[9]),
            lengths: [v[11], v[12], v[13], v[14]],
            contacts: [v[15], v[16], v[17], v[18]].map(|c| c != 0.0),
        }
    }
}

/// Returns the recorded car in Bullet's own numbers.
fn tuning(run: &Run) -> Tuning {
    let wheel = |i: usize| WheelTuning {
        hard_point: DVec3::new([1.35, -1.35][i / 2], [0.78, -0.78][i % 2], -0.05),
        direction: DVec3::NEG_Z,
        axle: DVec3::NEG_Y,
        rest_length: 0.35,
        radius: 0.33,
        stiffness: 40.0,
        damping_compression: 3.794733192202055,
        damping_relaxation: 6.324555320336759,
        max_travel: 0.2,
        max_force: 20_000.0,
        friction_slip: run.friction_slip,
        roll_influence: run.roll_influence,
    };
    Tuning {
        mass: 1500.0,
        inertia: DMat3::from_diagonal(DVec3::new(450.0, 2250.0, 2610.0)),
        hull: Some(Hull { centre: Vec3::ZERO, half_extents: Vec3::new(2.1, 0.9, 0.3) }),
        wheels: (0..4).map(wheel).collect(),
        brake_step: None,
    }
}

/// Largest differences from a recording.
#[derive(Debug, Default)]
struct Errors {
    position_m: f64,
    rotation_deg: f64,
    velocity_mps: f64,
    length_m: f64,
    contacts: usize,
}

impl Errors {
    fn meet(&mut self, row: &Row, now: &Row) {
        self.position_m = self.position_m.max((now.position - row.position).length());
        let apart = (now.rotation * row.rotation.inverse()).xyz().length();
        self.rotation_deg = self.rotation_deg.max(2.0 * apart.asin().to_degrees());
        self.velocity_mps = self.velocity_mps.max((now.velocity - row.velocity).length());
        for i in 0..4 {
            self.length_m = self.length_m.max((now.lengths[i] - row.lengths[i]).abs());
            self.contacts += usize::from(now.contacts[i] != row.contacts[i]);
        }
    }
}

/// Compares the row that `step` returns for each step with the recorded rows of `run`. The first recorded row is the start
/// and is skipped.
fn follow(run: &Run, mut step: impl FnMut(usize) -> Row) -> Errors {
    let mut errors = Errors::default();
    let mut rows = run.rows.iter().skip(1).peekable();
    for k in 0..run.steps() {
        let now = step(k);
        if let Some(row) = rows.next_if(|row| (row.time / run.dt).round() as usize == k + 1) {
            errors.meet(row, &now);
        }
    }
    assert!(rows.next().is_none(), "{}: rows left over", run.name);
    errors
}

/// Returns the pose of a recorded car at the start, in world axes, at rest.
fn start(run: &Run) -> Body {
    let axes = run.axes();
    let position = axes * DVec3::new(0.0, 0.0, run.start_height);
    Body { position, rotation: axes, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO }
}

/// Runs step `k` of a recording. Sets the recorded speed before the launch step.
fn drive(car: &mut Car, run: &Run, ground: &Ground, k: usize) {
    if run.launch() == Some(k) {
        car.body.velocity.x = run.speed;
    }
    let (engine, brake, steer) = run.inputs(k);
    let input = |i: usize| WheelInput {
        engine_force: if i < 2 { 0.0 } else { engine },
        brake,
        steering: if i < 2 { steer } else { 0.0 },
    };
    car.step(ground, &[0, 1, 2, 3].map(input), run.dt);
}

/// Returns the errors of Bullet's vehicle alone, in 64 bits with Bullet's own numbers.
fn by_the_car(run: &Run) -> Errors {
    let to_ground = run.axes().inverse();
    let ground = Ground::new(&run.scene());
    let mut car = Car::new(tuning(run), start(run));
    follow(run, |k| {
        drive(&mut car, run, &ground, k);
        Row {
            time: 0.0,
            position: to_ground * car.body.position,
            rotation: to_ground * car.body.rotation,
            velocity: to_ground * car.body.velocity,
            lengths: [0, 1, 2, 3].map(|i| car.wheels()[i].length),
            contacts: [0, 1, 2, 3].map(|i| car.wheels()[i].contact),
        }
    })
}

/// Returns the errors of the backend with the shipped description, and with the friction and roll influence of the run.
fn by_the_backend(run: &Run) -> Errors {
    let model = shipped("bullet_reference").model();
    let mut tuning = Tuning::from_model(&model);
    for wheel in &mut tuning.wheels {
        wheel.roll_influence = run.roll_influence;
        wheel.friction_slip = run.friction_slip;
    }
    let (axes, length_at_rest) = (run.axes(), 0.288_687_5);
    let placement = Placement { heading: run.heading as f32, ..Placement::default() };
    let start = CarStart { model: model.clone(), placement };
    let mut backend = new_world(&run.scene(), &[(start, tuning)], run.dt as f32);
    let mut state = backend.state(0).clone();
    state.position = axes * DVec3::new(0.0, 0.0, run.start_height);
    state.rotation = axes.as_quat();
    state.velocity = Vec3::ZERO;
    backend.set_state(0, &state).expect("it fits");
    follow(run, |k| {
        if run.launch() == Some(k) {
            let mut state = backend.state(0).clone();
            state.velocity.x = run.speed as f32;
            backend.set_state(0, &state).expect("it fits");
        }
        let (engine, brake, steer) = run.inputs(k);
        let raw = WheelControls { brake_torque: (brake / run.dt * 0.33) as f32, ..WheelControls::default() };
        backend.step(&[Controls {
            throttle: (engine / 1500.0) as f32,
            steer: steer as f32,
            wheels: [raw; 4].into(),
            ..Controls::default()
        }]);
        let (state, to_ground) = (backend.state(0), axes.inverse());
        Row {
            time: 0.0,
            position: to_ground * state.position,
            rotation: to_ground * state.rotation.as_dquat(),
            velocity: to_ground * state.velocity.as_dvec3(),
            lengths: [0, 1, 2, 3].map(|i| length_at_rest - f64::from(state.wheels[i].compression)),
            contacts: [0, 1, 2, 3].map(|i| state.wheels[i].contact),
        }
    })
}

#[test]
fn the_car_follows_every_recorded_run() {
    for run in recorded() {
        let errors = by_the_car(&run);
        let what = format!("{}: {errors:?}", run.name);
        // The scene stores gravity, slope, box and hull in f32, an error of 4e-8 of each quantity. E9 is sensitive to 1e-6
        // rad of steering.
        assert!(errors.position_m < 2e-6 && errors.length_m < 1e-7, "{what}");
        assert!(errors.velocity_mps < 2e-6 && errors.rotation_deg < 1e-5, "{what}");
        assert_eq!(errors.contacts, 0, "{what}");
    }
}

#[test]
fn the_backend_follows_every_recorded_run() {
    for run in recorded() {
        let errors = by_the_backend(&run);
        let what = format!("{}: {errors:?}", run.name);
        // Required: 1 cm, 0.1 degree, 1 mm. The state stores velocities in f32. At 2 m/s² and 240 Hz each step adds 8 mm/s
        // to 20 m/s. This is rounded by up to 1 µm/s, always in one direction.
        assert!(errors.position_m < 1e-3 && errors.length_m < 1e-5, "{what}");
        assert!(errors.velocity_mps < 5e-4 && errors.rotation_deg < 1e-3, "{what}");
        assert_eq!(errors.contacts, 0, "{what}");
    }
}

/// Runs recording `name` with another rate and roll influence. Calls `seen` after every step with the number of steps and
/// the car.
fn replay(name: &str, hz: f64, roll_influence: f64, mut seen: impl FnMut(usize, &Car)) {
    let mut run = recorded().into_iter().find(|run| run.name == name).expect("recorded");
    (run.dt, run.roll_influence, run.rows) = (1.0 / hz, roll_influence, Vec::new());
    let mut car = Car::new(tuning(&run), start(&run));
    let ground = Ground::new(&run.scene());
    for k in 0..run.steps() {
        drive(&mut car, &run, &ground, k);
        seen(k + 1, &car);
    }
}

/// Runs that are not in the recorded data, compared with the figures that were noted of them.
#[test]
fn a_step_of_steering_depends_on_the_rate_as_recorded() {
    // Columns: rate, yaw rate 0.1 s, 0.25 s and 1 s after the steering step, final distance to the left and ahead.
    let noted = [
        (30.0, 0.154, 0.236, 0.2764, 93.78, 53.35),
        (60.0, 0.220, 0.2725, 0.2768, 95.83, 49.38),
        (120.0, 0.257, 0.2773, 0.2772, 96.76, 47.55),
        (240.0, 0.272, 0.2775, 0.2773, 97.20, 46.69),
        (480.0, 0.2775, 0.2775, 0.2774, 97.40, 46.28),
    ];
    for (hz, soon, later, steady, left, ahead) in noted {
        let (mut rates, mut end) = ([0.0; 3], DVec3::ZERO);
        replay("S4", hz, 1.0, |k, car| {
            for (rate, after) in rates.iter_mut().zip([4.1, 4.25, 5.0]) {
                if k == (after * hz + 1e-9) as usize {
                    *rate = car.body.angular_velocity.z;
                }
            }
            end = car.body.position;
        });
        let off = [rates[0] - soon, rates[1] - later, rates[2] - steady].map(f64::abs);
        // Tolerance: half of the last digit noted.
        assert!(off[0] < 6e-4 && off[1] < 6e-4 && off[2] < 6e-5, "{hz} Hz: {rates:?}");
        assert!((end.y - left).abs() < 6e-3 && (end.x - ahead).abs() < 6e-3, "{hz} Hz: {end}");
    }
}

#[test]
fn creep_and_settling_depend_on_rate_and_roll_influence_as_recorded() {
    // Columns: run, rate, roll influence, noted creep in mm/s. The car is braked on ten degrees, nose uphill (E1) or across
    // the slope (E2).
    let noted = [
        ("E1", 60.0, 1.0, 38.3),
        ("E1", 240.0, 1.0, 9.6),
        ("E2", 60.0, 1.0, 83.3),
        ("E2", 240.0, 1.0, 20.8),
        ("E2", 60.0, 0.1, 121.5),
    ];
    for (name, hz, roll_influence, creep) in noted {
        let (mut before, mut after) = (DVec3::ZERO, DVec3::ZERO);
        replay(name, hz, roll_influence, |k, car| {
            if k == 10 * hz as usize {
                before = car.body.position;
            }
            after = car.body.position;
        });
        let found = (after - before).length() / 3.0 * 1e3;
        assert!((found - creep).abs() < 0.06, "{name} at {hz} Hz, roll influence {roll_influence}: {found} mm/s");
    }
    for (hz, lowest) in [(60.0, 0.65346), (240.0, 0.64762)] {
        let mut found = f64::INFINITY;
        replay("S1", hz, 1.0, |_, car| found = found.min(car.body.position.z));
        assert!((found - lowest).abs() < 6e-6, "{hz} Hz: {found} m");
    }
}
