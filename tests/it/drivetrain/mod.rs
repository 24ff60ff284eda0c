//! Drivetrain: engines, motors, gearboxes, differentials and couplings.

pub mod couplings;
pub mod dead_engine;
pub mod differentials;
pub mod gear_choice;
pub mod gearboxes;
pub mod hunting;
pub mod motors;
pub mod shafts;
