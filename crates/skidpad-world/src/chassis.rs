//! Rigid bodies: a chassis or a free body, and the impulses that push and stop it.

use skidpad_core::contact_solver::SolverBody;
use skidpad_core::simd::vectors::{Mat3Lanes, Vec3Lanes};
use skidpad_core::{
    BODYWORK_FRICTION, BodyMotion, DVec3, FreeBody, Mat3, Model, Quat, State, Vec3,
    model::{Hull, Wheel},
};

use crate::rotation::RotationState;

/// Velocity of the centre of mass, m/s, and angular velocity, rad/s, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Twist {
    pub velocity: Vec3,
    pub angular_velocity: Vec3,
}

/// Chassis or free body: pose and twist of its centre of mass.
///
/// The order of the fields lets SIMD code load four consecutive numbers of four chassis at once.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Chassis {
    /// Position of the centre of mass, world axes, m.
    pub(crate) position: DVec3,
    /// Rotation from vehicle axes to world axes.
    pub(crate) rotation: Quat,
    /// Rotation from vehicle axes to world axes, as a matrix.
    pub(crate) axes: Mat3,
    /// Velocity of the centre of mass at the end of the step, world axes, m/s.
    pub(crate) velocity: Vec3,
    /// Angular velocity at the end of the step, world axes, rad/s.
    pub(crate) angular_velocity: Vec3,
    /// Difference between the velocities at the end of the step and the velocities with which the pose moves: half of
    /// the change by the push.
    pub(crate) twist_lag: Twist,
    /// Inertia about the centre of mass, vehicle axes, kg m².
    pub(crate) inertia: Mat3,
    /// Inverse of `inertia`, 1/(kg m²).
    pub(crate) inverse_inertia: Mat3,
    /// Box that collides, relative to the centre of mass, vehicle axes, m.
    pub(crate) hull: Hull,
    /// Upper bound of the distance between the centre of mass and any point of the hull, m.
    pub(crate) hull_radius: f32,
    /// Reciprocal of the mass, 1/kg.
    pub(crate) inverse_mass: f32,
    /// Coefficient of friction of the hull on a surface of grip 1.
    pub(crate) friction: f32,
    /// Factor on the friction of every tyre that stands on this body.
    pub(crate) grip: f32,
    /// Upper bound of the distance between the centre of mass and any point of a wheel at full droop, m.
    pub(crate) wheel_reach: f32,
    /// Whether some wheel has a rim probe, not only a ray.
    pub(crate) has_rims: bool,
    /// Whether this is a free body that wheels push in this step.
    pub(crate) is_wheel_loaded: bool,
    /// Whether the chassis is suspended: it is neither pushed nor moved.
    pub(crate) is_suspended: bool,
    /// Index of the chassis that tows this one; the two do not collide.
    pub(crate) towed_by: Option<u32>,
    /// Point at which it tows others, from the centre of mass, vehicle axes, m.
    pub(crate) hitch: Vec3,
    /// Point at which it is towed, from the centre of mass, vehicle axes, m.
    pub(crate) coupler: Vec3,
    /// Whether it can be towed.
    pub(crate) is_trailer: bool,
    /// Whether it can tow or be towed.
    can_be_hitched: bool,
}

impl Chassis {
    /// Creates the chassis of a car of `model` with the pose, motion and towing vehicle of `state`, not suspended.
    /// Copies total mass, inertia, hull, hitch and coupler of the model; a missing hitch or coupler leaves its point at
    /// zero. Stores how far any wheel can reach from the centre of mass, whether any wheel has a rim, whether the car
    /// is a trailer (has a coupler), and whether it can be hitched at all. Friction is that of bodywork; the grip for
    /// tyres on its hull is 1.
    pub fn new(model: &Model, state: &State) -> Self {
        let mut chassis = Self::rigid(model.mass(), *model.inertia(), model.parts().hull);
        chassis.has_rims = model.has_rims();
        chassis.wheel_reach = model.wheels().iter().map(wheel_distance_bound).fold(0.0, f32::max);
        let (hitch, coupler) = (model.parts().hitch, model.parts().coupler);
        chassis.hitch = hitch.unwrap_or_default().point;
        chassis.coupler = coupler.unwrap_or_default().point;
        chassis.is_trailer = coupler.is_some();
        chassis.can_be_hitched = hitch.is_some() || coupler.is_some();
        chassis.set_state(state);
        chassis
    }

