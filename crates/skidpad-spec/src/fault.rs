//! Faults of a file with their places, and the report of all faults at once.

use crate::excerpt::{Excerpt, LineIndex, shorten_message};
use crate::printable::one_line;
use std::fmt::{self, Display};
use std::ops::Range;

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Invalid syntax.
    Syntax,
    /// Unknown key.
    UnknownKey,
    /// Missing key that is required.
    MissingKey,
    /// Value of the wrong type, such as a text instead of a number.
    WrongType,
    /// Value of the right type that is not accepted.
    OutOfRange,
    /// Value that is accepted by itself, but contradicts another part of the file.
    Contradiction,
}

impl FaultKind {
    /// Returns the stable name of the kind, as printed in reports, such as `missing_key`.
    pub fn code(self) -> &'static str {
        match self {
            FaultKind::Syntax => "syntax",
            FaultKind::UnknownKey => "unknown_key",
            FaultKind::MissingKey => "missing_key",
            FaultKind::WrongType => "wrong_type",
            FaultKind::OutOfRange => "out_of_range",
            FaultKind::Contradiction => "contradiction",
        }
    }
}

/// Fault: its place, the value found and the accepted values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Path of the key, such as `axles[0].suspension.rate_n_per_m`; empty for the file as a whole.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the value found.
    pub found: String,
    /// Description of the accepted values.
    pub accepts: String,
    /// Remedy, or the meaning of the key.
    pub help: Option<String>,
    /// Span of the fault in the text, bytes.
    pub span: Range<usize>,
    /// Span of the value that it contradicts, bytes; `None` if there is none.
    pub contradicted_span: Option<Range<usize>>,
}

impl Display for Fault {
    /// Writes path, value found and accepted values as one sentence by the kind of fault, with control characters
    /// escaped. Place and help are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [path, found, accepts] = [&self.path, &self.found, &self.accepts].map(|text| one_line(text));
        match self.kind {
            FaultKind::Syntax if path.is_empty() => write!(f, "{found}"),
            FaultKind::Syntax => write!(f, "`{path}`: {found}"),
            FaultKind::UnknownKey => write!(f, "unknown key `{path}`"),
            FaultKind::MissingKey => write!(f, "`{path}` is missing: it must be {accepts}"),
            FaultKind::WrongType | FaultKind::OutOfRange => write!(f, "`{path}` is {found}, but must be {accepts}"),
            FaultKind::Contradiction if path.is_empty() => write!(f, "the file: {found}, but must be {accepts}"),
            FaultKind::Contradiction if accepts.is_empty() => write!(f, "`{path}`: {found}"),
            FaultKind::Contradiction => write!(f, "`{path}`: {found}, but must be {accepts}"),
        }
    }
}

impl std::error::Error for Fault {}

/// Maximum number of faults that a report shows.
pub const MAX_SHOWN_FAULTS: usize = 50;

/// Maximum number of faults that are collected in one file. Readers stop there, as many faults have one cause.
pub const MAX_COLLECTED_FAULTS: usize = 256;

/// Adds a fault to `list` unless it has [`MAX_COLLECTED_FAULTS`] already. The texts of the fault are cut to what fits
/// into a report.
pub(crate) fn push_fault(list: &mut Vec<Fault>, fault: Fault) {
    if list.len() < MAX_COLLECTED_FAULTS {
        let (path, found, accepts) =
            (shorten_message(fault.path), shorten_message(fault.found), shorten_message(fault.accepts));
        list.push(Fault { path, found, accepts, help: fault.help.map(shorten_message), ..fault });
    }
}

/// Fault with the lines around it.
#[derive(Clone, Debug)]
pub(crate) struct FaultWithExcerpt {
    /// Fault.
    pub fault: Fault,
    /// Lines around the fault.
    pub excerpt: Excerpt,
}

