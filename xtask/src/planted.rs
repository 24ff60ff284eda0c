//! Faults that the project once had, planted again one at a time: which relations of `tests/it/metamorphic` find them.

use std::path::Path;
use std::process::Command;

use crate::run::{Outcome, Steps, root, run};

/// Draws for each fault.
const DRAWS: &str = "120";

/// A change of the sources that makes a fault.
struct Fault {
    name: &'static str,
    /// Path from the workspace's folder.
    file: &'static str,
    /// Text that occurs once in the file, and what takes its place.
    change: [&'static str; 2],
}

const FAULTS: [Fault; 8] = [
    Fault {
        name: "directions of the step's start",
        file: "crates/skidpad-core/src/world/seam.rs",
        change: ["self.angular, 0.5 * dt", "self.angular, 0.0 * dt"],
    },
    Fault {
        name: "ground of the step's start",
        file: "crates/skidpad-core/src/world/seam.rs",
        change: ["(self.velocity * (0.5 * dt))", "(self.velocity * (0.0 * dt))"],
    },
    Fault {
        name: "slips that do not know the direction of travel",
        file: "crates/skidpad-core/src/tyre/brush.rs",
        change: ["held[0] * heading + s(1.0)", "held[0] + s(1.0) + heading - heading"],
    },
    Fault {
        name: "wheels that stand on the ends of faces",
        file: "crates/skidpad-core/src/wheel/envelope/between.rs",
        change: ["(self.height_after(highest, way) + SAME, None)", "(f32::NEG_INFINITY * way.abs(), None)"],
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
        name: "traction control that takes a slipping clutch for slip",
        file: "crates/skidpad-core/src/drivetrain/assisted.rs",
        change: [
            "let Some(engine) = self.engine.filter(|_| !self.is_clutch_weaker_than(shaft)) else { return 0.0 };",
            "let Some(engine) = self.engine.filter(|_| !self.is_clutch_weaker_than(f32::MIN)) else { return 0.0 };",
        ],
    },
    Fault {
        name: "beams that keep their load transfer",
        file: "crates/skidpad-core/src/suspension/roll_centre.rs",
        change: ["load.less(lift) & zero.less(lift) & zero.less(links.half)", "load.less(load) & zero.less(lift)"],
    },
    Fault {
        name: "patches that are damped while they roll",
        file: "crates/skidpad-core/src/tyre/grip.rs",
        change: ["(elastic * bank.sprung).sqrt() * standing;", "(elastic * bank.sprung).sqrt();"],
    },
];

/// Plants every fault in a clone of the last commit and prints which relations it violates, in how many draws.
pub fn planted(steps: &mut Steps) {
    for fault in &FAULTS {
        steps.step(fault.name, "Strengthen the relation that should find it.", || find(fault));
    }
}

fn find(fault: &Fault) -> Outcome {
    let copy = root().join("target/planted");
    refresh(&copy)?;
    let path = copy.join(fault.file);
    let source = read(&path)?;
    let [from, to] = fault.change;
    if source.matches(from).count() != 1 {
        return Err(format!("{} does not have this text once: {from}", fault.file));
    }
    write(&path, &source.replace(from, to))?;
    let told = search(&copy)?;
    let violated: Vec<&str> = told.lines().filter(|line| is_violated(line)).collect();
    println!("{}", violated.join("\n"));
    if violated.is_empty() { Err("no relation finds it".into()) } else { Ok(()) }
}

/// Returns true if `line` is that of a relation, `name checked violated …`, that some draws violate.
fn is_violated(line: &str) -> bool {
    let mut words = line.split_whitespace().skip(1).map(str::parse::<u64>);
    matches!((words.next(), words.next()), (Some(Ok(_)), Some(Ok(violated))) if violated > 0)
}

/// Runs the search in the folder `copy`; returns what it printed.
fn search(copy: &Path) -> Result<String, String> {
    let mut command = Command::new("cargo");
    command.current_dir(copy).env("SEARCH_DRAWS", DRAWS);
    command.args(["test", "--workspace", "--test", "it", "--quiet"]);
    command.args(["metamorphic::the_whole_search", "--", "--nocapture"]);
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    if told.contains("relation") { Ok(told) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Brings the last commit into the clone `copy`, which keeps what it has built.
fn refresh(copy: &Path) -> Outcome {
    if !copy.join(".git").exists() {
        let mut clone = Command::new("git");
        clone.args(["clone", "--quiet"]).arg(root()).arg(copy);
        run(clone)?;
    }
    for arguments in [["fetch", "--quiet", "origin", "HEAD"], ["reset", "--quiet", "--hard", "FETCH_HEAD"]] {
        let mut git = Command::new("git");
        git.current_dir(copy).args(arguments);
        run(git)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
