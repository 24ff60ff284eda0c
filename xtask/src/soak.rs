//! Soak test: long runs of `tests/it/world/soak.rs`.

use crate::run::{Outcome, Steps, cargo, run};

/// Default number of car-steps of each solver.
pub const DEFAULT_CAR_STEPS: u64 = 10_000_000;

/// Default number of cars that are inserted into the world of each solver and removed again.
pub const DEFAULT_VISITORS: u64 = 100_000;

/// Runs every solver and mode for `car_steps` car-steps (steps times cars) in a world whose cars change, and inserts
/// and removes `visitors` cars. Prints time and memory. The step fails if the test fails.
pub fn soak(steps: &mut Steps, car_steps: u64, visitors: u64) {
    let remedy = "Memory grows: run the test with fewer kinds of changes to find the cause.";
    steps.step("soak", remedy, || run_soak(car_steps, visitors));
}

/// Runs the soak test on one thread, with its options in environment variables.
fn run_soak(car_steps: u64, visitors: u64) -> Outcome {
    let mut command = cargo("test --package skidpad --test it --quiet world::soak -- --nocapture --test-threads 1");
    command.env("SOAK_CAR_STEPS", car_steps.to_string()).env("SOAK_VISITORS", visitors.to_string());
    run(command)
}
