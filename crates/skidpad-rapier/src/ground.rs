//! What wheels stand on: whether it moves, how it answers, and what is put on it for a step.

use rapier3d::prelude::*;
use skidpad_core::{Ground, Vec3};

use crate::Sets;

/// A collider a car stood on, and where it was.
pub(crate) type Stand = (ColliderHandle, Pose);

/// A body under wheels, as it was before they pushed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loaded {
    pub handle: RigidBodyHandle,
    /// Force and torque its user had on it.
    pub user: (Vector, Vector),
    centre: Vector,
    velocity: (Vector, Vector),
}

impl Loaded {
    pub fn new(handle: RigidBodyHandle, body: &RigidBody) -> Self {
        let user = (body.user_force(), body.user_torque());
        Self { handle, user, centre: body.center_of_mass(), velocity: (body.linvel(), body.angvel()) }
    }

    fn velocity_at(&self, point: Vec3) -> Vec3 {
        self.velocity.0 + self.velocity.1.cross(point - self.centre)
    }
}

/// `handle` as a number of the seam.
pub(crate) fn number(handle: RigidBodyHandle) -> u64 {
    let (index, generation) = handle.into_raw_parts();
    u64::from(index) << 32 | u64::from(generation)
}

/// The handle behind a number of the seam.
pub(crate) fn handle(number: u64) -> RigidBodyHandle {
    RigidBodyHandle::from_raw_parts((number >> 32) as u32, number as u32)
}

/// What a wheel that meets `collider` of `body` at `point` has to know of it, in the world's axes; nothing if it stands
/// still for good.
pub(crate) fn ground(
    sets: &Sets,
    before: &[Loaded],
    (handle, body): (RigidBodyHandle, &RigidBody),
    collider: ColliderHandle,
    point: Vec3,
    normal: Vec3,
) -> Option<Ground> {
    let number = number(handle);
    match body.body_type() {
        RigidBodyType::Dynamic => {
            let [held, holds] = held(sets.narrow_phase, collider);
            let [along, across] = give(body, point, normal);
            let give = [if held { 0.0 } else { along }, if holds { 0.0 } else { across }];
            // What the last step did to it, it does again if wheels push it as they did, be it free or held.
            let now = body.velocity_at_point(point);
            let last = before.iter().find(|last| last.handle == handle).map_or(now, |last| last.velocity_at(point));
            Some(Ground { body: number, velocity: now + (now - last), give })
        }
        RigidBodyType::KinematicPositionBased => {
            let next = *body.next_position() * body.position().inverse();
            let velocity = (next * point - point) / sets.parameters.dt;
            Some(Ground { body: number, velocity, give: [0.0; 2] })
        }
        RigidBodyType::KinematicVelocityBased => {
            Some(Ground { body: number, velocity: body.velocity_at_point(point), give: [0.0; 2] })
        }
        _ => None,
    }
}

/// Friction from which a body that lies on something is taken not to slide under a wheel.
const HOLDS: f32 = 0.2;

/// Whether contacts bear a body, and whether they hold it by friction. Rapier solves those after the wheels; a wheel that
/// took such a body for free would be far too careful with it: on crates of 20 kg a car rocks for ever.
fn held(narrow_phase: &NarrowPhase, collider: ColliderHandle) -> [bool; 2] {
    let mut held = [false; 2];
    for pair in narrow_phase.contact_pairs_with(collider).filter(|pair| pair.has_any_active_contact()) {
        held[0] = true;
        held[1] |= pair.manifolds().iter().any(|manifold| manifold.data.friction >= HOLDS);
    }
    held
}

/// Change of velocity at `point` by an impulse there: along `normal`, and across it in the direction that gives most.
fn give(body: &RigidBody, point: Vec3, normal: Vec3) -> [f32; 2] {
    let mass = body.mass_properties();
    let arm = point - mass.world_com;
    let change = |impulse: Vec3| {
        let turned = mass.effective_world_inv_inertia * arm.cross(impulse);
        mass.effective_inv_mass * impulse + turned.cross(arm)
    };
    let (a, b) = normal.any_orthonormal_pair();
    let (of_a, of_b) = (change(a), change(b));
    let (mean, half) = (0.5 * (of_a.dot(a) + of_b.dot(b)), 0.5 * (of_a.dot(a) - of_b.dot(b)));
    let between = of_a.dot(b);
    [change(normal).dot(normal), mean + (half * half + between * between).sqrt()]
}

/// Whether a car stands on something that moves, or would if the car let go of it.
pub(crate) fn floats(stands: &[Stand], bodies: &RigidBodySet, colliders: &ColliderSet) -> bool {
    let parent = |handle: &ColliderHandle| bodies.get(colliders.get(*handle)?.parent()?);
    stands.iter().filter_map(|(handle, _)| parent(handle)).any(|body| body.is_dynamic() || is_about_to_move(body))
}

fn is_about_to_move(body: &RigidBody) -> bool {
    body.is_moving() || body.next_position() != body.position()
}

/// Whether what a car stood on when it fell asleep has moved, is about to, or is gone.
pub(crate) fn stirs(stands: &[Stand], bodies: &RigidBodySet, colliders: &ColliderSet) -> bool {
    stands.iter().any(|(handle, pose)| {
        let Some(collider) = colliders.get(*handle) else { return true };
        let parent = collider.parent().and_then(|parent| bodies.get(parent));
        let starts = parent.is_some_and(is_about_to_move);
        starts || !collider.is_enabled() || collider.position() != pose
    })
}
