//! Just enough of Rust's grammar to count: what is code, what is text, where a function begins and ends.

/// `source` with comments and literals replaced by spaces; line breaks stay.
pub fn code_only(source: &str) -> String {
    let mut rest = source;
    let mut code = String::with_capacity(source.len());
    while let Some(first) = rest.chars().next() {
        let after_word = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            'r' | 'b' | 'c' if !after_word => prefixed_string(rest),
            '\'' => character(rest),
            _ => 0,
        };
        let (blank, keep) = if length == 0 { (0, first.len_utf8()) } else { (length, 0) };
        code.extend(rest[..blank].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        code.push_str(&rest[blank..blank + keep]);
        rest = &rest[blank + keep..];
    }
    code
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < rest.len() {
        let tail = &rest.as_bytes()[at..];
        if tail.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Length of the literal that starts with a quote, escapes included.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Length of `r"…"`, `r#"…"#`, `b"…"`, `br"…"`, `c"…"`; 0 when it is a word.
fn prefixed_string(rest: &str) -> usize {
    let prefix = rest.find(|c| !"rbc".contains(c)).unwrap_or(rest.len());
    let tail = &rest[prefix..];
    if tail.starts_with('"') && !rest[..prefix].contains('r') {
        return prefix + string(tail);
    }
    let hashes = tail.find(|c| c != '#').unwrap_or(0);
    if !rest[..prefix].contains('r') || !tail[hashes..].starts_with('"') {
        return 0;
    }
    let open = prefix + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    rest[open..].find(&close).map_or(rest.len(), |at| open + at + close.len())
}

/// Length of a character literal; 0 when it is a lifetime.
fn character(rest: &str) -> usize {
    let mut inside = rest.chars().skip(1);
    match (inside.next(), inside.next()) {
        (Some('\\'), Some(escaped)) => {
            let from = 2 + escaped.len_utf8();
            rest[from..].find('\'').map_or(0, |at| from + at + 1)
        }
        (Some(c), Some('\'')) => c.len_utf8() + 2,
        _ => 0,
    }
}

/// `code` (see [`code_only`]) without the items under `#[cfg(test)]`, which become blank lines; all of it under
/// `#![cfg(test)]`.
pub fn without_tests(code: &str) -> String {
    if code.contains("#![cfg(test)]") {
        return code.chars().filter(|c| *c == '\n').collect();
    }
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        let end = at + item_end(&rest[at..]);
        kept.push_str(&rest[..at]);
        kept.extend(rest[at..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    kept + rest
}

/// End of the item that starts here: its closing brace, or its semicolon when it has none.
fn item_end(code: &str) -> usize {
    let (mut depth, mut brackets) = (0usize, 0i32);
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            ';' if depth == 0 && brackets == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Functions with a body in `code`: line of the `fn` (from 1), name, number of lines.
pub fn functions(code: &str) -> Vec<(usize, String, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let tail = &code[at..];
        let name: String = tail[3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let body = tail.find('{');
        let end = signature_end(tail);
        if name.is_empty() || body.is_none_or(|body| end.is_some_and(|end| end < body)) {
            continue;
        }
        let lines = tail[..item_end(tail)].matches('\n').count() + 1;
        found.push((code[..at].matches('\n').count() + 1, name, lines));
    }
    found
}

/// Position of the semicolon that ends a declaration, outside brackets like those of `[f32; 2]`.
fn signature_end(code: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ';' if depth == 0 => return Some(at),
            '{' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn tests_are_left_out() {
        let code = "fn a() {}\n#[cfg(test)]\nmod testing;\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}";
        let kept = without_tests(code);
        assert_eq!(kept.split_whitespace().collect::<Vec<_>>().join(" "), "fn a() {} fn c() {}");
        assert_eq!(kept.lines().count(), code.lines().count());
        assert_eq!(without_tests("#![cfg(test)]\nfn a() {}\n").trim(), "");
    }
}
