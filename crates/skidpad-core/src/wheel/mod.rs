//! Wheels: ground contact, and the joint solve of spin, brake and tyre.

pub(crate) mod disc;
pub(crate) mod parameters;
pub(crate) mod rows;
pub(crate) mod state;
