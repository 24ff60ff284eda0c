//! Numbers of several wheels or cars in the lanes of a SIMD register.
//!
//! - [`lane`]: the traits of lanes ([`lane::Lane`], [`lane::WheelLanes`], [`lane::CarLanes`]). One generic source computes
//!   one number, four wheels of a car, or eight cars.
//! - [`vectors`], [`linear`]: 3-vectors and spatial vectors over lanes, and 6 × 6 systems.
//! - [`math`]: transcendental functions with the same bits on every target.
//! - [`instruction_set`]: selection of the processor's instructions at run time.
//! - [`wheel_groups`]: loops over one or several groups of four wheels.
//!
//! Every operation is rounded exactly, without fused multiplication and addition. Results therefore have the same bits
//! in every width, on every target and at every optimisation level.
#![forbid(unsafe_code)]

pub mod instruction_set;
pub mod lane;
pub mod linear;
pub mod math;
pub mod vectors;
pub mod wheel_groups;
