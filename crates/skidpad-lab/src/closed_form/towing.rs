//! Figures of hitch and coupler: their positions, and the load of the coupler.

use skidpad_core::Model;

use super::{Characteristics, GRAVITY_MPS2};
use crate::metrics::Metric;

/// Returns the figures of the hitch, then those of the coupler; empty for a vehicle with neither. Hitch: distance ahead
/// of the last axle (m, negative behind it) and, if described, the mass it carries (kg). Coupler: distance ahead of the
/// resultant axle load (m), load at rest (N), and this load as a share of the weight of the vehicle and of the mass on
/// its own hitch (%). The hitch of a vehicle without axles has no figures.
pub(super) fn list(model: &Model, figures: &Characteristics) -> Vec<Metric> {
    let mut metrics = Vec::new();
    // Arguments of a metric: key, label, unit, decimal places, value.
    if let (Some(hitch), Some(last_axle)) = (model.parts().hitch, figures.axles.last()) {
        let distance = f64::from(hitch.point.x) - last_axle.x_m;
        metrics.push(Metric::new(
            "hitch_ahead_of_last_axle_m",
            "Hitch: distance ahead of the last axle",
            "m",
            3,
            Some(distance),
        ));
        let carried_mass = f64::from(hitch.carried_mass);
        if carried_mass > 0.0 {
            metrics.push(Metric::new(
                "hitch_carries_kg",
                "Hitch: carried mass, as described",
                "kg",
                1,
                Some(carried_mass),
            ));
        }
    }
    if let Some(coupler) = model.parts().coupler {
        // Mass on the vehicle's own hitch (kg); 0 without a hitch.
        let carried_mass = model.parts().hitch.map_or(0.0, |hitch| f64::from(hitch.carried_mass));
        let (load, weight) = (f64::from(model.coupler_load()), (figures.mass_kg + carried_mass) * GRAVITY_MPS2);
        let distance = f64::from(coupler.point.x) - axle_load_position(figures);
        let share_percent = 100.0 * load / weight;
        metrics.push(Metric::new(
            "coupler_ahead_of_axles_m",
            "Coupler: distance ahead of the axles",
            "m",
            3,
            Some(distance),
        ));
        metrics.push(Metric::new("coupler_load_n", "Coupler: static load", "N", 0, Some(load)));
        metrics.push(Metric::new(
            "coupler_share_percent",
            "Coupler: static load as share of the weight",
            "%",
            1,
            Some(share_percent),
        ));
    }
    metrics
}

/// Returns the position of the resultant axle load, ahead of the centre of mass (m).
fn axle_load_position(figures: &Characteristics) -> f64 {
    let total_load: f64 = figures.axles.iter().map(|axle| axle.load_n).sum();
    figures.axles.iter().map(|axle| axle.load_n * axle.x_m).sum::<f64>() / total_load
}
