//! Transforms of cars: on the ground, y up, −z ahead.

use bevy_math::{Quat, Vec3};
use bevy_transform::prelude::*;
use skidpad_core::{Axes, Model, State, math};
use skidpad_drive::Pose;

/// Bevy's.
pub const AXES: Axes = Axes::YUpMinusZForward;

/// A car of `model` standing at `transform`: at rest, headed and tilted as the transform is.
pub fn start_at(model: &Model, transform: &Transform) -> State {
    let ground = AXES.point_from_world(transform.translation.as_dvec3());
    let rotation = AXES.rotation_from_world(transform.rotation).normalize();
    let up = rotation * Vec3::Z;
    // Turned about the vertical first, then laid on to the ground.
    let level = Quat::from_rotation_arc(up, Vec3::Z) * rotation;
    let ahead = level * Vec3::X;
    State::upright_at(model, ground, up, math::atan2(ahead.y, ahead.x))
}

/// Transform of a car of `model` whose body is drawn at `pose`.
pub fn transform_of(model: &Model, pose: &Pose) -> Transform {
    let ground = pose.position - (pose.rotation * Vec3::Z * model.parts().centre_height).as_dvec3();
    Transform {
        translation: AXES.point_to_world(ground).as_vec3(),
        rotation: AXES.rotation_to_world(pose.rotation),
        scale: Vec3::ONE,
    }
}
