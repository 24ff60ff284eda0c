//! Rewinds a user's Rapier world when inputs arrive late: stores snapshots, restores one and repeats the steps.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use skidpad::core::{CarStart, Controls, Scene, state::Placement};
use skidpad::rapier::rapier3d::prelude::*;
use skidpad::rapier::{RapierCars, WorldSnapshot};

/// Delay of the inputs, steps.
const INPUT_DELAY_STEPS: usize = 10;
const STEP_COUNT: usize = 600;

fn step(world: &mut PhysicsWorld, cars: &mut RapierCars, controls: &Controls) {
    cars.before_step(&mut *world, std::slice::from_ref(controls));
    world.step();
    cars.after_step(world);
}

/// Returns the true controls of `step`, which arrive [`INPUT_DELAY_STEPS`] steps later.
fn true_controls(step: usize) -> Controls {
    Controls { throttle: 0.5, steer: [0.03, -0.03][step / 90 % 2], ..Controls::default() }
}

fn yard() -> Result<(PhysicsWorld, RapierCars), Box<dyn std::error::Error>> {
    let mut world = PhysicsWorld { gravity: Vector::new(0.0, 0.0, -9.81), ..PhysicsWorld::default() };
    world.integration_parameters.dt = 1.0 / 60.0;
    world.insert_collider(ColliderBuilder::cuboid(500.0, 500.0, 1.0).translation(Vector::new(0.0, 0.0, -1.0)), None);
    let crate_ahead = RigidBodyBuilder::dynamic().translation(Vector::new(25.0, 0.0, 0.3));
    world.insert(crate_ahead, ColliderBuilder::cuboid(0.3, 0.45, 0.3).density(20.0));
    let placement = Placement { speed: 15.0, ..Placement::default() };
    let start = CarStart { model: skidpad::spec::load("corvette_c5")?.model, placement };
    let cars = RapierCars::new(&mut world, &Scene::flat(), &[start]);
    Ok((world, cars))
}

/// Takes `steps` with the controls of `inputs`, and stores in `past` the snapshot before each step.
fn replay(
    (world, cars): &mut (PhysicsWorld, RapierCars),
    past: &mut VecDeque<WorldSnapshot>,
    steps: std::ops::Range<usize>,
    inputs: impl Fn(usize) -> Controls,
) {
    for (moment, now) in past.iter_mut().zip(steps) {
        moment.overwrite(world, cars);
        step(world, cars, &inputs(now));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut here, mut there) = (yard()?, yard()?);
    let mut past: VecDeque<_> = (0..INPUT_DELAY_STEPS).map(|_| WorldSnapshot::new(&here.0, &here.1)).collect();
    let (mut rewinds, mut rewinding) = (0, Duration::ZERO);
    for now in INPUT_DELAY_STEPS..STEP_COUNT {
        // The controls of this step have arrived. Later steps were predicted with the controls before them.
        let known = now - INPUT_DELAY_STEPS;
        if now == INPUT_DELAY_STEPS || true_controls(known) != true_controls(known - 1) {
            let started = Instant::now();
            past[0].restore(&mut here.0, &mut here.1);
            replay(&mut here, &mut past, known..now, |_| true_controls(known));
            (rewinds, rewinding) = (rewinds + 1, rewinding + started.elapsed());
        }
        past.rotate_left(1);
        past[INPUT_DELAY_STEPS - 1].overwrite(&here.0, &here.1);
        step(&mut here.0, &mut here.1, &true_controls(known));
    }
    // The last controls have arrived.
    past[0].restore(&mut here.0, &mut here.1);
    replay(&mut here, &mut past, STEP_COUNT - INPUT_DELAY_STEPS..STEP_COUNT, true_controls);
    (0..STEP_COUNT).for_each(|now| step(&mut there.0, &mut there.1, &true_controls(now)));

    let [late, in_time] = [&here, &there].map(|(_, cars)| cars.vehicles()[0].state());
    println!("inputs {INPUT_DELAY_STEPS} steps late: ends at {}, in time at {}", late.position, in_time.position);
    println!("{rewinds} rewinds by {INPUT_DELAY_STEPS} steps took {:?} each", rewinding / rewinds);
    if late != in_time {
        return Err("a rewound world must end where it would have been, to the bit".into());
    }
    Ok(())
}
