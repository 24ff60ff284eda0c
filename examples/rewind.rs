//! Rewinds a car: stores a clone of its [`State`](skidpad::core::State), restores it and continues with identical bits.
//!
//! Replays, rollback after late packets and restarts of a section need nothing else.

use skidpad::core::{CarStart, Controls, Scene, Simulation, State, state::Placement};

/// Returns throttle, steering and braking that reach the friction limit of the tyres.
fn driver(step: u32) -> Controls {
    let t = step as f32 / 120.0;
    let steer = if t < 1.0 { 0.0 } else { 0.12 };
    let brake = if t < 3.0 { 0.0 } else { 0.8 };
    Controls { throttle: 0.5, brake, steer, ..Controls::default() }
}

fn steps(world: &mut dyn Simulation, range: std::ops::Range<u32>) -> State {
    for step in range {
        world.step(&[driver(step)]);
    }
    world.state(0).clone()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let placement = Placement { speed: 22.0, ..Placement::default() };
    let car = CarStart { model: skidpad::spec::load("corvette_c5")?.model, placement };
    for backend in skidpad::backends().iter().filter(|backend| !backend.comparison_only) {
        let mut world = (backend.build_world)(&Scene::flat(), std::slice::from_ref(&car), 1.0 / 120.0);
        let saved = steps(world.as_mut(), 0..240);
        let first = steps(world.as_mut(), 240..600);

        // Repeats the steps from 2 s on, in the same world and in a new world.
        world.set_state(0, &saved).expect("it fits");
        let again = steps(world.as_mut(), 240..600);
        let mut fresh = (backend.build_world)(&Scene::flat(), std::slice::from_ref(&car), 1.0 / 120.0);
        fresh.set_state(0, &saved).expect("it fits");
        let elsewhere = steps(fresh.as_mut(), 240..600);

        println!("{:<11} ends at {:.6} m", backend.name, first.position);
        if first != again || first != elsewhere {
            return Err(format!("{}: the replay differs: {:.6} m", backend.name, again.position).into());
        }
    }
    println!("every replay ended in the same bits");
    Ok(())
}
