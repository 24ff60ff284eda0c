//! Handling tests of several runs or quasi-steady runs against closed forms and against each other.

use std::ops::ControlFlow;
use std::sync::Arc;

use skidpad::core::{Model, SolverInfo};
use skidpad::lab::closed_form::cornering::understeer;
use skidpad::lab::compare::run_solver;
use skidpad::lab::manoeuvre::{Disturbance, ElkTest, Overrides, Procedure, RampSteer, SkidPad, TurnDisturbance};
use skidpad::lab::metrics::Metric;
use skidpad::lab::run::TimeStep;

use crate::common::{GRAVITY, Simplify, c5, close, solvers};

/// Executes `procedure` at 240 Hz with standard parameters and returns its metrics.
fn metrics(solver: &SolverInfo, model: &Arc<Model>, procedure: &dyn Procedure) -> Vec<Metric> {
    let dt = TimeStep::from_rate_hz(240.0).expect("a valid rate");
    run_solver(solver, model, procedure, &Overrides::default(), dt, &|_| ControlFlow::Continue(())).metrics
}

/// Returns the value of the metric `name`.
#[track_caller]
fn value(metrics: &[Metric], name: &str) -> f64 {
    let metric = metrics.iter().find(|metric| metric.name == name);
    metric.and_then(|metric| metric.value).unwrap_or_else(|| panic!("{name}: {metrics:?}"))
}

/// The understeer gradient at constant speed is that of the closed form with tyre curves and load transfer at 2.5 m/s², the
/// middle of the fitted range. The curvature of the tyre curves adds 2.5 % over the range.
#[test]
fn the_gradient_at_constant_speed_is_that_of_the_closed_form() {
    let model = c5().without_air().without_rolling_resistance().model();
    let expected = (understeer(&model, 2.5).expect("grips") * GRAVITY).to_degrees();
    for solver in solvers() {
        let found = value(&metrics(&solver, &model, &RampSteer::default()), "understeer_gradient_deg_per_g");
        close(solver.name, found, expected, 0.04, "curvature of the tyre curves");
    }
}

/// On dry friction without air, the skid pad measures the coefficient of friction, less the share of the drive forces and of
/// the axle that has grip left when the other one slides.
#[test]
fn the_skid_pad_measures_dry_friction() {
    let model = c5().without_air().without_rolling_resistance().on_coulomb_tyres(0.8).model();
    for solver in solvers() {
        let found = value(&metrics(&solver, &model, &SkidPad::default()), "lateral_acceleration_g");
        assert!((0.76..=0.8).contains(&found), "{}: {found} g", solver.name);
    }
}

/// The highest speed of the C5 between the cones is that of row A19.
#[test]
fn the_elk_test_finds_the_highest_speed() {
    let model = c5().model();
    let found = metrics(&solvers()[0], &model, &ElkTest::default());
    let (pass, fail) = (value(&found, "highest_speed_kmh"), value(&found, "lowest_failed_speed_kmh"));
    assert!((67.0..=69.0).contains(&pass) && fail == pass + 1.0, "{pass} {fail}");
    assert!(value(&found, "least_clearance_mm") > 0.0);
}

/// Braking in a turn at low acceleration on stiff grip keeps the car near the circle, and the deceleration is the planned one.
#[test]
fn gentle_braking_in_a_turn_keeps_the_circle() {
    let model = c5().model();
    let test = TurnDisturbance {
        disturbance: Disturbance::Braking(1.0),
        lateral_acceleration_mps2: 1.0,
        ..TurnDisturbance::BRAKING
    };
    for solver in solvers() {
        let found = metrics(&solver, &model, &test);
        close(solver.name, value(&found, "mean_deceleration_mps2"), 1.0, 0.05, "wheel slip and cornering drag");
        close(solver.name, value(&found, "initial_lateral_acceleration_mps2"), 1.0, 0.02, "speed control");
        assert!((value(&found, "yaw_rate_ratio_1s") - 1.0).abs() < 0.05, "{}: {found:?}", solver.name);
        assert!(value(&found, "path_deviation_2s_m").abs() < 0.3, "{}: {found:?}", solver.name);
    }
}
