//! Axles with both wheels on one beam.

use skidpad::core::model::Unsprung;
use skidpad::core::{Controls, Frame, ModelParts, Quat, Vec3};
use skidpad::lab::closed_form::UnsprungCharacteristics;

use crate::common::{Drive, Simplify, c5, close, mean, on_rows};
use crate::suspension::steady_turn;

const TYRE: f32 = 200e3;

/// Returns a C5 with axles of 120 kg on tyres of 200 N/mm. The axles are solid if `solid`.
fn car(solid: bool) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance();
    for axle in &mut parts.axles {
        (axle.solid, axle.ackermann) = (solid, 0.0);
    }
    for wheel in &mut parts.wheels {
        wheel.unsprung = Some(Unsprung { mass: 60.0, tyre_rate: TYRE, tyre_damping: 0.0 });
    }
    parts
}

/// A beam rolls by the deflection of its tyres, `ΔN / (k_t t)`, and not with the body.
#[test]
fn wheels_of_a_solid_axle_stand_square_on_their_tyres() {
    let model = car(true).model();
    for solver in on_rows() {
        let last = steady_turn(&solver, &model);
        let own = solver.name == "constraint-unsprung";
        for left in [0, 2] {
            let transfer = mean(&last, |f| f.wheels[left + 1].load_n - f.wheels[left].load_n);
            let track = f64::from(model.wheels()[left].contact.y - model.wheels()[left + 1].contact.y);
            let leans = if own { transfer / (f64::from(TYRE) * track) } else { 0.0 };
            for wheel in [left, left + 1] {
                let camber = mean(&last, |f| f.wheels[wheel].camber_rad);
                // 1 % of the body's roll of 0.011 rad: a load acts along the normal of the ground, not of the body.
                assert!((camber - leans).abs() < 1e-4, "{} wheel {wheel}: {camber}, not {leans} rad", solver.name);
            }
        }
    }
}

/// The roll moment of a solid axle loads its tyres, not its springs, so that the body rolls by the closed form. Without
/// unsprung masses it rolls as on independent axles.
#[test]
fn solid_axles_roll_the_body_by_their_closed_form() {
    let models = [false, true].map(|solid| car(solid).model());
    let told =
        [0, 1].map(|i| UnsprungCharacteristics::of(&models[i]).and_then(|own| own.roll_gradient).expect("stands"));
    assert!(told[1] < 0.95 * told[0], "{told:?}");
    for solver in on_rows() {
        let [square, solid] = [0, 1].map(|i| {
            let last = steady_turn(&solver, &models[i]);
            mean(&last, |f| f.roll_rad) / mean(&last, |f| f.ay_mps2)
        });
        let own = solver.name == "constraint-unsprung";
        let expected = if own { told[1] } else { square };
        close(
            &format!("{}: roll of solid axles", solver.name),
            solid,
            expected,
            if own { 0.01 } else { 1e-3 },
            "asked",
        );
        if own {
            close("roll of square wheels", square, told[0], 0.02, "struts are pressed apart by side forces");
        }
    }
}

/// A car released out of a roll without dampers never swings farther, at any rate.
#[test]
fn a_car_on_solid_axles_swings_without_gaining() {
    let mut parts = car(true);
    for wheel in &mut parts.wheels {
        (wheel.strut.bump_damping, wheel.strut.rebound_damping) = (0.0, 0.0);
    }
    let model = parts.model();
    for solver in on_rows() {
        for hz in [30.0, 60.0, 240.0, 1000.0] {
            let mut car = Drive::rolling(&solver, &model, 0.0, hz);
            let mut state = car.world.state(0).clone();
            let start = 0.03f32;
            state.rotation = Quat::from_axis_angle(Vec3::X, start) * state.rotation;
            car.world.set_state(0, &state).expect("it fits");
            let frames = car.run(20.0, |_| Controls { gear: Some(0), ..Controls::coasting() });
            let most = |part: &[Frame]| part.iter().map(|f| f.roll_rad.abs()).fold(0.0, f64::max);
            let parts: Vec<f64> = frames.chunks(2 * hz as usize).map(most).collect();
            for pair in parts.windows(2) {
                // Axles that hop exchange energy with the body: 0.4 % of the start at 30 Hz.
                let hop = 0.01 * f64::from(start);
                assert!(pair[1] < 1.02 * pair[0] + hop, "{} at {hz} Hz: {parts:?}", solver.name);
            }
            assert!(parts[0] < 1.01 * f64::from(start), "{} at {hz} Hz: {parts:?}", solver.name);
        }
    }
}

/// Wheels of one axle whose masses are strongly coupled (0.7 m above their roll centre, 600 of 1545 kg) are solved together. Every
/// step of a slalom converges in fewer than 10 iterations, and the car rolls alike at every rate.
#[test]
fn heavy_axles_on_high_wheels_converge() {
    let mut parts = car(true);
    for wheel in &mut parts.wheels {
        wheel.unsprung = Some(Unsprung { mass: 150.0, tyre_rate: TYRE, tyre_damping: 0.0 });
        wheel.radius = 0.7;
    }
    let model = parts.model();
    for solver in on_rows().into_iter().filter(|solver| solver.name == "constraint-unsprung") {
        let rolls = [20.0f32, 60.0, 240.0, 1000.0].map(|hz| {
            let mut car = Drive::rolling(&solver, &model, 25.0, hz);
            let mut roll = 0.0f64;
            for step in 0..(10.0 * hz) as u32 {
                let steer = 0.12 * (6.0 * step as f32 / hz).sin();
                let controls = Controls { steer, gear: Some(0), ..Controls::coasting() };
                let report = car.world.step(std::slice::from_ref(&controls));
                assert!(!report.not_converged && report.iterations < 10, "{hz} Hz, step {step}: {report:?}");
                roll = roll.max(car.world.frame(0).roll_rad.abs());
            }
            roll
        });
        for roll in rolls {
            // The error is of first order in the step: 3 % at 20 Hz.
            assert!((roll / rolls[3] - 1.0).abs() < 0.05, "{rolls:?} rad");
        }
    }
}
