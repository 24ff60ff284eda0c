//! Cars in a bevy_rapier world without a window, compared with the world of skidpad.

#[path = "../../skidpad-bevy/tests/bevy/guests.rs"]
mod guests;

use std::time::Duration;

use bevy_app::prelude::*;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_rapier3d::plugin::RapierConfiguration;
use bevy_rapier3d::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy, prelude::*};
use bevy_transform::prelude::*;
use skidpad_bevy::core::Scene;
use skidpad_bevy::drive::{InputShaping, PlayerController};
use skidpad_bevy::{
    BuiltinWorldPlugin, Car, CarDriver, CarEvent, CarInputs, CarMotion, CarPlugin, GroundSurface, StepFault, Teleport,
    Wheel,
};
use skidpad_bevy_rapier::{RapierCarsPlugin, RapierWorldCars};

/// Returns the component of the shipped `corvette_c5`.
fn c5() -> Car {
    Car(skidpad_spec::load("corvette_c5").unwrap().model)
}

/// Creates an app with time and transforms, whose fixed loop runs at `hz` (Hz).
fn empty_app(hz: f64) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, TransformPlugin)).insert_resource(Time::<Fixed>::from_hz(hz));
    app
}

/// Creates an app at `hz` (Hz) with Rapier in the fixed loop, cars, and an entity with the components `ground`, after
/// its first frame, which has no length.
fn rapier_app(hz: f64, ground: impl Bundle) -> App {
    let mut app = empty_app(hz);
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .add_plugins((CarPlugin::default(), RapierCarsPlugin));
    app.world_mut().spawn(ground);
    app.finish();
    app.cleanup();
    app.update();
    app
}

/// Returns a box of 1000 m by 1000 m whose top is at height 0. Rapier takes half sizes.
fn slab() -> (Collider, Transform) {
    (Collider::cuboid(500.0, 1.0, 500.0), Transform::from_xyz(0.0, -1.0, 0.0))
}

/// Creates an app at `hz` (Hz) with the impulse solver on flat ground, after its first frame, which has no length.
fn builtin_app(hz: f64) -> App {
    let mut app = empty_app(hz);
    app.add_plugins((
        CarPlugin::default(),
        BuiltinWorldPlugin { solver: skidpad_impulse::BACKEND_INFO, scene: Scene::flat() },
    ));
    app.update();
    app
}

/// Runs one frame of this length (ms).
fn frame(app: &mut App, milliseconds: f64) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(milliseconds / 1000.0)));
    app.update();
}

/// Runs frames of 10 ms for this time (s), rounded to whole frames.
fn run(app: &mut App, seconds: f64) {
    for _ in 0..(seconds * 100.0).round() as usize {
        frame(app, 10.0);
    }
}

/// Returns the transform of the car as it is drawn. Panics without one.
fn transform_of(app: &App, car: Entity) -> Transform {
    *app.world().get::<Transform>(car).unwrap()
}

/// Replaces the player inputs of the car. Panics if it has none.
fn set_inputs(app: &mut App, car: Entity, inputs: CarInputs) {
    *app.world_mut().get_mut::<CarInputs>(car).unwrap() = inputs;
}

/// Checks that the car is at the same place in both worlds within 1 % of its distance and 0.02 rad, after five seconds
/// of throttle, cornering and braking. No step fault is sent, and the car moves more than 15 m. At 60 and 240 Hz.
#[test]
fn a_rapier_world_drives_as_the_own_world() {
    for hz in [60.0, 240.0] {
        let final_transform = |mut app: App| {
            let car = app.world_mut().spawn((c5(), Transform::default())).id();
            set_inputs(&mut app, car, CarInputs { throttle: 0.6, ..CarInputs::default() });
            run(&mut app, 3.0);
            set_inputs(&mut app, car, CarInputs { throttle: 0.2, steer: 0.2, ..CarInputs::default() });
            run(&mut app, 1.5);
            set_inputs(&mut app, car, CarInputs { brake: 0.4, ..CarInputs::default() });
            run(&mut app, 0.5);
            assert!(app.world().resource::<Messages<StepFault>>().is_empty());
            transform_of(&app, car)
        };
        let (rapier_transform, builtin_transform) =
            (final_transform(rapier_app(hz, slab())), final_transform(builtin_app(hz)));
        let (distance, travel) = (
            (rapier_transform.translation - builtin_transform.translation).length(),
            builtin_transform.translation.length(),
        );
        assert!(travel > 15.0 && distance < 0.01 * travel, "{hz} Hz: {distance} m apart after {travel} m");
        assert!(rapier_transform.rotation.angle_between(builtin_transform.rotation) < 0.02, "{hz} Hz");
    }
}

