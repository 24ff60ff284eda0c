//! Non-physical forces of ray-cast vehicles in other engines, in a form that peers can report.

use skidpad_core::{Assist, AssistLog, Contribution, Model, Vec3};

/// Action of a ray-cast vehicle on its chassis at one wheel, as means over a step, vehicle frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RayWheel {
    /// Vector from the centre of mass to the contact point, m.
    pub arm: Vec3,
    /// Normal of the ground, unit vector.
    pub normal: Vec3,
    /// Force of spring and damper before the bound, N, ≥ 0.
    pub suspension_force: f32,
    /// Bound of that force, N, > 0; infinite if there is none.
    pub max_suspension_force: f32,
    /// Tyre force along the rolling direction, N.
    pub longitudinal_force: Vec3,
    /// Tyre force along the axle, N.
    pub lateral_force: Vec3,
    /// Height at which `lateral_force` acts: 1 at the ground, 0 at the height of the centre of mass.
    pub roll_influence: f32,
}

/// Returns the contributions of the non-physical forces of `wheels` to a car of `model`, summed over the wheels,
/// vehicle frame. Each mechanism has a force (N) and a moment about the centre of mass (N m). A mechanism that some
/// wheel has is listed even if its contribution is zero; the others are not listed.
///
/// - Roll influence r below 1 ([`Assist::RollInfluence`]). The contact point is at the height `z` in the vehicle frame,
///   which is negative. The engine lets a side force `F` act at the height `r z`, which adds the moment `−(1 − r) z ẑ ×
///   F` to the physical one.
/// - Bound on the suspension force below `f32::MAX` ([`Assist::LargestForce`]). The bound reduces the suspension force,
///   but the tyre's friction still uses the unbounded force. The contribution is the bounded force less the unbounded
///   one, at the contact point.
/// - Lowered centre of mass of the model, by h above 0 ([`Assist::LoweredCentre`]). All forces F at the wheel add the
///   moment `h ẑ × F`.
pub fn non_physical(model: &Model, wheels: impl Iterator<Item = RayWheel>) -> AssistLog {
    let mut assist_log = AssistLog::default();
    let lowered_height = model.parts().assists.lowered_centre;
    for wheel in wheels {
        let RayWheel {
            arm,
            normal,
            suspension_force,
            max_suspension_force,
            longitudinal_force,
            lateral_force,
            roll_influence,
        } = wheel;
        // Suspension force that acts on the car, N.
        let acting_force = normal * suspension_force.min(max_suspension_force);
        if roll_influence < 1.0 {
            // Height by which the engine raises the point where the side force acts, as a vector, m.
            let raised_arm = Vec3::Z * (-arm.z * (1.0 - roll_influence));
            assist_log.add(Assist::RollInfluence, Contribution::wrench(Vec3::ZERO, raised_arm.cross(lateral_force)));
        }
        if max_suspension_force < f32::MAX {
            // Force beyond the bound, N, with the sign of its removal.
            let excess_force = acting_force - normal * suspension_force;
            assist_log.add(Assist::LargestForce, Contribution::wrench(excess_force, arm.cross(excess_force)));
        }
        if lowered_height > 0.0 {
            // Moment by the lowered centre, N m.
            let added_moment = (Vec3::Z * lowered_height).cross(acting_force + longitudinal_force + lateral_force);
            assist_log.add(Assist::LoweredCentre, Contribution::wrench(Vec3::ZERO, added_moment));
        }
    }
    assist_log
}
