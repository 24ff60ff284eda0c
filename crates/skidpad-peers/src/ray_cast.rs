//! What ray-cast vehicles of other engines do to a chassis that no wheel on the ground does, for peers to tell.

use skidpad_core::{Assist, AssistLog, Contribution, Model, Vec3};

/// What a ray-cast vehicle did to its chassis at one wheel, means over a step, vehicle frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RayWheel {
    /// From the centre of mass to the contact point, m.
    pub arm: Vec3,
    /// Of the ground, unit length.
    pub normal: Vec3,
    /// Of spring and damper before the bound, N, ≥ 0.
    pub suspension: f32,
    /// Bound of that force, N, > 0; infinite without one.
    pub largest: f32,
    /// Tyre force along the rolling direction, N.
    pub along: Vec3,
    /// Tyre force across it, N.
    pub side: Vec3,
    /// Share of the centre's height at which `side` acts: 1 at the ground, 0 at the centre's height.
    pub roll_influence: f32,
}

/// What the tricks of `wheels` added to a car of `model`; each trick that some wheel has is told, as nothing while it does
/// nothing.
///
/// With the contact point at `z` of the vehicle frame a side force `F` acts at `r z`, r the roll influence: it lacks the
/// moment `(1 − r) z ẑ × F`. A bound takes force from the suspension that the tyre's friction still counts.
pub fn non_physical(model: &Model, wheels: impl Iterator<Item = RayWheel>) -> AssistLog {
    let mut assist_log = AssistLog::default();
    let lowered = model.parts().assists.lowered_centre;
    for wheel in wheels {
        let RayWheel { arm, normal, suspension, largest, along, side, roll_influence } = wheel;
        let carried = normal * suspension.min(largest);
        if roll_influence < 1.0 {
            let raised = Vec3::Z * (-arm.z * (1.0 - roll_influence));
            assist_log.add(Assist::RollInfluence, Contribution::wrench(Vec3::ZERO, raised.cross(side)));
        }
        if largest < f32::MAX {
            let taken = carried - normal * suspension;
            assist_log.add(Assist::LargestForce, Contribution::wrench(taken, arm.cross(taken)));
        }
        if lowered > 0.0 {
            let spared = (Vec3::Z * lowered).cross(carried + along + side);
            assist_log.add(Assist::LoweredCentre, Contribution::wrench(Vec3::ZERO, spared));
        }
    }
    assist_log
}
