//! Worlds that run for long, by `tests/it/world/soak.rs`.

use crate::run::{Outcome, Steps, cargo, run};

/// Car-steps of each solver.
pub const CAR_STEPS: u64 = 10_000_000;

/// Cars that enter and leave a world of each solver.
pub const VISITORS: u64 = 100_000;

/// Drives so many car-steps on every solver and mode while cars enter, leave, collide, are saved and loaded, and lets so many visitors enter
/// and leave; prints time and memory.
pub fn soak(steps: &mut Steps, car_steps: u64, visitors: u64) {
    let remedy = "Find what keeps memory: run the test with fewer kinds of changes.";
    steps.step("soak", remedy, || drive(car_steps, visitors));
}

fn drive(car_steps: u64, visitors: u64) -> Outcome {
    let mut command = cargo("test --package skidpad --test it --quiet world::soak -- --nocapture --test-threads 1");
    command.env("SOAK_CAR_STEPS", car_steps.to_string()).env("SOAK_VISITORS", visitors.to_string());
    run(command)
}