/// Checks that a car parked on an uneven height field moves by less than 1 mm in five seconds, after three seconds to
/// settle, and stands upright.
#[test]
fn a_parked_car_stays_on_a_height_field() {
    let heights: Vec<f32> =
        (0..41 * 41).map(|i| 0.02 * ((i % 41) as f32).sin() + 0.1 * ((i / 41) as f32 * 0.5).cos()).collect();
    let field = Collider::heightfield(heights, 41, 41, Vec3::new(80.0, 1.0, 80.0));
    let mut app = rapier_app(60.0, (field, Transform::default()));
    let car = app.world_mut().spawn((c5(), Transform::from_xyz(1.3, 0.3, -2.1))).id();
    run(&mut app, 3.0);
    let start_transform = transform_of(&app, car);
    run(&mut app, 5.0);
    let displacement = (transform_of(&app, car).translation - start_transform.translation).length();
    assert!(displacement < 1e-3, "{displacement} m");
    assert!(start_transform.up().y > 0.99);
}

/// Checks that the grip is that of the component, not the friction of the collider, which is 0.5 by default. The
/// deceleration of full braking per grip is 7 to 9 m/s², the same to 1e-6 without the component and with grip 1, and
/// within 20 % of it on ice (grip 0.3).
#[test]
fn grip_is_a_component_of_the_ground() {
    let deceleration_per_grip = |grip: Option<f32>| {
        let mut app = rapier_app(120.0, slab());
        let ground = app.world_mut().query_filtered::<Entity, With<Collider>>().single(app.world()).unwrap();
        if let Some(grip) = grip {
            app.world_mut().entity_mut(ground).insert(GroundSurface { grip, ..GroundSurface::default() });
        }
        // Driver without a delay of the pedals.
        let unshaped_driver = CarDriver(PlayerController::with_shaping(InputShaping {
            press_rate: f32::INFINITY,
            ..InputShaping::KEYBOARD
        }));
        let car = app.world_mut().spawn((c5(), unshaped_driver, Transform::default())).id();
        set_inputs(&mut app, car, CarInputs { throttle: 1.0, ..CarInputs::default() });
        // On ice the car needs longer for a speed.
        run(&mut app, if grip.is_some_and(|grip| grip < 0.5) { 6.0 } else { 3.0 });
        let (start_point, speed) =
            (transform_of(&app, car).translation, app.world().get::<CarMotion>(car).unwrap().state().velocity.length());
        set_inputs(&mut app, car, CarInputs { brake: 1.0, handbrake: 0.0, ..CarInputs::default() });
        let mut seconds = 0.0;
        while app.world().get::<CarMotion>(car).unwrap().state().velocity.length() > 0.5 && seconds < 20.0 {
            run(&mut app, 0.05);
            seconds += 0.05;
        }
        let braking_distance = (transform_of(&app, car).translation - start_point).length();
        // Mean deceleration divided by the grip (m/s²).
        f64::from(speed * speed / (2.0 * braking_distance * grip.unwrap_or(1.0)))
    };
    let (default_grip, full_grip, ice) =
        (deceleration_per_grip(None), deceleration_per_grip(Some(1.0)), deceleration_per_grip(Some(0.3)));
    // Locked wheels have four fifths of the friction, which is 1.07 at front and rear. The friction 0.5 of the collider
    // would give half.
    assert!(
        (default_grip - full_grip).abs() < 1e-6 && (7.0..9.0).contains(&default_grip),
        "{default_grip} and {full_grip} m/s²"
    );
    assert!((ice / full_grip - 1.0).abs() < 0.2, "{ice} m/s² per grip on ice, {full_grip} on asphalt");
}

/// Checks that the collision event of a crate names the entity of the car, and that the car pushes the crate. Crate and
/// car end beyond z = −16 m, and the car sends fewer than 20 collision events.
#[test]
fn a_crate_is_pushed_and_its_collision_names_the_car() {
    let mut app = rapier_app(120.0, slab());
    let crate_box = app
        .world_mut()
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.4, 0.6, 0.4),
            ColliderMassProperties::Mass(30.0),
            ActiveEvents::COLLISION_EVENTS,
            Transform::from_xyz(0.0, 0.6, -15.0),
        ))
        .id();
    let car = app.world_mut().spawn((c5(), Transform::default())).id();
    set_inputs(&mut app, car, CarInputs { throttle: 0.6, ..CarInputs::default() });
    let (mut is_named, mut hit_count) = (false, 0);
    for _ in 0..400 {
        frame(&mut app, 10.0);
        for event in app.world_mut().resource_mut::<Messages<CollisionEvent>>().drain() {
            if let CollisionEvent::Started(first_entity, second_entity, _) = event {
                is_named |= [(first_entity, second_entity), (second_entity, first_entity)].contains(&(car, crate_box));
            }
        }
        let events = app.world_mut().resource_mut::<Messages<CarEvent>>().drain().collect::<Vec<_>>();
        hit_count += events
            .iter()
            .filter(|message| matches!(message.event, skidpad_bevy::drive::Event::Collision { .. }))
            .count();
    }
    assert!(is_named, "no collision event names car and crate");
    assert!(transform_of(&app, crate_box).translation.z < -16.0 && transform_of(&app, car).translation.z < -16.0);
    assert!(hit_count < 20, "{hit_count} hits");
}

