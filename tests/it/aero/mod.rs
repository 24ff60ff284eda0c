//! The air, and forces of one's own.

pub mod air;
