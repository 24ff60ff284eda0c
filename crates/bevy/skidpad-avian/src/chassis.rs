//! The chassis as a rigid body of Avian's.

use avian3d::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::{Mat3, Quat};
use bevy_reflect::prelude::*;
use bevy_transform::prelude::*;
use skidpad_bevy::AXES;
use skidpad_core::{BODYWORK_FRICTION, Model, State, Vec3};

/// On the entity of a body: it is the chassis of this car, so that collision events and ray casts name it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct ChassisOf(pub Entity);

/// On the entity of a car: its chassis, to put collision layers, damping and the like on.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct Chassis(pub Entity);

/// A body with exactly the model's mass properties about its origin, which is the centre of mass. Its collider has the friction of bodywork
/// times that of what it touches, unless the other's rule is stronger than `Multiply`.
pub(crate) fn bundle(car: Entity, model: &Model, state: &State) -> impl Bundle {
    let turn = Mat3::from_cols(AXES.to_world(Vec3::X), AXES.to_world(Vec3::Y), AXES.to_world(Vec3::Z));
    let inertia = turn * *model.inertia() * turn.transpose();
    let hull = model.parts().hull;
    let size = AXES.to_world(hull.half_extents).abs() * 2.0;
    let shape = Collider::cuboid(size.x, size.y, size.z);
    (
        ChassisOf(car),
        RigidBody::Dynamic,
        (Mass(model.mass()), AngularInertia::from_mat3_unchecked(inertia), CenterOfMass::ZERO),
        (NoAutoMass, NoAutoAngularInertia, NoAutoCenterOfMass),
        Collider::compound(vec![(AXES.to_world(hull.centre), Quat::IDENTITY, shape)]),
        Friction::new(BODYWORK_FRICTION).with_combine_rule(CoefficientCombine::Multiply),
        // Its springs and its engine go on while the body hardly moves.
        SleepingDisabled,
        at(state),
    )
}

/// Where and how fast `state` has the chassis.
pub(crate) fn at(state: &State) -> impl Bundle {
    let rotation = AXES.rotation_to_world(state.rotation);
    (
        beside(AXES.point_to_world(state.position).as_vec3(), state),
        Rotation(rotation),
        LinearVelocity(AXES.to_world(state.velocity)),
        AngularVelocity(AXES.to_world(state.angular)),
    )
}

/// As [`at`], at `place` instead, m, in the world's axes.
pub(crate) fn beside(place: Vec3, state: &State) -> impl Bundle {
    (Position(place), Transform::from_translation(place).with_rotation(AXES.rotation_to_world(state.rotation)))
}
