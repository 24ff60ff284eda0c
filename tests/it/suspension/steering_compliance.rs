//! Compliance of the steering linkage: deflection by the moment about the steering axis over its stiffness.

use std::f64::consts::FRAC_PI_2;

use skidpad::core::model::{Kingpin, SteeringCompliance};
use skidpad::core::state::{Placement, Tow};
use skidpad::core::{CarStart, Controls, ModelParts, Scene, SolverInfo, State, Vec3};

use crate::common::{Drive, Simplify, c5, close, hold_speed, mean, on_rows, shipped};

/// Stiffness of the linkage at each wheel (N m/rad): 0.29 degrees per 100 N m.
const STIFFNESS: f32 = 20e3;

/// Trails of the steering axes (m).
const KINGPIN: Kingpin =
    Kingpin { trail: 0.03, scrub_radius: 0.0, caster: 0.0, inclination: 0.0, pneumatic_trail: 0.02 };

/// Returns a C5 with vertical steering axes, equal wheel angles on both sides, and a linkage with this time constant (s);
/// a rigid linkage for `None`.
fn car(time_constant: Option<f32>) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance();
    parts.axles.iter_mut().for_each(|axle| axle.ackermann = 0.0);
    parts.steering.kingpin = Some(KINGPIN);
    parts.steering.compliance =
        time_constant.map(|time_constant| SteeringCompliance { stiffness: STIFFNESS, time_constant });
    parts
}

/// In a steady turn each steered wheel yields by side force times trails over stiffness, against its steering angle. The
/// rear wheels do not. The turn is the same at every step rate and for every time constant.
#[test]
fn wheels_yield_by_side_force_times_trail() {
    const STEER: f32 = 0.03;
    for solver in on_rows() {
        let turn = |time_constant: Option<f32>, hz: f32| {
            let model = car(time_constant).model();
            let mut drive = Drive::rolling(&solver, &model, 15.0, hz);
            let frames = drive.run(6.0, |f| Controls {
                steer: STEER,
                gear: Some(0),
                wheels: hold_speed(f, &model, 15.0),
                ..Controls::default()
            });
            let steady = frames[frames.len() - hz as usize..].to_vec();
            (drive.world.state(0).clone(), mean(&steady, |f| f.yaw_rate_radps), drive.world.frame(0))
        };
        let (_, rigid_yaw_rate, _) = turn(None, 240.0);
        let (state, yaw_rate, frame) = turn(Some(0.02), 240.0);
        assert_eq!(frame.steer_rad, f64::from(STEER), "{}: the channel of a rigid linkage", solver.name);
        assert!(yaw_rate < 0.95 * rigid_yaw_rate, "{}: {yaw_rate} {rigid_yaw_rate}", solver.name);
        for (i, wheel) in state.wheels.iter().enumerate() {
            let deflection = if i < 2 { -0.05 * wheel.tyre[1] / STIFFNESS } else { 0.0 };
            let expected = deflection + if i < 2 { STEER } else { 0.0 };
            // Rounding, and the drive force that holds the speed; the deflection is 1e-3 to 3e-3 rad.
            assert!((wheel.steer_deflection - deflection).abs() < 1e-6, "{} wheel {i}: {wheel:?}", solver.name);
            assert!((wheel.steer - expected).abs() < 2e-6, "{} wheel {i}: {wheel:?}", solver.name);
            assert_eq!(frame.wheels[i].steer_rad, f64::from(wheel.steer), "{} wheel {i}", solver.name);
        }
        for (hz, time_constant) in [(20.0, 0.02), (60.0, 0.0), (60.0, 0.1), (1000.0, 0.0)] {
            let what = format!("{} at {hz} Hz, {time_constant} s", solver.name);
            // At 20 Hz the turn of a single sweep differs by 1e-3 with a rigid linkage, too.
            close(&what, turn(Some(time_constant), hz).1, yaw_rate, 2e-3, "steady turn");
        }
    }
}

