//! Measured figures of `docs/bullet_defects.md`, compared with the page.

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use skidpad::core::state::Placement;
use skidpad::core::{CarStart, Controls, DVec3, FixedBox, Frame, Model, Scene, SolverInfo, Vec3, WheelControls};
use skidpad::impulse;
use skidpad::peers::bullet::{self, Tuning};

use crate::common::{Drive, Simplify, shipped};

/// Figure of the table, measured with `bullet` and with `impulse`.
struct Figure {
    /// Number in the list of defects; 0 if the list has no such defect.
    defect: u8,
    what: &'static str,
    digits: usize,
    /// Value in Bullet 3.24, as text; empty if it was not recorded.
    recorded: &'static str,
    bullet: f64,
    impulse: f64,
}

/// Solver of a measurement, and the change that it makes to Bullet's car.
#[derive(Clone, Copy)]
struct Mode {
    info: SolverInfo,
    tune: fn(&mut Tuning),
}

/// Sets the roll influence of the recorded car, for recorded figures that depend on it.
fn as_recorded(tuning: &mut Tuning) {
    tuning.wheels.iter_mut().for_each(|wheel| wheel.roll_influence = 1.0);
}

/// Sets the roll influence of Bullet's constructor.
fn as_constructed(tuning: &mut Tuning) {
    tuning.wheels.iter_mut().for_each(|wheel| wheel.roll_influence = 0.1);
}

impl Mode {
    fn is_bullet(&self) -> bool {
        self.info.comparison_only
    }

    fn drive(&self, model: &Arc<Model>, scene: &Scene, placement: Placement, hz: f32) -> Drive {
        let placement = Placement { gear: Some(0), ..placement };
        if !self.is_bullet() {
            return Drive::new(&self.info, model, scene, placement, hz);
        }
        let mut tuning = Tuning::from_model(model);
        (self.tune)(&mut tuning);
        let start = CarStart { model: model.clone(), placement };
        Drive { world: bullet::new_world(scene, &[(start, tuning)], 1.0 / hz) }
    }

    fn rolling(&self, model: &Arc<Model>, speed: f32, hz: f32) -> Drive {
        self.drive(model, &Scene::flat(), Placement { speed, ..Placement::default() }, hz)
    }
}

/// Measures a figure with `bullet` and with `impulse`. `tune` changes Bullet's car; `None` sets the roll influence of
/// Bullet's constructor.
fn figure(
    defect: u8,
    what: &'static str,
    digits: usize,
    recorded: &'static str,
    tune: Option<fn(&mut Tuning)>,
    measure: impl Fn(&Mode) -> f64,
) -> Figure {
    let [bullet, impulse] = [bullet::BACKEND_INFO, impulse::BACKEND_INFO]
        .map(|info| measure(&Mode { info, tune: tune.unwrap_or(as_constructed) }));
    Figure { defect, what, digits, recorded, bullet, impulse }
}

fn car(friction: f32) -> Arc<Model> {
    shipped("bullet_reference")
        .with_tyres(|tyre| skidpad::core::tyre::CurveTyre { friction: [friction; 2], ..*tyre })
        .model()
}

/// Returns the brake torque of four wheels (N·m) that `bullet` at 60 Hz applies as the impulse `impulse_per_step` (N·s).
fn brakes(impulse_per_step: f32) -> Box<[WheelControls]> {
    let brake_torque = impulse_per_step * 60.0 * 0.33;
    [WheelControls { brake_torque, ..WheelControls::default() }; 4].into()
}

/// Brakes `drive` with `brake` (N·s per step at 60 Hz). Returns the mean deceleration from 0.2 to 0.8 s after braking
/// begins, m/s².
fn deceleration(drive: &mut Drive, brake: f32, steer: f32) -> f64 {
    let controls = Controls { wheels: brakes(brake), steer, gear: Some(0), ..Controls::default() };
    let frames = drive.run(0.8, |_| controls.clone());
    let late = &frames[frames.len() - 1];
    let early = frames.iter().find(|f| f.t_s > 0.2).expect("0.8 s long");
    (early.vx_mps - late.vx_mps) / (late.t_s - early.t_s)
}

