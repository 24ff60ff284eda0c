//! Trailers that are hitched while the world runs.

use crate::common::on_rows;
use skidpad::core::{DVec3, Quat};
use skidpad::drive::place_trailers_behind;
use skidpad::prelude::*;
use std::sync::Arc;

fn models() -> [Arc<Model>; 2] {
    ["toyota_4runner", "caravan"].map(|name| skidpad::spec::load(name).unwrap().model)
}

/// Returns the distance of coupler and hitch (m).
fn gap(world: &dyn Simulation) -> f32 {
    let hitch = world.model(0).parts().hitch.unwrap().point;
    let coupler = world.model(1).parts().coupler.unwrap().point;
    let [car, trailer] = [0, 1].map(|car| world.state(car));
    let apart = (trailer.position - car.position).as_vec3();
    (apart + trailer.rotation * coupler - car.rotation * hitch).length()
}

#[test]
fn it_stands_as_a_train_at_rest_does() {
    let [car, trailer] = models();
    let placement = Placement { x: 30.0, y: -7.0, heading: 0.7, ..Placement::default() };
    let train = State::train_at_rest(&[&car, &trailer], 3, &Scene::flat(), &placement);
    let found = place_trailers_behind(&car, &train[0], 3, &[&trailer]).remove(0);
    // `place_trailers_behind` uses the plane of the wheels, whereas statics approximate compressions at a tilt θ by x θ. The
    // difference is θ² x / 2 with θ = 5 mrad.
    assert!((found.position - train[1].position).length() < 3e-5, "{} is not {}", found.position, train[1].position);
    assert!(found.rotation.angle_between(train[1].rotation) < 1e-3);
    assert_eq!(found.tow.unwrap().towing_slot, 3);
    assert_eq!(found.wheels, train[1].wheels);
    let c5 = skidpad::spec::load("corvette_c5").unwrap().model;
    assert_eq!(place_trailers_behind(&c5, &train[0], 0, &[&trailer]), [], "it has no hitch");
    assert_eq!(place_trailers_behind(&car, &train[0], 0, &[&car, &trailer]), [], "it has no coupler");
    assert_eq!(place_trailers_behind(&car, &train[0], 3, &[&trailer, &trailer]), [found], "a caravan has no hitch");
}

#[test]
fn hitched_at_speed_it_follows_without_a_jerk() {
    let [car, trailer] = models();
    let placement = Placement { speed: 20.0, heading: 2.0, ..Placement::default() };
    for solver in on_rows() {
        for hz in [60.0, 240.0] {
            let start = |model: &Arc<Model>| CarStart { model: model.clone(), placement };
            let mut world = (solver.build_world)(&Scene::flat(), &[start(&car)], 1.0 / hz);
            for _ in 0..hz as usize {
                world.step(&[]);
            }
            let number = world.insert(&start(&trailer)).slot();
            let behind = place_trailers_behind(&car, world.state(0), 0, &[&trailer]).remove(0);
            world.set_state(number, &behind).expect("it fits");
            let mut felt = 0.0f32;
            for _ in 0..2 * hz as usize {
                let before = world.state(0).velocity;
                world.step(&[]);
                felt = felt.max((world.state(0).velocity - before).length() * hz);
                // Trains that start hitched have gaps of the same size.
                assert!(gap(world.as_ref()) < 2e-3, "{} at {hz} Hz: {} m", solver.name, gap(world.as_ref()));
            }
            // The car decelerates by rolling resistance, drag and engine braking.
            assert!(felt < 2.0, "{} at {hz} Hz: the car feels {felt} m/s²", solver.name);
            let yaw = world.state(0).rotation.angle_between(world.state(1).rotation);
            assert!(yaw < 0.02, "{} at {hz} Hz: {yaw} rad", solver.name);
        }
    }
}

