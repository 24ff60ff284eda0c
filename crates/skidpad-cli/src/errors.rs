//! Errors of arguments and files, with the accepted values.

use std::path::Path;

use skidpad::Solver;
use skidpad::core::SolverInfo;
use skidpad::lab::files::{self, WriteError, is_same_file};
use skidpad::lab::manoeuvre::{ManoeuvreEntry, by_name, catalogue};
use skidpad::lab::script;
use skidpad::lab::suggestions::nearest_name;
use skidpad::spec::printable::one_line;
use skidpad::spec::report::Diagnostic;
use skidpad::spec::{Excerpt, LineIndex, MAX_COLLECTED_FAULTS, MAX_SHOWN_FAULTS};

/// Error for an unknown name of a manoeuvre or solver.
#[derive(Debug, thiserror::Error)]
#[error("unknown {kind} `{}`", one_line(name))]
pub struct UnknownName {
    /// Kind of the name, such as `solver`.
    kind: &'static str,
    /// Name that was given.
    name: String,
    /// Known names, with the nearest one first if there is one.
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
    /// Creates the error for `name`. The help lists the `known` names, and suggests the nearest one if a name is
    /// similar.
    fn new(kind: &'static str, name: &str, known: &[&str]) -> Self {
        let known_names = format!("known names: {}", known.join(", "));
        let help = match nearest_name(name, known.iter().copied()) {
            Some(nearest) => format!("did you mean `{nearest}`? {known_names}"),
            None => known_names,
        };
        Self { kind, name: name.into(), help }
    }
}

/// Error for an argument value that is not accepted.
#[derive(Debug, thiserror::Error)]
#[error("{argument}: {} is not accepted", one_line(found))]
pub struct BadArgument {
    /// Name of the argument.
    pub argument: &'static str,
    /// Value that was given.
    pub found: String,
    /// Accepted values.
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

/// Error with several faults that belong to no text.
#[derive(Debug, thiserror::Error)]
#[error("{}", one_line(headline))]
pub struct FaultList {
    /// First text.
    headline: String,
    /// Further faults.
    faults: Vec<PlainFault>,
}

/// Fault of a [`FaultList`].
#[derive(Debug, thiserror::Error)]
#[error("{}", one_line(.0))]
struct PlainFault(String);

impl Diagnostic for PlainFault {
    fn code(&self) -> Option<&str> {
        None
    }
}

impl Diagnostic for FaultList {
    fn code(&self) -> Option<&str> {
        None
    }

    fn related(&self) -> Vec<&dyn Diagnostic> {
        self.faults.iter().map(|fault| fault as &dyn Diagnostic).collect()
    }
}

impl FaultList {
    /// Creates the error of `faults`. The first one is the headline.
    pub fn new(faults: Vec<String>) -> Self {
        let mut faults = faults.into_iter();
        let headline = faults.next().unwrap_or_default();
        Self { headline, faults: faults.map(PlainFault).collect() }
    }
}

/// Error for a file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`", one_line(path))]
pub struct Unreadable {
    /// Path of the file.
    pub path: String,
    /// Error of the operating system.
    pub source: std::io::Error,
}

impl Diagnostic for Unreadable {
    fn code(&self) -> Option<&str> {
        Some("unreadable_file")
    }
}

/// Error for a file that cannot be written.
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

/// Checks that all `paths` can be written, in their order; the first one that cannot is the error. Used before a run
/// starts.
pub fn check_writable<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Unwritable> {
    paths.into_iter().try_for_each(|path| Ok(files::check_writable(path)?))
}

/// Error with every fault of a table of controls, shown in its text.
#[derive(Debug, thiserror::Error)]
#[error("`{}` has {}", one_line(name), fault_count_text(*fault_count))]
pub struct BadControls {
    /// Name of the file.
    name: String,
    /// Number of faults that were found.
    fault_count: usize,
    /// Faults that are shown.
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
    /// Creates the error for the `faults` of the file called `name` with this `text`. At most [`MAX_SHOWN_FAULTS`]
    /// faults are shown.
    pub fn new(name: &str, text: &str, faults: script::Faults) -> Self {
        let (fault_count, lines) = (faults.0.len(), LineIndex::new(text));
        // Fault with the lines of the text around it.
        let with_excerpt = |fault: script::Fault| {
            let excerpt = Excerpt::new(name, &lines, std::slice::from_ref(&fault.span));
            ControlsFault { fault, excerpt }
        };
        let faults = faults.0.into_iter().take(MAX_SHOWN_FAULTS).map(with_excerpt).collect();
        Self { name: name.into(), fault_count, faults }
    }
}

/// Returns the number of faults as text, with the number of shown ones if it is smaller. At [`MAX_COLLECTED_FAULTS`]
/// the search for faults ends, so there may be more. At most [`MAX_SHOWN_FAULTS`] faults are shown.
fn fault_count_text(fault_count: usize) -> String {
    match fault_count {
        1 => "1 fault".into(),
        MAX_COLLECTED_FAULTS => {
            format!("{fault_count} faults or more; the first {MAX_SHOWN_FAULTS} are shown")
        }
        count if count > MAX_SHOWN_FAULTS => format!("{count} faults; the first {MAX_SHOWN_FAULTS} are shown"),
        count => format!("{count} faults"),
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
    fn code(&self) -> Option<&str> {
        None
    }

    fn excerpt(&self) -> Option<(&Excerpt, Vec<String>)> {
        Some((&self.excerpt, vec![self.fault.accepts.clone()]))
    }
}

/// Returns the standard manoeuvre called exactly `name`.
pub fn find_manoeuvre(name: &str) -> Result<&'static ManoeuvreEntry, UnknownName> {
    let known: Vec<&str> = catalogue().map(|entry| entry.name).collect();
    by_name(name).ok_or_else(|| UnknownName::new("manoeuvre", name, &known))
}

/// Returns the solver or variant called exactly `name`.
pub fn find_solver(name: &str) -> Result<SolverInfo, UnknownName> {
    let infos: Vec<SolverInfo> = skidpad::solvers().into_iter().chain(skidpad::solver_variants()).collect();
    let known: Vec<&str> = infos.iter().map(|info| info.name).collect();
    name.parse::<Solver>().map(Solver::info).map_err(|_| UnknownName::new("solver", name, &known))
}

/// Error for an output path that is also an input or another output.
#[derive(Debug, thiserror::Error)]
#[error("{argument}: `{}` is also {other}", one_line(path))]
pub struct SameFile {
    /// Argument of the output.
    argument: &'static str,
    /// Path of the output.
    path: String,
    /// Description of the other file.
    other: String,
}

impl Diagnostic for SameFile {
    fn code(&self) -> Option<&str> {
        Some("same_file")
    }

    fn help(&self) -> Option<String> {
        Some("name a separate file".to_owned())
    }
}

/// Checks that the output `path` of `argument` is none of the files `others`, which are pairs of a description and a
/// path (`None` for a file that is not used). Links and other names of one file are recognised. The error names the
/// first file that is the same.
pub fn check_not_overwriting(
    argument: &'static str,
    path: &Path,
    others: &[(&str, Option<&Path>)],
) -> Result<(), SameFile> {
    // Whether another file is the output.
    let is_output = |other: &&(&str, Option<&Path>)| other.1.is_some_and(|other| is_same_file(path, other));
    let Some((description, _)) = others.iter().find(is_output) else { return Ok(()) };
    Err(SameFile { argument, path: path.display().to_string(), other: (*description).to_owned() })
}
