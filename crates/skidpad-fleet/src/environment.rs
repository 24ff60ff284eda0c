//! Surroundings that all cars of a fleet share, and constants of their bodies.

use skidpad_core::{Model, Scene, Vec3};
use skidpad_world::ceiling::TerrainCeiling;
use skidpad_world::motion::HullLanes;
use skidpad_world::{Chassis, Ground};

use crate::FleetError;
use skidpad_core::block::BlockLanes;

/// Kind of ground. It determines which cars need wheel contacts that are computed car by car instead of with the plane
/// in lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroundKind {
    /// At most a hard and even plane: no car needs them.
    Plane,
    /// Boxes, with or without a hard and even plane: cars near a box need them.
    Boxes,
    /// Terrain (height fields or meshes), or a plane with a texture: all cars need them.
    Uneven,
}

/// Surroundings of the cars and constants of their bodies.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Ground of the scene.
    pub ground: Ground,
    /// Kind of the ground.
    pub kind: GroundKind,
    /// Unit normal of the plane, world axes; z without a plane.
    pub normal: Vec3,
    /// Chassis of a car at rest at the origin.
    pub chassis: Chassis,
    /// Planes above the terrain for the hull of every car; `None` without terrain, and for terrain that they cannot
    /// bound.
    pub ceiling: Option<TerrainCeiling>,
}

impl Environment {
    /// Creates the surroundings of `scene` for cars of `model`: ground, its kind, and one chassis with mass properties
    /// and hull of the model.
    ///
    /// # Errors
    /// The scene has platforms, free bodies or gusts. The error lists those that it has.
    pub fn new(model: &Model, scene: &Scene) -> Result<Self, FleetError> {
        let parts = [
            (!scene.platforms.is_empty(), "platforms"),
            (!scene.free_bodies.is_empty(), "free bodies"),
            (!scene.gusts.is_empty(), "gusts"),
        ];
        let refused: Vec<&str> =
            parts.into_iter().filter(|(is_refused, _)| *is_refused).map(|(_, part)| part).collect();
        if !refused.is_empty() {
            return Err(FleetError::Scene(refused));
        }
        let ground = Ground::new(scene);
        let chassis = Chassis::rigid(model.mass(), *model.inertia(), model.parts().hull);
        let normal = ground.plane_normal().unwrap_or(Vec3::Z);
        let kind = match () {
            () if ground.has_terrain() || ground.is_plane_textured() => GroundKind::Uneven,
            () if !ground.is_plane_only() => GroundKind::Boxes,
            () => GroundKind::Plane,
        };
        let ceiling = TerrainCeiling::new(&ground, chassis.hull());
        Ok(Self { ground, kind, normal, chassis, ceiling })
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
