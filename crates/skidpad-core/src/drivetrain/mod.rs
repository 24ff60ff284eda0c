//! Drivetrain: engine, clutch or torque converter, gearbox, motors and couplings.

pub(crate) mod constraints;
pub(crate) mod crankshaft;
pub(crate) mod engine;
pub(crate) mod launch_device;
pub(crate) mod motor;
pub(crate) mod parameters;
pub(crate) mod rows;
pub(crate) mod state;
