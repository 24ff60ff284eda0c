//! Rollover tests: which vehicles lift two wheels, and the tilt table against the closed form.

use std::path::Path;
use std::sync::Arc;

use skidpad::core::{Model, Scene, SolverInfo};
use skidpad::lab::closed_form::steady_state::rollover;
use skidpad::lab::compare::run_solver;
use skidpad::lab::manoeuvre::{Overrides, Procedure, RolloverTest, TiltTable};
use skidpad::lab::run::TimeStep;

use crate::common::{GRAVITY, Simplify, shipped, solvers};

/// Vehicle file, and the range of entry speeds (m/s) in which the vehicle must lift two wheels; `None` if it must never lift
/// them. All figures are those of issue 49.
const FISHHOOK_RESULTS: &[(&str, Option<[f64; 2]>)] =
    &[("vehicles/corvette_c5.toml", None), ("tests/it/data/vw_vanagon.toml", Some([15.6, 22.4]))];

/// Loads a vehicle file of this repository.
fn load(path: &str) -> Arc<Model> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    skidpad::spec::load(path.to_str().expect("a path in UTF-8")).expect("a vehicle").model
}

/// Executes `procedure` at 240 Hz and returns the value of the metric `name`.
fn metric(
    solver: &SolverInfo,
    model: &Arc<Model>,
    procedure: &dyn Procedure,
    overrides: &Overrides,
    name: &str,
) -> Option<f64> {
    let dt = TimeStep::from_rate_hz(240.0).expect("a valid rate");
    let outcome = run_solver(solver, model, procedure, overrides, dt, &|_| {});
    let found = outcome.metrics.iter().find(|metric| metric.name == name);
    found.unwrap_or_else(|| panic!("{name}: {:?}", outcome.metrics)).value
}

/// Fishhook with roll-rate feedback on a surface of friction factor 0.95, on every solver (issue 49).
#[test]
fn fishhooks_lift_the_vehicles_that_roll_over() {
    let overrides = Overrides { scene: Some(Scene { grip: 0.95, ..Scene::flat() }), ..Overrides::default() };
    for &(vehicle, expected) in FISHHOOK_RESULTS {
        let model = load(vehicle);
        for solver in solvers() {
            let lift_speed = metric(&solver, &model, &RolloverTest::FISHHOOK, &overrides, "lift_speed_mps");
            let is_as_expected = match (lift_speed, expected) {
                (None, None) => true,
                (Some(speed), Some([low, high])) => (low..=high).contains(&speed),
                _ => false,
            };
            assert!(is_as_expected, "{vehicle} on {}: {lift_speed:?} instead of {expected:?}", solver.name);
        }
    }
}

/// The tilt table ratio is the rollover threshold of the closed form. Tolerances: steps of 0.25°, and the springs of a car
/// on the table carry `m g cos θ` instead of `m g`.
#[test]
fn the_tilt_table_finds_the_rollover_threshold() {
    let model = load("vehicles/bmw_320i_commonroad.toml");
    let threshold = rollover(&model).expect("two tracks").lateral_acceleration.abs() / GRAVITY;
    for solver in solvers() {
        let ratio = metric(&solver, &model, &TiltTable::default(), &Overrides::default(), "tilt_table_ratio");
        println!("{}: {ratio:?} {threshold}", solver.name);
        let ratio = ratio.expect("tips");
        assert!((ratio / threshold - 1.0).abs() < 0.03, "{}: {ratio} instead of {threshold}", solver.name);
    }
}
