//! Getting a vehicle by name or path.

use crate::excerpt::{line_starts, position};
use crate::file_resolver::FileResolver;
use crate::files::{self, FileKind, Folders};
use crate::lint::Lint;
use crate::lints::lints;
use crate::read::Beyond;
use crate::spec::Tyre;
use crate::tir::Note;
use crate::{Faults, VehicleSpec, compile, read, shipped};
use skidpad_core::Model;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A vehicle as described and as compiled.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What the file says.
    pub spec: VehicleSpec,
    /// What drives, to be shared by all cars of this kind.
    pub model: Arc<Model>,
    /// Of a full trailer: its dolly, which is towed ahead of [`Loaded::model`] and tows it. `None` of any other vehicle.
    pub dolly: Option<Arc<Model>>,
    /// What is legal but seldom meant, and what tyre files left out or assumed, in the order of the text; see
    /// [`Note`]. What follows from the model alone is the laboratory's.
    pub notes: Vec<Note>,
    /// The tyre files it was read from beside its own; none where they are the shipped ones.
    pub tyre_files: Vec<PathBuf>,
}

impl Loaded {
    /// Reads and compiles the text of a vehicle file. `source_name` is what reports call it. Tyre files it refers to are
    /// the shipped ones.
    ///
    /// # Errors
    /// Every fault of the text at once.
    pub fn read(source_name: &str, text: &str) -> Result<Self, Faults> {
        Self::read_with(source_name, text, FileResolver::Shipped)
    }

    /// Reads and compiles the text of a vehicle file in `folders`, with the tyre files it refers to.
    ///
    /// # Errors
    /// Every fault of all these files at once.
    pub fn read_in(folders: impl Into<Folders>, source_name: &str, text: &str) -> Result<Self, Faults> {
        Self::read_with(source_name, text, FileResolver::Folders(&folders.into()))
    }

    fn read_with(source_name: &str, text: &str, files: FileResolver<'_>) -> Result<Self, Faults> {
        let (spec, Beyond { formulas, mut notes, places }) = read::read(source_name, text, files)?;
        let model = Arc::new(compile::build(&spec, &formulas, source_name, text)?);
        notes.extend(lints(&spec, &model));
        let mut dolly = None;
        if let Some(vehicle) = spec.dolly_vehicle() {
            let model = compile::build(&vehicle, &formulas, source_name, text)?;
            for lint in lints(&vehicle, &model) {
                let of_file = lint.path.starts_with("tyres.");
                let lint = if of_file { lint } else { Lint { path: format!("dolly.{}", lint.path), ..lint } };
                if !notes.contains(&lint) {
                    notes.push(lint);
                }
            }
            dolly = Some(Arc::new(model));
        }
        let starts = line_starts(text);
        let note = |lint: Lint| {
            let line = places.of(&lint.path).map_or(0, |span| position(text, &starts, span.start).0);
            Note::of(lint, source_name, line)
        };
        let mut notes: Vec<Note> = notes.into_iter().map(note).collect();
        notes.sort_by_key(|note| note.line);
        let files = spec.tyres.values().filter_map(|tyre| match tyre {
            Tyre::MagicFormula { file, .. } => files.path(file.as_deref()?),
            _ => None,
        });
        let tyre_files = files.collect();
        Ok(Self { spec, model, dolly, notes, tyre_files })
    }

    /// Its vehicle units from the front, each towed by the one before: one of most vehicles, dolly and trailer of a full trailer.
    pub fn units(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.dolly.iter().chain([&self.model])
    }
}

/// Why a vehicle could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Neither a shipped vehicle nor a file.
    #[error("there is no vehicle `{}`", crate::printable::one_line(name))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What could have been meant.
        help: String,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`", crate::printable::one_line(&path.to_string_lossy()))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is not a valid vehicle.
    #[error(transparent)]
    Faults(#[from] Faults),
}

/// A shipped vehicle by name (see [`shipped::names`]), or the vehicle file at a path.
///
/// Anything that ends in `.toml` or contains a path separator is a path; names have neither.
///
/// # Errors
/// An unknown name, an unreadable file, or every fault of the file.
pub fn load(name_or_path: &str) -> Result<Loaded, LoadError> {
    load_from(name_or_path, &[])
}

/// Loads a vehicle as [`load`] does. Paths in its file may also lead into `allowed` folders and below.
///
/// # Errors
/// Returns the errors of [`load`].
pub fn load_from(name_or_path: &str, allowed: &[PathBuf]) -> Result<Loaded, LoadError> {
    if let Some(text) = shipped::find(name_or_path) {
        return Ok(Loaded::read(&format!("{name_or_path}.toml"), text)?);
    }
    let path = Path::new(name_or_path);
    let is_path = name_or_path.contains(['/', '\\']) || path.extension().is_some_and(|e| e == "toml");
    if !is_path && !path.exists() {
        return Err(unknown(name_or_path));
    }
    let unreadable = |source| LoadError::Unreadable { path: path.to_owned(), source };
    let text = text_of(path, FileKind::Vehicle).map_err(unreadable)?;
    Ok(Loaded::read_in(Folders::of_file(path).allow_all(allowed), name_or_path, &text)?)
}

/// Reads the text of the file at `path`. An error of a file that is no text names the place.
pub(crate) fn text_of(path: &Path, kind: FileKind) -> std::io::Result<String> {
    String::from_utf8(files::read(path, kind)?).map_err(|error| {
        let end = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..end]);
        let (line, column) = position(&before, &line_starts(&before), end);
        let place = format!("line {line}, column {column} is not UTF-8: save the file in that encoding");
        std::io::Error::new(std::io::ErrorKind::InvalidData, place)
    })
}

fn unknown(name: &str) -> LoadError {
    let names: Vec<&str> = shipped::names().chain(shipped::trailers()).collect();
    let help = match crate::nearest::nearest(name, names.iter().copied()) {
        Some(like) => format!("did you mean `{like}`?"),
        None => format!("shipped vehicles: {}; or give the path of a vehicle file", names.join(", ")),
    };
    LoadError::Unknown { name: name.to_owned(), help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let Err(LoadError::Unknown { help, .. }) = load("corvete_c5") else {
            panic!("no such vehicle");
        };
        assert_eq!(help, "did you mean `corvette_c5`?");
        assert!(matches!(load("no/such/file.toml"), Err(LoadError::Unreadable { .. })));
    }

    #[test]
    fn what_is_no_text_is_told_with_its_place() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        for (bytes, place) in
            [(&b"name = \"caf\xe9\"\n"[..], "line 1, column 12"), (b"a = 1\n\xff", "line 2, column 1")]
        {
            std::fs::write(file.path(), bytes).expect("writable");
            let told = text_of(file.path(), FileKind::Vehicle).expect_err("no text").to_string();
            assert!(told.starts_with(place), "{told}");
        }
    }
}
