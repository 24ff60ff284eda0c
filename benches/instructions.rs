//! Steps 64 cars and ends, for `cargo xtask bench` to count the instructions under valgrind.
//!
//! `instructions BACKEND SCENARIO STEPS`, where a scenario is `plane` (straight on), `field` or `mesh` (on waves), `discs-` before one
//! of these (wheels that feel with discs), `step-steer`, `alone` (one car instead of 64) or `rollback` (one car; each step stands for
//! a rewind by ten steps, which are saved and taken again).

#[path = "solvers/shared.rs"]
mod shared;

#[path = "solvers/ground.rs"]
mod ground;

use skidpad::core::{BackendInfo, Controls};

/// Cars per world, as in the published counts.
const CARS: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [backend, scenario, steps] = arguments.as_slice() else {
        println!("instructions are counted by `cargo xtask bench`");
        return Ok(());
    };
    let backend = shared::solvers()
        .into_iter()
        .find(|solver| solver.name == backend)
        .ok_or_else(|| format!("there is no backend `{backend}`"))?;
    if scenario == "rollback" {
        return rollback(&backend, steps.parse()?);
    }
    let cars = if scenario == "alone" { 1 } else { CARS };
    let (discs, on) = scenario.strip_prefix("discs-").map_or((false, scenario.as_str()), |ground| (true, ground));
    let driver: fn(u32) -> Controls = match on {
        "plane" | "field" | "mesh" | "alone" => |_| Controls { throttle: 0.2, ..Controls::default() },
        "step-steer" => shared::step_steer,
        other => return Err(format!("there is no scenario `{other}`").into()),
    };
    let mut world = ground::world(&backend, cars, on, discs);
    let mut controls = vec![driver(0); cars];
    for step in 0..steps.parse()? {
        // Only when they change, so that the solver's work alone is counted.
        if driver(step) != controls[0] {
            controls.fill(driver(step));
        }
        world.step(&controls);
    }
    let frame = world.frame(cars - 1);
    println!("{} {scenario} {steps}: {:.3} m, {:.4} rad/s", backend.name, frame.x_m, frame.yaw_rate_radps);
    Ok(())
}

/// Rewinds one car by ten steps, again and again.
fn rollback(backend: &BackendInfo, rewinds: u32) -> Result<(), Box<dyn std::error::Error>> {
    let mut world = shared::world(backend, 1);
    let controls = [Controls { throttle: 0.2, ..Controls::default() }];
    for _ in 0..shared::RATE / 2 {
        world.step(&controls);
    }
    let mut past = vec![world.save()?; 10];
    for _ in 0..rewinds {
        world.load(&past[0])?;
        for before in &mut past {
            world.save_into(before)?;
            world.step(&controls);
        }
    }
    println!("{} rollback {rewinds}: {:.3} m", backend.name, world.frame(0).x_m);
    Ok(())
}
