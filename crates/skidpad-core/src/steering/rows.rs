//! Where the wheels head.

/// Axle directions of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SteeringRows {
    /// Road-wheel angles and cambers that `straight_axle` has, rad.
    pub steered: [f32; 4],
    pub inclined: [f32; 4],
    /// Axle direction across the car, vehicle frame at the start of the step.
    pub straight_axle: [[f32; 4]; 3],
}
