//! Steady cornering against the linear bicycle model (oracle 5.14).

use skidpad::core::model::{Axle, ToeCamberCurves, Tyre};
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{Controls, Model, SolverInfo};
use skidpad::lab::Characteristics;
use std::sync::Arc;

use crate::common::{Drive, Simplify, c5, close, curve, hold_speed, mean, shipped, solvers};

/// Yaw rate (rad/s), sideslip, lateral acceleration (m/s²) and speed (m/s) of steady cornering.
struct Steady {
    yaw_rate: f64,
    sideslip: f64,
    lateral_acceleration: f64,
    speed: f64,
}

fn corner(solver: &SolverInfo, model: &Arc<Model>, speed: f64, steer: f32) -> Steady {
    let mut car = Drive::rolling(solver, model, speed as f32, 240.0);
    let frames =
        car.run(8.0, |f| Controls { steer, gear: Some(0), wheels: hold_speed(f, model, speed), ..Controls::default() });
    let steady = &frames[frames.len() - 240..];
    Steady {
        yaw_rate: mean(steady, |f| f.yaw_rate_radps),
        sideslip: mean(steady, |f| f.vy_mps / f.vx_mps),
        lateral_acceleration: mean(steady, |f| f.vx_mps * f.yaw_rate_radps),
        speed: mean(steady, |f| f.vx_mps),
    }
}

/// Returns a C5 on linear tyres with cornering stiffnesses of `front` and `rear` (N/rad, per axle), without effects
/// beyond the bicycle model. The other results are the distances of the axles from the centre of mass (m) and the
/// understeer gradient (rad/(m/s²)).
fn linear_car(front: f64, rear: f64) -> (Arc<Model>, [f64; 2], f64) {
    let mut parts = c5().without_air().without_rolling_resistance();
    let own = *curve(&parts.tyres[0]);
    let tyre = |stiffness: f64| CurveTyre {
        law: CurveLaw::Linear { stiffness: [120e3, stiffness as f32 / 2.0] },
        friction: [5.0; 2],
        load_sensitivity: 0.0,
        ..own
    };
    parts.tyres = [front, rear].map(|stiffness| Tyre::Curve(tyre(stiffness))).into();
    for wheel in &mut parts.wheels {
        (wheel.tyre, wheel.toe) = (wheel.axle, 0.0);
    }
    for axle in &mut parts.axles {
        *axle = Axle { ackermann: 0.0, ..*axle };
    }
    let (a, b) = (f64::from(parts.wheels[0].contact.x), -f64::from(parts.wheels[2].contact.x));
    let gradient = f64::from(parts.mass) / (a + b) * (b / front - a / rear);
    (parts.model(), [a, b], gradient)
}

#[test]
fn b20_b21_linear_tyres_give_the_bicycle_models_gains() {
    let rear = 190e3f64;
    let (model, [a, b], gradient) = linear_car(150e3, rear);
    let (mass, base) = (f64::from(model.mass()), a + b);
    for solver in solvers() {
        let steer = 0.01f32;
        let found = corner(&solver, &model, 100.0 / 3.6, steer);
        let (v, steer) = (found.speed, f64::from(steer));
        let denominator = base + gradient * v * v;
        let what = |part: &str| format!("{}: {part}", solver.name);
        close(&what("yaw gain"), found.yaw_rate / steer, v / denominator, 0.01, "asked");
        let expected = (b - a * mass * v * v / (base * rear)) / denominator;
        close(&what("sideslip gain"), found.sideslip / steer, expected, 0.01, "asked");
        let measured = (steer - base * found.yaw_rate / v) / found.lateral_acceleration;
        close(&what("understeer gradient"), measured, gradient, 0.01, "asked");
    }
}

/// Toe changes with wheel travel cause roll steer. The understeer gradient of `check` includes it.
#[test]
fn roll_steer_is_in_the_understeer_gradient_told() {
    let (plain, [a, b], gradient) = linear_car(150e3, 190e3);
    for axle in [0, 1] {
        let mut parts = plain.parts().clone();
        parts.axles[axle].toe_camber = Some(ToeCamberCurves { toe: [0.4, 0.0], camber: [0.0; 2] });
        let model = parts.model();
        let told = Characteristics::new(&model).bicycle.expect("creeps").understeer - gradient;
        assert!(told.abs() > 0.3 * gradient && (told < 0.0) == (axle == 0), "axle {axle}: {told} of {gradient}");
        for solver in solvers() {
            let steer = 0.01f32;
            let found = corner(&solver, &model, 100.0 / 3.6, steer);
            let measured = (f64::from(steer) - (a + b) * found.yaw_rate / found.speed) / found.lateral_acceleration;
            close(&format!("{} axle {axle}", solver.name), measured - gradient, told, 0.04, "1 % of either gradient");
        }
    }
}

/// Row B20, signs: in reverse, slip angles have the opposite effect, so `ψ' / δ = v / (L + K v |v|)` and an
/// understeering car oversteers. With steering to the left, the car yaws to the left forwards and to the right in
/// reverse.
#[test]
fn b20_signs_in_all_quadrants() {
    let (model, [a, b], gradient) = linear_car(150e3, 190e3);
    for solver in solvers() {
        for speed in [12.0f64, -12.0] {
            for steer in [0.01f32, -0.01] {
                let found = corner(&solver, &model, speed, steer);
                let expected = found.speed / (a + b + gradient * found.speed * found.speed.abs());
                let what = format!("{} at {speed} m/s, {steer} rad", solver.name);
                close(&what, found.yaw_rate / f64::from(steer), expected, 0.01, "asked");
                assert_eq!(found.yaw_rate > 0.0, (speed > 0.0) == (steer > 0.0), "{what}");
            }
        }
    }
}

/// Equal tyres on both axles with stiffness proportional to load: neutral steer.
#[test]
fn the_commonroad_320i_is_neutral() {
    let model = shipped("bmw_320i_commonroad").model();
    let base = f64::from(model.wheels()[0].contact.x - model.wheels()[2].contact.x);
    for solver in solvers() {
        for steer in [0.004f32, 0.013] {
            let found = corner(&solver, &model, 20.0, steer);
            let ay = found.lateral_acceleration;
            assert!((0.5..2.1).contains(&ay), "{ay} m/s²");
            let gradient = (f64::from(steer) - base * found.yaw_rate / found.speed) / ay;
            assert!(gradient.abs() <= 5e-5, "{}: {gradient} rad/(m/s²) at {ay} m/s²", solver.name);
        }
    }
}
