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

fn c5() -> Car {
    Car(skidpad_spec::load("corvette_c5").unwrap().model)
}

fn bare(hz: f64) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, TransformPlugin)).insert_resource(Time::<Fixed>::from_hz(hz));
    app
}

fn avian(hz: f64, ground: impl Bundle) -> App {
    let mut app = bare(hz);
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

fn slab() -> (Collider, Transform) {
    (Collider::cuboid(1000.0, 2.0, 1000.0), Transform::from_xyz(0.0, -1.0, 0.0))
}

fn own(hz: f64) -> App {
    let mut app = bare(hz);
    app.add_plugins((
        CarPlugin::default(),
        BuiltinWorldPlugin { solver: skidpad_impulse::BACKEND_INFO, scene: Scene::flat() },
    ));
    app.update();
    app
}

fn frame(app: &mut App, milliseconds: f64) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(milliseconds / 1000.0)));
    app.update();
}

fn run(app: &mut App, seconds: f64) {
    for _ in 0..(seconds * 100.0).round() as usize {
        frame(app, 10.0);
    }
}

fn at(app: &App, car: Entity) -> Transform {
    *app.world().get::<Transform>(car).unwrap()
}

fn ask(app: &mut App, car: Entity, inputs: CarInputs) {
    *app.world_mut().get_mut::<CarInputs>(car).unwrap() = inputs;
}

/// Checks that the car is at the same place in both worlds within 1 % of its distance, after five seconds of throttle, cornering and
/// braking.
#[test]
fn avian_drives_as_the_own_world() {
    for hz in [60.0, 240.0] {
        let way = |mut app: App| {
            let car = app.world_mut().spawn((c5(), Transform::default())).id();
            ask(&mut app, car, CarInputs { throttle: 0.6, ..CarInputs::default() });
            run(&mut app, 3.0);
            ask(&mut app, car, CarInputs { throttle: 0.2, steer: 0.2, ..CarInputs::default() });
            run(&mut app, 1.5);
            ask(&mut app, car, CarInputs { brake: 0.4, ..CarInputs::default() });
            run(&mut app, 0.5);
            assert!(app.world().resource::<Messages<StepFault>>().is_empty());
            at(&app, car)
        };
        let (there, own) = (way(avian(hz, slab())), way(own(hz)));
        let (apart, far) = ((there.translation - own.translation).length(), own.translation.length());
        assert!(far > 15.0 && apart < 0.01 * far, "{hz} Hz: {apart} m apart after {far} m");
        assert!(there.rotation.angle_between(own.rotation) < 0.02, "{hz} Hz");
    }
}

#[test]
fn a_parked_car_stays_on_a_height_field() {
    let height = |i: usize, k: usize| 0.02 * (i as f32).sin() + 0.1 * (k as f32 * 0.5).cos();
    let heights: Vec<Vec<f32>> = (0..41).map(|k| (0..41).map(|i| height(i, k)).collect()).collect();
    let field = Collider::heightfield(heights, Vec3::new(80.0, 1.0, 80.0));
    let mut app = avian(60.0, (field, Transform::default()));
    let car = app.world_mut().spawn((c5(), Transform::from_xyz(1.3, 0.3, -2.1))).id();
    run(&mut app, 3.0);
    let before = at(&app, car);
    run(&mut app, 5.0);
    let moved = (at(&app, car).translation - before.translation).length();
    assert!(moved < 1e-3, "{moved} m");
    assert!(before.up().y > 0.99);
}

