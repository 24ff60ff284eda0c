//! Convergence of all solvers to one trajectory. Solvers in own worlds converge with the second order of the step.

use skidpad::core::{Controls, DVec3, Model, SolverInfo};
use std::sync::Arc;

use crate::common::{Drive, Simplify, c5, solvers};

/// Inputs of a manoeuvre over time (s). Pedals are sampled in the middle of a step, steering at its end.
struct Script {
    name: &'static str,
    speed: f32,
    seconds: f64,
    brake: fn(f64) -> f32,
    steer: fn(f64) -> f32,
}

const SCRIPTS: [Script; 7] = [
    Script { name: "step steer", speed: 25.0, seconds: 2.5, brake: |_| 0.0, steer: |t| 0.03 * ramp(t, 0.5, 0.2) },
    Script { name: "circle", speed: 15.0, seconds: 4.0, brake: |_| 0.0, steer: |t| 0.05 * ramp(t, 0.0, 0.25) },
    Script { name: "coast-down", speed: 30.0, seconds: 4.0, brake: |_| 0.0, steer: |_| 0.0 },
    Script { name: "held brake", speed: 30.0, seconds: 2.0, brake: |_| 0.4, steer: |_| 0.0 },
    Script { name: "ramped brake", speed: 30.0, seconds: 2.0, brake: |t| 0.5 * ramp(t, 0.0, 0.25), steer: |_| 0.0 },
    Script {
        name: "slalom",
        speed: 20.0,
        seconds: 4.0,
        brake: |_| 0.0,
        steer: |t| 0.03 * (t * std::f64::consts::PI).sin() as f32,
    },
    Script { name: LOCKED, speed: 30.0, seconds: 2.0, brake: |t| ramp(t, 0.0, 0.25), steer: |_| 0.0 },
];

/// Name of the script beyond the tyres' limit, in which sliding begins at the end of a step.
const LOCKED: &str = "ramped to lock";

const fn ramp(t: f64, from: f64, over: f64) -> f32 {
    let share = (t - from) / over;
    (if share < 0.0 {
        0.0
    } else if share > 1.0 {
        1.0
    } else {
        share
    }) as f32
}

fn end(solver: &SolverInfo, model: &Arc<Model>, script: &Script, hz: f32) -> DVec3 {
    let mut car = Drive::rolling(solver, model, script.speed, hz);
    car.run(script.seconds, |f| Controls {
        brake: (script.brake)(f.t_s + 0.5 / f64::from(hz)),
        steer: (script.steer)(f.t_s + 1.0 / f64::from(hz)),
        gear: Some(0),
        ..Controls::default()
    });
    car.world.state(0).position
}

/// Position error that counts as converged, m. It is the noise of f32 positions over a hundred metres.
const CLOSED: f64 = 3e-3;

/// Largest position error over about 60 m in an own world, m·Hz: 3.5 mm at 60 Hz. About 2 mm of the error are of first order
/// in the step, such as a yaw rate that is low by 8e-5 of its value in a steady turn.
const LEFT: f64 = 0.21;

/// Rates over which the order is fitted, Hz.
const RATES: [f32; 4] = [60.0, 120.0, 240.0, 480.0];

#[test]
fn b5_every_solver_converges_to_the_common_trajectory() {
    converges(&c5().model(), &SCRIPTS);
}

/// Cars on every tyre law converge while steering, and while braking up to the peak of the law.
#[test]
fn cars_on_every_tyre_law_converge() {
    for (_, parts) in crate::tyre::laws::cars() {
        converges(&parts.model(), &SCRIPTS[..5]);
    }
}

/// After 62 m of a step steer at 60 Hz, a car is within 3 mm of the limit of fine steps.
#[test]
fn a_step_steer_ends_within_three_millimetres() {
    for solver in solvers().into_iter().filter(|solver| solver.name != "rapier") {
        let model = c5().model();
        let off = (end(&solver, &model, &SCRIPTS[0], 60.0) - limit(&solver, &model, &SCRIPTS[0])).length();
        assert!(off < 3e-3, "{}: {off} m", solver.name);
    }
}

/// Returns the end of `script` with `solver`, extrapolated to zero step length from two fine steps and the order.
fn limit(solver: &SolverInfo, model: &Arc<Model>, script: &Script) -> DVec3 {
    let [fine, finer] = [960.0, 1920.0].map(|hz| end(solver, model, script, hz));
    if is_of_second_order(solver, script) { (4.0 * finer - fine) / 3.0 } else { 2.0 * finer - fine }
}

/// Returns whether the error is of second order. Rapier moves bodies with a larger share of the final velocity of a step.
fn is_of_second_order(solver: &SolverInfo, script: &Script) -> bool {
    solver.name != "rapier" && script.name != LOCKED
}

fn converges(model: &Arc<Model>, scripts: &[Script]) {
    for script in scripts {
        let solvers = solvers();
        let limits: Vec<DVec3> = solvers.iter().map(|solver| limit(solver, model, script)).collect();
        let common = limits.iter().sum::<DVec3>() / limits.len() as f64;
        for (solver, limit) in solvers.iter().zip(&limits) {
            let what = format!("{} {}", script.name, solver.name);
            let off = (limit - common).length();
            assert!(off < CLOSED, "{what}: limit {:.2} mm from the common one", 1e3 * off);
            let ends = RATES.map(|hz| end(solver, model, script, hz));
            if is_of_second_order(solver, script) {
                let errors = ends.map(|end| (end - limit).length());
                let closed = errors.iter().zip(RATES).all(|(error, hz)| *error < LEFT / f64::from(hz));
                assert!(order(&errors) >= 1.8 || closed, "{what}: order {:.2}, {errors:?} m", order(&errors));
            } else {
                let errors = ends.map(|end| (end - common).length());
                let closed = errors.iter().all(|&error| error < CLOSED);
                assert!(order(&errors) >= 0.9 || closed, "{what}: order {:.2}, {errors:?} m", order(&errors));
            }
        }
    }
}

/// Returns the order of convergence: least-squares slope of log₂ error over halvings of the step.
fn order(errors: &[f64]) -> f64 {
    let count = errors.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let (mut above, mut below) = (0.0, 0.0);
    for (i, error) in errors.iter().enumerate() {
        let x = i as f64 - middle;
        above -= x * error.log2();
        below += x * x;
    }
    above / below
}
