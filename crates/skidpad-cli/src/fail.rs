//! What can go wrong with what was asked for, told with what would have been right.

use miette::{Diagnostic, LabeledSpan, NamedSource};
use skidpad::core::BackendInfo;
use skidpad::lab::manoeuvre::{CATALOGUE, Entry, named};
use skidpad::lab::names::nearest;
use skidpad::lab::script;

/// A name that does not exist.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("there is no {kind} called `{name}`")]
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

/// A value of the command line that is not accepted.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{argument}: {found} is not accepted")]
#[diagnostic(code(bad_argument))]
pub struct BadArgument {
    /// Name of the argument.
    pub argument: &'static str,
    /// What was given.
    pub found: String,
    /// What would be accepted.
    #[help]
    pub accepts: String,
}

/// A file that cannot be read.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("cannot read `{path}`")]
#[diagnostic(code(unreadable_file))]
pub struct Unreadable {
    /// The file.
    pub path: String,
    /// What the system says.
    pub source: std::io::Error,
}

/// Every fault of a table of controls, shown in its text.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("`{name}` has {} {}", faults.len(), if faults.len() == 1 { "fault" } else { "faults" })]
#[diagnostic(code(bad_controls))]
pub struct BadControls {
    name: String,
    #[source_code]
    text: NamedSource<String>,
    #[related]
    faults: Vec<ControlsFault>,
}

impl BadControls {
    /// `faults` of the file called `name` with this `text`.
    pub fn new(name: &str, text: String, faults: script::Faults) -> Self {
        let faults = faults.0.into_iter().map(ControlsFault).collect();
        Self { name: name.into(), text: NamedSource::new(name, text), faults }
    }
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct ControlsFault(script::Fault);

impl Diagnostic for ControlsFault {
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = &self.0.span;
        let label = LabeledSpan::new(Some(self.0.accepts.clone()), span.start, span.len());
        Some(Box::new(std::iter::once(label)))
    }
}

/// The standard manoeuvre called `name`.
pub fn manoeuvre(name: &str) -> Result<&'static Entry, UnknownName> {
    let known: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
    named(name).ok_or_else(|| UnknownName::new("manoeuvre", name, &known))
}

/// The solver called `name`.
pub fn backend(name: &str) -> Result<BackendInfo, UnknownName> {
    let all = skidpad::backends();
    let known: Vec<&str> = all.iter().map(|info| info.name).collect();
    all.iter().find(|info| info.name == name).copied().ok_or_else(|| UnknownName::new("backend", name, &known))
}
