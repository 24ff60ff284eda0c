//! Tests of sweeps on the point-mass solver.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use skidpad_core::SolverInfo;

use super::*;
use crate::testing::POINT_MASS;

/// Solvers that descriptions can name.
fn solvers() -> [SolverInfo; 2] {
    [POINT_MASS, SolverInfo { name: "second", ..POINT_MASS }]
}

/// Description of a sweep of 20 runs in five shards.
const DESCRIPTION: &str = r#"
car = "corvette_c5"
manoeuvre = "braking"
solvers = ["point-mass", "second"]
rate = 60.0
samples = 5
seed = 7
shard_size = 4
[parameters]
mass = [1500, 1600]
initial_speed = { uniform = [8.0, 12.0] }
scene__grip = { normal = [0.9, 0.05] }
"#;

/// Reads a description.
fn read(text: &str) -> Result<Sweep, SweepError> {
    Sweep::read("sweep.toml", text, Path::new(""), &solvers())
}

/// Reads [`DESCRIPTION`].
fn sweep() -> Sweep {
    read(DESCRIPTION).expect("valid")
}

/// Executes the shards `shards` of `sweep` in `folder` on `threads` threads. Stops before the run number `stop_at`.
fn execute(
    sweep: &Sweep,
    folder: &Path,
    threads: usize,
    shards: &[u64],
    stop_at: usize,
) -> Result<ExecutionReport, SweepError> {
    let calls = AtomicUsize::new(0);
    sweep.execute(&Execution {
        folder,
        shards,
        threads,
        progress: &|progress| assert!(progress.done <= progress.total),
        is_stopped: &|| calls.fetch_add(1, Ordering::Relaxed) >= stop_at,
    })
}

/// Executes all shards.
fn execute_all(sweep: &Sweep, folder: &Path, threads: usize) -> ExecutionReport {
    let shards: Vec<u64> = (0..sweep.shard_count()).collect();
    execute(sweep, folder, threads, &shards, usize::MAX).expect("writable")
}

/// Returns the content of each file in a folder by its name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read(path).expect("readable"))
    };
    entries.map(read).collect()
}

/// Returns the faults of an error as one text.
fn faults<T: std::fmt::Debug>(result: Result<T, SweepError>) -> String {
    match result.expect_err("faulty") {
        SweepError::Load(skidpad_spec::LoadError::Faults(faults)) => faults.to_text(),
        error => error.to_string(),
    }
}

/// Solvers change fastest, then samples, then the last grid. Every point has the same samples.
#[test]
fn runs_are_grids_samples_and_solvers() {
    let sweep = sweep();
    assert_eq!((sweep.run_count(), sweep.shard_count()), (20, 5));
    let runs: Vec<PlannedRun> = (0..20).map(|number| sweep.run(number)).collect();
    assert_eq!(runs.iter().map(|run| &run.id).collect::<std::collections::BTreeSet<_>>().len(), 20);
    assert!(runs[..10].iter().all(|run| run.values[0] == Value::Integer(1500)));
    assert_eq!((&runs[0].values, runs[0].solver, runs[1].solver), (&runs[1].values, 0, 1));
    assert_eq!(runs[0].values[1..], runs[10].values[1..]);
    assert_ne!(runs[0].values[1], runs[2].values[1]);
    assert_eq!((0..5).flat_map(|index| sweep.shard(index)).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    // The identifier does not depend on the other runs.
    let larger =
        read(&DESCRIPTION.replace("[1500, 1600]", "[1400, 1500]").replace("shard_size = 4\n", "")).expect("valid");
    assert_eq!(larger.run(10).id, runs[0].id);
    assert_eq!(larger.shard_count(), 20);
}

/// A stopped sweep that is started again, other numbers of threads, and shards in any order give equal bytes. Complete
/// files are kept.
#[test]
fn stopped_sweeps_are_resumed_with_equal_bytes() {
    let sweep = sweep();
    let [complete, resumed, parts] = [(); 3].map(|()| tempfile::tempdir().expect("a temporary folder"));
    let report = execute_all(&sweep, complete.path(), 1);
    assert_eq!(report, ExecutionReport { written: 5, ..ExecutionReport::default() });
    let shards: Vec<u64> = (0..5).collect();
    let stopped = execute(&sweep, resumed.path(), 1, &shards, 10).expect("writable");
    assert_eq!(stopped, ExecutionReport { written: 2, is_stopped: true, ..ExecutionReport::default() });
    // Two shards and the manifest, and no temporary file.
    assert_eq!(contents(resumed.path()).len(), 3);
    let report = execute_all(&sweep, resumed.path(), 3);
    assert_eq!(report, ExecutionReport { kept: 2, written: 3, ..ExecutionReport::default() });
    for index in [3, 0, 4, 2, 1] {
        execute(&sweep, parts.path(), 2, &[index], usize::MAX).expect("writable");
    }
    assert_eq!(contents(resumed.path()), contents(complete.path()));
    assert_eq!(contents(parts.path()), contents(complete.path()));
    assert_eq!(sweep.merge(resumed.path()).expect("complete"), sweep.merge(complete.path()).expect("complete"));
}

/// Rows have the values of the runs, metrics with units, and the results of a single run.
#[test]
fn the_merged_table_has_parameters_metrics_and_units() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sweep = sweep();
    execute_all(&sweep, folder.path(), 2);
    let table = sweep.merge(folder.path()).expect("complete");
    assert_eq!(table.rows.len(), 20);
    let column = |name: &str| table.column(name).expect("a column");
    assert_eq!(table.columns[column("initial_speed")].unit, "m/s");
    let distance = &table.columns[column("distance_m")];
    assert_eq!((distance.unit.as_str(), distance.role), ("m", Role::Metric));
    let run = sweep.run(13);
    let row = &table.rows[13];
    assert_eq!(row[column("id")], run.id);
    let speed = run.values[1].number().expect("a number");
    assert_eq!(row[column("initial_speed")].parse(), Ok(speed));
    // The brakes stop a point with 20 m/s² and little drag; a step of 1/60 s is an error of v dt / 2.
    let stop: f64 = row[column("distance_m")].parse().expect("a number");
    let expected = speed * speed / 40.0;
    assert!((stop - expected).abs() < 0.02 * expected + speed / 120.0, "{stop} {expected}");
}

