//! Collection of the faults of a file, and the place of each key in its text.

use crate::excerpt::{line_starts, position};
use crate::fault::{MOST_COLLECTED, collect};
use crate::lint::Lint;
use crate::{Fault, FaultKind, Faults};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Faults, warnings and places of a file while it is read.
#[derive(Debug, Default)]
pub struct FaultCollector {
    /// Faults in the order of discovery.
    pub faults: Vec<Fault>,
    /// Paths whose values are placeholders. Rules must not evaluate them.
    pub(crate) broken: BTreeSet<String>,
    /// Faults of the files that this file refers to.
    pub(crate) files: Vec<Faults>,
    /// Whether unknown keys are skipped instead of reported as faults.
    pub tolerant: bool,
    /// Paths of the unknown keys that were skipped, with their spans in the text.
    pub passed_over: Vec<(String, Range<usize>)>,
    /// Warnings about values and referenced files that have no faults.
    pub(crate) notes: Vec<Lint>,
    /// Span of each path in the text.
    pub(crate) places: Places,
    /// Whether the last fault was added to `faults`, which may be full.
    last_is_kept: bool,
}

/// Span of each path of a file in its text, bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<String, Range<usize>>);

impl Places {
    /// Returns the span of `path` or, if it has none, of the nearest enclosing path with a span.
    pub fn of(&self, path: &str) -> Option<Range<usize>> {
        let around = path.rmatch_indices(['.', '[']).map(|(end, _)| &path[..end]);
        std::iter::once(path).chain(around).find_map(|path| self.0.get(path)).cloned()
    }
}

impl FaultCollector {
    /// Converts the collected faults into a report, with the line and the column of each fault.
    pub fn into_faults(mut self, source_name: &str, text: &str) -> Faults {
        let starts = line_starts(text);
        for fault in &mut self.faults {
            (fault.line, fault.column) = position(text, &starts, fault.span.start);
        }
        Faults::new(source_name, text, self.faults).with_files(self.files)
    }

    /// Adds a fault of the key `path`, at the bytes `span` of the text. The fault is dropped if the list is full.
    pub fn fault(
        &mut self,
        kind: FaultKind,
        path: String,
        span: Range<usize>,
        found: impl Into<String>,
        accepts: impl Into<String>,
        help: Option<String>,
    ) {
        let (found, accepts) = (found.into(), accepts.into());
        let fault = Fault { kind, path, line: 0, column: 0, found, accepts, help, span, against: None };
        self.last_is_kept = !self.is_full();
        collect(&mut self.faults, fault);
    }

    /// Returns true if the list of faults is full, so that further faults are dropped.
    pub fn is_full(&self) -> bool {
        self.faults.len() >= MOST_COLLECTED
    }

    /// Returns the last reported fault, or `None` if it was dropped because the list was full.
    pub(crate) fn last_fault(&mut self) -> Option<&mut Fault> {
        if self.last_is_kept { self.faults.last_mut() } else { None }
    }

    /// Reports a fault unless exactly one of two alternative keys of `table` is given. Each key is passed with whether
    /// it is given. Nothing is reported if one of the keys holds a placeholder.
    pub(crate) fn exactly_one(&mut self, table: &str, first: (&str, bool), second: (&str, bool)) {
        let ((first, has_first), (second, has_second)) = (first, second);
        let (a, b) = (join(table, first), join(table, second));
        if self.is_broken(&a) || self.is_broken(&b) || has_first != has_second {
            return;
        }
        let span = self.place(if has_first { &b } else { &a });
        if has_first {
            let found = format!("given as well as `{first}`");
            let accepts = format!("the only one of `{first}` and `{second}`");
            self.fault(FaultKind::Contradiction, b, span, found, accepts, Some("remove one of them".into()));
            let against = self.given(&a);
            if let Some(fault) = self.last_fault() {
                fault.against = against;
            }
        } else {
            let accepts = format!("given, or `{second}` instead");
            self.fault(FaultKind::MissingKey, a, span, "missing", accepts, None);
        }
    }

    /// Returns the span of `path` itself, or `None` if the file does not give it.
    pub(crate) fn given(&self, path: &str) -> Option<Range<usize>> {
        self.places.0.get(path).cloned()
    }

    /// Stores the span of `path` for later reports.
    pub fn remember(&mut self, path: &str, span: Range<usize>) {
        self.places.0.insert(path.to_owned(), span);
    }

    /// Returns true if `path` or a table or list that contains it holds a placeholder.
    pub(crate) fn is_broken(&self, path: &str) -> bool {
        self.broken.contains(path) || path.match_indices(['.', '[']).any(|(end, _)| self.broken.contains(&path[..end]))
    }

    /// Returns the span of `path` or of the nearest enclosing path with a span, and an empty span at the start of the
    /// text if there is none.
    pub fn place(&self, path: &str) -> Range<usize> {
        self.places.of(path).unwrap_or(0..0)
    }
}

/// Returns `path.key`, or only the key if `path` is empty. The key is quoted if it is not a bare key of TOML.
pub(crate) fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}
