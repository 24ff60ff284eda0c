//! Cost of a step: times by criterion, instructions by valgrind, with published figures for comparison.

use std::process::{Command, Stdio};

use crate::run::{Outcome, Steps, cargo, output, run};

/// Number of cars of the `instructions` program, as in the published counts.
const CAR_COUNT: u64 = 64;

/// Maximum cost of a rewind by ten steps in plain steps of one car. Saving and repeating the steps is included.
const MAX_REWIND_COST: u64 = 12;

/// Published instructions per car-step of ray-cast vehicles of other engines, with their default casters and 64 cars on
/// a plane.
const PUBLISHED_COUNTS: [(&str, u64); 3] = [("stock Rapier", 22_156), ("Jolt", 27_767), ("Bullet", 40_462)];

/// Measurement of instructions.
struct Measurement {
    /// Solver, as the `instructions` program names it.
    backend: &'static str,
    /// Name of the scenario in the `instructions` program.
    scenario: &'static str,
    /// Steps of a short and a long run. The difference of both counts excludes the set-up.
    steps: [u64; 2],
    /// Number of cars, or of probes, in a step.
    items_per_step: u64,
    /// Maximum number of instructions per step and car or probe; `None` for no limit.
    limit: Option<u64>,
}

/// Returns the measurement of 64 cars that drive straight ahead on the plane, in the steps 60 to 120 (0.5 s to 1 s).
const fn plane_measurement(backend: &'static str, limit: Option<u64>) -> Measurement {
    Measurement { backend, scenario: "plane", steps: [60, 120], items_per_step: CAR_COUNT, limit }
}

/// Returns the measurement of one car that drives straight ahead on the plane, in the steps 60 to 120, or of as many
/// rewinds.
const fn one_car_measurement(backend: &'static str, scenario: &'static str, limit: Option<u64>) -> Measurement {
    Measurement { backend, scenario, steps: [60, 120], items_per_step: 1, limit }
}

/// Returns the measurement of 64 cars that drive straight ahead over waves, in the steps 60 to 120, with `impulse`.
const fn waves_measurement(scenario: &'static str, limit: Option<u64>) -> Measurement {
    Measurement { backend: "impulse", scenario, steps: [60, 120], items_per_step: CAR_COUNT, limit }
}

/// Returns the measurement of ground queries without steps, in the queries 10 to 20: each is one query of the four
/// wheels of 64 cars at another place.
const fn probes_measurement(scenario: &'static str, limit: Option<u64>) -> Measurement {
    Measurement { backend: "impulse", scenario, steps: [10, 20], items_per_step: 4 * CAR_COUNT, limit }
}

/// Returns the measurement of 64 shipped vehicles that drive straight ahead on the plane, in the steps 60 to 120.
const fn vehicle_measurement(backend: &'static str, scenario: &'static str, limit: u64) -> Measurement {
    Measurement { backend, scenario, steps: [60, 120], items_per_step: CAR_COUNT, limit: Some(limit) }
}

/// Returns the measurement of 64 shipped vehicles with random pedals and steering, in the steps 60 to 360 (0.5 s to 3
/// s).
const fn random_driving_measurement(backend: &'static str, scenario: &'static str, limit: u64) -> Measurement {
    Measurement { backend, scenario, steps: [60, 360], items_per_step: CAR_COUNT, limit: Some(limit) }
}

