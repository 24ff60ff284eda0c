//! Directions of the wheels.

use skidpad_simd::lane::{F32x4, WheelLanes};
use skidpad_simd::vectors::Vec3Lanes;

/// Axle directions of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub struct SteeringRows<W: WheelLanes = F32x4> {
    /// Road-wheel angles that `axle` belongs to (rad).
    pub(crate) angles: W,
    /// Cambers that `axle` belongs to (rad).
    pub(crate) cambers: W,
    /// Unit vectors along the wheels' axles, to the left, vehicle frame.
    pub axle: Vec3Lanes<W>,
}
