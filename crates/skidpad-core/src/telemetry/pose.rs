//! Poses of wheels for rendering.

use crate::model::Model;
use crate::state::State;
use bevy_math::{DVec3, Quat, Vec3};
use skidpad_simd::math;

/// Pose of a wheel in the world. Interpolate the poses of two states (`DVec3::lerp`, `Quat::lerp`) to draw between two
/// steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WheelPose {
    /// Centre of the wheel (m).
    pub centre: DVec3,
    /// Rotation from wheel axes to world axes: x forward, y along the axle to the left, z up. Includes steering and
    /// camber, not the rolling angle. To draw a rolling wheel, rotate it about y by the sum of `spin · dt`; states do
    /// not store that angle.
    pub rotation: Quat,
}

impl State {
    /// Returns the pose of wheel `i` of a car of `model`. The centre is one radius and the compression above the contact point at rest, shifted
    /// laterally by the links along the steered axle. The rotation is that of the chassis, then steering about z, then camber about x.
    ///
    /// The point one radius below the centre, along −z of the vehicle, is the contact point of a wheel on the ground.
    pub fn wheel_pose(&self, model: &Model, i: usize) -> WheelPose {
        let (wheel, wheel_state) = (&model.wheels()[i], &self.wheels[i]);
        let height = wheel_state.compression + wheel.radius; // height above the contact point at rest, m
        let camber_angle = model.camber(i, |i| self.wheels[i].compression) * wheel.side.outward_sign(); // camber to the right, rad
        let steer_rotation = rotation_about(Vec3::Z, wheel_state.steer);
        let local_centre = wheel.contact + Vec3::Z * height + steer_rotation * (Vec3::Y * wheel_state.shift);
        let centre = self.position + (self.rotation * local_centre).as_dvec3();
        let rotation = self.rotation * steer_rotation * rotation_about(Vec3::X, camber_angle);
        WheelPose { centre, rotation }
    }

    /// Returns the extension of the suspension of wheel `i` of a car of `model`: 0 where the bump stop begins, 1 at
    /// full droop (as for wheels in the air), negative in the bump stop.
    pub fn extension(&self, model: &Model, i: usize) -> f32 {
        let strut = &model.wheels()[i].strut;
        (strut.bump_travel - self.wheels[i].compression) / (strut.bump_travel + strut.droop_travel)
    }
}

/// Returns the rotation by `angle` (rad) about the unit vector `axis`, right-handed.
fn rotation_about(axis: Vec3, angle: f32) -> Quat {
    let (sin, cos) = math::sin_cos(0.5 * angle);
    Quat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}
