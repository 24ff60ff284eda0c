//! Tyres: their laws on a driving car, patches that stand, slide and are released.

pub mod laws;
pub mod parked;
pub mod released;
pub mod standing;
pub mod stopping;
