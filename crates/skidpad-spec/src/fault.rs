//! What is wrong with a vehicle file, all of it at once, each fault with its place.

use std::fmt::{self, Display};
use std::ops::Range;

/// What sort of rule a fault breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The text is not TOML there.
    Syntax,
    /// A key that nothing reads.
    UnknownKey,
    /// A key that must be there is not.
    MissingKey,
    /// Text where a number belongs, and the like.
    WrongType,
    /// The right type, but not an accepted value.
    OutOfRange,
    /// Fine by itself, but it contradicts something else in the file.
    Contradiction,
}

impl FaultKind {
    /// Stable name, as printed in reports.
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

/// One fault: where, what was found, what is accepted there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which sort of rule it breaks.
    pub kind: FaultKind,
    /// The key it is about, like `axles[0].suspension.rate_n_per_m`; empty for the file as a whole.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What stands there.
    pub found: String,
    /// What would be accepted.
    pub accepts: String,
    /// How to mend it, or what the key means.
    pub help: Option<String>,
    /// Bytes of the text it points at.
    pub span: Range<usize>,
    /// Bytes of the value it contradicts, if it is one.
    pub against: Option<Range<usize>>,
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, found, accepts, .. } = self;
        match self.kind {
            FaultKind::Syntax if path.is_empty() => write!(f, "{found}"),
            FaultKind::Syntax => write!(f, "`{path}`: {found}"),
            FaultKind::UnknownKey => write!(f, "`{path}` is not a known key"),
            FaultKind::MissingKey => write!(f, "`{path}` is missing: it must be {accepts}"),
            FaultKind::WrongType | FaultKind::OutOfRange => write!(f, "`{path}` is {found}, but must be {accepts}"),
            FaultKind::Contradiction if path.is_empty() => write!(f, "the file: {found}, but must be {accepts}"),
            FaultKind::Contradiction => write!(f, "`{path}`: {found}, but must be {accepts}"),
        }
    }
}

impl std::error::Error for Fault {}

/// Faults a report shows; each is drawn into the text, which takes time in proportion to its length.
pub const MOST_SHOWN: usize = 50;

/// Every fault of one file, in the order of the text; at least one.
#[derive(Clone, Debug)]
pub struct Faults {
    source_name: String,
    pub(crate) text: String,
    list: Vec<Fault>,
    files: Vec<Faults>,
}

impl Faults {
    pub(crate) fn new(source_name: &str, text: &str, mut list: Vec<Fault>) -> Self {
        list.sort_by(|a, b| (a.span.start, &a.path).cmp(&(b.span.start, &b.path)));
        Self { source_name: source_name.to_owned(), text: text.to_owned(), list, files: Vec::new() }
    }

    /// With the faults of files this one refers to.
    pub(crate) fn with_files(self, files: Vec<Faults>) -> Self {
        Self { files, ..self }
    }

    /// Without a text that is too long to be kept and searched for each fault; lines and columns stay.
    #[cfg(feature = "terrain_files")]
    pub(crate) fn short(mut self) -> Self {
        const LONGEST: usize = 1 << 20;
        if self.text.len() > LONGEST {
            self.text = String::new();
            self.list.iter_mut().for_each(|fault| fault.span = 0..0);
        }
        self
    }

    /// Faults of the files this one refers to, each with places in its own text.
    pub fn files(&self) -> &[Faults] {
        &self.files
    }

    /// In the order of the text.
    pub fn list(&self) -> &[Fault] {
        &self.list
    }

    /// Name of the file or text.
    pub fn source_name(&self) -> &str {
        &self.source_name
    }

    /// The whole report as text: [`Faults::listed`], and with the feature `graphics` drawn into the text of the file.
    #[cfg(not(feature = "graphics"))]
    pub fn render(&self) -> String {
        self.listed()
    }

    /// A line for each fault, `file:line:column: what is wrong`, with the line it is in and how to mend it; those of files it refers
    /// to last.
    pub fn listed(&self) -> String {
        let mut report = format!("{self}\n");
        for fault in self.list.iter().take(MOST_SHOWN) {
            report += &format!("{}:{}:{}: {fault}\n", self.source_name, fault.line, fault.column);
            report.extend(self.text.lines().nth(fault.line - 1).map(|line| format!("  {}\n", line.trim())));
            report.extend(fault.help.iter().map(|help| format!("  help: {help}\n")));
        }
        report.extend(self.files.iter().map(Faults::listed));
        report
    }
}

impl Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.source_name();
        match self.list.len() {
            1 => write!(f, "{name} has a fault"),
            n if n > MOST_SHOWN => write!(f, "{name} has {n} faults, the first {MOST_SHOWN} of which are shown"),
            n => write!(f, "{name} has {n} faults"),
        }
    }
}

impl std::error::Error for Faults {}
