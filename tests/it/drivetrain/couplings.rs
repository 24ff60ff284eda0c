//! Couplings between axles only dissipate energy. Locked couplings keep both sides at one speed under any braking.

use skidpad::core::model::{Powertrain, TorqueCoupling};
use skidpad::core::{Controls, Frame, Model, ModelParts, Scene, state::Placement};

use crate::common::{Drive, GRAVITY, Simplify, c5, on_rows, shipped};
use crate::step::random::Random;

fn axles() -> [Box<[usize]>; 2] {
    [Box::from([0, 1]), Box::from([2, 3])]
}

/// Returns Bullet's reference car without a drivetrain, with wheels of `spin_inertia` (kg m²).
fn undriven(spin_inertia: f32) -> ModelParts {
    let mut parts = shipped("bullet_reference");
    parts.powertrain = Powertrain::None;
    parts.wheels.iter_mut().for_each(|wheel| wheel.spin_inertia = spin_inertia);
    parts
}

/// Returns the mean wheel speeds of both axles (rad/s).
fn axle_speeds(frame: &Frame) -> [f64; 2] {
    [0, 2].map(|i| 0.5 * (frame.wheels[i].spin_radps + frame.wheels[i + 1].spin_radps))
}

/// Returns the kinetic energy of body and wheels plus the potential energy of the body (J).
fn energy_of(model: &Model, drive: &Drive) -> f64 {
    let state = drive.world.state(0);
    let turned = state.rotation.inverse() * state.angular_velocity;
    let body = 0.5 * model.mass() * state.velocity.length_squared() + 0.5 * turned.dot(*model.inertia() * turned);
    let wheels = model.wheels().iter().zip(&state.wheels);
    let height = f64::from(model.mass()) * GRAVITY * state.position.z;
    height
        + f64::from(body)
        + wheels.map(|(of, wheel)| 0.5 * f64::from(of.spin_inertia) * f64::from(wheel.spin).powi(2)).sum::<f64>()
}

/// Full stop from 10 m/s with locked axles, on light and heavy wheels: axle speeds agree within 1e-3 of the initial
/// speed. Neither axle turns faster than the car moves, or backwards, and the car stops.
#[test]
fn locked_axles_turn_alike_under_full_brake() {
    for solver in on_rows() {
        for hz in [20.0, 60.0, 1000.0] {
            for spin_inertia in [0.01, 1.0, 5.0] {
                for share in [0.5, 0.7] {
                    let mut parts = undriven(spin_inertia);
                    parts.couplings.push(TorqueCoupling::locked(axles()));
                    for wheel in &mut parts.wheels {
                        wheel.brake_torque = 0.5 * 4752.0 * if wheel.axle == 0 { share } else { 1.0 - share };
                    }
                    let model = parts.model();
                    let mut car = Drive::rolling(&solver, &model, 10.0, hz);
                    let what = format!("{} {hz} Hz, {spin_inertia} kg m2, {share} in front", solver.name);
                    for frame in car.run(3.0, |_| Controls { brake: 1.0, ..Controls::coasting() }) {
                        let [front, rear] = axle_speeds(&frame);
                        let speed = 10.0 / 0.33;
                        let t = frame.t_s;
                        assert!((front - rear).abs() < 1e-3 * speed, "{what}: {front} and {rear} rad/s at {t} s");
                        assert!((-0.3..1.1 * speed).contains(&front), "{what}: {front} rad/s at {t} s");
                    }
                    let left = car.world.frame(0).vx_mps;
                    assert!(left.abs() < 0.05, "{what}: {left} m/s");
                }
            }
        }
    }
}