/// Checks that the grip is that of the component, not the friction of the collider, which is 0.5 by default.
#[test]
fn grip_is_a_component_of_the_ground() {
    let stopping = |grip: Option<f32>| {
        let mut app = avian(120.0, slab());
        let mut grounds = app.world_mut().query_filtered::<Entity, (With<Collider>, Without<ChassisOf>)>();
        let ground = grounds.single(app.world()).unwrap();
        if let Some(grip) = grip {
            app.world_mut().entity_mut(ground).insert(GroundSurface { grip, ..GroundSurface::default() });
        }
        let at_once = CarDriver(PlayerController::with_shaping(InputShaping {
            press_rate: f32::INFINITY,
            ..InputShaping::KEYBOARD
        }));
        let car = app.world_mut().spawn((c5(), at_once, Transform::default())).id();
        ask(&mut app, car, CarInputs { throttle: 1.0, ..CarInputs::default() });
        run(&mut app, if grip.is_some_and(|grip| grip < 0.5) { 6.0 } else { 3.0 });
        let (from, speed) =
            (at(&app, car).translation, app.world().get::<CarMotion>(car).unwrap().state().velocity.length());
        ask(&mut app, car, CarInputs { brake: 1.0, handbrake: 0.0, ..CarInputs::default() });
        let mut seconds = 0.0;
        while app.world().get::<CarMotion>(car).unwrap().state().velocity.length() > 0.5 && seconds < 20.0 {
            run(&mut app, 0.05);
            seconds += 0.05;
        }
        let way = (at(&app, car).translation - from).length();
        // Mean deceleration divided by the grip (m/s²).
        f64::from(speed * speed / (2.0 * way * grip.unwrap_or(1.0)))
    };
    let (plain, full, ice) = (stopping(None), stopping(Some(1.0)), stopping(Some(0.3)));
    // Locked wheels have four fifths of the friction, which is 1.07 at front and rear. The friction 0.5 of the collider would give half.
    assert!((plain - full).abs() < 1e-6 && (7.0..9.0).contains(&plain), "{plain} and {full} m/s²");
    assert!((ice / full - 1.0).abs() < 0.2, "{ice} m/s² per grip on ice, {full} on asphalt");
}

/// Checks that the collision event of a crate names the entity of the car, and that the car pushes the crate.
#[test]
fn a_crate_is_pushed_and_its_collision_names_the_car() {
    let mut app = avian(120.0, slab());
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
    ask(&mut app, car, CarInputs { throttle: 0.6, ..CarInputs::default() });
    let (mut named, mut hits) = (false, 0);
    for _ in 0..400 {
        frame(&mut app, 10.0);
        let met: Vec<_> = app.world_mut().resource_mut::<Messages<CollisionStart>>().drain().collect();
        for CollisionStart { body1, body2, .. } in met {
            let car_of = |body: Option<Entity>| body.and_then(|body| app.world().get::<ChassisOf>(body)).map(|of| of.0);
            named |= [(car_of(body1), body2), (car_of(body2), body1)].contains(&(Some(car), Some(crate_box)));
        }
        let events = app.world_mut().resource_mut::<Messages<CarEvent>>().drain().collect::<Vec<_>>();
        hits += events.iter().filter(|told| matches!(told.event, skidpad_bevy::drive::Event::Collision { .. })).count();
    }
    assert!(named, "no collision event names car and crate");
    assert!(at(&app, crate_box).translation.z < -16.0 && at(&app, car).translation.z < -16.0);
    assert!(hits < 20, "{hits} hits");
}

#[test]
fn cars_come_go_jump_and_stand_up_again() {
    let mut app = avian(60.0, slab());
    let car = app.world_mut().spawn((c5(), Transform::default())).id();
    for round in 0..6 {
        // Each guest has its own model. Every second guest has six wheels.
        let model = skidpad_spec::load(["corvette_c5", "truck_6x4"][round % 2]).unwrap().model;
        let guest = app.world_mut().spawn((Car(model), Transform::from_xyz(20.0 + round as f32, 0.0, 0.0))).id();
        run(&mut app, 0.2);
        assert_eq!(app.world().resource::<AvianCars>().number(guest), Some(1));
        assert!((at(&app, guest).translation.x - 20.0 - round as f32).abs() < 1e-2);
        app.world_mut().entity_mut(guest).despawn();
        run(&mut app, 0.1);
    }
    let over = Transform::from_xyz(60.0, 0.2, 5.0).with_rotation(Quat::from_rotation_y(0.5));
    app.world_mut().entity_mut(car).insert(Teleport::To(over));
    run(&mut app, 1.0);
    assert!((at(&app, car).translation - Vec3::new(60.0, 0.0, 5.0)).length() < 0.02, "{:?}", at(&app, car));
    let roof = Transform::from_xyz(60.0, 1.5, 5.0).with_rotation(Quat::from_rotation_z(3.0));
    app.world_mut().entity_mut(car).insert(Teleport::To(roof));
    run(&mut app, 2.0);
    assert!(at(&app, car).up().y < 0.0);
    app.world_mut().entity_mut(car).insert(Teleport::Upright);
    run(&mut app, 1.0);
    assert!(at(&app, car).up().y > 0.999 && at(&app, car).translation.y.abs() < 5e-3);
    let mut wheels = app.world_mut().query::<(&Wheel, &GlobalTransform)>();
    assert_eq!(wheels.iter(app.world()).filter(|(_, at)| (0.2..0.5).contains(&at.translation().y)).count(), 4);
}

