//! Ground of wheels in Avian: its motion and its response to pushes.

use avian3d::prelude::*;
use bevy_ecs::prelude::*;
use skidpad_core::{Ground, Mat3, SurfaceTexture, Vec3};
use skidpad_engines::{DynamicGroundBody, GroundBodyMotion, GroundContact};

use crate::world::{BodyItem, World};

/// Body under wheels, in its state before the wheels pushed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WheelLoadedBody {
    /// Entity of the body.
    pub body: Entity,
    /// Motion at the start of that step.
    pub motion: GroundBodyMotion,
}

/// Returns the current motion of `body` about its centre of mass, world axes.
pub(crate) fn body_motion(body: &BodyItem) -> GroundBodyMotion {
    let centre = body.position.0 + body.rotation.0 * body.centre.0;
    GroundBodyMotion { centre, velocity: body.velocity.0, angular_velocity: body.angular_velocity.0 }
}

/// Returns the ground data for a wheel that touches `entity`, in world axes and without texture; `None` if the body is
/// static or missing. The velocity (m/s) is equal at start and end of the step: for a dynamic body the current velocity
/// of its point at the contact, for a kinematic body the velocity with which it carries a car.
///
/// `previous_bodies` are the bodies under wheels in the last step, with their motion in that step. From this motion
/// follows the acceleration of a kinematic body; a body that is not in the list counts as not accelerated. `dt_and_lag`
/// are the length of the step and the lag of poses behind velocities, s.
pub(crate) fn ground_data(
    world: &World,
    previous_bodies: &[WheelLoadedBody],
    entity: Entity,
    ground_contact: &GroundContact,
    dt_and_lag: [f32; 2],
) -> Option<Ground> {
    let body = world.bodies.get(entity).ok()?;
    let previous_motion =
        previous_bodies.iter().find(|previous| previous.body == entity).map(|previous| previous.motion);
    let velocity = match body.kind {
        RigidBody::Static => return None,
        RigidBody::Kinematic => body_motion(&body).carried_velocity(
            [ground_contact.point, ground_contact.car_centre],
            previous_motion,
            // Length of the step and pose lag, s.
            dt_and_lag[0],
            dt_and_lag[1],
        ),
        RigidBody::Dynamic => body_motion(&body).velocity_at(ground_contact.point),
    };
    Some(Ground { body: entity.to_bits(), start_velocity: velocity, velocity, texture: SurfaceTexture::NONE })
}

/// Returns a dynamic body under a wheel: its motion, inverse mass and inertia, and whether contacts support it.
/// `end_twist` is its velocity (m/s) and angular velocity (rad/s) at the end of the step without contacts and wheels.
/// All vectors are in world axes.
pub(crate) fn dynamic_ground_body(
    world: &World,
    entity: Entity,
    body: &BodyItem,
    end_twist: [Vec3; 2],
) -> DynamicGroundBody {
    let inverse_inertia = body.inertia.rotated(body.rotation.0).inverse();
    // The inverse as a matrix, column by column.
    let columns = Vec3::AXES.map(|axis| inverse_inertia * axis);
    DynamicGroundBody {
        start_motion: body_motion(body),
        end_twist,
        inverse_mass: Mat3::from_diagonal(Vec3::splat(body.mass.inverse())),
        inverse_inertia: Mat3::from_cols(columns[0], columns[1], columns[2]),
        support_flags: support_flags(world, entity),
    }
}

/// Coefficient of friction above which a resting body is assumed not to slide under a wheel.
const MIN_HOLDING_FRICTION: f32 = 0.2;

/// Returns `[supported, held by friction]` from the contact pairs of all colliders of the body. Any touching pair
/// supports the body. A pair with a friction coefficient of at least [`MIN_HOLDING_FRICTION`] holds it by friction.
/// Pairs that only report, such as sensors, do not count. Both are false for a body without colliders.
fn support_flags(world: &World, body: Entity) -> [bool; 2] {
    let mut flags = [false; 2];
    let Ok(colliders) = world.colliders_of.get(body) else { return flags };
    let pairs = colliders.iter().flat_map(|collider| world.contacts.contact_pairs_with(collider));
    for pair in pairs.filter(|pair| pair.is_touching() && pair.generates_constraints()) {
        flags[0] = true;
        flags[1] |= pair.manifolds.iter().any(|manifold| manifold.friction >= MIN_HOLDING_FRICTION);
    }
    flags
}
