//! Frames of any length: drawn poses, and the times of ticks.

use crate::app::{TESTED_SOLVERS, app, frame, spawn_car, transform_of};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_time::{TimePlugin, prelude::*};
use bevy_transform::prelude::*;
use skidpad_bevy::{BuiltinWorldPlugin, Car, CarInputs, CarMotion, CarPlugin, CarSignals, Wheel, WheelSignals};
use skidpad_core::Scene;

/// Returns an endless sequence of frame lengths from 3 to 25 ms, from a linear congruential generator.
fn frame_lengths() -> impl Iterator<Item = f64> {
    let mut seed = 1u32;
    std::iter::repeat_with(move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        3.0 + 22.0 * f64::from(seed >> 8) / f64::from(1u32 << 24)
    })
}

/// Checks that a resting car stays within 2 mm of its transform and keeps its heading, and that full throttle moves it
/// more than 5 m along that heading, with a speed above 5 m/s.
#[test]
fn a_car_stands_where_it_was_spawned_on_the_ground_and_looks_along_its_transform() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let start = Transform::from_xyz(3.0, 0.0, -7.0).looking_to(Vec3::new(1.0, 0.0, -1.0), Vec3::Y);
        let car = spawn_car(&mut app, start);
        for length in frame_lengths().take(200) {
            frame(&mut app, length);
        }
        let end = transform_of(&app, car);
        assert!((end.translation - start.translation).length() < 2e-3, "{}: {}", solver.name, end.translation);
        assert!(end.forward().dot(*start.forward()) > 0.99999, "{}", solver.name);
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 1.0;
        for length in frame_lengths().take(200) {
            frame(&mut app, length);
        }
        let displacement = transform_of(&app, car).translation - start.translation;
        assert!(
            displacement.normalize().dot(*start.forward()) > 0.9999 && displacement.length() > 5.0,
            "{}: {displacement}",
            solver.name
        );
        assert!(app.world().get::<CarSignals>(car).unwrap().speed > 5.0);
    }
}

/// Checks that the drawn car follows the parabola through the ticks, one step late, and never moves backwards.
#[test]
fn drawn_places_are_on_the_way_and_never_go_back() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = spawn_car(&mut app, Transform::default());
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 0.5;
        // Time (s) and distance along −z (m) of each frame.
        let (mut time, mut drawn_points) = (0.0, Vec::new());
        for length in frame_lengths().take(600) {
            frame(&mut app, length);
            time += length / 1000.0;
            drawn_points.push((time, -f64::from(transform_of(&app, car).translation.z)));
        }
        // The first 60 frames belong to the start from rest.
        for pair in drawn_points.windows(2).skip(60) {
            assert!(pair[1].1 > pair[0].1, "{} goes from {} back to {}", solver.name, pair[0].1, pair[1].1);
        }
        // The middle one of three successive places may deviate from the line between the outer ones by half the
        // acceleration times the times to both. A car accelerates by at most 6 m/s², except in gear shifts.
        for triple in drawn_points.windows(3).skip(60) {
            let [(first_time, first), (middle_time, middle), (last_time, last)] = [triple[0], triple[1], triple[2]];
            let line = first + (last - first) * (middle_time - first_time) / (last_time - first_time);
            let bound = 0.5 * 10.0 * (middle_time - first_time) * (last_time - middle_time) + 1e-3;
            assert!((middle - line).abs() < bound, "{}: {} m off the way", solver.name, middle - line);
        }
    }
}

