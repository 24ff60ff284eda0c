//! Chassis as an Avian rigid body.

use avian3d::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::{Mat3, Quat};
use bevy_reflect::prelude::*;
use bevy_transform::prelude::*;
use skidpad_bevy::BEVY_AXES;
use skidpad_core::{BODYWORK_FRICTION, Model, State, Vec3};

/// Component of a chassis body: the entity of its car, so that collision events and ray casts lead to the car.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct ChassisOf(pub Entity);

/// Component of a car: the entity of its chassis, for collision layers, damping and other settings of the body.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct Chassis(pub Entity);

/// Builds the components of a dynamic body with exactly the mass properties of `model` about its origin, which is the
/// centre of mass, in the pose and motion of `state`. The collider is a box of the size of the hull. The coefficient of
/// friction of its collider is multiplied with that of the other collider, unless the combine rule of the other one
/// takes precedence over `Multiply`. The body never sleeps. `car` is the entity of the car.
pub(crate) fn chassis_bundle(car: Entity, model: &Model, state: &State) -> impl Bundle {
    let to_world =
        Mat3::from_cols(BEVY_AXES.to_world(Vec3::X), BEVY_AXES.to_world(Vec3::Y), BEVY_AXES.to_world(Vec3::Z));
    // Inertia in Bevy's axes: R I Rᵀ.
    let inertia = to_world * *model.inertia() * to_world.transpose();
    let hull = model.parts().hull;
    let size = BEVY_AXES.to_world(hull.half_extents).abs() * 2.0;
    let shape = Collider::cuboid(size.x, size.y, size.z);
    (
        ChassisOf(car),
        RigidBody::Dynamic,
        (Mass(model.mass()), AngularInertia::from_mat3_unchecked(inertia), CenterOfMass::ZERO),
        (NoAutoMass, NoAutoAngularInertia, NoAutoCenterOfMass),
        Collider::compound(vec![(BEVY_AXES.to_world(hull.centre), Quat::IDENTITY, shape)]),
        Friction::new(BODYWORK_FRICTION).with_combine_rule(CoefficientCombine::Multiply),
        // Springs and engine continue to move while the body hardly does.
        SleepingDisabled,
        pose_bundle(state),
    )
}

/// Builds the components for pose and velocities of `state`, in Bevy's axes. The position is rounded to 32 bits.
pub(crate) fn pose_bundle(state: &State) -> impl Bundle {
    let rotation = BEVY_AXES.rotation_to_world(state.rotation);
    (
        pose_bundle_at(BEVY_AXES.point_to_world(state.position).as_vec3(), state),
        Rotation(rotation),
        LinearVelocity(BEVY_AXES.to_world(state.velocity)),
        AngularVelocity(BEVY_AXES.to_world(state.angular_velocity)),
    )
}

/// Builds the components for the rotation of `state` at the position `position` (world axes, m).
pub(crate) fn pose_bundle_at(position: Vec3, state: &State) -> impl Bundle {
    (
        Position(position),
        Transform::from_translation(position).with_rotation(BEVY_AXES.rotation_to_world(state.rotation)),
    )
}
