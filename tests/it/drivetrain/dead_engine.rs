//! A dead engine in gear acts as a brake on the flywheel, by closed forms.

use std::sync::Arc;

use skidpad::core::model::{Engine, Powertrain};
use skidpad::core::{Controls, Frame, Model, Scene, SolverInfo, state::Placement};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, on_rows};

const DRAG: f32 = 100.0;
const RATES: [f32; 4] = [30.0, 60.0, 240.0, 1000.0];
const STALL: f32 = 40.0;

/// Returns a C5 without losses whose engine dies below 40 rad/s and has a dry drag of 100 N m, after `change`.
fn model(change: impl Fn(&mut Engine)) -> Arc<Model> {
    let mut parts = c5().without_air().without_rolling_resistance();
    let Powertrain::Engine(drive) = &mut parts.powertrain else { panic!("the C5 has an engine") };
    (drive.engine.stall_speed, drive.engine.drag, drive.gearbox.efficiency) = (STALL, [DRAG, 0.0], 1.0);
    change(&mut drive.engine);
    parts.model()
}

/// Returns the rotation of a C5's engine per metre of road (rad/m), in first gear if `gear` is above 0, else in
/// reverse.
fn turns_per_metre(gear: i8) -> f64 {
    (if gear > 0 { 2.66 } else { 2.90 }) * 3.42 / 0.331
}

/// Returns controls in `gear` with the clutch closed and no pedal pressed.
fn in_gear(gear: i8) -> Controls {
    Controls { gear: Some(gear), clutch: Some(0.0), ..Controls::default() }
}

/// Returns a car at rest in `gear` with a stopped engine, on a slope on which gravity pulls it forward by `force`
/// (N).
fn on_slope(solver: &SolverInfo, model: &Arc<Model>, force: f64, gear: i8, hz: f32) -> Drive {
    let angle = (force / (f64::from(model.mass()) * GRAVITY)).asin();
    let placement = Placement { gear: Some(gear), ..Placement::default() };
    let mut car = Drive::new(solver, model, &Scene::sloping(-angle as f32), placement, hz);
    let mut state = car.world.state(0).clone();
    state.drive.engine_speed = 0.0;
    car.world.set_state(0, &state).expect("it fits");
    car
}

/// A dead engine of drag `T` keeps a car on a slope up to a force of `T n` at the wheels, in first gear and reverse,
/// uphill and downhill, at every rate.
#[test]
fn a_dead_engine_in_gear_holds_the_car() {
    let model = model(|_| ());
    for solver in on_rows() {
        for hz in RATES {
            for (gear, share) in [(1, 0.95), (1, -0.95), (-1, 0.95), (-1, -0.95)] {
                let force = share * f64::from(DRAG) * turns_per_metre(gear);
                let mut car = on_slope(&solver, &model, force, gear, hz);
                let frames = car.run(6.0, |_| in_gear(gear));
                let what = format!("{} {hz} Hz gear {gear} share {share}", solver.name);
                let [settled, last] = [2.0, 6.0].map(|t| &frames[(t * f64::from(hz)).round() as usize]);
                let moved = (last.x_m - settled.x_m).abs();
                assert!(moved < 1e-3, "{what}: {} mm", 1e3 * moved);
                assert!((settled.x_m - frames[0].x_m).abs() < 0.03, "{what}: {}", settled.x_m - frames[0].x_m);
                assert_eq!(last.engine_radps, 0.0, "{what}");
            }
        }
    }
}

/// An automatic clutch is closed while the engine is dead: in gear the car stands, in neutral or with the clutch
/// pedal pressed it rolls. The starter opens the clutch, and the engine runs.
#[test]
fn a_clutch_of_its_own_holds_with_a_dead_engine() {
    let model = model(|_| ());
    let force = 0.9 * f64::from(DRAG) * turns_per_metre(1);
    let of_its_own = |gear: i8| Controls { clutch: None, ..in_gear(gear) };
    for solver in on_rows() {
        for hz in [30.0, 240.0, 1000.0] {
            let what = format!("{} {hz} Hz", solver.name);
            let mut car = on_slope(&solver, &model, -force, 1, hz);
            let frames = car.run(3.0, |_| of_its_own(1));
            let [settled, last] = [1.0, 3.0].map(|t| &frames[(t * f64::from(hz)).round() as usize]);
            assert!((last.x_m - settled.x_m).abs() < 1e-3, "{what}: {} m", last.x_m - settled.x_m);
            assert!((last.x_m - frames[0].x_m).abs() < 0.03 && last.engine_radps == 0.0, "{what}: {}", last.x_m);
            let brake = |starter: bool| Controls { brake: 0.5, starter, ..of_its_own(1) };
            let started = car.run(1.0, |_| brake(true)).pop().expect("frames");
            let runs = car.run(1.0, |_| brake(false)).pop().expect("frames");
            assert!(started.engine_radps > 60.0 && runs.engine_radps > 60.0, "{what}: {}", runs.engine_radps);
            assert!(runs.vx_mps.abs() < 1e-2, "{what}: {}", runs.vx_mps);
            for free in [of_its_own(0), Controls { clutch: Some(1.0), ..in_gear(1) }] {
                let mut car = on_slope(&solver, &model, -force, 1, hz);
                let rolled = car.run(2.0, |_| free.clone()).pop().expect("frames");
                assert!(rolled.vx_mps < -1.0, "{what}: {}", rolled.vx_mps);
            }
        }
    }
}

