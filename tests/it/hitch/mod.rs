//! Vehicles that tow each other.

mod known;
mod lasting;
mod rigs;
mod sway;
