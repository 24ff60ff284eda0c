//! Directions of the wheels.

use crate::lane::{Corners, Four};
use crate::vectors::Vec3Lanes;

/// Axle directions of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SteeringRows<W: Corners = Four> {
    /// Road-wheel angles that `axle` belongs to (rad).
    pub steered: W,
    /// Cambers that `axle` belongs to (rad).
    pub inclined: W,
    /// Unit vectors along the wheels' axles, to the left, vehicle frame.
    pub axle: Vec3Lanes<W>,
}