impl Display for FaultWithExcerpt {
    /// Writes the message of the fault, without its excerpt.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

impl std::error::Error for FaultWithExcerpt {}

/// Faults of one file in the order of the text, at least one and at most [`MAX_COLLECTED_FAULTS`]. `Debug` writes the
/// report of [`Faults::to_text`], which a panic of `unwrap` then shows.
#[derive(Clone)]
pub struct Faults {
    /// Name of the file or text.
    source_name: String,
    /// Faults in the order of the text.
    list: Vec<Fault>,
    /// First faults with their lines.
    shown_faults: Vec<FaultWithExcerpt>,
    /// Reports of the files to which this one refers.
    files: Vec<Faults>,
}

impl Faults {
    /// Creates the report of the faults `list` of one text. Sorts the faults by the start of their span, then by path.
    /// Stores the lines around each of the first [`MAX_SHOWN_FAULTS`] faults and around the value that it contradicts.
    /// The faults of other files are added by `with_files`.
    pub(crate) fn new(source_name: &str, text: &str, mut list: Vec<Fault>) -> Self {
        list.sort_by(|a, b| (a.span.start, &a.path).cmp(&(b.span.start, &b.path)));
        let lines = LineIndex::new(text);
        let shown_faults = list.iter().take(MAX_SHOWN_FAULTS).map(|fault| {
            // First the place of the fault, then that of the value it contradicts.
            let spans: Vec<Range<usize>> =
                std::iter::once(fault.span.clone()).chain(fault.contradicted_span.clone()).collect();
            FaultWithExcerpt { fault: fault.clone(), excerpt: Excerpt::new(source_name, &lines, &spans) }
        });
        let shown_faults = shown_faults.collect();
        Self { source_name: source_name.to_owned(), list, shown_faults, files: Vec::new() }
    }

    /// Returns the report with `files` as the reports of the files to which this one refers, in place of earlier ones.
    pub(crate) fn with_files(self, files: Vec<Faults>) -> Self {
        Self { files, ..self }
    }

    /// Returns the faults of the files this one refers to, each with places in its own text.
    pub fn files(&self) -> &[Faults] {
        &self.files
    }

    /// Returns the faults in the order of the text.
    pub fn list(&self) -> &[Fault] {
        &self.list
    }

    /// Returns the first faults with their lines.
    #[cfg(feature = "graphics")]
    pub(crate) fn shown_faults(&self) -> &[FaultWithExcerpt] {
        &self.shown_faults
    }

    /// Returns the name of the file or text.
    pub fn source_name(&self) -> &str {
        &self.source_name
    }

    /// Returns the whole report as text: [`Faults::to_text`], and with the feature `graphics` a report with the lines
    /// around each fault.
    #[cfg(not(feature = "graphics"))]
    pub fn render(&self) -> String {
        self.to_text()
    }

    /// Returns the report as text: a summary, then for each shown fault `file:line:column: message`, its line without
    /// surrounding spaces and indented by two, and its help if it has one. The reports of the files to which this one
    /// refers follow in the same form.
    pub fn to_text(&self) -> String {
        let mut report = format!("{self}\n");
        for FaultWithExcerpt { fault, excerpt } in &self.shown_faults {
            report += &format!("{}:{}:{}: {fault}\n", one_line(&self.source_name), fault.line, fault.column);
            report += &format!("  {}\n", excerpt.first_span_line().trim());
            report.extend(fault.help.iter().map(|help| format!("  help: {}\n", one_line(help))));
        }
        report.extend(self.files.iter().map(Faults::to_text));
        report
    }
}

impl Display for Faults {
    /// Writes the summary: the name and the number of faults. Says that only [`MAX_SHOWN_FAULTS`] are shown if there
    /// are more, and "or more" if the list is full. Faults of other files do not count.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = one_line(self.source_name());
        match self.list.len() {
            1 => write!(f, "{name} has a fault"),
            MAX_COLLECTED_FAULTS => {
                write!(f, "{name} has {MAX_COLLECTED_FAULTS} faults or more; the first {MAX_SHOWN_FAULTS} are shown")
            }
            n if n > MAX_SHOWN_FAULTS => {
                write!(f, "{name} has {n} faults; the first {MAX_SHOWN_FAULTS} are shown")
            }
            n => write!(f, "{name} has {n} faults"),
        }
    }
}

impl fmt::Debug for Faults {
    /// Writes the report of [`Faults::to_text`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl std::error::Error for Faults {}
