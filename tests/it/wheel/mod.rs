//! Wheels: where they are.

pub mod wheels;
