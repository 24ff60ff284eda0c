//! Cars that enter a running world, their slots and their reports.

use skidpad::core::state::saved::LoadError;
use skidpad::core::{
    CarError, CarId, CarStart, Controls, Frame, Scene, Simulation, SolverInfo, Vec3, state::Placement,
};

use crate::common::{Simplify, c5, on_rows, shipped};
use crate::hitch::rigs;

/// Returns every solver, mode and peer.
fn all() -> Vec<SolverInfo> {
    skidpad::solvers().into_iter().chain(skidpad::solver_variants()).collect()
}

fn start(name: &str, y: f64) -> CarStart {
    CarStart { model: shipped(name).model(), placement: Placement { y, speed: 10.0, ..Placement::default() } }
}

fn turning() -> Controls {
    Controls { throttle: 0.5, steer: 0.04, ..Controls::default() }
}

fn drive(world: &mut dyn Simulation, steps: usize) {
    (0..steps).for_each(|_| _ = world.step(&[turning(), turning()]));
}

/// A car that enters later drives as a car that is alone from the start, and the first car is not affected.
#[test]
fn a_car_enters_a_running_world() {
    for solver in all() {
        let build = |cars: &[CarStart]| (solver.build_world)(&Scene::flat(), cars, 1.0 / 120.0);
        let [mut both, mut first, mut second] = [
            build(&[start("corvette_c5", 0.0)]),
            build(&[start("corvette_c5", 0.0)]),
            build(&[start("truck_6x4", 20.0)]),
        ];
        drive(&mut *both, 60);
        drive(&mut *first, 60);
        assert_eq!(both.insert(&start("truck_6x4", 20.0)), CarId::first(1), "{}", solver.name);
        for world in [&mut both, &mut first, &mut second] {
            drive(&mut **world, 120);
        }
        assert_eq!((both.slot_count(), both.steps()), (2, 180), "{}", solver.name);
        // The cars are far apart, so that the order of contacts in Rapier's world does not change.
        for (alone, car) in [(&first, 0), (&second, 1)] {
            let apart = (alone.state(0).position - both.state(car).position).length();
            assert!(apart < 1e-9, "{}: car {car} is {apart} m elsewhere", solver.name);
            assert_eq!(alone.state(0).wheels.len(), both.state(car).wheels.len());
        }
    }
}

/// An inserted car reuses the slot of a removed car. Other cars keep their slots.
#[test]
fn slots_stay_their_cars() {
    for solver in all() {
        let mut world =
            (solver.build_world)(&Scene::flat(), &[start("corvette_c5", 0.0), start("truck_6x4", 20.0)], 1.0 / 60.0);
        drive(&mut *world, 10);
        world.remove(CarId::first(0)).expect("it is there");
        let next = world.insert(&start("bmw_320i_mf", 40.0));
        assert_eq!((next.slot(), next.generation()), (0, 1), "{}", solver.name);
        drive(&mut *world, 10);
        assert_eq!(world.slots().ids().collect::<Vec<_>>(), [next, CarId::first(1)], "{}", solver.name);
        assert_eq!(world.model(1).wheels().len(), 6, "{}", solver.name);
        let saved = world.save().expect("no hull touches anything");
        let state = world.state(0).clone();
        drive(&mut *world, 10);
        world.load(&saved).expect("the same cars");
        assert_eq!(world.state(0).to_bytes(), state.to_bytes(), "{}", solver.name);
    }
}

/// The identifier of a removed car and a slot that does not exist are errors in every operation.
#[test]
fn stale_identifiers_are_errors() {
    for solver in all() {
        let what = solver.name;
        let mut world = (solver.build_world)(&Scene::flat(), &[start("corvette_c5", 0.0)], 1.0 / 60.0);
        let (first, state) = (CarId::first(0), world.state(0).clone());
        let no_slot = CarError::NoSlot { slot: 7, slot_count: 1 };
        assert_eq!(world.set_state(7, &state), Err(no_slot.clone()), "{what}");
        assert_eq!(world.suspend(7), Err(no_slot.clone()), "{what}");
        assert_eq!(world.resume(7, &state), Err(no_slot.clone()), "{what}");
        assert_eq!(world.remove(CarId::first(7)), Err(no_slot), "{what}");
        world.suspend(0).expect("it is there");
        assert_eq!(world.set_state(0, &state), Err(CarError::Suspended { car: first }), "{what}");
        world.resume(0, &state).expect("it is there");
        world.remove(first).expect("it is there");
        assert_eq!(world.remove(first), Err(CarError::Removed { car: first }), "{what}");
        let empty = CarError::EmptySlot { slot: 0 };
        assert_eq!(world.set_state(0, &state), Err(empty.clone()), "{what}");
        assert_eq!(world.suspend(0), Err(empty.clone()), "{what}");
        assert_eq!(world.resume(0, &state), Err(empty), "{what}");
        let second = world.insert(&start("corvette_c5", 0.0));
        assert_eq!((second.slot(), second.generation()), (0, 1), "{what}");
        assert_eq!(world.remove(first), Err(CarError::Removed { car: first }), "{what}");
        assert_eq!(world.slots().find(second), Ok(0), "{what}");
        world.step(&[turning()]);
        assert!(!world.car(0).is_inactive && world.state(0).is_finite(), "{what}");
    }
}

