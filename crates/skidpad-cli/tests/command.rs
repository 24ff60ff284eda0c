//! Tests of the command: files, tables, exit codes and messages.

#[path = "command/changes.rs"]
mod changes;
#[path = "command/measured_logs.rs"]
mod measured_logs;
#[path = "command/proving_ground.rs"]
mod proving_ground;
#[path = "command/strangers.rs"]
mod strangers;
#[path = "command/sweep.rs"]
mod sweep;
#[path = "command/told.rs"]
mod told;
#[path = "command/two_cars.rs"]
mod two_cars;

use std::path::Path;
use std::process::{Command, Output};

fn skidpad(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skidpad"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("the command runs")
}

#[track_caller]
fn fails(folder: &Path, arguments: &[&str], code: i32, words: &[&str]) {
    let output = skidpad(folder, arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
}

/// Reads the metrics that a run has written to `t.json` in `folder`.
fn figures(folder: &std::path::Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("t.json")).expect("written");
    serde_json::from_str(&text).expect("JSON")
}

#[track_caller]
fn works(folder: &Path, arguments: &[&str]) -> String {
    let output = skidpad(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn without_arguments_it_compares_every_solver_and_writes_a_report() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = works(folder.path(), &[]);
    for backend in skidpad::solvers() {
        assert!(text.contains(backend.name), "{text}");
    }
    assert!(text.contains("Stopping distance") && text.contains("Steady yaw rate"), "{text}");
    let report = folder.path().join("target/skidpad/corvette_c5_step-steer_braking.html");
    assert!(std::fs::read_to_string(report).expect("written").contains("</html>"));
}

#[test]
fn a_car_tows_what_it_can_and_peers_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let brake = ["compare", "--manoeuvre", "braking", "--vehicle", "toyota_4runner"];
    let text = works(folder.path(), &[&brake[..], &["--towing", "caravan"]].concat());
    assert!(
        text.contains("with a trailer of 1400 kg") && text.contains("impulse") && !text.contains("bullet"),
        "{text}"
    );
    assert!(text.contains("Trailer 1: peak force of its hitch"), "{text}");
    let report = folder.path().join("target/skidpad/toyota_4runner_braking.html");
    let page = std::fs::read_to_string(report).expect("written");
    assert!(page.contains("Hitch force, longitudinal, trailer 1"), "{page}");
    // The replay draws the trailer: it has its shape.
    assert!(page.contains("\"units\":[{\"height\":"), "{page}");
    let table = folder.path().join("train.csv");
    let out = table.to_str().expect("a name");
    works(
        folder.path(),
        &[
            "run",
            "--vehicle",
            "toyota_4runner",
            "--towing",
            "caravan",
            "--solver",
            "impulse",
            "--manoeuvre",
            "braking",
            "--out",
            out,
        ],
    );
    let header = std::fs::read_to_string(table).expect("written").lines().next().map(String::from).expect("a header");
    assert!(header.contains(",trailer1.load_n.1l,") && header.ends_with(",trailer1.coupled.hitch"), "{header}");
    let text = works(folder.path(), &["check", "toyota_4runner", "--towing", "caravan"]);
    assert!(text.contains("with trailers") && text.contains("Critical speed, above which sway grows"), "{text}");
    let text = works(folder.path(), &["check", "wagon"]);
    assert!(text.contains("wheel of the dolly") && text.contains("Hitch: carried mass, as described"), "{text}");
    assert!(!text.contains("warning:"), "{text}");
    let alone = works(folder.path(), &["check", "toyota_4runner"]);
    assert!(!alone.contains("with trailers"), "{alone}");
    fails(folder.path(), &["check", "corvette_c5", "--towing", "caravan"], 1, &["`caravan`", "without a `[hitch]`"]);
    let refused: [(&[&str], &[&str]); 4] = [
        (&["--towing", "caravan", "--solvers", "bullet"], &["the reference vehicle `bullet`", "solvers that are not"]),
        (&["--towing", "caravan", "--towing", "caravan"], &["`caravan`", "without a `[hitch]`"]),
        (&["--towing", "corvette_c5"], &["`corvette_c5`", "without a `[coupler]`"]),
        (&["--towing", "carvan"], &["carvan"]),
    ];
    for (arguments, words) in refused {
        fails(folder.path(), &[&brake[..], arguments].concat(), 1, words);
    }
}