#[test]
fn guests_leave_nothing() {
    let mut app = avian(60.0, slab());
    app.world_mut().spawn((c5(), Transform::default()));
    let tick = |app: &mut App| (0..2).for_each(|_| frame(app, 1000.0 / 60.0));
    guests::check_that_guests_leave_nothing(&mut app, &c5(), tick, |app, guest| {
        app.world().resource::<AvianCars>().number(guest)
    });
}

#[test]
fn a_paused_world_keeps_its_cars_and_frames_of_any_length_never_go_back() {
    let mut app = avian(60.0, slab());
    let car = app.world_mut().spawn((c5(), Transform::default())).id();
    ask(&mut app, car, CarInputs { throttle: 0.5, ..CarInputs::default() });
    run(&mut app, 1.0);
    let mut last = at(&app, car).translation.z;
    for i in 0..200 {
        frame(&mut app, 3.0 + f64::from((i * 7) % 22));
        let z = at(&app, car).translation.z;
        assert!(z < last, "back from {last} to {z}");
        last = z;
    }
    app.world_mut().resource_mut::<Time<Physics>>().pause();
    run(&mut app, 0.1);
    let here = app.world().get::<CarMotion>(car).unwrap().state().position;
    run(&mut app, 1.0);
    assert_eq!(app.world().get::<CarMotion>(car).unwrap().state().position, here);
}

fn state(app: &App, car: Entity) -> State {
    app.world().get::<CarMotion>(car).unwrap().state().clone()
}

/// Checks that a car without inputs, which holds its brakes, stays on a slope of 15 degrees at every rate and number of substeps, and
/// that its wheel loads carry the static weight.
#[test]
fn a_parked_car_stands_on_a_slope() {
    let tilt = Quat::from_rotation_x(15.0f32.to_radians());
    for (hz, substeps) in [(20.0, 6), (30.0, 1), (60.0, 1), (60.0, 2), (60.0, 6), (60.0, 12), (240.0, 6), (1000.0, 3)] {
        let place = Transform::from_translation(tilt * Vec3::NEG_Y).with_rotation(tilt);
        let mut app = avian(hz, (Collider::cuboid(1000.0, 2.0, 1000.0), place));
        app.insert_resource(SubstepCount(substeps));
        let car = app.world_mut().spawn((c5(), Transform::from_rotation(tilt))).id();
        run(&mut app, 5.0);
        let before = state(&app, car);
        run(&mut app, 20.0);
        let after = state(&app, car);
        let moved = (after.position - before.position).length();
        assert!(moved < 1e-4, "{hz} Hz, {substeps} substeps: {moved} m in 20 s");
        let weight = c5().0.mass() * STANDARD_GRAVITY * 15.0f32.to_radians().cos();
        let carried: f32 = after.wheels.iter().map(|wheel| wheel.load).sum();
        assert!((carried / weight - 1.0).abs() < 1e-3, "{hz} Hz, {substeps} substeps: {carried} N of {weight} N");
    }
}

