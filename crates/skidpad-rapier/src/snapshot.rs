//! Snapshots of a world and its cars for rewinding.

use rapier3d::prelude::*;

use crate::RapierCars;

/// Snapshot of a world and its cars between two steps: everything that the next step reads. Steps from a restored
/// snapshot are bit-identical, including hulls in contact, sleeping bodies and joints.
///
/// A rewind with a snapshot takes a hundredth of the time of a round trip through serde. To store the last n steps,
/// overwrite the oldest snapshot with [`WorldSnapshot::overwrite`], which reuses its memory.
#[derive(Clone)]
pub struct WorldSnapshot {
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    impulse_joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    soft_bodies: SoftBodySet,
    /// Cars with their vehicles.
    cars: RapierCars,
}

impl core::fmt::Debug for WorldSnapshot {
    /// Writes the number of bodies and the cars.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("WorldSnapshot")
            .field("bodies", &self.bodies.len())
            .field("cars", &self.cars)
            .finish_non_exhaustive()
    }
}

impl WorldSnapshot {
    /// Creates a snapshot of `world`, between two steps, and of all the `cars` in it: copies of islands, broad and
    /// narrow phase, bodies, colliders, joints, soft bodies and cars. Gravity and integration parameters are not
    /// included.
    pub fn new(world: &PhysicsWorld, cars: &RapierCars) -> Self {
        Self {
            islands: world.islands.clone(),
            broad_phase: world.broad_phase.clone(),
            narrow_phase: world.narrow_phase.clone(),
            bodies: world.bodies.clone(),
            colliders: world.colliders.clone(),
            impulse_joints: world.impulse_joints.clone(),
            multibody_joints: world.multibody_joints.clone(),
            soft_bodies: world.soft_bodies.clone(),
            cars: cars.clone(),
        }
    }

    /// Overwrites every part of this snapshot by a copy of `world` and `cars` as [`WorldSnapshot::new`] does, and
    /// reuses its memory.
    pub fn overwrite(&mut self, world: &PhysicsWorld, cars: &RapierCars) {
        self.islands.clone_from(&world.islands);
        self.broad_phase.clone_from(&world.broad_phase);
        self.narrow_phase.clone_from(&world.narrow_phase);
        self.bodies.clone_from(&world.bodies);
        self.colliders.clone_from(&world.colliders);
        self.impulse_joints.clone_from(&world.impulse_joints);
        self.multibody_joints.clone_from(&world.multibody_joints);
        self.soft_bodies.clone_from(&world.soft_bodies);
        self.cars.clone_from(cars);
    }

    /// Restores `world` and `cars` to the snapshot: copies back every part that [`WorldSnapshot::new`] stores, and
    /// reuses their memory. Gravity and integration parameters of the world do not change.
    pub fn restore(&self, world: &mut PhysicsWorld, cars: &mut RapierCars) {
        world.islands.clone_from(&self.islands);
        world.broad_phase.clone_from(&self.broad_phase);
        world.narrow_phase.clone_from(&self.narrow_phase);
        world.bodies.clone_from(&self.bodies);
        world.colliders.clone_from(&self.colliders);
        world.impulse_joints.clone_from(&self.impulse_joints);
        world.multibody_joints.clone_from(&self.multibody_joints);
        world.soft_bodies.clone_from(&self.soft_bodies);
        cars.clone_from(&self.cars);
    }
}
