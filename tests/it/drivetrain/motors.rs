//! Electric motors: torque, power, speed limit, rotor inertia and regeneration, by closed forms.

use skidpad::core::model::{Motor, Powertrain, TorqueCoupling};
use skidpad::core::{Controls, ModelParts, Scene, state::Placement};

use crate::common::{Drive, Simplify, c5, close, on_rows};
use crate::step::fuzz::survives_wild_controls;
use crate::step::random::Random;

/// Returns a motor for the rear axle without rotor inertia, losses, regeneration or power limit.
pub fn light() -> Motor {
    Motor {
        wheels: [2, 3].into(),
        peak_torque: 300.0,
        power: f32::INFINITY,
        max_speed: 1500.0,
        reduction: 9.0,
        efficiency: 1.0,
        inertia: 0.0,
        lift_regeneration: 0.0,
        brake_regeneration: 0.0,
    }
}

fn motor(wheels: &[usize]) -> Motor {
    Motor { wheels: wheels.into(), power: 90e3, inertia: 0.05, ..light() }
}

/// Returns the parts of a C5 with `motors` instead of its engine, without drag and rolling resistance.
fn electric(motors: Vec<Motor>) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance();
    parts.powertrain = Powertrain::None;
    parts.motors = motors;
    parts
}

fn pedals(throttle: f32, brake: f32) -> Controls {
    Controls { throttle, brake, ..Controls::default() }
}

/// Row B17: in the air, `ω' = T n / (I + n² J)` for each wheel, at any rate, forward and in reverse, with one motor
/// for an axle or one for each wheel.
#[test]
fn b17_a_motor_in_the_air_turns_wheel_and_rotor() {
    for solver in on_rows() {
        for hz in [30.0, 240.0, 1000.0] {
            for motors in [vec![motor(&[2, 3])], vec![motor(&[2]), motor(&[3])]] {
                let wheels = 2.0 / motors.len() as f64;
                let model = electric(motors).model();
                let placement = Placement { gear: Some(0), ..Placement::default() };
                let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, hz);
                let mut state = car.world.state(0).clone();
                state.position.z += 30.0;
                car.world.set_state(0, &state).expect("it fits");
                let inertia = wheels * f64::from(model.wheels()[2].spin_inertia) + 81.0 * 0.05;
                for towards in [1i8, -1] {
                    let before = car.world.frame(0).wheels[2].spin_radps;
                    let controls = Controls { throttle: 0.1, gear: Some(towards), ..Controls::default() };
                    let frames = car.run(0.3, |_| controls.clone());
                    let last = frames.last().expect("frames");
                    let gained = last.wheels[2].spin_radps - before;
                    let told = 0.1 * 300.0 * 9.0 / inertia * (last.t_s - frames[0].t_s) * f64::from(towards);
                    close(&format!("{} {hz} Hz", solver.name), gained, told, 1e-3, "rounding");
                    let other = last.wheels[3].spin_radps - before;
                    close(&format!("{} {hz} Hz, right", solver.name), other, gained, 1e-3, "rounding");
                }
            }
        }
    }
}

/// Losses reduce the driving torque by the same factor in reverse and forward.
#[test]
fn a_motor_loses_as_much_in_reverse() {
    let model = electric(vec![Motor { efficiency: 0.8, ..light() }]).model();
    for solver in on_rows() {
        for towards in [1i8, -1] {
            let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), 240.0);
            let controls = Controls { throttle: 0.3, gear: Some(towards), ..Controls::default() };
            car.run(1.0, |_| controls.clone());
            let given = f64::from(car.world.state(0).wheels[2].torque * f32::from(towards));
            close(&format!("{} {towards}", solver.name), given, 0.5 * 0.3 * 300.0 * 9.0 * 0.8, 1e-3, "rounding");
        }
    }
}

