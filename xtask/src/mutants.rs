//! Mutation tests of the step: the share of small code changes that tests catch. `.cargo/mutants.toml` selects the
//! code.
//!
//! Unit tests of the core run on each mutant. Golden digests, which take longer to build, run on mutants that pass
//! them.

use serde_json::Value;

use crate::run::{Outcome, Steps, cargo, install, read, root, run};

/// Default sample: every 97th mutant, from the first one on.
pub const DEFAULT_SAMPLE: &str = "0/97";

/// Version of cargo-mutants that is installed if none is installed.
const CARGO_MUTANTS_VERSION: &str = "27.1.0";

/// Minimum share of the mutants that build which tests must catch.
const MIN_CAUGHT_SHARE: f64 = 0.9;

/// Folder with the results of a round, relative to the workspace.
const RESULTS_FOLDER: &str = "target/mutants.out";

/// Rounds of tests: name, and arguments that select the tests.
const TEST_ROUNDS: [(&str, &str); 2] = [
    ("unit tests", "-C=--lib"),
    (
        "golden digests",
        "-C=--package=skidpad -C=--test=golden -C=--no-default-features \
         -C=--features=skidpad/rapier,skidpad/impulse,skidpad/abreast,skidpad/constraint,skidpad/peers,skidpad/deterministic \
         -- -- golden:: abreast::",
    ),
];

/// Runs the tests on the mutants of `sample`, `k/n`: every n-th from the k-th on, counted from 0.
pub fn mutants(steps: &mut Steps, sample: &str) {
    steps.step("tools", "Install the tool named above.", || install("mutants", CARGO_MUTANTS_VERSION));
    steps.step("mutants", "Write a test that a mutant listed above fails, or say why none can.", || run_rounds(sample));
}

/// Runs the unit tests on the mutants of `sample`, then the golden digests on the mutants that pass them. Prints the
/// counts and the names of the mutants that no test caught. Fails if less than [`MIN_CAUGHT_SHARE`] of the mutants that
/// build are caught.
fn run_rounds(sample: &str) -> Outcome {
    let [(first, with_first), (second, with_second)] = TEST_ROUNDS;
    let round = Round::run(&[format!("--shard={sample}")], with_first)?;
    // Number of caught mutants, and number of mutants that build.
    let [caught, building] = [round.caught, round.caught + round.missed.len() as u64];
    println!("{first}: {caught} caught of {building} that build, {} that do not", round.unviable);
    let mut missed = round.missed;
    if !missed.is_empty() {
        // cargo-mutants may also try other mutants of these files, so the names are compared.
        let tried = Round::run(&selection_arguments(&missed), with_second)?;
        missed.retain(|name| tried.missed.contains(name));
        println!("{second}: {} more", building - caught - missed.len() as u64);
    }
    // Share of the mutants that build which a test caught.
    let share = 1.0 - missed.len() as f64 / building.max(1) as f64;
    println!("{:.1} % of {building} caught; missed:\n{}", 100.0 * share, missed.join("\n"));
    if share < MIN_CAUGHT_SHARE { Err(format!("tests catch less than {} %", 100.0 * MIN_CAUGHT_SHARE)) } else { Ok(()) }
}

/// Returns arguments that select the mutants with these names. A name begins with the path of its file.
fn selection_arguments(names: &[String]) -> Vec<String> {
    let mut files: Vec<&str> = names.iter().filter_map(|name| name.split(':').next()).collect();
    files.sort_unstable();
    files.dedup();
    let of_files = files.iter().map(|file| format!("--file={file}"));
    of_files.chain(names.iter().map(|name| format!("--re=^{}$", literal_regex(name)))).collect()
}

/// Result of one round of tests.
struct Round {
    /// Number of caught mutants, including those whose tests timed out.
    caught: u64,
    /// Number of mutants that do not build.
    unviable: u64,
    /// Names of the mutants that no test caught.
    missed: Vec<String>,
}

impl Round {
    /// Runs the tests that `arguments` select on the mutants that `selection` selects, and reads the results of
    /// cargo-mutants. Removes the results of the last round first. Fails if there is no mutant or the round did not
    /// end; surviving mutants are not an error.
    fn run(selection: &[String], arguments: &str) -> Result<Self, String> {
        let results = root().join(RESULTS_FOLDER);
        if results.exists() {
            std::fs::remove_dir_all(&results).map_err(|error| format!("{RESULTS_FOLDER}: {error}"))?;
        }
        let mut command = cargo("mutants --package skidpad-core --jobs 1");
        command.args(selection).args(arguments.split_whitespace());
        // The mutated copy shares the builds of third-party packages.
        command.env("CARGO_TARGET_DIR", root().join("target")).env("CARGO_INCREMENTAL", "1");
        // Mutants must not write snapshots.
        command.env("INSTA_UPDATE", "no");
        // The command fails if a mutant survives, so its status alone is no error.
        let ended = run(command);
        let outcomes: Value = serde_json::from_str(&read(&results.join("outcomes.json"))?)
            .map_err(|error| format!("{RESULTS_FOLDER}: {error}"))?;
        let count = |name: &str| outcomes[name].as_u64().unwrap_or(0);
        if count("total_mutants") == 0 || outcomes["end_time"].is_null() {
            return Err(ended.err().unwrap_or_else(|| "it did not come to an end".into()));
        }
        let [caught, endless, unviable] = ["caught", "timeout", "unviable"].map(count);
        let missed = read(&results.join("missed.txt"))?.lines().map(str::to_owned).collect();
        Ok(Self { caught: caught + endless, unviable, missed })
    }
}

/// Returns a regular expression that matches `name` literally: every ASCII punctuation mark except `<` and `>` gets a
/// backslash.
fn literal_regex(name: &str) -> String {
    let escaped = |c: char| c.is_ascii_punctuation() && !['<', '>'].contains(&c);
    name.chars().flat_map(|c| escaped(c).then_some('\\').into_iter().chain([c])).collect()
}
