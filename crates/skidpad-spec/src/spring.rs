//! The spring of a wheel: the one place that turns what a file says of it into a rate, its rise and its travel.

use crate::spec::Axle;
use skidpad_core::STANDARD_GRAVITY;
use std::f64::consts::TAU;

/// Share of the rate at rest that must be left at full droop.
pub(crate) const LEAST_RATE: f64 = 1e-3;

/// In SI units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spring {
    /// At rest, N/m.
    pub rate: f64,
    /// Of the rate per compression, N/m².
    pub progressive_rate: f64,
    /// Extension from rest at full droop, m; not a number if the spring never gives as little as its preload.
    pub droop: f64,
    /// What it carries at rest, N.
    pub carries: f64,
}

impl Spring {
    /// Of a wheel of `axle` that carries `share` kg, its own mass included.
    pub fn of(axle: &Axle, share: f64) -> Self {
        let given = &axle.suspension;
        let from_frequency = || share * (TAU * given.ride_frequency_hz.unwrap_or(0.0)).powi(2);
        let rate = given.rate_n_per_m.unwrap_or_else(from_frequency);
        let progressive_rate = given.rate_rise_n_per_m2.unwrap_or(0.0);
        let own = axle.unsprung.as_ref().map_or(0.0, |own| own.mass_kg);
        let carries = (share - own) * f64::from(STANDARD_GRAVITY);
        // Of rate z - progressive_rate z² / 2 = carries - preload, the nearer root.
        let given_off = carries - given.preload_n.unwrap_or(0.0);
        let to_preload = || 2.0 * given_off / (rate + (rate * rate - 2.0 * progressive_rate * given_off).sqrt());
        let droop = given.droop_travel_m.unwrap_or_else(to_preload);
        Self { rate, progressive_rate, droop, carries }
    }

    /// Rate at full droop over that at rest.
    pub fn rate_left(&self) -> f64 {
        1.0 - self.progressive_rate * self.droop / self.rate
    }
}
