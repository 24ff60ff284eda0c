//! Equal bits: the `digest` example in debug and release, on one and two threads.

use std::process::Command;

use crate::checks::PROGRAMS;
use crate::run::{Outcome, built, cargo, output, run};

/// Every solver, but not the laboratory: less to build, and bits must not depend on that either.
const RELEASE: &str = "run --package skidpad --example digest --release --quiet --no-default-features \
                       --features rapier,abreast,constraint,peers,serde,deterministic --";

/// Builds the digests two ways, runs each on one and two threads and compares them line by line.
pub fn equal_bits() -> Outcome {
    run(cargo(PROGRAMS))?;
    let expected = digests(built("examples/digest"), 1)?;
    println!("{}", expected.join("\n"));
    let others =
        [("debug", 2, built("examples/digest")), ("release", 1, cargo(RELEASE)), ("release", 2, cargo(RELEASE))];
    for (profile, threads, command) in others {
        let found = digests(command, threads)?;
        if expected.len() != found.len() {
            return Err(format!("{} digests, but {} with {profile}, {threads} threads", expected.len(), found.len()));
        }
        if let Some((a, b)) = expected.iter().zip(&found).find(|(a, b)| a != b) {
            return Err(format!("first difference:\n  debug, 1 thread: {a}\n  {profile}, {threads} threads: {b}"));
        }
    }
    println!("{} digests are equal in debug and release, for 1 and 2 threads", expected.len());
    Ok(())
}

fn digests(mut command: Command, threads: usize) -> Result<Vec<String>, String> {
    command.arg(threads.to_string());
    let [out, _] = output(command)?;
    let lines: Vec<String> = out.lines().map(str::to_owned).collect();
    if lines.is_empty() { Err("the digest example printed nothing".into()) } else { Ok(lines) }
}
