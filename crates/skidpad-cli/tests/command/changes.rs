//! Changes of a manoeuvre: rejected starts, and figures without a value after a change of the duration or with a trailer.

use super::{fails, figures, skidpad, with_a_car, works};

fn run<'a>(manoeuvre: &'a str, changes: &[&'a str]) -> Vec<&'a str> {
    let fixed =
        ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--out", "t.csv", "--metrics-json", "t.json"];
    [&fixed[..], &["--manoeuvre", manoeuvre], changes].concat()
}

/// Checks that every command that runs a manoeuvre rejects a start with one message, which names the origin of the value and a remedy.
#[test]
fn starts_that_a_manoeuvre_does_not_take_are_refused() {
    let folder = with_a_car("");
    let fast = ["--initial-speed-mps", "30"];
    let told = ["--initial-speed-mps: a start at 30 m/s", "`circle` starts at 7.071 m/s only", "remove this setting"];
    fails(folder.path(), &run("circle", &fast), 1, &told);
    fails(folder.path(), &[&["compare", "--manoeuvre", "circle"], &fast[..]].concat(), 1, &told);
    fails(folder.path(), &[&["certify", "--manoeuvre", "circle"], &fast[..]].concat(), 1, &told);
    fails(folder.path(), &run("braking", &["--initial-speed-mps", "-20"]), 1, &["more than 0.005 m/s"]);
    let turned = ["--heading-deg: a start with a heading of 180.0°", "at the origin towards +x"];
    fails(folder.path(), &run("moose", &["--heading-deg", "180"]), 1, &turned);
    let sloped = ["--slope-deg: a start on other ground", "`tilt-table` has its own ground"];
    fails(folder.path(), &run("tilt-table", &["--slope-deg", "5"]), 1, &sloped);
    let named = ["compare", "--manoeuvre", "tilt-table", "--solvers", "impulse,bullet"];
    fails(folder.path(), &named, 1, &["--solvers: `bullet` for the moving ground of `tilt-table`"]);
    std::fs::write(folder.path().join("s.toml"), "speed_mps = 9\nstart_m = [3, 0, 0]\n").expect("writable");
    let scene = ["--scene", "s.toml"];
    fails(
        folder.path(),
        &run("launch", &scene),
        1,
        &["`speed_mps` of the scene: a start at 9 m/s", "set --initial-speed-mps"],
    );
    fails(folder.path(), &run("slalom", &scene), 1, &["`start_m` of the scene: a start at x = 3 m, y = 0 m"]);
    assert!(!folder.path().join("t.csv").exists());
    works(folder.path(), &run("launch", &["--scene", "s.toml", "--initial-speed-mps", "0", "--duration-s", "1"]));
}

/// Checks that figures that a run is too short for are null, and that an unfinished course is reported.
#[test]
fn runs_cut_short_tell_no_figure_they_did_not_reach() {
    let folder = with_a_car("");
    works(folder.path(), &run("step-steer", &["--duration-s", "1.6"]));
    assert!(figures(folder.path())["yaw_rate_overshoot_percent"].is_null());
    let output = skidpad(folder.path(), &run("lane-change", &["--duration-s", "2"]));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("impulse: the car did not finish the course (39") && told.contains("150.0 m"), "{told}");
    assert_eq!(output.status.code(), Some(3));
    let found = figures(folder.path());
    assert!(found["cones_hit"].is_null() && found["peak_roll_deg"].is_null(), "{found}");
    works(folder.path(), &run("lane-change", &[]));
    assert_eq!(figures(folder.path())["cones_hit"], 0.0);
    let certify = ["certify", "--manoeuvre", "moose", "--solvers", "impulse", "--rates-hz", "60,120"];
    let told = "impulse, step length 16.67 ms: the car did not finish the course";
    fails(folder.path(), &[&certify[..], &["--duration-s", "1"]].concat(), 3, &[told]);
    let compare = ["compare", "--manoeuvre", "slalom", "--solvers", "impulse,bullet", "--duration-s", "1"];
    fails(folder.path(), &compare, 3, &["impulse: the car did not", "bullet: the car did not"]);
    let page = std::fs::read_to_string(folder.path().join("target/skidpad/corvette_c5_slalom.html")).expect("written");
    assert!(page.contains("bullet: the car did not finish the course"), "{page}");
}

/// Checks that errors of the loads, which are defined for a car without trailer, are null for a car with a trailer.
#[test]
fn a_towed_weight_is_no_error_of_loads() {
    let folder = with_a_car("");
    let settle =
        ["run", "--vehicle", "toyota_4runner", "--solver", "impulse", "--out", "t.csv", "--manoeuvre", "drop-settle"];
    works(folder.path(), &[&settle[..], &["--metrics-json", "t.json", "--towing", "caravan"]].concat());
    let found = figures(folder.path());
    assert!(found["load_sum_error_percent"].is_null() && found["largest_load_error_percent"].is_null(), "{found}");
    assert!(found["load_n.2l"].as_f64().is_some_and(|load| load > 5000.0), "{found}");
}

/// Checks that a parameter of a manoeuvre reaches the run, that several refused parameters are reported at once, and that
/// the list of manoeuvres names parameters.
#[test]
fn parameters_of_a_manoeuvre_are_set_by_name() {
    let folder = with_a_car("");
    works(folder.path(), &run("braking", &["--parameter", "pedal=0.2"]));
    let gentle = figures(folder.path())["distance_m"].as_f64().expect("a distance");
    works(folder.path(), &run("braking", &["--parameter", "pedal=0.4"]));
    let firm = figures(folder.path())["distance_m"].as_f64().expect("a distance");
    // Below the grip the distance is inverse to the pedal, apart from drag and the rise of the pressure.
    assert!((gentle / firm - 2.0).abs() < 0.2, "{gentle} m and {firm} m");
    let refused = ["--parameter", "pedal=3", "--parameter", "radius_m=50"];
    let told =
        ["pedal=3: accepted are pedal from 0.01 to 1", "radius_m=50: accepted are pedal (brake pedal, from 0.01 to 1)"];
    fails(folder.path(), &run("braking", &refused), 1, &told);
    fails(folder.path(), &[&["compare", "--manoeuvre", "braking"], &refused[..]].concat(), 1, &told);
    fails(folder.path(), &[&["certify", "--manoeuvre", "braking"], &refused[..]].concat(), 1, &told);
    fails(folder.path(), &run("braking", &["--parameter", "pedal"]), 1, &["a name and a number, such as radius_m=50"]);
    let list = skidpad(folder.path(), &["list", "manoeuvres"]);
    assert!(
        String::from_utf8_lossy(&list.stdout)
            .contains("--parameter radius_m: radius of the circle, m, from 10 to 1000")
    );
}
