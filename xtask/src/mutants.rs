//! Small changes of the step, one at a time: how many of them a test notices. `.cargo/mutants.toml` says what is changed.
//!
//! Each mutant meets the unit tests of the core. Those that pass them meet the golden digests, for which more must be built.

use serde_json::Value;

use crate::run::{Outcome, Steps, cargo, install, read, root, run};

/// Of all mutants in order every 97th, from the first one on.
pub const SAMPLE: &str = "0/97";

/// Version that is installed when there is none.
const VERSION: &str = "27.1.0";

/// Least share of those that build that tests must notice.
const LEAST_CAUGHT: f64 = 0.9;

/// Where the results of a round are, from the workspace's folder.
const RESULTS: &str = "target/mutants.out";

/// Tests that meet the mutants: who they are, and what cargo is told to build them.
const ROUNDS: [(&str, &str); 2] = [
    ("unit tests", "-C=--lib"),
    (
        "golden digests",
        "-C=--package=skidpad -C=--test=golden -C=--no-default-features \
         -C=--features=skidpad/rapier,skidpad/impulse,skidpad/abreast,skidpad/constraint,skidpad/peers,skidpad/deterministic \
         -- -- golden:: abreast::",
    ),
];

/// Tries the mutants of `sample`, `k/n`: every n-th from the k-th on, counted from 0.
pub fn mutants(steps: &mut Steps, sample: &str) {
    steps.step("tools", "Install the tool named above.", || install("mutants", VERSION));
    steps.step("mutants", "Write a test that a mutant listed above fails, or say why none can.", || caught(sample));
}

fn caught(sample: &str) -> Outcome {
    let [(first, with_first), (second, with_second)] = ROUNDS;
    let round = Round::of(&[format!("--shard={sample}")], with_first)?;
    let [caught, building] = [round.caught, round.caught + round.missed.len() as u64];
    println!("{first}: {caught} caught of {building} that build, {} that do not", round.unviable);
    let mut missed = round.missed;
    if !missed.is_empty() {
        // It also tries mutants that no name selects, in the files that it is told.
        let tried = Round::of(&selecting(&missed), with_second)?;
        missed.retain(|name| tried.missed.contains(name));
        println!("{second}: {} more", building - caught - missed.len() as u64);
    }
    let share = 1.0 - missed.len() as f64 / building.max(1) as f64;
    println!("{:.1} % of {building} caught; missed:\n{}", 100.0 * share, missed.join("\n"));
    if share < LEAST_CAUGHT { Err(format!("tests catch less than {} %", 100.0 * LEAST_CAUGHT)) } else { Ok(()) }
}

/// Arguments that choose the mutants with these names, which begin with their file.
fn selecting(names: &[String]) -> Vec<String> {
    let mut files: Vec<&str> = names.iter().filter_map(|name| name.split(':').next()).collect();
    files.sort_unstable();
    files.dedup();
    let of_files = files.iter().map(|file| format!("--file={file}"));
    of_files.chain(names.iter().map(|name| format!("--re=^{}$", literal(name)))).collect()
}

/// What came of the mutants that met some tests.
struct Round {
    /// With those whose tests did not end.
    caught: u64,
    /// Those that do not build.
    unviable: u64,
    /// Names.
    missed: Vec<String>,
}

impl Round {
    /// Of the mutants that `selection` chooses, with the tests that `arguments` build.
    fn of(selection: &[String], arguments: &str) -> Result<Self, String> {
        let results = root().join(RESULTS);
        if results.exists() {
            std::fs::remove_dir_all(&results).map_err(|error| format!("{RESULTS}: {error}"))?;
        }
        let mut command = cargo("mutants --package skidpad-core --jobs 1");
        command.args(selection).args(arguments.split_whitespace());
        // The copy that is changed shares what is built of other people's packages.
        command.env("CARGO_TARGET_DIR", root().join("target")).env("CARGO_INCREMENTAL", "1");
        // Of a mutant's bits no snapshot is written.
        command.env("INSTA_UPDATE", "no");
        // It fails as soon as one survives.
        let ended = run(command);
        let outcomes: Value = serde_json::from_str(&read(&results.join("outcomes.json"))?)
            .map_err(|error| format!("{RESULTS}: {error}"))?;
        let count = |name: &str| outcomes[name].as_u64().unwrap_or(0);
        if count("total_mutants") == 0 || outcomes["end_time"].is_null() {
            return Err(ended.err().unwrap_or_else(|| "it did not come to an end".into()));
        }
        let [caught, endless, unviable] = ["caught", "timeout", "unviable"].map(count);
        let missed = read(&results.join("missed.txt"))?.lines().map(str::to_owned).collect();
        Ok(Self { caught: caught + endless, unviable, missed })
    }
}

/// A regular expression of `name` alone.
fn literal(name: &str) -> String {
    let escaped = |c: char| c.is_ascii_punctuation() && !['<', '>'].contains(&c);
    name.chars().flat_map(|c| escaped(c).then_some('\\').into_iter().chain([c])).collect()
}
