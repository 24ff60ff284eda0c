//! Check for bit-identical results: the `digest` example on one and two threads, with less optimisation, with each
//! solver alone, and in release.

use std::process::Command;

use crate::builds::{BESIDE_OTHERS, PROGRAMS, SOLVERS};
use crate::run::{Outcome, built, cargo, output, run};

/// Own packages with the highest optimisation in `.cargo/config.toml`. The check lowers their level; all other packages
/// are the same in every build.
const OPTIMISED: [&str; 4] = ["skidpad-core", "skidpad-world", "skidpad-engines", "skidpad-rapier"];

/// Arguments that run the digests of every solver in release. They leave out the laboratory, which saves build time;
/// results must not depend on it.
const RELEASE: &str = "run --package skidpad --example digest --release --quiet --no-default-features \
                       --features rapier,impulse,abreast,constraint,peers,serde,deterministic --";

/// Builds the digests in several ways and compares them line by line. Release builds take as long as all others and are
/// only included with `in_release`.
pub fn equal_bits(in_release: bool) -> Outcome {
    run(cargo(PROGRAMS))?;
    let expected = digests(built("examples/digest"), 1)?;
    println!("{}", expected.join("\n"));
    let equals = |build: &str, command: Command, threads: usize| {
        let (found, what) = (digests(command, threads)?, format!("{build}, {threads} threads"));
        if expected.len() != found.len() {
            return Err(format!("{} digests, but {} {what}", expected.len(), found.len()));
        }
        same(&expected, &found, &what)?;
        println!("{} digests are equal {what}", expected.len());
        Ok(())
    };
    equals("as tests are built", built("examples/digest"), 2)?;
    let less: String = OPTIMISED.iter().map(|own| format!(" --config profile.dev.package.{own}.opt-level=1")).collect();
    let all = SOLVERS.map(|solver| format!("skidpad/{solver}")).join(",");
    run(cargo(&format!("{}{less}", digest_with(&format!("skidpad/peers,{all}")))))?;
    equals("less optimised", built("examples/digest"), 1)?;
    if in_release {
        equals("in release", cargo(RELEASE), 1)?;
        equals("in release", cargo(RELEASE), 2)?;
    }
    SOLVERS.into_iter().try_for_each(|solver| alone(solver, &expected))
}

/// Builds `solver` and its modes without other solvers, and compares their digests with those in `expected`.
fn alone(solver: &str, expected: &[String]) -> Outcome {
    run(cargo(&digest_with(&format!("skidpad/{solver}"))))?;
    let found = digests(built("examples/digest"), 1)?;
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

/// Returns the cargo arguments that build the `digest` example with `features` and without the laboratory, on which
/// results must not depend.
fn digest_with(features: &str) -> String {
    format!(
        "build {BESIDE_OTHERS} --example digest --quiet --no-default-features --features skidpad/deterministic,{features}"
    )
}

/// Compares digests line by line. The error shows the first difference.
pub fn same(expected: &[String], found: &[String], build: &str) -> Outcome {
    match expected.iter().zip(found).find(|(a, b)| a != b) {
        Some((a, b)) => Err(format!("first difference:\n  as tests are built, 1 thread: {a}\n  {build}: {b}")),
        None => Ok(()),
    }
}

/// Runs the `digest` example with this number of `threads` and returns its lines.
pub fn digests(mut command: Command, threads: usize) -> Result<Vec<String>, String> {
    command.arg(threads.to_string());
    let [out, _] = output(command)?;
    let lines: Vec<String> = out.lines().map(str::to_owned).collect();
    if lines.is_empty() { Err("the digest example printed nothing".into()) } else { Ok(lines) }
}
