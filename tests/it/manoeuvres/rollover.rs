//! Rollover tests: vehicles that lift two wheels in a fishhook, and vehicles that do not; angles of the tilt table.

use std::ops::ControlFlow;
use std::sync::Arc;

use skidpad::core::model::{Side, Strut};
use skidpad::core::{Model, Scene, SolverInfo};
use skidpad::lab::compare::run_solver;
use skidpad::lab::manoeuvre::{Overrides, Procedure, RolloverTest, TiltTable};
use skidpad::lab::run::TimeStep;

use crate::common::{GRAVITY, Simplify, c5, solvers};

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
    let outcome = run_solver(solver, model, procedure, overrides, dt, &|_| ControlFlow::Continue(()));
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

/// Half the track of the car on the tilt table (m).
const HALF_TRACK_M: f32 = 0.75;
/// Height of its centre of mass (m).
const CENTRE_HEIGHT_M: f32 = 0.5;

/// Returns the C5 with equal wheels at the corners of a rectangle, linear springs of `rate` (N/m) with long travel, and
/// without anti-roll bars.
fn car_on_linear_springs(rate: f32) -> Arc<Model> {
    let mut parts = c5();
    parts.bars.clear();
    for wheel in &mut parts.wheels {
        let side = if wheel.side == Side::Left { 1.0 } else { -1.0 };
        let axle = if wheel.axle == 0 { 1.0 } else { -1.0 };
        (wheel.contact.x, wheel.contact.y) = (axle * 1.3, side * HALF_TRACK_M);
        wheel.contact.z = -CENTRE_HEIGHT_M;
        wheel.strut = Strut::linear(rate, 0.1 * rate, [1.0, 1.0]);
    }
    parts.centre_height = CENTRE_HEIGHT_M;
    parts.without_air().model()
}

/// Computes the tangent of the table angle φ at which a car of the weight `weight` (N) on springs of `rate` (N/m) tips.
///
/// The springs of the upper wheels are then unloaded, so they are longer than at rest by `m g / 4 k`, and those of the lower
/// wheels carry twice their share of `m g cos φ`. The body rolls by θ towards the lower wheels, and the centre of mass is
/// above their contact line: `tan φ = (t / 2 cos θ − l sin θ) / (l cos θ + t / 2 sin θ)` with the distance l of the centre
/// of mass from the line along the vertical axis of the body.
fn tipping_ratio(weight: f64, rate: f64) -> f64 {
    let (half_track, height) = (f64::from(HALF_TRACK_M), f64::from(CENTRE_HEIGHT_M));
    let rest_deflection = weight / (4.0 * rate);
    let mut ratio = half_track / height;
    // Fixed point: the roll angle depends weakly on the angle of the table.
    for _ in 0..50 {
        let cos_table = ratio.atan().cos();
        let lower_extension = rest_deflection * (1.0 - 2.0 * cos_table);
        let roll = ((rest_deflection - lower_extension) / (2.0 * half_track)).atan();
        let distance = height + lower_extension;
        ratio = (half_track * roll.cos() - distance * roll.sin()) / (distance * roll.cos() + half_track * roll.sin());
    }
    ratio
}

/// A symmetric car tips at the angle of the closed form, over its left and over its right wheels.
#[test]
fn a_car_tips_on_the_tilt_table_as_its_springs_tell() {
    for rate in [60e3f32, 300e3] {
        let model = car_on_linear_springs(rate);
        let expected = tipping_ratio(f64::from(model.mass()) * GRAVITY, rate.into());
        for solver in solvers() {
            for lower_side in [Side::Left, Side::Right] {
                let test = TiltTable { lower_side, rate_degps: 1.0 };
                let ratio = metric(&solver, &model, &test, &Overrides::default(), "tilt_table_ratio");
                let deviation = ratio.expect("tips") / expected - 1.0;
                // Deflection of the tyres to the side, and the way of the table in a step.
                assert!(deviation.abs() < 2e-3, "{rate} N/m on {}: {ratio:?} for {expected}", solver.name);
            }
        }
    }
}