/// Checks that a full trailer is one trailer with two units.
#[test]
fn a_car_tows_a_full_trailer_by_its_one_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let wagon =
        ["--vehicle", "toyota_4runner", "--towing", "wagon", "--manoeuvre", "lane-change", "--initial-speed-mps", "12"];
    let text = works(folder.path(), &[&["compare"], &wagon[..], &["--solvers", "impulse,constraint"]].concat());
    assert!(text.contains("with a trailer of 2000 kg"), "{text}");
    for told in [
        "Dolly of trailer 1: peak force of its hitch",
        "Trailer 1 on its dolly: peak force of its turntable",
        "Trailer 1 on its dolly: rearward amplification",
    ] {
        assert!(text.contains(told), "{told} is missing from {text}");
    }
    works(folder.path(), &[&["run"], &wagon[..], &["--solver", "impulse", "--out", "train.csv"]].concat());
    let table = std::fs::read_to_string(folder.path().join("train.csv")).expect("written");
    let header: Vec<&str> = table.lines().next().expect("a header").split(',').collect();
    for column in ["trailer1_dolly.load_n.1l", "trailer1_dolly.coupled.hitch", "trailer1.load_n.1l"] {
        assert!(header.contains(&column), "{header:?}");
    }
    // The trailer has no hitch for a second trailer.
    let twice = [&["check", "toyota_4runner", "--towing", "wagon", "--towing", "caravan"][..]].concat();
    fails(folder.path(), &twice, 1, &["`caravan`", "without a `[hitch]`"]);
    assert!(works(folder.path(), &["list", "vehicles"]).contains("wagon                2000 kg   4 wheels"));
}

#[test]
fn boxes_that_move_carry_no_peers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let belt = "[[box]]\ncentre_m = [0, 0, -0.4]\nsize_m = [90, 9, 1]\nkinematic = { velocity_mps = [0, 1, 0] }\n";
    std::fs::write(folder.path().join("belt.toml"), belt).expect("writable");
    let roll = ["compare", "--scene", "belt.toml", "--vehicle", "corvette_c5", "--initial-speed-mps", "5"];
    let text = works(folder.path(), &[&roll[..], &["--duration-s", "1"]].concat());
    assert!(text.contains("with a box") && text.contains("impulse") && !text.contains("bullet"), "{text}");
    let named = [&roll[..], &["--solvers", "bullet"]].concat();
    fails(folder.path(), &named, 1, &["moving boxes", "the reference vehicle `bullet`", "solvers that are not"]);
    // Modes count as peers in comparisons, but have the wheels of skidpad, which support moving boxes.
    let modes = [&roll[..], &["--duration-s", "1", "--solvers", "impulse,constraint-pyramid"]].concat();
    assert!(works(folder.path(), &modes).contains("constraint-pyramid"));
}

#[test]
fn a_run_ends_where_its_ground_ends() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pier = "plane = false\n[[box]]\ncentre_m = [30, 0, -0.5]\nsize_m = [100, 9, 1]\n";
    std::fs::write(folder.path().join("pier.toml"), pier).expect("writable");
    let ask = |command: &'static str, more: &[&'static str]| {
        let on = [command, "--scene", "pier.toml", "--vehicle", "corvette_c5", "--initial-speed-mps", "20"];
        [&on[..], more].concat()
    };
    let run = ["--manoeuvre", "coast-scene", "--solver", "impulse", "--out", "t.csv", "--metrics-json", "m.json"];
    // The pier ends at x = 80 m. The rear axle, 1.35 m behind the centre of mass, reaches this point after 4.1 s.
    let told = ["impulse: the car left the ground of the scene after 4.", "at x = 81.", "y = 0.0 m"];
    fails(folder.path(), &ask("run", &run), 3, &told);
    let rows = std::fs::read_to_string(folder.path().join("t.csv")).expect("written").lines().count() - 2;
    let figures = std::fs::read_to_string(folder.path().join("m.json")).expect("written");
    let figures: serde_json::Value = serde_json::from_str(&figures).expect("JSON");
    let left = figures["health"]["left_ground"]["t_s"].as_f64().expect("it left");
    assert!((left * 240.0 - rows as f64).abs() < 24.0, "{left} s of {rows} steps");
    // Peers fall off the pier as well.
    fails(
        folder.path(),
        &ask("compare", &["--solvers", "constraint,bullet"]),
        3,
        &["constraint: the car", "bullet: the car"],
    );
    // A run that ends earlier gets no warning.
    works(folder.path(), &ask("compare", &["--solvers", "impulse", "--duration-s", "3"]));
}

