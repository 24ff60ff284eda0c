//! Equal bits: the `digest` example in debug and release, on one and two threads.

use crate::run::{Outcome, cargo, output};

/// Builds the digests four ways and compares them line by line.
pub fn equal_bits() -> Outcome {
    let expected = digests("dev", 1)?;
    println!("{}", expected.join("\n"));
    for (profile, threads) in [("dev", 2), ("release", 1), ("release", 2)] {
        let found = digests(profile, threads)?;
        if expected.len() != found.len() {
            return Err(format!("{} digests, but {} with {profile}, {threads} threads", expected.len(), found.len()));
        }
        if let Some((a, b)) = expected.iter().zip(&found).find(|(a, b)| a != b) {
            return Err(format!("first difference:\n  dev, 1 thread: {a}\n  {profile}, {threads} threads: {b}"));
        }
    }
    println!("{} digests are equal in debug and release, for 1 and 2 threads", expected.len());
    Ok(())
}

fn digests(profile: &str, threads: usize) -> Result<Vec<String>, String> {
    let command = format!("run --package skidpad --example digest --profile {profile} --quiet -- {threads}");
    let [out, _] = output(cargo(&command))?;
    let lines: Vec<String> = out.lines().map(str::to_owned).collect();
    if lines.is_empty() { Err("the digest example printed nothing".into()) } else { Ok(lines) }
}
