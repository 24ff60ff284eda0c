//! What wheels stand on: whether it moves, and how it answers.

use avian3d::prelude::*;
use bevy_ecs::prelude::*;
use skidpad_core::{Ground, Mat3, Texture, Vec3};
use skidpad_engines::{Meeting, Motion, Pushed};

use crate::world::{BodyItem, World};

/// A body under wheels, as it was before they pushed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loaded {
    pub body: Entity,
    pub motion: Motion,
}

/// How `body` moves.
pub(crate) fn motion(body: &BodyItem) -> Motion {
    let centre = body.position.0 + body.rotation.0 * body.centre.0;
    Motion { centre, linear: body.velocity.0, angular: body.angular.0 }
}

/// What a wheel that meets `entity` has to know of it; nothing if it stands still for good.
pub(crate) fn ground(
    world: &World,
    before: &[Loaded],
    entity: Entity,
    met: &Meeting,
    time: [f32; 2],
) -> Option<Ground> {
    let body = world.bodies.get(entity).ok()?;
    let last = before.iter().find(|last| last.body == entity).map(|last| last.motion);
    let velocity = match body.kind {
        RigidBody::Static => return None,
        RigidBody::Kinematic => motion(&body).carries([met.point, met.car], last, time[0], time[1]),
        RigidBody::Dynamic => motion(&body).at(met.point),
    };
    Some(Ground { body: entity.to_bits(), begun: velocity, velocity, texture: Texture::NONE })
}

/// A body that wheels can push, which without them `ends` the step with a velocity and an angular velocity.
pub(crate) fn pushed(world: &World, entity: Entity, body: &BodyItem, ends: [Vec3; 2]) -> Pushed {
    let inertia = body.inertia.rotated(body.rotation.0).inverse();
    let turning = Vec3::AXES.map(|axis| inertia * axis);
    Pushed {
        now: motion(body),
        ends,
        inverse_mass: Mat3::from_diagonal(Vec3::splat(body.mass.inverse())),
        inverse_inertia: Mat3::from_cols(turning[0], turning[1], turning[2]),
        held: held(world, entity),
    }
}

/// Friction from which a body that lies on something is taken not to slide under a wheel.
const HOLDS: f32 = 0.2;

/// Whether contacts bear a body, and whether they hold it by friction.
fn held(world: &World, body: Entity) -> [bool; 2] {
    let mut held = [false; 2];
    let Ok(colliders) = world.colliders_of.get(body) else { return held };
    let pairs = colliders.iter().flat_map(|collider| world.contacts.contact_pairs_with(collider));
    for pair in pairs.filter(|pair| pair.is_touching() && pair.generates_constraints()) {
        held[0] = true;
        held[1] |= pair.manifolds.iter().any(|manifold| manifold.friction >= HOLDS);
    }
    held
}
