//! Cars that are spawned, despawned, teleported and changed while the app runs.

use crate::app::{TESTED_SOLVERS, app, c5, frame, spawn_car, transform_of};
use crate::guests::check_that_guests_leave_nothing;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_time::prelude::*;
use bevy_transform::prelude::*;
use skidpad_bevy::{
    BuiltinWorld, Car, CarControls, CarDriver, CarEvent, CarInputs, CarMotion, CarSystems, Teleport, TowedBy, Wheel,
};
use skidpad_core::{Controls, DVec3, FixedBox, Scene};
use skidpad_drive::Event;

/// Runs frames of 10 ms for this time (s), cut to whole frames.
fn run_ticks(app: &mut bevy_app::App, seconds: f64) {
    for _ in 0..(seconds * 100.0) as usize {
        frame(app, 10.0);
    }
}

/// Checks that a driven car ends with the same bits with and without ten guests, one after the other. Every guest gets
/// slot 1.
#[test]
fn cars_come_and_go_and_the_others_do_not_notice() {
    for solver in TESTED_SOLVERS {
        let end_state = |has_guests: bool| {
            let mut app = app(solver, Scene::flat());
            let car = spawn_car(&mut app, Transform::default());
            app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 0.7;
            let mut numbers = Vec::new();
            for round in 0..10 {
                let guest = has_guests.then(|| {
                    // Each guest has its own model. Every second guest has six wheels.
                    let model = Car(skidpad_spec::load(["corvette_c5", "truck_6x4"][round % 2]).unwrap().model);
                    let transform = Transform::from_xyz(200.0, 0.0, 10.0 * round as f32);
                    app.world_mut().spawn((model, transform)).id()
                });
                run_ticks(&mut app, 0.3);
                if let Some(guest) = guest {
                    numbers.push(app.world().resource::<BuiltinWorld>().number(guest).unwrap());
                    app.world_mut().entity_mut(guest).despawn();
                }
                run_ticks(&mut app, 0.1);
            }
            // Each guest reuses the slot of the previous guest.
            assert!(numbers.iter().all(|number| *number == 1), "{numbers:?}");
            app.world().get::<CarMotion>(car).unwrap().state().to_bytes()
        };
        assert_eq!(end_state(false), end_state(true), "{}", solver.name);
    }
}

/// Runs [`check_that_guests_leave_nothing`] beside a parked car. A change takes effect within two frames.
#[test]
fn guests_leave_nothing() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        spawn_car(&mut app, Transform::default());
        let tick = |app: &mut bevy_app::App| (0..2).for_each(|_| frame(app, 10.0));
        check_that_guests_leave_nothing(&mut app, &c5(), tick, |app, guest| {
            app.world().resource::<BuiltinWorld>().number(guest)
        });
    }
}

/// Checks that a driving car with another model keeps its velocity within 2 m/s, and that a car without its component
/// is in no world.
#[test]
fn a_car_that_loses_its_model_leaves_and_one_that_gets_another_goes_on() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = spawn_car(&mut app, Transform::default());
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 1.0;
        run_ticks(&mut app, 2.0);
        let old_state = app.world().get::<CarMotion>(car).unwrap().state().clone();
        let new_model = skidpad_spec::load("tesla_model3_awd").unwrap().model;
        app.world_mut().entity_mut(car).insert(Car(new_model));
        run_ticks(&mut app, 0.1);
        let new_state = app.world().get::<CarMotion>(car).unwrap().state().clone();
        assert!(
            (new_state.velocity - old_state.velocity).length() < 2.0,
            "{}: from {} to {}",
            solver.name,
            old_state.velocity,
            new_state.velocity
        );
        app.world_mut().entity_mut(car).remove::<Car>();
        run_ticks(&mut app, 0.1);
        assert_eq!(app.world().resource::<BuiltinWorld>().number(car), None);
    }
}

/// Checks that a truck that is spawned with one wheel of six gets the other five, each index once.
#[test]
fn a_truck_gets_the_wheels_it_has() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let model = skidpad_spec::load("truck_6x4").unwrap().model;
        let car = app.world_mut().spawn((Car(model), children![Wheel { index: 2 }])).id();
        run_ticks(&mut app, 0.2);
        let mut wheel_indices: Vec<usize> = app
            .world()
            .get::<Children>(car)
            .unwrap()
            .iter()
            .map(|child| app.world().get::<Wheel>(child).unwrap().index)
            .collect();
        wheel_indices.sort_unstable();
        assert_eq!(wheel_indices, [0, 1, 2, 3, 4, 5]);
    }
}

