//! What can go wrong with what was asked for, told with what would have been right.

use std::path::Path;

use skidpad::core::BackendInfo;
use skidpad::lab::files::{self, WriteError, is_same_file};
use skidpad::lab::manoeuvre::{CATALOGUE, Entry, named};
use skidpad::lab::names::nearest;
use skidpad::lab::script;
use skidpad::spec::printable::one_line;
use skidpad::spec::report::Diagnostic;
use skidpad::spec::{Excerpt, LineIndex, MOST_COLLECTED, MOST_SHOWN};

/// A name that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no {kind} called `{}`", one_line(name))]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    help: String,
}

impl Diagnostic for UnknownName {
    fn code(&self) -> Option<&str> {
        Some("unknown_name")
    }

    fn help(&self) -> Option<String> {
        Some(self.help.clone())
    }
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

/// A value of the command line that is not accepted.
#[derive(Debug, thiserror::Error)]
#[error("{argument}: {} is not accepted", one_line(found))]
pub struct BadArgument {
    /// Name of the argument.
    pub argument: &'static str,
    /// What was given.
    pub found: String,
    /// What would be accepted.
    pub accepts: String,
}

impl Diagnostic for BadArgument {
    fn code(&self) -> Option<&str> {
        Some("bad_argument")
    }

    fn help(&self) -> Option<String> {
        Some(self.accepts.clone())
    }
}

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`", one_line(path))]
pub struct Unreadable {
    /// The file.
    pub path: String,
    /// What the system says.
    pub source: std::io::Error,
}

impl Diagnostic for Unreadable {
    fn code(&self) -> Option<&str> {
        Some("unreadable_file")
    }
}

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Unwritable(#[from] WriteError);

impl Diagnostic for Unwritable {
    fn code(&self) -> Option<&str> {
        Some("unwritable_file")
    }

    fn help(&self) -> Option<String> {
        Some(self.0.remedy().to_string())
    }
}

/// Looks before a run whether what comes of it can be written.
pub fn check_writable<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Unwritable> {
    paths.into_iter().try_for_each(|path| Ok(files::check_writable(path)?))
}

/// Every fault of a table of controls, shown in its text.
#[derive(Debug, thiserror::Error)]
#[error("`{}` has {}", one_line(name), counted(*found))]
pub struct BadControls {
    name: String,
    found: usize,
    faults: Vec<ControlsFault>,
}

impl Diagnostic for BadControls {
    fn code(&self) -> Option<&str> {
        Some("bad_controls")
    }

    fn related(&self) -> Vec<&dyn Diagnostic> {
        self.faults.iter().map(|fault| fault as &dyn Diagnostic).collect()
    }
}

impl BadControls {
    /// `faults` of the file called `name` with this `text`.
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

/// A fault of a table of controls and the lines around it.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
struct ControlsFault {
    fault: script::Fault,
    excerpt: Excerpt,
}

impl Diagnostic for ControlsFault {
    fn code(&self) -> Option<&str> {
        None
    }

    fn excerpt(&self) -> Option<(&Excerpt, Vec<String>)> {
        Some((&self.excerpt, vec![self.fault.accepts.clone()]))
    }
}

/// The standard manoeuvre called `name`.
pub fn manoeuvre(name: &str) -> Result<&'static Entry, UnknownName> {
    let known: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
    named(name).ok_or_else(|| UnknownName::new("manoeuvre", name, &known))
}

/// The solver called `name`.
pub fn backend(name: &str) -> Result<BackendInfo, UnknownName> {
    let all: Vec<BackendInfo> = skidpad::backends().into_iter().chain(skidpad::modes()).collect();
    let known: Vec<&str> = all.iter().map(|info| info.name).collect();
    skidpad::backend(name).ok_or_else(|| UnknownName::new("backend", name, &known))
}

/// An output that would destroy what it is made from.
#[derive(Debug, thiserror::Error)]
#[error("{argument}: `{}` is also {other}", one_line(path))]
pub struct SameFile {
    argument: &'static str,
    path: String,
    other: String,
}

impl Diagnostic for SameFile {
    fn code(&self) -> Option<&str> {
        Some("same_file")
    }

    fn help(&self) -> Option<String> {
        Some("give a file of its own".to_owned())
    }
}

/// Refuses to write `path` over any of `others`, each with what it is.
pub fn not_over(argument: &'static str, path: &Path, others: &[(&str, Option<&Path>)]) -> Result<(), SameFile> {
    let same = |other: &&(&str, Option<&Path>)| other.1.is_some_and(|other| is_same_file(path, other));
    let Some((what, _)) = others.iter().find(same) else { return Ok(()) };
    Err(SameFile { argument, path: path.display().to_string(), other: (*what).to_owned() })
}
