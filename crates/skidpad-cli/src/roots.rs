//! Loading of vehicles by name or path, and the folders that their files may refer to.

use std::path::PathBuf;

use skidpad::spec::LoadedVehicle;

use crate::arguments::Roots;
use crate::errors::BadArgument;
use crate::failure::Result;
use crate::output::printable_path;

/// Loads the vehicle called `name`, or the vehicle file at that path.
pub fn load_vehicle(name: &str, roots: &Roots) -> Result<LoadedVehicle> {
    Ok(skidpad::spec::load_from(name, allowed_roots(roots)?)?)
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
