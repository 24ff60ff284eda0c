//! Bit-identical continuation of worlds saved with Rapier's own serde, and of the cars in them.

use std::sync::Arc;

use skidpad::core::{CarStart, Controls, Model, Scene, State, Vec3, Vehicle, state::Placement};
use skidpad::rapier::rapier3d::prelude::*;
use skidpad::rapier::{RapierCars, SavedCars, WorldAxes};

use super::seesaw::example::Playground;
use super::{Yard, plane, standing};
use crate::common::{Simplify, c5};

fn bytes(what: &impl serde::Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(what, &mut bytes).expect("writes to memory");
    bytes
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> T {
    ciborium::from_reader(bytes).expect("what was just written")
}

fn models(cars: &RapierCars) -> Vec<Arc<Model>> {
    cars.vehicles().iter().map(|vehicle| vehicle.model().clone()).collect()
}

/// Returns copies of `world` and `cars` that were serialised and deserialised.
fn copied(world: &PhysicsWorld, cars: &RapierCars) -> (PhysicsWorld, RapierCars) {
    let saved: SavedCars = read(&bytes(&cars.saved()));
    (read(&bytes(world)), RapierCars::from_saved(&models(cars), saved).expect("just saved"))
}

/// Asserts that every body and every state has identical bits in both worlds. `at` is part of the message.
fn assert_same((world, cars): (&PhysicsWorld, &RapierCars), (other, others): (&PhysicsWorld, &RapierCars), at: &str) {
    for (handle, body) in world.bodies.iter() {
        let twin = &other.bodies[handle];
        let all = |body: &RigidBody| (*body.position(), body.linvel(), body.angvel(), body.is_sleeping());
        assert_eq!(all(body), all(twin), "{at}: body {handle:?}");
    }
    for (i, (vehicle, twin)) in cars.vehicles().iter().zip(others.vehicles()).enumerate() {
        assert_eq!(vehicle.state(), twin.state(), "{at}: car {i}");
    }
}

/// A world with twenty cars, crates and a seesaw resumes in every phase: before the first step, driving, in the wall of
/// crates and on the plank, braking, some cars asleep, all cars asleep.
#[test]
fn a_whole_world_resumes() {
    let mut all = Playground::new().expect("shipped");
    let asleep = |all: &Playground| (0..20).filter(|car| all.world.bodies[all.cars.handle(*car)].is_sleeping()).count();
    resume_for_ten_steps(&mut all);
    for steps in [120, 240, 20, 40, 150] {
        (0..steps).for_each(|_| all.step());
        resume_for_ten_steps(&mut all);
    }
    assert_eq!(asleep(&all), 0);
    for least in [1, 20] {
        while asleep(&all) < least {
            all.step();
            assert!(all.time < 30.0, "{} cars asleep", asleep(&all));
        }
        resume_for_ten_steps(&mut all);
    }
}

fn resume_for_ten_steps(all: &mut Playground) {
    let (world, cars) = copied(&all.world, &all.cars);
    let mut twin = Playground { world, cars, crates: all.crates.clone(), ..*all };
    for _ in 0..10 {
        all.step();
        twin.step();
        assert_same((&all.world, &all.cars), (&twin.world, &twin.cars), &format!("{} s", all.time));
    }
}

/// Copies `yard`, applies `change` to both worlds and steps both 120 times, and compares them after every step. Returns
/// `yard`.
fn assert_resumes(mut yard: Yard, controls: &[Controls], mut change: impl FnMut(&mut PhysicsWorld, u16)) -> Yard {
    let (world, cars) = copied(&yard.world, &yard.cars);
    let mut twin = Yard { world, cars };
    for step in 0..120 {
        for yard in [&mut yard, &mut twin] {
            change(&mut yard.world, step);
            yard.step(controls);
        }
        assert_same((&yard.world, &yard.cars), (&twin.world, &twin.cars), &format!("step {step}"));
    }
    yard
}

fn asleep(axes: WorldAxes) -> Yard {
    let scene = Scene::flat();
    let mut world = Yard::empty(axes, 60.0);
    world.insert_collider(plane(axes.to_world(Vec3::Z)), None);
    let start = Placement { x: 3.3, y: 0.1, ..standing(0.2) };
    let mut yard = Yard::new(world, axes, &scene, &c5().model(), &[start]);
    yard.run(5.0, &[Controls::parked()]);
    assert!(yard.sleeps(0));
    yard
}

/// A sleeping car stays asleep after a load. It wakes as the original car does, for other controls and for a ball that hits
/// it within a step.
#[test]
fn a_sleeping_car_resumes() {
    for axes in [WorldAxes::ZUp, WorldAxes::YUp, WorldAxes::YUpMinusZForward] {
        let still = assert_resumes(asleep(axes), &[Controls::parked()], |_, _| ());
        assert!(still.sleeps(0));
        let drive = Controls { throttle: 0.5, gear: Some(1), ..Controls::default() };
        let gone = assert_resumes(asleep(axes), &[drive], |_, _| ());
        assert!(gone.frame(0).vx_mps > 2.0);
        let hit = assert_resumes(asleep(axes), &[Controls::parked()], |world, step| {
            if step == 3 {
                let [from, speed] = [Vec3::new(3.6, 4.1, 0.5), Vec3::new(0.0, -12.0, 1.0)].map(|v| axes.to_world(v));
                let ball = RigidBodyBuilder::dynamic().translation(from).linvel(speed);
                world.insert(ball, ColliderBuilder::ball(0.2).mass(10.0));
            }
        });
        assert!(!hit.sleeps(0));
    }
}

/// Cars also resume on a platform that is about to start, asleep, and on one that gains speed, awake.
#[test]
fn cars_on_platforms_resume() {
    let mut world = Yard::empty(WorldAxes::ZUp, 60.0);
    let top = ColliderBuilder::cuboid(10.0, 10.0, 0.5).translation(Vector::new(0.0, 0.0, -0.5)).friction(1.0);
    let (platform, _) = world.insert(RigidBodyBuilder::kinematic_velocity_based(), top);
    let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &c5().model(), &[standing(0.2)]);
    let parked = [Controls::parked()];
    yard.run(5.0, &parked);
    assert!(yard.sleeps(0));
    let gain = |world: &mut PhysicsWorld, _| {
        let body = world.bodies.get_mut(platform).expect("the platform");
        body.set_linvel(body.linvel() + Vector::new(0.03, 0.01, 0.0), true);
    };
    let yard = assert_resumes(yard, &parked, gain);
    assert!(!yard.sleeps(0));
    assert_resumes(yard, &parked, gain);
}

