//! Load transfer: wheel loads fulfil the balance of moments with any anti-roll bars.

use skidpad::core::{Controls, Frame, Model, WheelControls};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, mean, solvers};

const RATE: f32 = 240.0;

/// Σ ΔN t = m a_y h + m g h φ, ΔN = (N_out − N_in) / 2 per axle.
#[test]
fn a6_a10_lateral_transfer_closes_with_any_anti_roll_bar() {
    for stiffness in [0.0, 1.0, 4.0] {
        let mut parts = c5().without_air().without_rolling_resistance();
        for bar in &mut parts.bars {
            bar.rate *= stiffness;
        }
        let model = parts.model();
        let h = f64::from(model.parts().centre_height);
        let weight = f64::from(model.mass()) * GRAVITY;
        for solver in solvers() {
            let mut car = Drive::rolling(&solver, &model, 20.0, RATE);
            let frames = car.run(5.0, |f| Controls {
                steer: 0.04,
                gear: Some(0),
                wheels: crate::common::hold_speed(f, &model, 20.0),
                ..Controls::default()
            });
            let steady = &frames[frames.len() - 240..];
            let transferred = mean(steady, |f| transfer(f, &model));
            let (ay, roll) = (mean(steady, |f| f.ay_mps2), mean(steady, |f| f.roll_rad));
            assert!(ay > 4.0 && roll > 0.003, "a left turn: {ay} m/s², roll {roll}");
            let expected = f64::from(model.mass()) * ay * h + weight * h * roll;
            close(&format!("{}, bars × {stiffness}", solver.name), transferred, expected, 0.01, "asked");
        }
    }
}

fn transfer(frame: &Frame, model: &Model) -> f64 {
    let track = |i: usize| f64::from(model.wheels()[i].contact.y - model.wheels()[i + 1].contact.y);
    let axle = |i: usize| (frame.wheels[i + 1].load_n - frame.wheels[i].load_n) / 2.0 * track(i);
    axle(0) + axle(2)
}

/// ΔN L = m |a| h + m g h |θ| + Σ I |ω̇|, accelerating and braking.
#[test]
fn b9_longitudinal_transfer_closes() {
    let model = c5().without_air().model();
    let h = f64::from(model.parts().centre_height);
    let wheelbase = f64::from(model.wheels()[0].contact.x - model.wheels()[2].contact.x);
    let mass = f64::from(model.mass());
    for solver in solvers() {
        for brakes in [false, true] {
            let raw = WheelControls {
                motor_torque: if brakes { 0.0 } else { 400.0 },
                brake_torque: if brakes { 600.0 } else { 0.0 },
                steer: None,
            };
            let controls = Controls { gear: Some(0), wheels: [raw; 4].into(), ..Controls::default() };
            let speed = if brakes { 30.0 } else { 10.0 };
            let mut car = Drive::rolling(&solver, &model, speed, RATE);
            let frames = car.run(3.0, |_| controls.clone());
            let steady = &frames[frames.len() - 120..];
            let front = |f: &Frame| f.wheels[0].load_n + f.wheels[1].load_n;
            let transferred = (mean(steady, front) - front_at_rest(&model)) * wheelbase;
            let spun: f64 = (0..4)
                .map(|i| {
                    let change = steady[steady.len() - 1].wheels[i].spin_radps - steady[0].wheels[i].spin_radps;
                    f64::from(model.wheels()[i].spin_inertia) * change / (steady.len() - 1) as f64 * f64::from(RATE)
                })
                .sum();
            let (ax, pitch) = (mean(steady, |f| f.ax_mps2), mean(steady, |f| f.pitch_rad));
            let expected = -mass * ax * h + mass * GRAVITY * h * pitch - spun;
            assert_eq!(ax < -2.0, brakes, "{ax}");
            close(&format!("{} brakes {brakes}", solver.name), transferred, expected, 0.01, "asked");
        }
    }
}

fn front_at_rest(model: &Model) -> f64 {
    f64::from(model.static_load(0) + model.static_load(1))
}
