//! Files of strangers: what they name elsewhere is not read, what they contain does not act on the terminal, and they take neither time
//! nor memory without bound.

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
        let on_scene = ["run", "--vehicle", "corvette_c5", "--backend", "impulse", "--scene", "scene.toml", "--out", "t.csv"];
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
    fails(&folder, &["check", "--allow-root", "nowhere", "car.toml"], 1, &["--allow-root", "a folder that is there"]);
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_end_no_command() {
    let folder = with_a_car("");
    assert!(std::process::Command::new("mkfifo").arg(folder.path().join("pipe.toml")).status().expect("mkfifo").success());
    let run = ["run", "--backend", "impulse", "--out", "t.csv"];
    let steered = ["--vehicle", "corvette_c5", "--controls"];
    for path in ["pipe.toml", "/dev/zero"] {
        for command in [
            &["check", path][..],
            &["import", "--from", "bullet", path, "--out", "o.toml"],
            &[&run[..], &["--vehicle", path, "--manoeuvre", "settle"]].concat(),
            &[&run[..], &["--vehicle", "corvette_c5", "--scene", path]].concat(),
            &[&run[..], &steered, &[path]].concat(),
        ] {
            // `check` takes what neither ends in `.toml` nor has a separator for a name.
            fails(folder.path(), command, 1, &["name a regular file"]);
        }
    }
}
