//! Parts of a Rapier world that the cars need.

use rapier3d::prelude::*;

/// Parts of a Rapier world that the cars work on. A `&mut PhysicsWorld` converts into one. Users who store the sets
/// separately fill in the fields.
pub struct RapierWorldMut<'a> {
    /// Gravity with which the world is stepped, m/s².
    pub gravity: Vector,
    /// Parameters with which the world is stepped.
    pub parameters: &'a IntegrationParameters,
    /// Bodies, including the chassis.
    pub bodies: &'a mut RigidBodySet,
    /// Colliders, including those of the chassis.
    pub colliders: &'a mut ColliderSet,
    /// Islands of bodies that are awake together.
    pub islands: &'a mut IslandManager,
    /// Joints. Vehicles that tow each other get one: it transmits impulses that stop one of them, and disables contacts
    /// between their colliders.
    pub joints: &'a mut ImpulseJointSet,
    /// Joints in reduced coordinates. Removing a chassis removes its joints.
    pub multibody_joints: &'a mut MultibodyJointSet,
    /// Soft bodies. Rapier needs them to remove a chassis.
    pub soft_bodies: &'a mut SoftBodySet,
    /// Broad phase, which finds the colliders along a ray.
    pub broad_phase: &'a BroadPhaseBvh,
    /// Narrow phase, which provides the dispatcher for shape queries and the contacts.
    pub narrow_phase: &'a NarrowPhase,
}

impl RapierWorldMut<'_> {
    /// Returns the same parts, borrowed from `self` for a shorter time. Gravity is copied.
    pub(crate) fn reborrow(&mut self) -> RapierWorldMut<'_> {
        let Self { gravity, parameters, bodies, colliders, islands, joints, .. } = self;
        let Self { multibody_joints, soft_bodies, broad_phase, narrow_phase, .. } = self;
        RapierWorldMut {
            gravity: *gravity,
            parameters,
            bodies,
            colliders,
            islands,
            joints,
            multibody_joints,
            soft_bodies,
            broad_phase,
            narrow_phase,
        }
    }

    /// Removes a body with its colliders and joints from the world and wakes bodies that were joined to it. A missing
    /// body is ignored.
    pub(crate) fn remove_body(&mut self, handle: RigidBodyHandle) {
        let Self { bodies, colliders, islands, joints, multibody_joints, soft_bodies, .. } = self;
        // `true`: removes the colliders of the body, too.
        bodies.remove(handle, islands, colliders, joints, multibody_joints, soft_bodies, true);
    }
}

impl<'a> From<&'a mut PhysicsWorld> for RapierWorldMut<'a> {
    /// Borrows the parts of `world` and copies its gravity.
    fn from(world: &'a mut PhysicsWorld) -> Self {
        Self {
            gravity: world.gravity,
            parameters: &world.integration_parameters,
            bodies: &mut world.bodies,
            colliders: &mut world.colliders,
            islands: &mut world.islands,
            joints: &mut world.impulse_joints,
            multibody_joints: &mut world.multibody_joints,
            soft_bodies: &mut world.soft_bodies,
            broad_phase: &world.broad_phase,
            narrow_phase: &world.narrow_phase,
        }
    }
}
