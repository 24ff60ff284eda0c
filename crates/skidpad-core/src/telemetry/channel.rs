//! Columns of telemetry.

/// One column of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Name with unit, as in file headers.
    pub name: &'static str,
    /// SI unit; "-" for none.
    pub unit: &'static str,
    /// What it is and which way is positive.
    pub about: &'static str,
}
