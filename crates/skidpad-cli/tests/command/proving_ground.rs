//! Tests of road tests, exports, changed fields and lost cars.

use crate::{fails, figures, skidpad, works};

/// Every figure of the C5 is within its tolerance with every solver. A car of 2.5 t fails and names the field that was
/// set in no fault.
#[test]
fn the_corvette_passes_its_road_test() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = works(folder.path(), &["road-test", "corvette_c5"]);
    assert_eq!(text.matches("  pass").count(), 6, "{text}");
    for word in ["rapier", "impulse", "constraint", "measured, fitted", "Car and Driver"] {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
    let heavy = ["road-test", "corvette_c5", "--solvers", "impulse", "--set", "mass=2500", "--json"];
    let output = skidpad(folder.path(), &heavy);
    assert_eq!(output.status.code(), Some(3));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json["passed"], &json["figures"][0]["verdict"]), (&false.into(), &"fail".into()), "{json}");
    assert!(json["figures"][0]["simulated"]["impulse"].as_f64().is_some_and(|time| time > 6.0), "{json}");
}

/// A figure without a tolerance is not judged. A vehicle without published figures is rejected.
#[test]
fn figures_without_tolerance_are_not_judged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = works(folder.path(), &["road-test", "kart", "--solvers", "impulse"]);
    assert!(text.contains("  pass") && text.contains("not judged"), "{text}");
    fails(folder.path(), &["road-test", "truck_6x4"], 1, &["no published figures", "[[references]]"]);
}

/// Wrong changes of fields are reported with the accepted form.
#[test]
fn fields_that_a_vehicle_does_not_have_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (change, words) in [
        ("mass", &["--set", "FIELD=VALUE"][..]),
        ("weight=3", &["--set", "unknown field", "weight"]),
        ("mass=-3", &["chassis.mass_kg", "-3", "--set"]),
    ] {
        fails(folder.path(), &["road-test", "corvette_c5", "--set", change], 1, words);
    }
}

/// JSON has metrics, health and the selected rows of the selected channels; CSV has the long columns.
#[test]
fn comparisons_are_exported_as_json_and_csv() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let compare = ["compare", "--manoeuvre", "braking", "--solvers", "impulse", "--json", "-"];
    let history = ["--channels", "t_s,load_n.1l", "--every", "24", "--metrics-csv", "metrics.csv"];
    let json: serde_json::Value =
        serde_json::from_str(&works(folder.path(), &[&compare[..], &history].concat())).expect("JSON");
    let run = &json["runs"][0];
    assert_eq!((&run["manoeuvre"], &run["solver"]), (&"braking".into(), &"impulse".into()), "{run}");
    let times: Vec<f64> =
        run["history"]["t_s"].as_array().expect("a list").iter().filter_map(serde_json::Value::as_f64).collect();
    assert!(times.len() > 50 && (times[1] - 0.1).abs() < 1e-9, "{times:?}");
    assert_eq!(run["history"]["load_n.1l"].as_array().map(Vec::len), Some(times.len()));
    assert!(run["metrics"]["distance_m"].is_f64() && run["health"]["lost_control"].is_null(), "{run}");
    let table = std::fs::read_to_string(folder.path().join("metrics.csv")).expect("written");
    let start = "standard,group,metric,value,units,description\nISO 21994,braking/impulse,distance_m,";
    assert!(table.starts_with(start), "{table}");
    let unknown = [&compare[..], &["--channels", "speed,t_s"]].concat();
    fails(folder.path(), &unknown, 1, &["--channels", "speed", "skidpad list channels"]);
}

/// A car whose wheels lock on split grip spins: the exit code tells.
#[test]
fn a_lost_car_has_an_exit_code() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--manoeuvre", "split-mu"];
    let selected = ["--out", "run.csv", "--channels", "t_s,yaw_rad", "--every", "10"];
    fails(folder.path(), &[&run[..], &selected].concat(), 3, &["the car was lost", "sideslip angle"]);
    let table = std::fs::read_to_string(folder.path().join("run.csv")).expect("written");
    assert!(table.starts_with("t_s,yaw_rad\n0,0\n"), "{table}");
}

/// Completions of each shell contain the subcommands.
#[test]
fn shells_complete_subcommands() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(works(folder.path(), &["completions", shell]).contains("road-test"), "{shell}");
    }
}

/// A car that fails FMVSS 126 ends the command with exit code 3 and a warning.
#[test]
fn a_failed_stability_test_has_an_exit_code() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fails(folder.path(), &stability_test("corvette_c5", &["--rate-hz", "120"]), 3, &[FAILED_TEST]);
}

/// Warning about a car that fails FMVSS 126.
const FAILED_TEST: &str = "warning: impulse: the car failed the test";

/// Returns the arguments of FMVSS 126 with `vehicle` and `options`, which write the metrics to `t.json`.
fn stability_test<'a>(vehicle: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    let run = ["run", "--vehicle", vehicle, "--solver", "impulse", "--manoeuvre", "fmvss-126"];
    [&run[..], &["--out", "t.csv", "--channels", "t_s", "--metrics-json", "t.json"], options].concat()
}

/// A car that rolls onto its side fails FMVSS 126, although its yaw rate is then 0.
#[test]
fn a_car_that_rolls_over_fails_the_stability_test() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fails(folder.path(), &stability_test("bmw_320i_mf", &[]), 3, &[FAILED_TEST]);
    let metrics = figures(folder.path());
    assert_eq!(metrics["passed"], 0.0, "{metrics}");
    let [driven, failed] =
        ["largest_amplitude_deg", "failed_amplitude_deg"].map(|name| metrics[name].as_f64().expect("a number"));
    assert!((driven - failed).abs() < 0.01, "{metrics}");
}

/// The largest steering-wheel angle is the driven one. A steering wheel that turns by at most 80 °/s cannot follow a
/// sine of 0.7 Hz beyond 18°, and the dwell of 0.5 s is too short for 60°.
#[test]
fn a_slow_steering_does_not_reach_the_amplitude() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let slow = ["--set", "steering.rate_deg_per_s=5", "--rate-hz", "120"];
    skidpad(folder.path(), &stability_test("corvette_c5", &slow));
    let metrics = figures(folder.path());
    let [driven, planned] =
        ["largest_amplitude_deg", "planned_amplitude_deg"].map(|name| metrics[name].as_f64().expect("a number"));
    assert!((20.0..60.0).contains(&driven) && planned == 270.0, "{metrics}");
}

/// A format that is not part of the build is refused before the run, with the feature to add. `compare` writes no CSV
/// with `--telemetry`.
#[test]
fn formats_that_are_not_built_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--manoeuvre", "braking", "--out"];
    for (feature, is_built) in [("mcap", cfg!(feature = "mcap")), ("parquet", cfg!(feature = "parquet"))] {
        let file = format!("t.{feature}");
        if is_built {
            works(folder.path(), &[&run[..], &[&file]].concat());
            assert!(folder.path().join(&file).metadata().is_ok_and(|metadata| metadata.len() > 1000));
        } else {
            let help = format!("--features {feature}");
            fails(folder.path(), &[&run[..], &[&file]].concat(), 1, &["--out", &help]);
        }
    }
    let compare = ["compare", "--manoeuvre", "braking", "--telemetry", "t.csv"];
    fails(folder.path(), &compare, 1, &["--telemetry", "`.parquet` or `.mcap`"]);
    fails(folder.path(), &[&run[..], &["t.JSON"]].concat(), 1, &["--out", "t.JSON", "`run.csv`"]);
}
