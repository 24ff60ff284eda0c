//! Struts, stops, anti-roll bars and heave springs, and wheels that move on their own.

mod loads;
mod own_wheels;
pub(crate) mod parameters;
pub(crate) mod rows;
pub(crate) mod strut;
mod ties;
