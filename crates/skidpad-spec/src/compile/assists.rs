//! Assists in SI units.

use crate::spec::VehicleSpec;
use skidpad_core::model::Assists;

pub(super) fn assists(spec: &VehicleSpec) -> Assists {
    let Some(given) = &spec.assists else {
        return Assists::default();
    };
    Assists { angular_drag: given.angular_drag.as_ref().map_or(0.0, |own| own.rate_per_s as f32) }
}
