//! Errors of arguments and files, with the accepted values.

use std::path::Path;

use miette::{Diagnostic, LabeledSpan, SourceCode};
use skidpad::core::BackendInfo;
use skidpad::lab::files::{self, WriteError, is_same_file};
use skidpad::lab::manoeuvre::{CATALOGUE, Entry, named};
use skidpad::lab::names::nearest;
use skidpad::lab::script;
use skidpad::spec::printable::one_line;
use skidpad::spec::{Excerpt, LineIndex, MOST_COLLECTED, MOST_SHOWN};

/// Error for an unknown name of a manoeuvre or solver.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("there is no {kind} called `{}`", one_line(name))]
#[diagnostic(code(unknown_name))]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    #[help]
    help: String,
}

impl UnknownName {
    fn new(kind: &'static str, name: &str, known: &[&str]) -> Self {
        let list = format!("known: {}", known.join(", "));
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? {list}"),
            None => list,
        };
        Self { kind, name: name.into(), help }
    }
}

/// Error for an argument value that is not accepted.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{argument}: {} is not accepted", one_line(found))]
#[diagnostic(code(bad_argument))]
pub struct BadArgument {
    /// Name of the argument.
    pub argument: &'static str,
    /// Value that was given.
    pub found: String,
    /// Accepted values.
    #[help]
    pub accepts: String,
}

/// Error for a file that cannot be read.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("cannot read `{}`", one_line(path))]
#[diagnostic(code(unreadable_file))]
pub struct Unreadable {
    /// Path of the file.
    pub path: String,
    /// Error of the operating system.
    pub source: std::io::Error,
}

/// Error for a file that cannot be written.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error(transparent)]
#[diagnostic(code(unwritable_file), help("{}", _0.remedy()))]
pub struct Unwritable(#[from] WriteError);

/// Checks that all `paths` can be written. Used before a run starts.
pub fn check_writable<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Unwritable> {
    paths.into_iter().try_for_each(|path| Ok(files::check_writable(path)?))
}

/// Error with every fault of a table of controls, shown in its text.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("`{}` has {}", one_line(name), counted(*found))]
#[diagnostic(code(bad_controls))]
pub struct BadControls {
    name: String,
    found: usize,
    #[related]
    faults: Vec<ControlsFault>,
}

impl BadControls {
    /// Creates the error for the `faults` of the file called `name` with this `text`. At most [`MOST_SHOWN`] faults are
    /// shown.
    pub fn new(name: &str, text: &str, faults: script::Faults) -> Self {
        let (found, lines) = (faults.0.len(), LineIndex::new(text));
        let shown = |fault: script::Fault| {
            let excerpt = Excerpt::new(name, &lines, std::slice::from_ref(&fault.span));
            ControlsFault { fault, excerpt }
        };
        let faults = faults.0.into_iter().take(MOST_SHOWN).map(shown).collect();
        Self { name: name.into(), found, faults }
    }
}

fn counted(faults: usize) -> String {
    match faults {
        1 => "1 fault".into(),
        MOST_COLLECTED => format!("{faults} faults or more, the first {MOST_SHOWN} of which are shown"),
        n if n > MOST_SHOWN => format!("{n} faults, the first {MOST_SHOWN} of which are shown"),
        n => format!("{n} faults"),
    }
}

/// Fault of a table of controls, with the lines around it.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
struct ControlsFault {
    fault: script::Fault,
    excerpt: Excerpt,
}

impl Diagnostic for ControlsFault {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let accepts = self.fault.accepts.clone();
        let label = |span: std::ops::Range<usize>| LabeledSpan::new(Some(accepts.clone()), span.start, span.len());
        Some(Box::new(self.excerpt.spans().map(label).collect::<Vec<_>>().into_iter()))
    }
}

/// Returns the standard manoeuvre called `name`.
pub fn manoeuvre(name: &str) -> Result<&'static Entry, UnknownName> {
    let known: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
    named(name).ok_or_else(|| UnknownName::new("manoeuvre", name, &known))
}

/// Returns the solver or mode called `name`.
pub fn backend(name: &str) -> Result<BackendInfo, UnknownName> {
    let all: Vec<BackendInfo> = skidpad::backends().into_iter().chain(skidpad::modes()).collect();
    let known: Vec<&str> = all.iter().map(|info| info.name).collect();
    skidpad::backend(name).ok_or_else(|| UnknownName::new("backend", name, &known))
}

/// Error for an output path that is also an input or another output.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{argument}: `{}` is also {other}", one_line(path))]
#[diagnostic(code(same_file), help("give a file of its own"))]
pub struct SameFile {
    argument: &'static str,
    path: String,
    other: String,
}

/// Checks that the output `path` of `argument` is none of the files `others`, which are pairs of a description and a
/// path.
pub fn not_over(argument: &'static str, path: &Path, others: &[(&str, Option<&Path>)]) -> Result<(), SameFile> {
    let same = |other: &&(&str, Option<&Path>)| other.1.is_some_and(|other| is_same_file(path, other));
    let Some((what, _)) = others.iter().find(same) else { return Ok(()) };
    Err(SameFile { argument, path: path.display().to_string(), other: (*what).to_owned() })
}