/// Undriven cars with random locked, viscous and preloaded couplings, randomly braked and steered: their energy rises
/// at most by the energy that springs and contact patches return (up to 1.5 kJ). Locked axles turn at one speed.
#[test]
fn couplings_and_brakes_never_add_energy() {
    for solver in on_rows() {
        let mut random = Random(0x0123_4567_89AB_CDEF);
        for round in 0..60 {
            let mut parts = undriven(0.05 * 100f32.powf(random.between(0.0, 1.0)));
            let kind = round % 3;
            let mut coupling = TorqueCoupling::locked(axles());
            if kind != 0 {
                coupling.friction = random.between(0.0, 800.0);
                coupling.viscous = if kind == 1 { random.between(0.0, 200.0) } else { 0.0 };
                coupling.bias = [random.between(1.0, 4.0), random.between(1.0, 4.0)];
            }
            parts.couplings.push(coupling);
            if round % 2 == 0 {
                parts.couplings.push(TorqueCoupling::locked([[2].into(), [3].into()]));
            }
            let model = parts.model();
            let hz = 20.0 * 50f32.powf(random.between(0.0, 1.0));
            let scene = Scene { grip: random.between(0.1, 1.2), ..Scene::flat() };
            let speed = random.between(3.0, 30.0);
            let placement = Placement { speed, gear: Some(0), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &scene, placement, hz);
            let what = format!("{} round {round}, {hz} Hz, grip {}, {speed} m/s", solver.name, scene.grip);
            let mut controls = Controls::coasting();
            let mut least = energy_of(&model, &car);
            for step in 0..(3.0 * hz) as usize {
                if step % (0.4 * hz) as usize == 0 {
                    controls.brake = random.between(-1.0, 1.0).max(0.0);
                    controls.steer = random.between(-0.05, 0.05);
                }
                let frame = car.step(&controls);
                let energy = energy_of(&model, &car);
                assert!(energy < least + 1500.0, "{what}: {least} to {energy} J at {} s", frame.t_s);
                least = least.min(energy);
                let [front, rear] = axle_speeds(&frame);
                if kind == 0 {
                    let fastest = front.abs().max(f64::from(speed) / 0.33);
                    assert!((front - rear).abs() < 1e-3 * fastest, "{what}: {front}, {rear} rad/s at {} s", frame.t_s);
                }
            }
        }
    }
}

/// C5 with four driven wheels and locked axles, random controls and grip from ice to dry: axle speeds agree within
/// 1e-3 of the faster of car and wheels. In one step of a run, in which brakes stop driven axles, they may differ by
/// 3e-3.
#[test]
fn locked_axles_turn_alike_under_power() {
    for solver in on_rows() {
        let mut random = Random(0xFEDC_BA98_7654_3210);
        for round in 0..16 {
            let mut parts = c5();
            let Powertrain::Engine(drive) = &mut parts.powertrain else { panic!("the C5 has an engine") };
            drive.torque_shares = [0.2, 0.2, 0.3, 0.3].into();
            parts.couplings.push(TorqueCoupling::locked(axles()));
            if round % 2 == 0 {
                parts.couplings.push(TorqueCoupling {
                    bias: [2.5, 1.5],
                    friction: 50.0,
                    ..TorqueCoupling::locked([[2].into(), [3].into()])
                });
            }
            let hz = 20.0 * 50f32.powf(random.between(0.0, 1.0));
            let scene = Scene { grip: random.between(0.1, 1.1), ..Scene::flat() };
            let placement = Placement { speed: random.between(0.0, 30.0), ..Placement::default() };
            let mut car = Drive::new(&solver, &parts.model(), &scene, placement, hz);
            let mut controls = Controls::default();
            let mut caught = 0;
            for step in 0..(4.0 * hz) as usize {
                if step % (0.5 * hz) as usize == 0 {
                    controls.throttle = random.between(-0.5, 1.0).max(0.0);
                    controls.brake = random.between(-1.0, 1.0).max(0.0);
                    controls.steer = random.between(-0.1, 0.1);
                }
                let frame = car.step(&controls);
                let [front, rear] = axle_speeds(&frame);
                let fastest = frame.wheels.iter().map(|w| w.spin_radps.abs()).fold(frame.vx_mps.abs() / 0.33, f64::max);
                let what = format!("{} round {round}, {hz} Hz, grip {} at {} s", solver.name, scene.grip, frame.t_s);
                let apart = (front - rear).abs();
                caught += u32::from(apart >= 1e-3 * fastest + 2e-3);
                assert!(apart < 3e-3 * fastest + 2e-3 && caught <= 1, "{what}: {front}, {rear} rad/s");
            }
        }
    }
}
