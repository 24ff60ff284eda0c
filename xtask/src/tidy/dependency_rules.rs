//! Rules about dependencies: allowed dependencies between packages, single versions, and size of a game.

use std::collections::BTreeSet;

use super::metadata;
use crate::builds::FACADE_ARGUMENTS;
use crate::run::{cargo, output};

/// Packages of the workspace with the packages of the workspace that they may depend on. Development dependencies count
/// too.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    (
        "skidpad",
        &[
            "skidpad-rapier",
            "skidpad-impulse",
            "skidpad-constraint",
            "skidpad-peers",
            "skidpad-world",
            "skidpad-spec",
            "skidpad-import",
            "skidpad-lab",
            "skidpad-core",
            "skidpad-drive",
            "skidpad-fleet",
            "libbullet-bench",
        ],
    ),
    (
        "others",
        &[
            "skidpad-constraint",
            "skidpad-core",
            "skidpad-drive",
            "skidpad-engines",
            "skidpad-fleet",
            "skidpad-import",
            "skidpad-impulse",
            "skidpad-lab",
            "skidpad-peers",
            "skidpad-rapier",
            "skidpad-simd",
            "skidpad-spec",
            "skidpad-tyre",
            "skidpad-world",
        ],
    ),
    ("libbullet-bench", &["skidpad-peers", "skidpad-core", "skidpad-spec"]),
    ("skidpad-cli", &["skidpad"]),
    ("skidpad-constraint", &["skidpad-world", "skidpad-core"]),
    ("skidpad-core", &["skidpad-simd", "skidpad-tyre"]),
    ("skidpad-drive", &["skidpad-core"]),
    ("skidpad-engines", &["skidpad-core"]),
    ("skidpad-fleet", &["skidpad-impulse", "skidpad-world", "skidpad-core", "skidpad-spec"]),
    ("skidpad-impulse", &["skidpad-constraint", "skidpad-world", "skidpad-core", "skidpad-simd", "skidpad-spec"]),
    ("skidpad-import", &["skidpad-spec", "skidpad-core"]),
    ("skidpad-lab", &["skidpad-core", "skidpad-spec"]),
    ("skidpad-python", &["skidpad", "others"]),
    ("skidpad-peers", &["skidpad-rapier", "skidpad-world", "skidpad-core"]),
    ("skidpad-rapier", &["skidpad-engines", "skidpad-impulse", "skidpad-core"]),
    ("skidpad-simd", &[]),
    ("skidpad-spec", &["skidpad-core"]),
    ("skidpad-tyre", &["skidpad-simd"]),
    ("skidpad-world", &["skidpad-core"]),
    ("xtask", &[]),
];

/// Packages that must be built in one version only, since types of different versions are incompatible.
const SINGLE_VERSION_PACKAGES: [&str; 4] = ["glam", "nalgebra", "parry3d", "rapier3d"];

/// Maximum number of packages that a game with the feature `impulse` alone builds: those of the solver and of the file
/// reader. Games with other solvers are not checked.
const MAX_GAME_PACKAGES: usize = 64;

/// Returns the problems of the dependencies: packages that are not in [`ALLOWED_DEPENDENCIES`], dependencies on
/// packages of the workspace that are not allowed there, packages in several versions, too many packages of a game, and
/// third-party packages that a build of the facade without default features would build again. Fails if cargo fails.
pub fn check() -> Result<Vec<String>, String> {
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut problems = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ALLOWED_DEPENDENCIES.iter().find(|(package_name, _)| *package_name == name) else {
            problems.push(format!(
                "{name}: a new package; add its allowed dependencies to xtask/src/tidy/dependency_rules.rs"
            ));
            continue;
        };
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        // Dependencies that are packages of the workspace.
        let workspace_dependencies = dependencies.filter_map(|d| d["name"].as_str()).filter(|d| names.contains(d));
        let forbidden = workspace_dependencies.filter(|d| !allowed.contains(d));
        problems.extend(forbidden.map(|dependency| format!("{name} -> {dependency}: this arrow is not in the plan")));
    }
    problems.extend(duplicate_versions()?);
    problems.extend(check_game()?);
    // The facade without default features must not build third-party packages again.
    let selection = format!("{FACADE_ARGUMENTS} --no-default-features --edges normal,build,dev");
    let all = "--workspace --edges normal,build,dev";
    problems.extend(rebuilt_packages(&selection, all, SharedPackages::ThirdParty)?);
    Ok(problems)
}

