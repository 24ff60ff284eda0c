//! Free bodies of a scene as dynamic boxes.

use rapier3d::prelude::*;
use skidpad_core::{BodyMotion, FreeBody, Scene, SurfaceTexture};

use crate::terrain;

/// Inserts the free bodies of `scene` into `world` as dynamic boxes with their mass properties, friction (multiplied
/// with that of the other collider) and initial motion. The grip for tyres, without texture, is stored as user data of
/// the collider. Returns the handles of the bodies, in order. The bodies never sleep, for the same reason as the cars
/// in [`crate::backend`].
pub(crate) fn insert(world: &mut PhysicsWorld, scene: &Scene) -> Vec<RigidBodyHandle> {
    let insert_body = |body: &FreeBody| {
        let inertia = rapier3d::na::Matrix3::from_column_slice(&body.inertia.to_cols_array());
        let mass_properties = MassProperties::with_inertia_matrix(Vector::ZERO, body.mass, inertia.into());
        let half_extents = body.hull.half_extents;
        let collider = ColliderBuilder::cuboid(half_extents.x, half_extents.y, half_extents.z)
            .translation(body.hull.centre)
            // Mass comes from the body alone.
            .density(0.0)
            .friction(body.friction)
            .friction_combine_rule(CoefficientCombineRule::Multiply)
            .user_data(terrain::encode_surface(body.grip, SurfaceTexture::NONE));
        let builder = RigidBodyBuilder::dynamic().additional_mass_properties(mass_properties).can_sleep(false);
        let handle = world.insert(builder, collider).0;
        if let Some(body) = world.bodies.get_mut(handle) {
            body.recompute_mass_properties_from_colliders(&world.colliders);
        }
        set_motion(world, handle, &body.motion);
        handle
    };
    scene.free_bodies.iter().map(insert_body).collect()
}

/// Sets pose and velocities of a body to `motion` (world axes) and wakes it. The position is rounded to 32 bits. Forces
/// on the body do not change. A missing body is ignored.
pub(crate) fn set_motion(world: &mut PhysicsWorld, handle: RigidBodyHandle, motion: &BodyMotion) {
    if let Some(body) = world.bodies.get_mut(handle) {
        // `true`: wakes the body.
        body.set_position(Pose::from_parts(motion.position.as_vec3(), motion.rotation), true);
        body.set_linvel(motion.velocity, true);
        body.set_angvel(motion.angular_velocity, true);
    }
}

/// Returns pose and velocities of a body, world axes; `None` if there is no such body.
pub(crate) fn motion(world: &PhysicsWorld, handle: RigidBodyHandle) -> Option<BodyMotion> {
    let body = world.bodies.get(handle)?;
    // The origin of the body is its centre of mass.
    let (position, rotation) = (body.translation().as_dvec3(), *body.rotation());
    Some(BodyMotion { position, rotation, velocity: body.linvel(), angular_velocity: body.angvel() })
}
