//! Axles whose roll centre is off the ground: less roll for the same load transfer, and no energy gain.

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use skidpad::core::model::{Tyre, Unsprung};
use skidpad::core::state::Placement;
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{Controls, Frame, Model, ModelParts, Quat, Scene, SolverInfo, Vec3};
use skidpad::lab::closed_form::steady_state::rollover;
use skidpad::lab::closed_form::{Characteristics, UnsprungCharacteristics};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, curve, hold_speed, mean, on_rows};
use crate::suspension::steady_turn;

/// Heights of the roll centres, front and rear, m.
const HEIGHTS: [[f32; 2]; 5] = [[0.3, 0.3], [0.05, 0.2], [-0.1, 0.15], [0.25, -0.2], [-0.15, -0.15]];

/// Returns a C5 with roll centres at `heights` (m), wheels of 45 kg each, and solid axles if `solid`.
fn car(heights: [f32; 2], solid: bool) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance();
    for (axle, height) in parts.axles.iter_mut().zip(heights) {
        (axle.roll_centre_height, axle.solid, axle.ackermann) = (height, solid, 0.0);
    }
    for wheel in &mut parts.wheels {
        wheel.unsprung = Some(Unsprung { mass: 45.0, tyre_rate: 250e3, tyre_damping: 0.0 });
    }
    parts
}

/// Returns the roll stiffness of the springs and bars of `axle`, N·m/rad.
fn stiffness(model: &Model, axle: usize) -> f64 {
    let parts = model.parts();
    let struts = parts.wheels.iter().filter(|w| w.axle == axle);
    let struts: f64 = struts.map(|w| f64::from(w.strut.rate) * f64::from(w.contact.y).powi(2)).sum();
    let bars = parts.bars.iter().filter(|bar| parts.wheels[bar.wheels[0]].axle == axle);
    struts + bars.map(|bar| f64::from(bar.rate) * track(model, axle).powi(2)).sum::<f64>()
}

fn track(model: &Model, axle: usize) -> f64 {
    f64::from(model.wheels()[2 * axle].contact.y - model.wheels()[2 * axle + 1].contact.y)
}

/// Returns the share of the weight on `axle`.
fn share(model: &Model, axle: usize) -> f64 {
    f64::from(model.static_load(2 * axle) + model.static_load(2 * axle + 1)) / (f64::from(model.mass()) * GRAVITY)
}

/// `φ / a_y = m (h − r) / (K − m g (h − r))`, r being the mean of the roll centres by static load. Each axle transfers load
/// by its springs and its links, `ΔN t = K_i φ + F_i r_i`. Both together fulfil the balance of moments for any r.
#[test]
fn bodies_roll_about_their_roll_axis() {
    for (heights, solid) in HEIGHTS.into_iter().flat_map(|heights| [(heights, false), (heights, true)]) {
        let model = car(heights, solid).model();
        let (mass, h) = (f64::from(model.mass()), f64::from(model.parts().centre_height));
        let raised: f64 = (0..2).map(|axle| share(&model, axle) * f64::from(heights[axle])).sum();
        let held = stiffness(&model, 0) + stiffness(&model, 1) - mass * GRAVITY * (h - raised);
        let massless = mass * (h - raised) / held;
        let own = UnsprungCharacteristics::of(&model).and_then(|own| own.roll_gradient).expect("stands");
        let told = Characteristics::new(&model).roll_gradient.expect("stands");
        close("roll told", told, massless, 1e-6, "f32");
        for solver in on_rows() {
            let what = format!("{} with roll centres at {heights:?} m, solid axles {solid}", solver.name);
            let last = steady_turn(&solver, &model);
            let (ay, roll) = (mean(&last, |f| f.ay_mps2), mean(&last, |f| f.roll_rad));
            let on_its_own = solver.name == "constraint-unsprung";
            let expected = if on_its_own { own } else { massless };
            // Lateral forces act along the ground, not exactly at right angles to the struts, and spread them.
            close(&what, roll / ay, expected, if on_its_own { 0.02 } else { 0.01 }, "asked: 3 % of the multi-body set");
            let moved = |axle: usize| {
                let [left, right] = [2 * axle, 2 * axle + 1];
                0.5 * mean(&last, |f| f.wheels[right].load_n - f.wheels[left].load_n) * track(&model, axle)
            };
            // The roll axis is that of the struts. Tyre deflection rolls the whole car over the ground.
            let over_axis: f64 = (0..2)
                .map(|axle| {
                    let [left, right] = [2 * axle, 2 * axle + 1];
                    let travel = mean(&last, |f| f.wheels[right].compression_m - f.wheels[left].compression_m);
                    share(&model, axle) * f64::from(heights[axle]) * travel / track(&model, axle)
                })
                .sum();
            let all = mass * (h * ay + GRAVITY * (h * roll - over_axis));
            close(&format!("{what}: all transfer"), moved(0) + moved(1), all, 0.01, "asked");
            if on_its_own {
                continue;
            }
            for (axle, height) in heights.into_iter().enumerate() {
                let by_links = mass * ay * share(&model, axle) * f64::from(height);
                let by_springs = stiffness(&model, axle) * roll;
                let left = moved(axle) - by_links - by_springs;
                assert!(left.abs() < 0.01 * all, "{what}: axle {axle} moves {left} N m too much of {all}");
            }
        }
    }
}

