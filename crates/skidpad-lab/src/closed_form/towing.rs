//! Figures of hitch and coupler: their positions, and the load of the coupler.

use skidpad_core::Model;

use super::{Characteristics, GRAVITY_MPS2};
use crate::metrics::Metric;

/// Returns the figures of hitch and coupler; empty for a vehicle with neither. A hitch has its distance ahead of the
/// last axle (m, negative behind it) and, if described, the mass it carries (kg). A coupler has its distance ahead of
/// the resultant axle load (m), its load at rest (N) and this load as a share of the weight of the vehicle and of the
/// mass on its hitch (%).
pub(super) fn list(model: &Model, figures: &Characteristics) -> Vec<Metric> {
    let mut list = Vec::new();
    if let (Some(hitch), Some(rear)) = (model.parts().hitch, figures.axles.last()) {
        let ahead = f64::from(hitch.point.x) - rear.x_m;
        list.push(Metric::new("hitch_ahead_of_last_axle_m", "Hitch ahead of the last axle", "m", 3, Some(ahead)));
        let carried = f64::from(hitch.carried_mass);
        if carried > 0.0 {
            list.push(Metric::new("hitch_carries_kg", "Hitch carries, as described", "kg", 1, Some(carried)));
        }
    }
    if let Some(coupler) = model.parts().coupler {
        let rests = model.parts().hitch.map_or(0.0, |hitch| f64::from(hitch.carried_mass));
        let (load, weight) = (f64::from(model.coupler_load()), (figures.mass_kg + rests) * GRAVITY_MPS2);
        let ahead = f64::from(coupler.point.x) - carried_at(figures);
        let share = 100.0 * load / weight;
        list.push(Metric::new("coupler_ahead_of_axles_m", "Coupler ahead of its axles", "m", 3, Some(ahead)));
        list.push(Metric::new("coupler_load_n", "Load of the coupler at rest", "N", 0, Some(load)));
        list.push(Metric::new("coupler_share_percent", "The same of its weight", "%", 1, Some(share)));
    }
    list
}

/// Returns the position of the resultant axle load, ahead of the centre of mass (m).
fn carried_at(figures: &Characteristics) -> f64 {
    let loads: f64 = figures.axles.iter().map(|axle| axle.load_n).sum();
    figures.axles.iter().map(|axle| axle.load_n * axle.x_m).sum::<f64>() / loads
}
