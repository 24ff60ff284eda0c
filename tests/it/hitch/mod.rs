//! Vehicles that tow each other.

mod full;
mod known;
pub mod lasting;
mod reversing;
pub mod rigs;
mod stops;
mod sway;
mod told;