/// Both axles of a car with rear steering yield, each to its own side forces, and a Magic Formula tyre also turns its
/// wheel by its aligning moment. The image in a mirror has the opposite angles.
#[test]
fn each_steered_axle_yields_to_its_forces_and_moments() {
    // Ratio of the rear steering: against the front wheels.
    const REAR: f32 = -0.2;
    let compliance = Some(SteeringCompliance { stiffness: STIFFNESS, time_constant: 0.02 });
    let mut rear_steered = car(Some(0.02));
    rear_steered.axles[1].steer_ratio = REAR;
    let mut measured = shipped("corvette_c5_mf");
    measured.axles.iter_mut().for_each(|axle| (axle.ackermann, axle.toe_camber) = (0.0, None));
    measured.wheels.iter_mut().for_each(|wheel| wheel.toe = 0.0);
    // The tyre has an aligning moment in place of a pneumatic trail.
    measured.steering.kingpin = Some(Kingpin { pneumatic_trail: 0.0, ..KINGPIN });
    measured.steering.compliance = compliance;
    for (parts, has_moments) in [(rear_steered, false), (measured, true)] {
        let model = parts.model();
        let parts = model.parts();
        let kingpin = parts.steering.kingpin.expect("set");
        for solver in on_rows() {
            let [left, right] = [0.03, -0.03].map(|steer| {
                let mut drive = Drive::rolling(&solver, &model, 15.0, 240.0);
                drive.run(6.0, |f| Controls {
                    steer,
                    gear: Some(0),
                    wheels: hold_speed(f, &model, 15.0),
                    ..Controls::default()
                });
                drive.world.state(0).clone()
            });
            for (i, wheel) in left.wheels.iter().enumerate() {
                let ratio = parts.axles[parts.wheels[i].axle].steer_ratio;
                let moment = wheel.aligning - (kingpin.trail + kingpin.pneumatic_trail) * wheel.tyre[1];
                let expected = if ratio == 0.0 { 0.0 } else { moment / STIFFNESS };
                let what = format!("{} wheel {i}: {expected} {wheel:?}", solver.name);
                // The aligning moment is that at the start of the step, which has settled but for the hold of the speed.
                assert!((wheel.steer_deflection - expected).abs() < 2e-6, "{what}");
                assert!((wheel.steer - 0.03 * ratio - expected).abs() < 3e-6, "{what}");
                assert!(ratio == 0.0 || expected.abs() > 5e-4, "{what}: too little to see");
                assert_eq!(wheel.aligning.abs() > 5.0, has_moments, "{what}");
                let image = right.wheels[i ^ 1].steer_deflection;
                assert!((wheel.steer_deflection + image).abs() < 1e-6, "{what}, image {image}");
            }
        }
    }
}

/// A towing car yields to its own side forces, which those at its hitch change. The articulation angle of a steady turn
/// is that of a wider turn with a rigid linkage: it is proportional to the yaw rate.
#[test]
fn a_car_with_a_caravan_yields() {
    const STEER: f32 = 0.04;
    let train = |is_compliant: bool, solver: &SolverInfo| {
        let mut models = crate::hitch::rigs::shipped(&["toyota_4runner", "caravan"]);
        let mut parts = models[0].parts().clone();
        parts.steering.kingpin = Some(KINGPIN);
        parts.steering.compliance =
            is_compliant.then_some(SteeringCompliance { stiffness: STIFFNESS, time_constant: 0.02 });
        models[0] = parts.model();
        let mut world = crate::hitch::rigs::train(solver, &models, &Scene::flat(), 8.0, 240.0);
        for _ in 0..240 * 8 {
            let wheels = hold_speed(&world.frame(0), &models[0], 8.0);
            world.step(&[Controls { steer: STEER, gear: Some(0), wheels, ..Controls::default() }, Controls::default()]);
        }
        let articulation = f64::from(crate::hitch::rigs::articulation(&*world, 1));
        (world.state(0).clone(), world.frame(0).yaw_rate_radps, articulation)
    };
    for solver in on_rows() {
        let (_, rigid_yaw_rate, rigid_articulation) = train(false, &solver);
        let (state, yaw_rate, articulation) = train(true, &solver);
        for wheel in &state.wheels[..2] {
            let expected = -0.05 * wheel.tyre[1] / STIFFNESS;
            let off = (wheel.steer_deflection - expected).abs();
            // The train still sways a little: 1 % of the deflection in a time constant.
            assert!(expected < -1e-3 && off < 0.01 * expected.abs(), "{}: {expected} {wheel:?}", solver.name);
        }
        let yaw_ratio = yaw_rate / rigid_yaw_rate;
        assert!((0.8..0.98).contains(&yaw_ratio), "{}: {yaw_ratio}", solver.name);
        // The hitch swings out with the sideslip of the car, which does not fall in proportion.
        close(solver.name, articulation / rigid_articulation, yaw_ratio, 0.02, "articulation");
    }
}

