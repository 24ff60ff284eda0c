//! Conversion between transforms of cars (point on the ground, y up, −z forward) and states.

use bevy_math::{Quat, Vec3};
use bevy_transform::prelude::*;
use skidpad_core::{Model, State, WorldAxes, math};
use skidpad_drive::Pose;

/// Axes of Bevy.
pub const BEVY_AXES: WorldAxes = WorldAxes::YUpMinusZForward;

/// Returns the state of a car of `model` at rest on its wheels. The ground point below its centre of mass is the
/// translation of `transform`, and the normal of the ground is the y axis of `transform`. The heading is that of
/// `transform` after its tilt is removed, measured from +x towards +y of skidpad's axes. The scale is ignored.
pub fn start_state_at(model: &Model, transform: &Transform) -> State {
    let ground = BEVY_AXES.point_from_world(transform.translation.as_dvec3());
    let rotation = BEVY_AXES.rotation_from_world(transform.rotation).normalize();
    // Normal of the ground in skidpad's axes.
    let up = rotation * Vec3::Z;
    // `State::upright_at` applies the heading first and the tilt after it, so the heading is read with the tilt
    // removed.
    let level_rotation = Quat::from_rotation_arc(up, Vec3::Z) * rotation;
    let forward = level_rotation * Vec3::X;
    State::upright_at(model, ground, up, math::atan2(forward.y, forward.x))
}

/// Returns the transform of a car of `model` whose body is drawn at `pose`: the ground point below the centre of mass,
/// the rotation of the body, and scale 1.
pub fn transform_of(model: &Model, pose: &Pose) -> Transform {
    let ground = pose.position - (pose.rotation * Vec3::Z * model.parts().centre_height).as_dvec3();
    Transform {
        translation: BEVY_AXES.point_to_world(ground).as_vec3(),
        rotation: BEVY_AXES.rotation_to_world(pose.rotation),
        scale: Vec3::ONE,
    }
}
