//! Rules that no compiler checks. Every check adds its problems to one list, so that one run shows all problems.

mod code;
mod dependency_rules;
mod layers;
mod map;
mod module_rules;
mod prose;
mod scan;
mod tree;

pub use dependency_rules::{SharedPackages, rebuilt_packages};

use std::path::Path;

use crate::run::{Outcome, cargo, output, root};

/// Runs every check on the files that git tracks or would add. The error lists all problems and their number; without a
/// problem prints the number of files. Order of the checks: dependencies, tree, map, modules, layers, prose, then each
/// Rust file by itself. Failures of cargo or git end the checks.
pub fn tidy() -> Outcome {
    let files = repository_files()?;
    let mut problems = dependency_rules::check()?;
    problems.extend(tree::check(&files));
    problems.extend(map::check(&files));
    problems.extend(module_rules::check(&files));
    problems.extend(layers::check(&files));
    problems.extend(prose::check(&files));
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        problems.extend(code::check(file));
    }
    if problems.is_empty() {
        println!("{} files, no problem", files.len());
        return Ok(());
    }
    Err(format!("{}\n{} problems", problems.join("\n"), problems.len()))
}

/// Text file of the repository.
struct File {
    /// Path relative to the workspace, with `/`.
    path: String,
    /// Content of the file.
    text: String,
}

/// Returns the text of the file with this `path`; an empty text if it is not in `files`.
fn file_text<'a>(files: &'a [File], path: &str) -> &'a str {
    files.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str())
}

/// Returns the text files that are tracked, or new and not ignored, sorted by path. Files that are not UTF-8 or do not
/// exist are left out. Without git the folders are searched, except `target` and `.git` of the workspace.
fn repository_files() -> Result<Vec<File>, String> {
    let mut git = std::process::Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    // A source archive has no repository. In this case the folders are searched.
    let paths = match output(git) {
        Ok([listed, _]) => listed.lines().map(str::to_owned).collect(),
        Err(_) => walk(Path::new("")),
    };
    let mut paths: Vec<String> = paths;
    paths.sort();
    paths.dedup();
    let read_file = |path: String| Some(File { text: std::fs::read_to_string(root().join(&path)).ok()?, path });
    Ok(paths.into_iter().filter_map(read_file).collect())
}

/// Returns the paths of all files below `folder`, relative to the workspace, with `/`. Leaves out the folders `target`
/// and `.git` of the workspace, and names that are not UTF-8.
fn walk(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root().join(folder)) else { return Vec::new() };
    let mut paths = Vec::new();
    for entry in entries.flatten() {
        let path = folder.join(entry.file_name());
        let Some(name) = path.to_str() else { continue };
        if entry.path().is_dir() {
            if !["target", ".git"].contains(&name) {
                paths.extend(walk(&path));
            }
        } else {
            // Paths of Windows get slashes.
            paths.push(name.replace('\\', "/"));
        }
    }
    paths
}

/// Returns the output of `cargo metadata` about the packages of the workspace.
fn metadata() -> Result<serde_json::Value, String> {
    let [stdout, _] = output(cargo("metadata --format-version 1 --no-deps --locked"))?;
    serde_json::from_str(&stdout).map_err(|error| format!("cargo metadata: {error}"))
}
