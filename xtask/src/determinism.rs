//! Equal bits: the `digest` example in debug and release, on one and two threads, and of each solver alone.

use std::process::Command;

use crate::checks::{PROGRAMS, SOLVERS};
use crate::run::{Outcome, built, cargo, output, run};

/// Every solver, but not the laboratory: less to build, and bits must not depend on that either.
const RELEASE: &str = "run --package skidpad --example digest --release --quiet --no-default-features \
                       --features rapier,abreast,constraint,peers,serde,deterministic --";

/// Builds the digests in several ways and compares them line by line.
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
        same(&expected, &found, &format!("{profile}, {threads} threads"))?;
    }
    println!("{} digests are equal in debug and release, for 1 and 2 threads", expected.len());
    SOLVERS.into_iter().try_for_each(|solver| alone(solver, &expected))
}

/// Builds `solver` and its modes without the others, and finds their digests among `expected`.
fn alone(solver: &str, expected: &[String]) -> Outcome {
    let build = format!(
        "run --package skidpad --example digest --quiet --no-default-features --features deterministic,{solver} --"
    );
    let found = digests(cargo(&build), 1)?;
    let of = |line: &String| line.split(' ').next().map(str::to_owned);
    let expected: Vec<String> =
        expected.iter().filter(|line| found.iter().any(|found| of(found) == of(line))).cloned().collect();
    if !found.iter().any(|line| of(line).as_deref() == Some(solver)) || expected.len() != found.len() {
        return Err(format!("{} digests, but {} of {solver} alone", expected.len(), found.len()));
    }
    same(&expected, &found, &format!("{solver} alone"))?;
    println!("{} of them are equal with {solver} alone", found.len());
    Ok(())
}

fn same(expected: &[String], found: &[String], build: &str) -> Outcome {
    match expected.iter().zip(found).find(|(a, b)| a != b) {
        Some((a, b)) => Err(format!("first difference:\n  debug, 1 thread: {a}\n  {build}: {b}")),
        None => Ok(()),
    }
}

fn digests(mut command: Command, threads: usize) -> Result<Vec<String>, String> {
    command.arg(threads.to_string());
    let [out, _] = output(command)?;
    let lines: Vec<String> = out.lines().map(str::to_owned).collect();
    if lines.is_empty() { Err("the digest example printed nothing".into()) } else { Ok(lines) }
}
