//! Rules about language: how doc comments open, and names of constants. Both have limits for the whole repository,
//! since a single exception can be right.

use super::File;
use super::scan::{code_only, without_tests};

/// Words that open a doc comment like a riddle: interrogatives, and pronouns and prepositions without an antecedent.
const RIDDLE_OPENINGS: &[&str] = &[
    "What", "How", "Where", "Of", "The same", "Those", "These", "That", "Which", "Other", "Others", "All that", "And",
    "It", "Its", "As", "From", "Until", "By", "None", "Most", "Else", "Beyond", "So", "With", "Without", "One", "Two",
];

/// Maximum share of doc comments that open with one of [`RIDDLE_OPENINGS`].
const MAX_RIDDLE_SHARE: f64 = 0.02;

/// Maximum share of constants with a name of one word.
const MAX_ONE_WORD_SHARE: f64 = 0.05;

/// Constants with a name of one word that is clear in its place, with the reason.
const CLEAR_CONSTANTS: &[(&str, &str)] = &[
    ("ALL", "every value of the type it belongs to"),
    ("DEFAULT", "default of the type it belongs to"),
    ("GRAVITY", "standard term"),
    ("NAME", "name that a trait requires"),
    ("NONE", "neutral value of the type it belongs to"),
    ("ZERO", "neutral value of the type it belongs to"),
];

/// Folders whose comments and constants do not count.
const OTHER_FOLDERS: &[&str] = &["tests/", "benches/", "examples/", "fuzz/"];

/// Returns a problem for each limit that all Rust files together exceed: share of doc comments that open like a riddle,
/// share of constants with a name of one word. Files of [`OTHER_FOLDERS`] do not count.
pub fn check(files: &[File]) -> Vec<String> {
    let is_other = |path: &str| {
        OTHER_FOLDERS.iter().any(|folder| path.starts_with(folder) || path.contains(&format!("/{folder}")))
    };
    let is_counted = |file: &&File| file.path.ends_with(".rs") && !is_other(&file.path);
    let files: Vec<&File> = files.iter().filter(is_counted).collect();
    let openings = Count::sum(files.iter().map(|file| doc_openings(file)));
    let constants = Count::sum(files.iter().map(|file| constant_names(file)));
    let opening_problem = openings.problem(MAX_RIDDLE_SHARE, "doc comments open with a word of `RIDDLE_OPENINGS`");
    let constant_problem = constants.problem(MAX_ONE_WORD_SHARE, "constants have a one-word name");
    opening_problem.into_iter().chain(constant_problem).collect()
}

/// Items of one kind, and the places of those that break the rule.
#[derive(Default)]
struct Count {
    /// Number of items.
    item_count: usize,
    /// Path, line and reason of each item that breaks the rule.
    places: Vec<String>,
}

impl Count {
    /// Returns the count over all files. Places keep the order of the files.
    fn sum(counts: impl Iterator<Item = Self>) -> Self {
        counts.fold(Self::default(), |mut sum, count| {
            sum.item_count += count.item_count;
            sum.places.extend(count.places);
            sum
        })
    }

    /// Returns a problem with all places if their share of the items is above `limit` (0 to 1); `None` otherwise.
    /// `rule` describes the rule that they break.
    fn problem(&self, limit: f64, rule: &str) -> Option<String> {
        let violation_share = self.places.len() as f64 / self.item_count.max(1) as f64;
        let (violation_count, item_count, places) = (self.places.len(), self.item_count, self.places.join("\n"));
        (violation_share > limit).then(|| {
            format!(
                "{places}\n{violation_count} of {item_count} {rule}: {:.1} %, at most {:.0} %",
                100.0 * violation_share,
                100.0 * limit
            )
        })
    }
}

/// Counts the doc comments (blocks of `///` lines) of `file`, and lists those whose first line opens with a word of
/// [`RIDDLE_OPENINGS`] in this case. A longer word that begins with an opening does not count, nor do `//!` comments.
fn doc_openings(file: &File) -> Count {
    let mut count = Count::default();
    let mut is_inside = false;
    for (number, line) in file.text.lines().enumerate() {
        let comment = line.trim_start().strip_prefix("///");
        // First line of a block.
        if let Some(text) = comment.filter(|_| !is_inside) {
            count.item_count += 1;
            let text = text.trim_start();
            let opens_text =
                |word: &&&str| text.strip_prefix(**word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
            if let Some(word) = RIDDLE_OPENINGS.iter().find(opens_text) {
                count.places.push(format!("{}:{}: a doc comment opens with `{word}`", file.path, number + 1));
            }
        }
        is_inside = comment.is_some();
    }
    count
}

/// Counts the constants and statics of `file` outside of tests and lists those with a name of one word that is not in
/// [`CLEAR_CONSTANTS`]. Only names in capital letters count, so that functions with `const` do not.
fn constant_names(file: &File) -> Count {
    let mut count = Count::default();
    for (number, line) in without_tests(&code_only(&file.text)).lines().enumerate() {
        // Visibility such as `pub(crate)` or `pub(in path)` is skipped.
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub") || word.ends_with(')'));
        if !matches!(words.next(), Some("const" | "static")) {
            continue;
        }
        let Some(name) = words.next().and_then(|word| word.strip_suffix(':')) else { continue };
        if !name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') {
            continue;
        }
        count.item_count += 1;
        if !name.contains('_') && !CLEAR_CONSTANTS.iter().any(|(clear_name, _)| *clear_name == name) {
            count.places.push(format!("{}:{}: `{name}` is one word", file.path, number + 1));
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> File {
        File { path: "src/a.rs".into(), text: text.into() }
    }

    /// Checks that of three comments only the first line of the first one counts, and the limits above and below a
    /// share of one third.
    #[test]
    fn doc_comments_are_judged_by_their_first_line() {
        let text = "/// What it does.\n/// Of all.\nfn a() {}\n/// Whatever is given.\nfn b() {}\n    /// Returns one.\nfn c() {}\n";
        let count = doc_openings(&file(text));
        assert_eq!(
            (count.item_count, &count.places[..]),
            (3, &["src/a.rs:1: a doc comment opens with `What`".to_owned()][..])
        );
        assert!(count.problem(0.4, "").is_none() && count.problem(0.3, "").is_some());
    }

    #[test]
    fn constants_need_two_words_unless_they_are_clear() {
        let text = "const LOOKS: u8 = 1;\npub(crate) static MAX_LOOKS: u8 = 1;\n    pub const ALL: u8 = 2;\nconst fn f() {}\n#[cfg(test)]\nmod tests { const X: u8 = 1; }\n";
        let count = constant_names(&file(text));
        assert_eq!((count.item_count, &count.places[..]), (3, &["src/a.rs:1: `LOOKS` is one word".to_owned()][..]));
    }

    #[test]
    fn tests_and_benches_do_not_count() {
        let riddles = |path: &str| File { path: path.into(), text: "/// What.\nconst A: u8 = 1;\n".into() };
        assert_eq!(check(&[riddles("crates/a/tests/b.rs"), riddles("benches/c.rs"), riddles("a/d.md")]).len(), 0);
        assert_eq!(check(&[riddles("crates/a/src/b.rs")]).len(), 2);
    }
}
