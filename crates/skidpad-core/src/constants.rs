//! Constants shared by all modules.

/// Maximum number of wheels of a vehicle; also the size of the few arrays that a step keeps on the stack.
pub const MAX_WHEELS: usize = 32;

/// Gravity for the static loads of a [`crate::Model`], m/s².
pub const STANDARD_GRAVITY: f32 = 9.81;
