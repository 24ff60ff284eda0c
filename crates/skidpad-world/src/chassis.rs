//! Rigid bodies: a chassis or a free body, and what pushes and stops it.

use skidpad_core::supports::Rigid;
use skidpad_core::vectors::{Axes, Vec3Lanes};
use skidpad_core::{
    BODYWORK_FRICTION, BodyMotion, DVec3, FreeBody, Mat3, Model, Quat, State, Vec3,
    model::{Hull, Wheel},
};

use crate::turning::Turning;

/// A velocity of the centre of mass, m/s, and an angular velocity, rad/s, world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Motion {
    pub velocity: Vec3,
    pub angular: Vec3,
}

/// A chassis, or a free body: pose and twist of its centre of mass.
///
/// Its numbers lie as they are read: four after four, of four chassis.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Chassis {
    pub(crate) position: DVec3,
    pub(crate) rotation: Quat,
    /// The rotation as a matrix.
    pub(crate) axes: Mat3,
    pub(crate) velocity: Vec3,
    pub(crate) angular: Vec3,
    /// By so much the velocity the pose moves with lags that at the end of the step: half of what the push changed.
    pub(crate) lag: Motion,
    pub(crate) inertia: Mat3,
    pub(crate) inverse_inertia: Mat3,
    pub(crate) hull: Hull,
    /// No point of the hull is farther from the centre of mass, m.
    pub(crate) hull_reach: f32,
    pub(crate) inverse_mass: f32,
    /// Of the hull on a surface of grip 1.
    pub(crate) friction: f32,
    /// Factor on the friction of every tyre on it.
    pub(crate) grip: f32,
    /// No wheel reaches farther on its springs, m.
    pub(crate) wheel_reach: f32,
    /// Whether some wheel feels with more than a ray.
    pub(crate) has_rims: bool,
    /// Whether it is a free body that wheels push in this step.
    pub(crate) carries: bool,
    /// Neither pushed nor moved.
    pub(crate) away: bool,
    /// Number of the one it is hitched to, which it does not touch.
    pub(crate) towed_by: Option<u32>,
    /// Where it tows others, and where it is towed, from the centre of mass, vehicle axes, m.
    pub(crate) hitch: Vec3,
    pub(crate) coupler: Vec3,
    /// Whether it can be towed, and whether it can tow or be towed.
    pub(crate) is_trailer: bool,
    is_tied: bool,
}

impl Chassis {
    /// A chassis of `model` in the pose and motion of `state`.
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

    /// A chassis at rest at the origin: mass (kg, > 0), inertia about its centre of mass (kg m², positive definite), and
    /// the box that collides.
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

    /// A free body as it starts.
    pub fn free(body: &FreeBody) -> Self {
        let mut chassis = Self::rigid(body.mass, body.inertia, body.hull);
        (chassis.friction, chassis.grip) = (body.friction, body.grip);
        chassis.go_on_from(&body.motion);
        chassis
    }

    /// Goes on from `motion`.
    pub fn go_on_from(&mut self, motion: &BodyMotion) {
        self.place(motion.position, motion.rotation, [motion.velocity, motion.angular]);
    }

    /// Where it is and how it moves between two steps.
    pub fn motion_now(&self) -> BodyMotion {
        let Self { position, rotation, velocity, angular, .. } = *self;
        BodyMotion { position, rotation, velocity, angular }
    }

    /// Velocity of the centre of mass (m/s) and angular velocity (rad/s), world axes.
    pub fn twist(&self) -> [Vec3; 2] {
        [self.velocity, self.angular]
    }

    /// Puts the chassis somewhere: centre of mass (m), vehicle axes to world axes, and its twist as in
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

    /// From now on the chassis number `by` tows it: they do not touch, and what stops one of them stops the other.
    pub fn be_towed(&mut self, by: Option<u32>) {
        self.towed_by = by;
    }

    /// Whether something has stopped it in this step: its pose moves with the velocity it ends with.
    pub(crate) fn is_stopped(&self) -> bool {
        self.lag == Motion::default()
    }

    /// Changes the velocities over a whole step: the pose will move with their mean.
    pub(crate) fn push(&mut self, velocity: Vec3, angular: Vec3) {
        self.velocity += velocity;
        self.angular += angular;
        self.lag = Motion { velocity: velocity * 0.5, angular: angular * 0.5 };
    }

    /// Changes the velocities over a whole step, on top of what has pushed or stopped it already: the pose will move with their mean.
    pub(crate) fn push_on(&mut self, [velocity, angular]: [Vec3; 2]) {
        self.velocity += velocity;
        self.angular += angular;
        self.lag.velocity += velocity * 0.5;
        self.lag.angular += angular * 0.5;
    }

    /// Velocity (m/s) and angular velocity (rad/s) its pose moves with over this step, world axes.
    pub fn motion(&self) -> [Vec3; 2] {
        [self.velocity - self.lag.velocity, self.angular - self.lag.angular]
    }

    /// Its pose moves over this step with that velocity and angular velocity, whatever it ends with.
    pub(crate) fn move_with(&mut self, [velocity, angular]: [Vec3; 2]) {
        self.lag = Motion { velocity: self.velocity - velocity, angular: self.angular - angular };
    }

    /// Velocity of the point `arm` from the centre of mass (m, world axes), m/s.
    pub(crate) fn speed_at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.angular.cross(arm)
    }

    /// Stops the hull by impulses (N s, N m s). They act at once: the pose of this step moves with the velocity they leave.
    pub(crate) fn stop(&mut self, impulse: Vec3, angular_impulse: Vec3) {
        self.velocity += impulse * self.inverse_mass;
        self.angular += self.spun_by(angular_impulse);
        self.lag = Motion::default();
    }

    /// Change of angular velocity by an angular impulse, both in world axes.
    pub(crate) fn spun_by(&self, angular_impulse: Vec3) -> Vec3 {
        self.axes * (self.inverse_inertia * (self.axes.transpose() * angular_impulse))
    }

    /// About the centre of mass, N m s, world axes.
    pub(crate) fn angular_momentum(&self) -> Vec3 {
        let [x, y, z] = self.turning().momentum().to_array();
        Vec3::new(x, y, z)
    }

    /// Angular velocity in the middle of the coming `dt` s, rad/s.
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

    /// What its own momentum changes its angular velocity by in `dt` s, rad/s; told of what may be towed or tow alone.
    pub(crate) fn drift(&self, dt: f32) -> Vec3 {
        if !self.is_tied {
            return Vec3::ZERO;
        }
        -self.spun_by(self.angular.cross(self.angular_momentum())) * dt
    }
}

/// No part of a wheel is farther from the centre of mass on its springs, m.
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

    /// A body thrown about its middle axis tumbles; it keeps its energy.
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
            // ω dt is 0.1: the second order of it, with the change of sign it takes half a turn for.
            assert!((energy(&chassis) / start - 1.0).abs() < 0.01, "step {step}: {}", energy(&chassis) / start);
        }
    }
}
