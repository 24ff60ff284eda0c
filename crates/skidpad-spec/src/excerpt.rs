//! Lines of a text around a fault, cut to what fits into a report.

use crate::printable::{one_line, replace_same_length};
use std::collections::BTreeMap;
use std::ops::Range;

/// Longest line that is shown in full, bytes.
const MAX_LINE_BYTES: usize = 200;

/// Part of a long line that is shown before a fault, bytes.
const BYTES_BEFORE_FAULT: usize = 60;

/// Stands for the part of a line that is left out.
const ELLIPSIS: &str = "…";

/// Start of each line of a text.
#[derive(Clone, Debug)]
pub struct LineIndex<'a> {
    /// Text whose lines are indexed.
    text: &'a str,
    /// First byte of each line.
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    /// Creates the index of the lines of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, starts: line_starts(text) }
    }

    /// Returns line and column in characters, both from 1, of byte `offset`.
    pub fn line_and_column(&self, offset: usize) -> (usize, usize) {
        line_and_column(self.text, &self.starts, offset)
    }

    /// Returns true if line `number` (from 0) exists. The empty rest after the last line break is no line.
    fn has_line(&self, number: usize) -> bool {
        self.starts.get(number).is_some_and(|&start| start < self.text.len())
    }

    /// Returns the line `number` (from 0) without its line break; empty beyond the last line.
    fn line(&self, number: usize) -> &'a str {
        let start = self.starts.get(number).copied().unwrap_or(self.text.len());
        let end = self.starts.get(number + 1).copied().unwrap_or(self.text.len());
        self.text.get(start..end).unwrap_or("").trim_end_matches(['\r', '\n'])
    }
}

/// Lines of a text around a fault. A long line is cut to a window around the fault, control characters are replaced,
/// and a fault of several lines ends with its first one.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    /// Name of the file or text.
    #[cfg_attr(not(feature = "graphics"), expect(dead_code, reason = "only drawn faults have it"))]
    pub(crate) name: String,
    /// Lines that are shown, each with a line break.
    pub(crate) text: String,
    /// Number from 0 and start in the excerpt of each line that is shown.
    pub(crate) lines: Vec<(usize, usize)>,
    /// Spans in the excerpt, each with its column from 0 in the whole text.
    spans: Vec<(Range<usize>, usize)>,
}

impl Excerpt {
    /// Cuts the lines around `spans`, bytes of the text of `lines`, out of that text. `name` names the text in reports.
    /// Shows for each span the line of its start, the line before and the line after; each line once, in the order of
    /// the text. A span that ends on a later line is cut to its first line. A long line is cut to a window around the
    /// first of its spans. Spans outside of the window become empty at its edge. Stores the shown lines, and for each
    /// span its place in the excerpt and its column in the text.
    pub fn new(name: &str, lines: &LineIndex<'_>, spans: &[Range<usize>]) -> Self {
        let mut excerpt = Self { name: one_line(name).into_owned(), ..Self::default() };
        // Lines to show, each with the indices of the spans that start there.
        let mut shown: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let places: Vec<(usize, usize)> = spans.iter().map(|span| lines.line_and_column(span.start)).collect();
        for (span_index, (line, _)) in places.iter().enumerate() {
            // Line numbers of places count from 1, `neighbour_line` counts from 0: the line before to the line after.
            for neighbour_line in (line.saturating_sub(2)..(line + 1).min(lines.starts.len()))
                .filter(|neighbour_line| lines.has_line(*neighbour_line))
            {
                shown.entry(neighbour_line).or_default();
            }
            // The line of the span itself is shown also if it is the empty rest of the text.
            shown.entry(line - 1).or_default().push(span_index);
        }
        // The loop below replaces the empty spans.
        excerpt.spans = places.iter().map(|(_, column)| (0..0, column - 1)).collect();
        for (line, span_indices) in shown {
            let excerpt_start = excerpt.text.len();
            excerpt.lines.push((line, excerpt_start));
            let line_text = lines.line(line);
            let line_start = lines.starts[line];
            // Converts a position in the text to one in the line, limited to the line.
            let to_line_offset = |offset: usize| line_text.floor_char_boundary(offset.saturating_sub(line_start));
            let line_spans: Vec<Range<usize>> = span_indices
                .iter()
                .map(|&k| to_line_offset(spans[k].start)..to_line_offset(spans[k].end.max(spans[k].start)))
                .collect();
            let (window_text, window) =
                cut_to_window(line_text, line_spans.iter().map(|span| span.start).min().unwrap_or(0));
            // Converts a position in the text to one in the excerpt.
            let to_excerpt_offset = |offset: usize| {
                excerpt_start + window.prefix + offset.clamp(window.range.start, window.range.end) - window.range.start
            };
            for (&k, span) in span_indices.iter().zip(&line_spans) {
                excerpt.spans[k].0 = to_excerpt_offset(span.start)..to_excerpt_offset(span.end);
            }
            excerpt.text.push_str(&window_text);
            excerpt.text.push('\n');
        }
        excerpt
    }

    /// Returns the spans in the excerpt, in the order in which they were given.
    pub fn spans(&self) -> impl Iterator<Item = Range<usize>> {
        self.spans.iter().map(|(span, _)| span.clone())
    }

    /// Returns the line of the first span without its line break.
    pub(crate) fn first_span_line(&self) -> &str {
        let span_start = self.spans.first().map_or(0, |(span, _)| span.start);
        let (_, start) = self.lines[self.line_index_at(span_start)];
        self.text[start..].lines().next().unwrap_or("")
    }

