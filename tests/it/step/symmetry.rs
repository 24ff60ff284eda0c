//! Symmetry: a mirrored car moves as the mirror image bit for bit, and start position and heading do not matter.

use std::sync::Arc;

use skidpad::core::model::HeaveSpring;
use skidpad::core::{Controls, DVec3, Model, Scene, SolverInfo, State, state::Placement};

use crate::common::{Drive, Simplify, c5, on_rows, solvers};

/// Returns the controls at time `t` (s): throttle, brake, handbrake, then full throttle, with sinusoidal steering. `side` −1
/// mirrors them.
fn mixed(t: f64, side: f32) -> Controls {
    let steer = 0.06 * (t * 2.1).sin() as f32 * side;
    match t {
        t if t < 1.0 => Controls { steer, throttle: 0.5, ..Controls::default() },
        t if t < 2.0 => Controls { steer, brake: 0.5, ..Controls::default() },
        t if t < 3.0 => Controls { steer, handbrake: 1.0, ..Controls::default() },
        _ => Controls { steer, throttle: 1.0, ..Controls::default() },
    }
}

fn drive(solver: &SolverInfo, model: &Arc<Model>, placement: Placement, side: f32, seconds: f64, hz: f32) -> State {
    let mut car = Drive::new(solver, model, &Scene::flat(), placement, hz);
    car.run(seconds, |f| mixed(f.t_s, side));
    car.world.state(0).clone()
}

#[test]
fn left_is_right_mirrored_bit_for_bit() {
    reflects(&c5().model());
}

/// Measured tyres differ between left and right. Mounted as mirror images they make a symmetric car.
#[test]
fn left_is_right_on_every_tyre_law() {
    for (_, parts) in crate::tyre::laws::cars() {
        reflects(&parts.model());
    }
}

/// Symmetry holds with progressive springs, a heave spring, wheel guidance, a solid axle and forces that act above the
/// ground.
#[test]
fn left_is_right_on_every_part_of_a_suspension() {
    let mut parts = crate::suspension::springs::guided();
    for (i, wheel) in parts.wheels.iter_mut().enumerate() {
        wheel.strut.progressive_rate = 1e5 + 5e4 * (i / 2) as f32;
    }
    parts.heave_springs = vec![HeaveSpring { wheels: [0, 1], rate: 3e4, damping: 2e3 }];
    parts.axles[0].solid = true;
    parts.axles[1].force_point_height = 0.2;
    reflects(&parts.model());
}

fn reflects(model: &Arc<Model>) {
    for solver in on_rows() {
        let placement = Placement { speed: 22.0, ..Placement::default() };
        let left = drive(&solver, model, placement, 1.0, 5.0, 120.0);
        let right = drive(&solver, model, placement, -1.0, 5.0, 120.0);
        let bits = |s: &State, sign: f32| {
            let mut all = vec![
                s.position.x.to_bits(),
                (s.position.y * f64::from(sign)).to_bits(),
                s.position.z.to_bits(),
                u64::from((s.velocity.y * sign).to_bits()),
                u64::from((s.angular_velocity.z * sign).to_bits()),
                u64::from((s.angular_velocity.x * sign).to_bits()),
                u64::from(s.angular_velocity.y.to_bits()),
            ];
            for pair in [[0, 1], [2, 3]] {
                let pair = if sign < 0.0 { [pair[1], pair[0]] } else { pair };
                all.extend(pair.map(|i| u64::from(s.wheels[i].load.to_bits())));
                all.extend(pair.map(|i| u64::from(s.wheels[i].spin.to_bits())));
            }
            all
        };
        assert_eq!(bits(&left, 1.0), bits(&right, -1.0), "{}", solver.name);
        // At the end the car is near its initial line, so that the lateral motion is checked half-way.
        let within = drive(&solver, model, placement, 1.0, 2.5, 120.0).position;
        assert!(within.y.abs() > 0.5, "the manoeuvre turns: {within}");
    }
}

/// The position after 10 s agrees to 5 mm for different start positions and headings (Rapier's positions have 32 bits).
#[test]
fn heading_and_translation_do_not_matter() {
    for solver in solvers() {
        let here = Placement { speed: 22.0, ..Placement::default() };
        let there = Placement { x: 120.0, y: -75.0, heading: 1.1, ..here };
        let gentle = |f: f64| Controls { steer: 0.02 * (f * 1.3).sin() as f32, ..Controls::default() };
        let run = |placement: Placement| {
            let mut car = Drive::new(&solver, &c5().model(), &Scene::flat(), placement, 120.0);
            car.run(10.0, |f| gentle(f.t_s));
            car.world.state(0).position
        };
        let (a, b) = (run(here), run(there));
        let (sin, cos) = f64::from(1.1f32).sin_cos();
        let expected = DVec3::new(120.0 + a.x * cos - a.y * sin, -75.0 + a.x * sin + a.y * cos, a.z);
        let off = (b - expected).length();
        assert!(off < 5e-3, "{}: {:.2} mm apart", solver.name, 1e3 * off);
    }
}
