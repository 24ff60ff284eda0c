//! Suspension spring of a wheel. This module is the only place that converts the keys of a file into rate, rise of the
//! rate and travel.

use crate::spec::Axle;
use skidpad_core::STANDARD_GRAVITY;
use std::f64::consts::TAU;

/// Smallest rate at full droop, as a share of the rate at rest.
pub(crate) const MIN_DROOP_RATE_SHARE: f64 = 1e-3;

/// Suspension spring at one wheel, in SI units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spring {
    /// Rate at rest, N/m.
    pub rate: f64,
    /// Rise of the rate per compression, N/m².
    pub progressive_rate: f64,
    /// Extension from rest at full droop, m. NaN if the spring force never falls to the preload.
    pub droop_travel: f64,
    /// Spring force at rest, N: the weight on the wheel without the unsprung mass.
    pub force_at_rest: f64,
}

impl Spring {
    /// Computes the spring of a wheel of `axle` that carries `carried_mass` kg, the unsprung mass included. The rate is
    /// the stated one, or `carried_mass (2π f)²` of the ride frequency `f` (0 if absent). The static force is that of
    /// the sprung mass only. Droop travel is the stated one, or the extension at which the force has fallen to the
    /// preload (0 if absent): NaN if the force never falls so far. Absent rise of the rate and unsprung mass are 0.
    pub fn from_axle(axle: &Axle, carried_mass: f64) -> Self {
        let suspension = &axle.suspension;
        let rate_from_frequency = || carried_mass * (TAU * suspension.ride_frequency_hz.unwrap_or(0.0)).powi(2);
        let rate = suspension.rate_n_per_m.unwrap_or_else(rate_from_frequency);
        let progressive_rate = suspension.progressive_rate_n_per_m2.unwrap_or(0.0);
        // Unsprung mass, kg.
        let unsprung_mass = axle.unsprung.as_ref().map_or(0.0, |unsprung| unsprung.mass_kg);
        let force_at_rest = (carried_mass - unsprung_mass) * f64::from(STANDARD_GRAVITY);
        // The extension is the smaller root z of rate z - progressive_rate z² / 2 = force_at_rest - preload.
        let force_to_preload = force_at_rest - suspension.preload_n.unwrap_or(0.0);
        let droop_to_preload =
            || 2.0 * force_to_preload / (rate + (rate * rate - 2.0 * progressive_rate * force_to_preload).sqrt());
        let droop_travel = suspension.droop_travel_m.unwrap_or_else(droop_to_preload);
        Self { rate, progressive_rate, droop_travel, force_at_rest }
    }

    /// Returns the rate at full droop as a share of the rate at rest.
    pub fn droop_rate_share(&self) -> f64 {
        1.0 - self.progressive_rate * self.droop_travel / self.rate
    }
}
