//! Aerodynamics: drag, side force, downforce and their maps.

mod air;
pub(crate) mod parameters;
