//! Rules about modules: no circular imports, and rows of the core are only written by the assembly of their part.

use std::collections::{BTreeMap, BTreeSet};

use super::File;
use super::scan::{code_only, without_tests};

/// Folder of the sources of the core.
const CORE_FOLDER: &str = "crates/skidpad-core/src/";

/// Rows of a step with the parts that may write them. The folders `step` and `vehicle` may write all rows.
const ROW_WRITERS: &[(&str, &[&str])] = &[
    ("begun", &[]),
    ("steering", &["steering"]),
    ("drive", &["drivetrain", "assists"]),
    ("contact", &["wheel", "suspension"]),
    ("suspension", &["suspension"]),
    ("has_unsprung", &["suspension"]),
    ("unsprung_motion", &["suspension"]),
    ("tyre", &["tyre", "assists"]),
    ("coupled", &["wheel", "suspension", "drivetrain", "tyre"]),
];

/// File that may write all rows: the drivetrain of a peer without tyres.
const NO_SLIP_DRIVETRAIN: &str = "assembly/drivetrain/no_slip_drivetrain.rs";

/// Returns the problems of all source files: circular imports in each source folder, and in the core assignments to
/// rows by a part that may not write them.
pub fn check(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    for (folder, files) in &sources(files) {
        problems.extend(import_cycles(files).iter().map(|files| format!("{folder}: a circle of {files}")));
        if *folder == CORE_FOLDER {
            problems.extend(foreign_rows(files));
        }
    }
    problems
}

/// Returns the source folders with their files: path in the folder, and code without tests. `lib.rs` and `main.rs` are
/// left out.
fn sources(files: &[File]) -> BTreeMap<&str, Vec<(&str, String)>> {
    let mut files_of_folder: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    for file in files {
        // Start of the folder `src`, at the beginning of the path or behind a slash.
        let Some(source_start) = file
            .path
            .find("src/")
            .filter(|source_start| *source_start == 0 || file.path[..*source_start].ends_with('/'))
        else {
            continue;
        };
        let (folder, path) = file.path.split_at(source_start + "src/".len());
        if path.ends_with(".rs") && !["lib.rs", "main.rs"].contains(&path) {
            files_of_folder.entry(folder).or_default().push((path, without_tests(&code_only(&file.text))));
        }
    }
    files_of_folder
}

/// Returns a problem for each line of the core that assigns to rows (data of the constraint equations of a step)
/// without permission in [`ROW_WRITERS`]. The part of a file is the first folder of its path, or its name; the folder
/// `assembly` is skipped. [`NO_SLIP_DRIVETRAIN`] is left out.
fn foreign_rows(core: &[(&str, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, code) in core.iter().filter(|(path, _)| *path != NO_SLIP_DRIVETRAIN) {
        let in_part = path.strip_prefix("assembly/").unwrap_or(path);
        let part = in_part.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        let foreign_assignments = assigned_rows(code).into_iter().filter(|(_, rows)| !may_write(part, rows));
        problems.extend(
            foreign_assignments
                .map(|(line, rows)| format!("{CORE_FOLDER}{path}:{line}: `{rows}` rows are not this part's")),
        );
    }
    problems
}

/// Returns whether files of `part` may assign to `rows`.
fn may_write(part: &str, rows: &str) -> bool {
    let writes_all = ["step", "vehicle"].contains(&part);
    writes_all || ROW_WRITERS.iter().any(|(name, parts)| *name == rows && parts.contains(&part))
}

/// Returns the lines (from 1) that assign to a field of `self` or `rows` that is named in [`ROW_WRITERS`], with the
/// name of the field. A line with several such fields occurs once for each. Only the target of an assignment counts,
/// not its value.
fn assigned_rows(code: &str) -> Vec<(usize, &'static str)> {
    let mut assigned = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let Some((target, _)) = assignment(line) else { continue };
        for (rows, _) in ROW_WRITERS {
            let paths = ["self", "rows"].map(|owner| format!("{owner}.{rows}"));
            if paths.iter().any(|path| contains_path(target, path)) {
                assigned.push((number + 1, *rows));
            }
        }
    }
    assigned
}

/// Returns whether `text` contains `path` as a whole name, not only as the start of a longer name.
fn contains_path(text: &str, path: &str) -> bool {
    let continues_name = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    text.match_indices(path).any(|(position, _)| !continues_name(&text[position + path.len()..]))
}

/// Returns both sides of an assignment (`=` or `+=`) to a field of `self` or `rows`, or to a tuple that starts with
/// one; `None` for other lines. The whole statement must be on one line.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let is_row_target = ["self.", "rows.", "(self.", "(rows."].iter().any(|start| line.starts_with(start));
    let (target, value) = line.split_once(" = ").or_else(|| line.split_once(" += "))?;
    // Arguments of a call and comparisons are not assignments.
    (is_row_target && !target.contains(".map(") && !target.contains(" == ")).then_some((target, value))
}

