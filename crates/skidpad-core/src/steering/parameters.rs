//! Limits of the steering.

/// Steering limits of the whole car.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steering {
    /// Largest road-wheel angle in the middle of an axle with a ratio of 1 (rad), in (0, π/2).
    pub lock: f32,
    /// Largest rate of that angle (rad/s), > 0; infinite if unlimited.
    pub rate: f32,
    /// Overall steering ratio: steering-wheel angle per that angle (–), > 0; `None` if unknown. Manoeuvres and figures
    /// that are defined by steering-wheel angles read it; steps do not.
    pub wheel_ratio: Option<f32>,
}
