//! Untrusted files: files that they name in other folders are not read, their content does not act on the terminal, and their use of
//! time and memory is bounded.

use super::{fails, skidpad, with_a_car, works};
use std::path::Path;

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("writable");
}

fn on_tyre(tyre: &str) -> String {
    let text = skidpad::spec::shipped::find("corvette_c5_mf").expect("shipped");
    text.replace("tyres/c5_front.tir", tyre).replace("tyres/c5_rear.tir", tyre)
}

#[test]
fn files_elsewhere_are_neither_read_nor_printed() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let folder = outer.path().join("own");
    std::fs::create_dir(&folder).expect("writable");
    write(outer.path(), "secret", "root:x:0:0:secret\n");
    let absolute = outer.path().join("secret").to_string_lossy().into_owned();
    for way in ["../secret", &absolute] {
        write(&folder, "car.toml", &on_tyre(way));
        write(&folder, "scene.toml", &format!("[[crg]]\nfile = {way:?}\n"));
        let on_scene =
            ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--scene", "scene.toml", "--out", "t.csv"];
        for command in [&["check", "car.toml"][..], &on_scene] {
            let output = skidpad(&folder, command);
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{told}");
            assert!(told.contains("lies outside") && told.contains(".toml:") && !told.contains("root:x"), "{told}");
        }
    }
    let tyre = skidpad::spec::tir::find("c5_rear").expect("shipped");
    write(outer.path(), "own.tir", tyre);
    write(&folder, "car.toml", &on_tyre("../own.tir"));
    fails(&folder, &["check", "car.toml"], 1, &["car.toml:", "../own.tir", "lies outside", "--allow-root"]);
    assert!(works(&folder, &["check", "--allow-root", "..", "car.toml"]).contains("valid"));
    fails(&folder, &["check", "--allow-root", "nowhere", "car.toml"], 1, &["--allow-root", "an existing folder"]);
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_end_no_command() {
    let folder = with_a_car("");
    assert!(
        std::process::Command::new("mkfifo").arg(folder.path().join("pipe.toml")).status().expect("mkfifo").success()
    );
    let run = ["run", "--solver", "impulse", "--out", "t.csv"];
    let steered = ["--vehicle", "corvette_c5", "--controls"];
    for path in ["pipe.toml", "/dev/zero"] {
        for command in [
            &["check", path][..],
            &["import", "--from", "bullet", path, "--out", "o.toml"],
            &[&run[..], &["--vehicle", path, "--manoeuvre", "drop-settle"]].concat(),
            &[&run[..], &["--vehicle", "corvette_c5", "--scene", path]].concat(),
            &[&run[..], &steered, &[path]].concat(),
        ] {
            // `check` treats an argument as a name unless it ends in `.toml` or has a path separator.
            fails(folder.path(), command, 1, &["name a regular file"]);
        }
    }
}

/// Checks that neither a name in a file nor the name of a file acts on the terminal.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let car = skidpad::spec::shipped::find("corvette_c5").expect("shipped");
    let (start, end) = (car.find("name = ").expect("a name"), car.find("\ndescription").expect("a description"));
    let named = format!("{}name = \"\\u001b[2J\\nforged.toml: valid\\u202e\\u009b\"{}", &car[..start], &car[end..]);
    let folder = with_a_car(&named);
    write(folder.path(), "broken\u{1b}[2J.toml", "name = 3 # \u{202e}\u{9b}\n\"\\u001b[2J\" = 1\n");
    let run = [
        "compare",
        "--vehicle",
        "car.toml",
        "--manoeuvre",
        "drop-settle",
        "--solvers",
        "impulse",
        "--duration-s",
        "0.1",
    ];
    for command in [
        &["check", "car.toml", "broken\u{1b}[2J.toml", "none\u{1b}[2J"][..],
        &["check", "--json", "car.toml"],
        &["--\u{1b}[2J"],
        &[
            "run",
            "--vehicle",
            "none\u{1b}[2J",
            "--solver",
            "x\u{1b}[2J",
            "--manoeuvre",
            "drop-settle",
            "--out",
            "t.csv",
        ],
        &run,
    ] {
        let output = skidpad(folder.path(), command);
        for text in [output.stdout, output.stderr] {
            let text = String::from_utf8(text).expect("text");
            let bad = |c: &char| *c != '\n' && (c.is_control() || *c == '\u{202e}');
            assert_eq!(text.chars().find(bad), None, "{command:?}: {text:?}");
            assert!(!text.lines().any(|line| line.starts_with("forged")), "{text}");
        }
    }
    let page = std::fs::read_to_string(folder.path().join("target/skidpad/car_drop-settle.html")).expect("written");
    assert!(page.contains("<title>\\u001b[2J") && !page.contains(['\u{1b}', '\u{202e}', '\u{9b}']));
}

/// Checks the report of a fault beyond the widest line that can be drawn.
#[test]
fn long_lines_are_shown_in_a_window() {
    let far = " ".repeat(70_000);
    let folder = with_a_car(&format!("{far}x"));
    write(folder.path(), "c.csv", &format!("t_s,throttle\n0,{far}9\n"));
    let run = ["run", "--vehicle", "corvette_c5", "--solver", "impulse", "--controls", "c.csv", "--out", "t.csv"];
    for (command, place) in [(&["check", "car.toml"][..], "car.toml:1:70001"), (&run, "c.csv:2:")] {
        let output = skidpad(folder.path(), command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(place) && told.len() < 5000, "{} bytes", told.len());
    }
}

#[cfg(unix)]
#[test]
fn a_file_size_limit_is_a_write_error() {
    let folder = with_a_car("");
    let run = "run --vehicle corvette_c5 --solver impulse --manoeuvre drop-settle --out t.csv";
    let script = format!("ulimit -f 1; exec {} {run}", env!("CARGO_BIN_EXE_skidpad"));
    let output =
        std::process::Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().expect("sh");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.to_lowercase().contains("file too large"), "{told}");
}
