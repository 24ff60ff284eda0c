//! Aerodynamics: drag, side force, downforce and their maps.

pub(crate) mod forces;
pub(crate) mod parameters;
