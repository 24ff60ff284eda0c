//! Counter-steer and speed-dependent steering.

use skidpad::core::model::SpeedSteering;
use skidpad::core::{Assist, Controls, Frame, ModelParts, WheelControls};

use super::added;
use super::fitted::COUNTER_STEER;
use crate::common::{Drive, Simplify, c5, close, solvers};

/// Drives a power slide and returns its frames. After 1 s of cornering each rear wheel gets 1.16 kN m, a little less
/// than its grip. If `helped`, the car has the counter-steer assist.
fn slide(helped: bool, hz: f32, solver: &skidpad::core::SolverInfo) -> Vec<Frame> {
    let mut parts: ModelParts = c5().without_air();
    parts.assists.counter_steer = helped.then_some(COUNTER_STEER);
    let model = parts.model();
    let mut car = Drive::rolling(solver, &model, 15.0, hz);
    car.run(5.0, |f| {
        let torque = if f.t_s > 1.0 { 1160.0 } else { 0.0 };
        let push = WheelControls { motor_torque: torque, ..WheelControls::default() };
        let none = WheelControls::default();
        Controls { steer: 0.06, gear: Some(0), wheels: [none, none, push, push].into(), ..Controls::default() }
    })
}

/// Row E23: in a power slide the car spins. With the assist, the sideslip angle stays bounded and the yaw rate
/// settles.
#[test]
fn e23_counter_steer_catches_a_power_slide() {
    for solver in solvers() {
        let sideslip = |frames: &[Frame]| frames.iter().map(|f| f.vy_mps.atan2(f.vx_mps).abs()).fold(0.0, f64::max);
        let alone = sideslip(&slide(false, 240.0, &solver));
        assert!(alone > 1.2, "{}: {alone} rad without", solver.name);
        for hz in [30.0, 60.0, 240.0, 1000.0] {
            let frames = slide(true, hz, &solver);
            let most = sideslip(&frames);
            let last = &frames[frames.len() * 4 / 5..];
            let (low, high) = last
                .iter()
                .fold((f64::MAX, f64::MIN), |(low, high), f| (low.min(f.yaw_rate_radps), high.max(f.yaw_rate_radps)));
            let what = format!("{} {hz} Hz: {most} rad, yaw rate {low} to {high}", solver.name);
            assert!(most < 0.1 && high - low < 0.03, "{what}");
            for frame in &frames {
                assert!(
                    added(frame, Assist::CounterSteer)[9].abs() <= f64::from(COUNTER_STEER.max_angle) + 1e-6,
                    "{what}"
                );
            }
        }
    }
}

/// Row E23: the assist adds no steering angle straight ahead, or at rest with the wheels turned.
#[test]
fn e23_counter_steer_adds_nothing_at_zero_slip() {
    let mut parts = c5();
    parts.assists.counter_steer = Some(COUNTER_STEER);
    let model = parts.model();
    for solver in solvers() {
        let mut straight = Drive::rolling(&solver, &model, 30.0, 60.0);
        for frame in straight.run(2.0, |_| Controls::coasting()) {
            assert!(added(&frame, Assist::CounterSteer)[9].abs() < 1e-6, "{}", solver.name);
        }
        let mut standing = Drive::rolling(&solver, &model, 0.0, 60.0);
        for frame in standing.run(1.0, |_| Controls { steer: 0.4, ..Controls::parked() }) {
            assert_eq!(added(&frame, Assist::CounterSteer)[9], 0.0, "{}", solver.name);
        }
    }
}

/// At speed, lock and steering rate are limited to the configured shares. At rest, both are complete.
#[test]
fn steering_by_speed_keeps_lock_and_rate() {
    let mut parts = c5();
    parts.steering.rate = 1.0;
    parts.assists.speed_steering = Some(SpeedSteering { speed_range: [5.0, 15.0], factors: [0.1, 0.5] });
    let lock = f64::from(parts.steering.lock);
    let model = parts.model();
    for solver in solvers() {
        for hz in [30.0, 240.0] {
            let angle = |speed: f32, seconds: f64| {
                let mut car = Drive::rolling(&solver, &model, speed, hz);
                let frames = car.run(seconds, |_| Controls { steer: 1.5, gear: Some(0), ..Controls::default() });
                frames[frames.len() - 1].clone()
            };
            close(solver.name, angle(0.0, 2.0).steer_rad, lock, 1e-6, "all of it");
            let fast = angle(30.0, 1.0);
            close(solver.name, fast.steer_rad, 0.1 * lock, 1e-5, "a tenth");
            close(solver.name, added(&fast, Assist::SpeedSteering)[9], -0.9 * lock, 1e-5, "told");
            close(solver.name, angle(30.0, 0.1).steer_rad, 0.05, 0.02, "half of 1 rad/s for 0.1 s");
        }
    }
}
