//! Loading of vehicles by name or path, and the folders that their files may refer to.

use std::path::{Path, PathBuf};

use skidpad::spec::fields::{FieldError, FileFields};
use skidpad::spec::files::{self, FileKind};
use skidpad::spec::{Folders, LoadedVehicle};

use crate::arguments::{Roots, VehicleChanges};
use crate::errors::BadArgument;
use crate::failure::{Failure, Result};
use crate::output::printable_path;

/// Loads the vehicle called `name`, or the vehicle file at that path, with the fields of `changes` set. The file must
/// be valid without the changes, too. Files that it names may be in its own folder and in `roots`.
///
/// # Errors
/// A missing folder of `roots`, a fault of the file, an unknown field, or a change without `=`. Faults of the changed
/// text are reported as those of the file.
pub fn load_vehicle(name: &str, roots: &Roots, changes: &VehicleChanges) -> Result<LoadedVehicle> {
    let roots = allowed_roots(roots)?;
    // Reports the errors of names and paths, and of a file that is not valid without the changes.
    let vehicle = skidpad::spec::load_from(name, roots)?;
    if changes.set.is_empty() {
        return Ok(vehicle);
    }
    let shipped_text = skidpad::spec::shipped::find(name);
    let text = match shipped_text {
        Some(text) => text.to_owned(),
        None => files::read_lossy(Path::new(name), FileKind::Vehicle).map_err(Failure::from_error)?,
    };
    let changed_text = set_fields(&text, &changes.set)?;
    let source_name = format!("{name}, with --set");
    Ok(match shipped_text {
        Some(_) => LoadedVehicle::read(&source_name, &changed_text)?,
        None => {
            let folders = Folders::from_file_path(Path::new(name)).allow_all(roots);
            LoadedVehicle::read_in(folders, &source_name, &changed_text)?
        }
    })
}

/// Returns the vehicle file `text` with changed fields. `assignments` are `FIELD=VALUE`; later ones win. A value that
/// is not valid TOML for the field is set as a text.
fn set_fields(text: &str, assignments: &[String]) -> Result<String, BadArgument> {
    let reject = |found: &str, accepts: String| BadArgument { argument: "--set", found: format!("`{found}`"), accepts };
    let mut fields = FileFields::parse(text).map_err(|error| reject("the vehicle file", error.to_string()))?;
    for assignment in assignments {
        let Some((name, value)) = assignment.split_once('=') else {
            return Err(reject(assignment, "FIELD=VALUE, such as chassis.mass_kg=1600".into()));
        };
        let field_error = |error: FieldError| reject(assignment, error.to_string());
        let path = fields.resolve(name.trim()).map_err(field_error)?;
        let value = value.trim();
        if fields.set(&path, value).is_err() {
            // Not a number, flag or list: a text.
            let quoted = format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
            fields.set(&path, &quoted).map_err(field_error)?;
        }
    }
    Ok(fields.text().to_owned())
}

/// Returns the folders that the arguments allow.
///
/// # Errors
/// A folder does not exist.
pub fn allowed_roots(roots: &Roots) -> Result<&[PathBuf], BadArgument> {
    match roots.allow_root.iter().find(|folder| !folder.is_dir()) {
        None => Ok(&roots.allow_root),
        Some(missing_folder) => Err(BadArgument {
            argument: "--allow-root",
            found: format!("`{}`", printable_path(missing_folder)),
            accepts: "an existing folder".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers and texts are set by path or short name; a change without `=` and an unknown field are errors.
    #[test]
    fn fields_are_set_by_path_or_name() {
        let text = "name = \"a\"\n[chassis]\nmass_kg = 1\n";
        let set =
            |assignments: &[&str]| set_fields(text, &assignments.iter().map(ToString::to_string).collect::<Vec<_>>());
        let changed = set(&["mass = 2.5", "name=my \"car\""]).expect("known fields");
        assert_eq!(changed, "name = \"my \\\"car\\\"\"\n[chassis]\nmass_kg = 2.5\n");
        for refused in ["mass", "weight=3"] {
            assert!(set(&[refused]).is_err(), "{refused}");
        }
    }
}