/// Returns the speed of a braked car on ten degrees between 10 and 13 s, mm/s.
fn creep(mode: &Mode, heading: f64, hz: f32) -> f64 {
    let placement = Placement { heading: heading as f32, ..Placement::default() };
    let mut drive = mode.drive(&car(1.0), &Scene::sloping(10f32.to_radians()), placement, hz);
    let parked = Controls { wheels: brakes(60.0), ..Controls::parked() };
    drive.run(10.0, |_| parked.clone());
    let before = drive.world.state(0).position;
    drive.run(3.0, |_| parked.clone());
    (drive.world.state(0).position - before).length() / 3.0 * 1e3
}

fn grip() -> Vec<Figure> {
    let slip = |mode: &Mode, steer: f32| deceleration(&mut mode.rolling(&car(0.5), 20.0, 60.0), 100.0, steer);
    let on = |mode: &Mode, grip: f32| {
        let placement = Placement { speed: 20.0, ..Placement::default() };
        deceleration(&mut mode.drive(&car(1.0), &Scene { grip, ..Scene::flat() }, placement, 60.0), 60.0, 0.0)
    };
    vec![
        figure(1, "deceleration straight on, friction 0.5, 24 kN of brakes, m/s²", 2, "16.0", None, |m| slip(m, 0.0)),
        figure(6, "the same with 1e-6 rad of steering, m/s²", 2, "9.81", None, |m| slip(m, 1e-6)),
        figure(7, "deceleration on ground of grip 1, m/s²", 2, "9.60", None, |m| on(m, 1.0)),
        figure(7, "deceleration on ground of grip 0.5, m/s²", 2, "9.60", None, |m| on(m, 0.5)),
        figure(
            11,
            "surface speed of a wheel over the car's, 0.25 s after brakes beyond friction at 5 m/s",
            3,
            "1",
            None,
            |m| {
                let mut drive = m.rolling(&car(0.5), 5.0, 240.0);
                let controls = Controls { wheels: brakes(100.0), gear: Some(0), ..Controls::default() };
                let frames = drive.run(0.25, |_| controls.clone());
                let last = &frames[frames.len() - 1];
                last.wheels[0].spin_radps * 0.33 / last.vx_mps
            },
        ),
    ]
}

fn slopes() -> Vec<Figure> {
    let tune = Some(as_recorded as fn(&mut Tuning));
    vec![
        figure(2, "creep across a slope of 10°, braked, 60 Hz, mm/s", 2, "83.3", tune, |m| creep(m, -FRAC_PI_2, 60.0)),
        figure(2, "the same at 240 Hz, mm/s", 2, "20.8", tune, |m| creep(m, -FRAC_PI_2, 240.0)),
        figure(2, "the same at 60 Hz, roll influence 0.1, mm/s", 2, "121.5", None, |m| creep(m, -FRAC_PI_2, 60.0)),
        figure(3, "creep nose uphill on 10°, braked, 60 Hz, mm/s", 2, "38.3", tune, |m| creep(m, 0.0, 60.0)),
        figure(3, "the same at 240 Hz, mm/s", 2, "9.6", tune, |m| creep(m, 0.0, 240.0)),
    ]
}