/// Measurements of the build with the widest instructions of the processor.
const SOLVER_MEASUREMENTS: [Measurement; 41] = [
    plane_measurement("impulse", Some(2_760)),
    plane_measurement("impulse-one-by-one", Some(5_730)),
    plane_measurement("constraint", Some(6_870)),
    plane_measurement("constraint-pyramid", None),
    plane_measurement("constraint-unsprung", None),
    plane_measurement("rapier", Some(17_400)),
    plane_measurement("rapier-stock", None),
    plane_measurement("bullet", None),
    vehicle_measurement("impulse", "plane-corvette_c5_tmeasy", 3_100),
    vehicle_measurement("impulse-one-by-one", "plane-corvette_c5_tmeasy", 6_400),
    vehicle_measurement("impulse", "plane-corvette_c5_mf", 5_310),
    vehicle_measurement("impulse-one-by-one", "plane-corvette_c5_mf", 16_180),
    vehicle_measurement("impulse", "plane-truck_6x4", 3_780),
    vehicle_measurement("impulse-one-by-one", "plane-truck_6x4", 8_600),
    vehicle_measurement("impulse", "plane-toyota_4runner", 4_290),
    vehicle_measurement("impulse-one-by-one", "plane-toyota_4runner", 7_120),
    vehicle_measurement("impulse", "plane-tesla_model3_awd", 3_910),
    vehicle_measurement("impulse-one-by-one", "plane-tesla_model3_awd", 6_790),
    vehicle_measurement("impulse", "fleet", 1_650),
    random_driving_measurement("impulse", "fleet-random", 2_520),
    // Goals: 5 % more per car in the fleet if one in eight is not stepped, 3 % more if one in a hundred starts anew.
    random_driving_measurement("impulse", "fleet-random-masked", 2_570),
    random_driving_measurement("impulse", "fleet-random-resets", 2_570),
    vehicle_measurement("impulse", "fleet-field", 3_900),
    vehicle_measurement("impulse", "fleet-mesh", 4_980),
    random_driving_measurement("impulse", "fleet-random-field", 5_290),
    random_driving_measurement("impulse", "fleet-random-mesh", 6_400),
    // The first 2 s: 0.5 s straight ahead, the step of the steering, the steady state after it.
    Measurement {
        backend: "constraint",
        scenario: "step-steer",
        steps: [0, 240],
        items_per_step: CAR_COUNT,
        limit: Some(7_900),
    },
    random_driving_measurement("impulse", "random-corvette_c5", 4_610),
    random_driving_measurement("impulse-one-by-one", "random-corvette_c5", 7_340),
    random_driving_measurement("impulse", "random-truck_6x4", 7_330),
    random_driving_measurement("impulse-one-by-one", "random-truck_6x4", 12_560),
    // For comparison: twice the scalar count on the plane is 10,370.
    waves_measurement("field", Some(8_130)),
    waves_measurement("mesh", Some(8_210)),
    waves_measurement("discs-plane", None),
    waves_measurement("discs-field", None),
    waves_measurement("discs-mesh", None),
    probes_measurement("probes-plane", None),
    probes_measurement("probes-field", Some(1_120)),
    probes_measurement("probes-mesh", None),
    probes_measurement("probes-discs-field", Some(2_035)),
    probes_measurement("probes-discs-mesh", Some(2_035)),
];

/// Measurements of Bullet itself, for the option `--libbullet`.
const LIBBULLET_MEASUREMENTS: [Measurement; 2] =
    [plane_measurement("libbullet", None), plane_measurement("libbullet-statics-only", None)];

/// Returns the cargo arguments that build the benches with batches and all instruction sets; with `libbullet` also
/// against the installed libbullet.
fn feature_arguments(libbullet: bool) -> &'static str {
    if libbullet { "--features full,libbullet" } else { "--features full" }
}

/// Cargo arguments for a build without instructions that some processors lack.
const BASELINE_FEATURES: &str =
    "--no-default-features --features rapier,impulse,simd_batch,constraint,peers,serde,lab,deterministic";

/// Measurements of the build for any processor of the target.
const BASELINE_MEASUREMENTS: [Measurement; 3] = [
    plane_measurement("impulse", Some(4_790)),
    plane_measurement("constraint", Some(7_860)),
    plane_measurement("impulse-one-by-one", Some(6_510)),
];

/// Runs the criterion benches unless `instructions_only`, then counts instructions. `libbullet` includes Bullet itself,
/// which must be installed. The criterion times have no limit.
pub fn bench(steps: &mut Steps, instructions_only: bool, libbullet: bool) {
    if !instructions_only {
        steps.step("times", "A bench must run; see above.", || {
            run(cargo(&format!("bench --package skidpad --bench solvers {} -- --quick", feature_arguments(libbullet))))
        });
    }
    steps.step("instructions", "Find the increase with `callgrind_annotate`, or justify it in the issue.", || {
        count_instructions(libbullet)
    });
}

