//! Cars that stand: for ten minutes, and while their wheels are steered to and fro.

use std::sync::Arc;

use skidpad::core::{BackendInfo, Controls, Frame, Model, Scene, state::Placement};

use crate::common::{Drive, Simplify, shipped, solvers};

/// Until struts and patches have settled, s.
const SETTLED: f64 = 10.0;

/// Across and along the slope.
const HEADING: f32 = 0.6;

fn placed(solver: &BackendInfo, model: &Arc<Model>, degrees: f32, hz: f32) -> Drive {
    let placement = Placement { heading: HEADING, gear: Some(0), ..Placement::default() };
    Drive::new(solver, model, &Scene::sloping(degrees.to_radians()), placement, hz)
}

/// How far a car with its brake on moves from its place within `seconds`, m, and the largest change of a wheel's load as a share
/// of it.
fn stands(solver: &BackendInfo, model: &Arc<Model>, degrees: f32, hz: f32, seconds: f64) -> (f64, f64) {
    let mut car = placed(solver, model, degrees, hz);
    let place = |car: &Drive| car.world.state(0).position;
    car.run(SETTLED, |_| Controls::parked());
    let (from, first) = (place(&car), car.world.frame(0));
    let (mut moved, mut changed) = (0f64, 0f64);
    let steps = (seconds * f64::from(hz)) as usize;
    for _ in 0..steps {
        car.world.step(std::slice::from_ref(&Controls::parked()));
        moved = moved.max((place(&car) - from).length());
        let now = car.world.state(0);
        for (wheel, first) in now.wheels.iter().zip(&first.wheels) {
            changed = changed.max((f64::from(wheel.load) / first.load_n - 1.0).abs());
        }
    }
    (moved, changed)
}

/// Every shipped car with its brake on, flat and on 15°: ten minutes at the rates at which converged iterations leave most and which
/// games take most, one minute at the others with a tenth of the way. Less than 0.1 mm, and no wheel's load changes by 0.1 %.
#[test]
fn every_shipped_car_stands_for_ten_minutes() {
    for name in skidpad::spec::shipped::names() {
        let model = shipped(name).model();
        for solver in solvers() {
            for degrees in [0.0, 15.0] {
                for (hz, minutes) in [(20.0, 10.0), (30.0, 1.0), (60.0, 10.0), (120.0, 1.0), (240.0, 1.0)] {
                    let (moved, changed) = stands(&solver, &model, degrees, hz, 60.0 * minutes);
                    let what = format!("{name} {} {hz} Hz on {degrees} degrees, {minutes} min", solver.name);
                    assert!(moved < 1e-5 * minutes, "{what}: {:.4} mm", 1e3 * moved);
                    assert!(changed < 1e-3, "{what}: loads change by {:.4} %", 100.0 * changed);
                }
            }
        }
    }
}

/// How far a braked car on 15° moves in a minute in which it is steered to and fro by 0.3 rad every 2 s, m.
fn creeps_while_steered(solver: &BackendInfo, model: &Arc<Model>, hz: f32) -> f64 {
    let mut car = placed(solver, model, 15.0, hz);
    let swing =
        |frame: &Frame| Controls { steer: 0.3 * (frame.t_s * std::f64::consts::PI).sin() as f32, ..Controls::parked() };
    car.run(SETTLED, swing);
    let from = car.world.state(0).position;
    car.run(60.0, swing);
    (car.world.state(0).position - from).length()
}

/// Deflections stay on the ground while wheels are steered over them, and only wheels that turn renew them: C5s used to creep 0.6 to
/// 1.1 mm a minute, `unity_default` 2.9, the truck 3.5. What is left are 1 to 16 µm a swing.
#[test]
fn steering_does_not_walk_a_parked_car_downhill() {
    let cars = [
        ("corvette_c5", 1e-4),
        ("corvette_c5_mf", 1e-4),
        ("bmw_320i_mf", 1e-4),
        ("unity_default", 4e-4),
        ("truck_6x4", 6e-4),
    ];
    for (name, most) in cars {
        let model = shipped(name).model();
        for solver in solvers() {
            for hz in [30.0, 60.0, 240.0] {
                let crept = creeps_while_steered(&solver, &model, hz);
                assert!(crept < most, "{name} {} {hz} Hz: {:.3} mm a minute", solver.name, 1e3 * crept);
            }
        }
    }
}