#[test]
fn a_run_tells_what_assists_added() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let car = format!(
        "{}\n[assists.abs]\n[assists.traction]\n",
        skidpad::spec::shipped::find("corvette_c5").expect("shipped")
    );
    std::fs::write(folder.path().join("car.toml"), car).expect("writable");
    std::fs::write(folder.path().join("c.csv"), "t_s,gear,brake\n0,0,1\n1,0,1\n").expect("writable");
    let run = ["run", "--vehicle", "car.toml", "--solver", "impulse", "--dt-s", "0.01", "--controls", "c.csv"];
    let text = works(folder.path(), &[&run[..], &["--initial-speed-mps", "30", "--out", "t.csv"]].concat());
    assert!(text.contains("assists and non-physical aids on impulse"), "{text}");
    let line =
        |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{text}"));
    assert!(line("abs").contains("brake_nm -") && line("traction").contains("nothing"), "{text}");
    let csv = std::fs::read_to_string(folder.path().join("t.csv")).expect("written");
    assert!(csv.lines().next().expect("a header").ends_with("steer_rad.traction"), "{csv}");
}

#[test]
fn a_table_of_controls_becomes_a_csv_of_every_step() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("c.csv"), "t_s,gear,brake\n0,3,0\n0.5,3,1\n1,3,0\n").expect("writable");
    let run = ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--dt-s", "0.01", "--controls", "c.csv"];
    works(folder.path(), &[&run[..], &["--initial-speed-mps", "20", "--out", "new/t.csv"]].concat());
    let text = std::fs::read_to_string(folder.path().join("new/t.csv")).expect("written");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 102);
    let column = |name: &str| rows[0].iter().position(|c| *c == name).expect("in the header");
    let value = |row: usize, name: &str| rows[row][column(name)].parse::<f64>().expect("a number");
    assert_eq!((value(1, "t_s"), value(1, "vx_mps"), value(1, "gear"), value(101, "t_s")), (0.0, 20.0, 3.0, 1.0));
    let weight: f64 = ["1l", "1r", "2l", "2r"].iter().map(|w| value(1, &format!("load_n.{w}"))).sum();
    assert!((weight / (1545.0 * 9.81) - 1.0).abs() < 1e-3, "{weight}");
    assert!(value(101, "vx_mps") < 16.0);
}

#[test]
fn the_figures_of_a_run_become_json() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--manoeuvre", "braking", "--out", "t.csv"];
    works(folder.path(), &[&run[..], &["--metrics-json", "new/m.json"]].concat());
    let text = std::fs::read_to_string(folder.path().join("new/m.json")).expect("written");
    let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(figures["distance_m"].as_f64().is_some_and(|d| (40.0..50.0).contains(&d)), "{text}");
}

/// Checks a certificate with given solvers, rates and manoeuvre. Its table has a line for each figure, its files are
/// complete.
#[test]
fn a_certificate_tells_the_longest_step_of_each_solver() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let asked = ["certify", "corvette_c5", "--manoeuvre", "braking", "--solvers", "impulse,constraint"];
    let text = works(folder.path(), &[&asked[..], &["--rates-hz", "240,60,120"]].concat());
    let line =
        |start: &str| text.lines().find(|l| l.trim_start().starts_with(start)).unwrap_or_else(|| panic!("{text}"));
    assert!(line("Stopping distance").trim_end().ends_with("16.67 ms"), "{text}");
    assert!(line("manoeuvre").contains("limited by"), "{text}");
    let file = |name: &str| std::fs::read_to_string(folder.path().join("target/skidpad").join(name)).expect("written");
    let table = file("corvette_c5_certificate_braking.csv");
    let figures = table.lines().filter(|l| l.contains(",impulse,")).count() / 3;
    assert_eq!(table.lines().count(), 1 + 2 * 3 * figures);
    assert!(file("corvette_c5_certificate_braking.html").contains("</html>"));
    for (more, word) in [("--rates-hz=60", "two"), ("--rates-hz=60,5", "10 Hz"), ("--within-percent=-1", "above 0")] {
        fails(folder.path(), &[&asked[..], &[more]].concat(), 1, &[word]);
    }
}

