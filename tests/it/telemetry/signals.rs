//! Reported contacts of wheels and signals of the engine, against known values.

use skidpad::core::model::RollingCoefficients;
use skidpad::core::state::Placement;
use skidpad::core::{Controls, DVec3, Scene, Vec3, WheelContact};

use crate::common::{Drive, GRAVITY, Simplify, c5, on_rows, shipped};

fn contacts(car: &Drive) -> Vec<WheelContact> {
    let view = car.world.car(0);
    let vehicle = view.vehicle.expect("solves rows");
    (0..view.model.wheels().len()).filter_map(|wheel| vehicle.wheel_contact(wheel)).collect()
}

/// On a slope the contacts lie in its plane and carry the car: forces sum to the weight, moments to zero.
#[test]
fn contacts_of_a_parked_car_carry_it() {
    for solver in on_rows() {
        for name in ["corvette_c5", "truck_6x4", "toyota_4runner"] {
            let (model, scene) = (shipped(name).model(), Scene::sloping(0.15));
            let mut car = Drive::new(&solver, &model, &scene, Placement::default(), 120.0);
            car.run(6.0, |_| Controls::parked());
            let found = contacts(&car);
            assert_eq!(found.len(), model.wheels().len(), "{} {name}", solver.name);
            let weight = f64::from(model.mass()) * GRAVITY;
            let (mut force, mut moment) = (Vec3::ZERO, DVec3::ZERO);
            for contact in &found {
                // The compression found by rays lags the pose by the motion of the last step.
                let above = contact.point.dot(scene.plane_normal().as_dvec3());
                assert!(above.abs() < 1e-4, "{} {name}: {above} m above the plane", solver.name);
                assert!(contact.normal.distance(scene.plane_normal()) < 1e-5 && contact.grip == 1.0);
                assert!(
                    contact.sliding_velocity.iter().all(|speed| speed.abs() < 1e-3),
                    "{} {name}: {contact:?}",
                    solver.name
                );
                force += contact.force;
                moment += (contact.point - car.world.state(0).position).cross(contact.force.as_dvec3());
            }
            // Tolerance: rounding of f32 loads, and what is left of the car's rocking after six seconds.
            let off = (force - Vec3::Z * weight as f32).length();
            assert!(f64::from(off) < 1e-3 * weight, "{} {name}: {off} N of {weight}", solver.name);
            assert!(moment.length() < 2e-3 * weight, "{} {name}: {moment} N m", solver.name);
        }
    }
}

/// A locked wheel slides at the speed of the car, uses all its friction, and pushes with the friction coefficient times its
/// load.
#[test]
fn locked_wheels_tell_how_they_slide() {
    let model = c5().on_coulomb_tyres(0.9).model();
    for solver in on_rows() {
        let mut car = Drive::rolling(&solver, &model, 20.0, 240.0);
        car.run(1.0, |_| Controls { brake: 1.0, gear: Some(0), ..Controls::default() });
        let speed = car.world.frame(0).vx_mps as f32;
        for contact in contacts(&car) {
            // The pitch rate of a diving car moves the patches by some mm/s.
            assert!(
                (contact.sliding_velocity[0] / speed - 1.0).abs() < 5e-3,
                "{}: {contact:?} at {speed}",
                solver.name
            );
            let (load, along) = (contact.force.z, contact.force.x);
            assert!((along / load + 0.9).abs() < 2e-3, "{}: {along} of {load}", solver.name);
            assert!(
                (contact.friction_utilisation - 1.0).abs() < 1e-3,
                "{}: {}",
                solver.name,
                contact.friction_utilisation
            );
        }
    }
}

/// No contact is reported in the air, and no contact or engine signal before the first step after `set_state`.
#[test]
fn what_is_not_known_is_not_told() {
    for solver in on_rows() {
        let lifted = Placement { height: 5.0, ..Placement::default() };
        let mut car = Drive::new(&solver, &c5().model(), &Scene::flat(), lifted, 120.0);
        assert!(contacts(&car).is_empty(), "{}", solver.name);
        car.step(&Controls::default());
        assert!(contacts(&car).is_empty(), "{}", solver.name);
        let mut car = Drive::rolling(&solver, &c5().model(), 20.0, 120.0);
        car.step(&Controls::default());
        assert_eq!(contacts(&car).len(), 4, "{}", solver.name);
        let state = car.world.state(0).clone();
        car.world.set_state(0, &state).expect("it fits");
        assert!(contacts(&car).is_empty(), "{}", solver.name);
        assert!(car.world.car(0).vehicle.expect("solves rows").engine_signals().is_none(), "{}", solver.name);
    }
}

/// An engine in neutral accelerates by its reported torque, J dω/dt. Full throttle reports full load below the limiter and
/// the limiter above, a closed throttle a negative load and torque.
#[test]
fn the_engines_torque_turns_it() {
    let mut parts = c5().without_air();
    parts.wheels.iter_mut().for_each(|wheel| wheel.rolling = RollingCoefficients::default());
    let inertia = parts.powertrain.engine().expect("a C5").engine.inertia;
    let model = parts.model();
    for solver in on_rows() {
        let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), 240.0);
        let neutral = |throttle: f32| Controls { throttle, brake: 1.0, gear: Some(0), ..Controls::default() };
        let mut speed = car.world.state(0).drive.engine_speed;
        let (mut full, mut limited, mut dragged) = (false, false, false);
        for step in 0..720 {
            car.step(&neutral(if step < 480 { 1.0 } else { 0.0 }));
            let told = car.world.car(0).vehicle.and_then(|vehicle| vehicle.engine_signals()).expect("an engine");
            let gained = (told.speed - speed) * 240.0 * inertia;
            // Differences of an f32 speed of up to 650 rad/s.
            assert!(
                (told.torque - gained).abs() < 0.02 * gained.abs() + 0.05,
                "{}: {told:?}, {gained} N m",
                solver.name
            );
            speed = told.speed;
            full |= told.load > 0.99;
            limited |= told.limiter_share > 0.5;
            dragged |= step > 490 && told.torque < -1.0 && told.load < 0.0;
        }
        assert!(full && limited && dragged, "{}: {full} {limited} {dragged}", solver.name);
    }
}