/// Checks that no frame draws the car between start and goal of a teleport, and that the motion before has no effect
/// after it. After 0.2 s the speeds of a slow and a fast start differ by less than 0.3 m/s, the places by less than 0.1
/// m.
#[test]
fn a_teleport_does_not_smear_and_leaves_nothing() {
    for solver in TESTED_SOLVERS {
        let speed_and_position_after = |driven_seconds: f64| {
            let mut app = app(solver, Scene::flat());
            let car = spawn_car(&mut app, Transform::default());
            *app.world_mut().get_mut::<CarInputs>(car).unwrap() =
                CarInputs { throttle: 1.0, steer: 1.0, ..CarInputs::default() };
            run_ticks(&mut app, driven_seconds);
            let target = Transform::from_xyz(500.0, 0.0, 300.0).with_rotation(Quat::from_rotation_y(1.0));
            app.world_mut().entity_mut(car).insert(Teleport::To(target));
            for _ in 0..50 {
                frame(&mut app, 4.0);
                let x = transform_of(&app, car).translation.x;
                assert!(!(50.0..490.0).contains(&x), "{}: drawn at {x}", solver.name);
            }
            (app.world().get::<CarMotion>(car).unwrap().state().velocity.length(), transform_of(&app, car).translation)
        };
        // Speed (m/s) and place (m) after a short and after a long drive.
        let (after_slow, after_fast) = (speed_and_position_after(0.04), speed_and_position_after(3.0));
        assert!(
            (after_slow.0 - after_fast.0).abs() < 0.3,
            "{}: {} m/s and {} m/s",
            solver.name,
            after_slow.0,
            after_fast.0
        );
        assert!((after_slow.1 - after_fast.1).length() < 0.1);
    }
}

/// Checks that a car that lies on its roof stands on its wheels at height 0 one second after an upright teleport.
#[test]
fn a_car_on_its_roof_is_put_upright() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let overturned_transform = Transform::from_xyz(5.0, 1.5, 0.0).with_rotation(Quat::from_rotation_z(3.0));
        let car = spawn_car(&mut app, overturned_transform);
        run_ticks(&mut app, 2.0);
        assert!(transform_of(&app, car).up().y < 0.0, "{} is not on its roof", solver.name);
        app.world_mut().entity_mut(car).insert(Teleport::Upright);
        run_ticks(&mut app, 1.0);
        let transform = transform_of(&app, car);
        assert!(transform.up().y > 0.999 && transform.translation.y.abs() < 5e-3, "{}: {transform:?}", solver.name);
    }
}

/// Checks that of two cars only the one dropped from 1 m sends touchdown events, at least four.
#[test]
fn messages_name_the_car() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let [resting_car, dropped_car] =
            [0.0, 1.0].map(|height| spawn_car(&mut app, Transform::from_xyz(20.0 * height, height, 0.0)));
        let mut landed_cars = Vec::new();
        for _ in 0..100 {
            frame(&mut app, 10.0);
            let mut messages = app.world_mut().resource_mut::<Messages<CarEvent>>();
            landed_cars.extend(
                messages
                    .drain()
                    .filter(|message| matches!(message.event, Event::TouchDown { .. }))
                    .map(|message| message.car),
            );
        }
        assert!(
            landed_cars.len() >= 4 && landed_cars.iter().all(|car| *car == dropped_car && *car != resting_car),
            "{}: {landed_cars:?}",
            solver.name
        );
    }
}

/// Checks that a car without a driver applies its own controls: in reverse gear it drives back by more than 2 m.
#[test]
fn controls_of_ones_own() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = spawn_car(&mut app, Transform::default());
        app.world_mut().entity_mut(car).remove::<CarDriver>();
        app.world_mut().get_mut::<CarControls>(car).unwrap().0 =
            Controls { throttle: 1.0, gear: Some(-1), ..Controls::default() };
        run_ticks(&mut app, 2.0);
        assert!(transform_of(&app, car).translation.z > 2.0, "{} drives back", solver.name);
    }
}

/// Checks that a car continues from its state if the solver changes: after one second it is within 0.05 m of its place
/// without the change. The car moves by more than 5 m in total.
#[test]
fn the_solver_changes_while_driving() {
    let scene = Scene::flat();
    let end_position = |is_solver_changed: bool| {
        let mut app = app(TESTED_SOLVERS[0], scene.clone());
        let car = spawn_car(&mut app, Transform::default());
        *app.world_mut().get_mut::<CarInputs>(car).unwrap() =
            CarInputs { throttle: 0.5, steer: 0.2, ..CarInputs::default() };
        run_ticks(&mut app, 2.0);
        if is_solver_changed {
            app.world_mut().resource_mut::<BuiltinWorld>().change_solver(TESTED_SOLVERS[1]);
        }
        run_ticks(&mut app, 1.0);
        transform_of(&app, car).translation
    };
    let distance = (end_position(false) - end_position(true)).length();
    assert!(distance < 0.05, "{distance} m apart");
    assert!(end_position(true).distance(Vec3::ZERO) > 5.0);
}

/// Checks that the change of velocity of a collision is in Bevy's axes: a car that drives along −z into a wall is
/// changed along +z. The change is above 3 m/s and at least three times the change along the other axes.
#[test]
fn collisions_are_told_in_bevys_axes() {
    let wall = FixedBox::axis_aligned(DVec3::new(20.0, 0.0, 1.0), Vec3::new(1.0, 8.0, 2.0));
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene { boxes: vec![wall], ..Scene::flat() });
        let car = spawn_car(&mut app, Transform::default());
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 1.0;
        let mut changes = Vec::new();
        for _ in 0..500 {
            frame(&mut app, 10.0);
            let mut messages = app.world_mut().resource_mut::<Messages<skidpad_bevy::CarEvent>>();
            changes.extend(messages.drain().filter_map(|message| match message.event {
                Event::Collision { change } => Some(change),
                _ => None,
            }));
        }
        let first = *changes.first().expect("it hits the wall");
        assert!(first.z > 3.0 && first.z > 3.0 * first.x.hypot(first.y), "{}: {first}", solver.name);
    }
}

