//! All solvers converge to one trajectory, first order in the step.

use skidpad::core::{BackendInfo, Controls, DVec3, Model};
use std::sync::Arc;

use crate::common::{Drive, Simplify, c5, solvers};

/// Inputs of a manoeuvre over time, s: pedals at the start of a step, steering at its end.
struct Script {
    name: &'static str,
    speed: f32,
    seconds: f64,
    brake: fn(f64) -> f32,
    steer: fn(f64) -> f32,
}

const SCRIPTS: [Script; 5] = [
    Script { name: "step steer", speed: 25.0, seconds: 2.5, brake: |_| 0.0, steer: |t| 0.03 * ramp(t, 0.5, 0.2) },
    Script { name: "held brake", speed: 30.0, seconds: 2.0, brake: |_| 0.4, steer: |_| 0.0 },
    Script { name: "ramped brake", speed: 30.0, seconds: 2.0, brake: |t| 0.5 * ramp(t, 0.0, 0.25), steer: |_| 0.0 },
    Script { name: "ramped to lock", speed: 30.0, seconds: 2.0, brake: |t| ramp(t, 0.0, 0.25), steer: |_| 0.0 },
    Script {
        name: "slalom",
        speed: 20.0,
        seconds: 4.0,
        brake: |_| 0.0,
        steer: |t| 0.03 * (t * std::f64::consts::PI).sin() as f32,
    },
];

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

fn end(solver: &BackendInfo, model: &Arc<Model>, script: &Script, hz: f32) -> DVec3 {
    let mut car = Drive::rolling(solver, model, script.speed, hz);
    car.run(script.seconds, |f| Controls {
        brake: (script.brake)(f.t_s),
        steer: (script.steer)(f.t_s + 1.0 / f64::from(hz)),
        gear: Some(0),
        ..Controls::default()
    });
    car.world.state(0).position
}

/// Gaps that count as closed: noise of 32-bit positions over a hundred metres, m.
const CLOSED: f64 = 3e-3;

#[test]
fn b5_every_solver_converges_to_the_common_trajectory() {
    converges(&c5().model(), &SCRIPTS);
}

/// Steering, and braking up to the law's peak.
#[test]
fn cars_on_every_tyre_law_converge() {
    for (_, parts) in crate::tyre::laws::cars() {
        converges(&parts.model(), &SCRIPTS[..3]);
    }
}

fn converges(model: &Arc<Model>, scripts: &[Script]) {
    for script in scripts {
        let solvers = solvers();
        let limits: Vec<DVec3> =
            solvers.iter().map(|s| 2.0 * end(s, model, script, 1920.0) - end(s, model, script, 960.0)).collect();
        let common = limits.iter().sum::<DVec3>() / limits.len() as f64;
        for (solver, limit) in solvers.iter().zip(&limits) {
            let off = (limit - common).length();
            assert!(off < CLOSED, "{} {}: limit {:.2} mm from the common one", script.name, solver.name, 1e3 * off);
        }
        let ends: Vec<[DVec3; 4]> =
            solvers.iter().map(|s| [60.0, 120.0, 240.0, 480.0].map(|hz| end(s, model, script, hz))).collect();
        for (solver, ends) in solvers.iter().zip(&ends) {
            let errors = ends.map(|end| (end - common).length());
            let order = order(&errors);
            let closed = errors.iter().all(|&e| e < CLOSED);
            assert!(order >= 0.9 || closed, "{} {}: order {order:.2}, errors {errors:?} m", script.name, solver.name);
        }
    }
}

/// Slope of log₂ error over halvings of the step, least squares.
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
