//! Minimal scanner of Rust: separates code from comments and literals, and finds the extent of functions.

/// Returns `source` with comments, strings and character literals replaced by spaces, one per character. Line breaks,
/// lifetimes and all code are kept. Prefixed strings such as `r#"…"#` are replaced as a whole; a quote of a lifetime is
/// code.
pub fn code_only(source: &str) -> String {
    let mut rest = source;
    let mut code = String::with_capacity(source.len());
    while let Some(first) = rest.chars().next() {
        // A letter `r`, `b` or `c` at the end of a word is no prefix of a string.
        let is_after_word = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        // Length of a comment or literal that begins here, bytes; 0 for code.
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment_length(rest),
            '"' => string_length(rest),
            'r' | 'b' | 'c' if !is_after_word => prefixed_string_length(rest),
            '\'' => character_length(rest),
            _ => 0,
        };
        // Bytes to replace by spaces, and bytes to keep.
        let (blank_bytes, kept_bytes) = if length == 0 { (0, first.len_utf8()) } else { (length, 0) };
        code.extend(rest[..blank_bytes].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        code.push_str(&rest[blank_bytes..blank_bytes + kept_bytes]);
        rest = &rest[blank_bytes + kept_bytes..];
    }
    code
}

/// Returns the length of the block comment at the start of `rest`, bytes, with the comments nested in it. A comment
/// without an end extends to the end of the text.
fn block_comment_length(rest: &str) -> usize {
    let (mut depth, mut position) = (0usize, 0);
    while position < rest.len() {
        let tail = &rest.as_bytes()[position..];
        if tail.starts_with(b"/*") {
            depth += 1;
            position += 2;
        } else if tail.starts_with(b"*/") {
            depth -= 1;
            position += 2;
            if depth == 0 {
                return position;
            }
        } else {
            position += 1;
        }
    }
    rest.len()
}

/// Returns the length of the literal that starts with a quote, bytes, including escapes and both quotes. A literal
/// without an end extends to the end of the text.
fn string_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (position, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return position + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of `r"…"`, `r#"…"#`, `b"…"`, `br"…"` or `c"…"`, bytes; 0 if the text is a word. A raw string ends
/// at a quote with as many `#` as at its start, and has no escapes.
fn prefixed_string_length(rest: &str) -> usize {
    let prefix = rest.find(|c| !"rbc".contains(c)).unwrap_or(rest.len());
    let tail = &rest[prefix..];
    if tail.starts_with('"') && !rest[..prefix].contains('r') {
        return prefix + string_length(tail);
    }
    // A raw string, or a word.
    let hashes = tail.find(|c| c != '#').unwrap_or(0);
    if !rest[..prefix].contains('r') || !tail[hashes..].starts_with('"') {
        return 0;
    }
    // Position after the opening quote.
    let content_start = prefix + hashes + 1;
    let closing_quote = format!("\"{}", "#".repeat(hashes));
    rest[content_start..]
        .find(&closing_quote)
        .map_or(rest.len(), |position| content_start + position + closing_quote.len())
}

/// Returns the length of a character literal, bytes; 0 if the text is a lifetime. The escape after a backslash extends
/// to the next quote. An escape without a closing quote counts as no literal.
fn character_length(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), Some(escaped)) => {
            // After the quote, the backslash and the escaped character.
            let search_start = 2 + escaped.len_utf8();
            rest[search_start..].find('\'').map_or(0, |position| search_start + position + 1)
        }
        (Some(c), Some('\'')) => c.len_utf8() + 2,
        _ => 0,
    }
}

/// Returns `code` (the result of [`code_only`]) with blank lines instead of each item under `#[cfg(test)]`. Under
/// `#![cfg(test)]` the whole file is blank. The number of lines stays the same.
pub fn without_tests(code: &str) -> String {
    if code.contains("#![cfg(test)]") {
        return code.chars().filter(|c| *c == '\n').collect();
    }
    let mut kept_code = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(position) = rest.find("#[cfg(test)]") {
        let end = position + item_end(&rest[position..]);
        kept_code.push_str(&rest[..position]);
        kept_code.extend(rest[position..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    kept_code + rest
}

/// Returns the end of the item at the start of `code`, bytes: after the brace that closes its first brace, or after its
/// semicolon if it has no braces. Semicolons in brackets, such as in `[f32; 2]`, do not count. An item without an end
/// extends to the end of `code`.
fn item_end(code: &str) -> usize {
    let (mut depth, mut brackets) = (0usize, 0i32);
    for (position, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return position + 1;
                }
            }
            // An item without braces.
            ';' if depth == 0 && brackets == 0 => return position + 1,
            _ => {}
        }
    }
    code.len()
}

/// Returns the functions with a body in `code` (the result of [`code_only`]): line of the `fn` (from 1), name, number
/// of lines from the `fn` to the closing brace. Declarations without a body, function types and closures are left out.
pub fn functions(code: &str) -> Vec<(usize, String, usize)> {
    let mut found_functions = Vec::new();
    for (position, _) in code.match_indices("fn ") {
        if code[..position].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let code_from_fn = &code[position..];
        // Behind `fn `.
        let name: String = code_from_fn[3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let body_start = code_from_fn.find('{');
        let declaration_end = signature_end(code_from_fn);
        if name.is_empty()
            || body_start
                .is_none_or(|body_start| declaration_end.is_some_and(|declaration_end| declaration_end < body_start))
        {
            continue;
        }
        let lines = code_from_fn[..item_end(code_from_fn)].matches('\n').count() + 1;
        found_functions.push((code[..position].matches('\n').count() + 1, name, lines));
    }
    found_functions
}

/// Returns the position of the semicolon that ends a declaration, outside of brackets such as those of `[f32; 2]`;
/// `None` if a body comes first. Also `None` at the end of the text. `code` begins at the `fn`.
fn signature_end(code: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (position, c) in code.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ';' if depth == 0 => return Some(position),
            '{' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks strings with escapes, comments, a character, a lifetime, a raw string and a comment without an end. The
    /// length stays the same.
    #[test]
    fn text_is_blanked_and_code_stays() {
        let source = "let a = \"fn {\\\" x\"; // fn b {\nlet c = '{'; let d: &'static str = r#\"}\"}\"#; /* { */ e";
        let code = code_only(source);
        assert_eq!(code.len(), source.len());
        assert_eq!(
            code.split_whitespace().collect::<Vec<_>>().join(" "),
            "let a = ; let c = ; let d: &'static str = ; e"
        );
    }

    #[test]
    fn functions_are_measured() {
        let code = "trait T { fn declared(&self, a: [f32; 2]); }\nfn one() { 1 }\npub fn three<const N: usize>(a: [f32; 2]) {\n  a;\n}\n";
        assert_eq!(functions(code), [(2, "one".to_owned(), 1), (3, "three".to_owned(), 3)]);
    }

    /// Checks that a test module, declared or with a body, is blanked with all lines kept, and a whole test file is
    /// blank.
    #[test]
    fn tests_are_left_out() {
        let code = "fn a() {}\n#[cfg(test)]\nmod testing;\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}";
        let kept = without_tests(code);
        assert_eq!(kept.split_whitespace().collect::<Vec<_>>().join(" "), "fn a() {} fn c() {}");
        assert_eq!(kept.lines().count(), code.lines().count());
        assert_eq!(without_tests("#![cfg(test)]\nfn a() {}\n").trim(), "");
    }
}
