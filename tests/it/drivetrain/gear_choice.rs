//! Choice of gear of an automatic, and engagement of the direction of travel.

use std::f32::consts::PI;

use skidpad::core::model::{Motor, Powertrain};
use skidpad::core::{Controls, Quat, Scene, Vec3, state::Placement};

use crate::common::{Drive, Simplify, c5, on_rows, own_code, shipped};
use crate::drivetrain::motors::light;

const RATES: [f32; 3] = [30.0, 240.0, 1000.0];

fn throttle(throttle: f32, gear: Option<i8>) -> Controls {
    Controls { throttle, gear, ..Controls::default() }
}

/// On ice, the driven wheels spin at the limiter and the car creeps. The automatic stays in first gear.
#[test]
fn spinning_wheels_do_not_shift_up() {
    for name in ["corvette_c5", "toyota_4runner"] {
        let model = shipped(name).model();
        for solver in on_rows() {
            for hz in RATES {
                let ice = Scene { grip: 0.05, ..Scene::flat() };
                let mut car = Drive::new(&solver, &model, &ice, Placement::default(), hz);
                let frames = car.run(6.0, |_| throttle(1.0, None));
                let last = &frames[frames.len() - 1];
                let spun = last.wheels[2].spin_radps * 0.33 / last.vx_mps;
                assert!(spun > 2.0, "{name} {}: {spun}", solver.name);
                assert!(frames.iter().all(|f| f.gear == 1.0), "{name} {} {hz} Hz: gear {}", solver.name, last.gear);
            }
        }
    }
}

/// Wheels locked by the brakes at speed cause no downshift. Spinning wheels of a car thrown onto its roof cause no
/// upshift.
#[test]
fn locked_wheels_and_wheels_in_the_air_change_no_gear() {
    let model = c5().model();
    for solver in on_rows() {
        for hz in RATES {
            let what = format!("{} {hz} Hz", solver.name);
            let ice = Scene { grip: 0.1, ..Scene::flat() };
            let mut car = Drive::new(&solver, &model, &ice, Placement { speed: 30.0, ..Placement::default() }, hz);
            let gear = car.world.frame(0).gear;
            let frames = car.run(3.0, |_| Controls { brake: 1.0, ..Controls::default() });
            let last = &frames[frames.len() - 1];
            assert!(last.wheels[2].spin_radps.abs() < 1.0 && last.vx_mps > 25.0, "{what}: {}", last.vx_mps);
            assert_eq!(last.gear, gear, "{what} locked");

            let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), hz);
            let mut state = car.world.state(0).clone();
            state.position.z += 2.0;
            state.rotation = Quat::from_axis_angle(Vec3::X, PI);
            car.world.set_state(0, &state).expect("it fits");
            let frames = car.run(4.0, |_| throttle(1.0, None));
            assert!(frames[frames.len() - 1].wheels[2].spin_radps > 20.0, "{what}");
            assert!(frames.iter().all(|f| f.gear == 1.0), "{what} on its roof");
        }
    }
}

/// If wheels roll, the shift points are engine speeds: the automatic shifts up in the first step that begins above
/// the threshold, in every gear.
#[test]
fn rolling_wheels_shift_where_the_engine_says() {
    let mut parts = c5().without_air();
    let Powertrain::Engine(drive) = &mut parts.powertrain else { panic!("the C5 has an engine") };
    drive.gearbox.shift_time = 0.0;
    let up = f64::from(drive.gearbox.up_speed);
    let model = parts.model();
    for solver in on_rows() {
        let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), 240.0);
        let frames = car.run(16.0, |_| throttle(1.0, None));
        let ratios = [2.66, 1.78, 1.30, 1.00].map(|ratio| ratio * 3.42);
        let mut shifts = 0;
        for pair in frames.windows(2).filter(|pair| pair[1].gear != pair[0].gear) {
            let turning = 0.5 * (pair[0].wheels[2].spin_radps + pair[0].wheels[3].spin_radps);
            let engine = turning * ratios[pair[0].gear as usize - 1];
            assert!((up..1.005 * up).contains(&engine), "{}: {engine} of {up}", solver.name);
            assert_eq!(pair[1].gear, pair[0].gear + 1.0);
            shifts += 1;
        }
        assert_eq!(shifts, 3, "{}", solver.name);
    }
}