fn pedals() -> Vec<Figure> {
    // Brake of 15 N·s per step, converted with the step length of 60 Hz at every rate.
    let tuned = Some((|t: &mut Tuning| t.brake_step = Some(1.0 / 60.0)) as fn(&mut Tuning));
    let braked = |m: &Mode, hz: f32| deceleration(&mut m.rolling(&car(1.0), 20.0, hz), 15.0, 0.0);
    let both = |m: &Mode| {
        let mut drive = m.rolling(&car(1.0), 8.0, 60.0);
        let motor_torque = 1500.0 * 0.33;
        let wheels: Vec<WheelControls> = (0..4)
            .map(|i| WheelControls { motor_torque: if i < 2 { 0.0 } else { motor_torque }, ..brakes(60.0)[i] })
            .collect();
        let controls = Controls { wheels: wheels.into(), gear: Some(0), ..Controls::default() };
        let frames = drive.run(6.0, |_| controls.clone());
        frames[frames.len() - 1].vx_mps
    };
    let standing = |m: &Mode| {
        let mut drive = m.rolling(&car(1.0), 20.0, 60.0);
        let controls = Controls { wheels: brakes(60.0), gear: Some(0), ..Controls::default() };
        let frames = drive.run(8.0, |_| controls.clone());
        frames[360..].iter().map(|f| f.vx_mps.hypot(f.vy_mps)).fold(0.0, f64::max) * 1e3
    };
    vec![
        figure(4, "deceleration of a brake set to 2.4 m/s² at 60 Hz, at 60 Hz, m/s²", 2, "", tuned, |m| {
            braked(m, 60.0)
        }),
        figure(4, "the same setting at 240 Hz, m/s²", 2, "9.6", tuned, |m| braked(m, 240.0)),
        figure(
            5,
            "speed after 6 s of brakes on all and 3 kN of engine on the rear, from 8 m/s, m/s",
            3,
            "0.11",
            None,
            both,
        ),
        figure(15, "largest speed from 4 to 6 s after a stop on the flat, brakes on, mm/s", 3, "0", None, standing),
    ]
}

/// Presses a standing car 50 mm beyond its spring travel, with the lateral speed `aside` (m/s). Returns the frame after a
/// step.
fn pressed(mode: &Mode, aside: f32) -> Frame {
    let mut drive = mode.rolling(&car(1.0), 0.0, 240.0);
    let mut state = drive.world.state(0).clone();
    state.position.z -= 0.138_687_5 + 0.05;
    // The vertical velocity is not changed: Bullet's standing cars report one.
    state.velocity.y = aside;
    drive.world.set_state(0, &state).expect("it fits");
    drive.step(&Controls::coasting())
}

fn springs() -> Vec<Figure> {
    let bounded: fn(&mut Tuning) = |tuning| {
        as_constructed(tuning);
        tuning.wheels.iter_mut().for_each(|wheel| wheel.max_force = 6000.0);
    };
    let side = |m: &Mode| {
        let wheel = pressed(m, 5.0).wheels[0].clone();
        wheel.fy_n.abs() / wheel.load_n
    };
    let dip = |m: &Mode, hz: f32| {
        let mut drive = m.rolling(&car(1.0), 0.0, hz);
        let mut state = drive.world.state(0).clone();
        state.position.z = 0.8;
        state.velocity = Vec3::ZERO;
        drive.world.set_state(0, &state).expect("it fits");
        let frames = drive.run(3.0, |_| Controls::coasting());
        (0.6686875 - frames.iter().map(|f| f.z_m).fold(f64::MAX, f64::min)) * 1e3
    };
    vec![
        figure(12, "wheel load 50 mm beyond the travel, N", 0, "", None, |m| pressed(m, 0.0).wheels[0].load_n),
        figure(12, "side force over load there, friction 1, Bullet's force bound to 6 kN", 2, "", Some(bounded), side),
        figure(0, "depth of the dip after a fall of 70 mm, 60 Hz, mm", 1, "15.2", None, |m| dip(m, 60.0)),
        figure(0, "the same at 240 Hz, mm", 1, "21.1", None, |m| dip(m, 240.0)),
        figure(0, "the same at 1920 Hz, mm", 1, "", None, |m| dip(m, 1920.0)),
    ]
}

