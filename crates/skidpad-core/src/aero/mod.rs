//! Aerodynamics: drag, side force, downforce and their maps.

pub(crate) mod parameters;