/// Checks figures and lints in the table, and the figures of every shipped vehicle in the JSON object.
#[test]
fn check_tells_figures_and_what_is_worth_a_look() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = works(folder.path(), &["check", "corvette_c5"]);
    for word in ["Heave: frequency", "Rollover threshold, with suspension", "longest stable step"] {
        assert!(table.contains(word), "no `{word}` in {table}");
    }
    // The rear brakes of a C5 need not lock its wheels under the load at rest. The front brakes of the truck are weaker than its tyres.
    assert!(!table.contains("warning:"), "{table}");
    let truck = works(folder.path(), &["check", "truck_6x4"]);
    assert!(truck.contains("warning: the brake cannot lock wheel 1l, 1r"), "{truck}");
    let all: Vec<&str> = skidpad::spec::shipped::names().collect();
    let text = works(folder.path(), &[&["check", "--json"], &all[..]].concat());
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for name in all {
        let car = &json[name]["car"];
        for figure in ["heave_hz", "roll_gradient_deg_per_g", "rollover_g", "stop_ideal_m"] {
            assert!(car[figure].as_f64().is_some_and(|v| v > 0.0), "{name} {figure}: {car}");
        }
        assert!(json[name]["wheels"]["1l"]["static_load_n"].is_f64());
        assert!(json[name]["longest_stable_step_ms"]["impulse"].is_null());
        assert!(json[name]["longest_stable_step_ms"]["bullet"].is_f64());
    }
}

/// Checks that files of other programs become vehicles that `check` accepts, and that a fault leaves no file behind.
#[test]
fn imports_are_vehicle_files_and_tell_what_they_leave_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../skidpad-import/tests/it/files");
    for (from, file) in [
        ("bullet", "bullet.toml"),
        ("rapier", "rapier.toml"),
        ("godot", "car.tscn"),
        ("unity", "unity5_default.prefab"),
        ("jolt", "jolt.toml"),
        ("physx", "physx.toml"),
        ("commonroad", "commonroad_2.yaml"),
    ] {
        let path = format!("{files}/{file}");
        let out = format!("new/{from}.toml");
        let told = works(folder.path(), &["import", "--from", from, &path, "--out", &out]);
        assert!(told.contains(&out), "{told}");
        assert!(works(folder.path(), &["check", &out]).contains("valid"));
    }
    let godot = format!("{files}/car.tscn");
    let told = works(folder.path(), &["import", "--from", "godot", &godot, "--out", "g.toml", "--dt-s", "0.01"]);
    assert!(told.contains("car.tscn:14: `body.linear_damp`: is not imported"), "{told}");
    std::fs::write(folder.path().join("broken.toml"), "mass = 0\nwheel = 1\n").expect("writable");
    let broken = ["import", "--from", "bullet", "broken.toml", "--out", "b.toml"];
    fails(folder.path(), &broken, 1, &["mass", "wheels", "did you mean"]);
    assert!(!folder.path().join("b.toml").exists());
    fails(folder.path(), &["import", "--from", "unreal", "broken.toml", "--out", "b.toml"], 2, &["godot"]);
    fails(folder.path(), &["import", "--from", "bullet", "none.toml", "--out", "b.toml"], 1, &["none.toml"]);
    fails(folder.path(), &["import", "--from", "godot", &godot, "--out", "b.toml", "--dt-s=-1"], 1, &["--dt-s"]);
    assert!(works(folder.path(), &["schema", "jolt"]).contains("mSuspensionMinLength"));
}

