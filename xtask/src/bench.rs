//! What a step costs: times by criterion, instructions by valgrind, beside published figures.

use std::process::{Command, Stdio};

use crate::run::{Outcome, Steps, cargo, output, run};

/// Cars of the `instructions` program, as in the published counts.
const CARS: u64 = 64;

/// Most a rewind by ten steps may cost, saving and replaying them included, in plain steps of one car.
const REWIND: u64 = 12;

/// Instructions per car-step of other engines' ray-cast vehicles with their default casters, 64 cars on a plane.
const PUBLISHED: [(&str, u64); 3] = [("stock Rapier", 22_156), ("Jolt", 27_767), ("Bullet", 40_462)];

/// What is counted.
struct Count {
    backend: &'static str,
    scenario: &'static str,
    /// Steps of the short and the long run; their difference has no set-up in it.
    steps: [u64; 2],
    /// Cars, or probes, of a step.
    of: u64,
    /// Most instructions per step of each.
    limit: Option<u64>,
}

/// Straight on, after the first half second.
const fn plane(backend: &'static str, limit: Option<u64>) -> Count {
    Count { backend, scenario: "plane", steps: [60, 120], of: CARS, limit }
}

/// One car, straight on: plain steps, or rewinds.
const fn one_car(backend: &'static str, scenario: &'static str, limit: Option<u64>) -> Count {
    Count { backend, scenario, steps: [60, 120], of: 1, limit }
}

/// Straight on over waves.
const fn waves(scenario: &'static str, limit: Option<u64>) -> Count {
    Count { backend: "impulse", scenario, steps: [60, 120], of: CARS, limit }
}

/// What all wheels ask, at each place once.
const fn probes(scenario: &'static str, limit: Option<u64>) -> Count {
    Count { backend: "impulse", scenario, steps: [10, 20], of: 4 * CARS, limit }
}

/// The same of a shipped vehicle.
const fn vehicle(backend: &'static str, scenario: &'static str, limit: u64) -> Count {
    Count { backend, scenario, steps: [60, 120], of: CARS, limit: Some(limit) }
}

/// The same at random pedals and steering, from half a second on.
const fn at_random(backend: &'static str, scenario: &'static str, limit: u64) -> Count {
    Count { backend, scenario, steps: [60, 360], of: CARS, limit: Some(limit) }
}

const COUNTS: [Count; 34] = [
    plane("impulse", Some(2_720)),
    plane("impulse-one-by-one", Some(5_290)),
    plane("constraint", Some(6_520)),
    plane("constraint-pyramid", None),
    plane("constraint-hybrid", None),
    plane("constraint-unsprung", None),
    plane("rapier", Some(17_400)),
    plane("rapier-stock", None),
    plane("bullet", None),
    vehicle("impulse", "plane-corvette_c5_tmeasy", 3_020),
    vehicle("impulse-one-by-one", "plane-corvette_c5_tmeasy", 5_940),
    vehicle("impulse", "plane-corvette_c5_mf", 5_270),
    vehicle("impulse-one-by-one", "plane-corvette_c5_mf", 15_900),
    vehicle("impulse", "plane-truck_6x4", 3_780),
    vehicle("impulse-one-by-one", "plane-truck_6x4", 8_050),
    vehicle("impulse", "plane-toyota_4runner", 4_210),
    vehicle("impulse-one-by-one", "plane-toyota_4runner", 6_640),
    vehicle("impulse", "plane-tesla_model3_awd", 3_790),
    vehicle("impulse-one-by-one", "plane-tesla_model3_awd", 6_250),
    // Two seconds from the start: half a second straight on, the step, the new steady state.
    Count { backend: "constraint", scenario: "step-steer", steps: [0, 240], of: CARS, limit: Some(7_600) },
    at_random("impulse", "random-corvette_c5", 4_550),
    at_random("impulse-one-by-one", "random-corvette_c5", 7_100),
    at_random("impulse", "random-truck_6x4", 7_100),
    at_random("impulse-one-by-one", "random-truck_6x4", 11_990),
    // Twice the plane, were cars one by one there, is 10,370.
    waves("field", Some(7_900)),
    waves("mesh", Some(8_000)),
    waves("discs-plane", None),
    waves("discs-field", None),
    waves("discs-mesh", None),
    probes("probes-plane", None),
    probes("probes-field", Some(1_090)),
    probes("probes-mesh", None),
    probes("probes-discs-field", Some(2_000)),
    probes("probes-discs-mesh", Some(2_000)),
];

