//! Motion of rigid bodies in a step, on numbers of one body or of several bodies in SIMD lanes.

use skidpad_core::Vec3;
use skidpad_core::coupling::BodyConstants;
use skidpad_core::model::Hull;
use skidpad_core::simd::lane::Lane;
use skidpad_core::simd::vectors::{Mat3Lanes, Vec3Lanes, integrate_rotation};

use crate::rotation::RotationState;

/// Velocities of bodies within a step, world axes. A lag is the velocity at the end of the step less the velocity with
/// which the pose moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct BodyTwist<L> {
    /// Velocity of the centre of mass, m/s.
    pub velocity: Vec3Lanes<L>,
    /// Angular velocity, rad/s.
    pub angular_velocity: Vec3Lanes<L>,
    /// Lag of the velocity, m/s.
    pub velocity_lag: Vec3Lanes<L>,
    /// Lag of the angular velocity, rad/s.
    pub angular_lag: Vec3Lanes<L>,
}

/// Pose and angular velocity of bodies after a step.
#[derive(Clone, Copy, Debug)]
pub struct AdvancedBody<L: Lane> {
    /// Displacement of the centre of mass, m.
    pub displacement: Vec3Lanes<L>,
    /// Quaternion (x, y, z, w) from body axes to world axes.
    pub rotation: [L; 4],
    /// Matrix of that rotation.
    pub axes: Mat3Lanes<L>,
    /// Angular velocity, world axes, rad/s.
    pub angular_velocity: Vec3Lanes<L>,
    /// Whether rotation and velocities are finite and the rotation has a length.
    pub is_finite: L::Mask,
}

impl<L: Lane> BodyTwist<L> {
    /// Returns the twist of bodies with the velocity v and the angular velocity ω after the impulses p (`impulse`, N s)
    /// and l (`angular_impulse`, N m s) over a whole step and the velocity change `gravity_change` (m/s), all in world
    /// axes: v + gravity_change + p / m and ω + J⁻¹ l. Both lags are half of the change; earlier lags are dropped.
    /// `axes` leads from body axes to world axes.
    #[inline(always)]
    pub fn pushed(
        [velocity, angular_velocity]: [Vec3Lanes<L>; 2],
        axes: &Mat3Lanes<L>,
        body: &BodyConstants<L>,
        [impulse, angular_impulse]: [Vec3Lanes<L>; 2],
        gravity_change: Vec3,
    ) -> Self {
        let angular_change = RotationState::mul_in_body_axes(axes, &body.inverse_inertia, angular_impulse);
        let velocity_change = Vec3Lanes::splat(gravity_change) + impulse * body.inverse_mass;
        let half = L::splat(0.5);
        Self {
            velocity: velocity + velocity_change,
            angular_velocity: angular_velocity + angular_change,
            velocity_lag: velocity_change * half,
            angular_lag: angular_change * half,
        }
    }

    /// Returns the rotational state of bodies with these `axes` (from body axes to world axes).
    #[inline(always)]
    fn rotation_state(&self, axes: &Mat3Lanes<L>, body: &BodyConstants<L>) -> RotationState<L> {
        RotationState {
            axes: *axes,
            inertia: body.inertia,
            inverse_inertia: body.inverse_inertia,
            angular_velocity: self.angular_velocity,
            rate_lag: self.angular_lag,
        }
    }

    /// Returns the angular velocity with which the pose of bodies with these `axes` turns in a step of `dt` s, world
    /// axes, rad/s.
    #[inline(always)]
    pub fn pose_rate(&self, axes: &Mat3Lanes<L>, body: &BodyConstants<L>, dt: f32) -> Vec3Lanes<L> {
        let state = self.rotation_state(axes, body);
        state.midpoint_rate(state.momentum(), dt)
    }
}

