//! Rigid bodies: a chassis or a free body, and the impulses that push and stop it.

use skidpad_core::supports::Rigid;
use skidpad_core::vectors::{Axes, Vec3Lanes};
use skidpad_core::{
    BODYWORK_FRICTION, BodyMotion, DVec3, FreeBody, Mat3, Model, Quat, State, Vec3,
    model::{Hull, Wheel},
};

use crate::turning::Turning;

/// Velocity of the centre of mass, m/s, and angular velocity, rad/s, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Motion {
    pub velocity: Vec3,
    pub angular: Vec3,
}

/// Chassis or free body: pose and twist of its centre of mass.
///
/// The order of the fields lets SIMD code load four consecutive numbers of four chassis at once.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Chassis {
    pub(crate) position: DVec3,
    pub(crate) rotation: Quat,
    /// Rotation from vehicle axes to world axes, as a matrix.
    pub(crate) axes: Mat3,
    pub(crate) velocity: Vec3,
    pub(crate) angular: Vec3,
    /// Difference between the velocities at the end of the step and the velocities with which the pose moves: half of the change
    /// by the push.
    pub(crate) lag: Motion,
    pub(crate) inertia: Mat3,
    pub(crate) inverse_inertia: Mat3,
    pub(crate) hull: Hull,
    /// Upper bound of the distance between the centre of mass and any point of the hull, m.
    pub(crate) hull_reach: f32,
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
    pub(crate) carries: bool,
    /// Whether the chassis is suspended: it is neither pushed nor moved.
    pub(crate) away: bool,
    /// Index of the chassis that tows this one; the two do not collide.
    pub(crate) towed_by: Option<u32>,
    /// Point at which it tows others, from the centre of mass, vehicle axes, m.
    pub(crate) hitch: Vec3,
    /// Point at which it is towed, from the centre of mass, vehicle axes, m.
    pub(crate) coupler: Vec3,
    /// Whether it can be towed.
    pub(crate) is_trailer: bool,
    /// Whether it can tow or be towed.
    is_tied: bool,
}

impl Chassis {
    /// Creates a chassis of `model` with the pose and motion of `state`.
    pub fn new(model: &Model, state: &State) -> Self {
        let mut chassis = Self::rigid(model.mass(), *model.inertia(), model.parts().hull);
        chassis.has_rims = model.has_rims();
        chassis.wheel_reach = model.wheels().iter().map(reach_of).fold(0.0, f32::max);
        let (hitch, coupler) = (model.parts().hitch, model.parts().coupler);
        chassis.hitch = hitch.unwrap_or_default().point;
        chassis.coupler = coupler.unwrap_or_default().point;
        chassis.is_trailer = coupler.is_some();
        chassis.is_tied = hitch.is_some() || coupler.is_some();
        chassis.adopt(state);
        chassis
    }

    /// Creates a chassis at rest at the origin. `mass` is in kg, > 0; `inertia` about the centre of mass in kg m², positive
    /// definite; `hull` is the box that collides.
    pub fn rigid(mass: f32, inertia: Mat3, hull: Hull) -> Self {
        Self {
            position: DVec3::ZERO,
            rotation: Quat::IDENTITY,
            axes: Mat3::IDENTITY,
            velocity: Vec3::ZERO,
            angular: Vec3::ZERO,
            lag: Motion::default(),
            inverse_mass: 1.0 / mass,
            inertia,
            inverse_inertia: inertia.inverse(),
            hull,
            friction: BODYWORK_FRICTION,
            grip: 1.0,
            hull_reach: hull.half_extents.length() + hull.centre.length(),
            wheel_reach: 0.0,
            has_rims: false,
            carries: false,
            away: false,
            towed_by: None,
            hitch: Vec3::ZERO,
            coupler: Vec3::ZERO,
            is_trailer: false,
            is_tied: false,
        }
    }

    /// Creates a free body with its initial motion.
    pub fn free(body: &FreeBody) -> Self {
        let mut chassis = Self::rigid(body.mass, body.inertia, body.hull);
        (chassis.friction, chassis.grip) = (body.friction, body.grip);
        chassis.go_on_from(&body.motion);
        chassis
    }

    /// Sets pose and twist from `motion`.
    pub fn go_on_from(&mut self, motion: &BodyMotion) {
        self.place(motion.position, motion.rotation, [motion.velocity, motion.angular]);
    }

    /// Returns pose and twist between two steps.
    pub fn motion_now(&self) -> BodyMotion {
        let Self { position, rotation, velocity, angular, .. } = *self;
        BodyMotion { position, rotation, velocity, angular }
    }

    /// Returns the velocity of the centre of mass (m/s) and the angular velocity (rad/s), world axes.
    pub fn twist(&self) -> [Vec3; 2] {
        [self.velocity, self.angular]
    }

    /// Sets the position of the centre of mass (m), the rotation from vehicle axes to world axes, and the twist as in
    /// [`Chassis::twist`].
    pub fn place(&mut self, position: DVec3, rotation: Quat, twist: [Vec3; 2]) {
        self.position = position;
        self.turn_to(rotation);
        [self.velocity, self.angular] = twist;
        self.lag = Motion::default();
    }

    fn turn_to(&mut self, rotation: Quat) {
        (self.rotation, self.axes) = (rotation, Mat3::from_quat(rotation));
    }

    /// Sets pose, twist and towing vehicle from `state`, and resumes the chassis if it is suspended.
    pub fn adopt(&mut self, state: &State) {
        self.place(state.position, state.rotation, [state.velocity, state.angular]);
        self.be_towed(state.tow.map(|tow| tow.by));
        self.away = false;
    }

