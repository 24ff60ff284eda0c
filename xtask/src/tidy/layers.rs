//! Rule about the layers of the core: a folder imports only folders below it.

use super::File;
use super::scan::{code_only, without_tests};

/// Folder of the sources of the core.
const CORE_FOLDER: &str = "crates/skidpad-core/src/";

/// Folders and files of the core in order, from the lowest layer to the highest. A folder may import those before it.
const LAYERS: &[&str] = &[
    // Numbers and small types.
    "constants",
    "model_error",
    "shape",
    "channel",
    "impulse_bounds",
    "step_report",
    "controls",
    // World: interface to a rigid-body world, and the ground.
    "port",
    "ground",
    // Parts of a vehicle: parameters, state, rows and equations.
    "assist_log",
    "force_element",
    "tyre_rows",
    "suspension",
    "wheel",
    "steering",
    "chassis",
    "drivetrain",
    "hitch",
    "aero",
    "assists",
    // Vehicle: all parts together.
    "model",
    "statics",
    "state",
    "vehicle",
    // Step: the rows of a vehicle, the output of its motion, and the order of the stages.
    "assembly",
    "telemetry",
    "step",
    "coupling",
    "block",
    // Several vehicles.
    "simulation",
    "traffic",
];

/// Returns the problems of the core outside tests: imports of a folder that is not below the importing folder in
/// [`LAYERS`], and folders that are not in [`LAYERS`]. An item that `lib.rs` exports counts as an import of its folder.
/// Imported names without a layer, such as modules of `lib.rs`, are no problem.
pub fn check(files: &[File]) -> Vec<String> {
    let core = files.iter().filter_map(|file| Some((file.path.strip_prefix(CORE_FOLDER)?, file)));
    let core: Vec<(&str, String)> = core
        .filter(|(path, _)| path.ends_with(".rs"))
        .map(|(path, file)| (path, without_tests(&code_only(&file.text))))
        .collect();
    let exported_items =
        core.iter().find(|(path, _)| *path == "lib.rs").map_or_else(Vec::new, |(_, code)| exports(code));
    let mut problems = Vec::new();
    for (path, code) in core.iter().filter(|(path, _)| *path != "lib.rs") {
        let folder = path.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        let Some(own_layer) = layer(folder) else {
            problems.push(format!("{CORE_FOLDER}{path}: `{folder}` has no place in {}", file!()));
            continue;
        };
        for (line, name) in imports(code) {
            // Folder of an exported item, otherwise the name itself.
            let imported =
                exported_items.iter().find(|(item, _)| item == name).map_or(name, |(_, folder)| folder.as_str());
            if imported != folder && layer(imported).is_some_and(|layer| layer > own_layer) {
                problems
                    .push(format!("{CORE_FOLDER}{path}:{line}: `{folder}` is below `{imported}`, which it imports"));
            }
        }
    }
    problems
}

/// Returns the place of a folder in [`LAYERS`]; `None` if it has none.
fn layer(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|name| *name == folder)
}

/// Returns the items that `lib.rs` exports by `pub use`, each with the folder it comes from. Lists within lists and
/// renamed items are not resolved.
fn exports(lib: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for statement in lib.split("pub use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        let folder = statement.split("::").next().unwrap_or_default().trim();
        // Without braces the only item is the last part of the path.
        let list = statement.rsplit_once("::").map_or("", |(_, list)| list);
        // Items of a list in braces, separated by commas.
        let items = statement.split_once('{').map_or(list, |(_, list)| list).trim_end_matches('}').split(',');
        found.extend(items.map(|item| (item.trim().to_owned(), folder.to_owned())));
    }
    found
}

/// Returns the first name after each `crate::` of `code`, in `use` statements and in paths, with its line (from 1). Of
/// a list in braces, the first name of each entry is returned.
fn imports(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, prefix) in code.match_indices("crate::") {
        // Restricted visibility (`pub(in crate::…)`) and names that end with `crate` are not imports.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        // Lines count from 1.
        let line = 1 + code[..at].matches('\n').count();
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(list) => found.extend(top_level_names(list).into_iter().map(|name| (line, name))),
            None => found.push((line, first_name(rest))),
        }
    }
    found
}

/// Returns the first name of each entry of a list in braces, up to its closing brace; nested lists are skipped. Empty
/// entries are left out. The list starts behind its opening brace.
fn top_level_names(list: &str) -> Vec<&str> {
    let mut found = Vec::new();
    // Nested braces that are open, and start of the current entry.
    let (mut depth, mut start) = (0usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.push(first_name(list[start..at].trim_start()));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found.into_iter().filter(|name| !name.is_empty()).collect()
}

/// Returns the name at the start of `path`.
fn first_name(path: &str) -> &str {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: format!("{CORE_FOLDER}{path}"), text: text.into() }
    }

    /// Checks that imports, paths, lists and exported items of a higher layer are found, and that imports of a lower
    /// layer and those of tests are allowed.
    #[test]
    fn imports_of_a_higher_layer_are_found() {
        let lib = file("lib.rs", "pub use step::{Report, Stages};\npub use suspension::Grip;\n");
        let with = |text: &str| check(&[file("lib.rs", &lib.text), file("wheel/a.rs", text)]);
        let wrong = [
            "use crate::step::b::B;\n",
            "use crate::{ground, step::{b::B, c}};\n",
            "use crate::{Grip, Report};\n",
            "fn a() {\n    crate::step::take();\n}\n",
        ];
        for text in wrong {
            assert_eq!(with(text).len(), 1, "{text}");
            assert!(with(text)[0].contains("`wheel` is below `step`"), "{text}");
        }
        for text in [
            "use crate::controls::Controls;\n",
            "use crate::Grip;\n",
            "#[cfg(test)]\nmod tests {\n    use crate::step::B;\n}\n",
        ] {
            assert!(with(text).is_empty(), "{text}");
        }
        assert_eq!(check(&[file("lane/a.rs", "")]).len(), 1);
    }
}
