//! Rollover tests: vehicles that lift two wheels in a fishhook, and vehicles that do not.

use std::sync::Arc;

use skidpad::core::{Model, Scene, SolverInfo};
use skidpad::lab::compare::run_solver;
use skidpad::lab::manoeuvre::{Overrides, Procedure, RolloverTest};
use skidpad::lab::run::TimeStep;

use crate::common::solvers;

/// Shipped vehicle, and the range of entry speeds (m/s) in which the vehicle must lift two wheels; `None` if it must never lift
/// them. All figures are those of issue 49.
const FISHHOOK_RESULTS: &[(&str, Option<[f64; 2]>)] = &[("corvette_c5", None), ("vw_vanagon", Some([15.6, 22.4]))];

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
        let model = skidpad::spec::load(vehicle).expect("shipped").model;
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