/// Checks that six guests, one after the other, all get number 1 and stay where they are spawned. Then a car is
/// teleported 0.2 m above the ground and lands, stays on its roof after another teleport, and is put upright with its
/// four wheels at wheel height.
#[test]
fn cars_come_go_jump_and_stand_up_again() {
    let mut app = rapier_app(60.0, slab());
    let car = app.world_mut().spawn((c5(), Transform::default())).id();
    for round in 0..6 {
        // Each guest has its own model. Every second guest has six wheels.
        let model = skidpad_spec::load(["corvette_c5", "truck_6x4"][round % 2]).unwrap().model;
        let guest = app.world_mut().spawn((Car(model), Transform::from_xyz(20.0 + round as f32, 0.0, 0.0))).id();
        run(&mut app, 0.2);
        assert_eq!(app.world().resource::<RapierWorldCars>().number(guest), Some(1));
        assert!((transform_of(&app, guest).translation.x - 20.0 - round as f32).abs() < 1e-2);
        app.world_mut().entity_mut(guest).despawn();
        run(&mut app, 0.1);
    }
    let raised_transform = Transform::from_xyz(60.0, 0.2, 5.0).with_rotation(Quat::from_rotation_y(0.5));
    app.world_mut().entity_mut(car).insert(Teleport::To(raised_transform));
    run(&mut app, 1.0);
    assert!(
        (transform_of(&app, car).translation - Vec3::new(60.0, 0.0, 5.0)).length() < 0.02,
        "{:?}",
        transform_of(&app, car)
    );
    let overturned_transform = Transform::from_xyz(60.0, 1.5, 5.0).with_rotation(Quat::from_rotation_z(3.0));
    app.world_mut().entity_mut(car).insert(Teleport::To(overturned_transform));
    run(&mut app, 2.0);
    assert!(transform_of(&app, car).up().y < 0.0);
    app.world_mut().entity_mut(car).insert(Teleport::Upright);
    run(&mut app, 1.0);
    assert!(transform_of(&app, car).up().y > 0.999 && transform_of(&app, car).translation.y.abs() < 5e-3);
    let mut wheels = app.world_mut().query::<(&Wheel, &GlobalTransform)>();
    assert_eq!(
        wheels.iter(app.world()).filter(|(_, transform)| (0.2..0.5).contains(&transform.translation().y)).count(),
        4
    );
}

/// Runs the check of [`guests::check_that_guests_leave_nothing`] beside a parked car. A change takes effect within two
/// frames.
#[test]
fn guests_leave_nothing() {
    let mut app = rapier_app(60.0, slab());
    app.world_mut().spawn((c5(), Transform::default()));
    let tick = |app: &mut App| (0..2).for_each(|_| frame(app, 1000.0 / 60.0));
    guests::check_that_guests_leave_nothing(&mut app, &c5(), tick, |app, guest| {
        app.world().resource::<RapierWorldCars>().number(guest)
    });
}

/// Checks that the drawn car moves forward (−z) in each of 200 frames of 3 to 24 ms, and that its state does not change
/// while the physics are paused.
#[test]
fn a_paused_world_keeps_its_cars_and_frames_of_any_length_never_go_back() {
    let mut app = rapier_app(60.0, slab());
    let car = app.world_mut().spawn((c5(), Transform::default())).id();
    set_inputs(&mut app, car, CarInputs { throttle: 0.5, ..CarInputs::default() });
    run(&mut app, 1.0);
    let mut last_z = transform_of(&app, car).translation.z;
    for i in 0..200 {
        frame(&mut app, 3.0 + f64::from((i * 7) % 22));
        let z = transform_of(&app, car).translation.z;
        assert!(z < last_z, "back from {last_z} to {z}");
        last_z = z;
    }
    let mut configuration = app.world_mut().query::<&mut RapierConfiguration>();
    configuration.single_mut(app.world_mut()).unwrap().physics_pipeline_active = false;
    run(&mut app, 0.1);
    let paused_position = app.world().get::<CarMotion>(car).unwrap().state().position;
    run(&mut app, 1.0);
    assert_eq!(app.world().get::<CarMotion>(car).unwrap().state().position, paused_position);
}