/// A world and the states of its cars are enough to resume cars that are awake on still ground, driving or standing.
#[test]
fn states_alone_resume_cars_awake() {
    let scene = Scene::flat();
    let moving = Placement { speed: 20.0, ..Placement::default() };
    let places = [moving, Placement { x: 1.7, y: 30.3, ..standing(0.3) }];
    let mut yard = Yard::new(Yard::plane(&scene, 60.0), WorldAxes::ZUp, &scene, &c5().model(), &places);
    *yard.body(1).activation_mut() = RigidBodyActivation::cannot_sleep();
    let controls = [Controls { throttle: 0.4, steer: 0.03, ..Controls::default() }, Controls::parked()];
    yard.run(3.0, &controls);
    let bodies = [0, 1].map(|car| {
        let model = yard.cars.vehicles()[car].model().clone();
        let state = State::from_bytes(&yard.state(car).to_bytes(), model.wheels().len()).expect("just written");
        (yard.cars.handle(car), Vehicle::new(model, state))
    });
    let mut twin =
        Yard { world: read(&bytes(&yard.world)), cars: RapierCars::from_bodies(WorldAxes::ZUp, bodies.into()) };
    for step in 0..120 {
        yard.step(&controls);
        twin.step(&controls);
        assert_same((&yard.world, &yard.cars), (&twin.world, &twin.cars), &format!("step {step}"));
    }
}

/// Saved cars that do not fit are an error, which names the car or the number of slots.
#[test]
fn what_does_not_fit_says_why() {
    let yard = asleep(WorldAxes::ZUp);
    let none = RapierCars::from_saved(&[], yard.cars.saved()).expect_err("there is a car");
    assert_eq!(none.to_string(), "the data have 1 car slots, but this world has 0");
    let truck = skidpad::spec::load("truck_6x4").expect("shipped").model;
    let error = RapierCars::from_saved(&[truck], yard.cars.saved()).expect_err("of four wheels");
    assert_eq!(error.to_string(), "car 0: the data have 4 wheels, but this car has 6");
}

/// A driving rig and a sleeping rig resume bit for bit. After uncoupling, the vehicles separate and no joint is left.
#[test]
fn a_rig_resumes() {
    let scene = Scene::flat();
    let models = ["toyota_4runner", "caravan"].map(|name| skidpad::spec::load(name).expect("shipped").model);
    let rig = || {
        let mut world = Yard::plane(&scene, 60.0);
        let start = |model: &Arc<Model>| CarStart { model: model.clone(), placement: standing(0.0) };
        let mut cars = RapierCars::new(&mut world, &scene, &models.each_ref().map(start));
        for (car, state) in
            State::train_at_rest(&models.each_ref().map(AsRef::as_ref), 0, &scene, &standing(0.0)).iter().enumerate()
        {
            cars.set_state(&mut world, car, state).expect("it fits");
        }
        Yard { world, cars }
    };
    let drive = [Controls { throttle: 0.4, steer: 0.05, gear: Some(1), ..Controls::default() }, Controls::coasting()];
    let mut driven = rig();
    driven.run(1.0, &drive);
    let mut driven = assert_resumes(driven, &drive, |_, _| ());
    let mut parked = rig();
    parked.run(6.0, &[Controls::parked(), Controls::parked()]);
    assert!(parked.sleeps(0) && parked.sleeps(1));
    let mut parked = assert_resumes(parked, &[Controls::parked(), Controls::parked()], |_, _| ());
    assert!(parked.sleeps(0) && parked.sleeps(1));
    for yard in [&mut driven, &mut parked] {
        let (world, cars) = copied(&yard.world, &yard.cars);
        let mut twin = Yard { world, cars };
        twin.run(0.1, &drive);
        assert_eq!(twin.world.impulse_joints.len(), 1);
        let alone = State { tow: None, ..twin.state(1).clone() };
        twin.cars.set_state(&mut twin.world, 1, &alone).expect("it fits");
        twin.run(3.0, &drive);
        assert_eq!(twin.world.impulse_joints.len(), 0);
        let apart = (twin.state(0).position - twin.state(1).position).length();
        assert!(apart > 8.0, "{apart} m apart");
    }
}
