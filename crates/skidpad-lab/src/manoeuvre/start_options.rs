//! Numbers that a manoeuvre can be started with, with their ranges.

use super::Overrides;

/// Number that a manoeuvre can be started with.
#[derive(Clone, Copy, Debug)]
pub struct StartOption {
    /// Name, as in descriptions of sweeps and in Python.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Smallest and largest accepted value, both included.
    pub range: [f64; 2],
    /// Function that applies a value, which is in the range.
    apply: fn(&mut Overrides, f64),
}

/// All options of the start.
pub const START_OPTIONS: [StartOption; 4] = [
    StartOption {
        name: "initial_speed",
        unit: "m/s",
        range: [-200.0, 200.0],
        apply: |overrides, value| overrides.initial_speed_mps = Some(value),
    },
    StartOption {
        name: "slope_deg",
        unit: "deg",
        range: [-89.0, 89.0],
        apply: |overrides, value| overrides.slope_rad = Some(value.to_radians()),
    },
    StartOption {
        name: "heading_deg",
        unit: "deg",
        range: [-360.0, 360.0],
        apply: |overrides, value| overrides.heading_rad = Some(value.to_radians()),
    },
    StartOption {
        name: "duration",
        unit: "s",
        range: [1e-6, 1e6],
        apply: |overrides, value| overrides.duration_s = Some(value),
    },
];

impl StartOption {
    /// Applies `value` to `overrides`.
    ///
    /// # Errors
    /// Returns the accepted values if the value is out of range or NaN.
    pub fn set(&self, overrides: &mut Overrides, value: f64) -> Result<(), String> {
        let Self { unit, range: [low, high], .. } = self;
        if !(*low..=*high).contains(&value) {
            return Err(format!("a number from {low} to {high} {unit}"));
        }
        (self.apply)(overrides, value);
        Ok(())
    }
}
