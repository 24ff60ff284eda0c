//! Assembly of the rows of a step: each part's equations are evaluated for the wheels of a vehicle and written into its
//! rows. Folders and files are named after the parts.

pub(crate) mod aero;
mod assists;
pub(crate) mod drivetrain;
pub(crate) mod steering;
pub(crate) mod suspension;
pub(crate) mod tyre;
pub(crate) mod wheel;