/// A direction engages below walking pace: reverse waits in neutral while the car rolls forward faster, and a forward
/// gear while it rolls back faster. An automatic leaves reverse by itself.
#[test]
fn directions_engage_below_a_walk() {
    let model = c5().model();
    for solver in on_rows() {
        for hz in RATES {
            for (speed, asked, told) in [(20.0f32, Some(-1), -1.0), (-6.0, Some(1), 1.0), (-6.0, None, 1.0)] {
                let what = format!("{} {hz} Hz {asked:?} at {speed} m/s", solver.name);
                let mut car =
                    Drive::new(&solver, &model, &Scene::flat(), Placement { speed, ..Placement::default() }, hz);
                let brake = |brake: f32| Controls { brake, gear: asked, ..Controls::default() };
                let frames = car.run(6.0, |_| brake(0.6));
                let against = |speed: f64| -speed * told > 1.6;
                for frame in &frames[1..] {
                    if against(frame.vx_mps) {
                        assert_eq!(frame.gear, 0.0, "{what}: at {} m/s", frame.vx_mps);
                    }
                }
                assert_eq!(frames[frames.len() - 1].gear, told, "{what}");
                let away = car.run(2.0, |_| throttle(0.3, asked)).pop().expect("frames").vx_mps;
                assert!(away * told > 0.5, "{what} drives off: {away}");
            }
        }
    }
}

/// Motors and direct drive torques change their direction below walking pace, too. Above it they do not drive.
#[test]
fn cars_without_gears_turn_round_below_a_walk() {
    for name in ["tesla_model3_awd", "bullet_reference"] {
        let model = shipped(name).model();
        assert!(model.parts().powertrain.engine().is_none(), "{name}");
        for solver in own_code() {
            for hz in RATES {
                for (speed, asked, told) in [(15.0f32, Some(-1), -1.0), (-6.0, Some(1), 1.0), (-6.0, None, 1.0)] {
                    let what = format!("{name} {} {hz} Hz {asked:?} at {speed} m/s", solver.name);
                    let gear = Some(-told as i8);
                    let placement = Placement { speed, gear, ..Placement::default() };
                    let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, hz);
                    let frames = car.run(1.0, |_| throttle(1.0, asked));
                    let last = &frames[frames.len() - 1];
                    assert_eq!(last.gear, 0.0, "{what}");
                    assert!((last.vx_mps - f64::from(speed)).abs() < 0.5, "{what}: pulls to {} m/s", last.vx_mps);
                    car.run(6.0, |_| Controls { brake: 0.6, gear: asked, ..Controls::default() });
                    let away = car.run(2.0, |_| throttle(0.3, asked)).pop().expect("frames");
                    assert!(away.vx_mps * told > 0.5 && away.gear == told, "{what} drives off: {}", away.vx_mps);
                }
            }
        }
    }
}

/// An automatic in neutral at speed selects the gear of that speed. Motors of a hybrid drive in the direction of its
/// gear.
#[test]
fn an_automatic_finds_its_gear_from_neutral() {
    let mut parts = c5();
    parts.motors = vec![Motor { wheels: [0, 1].into(), peak_torque: 100.0, ..light() }];
    let model = parts.model();
    for solver in on_rows() {
        let mut car = Drive::rolling(&solver, &model, 30.0, 60.0);
        let frame = car.run(0.1, |_| throttle(0.0, None)).pop().expect("frames");
        assert_eq!(frame.gear, 5.0, "{}: the first gear below 2400 rev/min, where it shifts up", solver.name);
        let mut car = Drive::rolling(&solver, &model, 20.0, 60.0);
        let frames = car.run(1.0, |_| throttle(1.0, Some(-1)));
        assert!(frames.iter().all(|f| f.gear == 0.0), "{}", solver.name);
        assert_eq!(car.world.state(0).drive.motors[0], 0.0, "{}: its motors wait, too", solver.name);
    }
}
