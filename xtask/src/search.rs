//! The whole search for faults by the relations of `tests/it/metamorphic`.

use crate::run::{Outcome, Steps, cargo, run};

/// Draws of a whole search.
pub const DRAWS: u64 = 10_000;

/// The part of a search that a run takes.
pub struct Asked {
    pub draws: u64,
    /// `i/n`: every n-th draw, from the i-th on.
    pub shard: String,
    pub seed: u64,
    /// Part of the names of the relations; empty for all.
    pub relation: String,
}

/// Draws and checks; each violation is printed with the command that repeats it.
pub fn search(steps: &mut Steps, asked: &Asked) {
    let remedy = "Run the command that a violation prints, find its cause, and add a test of that.";
    steps.step("search", remedy, || draw(asked));
}

fn draw(asked: &Asked) -> Outcome {
    let mut command = cargo("test --package skidpad --test it --quiet metamorphic::the_whole_search -- --nocapture");
    command.env("SEARCH_DRAWS", asked.draws.to_string()).env("SEARCH_SEED", asked.seed.to_string());
    command.env("SEARCH_SHARD", &asked.shard).env("SEARCH_RELATION", &asked.relation);
    run(command)
}
