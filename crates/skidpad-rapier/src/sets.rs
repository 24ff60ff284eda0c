//! What the cars need of a world, wherever the user keeps it.

use rapier3d::prelude::*;

/// The parts of a Rapier world the cars work on. A `&mut PhysicsWorld` turns into one; who keeps the sets on their own
/// fills it in.
pub struct Sets<'a> {
    /// Gravity the world is stepped with, m/s².
    pub gravity: Vector,
    /// Parameters the world is stepped with.
    pub parameters: &'a IntegrationParameters,
    /// Bodies, the chassis among them.
    pub bodies: &'a mut RigidBodySet,
    /// Colliders, the chassis' among them.
    pub colliders: &'a mut ColliderSet,
    /// Islands of bodies that are awake together.
    pub islands: &'a mut IslandManager,
    /// Joints. Vehicles that tow each other get one: it hands on what stops one of them, and lets their colliders pass through each
    /// other.
    pub joints: &'a mut ImpulseJointSet,
    /// Joints in reduced coordinates. Removing a chassis removes its joints.
    pub multibody_joints: &'a mut MultibodyJointSet,
    /// Soft bodies. Rapier needs them to remove a chassis.
    pub soft_bodies: &'a mut SoftBodySet,
    /// Finds the colliders along a ray.
    pub broad_phase: &'a BroadPhaseBvh,
    /// Knows how rays meet shapes.
    pub narrow_phase: &'a NarrowPhase,
}

impl Sets<'_> {
    /// The same parts, for a while.
    pub(crate) fn lent(&mut self) -> Sets<'_> {
        let Self { gravity, parameters, bodies, colliders, islands, joints, .. } = self;
        let Self { multibody_joints, soft_bodies, broad_phase, narrow_phase, .. } = self;
        Sets {
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

    /// Removes a body from the world, with its colliders and joints.
    pub(crate) fn remove_body(&mut self, handle: RigidBodyHandle) {
        let Self { bodies, colliders, islands, joints, multibody_joints, soft_bodies, .. } = self;
        bodies.remove(handle, islands, colliders, joints, multibody_joints, soft_bodies, true);
    }
}

impl<'a> From<&'a mut PhysicsWorld> for Sets<'a> {
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
