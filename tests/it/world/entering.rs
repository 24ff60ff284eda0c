//! Cars that enter a world while it runs, and what each of them is told.

use skidpad::core::{Backend, BackendInfo, CarStart, Controls, Frame, Scene, Vec3, state::Placement};

use crate::common::{Simplify, c5, on_rows, shipped};

/// Every solver, mode and peer.
fn all() -> Vec<BackendInfo> {
    skidpad::backends().into_iter().chain(skidpad::modes()).collect()
}

fn start(name: &str, y: f64) -> CarStart {
    CarStart { model: shipped(name).model(), placement: Placement { y, speed: 10.0, ..Placement::default() } }
}

fn turning() -> Controls {
    Controls { throttle: 0.5, steer: 0.04, ..Controls::default() }
}

fn drive(world: &mut dyn Backend, steps: usize) {
    (0..steps).for_each(|_| _ = world.step(&[turning(), turning()]));
}

/// A car that enters later does what one that was alone from the start does, and the first one does not notice.
#[test]
fn a_car_enters_a_running_world() {
    for solver in all() {
        let build = |cars: &[CarStart]| (solver.build)(&Scene::flat(), cars, 1.0 / 120.0);
        let [mut both, mut first, mut second] = [
            build(&[start("corvette_c5", 0.0)]),
            build(&[start("corvette_c5", 0.0)]),
            build(&[start("truck_6x4", 20.0)]),
        ];
        drive(&mut *both, 60);
        drive(&mut *first, 60);
        assert_eq!(both.insert(&start("truck_6x4", 20.0)), 1, "{}", solver.name);
        for world in [&mut both, &mut first, &mut second] {
            drive(&mut **world, 120);
        }
        assert_eq!((both.cars(), both.steps()), (2, 180), "{}", solver.name);
        // Far apart, so that no order of contacts in Rapier's world is another one.
        for (alone, car) in [(&first, 0), (&second, 1)] {
            let apart = (alone.state(0).position - both.state(car).position).length();
            assert!(apart < 1e-9, "{}: car {car} is {apart} m elsewhere", solver.name);
            assert_eq!(alone.state(0).wheels.len(), both.state(car).wheels.len());
        }
    }
}

/// Whoever has left keeps its number, and others enter beside it.
#[test]
fn numbers_stay_their_cars() {
    for solver in all() {
        let mut world =
            (solver.build)(&Scene::flat(), &[start("corvette_c5", 0.0), start("truck_6x4", 20.0)], 1.0 / 60.0);
        drive(&mut *world, 10);
        world.remove(0);
        assert_eq!(world.insert(&start("bmw_320i_mf", 40.0)), 2);
        drive(&mut *world, 10);
        assert!(world.is_removed(0) && !world.is_removed(1) && !world.is_removed(2), "{}", solver.name);
        assert_eq!(world.model(1).wheels().len(), 6, "{}", solver.name);
        let saved = world.save().expect("no hull touches anything");
        let state = world.state(2).clone();
        drive(&mut *world, 10);
        world.load(&saved).expect("the same cars");
        assert_eq!(world.state(2).to_bytes(), state.to_bytes(), "{}", solver.name);
    }
}

/// What went wrong with one car is told of that car.
#[test]
fn reports_are_each_cars_own() {
    for solver in on_rows() {
        let starts = [start("corvette_c5", 0.0), start("corvette_c5", 20.0)];
        let mut world = (solver.build)(&Scene::flat(), &starts, 1.0 / 60.0);
        drive(&mut *world, 2);
        let mut lost = world.state(1).clone();
        lost.velocity = Vec3::splat(f32::MAX);
        assert!(world.set_state(1, &lost));
        let all = world.step(&[turning(), turning()]);
        let [first, second] = [0, 1].map(|car| world.car(car).report);
        assert!(!first.not_finite && second.not_finite && all.not_finite, "{}: {first:?} {second:?}", solver.name);
    }
}

/// A frame is read again into the memory it has.
#[test]
fn frames_are_read_into_the_callers_memory() {
    let parts = shipped("tesla_model3_awd");
    let car = CarStart { model: parts.model(), placement: Placement::default() };
    for solver in all() {
        let mut world = (solver.build)(&Scene::flat(), std::slice::from_ref(&car), 1.0 / 60.0);
        let mut frame = Frame::default();
        world.step(&[turning()]);
        world.frame_into(0, &mut frame);
        let places = (frame.wheels.as_ptr(), frame.shafts.as_ptr(), frame.assist_log.as_ptr());
        world.step(&[turning()]);
        world.frame_into(0, &mut frame);
        assert_eq!(
            (frame.wheels.as_ptr(), frame.shafts.as_ptr(), frame.assist_log.as_ptr()),
            places,
            "{}",
            solver.name
        );
        assert_eq!(frame, world.frame(0), "{}", solver.name);
    }
}

/// Worlds may step on a thread of their own.
#[test]
fn worlds_move_between_threads() {
    for solver in all() {
        let mut world = (solver.build)(
            &Scene::flat(),
            &[CarStart { model: c5().model(), placement: Placement::default() }],
            1.0 / 60.0,
        );
        let moved = std::thread::spawn(move || {
            drive(&mut *world, 10);
            world
        });
        assert_eq!(moved.join().expect("no step panics").steps(), 10, "{}", solver.name);
    }
}