/// Returns a problem if a game with `impulse` builds more than [`MAX_GAME_PACKAGES`] packages; `None` otherwise. Build
/// dependencies count, development dependencies do not.
fn check_game() -> Result<Option<String>, String> {
    let selection = "--package skidpad --no-default-features --features impulse --locked";
    let [tree, _] = output(cargo(&format!("tree {selection} --edges normal,build --prefix none --format {{p}}")))?;
    // `cargo tree` marks repeated packages with ` (*)`.
    let packages: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    let max_packages = MAX_GAME_PACKAGES;
    let is_above = packages.len() > max_packages;
    Ok(is_above
        .then(|| format!("a game with `impulse` builds {} packages, but at most {max_packages}", packages.len())))
}

/// Returns a problem for each package of [`SINGLE_VERSION_PACKAGES`] that is built in several versions. Uses the tree
/// of built packages, since Cargo.lock also lists unused optional versions.
fn duplicate_versions() -> Result<Vec<String>, String> {
    let [tree, _] = output(cargo("tree --workspace --locked --edges normal,build,dev --prefix none --format {p}"))?;
    let mut problems = Vec::new();
    for name in SINGLE_VERSION_PACKAGES {
        let mut versions: Vec<&str> =
            tree.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).collect();
        // Drops the folder or mark behind the version.
        let keep_version = |version: &mut &str| *version = version.split_whitespace().next().unwrap_or_default();
        versions.iter_mut().for_each(keep_version);
        versions.sort_unstable();
        versions.dedup();
        if versions.len() > 1 {
            problems.push(format!("{name}: {} are built, but their types do not fit together", versions.join(" and ")));
        }
    }
    Ok(problems)
}

/// Packages that two builds should share.
#[derive(Clone, Copy, Debug)]
pub enum SharedPackages<'a> {
    /// Packages from other people.
    ThirdParty,
    /// All packages except those with these names.
    AllExcept(&'a [&'a str]),
}

/// Returns a problem for each package of `shared` that both `selection` and `all` build, but `selection` with other
/// features or another version. Such a package would be built twice. The two texts are arguments of `cargo tree`.
pub fn rebuilt_packages(selection: &str, all: &str, shared: SharedPackages<'_>) -> Result<Vec<String>, String> {
    let name = |package: &str| package.split(' ').next().unwrap_or_default().to_owned();
    // The lines of own packages contain the folder after the version.
    let is_own =
        |line: &str| line.split(' ').nth(2).is_some_and(|word| word.starts_with('(') && word != "(proc-macro)");
    let is_shared = |line: &str| match shared {
        SharedPackages::ThirdParty => !is_own(line),
        SharedPackages::AllExcept(names) => !names.contains(&name(line).as_str()),
    };
    // Shared packages of a selection, each with version and features.
    let shared_packages = |selection: &str| -> Result<BTreeSet<String>, String> {
        let mut command = cargo(&format!("tree {selection} --locked --prefix none"));
        command.args(["--format", "{p} {f}"]);
        let [tree, _] = output(command)?;
        let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
        Ok(lines.filter(|line| is_shared(line)).map(str::to_owned).collect())
    };
    let (selected_packages, all_packages) = (shared_packages(selection)?, shared_packages(all)?);
    let all_names: BTreeSet<String> = all_packages.iter().map(|package| name(package)).collect();
    // Packages that only `selection` builds with these versions and features.
    let rebuilt = selected_packages.difference(&all_packages).filter(|package| all_names.contains(&name(package)));
    let problem =
        |package| format!("`others` does not name all features of {package}, or Cargo.lock has another version");
    Ok(rebuilt.map(problem).collect())
}
