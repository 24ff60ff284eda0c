//! Where wheels are, for pictures.

use crate::math;
use crate::model::Model;
use crate::state::State;
use bevy_math::{DVec3, Quat, Vec3};

/// A wheel in the world. Mix the poses of two states (`DVec3::lerp`, `Quat::lerp`) to draw between two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WheelPose {
    /// Of the wheel's middle, m.
    pub centre: DVec3,
    /// Wheel axes to world axes: x forward, y along the axle to the left, z up; steered and cambered, not rolling. A picture
    /// turns it about y by the sum of `spin · dt`, which no physics depends on and no state holds.
    pub rotation: Quat,
}

impl State {
    /// Pose of wheel `i` of a car of `model`.
    ///
    /// Its lowest point, one radius along −z of the vehicle, is the contact point of a wheel on the ground.
    pub fn wheel_pose(&self, model: &Model, i: usize) -> WheelPose {
        let (wheel, now) = (&model.wheels()[i], &self.wheels[i]);
        let up = now.compression + wheel.radius;
        let leaning = model.camber(i, |i| self.wheels[i].compression) * wheel.side.rightwards();
        let steered = about(Vec3::Z, now.steer);
        let middle = wheel.contact + Vec3::Z * up + steered * (Vec3::Y * now.shift);
        let centre = self.position + (self.rotation * middle).as_dvec3();
        let rotation = self.rotation * steered * about(Vec3::X, leaning);
        WheelPose { centre, rotation }
    }

    /// How far the suspension of wheel `i` of a car of `model` is extended: 0 where the bump stop begins, 1 at full droop, as
    /// wheels in the air are; below 0 into the bump stop.
    pub fn extension(&self, model: &Model, i: usize) -> f32 {
        let strut = &model.wheels()[i].strut;
        (strut.bump_travel - self.wheels[i].compression) / (strut.bump_travel + strut.droop_travel)
    }
}

fn about(axis: Vec3, angle: f32) -> Quat {
    let (sin, cos) = math::sin_cos(0.5 * angle);
    Quat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}
