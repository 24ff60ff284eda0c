//! Steps 64 cars and ends, for `cargo xtask bench` to count the instructions under valgrind.
//!
//! `instructions BACKEND SCENARIO STEPS`, where a scenario is `plane` (straight on) or `step-steer`.

#[path = "solvers/shared.rs"]
mod shared;

use skidpad::core::Controls;

/// Cars per world, as in the published counts.
const CARS: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [backend, scenario, steps] = arguments.as_slice() else {
        println!("instructions are counted by `cargo xtask bench`");
        return Ok(());
    };
    let backend = skidpad::backend(backend).ok_or_else(|| format!("there is no backend `{backend}`"))?;
    let driver: fn(u32) -> Controls = match scenario.as_str() {
        "plane" => |_| Controls { throttle: 0.2, ..Controls::default() },
        "step-steer" => shared::step_steer,
        other => return Err(format!("there is no scenario `{other}`").into()),
    };
    let mut world = shared::world(&backend, CARS);
    let mut controls = vec![driver(0); CARS];
    for step in 0..steps.parse()? {
        // Only when they change, so that the solver's work alone is counted.
        if driver(step) != controls[0] {
            controls.fill(driver(step));
        }
        world.step(&controls);
    }
    let frame = world.frame(CARS - 1);
    println!("{} {scenario} {steps}: {:.3} m, {:.4} rad/s", backend.name, frame.x_m, frame.yaw_rate_radps);
    Ok(())
}
