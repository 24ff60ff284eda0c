//! Escaping of external text in a page.

/// Escapes `&`, `<`, `>` and `"` in `text` for HTML, including attribute values. Control and bidirectional characters
/// are first replaced by [`skidpad_spec::printable::lines`].
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in skidpad_spec::printable::lines(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
