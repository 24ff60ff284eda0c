//! Rewinds a user's Rapier world when inputs arrive late: stores snapshots, restores one and repeats the steps.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use skidpad::core::{CarStart, Controls, Scene, state::Placement};
use skidpad::rapier::rapier3d::prelude::*;
use skidpad::rapier::{RapierCars, WorldSnapshot};

/// Delay of the inputs, steps.
const INPUT_DELAY_STEPS: usize = 10;
const STEP_COUNT: usize = 600;

fn step_world(world: &mut PhysicsWorld, cars: &mut RapierCars, controls: &Controls) {
    cars.before_step(&mut *world, std::slice::from_ref(controls));
    world.step();
    cars.after_step(world);
}

/// Returns the true controls of `step`, which arrive [`INPUT_DELAY_STEPS`] steps later.
fn true_controls(step: usize) -> Controls {
    Controls { throttle: 0.5, steer: [0.03, -0.03][step / 90 % 2], ..Controls::default() }
}

fn build_yard() -> Result<(PhysicsWorld, RapierCars), Box<dyn std::error::Error>> {
    let mut world = PhysicsWorld { gravity: Vector::new(0.0, 0.0, -9.81), ..PhysicsWorld::default() };
    world.integration_parameters.dt = 1.0 / 60.0;
    world.insert_collider(ColliderBuilder::cuboid(500.0, 500.0, 1.0).translation(Vector::new(0.0, 0.0, -1.0)), None);
    let crate_body = RigidBodyBuilder::dynamic().translation(Vector::new(25.0, 0.0, 0.3));
    world.insert(crate_body, ColliderBuilder::cuboid(0.3, 0.45, 0.3).density(20.0));
    let placement = Placement { speed: 15.0, ..Placement::default() };
    let car_start = CarStart { model: skidpad::spec::load("corvette_c5")?.model, placement };
    let cars = RapierCars::new(&mut world, &Scene::flat(), &[car_start]);
    Ok((world, cars))
}

/// Takes `steps` with the controls of `controls_of`, and stores in `snapshots` the snapshot before each step.
fn replay(
    (world, cars): &mut (PhysicsWorld, RapierCars),
    snapshots: &mut VecDeque<WorldSnapshot>,
    steps: std::ops::Range<usize>,
    controls_of: impl Fn(usize) -> Controls,
) {
    for (snapshot, step_number) in snapshots.iter_mut().zip(steps) {
        snapshot.overwrite(world, cars);
        step_world(world, cars, &controls_of(step_number));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut late, mut reference) = (build_yard()?, build_yard()?);
    let mut snapshots: VecDeque<_> = (0..INPUT_DELAY_STEPS).map(|_| WorldSnapshot::new(&late.0, &late.1)).collect();
    let (mut rewind_count, mut rewind_time) = (0, Duration::ZERO);
    for step_number in INPUT_DELAY_STEPS..STEP_COUNT {
        // The controls of this step have arrived. Later steps were predicted with the controls before them.
        let arrived_step = step_number - INPUT_DELAY_STEPS;
        if step_number == INPUT_DELAY_STEPS || true_controls(arrived_step) != true_controls(arrived_step - 1) {
            let start_time = Instant::now();
            snapshots[0].restore(&mut late.0, &mut late.1);
            replay(&mut late, &mut snapshots, arrived_step..step_number, |_| true_controls(arrived_step));
            (rewind_count, rewind_time) = (rewind_count + 1, rewind_time + start_time.elapsed());
        }
        snapshots.rotate_left(1);
        snapshots[INPUT_DELAY_STEPS - 1].overwrite(&late.0, &late.1);
        step_world(&mut late.0, &mut late.1, &true_controls(arrived_step));
    }
    // The last controls have arrived.
    snapshots[0].restore(&mut late.0, &mut late.1);
    replay(&mut late, &mut snapshots, STEP_COUNT - INPUT_DELAY_STEPS..STEP_COUNT, true_controls);
    (0..STEP_COUNT).for_each(|step_number| step_world(&mut reference.0, &mut reference.1, &true_controls(step_number)));

    let [end, expected] = [&late, &reference].map(|(_, cars)| cars.vehicles()[0].state());
    println!("inputs {INPUT_DELAY_STEPS} steps late: ends at {}, in time at {}", end.position, expected.position);
    println!("{rewind_count} rewinds by {INPUT_DELAY_STEPS} steps took {:?} each", rewind_time / rewind_count);
    if end != expected {
        return Err("a rewound world must end where it would have been, to the bit".into());
    }
    Ok(())
}
