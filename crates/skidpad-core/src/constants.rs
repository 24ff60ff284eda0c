//! Numbers every room counts on.

/// Most wheels one vehicle may have; sizes the few arrays a step keeps on the stack.
pub const MAX_WHEELS: usize = 32;

/// Gravity the static loads of a [`crate::Model`] are computed with, m/s².
pub const STANDARD_GRAVITY: f32 = 9.81;