/// Checks that four wheels are spawned as children of the car, at wheel height within 20 mm and at their corners. Seen
/// from the car, their second differences from frame to frame stay below 1 mm.
#[test]
fn wheels_come_by_themselves_touch_the_ground_and_follow() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = spawn_car(&mut app, Transform::default());
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 0.3;
        let mut wheels = app.world_mut().query::<(&Wheel, &ChildOf, &GlobalTransform, &WheelSignals)>();
        let mut centre_history: Vec<Vec<Vec3>> = Vec::new();
        for length in frame_lengths().take(300) {
            frame(&mut app, length);
            let to_body = app.world().get::<GlobalTransform>(car).unwrap().affine().inverse();
            let mut centres = vec![Vec3::ZERO; 4];
            for (wheel, child_of, transform, signals) in wheels.iter(app.world()) {
                assert_eq!(child_of.parent(), car);
                let centre = transform.translation();
                assert!((centre.y - signals.radius).abs() < 0.02 || signals.radius == 0.0, "{}: {centre}", solver.name);
                centres[wheel.index] = to_body.transform_point3(centre);
            }
            centre_history.push(centres);
        }
        // The front left wheel is ahead and to the left, the rear right wheel behind and to the right.
        let [front_left, .., rear_right] = centre_history[299][..] else { panic!("four wheels") };
        assert!(front_left.x < -0.5 && front_left.z < -0.5 && rear_right.x > 0.5 && rear_right.z > 0.5);
        for triple in centre_history.windows(3).skip(30) {
            let [first, middle, last] = triple else { unreachable!("windows of three") };
            for (wheel, ((first, middle), last)) in first.iter().zip(middle).zip(last).enumerate() {
                // Second difference of the centre, m.
                let deviation = (*last - 2.0 * *middle + *first).length();
                assert!(deviation < 1e-3, "{}: wheel {wheel} shakes by {deviation} m", solver.name);
            }
        }
    }
}

/// Checks that the drawn transform does not change while time is paused, that the state stays finite, and that the car
/// never moves backwards at a tenth of the speed.
#[test]
fn nothing_moves_while_time_stands_and_slow_motion_draws_the_same_way() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = spawn_car(&mut app, Transform::default());
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 1.0;
        for length in frame_lengths().take(100) {
            frame(&mut app, length);
        }
        let paused_transform = transform_of(&app, car);
        app.world_mut().resource_mut::<bevy_time::Time<bevy_time::Virtual>>().pause();
        for length in frame_lengths().take(20) {
            frame(&mut app, length);
        }
        assert_eq!(transform_of(&app, car), paused_transform, "{}", solver.name);
        let state = app.world().get::<CarMotion>(car).unwrap().state().clone();
        assert!(state.is_finite());
        let mut virtual_time = app.world_mut().resource_mut::<bevy_time::Time<bevy_time::Virtual>>();
        virtual_time.unpause();
        virtual_time.set_relative_speed(0.1);
        let mut last_z = paused_transform.translation.z;
        for length in frame_lengths().take(100) {
            frame(&mut app, length);
            let z = transform_of(&app, car).translation.z;
            assert!(z <= last_z, "{} goes back in slow motion", solver.name);
            last_z = z;
        }
    }
}

/// Checks that a car whose tick is a frame is drawn at its last tick, which is the one of the frame before, whatever
/// the time of the fixed loop is. The drawn and the simulated position agree within 1 mm after two frames, and the car
/// moves more than 5 m.
#[test]
fn cars_outside_of_the_fixed_loop_are_drawn_at_their_last_tick() {
    for solver in TESTED_SOLVERS {
        let mut app = App::new();
        let world = BuiltinWorldPlugin { solver, scene: Scene::flat() };
        app.add_plugins((TimePlugin, TransformPlugin, CarPlugin::in_schedule(Update), world)).insert_resource(Time::<
            Fixed,
        >::from_hz(
            60.0
        ));
        app.update();
        let car = spawn_car(&mut app, Transform::default());
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 0.5;
        let height = app.world().get::<Car>(car).unwrap().0.parts().centre_height;
        let mut last_position = 0.0;
        for (index, length) in frame_lengths().take(300).enumerate() {
            frame(&mut app, length);
            let drawn = -f64::from(transform_of(&app, car).translation.z);
            assert!(index < 2 || (drawn - last_position).abs() < 1e-3, "{}: {drawn} {last_position}", solver.name);
            let state = app.world().get::<CarMotion>(car).unwrap().state();
            // A car is drawn at the point on the ground below its centre of mass.
            last_position = state.position.x - f64::from((state.rotation * Vec3::Z * height).x);
        }
        assert!(last_position > 5.0, "{}: {last_position}", solver.name);
    }
}
