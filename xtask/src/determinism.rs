//! Check for bit-identical results: the `digest` example on one and two threads, with less optimisation, with each
//! solver alone, and in release.

use std::process::Command;

use crate::builds::{FACADE_ARGUMENTS, PROGRAM_BUILD_ARGUMENTS, SOLVER_FEATURES};
use crate::run::{Outcome, built_program, cargo, output, run};

/// Own packages with the highest optimisation in `.cargo/config.toml`. The check lowers their level; all other packages
/// are the same in every build.
const OPTIMISED_PACKAGES: [&str; 8] = [
    "skidpad-simd",
    "skidpad-tyre",
    "skidpad-core",
    "skidpad-constraint",
    "skidpad-impulse",
    "skidpad-world",
    "skidpad-engines",
    "skidpad-rapier",
];

/// Arguments that run the digests of every solver in release. They leave out the laboratory, which saves build time;
/// results must not depend on it.
const RELEASE_DIGEST_ARGUMENTS: &str = "run --package skidpad --example digest --release --quiet --no-default-features \
                       --features rapier,impulse,simd_batch,constraint,peers,serde,deterministic --";

/// Compares the digests of several builds line by line with those of the test build on one thread: the test build on
/// two threads, a build with less optimisation, release builds on one and two threads, and builds of each solver alone.
/// Prints the digests. Stops at the first difference or different number of digests, which is an error. Release builds
/// take as long as all others and are only included with `in_release`.
pub fn compare_builds(in_release: bool) -> Outcome {
    run(cargo(PROGRAM_BUILD_ARGUMENTS))?;
    // On one thread.
    let expected = digests(built_program("examples/digest"), 1)?;
    println!("{}", expected.join("\n"));
    // Compares the digests of a build with the expected ones.
    let check_equal = |build: &str, command: Command, threads: usize| {
        let (found, description) = (digests(command, threads)?, format!("{build}, {threads} threads"));
        if expected.len() != found.len() {
            return Err(format!("{} digests, but {} {description}", expected.len(), found.len()));
        }
        compare_digests(&expected, &found, &description)?;
        println!("{} digests are equal {description}", expected.len());
        Ok(())
    };
    check_equal("as tests are built", built_program("examples/digest"), 2)?;
    // Arguments that lower the optimisation level of own packages to 1.
    let level_options: String = OPTIMISED_PACKAGES
        .iter()
        .map(|package| format!(" --config profile.dev.package.{package}.opt-level=1"))
        .collect();
    let solver_features = SOLVER_FEATURES.map(|solver| format!("skidpad/{solver}")).join(",");
    run(cargo(&format!("{}{level_options}", digest_arguments(&format!("skidpad/peers,{solver_features}")))))?;
    // One thread, as for the expected digests.
    check_equal("less optimised", built_program("examples/digest"), 1)?;
    if in_release {
        check_equal("in release", cargo(RELEASE_DIGEST_ARGUMENTS), 1)?;
        check_equal("in release", cargo(RELEASE_DIGEST_ARGUMENTS), 2)?;
    }
    SOLVER_FEATURES.into_iter().try_for_each(|solver| compare_solver_alone(solver, &expected))
}

/// Builds `solver` and its modes (variants) without other solvers, and compares their digests with those in `expected`.
/// The first word of a line names its solver or mode. Fails if the solver has no line, or if the number of lines
/// differs.
fn compare_solver_alone(solver: &str, expected: &[String]) -> Outcome {
    run(cargo(&digest_arguments(&format!("skidpad/{solver}"))))?;
    let found = digests(built_program("examples/digest"), 1)?;
    // Name of the solver or mode of a line.
    let solver_name = |line: &String| line.split(' ').next().map(str::to_owned);
    // Expected digests of the solver and its modes alone.
    let expected: Vec<String> = expected
        .iter()
        .filter(|line| found.iter().any(|found_line| solver_name(found_line) == solver_name(line)))
        .cloned()
        .collect();
    if !found.iter().any(|line| solver_name(line).as_deref() == Some(solver)) || expected.len() != found.len() {
        return Err(format!("{} digests, but {} of {solver} alone", expected.len(), found.len()));
    }
    compare_digests(&expected, &found, &format!("{solver} alone"))?;
    println!("{} of them are equal with {solver} alone", found.len());
    Ok(())
}

/// Returns the cargo arguments that build the `digest` example with `features` and without the laboratory, on which
/// results must not depend.
fn digest_arguments(features: &str) -> String {
    format!(
        "build {FACADE_ARGUMENTS} --example digest --quiet --no-default-features --features skidpad/deterministic,{features}"
    )
}

/// Compares digests line by line, up to the end of the shorter list. The error shows the first difference; `build`
/// describes the build of `found`.
pub fn compare_digests(expected: &[String], found: &[String], build: &str) -> Outcome {
    match expected.iter().zip(found).find(|(expected_line, found_line)| expected_line != found_line) {
        Some((expected_line, found_line)) => {
            Err(format!("first difference:\n  as tests are built, 1 thread: {expected_line}\n  {build}: {found_line}"))
        }
        None => Ok(()),
    }
}

/// Runs the `digest` example with this number of `threads` and returns its lines. No line is an error.
pub fn digests(mut command: Command, threads: usize) -> Result<Vec<String>, String> {
    command.arg(threads.to_string());
    let [stdout, _] = output(command)?;
    let lines: Vec<String> = stdout.lines().map(str::to_owned).collect();
    if lines.is_empty() { Err("the digest example printed nothing".into()) } else { Ok(lines) }
}
