//! What a vehicle that is towed keeps from step to step.

use bevy_math::Vec3;

/// What tows a trailer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tow {
    /// Number of the vehicle ahead in its world. One that cannot tow tows nothing: one that is away, has no hitch, or is towed
    /// by the trailer itself.
    pub by: u32,
    /// Mean force of the hitch on the trailer over the last step, world, N.
    pub force: Vec3,
    /// Share of the trailer's brake that its overrun device presses, 0 to 1; 0 without one.
    pub overrun: f32,
}

impl Tow {
    /// Whether every number is finite.
    pub(crate) fn is_finite(&self) -> bool {
        let Self { by: _, force, overrun } = self;
        force.is_finite() && overrun.is_finite()
    }
}