    /// Creates a body at rest at the origin with vehicle axes along the world's, without wheels and hitches, not
    /// suspended. `mass` is in kg, > 0; `inertia` about the centre of mass in kg m², positive definite; `hull` is the
    /// box that collides. Stores the inverses of mass and inertia and the radius of the hull: half diagonal plus offset
    /// of its middle. Friction is [`BODYWORK_FRICTION`], the grip for tyres 1.
    pub fn rigid(mass: f32, inertia: Mat3, hull: Hull) -> Self {
        Self {
            position: DVec3::ZERO,
            rotation: Quat::IDENTITY,
            axes: Mat3::IDENTITY,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            twist_lag: Twist::default(),
            inverse_mass: 1.0 / mass,
            inertia,
            inverse_inertia: inertia.inverse(),
            hull,
            friction: BODYWORK_FRICTION,
            grip: 1.0,
            hull_radius: hull.half_extents.length() + hull.centre.length(),
            wheel_reach: 0.0,
            has_rims: false,
            is_wheel_loaded: false,
            is_suspended: false,
            towed_by: None,
            hitch: Vec3::ZERO,
            coupler: Vec3::ZERO,
            is_trailer: false,
            can_be_hitched: false,
        }
    }

    /// Creates a free body (no wheels) with mass, hull, friction, grip and initial motion of `body`.
    pub fn free(body: &FreeBody) -> Self {
        let mut chassis = Self::rigid(body.mass, body.inertia, body.hull);
        (chassis.friction, chassis.grip) = (body.friction, body.grip);
        chassis.set_motion(&body.motion);
        chassis
    }

    /// Sets pose and twist from `motion`.
    pub fn set_motion(&mut self, motion: &BodyMotion) {
        self.set_pose_and_twist(motion.position, motion.rotation, [motion.velocity, motion.angular_velocity]);
    }

    /// Returns pose and twist between two steps.
    pub fn body_motion(&self) -> BodyMotion {
        let Self { position, rotation, velocity, angular_velocity, .. } = *self;
        BodyMotion { position, rotation, velocity, angular_velocity }
    }

    /// Returns the velocity of the centre of mass (m/s) and the angular velocity (rad/s), world axes.
    pub fn twist(&self) -> [Vec3; 2] {
        [self.velocity, self.angular_velocity]
    }

    /// Sets the position of the centre of mass (m), the rotation from vehicle axes to world axes, and the twist as in
    /// [`Chassis::twist`]. Clears the lag, so that the pose moves with the given twist. A suspended chassis stays
    /// suspended.
    pub fn set_pose_and_twist(&mut self, position: DVec3, rotation: Quat, twist: [Vec3; 2]) {
        self.position = position;
        self.set_rotation(rotation);
        [self.velocity, self.angular_velocity] = twist;
        self.twist_lag = Twist::default();
    }

    /// Sets the rotation from vehicle axes to world axes, as quaternion and as matrix.
    fn set_rotation(&mut self, rotation: Quat) {
        (self.rotation, self.axes) = (rotation, Mat3::from_quat(rotation));
    }

    /// Sets pose, twist and towing vehicle from `state`, and resumes the chassis if it is suspended.
    pub fn set_state(&mut self, state: &State) {
        self.set_pose_and_twist(state.position, state.rotation, [state.velocity, state.angular_velocity]);
        self.set_towing_vehicle(state.tow.map(|tow| tow.towing_slot));
        self.is_suspended = false;
    }

    /// Suspends the chassis until [`Chassis::set_state`]: it is neither moved nor hit.
    pub fn suspend(&mut self) {
        self.is_suspended = true;
    }

    /// Sets the index of the chassis that tows this one; `None` if it is not towed. The two do not collide, and an
    /// impulse that stops one of them acts on the other through the hitch.
    pub fn set_towing_vehicle(&mut self, towing_index: Option<u32>) {
        self.towed_by = towing_index;
    }

