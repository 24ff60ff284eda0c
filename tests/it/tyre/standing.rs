//! Cars at rest: for ten minutes, and while their wheels are steered left and right.

use std::sync::Arc;

use skidpad::core::{Controls, Frame, Model, Scene, SolverInfo, state::Placement};

use crate::common::{Drive, Simplify, shipped, solvers};

/// Time in which struts and patches settle, s.
const SETTLED: f64 = 10.0;

/// Heading to the slope, rad: part of the weight acts across the car, part along it.
const HEADING: f32 = 0.6;

fn placed(solver: &SolverInfo, model: &Arc<Model>, degrees: f32, hz: f32) -> Drive {
    let placement = Placement { heading: HEADING, gear: Some(0), ..Placement::default() };
    Drive::new(solver, model, &Scene::sloping(degrees.to_radians()), placement, hz)
}

/// Returns the largest distance of a braked car from its settled position within `seconds`, m, and the largest relative
/// change of a wheel's load.
fn stands(solver: &SolverInfo, model: &Arc<Model>, degrees: f32, hz: f32, seconds: f64) -> (f64, f64) {
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

/// Every shipped car stands on its brake, on the flat and on 15°. Runs of ten minutes have the rates at which converged
/// iterations leave the largest errors and which games use most, runs of a minute the others and a tenth of the distance.
/// Cars move by less than 0.1 mm, and no wheel load changes by 0.1 %.
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

/// Returns the distance that a braked car on 15° moves in a minute, while it is steered left and right by 0.3 rad every 2 s,
/// m.
fn creeps_while_steered(solver: &SolverInfo, model: &Arc<Model>, hz: f32) -> f64 {
    let mut car = placed(solver, model, 15.0, hz);
    let swing =
        |frame: &Frame| Controls { steer: 0.3 * (frame.t_s * std::f64::consts::PI).sin() as f32, ..Controls::parked() };
    car.run(SETTLED, swing);
    let from = car.world.state(0).position;
    car.run(60.0, swing);
    (car.world.state(0).position - from).length()
}

/// Deflections keep their direction over the ground while wheels are steered, and only wheels that turn renew them. A creep
/// of 1 to 16 µm per swing is left.
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
