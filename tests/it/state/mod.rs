//! States: saved, refused, and at the start.

pub mod doors;
pub mod numbers;
pub mod saved;
pub mod starts;
