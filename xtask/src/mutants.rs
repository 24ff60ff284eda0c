//! Mutation tests of the step: the share of small code changes that tests catch. `.cargo/mutants.toml` selects the
//! code.
//!
//! Unit tests of its package run on each mutant. Golden digests, which take longer to build, run on mutants that pass
//! them.

use serde_json::Value;

use crate::run::{Outcome, Steps, cargo, install, read_text, root, run};

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
         -C=--features=skidpad/rapier,skidpad/impulse,skidpad/simd_batch,skidpad/constraint,skidpad/peers,skidpad/deterministic \
         -- -- golden:: abreast::",
    ),
];

/// Runs the tests on the mutants of `sample`, `k/n`: every n-th from the k-th on, counted from 0.
pub fn mutants(steps: &mut Steps, sample: &str) {
    steps.step("tools", "Install the tool named above.", || install("mutants", CARGO_MUTANTS_VERSION));
    steps.step("mutants", "Write a test that a mutant listed above fails, or say why none can.", || run_rounds(sample));
}

/// Runs the unit tests on the mutants of `sample`, then the golden digests on the mutants that survive them. Without
/// survivors the second round is left out. Prints the counts and the names of the mutants that no test caught. Fails if
/// less than [`MIN_CAUGHT_SHARE`] of the mutants that build are caught. A sample in which no mutant builds counts as
/// fully caught.
fn run_rounds(sample: &str) -> Outcome {
    let [(first_name, first_arguments), (second_name, second_arguments)] = TEST_ROUNDS;
    let first_round = Round::run(&[format!("--shard={sample}")], first_arguments)?;
    // Number of caught mutants, and number of mutants that build.
    let [caught, building] = [first_round.caught, first_round.caught + first_round.missed.len() as u64];
    println!("{first_name}: {caught} caught of {building} that build, {} that do not", first_round.unviable);
    let mut missed = first_round.missed;
    if !missed.is_empty() {
        // cargo-mutants may also try other mutants of these files, so the names are compared.
        let second_round = Round::run(&selection_arguments(&missed), second_arguments)?;
        missed.retain(|name| second_round.missed.contains(name));
        // Number of mutants that only the second round caught.
        println!("{second_name}: {} more", building - caught - missed.len() as u64);
    }
    // Share of the mutants that build which a test caught.
    let caught_share = 1.0 - missed.len() as f64 / building.max(1) as f64;
    println!("{:.1} % of {building} caught; missed:\n{}", 100.0 * caught_share, missed.join("\n"));
    if caught_share < MIN_CAUGHT_SHARE {
        Err(format!("tests catch less than {} %", 100.0 * MIN_CAUGHT_SHARE))
    } else {
        Ok(())
    }
}

/// Returns arguments of cargo-mutants that select the mutants with these names, which begin with the path of the file.
/// The arguments are the files, sorted and each once, then one regular expression per name.
fn selection_arguments(names: &[String]) -> Vec<String> {
    let mut files: Vec<&str> = names.iter().filter_map(|name| name.split(':').next()).collect();
    files.sort_unstable();
    files.dedup();
    let file_arguments = files.iter().map(|file| format!("--file={file}"));
    // One regular expression per name.
    file_arguments.chain(names.iter().map(|name| format!("--re=^{}$", literal_regex(name)))).collect()
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
        let results_folder = root().join(RESULTS_FOLDER);
        if results_folder.exists() {
            std::fs::remove_dir_all(&results_folder).map_err(|error| format!("{RESULTS_FOLDER}: {error}"))?;
        }
        let mut command =
            cargo("mutants --package skidpad-core --package skidpad-constraint --package skidpad-impulse --jobs 1");
        command.args(selection).args(arguments.split_whitespace());
        // The mutated copy shares the builds of third-party packages.
        command.env("CARGO_TARGET_DIR", root().join("target")).env("CARGO_INCREMENTAL", "1");
        // Mutants must not write snapshots.
        command.env("INSTA_UPDATE", "no");
        // The command fails if a mutant survives, so its status alone is no error.
        let result = run(command);
        let outcomes: Value = serde_json::from_str(&read_text(&results_folder.join("outcomes.json"))?)
            .map_err(|error| format!("{RESULTS_FOLDER}: {error}"))?;
        let count = |name: &str| outcomes[name].as_u64().unwrap_or(0);
        if count("total_mutants") == 0 || outcomes["end_time"].is_null() {
            return Err(result.err().unwrap_or_else(|| "the program did not end".into()));
        }
        let [caught, timed_out, unviable] = ["caught", "timeout", "unviable"].map(count);
        let missed = read_text(&results_folder.join("missed.txt"))?.lines().map(str::to_owned).collect();
        Ok(Self { caught: caught + timed_out, unviable, missed })
    }
}

/// Returns a regular expression that matches `name` literally: every ASCII punctuation mark except `<` and `>` gets a
/// backslash.
fn literal_regex(name: &str) -> String {
    let needs_escape = |c: char| c.is_ascii_punctuation() && !['<', '>'].contains(&c);
    name.chars().flat_map(|c| needs_escape(c).then_some('\\').into_iter().chain([c])).collect()
}
