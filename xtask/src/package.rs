//! Packages as they are published, and a game and an app that are built from them.

use std::path::Path;

use crate::run::{Outcome, cargo, install, read_text, root, run, write_text};

/// Version of cargo-semver-checks that is installed if none is installed.
const SEMVER_CHECKS_VERSION: &str = "0.51.0";

/// Packages every published crate of the first workspace, offline and with uncommitted changes. If
/// `is_built`, builds each package from its packaged files alone.
pub fn package_workspace(is_built: bool) -> Outcome {
    let verify_option = if is_built { "" } else { " --no-verify" };
    run(cargo(&format!(
        "package --workspace --exclude xtask --exclude others --exclude skidpad-python --offline --allow-dirty --quiet{verify_option}"
    )))
}

/// Builds and runs a game outside of the repository, which uses the packaged `skidpad` with `impulse` alone. Packages
/// the workspace and unpacks the packages first.
pub fn build_game() -> Outcome {
    // The dependencies are only packaged.
    let is_built = false;
    package_workspace(is_built)?;
    let patches = unpack_packages(&root().join("target/package"))?;
    build_outside_workspace("game", GAME_MANIFEST, GAME_PROGRAM, &patches, "Cargo.lock", "run --offline --quiet")
}

/// Packages the crates for Bevy against the packaged crates of the first workspace, and checks, without building or
/// running it, an app outside of the repository that uses these packages.
pub fn check_bevy_app() -> Outcome {
    // The dependencies are only packaged.
    let is_built = false;
    package_workspace(is_built)?;
    let mut patches = unpack_packages(&root().join("target/package"))?;
    let patch_options: String =
        patches.iter().map(|(name, folder)| format!(" --config patch.crates-io.{name}.path={folder:?}")).collect();
    let package_command = "package --manifest-path crates/bevy/Cargo.toml --no-verify --offline --allow-dirty --quiet";
    run(cargo(&format!("{package_command}{patch_options}")))?;
    // The app uses the packages of both workspaces.
    patches.extend(unpack_packages(&root().join("crates/bevy/target/package"))?);
    let check_command = "check --offline --quiet --ignore-rust-version";
    build_outside_workspace("app", BEVY_MANIFEST, BEVY_PROGRAM, &patches, "crates/bevy/Cargo.lock", check_command)
}

/// Writes a crate called `name` with this manifest and program to `target`, and runs cargo with `cargo_arguments` on
/// it, as if it were outside of the repository. `patches` (name, folder) replace published packages. First writes the
/// manifest with the patches, the program and the lock file. `lock_path` is the lock file, relative to the workspace,
/// whose versions are used. Existing files are overwritten. The command runs in the temporary folder of the system.
fn build_outside_workspace(
    name: &str,
    manifest: &str,
    program: &str,
    patches: &[(String, String)],
    lock_path: &str,
    cargo_arguments: &str,
) -> Outcome {
    let folder = root().join("target").join(name);
    std::fs::create_dir_all(folder.join("src")).map_err(|error| format!("{}: {error}", folder.display()))?;
    let patch_lines: String = patches
        .iter()
        .map(|(package, package_folder)| format!("{package} = {{ path = {package_folder:?} }}\n"))
        .collect();
    write_text(&folder.join("Cargo.toml"), &format!("{manifest}\n[patch.crates-io]\n{patch_lines}"))?;
    write_text(&folder.join("src/main.rs"), program)?;
    let lock_text = read_text(&root().join(lock_path))?;
    write_text(&folder.join("Cargo.lock"), &lock_text)?;
    let mut command = cargo(cargo_arguments);
    // Runs in a folder outside of the repository, since cargo would read the repository's profiles, which a game does
    // not have.
    command.arg("--manifest-path").arg(folder.join("Cargo.toml")).current_dir(std::env::temp_dir());
    run(command)
}

/// Checks with cargo-semver-checks that the version number matches the public items that were removed or changed since
/// the git revision `baseline`. Installs the tool if it is missing.
pub fn semver(baseline: &str) -> Outcome {
    install("semver-checks", SEMVER_CHECKS_VERSION)?;
    run(cargo(&format!(
        "semver-checks --workspace --exclude xtask --exclude others --exclude skidpad-python --baseline-rev {baseline}"
    )))
}

/// Manifest of the game.
const GAME_MANIFEST: &str = r#"[package]
name = "game"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
skidpad = { version = "0.1.0", default-features = false, features = ["impulse"] }
"#;

/// Program of the game: drives a car for 2 s at full throttle and panics if it is slower than 5 m/s.
const GAME_PROGRAM: &str = r#"use skidpad::prelude::*;

fn main() {
    let model = skidpad::spec::load("corvette_c5").expect("it is inside").model;
    let mut world = World::new(Solver::Impulse, &Scene::flat(), 1.0 / 60.0);
    let car = world.spawn(&model, Placement::default());
    world.controls_mut(car).expect("it is there").throttle = 1.0;
    for _ in 0..120 {
        world.step();
    }
    let speed = world.car(car).expect("it is there").state.velocity.length();
    assert!(speed > 5.0, "{speed} m/s");
    println!("a game from packages alone drives {speed:.1} m/s after 2 s");
}
"#;

/// Manifest of the app.
const BEVY_MANIFEST: &str = r#"[package]
name = "app"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
bevy_app = { version = "0.20.1", default-features = false }
skidpad-avian = "0.1.0"
skidpad-bevy = "0.1.0"
skidpad-bevy-rapier = "0.1.0"
"#;

/// Program of the app: adds the plugins, without running it.
const BEVY_PROGRAM: &str = r#"fn main() {
    bevy_app::App::new()
        .add_plugins((skidpad_bevy::CarPlugin::default(), skidpad_avian::AvianCarsPlugin))
        .add_plugins(skidpad_bevy_rapier::RapierCarsPlugin);
}
"#;

/// Unpacks every package file of the current version in `folder` with `tar`, and returns names and folders of the
/// packages, sorted by name. Package files are called `<name>-<version>.crate`.
fn unpack_packages(folder: &Path) -> Result<Vec<(String, String)>, String> {
    // End of the file names of packages.
    let file_suffix = format!("-{}.crate", env!("CARGO_PKG_VERSION"));
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(&file_suffix)?.to_owned()))
        .collect();
    names.sort();
    for name in &names {
        let mut command = std::process::Command::new("tar");
        command.arg("xzf").arg(format!("{name}{file_suffix}")).current_dir(folder);
        run(command)?;
    }
    let package_folder =
        |name: &String| folder.join(format!("{name}-{}", env!("CARGO_PKG_VERSION"))).display().to_string();
    Ok(names.into_iter().map(|name| (name.clone(), package_folder(&name))).collect())
}
