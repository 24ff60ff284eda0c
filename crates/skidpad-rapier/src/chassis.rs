//! The chassis as a rigid body of Rapier's.

use rapier3d::prelude::*;
use skidpad_core::{BODYWORK_FRICTION, Mat3, Model, State, Vec3, model::Hull};
use skidpad_engines::STILL;

use crate::Axes;

/// A body with exactly the model's mass properties; its collider weighs nothing, and has the friction of bodywork times that
/// of what it touches, unless the other's rule is stronger than `Multiply`.
pub fn insert(
    bodies: &mut RigidBodySet,
    colliders: &mut ColliderSet,
    axes: Axes,
    model: &Model,
    state: &State,
) -> RigidBodyHandle {
    let turn = Mat3::from_cols(axes.to_world(Vec3::X), axes.to_world(Vec3::Y), axes.to_world(Vec3::Z));
    let inertia = turn * *model.inertia() * turn.transpose();
    let inertia = rapier3d::na::Matrix3::from_column_slice(&inertia.to_cols_array());
    let mass = MassProperties::with_inertia_matrix(Vector::ZERO, model.mass(), inertia.into());
    let hull = model.parts().hull;
    let half = axes.to_world(hull.half_extents).abs();
    let handle = bodies.insert(RigidBodyBuilder::dynamic().additional_mass_properties(mass));
    let collider = ColliderBuilder::cuboid(half.x, half.y, half.z)
        .translation(axes.to_world(hull.centre))
        .density(0.0)
        .friction(BODYWORK_FRICTION)
        .friction_combine_rule(CoefficientCombineRule::Multiply);
    colliders.insert_with_parent(collider, handle, bodies);
    if let Some(body) = bodies.get_mut(handle) {
        // Rapier's own 0.05 m/s would stop a car that still swings by 15 mm in its springs; this leaves 0.3 mm.
        body.activation_mut().normalized_linear_threshold = STILL;
        body.recompute_mass_properties_from_colliders(colliders);
        move_to(body, axes, state);
    }
    handle
}

/// Takes the body's right to fall asleep.
pub fn keep_awake(bodies: &mut RigidBodySet, handle: RigidBodyHandle) {
    if let Some(body) = bodies.get_mut(handle) {
        *body.activation_mut() = RigidBodyActivation::cannot_sleep();
    }
}

/// Height of the lowest corner of a `hull` above a plane through the origin after `dt` s as `body` moves, m. The vehicle's axes are
/// those of the world.
pub(crate) fn lowest(body: &RigidBody, hull: &Hull, normal: Vec3, dt: f32) -> f32 {
    let height = (body.translation() + body.linvel() * dt).dot(normal);
    // How the height of a point grows with its place in the body.
    let rise = body.rotation().inverse() * (normal + normal.cross(body.angvel()) * dt);
    height + hull.centre.dot(rise) - hull.half_extents.dot(rise.abs())
}

/// Height of a `place` of the vehicle, as [`lowest`] has it.
pub(crate) fn height(body: &RigidBody, place: Vec3, normal: Vec3, dt: f32) -> f32 {
    (body.translation() + body.linvel() * dt).dot(normal)
        + place.dot(body.rotation().inverse() * (normal + normal.cross(body.angvel()) * dt))
}

/// Corners of a `hull`, m.
pub(crate) fn corners(hull: &Hull) -> impl Iterator<Item = Vec3> {
    (0..8).map(|k| {
        let sign = |bit: u8| if k & bit == 0 { -1.0 } else { 1.0 };
        hull.centre + hull.half_extents * Vec3::new(sign(1), sign(2), sign(4))
    })
}

/// Of two chassis of this kind neither meets the other; whatever has Rapier's default groups they do.
pub fn pass_through_others(bodies: &RigidBodySet, colliders: &mut ColliderSet, handle: RigidBodyHandle) {
    let own = Group::GROUP_32;
    let groups = InteractionGroups::new(own, !own, InteractionTestMode::And);
    for collider in bodies.get(handle).map_or(&[][..], RigidBody::colliders) {
        if let Some(collider) = colliders.get_mut(*collider) {
            collider.set_collision_groups(groups);
        }
    }
}

/// Puts `body` where `state` says, awake.
pub fn move_to(body: &mut RigidBody, axes: Axes, state: &State) {
    body.set_enabled(true);
    body.wake_up(true);
    body.set_translation(axes.point_to_world(state.position).as_vec3(), true);
    body.set_rotation(axes.rotation_to_world(state.rotation), true);
    body.set_linvel(axes.to_world(state.velocity), true);
    body.set_angvel(axes.to_world(state.angular), true);
}

/// Time by which Rapier's poses run behind its velocities.
pub(crate) fn pose_lag(parameters: &IntegrationParameters) -> f32 {
    skidpad_engines::pose_lag(parameters.dt, parameters.num_solver_iterations)
}
