//! Moving ground that carries cars, and bodies that cars push.

use skidpad::core::{Controls, Model, Scene, State, Vec3, state::Placement};
use skidpad::rapier::WorldAxes;
use skidpad::rapier::rapier3d::prelude::*;

use super::{Yard, plane, standing};
use crate::common::{Simplify, c5};

/// Adds a platform of 20 by 20 m with `body` to `world`. Its top is at z = 0.
fn platform(world: &mut PhysicsWorld, body: RigidBodyBuilder) -> RigidBodyHandle {
    let top = ColliderBuilder::cuboid(10.0, 10.0, 0.5).translation(Vector::new(0.0, 0.0, -0.5)).friction(1.0);
    world.insert(body, top).0
}

fn on_platform(body: RigidBodyBuilder, hz: f32, heading: f32) -> (Yard, RigidBodyHandle) {
    let mut world = Yard::empty(WorldAxes::ZUp, hz);
    let handle = platform(&mut world, body);
    (Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &c5().model(), &[standing(heading)]), handle)
}

/// Returns the centre of mass of `car` in the axes of `body`, m.
fn seen_from(yard: &Yard, car: usize, body: RigidBodyHandle) -> Vec3 {
    let pose = yard.world.bodies[body].position();
    pose.inverse() * yard.state(car).position.as_vec3()
}

/// A platform accelerates to 2 m/s and then moves at constant speed. A parked car keeps its place on it in every direction,
/// up to the rounding of the platform's pose in 10 s.
#[test]
fn a_platform_carries_a_parked_car() {
    for (heading, direction) in [(0.0, Vec3::X), (0.0, Vec3::Y), (0.5, Vec3::X), (0.8, Vec3::NEG_Y)] {
        let (mut yard, handle) = on_platform(RigidBodyBuilder::kinematic_velocity_based(), 60.0, heading);
        yard.run(1.0, &[Controls::parked()]);
        let mut at_speed = Vec3::ZERO;
        for step in 0..900u16 {
            let speed = (f32::from(step) / 60.0).min(2.0);
            yard.world.bodies.get_mut(handle).expect("the platform").set_linvel(direction * speed, true);
            yard.step(&[Controls::parked()]);
            if step == 299 {
                at_speed = seen_from(&yard, 0, handle);
            }
        }
        let slipped = (seen_from(&yard, 0, handle) - at_speed).length();
        // Up to 600 steps of the platform, each rounded to 1 µm where coordinates exceed 16 m.
        assert!(slipped < 6e-4, "towards {direction} at heading {heading}: {} mm", 1e3 * slipped);
        let gone = yard.state(0).position.as_vec3().dot(direction);
        assert!((gone - 28.0).abs() < 0.05, "carried {gone} m");
    }
}

/// A parked car also keeps its place on a platform that is moved by its position. It wakes when the platform starts.
#[test]
fn a_platform_moved_by_its_position_carries_a_parked_car() {
    let (mut yard, handle) = on_platform(RigidBodyBuilder::kinematic_position_based(), 60.0, 0.3);
    yard.run(5.0, &[Controls::parked()]);
    assert!(yard.sleeps(0), "the platform stands still");
    let mut at_speed = Vec3::ZERO;
    let (mut place, mut speed) = (Vec3::ZERO, 0.0f32);
    for step in 0..600 {
        speed = (speed + 1.0 / 60.0).min(2.0);
        place += Vec3::new(0.6, 0.8, 0.0) * (speed / 60.0);
        yard.world.bodies.get_mut(handle).expect("the platform").set_next_kinematic_translation(place);
        yard.step(&[Controls::parked()]);
        if step == 299 {
            at_speed = seen_from(&yard, 0, handle);
        }
    }
    assert!(!yard.sleeps(0));
    let slipped = (seen_from(&yard, 0, handle) - at_speed).length();
    assert!(slipped < 1e-4, "{} mm", 1e3 * slipped);
}

/// On a lift that accelerates upwards with 2 m/s² the wheels carry m (g + a); at constant speed they carry m g.
#[test]
fn a_lift_weighs_a_car() {
    let model = c5().without_air().model();
    let mut world = Yard::empty(WorldAxes::ZUp, 120.0);
    let handle = platform(&mut world, RigidBodyBuilder::kinematic_velocity_based());
    let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &model, &[standing(0.3)]);
    let weight = f64::from(model.mass()) * 9.81;
    let mut lift = |speed: f32| {
        yard.world.bodies.get_mut(handle).expect("the platform").set_linvel(Vector::Z * speed, true);
        yard.step(&[Controls::parked()]);
        yard.frame(0).wheels.iter().map(|wheel| wheel.load_n).sum::<f64>() / weight
    };
    let mut carried = 0.0;
    for step in 0..600u16 {
        carried = lift(2.0 / 120.0 * f32::from(step));
    }
    // Springs of about 0.1 N/µm react to the resolution of a pose 25 m up, 2 µm: some 3e-5 of the weight.
    assert!((carried - (1.0 + 2.0 / 9.81)).abs() < 1e-4, "{carried} of the weight at 2 m/s²");
    for _ in 0..360 {
        carried = lift(10.0);
    }
    assert!((carried - 1.0).abs() < 1e-4, "{carried} of the weight at 10 m/s");
}

