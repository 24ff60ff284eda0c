//! Wrong calls around a step, which are reported and do as little harm as possible.

use std::sync::Arc;

use skidpad::core::state::Placement;
use skidpad::core::{ApiMisuse, CarId, CarStart, Controls, Model, Scene, Vec3};
use skidpad::rapier::rapier3d::prelude::*;
use skidpad::rapier::{RapierCars, WorldAxes};

use super::{Yard, plane, standing};
use crate::common::{Simplify, c5};

fn yard() -> Yard {
    Yard::new(Yard::plane(&Scene::flat(), 60.0), WorldAxes::ZUp, &Scene::flat(), &c5().model(), &[standing(0.0)])
}

fn driving() -> [Controls; 1] {
    [Controls { throttle: 0.5, gear: Some(1), steer: 0.02, ..Controls::default() }]
}

#[test]
fn who_steps_as_asked_hears_nothing() {
    let mut all = yard();
    for _ in 0..60 {
        let before = all.cars.before_step(&mut all.world, &driving());
        all.world.step();
        assert_eq!(before.merge_worst(all.cars.after_step(&mut all.world)).misuse, None);
    }
}

/// A step without `after_step` is finished by the next `before_step`, which reports the misuse. Forces of several steps do
/// not add up.
#[test]
fn steps_that_are_not_finished_are_finished_late() {
    let (mut right, mut wrong) = (yard(), yard());
    right.run(2.0, &driving());
    for step in 0..120 {
        let report = wrong.cars.before_step(&mut wrong.world, &driving());
        assert_eq!(report.misuse, (step > 0).then_some(ApiMisuse::MissingAfterStep));
        wrong.world.step();
    }
    wrong.cars.after_step(&mut wrong.world);
    assert_eq!(right.state(0), wrong.state(0));
}

/// A call of `after_step` without `before_step` is reported and changes no state.
#[test]
fn steps_that_have_not_begun_change_nothing() {
    let mut all = yard();
    all.run(0.5, &driving());
    let before = all.state(0).clone();
    all.world.step();
    assert_eq!(all.cars.after_step(&mut all.world).misuse, Some(ApiMisuse::MissingBeforeStep));
    assert_eq!(all.state(0), &before);
    all.run(1.0, &driving());
    assert!((0.3..0.6).contains(&all.state(0).position.z), "{}", all.state(0).position.z);
}

/// A collider with the density of water on the chassis changes its mass, which is reported.
#[test]
fn a_chassis_of_another_mass_is_told() {
    let mut all = yard();
    let chassis = all.cars.handle(0);
    all.world.insert_collider(ColliderBuilder::cuboid(0.5, 0.5, 0.1).density(1000.0), Some(chassis));
    // Rapier includes the mass of the collider in its next step.
    all.cars.before_step(&mut all.world, &driving());
    all.world.step();
    all.cars.after_step(&mut all.world);
    assert_eq!(all.cars.before_step(&mut all.world, &driving()).misuse, Some(ApiMisuse::MassMismatch));
}

/// A car made with z up in a world with y up would lie on its side, which is reported.
#[test]
fn a_world_of_other_axes_is_told() {
    let mut world = Yard::empty(WorldAxes::YUp, 60.0);
    world.insert_collider(plane(Vector::Y), None);
    let start = skidpad::core::CarStart { model: c5().model(), placement: standing(0.0) };
    let mut cars = RapierCars::new(&mut world, &Scene::flat(), &[start]);
    assert_eq!(cars.before_step(&mut world, &driving()).misuse, Some(ApiMisuse::AxesMismatch));
    world.step();
    // Games that read only the last report of a step see the misuse, too.
    assert_eq!(cars.after_step(&mut world).misuse, Some(ApiMisuse::AxesMismatch));
    // Zero gravity has no direction, and tilted gravity may stand for a slope. Neither is reported.
    for gravity in [Vec3::ZERO, Vec3::new(4.9, 0.0, -8.5)] {
        let mut all = yard();
        all.world.gravity = gravity;
        assert_eq!(all.cars.before_step(&mut all.world, &driving()).misuse, None, "{gravity}");
    }
}