    /// Returns true if the pose moves with the velocities at the end of the step, as after an impulse that stops the
    /// hull. Also true before any push in this step.
    pub(crate) fn is_stopped(&self) -> bool {
        self.twist_lag == Twist::default()
    }

    /// Adds `velocity` (m/s) and `angular_velocity` (rad/s) over a whole step. The pose then moves with the mean of old
    /// and new velocities. Replaces the lag of earlier pushes; [`Chassis::add_push`] adds to it.
    pub(crate) fn push_replacing_lag(&mut self, velocity: Vec3, angular_velocity: Vec3) {
        self.velocity += velocity;
        self.angular_velocity += angular_velocity;
        self.twist_lag = Twist { velocity: velocity * 0.5, angular_velocity: angular_velocity * 0.5 };
    }

    /// Adds `velocity` (m/s) and `angular_velocity` (rad/s) over a whole step, in addition to earlier pushes and stops.
    /// Half of the change is added to the lag, so that the pose moves with the mean of old and new velocities.
    pub(crate) fn add_push(&mut self, [velocity, angular_velocity]: [Vec3; 2]) {
        self.velocity += velocity;
        self.angular_velocity += angular_velocity;
        self.twist_lag.velocity += velocity * 0.5;
        self.twist_lag.angular_velocity += angular_velocity * 0.5;
    }

    /// Returns the velocity (m/s) and the angular velocity (rad/s) with which the pose moves over this step, world
    /// axes.
    pub fn pose_motion(&self) -> [Vec3; 2] {
        [self.velocity - self.twist_lag.velocity, self.angular_velocity - self.twist_lag.angular_velocity]
    }

    /// Sets the velocity (m/s) and angular velocity (rad/s) with which the pose moves over this step. The velocities at
    /// its end do not change.
    pub(crate) fn set_pose_motion(&mut self, [velocity, angular_velocity]: [Vec3; 2]) {
        self.twist_lag =
            Twist { velocity: self.velocity - velocity, angular_velocity: self.angular_velocity - angular_velocity };
    }

    /// Sets the mass (kg) and the inertia about the centre of mass (kg m²), both as in [`Chassis::rigid`].
    pub fn set_mass(&mut self, mass: f32, inertia: Mat3) {
        (self.inverse_mass, self.inertia, self.inverse_inertia) = (1.0 / mass, inertia, inertia.inverse());
    }

    /// Sets pose, twist and lags within a step: `lags` are the velocities at its end less those with which the pose moves
    /// (m/s, rad/s).
    pub fn set_step_motion(&mut self, position: DVec3, rotation: Quat, twist: [Vec3; 2], lags: [Vec3; 2]) {
        self.set_pose_and_twist(position, rotation, twist);
        self.twist_lag = Twist { velocity: lags[0], angular_velocity: lags[1] };
    }

    /// Returns the lags of [`Chassis::set_step_motion`] (m/s, rad/s).
    pub fn lags(&self) -> [Vec3; 2] {
        [self.twist_lag.velocity, self.twist_lag.angular_velocity]
    }

    /// Returns the box that collides.
    pub fn hull(&self) -> Hull {
        self.hull
    }

    /// Returns the largest distance of a point of the hull from the centre of mass, m.
    pub fn hull_radius(&self) -> f32 {
        self.hull_radius
    }