/// Returns the sets of modules that import each other in a circle, each as a list of module names. A module is in a set
/// if it reaches itself through imports. Every set occurs once.
fn import_cycles(files: &[(&str, String)]) -> Vec<String> {
    let module_name = |path: &str| path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
    let names: BTreeSet<String> = files.iter().map(|(path, _)| module_name(path)).collect();
    let graph: BTreeMap<String, BTreeSet<String>> =
        files.iter().map(|(path, code)| (module_name(path), imports(code, &names, &module_name(path)))).collect();
    // Modules that each module imports, directly or through others.
    let reachable: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|module| (module, reachable_from(module, &graph))).collect();
    // Modules that `module` reaches and that reach `module`, itself included; empty without a circle.
    let cycle_of = |module: &String| -> Vec<&String> {
        reachable[module].iter().copied().filter(|other| reachable[other].contains(module)).collect()
    };
    // Every module of a circle yields the same list, so the set keeps one.
    let cycles: BTreeSet<Vec<&String>> = graph.keys().map(cycle_of).filter(|files| !files.is_empty()).collect();
    cycles.iter().map(|files| files.iter().map(|file| file.as_str()).collect::<Vec<_>>().join(", ")).collect()
}

/// Returns the modules that `from` imports, directly or through other modules. `from` is among them only if it is in a
/// circle.
fn reachable_from<'a>(from: &String, graph: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a String> {
    let mut reachable = BTreeSet::new();
    let mut pending: Vec<&String> = graph[from].iter().collect();
    while let Some(module) = pending.pop() {
        // Only modules that are new lead further.
        if reachable.insert(module) {
            pending.extend(&graph[module]);
        }
    }
    reachable
}

/// Returns the modules in `names` that `code` of the module `own_module` imports with `use crate::`. Lists in braces
/// are resolved one level deep. A path belongs to the longest module name that it starts with. `own_module` is left
/// out. Paths that the code writes out without `use` are not found.
fn imports(code: &str, names: &BTreeSet<String>, own_module: &str) -> BTreeSet<String> {
    let mut imported_modules = BTreeSet::new();
    for statement in code.split("use crate::").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        // `use crate::base{braced_list}`; without braces the list is empty.
        let (path_start, braced_list) = statement.split_once('{').unwrap_or((statement, ""));
        let items = braced_list.trim_end_matches('}').split(',').map(str::trim).filter(|item| !item.is_empty());
        let mut paths: Vec<String> = items.map(|item| format!("{path_start}{item}")).collect();
        if paths.is_empty() {
            paths.push(path_start.trim().to_owned());
        }
        // Longest start of a path that is a module; the path may end with an item or an associated item.
        let module_of_path = |path: String| {
            let parts: Vec<&str> = path.split("::").collect();
            (1..=parts.len()).rev().map(|end| parts[..end].join("::")).find(|path| names.contains(path))
        };
        imported_modules.extend(paths.into_iter().filter_map(module_of_path).filter(|module| module != own_module));
    }
    imported_modules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: format!("{CORE_FOLDER}{path}"), text: text.into() }
    }

    /// Checks that three files that import each other through lists and items are reported as one circle, and that a
    /// single file of them is not.
    #[test]
    fn circles_are_found_through_lists_and_items() {
        let files = [
            file("tyre/a.rs", "//! A.\nuse crate::{step::B, wheel::c::C};\n"),
            file("wheel/c.rs", "//! C.\nuse crate::tyre::a::{A, other};\n"),
            file("step/mod.rs", "//! B.\nuse crate::tyre::a::A;\n"),
        ];
        let found = check(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("step, tyre::a, wheel::c"), "{found:?}");
        assert!(check(&files[..1]).is_empty());
    }

    /// Checks that two files form a circle only if both are in one crate.
    #[test]
    fn files_of_one_crate_are_no_circle_with_those_of_another() {
        let of = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let first = || of("crates/one/src/a.rs", "//! A.\nuse crate::b::B;\n");
        let back = |folder: &str| of(&format!("{folder}/src/b.rs"), "//! B.\nuse crate::a::A;\n");
        assert!(check(&[first(), of("crates/two/src/a.rs", "//! A.\n"), back("crates/two")]).is_empty());
        assert_eq!(check(&[first(), back("crates/one")]), ["crates/one/src/: a circle of a, b"]);
    }

    /// Checks assignments with `+=`, to tuples and to whole rows, from parts with and without permission. A read of a
    /// row is allowed.
    #[test]
    fn rows_are_written_by_their_part() {
        let text = "//! A.\nfn a() {\n    rows.drive.shaft += more;\n    let x = self.tyre.gain;\n    (self.contact.lead, y) = z;\n}\n";
        assert!(check(&[file("assembly/wheel/a.rs", text)])[0].contains("a.rs:3: `drive`"));
        assert_eq!(check(&[file("assembly/wheel/a.rs", text)]).len(), 1);
        assert_eq!(check(&[file("assembly/assists/a.rs", text)]).len(), 1);
        assert!(check(&[file("step/a.rs", text)]).is_empty());
        let whole = "//! A.\nfn a() {\n    rows.begun = begun;\n    (self.has_unsprung, self.unsprung_motion) = x;\n    rows.tyres = x;\n}\n";
        assert_eq!(check(&[file("assembly/wheel/a.rs", whole)]).len(), 3);
        assert_eq!(check(&[file("assembly/suspension/a.rs", whole)]).len(), 1);
    }
}
