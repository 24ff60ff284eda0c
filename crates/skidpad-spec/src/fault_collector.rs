//! Collection of the faults of a file, and the place of each key in its text.

use crate::excerpt::{line_and_column, line_starts};
use crate::fault::{MAX_COLLECTED_FAULTS, push_fault};
use crate::old_keys::{OldKey, OldKeys};
use crate::warning::Warning;
use crate::{Fault, FaultKind, Faults};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Faults, warnings and places of a file while it is read.
#[derive(Debug, Default)]
pub struct FaultCollector {
    /// Faults in the order of discovery.
    pub faults: Vec<Fault>,
    /// Paths whose values are placeholders. Rules must not evaluate them.
    pub(crate) placeholder_paths: BTreeSet<String>,
    /// Faults of the files that this file refers to.
    pub(crate) file_faults: Vec<Faults>,
    /// Whether unknown keys are skipped instead of reported as faults.
    pub skips_unknown_keys: bool,
    /// Paths of the unknown keys that were skipped, with their spans in the text.
    pub skipped_keys: Vec<(String, Range<usize>)>,
    /// Keys with old names, in the order of the text, with their spans in the text. Their lines are not set.
    pub(crate) old_keys: Vec<(OldKey, Range<usize>)>,
    /// Warnings about values and referenced files that have no faults.
    pub(crate) warnings: Vec<Warning>,
    /// Span of each path in the text.
    pub(crate) spans: PathSpans,
    /// Whether the last fault was added to `faults`, which may be full.
    is_last_stored: bool,
}

/// Span of each path of a file in its text, bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathSpans(BTreeMap<String, Range<usize>>);

impl PathSpans {
    /// Returns the span of `path`. If it has none, returns that of the nearest enclosing table or list: for
    /// `axles[0].track_m` that of `axles[0]`, then `axles`. Returns `None` if none of them has a span.
    pub fn nearest_span(&self, path: &str) -> Option<Range<usize>> {
        let enclosing_paths = path.rmatch_indices(['.', '[']).map(|(end, _)| &path[..end]);
        std::iter::once(path).chain(enclosing_paths).find_map(|path| self.0.get(path)).cloned()
    }
}

impl FaultCollector {
    /// Converts the collected faults into a report: sets line and column of each fault from its span, and adds the
    /// faults of referenced files. `source_name` and `text` are those of the file. Warnings and old keys are dropped.
    pub fn into_faults(mut self, source_name: &str, text: &str) -> Faults {
        let starts = line_starts(text);
        for fault in &mut self.faults {
            (fault.line, fault.column) = line_and_column(text, &starts, fault.span.start);
        }
        Faults::new(source_name, text, self.faults).with_files(self.file_faults)
    }

    /// Removes all keys with old names from the collector and returns them in their order, with their lines from 1 in
    /// `text`, under the name `source_name`.
    pub(crate) fn take_old_keys(&mut self, source_name: &str, text: &str) -> OldKeys {
        let line_offsets = line_starts(text);
        let with_line = |(key, span): (OldKey, Range<usize>)| OldKey {
            line: line_and_column(text, &line_offsets, span.start).0,
            ..key
        };
        let keys = std::mem::take(&mut self.old_keys).into_iter().map(with_line).collect();
        OldKeys { file: source_name.to_owned(), keys }
    }

    /// Adds a fault of the key `path`, at the bytes `span` of the text. `found` describes the value found, `accepts`
    /// the accepted values, `help` a remedy. All texts are cut to a length that fits into a report. Line and column
    /// stay 0 until [`Self::into_faults`] sets them. If the list of faults is full, the fault is dropped, and
    /// `last_fault` returns `None` afterwards.
    pub fn add_fault(
        &mut self,
        kind: FaultKind,
        path: String,
        span: Range<usize>,
        found: impl Into<String>,
        accepts: impl Into<String>,
        help: Option<String>,
    ) {
        let (found, accepts) = (found.into(), accepts.into());
        let fault = Fault { kind, path, line: 0, column: 0, found, accepts, help, span, contradicted_span: None };
        self.is_last_stored = !self.is_full();
        push_fault(&mut self.faults, fault);
    }

    /// Returns true if the list of faults is full, so that further faults are dropped.
    pub fn is_full(&self) -> bool {
        self.faults.len() >= MAX_COLLECTED_FAULTS
    }

    /// Returns the last reported fault, or `None` if it was dropped because the list was full.
    pub(crate) fn last_fault(&mut self) -> Option<&mut Fault> {
        if self.is_last_stored { self.faults.last_mut() } else { None }
    }

    /// Reports a fault unless exactly one of two alternative keys of `table` is given. `first` and `second` are the
    /// names of the keys, each with whether it is given. If both are given, reports a contradiction at the second key,
    /// which also shows the first. If none is given, reports the first key as missing. Reports nothing if one of both
    /// keys, or a table that contains it, holds a placeholder.
    pub(crate) fn require_exactly_one(&mut self, table: &str, first: (&str, bool), second: (&str, bool)) {
        let ((first, has_first), (second, has_second)) = (first, second);
        let (first_path, second_path) = (join_key(table, first), join_key(table, second));
        if self.has_placeholder(&first_path) || self.has_placeholder(&second_path) || has_first != has_second {
            return;
        }
        let span = self.nearest_span(if has_first { &second_path } else { &first_path });
        if has_first {
            let found = format!("set together with `{first}`");
            let accepts = format!("set alone: either `{first}` or `{second}`");
            self.add_fault(
                FaultKind::Contradiction,
                second_path,
                span,
                found,
                accepts,
                Some("remove one of them".into()),
            );
            let contradicted_span = self.given_span(&first_path);
            if let Some(fault) = self.last_fault() {
                fault.contradicted_span = contradicted_span;
            }
        } else {
            let accepts = format!("set, or `{second}` instead");
            self.add_fault(FaultKind::MissingKey, first_path, span, "missing", accepts, None); // no help
        }
    }

    /// Returns the span of `path` itself, or `None` if the file does not give it.
    pub(crate) fn given_span(&self, path: &str) -> Option<Range<usize>> {
        self.spans.0.get(path).cloned()
    }

    /// Stores the span of `path` for later reports.
    pub fn store_span(&mut self, path: &str, span: Range<usize>) {
        self.spans.0.insert(path.to_owned(), span);
    }

    /// Returns true if `path` or a table or list that contains it holds a placeholder, a substitute for a wrong or
    /// missing value.
    pub(crate) fn has_placeholder(&self, path: &str) -> bool {
        self.placeholder_paths.contains(path)
            || path.match_indices(['.', '[']).any(|(end, _)| self.placeholder_paths.contains(&path[..end]))
    }

    /// Returns the span of `path` or of the nearest enclosing path with a span, and an empty span at the start of the
    /// text if there is none.
    pub fn nearest_span(&self, path: &str) -> Range<usize> {
        self.spans.nearest_span(path).unwrap_or(0..0)
    }
}

/// Returns `path.key`, or only the key if `path` is empty. The key is quoted if it is not a bare key of TOML (letters,
/// digits, `_` and `-` in ASCII).
pub(crate) fn join_key(path: &str, key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if is_bare { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}
