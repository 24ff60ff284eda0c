//! What a car tells.

pub mod derived;
pub mod signals;
pub mod slip;