/// A raw angle of a wheel is that of the wheel, whatever its linkage does.
#[test]
fn raw_angles_have_no_deflection() {
    let model = car(Some(0.0)).model();
    for solver in on_rows() {
        let mut drive = Drive::rolling(&solver, &model, 15.0, 240.0);
        drive.run(1.0, |_| Controls {
            wheels: (0..4)
                .map(|i| skidpad::core::WheelControls { steer: (i < 2).then_some(0.02), ..Default::default() })
                .collect(),
            gear: Some(0),
            ..Controls::default()
        });
        assert_eq!(drive.world.state(0).wheels[0].steer, 0.02, "{}", solver.name);
    }
}

/// The deflection of a wheel in the air decays with its time constant.
#[test]
fn a_lifted_wheel_returns_over_its_time_constant() {
    const TIME_CONSTANT: f32 = 0.05;
    let model = car(Some(TIME_CONSTANT)).model();
    for solver in on_rows() {
        let lifted = Placement { height: 2.0, gear: Some(0), ..Placement::default() };
        let mut drive = Drive::new(&solver, &model, &Scene::flat(), lifted, 1000.0);
        let mut state = drive.world.state(0).clone();
        state.wheels[0].steer_deflection = 0.02;
        drive.world.set_state(0, &state).expect("it fits");
        drive.run(0.1, |_| Controls::default());
        let left = f64::from(drive.world.state(0).wheels[0].steer_deflection) / 0.02;
        // Implicit Euler: 100 steps of dt / τ = 0.02.
        close(solver.name, left, 1.02f64.powi(-100), 1e-4, "rounding");
    }
}

/// Braked cars on undamped and on slow linkages stand on a slope, across it and askew, and their wheels come to rest.
#[test]
fn cars_stand_on_a_compliant_linkage() {
    for time_constant in [0.0, 0.1] {
        let model = car(Some(time_constant)).model();
        for solver in on_rows() {
            for (hz, heading) in [20.0, 60.0, 240.0].into_iter().flat_map(|hz| [(hz, FRAC_PI_2), (hz, 0.7)]) {
                let placement = Placement { heading: heading as f32, gear: Some(0), ..Placement::default() };
                let mut drive = Drive::new(&solver, &model, &Scene::sloping(0.2), placement, hz);
                let frames = drive.run(10.0, |_| Controls::parked());
                let before = drive.world.state(0).wheels[0];
                drive.run(1.0, |_| Controls::parked());
                let turned = (drive.world.state(0).wheels[0].steer - before.steer).abs();
                let (settled, last) = (&frames[frames.len() / 2], &frames[frames.len() - 1]);
                let crept = (last.x_m - settled.x_m).hypot(last.y_m - settled.y_m);
                let what = format!("{} at {hz} Hz, {time_constant} s", solver.name);
                assert!(crept < 1e-4, "{what}: {crept} m in 5 s");
                assert!(turned < 1e-5, "{what}: {turned} rad in 1 s");
                // A standing wheel has no pneumatic trail.
                let expected = -KINGPIN.trail * before.tyre[1] / STIFFNESS;
                assert!(before.tyre[1].abs() > 100.0 && (before.steer - expected).abs() < 1e-5, "{what}: {before:?}");
            }
        }
    }
}