#[test]
fn what_is_let_go_is_told() {
    let [car, trailer] = models();
    for solver in on_rows() {
        let start = |model: &Arc<Model>| CarStart { model: model.clone(), placement: Placement::default() };
        let dt = 1.0 / 60.0;
        let mut world = (solver.build_world)(&Scene::flat(), &[start(&car), start(&trailer)], dt);
        let behind = place_trailers_behind(&car, world.state(0), 0, &[&trailer]).remove(0);
        world.set_state(1, &behind).expect("it fits");
        let (mut watch, mut heard) = (EventDetector::default(), Vec::new());
        for step in 0..60 {
            if step == 30 {
                let free = State { tow: None, ..world.state(1).clone() };
                world.set_state(1, &free).expect("it fits");
            }
            world.step(&[]);
            watch.update(&world.car(1), dt, |event| heard.push((step, event)));
        }
        let told = heard.iter().filter(|(_, event)| matches!(event, Event::Unhitched)).collect::<Vec<_>>();
        assert!(matches!(told[..], [(30, _)]), "{}: {heard:?}", solver.name);
    }
}

#[test]
fn a_turned_and_turning_car_takes_it_along() {
    let [car, trailer] = models();
    let mut state = State::at_rest(&car, &Scene::flat(), &Placement { speed: 10.0, ..Placement::default() });
    state.rotation = Quat::from_rotation_z(1.0) * Quat::from_rotation_y(-0.2) * state.rotation;
    state.position = DVec3::new(5e3, -2e3, 4.0);
    state.angular_velocity = skidpad::core::Vec3::new(0.0, 0.0, 0.5);
    let behind = place_trailers_behind(&car, &state, 0, &[&trailer]).remove(0);
    let arm = (behind.position - state.position).as_vec3();
    let at_hitch = |of: &State, point| of.velocity + of.angular_velocity.cross(of.rotation * point);
    let [hitch, coupler] = [car.parts().hitch.unwrap().point, trailer.parts().coupler.unwrap().point];
    // Positions of kilometres have 64 bits, arms of metres have 32 bits.
    assert!((arm + behind.rotation * coupler - state.rotation * hitch).length() < 1e-5);
    assert!((at_hitch(&behind, coupler) - at_hitch(&state, hitch)).length() < 1e-5);
}

/// A trailer hitched to a car that squats under full throttle has its wheels on the ground, on the plane and on a
/// slope.
#[test]
fn hitched_to_a_car_that_squats_it_stands_on_its_wheels() {
    let wagon = skidpad::spec::load("wagon").unwrap();
    let [car, caravan] = models();
    let full: Vec<Arc<Model>> = wagon.vehicle_units().cloned().collect();
    for (trailers, slope) in [(vec![caravan.clone()], 0.0), (full.clone(), 0.0), (vec![caravan], 0.1), (full, 0.1)] {
        let scene = Scene { slope, ..Scene::flat() };
        let placement = Placement { speed: 5.0, ..Placement::default() };
        for solver in on_rows() {
            let start = |model: &Arc<Model>| CarStart { model: model.clone(), placement };
            let mut world = (solver.build_world)(&scene, &[start(&car)], 1.0 / 120.0);
            let full_throttle = Controls { throttle: 1.0, ..Controls::coasting() };
            for _ in 0..120 {
                world.step(std::slice::from_ref(&full_throttle));
            }
            let models: Vec<&Model> = trailers.iter().map(Arc::as_ref).collect();
            let behind = place_trailers_behind(&car, world.state(0), 0, &models);
            assert_eq!(behind.len(), trailers.len());
            for (model, state) in trailers.iter().zip(&behind) {
                let normal = scene.plane_normal().as_dvec3();
                for (k, wheel) in model.wheels().iter().enumerate() {
                    let at = wheel.contact + Vec3::Z * state.wheels[k].compression;
                    let height = (state.position + (state.rotation * at).as_dvec3()).dot(normal);
                    // Pitch of the trailer moves each axle vertically by the sine of the pitch times its distance
                    // from the middle of the axles.
                    assert!(height.abs() < 0.02, "{}: wheel {k} {height} m above ground", solver.name);
                }
            }
        }
    }
}
