//! What a step costs: times by criterion, instructions by valgrind, beside published figures.

use std::process::{Command, Stdio};

use crate::run::{Outcome, Steps, cargo, output, run};

/// Cars of the `instructions` program, as in the published counts.
const CARS: u64 = 64;

/// Instructions per car-step of other engines' ray-cast vehicles with their default casters, 64 cars on a plane.
const PUBLISHED: [(&str, u64); 3] = [("stock Rapier", 22_156), ("Jolt", 27_767), ("Bullet", 40_462)];

/// What is counted.
struct Count {
    backend: &'static str,
    scenario: &'static str,
    /// Steps of the short and the long run; their difference has no set-up in it.
    steps: [u64; 2],
    /// Most instructions per car-step.
    limit: Option<u64>,
}

/// Straight on, after the first half second.
const fn plane(backend: &'static str, limit: Option<u64>) -> Count {
    Count { backend, scenario: "plane", steps: [60, 120], limit }
}

const COUNTS: [Count; 5] = [
    plane("impulse", Some(8_000)),
    plane("constraint", None),
    plane("rapier", None),
    plane("rapier-stock", None),
    // Two seconds from the start: half a second straight on, the step, the new steady state.
    Count { backend: "constraint", scenario: "step-steer", steps: [0, 240], limit: Some(20_000) },
];

/// Runs the criterion benches, unless only instructions are asked for, and counts.
pub fn bench(steps: &mut Steps, instructions_only: bool) {
    if !instructions_only {
        steps.step("times", "A bench must run; see above.", || {
            run(cargo("bench --package skidpad --bench solvers -- --quick"))
        });
    }
    steps.step(
        "instructions",
        "Find what grew with `callgrind_annotate`, or say in the issue why it may.",
        instructions,
    );
}

fn instructions() -> Outcome {
    if !valgrind() {
        println!("valgrind is not installed, so nothing is counted");
        return Ok(());
    }
    let program = program()?;
    let mut table = vec![format!("{:<14} {:<12} {:>10} {:>8}", "", "", "per step", "limit")];
    table.extend(PUBLISHED.map(|(name, count)| format!("{name:<14} {:<12} {count:>10}", "published")));
    let mut over = Vec::new();
    for Count { backend, scenario, steps, limit } in COUNTS {
        let [short, long] = steps.map(|steps| count(&program, backend, scenario, steps));
        let per_step = long?.saturating_sub(short?) / ((steps[1] - steps[0]) * CARS);
        let most = limit.map_or_else(String::new, |limit| limit.to_string());
        table.push(format!("{backend:<14} {scenario:<12} {per_step:>10} {most:>8}"));
        if limit.is_some_and(|limit| per_step > limit) {
            over.push(format!("{backend}, {scenario}: {per_step} instructions per car-step, limit {most}"));
        }
    }
    println!("instructions per car and step, {CARS} cars\n{}", table.join("\n"));
    if over.is_empty() { Ok(()) } else { Err(over.join("\n")) }
}

fn valgrind() -> bool {
    let mut command = Command::new("valgrind");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Builds the program that is counted and returns its path.
fn program() -> Result<String, String> {
    let [out, _] = output(cargo("bench --package skidpad --bench instructions --no-run --message-format json"))?;
    let messages = out.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages
        .filter(|message| message["target"]["name"] == "instructions")
        .find_map(|message| message["executable"].as_str().map(str::to_owned))
        .ok_or_else(|| "cargo built no `instructions` program".into())
}

fn count(program: &str, backend: &str, scenario: &str, steps: u64) -> Result<u64, String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", program, backend, scenario]);
    command.arg(steps.to_string());
    let [_, report] = output(command)?;
    let collected = report.lines().find_map(|line| line.split("Collected :").nth(1));
    collected
        .and_then(|count| count.trim().parse().ok())
        .ok_or_else(|| format!("valgrind reported no count:\n{report}"))
}
