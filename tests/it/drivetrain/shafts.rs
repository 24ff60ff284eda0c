//! Drivetrain torques as telemetry channels: motors, couplings and gearbox input, by closed forms.

use std::sync::Arc;

use skidpad::core::model::{Motor, Powertrain, TorqueCoupling};
use skidpad::core::telemetry::frame::Shaft;
use skidpad::core::{Controls, Frame, Model, Scene, WheelControls, state::Placement};

use crate::common::{Drive, Simplify, c5, close, on_rows, shipped};

/// Returns the suffixes of the shaft torque columns of a car at rest.
fn columns(model: &Arc<Model>) -> Vec<String> {
    let car = Drive::new(&on_rows()[0], model, &Scene::flat(), Placement::default(), 240.0);
    let frame = car.world.frame(0);
    let header = frame.header(model);
    assert_eq!(header.len(), frame.row().len());
    header.iter().filter_map(|column| column.strip_prefix("torque_nm.")).map(str::to_owned).collect()
}

fn torque(frame: &Frame, shaft: Shaft) -> f64 {
    frame.shafts.iter().find(|(found, _)| *found == shaft).expect("the car has it").1
}

/// Returns a motor of 300 N m and 90 kW for an axle, with a reduction of 9 and a rotor inertia of 0.05 kg m².
fn motor(wheels: [usize; 2], efficiency: f32) -> Motor {
    Motor {
        wheels: wheels.into(),
        peak_torque: 300.0,
        power: 90e3,
        max_speed: 1500.0,
        reduction: 9.0,
        efficiency,
        inertia: 0.05,
        lift_regeneration: 0.2,
        brake_regeneration: 0.0,
    }
}

#[test]
fn cars_have_columns_for_the_shafts_they_have() {
    assert_eq!(columns(&c5().model()), ["gearbox"]);
    assert_eq!(columns(&shipped("unity_default").model()), Vec::<String>::new());
    let mut parts = c5();
    parts.motors = vec![motor([0, 1], 1.0), motor([2, 3], 1.0)];
    parts.couplings = vec![TorqueCoupling::locked([[0].into(), [1].into()])];
    assert_eq!(columns(&parts.model()), ["gearbox", "motor1", "motor2", "coupling1"]);
}

/// The motor channel is `T = min(peak, P / ω)`. The torque at its wheels is `n η (T − J n ω')`, while driving and
/// regenerating.
#[test]
fn motors_tell_what_their_law_and_their_wheels_say() {
    let mut parts = c5().without_air().without_rolling_resistance();
    parts.powertrain = Powertrain::None;
    parts.motors = vec![motor([0, 1], 0.9), motor([2, 3], 1.0)];
    let model = parts.model();
    for solver in on_rows() {
        for hz in [60.0, 1000.0] {
            let placement = Placement { speed: 5.0, ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, hz);
            let mut spins = car.world.frame(0);
            for step in 0..(4.0 * hz) as usize {
                let throttle = if step < (3.0 * hz) as usize { 1.0 } else { 0.0 };
                let frame = car.step(&Controls { throttle, ..Controls::default() });
                for (k, motor) in model.parts().motors.iter().enumerate() {
                    let told = torque(&frame, Shaft::Motor(k));
                    let speed = |f: &Frame| motor.wheels.iter().map(|&i| f.wheels[i].spin_radps).sum::<f64>() * 4.5;
                    let what = format!("{} {hz} Hz motor {k} at {} rad/s", solver.name, speed(&frame));
                    let (law, _) = motor.torque(speed(&frame) as f32, motor.demand(throttle, 0.0));
                    close(
                        &what,
                        told,
                        law.into(),
                        5e-3,
                        "spins foreseen without side forces; 0.36 % when the foot lifts",
                    );
                    let gain = (speed(&frame) - speed(&spins)) * f64::from(hz);
                    let through = told - 0.05 * gain;
                    let efficiency = f64::from(motor.efficiency).powf(through.signum());
                    let wheels: f32 = motor.wheels.iter().map(|&i| car.world.state(0).wheels[i].torque).sum();
                    assert!(
                        (f64::from(wheels) - 9.0 * efficiency * through).abs() < 1.0,
                        "{what}: {wheels} N m on its wheels, {through} through it"
                    );
                }
                spins = frame;
            }
        }
    }
}

/// If one wheel is braked and the other one spins, a preload of 200 N m carries 100 N m to the braked wheel.
#[test]
fn a_slipping_preload_tells_its_torque() {
    let mut parts = c5();
    parts.couplings.push(TorqueCoupling { friction: 100.0, ..TorqueCoupling::locked([[2].into(), [3].into()]) });
    let model = parts.model();
    for solver in on_rows() {
        for (held, towards_first) in [(3, -1.0), (2, 1.0)] {
            let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), 240.0);
            let mut state = car.world.state(0).clone();
            state.position.z += 30.0;
            car.world.set_state(0, &state).expect("it fits");
            let mut wheels = vec![WheelControls::default(); 4];
            wheels[held].brake_torque = 3000.0;
            let controls = Controls { throttle: 0.5, gear: Some(1), wheels: wheels.into(), ..Controls::default() };
            let last = car.run(0.4, |_| controls.clone()).pop().expect("frames");
            assert!(last.wheels[5 - held].spin_radps > 5.0, "{}: {}", solver.name, last.wheels[5 - held].spin_radps);
            close(solver.name, torque(&last, Shaft::Coupling(0)), towards_first * 100.0, 1e-4, "at its bound");
            let clutch = f64::from(car.world.state(0).drive.clutch);
            assert_eq!(torque(&last, Shaft::Gearbox), clutch, "{}", solver.name);
            assert!(clutch > 10.0, "{}: {clutch}", solver.name);
        }
    }
}
