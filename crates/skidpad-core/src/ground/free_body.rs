//! Rigid boxes of a scene that gravity, hulls, wheels and other boxes move.

use crate::ground::boxes::FixedBox;
use crate::port::BODYWORK_FRICTION;
use crate::port::texture::SurfaceTexture;
use crate::shape::Hull;
use crate::shape::box_inertia;
use bevy_math::{DVec3, Mat3, Quat, Vec3};

/// A rigid box that forces move: it rests on the ground, slides, collides with hulls and other boxes, and carries
/// wheels that push it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeBody {
    /// Mass, kg, > 0.
    pub mass: f32,
    /// Inertia about the centre of mass, body axes, kg m², positive definite.
    pub inertia: Mat3,
    /// Collision box relative to the centre of mass, body axes.
    pub hull: Hull,
    /// Factor on the friction of every tyre on the box, ≥ 0.
    pub grip: f32,
    /// Coefficient of friction on a surface of grip 1, ≥ 0; multiplied by the grip on other surfaces. For contacts
    /// between two bodies, or between bodywork and a body, the product of both coefficients applies.
    pub friction: f32,
    /// Motion at the start.
    pub motion: BodyMotion,
}

/// Pose and velocities of a free body: its complete state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyMotion {
    /// Centre of mass, world, m.
    pub position: DVec3,
    /// Rotation from body axes to world axes, unit quaternion.
    pub rotation: Quat,
    /// Velocity of the centre of mass, world axes, m/s.
    pub velocity: Vec3,
    /// Angular velocity, world axes, rad/s.
    pub angular_velocity: Vec3,
}

impl BodyMotion {
    /// Returns the motion of a body at rest at `position` (m), with its axes aligned to those of the world.
    pub fn at_rest(position: DVec3) -> Self {
        Self { position, rotation: Quat::IDENTITY, velocity: Vec3::ZERO, angular_velocity: Vec3::ZERO }
    }
}

impl FreeBody {
    /// Returns a homogeneous box of `mass` kg and full `size` (m), at rest around `position` (m), aligned with the
    /// world axes. Friction is that of bodywork, grip 1.
    pub fn solid_box(mass: f32, size: Vec3, position: DVec3) -> Self {
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

    /// Returns the collision box of the body as a fixed box in the pose of `motion`, with its grip, hard and even. The
    /// friction coefficient and the mass are not included.
    pub fn box_at(&self, motion: &BodyMotion) -> FixedBox {
        FixedBox {
            centre: motion.position + (motion.rotation * self.hull.centre).as_dvec3(),
            half_extents: self.hull.half_extents,
            rotation: motion.rotation,
            grip: self.grip,
            texture: SurfaceTexture::NONE,
        }
    }
}
