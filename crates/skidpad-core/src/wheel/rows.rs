//! What is found where wheels meet the ground.

use crate::lane::{Corners, Four};
use crate::linear::SpatialVector;

/// Contact of four wheels: where it is, and the directions of their rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactRows<W: Corners = Four> {
    pub in_contact: W::Mask,
    pub ground_motion: GroundMotion<W>,
    /// Factor of the surface on friction.
    pub grip: W,
    /// Factor on friction under the strut's load: the grip, times the share of the load that presses on an edge.
    pub friction_factor: W,
    /// Sine of the camber against the ground.
    pub lean: W,
    /// Share of the step in which there is contact: below 1 for a wheel that meets the ground within it.
    pub contact_share: W,
    /// Compression beyond the droop stop at the start of the step, m, ≤ 0: the gap a wheel has yet to close.
    pub beyond_droop: W,
    /// Compression in the pose that was probed, m; then, on the plane that was met there, the one at the start of the step.
    pub compression: W,
    /// Rate of the compression at the start of the step, m/s; 0 in the air.
    pub jounce_rate: W,
    /// By how much the compression runs behind the velocity, m.
    pub lag: W,
    /// Cosine between contact normal and suspension.
    pub cosine: W,
    /// Speeds of the wheel over the ground along its heading and across it at the start of the step, m/s.
    pub started: [W; 2],
    /// Load row: acts at the contact point along its normal.
    pub normal: SpatialVector<W>,
    /// Rolling-direction row: acts at the wheel centre, or its force point; its other end is the wheel's spin.
    pub forward: SpatialVector<W>,
    /// Lateral row: acts at the contact point, or its force point.
    pub side: SpatialVector<W>,
}

/// What the rows of four wheels know of the ground under them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroundMotion<W: Corners = Four> {
    /// Whether any of it moves, can be moved, or has a texture; else the rest is 0.
    pub moves_or_textured: bool,
    /// Velocity of the ground along, across and normal to its surface at the start of the step, m/s.
    pub begun: [W; 3],
    /// Velocity along, across and normal to the ground at the end of the step, m/s.
    pub speed: [W; 3],
    /// What its texture adds to the coefficient of rolling resistance.
    pub rolling: W,
}

impl<W: Corners> GroundMotion<W> {
    /// Returns where the velocity of the ground along it changes within the step: where wheels push it.
    #[inline(always)]
    pub(crate) fn changes(&self) -> W::Mask {
        if !self.moves_or_textured {
            return W::Mask::default();
        }
        let differ = |i: usize| self.begun[i].less(self.speed[i]) | self.speed[i].less(self.begun[i]);
        differ(0) | differ(1)
    }

    /// Knows of none from now on.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        if self.moves_or_textured {
            self.clear();
        }
    }

    #[cold]
    #[inline(never)]
    fn clear(&mut self) {
        *self = Self::default();
    }
}
