//! The chassis: its mass, and its hull among the rows.

pub(crate) mod hull;
pub(crate) mod mass;
