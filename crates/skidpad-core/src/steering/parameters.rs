//! Limits of the steering.

/// Steering limits of the whole car.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steering {
    /// Largest mean road-wheel angle, rad, in (0, π/2).
    pub lock: f32,
    /// Largest rate of the mean road-wheel angle, rad/s, > 0; infinite when unlimited.
    pub rate: f32,
}
