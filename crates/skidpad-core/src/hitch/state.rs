//! State of the connection between a trailer and the vehicle ahead.

use bevy_math::Vec3;

/// Connection of a trailer to the vehicle ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tow {
    /// Slot of the vehicle ahead in its world. The connection has no effect if that vehicle is absent, has no hitch,
    /// or is towed by the trailer itself.
    pub towing_slot: u32,
    /// Mean force of the hitch on the trailer over the last step, world axes (N).
    pub force: Vec3,
    /// Share of the trailer's brake that its overrun device applies, 0 to 1; 0 without one.
    pub overrun: f32,
}

impl Tow {
    /// Returns true if force and overrun share are finite. Does not check that the vehicle ahead exists.
    pub(crate) fn is_finite(&self) -> bool {
        let Self { towing_slot: _, force, overrun } = self;
        force.is_finite() && overrun.is_finite()
    }
}