/// On a train at 50 m/s, which moves 0.8 m in a step, no wheel loses contact and no car slips.
#[test]
fn e22_a_train_carries_cars() {
    let mut world = Yard::empty(WorldAxes::ZUp, 60.0);
    let handle = platform(&mut world, RigidBodyBuilder::kinematic_velocity_based());
    let places = [-7.0, 0.0, 7.0].map(|x| Placement { x, ..standing(0.0) });
    let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &c5().model(), &places);
    let parked: [Controls; 3] = std::array::from_fn(|_| Controls::parked());
    for step in 0..1200u16 {
        let speed = (f32::from(step) / 12.0).min(50.0);
        yard.world.bodies.get_mut(handle).expect("the platform").set_linvel(Vector::X * speed, true);
        yard.step(&parked);
        let touching = (0..3).all(|car| yard.state(car).wheels.iter().all(|wheel| wheel.contact));
        assert!(touching, "step {step}: a wheel lost the ground");
    }
    for (car, place) in places.iter().enumerate() {
        let State { position, velocity, .. } = yard.state(car);
        assert!((velocity.x - 50.0).abs() < 1e-3, "car {car}: {} m/s", velocity.x);
        let at = position.x - f64::from(yard.world.bodies[handle].translation().x) - place.x;
        // Tolerance: springs and tyres deflect in half a second when the acceleration of 5 m/s² begins.
        assert!(at.abs() < 0.02, "car {car} slipped by {at} m");
    }
}

/// Cars turn with a turntable at 0.4 rad/s, at its centre and 7 m off it, where the centripetal acceleration is 0.1 g.
#[test]
fn a_turntable_turns_parked_cars() {
    let mut world = Yard::empty(WorldAxes::ZUp, 60.0);
    let handle = platform(&mut world, RigidBodyBuilder::kinematic_velocity_based());
    let places = [standing(0.0), Placement { x: 5.0, y: 5.0, ..standing(0.6) }];
    let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &c5().model(), &places);
    let parked = [Controls::parked(), Controls::parked()];
    yard.run(1.0, &parked);
    let mut rate = 0.0f32;
    let turn = |yard: &mut Yard, rate: f32| {
        yard.world.bodies.get_mut(handle).expect("the platform").set_angvel(Vector::Z * rate, true);
        yard.step(&parked);
    };
    for _ in 0..240 {
        rate = (rate + 0.2 / 60.0).min(0.4);
        turn(&mut yard, rate);
    }
    let before = [0, 1].map(|car| seen_from(&yard, car, handle));
    for _ in 0..600 {
        turn(&mut yard, rate);
    }
    for car in [0, 1] {
        let yaw = yard.frame(car).yaw_rate_radps;
        assert!((yaw - 0.4).abs() < 1e-3, "car {car}: {yaw} rad/s");
        let slipped = (seen_from(&yard, car, handle) - before[car]).length();
        assert!(slipped < 2e-3, "car {car}: {} mm in 10 s", 1e3 * slipped);
    }
}

/// Computes the total momentum of car 0 and of the bodies `others`, N·s.
fn momentum(yard: &Yard, model: &Model, others: &[RigidBodyHandle]) -> Vec3 {
    let of = |handle: &RigidBodyHandle| yard.world.bodies[*handle].linvel() * yard.world.bodies[*handle].mass();
    others.iter().map(of).sum::<Vec3>() + yard.state(0).velocity * model.mass()
}

