//! Trailers of the argument `--towing`.

use std::sync::Arc;

use skidpad::core::Model;
use skidpad::lab::units::TowedUnit;

use crate::arguments::{Roots, VehicleChanges};
use crate::errors::BadArgument;
use crate::failure::Result;
use crate::output::print_notes;
use crate::roots::load_vehicle;

/// Loads the trailers `names` and returns them as towed units behind a car of `model`, from the front. A full trailer
/// is two units: dolly and trailer. The units are in the order of `names`; the car itself is not returned. Prints the
/// notes about each trailer. Trailers are checked one after the other, first for a hitch ahead, then for a coupler. The
/// unit ahead of the first one is the car.
///
/// # Errors
/// A file has faults, a trailer has no `[coupler]`, or the vehicle ahead has no `[hitch]`.
pub fn load_trailers(names: &[String], model: &Arc<Model>, roots: &Roots) -> Result<Vec<TowedUnit>> {
    let mut train = vec![TowedUnit::from(Arc::clone(model))];
    for name in names {
        let trailer = load_vehicle(name, roots, &VehicleChanges::default())?;
        print_notes(&trailer);
        // Whether the vehicle ahead has a hitch.
        let has_hitch_ahead = train.last().is_some_and(|unit| unit.model.parts().hitch.is_some());
        // `description` is that of the vehicle, `accepts` that of the accepted vehicles.
        let reject = |description: &str, accepts: &str| {
            let found = format!("`{name}` {description}");
            Err(BadArgument { argument: "--towing", found, accepts: accepts.into() })
        };
        if !has_hitch_ahead {
            reject(
                "behind a vehicle without a `[hitch]`",
                "trailers behind a vehicle with a `[hitch]`, such as `toyota_4runner`",
            )?;
        }
        if trailer.model.parts().coupler.is_none() {
            reject("without a `[coupler]`", "trailers, such as `caravan`, `semitrailer` and `wagon`")?;
        }
        train.extend(trailer.dolly.map(|model| TowedUnit { model, is_dolly: true }));
        train.push(trailer.model.into());
    }
    // The first unit is the car.
    Ok(train.split_off(1))
}
