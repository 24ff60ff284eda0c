//! Drivetrain: engine, clutch or torque converter, gearbox, motors and couplings.

pub(crate) mod constraints;
pub(crate) mod controls_to_torque;
pub(crate) mod crankshaft;
pub(crate) mod engine;
mod gear_choice;
pub(crate) mod launch_device;
pub(crate) mod lone_clutch;
pub(crate) mod motor;
mod no_slip_drivetrain;
pub(crate) mod parameters;
pub(crate) mod rows;
pub(crate) mod shaft_solver;
mod shafts;
pub(crate) mod state;
pub(crate) mod torque_paths;
pub(crate) mod traction_limits;
