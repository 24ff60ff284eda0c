//! Assists of a step: they change the demand of the driver, the shafts and the brake rows of a vehicle.

mod cruise;
mod regeneration;
mod stage;
mod traction;
