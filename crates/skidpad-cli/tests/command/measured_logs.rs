//! Measured logs beside runs, and published figures beside simulated ones.

use super::{fails, works};

/// A log of the run itself deviates by the planted offset only, is drawn in the report and named in its key. Published
/// figures of the manoeuvre are beside the simulated ones.
#[test]
fn a_measured_log_is_compared_with_each_solver() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--manoeuvre", "braking", "--out", "t.csv"];
    works(folder.path(), &[&run[..], &["--channels", "t_s,vx_mps,ax_mps2"]].concat());
    let text = std::fs::read_to_string(folder.path().join("t.csv")).expect("written");
    std::fs::write(folder.path().join("log.csv"), text.replacen("t_s,vx_mps", "Time,Speed", 1)).expect("writable");
    let log = ["--log", "log.csv", "--log-columns", "t_s=Time,vx_mps={column=\"Speed\",offset=0.5}"];
    let compare = ["compare", "--manoeuvre", "braking", "--solvers", "impulse", "--out", ".", "--json", "c.json"];
    let printed = works(folder.path(), &[&compare[..], &log].concat());
    assert!(printed.contains("deviations from log.csv") && printed.contains("vx_mps"), "{printed}");
    let json = std::fs::read_to_string(folder.path().join("c.json")).expect("written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let deviation = |channel: &str, key: &str| json["runs"][0]["log_deviations"][channel][key].as_f64();
    for key in ["rms", "largest"] {
        let sign = if key == "rms" { 1.0 } else { -1.0 };
        assert!(deviation("vx_mps", key).is_some_and(|value| (value - sign * 0.5).abs() < 1e-6), "{json}");
        assert!(deviation("ax_mps2", key).is_some_and(|value| value.abs() < 1e-6), "{json}");
    }
    let page = std::fs::read_to_string(folder.path().join("corvette_c5_braking.html")).expect("written");
    for part in ["measured log log.csv, 2 channels", "\"line\":\"m\"", "Deviations from the measured log"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("Published figures of the real car") && page.contains("97 km/h to 0, threshold of locking"));
}

/// All faults of the log are reported at once, before the run.
#[test]
fn faults_of_a_log_are_reported_before_the_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("log.csv"), "t_s,v\n0,1\n0,x\n").expect("writable");
    let compare = ["compare", "--manoeuvre", "braking", "--out", ".", "--log", "log.csv"];
    let with = |columns: &'static str| [&compare[..], &["--log-columns", columns]].concat();
    fails(folder.path(), &with("vx=v"), 1, &["log.csv: line 3, column `t_s`", "unknown channel `vx`", "found `x`"]);
    fails(folder.path(), &with("vx_mps={col=1}"), 1, &["--log-columns", "col"]);
    fails(folder.path(), &with("vx_mps=w"), 1, &["no column `w`"]);
    fails(folder.path(), &["compare", "--log", "missing.csv"], 1, &["missing.csv"]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}