/// Runs with values out of range are rows with their fault.
#[test]
fn faulty_runs_are_rows_with_their_fault() {
    let text = "car = \"corvette_c5\"\nmanoeuvre = \"braking\"\nsolvers = \"point-mass\"\nrate = 60.0\n\
                [parameters]\nmass = [-1.0, 1500.0]\ninitial_speed = [10.0, 500.0]\n";
    let (sweep, folder) = (read(text).expect("valid"), tempfile::tempdir().expect("a temporary folder"));
    assert_eq!(execute_all(&sweep, folder.path(), 1).faulty_runs, 3);
    let table = sweep.merge(folder.path()).expect("complete");
    let fault = table.column("fault").expect("a column");
    assert!(table.rows[0][fault].contains("mass_kg"), "{:?}", table.rows[0]);
    assert!(table.rows[3][fault].contains("initial_speed is 500, but must be a number from -200 to 200 m/s"));
    assert_eq!(table.rows[2][fault], "");
}

/// Parameters of the manoeuvre reach its runs; values outside their ranges are faults of single runs, and unknown names
/// are faults of the description.
#[test]
fn parameters_of_the_manoeuvre_are_varied() {
    let text = "car = \"corvette_c5\"\nmanoeuvre = \"braking\"\nsolvers = \"point-mass\"\nrate = 60.0\n\
                [parameters]\nmanoeuvre__pedal = [0.5, 1.0, 2.0]\n";
    let (sweep, folder) = (read(text).expect("valid"), tempfile::tempdir().expect("a temporary folder"));
    assert_eq!(execute_all(&sweep, folder.path(), 1).faulty_runs, 1);
    let table = sweep.merge(folder.path()).expect("complete");
    let [distance, fault] = ["distance_m", "fault"].map(|name| table.column(name).expect("a column"));
    let stop = |row: usize| table.rows[row][distance].parse::<f64>().expect("a number");
    assert!(stop(0) > 1.5 * stop(1), "{} {}", stop(0), stop(1));
    assert!(table.rows[2][fault].contains("parameter pedal=2: accepted are pedal from 0"), "{:?}", table.rows[2]);
    let found = faults(read(&text.replace("__pedal", "__radius_m")));
    assert!(found.contains("`braking` has no parameter `radius_m`; accepted are pedal ("), "{found}");
}

#[test]
fn every_fault_of_a_description_is_reported() {
    let text = "car = \"corvette_c5\"\nmanoeuvre = \"brakin\"\nsolvers = [\"point-mass\", \"point\"]\nrate = 5\n\
                [parameters]\nmas = 1\ntrack = 1.5\naxles__0__trac_m = 1.5\nmass = \"heavy\"\ninitial_speed = \"fast\"\n";
    let found = faults(read(text));
    let parts =
        ["did you mean `braking`", "`point`", "at least 10 Hz", "mas`", "axles[1].track_m", "trac_m", "heavy", "fast"];
    for part in parts {
        assert!(found.contains(part), "{part} is missing in {found}");
    }
    let text = "manoeuver = \"braking\"\nsamples = 0\n[parameters]\nmass = []\nslope_deg = { gauss = [0, 1] }\n";
    let found = faults(read(text));
    for part in ["unknown key `manoeuver`", "`car` is missing", "`samples` is 0", "the list is empty", "log_uniform"] {
        assert!(found.contains(part), "{part} is missing in {found}");
    }
}

