//! What a car tells.

pub mod derived;
pub mod signals;
