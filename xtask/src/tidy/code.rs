//! Rules about one source file.

use super::File;
use super::scan::{code_only, functions, without_tests};

/// Maximum number of lines of a file.
const MAX_FILE_LINES: usize = 600;
/// Maximum number of lines of a function.
const MAX_FUNCTION_LINES: usize = 60;
/// Maximum number of lines of an example.
const MAX_EXAMPLE_LINES: usize = 79;

/// Words of unfinished work, which are forbidden in all files.
const UNFINISHED_WORDS: &[&str] = &[concat!("#[", "ignore"), "todo!", "unimplemented!", "dbg!"];

/// Words that are forbidden in the core outside of tests, since a step must not panic.
const PANIC_WORDS: &[&str] = &[".unwrap()", ".unwrap_err()", ".expect(", ".expect_err(", "panic!", "unreachable!"];

/// Functions that are forbidden in the core outside of tests, since their last bits depend on the platform, the
/// compiler or the processor.
const INEXACT_FUNCTIONS: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sin_cos", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "powf", "powi", "cbrt", "hypot", "mul_add",
    "recip",
];

/// Returns the problems of `file`, each with its line: a missing module comment, too many lines of the file or of a
/// function, and words of unfinished work. In the core outside of tests, also words that can panic and functions with
/// platform-dependent bits. Comments, strings and character literals do not count as code. A problem of a file's length
/// is reported at the last allowed line.
pub fn check(file: &File) -> Vec<String> {
    let code = code_only(&file.text);
    let mut problems = Vec::new();
    let mut problem = |line: usize, description: String| problems.push(format!("{}:{line}: {description}", file.path));
    if !file.text.starts_with("//!") {
        problem(1, "the file does not start with a `//!` comment that describes its content".into());
    }
    // Maximum number of lines of this file.
    let max_lines = if file.path.starts_with("examples/") { MAX_EXAMPLE_LINES } else { MAX_FILE_LINES };
    let line_count = file.text.lines().count();
    if line_count > max_lines {
        problem(max_lines, format!("{line_count} lines, but a file has at most {max_lines}; split the file by topic"));
    }
    for (line, name, line_count) in
        functions(&code).into_iter().filter(|(_, _, line_count)| *line_count > MAX_FUNCTION_LINES)
    {
        problem(line, format!("`{name}` has {line_count} lines, but a function has at most {MAX_FUNCTION_LINES}"));
    }
    for (line, word) in find_words(&code, UNFINISHED_WORDS) {
        problem(line, format!("`{word}` is unfinished work"));
    }
    if file.path.starts_with("crates/skidpad-core/src/") {
        let code = without_tests(&code);
        for (line, word) in find_words(&code, PANIC_WORDS) {
            problem(line, format!("`{word}` can panic; the core must return an error or the last valid state"));
        }
        // Calls as method (`.sin(`) and as function (`f32::sin`).
        for (line, word) in INEXACT_FUNCTIONS
            .iter()
            .flat_map(|name| find_words(&code, &[&format!(".{name}("), &format!("f32::{name}")]))
        {
            problem(line, format!("`{word}` is not bit-identical on all targets; use the functions of `math`"));
        }
    }
    problems
}

/// Returns the lines (from 1) that contain one of `words`, with the word; once per line and word. A part of a longer
/// word does not count.
fn find_words(code: &str, words: &[&str]) -> Vec<(usize, String)> {
    let is_word_char = |c: char| c.is_alphanumeric() || c == '_';
    let mut found_words = Vec::new();
    for (number, line) in code.lines().enumerate() {
        for word in words {
            let is_whole_word = line.match_indices(word).any(|(position, _)| {
                // Whether the word continues before or after the match.
                let continues_before = word.starts_with(is_word_char) && line[..position].ends_with(is_word_char);
                let continues_after =
                    word.ends_with(is_word_char) && line[position + word.len()..].starts_with(is_word_char);
                !(continues_before || continues_after)
            });
            if is_whole_word {
                found_words.push((number + 1, (*word).to_owned()));
            }
        }
    }
    found_words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the core may not call `sin`, that tests and `unwrap_or` are allowed, and that other crates may do
    /// both.
    #[test]
    fn the_core_may_neither_panic_nor_call_the_platform() {
        let source = "//! Here.\nfn a(x: f32) -> f32 { x.sin() + Some(x).unwrap_or(0.0) }\n#[cfg(test)]\nmod tests { fn b() { panic!() } }\n";
        let core = File { path: "crates/skidpad-core/src/a.rs".into(), text: source.into() };
        assert_eq!(check(&core).len(), 1, "{:?}", check(&core));
        let elsewhere = File { path: "crates/skidpad-lab/src/a.rs".into(), text: source.into() };
        assert!(check(&elsewhere).is_empty());
    }

    #[test]
    fn words_inside_words_and_text_do_not_count() {
        assert!(find_words("cosine.cosh_like(", &[".cos("]).is_empty());
        assert!(find_words("f32::sinh_of", &["f32::sin"]).is_empty());
        assert_eq!(find_words("a\nx.cos()", &[".cos("]), [(2, ".cos(".to_owned())]);
    }
}