/// Deflections are saved with the state: 4 bytes for each wheel and 1 byte, also for a deflection of −0, and none for a
/// linkage at rest. A rewound car repeats its motion bit by bit. A deflection beyond the stops is refused.
#[test]
fn deflections_are_saved() {
    let rest = State::at_rest(&car(None).model(), &Scene::flat(), &Placement::default());
    let tow = Some(Tow { towing_slot: 3, force: Vec3::new(1.0, -2.0, 3.0), overrun: 0.5 });
    for (tow, shift, deflection, more) in [
        (None, 0.0, 0.01, 17),
        (None, 0.01, 0.01, 33),
        (tow, 0.0, 0.01, 37),
        (None, 0.0, -0.0, 17),
        (None, 0.0, 0.0, 0),
    ] {
        let mut state = State { tow, ..rest.clone() };
        (state.wheels[1].steer_deflection, state.wheels[2].shift) = (deflection, shift);
        let bytes = state.to_bytes();
        assert_eq!(bytes.len(), 417 + more);
        let found = State::from_bytes(&bytes, 4).expect("saved");
        assert_eq!((&found, found.wheels[1].steer_deflection.to_bits()), (&state, deflection.to_bits()));
        assert!(State::from_bytes(&bytes[..bytes.len() - 1], 4).is_err());
        assert!(State::from_bytes(&[&bytes[..], b"!"].concat(), 4).is_err());
    }
    let mut wild = rest;
    wild.wheels[1].steer_deflection = 0.3;
    let error = State::from_bytes(&wild.to_bytes(), 4).expect_err("beyond the stops").to_string();
    assert!(error.contains("steer_deflection") && error.contains("±0.25 rad"), "{error}");
    for solver in on_rows() {
        let model = car(Some(0.02)).model();
        let mut drive = Drive::rolling(&solver, &model, 15.0, 60.0);
        let turning = |_: &_| Controls { steer: 0.05, gear: Some(0), ..Controls::default() };
        drive.run(0.3, turning);
        assert!(drive.world.state(0).wheels[0].steer_deflection < -1e-4, "{}", solver.name);
        let world = drive.world.save().expect("no hull touches anything");
        drive.run(0.5, turning);
        let end = drive.world.state(0).clone();
        drive.world.load(&world).expect("bytes of such a world");
        drive.run(0.5, turning);
        assert_eq!(drive.world.state(0), &end, "{}", solver.name);
    }
}

/// A mirror image turns the other way with the same bits, forwards and in reverse. In reverse the pneumatic trail is
/// ahead of the contact, so that it works against the mechanical trail.
#[test]
fn reverse_and_mirror_images() {
    let model = car(Some(0.02)).model();
    for solver in on_rows() {
        for speed in [8.0, -8.0] {
            let [left, right] = [1.0, -1.0].map(|side| {
                let mut drive = Drive::rolling(&solver, &model, speed, 240.0);
                drive.run(1.0, |_| Controls { steer: side * 0.05, gear: Some(0), ..Controls::default() });
                drive.world.state(0).clone()
            });
            let what = format!("{} at {speed} m/s", solver.name);
            for (i, mirrored) in [(0, 1), (1, 0)] {
                let [wheel, image] = [left.wheels[i], right.wheels[mirrored]];
                assert_eq!(wheel.steer_deflection, -image.steer_deflection, "{what}");
                let trail = KINGPIN.trail + KINGPIN.pneumatic_trail * speed.signum();
                let expected = -trail * wheel.tyre[1] / STIFFNESS;
                let off = (wheel.steer_deflection - expected).abs();
                assert!(expected.abs() > 1e-5 && off < 0.05 * expected.abs() + 1e-6, "{what}: {wheel:?}");
            }
        }
    }
}

/// Lanes of fleets refuse a car with a compliant linkage, and name the reason.
#[cfg(feature = "simd_batch")]
#[test]
fn lanes_need_a_rigid_linkage() {
    use skidpad::core::block::{Requirement, unmet_requirements};
    let has_rigid_linkage =
        |time_constant| !unmet_requirements(&car(time_constant).model()).contains(&Requirement::RigidSteering);
    assert!(has_rigid_linkage(None) && !has_rigid_linkage(Some(0.02)));
}

/// Eight compliant cars in one world, which are stepped together, have the bits of one alone.
#[test]
fn cars_of_a_batch_have_the_bits_of_one_alone() {
    let model = car(Some(0.02)).model();
    for solver in on_rows() {
        let starts: Vec<CarStart> = (0..8)
            .map(|car| {
                let placement =
                    Placement { y: 10.0 * f64::from(car), speed: 20.0, gear: Some(0), ..Placement::default() };
                CarStart { model: model.clone(), placement }
            })
            .collect();
        let mut together = (solver.build_world)(&Scene::flat(), &starts, 1.0 / 120.0);
        let controls = vec![Controls { steer: 0.03, gear: Some(0), ..Controls::default() }; 8];
        let mut alone = (solver.build_world)(&Scene::flat(), &starts[2..3], 1.0 / 120.0);
        for _ in 0..120 {
            together.step(&controls);
            alone.step(&controls[..1]);
        }
        assert!(alone.state(0).wheels[0].steer_deflection < -1e-4, "{}", solver.name);
        assert_eq!(together.state(2), alone.state(0), "{}", solver.name);
    }
}
