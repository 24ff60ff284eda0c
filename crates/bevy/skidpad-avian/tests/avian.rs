//! Cars in the world of Avian without a window, compared with the world of skidpad.

#[path = "../../skidpad-bevy/tests/bevy/guests.rs"]
mod guests;

/// Energy audit of the tests of the facade.
#[path = "../../../../tests/it/step/energy.rs"]
#[allow(dead_code, reason = "one of its questions is asked here")]
mod energy;

/// Items that the energy audit uses.
mod common {
    pub const GRAVITY: f64 = 9.81;

    pub struct Drive {
        pub world: Box<dyn skidpad::core::Simulation>,
    }
}

use std::time::Duration;

use avian3d::prelude::*;
use bevy_app::prelude::*;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_time::{TimePlugin, TimeUpdateStrategy, prelude::*};
use bevy_transform::prelude::*;
use skidpad_avian::{AvianCars, AvianCarsPlugin, Chassis, ChassisOf};
use skidpad_bevy::core::state::Placement;
use skidpad_bevy::core::{CarStart, Controls, STANDARD_GRAVITY, Scene, SolverInfo, State};
use skidpad_bevy::drive::{InputShaping, PlayerController};
use skidpad_bevy::{
    BuiltinWorldPlugin, Car, CarDriver, CarEvent, CarInputs, CarMotion, CarPlugin, GroundSurface, StepFault, Teleport,
    TowedBy, Wheel,
};

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

/// Creates an app at `hz` (Hz) with Avian, cars in its schedule, standard gravity and a static body of the components
/// `ground`, after its first frame, which has no length.
fn avian_app(hz: f64, ground: impl Bundle) -> App {
    let mut app = empty_app(hz);
    app.add_plugins((
        TaskPoolPlugin::default(),
        PhysicsPlugins::default(),
        CarPlugin::in_schedule(FixedPostUpdate),
        AvianCarsPlugin,
    ))
    .insert_resource(Gravity(Vec3::NEG_Y * STANDARD_GRAVITY));
    app.world_mut().spawn((RigidBody::Static, ground));
    app.finish();
    app.cleanup();
    app.update();
    app
}

/// Returns a box of 1000 m by 1000 m whose top is at height 0.
fn slab() -> (Collider, Transform) {
    (Collider::cuboid(1000.0, 2.0, 1000.0), Transform::from_xyz(0.0, -1.0, 0.0))
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
fn avian_drives_as_the_own_world() {
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
        let (avian_transform, builtin_transform) =
            (final_transform(avian_app(hz, slab())), final_transform(builtin_app(hz)));
        let (distance, travel) = (
            (avian_transform.translation - builtin_transform.translation).length(),
            builtin_transform.translation.length(),
        );
        assert!(travel > 15.0 && distance < 0.01 * travel, "{hz} Hz: {distance} m apart after {travel} m");
        assert!(avian_transform.rotation.angle_between(builtin_transform.rotation) < 0.02, "{hz} Hz");
    }
}

