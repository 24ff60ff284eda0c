//! A world and its cars as they were, to rewind to.

use rapier3d::prelude::*;

use crate::RapierCars;

/// What a world and the cars in it were between two steps: all of it that the next step reads. From there both go on bit for bit, hulls
/// in contact, sleeping bodies and joints included.
///
/// Rewinding by clone costs a hundredth of a way through serde's bytes. Who keeps the last n of these takes the oldest one for the
/// newest: [`Moment::keep`] writes into the memory it has.
#[derive(Clone)]
pub struct Moment {
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    impulse_joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    soft_bodies: SoftBodySet,
    cars: RapierCars,
}

impl core::fmt::Debug for Moment {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Moment").field("bodies", &self.bodies.len()).field("cars", &self.cars).finish_non_exhaustive()
    }
}

impl Moment {
    /// The present one, of a `world` between two steps and all the `cars` in it.
    pub fn of(world: &PhysicsWorld, cars: &RapierCars) -> Self {
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

    /// [`Moment::of`], in place of what this was.
    pub fn keep(&mut self, world: &PhysicsWorld, cars: &RapierCars) {
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

    /// Puts `world` and `cars` back to it. Gravity and parameters stay the user's.
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
