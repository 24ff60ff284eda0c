//! Tests of wheels.

pub mod wheels;