    /// Returns the index in `lines` of the line that contains byte `offset` of the excerpt.
    pub(crate) fn line_index_at(&self, offset: usize) -> usize {
        self.lines.partition_point(|&(_, start)| start <= offset).saturating_sub(1)
    }

    /// Returns the column from 0 in the whole text of a span that starts at byte `offset` of the excerpt; 0 without
    /// such a span.
    #[cfg(feature = "graphics")]
    pub(crate) fn column_at(&self, offset: usize) -> usize {
        self.spans.iter().find(|(span, _)| span.start == offset).map_or(0, |(_, column)| *column)
    }
}

/// Part of a line that is shown.
struct Window {
    /// Bytes of the line that are shown.
    range: Range<usize>,
    /// Length of the ellipsis before them, bytes; 0 without one.
    prefix: usize,
}

/// Cuts `line` to [`MAX_LINE_BYTES`] around byte `offset`: up to [`BYTES_BEFORE_FAULT`] before `offset` and the rest
/// after it, with an ellipsis at each cut end. Cuts are at characters, not within them. Shorter lines stay whole.
/// Control characters are replaced by visible ones of the same length. Returns the text with its ellipses, and its
/// window in the line.
fn cut_to_window(line: &str, offset: usize) -> (String, Window) {
    if line.len() <= MAX_LINE_BYTES {
        return (replace_same_length(line).into_owned(), Window { range: 0..line.len(), prefix: 0 });
    }
    let start = line.floor_char_boundary(offset.saturating_sub(BYTES_BEFORE_FAULT));
    let end = line.floor_char_boundary(start + MAX_LINE_BYTES);
    let prefix = if start > 0 { ELLIPSIS } else { "" };
    let suffix = if end < line.len() { ELLIPSIS } else { "" };
    let window_text = format!("{prefix}{}{suffix}", replace_same_length(&line[start..end]));
    (window_text, Window { range: start..end, prefix: prefix.len() })
}

/// Returns a text of a message, cut to 400 bytes with an ellipsis if it is longer.
pub(crate) fn shorten_message(text: String) -> String {
    const MAX_MESSAGE_BYTES: usize = 400;
    if text.len() <= MAX_MESSAGE_BYTES {
        return text;
    }
    format!("{}{ELLIPSIS}", &text[..text.floor_char_boundary(MAX_MESSAGE_BYTES)])
}

/// Returns the first byte of each line of `text`. After a final line break there is one more, empty line.
pub fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.match_indices('\n').map(|(i, _)| i + 1);
    std::iter::once(0).chain(breaks).collect()
}

/// Returns line and column in characters, both from 1, of byte `offset` of a text with these [`line_starts`].
pub fn line_and_column(text: &str, starts: &[usize], offset: usize) -> (usize, usize) {
    let line = starts.partition_point(|&start| start <= offset).max(1);
    let text_before = text.get(starts[line - 1]..offset).unwrap_or("");
    (line, text_before.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of a fault is shown with the lines before and after, without carriage returns, and the span is found in
    /// it.
    #[test]
    fn short_lines_are_shown_with_those_around_them() {
        let text = "a = 1\r\nb = x\r\nc = 3\n";
        let excerpt = Excerpt::new("a.toml", &LineIndex::new(text), core::slice::from_ref(&(11..12)));
        assert_eq!((excerpt.text.as_str(), excerpt.first_span_line()), ("a = 1\nb = x\nc = 3\n", "b = x"));
        let span = excerpt.spans().next().expect("one");
        assert_eq!((&excerpt.text[span], &excerpt.lines[..]), ("x", &[(0, 0), (1, 6), (2, 12)][..]));
    }

    /// A long line is shown as a window around its first fault, with an ellipsis at both ends; a second fault beyond
    /// the window becomes an empty span within it.
    #[test]
    fn long_lines_are_cut_around_their_fault() {
        let text = format!("{}é!{}\n", " ".repeat(70_000), "z".repeat(70_000));
        let excerpt = Excerpt::new("a.toml", &LineIndex::new(&text), &[70_000..70_002, 140_000..140_001]);
        let spans: Vec<_> = excerpt.spans().collect();
        assert_eq!(&excerpt.text[spans[0].clone()], "é");
        assert!(
            excerpt.text.len() < MAX_LINE_BYTES + 20 && excerpt.text.starts_with('…') && excerpt.text.ends_with("…\n")
        );
        assert!(spans[1].is_empty() && excerpt.text.is_char_boundary(spans[1].start), "{spans:?}");
    }

    /// A fault over several lines ends with its first one, and control characters are replaced. Spans at and beyond the
    /// end of a text, and within a character, give valid spans of the excerpt.
    #[test]
    fn faults_end_with_their_line_and_texts_may_be_empty() {
        let text = "ab\ncd\u{1b}\nef";
        let excerpt = Excerpt::new("a", &LineIndex::new(text), core::slice::from_ref(&(4..9)));
        assert_eq!((excerpt.text.as_str(), excerpt.spans().next()), ("ab\ncd?\nef\n", Some(4..6)));
        for (text, span) in [("", 0..0), ("", 5..9), ("a", 1..1), ("a\n", 2..2), ("é", 1..1)] {
            let excerpt = Excerpt::new("a", &LineIndex::new(text), std::slice::from_ref(&span));
            let span = excerpt.spans().next().expect("one");
            assert!(excerpt.text.get(span).is_some(), "{text:?}");
        }
    }
}
