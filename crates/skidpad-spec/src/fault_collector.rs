//! Faults of a file as they are found, and where everything stands in it.

use crate::excerpt::{line_starts, position};
use crate::fault::{MOST_COLLECTED, collect};
use crate::lint::Lint;
use crate::{Fault, FaultKind, Faults};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What is known about a file while it is read.
#[derive(Debug, Default)]
pub struct FaultCollector {
    /// In the order of discovery.
    pub faults: Vec<Fault>,
    /// Paths that hold a placeholder; rules must not look at them.
    pub(crate) broken: BTreeSet<String>,
    /// Faults of the files it refers to.
    pub(crate) files: Vec<Faults>,
    /// Whether keys that nothing reads are passed over instead of being faults.
    pub tolerant: bool,
    /// Paths of keys that were passed over, and where they stand.
    pub passed_over: Vec<(String, Range<usize>)>,
    /// About the files it refers to, if they are sound.
    pub(crate) notes: Vec<Lint>,
    /// Where each path stands in the text.
    pub(crate) places: Places,
    /// State of the last fault: true if it was collected.
    last_is_kept: bool,
}

/// Where each path of a file stands in its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<String, Range<usize>>);

impl Places {
    /// Where `path` stands, or the nearest thing around it that does.
    pub fn of(&self, path: &str) -> Option<Range<usize>> {
        let around = path.rmatch_indices(['.', '[']).map(|(end, _)| &path[..end]);
        std::iter::once(path).chain(around).find_map(|path| self.0.get(path)).cloned()
    }
}

impl FaultCollector {
    /// The faults, each with its line and column.
    pub fn into_faults(mut self, source_name: &str, text: &str) -> Faults {
        let starts = line_starts(text);
        for fault in &mut self.faults {
            (fault.line, fault.column) = position(text, &starts, fault.span.start);
        }
        Faults::new(source_name, text, self.faults).with_files(self.files)
    }

    /// Adds a fault of the key `path`, at the bytes `span`.
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

    /// Returns true if no more faults are collected.
    pub fn is_full(&self) -> bool {
        self.faults.len() >= MOST_COLLECTED
    }

    /// Returns the last fault, unless it came after the list was full.
    pub(crate) fn last_fault(&mut self) -> Option<&mut Fault> {
        if self.last_is_kept { self.faults.last_mut() } else { None }
    }

    /// Of two keys that say the same thing in `table`, one must be there.
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

    /// Where `path` itself stands; `None` if the file does not give it.
    pub(crate) fn given(&self, path: &str) -> Option<Range<usize>> {
        self.places.0.get(path).cloned()
    }

    /// Remembers where `path` stands, for notes about what is not read.
    pub fn remember(&mut self, path: &str, span: Range<usize>) {
        self.places.0.insert(path.to_owned(), span);
    }

    /// Whether `path` or anything it is part of holds a placeholder.
    pub(crate) fn is_broken(&self, path: &str) -> bool {
        self.broken.contains(path) || path.match_indices(['.', '[']).any(|(end, _)| self.broken.contains(&path[..end]))
    }

    /// Where `path` stands, or the nearest thing around it that does; the start of the text if nothing does.
    pub fn place(&self, path: &str) -> Range<usize> {
        self.places.of(path).unwrap_or(0..0)
    }
}

/// `path.key`, with quotes if the key needs them.
pub(crate) fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}
