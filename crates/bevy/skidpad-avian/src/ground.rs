//! What wheels stand on: whether it moves, and how it answers.

use avian3d::prelude::*;
use bevy_ecs::prelude::*;
use skidpad_core::{Ground, Texture, Vec3};
use skidpad_engines::{Meeting, Motion, Pushed, give};

use crate::port::{BodyItem, World};

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
    let (velocity, give) = match body.kind {
        RigidBody::Static => return None,
        RigidBody::Kinematic => (motion(&body).carries([met.point, met.car], last, time[0], time[1]), [0.0; 2]),
        RigidBody::Dynamic => pushed(world, entity, &body, last, met),
    };
    Some(Ground { body: entity.to_bits(), velocity, give, texture: Texture::NONE })
}

fn pushed(world: &World, entity: Entity, body: &BodyItem, last: Option<Motion>, met: &Meeting) -> (Vec3, [f32; 2]) {
    let now = motion(body);
    let inertia = body.inertia.rotated(body.rotation.0).inverse();
    let lighter = Vec3::splat(body.mass.inverse());
    let give = give([now.centre, met.point], met.normal, lighter, |moment| inertia * moment);
    let pushed = Pushed { now: now.at(met.point), last, held: held(world, entity), give };
    pushed.meets(met.point, met.normal)
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
