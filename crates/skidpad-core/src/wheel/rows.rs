//! What is found where wheels meet the ground.

use crate::lane::{Four, FourMask};
use crate::linear::{SpatialVector, Vec3Lanes};

/// Contact of four wheels: where it is, and the directions of their rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactRows {
    pub touching: FourMask,
    pub footing: GroundMotion,
    /// Factor of the surface on friction.
    pub grip: Four,
    /// Sine of the camber against the ground.
    pub lean: Four,
    /// Share of the step in which there is contact: below 1 for a wheel that meets the ground within it.
    pub contact_share: Four,
    /// Compression beyond the droop stop, m, ≤ 0: the gap a wheel has yet to close.
    pub beyond_droop: Four,
    pub compression: Four,
    /// Rate of the compression at the start of the step, m/s; 0 in the air.
    pub jounce_rate: Four,
    /// By how much the compression runs behind the velocity, m.
    pub lead: Four,
    /// Cosine between contact normal and suspension.
    pub cosine: Four,
    /// Axle direction at the end of the step.
    pub axle: Vec3Lanes<Four>,
    /// Speed of the wheel over the ground along its heading at the start of the step, m/s.
    pub started: Four,
    /// Load row: acts at the contact point along its normal.
    pub normal: SpatialVector<Four>,
    /// Rolling-direction row: acts at the wheel centre, or its force point; its other end is the wheel's spin.
    pub forward: SpatialVector<Four>,
    /// Lateral row: acts at the contact point, or its force point.
    pub side: SpatialVector<Four>,
}

/// What the rows of four wheels know of the ground under them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroundMotion {
    /// Whether any of it moves or can be moved.
    pub moves: bool,
    /// Its velocity along, across and normal to the ground, m/s.
    pub speed: [Four; 3],
    /// See [`Ground::give`], 1/kg.
    pub give: [Four; 2],
    /// Load impulse of the last step, N s.
    pub last_load: Four,
}
