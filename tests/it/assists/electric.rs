//! Assists on electric motors, hybrids and torque converters.

use skidpad::core::model::{Converter, CruiseControl, Curve, LaunchDevice, Motor, Powertrain, Wheel};
use skidpad::core::{Assist, Controls, Frame, Model, ModelParts, Scene, state::Placement};

use super::added;
use super::drive::{Launch, car, full_throttle, most_slip, speed_after};
use super::fitted::{CRUISE, LAUNCH, TRACTION};
use crate::common::{Drive, Simplify, close, mean, solvers};
use crate::drivetrain::motors::light;

fn on(wheels: &[usize], torque: f32) -> Motor {
    Motor { wheels: wheels.into(), peak_torque: torque, inertia: 0.03, efficiency: 0.95, ..light() }
}

/// Returns four layouts by name: one motor for each axle, one for each wheel, an engine with a front motor, and an
/// engine with a motor on its own axle.
fn layouts(base: &ModelParts) -> [(&'static str, ModelParts); 4] {
    let with = |engine: bool, motors: Vec<Motor>| {
        let mut parts = base.clone();
        if !engine {
            parts.powertrain = Powertrain::None;
        }
        parts.motors = motors;
        parts
    };
    let wheels = |torque| (0..4).map(|i| on(&[i], torque)).collect();
    [
        ("axles", with(false, vec![on(&[0, 1], 250.0), on(&[2, 3], 400.0)])),
        ("wheels", with(false, wheels(200.0))),
        ("engine and front motor", with(true, vec![on(&[0, 1], 250.0)])),
        ("engine and rear motor", with(true, vec![on(&[2, 3], 150.0)])),
    ]
}

/// Motors on axles and wheels, alone or with an engine: the largest slip is the target slip at any tick rate. Without
/// traction control the wheels spin.
#[test]
fn traction_control_holds_motors_on_shafts_back() {
    for (layout, parts) in layouts(&car()) {
        for solver in solvers() {
            let run = |traction, hz: f32| {
                let mut parts = parts.clone();
                parts.assists.traction = traction;
                let placement = Placement { speed: 5.0, gear: Some(1), ..Placement::default() };
                Drive::new(&solver, &parts.model(), &Scene::flat(), placement, hz).run(1.4, |_| full_throttle())
            };
            let most = |frames: &[Frame]| most_slip(frames, |f| f.t_s > 0.4 && f.t_s < 1.2);
            let without = most(&run(None, 240.0));
            assert!(without > 0.4, "{} {layout}: slips {without} without", solver.name);
            let speeds = [30.0, 60.0, 240.0, 1000.0].map(|hz| {
                let frames = run(Some(TRACTION), hz);
                let most = most(&frames);
                println!("{} {layout} {hz}: slip {most} speed {}", solver.name, speed_after(&frames, 1.2));
                assert!((0.08..0.12).contains(&most), "{} {layout} {hz} Hz: slips {most}", solver.name);
                speed_after(&frames, 1.2)
            });
            for speed in speeds {
                close(&format!("{} {layout}", solver.name), speed, speeds[3], 0.02, "asked, 30 Hz against 1000 Hz");
            }
        }
    }
}

/// Wheel torque of motors equals the pedal's demand less the torque in the assist log. Regeneration is not reduced.
#[test]
fn the_budget_tells_what_motors_are_held_back_by() {
    let mut parts = car().without_rolling_resistance();
    parts.powertrain = Powertrain::None;
    parts.motors = vec![Motor { wheels: [0, 1].into(), lift_regeneration: 0.2, ..light() }, light()];
    parts.assists.traction = Some(TRACTION);
    let model = parts.model();
    for solver in solvers() {
        for hz in [30.0, 1000.0] {
            let mut drive = Drive::rolling(&solver, &model, 5.0, hz);
            for (throttle, asked) in [(1.0, 2.0 * 300.0), (0.0, -0.2 * 300.0)] {
                let controls = Controls { throttle, gear: Some(1), ..Controls::default() };
                let end = drive.run(1.0, |_| controls.clone()).pop().expect("frames");
                let taken = -added(&end, Assist::TractionControl)[7];
                let torque: f32 = drive.world.state(0).wheels.iter().map(|wheel| wheel.torque).sum();
                let what = format!("{} {hz} Hz, throttle {throttle}", solver.name);
                close(&what, f64::from(torque) / 9.0, asked - taken, 1e-3, "rows are solved to a thousandth");
                assert!(if throttle > 0.0 { taken > 100.0 } else { taken == 0.0 }, "{what}: {taken}");
            }
        }
    }
}

/// Cars with motors stand still before the launch, keep the target slip, and reach 100 km/h in times that agree
/// within 2 % from 30 to 1000 Hz.
#[test]
fn launch_control_launches_motors() {
    for (layout, mut parts) in layouts(&car()) {
        (parts.assists.launch, parts.assists.traction) = (Some(LAUNCH), Some(TRACTION));
        let model = parts.model();
        for solver in solvers() {
            let times = [30.0, 60.0, 240.0, 1000.0].map(|hz| Launch::of(&solver, &model, hz).time);
            for time in times {
                close(&format!("{} {layout} to 100 km/h", solver.name), time, times[3], 0.02, "asked");
            }
        }
    }
}

/// Motors, alone or with an engine in one gear, reach the target speed with at most 0.5 % of overshoot and keep it
/// within 1 %, on the level and uphill.
#[test]
fn cruise_control_holds_its_speed_on_motors() {
    for (layout, mut parts) in layouts(&car()) {
        parts.assists.cruise = Some(CRUISE);
        let model = parts.model();
        for solver in solvers() {
            for hz in [30.0, 1000.0] {
                for slope in [0.0, 0.06] {
                    let placement = Placement { speed: 20.0, gear: Some(3), ..Placement::default() };
                    let mut drive = Drive::new(&solver, &model, &Scene::sloping(slope), placement, hz);
                    let frames =
                        drive.run(15.0, |_| Controls { cruise: Some(25.0), gear: Some(3), ..Controls::default() });
                    let most = frames.iter().map(|f| f.vx_mps).fold(0.0, f64::max);
                    let what = format!("{} {layout} {hz} Hz, slope {slope}", solver.name);
                    println!("{what}: most {most}");
                    assert!(most < 25.0 * 1.005, "{what}: overshoots to {most}");
                    for frame in &frames[frames.len() * 4 / 5..] {
                        close(&what, frame.vx_mps, 25.0, 0.01, "asked");
                    }
                    let end = &frames[frames.len() - 1];
                    assert!(added(end, Assist::CruiseControl)[7] > 0.0, "{what}: told");
                }
            }
        }
    }
}

/// Down a slope of 10 % the speed is kept. Brakes carry the weight's component along the slope less the resistances
/// and less the regeneration, which acts first. If cruise control may not brake, the car accelerates.
#[test]
fn cruise_control_brakes_downhill_if_it_may() {
    let slope = 0.1f32.atan();
    let motor = |torque, share| Motor { peak_torque: torque, brake_regeneration: share, ..light() };
    for solver in solvers() {
        for (may_brake, motors, brakes) in [
            (true, vec![], 1.0),
            (true, vec![motor(20.0, 0.5)], 1.0),
            (true, vec![motor(200.0, 0.5)], 0.0),
            (false, vec![motor(200.0, 0.5)], 0.0),
        ] {
            let mut parts = car();
            (parts.powertrain, parts.motors) = (Powertrain::None, motors.clone());
            parts.assists.cruise = Some(CruiseControl { may_brake, ..CRUISE });
            let model = parts.model();
            for hz in [30.0, 1000.0] {
                let placement = Placement { speed: 22.0, ..Placement::default() };
                let mut drive = Drive::new(&solver, &model, &Scene::sloping(-slope), placement, hz);
                let frames = drive.run(12.0, |_| Controls { cruise: Some(25.0), ..Controls::default() });
                let last = &frames[frames.len() * 4 / 5..];
                let what = format!("{} {hz} Hz, {may_brake} {motors:?}", solver.name);
                if !may_brake {
                    assert!(last[0].vx_mps > 26.0, "{what}: {}", last[0].vx_mps);
                    continue;
                }
                for frame in last {
                    close(&what, frame.vx_mps, 25.0, 0.001, "measured below");
                }
                let weight = f64::from(model.mass()) * 9.81 * f64::from(slope.sin());
                let rolling = -mean(last, |f| f.wheels.iter().map(|w| w.rolling_n).sum());
                let (radius, braked) = (f64::from(model.wheels()[2].radius), braked_radius(&model));
                let regenerated = motors.first().map_or(0.0, |own| f64::from(own.peak_torque * 0.5 * 9.0) / radius);
                let told = mean(last, |f| added(f, Assist::CruiseControl)[6]) / braked;
                let motor = mean(last, |f| added(f, Assist::CruiseControl)[7]) * 9.0 / radius;
                println!("{what}: {told} and {motor} of {}", weight - rolling);
                close(&what, told - motor, weight - rolling, 0.01, "slips of 0.2 %; forces on a slope");
                if brakes > 0.0 {
                    close(&what, told, weight - rolling - regenerated, 0.01, "slips of 0.2 %; forces on a slope");
                } else {
                    assert!(told < 1e-3, "{what}: motors do it, not {told} N of brakes");
                }
            }
        }
    }
}

/// Returns the sum of all foot brake torques over the force that they cause at the contact patches (m).
fn braked_radius(model: &Model) -> f64 {
    let brakes = |of: &dyn Fn(&Wheel) -> f32| model.wheels().iter().map(|w| f64::from(of(w))).sum::<f64>();
    brakes(&|w| w.brake_torque) / brakes(&|w| w.brake_torque / w.radius)
}

/// Force balance down a slope: engine drag and brakes together carry the weight's component along it.
#[test]
fn cruise_control_brakes_what_the_engine_does_not() {
    let slope = 0.1f32.atan();
    let mut parts = car().without_rolling_resistance();
    parts.assists.cruise = Some(CruiseControl { may_brake: true, ..CRUISE });
    let model = parts.model();
    for solver in solvers() {
        for hz in [30.0, 1000.0] {
            let placement = Placement { speed: 22.0, gear: Some(3), ..Placement::default() };
            let mut drive = Drive::new(&solver, &model, &Scene::sloping(-slope), placement, hz);
            let controls = Controls { cruise: Some(25.0), gear: Some(3), ..Controls::default() };
            let end = drive.run(12.0, |_| controls.clone()).pop().expect("frames");
            let what = format!("{} {hz} Hz", solver.name);
            close(&what, end.vx_mps, 25.0, 0.001, "measured below");
            let (weight, radius) =
                (f64::from(model.mass()) * 9.81 * f64::from(slope.sin()), f64::from(model.wheels()[2].radius));
            let Powertrain::Engine(engine) = &model.parts().powertrain else { panic!("the C5 has an engine") };
            let ratio = f64::from(engine.gearbox.ratio(3));
            let drag = -f64::from(drive.world.state(0).drive.clutch) * ratio / f64::from(engine.gearbox.efficiency);
            let braked = added(&end, Assist::CruiseControl)[6];
            let (braked, drag) = (braked / braked_radius(&model), drag / radius);
            println!("{what}: {braked} and {drag} of {weight}");
            assert!(drag > 200.0 && braked > 200.0, "{what}: {drag} {braked}");
            close(&what, braked + drag, weight, 0.01, "slips of 0.2 %; forces on a slope");
        }
    }
}

/// Behind a torque converter, the engine waits at the launch speed or at its stall speed. Afterwards the wheels keep
/// the target slip. Times to 100 km/h agree within 2 % from 30 to 1000 Hz.
#[test]
fn launch_control_holds_the_slip_behind_a_converter() {
    let curve = |points: &[[f32; 2]]| Curve::new(points.to_vec()).expect("valid");
    let mut parts = car();
    let Powertrain::Engine(drive) = &mut parts.powertrain else { panic!("the C5 has an engine") };
    drive.launch_device = LaunchDevice::Converter(Converter {
        capacity: curve(&[[0.0, 4e-3], [0.85, 3e-3], [1.0, 0.0]]),
        torque_ratio: curve(&[[0.0, 2.0], [0.85, 1.0]]),
        lock_up: None,
    });
    drive.engine.torque = curve(&[[0.0, 450.0], [1000.0, 450.0]]);
    drive.gearbox.efficiency = 1.0;
    let gears = f64::from(drive.gearbox.ratio(1));
    // The brake of each driven wheel carries half of the turbine torque through the gears, R(0) C(0) ω².
    let held = |brake: f32| (f64::from(brake) / (0.5 * gears * 2.0 * 4e-3)).sqrt();
    let stall = (450.0f64 / 4e-3).sqrt();
    for solver in solvers() {
        for (waits_at, brake, told) in [(200.0, 6000.0, 200.0), (1000.0, 6000.0, stall), (1000.0, 500.0, held(500.0))] {
            let mut parts = parts.clone();
            parts.wheels.iter_mut().for_each(|wheel| wheel.brake_torque = brake);
            (parts.assists.launch, parts.assists.traction) =
                (Some(skidpad::core::model::LaunchControl { engine_speed: waits_at, ..LAUNCH }), Some(TRACTION));
            let model = parts.model();
            let times = [30.0, 60.0, 240.0, 1000.0].map(|hz| {
                let Launch { waiting, slip, time } = Launch::of(&solver, &model, hz);
                let what = format!("{} {hz} Hz, {waits_at} rad/s", solver.name);
                close(&what, waiting.engine_radps, told, 0.02, "the governor's step");
                assert!(slip > 0.09, "{what}: slips {slip}");
                time
            });
            for time in times {
                close(&format!("{} to 100 km/h", solver.name), time, times[3], 0.02, "asked");
            }
        }
    }
}
