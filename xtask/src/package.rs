//! Packages as they are published, and a game that is built from them.

use std::path::Path;

use crate::run::{Outcome, cargo, install, root, run};

/// Version of cargo-semver-checks that is installed when there is none.
const SEMVER_CHECKS: &str = "0.51.0";

/// Every package, its files alone; each is built from them if `built`.
pub fn packages(built: bool) -> Outcome {
    let verify = if built { "" } else { " --no-verify" };
    run(cargo(&format!("package --workspace --exclude xtask --offline --allow-dirty --quiet{verify}")))
}

/// A crate outside of the repository that takes `impulse` alone drives a car.
pub fn game() -> Outcome {
    packages(false)?;
    let folder = root().join("target/package");
    let game = root().join("target/game");
    std::fs::create_dir_all(game.join("src")).map_err(|error| format!("{}: {error}", game.display()))?;
    let mut patches = String::new();
    for name in unpacked(&folder)? {
        let place = folder.join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
        patches.push_str(&format!("{name} = {{ path = {:?} }}\n", place.display().to_string()));
    }
    write(&game.join("Cargo.toml"), &format!("{MANIFEST}\n[patch.crates-io]\n{patches}"))?;
    write(&game.join("src/main.rs"), PROGRAM)?;
    // The versions that the project is tested with.
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    write(&game.join("Cargo.lock"), &lock)?;
    let mut command = cargo("run --offline --quiet");
    command.current_dir(&game);
    run(command)
}

/// Public items that are gone or changed since `baseline` need another version.
pub fn semver(baseline: &str) -> Outcome {
    install("semver-checks", SEMVER_CHECKS)?;
    run(cargo(&format!("semver-checks --workspace --exclude xtask --baseline-rev {baseline}")))
}

const MANIFEST: &str = r#"[package]
name = "game"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
skidpad = { version = "0.1.0", default-features = false, features = ["impulse"] }
"#;

const PROGRAM: &str = r#"use skidpad::prelude::*;

fn main() {
    let model = skidpad::spec::load("corvette_c5").expect("it is inside").model;
    let start = CarStart { model, placement: Placement::default() };
    let mut world = (skidpad::impulse::BACKEND.build)(&Scene::flat(), &[start], 1.0 / 60.0);
    for _ in 0..120 {
        world.step(&[Controls { throttle: 1.0, ..Controls::default() }]);
    }
    let speed = world.state(0).velocity.length();
    assert!(speed > 5.0, "{speed} m/s");
    println!("a game from packages alone drives {speed:.1} m/s after 2 s");
}
"#;

/// Unpacks every package of this version in `folder`; their names.
fn unpacked(folder: &Path) -> Result<Vec<String>, String> {
    let end = format!("-{}.crate", env!("CARGO_PKG_VERSION"));
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(&end)?.to_owned()))
        .collect();
    names.sort();
    for name in &names {
        let mut command = std::process::Command::new("tar");
        command.arg("xzf").arg(format!("{name}{end}")).current_dir(folder);
        run(command)?;
    }
    Ok(names)
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
