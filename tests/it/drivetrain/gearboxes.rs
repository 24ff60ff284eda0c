//! Torque converter, continuous gearbox and stalling engine, by closed forms.

use skidpad::core::model::{Converter, Curve, Cvt, EngineDrive, LaunchDevice, LockUp, Powertrain};
use skidpad::core::{Controls, ModelParts, Scene, state::Placement};

use crate::common::{Drive, Simplify, c5, close, on_rows};
use crate::step::fuzz::survives_wild_controls;
use crate::step::random::Random;

fn curve(points: &[[f32; 2]]) -> Curve {
    Curve::new(points.to_vec()).expect("valid")
}

/// Returns the parts of a C5 without losses, with an engine of 250 N m, after `change`.
fn with_engine(change: impl Fn(&mut EngineDrive)) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance();
    let Powertrain::Engine(drive) = &mut parts.powertrain else { panic!("the C5 has an engine") };
    drive.engine.torque = curve(&[[0.0, 250.0], [1000.0, 250.0]]);
    drive.gearbox.efficiency = 1.0;
    change(drive);
    parts
}

fn converter() -> Converter {
    Converter {
        capacity: curve(&[[0.0, 4e-3], [0.85, 3e-3], [1.0, 0.0]]),
        torque_ratio: curve(&[[0.0, 2.0], [0.85, 1.0]]),
        lock_up: None,
    }
}

fn pedals(throttle: f32, brake: f32) -> Controls {
    Controls { throttle, brake, gear: Some(1), ..Controls::default() }
}

/// Stall at full throttle against the brakes: the engine speed satisfies `C(0) ω² = T`, and the gearbox input torque
/// is R(0) T.
#[test]
fn converter_stalls_where_its_capacity_is_the_torque() {
    for solver in on_rows() {
        for hz in [30.0, 240.0, 1000.0] {
            let model = with_engine(|drive| drive.launch_device = LaunchDevice::Converter(converter())).model();
            let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), hz);
            let last = car.run(3.0, |_| pedals(1.0, 1.0)).pop().expect("frames");
            let what = format!("{} {hz} Hz", solver.name);
            close(&what, last.engine_radps, (250.0f64 / 4e-3).sqrt(), 1e-3, "3 s of a lag of 0.1 s");
            let turbine = f64::from(car.world.state(0).drive.clutch);
            close(&what, turbine, 500.0, 2e-3, "rounding");
            assert!(last.vx_mps.abs() < 0.01, "{what}: {}", last.vx_mps);
        }
    }
}

/// During a start from rest, the turbine torque is that of the converter's curves up to the coupling point. Final
/// speeds agree from 30 to 1000 Hz.
#[test]
fn converter_multiplies_less_as_the_turbine_catches_up() {
    for solver in on_rows() {
        let mut speeds = Vec::new();
        for hz in [30.0, 240.0, 1000.0] {
            let model = with_engine(|drive| drive.launch_device = LaunchDevice::Converter(converter())).model();
            let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), hz);
            let (fluid, gears) = (converter(), 2.66 * 3.42);
            let mut multiplied = Vec::new();
            for _ in 0..(4.0 * hz) as usize {
                let frame = car.step(&pedals(0.6, 0.0));
                let turbine = gears * 0.5 * (frame.wheels[2].spin_radps + frame.wheels[3].spin_radps);
                let [_, told] = fluid.torques(frame.engine_radps as f32, turbine as f32);
                let given = f64::from(car.world.state(0).drive.clutch);
                let ratio = turbine / frame.engine_radps;
                if frame.t_s > 0.5 {
                    close(&format!("{} {hz} Hz at {ratio}", solver.name), given, told.into(), 0.03, "over a step");
                    multiplied.push(ratio);
                }
            }
            let (first, last) = (multiplied[0], multiplied[multiplied.len() - 1]);
            assert!(first < 0.5 && last > 0.85, "{} {hz} Hz: {first} to {last}", solver.name);
            speeds.push(car.world.frame(0).vx_mps);
        }
        close(&format!("{} 30 Hz", solver.name), speeds[0], speeds[2], 0.01, "measured below 1 %");
        close(&format!("{} 240 Hz", solver.name), speeds[1], speeds[2], 0.003, "measured below 0.3 %");
    }
}

