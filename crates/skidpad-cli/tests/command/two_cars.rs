//! Comparisons of two cars.

use super::{fails, works};

/// A change of the car is compared with the state before it: on one page, in the printed table, and in the exports.
#[test]
fn a_change_is_compared_with_the_state_before_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let compare = ["compare", "--against", "corvette_c5", "--set", "mass=1700", "--manoeuvre", "braking"];
    let exports = ["--solvers", "impulse", "--out", ".", "--json", "c.json", "--metrics-csv", "m.csv"];
    let printed = works(folder.path(), &[&compare[..], &exports].concat());
    let head = printed.lines().find(|line| line.contains("difference")).expect("a table");
    let columns: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(columns, ["unit", "before", "after", "difference", "%", "spread"], "{printed}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
    let page = read("corvette_c5_against_corvette_c5_braking.html");
    for part in ["before and after a change", "\"name\":\"before, impulse\"", "\"name\":\"after, impulse\"", "+10.03 %"]
    {
        assert!(page.contains(part), "{part}");
    }
    let json: serde_json::Value = serde_json::from_str(&read("c.json")).expect("JSON");
    let distance = |object: &serde_json::Value| object["runs"][0]["metrics"]["distance_m"].as_f64().expect("a number");
    assert!(distance(&json) > distance(&json["against"]), "{json}");
    let metrics = read("m.csv");
    assert!(metrics.contains("braking/impulse/before,") && metrics.contains("braking/impulse/after,"), "{metrics}");
}

/// Checks that a comparison names both vehicles by their files, and rejects more than three solvers, because their curves
/// would share lines.
#[test]
fn two_vehicles_are_named_by_their_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let compare = ["compare", "--vehicle", "bmw_320i_mf", "--against", "corvette_c5", "--manoeuvre", "braking"];
    let printed = works(folder.path(), &[&compare[..], &["--solvers", "impulse", "--out", "."]].concat());
    assert!(printed.contains("corvette_c5  bmw_320i_mf  difference"), "{printed}");
    let four = ["--solvers", "impulse,constraint,rapier,bullet"];
    fails(folder.path(), &[&compare[..], &four].concat(), 1, &["--solvers", "at most 3 solvers with --against"]);
}

/// An interrupt ends separate reports after the present manoeuvre, with complete files.
#[cfg(unix)]
#[test]
fn an_interrupt_finishes_the_present_manoeuvre() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let manoeuvres = "braking,coast-down,circle,slalom,step-steer,acceleration,moose,lane-change,top-speed";
    let compare = ["compare", "--manoeuvre", manoeuvres, "--separate", "--solvers", "impulse", "--rate-hz", "1000"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_skidpad"))
        .args([&compare[..], &["--out", "out"]].concat())
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let count = |ending: &str| {
        let entries = std::fs::read_dir(folder.path().join("out")).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(ending)).count()
    };
    while count(".done.json") < 1 && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs").success());
    let output = child.wait_with_output().expect("a child");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("Run the command again to continue"), "{message}");
    let reports = count(".done.json");
    assert!((1..9).contains(&reports) && [count(".html"), count(".csv")] == [reports; 2]);
}
