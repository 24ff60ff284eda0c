//! Chores of the workspace: `cargo xtask ci | check | tidy | determinism | agreement | bench | exports | fuzz |
//! linearity | mutants | package | planted | python | python-extras | search | semver | soak | targets`.
//!
//! Every chore is a list of steps. A step prints its commands, its time and, if it fails, one sentence with the remedy.
//! All steps run even if one fails; the last line counts them. Missing tools are queried first; checks that need them
//! are left out.
#![forbid(unsafe_code)]

mod bench;
mod builds;
mod checks;
mod determinism;
mod fuzz;
mod mutants;
mod package;
mod planted_faults;
mod prerequisites;
mod python;
mod run;
mod search;
mod soak;
mod targets;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use run::Steps;

/// Command line of `cargo xtask`.
#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the skidpad workspace")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

/// Chores with their options.
#[derive(Subcommand)]
enum Chore {
    /// Runs all checks that a merge requires
    Ci,
    /// Runs format, lints, tidy and the workspace's tests, for use before a push
    Check,
    /// Checks rules that no compiler checks: dependency arrows, size limits, module docs, forbidden words
    Tidy,
    /// Checks that results are bit-identical in debug and release, and on 1 and 2 threads
    Determinism,
    /// Simulates every shipped vehicle and manoeuvre on every solver and writes docs/agreement*.md
    Agreement,
    /// Times each step with criterion and counts its instructions with valgrind
    Bench {
        /// Only count instructions
        #[arg(long)]
        instructions_only: bool,
        /// Include Bullet itself; needs the installed libbullet and a C++ compiler
        #[arg(long)]
        libbullet: bool,
    },
    /// Lints and tests the telemetry files that are optional features, Parquet and MCAP
    Exports,
    /// Runs the fuzz targets; needs a nightly compiler and a C++ compiler
    Fuzz {
        /// Seconds of each target
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Only readers whose names contain this
        #[arg(long, default_value = "")]
        reader: String,
    },
    /// Prints the time and the memory of every reader on its worst known inputs, from 1 kB to 10 MB
    Linearity {
        /// Only readers whose names contain this
        #[arg(long, default_value = "")]
        reader: String,
    },
    /// Builds every package from its packaged files alone
    Package,
    /// Builds the Python package in a virtual environment and runs its tests
    Python,
    /// Runs the tests of the Python package with Ray and JAX, and with the version of Gymnasium that RLlib requires
    PythonExtras,
    /// Draws cars, grounds, manoeuvres and controls at random and checks the relations of tests/it/metamorphic
    Search {
        /// Draws of all shards together
        #[arg(long, default_value_t = search::DEFAULT_DRAWS)]
        draws: u64,
        /// Share of the draws for this run, `i/n`: every n-th draw from the i-th on, counted from 0
        #[arg(long, default_value = "0/1")]
        shard: String,
        /// Seed of the first draw
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Only relations whose names contain this
        #[arg(long, default_value = "")]
        relation: String,
    },
    /// Plants known faults one at a time and prints which relations of the search find them; takes half an hour
    Planted,
    /// Simulates long runs in which cars are inserted, removed, saved, loaded and collide; prints time and memory of
    /// each part
    Soak {
        /// Car-steps of each solver
        #[arg(long, default_value_t = soak::DEFAULT_CAR_STEPS)]
        car_steps: u64,
        /// Number of cars that are inserted into a world of each solver and removed again
        #[arg(long, default_value_t = soak::DEFAULT_VISITORS)]
        visitors: u64,
    },
    /// Checks that results are bit-identical on other processors: aarch64 under QEMU, 32-bit x86
    Targets,
    /// Checks public items against a revision with cargo-semver-checks
    Semver {
        /// Revision to compare with
        #[arg(long)]
        baseline: String,
    },
    /// Mutates the code of the step at sampled places, one at a time, and counts the mutants that unit tests and golden
    /// digests catch; takes half an hour
    Mutants {
        /// Sample of the mutants, `k/n`: every n-th mutant from the k-th on
        #[arg(long, default_value = mutants::DEFAULT_SAMPLE)]
        sample: String,
    },
}

/// Runs the chore of the command line and prints the summary. Returns the exit code for failure if a step failed.
fn main() -> ExitCode {
    let mut steps = Steps::default();
    match Arguments::parse().chore {
        Chore::Ci => checks::ci(&mut steps),
        Chore::Check => checks::check(&mut steps),
        Chore::Tidy => checks::tidy(&mut steps),
        // `in_release`: includes release builds.
        Chore::Determinism => checks::determinism(&mut steps, true),
        Chore::Agreement => checks::agreement(&mut steps),
        Chore::Bench { instructions_only, libbullet } => bench::bench(&mut steps, instructions_only, libbullet),
        Chore::Fuzz { seconds, reader } => fuzz::fuzz(&mut steps, &reader, seconds),
        Chore::Linearity { reader } => fuzz::linearity(&mut steps, &reader),
        Chore::Package => checks::package(&mut steps),
        Chore::Python => checks::python(&mut steps),
        Chore::Exports => checks::exports(&mut steps),
        Chore::PythonExtras => checks::python_extras(&mut steps),
        Chore::Search { draws, shard, seed, relation } => {
            let options = search::SearchOptions { draws, shard, seed, relation };
            search::search(&mut steps, &options);
        }
        Chore::Soak { car_steps, visitors } => soak::soak(&mut steps, car_steps, visitors),
        Chore::Targets => targets::targets(&mut steps),
        Chore::Planted => planted_faults::planted(&mut steps),
        Chore::Semver { baseline } => checks::semver(&mut steps, &baseline),
        Chore::Mutants { sample } => mutants::mutants(&mut steps, &sample),
    }
    steps.finish()
}