/// A car brakes on a free slab of 500 kg that slides on ice. The slab gains the momentum that the car loses.
#[test]
fn a_braking_car_pushes_a_free_slab() {
    let model = c5().without_air().model();
    let mut world = Yard::empty(WorldAxes::ZUp, 120.0);
    world.insert_collider(
        plane(Vector::Z).translation(Vector::new(0.0, 0.0, -0.4)).friction(0.0).friction_combine_rule(MIN),
        None,
    );
    let slab = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, -0.2));
    let top = ColliderBuilder::cuboid(20.0, 5.0, 0.2).mass(500.0).friction(1.0);
    let (slab, _) = world.insert(slab, top);
    let start = Placement { x: -15.0, speed: 12.0, gear: Some(0), ..Placement::default() };
    let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &model, &[start]);
    let before = momentum(&yard, &model, &[slab]);
    yard.run(2.0, &[Controls { brake: 0.3, ..Controls::parked() }]);
    let after = momentum(&yard, &model, &[slab]);
    let together = before.x / (model.mass() + 500.0);
    let slab_speed = yard.world.bodies[slab].linvel().x;
    assert!((slab_speed - together).abs() < 0.05, "the slab moves with {slab_speed} m/s, not {together}");
    assert!((yard.state(0).velocity.x - together).abs() < 0.05, "{} m/s", yard.state(0).velocity.x);
    // 240 steps, each of which rounds 18,500 N·s to f32 on either side.
    let lost = (after - before).x.abs().max((after - before).y.abs());
    assert!(lost < 0.5, "{lost} of {} N s are lost", before.x);
    assert_eq!(yard.world.bodies[slab].user_force(), Vector::ZERO, "a force was left on the slab");
}

const MIN: CoefficientCombineRule = CoefficientCombineRule::Min;

/// A car brakes on a slab while both fall freely. Gravity alone changes their total momentum, in every component.
#[test]
fn momentum_closes_in_free_fall() {
    let model = c5().without_air().model();
    let mut world = Yard::empty(WorldAxes::ZUp, 120.0);
    let top = ColliderBuilder::cuboid(20.0, 5.0, 0.2).mass(500.0).friction(1.0);
    let (slab, _) = world.insert(RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, -0.2)), top);
    let start = Placement { x: -2.0, speed: 12.0, gear: Some(0), ..Placement::default() };
    let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &model, &[start]);
    let before = momentum(&yard, &model, &[slab]);
    let seconds = 0.5;
    yard.run(seconds, &[Controls::parked()]);
    let fallen = Vec3::NEG_Z * (9.81 * seconds * (model.mass() + 500.0));
    let missing = momentum(&yard, &model, &[slab]) - before - fallen;
    let slab_velocity = yard.world.bodies[slab].linvel();
    assert!(slab_velocity.x > 0.1 && slab_velocity.z < -4.905 - 0.5, "the slab felt nothing: {slab_velocity}");
    assert!(missing.length() < 0.5, "{missing} of {} N s", fallen.length());
}

/// A parked car on light boxes has the height above them and the wheel loads that it has on the floor.
#[test]
fn a_parked_car_stands_on_light_boxes() {
    let model = c5().model();
    let mut world = Yard::plane(&Scene::flat(), 60.0);
    let mut boxes = Vec::new();
    for wheel in model.wheels() {
        let place = Vector::new(wheel.contact.x, wheel.contact.y, 0.1);
        let size = ColliderBuilder::cuboid(0.25, 0.25, 0.1).mass(20.0).friction(1.0);
        boxes.push(world.insert(RigidBodyBuilder::dynamic().translation(place), size).0);
    }
    let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &model, &[standing(0.0)]);
    let mut state = yard.state(0).clone();
    state.position.z += 0.2;
    yard.cars.set_state(&mut yard.world, 0, &state).expect("it fits");
    yard.run(10.0, &[Controls::parked()]);
    let frame = yard.frame(0);
    for (i, wheel) in frame.wheels.iter().enumerate() {
        let error = wheel.load_n / f64::from(model.static_load(i)) - 1.0;
        assert!(error.abs() < 5e-3, "wheel {i}: {} N instead of {}", wheel.load_n, model.static_load(i));
    }
    let height = frame.z_m - 0.2 - f64::from(model.parts().centre_height);
    // Rapier lets boxes sink by the slop of its contacts.
    assert!(height.abs() < 5e-3, "{} mm too high", 1e3 * height);
    assert!(yard.state(0).velocity.length() < 1e-3, "{}", yard.state(0).velocity);
    assert!(boxes.iter().all(|b| yard.world.bodies[*b].linvel().length() < 1e-3));
}

/// Builds a world with a slab of `mass` kg from `builder`, and a car that rolls onto the slab at 5 m/s. With `ice`, the slab
/// lies on a plane without friction.
fn braking_on(builder: RigidBodyBuilder, mass: f32, hz: f32, ice: bool) -> (Yard, RigidBodyHandle) {
    let mut world = Yard::empty(WorldAxes::ZUp, hz);
    if ice {
        let ice = plane(Vector::Z).translation(Vector::new(0.0, 0.0, -0.4)).friction(0.0).friction_combine_rule(MIN);
        world.insert_collider(ice, None);
    }
    let top = ColliderBuilder::cuboid(20.0, 5.0, 0.2).mass(mass).friction(1.0);
    let (slab, _) = world.insert(builder.translation(Vector::new(0.0, 0.0, -0.2)), top);
    let start = Placement { x: -15.0, speed: 5.0, gear: Some(0), ..Placement::default() };
    (Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &c5().without_air().model(), &[start]), slab)
}

