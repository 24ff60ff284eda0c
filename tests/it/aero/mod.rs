//! Aerodynamic forces and custom force elements.

pub mod air;