fn steering() -> Vec<Figure> {
    let tune = Some(as_recorded as fn(&mut Tuning));
    let turned = |m: &Mode, hz: f32| {
        let mut drive = m.rolling(&car(1.0), 15.0, hz);
        let controls = Controls { steer: 0.05, ..Controls::coasting() };
        let frames = drive.run(0.1, |_| controls.clone());
        frames[frames.len() - 1].yaw_rate_radps
    };
    vec![
        figure(2, "yaw rate 0.1 s after 0.05 rad of steering at 15 m/s, 30 Hz, rad/s", 3, "0.154", tune, |m| {
            turned(m, 30.0)
        }),
        figure(2, "the same at 60 Hz, rad/s", 3, "0.220", tune, |m| turned(m, 60.0)),
        figure(2, "the same at 240 Hz, rad/s", 3, "0.272", tune, |m| turned(m, 240.0)),
        figure(2, "the same at 1920 Hz, rad/s", 3, "", tune, |m| turned(m, 1920.0)),
    ]
}

fn numbers() -> Vec<Figure> {
    let standing = |m: &Mode, hz: f32| {
        let mut drive = m.rolling(&car(1.0), 0.0, hz);
        let frames = drive.run(5.0, |_| Controls::coasting());
        frames[frames.len() - 1].vz_mps * 1e3
    };
    let height = |m: &Mode, middle: DVec3| {
        let scene = Scene { boxes: vec![FixedBox::axis_aligned(middle, Vec3::new(40.0, 20.0, 0.3))], ..Scene::flat() };
        let mut drive = m.drive(&car(1.0), &scene, Placement::default(), 60.0);
        let mut state = drive.world.state(0).clone();
        state.position += middle + DVec3::Z * 0.15;
        drive.world.set_state(0, &state).expect("it fits");
        drive.run(5.0, |_| Controls::coasting());
        drive.world.state(0).position.z
    };
    let far = |m: &Mode| (height(m, DVec3::new(1000.0, 1000.0, 0.0)) - height(m, DVec3::ZERO)).abs() * 1e3;
    vec![
        figure(13, "difference in height at rest on a box at the origin and 1.4 km away, mm", 3, "up to 21", None, far),
        figure(0, "vertical speed a standing car reports, 60 Hz, mm/s", 1, "163.5", None, |m| standing(m, 60.0)),
        figure(0, "the same at 240 Hz, mm/s", 1, "40.9", None, |m| standing(m, 240.0)),
    ]
}

fn table() -> String {
    let mut figures: Vec<Figure> =
        [grip(), slopes(), pedals(), springs(), steering(), numbers()].into_iter().flatten().collect();
    figures.sort_by_key(|f| if f.defect == 0 { u8::MAX } else { f.defect });
    let mut text = String::from("| defect | figure | Bullet 3.24 | `bullet` | `impulse` |\n|---|---|---|---|---|\n");
    for f in figures {
        // Prints negative zero as zero.
        let number = |value: f64| format!("{:.*}", f.digits, value + 0.0).replace("-0.000", "0.000");
        let defect = if f.defect == 0 { "-".into() } else { format!("D{}", f.defect) };
        let (what, recorded) = (f.what, f.recorded);
        text.push_str(&format!("| {defect} | {what} | {recorded} | {} | {} |\n", number(f.bullet), number(f.impulse)));
    }
    text
}

const BEGIN: &str = "<!-- measured by tests/it/peers/bullet_defects.rs -->\n";
const END: &str = "<!-- end of what is measured -->";

#[test]
fn the_page_of_defects_says_what_is_measured() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/bullet_defects.md");
    let page = std::fs::read_to_string(path).expect("readable");
    let (head, rest) = page.split_once(BEGIN).expect("the mark where the table begins");
    let (old, tail) = rest.split_once(END).expect("the mark where the table ends");
    let new = table();
    if std::env::var_os("SKIDPAD_UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{head}{BEGIN}{new}{END}{tail}")).expect("writable");
        return;
    }
    assert_eq!(old, new, "docs/bullet_defects.md is stale: SKIDPAD_UPDATE_DOCS=1 cargo test --test it bullet_defects");
}