/// At constant power, `m v²` grows by 2 P t, with wheels and rotor as equivalent mass. The top speed is the speed
/// limit of the motor.
#[test]
fn power_limited_acceleration_and_top_speed() {
    for solver in on_rows() {
        for hz in [30.0, 240.0] {
            let model = electric(vec![motor(&[2, 3])]).model();
            let radius = f64::from(model.wheels()[2].radius);
            let mass = f64::from(model.rolling_mass());
            let placement = Placement { speed: 15.0, ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, hz);
            let frames = car.run(16.0, |_| pedals(1.0, 0.0));
            let at = |t: f64| &frames[(t * f64::from(hz)).round() as usize];
            let (early, late) = (at(1.0), at(6.0));
            let gained = 0.5 * mass * (late.vx_mps.powi(2) - early.vx_mps.powi(2)) / (late.t_s - early.t_s);
            // Slip of the driven wheels: 1 % at 15 to 35 m/s.
            let slip = late.wheels[2].spin_radps * radius / late.vx_mps - 1.0;
            assert!((0.0..0.02).contains(&slip), "{}: {slip}", solver.name);
            close(
                &format!("{} {hz} Hz", solver.name),
                gained,
                90e3 / (1.0 + slip),
                0.01,
                "asked; slip falls meanwhile",
            );
            let top = 1500.0 / 9.0 * radius;
            let last = frames.last().expect("frames").vx_mps;
            assert!(last < 1.001 * top, "{} {hz} Hz: {last} of {top}", solver.name);
        }
        let mut short = motor(&[2, 3]);
        short.max_speed = 500.0;
        let model = electric(vec![short]).model();
        let placement = Placement { speed: 10.0, ..Placement::default() };
        let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 30.0);
        let last = car.run(20.0, |_| pedals(1.0, 0.0)).pop().expect("frames");
        close(solver.name, last.wheels[2].spin_radps * 9.0, 500.0, 5e-3, "the last 2 % fade like an exponential");
    }
}

/// Regeneration on lift-off and on braking has the configured shares of torque. It brings the car to rest without
/// reversing it.
#[test]
fn regeneration_brakes_and_ends_at_rest() {
    for solver in on_rows() {
        let mut given = motor(&[0, 1]);
        (given.lift_regeneration, given.brake_regeneration) = (0.2, 0.3);
        let mut parts = electric(vec![given]);
        for wheel in &mut parts.wheels {
            wheel.brake_torque = 0.0;
        }
        let model = parts.model();
        let radius = f64::from(model.wheels()[0].radius);
        let mass = f64::from(model.rolling_mass());
        for (brake, share) in [(0.0, 0.2), (1.0, 0.5)] {
            let placement = Placement { speed: 10.0, ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 60.0);
            let frames = car.run(20.0, |_| pedals(0.0, brake));
            let slowed = (frames[30].vx_mps - frames[60].vx_mps) / 0.5;
            let told = share * 300.0 * 9.0 / radius / mass;
            close(&format!("{} {brake}", solver.name), slowed, told, 0.01, "slip and pitch at half a second");
            let end = frames.last().expect("frames").vx_mps;
            assert!(end.abs() < 0.01 && frames.iter().all(|f| f.vx_mps > -0.02), "{}: {end}", solver.name);
        }
    }
}

/// Random motors and couplings, with and without an engine, under random controls: the state stays finite.
#[test]
fn any_motors_survive_anything() {
    for solver in on_rows() {
        let mut random = Random(0x1234_5678_9ABC_DEF1);
        for round in 0..16 {
            let mut parts = if round % 2 == 0 { c5() } else { electric(Vec::new()) };
            for wheels in [&[0, 1][..], &[2, 3], &[0], &[3]] {
                parts.motors.push(Motor {
                    peak_torque: random.between(0.0, 800.0),
                    power: random.between(1e3, 5e5),
                    max_speed: random.between(50.0, 2000.0),
                    reduction: random.between(0.5, 15.0),
                    inertia: random.between(-0.1, 0.2).max(0.0),
                    lift_regeneration: random.between(0.0, 1.0),
                    brake_regeneration: random.between(0.0, 1.0),
                    ..motor(wheels)
                });
            }
            parts.couplings.push(TorqueCoupling::locked([Box::from([0, 1]), Box::from([2, 3])]));
            let mut car = Drive::new(&solver, &parts.model(), &Scene::flat(), Placement::default(), 60.0);
            survives_wild_controls(&mut car, solver.name, &mut random);
        }
    }
}
