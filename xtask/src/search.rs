//! Randomised search for faults with the relations of `tests/it/metamorphic`.

use crate::run::{Outcome, Steps, cargo, run};

/// Default number of draws of a search.
pub const DEFAULT_DRAWS: u64 = 10_000;

/// Options of a search.
pub struct SearchOptions {
    /// Number of draws of all shards together.
    pub draws: u64,
    /// Share of the draws, `i/n`: every n-th draw, from the i-th on.
    pub shard: String,
    /// Seed of the first draw.
    pub seed: u64,
    /// Text that the names of the checked relations contain; empty for all relations.
    pub relation: String,
}

/// Runs the search, in which random cars, grounds and controls are drawn and relations between their runs are checked.
/// Prints each violation with the command that repeats it. The step fails if there is a violation.
pub fn search(steps: &mut Steps, options: &SearchOptions) {
    let remedy = "Run the command that a violation prints, find the cause, and add a test for the cause.";
    steps.step("search", remedy, || run_draws(options));
}

/// Runs the test of the search with its options in environment variables.
fn run_draws(options: &SearchOptions) -> Outcome {
    let mut command = cargo("test --package skidpad --test it --quiet metamorphic::the_whole_search -- --nocapture");
    command.env("SEARCH_DRAWS", options.draws.to_string()).env("SEARCH_SEED", options.seed.to_string());
    command.env("SEARCH_SHARD", &options.shard).env("SEARCH_RELATION", &options.relation);
    run(command)
}
