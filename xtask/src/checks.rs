//! Lists of steps of the chores `ci`, `check`, `tidy`, `determinism`, `agreement`, `package`, `python`,
//! `python-extras`, `exports` and `semver`.

use crate::builds::{FACADE_ARGUMENTS, PROGRAM_BUILD_ARGUMENTS, SOLVER_FEATURES};
use crate::determinism::compare_builds;
use crate::fuzz;
use crate::prerequisites::Prerequisites;
use crate::run::{Outcome, Steps, built_program, cargo, install, output, root, run};
use crate::{package, python, tidy};

/// Manifests of the two workspaces.
const WORKSPACE_MANIFESTS: [&str; 2] = ["Cargo.toml", "crates/bevy/Cargo.toml"];

/// Version of cargo-deny that `ci` installs if none is installed.
const CARGO_DENY_VERSION: &str = "0.20.2";

/// Arguments that select the second workspace. It shares the target folder of the first, so that common third-party
/// packages are built once. The Rust version is ignored, since the package `bevy` requires a newer compiler than it
/// needs.
const BEVY_ARGUMENTS: &str = "--manifest-path crates/bevy/Cargo.toml --target-dir target --ignore-rust-version --quiet";

/// Page about the world of Avian, which the example `agreement` of `skidpad-avian` writes.
const AVIAN_PAGE: &str = "docs/agreement_avian.md";

/// Remedy of the steps about dependencies.
const DEPENDENCY_REMEDY: &str = "Change the dependency, or add an exception with a reason to deny.toml.";

/// Remedy of the steps about packages.
const PACKAGE_REMEDY: &str = "A package must contain all included files and state the versions of its dependencies.";

/// Runs all checks that a merge requires. A step that fails does not stop the others. Checks whose tools are missing
/// are left out and listed in the summary. Order: lints, tidy, documentation, tests, agreement, features, examples,
/// determinism, game, Bevy, Python, dependencies, advisories.
pub fn ci(steps: &mut Steps) {
    // Installed tools and libraries.
    let prerequisites = Prerequisites::query(steps);
    run_lints(steps, prerequisites);
    tidy(steps);
    steps.step("docs", "Fix the documentation at the reported places.", || {
        let mut command = cargo("doc --no-deps --workspace --features skidpad/full --quiet");
        command.env("RUSTDOCFLAGS", "-D warnings");
        run(command)
    });
    run_tests(steps);
    steps.step(
        "agreement",
        "Run `cargo xtask agreement` and state the changes with their reasons in the commit message.",
        || {
            run(cargo(PROGRAM_BUILD_ARGUMENTS))?;
            run_agreement(&["--check"])
        },
    );
    steps.step(
        "features",
        "Put code that needs a solver behind the feature of the solver; each solver must build alone.",
        || check_features(prerequisites),
    );
    steps.step("examples", "An example must end without an error; run the example named above.", run_examples);
    // Without release builds.
    determinism(steps, false); // `in_release`
    steps.step("game", PACKAGE_REMEDY, package::build_game);
    steps.step(
        "bevy",
        "Run the command named above in crates/bevy. The file skidpad-demo/README.md there lists the required Debian packages.",
        || check_bevy(prerequisites),
    );
    if prerequisites.python {
        python::check_python(steps);
    }
    steps.step("dependencies", DEPENDENCY_REMEDY, check_dependencies);
    check_advisories(steps);
}

/// Runs the steps that build every package, a game and an app from packaged files alone, which takes some minutes.
pub fn package(steps: &mut Steps) {
    steps.step("packages", PACKAGE_REMEDY, || {
        let is_built = true;
        package::package_workspace(is_built)
    });
    steps.step("game", PACKAGE_REMEDY, package::build_game);
    steps.step("packages of bevy", PACKAGE_REMEDY, package::check_bevy_app);
}

/// Lints and tests the formats of telemetry files that are optional features. Their packages take longer to build than
/// all other packages of the laboratory, so that `ci` leaves them out.
pub fn exports(steps: &mut Steps) {
    let prerequisites = Prerequisites::query(steps);
    steps.step("exports", "Rerun the command named above.", || {
        let selection = "--package skidpad-lab --features mcap,parquet --quiet";
        let commands = vec![
            format!("clippy {selection} --all-targets -- -D warnings"),
            format!("test {selection} --lib telemetry_files"),
        ];
        run_all(&runnable_commands(commands, prerequisites))
    });
}

/// Runs the step of the Python package alone. Without Python it is left out.
pub fn python(steps: &mut Steps) {
    let prerequisites = Prerequisites::query(steps);
    if prerequisites.python {
        python::check_python(steps);
    }
}

