//! Worlds with typed handles of cars, and solvers by name.

use std::sync::Arc;

use skidpad::core::{CarError, CarStart};
use skidpad::prelude::*;

use crate::common::{Simplify, shipped};

const STEP_S: f32 = 1.0 / 60.0;

fn placement(y: f64) -> Placement {
    Placement { y, speed: 15.0, ..Placement::default() }
}

fn model() -> Arc<Model> {
    shipped("corvette_c5").model()
}

#[test]
fn names_of_solvers_are_unique_and_parse() {
    for solver in Solver::ALL {
        assert_eq!(solver.name().parse(), Ok(*solver));
        assert_eq!(solver.to_string(), solver.name());
    }
    let own = skidpad::solvers().len() + skidpad::solver_variants().len();
    assert_eq!(Solver::ALL.len(), own);
    let error = "impulse\u{1b}[2J".parse::<Solver>().expect_err("no such solver").to_string();
    assert!(error.contains("constraint-unsprung") && !error.contains('\u{1b}'), "{error}");
}

/// The world adds handles only: a car ends in the bits of a simulation that is given all cars at the start.
#[test]
fn spawned_cars_move_as_those_given_at_the_start() {
    for solver in Solver::ALL.iter().filter(|solver| !solver.info().comparison_only) {
        let starts = [0.0, 8.0].map(|y| CarStart { model: model(), placement: placement(y) });
        let mut plain = (solver.info().build_world)(&Scene::flat(), &starts, STEP_S);
        let mut world = World::new(*solver, &Scene::flat(), STEP_S);
        let cars = [0.0, 8.0].map(|y| world.spawn(&model(), placement(y)));
        assert_eq!(world.cars().collect::<Vec<_>>(), cars);
        for _ in 0..90 {
            let controls = [0.05, -0.03].map(|steer| Controls { steer, throttle: 0.3, ..Controls::default() });
            for (car, controls) in cars.iter().zip(&controls) {
                *world.controls_mut(*car).expect("it is there") = controls.clone();
            }
            assert_eq!(world.step(), plain.step(&controls), "{solver}");
        }
        for (slot, car) in cars.iter().enumerate() {
            assert_eq!(world.car(*car).expect("it is there").state, plain.state(slot), "{solver}");
            assert_eq!(world.frame(*car).expect("it is there"), plain.frame(slot), "{solver}");
        }
        assert_eq!((world.time(), world.dt()), (plain.time(), STEP_S), "{solver}");
    }
}

/// A handle never reaches the car that reuses the slot, and a new car starts with neutral controls.
#[test]
fn stale_handles_are_errors() {
    for solver in Solver::ALL {
        let mut world = World::new(*solver, &Scene::flat(), STEP_S);
        let first = world.spawn(&model(), placement(0.0));
        world.controls_mut(first).expect("it is there").throttle = 1.0;
        world.despawn(first).expect("it is there");
        let second = world.spawn(&model(), placement(0.0));
        assert_eq!(second.slot(), first.slot(), "{solver}");
        assert_eq!(world.controls_mut(second).expect("it is there").throttle, 0.0, "{solver}");

        let stale = CarError::Removed { car: first };
        let state = world.car(second).expect("it is there").state.clone();
        assert_eq!(world.controls_mut(first).err(), Some(stale.clone()), "{solver}");
        assert_eq!(world.car(first).err(), Some(stale.clone()), "{solver}");
        assert_eq!(world.frame(first).err(), Some(stale.clone()), "{solver}");
        assert_eq!(world.set_state(first, &state).err(), Some(stale.clone()), "{solver}");
        assert_eq!(world.despawn(first), Err(stale), "{solver}");
        assert_eq!(world.cars().collect::<Vec<_>>(), [second], "{solver}");
        assert_eq!(world.set_state(second, &state), Ok(()), "{solver}");
    }
}

/// Loading brings back the car that was despawned after the save, with its handle.
#[test]
fn saved_worlds_keep_their_handles() {
    for solver in Solver::ALL {
        let mut world = World::new(*solver, &Scene::flat(), STEP_S);
        let cars = [0.0, 8.0].map(|y| world.spawn(&model(), placement(y)));
        let saved = world.save().expect("it can be saved");
        world.despawn(cars[1]).expect("it is there");
        world.step();
        world.load(&saved).expect("it fits");
        assert_eq!(world.cars().collect::<Vec<_>>(), cars);
        assert_eq!(world.time(), 0.0);
        assert!(world.controls_mut(cars[1]).is_ok());
    }
}