#[test]
fn every_fault_of_a_table_is_shown_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("c.csv"), "t_s,throtle,gear\n0,1,9\n0,1,1\n").expect("writable");
    let run = ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--controls", "c.csv", "--out", "t.csv"];
    fails(folder.path(), &run, 1, &["3 faults", "`throttle`", "line 2", "1 to 6", "times must increase"]);
    assert!(!folder.path().join("t.csv").exists());
}

/// Checks the shipped step with the reference car, which flies off the edge. The expected end position was recorded in
/// Bullet.
#[test]
fn a_scene_gives_ground_boxes_and_start() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/step.toml");
    let on = ["--scene", scene, "--vehicle", "bullet_reference"];
    let run = ["run", "--solver", "bullet", "--rate-hz", "60", "--out", "t.csv", "--duration-s", "4"];
    works(folder.path(), &[&run[..], &on].concat());
    let text = std::fs::read_to_string(folder.path().join("t.csv")).expect("written");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|c| *c == name).expect("in the header");
    let value = |row: usize, name: &str| rows[row][column(name)].parse::<f64>().expect("a number");
    assert_eq!((rows.len(), value(1, "x_m"), value(1, "vx_mps")), (242, 0.0, 15.0));
    // On the box the car is 0.15 m above its rest height on the plane, until the front wheels leave the box after 30 − 1.35 m.
    let before = 1 + (28.0 / 15.0 * 60.0) as usize;
    assert!((value(before, "z_m") - 0.8186875).abs() < 1e-4, "{}", value(before, "z_m"));
    assert!((value(241, "z_m") - 0.6686875).abs() < 1e-3 && (value(241, "x_m") - 60.0).abs() < 0.01);
    let flying = (1..242).filter(|&row| value(row, "contact.1l") == 0.0).count();
    assert_eq!(flying, 8, "steps with the front wheels in the air, as recorded");
    let compared = works(folder.path(), &[&["compare", "--duration-s", "3"], &on[..]].concat());
    assert!(compared.contains("Time with any wheel off the ground") && compared.contains("with a box"), "{compared}");
    assert!(folder.path().join("target/skidpad/bullet_reference_coast-scene.html").exists());
}

/// Runs the command with a closed pipe as standard output or error.
fn unread(folder: &Path, arguments: &[&str], which: fn(&mut Command, std::io::PipeWriter) -> &mut Command) -> Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_skidpad"));
    which(command.args(arguments).current_dir(folder), writer).output().expect("the command runs")
}

#[test]
fn whoever_closes_a_pipe_loses_nothing_else() {
    let car = skidpad::spec::shipped::find("corvette_c5").expect("shipped");
    let folder = with_a_car(&car.replace("lock_deg = 35", "lock_deg = 0.61"));
    let run = unread(folder.path(), &[&SHORT_RUN[..], &["--out", "t.csv"]].concat(), |c, to| c.stderr(to));
    assert!(run.status.success() && String::from_utf8_lossy(&run.stdout).contains("25 rows in t.csv"), "{run:?}");
    assert!(folder.path().join("t.csv").exists());
    let both = [&SHORT_RUN[..], &["--out", "-", "--metrics-json", "t.json"]].concat();
    let table = unread(folder.path(), &both, |c, to| c.stdout(to));
    assert!(table.status.success() && folder.path().join("t.json").exists(), "{table:?}");
    std::fs::write(folder.path().join("broken.toml"), "name = 3\n").expect("writable");
    let checked = unread(folder.path(), &["check", "broken.toml", "car.toml"], |c, to| c.stderr(to));
    assert_eq!(checked.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&checked.stdout).contains("car.toml: "), "{checked:?}");
    let fault = unread(folder.path(), &["check", "--towing", "none", "car.toml"], |c, to| c.stderr(to));
    assert_eq!(fault.status.code(), Some(1), "{fault:?}");
}

const SHORT_RUN: [&str; 9] =
    ["run", "--vehicle", "car.toml", "--solver", "impulse", "--manoeuvre", "drop-settle", "--duration-s", "0.1"];