/// Runs the steps of the Python package that need large packages. Without Python they are left out.
pub fn python_extras(steps: &mut Steps) {
    if Prerequisites::query(steps).python {
        python::check_extras(steps);
    }
}

/// Checks public items against the revision `baseline`.
pub fn semver(steps: &mut Steps, baseline: &str) {
    steps.step("semver", "Keep the item, or raise the version.", || package::semver(baseline));
}

/// Writes the pages about the agreement of the solvers, then the page about the world of Avian. Fails if solvers differ
/// more than accepted. Builds the programs of each workspace before it runs them.
pub fn agreement(steps: &mut Steps) {
    steps.step(
        "agreement",
        "The spread of the solvers exceeds the accepted one: fix the cause, or state the measured reason.",
        || {
            run(cargo(PROGRAM_BUILD_ARGUMENTS))?;
            run_agreement(&[])?;
            run(cargo(&format!("build {BEVY_ARGUMENTS} --examples")))?;
            run_example("agreement", &[AVIAN_PAGE])
        },
    );
}

/// Runs format, lints, tidy and tests, for use before a push.
pub fn check(steps: &mut Steps) {
    // Installed tools and libraries.
    let prerequisites = Prerequisites::query(steps);
    run_lints(steps, prerequisites);
    tidy(steps);
    run_tests(steps);
}

/// Checks the rules that no compiler checks.
pub fn tidy(steps: &mut Steps) {
    steps.step("tidy", "Each line above names a place and a rule.", tidy::tidy);
}

/// Checks that results of several builds are bit-identical; with `in_release` also those of release builds.
pub fn determinism(steps: &mut Steps, in_release: bool) {
    steps.step(
        "determinism",
        "A step depends on the build or on threads: search for std float functions, iteration order or shared state.",
        || compare_builds(in_release),
    );
}

/// Checks the format of all workspaces and of the fuzz targets, and runs clippy on the first workspace. A tool that is
/// missing leaves its step out.
fn run_lints(steps: &mut Steps, prerequisites: Prerequisites) {
    if prerequisites.rustfmt {
        steps.step("format", "Run the command named above without `--check`.", || {
            let manifests = WORKSPACE_MANIFESTS.iter().chain(&[fuzz::FUZZ_MANIFEST]);
            // One command for each of the three manifests.
            run_all(
                &manifests.map(|manifest| format!("fmt --manifest-path {manifest} --all --check")).collect::<Vec<_>>(),
            )
        });
    }
    if prerequisites.clippy {
        steps.step("clippy", "Follow the lint, or allow it with a reason.", || {
            run(cargo("clippy --workspace --all-targets --features skidpad/full --quiet -- -D warnings"))
        });
    }
}

/// Runs all tests of the first workspace; a failure does not stop the others.
fn run_tests(steps: &mut Steps) {
    steps.step("tests", "Rerun the test named above with `cargo test`.", || {
        run(cargo("test --workspace --features skidpad/full --quiet --no-fail-fast"))
    });
}

/// Lints all targets of the facade without solvers, and of the facade with each solver alone, the laboratory and the
/// peers. Runs the documentation tests of the selection of a game, which has one solver. Without clippy only the
/// documentation tests run. The step `determinism` simulates with each solver alone.
fn check_features(prerequisites: Prerequisites) -> Outcome {
    // Selection of the facade without default features.
    let facade_selection = format!("{FACADE_ARGUMENTS} --no-default-features --quiet");
    let clippy_command = |features: &str| format!("clippy {facade_selection} --all-targets {features} -- -D warnings");
    let mut commands = vec![clippy_command("")];
    // This is the selection of a game: one solver and vehicle files.
    commands.push(format!("test {facade_selection} --features skidpad/impulse,skidpad/deterministic --doc"));
    commands.extend(SOLVER_FEATURES.map(|solver| {
        clippy_command(&format!("--features skidpad/lab,skidpad/deterministic,skidpad/peers,skidpad/{solver}"))
    }));
    run_all(&runnable_commands(commands, prerequisites))
}

/// Returns the `commands` for which the machine has the tools: without clippy, those that do not start with `clippy`.
fn runnable_commands(commands: Vec<String>, prerequisites: Prerequisites) -> Vec<String> {
    commands.into_iter().filter(|command| prerequisites.clippy || !command.starts_with("clippy ")).collect()
}

/// Runs every command, also after one that failed. The error lists the commands that failed.
fn run_all(commands: &[String]) -> Outcome {
    fail_if_any(commands.iter().filter_map(|command| run(cargo(command)).err()).collect())
}

