//! Rigid boxes of a scene that gravity, hulls, wheels and each other move.

use crate::chassis::mass::box_inertia;
use crate::model::parts::Hull;
use crate::world::boxes::FixedBox;
use crate::world::seam::BODYWORK_FRICTION;
use crate::world::texture::Texture;
use bevy_math::{DVec3, Mat3, Quat, Vec3};

/// A rigid box that moves as what touches it makes it: it rests on the ground, slides over it, is struck by hulls and other boxes, and
/// wheels stand on it and push it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeBody {
    /// kg, > 0.
    pub mass: f32,
    /// About its centre of mass, its own axes, kg m², positive definite.
    pub inertia: Mat3,
    /// The box, from its centre of mass, its own axes.
    pub hull: Hull,
    /// Factor on the friction of every tyre on it, ≥ 0.
    pub grip: f32,
    /// Coefficient of friction on a surface of grip 1, ≥ 0; on any other, times its grip. Of two bodies, or of bodywork and a body, the
    /// product of both.
    pub friction: f32,
    /// How it starts.
    pub motion: BodyMotion,
}

/// Where a free body is and how it moves: all of it that advances in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyMotion {
    /// Centre of mass, world, m.
    pub position: DVec3,
    /// Its axes to world axes, unit quaternion.
    pub rotation: Quat,
    /// Of the centre of mass, world axes, m/s.
    pub velocity: Vec3,
    /// World axes, rad/s.
    pub angular: Vec3,
}

impl BodyMotion {
    /// At rest at `position` (m), its axes those of the world.
    pub fn at_rest(position: DVec3) -> Self {
        Self { position, rotation: Quat::IDENTITY, velocity: Vec3::ZERO, angular: Vec3::ZERO }
    }
}

impl FreeBody {
    /// A box of `mass` kg spread evenly over its full `size` (m), at rest around `position` (m), with the friction of bodywork, on which
    /// every tyre has its own friction.
    pub fn solid(mass: f32, size: Vec3, position: DVec3) -> Self {
        let moments = box_inertia(mass.into(), size.as_dvec3().to_array()).map(|moment| moment as f32);
        Self {
            mass,
            inertia: Mat3::from_diagonal(Vec3::from_array(moments)),
            hull: Hull { centre: Vec3::ZERO, half_extents: 0.5 * size },
            grip: 1.0,
            friction: BODYWORK_FRICTION,
            motion: BodyMotion::at_rest(position),
        }
    }

    /// It as a box that stands where it is in `motion`.
    pub fn standing(&self, motion: &BodyMotion) -> FixedBox {
        FixedBox {
            centre: motion.position + (motion.rotation * self.hull.centre).as_dvec3(),
            half_extents: self.hull.half_extents,
            rotation: motion.rotation,
            grip: self.grip,
            texture: Texture::NONE,
        }
    }
}
