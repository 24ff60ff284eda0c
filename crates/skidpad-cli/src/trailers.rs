//! Trailers of the argument `--towing`.

use std::sync::Arc;

use skidpad::core::Model;
use skidpad::lab::units::TowedUnit;

use crate::arguments::Roots;
use crate::errors::BadArgument;
use crate::failure::Result;
use crate::output::print_notes;
use crate::roots::load_vehicle;

/// Loads the `named` trailers and returns them as towed units behind a car of `model`, from the front. A full trailer
/// is two units: dolly and trailer.
///
/// # Errors
/// A file has faults, a trailer has no `[coupler]`, or the vehicle ahead has no `[hitch]`.
pub fn load_trailers(named: &[String], model: &Arc<Model>, roots: &Roots) -> Result<Vec<TowedUnit>> {
    let mut train = vec![TowedUnit::from(Arc::clone(model))];
    for name in named {
        let trailer = load_vehicle(name, roots)?;
        print_notes(&trailer);
        // Whether the vehicle ahead has a hitch.
        let ahead = train.last().is_some_and(|ahead| ahead.model.parts().hitch.is_some());
        // `what` describes the vehicle, `accepts` the accepted ones.
        let fault = |what: &str, accepts: &str| {
            let found = format!("`{name}`, {what},");
            Err(BadArgument { argument: "--towing", found, accepts: accepts.into() })
        };
        if !ahead {
            fault(
                "behind a vehicle without a `[hitch]`",
                "trailers behind vehicles with a `[hitch]`, such as `toyota_4runner`",
            )?;
        }
        if trailer.model.parts().coupler.is_none() {
            fault("a vehicle without a `[coupler]`", "trailers, such as `caravan`, `semitrailer` and `wagon`")?;
        }
        train.extend(trailer.dolly.map(|model| TowedUnit { model, is_dolly: true }));
        train.push(trailer.model.into());
    }
    // The first unit is the car.
    Ok(train.split_off(1))
}
