//! Contacts of the bodywork.

pub mod boxes;
#[cfg(any(feature = "impulse", feature = "constraint"))]
pub mod hull;
pub mod passing;
pub mod thrown;
