//! Rewinds a car: stores a clone of its [`State`](skidpad::core::State), restores it and continues with identical bits.
//!
//! Replays, rollback after late packets and restarts of a section need nothing else.

use skidpad::core::CarError;
use skidpad::prelude::*;

/// Returns throttle, steering and braking that reach the friction limit of the tyres.
fn driver_controls(step: u32) -> Controls {
    let t = step as f32 / 120.0;
    let steer = if t < 1.0 { 0.0 } else { 0.12 };
    let brake = if t < 3.0 { 0.0 } else { 0.8 };
    Controls { throttle: 0.5, brake, steer, ..Controls::default() }
}

fn run_steps(world: &mut World, car: CarId, step_range: std::ops::Range<u32>) -> Result<State, CarError> {
    for step in step_range {
        *world.controls_mut(car)? = driver_controls(step);
        world.step();
    }
    Ok(world.car(car)?.state.clone())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let placement = Placement { speed: 22.0, ..Placement::default() };
    let model = skidpad::spec::load("corvette_c5")?.model;
    for solver in Solver::ALL.iter().filter(|solver| !solver.info().comparison_only) {
        let mut world = World::new(*solver, &Scene::flat(), 1.0 / 120.0);
        let car = world.spawn(&model, placement);
        let saved_state = run_steps(&mut world, car, 0..240)?;
        let first_end = run_steps(&mut world, car, 240..600)?;

        // Repeats the steps from 2 s on, in the same world and in a new world.
        world.set_state(car, &saved_state)?;
        let repeated_end = run_steps(&mut world, car, 240..600)?;
        let mut new_world = World::new(*solver, &Scene::flat(), 1.0 / 120.0);
        let new_car = new_world.spawn(&model, placement);
        new_world.set_state(new_car, &saved_state)?;
        let new_world_end = run_steps(&mut new_world, new_car, 240..600)?;

        println!("{solver:<11} ends at {:.6} m", first_end.position);
        if first_end != repeated_end || first_end != new_world_end {
            return Err(format!("{solver}: the replay differs: {:.6} m", repeated_end.position).into());
        }
    }
    println!("every replay ended in the same bits");
    Ok(())
}