/// Checks that a kinematic body carries a car that is parked on it.
#[test]
fn a_platform_carries_a_car() {
    for hz in [60.0, 240.0] {
        let mut app = avian(hz, slab());
        let motion = (LinearVelocity(Vec3::new(2.0, 0.0, 0.0)), AngularVelocity(Vec3::Y * 0.1));
        let box_of = (Collider::cuboid(20.0, 1.0, 20.0), Transform::from_xyz(0.0, 0.5, 0.0));
        let platform = app.world_mut().spawn((RigidBody::Kinematic, box_of, motion)).id();
        let car = app.world_mut().spawn((c5(), Transform::from_xyz(3.0, 1.0, 2.0))).id();
        run(&mut app, 2.0);
        let on_it = |app: &App| {
            let chassis = app.world().get::<Chassis>(car).unwrap().0;
            let place = |entity| app.world().get::<Position>(entity).unwrap().0;
            let turned = app.world().get::<Rotation>(platform).unwrap().0;
            turned.inverse() * (place(chassis) - place(platform))
        };
        let before = on_it(&app);
        run(&mut app, 10.0);
        let slid = (on_it(&app) - before).length();
        // The car starts at rest and slides in the first two seconds until it moves with the platform.
        assert!(slid < 5e-3, "{hz} Hz: {slid} m in 10 s");
    }
}

/// Checks wet pad, split friction, washboard, kerbs, ramp with a gap, moving floor, hill, banked curve and mounds of gravel. The car is
/// within 1 % of its distance in the world of skidpad, whose meshes are smooth where the file specifies it.
#[test]
fn the_proving_ground_is_crossed_as_in_the_own_world() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenes/proving_ground.toml");
    let scene = skidpad_spec::LoadedScene::load(&file).unwrap().scene;
    for name in ["corvette_c5", "truck_6x4"] {
        let model = skidpad_spec::load(name).unwrap().model;
        for y in [-40.0, 0.0, 30.0, 60.0, 90.0, 120.0, 150.0, 180.0, 210.0] {
            let way = |solver: SolverInfo| {
                let placement = Placement { x: -12.0, y, speed: 8.0, ..Placement::default() };
                let start = CarStart { model: model.clone(), placement };
                let mut world = (solver.build_world)(&scene, &[start], 1.0 / 240.0);
                for _ in 0..4 * 240 {
                    let report = world.step(&[Controls { throttle: 0.2, ..Controls::coasting() }]);
                    assert!(!report.not_finite && report.misuse.is_none(), "{name} at y = {y}: {report:?}");
                }
                world.state(0).position
            };
            let (own, avian) = (way(skidpad_impulse::BACKEND_INFO), way(skidpad_avian::BACKEND_INFO));
            let apart = (own - avian).length();
            assert!(apart < 0.01 * (own.x + 12.0), "{name} at y = {y}: {own} and {avian}, {apart} m apart");
        }
    }
}

/// Checks that a car that is thrown onto its side or roof never rises above its start, and is at rest after 8 s.
#[test]
fn thrown_cars_come_to_rest() {
    for name in ["corvette_c5", "toyota_4runner", "unity_default"] {
        let model = skidpad_spec::load(name).unwrap().model;
        for (hz, turn) in [(30.0, 1.0), (60.0, 2.2), (60.0, 3.1), (240.0, 4.0)] {
            let placement = Placement { height: 3.0, speed: 8.0, ..Placement::default() };
            let start = CarStart { model: model.clone(), placement };
            let mut world = (skidpad_avian::BACKEND_INFO.build_world)(&Scene::flat(), &[start], 1.0 / hz);
            let mut state = world.state(0).clone();
            state.rotation = Quat::from_rotation_x(turn) * Quat::from_rotation_z(0.7 * turn);
            state.angular = Vec3::new(2.0, -1.0, 0.5);
            world.set_state(0, &state).expect("it fits");
            let highest = state.position.z;
            for _ in 0..(8.0 * hz) as usize {
                let report = world.step(&[Controls { brake: 1.0, ..Controls::default() }]);
                assert!(!report.not_finite, "{name} at {hz} Hz");
                assert!(
                    world.state(0).position.z <= highest + 1e-3,
                    "{name} at {hz} Hz: {}",
                    world.state(0).position.z
                );
            }
            let left = world.state(0).velocity.length();
            assert!(left < 0.1, "{name} at {hz} Hz, turned by {turn}: {left} m/s");
        }
    }
}

