//! Drivetrain: engine, clutch or torque converter, gearbox, motors and couplings.

pub(crate) mod assisted;
pub(crate) mod clutch;
pub(crate) mod constraints;
pub(crate) mod converter;
pub(crate) mod crank;
pub(crate) mod drive;
pub(crate) mod engine;
pub(crate) mod flow;
mod gear_choice;
pub(crate) mod motor;
pub(crate) mod parameters;
mod rolling;
pub(crate) mod rows;
mod shafts;
pub(crate) mod solving;
pub(crate) mod state;
