//! The ground and the gravity a car drives in, as plain numbers.

use crate::{DVec3, Quat, STANDARD_GRAVITY, Vec3, math};

/// An infinite plane with grip, at any slope, and boxes that stand on it, in it or above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Gravity along −z of the world, m/s², above 0.
    pub gravity: f32,
    /// Slope of the ground, rad in ±π/2, positive when it rises along +x.
    pub slope: f32,
    /// Factor on the friction of every tyre, ≥ 0; 1 is the surface the tyre was described on.
    pub grip: f32,
    /// Velocity of the air, world, m/s; still by default.
    pub wind: Vec3,
    /// Fixed boxes; none by default.
    pub boxes: Vec<FixedBox>,
}

/// A box that never moves. A wheel stands on whichever face its ray meets first; a ray that starts inside meets none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedBox {
    /// Its middle, world, m.
    pub centre: DVec3,
    /// Half its size along its own axes, m, each > 0.
    pub half_extents: Vec3,
    /// Its axes to world axes, unit quaternion.
    pub rotation: Quat,
    /// Factor on the friction of every tyre on it, ≥ 0; takes the place of the plane's, it is not multiplied by it.
    pub grip: f32,
}

impl FixedBox {
    /// A box of full `size` (m) around `centre` (m), aligned with the world, on which every tyre has its own friction.
    pub fn upright(centre: DVec3, size: Vec3) -> Self {
        Self { centre, half_extents: 0.5 * size, rotation: Quat::IDENTITY, grip: 1.0 }
    }

    /// The box turned about its middle, in the ISO 8855 order: yaw about z, then pitch about y, then roll about x, rad.
    /// Yaw is positive to the left, pitch with the +x end down, roll with the −y side down.
    pub fn turned(self, yaw: f32, pitch: f32, roll: f32) -> Self {
        Self { rotation: turn(Vec3::Z, yaw) * turn(Vec3::Y, pitch) * turn(Vec3::X, roll), ..self }
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self { gravity: STANDARD_GRAVITY, slope: 0.0, grip: 1.0, wind: Vec3::ZERO, boxes: Vec::new() }
    }
}

impl Scene {
    /// Flat, dry ground.
    pub fn flat() -> Self {
        Self::default()
    }

    /// Ground that rises along +x by `slope` rad.
    pub fn sloping(slope: f32) -> Self {
        Self { slope, ..Self::default() }
    }

    /// Normal of the ground, unit vector.
    pub fn normal(&self) -> Vec3 {
        let (sin, cos) = math::sin_cos(self.slope);
        Vec3::new(-sin, 0.0, cos)
    }

    /// Orientation of a car that stands upright on the ground, turned by `heading` (rad, to the left) about its normal.
    pub fn orientation(&self, heading: f32) -> Quat {
        turn(Vec3::Y, -self.slope) * turn(Vec3::Z, heading)
    }

    /// Point of the world at (`x`, `y`) in the plane (m) and `height` (m) above it.
    pub fn point(&self, x: f64, y: f64, height: f64) -> DVec3 {
        let (normal, along) = (self.normal().as_dvec3(), (turn(Vec3::Y, -self.slope) * Vec3::X).as_dvec3());
        along * x + DVec3::Y * y + normal * height
    }
}

fn turn(axis: Vec3, angle: f32) -> Quat {
    let (sin, cos) = math::sin_cos(0.5 * angle);
    let v = axis * sin;
    Quat::from_xyzw(v.x, v.y, v.z, cos)
}