/// A dead engine is turned by torques beyond its drag, also backwards: `a = (F − T n) / (m + Σ I/R² + J n²)`.
#[test]
fn beyond_its_drag_a_dead_engine_is_turned() {
    let model = model(|_| ());
    for solver in on_rows() {
        for hz in RATES {
            for (gear, share) in [(1, 1.3), (1, -1.3), (-1, 1.3), (-1, -1.3)] {
                let (held, turns) = (f64::from(DRAG) * turns_per_metre(gear), turns_per_metre(gear));
                let mut car = on_slope(&solver, &model, share * held, gear, hz);
                let frames = car.run(1.5, |_| in_gear(gear));
                let what = format!("{} {hz} Hz gear {gear} share {share}", solver.name);
                let at = |t: f64| &frames[(t * f64::from(hz)).round() as usize];
                let gained = (at(1.5).vx_mps - at(0.5).vx_mps) / 1.0;
                let mass = f64::from(model.rolling_mass()) + 0.22 * turns * turns;
                let told = (share - share.signum()) * held / mass;
                close(&what, gained, told, 0.01, "slip of the driven wheels grows by 0.5 % of the speed");
                let turned = at(1.5).vx_mps * turns * f64::from(gear.signum());
                close(&what, at(1.5).engine_radps, turned, 0.02, "slip");
            }
        }
    }
}

/// A dead flywheel out of gear decelerates by `T / J` in either direction and stays at rest.
#[test]
fn a_dead_flywheel_runs_down_and_stops() {
    let model = model(|engine| engine.drag = [5.0, 0.0]);
    for solver in on_rows() {
        for hz in RATES {
            for start in [-39.0f32, 39.0] {
                let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), hz);
                let mut state = car.world.state(0).clone();
                state.drive.engine_speed = start;
                car.world.set_state(0, &state).expect("it fits");
                let frames = car.run(2.5, |_| Controls::coasting());
                let what = format!("{} {hz} Hz", solver.name);
                for frame in &frames {
                    let told = (f64::from(start.abs()) - 5.0 / 0.22 * frame.t_s).max(0.0) * f64::from(start.signum());
                    assert!((frame.engine_radps - told).abs() < 1e-3, "{what}: {} of {told}", frame.engine_radps);
                }
            }
        }
    }
}

/// A dead engine stops a car in gear within `½ m v² / (T n)`, m with all rotating parts. The car stays at rest.
#[test]
fn a_car_is_stopped_by_its_dead_engine_and_stays() {
    let model = model(|_| ());
    for solver in on_rows() {
        for hz in RATES {
            for (gear, speed) in [(1, 1.2), (1, -1.2), (-1, 1.2), (-1, -1.2f32)] {
                let turns = turns_per_metre(gear);
                let placement = Placement { gear: Some(gear), speed, ..Placement::default() };
                let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, hz);
                let mut state = car.world.state(0).clone();
                state.drive.engine_speed = speed * turns as f32 * f32::from(gear.signum());
                car.world.set_state(0, &state).expect("it fits");
                let frames = car.run(3.0, |_| in_gear(gear));
                let what = format!("{} {hz} Hz gear {gear} at {speed} m/s", solver.name);
                let mass = f64::from(model.rolling_mass()) + 0.22 * turns * turns;
                let way = 0.5 * mass * f64::from(speed).powi(2) / (f64::from(DRAG) * turns);
                let moved = |frame: &Frame| (frame.x_m - frames[0].x_m) * f64::from(speed.signum());
                let last = &frames[frames.len() - 1];
                close(&what, moved(last), way, 0.05, "patches of 5 mm; half a step of the first speed at 30 Hz");
                assert!(last.vx_mps.abs() < 1e-3 && last.engine_radps.abs() < 1e-2, "{what}: {}", last.vx_mps);
            }
        }
    }
}

/// An engine that cannot die keeps its governor and drives a car in gear up a slope.
#[test]
fn an_engine_that_never_dies_is_not_held() {
    let model = model(|engine| engine.stall_speed = 0.0);
    for solver in on_rows() {
        let mut car = on_slope(&solver, &model, -500.0, 1, 60.0);
        let last = car.run(4.0, |_| in_gear(1)).pop().expect("frames");
        assert!(last.vx_mps > 1.0 && last.engine_radps > 60.0, "{}: {}", solver.name, last.vx_mps);
    }
}
