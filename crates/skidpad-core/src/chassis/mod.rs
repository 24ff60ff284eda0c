//! Chassis: its mass, and the rows of its hull.

pub(crate) mod hull;
pub(crate) mod mass;
