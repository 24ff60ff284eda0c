//! States: saved, refused, begun with.

pub mod doors;
pub mod numbers;
pub mod saved;
pub mod starts;
