//! Columns of telemetry.

/// Column of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Name with unit, as in file headers.
    pub name: &'static str,
    /// SI unit; "-" for a number without a unit.
    pub unit: &'static str,
    /// Meaning and positive direction of the value.
    pub about: &'static str,
}
