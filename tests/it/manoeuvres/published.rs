//! Shipped cars against the figures in their files, and against closed forms.

use std::ops::ControlFlow;

use skidpad::core::{Controls, SolverInfo};
use skidpad::lab::manoeuvre::{Manoeuvre, TopSpeed};
use skidpad::lab::road_test::road_test;
use skidpad::lab::run::{TimeStep, simulate};
use skidpad::lab::verdict::Verdict;
use skidpad::spec::{LoadedVehicle, shipped};

use crate::common::{Drive, GRAVITY, close, hold_speed, solvers};

fn load(name: &str) -> LoadedVehicle {
    skidpad::spec::load(name).expect("shipped")
}

fn rate() -> TimeStep {
    TimeStep::from_rate_hz(240.0).expect("valid")
}

/// The published figures of every shipped vehicle are within their tolerances on every solver. The C5, whose road test takes
/// as long as all others together, is left to a test of the command.
#[test]
fn shipped_cars_pass_their_road_tests() {
    let solvers: Vec<SolverInfo> = solvers().into_iter().filter(|solver| !solver.comparison_only).collect();
    let mut failed = Vec::new();
    for name in shipped::names().filter(|name| *name != "corvette_c5") {
        let car = load(name);
        let found = road_test(&solvers, &car.model, &car.spec.references, rate(), &|_, _| ControlFlow::Continue(()));
        let failed_rows = found.rows.iter().filter(|row| row.verdict == Verdict::Fail);
        failed.extend(failed_rows.map(|row| format!("{name}: {}: {:?}", row.label(), row.values)));
        failed.extend(found.unsolved.iter().map(|unsolved| format!("{name}: {unsolved:?}")));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Issue 49: with an air density of 1.2 kg/m³, an efficiency of 1 and no rolling resistance, the formula car reaches
/// `(2 P / (ρ Cd A))^(1/3)` = 96.8 m/s, and its downforce `½ ρ Cl A v²` equals its weight at 49.0 m/s.
#[test]
fn the_formula_car_has_the_top_speed_and_the_downforce_of_its_closed_forms() {
    let model = load("formula_car").model;
    let weight = f64::from(model.mass()) * GRAVITY;
    let drag_limited_speed = (2.0f64 * 735_499.0 / (1.2 * 0.9 * 1.5)).cbrt();
    close("closed form", drag_limited_speed, 96.8, 1e-3, "digits of the issue");
    let test = TopSpeed::default();
    for solver in solvers() {
        let mut driver = test.driver(&model);
        let run = simulate(&solver, &model, &test.setup(&model), driver.as_mut(), rate(), &mut |_, _| {
            ControlFlow::Continue(())
        });
        let found = test.measure(&model, &run).fastest().and_then(|gear| gear.speed_mps).expect("a top speed");
        close(solver.name, found, drag_limited_speed, 2e-3, "the slip of the driven tyres takes 0.5 % of the power");
        let mut car = Drive::rolling(&solver, &model, 49.0, 240.0);
        let mut frame = car.world.frame(0);
        // The springs settle under the downforce in 1 s.
        for _ in 0..240 {
            let wheels = hold_speed(&frame, &model, 49.0);
            frame = car.step(&Controls { gear: Some(0), wheels, ..Controls::default() });
        }
        let downforce = frame.wheels.iter().map(|wheel| wheel.load_n).sum::<f64>() - weight;
        let equal_speed = frame.vx_mps * (weight / downforce).sqrt();
        close(solver.name, equal_speed, 49.0, 2e-3, "digits of the issue; the body pitches by 0.1°");
    }
}