/// Checks that a trailer is hitched, follows its car, brakes with it, and is released.
#[test]
fn a_trailer_follows() {
    let load = |name: &str| Car(skidpad_spec::load(name).unwrap().model);
    let mut app = avian(60.0, slab());
    let car = app.world_mut().spawn((load("toyota_4runner"), Transform::default())).id();
    let trailer = app.world_mut().spawn((load("caravan"), Transform::default(), TowedBy(car))).id();
    let gap = |app: &App| {
        let [ahead, behind] = [car, trailer].map(|car| state(app, car));
        let hitch = app.world().get::<Car>(car).unwrap().0.parts().hitch.unwrap().point;
        let coupler = app.world().get::<Car>(trailer).unwrap().0.parts().coupler.unwrap().point;
        ((behind.position - ahead.position).as_vec3() + behind.rotation * coupler - ahead.rotation * hitch).length()
    };
    ask(&mut app, car, CarInputs { throttle: 1.0, ..CarInputs::default() });
    for _ in 0..16 {
        run(&mut app, 0.25);
        assert!(gap(&app) < 5e-3, "{} m", gap(&app));
    }
    let fast = state(&app, trailer).velocity.length();
    assert!(fast > 5.0);
    ask(&mut app, car, CarInputs { brake: 1.0, ..CarInputs::default() });
    run(&mut app, 0.8);
    let slow = state(&app, trailer).velocity.length();
    assert!(slow < fast - 2.0 && gap(&app) < 5e-3, "from {fast} to {slow} m/s, {} m", gap(&app));
    app.world_mut().entity_mut(trailer).remove::<TowedBy>();
    run(&mut app, 0.5);
    assert!(state(&app, trailer).tow.is_none());
}

/// Checks row E18 in the world of Avian: landings from 0.5 to 4.5 m, tilted by up to 30°, add no energy. Wheels that still push after
/// Avian has stopped the hull within a step would add up to 0.23 of m g h at 30 Hz.
#[test]
fn landings_give_no_energy() {
    use skidpad_bevy::core::Vec3 as Up;
    for (name, hz) in ["corvette_c5", "tesla_model3_awd", "toyota_4runner", "truck_6x4"]
        .into_iter()
        .flat_map(|name| [(name, 20.0), (name, 30.0), (name, 60.0)])
    {
        let model = skidpad_spec::load(name).unwrap().model;
        let audit = energy::Audit::of_car(&model, &skidpad_avian::backend::BACKEND_INFO, &Scene::flat());
        for throw in 0..24u16 {
            let placement = Placement { speed: f32::from(throw % 5) * 6.0, gear: Some(0), ..Placement::default() };
            let start = CarStart { model: model.clone(), placement };
            let mut world = (skidpad_avian::backend::BACKEND_INFO.build_world)(&Scene::flat(), &[start], 1.0 / hz);
            let mut state = world.state(0).clone();
            let (height, lean) = (0.5 + f32::from(throw % 9) * 0.5, f32::from(throw % 7) * 5f32.to_radians());
            let about = Up::new((f32::from(throw) * 2.4).cos(), (f32::from(throw) * 2.4).sin(), 0.0);
            state.rotation = Quat::from_axis_angle(about, lean) * state.rotation;
            state.position.z += f64::from(height + 2.5 * lean.sin());
            world.set_state(0, &state).expect("it fits");
            let coasting = Controls { gear: Some(0), ..Controls::coasting() };
            let (mut least, mut rise) = (f64::INFINITY, 0f64);
            for _ in 0..(3.0 * hz) as usize {
                world.step(std::slice::from_ref(&coasting));
                let energy = audit.energy(world.state(0));
                rise = rise.max(energy - least);
                least = least.min(energy);
            }
            let share = rise / (f64::from(model.mass() * height) * 9.81);
            assert!(share < 1e-3, "{name}, {hz} Hz, throw {throw}: {share} of m g h");
        }
    }
}
