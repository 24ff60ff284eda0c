//! Reported quantities of a car.

pub mod derived;
pub mod signals;
pub mod slip;
pub mod steering_wheel;
