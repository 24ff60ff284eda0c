//! Ground of wheels in Rapier: its motion, its response to pushes, and the forces on it in a step.

use rapier3d::prelude::*;
use skidpad_core::{DynamicBody, Ground, Mat3, SurfaceTexture, Vec3};
use skidpad_engines::{DynamicGroundBody, GroundBodyMotion, GroundContact};

use crate::chassis::pose_lag;
use crate::{RapierWorldMut, WorldAxes};

/// Collider that a car stood on, and its pose at that time.
pub(crate) type GroundMemory = (ColliderHandle, Pose);

/// Body under wheels, in its state before the wheels pushed it.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct WheelLoadedBody {
    /// Body in the Rapier world.
    pub handle: RigidBodyHandle,
    /// Force and torque of the user on the body.
    pub user_forces: (Vector, Vector),
    /// Motion of the body in that step.
    motion: GroundBodyMotion,
}

impl WheelLoadedBody {
    /// Stores the user's forces on `body` and its motion in the coming step of `dt` s.
    pub fn new(handle: RigidBodyHandle, body: &RigidBody, dt: f32) -> Self {
        let user_forces = (body.user_force(), body.user_torque());
        Self { handle, user_forces, motion: body_motion(body, dt) }
    }

    /// Creates the entry of a body that no wheel pushes, with the motion `[centre of mass, velocity, angular velocity]`
    /// in world axes, m, m/s, rad/s.
    pub fn from_motion(handle: RigidBodyHandle, [centre, velocity, angular_velocity]: [Vec3; 3]) -> Self {
        Self {
            handle,
            user_forces: (Vector::ZERO, Vector::ZERO),
            motion: GroundBodyMotion { centre, velocity, angular_velocity },
        }
    }
}

/// Returns the motion of `body` in the coming step of `dt` s, world axes: current centre of mass, and velocities. A
/// position-based kinematic body has the mean velocities on the way to its next position; any other body has its
/// current ones.
fn body_motion(body: &RigidBody, dt: f32) -> GroundBodyMotion {
    let centre = body.center_of_mass();
    if body.body_type() == RigidBodyType::KinematicPositionBased {
        // Pose change in world axes: next pose = change × pose.
        let pose_change = *body.next_position() * body.position().inverse();
        let angular_velocity = pose_change.rotation.to_scaled_axis() / dt;
        return GroundBodyMotion { centre, velocity: (pose_change * centre - centre) / dt, angular_velocity };
    }
    GroundBodyMotion { centre, velocity: body.linvel(), angular_velocity: body.angvel() }
}

/// Converts `handle` to a body number of [`Ground::body`].
pub(crate) fn body_number(handle: RigidBodyHandle) -> u64 {
    let (index, generation) = handle.into_raw_parts();
    u64::from(index) << 32 | u64::from(generation)
}

/// Converts a body number of [`Ground::body`] to a handle.
pub(crate) fn body_handle(number: u64) -> RigidBodyHandle {
    RigidBodyHandle::from_raw_parts((number >> 32) as u32, number as u32)
}

/// Returns the ground data for a wheel that touches `body`, in world axes, without texture; `None` if the body is
/// fixed. The velocity (m/s) is equal at start and end of the step: for a dynamic body the current velocity of its
/// point at the contact, for a kinematic body the velocity with which it carries a car ([`kinematic_velocity`]).
///
/// `last_bodies` are the bodies under wheels in the last step, with their motion in that step. From this motion follows
/// the acceleration of a kinematic body; a body that is not in the list counts as not accelerated.
pub(crate) fn ground_data(
    world: &RapierWorldMut,
    last_bodies: &[WheelLoadedBody],
    (handle, body): (RigidBodyHandle, &RigidBody),
    contact: &GroundContact,
) -> Option<Ground> {
    let last_motion =
        last_bodies.iter().find(|loaded_body| loaded_body.handle == handle).map(|loaded_body| loaded_body.motion);
    let velocity = match body.body_type() {
        RigidBodyType::Dynamic => body.velocity_at_point(contact.point),
        RigidBodyType::Fixed => return None,
        _ => kinematic_velocity(world.parameters, body, last_motion, contact),
    };
    Some(Ground { body: body_number(handle), start_velocity: velocity, velocity, texture: SurfaceTexture::NONE })
}

