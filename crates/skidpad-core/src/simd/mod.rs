//! Numbers of several wheels or cars in the lanes of a SIMD register: lanes, vectors, 6×6 systems.

pub mod instruction_set;
pub mod lane;
pub(crate) mod linear;
pub mod vectors;
pub(crate) mod wheel_groups;
