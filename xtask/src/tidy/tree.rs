//! Rules about the whole repository: README, list of models, and paths of one machine.

use super::{File, file_text};

/// Commands that the README must name.
const README_COMMANDS: [&str; 2] = ["cargo run --release", "cargo xtask ci"];

/// Returns the problems of the tree: commands that the README does not name, paths of one machine, and rows of
/// docs/models.md.
pub fn check(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    let readme = file_text(files, "README.md");
    let missing = README_COMMANDS.iter().filter(|command| !readme.contains(**command));
    problems.extend(missing.map(|command| format!("README.md: does not name the command `{command}`")));
    problems.extend(files.iter().flat_map(machine_paths));
    problems.extend(check_model_rows(files));
    problems
}

/// Returns the problems of docs/models.md, a table of the models of textbooks. Each row of the classic texts (a letter
/// for the text, a number) must occur exactly once. The name of the test of a row must contain the row in lower case,
/// and each quoted test must exist in its file. The page must state how many rows have a test.
fn check_model_rows(files: &[File]) -> Vec<String> {
    // Letter of each text, and numbers of its rows.
    let row_ranges = [
        ('A', 1..=20),
        ('B', 1..=21),
        ('C', 1..=11),
        ('D', 1..=9),
        ('E', 1..=2),
        ('E', 4..=12),
        ('E', 18..=18),
        ('E', 21..=25),
    ];
    let expected_rows =
        row_ranges.into_iter().flat_map(|(letter, numbers)| numbers.map(move |number| format!("{letter}{number}")));
    let page = file_text(files, "docs/models.md");
    // First word of the first cell of a table row.
    let first_word =
        |line: &str| line.strip_prefix("| ").and_then(|rest| rest.split(' ').next()).unwrap_or("").to_owned();
    let listed: Vec<String> = page.lines().map(first_word).collect();
    let occurrences = |row: &str| listed.iter().filter(|name| *name == row).count();
    let mut problems: Vec<String> = expected_rows
        .filter(|row| occurrences(row) != 1)
        .map(|row| format!("docs/models.md: row {row} occurs {} times instead of once", occurrences(&row)))
        .collect();
    // Rows with their tests. Cell 0 is the empty text before the first bar, cell 1 the row, cell 3 the test.
    let entries = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let row = cells.get(1).filter(|row| row.starts_with(|c: char| c.is_ascii_uppercase()))?;
        Some((*row, *cells.get(3)?))
    });
    let entries: Vec<(&str, &str)> = entries.collect();
    for (row, test) in entries.iter().filter(|(_, test)| !test.is_empty()) {
        // Name of the test function without its path.
        let name = test.trim_matches('`').rsplit("::").next().unwrap_or("");
        if !name.split('_').any(|part| part == row.to_lowercase()) {
            problems.push(format!("docs/models.md: the test of row {row} does not have the row in its name: {test}"));
        }
    }
    let tested = entries.iter().filter(|(_, test)| !test.is_empty()).count();
    let count_sentence = format!("{tested} of {} rows have a test.", entries.len());
    if !page.contains(&count_sentence) {
        problems.push(format!("docs/models.md: does not say \"{count_sentence}\""));
    }
    // Quoted tests are `path/file.rs::name`.
    for (path, test) in page.split('`').filter_map(|quoted| quoted.split_once(".rs::")) {
        let source = file_text(files, &format!("{path}.rs"));
        if !source.contains(&format!("fn {test}(")) {
            problems.push(format!("docs/models.md: there is no test {test} in {path}.rs"));
        }
    }
    problems
}

/// Returns a problem for each path in `file` that exists on one machine only. Prefixes are the folders `root`, `home`,
/// `work`, `Users` and `tmp` of the root. A line is reported once per prefix.
fn machine_paths(file: &File) -> Vec<String> {
    let folders = ["root", "home", "work", "Users", "tmp"];
    let prefixes: Vec<String> = folders.iter().map(|folder| format!("/{folder}/")).collect();
    let mut problems = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        for prefix in &prefixes {
            let is_machine_path = line.match_indices(prefix.as_str()).any(|(position, _)| {
                // A folder within a longer path or an address is no path of a machine.
                let previous_char = line[..position].chars().next_back();
                !previous_char.is_some_and(|c| c.is_ascii_alphanumeric() || "-_./{}*".contains(c))
            });
            if is_machine_path {
                problems.push(format!("{}:{}: a path under {prefix} of one machine", file.path, number + 1));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a path in running text, and the same folders within an address and a relative path.
    #[test]
    fn machine_paths_are_found_and_links_are_not() {
        let file = |text: &str| File { path: "a.md".into(), text: text.into() };
        let home = format!("see /{}/me/notes", "home");
        assert_eq!(machine_paths(&file(&home)).len(), 1);
        let link = format!("https://example.org/{}/page and docs/{}/plan", "home", "work");
        assert!(machine_paths(&file(&link)).is_empty());
    }
}