/// The manifest restores the sweep. A folder with another manifest is refused with every difference.
#[test]
fn the_folder_of_another_sweep_is_refused() {
    let (sweep, folder) = (sweep(), tempfile::tempdir().expect("a temporary folder"));
    let restored = Sweep::from_manifest(&sweep.to_manifest(), &solvers()).expect("a manifest");
    assert_eq!((restored.hash(), restored.run(3)), (sweep.hash(), sweep.run(3)));
    sweep.prepare_folder(folder.path()).expect("writable");
    let before = contents(folder.path());
    let changed = DESCRIPTION.replace("60.0", "120.0").replace("12.0", "13.0").replace("[1500, 1600]", "[1500]");
    let other = read(&changed).expect("valid");
    let found = faults(execute(&other, folder.path(), 1, &[0], usize::MAX));
    for part in
        ["rate: 60.0 there, 120.0 here", "parameter.initial_speed.uniform.1: 12.0 there, 13.0 here", "mass.grid"]
    {
        assert!(found.contains(part), "{part} is missing in {found}");
    }
    let reordered = DESCRIPTION.replace("mass = [1500, 1600]\n", "") + "mass = [1500, 1600]\n";
    let found = faults(execute(&read(&reordered).expect("valid"), folder.path(), 1, &[0], usize::MAX));
    assert!(found.contains("order of the grids"), "{found}");
    assert_eq!(contents(folder.path()), before);
    for text in ["[]", "{\"hash\": 1, \"manifest\": [1]}", "no JSON"] {
        assert!(faults(Sweep::from_manifest(text, &solvers())).contains("no manifest"));
        fs::write(folder.path().join(MANIFEST_NAME), text).expect("writable");
        assert!(faults(execute(&sweep, folder.path(), 1, &[0], usize::MAX)).contains("no manifest"));
    }
}

/// Files that are cut or changed are replaced; those of another sweep, and copies, are refused.
#[test]
fn torn_files_are_replaced_and_foreign_ones_refused() {
    let (sweep, folder) = (sweep(), tempfile::tempdir().expect("a temporary folder"));
    execute_all(&sweep, folder.path(), 2);
    let complete = contents(folder.path());
    let path = |index| sweep.shard_path(index, folder.path());
    let bytes = |index| fs::read(path(index)).expect("readable");
    fs::write(path(0), &bytes(0)[..200]).expect("writable");
    fs::write(path(1), "").expect("writable");
    let mut changed = bytes(2);
    let last = changed.len() - 20;
    changed[last] ^= 1;
    fs::write(path(2), changed).expect("writable");
    let found = faults(sweep.merge(folder.path()));
    assert_eq!(found.matches("is torn").count(), 3, "{found}");
    let report = execute_all(&sweep, folder.path(), 2);
    assert_eq!((report.torn, report.written, contents(folder.path())), (3, 3, complete.clone()));
    fs::copy(path(1), folder.path().join("copy.shard")).expect("writable");
    fs::remove_file(path(0)).expect("there");
    let found = faults(sweep.merge(folder.path()));
    assert!(
        found.contains("4 runs") && found.contains("in shards 0;") && found.contains("in several files"),
        "{found}"
    );
    let other = read(&DESCRIPTION.replace("seed = 7", "seed = 8")).expect("valid");
    let other_folder = tempfile::tempdir().expect("a temporary folder");
    execute_all(&other, other_folder.path(), 2);
    fs::copy(other.shard_path(0, other_folder.path()), path(0)).expect("writable");
    for found in [faults(sweep.merge(folder.path())), faults(execute(&sweep, folder.path(), 1, &[0], usize::MAX))] {
        assert!(found.contains("belongs to the sweep"), "{found}");
    }
}

/// A description is read back from the manifest when the file of a tyre or of notes changed.
#[test]
fn named_files_are_part_of_the_manifest() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let mut fields = skidpad_spec::fields::FileFields::parse(text).expect("TOML");
    let path = fields.resolve("description").expect("a field");
    fields.set(&path, "\"notes.txt\"").expect("a text");
    fs::write(folder.path().join("car.toml"), fields.text()).expect("writable");
    fs::write(folder.path().join("notes.txt"), "first").expect("writable");
    let text = "car = \"car.toml\"\nmanoeuvre = \"braking\"\nsolvers = \"point-mass\"\n";
    let sweep = Sweep::read("sweep.toml", text, folder.path(), &solvers()).expect("valid");
    let manifest = sweep.to_manifest();
    assert!(Sweep::from_manifest(&manifest, &solvers()).is_ok());
    fs::write(folder.path().join("notes.txt"), "second").expect("writable");
    let found = faults(Sweep::from_manifest(&manifest, &solvers()));
    assert!(found.contains("vehicle.files.notes.txt"), "{found}");
}