    /// Suspends the chassis until [`Chassis::adopt`]: it is neither moved nor hit.
    pub fn suspend(&mut self) {
        self.away = true;
    }

    /// Sets the index of the chassis that tows this one; `None` if it is not towed. The two do not collide, and an impulse that
    /// stops one of them acts on the other through the hitch.
    pub fn be_towed(&mut self, by: Option<u32>) {
        self.towed_by = by;
    }

    /// Returns true if the pose moves with the velocities at the end of the step, as after a stop in this step.
    pub(crate) fn is_stopped(&self) -> bool {
        self.lag == Motion::default()
    }

    /// Adds `velocity` (m/s) and `angular` (rad/s) over a whole step. The pose then moves with the mean of old and new
    /// velocities. Replaces an earlier lag.
    pub(crate) fn push(&mut self, velocity: Vec3, angular: Vec3) {
        self.velocity += velocity;
        self.angular += angular;
        self.lag = Motion { velocity: velocity * 0.5, angular: angular * 0.5 };
    }

    /// Adds `velocity` (m/s) and `angular` (rad/s) over a whole step, in addition to earlier pushes and stops. The pose then
    /// moves with the mean of old and new velocities.
    pub(crate) fn push_on(&mut self, [velocity, angular]: [Vec3; 2]) {
        self.velocity += velocity;
        self.angular += angular;
        self.lag.velocity += velocity * 0.5;
        self.lag.angular += angular * 0.5;
    }

    /// Returns the velocity (m/s) and the angular velocity (rad/s) with which the pose moves over this step, world axes.
    pub fn motion(&self) -> [Vec3; 2] {
        [self.velocity - self.lag.velocity, self.angular - self.lag.angular]
    }

    /// Sets the velocity (m/s) and angular velocity (rad/s) with which the pose moves over this step. The velocities at its end
    /// do not change.
    pub(crate) fn move_with(&mut self, [velocity, angular]: [Vec3; 2]) {
        self.lag = Motion { velocity: self.velocity - velocity, angular: self.angular - angular };
    }

    /// Returns the velocity of the point at `arm` from the centre of mass (m, world axes), m/s.
    pub(crate) fn speed_at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.angular.cross(arm)
    }

    /// Applies impulses that stop the hull (N s, N m s). They act at once: the pose of this step moves with the resulting
    /// velocities.
    pub(crate) fn stop(&mut self, impulse: Vec3, angular_impulse: Vec3) {
        self.velocity += impulse * self.inverse_mass;
        self.angular += self.spun_by(angular_impulse);
        self.lag = Motion::default();
    }

    /// Returns the change of angular velocity (rad/s) by an angular impulse (N m s), both in world axes.
    pub(crate) fn spun_by(&self, angular_impulse: Vec3) -> Vec3 {
        self.axes * (self.inverse_inertia * (self.axes.transpose() * angular_impulse))
    }

    /// Returns the angular momentum about the centre of mass, N m s, world axes.
    pub(crate) fn angular_momentum(&self) -> Vec3 {
        let [x, y, z] = self.turning().momentum().to_array();
        Vec3::new(x, y, z)
    }

    /// Returns the angular velocity in the middle of the coming `dt` s, rad/s.
    pub(crate) fn middle_rate(&self, dt: f32) -> Vec3 {
        let turning = self.turning();
        let [x, y, z] = turning.rate_half_way(turning.momentum(), dt).to_array();
        Vec3::new(x, y, z)
    }

    fn turning(&self) -> Turning<f32> {
        let [angular, lag] = [self.angular, self.lag.angular].map(Vec3Lanes::splat);
        let [axes, inertia, inverse_inertia] = [&self.axes, &self.inertia, &self.inverse_inertia].map(Axes::of);
        Turning { axes, inertia, inverse_inertia, angular, lag }
    }

    /// Returns the change of angular velocity by the gyroscopic torque in `dt` s, rad/s, world axes. Zero for a chassis that has
    /// neither hitch nor coupler.
    pub(crate) fn drift(&self, dt: f32) -> Vec3 {
        if !self.is_tied {
            return Vec3::ZERO;
        }
        -self.spun_by(self.angular.cross(self.angular_momentum())) * dt
    }
}

/// Returns an upper bound of the distance between the centre of mass and any part of the wheel at full droop, m.
fn reach_of(wheel: &Wheel) -> f32 {
    wheel.contact.length() + 2.0 * wheel.radius + wheel.strut.droop_travel
}

impl Rigid for Chassis {
    #[inline(always)]
    fn inverse_mass(&self) -> f32 {
        self.inverse_mass
    }

    #[inline(always)]
    fn spun_by(&self, angular_impulse: Vec3) -> Vec3 {
        Chassis::spun_by(self, angular_impulse)
    }

    #[inline(always)]
    fn speed_at(&self, arm: Vec3) -> Vec3 {
        Chassis::speed_at(self, arm)
    }

    #[inline(always)]
    fn stop(&mut self, impulse: Vec3, angular_impulse: Vec3) {
        Chassis::stop(self, impulse, angular_impulse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_fours::advance;

    /// A body that rotates about its intermediate axis tumbles and conserves its energy.
    #[test]
    fn a_tumbling_body_keeps_its_energy() {
        let inertia = Mat3::from_diagonal(Vec3::new(10e3, 60e3, 63e3));
        let hull = Hull { centre: Vec3::ZERO, half_extents: Vec3::ONE };
        let mut chassis = Chassis::rigid(15e3, inertia, hull);
        chassis.place(DVec3::ZERO, Quat::IDENTITY, [Vec3::ZERO, Vec3::new(0.1, 6.0, 0.1)]);
        let energy = |c: &Chassis| {
            let rate = c.axes.transpose() * c.angular;
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