impl<L: Lane> AdvancedBody<L> {
    /// Computes the motion of bodies with the pose `rotation` and `axes` in `dt` s without forces: a displacement, the
    /// new pose, and the new angular velocity. The lags of `twist` are the parts of its velocities that do not move the
    /// pose in this step. The centre of mass is displaced by (velocity − lag) dt; the body turns with
    /// the midpoint rate of its rotation, which leaves out the angular lag. The new angular velocity follows from the
    /// new attitude and the conserved angular momentum, that of the whole angular velocity of `twist`. Results that are
    /// not finite are returned, with `is_finite` false in their lane.
    #[inline(always)]
    pub fn new(rotation: [L; 4], axes: &Mat3Lanes<L>, body: &BodyConstants<L>, twist: &BodyTwist<L>, dt: f32) -> Self {
        let displacement = (twist.velocity - twist.velocity_lag) * L::splat(dt);
        let rotation_state = twist.rotation_state(axes, body);
        let momentum = rotation_state.momentum();
        let rotation = integrate_rotation(rotation, rotation_state.midpoint_rate(momentum, dt), dt);
        let axes = Mat3Lanes::from_quat(rotation);
        let angular_velocity = RotationState::mul_in_body_axes(&axes, &body.inverse_inertia, momentum);
        let [x, y, z, w] = rotation;
        // A valid quaternion has a squared length of 1; an angular velocity too large for f32 results in length zero.
        let has_length = L::splat(0.5).less(x * x + y * y + z * z + w * w);
        // One component that is not finite makes the sum of all six infinite or NaN.
        let velocity_sum = twist.velocity + angular_velocity;
        let is_finite =
            has_length & (velocity_sum.x + velocity_sum.y + velocity_sum.z).abs().less(L::splat(f32::INFINITY));
        Self { displacement, rotation, axes, angular_velocity, is_finite }
    }
}

/// Boxes that collide, in the axes of their bodies.
#[derive(Clone, Copy, Debug)]
pub struct HullLanes<L> {
    /// Centre of the box, from the centre of mass, m.
    pub centre: Vec3Lanes<L>,
    /// Half extents, m.
    pub half_extents: Vec3Lanes<L>,
    /// Largest distance of a point of the box from the centre of mass, m.
    pub radius: L,
}

impl<L: Lane> HullLanes<L> {
    /// Returns `hull` in every lane. `radius` is the largest distance of a point of the box from the centre of mass, m.
    #[inline(always)]
    pub fn new(hull: Hull, radius: f32) -> Self {
        let Hull { centre, half_extents } = hull;
        Self {
            centre: Vec3Lanes::splat(centre),
            half_extents: Vec3Lanes::splat(half_extents),
            radius: L::splat(radius),
        }
    }

    /// Returns the height of the lowest point above a plane with the unit vector `normal`, m; negative below the plane.
    /// `height` is the height of the centre of mass, m. `axes` leads from body axes to world axes.
    #[inline(always)]
    pub(crate) fn lowest_height(&self, height: L, normal: Vec3Lanes<L>, axes: &Mat3Lanes<L>) -> L {
        // Normal in body axes.
        let body_normal = axes.transposed().mul_vector(normal);
        height + body_normal.dot(self.centre) - body_normal.abs().dot(self.half_extents)
    }

    /// Returns whether each box can reach a plane with the unit vector `normal` in `dt` s: whether its lowest point is
    /// at most as high as it can sink: `dt` times (ω times the radius, plus `speed_gain`, less the velocity along the
    /// normal). NaN counts as reaching. `height` is the height of the centre of mass, m; `axes` leads from body axes to
    /// world axes.
    #[inline(always)]
    pub fn can_reach_plane(
        &self,
        height: L,
        normal: Vec3,
        axes: &Mat3Lanes<L>,
        twist: &BodyTwist<L>,
        speed_gain: f32,
        dt: f32,
    ) -> L::Mask {
        let normal = Vec3Lanes::splat(normal);
        let point_speed_bound =
            twist.angular_velocity.dot(twist.angular_velocity).sqrt() * self.radius + L::splat(speed_gain);
        // Farthest that any point can sink in the step, m.
        let travel_bound = L::splat(dt) * (point_speed_bound - twist.velocity.dot(normal));
        // "Not less" instead of "at least", so that NaN counts as reaching.
        !travel_bound.less(self.lowest_height(height, normal, axes))
    }
}
