//! Telemetry: channels and frames, poses of wheels, and signals of contacts and engines.

pub mod frame;
pub(crate) mod pose;
pub(crate) mod signals;
pub(crate) mod steering_wheel;
