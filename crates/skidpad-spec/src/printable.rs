//! Escaping of file contents and names before they are printed.
//!
//! Control characters can move the cursor of a terminal, and bidirectional characters can reorder a line. Both can
//! forge output.

use std::borrow::Cow;

/// Returns true for control characters and for characters that reorder or hide text: bidirectional marks, characters of
/// zero width, line and paragraph separators, the byte order mark, annotations and tags.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        )
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Escapes control and bidirectional characters of a single-line text, including line breaks and tabs.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escape_where(text, is_unsafe)
}

/// Escapes control and bidirectional characters of a text of several lines. Line feeds and tabs are kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    escape_where(text, |c| is_unsafe(c) && c != '\n' && c != '\t')
}

/// Replaces each character for which `is_escaped` returns true by its UTF-16 escapes as in JSON, for example `\u001b`;
/// a character beyond U+FFFF gives two. Text without such characters is returned without a copy.
fn escape_where(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped_text = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            // A character has at most two UTF-16 units.
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| escaped_text.push_str(&format!("\\u{unit:04x}")));
        } else {
            escaped_text.push(c);
        }
    }
    Cow::Owned(escaped_text)
}

/// Replaces each character of [`is_unsafe`] by a visible character with the same number of bytes in UTF-8 (`?` for one
/// byte), so that positions in the text stay valid. Tabs are kept. Text without such characters is returned without a
/// copy.
pub(crate) fn replace_same_length(text: &str) -> Cow<'_, str> {
    let is_replaced = |c: char| is_unsafe(c) && c != '\t';
    if !text.chars().any(is_replaced) {
        return Cow::Borrowed(text);
    }
    let replacement = |c: char| match c.len_utf8() {
        1 => '?',
        2 => '\u{bf}',
        3 => '\u{fffd}',
        _ => '\u{1f6ab}',
    };
    Cow::Owned(text.chars().map(|c| if is_replaced(c) { replacement(c) } else { c }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `one_line` escapes control, bidirectional and tag characters and line breaks; `lines` keeps line feeds and tabs.
    /// Plain text is not copied.
    #[test]
    fn escapes_what_moves_a_cursor_or_reorders_a_line() {
        assert_eq!(
            one_line("a\u{1b}[2J\r\nb\u{9b}\u{202e}\u{e0041}"),
            "a\\u001b[2J\\u000d\\u000ab\\u009b\\u202e\\udb40\\udc41"
        );
        assert_eq!(lines("a\tb\n\u{1b}\r"), "a\tb\n\\u001b\\u000d");
        let plain = "Käfer 1.6 ° – 日本";
        assert!(matches!(one_line(plain), Cow::Borrowed(_)));
    }

    #[test]
    fn replacements_keep_the_length() {
        let text = "\u{1b}é\u{9b}\u{202e}\u{e0041}\t";
        let same = replace_same_length(text);
        assert_eq!((same.len(), &*same), (text.len(), "?é\u{bf}\u{fffd}\u{1f6ab}\t"));
    }
}
