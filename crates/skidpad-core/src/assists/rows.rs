//! What assists want of a step.

/// What the stability control wants of the brakes in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correction {
    /// N m about the vertical, positive to the left.
    pub moment: f32,
    /// Whether the car turns too much, not too little.
    pub oversteer: bool,
}
