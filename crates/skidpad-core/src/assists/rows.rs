//! Demands of the assists in a step.

/// Demand of the stability control on the brakes in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correction {
    /// Yaw moment, N m, positive to the left.
    pub moment: f32,
    /// Whether the car turns too much (oversteer) instead of too little.
    pub oversteer: bool,
}
