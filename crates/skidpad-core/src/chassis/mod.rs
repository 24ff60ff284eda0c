//! Chassis: its mass, and the rows of its hull.

pub(crate) mod hull;