/// A car that is suspended within a step has no force of that step on its body.
#[test]
fn a_car_suspended_within_a_step_leaves_no_force() {
    let mut all = yard();
    all.run(1.0, &driving());
    let (state, handle) = (all.state(0).clone(), all.cars.handle(0));
    all.cars.before_step(&mut all.world, &driving());
    all.cars.suspend(&mut all.world, 0).expect("it is there");
    all.world.step();
    all.cars.after_step(&mut all.world);
    assert_eq!(all.world.bodies[handle].user_force(), Vector::ZERO);
    all.cars.resume(&mut all.world, 0, &state).expect("it fits");
    all.run(2.0, &[Controls::parked()]);
    assert!((0.3..0.6).contains(&all.state(0).position.z), "{}", all.state(0).position.z);
}

/// A car that is inserted within a step gets a new slot, although another slot is empty. Cars that are stepped in one batch
/// keep every bit.
#[test]
fn a_car_inserted_within_a_step_gets_a_new_slot() {
    let models = ["corvette_c5", "truck_6x4"].map(|name| skidpad::spec::load(name).expect("shipped").model);
    let at = |model: &Arc<Model>, y: f64| CarStart {
        model: model.clone(),
        placement: Placement { y, speed: 10.0, ..Placement::default() },
    };
    let scene = Scene::flat();
    let starts: Vec<CarStart> = (0..9).map(|k| at(&models[0], 10.0 * f64::from(k))).collect();
    let drive = |comes: bool| {
        let mut world = skidpad::rapier::backend::ground_world(&scene, 1.0 / 60.0);
        let mut cars = RapierCars::new(&mut world, &scene, &starts);
        let controls = vec![Controls { throttle: 0.3, steer: 0.02, ..Controls::default() }; 10];
        for step in 0..60 {
            cars.before_step(&mut world, &controls);
            if step == 20 {
                cars.remove(&mut world, CarId::first(3)).expect("it is there");
                if comes {
                    assert_eq!(cars.insert(&mut world, &scene, &at(&models[1], 200.0)), CarId::first(9));
                }
            }
            world.step();
            cars.after_step(&mut world);
        }
        let next = cars.insert(&mut world, &scene, &at(&models[1], 300.0));
        assert_eq!((next.slot(), next.generation()), (3, 1), "between steps it is the empty one");
        let states = [0, 1, 2, 4, 5, 6, 7, 8].map(|car| cars.car(car).state.to_bytes());
        (states, cars.vehicles().iter().all(|vehicle| vehicle.state().is_finite()))
    };
    assert_eq!(drive(false), drive(true));
    assert!(drive(true).1);
}

/// A car becomes inactive if the user removes or disables its body, and exerts no force on the body below. An enabled body
/// activates it again.
#[test]
fn a_car_without_a_body_has_left() {
    for is_removed in [false, true] {
        let mut all = yard();
        let slab = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 0.5));
        let slab = all.world.insert(slab, ColliderBuilder::cuboid(4.0, 3.0, 0.1).density(500.0)).0;
        let mut state = all.state(0).clone();
        state.position.z += 0.6;
        all.cars.set_state(&mut all.world, 0, &state).expect("it fits");
        all.run(2.0, &[Controls::parked()]);
        let handle = all.cars.handle(0);
        if is_removed {
            all.world.remove_body(handle);
        } else {
            all.world.bodies[handle].set_enabled(false);
        }
        all.run(0.1, &[Controls::parked()]);
        assert!(!all.cars.slots().is_active(0) && all.cars.car(0).wheel_contact(0).is_none());
        assert_eq!(all.world.bodies[slab].user_force(), Vector::ZERO);
        let before = all.world.bodies[slab].translation();
        all.run(1.0, &[Controls::parked()]);
        let moved = (all.world.bodies[slab].translation() - before).length();
        assert!(moved < 1e-2, "nobody stands on it, and it moves by {moved} m");
        if !is_removed {
            all.world.bodies[handle].set_enabled(true);
            all.run(2.0, &[Controls::parked()]);
            assert!(
                all.cars.slots().is_active(0) && all.cars.car(0).wheel_contact(0).is_some(),
                "it is back with its body"
            );
        }
    }
}
