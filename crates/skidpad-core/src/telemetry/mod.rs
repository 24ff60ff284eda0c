//! What a car tells about a step, and where its wheels are drawn.

pub(crate) mod channel;
pub mod frame;
pub(crate) mod pose;
pub(crate) mod signals;
