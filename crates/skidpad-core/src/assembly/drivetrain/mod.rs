//! Rows of the drivetrain: from pedals to torques, rows of clutch, motors and couplings, and their solution.

pub(crate) mod controls_to_torque;
pub(crate) mod gear_choice;
pub(crate) mod lone_clutch;
mod no_slip_drivetrain;
pub(crate) mod shaft_solver;
mod shafts;
pub(crate) mod traction_limits;
