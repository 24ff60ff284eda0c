//! Rows of the tyres: deflection of the contact patch and linearised tyre forces.

mod compliance;
mod deflection;
pub(crate) mod laws;
pub(crate) mod linearisation;
