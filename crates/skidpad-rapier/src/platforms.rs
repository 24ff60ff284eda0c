//! Platforms of a scene as kinematic bodies.

use rapier3d::prelude::*;
use skidpad_core::{Platform, PlatformMotion, Scene, SurfaceTexture};

use crate::{RapierCars, terrain};

/// Distance between a platform's body and its place at the start of a step above which the platform was moved by a
/// change of the clock, m.
const PLATFORM_JUMP_DISTANCE_M: f32 = 1e-3;

/// Inserts the platforms of `scene` into `world` as velocity-based kinematic boxes at their poses for time 0, at rest.
/// Friction is the grip; grip and texture without unevenness are also stored as user data of the collider. Returns one
/// body per platform, in order.
pub(crate) fn insert(world: &mut PhysicsWorld, scene: &Scene) -> Vec<RigidBodyHandle> {
    let insert_platform = |platform: &Platform| {
        let (half_extents, grip) = (platform.shape.half_extents, platform.shape.grip);
        // Moving surfaces have no unevenness.
        let texture = SurfaceTexture { amplitude: 0.0, ..platform.shape.texture };
        let collider = ColliderBuilder::cuboid(half_extents.x, half_extents.y, half_extents.z)
            .friction(grip)
            .user_data(terrain::encode_surface(grip, texture));
        let (centre, rotation) = platform.pose(0.0);
        let pose = Pose::from_parts(centre.as_vec3(), rotation);
        world.insert(RigidBodyBuilder::kinematic_velocity_based().pose(pose), collider).0
    };
    scene.platforms.iter().map(insert_platform).collect()
}

/// Sets every platform to its pose at the start of the step at `time` s, with the velocities that move it through the
/// step, and wakes it. Also stores its motion in the last step, for the cars on it ([`RapierCars::set_last_motion`]).
/// Both motions depend on the clock alone, so that a rewound world continues bit-identically. At the end moves the
/// colliders to their bodies.
///
/// If the body is farther than [`PLATFORM_JUMP_DISTANCE_M`] from its new pose, at its centre or at a corner, the clock
/// was set and the platform has jumped. Queries then test all colliders instead of the broad phase in this step
/// (`is_unstepped`). Missing bodies are skipped.
pub(crate) fn begin_step(
    world: &mut PhysicsWorld,
    cars: &mut RapierCars,
    bodies: &[RigidBodyHandle],
    scene: &Scene,
    time: f64,
) {
    let dt = world.integration_parameters.dt;
    let mut has_jumped = false;
    for (&handle, platform) in bodies.iter().zip(&scene.platforms) {
        let Some(body) = world.bodies.get_mut(handle) else { continue };
        let PlatformMotion { centre, rotation, velocity, angular_velocity, .. } = platform.motion(time, dt);
        let pose = Pose::from_parts(centre.as_vec3(), rotation);
        // Distance of the centres, and displacement of a corner by rotation, m.
        has_jumped |= (body.translation() - pose.translation).length() > PLATFORM_JUMP_DISTANCE_M
            || body.rotation().angle_between(rotation) * platform.shape.half_extents.length()
                > PLATFORM_JUMP_DISTANCE_M;
        // `true`: wakes the body.
        body.set_position(pose, true);
        body.set_linvel(velocity, true);
        body.set_angvel(angular_velocity, true);
        let last_motion = platform.motion(time - f64::from(dt), dt);
        cars.set_last_motion(
            handle,
            [last_motion.centre.as_vec3(), last_motion.velocity, last_motion.angular_velocity],
        );
    }
    world.bodies.propagate_modified_body_positions_to_colliders(&mut world.colliders);
    // The broad phase still has their previous poses.
    cars.is_unstepped |= has_jumped;
}
