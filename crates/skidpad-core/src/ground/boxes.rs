//! Fixed boxes of a scene.

use crate::port::texture::SurfaceTexture;
use bevy_math::{DVec3, Quat, Vec3};
use skidpad_simd::math;

/// A box that never moves. The nearest face that a wheel's ray enters supports the wheel. A ray that starts inside the box has no contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedBox {
    /// Centre, world, m.
    pub centre: DVec3,
    /// Half of the size along the axes of the box, m, each > 0.
    pub half_extents: Vec3,
    /// Rotation from the axes of the box to world axes, unit quaternion.
    pub rotation: Quat,
    /// Factor on the friction of every tyre on the box, ≥ 0. The factor of the plane does not apply on the box.
    pub grip: f32,
    /// Texture of the faces. Platforms ignore the unevenness.
    pub texture: SurfaceTexture,
}

impl FixedBox {
    /// Returns a box of full `size` (m) around `centre` (m), aligned with the world axes, hard, even and of grip 1.
    pub fn axis_aligned(centre: DVec3, size: Vec3) -> Self {
        Self { centre, half_extents: 0.5 * size, rotation: Quat::IDENTITY, grip: 1.0, texture: SurfaceTexture::NONE }
    }

    /// Returns the box turned about its centre: yaw about z, then pitch about the new y, then roll about the new x axis, rad (ISO 8855 order).
    /// Replaces the previous rotation. Yaw is positive to the left, pitch with the +x end down, roll with the −y side down.
    pub fn rotated(self, yaw: f32, pitch: f32, roll: f32) -> Self {
        Self {
            rotation: rotation_about(Vec3::Z, yaw) * rotation_about(Vec3::Y, pitch) * rotation_about(Vec3::X, roll),
            ..self
        }
    }

    /// Returns the distance from `ray_start` (world, m) along the unit vector `direction` to the face through which a ray enters the box, m, ≥ 0.
    /// Returns `None` if the ray misses the box, starts inside, or has the box behind it. The ray enters by the last of the three pairs of planes, if
    /// it has left none of them before (slab method).
    pub(crate) fn entry_distance(&self, ray_start: DVec3, direction: DVec3) -> Option<f64> {
        let from_world = self.rotation.as_dquat().inverse();
        let [local_start, local_direction] = [ray_start - self.centre, direction].map(|vector| from_world * vector);
        let half_extents = self.half_extents.as_dvec3();
        let (mut entry, mut exit) = (f64::NEG_INFINITY, f64::INFINITY); // distances along the ray, m
        for axis in 0..3 {
            if local_direction[axis] == 0.0 {
                if local_start[axis].abs() > half_extents[axis] {
                    return None;
                }
                continue;
            }
            let near_distance =
                (-half_extents[axis] * local_direction[axis].signum() - local_start[axis]) / local_direction[axis];
            let far_distance =
                (half_extents[axis] * local_direction[axis].signum() - local_start[axis]) / local_direction[axis];
            (entry, exit) = (entry.max(near_distance), exit.min(far_distance));
        }
        (0.0..=exit).contains(&entry).then_some(entry)
    }
}

/// Returns the rotation by `angle` rad about the unit vector `axis`, right-handed.
pub(crate) fn rotation_about(axis: Vec3, angle: f32) -> Quat {
    let (sin, cos) = math::sin_cos(0.5 * angle);
    let v = axis * sin;
    Quat::from_xyzw(v.x, v.y, v.z, cos)
}