/// Brakes for 5 s. Returns the largest yaw rate of the car (rad/s), and the largest deviation of the speeds of car and slab
/// from their common final speed in the last second (m/s).
fn taken_along(yard: &mut Yard, slab: RigidBodyHandle, hz: f32) -> [f32; 2] {
    let model = c5().without_air().model();
    let together = momentum(yard, &model, &[slab]).x / (model.mass() + yard.world.bodies[slab].mass());
    let brake = [Controls { brake: 0.3, ..Controls::parked() }];
    let mut most = [0.0f32; 2];
    for step in 0..(5.0 * hz) as u32 {
        yard.step(&brake);
        most[0] = most[0].max(yard.state(0).angular_velocity.z.abs());
        if step as f32 >= 4.0 * hz {
            let speeds = [yard.world.bodies[slab].linvel().x, yard.state(0).velocity.x];
            most[1] = speeds.iter().map(|speed| (speed - together).abs()).fold(most[1], f32::max);
        }
    }
    most
}

/// A slab on ice, far lighter than the car, moves with the car and makes it neither shake nor yaw. At 60 Hz the friction of
/// four tyres could change the speed of a 10 kg slab by 25 m/s in every step. In Rapier's contacts, lighter slabs sink into
/// the ice under the load of the car.
#[test]
fn a_light_slab_on_ice_is_taken_along() {
    for (mass, hz) in [500.0, 100.0, 30.0, 10.0].into_iter().flat_map(|mass| [60.0, 240.0, 1000.0].map(|hz| (mass, hz)))
    {
        let (mut yard, slab) = braking_on(RigidBodyBuilder::dynamic(), mass, hz, true);
        let [yaw, off] = taken_along(&mut yard, slab, hz);
        // The world is symmetric except for the order in which Rapier solves the contacts of the slab.
        assert!(yaw < 1e-3, "{mass} kg at {hz} Hz: the car yaws at {yaw} rad/s");
        assert!(off < 2e-4, "{mass} kg at {hz} Hz: {off} m/s off");
    }
}

/// A sledge that only slides and yaws on its plane, without contacts, moves with the car from three times its mass down to 1
/// kg.
#[test]
fn a_sledge_of_any_mass_is_taken_along() {
    for (mass, hz) in
        [5000.0, 500.0, 30.0, 1.0].into_iter().flat_map(|mass| [20.0, 60.0, 240.0, 1000.0].map(|hz| (mass, hz)))
    {
        let sledge = RigidBodyBuilder::dynamic().enabled_translations(true, true, false);
        let (mut yard, slab) = braking_on(sledge.enabled_rotations(false, false, true), mass, hz, false);
        let [yaw, off] = taken_along(&mut yard, slab, hz);
        assert!(yaw < 1e-3, "{mass} kg at {hz} Hz: the car yaws at {yaw} rad/s");
        // The last digit of a force of 15 kN in a step of 50 ms changes the speed of 1 kg by 0.05 mm/s. The coupling
        // converges to 0.1 mm/s.
        assert!(off < 2e-3, "{mass} kg at {hz} Hz: {off} m/s off");
    }
}

/// Left and right wheels brake on two sledges, one ten times as heavy as the other. All bodies end at one speed without loss
/// of momentum.
#[test]
fn wheels_on_two_bodies_agree_with_both() {
    let model = c5().without_air().model();
    for hz in [20.0, 60.0, 240.0] {
        let mut world = Yard::empty(WorldAxes::ZUp, hz);
        let sledges = [(20.0, 0.75), (200.0, -0.75)].map(|(mass, y)| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, y, -0.2));
            let body = body.enabled_translations(true, false, false).enabled_rotations(false, false, false);
            world.insert(body, ColliderBuilder::cuboid(20.0, 0.7, 0.2).mass(mass).friction(1.0)).0
        });
        let start = Placement { x: -15.0, speed: 5.0, gear: Some(0), ..Placement::default() };
        let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &model, &[start]);
        let before = momentum(&yard, &model, &sledges).x;
        yard.run(5.0, &[Controls { brake: 0.3, ..Controls::parked() }]);
        let lost = before - momentum(&yard, &model, &sledges).x;
        // 1,200 steps, each of which rounds 7,700 N·s to f32.
        assert!(lost.abs() < 0.5, "{hz} Hz: {lost} of {before} N s are lost");
        let together = before / (model.mass() + 220.0);
        let speeds = sledges.map(|sledge| yard.world.bodies[sledge].linvel().x);
        for speed in [speeds[0], speeds[1], yard.state(0).velocity.x] {
            assert!((speed - together).abs() < 2e-3, "{hz} Hz: {speed} m/s, not {together}");
        }
    }
}
