//! Vehicles that tow each other.

mod full;
mod known;
mod lasting;
pub mod rigs;
mod sway;
mod told;
