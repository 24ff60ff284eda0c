//! Surroundings that all cars of a fleet share, and constants of their bodies.

use skidpad_core::{Model, Scene, Vec3};
use skidpad_world::motion::HullLanes;
use skidpad_world::{Chassis, Ground};

use crate::FleetError;
use skidpad_core::block::BlockLanes;

/// Surroundings of the cars and constants of their bodies.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Ground of the scene.
    pub ground: Ground,
    /// Unit normal of the plane, world axes.
    pub normal: Vec3,
    /// Chassis of a car at rest at the origin.
    pub chassis: Chassis,
}

impl Environment {
    /// Creates the surroundings of `scene` for cars of `model`.
    ///
    /// # Errors
    /// The scene has parts that a fleet does not support.
    pub fn new(model: &Model, scene: &Scene) -> Result<Self, FleetError> {
        let ground = Ground::new(scene);
        let refused = [
            (!scene.platforms.is_empty(), "platforms"),
            (!scene.free_bodies.is_empty(), "free bodies"),
            (!scene.gusts.is_empty(), "gusts"),
            (!scene.texture.is_hard_and_even(), "a texture"),
            (!ground.is_plane_only(), "boxes or terrain"),
            (!scene.has_plane, "no plane"),
        ];
        if let Some((_, part)) = refused.into_iter().find(|(is_refused, _)| *is_refused) {
            return Err(FleetError::Scene(part));
        }
        let chassis = Chassis::rigid(model.mass(), *model.inertia(), model.parts().hull);
        let normal = ground.plane_normal().unwrap_or(Vec3::Z);
        Ok(Self { ground, normal, chassis })
    }

    /// Returns the change of velocity by gravity in `dt` s, m/s.
    pub fn gravity_change(&self, dt: f32) -> Vec3 {
        Vec3::new(0.0, 0.0, -self.ground.gravity() * dt)
    }

    /// Returns the hull of every car.
    pub fn hull<W: BlockLanes>(&self) -> HullLanes<W> {
        HullLanes::new(self.chassis.hull(), self.chassis.hull_radius())
    }
}