/// Bullet itself, if it is asked for.
const LIBBULLET: [Count; 2] = [plane("libbullet", None), plane("libbullet-statics-only", None)];

/// Feature of the benches that builds them against the installed libbullet.
fn features(libbullet: bool) -> &'static str {
    if libbullet { "--features libbullet" } else { "" }
}

/// Everything but instructions that some processors lack.
const BASELINE_FEATURES: &str =
    "--no-default-features --features rapier,impulse,abreast,constraint,peers,serde,lab,deterministic";

/// What is counted of a build for any processor of the target.
const ON_BASELINE: [Count; 3] =
    [plane("impulse", Some(4_700)), plane("constraint", Some(7_500)), plane("impulse-one-by-one", Some(6_100))];

/// Runs the criterion benches, unless only instructions are asked for, and counts.
pub fn bench(steps: &mut Steps, instructions_only: bool, libbullet: bool) {
    if !instructions_only {
        steps.step("times", "A bench must run; see above.", || {
            run(cargo(&format!("bench --package skidpad --bench solvers {} -- --quick", features(libbullet))))
        });
    }
    steps.step("instructions", "Find what grew with `callgrind_annotate`, or say in the issue why it may.", || {
        instructions(libbullet)
    });
}

fn instructions(libbullet: bool) -> Outcome {
    if !valgrind() {
        println!("valgrind is not installed, so nothing is counted");
        return Ok(());
    }
    let mut table = Table { program: program(BASELINE_FEATURES)?, lines: Vec::new(), over: Vec::new() };
    table.lines.push("any processor of the target:".into());
    for asked in ON_BASELINE {
        table.add(asked)?;
    }
    table.program = program(features(libbullet))?;
    table.lines.push("the widest instructions of this one that valgrind knows:".into());
    table.lines.push(format!("{:<22} {:<26} {:>10} {:>8}", "", "", "per step", "limit"));
    table.lines.extend(PUBLISHED.map(|(name, count)| format!("{name:<22} {:<26} {count:>10}", "published")));
    for asked in COUNTS.into_iter().chain(LIBBULLET.into_iter().filter(|_| libbullet)) {
        table.add(asked)?;
    }
    for backend in ["impulse", "constraint"] {
        let alone = table.add(one_car(backend, "alone", None))?;
        table.add(one_car(backend, "rollback", Some(REWIND * alone)))?;
    }
    println!("instructions per car and step, {CARS} cars or one; rollback: per rewind by ten steps; probes: each");
    println!("{}", table.lines.join("\n"));
    if table.over.is_empty() { Ok(()) } else { Err(table.over.join("\n")) }
}

/// What was counted so far.
struct Table {
    program: String,
    lines: Vec<String>,
    /// What is over its limit.
    over: Vec<String>,
}

impl Table {
    fn add(&mut self, Count { backend, scenario, steps, of, limit }: Count) -> Result<u64, String> {
        let [short, long] = steps.map(|steps| count(&self.program, backend, scenario, steps));
        let per_step = long?.saturating_sub(short?) / ((steps[1] - steps[0]) * of);
        let most = limit.map_or_else(String::new, |limit| limit.to_string());
        self.lines.push(format!("{backend:<22} {scenario:<26} {per_step:>10} {most:>8}"));
        if limit.is_some_and(|limit| per_step > limit) {
            self.over.push(format!("{backend}, {scenario}: {per_step} instructions, limit {most}"));
        }
        Ok(per_step)
    }
}

fn valgrind() -> bool {
    let mut command = Command::new("valgrind");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Builds the program that is counted and returns its path.
fn program(features: &str) -> Result<String, String> {
    let arguments = "bench --package skidpad --bench instructions --no-run --message-format json";
    let [out, _] = output(cargo(&format!("{arguments} {features}")))?;
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