/// Creates a temporary folder with `text` in the file `car.toml`.
fn with_a_car(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("car.toml"), text).expect("writable");
    folder
}

#[test]
fn outputs_never_destroy_what_they_are_made_from() {
    let car = skidpad::spec::shipped::find("bullet_reference").expect("shipped");
    let folder = with_a_car(car);
    for out in ["car.toml", "./car.toml"] {
        fails(folder.path(), &[&SHORT_RUN[..], &["--out", out]].concat(), 1, &["is also the vehicle"]);
    }
    let twice = [&SHORT_RUN[..], &["--out", "t.csv", "--metrics-json", "t.csv"]].concat();
    fails(folder.path(), &twice, 1, &["--metrics-json", "the output of --out"]);
    let tyre = skidpad::spec::tir::find("c5_front").expect("shipped");
    std::fs::write(folder.path().join("own.tir"), tyre.replacen("PDY1 = 0.97", "PDY1 = 0.097", 1)).expect("writable");
    let on_own =
        skidpad::spec::shipped::find("corvette_c5_mf").expect("shipped").replace("tyres/c5_front.tir", "own.tir");
    let on_own = on_own.replace("tyres/c5_rear.tir", "own.tir");
    std::fs::write(folder.path().join("on_own.toml"), on_own).expect("writable");
    let run = [&SHORT_RUN[..2], &["on_own.toml"], &SHORT_RUN[3..]].concat();
    for (argument, other) in [("--out", "--metrics-json"), ("--metrics-json", "--out")] {
        let run = [&run[..], &[argument, "./own.tir", other, "other.txt"]].concat();
        fails(folder.path(), &run, 1, &[argument, "is also a tyre of the vehicle"]);
    }
    let run = [&run[..], &["--out", "t.csv"]].concat();
    let told = String::from_utf8(skidpad(folder.path(), &run).stderr).expect("text");
    assert!(told.contains("own.tir") && told.contains("`PDY1`") && told.contains("implausible for a tyre"), "{told}");
    let checked = works(folder.path(), &["check", "on_own.toml"]);
    assert!(
        checked.contains("own.tir") && checked.contains("`PDY1`") && checked.contains("implausible for a tyre"),
        "{checked}"
    );
    let import = ["import", "--from", "bullet", "car.toml", "--out", "car.toml"];
    fails(folder.path(), &import, 1, &["is also the file to import"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("car.toml")).expect("there"), car);
    let text = works(folder.path(), &[&SHORT_RUN[..], &["--out", "-"]].concat());
    assert!(text.starts_with("t_s,x_m") && text.lines().all(|line| line.contains(',')), "only the table: {text}");
    assert!(!folder.path().join("-").exists());
}

#[test]
fn modes_run_and_figures_tell_how_the_steps_went() {
    let folder = with_a_car(skidpad::spec::shipped::find("corvette_c5").expect("shipped"));
    let mut run = SHORT_RUN;
    run[4] = "constraint-unsprung";
    works(folder.path(), &[&run[..], &["--out", "t.csv", "--metrics-json", "t.json"]].concat());
    let text = std::fs::read_to_string(folder.path().join("t.json")).expect("written");
    let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let health = &figures["health"];
    assert!(health["left_ground"].is_null(), "{health}");
    assert_eq!((&health["not_finite"], &health["not_converged"]), (&false.into(), &false.into()), "{health}");
    assert!(health["most_iterations"].as_u64().is_some_and(|n| n >= 1), "{health}");
    assert!(health["largest_residual_mps"].as_f64().is_some_and(|r| r < 1e-5), "{health}");
}

