//! Chores of the workspace: `cargo xtask ci | check | tidy | determinism | agreement | bench | fuzz | linearity | mutants | package | planted | search | semver | soak |
//! targets`.
//!
//! Every chore is a list of steps. A step prints what it runs, how long it took and, when it fails, one sentence that
//! says what to do. All steps run even when one fails; the last line counts them. What the machine lacks for is looked for first, and left out.
#![forbid(unsafe_code)]

mod bench;
mod builds;
mod checks;
mod determinism;
mod fuzz;
mod mutants;
mod package;
mod planted;
mod prerequisites;
mod run;
mod search;
mod soak;
mod targets;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use run::Steps;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the skidpad workspace")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything: what a merge needs
    Ci,
    /// Format, lints, tidy and the workspace's tests: before a push
    Check,
    /// Rules no compiler knows: dependency arrows, budgets, module docs, forbidden words
    Tidy,
    /// Equal bits in debug and release and for 1 and 2 threads
    Determinism,
    /// Drives every shipped vehicle and manoeuvre on every solver and writes docs/agreement*.md
    Agreement,
    /// Times each step with criterion and counts its instructions with valgrind
    Bench {
        /// Only count instructions
        #[arg(long)]
        instructions_only: bool,
        /// Bullet itself too; needs the installed libbullet and a C++ compiler
        #[arg(long)]
        libbullet: bool,
    },
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
    /// Every package is built from its own files alone
    Package,
    /// Draws cars, grounds, manoeuvres and controls at random and requires the relations of tests/it/metamorphic
    Search {
        /// Draws of all shards together
        #[arg(long, default_value_t = search::DRAWS)]
        draws: u64,
        /// The draws that this run takes: every n-th, from the i-th on, counted from 0: `i/n`
        #[arg(long, default_value = "0/1")]
        shard: String,
        /// The first draw's seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Only relations whose names contain this
        #[arg(long, default_value = "")]
        relation: String,
    },
    /// Plants faults that the project once had, one at a time, and prints which relations of the search find them; takes half an hour
    Planted,
    /// Drives for long while cars enter, leave, collide, are saved and loaded; prints time and memory of each part
    Soak {
        /// Car-steps of each solver
        #[arg(long, default_value_t = soak::CAR_STEPS)]
        car_steps: u64,
        /// Cars that enter and leave a world of each solver
        #[arg(long, default_value_t = soak::VISITORS)]
        visitors: u64,
    },
    /// Equal bits on other processors: aarch64 under QEMU, 32-bit x86
    Targets,
    /// Public items that changed since a revision, by cargo-semver-checks
    Semver {
        /// The revision
        #[arg(long)]
        baseline: String,
    },
    /// Changes the step a little, one sampled place after the other, and counts what unit tests and golden digests notice; takes half
    /// an hour
    Mutants {
        /// Every n-th of all mutants, from the k-th on: `k/n`
        #[arg(long, default_value = mutants::SAMPLE)]
        sample: String,
    },
}

fn main() -> ExitCode {
    let mut steps = Steps::default();
    match Arguments::parse().chore {
        Chore::Ci => checks::ci(&mut steps),
        Chore::Check => checks::check(&mut steps),
        Chore::Tidy => checks::tidy(&mut steps),
        Chore::Determinism => checks::determinism(&mut steps, true),
        Chore::Agreement => checks::agreement(&mut steps),
        Chore::Bench { instructions_only, libbullet } => bench::bench(&mut steps, instructions_only, libbullet),
        Chore::Fuzz { seconds, reader } => fuzz::fuzz(&mut steps, &reader, seconds),
        Chore::Linearity { reader } => fuzz::linearity(&mut steps, &reader),
        Chore::Package => checks::package(&mut steps),
        Chore::Search { draws, shard, seed, relation } => {
            let asked = search::Asked { draws, shard, seed, relation };
            search::search(&mut steps, &asked);
        }
        Chore::Soak { car_steps, visitors } => soak::soak(&mut steps, car_steps, visitors),
        Chore::Targets => targets::targets(&mut steps),
        Chore::Planted => planted::planted(&mut steps),
        Chore::Semver { baseline } => checks::semver(&mut steps, &baseline),
        Chore::Mutants { sample } => mutants::mutants(&mut steps, &sample),
    }
    steps.finish()
}
