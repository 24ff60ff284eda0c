//! Escaping of external text in a page.

/// Escapes `&`, `<`, `>` and `"` in `text` for HTML, including attribute values. Control and bidirectional characters
/// are also made harmless.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in skidpad_spec::printable::lines(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}