/// Checks that `check` and `run` print the notes on a vehicle file and on the tyre files it refers to.
#[test]
fn notes_reach_check_and_run() {
    let car =
        skidpad::spec::shipped::find("corvette_c5_mf").expect("shipped").replace("lock_deg = 35", "lock_deg = 0.61");
    let folder = with_a_car(&car);
    let tyres = folder.path().join("tyres");
    std::fs::create_dir(&tyres).expect("writable");
    for name in ["c5_front", "c5_rear"] {
        let text = skidpad::spec::tir::find(name).expect("shipped");
        std::fs::write(tyres.join(format!("{name}.tir")), text.replace("PDY1", "PDY1 = 1\nPDY9")).expect("writable");
    }
    let line = |name: &str, text: &str, key: &str| {
        let line = text.lines().position(|line| line.trim_start().starts_with(key)).expect("stated");
        format!("{name}:{}: ", line + 1)
    };
    let front = skidpad::spec::tir::find("c5_front").expect("shipped").replace("PDY1", "PDY1 = 1\nPDY9");
    let own = format!("warning: {}`steering.lock_deg`", line("car.toml", &car, "lock_deg"));
    let told = [own, format!("{}`PDY9`", line("tyres/c5_front.tir", &front, "PDY9"))];
    let check = works(folder.path(), &["check", "car.toml"]);
    let run = skidpad(folder.path(), &[&SHORT_RUN[..], &["--out", "t.csv"]].concat());
    for text in [check, String::from_utf8_lossy(&run.stderr).into_owned()] {
        assert!(told.iter().all(|word| text.contains(word)), "{told:?} in {text}");
    }
}

#[test]
fn every_fault_of_a_scene_is_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("s.toml"), "slope = 3\n[[box]]\ncentre_m = [0, 0]\n").expect("writable");
    let run = ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--scene", "s.toml", "--out", "t.csv"];
    fails(folder.path(), &run, 1, &["3 faults", "slope_deg", "box[0].size_m", "a list of 3 numbers"]);
    let bare = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/terrain.toml");
    let sloping = [&run[..5], &["--scene", bare, "--slope-deg", "5", "--out", "t.csv"]].concat();
    fails(folder.path(), &sloping, 1, &["--slope-deg", "without a plane", "set in its file"]);
    fails(folder.path(), &[&run[..5], &["--scene", "none.toml", "--out", "t.csv"]].concat(), 1, &["none.toml"]);
    fails(folder.path(), &[&run[..5], &["--out", "t.csv"]].concat(), 2, &["--manoeuvre"]);
}

#[test]
fn unknown_names_and_bad_steps_are_told_with_what_is_known() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let run = |vehicle, backend, manoeuvre, dt| {
        let names = ["run", "--vehicle", vehicle, "--solver", backend, "--manoeuvre", manoeuvre];
        [&names[..], &["--out", "t.csv", "--dt-s", dt]].concat()
    };
    fails(here.path(), &run("corvete_c5", "impulse", "drop-settle", "0.01"), 1, &["corvette_c5"]);
    fails(
        here.path(),
        &run("corvette_c5", "impulze", "drop-settle", "0.01"),
        1,
        &["did you mean `impulse`?", "constraint"],
    );
    fails(here.path(), &run("corvette_c5", "impulse", "zigzag", "0.01"), 1, &["step-steer", "slalom"]);
    for dt in ["0", "-1", "nan", "inf", "0.2"] {
        fails(here.path(), &run("corvette_c5", "impulse", "drop-settle", dt), 1, &["--dt-s", "at most 0.1 s"]);
    }
    fails(here.path(), &["run", "--vehicle", "corvette_c5"], 2, &["--solver"]);
    fails(here.path(), &["fly"], 2, &["fly"]);
}

#[test]
fn check_tells_figures_of_a_valid_vehicle_and_fails_for_a_broken_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = works(folder.path(), &["check", "corvette_c5", "truck_6x4"]);
    assert!(text.contains("Ride frequency") && text.contains("Static load") && text.contains("3r"), "{text}");
    std::fs::write(folder.path().join("broken.toml"), "name = 3\nmas_kg = 1\n").expect("writable");
    fails(folder.path(), &["check", "corvette_c5", "broken.toml"], 1, &["broken.toml", "mas_kg", "chassis"]);
}