    /// Returns the velocity of the point at `arm` from the centre of mass (m, world axes), m/s.
    pub(crate) fn velocity_at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(arm)
    }

    /// Applies an impulse at the centre of mass (N s) and an angular impulse (N m s), world axes, that stop the hull.
    /// They act at once: the lag of all earlier pushes is cleared, so that the pose of this step moves with the
    /// resulting velocities.
    pub(crate) fn apply_impulse(&mut self, impulse: Vec3, angular_impulse: Vec3) {
        self.velocity += impulse * self.inverse_mass;
        self.angular_velocity += self.angular_velocity_change(angular_impulse);
        self.twist_lag = Twist::default();
    }

    /// Returns the change of angular velocity (rad/s) by an angular impulse (N m s), both in world axes.
    pub(crate) fn angular_velocity_change(&self, angular_impulse: Vec3) -> Vec3 {
        self.axes * (self.inverse_inertia * (self.axes.transpose() * angular_impulse))
    }

    /// Returns the angular momentum about the centre of mass, N m s, world axes.
    pub(crate) fn angular_momentum(&self) -> Vec3 {
        // Vec3Lanes with one lane.
        let [x, y, z] = self.rotation_state().momentum().to_array();
        Vec3::new(x, y, z)
    }

    /// Returns the angular velocity in the middle of the coming `dt` s, world axes, rad/s: the rate with which the pose
    /// moves, plus its change by the gyroscopic effect at constant angular momentum over `dt` / 2.
    pub(crate) fn midpoint_rate(&self, dt: f32) -> Vec3 {
        let state = self.rotation_state();
        let [x, y, z] = state.midpoint_rate(state.momentum(), dt).to_array();
        Vec3::new(x, y, z)
    }

    /// Returns the rotational state of the chassis as scalars (one lane): axes, inertia, angular velocity and its lag.
    fn rotation_state(&self) -> RotationState<f32> {
        let [angular_velocity, rate_lag] =
            [self.angular_velocity, self.twist_lag.angular_velocity].map(Vec3Lanes::splat);
        let [axes, inertia, inverse_inertia] =
            [&self.axes, &self.inertia, &self.inverse_inertia].map(Mat3Lanes::from_mat3);
        RotationState { axes, inertia, inverse_inertia, angular_velocity, rate_lag }
    }

    /// Returns the change of angular velocity by the gyroscopic torque in `dt` s, −J⁻¹ (ω × L) dt, rad/s, world axes.
    /// Zero for a chassis that has neither hitch nor coupler, because no one else needs the value.
    pub(crate) fn gyroscopic_rate_change(&self, dt: f32) -> Vec3 {
        if !self.can_be_hitched {
            return Vec3::ZERO;
        }
        -self.angular_velocity_change(self.angular_velocity.cross(self.angular_momentum())) * dt
    }
}

/// Returns an upper bound of the distance between the centre of mass and any part of the wheel at full droop, m:
/// distance of the contact point, plus the diameter, plus the droop travel.
fn wheel_distance_bound(wheel: &Wheel) -> f32 {
    wheel.contact.length() + 2.0 * wheel.radius + wheel.strut.droop_travel
}

impl SolverBody for Chassis {
    #[inline(always)]
    fn inverse_mass(&self) -> f32 {
        self.inverse_mass
    }

    #[inline(always)]
    fn angular_response(&self, angular_impulse: Vec3) -> Vec3 {
        Chassis::angular_velocity_change(self, angular_impulse)
    }

    #[inline(always)]
    fn velocity_at(&self, arm: Vec3) -> Vec3 {
        Chassis::velocity_at(self, arm)
    }

    #[inline(always)]
    fn apply_impulse(&mut self, impulse: Vec3, angular_impulse: Vec3) {
        Chassis::apply_impulse(self, impulse, angular_impulse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chassis_simd::advance;

    /// A body that rotates mainly about its intermediate axis tumbles and conserves its rotational energy within 1 %
    /// over 600 steps of 1/60 s.
    #[test]
    fn a_tumbling_body_keeps_its_energy() {
        let inertia = Mat3::from_diagonal(Vec3::new(10e3, 60e3, 63e3));
        let hull = Hull { centre: Vec3::ZERO, half_extents: Vec3::ONE };
        let mut chassis = Chassis::rigid(15e3, inertia, hull);
        chassis.set_pose_and_twist(DVec3::ZERO, Quat::IDENTITY, [Vec3::ZERO, Vec3::new(0.1, 6.0, 0.1)]);
        // Twice the rotational energy, J.
        let energy = |c: &Chassis| {
            let rate = c.axes.transpose() * c.angular_velocity;
            rate.dot(inertia * rate)
        };
        let start = energy(&chassis);
        for step in 0..600 {
            advance(core::slice::from_mut(&mut chassis), 1.0 / 60.0);
            // ω dt is 0.1. The energy error is of second order in it and changes its sign every half turn.
            assert!((energy(&chassis) / start - 1.0).abs() < 0.01, "step {step}: {}", energy(&chassis) / start);
        }
    }
}