/// Checks that a change of the solver keeps the time after ticks of different length, so that wind and platforms do not
/// jump. The whole clock is equal before and after the change.
#[test]
fn the_time_stays_if_the_solver_changes() {
    let mut app = app(TESTED_SOLVERS[0], Scene::flat());
    spawn_car(&mut app, Transform::default());
    run_ticks(&mut app, 1.0);
    app.insert_resource(Time::<Fixed>::from_hz(240.0));
    run_ticks(&mut app, 0.5);
    let clock = *app.world().resource::<BuiltinWorld>().world().clock();
    app.world_mut().resource_mut::<BuiltinWorld>().change_solver(TESTED_SOLVERS[1]);
    assert!(clock.time > 1.4, "{clock:?}");
    assert_eq!(*app.world().resource::<BuiltinWorld>().world().clock(), clock);
}

/// Checks that step faults name the car that was set to a velocity that is not a number, and no other car.
#[test]
fn a_lost_car_is_named() {
    let mut app = app(TESTED_SOLVERS[0], Scene::flat());
    let (valid_car, invalid_car) =
        (spawn_car(&mut app, Transform::default()), spawn_car(&mut app, Transform::from_xyz(20.0, 0.0, 0.0)));
    run_ticks(&mut app, 0.1);
    let mut state = app.world().get::<CarMotion>(invalid_car).unwrap().state().clone();
    state.velocity.x = f32::NAN;
    app.world_mut().entity_mut(invalid_car).insert(Teleport::ToState(Box::new(state)));
    let mut named_cars = Vec::new();
    for _ in 0..10 {
        frame(&mut app, 10.0);
        let mut messages = app.world_mut().resource_mut::<Messages<skidpad_bevy::StepFault>>();
        named_cars.extend(messages.drain().map(|fault| fault.car));
    }
    assert!(
        !named_cars.is_empty() && named_cars.iter().all(|car| *car == invalid_car && *car != valid_car),
        "{named_cars:?}"
    );
}

/// Checks that a rewind by one second, with the driver of that tick, leads to the same bits again.
#[test]
fn a_rewind_goes_on_with_the_same_bits() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = spawn_car(&mut app, Transform::default());
        *app.world_mut().get_mut::<CarInputs>(car).unwrap() =
            CarInputs { throttle: 1.0, steer: 0.4, ..CarInputs::default() };
        run_ticks(&mut app, 1.5);
        let state = |app: &bevy_app::App| app.world().get::<CarMotion>(car).unwrap().state().clone();
        // Both are needed for a rewind.
        let state_and_driver = (state(&app), app.world().get::<CarDriver>(car).unwrap().clone());
        // Each frame of 1/60 s has one tick.
        let run_second = |app: &mut bevy_app::App| (0..60).for_each(|_| frame(app, 1000.0 / 60.0));
        run_second(&mut app);
        let first_state = state(&app);
        app.world_mut().entity_mut(car).insert((Teleport::ToState(Box::new(state_and_driver.0)), state_and_driver.1));
        run_second(&mut app);
        assert_eq!(first_state.to_bytes(), state(&app).to_bytes(), "{}", solver.name);
    }
}

/// Checks that cars are in no world, and nothing panics, if a system despawns them in the tick in which they enter, are
/// teleported or are hitched.
#[test]
fn a_game_may_despawn_a_car_in_the_tick_that_it_enters_jumps_or_is_hitched() {
    fn despawn(mut commands: Commands, cars: Query<Entity, With<Doomed>>) {
        cars.iter().for_each(|car| commands.entity(car).despawn());
    }
    #[derive(Component)]
    struct Doomed;
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        // The commands of this system are applied before those of the plugin, at one sync point.
        app.add_systems(bevy_app::FixedUpdate, despawn.before_ignore_deferred(CarSystems::SyncCars));
        let new_car = app.world_mut().spawn((c5(), Doomed)).id();
        let [teleported_car, towed_car] = [0.0, 20.0].map(|x| spawn_car(&mut app, Transform::from_xyz(x, 0.0, 0.0)));
        app.world_mut().entity_mut(new_car).insert(Teleport::Upright);
        run_ticks(&mut app, 0.1);
        app.world_mut().entity_mut(teleported_car).insert((Doomed, Teleport::Upright));
        app.world_mut().entity_mut(towed_car).insert((Doomed, TowedBy(teleported_car)));
        run_ticks(&mut app, 0.1);
        let world = app.world().resource::<BuiltinWorld>();
        assert_eq!([new_car, teleported_car, towed_car].map(|car| world.number(car)), [None; 3], "{}", solver.name);
    }
}