/// Returns success without failures, otherwise an error with one failure per line.
fn fail_if_any(failures: Vec<String>) -> Outcome {
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// Builds and runs every example of the first workspace, each without arguments. An example that fails does not stop
/// the others.
fn run_examples() -> Outcome {
    run(cargo(PROGRAM_BUILD_ARGUMENTS))?;
    let failures: Vec<String> = example_names()?.iter().filter_map(|name| run_example(name, &[]).err()).collect();
    fail_if_any(failures)
}

/// Runs `skidpad agreement` with `arguments`: writes the pages about agreement to `docs`, or compares them with
/// `--check`. The program must have been built. Results do not depend on the build profile, so the debug build of the
/// tests is used.
fn run_agreement(arguments: &[&str]) -> Outcome {
    let mut command = built_program("skidpad");
    command.args(["agreement", "--out", "docs"]).args(arguments);
    run(command)
}

/// Runs the example `name` with `arguments`. The example must have been built.
fn run_example(name: &str, arguments: &[&str]) -> Outcome {
    let mut command = built_program(&format!("examples/{name}"));
    command.args(arguments);
    run(command)
}

/// Checks the packages for Bevy in this order, and stops at the first group that fails: features, lints, tests,
/// examples.
///
/// The packages must build third-party packages with one set of features. The packages and the demo are linted with all
/// features, and `skidpad-bevy` also without features. Without the libraries of the demo, the demo and `others`, which
/// depend on the package `bevy`, are not linted. The demo is not run, so Bevy's renderer is checked but not compiled to
/// code. The example `netplay` is run, then `agreement`, to compare its page.
fn check_bevy(prerequisites: Prerequisites) -> Outcome {
    let bare_packages = "--package skidpad-bevy --package others --no-default-features";
    let manifest_selection = format!("--manifest-path {}", WORKSPACE_MANIFESTS[1]);
    // Packages that the bare selection builds with other features than the whole workspace.
    fail_if_any(tidy::rebuilt_packages(
        &format!("{manifest_selection} {bare_packages} --edges normal,build"),
        &format!("{manifest_selection} --workspace --all-features --edges normal,build,dev"),
        tidy::SharedPackages::ThirdParty,
    )?)?;
    // Packages that are linted with all features, and without features.
    let [linted_packages, bare_packages] = match prerequisites.demo {
        true => ["--workspace", bare_packages],
        false => {
            ["--workspace --exclude skidpad-demo --exclude others", "--package skidpad-bevy --no-default-features"]
        }
    };
    let commands = vec![
        format!("clippy {BEVY_ARGUMENTS} {linted_packages} --all-features --all-targets -- -D warnings"),
        format!("clippy {BEVY_ARGUMENTS} {bare_packages} -- -D warnings"),
        format!("test {BEVY_ARGUMENTS} --no-fail-fast"),
    ];
    // The tests also build the examples that follow.
    run_all(&runnable_commands(commands, prerequisites))?;
    run_example("netplay", &[])?;
    run_example("agreement", &[AVIAN_PAGE, "--check"])
}

/// Returns the names of the examples in `examples`, files and folders, sorted.
fn example_names() -> Result<Vec<String>, String> {
    let folder = root().join("examples");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir() || entry.path().extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}

/// Installs cargo-deny if needed and checks banned packages, licences and sources of all workspaces, offline after
/// fetching. A failed installation or fetch ends the check. Otherwise all workspaces are checked, and the error lists
/// the failures.
fn check_dependencies() -> Outcome {
    install("deny", CARGO_DENY_VERSION)?;
    run(cargo("fetch --locked"))?;
    let check_arguments = "--offline check --hide-inclusion-graph bans licenses sources";
    let mut commands = vec![format!("deny {check_arguments}")];
    for manifest in &WORKSPACE_MANIFESTS[1..] {
        run(cargo(&format!("fetch --locked --manifest-path {manifest}")))?;
        commands.push(format!("deny --manifest-path {manifest} {check_arguments}"));
    }
    run_all(&commands)
}

/// Checks dependencies of all workspaces for security advisories. Leaves the check out if the database of advisories
/// cannot be reached. The database is fetched first; the checks are offline.
fn check_advisories(steps: &mut Steps) {
    let fetch_command = "deny fetch db";
    if let Err(error) = output(cargo(fetch_command)) {
        println!("{error}");
        let work = "the step `advisories`: the database of security advisories cannot be reached";
        return steps.leave_out(work, &format!("cargo {fetch_command}"));
    }
    steps.step("advisories", DEPENDENCY_REMEDY, || {
        run_all(
            &WORKSPACE_MANIFESTS.map(|manifest| format!("deny --offline --manifest-path {manifest} check advisories")),
        )
    });
}