/// Checks that a car parked on an uneven height field moves by less than 1 mm in five seconds, after three seconds to
/// settle, and stands upright.
#[test]
fn a_parked_car_stays_on_a_height_field() {
    let height = |i: usize, k: usize| 0.02 * (i as f32).sin() + 0.1 * (k as f32 * 0.5).cos();
    let heights: Vec<Vec<f32>> = (0..41).map(|k| (0..41).map(|i| height(i, k)).collect()).collect();
    let field = Collider::heightfield(heights, Vec3::new(80.0, 1.0, 80.0));
    let mut app = avian_app(60.0, (field, Transform::default()));
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
        let mut app = avian_app(120.0, slab());
        let mut grounds = app.world_mut().query_filtered::<Entity, (With<Collider>, Without<ChassisOf>)>();
        let ground = grounds.single(app.world()).unwrap();
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
    let mut app = avian_app(120.0, slab());
    let crate_box = app
        .world_mut()
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.8, 1.2, 0.8),
            (Mass(30.0), CollisionEventsEnabled),
            Transform::from_xyz(0.0, 0.6, -15.0),
        ))
        .id();
    let car = app.world_mut().spawn((c5(), Transform::default())).id();
    set_inputs(&mut app, car, CarInputs { throttle: 0.6, ..CarInputs::default() });
    let (mut is_named, mut hit_count) = (false, 0);
    for _ in 0..400 {
        frame(&mut app, 10.0);
        let collisions: Vec<_> = app.world_mut().resource_mut::<Messages<CollisionStart>>().drain().collect();
        for CollisionStart { body1, body2, .. } in collisions {
            let car_of = |body: Option<Entity>| {
                body.and_then(|body| app.world().get::<ChassisOf>(body)).map(|chassis_of| chassis_of.0)
            };
            is_named |= [(car_of(body1), body2), (car_of(body2), body1)].contains(&(Some(car), Some(crate_box)));
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
    let mut app = avian_app(60.0, slab());
    let car = app.world_mut().spawn((c5(), Transform::default())).id();
    for round in 0..6 {
        // Each guest has its own model. Every second guest has six wheels.
        let model = skidpad_spec::load(["corvette_c5", "truck_6x4"][round % 2]).unwrap().model;
        let guest = app.world_mut().spawn((Car(model), Transform::from_xyz(20.0 + round as f32, 0.0, 0.0))).id();
        run(&mut app, 0.2);
        assert_eq!(app.world().resource::<AvianCars>().number(guest), Some(1));
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
    let mut app = avian_app(60.0, slab());
    app.world_mut().spawn((c5(), Transform::default()));
    let tick = |app: &mut App| (0..2).for_each(|_| frame(app, 1000.0 / 60.0));
    guests::check_that_guests_leave_nothing(&mut app, &c5(), tick, |app, guest| {
        app.world().resource::<AvianCars>().number(guest)
    });
}

/// Checks that the drawn car moves forward (−z) in each of 200 frames of 3 to 24 ms, and that its state does not change
/// while the physics are paused.
#[test]
fn a_paused_world_keeps_its_cars_and_frames_of_any_length_never_go_back() {
    let mut app = avian_app(60.0, slab());
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
    app.world_mut().resource_mut::<Time<Physics>>().pause();
    run(&mut app, 0.1);
    let paused_position = app.world().get::<CarMotion>(car).unwrap().state().position;
    run(&mut app, 1.0);
    assert_eq!(app.world().get::<CarMotion>(car).unwrap().state().position, paused_position);
}

/// Returns the state of the car after its last step. Panics if it is in no world.
fn state(app: &App, car: Entity) -> State {
    app.world().get::<CarMotion>(car).unwrap().state().clone()
}

/// Checks that a car without inputs, which holds its brakes, stays on a slope of 15 degrees at every rate and number of
/// substeps, and that its wheel loads carry the static weight. The car moves by less than 0.1 mm in 20 s after five
/// seconds to settle; the loads agree within 0.1 %.
#[test]
fn a_parked_car_stands_on_a_slope() {
    let tilt = Quat::from_rotation_x(15.0f32.to_radians());
    for (hz, substeps) in [(20.0, 6), (30.0, 1), (60.0, 1), (60.0, 2), (60.0, 6), (60.0, 12), (240.0, 6), (1000.0, 3)] {
        let slope_transform = Transform::from_translation(tilt * Vec3::NEG_Y).with_rotation(tilt);
        let mut app = avian_app(hz, (Collider::cuboid(1000.0, 2.0, 1000.0), slope_transform));
        app.insert_resource(SubstepCount(substeps));
        let car = app.world_mut().spawn((c5(), Transform::from_rotation(tilt))).id();
        run(&mut app, 5.0);
        let start_state = state(&app, car);
        run(&mut app, 20.0);
        let end_state = state(&app, car);
        let displacement = (end_state.position - start_state.position).length();
        assert!(displacement < 1e-4, "{hz} Hz, {substeps} substeps: {displacement} m in 20 s");
        let weight = c5().0.mass() * STANDARD_GRAVITY * 15.0f32.to_radians().cos();
        let wheel_load_sum: f32 = end_state.wheels.iter().map(|wheel| wheel.load).sum();
        assert!(
            (wheel_load_sum / weight - 1.0).abs() < 1e-3,
            "{hz} Hz, {substeps} substeps: {wheel_load_sum} N of {weight} N"
        );
    }
}

/// Checks that a kinematic body carries a car that is parked on it. The platform moves at 2 m/s and turns at 0.1 rad/s.
/// After two seconds the car slides by less than 5 mm in 10 s.
#[test]
fn a_platform_carries_a_car() {
    for hz in [60.0, 240.0] {
        let mut app = avian_app(hz, slab());
        let motion = (LinearVelocity(Vec3::new(2.0, 0.0, 0.0)), AngularVelocity(Vec3::Y * 0.1));
        let platform_box = (Collider::cuboid(20.0, 1.0, 20.0), Transform::from_xyz(0.0, 0.5, 0.0));
        let platform = app.world_mut().spawn((RigidBody::Kinematic, platform_box, motion)).id();
        let car = app.world_mut().spawn((c5(), Transform::from_xyz(3.0, 1.0, 2.0))).id();
        run(&mut app, 2.0);
        let position_on_platform = |app: &App| {
            let chassis = app.world().get::<Chassis>(car).unwrap().0;
            let position_of = |entity| app.world().get::<Position>(entity).unwrap().0;
            let platform_rotation = app.world().get::<Rotation>(platform).unwrap().0;
            platform_rotation.inverse() * (position_of(chassis) - position_of(platform))
        };
        let start_position = position_on_platform(&app);
        run(&mut app, 10.0);
        let slip_distance = (position_on_platform(&app) - start_position).length();
        // The car starts at rest and slides in the first two seconds until it moves with the platform.
        assert!(slip_distance < 5e-3, "{hz} Hz: {slip_distance} m in 10 s");
    }
}

/// Checks wet pad, split friction, washboard, kerbs, ramp with a gap, moving floor, hill, banked curve and mounds of
/// gravel. The car is within 1 % of its distance in the world of skidpad, whose meshes are smooth where the file
/// specifies it. Two vehicles cross each of nine lanes for 4 s. Every step is finite and without misuse.
#[test]
fn the_proving_ground_is_crossed_as_in_the_own_world() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenes/proving_ground.toml");
    let scene = skidpad_spec::LoadedScene::load(&file).unwrap().scene;
    for name in ["corvette_c5", "truck_6x4"] {
        let model = skidpad_spec::load(name).unwrap().model;
        for y in [-40.0, 0.0, 30.0, 60.0, 90.0, 120.0, 150.0, 180.0, 210.0] {
            let end_position = |solver: SolverInfo| {
                let placement = Placement { x: -12.0, y, speed: 8.0, ..Placement::default() };
                let start = CarStart { model: model.clone(), placement };
                let mut world = (solver.build_world)(&scene, &[start], 1.0 / 240.0);
                for _ in 0..4 * 240 {
                    let report = world.step(&[Controls { throttle: 0.2, ..Controls::coasting() }]);
                    assert!(!report.not_finite && report.misuse.is_none(), "{name} at y = {y}: {report:?}");
                }
                world.state(0).position
            };
            let (builtin_position, avian_position) =
                (end_position(skidpad_impulse::BACKEND_INFO), end_position(skidpad_avian::BACKEND_INFO));
            let distance = (builtin_position - avian_position).length();
            assert!(
                distance < 0.01 * (builtin_position.x + 12.0),
                "{name} at y = {y}: {builtin_position} and {avian_position}, {distance} m apart"
            );
        }
    }
}

/// Checks that a car that is thrown onto its side or roof never rises above its start, and is at rest after 8 s. At
/// rest means below 0.1 m/s. Every step is finite.
#[test]
fn thrown_cars_come_to_rest() {
    for name in ["corvette_c5", "toyota_4runner", "unity_default"] {
        let model = skidpad_spec::load(name).unwrap().model;
        for (hz, roll_angle) in [(30.0, 1.0), (60.0, 2.2), (60.0, 3.1), (240.0, 4.0)] {
            let placement = Placement { height: 3.0, speed: 8.0, ..Placement::default() };
            let start = CarStart { model: model.clone(), placement };
            let mut world = (skidpad_avian::BACKEND_INFO.build_world)(&Scene::flat(), &[start], 1.0 / hz);
            let mut state = world.state(0).clone();
            state.rotation = Quat::from_rotation_x(roll_angle) * Quat::from_rotation_z(0.7 * roll_angle);
            state.angular_velocity = Vec3::new(2.0, -1.0, 0.5);
            world.set_state(0, &state).expect("it fits");
            let start_height = state.position.z;
            for _ in 0..(8.0 * hz) as usize {
                let report = world.step(&[Controls { brake: 1.0, ..Controls::default() }]);
                assert!(!report.not_finite, "{name} at {hz} Hz");
                assert!(
                    world.state(0).position.z <= start_height + 1e-3,
                    "{name} at {hz} Hz: {}",
                    world.state(0).position.z
                );
            }
            let end_speed = world.state(0).velocity.length();
            assert!(end_speed < 0.1, "{name} at {hz} Hz, turned by {roll_angle}: {end_speed} m/s");
        }
    }
}

/// Checks that a trailer is hitched, follows its car, brakes with it, and is released. The hitch has a gap below 5 mm
/// while driving and braking. The trailer is faster than 5 m/s, loses more than 2 m/s in 0.8 s of braking, and has no
/// tow after the component is removed.
#[test]
fn a_trailer_follows() {
    let load = |name: &str| Car(skidpad_spec::load(name).unwrap().model);
    let mut app = avian_app(60.0, slab());
    let car = app.world_mut().spawn((load("toyota_4runner"), Transform::default())).id();
    let trailer = app.world_mut().spawn((load("caravan"), Transform::default(), TowedBy(car))).id();
    // Distance of coupler and hitch, m.
    let gap = |app: &App| {
        let [car_state, trailer_state] = [car, trailer].map(|car| state(app, car));
        let hitch = app.world().get::<Car>(car).unwrap().0.parts().hitch.unwrap().point;
        let coupler = app.world().get::<Car>(trailer).unwrap().0.parts().coupler.unwrap().point;
        ((trailer_state.position - car_state.position).as_vec3() + trailer_state.rotation * coupler
            - car_state.rotation * hitch)
            .length()
    };
    set_inputs(&mut app, car, CarInputs { throttle: 1.0, ..CarInputs::default() });
    for _ in 0..16 {
        run(&mut app, 0.25);
        assert!(gap(&app) < 5e-3, "{} m", gap(&app));
    }
    let driving_speed = state(&app, trailer).velocity.length();
    assert!(driving_speed > 5.0);
    set_inputs(&mut app, car, CarInputs { brake: 1.0, ..CarInputs::default() });
    run(&mut app, 0.8);
    let braked_speed = state(&app, trailer).velocity.length();
    assert!(
        braked_speed < driving_speed - 2.0 && gap(&app) < 5e-3,
        "from {driving_speed} to {braked_speed} m/s, {} m",
        gap(&app)
    );
    app.world_mut().entity_mut(trailer).remove::<TowedBy>();
    run(&mut app, 0.5);
    assert!(state(&app, trailer).tow.is_none());
}

/// Checks row E18 in the world of Avian: landings from 0.5 to 4.5 m, tilted by up to 30°, add no energy. Wheels that
/// still push after Avian has stopped the hull within a step would add up to 0.23 of m g h at 30 Hz. The largest rise
/// of the energy over its lowest value so far stays below 0.001 m g h.
#[test]
fn landings_give_no_energy() {
    // Vectors in skidpad's axes, z up.
    use skidpad_bevy::core::Vec3 as Up;
    for (name, hz) in ["corvette_c5", "tesla_model3_awd", "toyota_4runner", "truck_6x4"]
        .into_iter()
        .flat_map(|name| [(name, 20.0), (name, 30.0), (name, 60.0)])
    {
        let model = skidpad_spec::load(name).unwrap().model;
        let audit = energy::Audit::of_car(&model, &skidpad_avian::backend::BACKEND_INFO, &Scene::flat());
        for drop_index in 0..24u16 {
            let placement = Placement { speed: f32::from(drop_index % 5) * 6.0, gear: Some(0), ..Placement::default() };
            let start = CarStart { model: model.clone(), placement };
            let mut world = (skidpad_avian::backend::BACKEND_INFO.build_world)(&Scene::flat(), &[start], 1.0 / hz);
            let mut state = world.state(0).clone();
            // Height of the fall (m) and tilt (rad), about an axis in the ground plane.
            let (height, tilt) = (0.5 + f32::from(drop_index % 9) * 0.5, f32::from(drop_index % 7) * 5f32.to_radians());
            let tilt_axis = Up::new((f32::from(drop_index) * 2.4).cos(), (f32::from(drop_index) * 2.4).sin(), 0.0);
            state.rotation = Quat::from_axis_angle(tilt_axis, tilt) * state.rotation;
            // The addition keeps the tilted hull above the ground.
            state.position.z += f64::from(height + 2.5 * tilt.sin());
            world.set_state(0, &state).expect("it fits");
            let coasting = Controls { gear: Some(0), ..Controls::coasting() };
            let (mut min_energy, mut max_rise) = (f64::INFINITY, 0f64);
            for _ in 0..(3.0 * hz) as usize {
                world.step(std::slice::from_ref(&coasting));
                let energy = audit.energy(world.state(0));
                max_rise = max_rise.max(energy - min_energy);
                min_energy = min_energy.min(energy);
            }
            let rise_ratio = max_rise / (f64::from(model.mass() * height) * 9.81);
            assert!(rise_ratio < 1e-3, "{name}, {hz} Hz, throw {drop_index}: {rise_ratio} of m g h");
        }
    }
}
