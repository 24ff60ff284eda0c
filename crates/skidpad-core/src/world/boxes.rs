//! Boxes that stand in a scene.

use crate::math;
use crate::world::texture::Texture;
use bevy_math::{DVec3, Quat, Vec3};

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
    /// Of its faces. Of a platform the unevenness is left out.
    pub texture: Texture,
}

impl FixedBox {
    /// A box of full `size` (m) around `centre` (m), aligned with the world, on which every tyre has its own friction.
    pub fn upright(centre: DVec3, size: Vec3) -> Self {
        Self { centre, half_extents: 0.5 * size, rotation: Quat::IDENTITY, grip: 1.0, texture: Texture::NONE }
    }

    /// The box turned about its middle, in the ISO 8855 order: yaw about z, then pitch about y, then roll about x, rad.
    /// Yaw is positive to the left, pitch with the +x end down, roll with the −y side down.
    pub fn turned(self, yaw: f32, pitch: f32, roll: f32) -> Self {
        Self { rotation: turn(Vec3::Z, yaw) * turn(Vec3::Y, pitch) * turn(Vec3::X, roll), ..self }
    }

    /// Distance from `start` along the unit vector `direction` to the face a ray enters by, m: the last of the three pairs of
    /// faces it comes between, if it leaves none before. `None` where it misses or starts inside.
    pub(crate) fn entered(&self, start: DVec3, direction: DVec3) -> Option<f64> {
        let from_world = self.rotation.as_dquat().inverse();
        let [from, along] = [start - self.centre, direction].map(|vector| from_world * vector);
        let half = self.half_extents.as_dvec3();
        let (mut enters, mut leaves) = (f64::NEG_INFINITY, f64::INFINITY);
        for k in 0..3 {
            if along[k] == 0.0 {
                if from[k].abs() > half[k] {
                    return None;
                }
                continue;
            }
            let near = (-half[k] * along[k].signum() - from[k]) / along[k];
            let far = (half[k] * along[k].signum() - from[k]) / along[k];
            (enters, leaves) = (enters.max(near), leaves.min(far));
        }
        (0.0..=leaves).contains(&enters).then_some(enters)
    }
}

/// A turn about a unit vector by `angle` rad.
pub(crate) fn turn(axis: Vec3, angle: f32) -> Quat {
    let (sin, cos) = math::sin_cos(0.5 * angle);
    let v = axis * sin;
    Quat::from_xyzw(v.x, v.y, v.z, cos)
}
