//! Chassis as a Rapier rigid body.

use rapier3d::prelude::*;
use skidpad_core::{BODYWORK_FRICTION, Mat3, Model, State, Vec3, model::Hull};
use skidpad_engines::REST_SPEED_MPS;

use crate::WorldAxes;

/// Inserts a dynamic body with exactly the mass properties of `model`, in the pose and motion of `state`, with a box
/// collider of the size of its hull. Returns the handle of the body. Axes are converted to those of the world.
///
/// The collider has no mass. The coefficient of friction of bodywork is multiplied with that of the other collider,
/// unless the combine rule of the other one takes precedence over `Multiply`. The body counts as at rest below
/// [`REST_SPEED_MPS`] and starts awake.
pub fn insert(
    bodies: &mut RigidBodySet,
    colliders: &mut ColliderSet,
    axes: WorldAxes,
    model: &Model,
    state: &State,
) -> RigidBodyHandle {
    // Rotation from vehicle axes to the body's axes, which follow the convention of the world.
    let to_body_axes = Mat3::from_cols(axes.to_world(Vec3::X), axes.to_world(Vec3::Y), axes.to_world(Vec3::Z));
    let inertia = to_body_axes * *model.inertia() * to_body_axes.transpose();
    let inertia = rapier3d::na::Matrix3::from_column_slice(&inertia.to_cols_array());
    let mass_properties = MassProperties::with_inertia_matrix(Vector::ZERO, model.mass(), inertia.into());
    let hull = model.parts().hull;
    let half_extents = axes.to_world(hull.half_extents).abs();
    let handle = bodies.insert(RigidBodyBuilder::dynamic().additional_mass_properties(mass_properties));
    let collider = ColliderBuilder::cuboid(half_extents.x, half_extents.y, half_extents.z)
        .translation(axes.to_world(hull.centre))
        // Mass comes from the body alone.
        .density(0.0)
        .friction(BODYWORK_FRICTION)
        .friction_combine_rule(CoefficientCombineRule::Multiply);
    colliders.insert_with_parent(collider, handle, bodies);
    if let Some(body) = bodies.get_mut(handle) {
        // Rapier's default of 0.05 m/s stops a car that still oscillates by 15 mm on its springs. This value leaves 0.3
        // mm.
        body.activation_mut().normalized_linear_threshold = REST_SPEED_MPS;
        body.recompute_mass_properties_from_colliders(colliders);
        set_body_state(body, axes, state);
    }
    handle
}

/// Prevents the body from ever sleeping. A missing body is ignored.
pub fn keep_awake(bodies: &mut RigidBodySet, handle: RigidBodyHandle) {
    if let Some(body) = bodies.get_mut(handle) {
        *body.activation_mut() = RigidBodyActivation::cannot_sleep();
    }
}

/// Returns the height of the lowest corner of `hull` above a plane through the origin with the unit vector `normal`,
/// after `dt` s of the current motion of `body`, m; negative below the plane. The rotation is linearised: a corner
/// moves by ω × r dt. Assumes that vehicle axes and world axes have the same convention.
pub(crate) fn lowest_corner_height(body: &RigidBody, hull: &Hull, normal: Vec3, dt: f32) -> f32 {
    let height = (body.translation() + body.linvel() * dt).dot(normal);
    // Change of height of a point per change of its place in body axes.
    let height_gradient = body.rotation().inverse() * (normal + normal.cross(body.angvel()) * dt);
    height + hull.centre.dot(height_gradient) - hull.half_extents.dot(height_gradient.abs())
}

/// Returns the height of `point` (vehicle axes, m) of the body above a plane through the origin after `dt` s, m, as
/// [`lowest_corner_height`] does.
pub(crate) fn point_height(body: &RigidBody, point: Vec3, normal: Vec3, dt: f32) -> f32 {
    (body.translation() + body.linvel() * dt).dot(normal)
        + point.dot(body.rotation().inverse() * (normal + normal.cross(body.angvel()) * dt))
}

/// Returns the eight corners of `hull` from the centre of mass, vehicle axes, m. Bits 0, 1 and 2 of their number select
/// the positive side along x, y and z.
pub(crate) fn corners(hull: &Hull) -> impl Iterator<Item = Vec3> {
    (0..8).map(|k| {
        let sign = |bit: u8| if k & bit == 0 { -1.0 } else { 1.0 };
        hull.centre + hull.half_extents * Vec3::new(sign(1), sign(2), sign(4))
    })
}

/// Sets the collision groups of all colliders of the chassis so that it does not collide with other chassis set in this
/// way: member of group 32, filter of all other groups. The chassis still collides with colliders that have Rapier's
/// default groups. A missing body is ignored.
pub fn pass_through_others(bodies: &RigidBodySet, colliders: &mut ColliderSet, handle: RigidBodyHandle) {
    let chassis_group = Group::GROUP_32;
    let groups = InteractionGroups::new(chassis_group, !chassis_group, InteractionTestMode::And);
    for collider in bodies.get(handle).map_or(&[][..], RigidBody::colliders) {
        if let Some(collider) = colliders.get_mut(*collider) {
            collider.set_collision_groups(groups);
        }
    }
}

/// Enables and wakes `body`, then sets its pose and velocities from `state`, converted to the world's `axes`. The
/// position is rounded to 32 bits. Forces on the body do not change.
pub fn set_body_state(body: &mut RigidBody, axes: WorldAxes, state: &State) {
    body.set_enabled(true);
    // `true`: keeps the body awake for several steps. Below, `true` wakes the body.
    body.wake_up(true);
    body.set_translation(axes.point_to_world(state.position).as_vec3(), true);
    body.set_rotation(axes.rotation_to_world(state.rotation), true);
    body.set_linvel(axes.to_world(state.velocity), true);
    body.set_angvel(axes.to_world(state.angular_velocity), true);
}

/// Returns the time by which Rapier's poses lag its velocities in a step, s, from the step length and the number of
/// substeps: a change of velocity over the step moves the pose as if it acted for the step less this time.
pub(crate) fn pose_lag(parameters: &IntegrationParameters) -> f32 {
    skidpad_engines::pose_lag(parameters.dt, parameters.num_solver_iterations)
}
