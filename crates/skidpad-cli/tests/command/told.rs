//! Texts of help and faults: printed once, with the place and a remedy.

use super::{fails, skidpad, with_a_car, works};

const SHORT_RUN: [&str; 9] =
    ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--manoeuvre", "drop-settle", "--duration-s", "0.1"];

/// Checks that a fault of an output is reported before anything is simulated.
#[test]
fn outputs_that_cannot_be_written_are_told_before_the_run() {
    let folder = with_a_car("");
    let output = skidpad(folder.path(), &[&SHORT_RUN[..], &["--out", "."]].concat());
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a file name"), "{output:?}");
    std::fs::create_dir(folder.path().join("d.csv")).expect("writable");
    let output = skidpad(folder.path(), &[&SHORT_RUN[..], &["--out", "d.csv"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), told.matches("directory").count()), (Some(1), 1), "{told}");
    assert!(told.contains("name a file in it") && output.stdout.is_empty(), "{told}");
    for command in [&["compare"][..], &["certify"]] {
        let output = skidpad(folder.path(), &[command, &["--out", "car.toml"]].concat());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("name another folder") && output.stdout.is_empty(), "{told}");
    }
}

#[test]
fn numbers_that_are_not_accepted_are_told_once() {
    let folder = with_a_car("");
    let output = skidpad(folder.path(), &[&SHORT_RUN[..], &["--out", "a.csv", "--rate-hz", "0"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.matches("accepted").count() == 1 && told.contains("a finite step rate of at least 10 Hz"), "{told}");
    fails(folder.path(), &["certify", "--within-percent", "-1"], 1, &["--within-percent: -1", "above 0"]);
    fails(folder.path(), &["certify", "--rates-hz", "-60,120"], 1, &["--rates-hz: -60", "at least 10 Hz"]);
}

#[test]
fn files_that_say_nothing_are_told_by_their_place() {
    let folder = with_a_car("");
    std::fs::write(folder.path().join("e.prefab"), "").expect("writable");
    let import = ["import", "--from", "unity", "e.prefab", "--out", "o.toml"];
    fails(folder.path(), &import, 1, &["the file: no Rigidbody"]);
    std::fs::write(folder.path().join("latin.toml"), b"name = \"caf\xe9\"\n").expect("writable");
    fails(folder.path(), &["check", "latin.toml"], 1, &["line 1, column 12 is not UTF-8"]);
}

#[test]
fn help_tells_codes_columns_and_floors() {
    let folder = with_a_car("");
    assert!(works(folder.path(), &["--help"]).contains("Exit codes: 0 success"));
    let run = works(folder.path(), &["run", "--help"]);
    for [column, ..] in skidpad::lab::script::COLUMN_DESCRIPTIONS {
        assert!(run.contains(column), "{column}: {run}");
    }
    assert!(run.contains("Steering is interpolated linearly"), "{run}");
    let brief = works(folder.path(), &["run", "-h"]);
    assert!(!brief.contains("starter") && brief.contains("`run --help` lists the columns"), "{brief}");
    let certify = ["certify", "--manoeuvre", "drop-settle", "--solvers", "impulse", "--rates-hz", "60,120"];
    let told = works(folder.path(), &certify);
    assert!(told.contains("lengths in mm within 3 mm, times within half a step"), "{told}");
    assert!(works(folder.path(), &["certify", "--help"]).contains("within 3 mm"));
}

/// Checks that the stable step of reference vehicles is unknown for a trailer with one axle, whose springs do not hold
/// it upright. The step of a solver with implicit springs is any step.
#[test]
fn the_stable_step_of_a_trailer_is_not_any_step() {
    let folder = with_a_car("");
    let table = works(folder.path(), &["check", "caravan"]);
    let row = |solver: &str| {
        let mut rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.find(|words| words.first() == Some(&solver)).unwrap_or_else(|| panic!("{table}"))
    };
    assert_eq!((row("impulse")[1], row("bullet")[1], row("rapier-stock")[1]), ("any", "-", "-"), "{table}");
    assert!(table.contains("the springs alone do not hold the unit upright"), "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&works(folder.path(), &["check", "--json", "caravan"])).expect("JSON");
    let steps = &json["caravan"]["longest_stable_step_ms"];
    assert!(steps["impulse"].is_null() && steps["bullet"] == "unknown", "{steps}");
}
