//! Small changes of the step, one at a time: how many of them a test notices. `.cargo/mutants.toml` says what is changed and which
//! tests run, `.config/nextest.toml` in which order.

use serde_json::Value;

use crate::run::{Outcome, Steps, cargo, install, root, run};

/// Of all mutants in order every 97th, from the first one on.
pub const SAMPLE: &str = "0/97";

/// Versions that are installed when there are none.
const TOOLS: [(&str, &str); 2] = [("mutants", "27.1.0"), ("nextest", "0.9.143")];

/// Least share of those that build that tests must notice.
const LEAST_CAUGHT: f64 = 0.9;

/// Where the results are, from the workspace's folder.
const RESULTS: &str = "target/mutants.out";

/// Tries the mutants of `sample`, `k/n`: every n-th from the k-th on, counted from 0.
pub fn mutants(steps: &mut Steps, sample: &str) {
    steps.step("tools", "Install the tool named above.", || {
        TOOLS.iter().try_for_each(|(tool, version)| install(tool, version))
    });
    steps.step("mutants", "Write a test that a mutant listed above fails, or say why none can.", || caught(sample));
}

fn caught(sample: &str) -> Outcome {
    let results = root().join(RESULTS);
    if results.exists() {
        std::fs::remove_dir_all(&results).map_err(|error| format!("{RESULTS}: {error}"))?;
    }
    let mut command = cargo(&format!("mutants --package skidpad-core --jobs 1 --shard {sample}"));
    // Of a mutant's bits no snapshot is written.
    command.env("INSTA_UPDATE", "no");
    // It fails as soon as one survives.
    let ended = run(command);
    let text =
        |name: &str| std::fs::read_to_string(results.join(name)).map_err(|error| format!("{RESULTS}/{name}: {error}"));
    let outcomes: Value =
        serde_json::from_str(&text("outcomes.json")?).map_err(|error| format!("{RESULTS}: {error}"))?;
    let [tried, missed, noticed, endless, unviable] =
        ["total_mutants", "missed", "caught", "timeout", "unviable"].map(|name| outcomes[name].as_u64().unwrap_or(0));
    if tried == 0 || outcomes["end_time"].is_null() {
        return ended.and(Err("it did not come to an end".into()));
    }
    let share = (noticed + endless) as f64 / (tried - unviable).max(1) as f64;
    println!("{tried} mutants: {noticed} caught, {endless} without end, {missed} missed, {unviable} that do not build");
    println!("{:.1} % of those that build caught; missed:\n{}", 100.0 * share, text("missed.txt")?);
    let least = 100.0 * LEAST_CAUGHT;
    if share < LEAST_CAUGHT { Err(format!("tests catch less than {least} %")) } else { Ok(()) }
}