/// Counts the instructions of all measurements with valgrind and prints a table with their limits and the published
/// counts. Without valgrind nothing is counted, which is not an error. With `libbullet` Bullet itself is measured, too.
///
/// Counts the build for any processor first, then the build with the widest instructions. Last are rewinds, whose limit
/// is [`MAX_REWIND_COST`] plain steps of the same solver. Limits apply per step and car, probe or rewind. The table is
/// printed before the error, which lists every count above its limit.
fn count_instructions(libbullet: bool) -> Outcome {
    if !has_valgrind() {
        println!("valgrind is not installed, so nothing is counted");
        return Ok(());
    }
    let mut table = Table { program: build_program(BASELINE_FEATURES)?, lines: Vec::new(), limit_messages: Vec::new() };
    table.lines.push("any processor of the target:".into());
    for measurement in BASELINE_MEASUREMENTS {
        table.measure(measurement)?;
    }
    table.program = build_program(feature_arguments(libbullet))?;
    table.lines.push("the widest instructions of this one that valgrind knows:".into());
    // Head of the table: solver and scenario have no titles.
    table.lines.push(format!("{:<22} {:<26} {:>10} {:>8}", "", "", "per step", "limit"));
    table.lines.extend(PUBLISHED_COUNTS.map(|(name, count)| format!("{name:<22} {:<26} {count:>10}", "published")));
    for measurement in SOLVER_MEASUREMENTS.into_iter().chain(LIBBULLET_MEASUREMENTS.into_iter().filter(|_| libbullet)) {
        table.measure(measurement)?;
    }
    for backend in ["impulse", "constraint"] {
        // Instructions per step of one car.
        let plain_step_instructions = table.measure(one_car_measurement(backend, "alone", None))?;
        table.measure(one_car_measurement(backend, "rollback", Some(MAX_REWIND_COST * plain_step_instructions)))?;
    }
    println!("instructions per car and step, {CAR_COUNT} cars or one; rollback: per rewind by ten steps; probes: each");
    println!("{}", table.lines.join("\n"));
    if table.limit_messages.is_empty() { Ok(()) } else { Err(table.limit_messages.join("\n")) }
}

/// Results of the measurements.
struct Table {
    /// Path of the `instructions` program that is measured.
    program: String,
    /// Lines to print.
    lines: Vec<String>,
    /// Messages about counts above their limits.
    limit_messages: Vec<String>,
}

impl Table {
    /// Measures, appends a line, and returns the instructions per step and item (car or probe): the difference of the
    /// counts of the long and the short run, divided by the steps between them and by the items. A count above the
    /// limit is recorded as a message. A run that fails is an error.
    fn measure(
        &mut self,
        Measurement { backend, scenario, steps, items_per_step, limit }: Measurement,
    ) -> Result<u64, String> {
        // Instructions of the short and the long run.
        let [short_count, long_count] = steps.map(|steps| count_run(&self.program, backend, scenario, steps));
        // The difference of both counts excludes the set-up.
        let per_step = long_count?.saturating_sub(short_count?) / ((steps[1] - steps[0]) * items_per_step);
        let limit_text = limit.map_or_else(String::new, |limit| limit.to_string());
        self.lines.push(format!("{backend:<22} {scenario:<26} {per_step:>10} {limit_text:>8}"));
        if limit.is_some_and(|limit| per_step > limit) {
            self.limit_messages.push(format!("{backend}, {scenario}: {per_step} instructions, limit {limit_text}"));
        }
        Ok(per_step)
    }
}

/// Returns true if valgrind is installed.
fn has_valgrind() -> bool {
    let mut command = Command::new("valgrind");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Builds the `instructions` program with these cargo arguments and returns its path: the first field `executable` that
/// cargo reports for this bench target.
fn build_program(feature_arguments: &str) -> Result<String, String> {
    let arguments = "bench --package skidpad --bench instructions --no-run --message-format json";
    let [stdout, _] = output(cargo(&format!("{arguments} {feature_arguments}")))?;
    let messages = stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages
        .filter(|message| message["target"]["name"] == "instructions")
        .find_map(|message| message["executable"].as_str().map(str::to_owned))
        .ok_or_else(|| "cargo built no `instructions` program".into())
}

/// Returns the number of instructions that valgrind counts for a run of `program` with this solver and scenario for
/// `steps` steps, set-up included.
fn count_run(program: &str, backend: &str, scenario: &str, steps: u64) -> Result<u64, String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", program, backend, scenario]);
    command.arg(steps.to_string());
    // Callgrind reports on the standard error.
    let [_, report] = output(command)?;
    let collected = report.lines().find_map(|line| line.split("Collected :").nth(1));
    collected
        .and_then(|count| count.trim().parse().ok())
        .ok_or_else(|| format!("valgrind reported no count:\n{report}"))
}
