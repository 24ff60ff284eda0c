//! Python exceptions for errors of the library.

use std::io::{self, ErrorKind};
use std::path::Path;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use skidpad::spec::printable::one_line;
use skidpad::spec::report::{Diagnostic, render};
use skidpad::spec::{Faults, LoadError};

pyo3::create_exception!(
    skidpad._core,
    VehicleError,
    PyValueError,
    "Faults of a vehicle file, a scene file or a change of a vehicle. `faults` lists all of them as dictionaries with the\nkeys `file`, `line`, `column`, `path`, `kind`, `message` and `help`. The text of the error is the report with\n`file:line:column` and an excerpt for each fault."
);

/// Returns the exception `VehicleError` for all `faults` of a file and of the files that it names: the report as its
/// text, and the attribute `faults` as a list of dictionaries.
pub fn faults_error(py: Python<'_>, faults: &Faults) -> PyErr {
    let error = VehicleError::new_err(faults.render());
    // If the list cannot be created, its error is returned instead.
    let result = fault_list(py, faults).and_then(|list| error.value(py).setattr("faults", list));
    result.err().unwrap_or(error)
}

/// Returns the faults as a list of dictionaries, those of the named files last.
fn fault_list<'py>(py: Python<'py>, faults: &Faults) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    append_faults(py, &list, faults)?;
    Ok(list)
}

/// Appends the faults of one file to `list`, then those of the files that it names.
fn append_faults(py: Python<'_>, list: &Bound<'_, PyList>, faults: &Faults) -> PyResult<()> {
    for fault in faults.list() {
        let entry = PyDict::new(py);
        entry.set_item("file", one_line(faults.source_name()))?;
        entry.set_item("line", fault.line)?;
        entry.set_item("column", fault.column)?;
        entry.set_item("path", &fault.path)?;
        entry.set_item("kind", fault.kind.code())?;
        entry.set_item("message", fault.to_string())?;
        entry.set_item("help", &fault.help)?;
        list.append(entry)?;
    }
    faults.files().iter().try_for_each(|faults| append_faults(py, list, faults))
}

/// Returns the exception for a vehicle or scene that could not be loaded: `OSError` or its subclass for an unreadable
/// file, `VehicleError` for faults, `ValueError` for an unknown name.
pub fn load_error(py: Python<'_>, error: &LoadError) -> PyErr {
    match error {
        LoadError::Faults(faults) => faults_error(py, faults),
        LoadError::UnreadableFile { path, source } => unreadable_file(py, path, source),
        LoadError::UnknownVehicle { .. } => PyValueError::new_err(report(error)),
    }
}

/// Returns the exception for the file at `path` that cannot be read or written, with the attributes `errno`, `strerror`
/// and `filename`. Python chooses the subclass of `OSError` by the number, such as `FileNotFoundError`.
pub fn unreadable_file(py: Python<'_>, path: &Path, error: &io::Error) -> PyErr {
    // Rust appends the number to the text of the operating system.
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text).to_owned();
    match error_number(py, error) {
        Ok(number) => PyOSError::new_err((number, text, path.as_os_str().to_owned())),
        Err(failure) => failure,
    }
}

/// Returns the number of an error in Python's `errno`: that of the operating system, otherwise the one of its kind. On
/// Windows the numbers of the operating system are others, so that the kind decides.
fn error_number(py: Python<'_>, error: &io::Error) -> PyResult<i32> {
    if let (true, Some(number)) = (cfg!(unix), error.raw_os_error()) {
        return Ok(number);
    }
    let name = match error.kind() {
        ErrorKind::NotFound => "ENOENT",
        ErrorKind::PermissionDenied => "EACCES",
        ErrorKind::IsADirectory => "EISDIR",
        ErrorKind::NotADirectory => "ENOTDIR",
        ErrorKind::FileTooLarge => "EFBIG",
        ErrorKind::InvalidInput => "EINVAL",
        ErrorKind::InvalidData => "EILSEQ",
        _ => "EIO",
    };
    py.import("errno")?.getattr(name)?.extract()
}

/// Returns the report of an error with causes and help.
pub fn report(error: &dyn Diagnostic) -> String {
    // Without colour.
    render(error, false).trim_end().to_owned()
}

/// Returns a `ValueError` with the text of `error`.
pub fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns a `ValueError` for an unknown `name` of the given `kind` of object. The text suggests the most similar of
/// the `known` names and lists all of them in alphabetical order.
pub fn unknown_name(kind: &str, name: &str, known: &[&str]) -> PyErr {
    let hint = skidpad::lab::suggestions::nearest_name(name, known.iter().copied())
        .map_or_else(String::new, |nearest| format!("did you mean `{nearest}`? "));
    let mut known = known.to_vec();
    known.sort_unstable();
    known.dedup();
    value_error(format!("unknown {kind} `{}`; {hint}known names: {}", one_line(name), known.join(", ")))
}