/// Checks that changes by `--set` reach the figures of each vehicle, and that a refused change is reported for one
/// vehicle without ending the command.
#[test]
fn check_derives_figures_of_changed_vehicles() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let loads = |changes: &[&str]| {
        let text = works(folder.path(), &[&["check", "--json", "corvette_c5", "bmw_320i_mf"], changes].concat());
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        ["corvette_c5", "bmw_320i_mf"].map(|car| json[car]["wheels"]["1l"]["static_load_n"].as_f64().expect("a load"))
    };
    for (own, changed) in loads(&[]).into_iter().zip(loads(&["--set", "chassis.mass_kg=1700"])) {
        assert!(changed > own, "{own} {changed}");
    }
    let hitch = ["check", "corvette_c5", "toyota_4runner", "--set", "hitch.carried_mass_kg=10"];
    fails(folder.path(), &hitch, 1, &["--set", "hitch"]);
    // Only the second car has a hitch.
    let output = skidpad(folder.path(), &hitch);
    assert!(String::from_utf8_lossy(&output.stdout).contains("toyota_4runner"), "{output:?}");
    fails(folder.path(), &["check", "corvette_c5", "--set", "mass=-1"], 1, &["with --set", "mass_kg", "-1"]);
}

#[test]
fn lists_and_schema_are_complete() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let all = works(here.path(), &["list"]);
    for name in ["corvette_c5", "impulse", "park-hold", "yaw_rate_radps", "load_n.<wheel>"] {
        assert!(all.contains(name), "{name}");
    }
    let solvers = works(here.path(), &["list", "solvers"]);
    assert!(!solvers.contains("corvette_c5") && solvers == works(here.path(), &["list", "backends"]));
    let grounds = works(here.path(), &["list", "grounds"]);
    for told in
        ["OpenCRG", "OBJ or glTF", "constraint-unsprung", "plane, boxes, height fields, meshes", "discs", "rays only"]
    {
        assert!(grounds.contains(told), "{told}: {grounds}");
    }
    // Modes have the wheels of skidpad.
    let rims = |name: &str| grounds.lines().any(|line| line.starts_with(name) && line.ends_with("tori"));
    assert!(rims("constraint-pyramid") && !rims("bullet"), "{grounds}");
    let schema: serde_json::Value = serde_json::from_str(&works(here.path(), &["schema"])).expect("JSON");
    assert!(schema["properties"]["chassis"].is_object());
    let schema: serde_json::Value = serde_json::from_str(&works(here.path(), &["schema", "scene"])).expect("JSON");
    assert!(schema["properties"]["slope_deg"].is_object());
}

/// Checks that the keys of a file with old names are listed in one warning, with their places and their new names.
#[test]
fn old_keys_are_listed_with_their_new_names() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = skidpad::spec::shipped::find("corvette_c5").expect("shipped");
    let old_text = text.replace("\nfront_bias =", "\nfront_share =").replace("\ntorque_split =", "\naxle_shares =");
    std::fs::write(folder.path().join("old.toml"), &old_text).expect("writable");
    let table = works(folder.path(), &["check", "old.toml"]);
    assert_eq!(table.matches("keys with old names").count(), 1, "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&works(folder.path(), &["check", "--json", "old.toml"])).expect("JSON");
    let lines = json["old.toml"]["old_keys"].as_array().expect("a list");
    for (i, (old, new)) in [("front_share", "front_bias"), ("axle_shares", "torque_split")].into_iter().enumerate() {
        let line = 1 + old_text[..old_text.find(old).expect(old)].matches('\n').count();
        let told = format!("old.toml:{line}: `{old}` is now `{new}`");
        assert!(table.contains(&told), "no `{told}` in {table}");
        assert_eq!(lines[i], told);
    }
    let shipped = works(folder.path(), &["check", "corvette_c5"]);
    assert!(!shipped.contains("old names"), "{shipped}");
}

/// Checks that former names of options and manoeuvres are accepted.
#[test]
fn former_names_are_accepted() {
    let folder = with_a_car(skidpad::spec::shipped::find("corvette_c5").expect("shipped"));
    let run = ["run", "--vehicle", "car.toml", "--backend", "impulse", "--manoeuvre", "settle", "--duration-s", "0.1"];
    works(folder.path(), &[&run[..], &["--dt-s", "0.005", "--out", "t.csv"]].concat());
    let compare = ["compare", "--vehicle", "car.toml", "--backends", "impulse", "--manoeuvre", "roll"];
    works(folder.path(), &[&compare[..], &["--duration-s", "0.1"]].concat());
}