/// A car that reuses a slot drives as in a new world, although the slot held cars with more wheels and with a trailer before. The trailer is
/// uncoupled.
#[test]
fn a_slot_remembers_nothing_of_the_car_that_left_it() {
    for solver in on_rows() {
        let what = solver.name;
        let build = |cars: &[CarStart]| (solver.build_world)(&Scene::flat(), cars, 1.0 / 120.0);
        let rig = rigs::shipped(&["toyota_4runner", "caravan"]);
        let mut world = rigs::train(&solver, &rig, &Scene::flat(), 10.0, 120.0);
        drive(&mut *world, 60);
        assert!(world.state(1).tow.is_some(), "{what}");
        world.remove(CarId::first(0)).expect("it is there");
        assert_eq!(world.state(1).tow, None, "{what}");
        drive(&mut *world, 10);
        world.insert(&start("truck_6x4", 50.0));
        drive(&mut *world, 60);
        world.remove(world.slots().id(0).expect("the truck")).expect("it is there");
        drive(&mut *world, 10);
        let last = world.insert(&start("corvette_c5", -50.0));
        assert_eq!((last.slot(), last.generation(), world.slot_count()), (0, 2, 2), "{what}");
        let mut alone = build(&[start("corvette_c5", -50.0)]);
        drive(&mut *world, 240);
        drive(&mut *alone, 240);
        assert_eq!(world.state(0).to_bytes(), alone.state(0).to_bytes(), "{what}");
    }
}

/// Loading a saved world restores cars that were removed after the save and removes cars that were inserted, unless a slot was reused.
#[test]
fn a_saved_world_has_its_slots() {
    for solver in all() {
        let what = solver.name;
        let starts = [start("corvette_c5", 0.0), start("corvette_c5", 20.0), start("truck_6x4", 40.0)];
        let mut world = (solver.build_world)(&Scene::flat(), &starts, 1.0 / 60.0);
        drive(&mut *world, 5);
        world.remove(CarId::first(1)).expect("it is there");
        let without = world.save().expect("no hull touches anything");
        let inserted = world.insert(&start("corvette_c5", 60.0));
        drive(&mut *world, 5);
        let (with, state) = (world.save().expect("no hull touches anything"), world.state(1).clone());
        world.remove(inserted).expect("it is there");
        world.load(&with).expect("nobody took its slot");
        assert_eq!((world.slots().id(1), world.state(1)), (Some(inserted), &state), "{what}");
        world.load(&without).expect("it is taken out");
        assert_eq!((world.slots().id(1), world.slot_count()), (None, 3), "{what}");
        assert_eq!(world.save().expect("no hull touches anything"), without, "{what}");
        assert_eq!(world.insert(&start("corvette_c5", 60.0)), inserted, "{what}: as it was the first time");
        world.remove(inserted).expect("it is there");
        world.insert(&start("corvette_c5", 60.0));
        let error = world.load(&with).expect_err("another car is there");
        assert_eq!(error, LoadError::Generation { slot: 1, found: 1, expected: 2 }, "{what}");
        let mut fresh = (solver.build_world)(&Scene::flat(), &starts, 1.0 / 60.0);
        fresh.load(&with).expect("cars of these models");
        assert_eq!(fresh.slots().id(1), Some(inserted), "{what}");
        assert_eq!(fresh.save().expect("no hull touches anything"), with, "{what}");
    }
}

/// The number of slots and the size of a saved world do not grow with the number of insertions and removals.
#[test]
fn cars_that_come_and_go_leave_nothing() {
    for solver in all() {
        let mut world = (solver.build_world)(&Scene::flat(), &[start("corvette_c5", 0.0)], 1.0 / 60.0);
        let inserted: Vec<CarId> = (1..4).map(|k| world.insert(&start("corvette_c5", 20.0 * f64::from(k)))).collect();
        let bytes = world.save().expect("no hull touches anything").len();
        let mut visitors = std::collections::VecDeque::from(inserted);
        for k in 0..300 {
            let oldest = visitors.pop_front().expect("three");
            world.remove(oldest).expect("it is there");
            visitors.push_back(world.insert(&start("corvette_c5", 20.0 * (1.0 + f64::from(k % 5)))));
            drive(&mut *world, 1);
        }
        assert_eq!((world.slot_count(), world.slots().ids().count()), (4, 4), "{}", solver.name);
        assert_eq!(world.save().expect("no hull touches anything").len(), bytes, "{}", solver.name);
    }
}

/// A fault of one car is reported for this car only.
#[test]
fn reports_are_each_cars_own() {
    for solver in on_rows() {
        let starts = [start("corvette_c5", 0.0), start("corvette_c5", 20.0)];
        let mut world = (solver.build_world)(&Scene::flat(), &starts, 1.0 / 60.0);
        drive(&mut *world, 2);
        let mut lost = world.state(1).clone();
        lost.velocity = Vec3::splat(f32::MAX);
        world.set_state(1, &lost).expect("it fits");
        let all = world.step(&[turning(), turning()]);
        let [first, second] = [0, 1].map(|car| world.car(car).report);
        assert!(!first.not_finite && second.not_finite && all.not_finite, "{}: {first:?} {second:?}", solver.name);
    }
}

/// A frame is read again into its own memory.
#[test]
fn frames_are_read_into_the_callers_memory() {
    let parts = shipped("tesla_model3_awd");
    let car = CarStart { model: parts.model(), placement: Placement::default() };
    for solver in all() {
        let mut world = (solver.build_world)(&Scene::flat(), std::slice::from_ref(&car), 1.0 / 60.0);
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

/// Worlds can step on another thread.
#[test]
fn worlds_move_between_threads() {
    for solver in all() {
        let mut world = (solver.build_world)(
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
