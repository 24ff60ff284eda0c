//! Aerodynamics: drag, side force, downforce and their maps.

pub(crate) mod air;
pub(crate) mod parameters;
