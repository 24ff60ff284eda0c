//! Fault injection: plants known faults one at a time and prints which relations of `tests/it/metamorphic` find them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, Steps, read_text, root, run, write_text};

/// Number of draws for each fault.
const DRAWS_PER_FAULT: &str = "120";

/// Change of the sources that causes a fault.
struct Fault {
    /// Description of the fault.
    name: &'static str,
    /// Path relative to the workspace.
    file: &'static str,
    /// Text that occurs exactly once in the file, and its replacement.
    change: [&'static str; 2],
}

/// Faults to plant, each a change of one place of the core.
const PLANTED_FAULTS: [Fault; 8] = [
    Fault {
        name: "directions of the step's start",
        file: "crates/skidpad-core/src/port/mod.rs",
        change: ["self.angular_velocity, 0.5 * dt", "self.angular_velocity, 0.0 * dt"],
    },
    Fault {
        name: "ground of the step's start",
        file: "crates/skidpad-core/src/port/mod.rs",
        change: ["(self.velocity * (0.5 * dt))", "(self.velocity * (0.0 * dt))"],
    },
    Fault {
        name: "slips that do not know the direction of travel",
        file: "crates/skidpad-tyre/src/brush.rs",
        change: ["clamped_slip[0] * heading + s(1.0)", "clamped_slip[0] + s(1.0) + heading - heading"],
    },
    Fault {
        name: "wheels that stand on the ends of faces",
        file: "crates/skidpad-core/src/ground/rim_contact/two_point.rs",
        change: [
            "(self.height_after(highest, displacement) + HEIGHT_TOLERANCE_M, None)",
            "(f32::NEG_INFINITY * displacement.abs(), None)",
        ],
    },
    Fault {
        name: "slips in telemetry that do not know the grip",
        file: "crates/skidpad-core/src/model/mod.rs",
        change: [
            "let lengths = self.patch_lengths(i, &wheel.conditions());",
            "let lengths = self.patch_lengths(i, &Conditions { grip: 1.0, ..wheel.conditions() });",
        ],
    },
    Fault {
        name: "traction control that confuses clutch slip with wheel slip",
        file: "crates/skidpad-core/src/assembly/drivetrain/traction_limits.rs",
        change: [
            "let Some(engine) = self.engine.filter(|_| !self.is_clutch_weaker_than(shaft_impulse)) else { return 0.0 };",
            "let Some(engine) = self.engine.filter(|_| !self.is_clutch_weaker_than(f32::MIN)) else { return 0.0 };",
        ],
    },
    Fault {
        name: "beams that keep their load transfer",
        file: "crates/skidpad-core/src/assembly/suspension/roll_centre.rs",
        change: [
            "load.less(jacking_impulse) & zero.less(jacking_impulse) & zero.less(links.beam_half)",
            "load.less(load) & zero.less(jacking_impulse)",
        ],
    },
    Fault {
        name: "patches that are damped while they roll",
        file: "crates/skidpad-core/src/assembly/tyre/linearisation.rs",
        change: ["* standing_share;", "* W::splat(1.0);"],
    },
];

/// Plants every fault in a clone of the last commit, runs the search, and prints which relations find the fault, in how
/// many draws. A step fails if no relation finds its fault.
///
/// A search without a fault runs first. A relation finds a fault if more draws violate it than in this first search.
pub fn planted(steps: &mut Steps) {
    // Violations without a fault.
    let mut baseline = Vec::new();
    steps.step("no fault", "Make the search run.", || {
        let clone_folder = update_clone()?;
        baseline = violations(&search(&clone_folder)?);
        Ok(())
    });
    for fault in &PLANTED_FAULTS {
        steps.step(fault.name, "Strengthen the relation that should find the fault.", || check_fault(fault, &baseline));
    }
}

/// Name of a relation, and number of draws that violate the relation.
type Violations = (String, u64);

/// Plants `fault` in the clone, runs the search there, and prints the relations with more violations than in
/// `baseline`, the result without a fault. Fails if there is none, or if the text to change does not occur exactly
/// once. The clone is reset to the last commit first, so that faults do not add up.
fn check_fault(fault: &Fault, baseline: &[Violations]) -> Outcome {
    let clone_folder = update_clone()?;
    let path = clone_folder.join(fault.file);
    let source = read_text(&path)?;
    let [original, replacement] = fault.change;
    if source.matches(original).count() != 1 {
        return Err(format!("{} does not have this text once: {original}", fault.file));
    }
    write_text(&path, &source.replace(original, replacement))?;
    let mut is_found = false;
    for (relation, violated) in violations(&search(&clone_folder)?) {
        // Draws that violate the relation without the fault.
        let baseline_count = baseline.iter().find(|(name, _)| *name == relation).map_or(0, |(_, violated)| *violated);
        if violated > baseline_count {
            println!("{relation}: {violated} of {DRAWS_PER_FAULT} draws, {baseline_count} without the fault");
            is_found = true;
        }
    }
    if is_found { Ok(()) } else { Err("no relation finds the fault".into()) }
}

/// Returns the relations that some draws violate, from lines of the form `name checked violated …`. Other lines are
/// skipped.
fn violations(search_output: &str) -> Vec<Violations> {
    // Heads of tables have no numbers and are skipped.
    let line_violations = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let _checked: u64 = words.next()?.parse().ok()?;
        let violated = words.next()?.parse().ok()?;
        (violated > 0).then(|| (name.to_string(), violated))
    };
    search_output.lines().filter_map(line_violations).collect()
}

/// Runs the search in the folder `clone_folder` and returns its standard output. Violations are not an error. Without a
/// table of relations in the output, returns the standard error as error.
fn search(clone_folder: &Path) -> Result<String, String> {
    let mut command = Command::new("cargo");
    command.current_dir(clone_folder).env("SEARCH_DRAWS", DRAWS_PER_FAULT);
    command.args(["test", "--workspace", "--features", "skidpad/full", "--test", "it", "--quiet"]);
    command.args(["metamorphic::the_whole_search", "--", "--nocapture"]);
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if stdout.contains("relation") { Ok(stdout) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Resets the clone in `target/planted` to the last commit and returns its folder. Clones the repository first if
/// necessary. Changes that are not committed are not included. Builds in the clone are kept.
fn update_clone() -> Result<PathBuf, String> {
    let clone_folder = root().join("target/planted");
    if !clone_folder.join(".git").exists() {
        let mut clone = Command::new("git");
        clone.args(["clone", "--quiet"]).arg(root()).arg(&clone_folder);
        run(clone)?;
    }
    for arguments in [["fetch", "--quiet", "origin", "HEAD"], ["reset", "--quiet", "--hard", "FETCH_HEAD"]] {
        let mut git = Command::new("git");
        git.current_dir(&clone_folder).args(arguments);
        run(git)?;
    }
    Ok(clone_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each text to change occurs exactly once in its file, so that the command needs no run to find out.
    #[test]
    fn every_fault_can_be_planted() {
        for fault in &PLANTED_FAULTS {
            let source = std::fs::read_to_string(root().join(fault.file)).expect(fault.file);
            let [from, to] = fault.change;
            assert_eq!(source.matches(from).count(), 1, "{}: {from}", fault.file);
            assert!(!source.contains(to), "{}: {to}", fault.file);
        }
    }
}
