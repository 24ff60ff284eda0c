//! Trailers of the argument `--towing`.

use std::path::PathBuf;
use std::sync::Arc;

use skidpad::core::Model;
use skidpad::lab::units::{TowedUnit, TowingError, hitch_trailers};

use crate::arguments::{Roots, VehicleChanges};
use crate::errors::BadArgument;
use crate::failure::Result;
use crate::output::print_notes;
use crate::roots::load_vehicle;

/// Files that other files name, each with its role for messages and manifests.
pub type InputFiles = Vec<(&'static str, PathBuf)>;

/// Returns the trailers `names` as towed units behind a car of `model`, from the front. A full trailer is two units:
/// dolly and trailer. The car itself is not returned. Also returns the tyre files of the trailers.
///
/// All files are loaded first, each followed by printing the notes about it. Then each trailer is checked from the
/// front: the unit ahead (the car for the first one) needs a hitch, the trailer needs a coupler.
///
/// # Errors
/// A file has faults, a trailer has no `[coupler]`, or the vehicle ahead has no `[hitch]`.
pub fn load_trailers(names: &[String], model: &Arc<Model>, roots: &Roots) -> Result<(Vec<TowedUnit>, InputFiles)> {
    let (mut trailers, mut tyre_files) = (Vec::new(), InputFiles::new());
    for name in names {
        let trailer = load_vehicle(name, roots, &VehicleChanges::default())?;
        print_notes(&trailer);
        tyre_files.extend(trailer.tyre_files.iter().map(|file| ("tyre of a trailer", file.clone())));
        trailers.push((name.as_str(), trailer));
    }
    let hitched = hitch_trailers(model, trailers.iter().map(|(name, trailer)| (*name, trailer)));
    let units = hitched.map_err(|error| {
        let (found, accepts) = match error {
            TowingError::NoHitchAhead { name } => (
                format!("`{name}` behind a vehicle without a `[hitch]`"),
                "trailers behind a vehicle with a `[hitch]`, such as `toyota_4runner`",
            ),
            TowingError::NoCoupler { name } => {
                (format!("`{name}` without a `[coupler]`"), "trailers, such as `caravan`, `semitrailer` and `wagon`")
            }
        };
        BadArgument { argument: "--towing", found, accepts: accepts.into() }
    })?;
    Ok((units, tyre_files))
}
