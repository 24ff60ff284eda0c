//! Where the wheels head.

use crate::lane::{Corners, Four};
use crate::vectors::Vec3Lanes;

/// Axle directions of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SteeringRows<W: Corners = Four> {
    /// Road-wheel angles and cambers that `straight_axle` has, rad.
    pub steered: W,
    pub inclined: W,
    /// Axle direction across the car, vehicle frame at the start of the step.
    pub straight_axle: Vec3Lanes<W>,
}