/// A closed lock-up clutch turns engine and wheels together. On the overrun, the fluid turns the engine without it.
#[test]
fn converter_locks_up_and_overruns() {
    for solver in on_rows() {
        let with = |lowest_gear: i8| Converter {
            lock_up: Some(LockUp { capacity: 600.0, speed: 150.0, lowest_gear }),
            ..converter()
        };
        for (fluid, told) in [(with(1), 1.0..1.000_1), (with(2), 0.3..0.999), (converter(), 0.3..0.999)] {
            let model = with_engine(|drive| {
                drive.launch_device = LaunchDevice::Converter(fluid.clone());
                drive.engine.drag = [60.0, 0.0];
            });
            let placement = Placement { speed: 15.0, gear: Some(1), ..Placement::default() };
            let mut car = Drive::new(&solver, &model.model(), &Scene::flat(), placement, 240.0);
            let last = car.run(0.4, |_| pedals(0.0, 0.0)).pop().expect("frames");
            let ratio = last.engine_radps / (2.66 * 3.42 * last.wheels[2].spin_radps);
            let near = if told.contains(&1.0) { (ratio - 1.0).abs() < 1e-3 } else { told.contains(&ratio) };
            assert!(near && last.ax_mps2 < -0.2, "{}: {ratio} {}", solver.name, last.ax_mps2);
        }
    }
}

/// A car that starts at 20 m/s is in the lowest gear from which it does not shift up at closed throttle, and stays in
/// it. At full throttle it shifts down until the engine exceeds 3000 rev/min: 1973 in fourth gear, 2565 in third,
/// 3512 in second.
#[test]
fn full_throttle_kicks_down() {
    const RPM: f32 = std::f32::consts::TAU / 60.0;
    let model = with_engine(|drive| {
        let gears = &mut drive.gearbox;
        (gears.easy_up_speed, gears.down_speed, gears.kick_down_speed) = (2000.0 * RPM, 1100.0 * RPM, 3000.0 * RPM);
        gears.shift_time = 0.0;
    });
    let model = model.model();
    for solver in on_rows() {
        for (throttle, gear) in [(0.0, 4.0), (1.0, 2.0)] {
            let placement = Placement { speed: 20.0, ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 240.0);
            assert_eq!(car.world.frame(0).gear, 4.0, "{}", solver.name);
            let last = car.run(1.0, |_| Controls { throttle, ..Controls::default() }).pop().expect("frames");
            assert_eq!(last.gear, gear, "{} at a throttle of {throttle}", solver.name);
        }
    }
}

/// A continuous gearbox keeps the engine within 1 % of its target speed while the car accelerates. Its ratio stays in
/// range.
#[test]
fn continuous_gearbox_holds_the_engine_speed() {
    let continuous = |drive: &mut EngineDrive| {
        drive.gearbox.forward = [2.4, 0.4].into();
        drive.gearbox.final_drive = 5.0;
        drive.gearbox.cvt = Some(Cvt { engine_speeds: [150.0, 400.0], max_ratio_rate: 1.0 });
    };
    for solver in on_rows() {
        for hz in [30.0, 240.0, 1000.0] {
            let model = with_engine(continuous).model();
            let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), hz);
            let mut held = 0;
            for _ in 0..(20.0 * hz) as usize {
                let frame = car.step(&Controls { throttle: 0.8, ..Controls::default() });
                let ratio = car.world.state(0).drive.ratio;
                assert!((0.4..=2.4).contains(&ratio), "{}: {ratio}", solver.name);
                if ratio < 2.3 && ratio > 0.41 {
                    held += 1;
                    let aim = 150.0 + 0.8 * 250.0;
                    // In the first half second, the rate of the ratio limits the control.
                    if held > (0.5 * hz) as usize {
                        close(&format!("{} {hz} Hz", solver.name), frame.engine_radps, aim, 0.01, "asked");
                        assert!(frame.ax_mps2 > 0.3, "{}: {}", solver.name, frame.ax_mps2);
                    }
                }
            }
            assert!(held > (4.0 * hz) as usize, "{} {hz} Hz: {held}", solver.name);
        }
    }
}