/// Returns motion and response (inverse mass and inertia) of a dynamic body that a wheel touches along `normal`, in the
/// axes of the cars; `None` for any other body. The motion is that at the end of the step of `dt` s. It includes
/// gravity, the user's force, damping and gyroscopic effects, but not the user's torque. If active contacts support the
/// body ([`support_flags`]), locked directions keep the current velocity and have no response
/// ([`DynamicGroundBody::dynamic_body`]).
pub(crate) fn dynamic_body(
    world: &RapierWorldMut,
    axes: WorldAxes,
    handle: RigidBodyHandle,
    normal: Vec3,
    dt: f32,
) -> Option<DynamicBody> {
    let body = world.bodies.get(handle).filter(|body| body.is_dynamic())?;
    let mass_properties = body.mass_properties();
    // Acceleration without wheels and contacts, m/s².
    let acceleration = world.gravity * body.gravity_scale() + body.user_force() * mass_properties.effective_inv_mass;
    // Rapier divides a velocity by 1 + dt c in a step.
    let linear_factor = 1.0 / (1.0 + dt * body.linear_damping());
    let angular_factor = 1.0 / (1.0 + dt * body.angular_damping());
    let end_twist =
        [(body.linvel() + acceleration * dt) * linear_factor, body.angvel_with_gyroscopic_forces(dt) * angular_factor];
    // Columns of the inverse inertia, 1/(kg m²).
    let columns = Vec3::AXES.map(|axis| mass_properties.effective_world_inv_inertia * axis);
    let ground_body = DynamicGroundBody {
        start_motion: GroundBodyMotion {
            centre: mass_properties.world_com,
            velocity: body.linvel(),
            angular_velocity: body.angvel(),
        },
        end_twist,
        inverse_mass: Mat3::from_diagonal(mass_properties.effective_inv_mass),
        inverse_inertia: Mat3::from_cols(columns[0], columns[1], columns[2]),
        support_flags: support_flags(world.narrow_phase, body),
    };
    Some(ground_body.dynamic_body(axes, axes.to_world(normal)))
}

/// Returns the velocity with which a kinematic body carries a car at its contact, m/s, world axes
/// ([`GroundBodyMotion::carried_velocity`]). This is the velocity of the body there, corrected for its acceleration
/// during the lag of Rapier's poses. `last_motion` is the motion of the body in the last step; `None` counts as no
/// acceleration.
fn kinematic_velocity(
    parameters: &IntegrationParameters,
    body: &RigidBody,
    last_motion: Option<GroundBodyMotion>,
    &GroundContact { point, car_centre, .. }: &GroundContact,
) -> Vec3 {
    let dt = parameters.dt;
    body_motion(body, dt).carried_velocity([point, car_centre], last_motion, dt, pose_lag(parameters))
}

/// Coefficient of friction above which a resting body is assumed not to slide under a wheel.
const MIN_HOLDING_FRICTION: f32 = 0.2;

/// Returns `[supported, held by friction]` from the contacts of all colliders of the body in the last step of Rapier.
/// Any active contact supports the body. A contact with a friction coefficient of at least [`MIN_HOLDING_FRICTION`]
/// holds it by friction. The direction of a contact does not matter: walls and loads on top count, too.
fn support_flags(narrow_phase: &NarrowPhase, body: &RigidBody) -> [bool; 2] {
    // [supported, held by friction]
    let mut flags = [false; 2];
    let pairs = body.colliders().iter().flat_map(|collider| narrow_phase.contact_pairs_with(*collider));
    for pair in pairs.filter(|pair| pair.has_any_active_contact()) {
        flags[0] = true;
        flags[1] |= pair.manifolds().iter().any(|manifold| manifold.data.friction >= MIN_HOLDING_FRICTION);
    }
    flags
}

/// Returns true if any ground of the car belongs to a body that is dynamic or about to move ([`is_about_to_move`]).
/// Missing colliders and colliders without body do not count.
pub(crate) fn is_on_movable(ground_contacts: &[GroundMemory], bodies: &RigidBodySet, colliders: &ColliderSet) -> bool {
    let parent_body = |handle: &ColliderHandle| bodies.get(colliders.get(*handle)?.parent()?);
    ground_contacts
        .iter()
        .filter_map(|(handle, _)| parent_body(handle))
        .any(|body| body.is_dynamic() || is_about_to_move(body))
}

/// Returns true if `body` is moving or has a next position that differs from its position.
fn is_about_to_move(body: &RigidBody) -> bool {
    body.is_moving() || body.next_position() != body.position()
}

/// Returns true if the ground of a sleeping car changed. This is the case if any collider on which it fell asleep has
/// another pose than then, or is about to move with its body. A collider also counts that was removed or disabled, is a
/// sensor now, or does not collide with the `groups` of the car (if any).
pub(crate) fn has_ground_moved(
    ground_contacts: &[GroundMemory],
    bodies: &RigidBodySet,
    colliders: &ColliderSet,
    groups: Option<InteractionGroups>,
) -> bool {
    ground_contacts.iter().any(|(handle, pose)| {
        let Some(collider) = colliders.get(*handle) else { return true };
        let parent = collider.parent().and_then(|parent| bodies.get(parent));
        let has_moving_parent = parent.is_some_and(is_about_to_move);
        let is_passed_through = groups.is_some_and(|groups| !groups.test(collider.collision_groups()));
        has_moving_parent
            || is_passed_through
            || collider.is_sensor()
            || !collider.is_enabled()
            || collider.position() != pose
    })
}
