//! Contact rows and ground motion of the wheels.

use skidpad_simd::lane::{F32x4, WheelLanes};
use skidpad_simd::linear::SpatialVector;

/// Contacts of four wheels and the directions of their rows. A row is one scalar equation of a wheel: a direction on
/// the chassis along which it has a speed and an impulse.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContactRows<W: WheelLanes = F32x4> {
    /// Wheels in contact with the ground.
    pub in_contact: W::Mask,
    /// Motion of the ground under the wheels.
    pub(crate) ground_motion: GroundMotion<W>,
    /// Friction factor of the surface, –; 0 without contact.
    pub(crate) grip: W,
    /// Friction factor relative to the strut load: the grip times the share of that load that acts on the contact, –.
    pub(crate) friction_factor: W,
    /// Sine of the camber angle relative to the ground.
    pub(crate) camber_sine: W,
    /// Share of the step with contact; below 1 for a wheel that touches down within the step.
    pub(crate) contact_share: W,
    /// Compression beyond the droop stop at the start of the step, m, ≤ 0: the gap to the ground.
    pub(crate) beyond_droop: W,
    /// Compression in the probed pose, m; later the compression at the start of the step on the same contact plane.
    pub(crate) compression: W,
    /// Compression rate at the start of the step, m/s; 0 in the air.
    pub(crate) jounce_rate: W,
    /// Offset by which the compression lags behind the velocity, m.
    pub(crate) compression_lag: W,
    /// Cosine between contact normal and suspension travel.
    pub(crate) normal_cosine: W,
    /// Longitudinal and lateral speed of the wheel over the ground at the start of the step, m/s.
    pub(crate) start_speed: [W; 2],
    /// Load row: acts at the contact point along its normal.
    pub normal: SpatialVector<W>,
    /// Longitudinal row: acts at the wheel centre, or at its force point. The other end is the spin of the wheel.
    pub forward: SpatialVector<W>,
    /// Lateral row: acts at the contact point, or at its force point.
    pub side: SpatialVector<W>,
}

/// Motion of the ground under four wheels, in the directions of their rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroundMotion<W: WheelLanes = F32x4> {
    /// Whether some of the ground moves, can be moved, or has a texture; otherwise all other fields are 0.
    pub moves_or_textured: bool,
    /// Longitudinal, lateral and normal velocity of the ground at the start of the step, m/s.
    pub start_speed: [W; 3],
    /// Longitudinal, lateral and normal velocity of the ground at the end of the step, m/s.
    pub end_speed: [W; 3],
    /// Increase of the rolling resistance coefficient by the texture, –.
    pub rolling_resistance: W,
}

impl<W: WheelLanes> GroundMotion<W> {
    /// Returns the wheels whose ground changes its longitudinal or lateral velocity within the step, because wheels
    /// push it. A change of the normal velocity does not count.
    #[inline(always)]
    pub(crate) fn accelerating_wheels(&self) -> W::Mask {
        if !self.moves_or_textured {
            return W::Mask::default();
        }
        let has_changed =
            |i: usize| self.start_speed[i].less(self.end_speed[i]) | self.end_speed[i].less(self.start_speed[i]);
        has_changed(0) | has_changed(1)
    }

    /// Resets the motion to ground at rest without a texture; does nothing if it is that already.
    #[inline(always)]
    pub(crate) fn reset(&mut self) {
        if self.moves_or_textured {
            self.clear();
        }
    }

    /// Sets all fields to 0.
    #[cold]
    #[inline(never)]
    fn clear(&mut self) {
        *self = Self::default();
    }
}