/// An engine dies below its stall speed, stays dead without a starter, and runs again after it. The throttle map
/// translates the pedal.
#[test]
fn an_engine_stalls_and_starts() {
    let model = with_engine(|drive| (drive.engine.stall_speed, drive.engine.throttle_map) = (40.0, None)).model();
    for solver in on_rows() {
        for hz in [30.0, 1000.0] {
            let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), hz);
            let dropped = Controls { clutch: Some(0.0), brake: 1.0, gear: Some(1), ..Controls::default() };
            let last = car.run(1.0, |_| dropped.clone()).pop().expect("frames");
            assert!(last.engine_radps < 1.0, "{} {hz} Hz: {}", solver.name, last.engine_radps);
            let neutral = |starter: bool| Controls { starter, gear: Some(0), throttle: 0.3, ..Controls::default() };
            let last = car.run(2.0, |_| neutral(false)).pop().expect("frames");
            assert!(last.engine_radps < 1.0, "{} {hz} Hz stays dead: {}", solver.name, last.engine_radps);
            car.run(0.5, |_| neutral(true));
            let running = Controls { gear: Some(0), ..Controls::default() };
            let last = car.run(10.0, |_| running.clone()).pop().expect("frames");
            let idle = f64::from(model.parts().powertrain.engine().expect("an engine").engine.idle_speed);
            assert!(
                (0.9..1.15).contains(&(last.engine_radps / idle)),
                "{} {hz} Hz: {}",
                solver.name,
                last.engine_radps
            );
        }
    }
    let map = curve(&[[0.0, 0.0], [0.5, 0.8], [1.0, 1.0]]);
    let mapped = with_engine(|drive| drive.engine.throttle_map = Some(map.clone())).model();
    let plain = with_engine(|_| ()).model();
    for solver in on_rows() {
        let speed = |model, throttle| {
            let placement = Placement { speed: 12.0, gear: Some(1), ..Placement::default() };
            let mut car = Drive::new(&solver, model, &Scene::flat(), placement, 60.0);
            car.run(1.0, |_| pedals(throttle, 0.0)).pop().expect("frames").vx_mps
        };
        assert_eq!(speed(&mapped, 0.5).to_bits(), speed(&plain, 0.8).to_bits(), "{}", solver.name);
    }
}

/// Converters, continuous gearboxes and stalling engines under random controls: the state stays finite.
#[test]
fn any_gearbox_survives_anything() {
    for solver in on_rows() {
        let mut random = Random(0xFEED_5EED_0123_4567);
        for round in 0..12 {
            let model = with_engine(|drive| {
                drive.engine.stall_speed = if round % 2 == 0 { 30.0 } else { 0.0 };
                if round % 3 != 0 {
                    drive.launch_device = LaunchDevice::Converter(converter());
                }
                if round % 4 < 2 {
                    drive.gearbox.forward = [3.0, 0.3].into();
                    drive.gearbox.cvt = Some(Cvt { engine_speeds: [100.0, 600.0], max_ratio_rate: 5.0 });
                }
            });
            let mut car = Drive::new(&solver, &model.model(), &Scene::flat(), Placement::default(), 60.0);
            survives_wild_controls(&mut car, solver.name, &mut random);
        }
    }
}