/// Jacking: in a left turn, lateral forces through links that rise to the middle lift the body by the difference between the
/// forces of both wheels of an axle: `κ (F_l − F_r) = k_l z_l + k_r z_r` less the change of their loads.
#[test]
fn side_forces_jack_the_body_up() {
    for height in [0.25f32, -0.2] {
        let parts = car([height; 2], false);
        let model = parts.model();
        for solver in on_rows().into_iter().filter(|solver| solver.name != "constraint-unsprung") {
            let mut car = Drive::rolling(&solver, &model, 20.0, 240.0);
            let frames = car.run(6.0, |f| Controls {
                steer: 0.04,
                gear: Some(0),
                wheels: hold_speed(f, &model, 20.0),
                ..Controls::default()
            });
            let roll = frames[frames.len() - 1].roll_rad;
            let state = car.world.state(0);
            for axle in 0..2 {
                let [left, right] = [2 * axle, 2 * axle + 1].map(|i| &state.wheels[i]);
                let aside = |wheel: &skidpad::core::state::WheelState| {
                    let (sin, cos) = wheel.steer.sin_cos();
                    f64::from(wheel.tyre[0] * sin + wheel.tyre[1] * cos)
                };
                // Roll tilts the ground against the links.
                let slope =
                    |side: f64| side * model.link_slope(2 * axle) / (1.0 + side * model.link_slope(2 * axle) * roll);
                let jacked = slope(1.0) * aside(left) + slope(-1.0) * aside(right);
                let rate = f64::from(model.wheels()[2 * axle].strut.rate);
                let springs = rate * f64::from(left.compression + right.compression);
                let carried = f64::from(model.static_load(2 * axle) + model.static_load(2 * axle + 1));
                let pressing = f64::from(left.load + right.load);
                assert!((jacked * f64::from(height)) < 0.0, "{}: the outer wheel holds more", solver.name);
                // Struts act along the vertical axis of the body.
                let missing = (springs + carried) / roll.cos() - jacked - pressing;
                assert!(missing.abs() < 2e-4 * carried, "{} axle {axle}: {missing} N of {carried}", solver.name);
            }
        }
    }
}

/// A car parked across a slope leans less on its springs by the force of its links. It is in equilibrium from the first
/// step.
#[test]
fn cars_stand_across_a_slope_on_their_links() {
    for (heights, solid) in [([0.3, 0.2], false), ([0.3, 0.2], true), ([-0.2, 0.1], false)] {
        let model = car(heights, solid).model();
        for solver in on_rows() {
            for hz in [20.0, 60.0, 240.0] {
                let placement = Placement { heading: FRAC_PI_2 as f32, gear: Some(0), ..Placement::default() };
                let scene = Scene::sloping(0.2);
                let mut car = Drive::new(&solver, &model, &scene, placement, hz);
                let frames = car.run(4.0, |_| Controls::parked());
                let what = format!("{} at {hz} Hz, {heights:?}", solver.name);
                let (first, last) = (&frames[0], &frames[frames.len() - 1]);
                let settled = &frames[frames.len() / 2];
                let crept = (last.x_m - settled.x_m).hypot(last.y_m - settled.y_m);
                assert!(crept < 1e-4, "{what}: {crept} m in 2 s");
                if solver.name == "constraint-unsprung" {
                    continue;
                }
                for i in 0..4 {
                    let travel = first.wheels[i].compression_m - last.wheels[i].compression_m;
                    assert!(travel.abs() < 1e-3, "{what}: wheel {i} settles {travel} m");
                    close(&what, first.wheels[i].load_n, last.wheels[i].load_n, 0.01, "small angles; strained patches");
                }
            }
        }
    }
}

/// A car released out of a roll without dampers never swings farther: tyres that slide sideways only dissipate energy.
#[test]
fn a_car_on_links_swings_without_gaining() {
    for solid in [false, true] {
        let mut parts = car([0.3, 0.15], solid);
        for wheel in &mut parts.wheels {
            (wheel.strut.bump_damping, wheel.strut.rebound_damping) = (0.0, 0.0);
        }
        let model = parts.model();
        for solver in on_rows() {
            for (hz, speed) in [30.0, 60.0, 240.0, 1000.0].into_iter().flat_map(|hz| [(hz, 0.0), (hz, 20.0)]) {
                let mut car = Drive::rolling(&solver, &model, speed, hz);
                let mut state = car.world.state(0).clone();
                let start = 0.03f32;
                state.rotation = Quat::from_axis_angle(Vec3::X, start) * state.rotation;
                car.world.set_state(0, &state).expect("it fits");
                let frames = car.run(10.0, |_| Controls { gear: Some(0), ..Controls::coasting() });
                let most = |part: &[Frame]| part.iter().map(|f| f.roll_rad.abs()).fold(0.0, f64::max);
                let parts: Vec<f64> = frames.chunks(2 * hz as usize).map(most).collect();
                for pair in parts.windows(2) {
                    let hop = 0.01 * f64::from(start);
                    let what = format!("{} at {hz} Hz, {speed} m/s, solid axles {solid}", solver.name);
                    assert!(pair[1] < 1.02 * pair[0] + hop, "{what}: {parts:?}");
                }
            }
        }
    }
}

