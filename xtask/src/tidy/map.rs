//! Rules about ARCHITECTURE.md, the map of the repository: every named package, file and function exists.

use super::{File, file_text};
use crate::run::root;

/// Path of the map.
const MAP_PAGE: &str = "ARCHITECTURE.md";
/// Folder of paths in the map that name no crate.
const CORE_FOLDER: &str = "crates/skidpad-core/src/";

/// Returns the problems of the map, and of source files that any page names.
pub fn check(files: &[File]) -> Vec<String> {
    let mut problems = check_packages(files);
    problems.extend(check_sources(files));
    problems.extend(check_lookup_table(files));
    problems
}

/// Returns the differences between the packages that the map names and the folders `skidpad-…` in `crates` and in
/// `crates/bevy`: folders that are not named, then named packages without a folder. A name with a dot is a file and
/// does not count. If one of both folders cannot be read, this is the only problem.
fn check_packages(files: &[File]) -> Vec<String> {
    // Words that can be parts of paths.
    let words = file_text(files, MAP_PAGE).split(|c: char| !(c.is_ascii_alphanumeric() || "-_/.".contains(c)));
    let mut named_packages: Vec<&str> = words
        .filter_map(|word| word.trim_start_matches("crates/").split('/').next())
        .filter(|word| word.starts_with("skidpad-") && !word.contains('.'))
        .collect();
    named_packages.sort_unstable();
    named_packages.dedup();
    let mut folders = Vec::new();
    for parent_folder in ["crates", "crates/bevy"] {
        let Ok(entries) = std::fs::read_dir(root().join(parent_folder)) else {
            return vec![format!("{parent_folder}: cannot be read")];
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        folders.extend(names.filter(|name| name.starts_with("skidpad-")));
    }
    let unnamed = folders.iter().filter(|folder| !named_packages.contains(&folder.as_str()));
    // Named packages without a folder.
    let missing = named_packages.iter().filter(|name| !folders.iter().any(|folder| folder == *name));
    unnamed
        .map(|folder| format!("{MAP_PAGE}: does not name {folder}"))
        .chain(missing.map(|name| format!("{MAP_PAGE}: names {name}, which is not in crates/")))
        .collect()
}

/// Returns a problem for each source file (`.rs` in backticks) that a page names and that does not exist. The change
/// log is excluded, since it names past files.
fn check_sources(files: &[File]) -> Vec<String> {
    let pages = files.iter().filter(|file| file.path.ends_with(".md") && file.path != "CHANGELOG.md");
    let named_files = pages.flat_map(|page| quoted(&page.text).map(move |name| (page, name)));
    let missing =
        named_files.filter(|(_, name)| name.ends_with(".rs") && !files.iter().any(|file| is_file(file, name)));
    missing.map(|(page, name)| format!("{}: names {name}, which is not there", page.path)).collect()
}

/// Returns the problems of the table "Looked for first": each row must name functions that exist in the places of the
/// row. A missing table is a problem, too.
///
/// A text in backticks is a place if it is the path of a Rust file or a folder of the core or of a crate. Every other
/// text in backticks is a function, of which only the part after the last `::` counts.
fn check_lookup_table(files: &[File]) -> Vec<String> {
    let (_, page) = file_text(files, MAP_PAGE).split_once("## Looked for first").unwrap_or_default();
    // The table ends at the next heading.
    let (table, _) = page.split_once("\n## ").unwrap_or((page, ""));
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    if rows.is_empty() {
        return vec![format!("{MAP_PAGE}: the table of entry points is missing")];
    }
    let mut problems = Vec::new();
    for row in rows {
        // Places (files and folders) of the row, and names of its functions.
        let (places, names): (Vec<&str>, Vec<&str>) =
            quoted(row).partition(|name| files.iter().any(|file| is_file(file, name) || is_in_folder(file, name)));
        let is_in_places = |file: &&File| places.iter().any(|place| is_file(file, place) || is_in_folder(file, place));
        let searched_files: Vec<&File> = files.iter().filter(is_in_places).collect();
        for name in names {
            let function = name.rsplit("::").next().unwrap_or(name);
            // A function begins with `fn name(` or, with parameters, `fn name<`.
            let signatures = ["(", "<"].map(|bracket| format!("fn {function}{bracket}"));
            if !searched_files.iter().any(|file| signatures.iter().any(|signature| file.text.contains(signature))) {
                problems.push(format!("{MAP_PAGE}: there is no function {name} in {}", places.join(", ")));
            }
        }
    }
    problems
}

/// Returns the texts between single backticks.
fn quoted(page: &str) -> impl Iterator<Item = &str> {
    page.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|name| !name.is_empty())
}

/// Returns whether `file` is a Rust file whose path ends with `name`.
fn is_file(file: &File, name: &str) -> bool {
    name.ends_with(".rs") && (file.path == name || file.path.ends_with(&format!("/{name}")))
}

/// Returns whether `file` is a Rust file in the folder `name` of the core or in the crate `name`.
fn is_in_folder(file: &File, name: &str) -> bool {
    file.path.ends_with(".rs")
        && [CORE_FOLDER, "crates/"]
            .iter()
            .any(|parent_folder| file.path.starts_with(&format!("{parent_folder}{name}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(row: &str) -> Vec<String> {
        let page = format!("## Looked for first\n\n| what | lines |\n|---|---|\n{row}\n\n## A step\n`gone`\n");
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        check_lookup_table(&[
            file(MAP_PAGE, &page),
            file("crates/skidpad-core/src/tyre/grip.rs", "fn limit(\nfn reach<W>("),
        ])
    }

    /// Checks functions in a file and in a room, a function and a file that do not exist, and a page without the table.
    #[test]
    fn a_row_names_functions_of_its_files() {
        assert!(found("| friction | `tyre/grip.rs`: `limit`, `reach` |").is_empty());
        assert!(found("| friction | `limit` of each law in `tyre` |").is_empty());
        assert_eq!(found("| friction | `tyre/grip.rs`: `limited` |").len(), 1);
        assert_eq!(found("| friction | `tyre/gone.rs`: `limit` |").len(), 2);
        assert_eq!(found("no table").len(), 1);
    }
}
