//! Getting a vehicle by name or path.

use crate::excerpt::{line_and_column, line_starts};
use crate::file_resolver::FileResolver;
use crate::files::{FileKind, Folders, read_text};
use crate::read::ReadExtras;
use crate::spec::Tyre;
use crate::tir::Note;
use crate::warning::Warning;
use crate::warnings::vehicle_warnings;
use crate::{Faults, OldKeys, VehicleSpec, compile, read, shipped};
use skidpad_core::Model;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Vehicle as its file describes it, and as the simulation uses it.
#[derive(Clone, Debug)]
pub struct LoadedVehicle {
    /// Description from the file.
    pub spec: VehicleSpec,
    /// Model for the simulation, shared by all cars of this kind.
    pub model: Arc<Model>,
    /// Dolly of a full trailer, which is towed ahead of [`LoadedVehicle::model`] and tows it. `None` for any other
    /// vehicle.
    pub dolly: Option<Arc<Model>>,
    /// Warnings about legal but unusual values, and notes on values that tyre files left out or assumed, in the order
    /// of the text. Checks that need only the model are in the laboratory.
    pub notes: Vec<Note>,
    /// Keys of the file with old names.
    pub old_keys: OldKeys,
    /// Tyre files on disk that the file names; empty for shipped ones.
    pub tyre_files: Vec<PathBuf>,
}

impl LoadedVehicle {
    /// Reads and compiles the text of a vehicle file. `source_name` names the text in reports. Tyre files that it names
    /// are the shipped ones.
    ///
    /// # Errors
    /// Returns every fault of the text at once.
    pub fn read(source_name: &str, text: &str) -> Result<Self, Faults> {
        Self::read_with(source_name, text, FileResolver::Shipped)
    }

    /// Reads and compiles the text of a vehicle file in `folders`, with the tyre files that it names. `source_name`
    /// names the text in reports.
    ///
    /// # Errors
    /// Returns every fault of all these files at once.
    pub fn read_in(folders: impl Into<Folders>, source_name: &str, text: &str) -> Result<Self, Faults> {
        Self::read_with(source_name, text, FileResolver::Folders(&folders.into()))
    }

    /// Reads and compiles the text of a vehicle file, with its tyre files from `files`. Reads the description, builds
    /// the model and, for a full trailer, the model of its dolly. Collects the warnings of both as notes, sorted by
    /// line (0 for a path without a place in the text). Lists the tyre files on disk that the description names.
    /// Warnings about the dolly have the prefix `dolly.`; warnings about shared tyres are not repeated.
    fn read_with(source_name: &str, text: &str, files: FileResolver<'_>) -> Result<Self, Faults> {
        let (spec, ReadExtras { formulas, mut warnings, spans, old_keys }) = read::read(source_name, text, files)?;
        let model = Arc::new(compile::build_model(&spec, &formulas, source_name, text)?);
        warnings.extend(vehicle_warnings(&spec, &model));
        // `None` for a vehicle without a dolly.
        let mut dolly_model = None;
        if let Some(dolly_spec) = spec.dolly_vehicle() {
            let model = compile::build_model(&dolly_spec, &formulas, source_name, text)?;
            for warning in vehicle_warnings(&dolly_spec, &model) {
                let is_tyre_warning = warning.path.starts_with("tyres.");
                let warning = if is_tyre_warning {
                    warning
                } else {
                    Warning { path: format!("dolly.{}", warning.path), ..warning }
                };
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            dolly_model = Some(Arc::new(model));
        }
        let line_offsets = line_starts(text);
        let to_note = |warning: Warning| {
            let line =
                spans.nearest_span(&warning.path).map_or(0, |span| line_and_column(text, &line_offsets, span.start).0);
            Note::from_warning(warning, source_name, line)
        };
        let mut notes: Vec<Note> = warnings.into_iter().map(to_note).collect();
        notes.sort_by_key(|note| note.line);
        let disk_paths = spec.tyres.values().filter_map(|tyre| match tyre {
            Tyre::MagicFormula { file, .. } => files.disk_path(file.as_deref()?),
            _ => None,
        });
        let tyre_files = disk_paths.collect();
        Ok(Self { spec, model, dolly: dolly_model, notes, old_keys, tyre_files })
    }

    /// Returns the vehicle units from the front, each towed by the one before: the dolly and the trailer of a full
    /// trailer, otherwise only the vehicle itself.
    pub fn vehicle_units(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.dolly.iter().chain([&self.model])
    }
}

/// Reason why a vehicle or a scene could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Name that is neither a shipped vehicle nor a file.
    #[error("unknown vehicle `{}`", crate::printable::one_line(name))]
    UnknownVehicle {
        /// Name that was given.
        name: String,
        /// Suggestion, or the names of the shipped vehicles.
        help: String,
    },
    /// File that cannot be read.
    #[error("cannot read `{}`", crate::printable::one_line(&path.to_string_lossy()))]
    UnreadableFile {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// File that is not valid.
    #[error(transparent)]
    Faults(#[from] Faults),
}

/// Loads a shipped vehicle by name (see [`shipped::names`]), or the vehicle file at a path. A shipped name takes
/// precedence. A name that ends in `.toml`, contains a path separator or exists as a file is a path.
///
/// # Errors
/// Returns an error for an unknown name or an unreadable file, or every fault of the file.
pub fn load(name_or_path: &str) -> Result<LoadedVehicle, LoadError> {
    load_from(name_or_path, &[])
}

/// Loads a vehicle as [`load`] does: first a shipped vehicle or trailer by its name, otherwise the file at a path.
/// Paths in its file may also lead into `allowed` folders and below.
///
/// # Errors
/// Returns the errors of [`load`].
pub fn load_from(name_or_path: &str, allowed: &[PathBuf]) -> Result<LoadedVehicle, LoadError> {
    if let Some(text) = shipped::find(name_or_path) {
        return Ok(LoadedVehicle::read(&format!("{name_or_path}.toml"), text)?);
    }
    let path = Path::new(name_or_path);
    let is_path = name_or_path.contains(['/', '\\']) || path.extension().is_some_and(|extension| extension == "toml");
    if !is_path && !path.exists() {
        return Err(unknown_vehicle_error(name_or_path));
    }
    let to_load_error = |source| LoadError::UnreadableFile { path: path.to_owned(), source };
    let text = read_text(path, FileKind::Vehicle).map_err(to_load_error)?;
    Ok(LoadedVehicle::read_in(Folders::from_file_path(path).allow_all(allowed), name_or_path, &text)?)
}

/// Returns the error for the unknown vehicle `name`, with the most similar shipped vehicle or trailer as a suggestion,
/// otherwise with all their names.
fn unknown_vehicle_error(name: &str) -> LoadError {
    let names: Vec<&str> = shipped::names().chain(shipped::trailers()).collect();
    let help = match crate::suggestions::nearest_word(name, names.iter().copied()) {
        Some(similar_name) => format!("did you mean `{similar_name}`?"),
        None => format!("shipped vehicles: {}; or use the path of a vehicle file", names.join(", ")),
    };
    LoadError::UnknownVehicle { name: name.to_owned(), help }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A misspelt name of a shipped vehicle gives a suggestion; a missing path is an unreadable file.
    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let Err(LoadError::UnknownVehicle { help, .. }) = load("corvete_c5") else {
            panic!("no such vehicle");
        };
        assert_eq!(help, "did you mean `corvette_c5`?");
        assert!(matches!(load("no/such/file.toml"), Err(LoadError::UnreadableFile { .. })));
    }
}
