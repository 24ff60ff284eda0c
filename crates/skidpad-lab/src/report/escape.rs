//! Text from outside in a page.

/// Escapes `text` for use in HTML, also inside attributes, control and bidirectional characters included.
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