/// Returns a C5 with its centre of mass at 1 m and its roll centres at `roll_centre` m, on tyres with more grip than a
/// rollover takes.
fn tall(roll_centre: f32, solid: bool) -> Arc<Model> {
    let mut parts = car([roll_centre; 2], solid);
    let raised = 1.0 - parts.centre_height;
    parts.centre_height += raised;
    parts.wheels.iter_mut().for_each(|wheel| wheel.contact.z -= raised);
    let own = *curve(&parts.tyres[0]);
    let tyre = CurveTyre {
        law: CurveLaw::LinearPerLoad { stiffness: [25.0, 20.0] },
        friction: [1.05, 1.4],
        load_sensitivity: 0.0,
        ..own
    };
    parts.tyres.iter_mut().for_each(|of| *of = Tyre::Curve(tyre));
    parts.model()
}

/// Results of a slow ramp of steering until the car has rolled by 0.3 rad.
struct Ramp {
    /// Largest lateral acceleration before both inner wheels are off the ground, averaged over about an eighth of a second,
    /// m/s².
    highest: f64,
    /// Largest difference between the sum of the loads and `m (g + z″)` in a step, over the weight.
    missing: f64,
}

/// Steers a car at 20 m/s slowly into a left turn until it tips.
fn tip(solver: &SolverInfo, model: &Arc<Model>, hz: f32) -> Ramp {
    let (mass, share) = (f64::from(model.mass()), f64::from(8.0 / hz).min(1.0));
    let mut drive = Drive::rolling(solver, model, 20.0, hz);
    let mut ramp = Ramp { highest: 0.0, missing: 0.0 };
    let [mut acceleration, mut time] = [0.0; 2];
    let (mut last, mut sinking) = (drive.world.frame(0), drive.world.state(0).velocity.z);
    while last.roll_rad.abs() < 0.3 && time < 30.0 {
        let wheels = hold_speed(&last, model, 20.0);
        let frame = drive.step(&Controls { steer: 0.006 * time as f32, gear: Some(0), wheels, ..Controls::default() });
        let now = drive.world.state(0).velocity.z;
        let rising = f64::from((now - sinking) * hz);
        let carried: f64 = frame.wheels.iter().map(|wheel| wheel.load_n).sum();
        let beyond = (carried / mass - rising) / GRAVITY - 1.0;
        acceleration += (frame.ay_mps2 - acceleration) * share;
        ramp.missing = ramp.missing.max(beyond.abs());
        // Later the car falls, and its angular momentum balances a higher lateral acceleration.
        if frame.wheels[0].load_n + frame.wheels[2].load_n > 0.0 {
            ramp.highest = ramp.highest.max(acceleration);
        }
        (last, sinking, time) = (frame, now, time + f64::from(hz).recip());
    }
    assert!(last.roll_rad.abs() >= 0.3, "{} at {hz} Hz does not tip: {last:?}", solver.name);
    ramp
}

/// Wheels carry `m (g + z″)` while a slow ramp of steering lifts the inner ones, with links of any kind. The car tips below
/// `t / 2h`, at the value that `check` prints.
#[test]
fn a_car_on_raised_roll_centres_carries_its_weight_and_tips() {
    for (roll_centre, solid) in [(0.5, true), (0.3, true), (0.0, true), (0.3, false)] {
        let model = tall(roll_centre, solid);
        let rigid = Characteristics::new(&model).rollover_g.expect("two tracks") * GRAVITY;
        let told = rollover(&model).expect("tips").lateral_acceleration;
        assert!(told < rigid, "roll centre at {roll_centre} m: {told} {rigid}");
        for solver in on_rows() {
            for hz in [60.0, 240.0] {
                let what = format!("{} at {hz} Hz, roll centres at {roll_centre} m, solid {solid}", solver.name);
                let Ramp { highest, missing } = tip(&solver, &model, hz);
                // The largest is 0.023 at 60 Hz and 0.022 at 240 Hz; without links 1e-5.
                assert!(missing < 0.03, "{what}: {missing} weights beyond m (g + z″)");
                assert!(highest < rigid, "{what}: {highest} m/s² of {rigid}");
                // The figure assumes rigid tyres.
                if solver.name != "constraint-unsprung" {
                    close(&what, highest, told, 0.05, "a ramp");
                }
            }
        }
    }
}
