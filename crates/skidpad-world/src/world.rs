//! Bodies, rays, integration.

use skidpad_core::{
    Body, Contact, DVec3, Mat3, Model, Probe, Push, Quat, Scene, State, Vec3, WorldPort, math, model::Hull,
};

use crate::hull;

#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    velocity: Vec3,
    angular: Vec3,
}

/// A chassis: pose and twist of its centre of mass.
#[derive(Clone, Debug)]
pub struct Chassis {
    pub(crate) position: DVec3,
    pub(crate) rotation: Quat,
    /// The rotation as a matrix.
    pub(crate) axes: Mat3,
    pub(crate) velocity: Vec3,
    pub(crate) angular: Vec3,
    /// Half of what the push of this step changed: by so much the mean velocity over the step lags its end.
    lag: Motion,
    pub(crate) inverse_mass: f32,
    pub(crate) inertia: Mat3,
    pub(crate) inverse_inertia: Mat3,
    pub(crate) hull: Hull,
}

impl Chassis {
    /// A chassis of `model` in the pose and motion of `state`.
    pub fn new(model: &Model, state: &State) -> Self {
        let mut chassis = Self {
            position: DVec3::ZERO,
            rotation: Quat::IDENTITY,
            axes: Mat3::IDENTITY,
            velocity: Vec3::ZERO,
            angular: Vec3::ZERO,
            lag: Motion::default(),
            inverse_mass: model.inverse_mass(),
            inertia: *model.inertia(),
            inverse_inertia: *model.inverse_inertia(),
            hull: model.parts().hull,
        };
        chassis.adopt(state);
        chassis
    }

    /// Takes pose and twist from `state`.
    pub fn adopt(&mut self, state: &State) {
        self.position = state.position;
        self.rotation = state.rotation;
        self.axes = Mat3::from_quat(state.rotation);
        self.velocity = state.velocity;
        self.angular = state.angular;
        self.lag = Motion::default();
    }

    /// Changes the velocities over a whole step: the pose will move with their mean.
    fn push(&mut self, velocity: Vec3, angular: Vec3) {
        self.velocity += velocity;
        self.angular += angular;
        self.lag = Motion { velocity: velocity * 0.5, angular: angular * 0.5 };
    }

    /// Change of angular velocity by an angular impulse, both in world axes.
    pub(crate) fn spun_by(&self, angular_impulse: Vec3) -> Vec3 {
        self.axes * (self.inverse_inertia * (self.axes.transpose() * angular_impulse))
    }

    /// The pose moves with the mean of the velocities before and after the push, so constant forces are followed
    /// exactly; what stops the hull acts at once. Turning keeps the angular momentum in the world, so the gyroscopic
    /// term is exact in momentum and bounded in energy.
    fn advance(&mut self, dt: f32) {
        self.position += ((self.velocity - self.lag.velocity) * dt).as_dvec3();
        let before = self.axes;
        let momentum = before * (self.inertia * (before.transpose() * self.angular));
        self.rotation = math::turned(self.rotation, self.angular - self.lag.angular, dt);
        self.axes = Mat3::from_quat(self.rotation);
        self.angular = self.axes * (self.inverse_inertia * (self.axes.transpose() * momentum));
        self.lag = Motion::default();
    }

    fn is_finite(&self) -> bool {
        let (p, q, v) = (self.position, self.rotation, self.velocity + self.angular);
        (p.x + p.y + p.z).is_finite() && (q.x + q.y + q.z + q.w + v.x + v.y + v.z).is_finite()
    }
}

/// Chassis on the ground of a scene.
#[derive(Clone, Debug)]
pub struct World {
    chassis: Vec<Chassis>,
    scene: Scene,
    normal: Vec3,
}

impl World {
    /// An empty world.
    pub fn new(scene: Scene) -> Self {
        Self { chassis: Vec::new(), normal: scene.normal(), scene }
    }

    /// Adds a chassis; its index is the number of chassis before it.
    pub fn add(&mut self, chassis: Chassis) {
        self.chassis.push(chassis);
    }

    /// The chassis, in order.
    pub fn chassis_mut(&mut self) -> &mut [Chassis] {
        &mut self.chassis
    }

    /// Ends the step: hulls are kept out of the ground, then every pose moves with its new velocity.
    ///
    /// A chassis that would leave the finite numbers keeps its pose and stops.
    pub fn advance(&mut self, dt: f32) {
        for chassis in &mut self.chassis {
            hull::keep_out(chassis, self.normal, self.scene.grip, dt);
            let (position, rotation) = (chassis.position, chassis.rotation);
            chassis.advance(dt);
            if !chassis.is_finite() {
                (chassis.position, chassis.rotation, chassis.axes) = (position, rotation, Mat3::from_quat(rotation));
                (chassis.velocity, chassis.angular) = (Vec3::ZERO, Vec3::ZERO);
            }
        }
    }
}

impl WorldPort for World {
    fn bodies(&self, dt: f32, bodies: &mut [Body]) {
        let fall = Vec3::new(0.0, 0.0, -self.scene.gravity * dt);
        for (chassis, body) in self.chassis.iter().zip(bodies) {
            *body = Body {
                position: chassis.position,
                rotation: chassis.rotation,
                velocity: chassis.velocity,
                angular: chassis.angular,
                free_velocity: chassis.velocity + fall,
                free_angular: chassis.angular,
                lead: 0.5 * dt,
            };
        }
    }

    fn probe(&self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        let normal = self.normal;
        let wide = normal.as_dvec3();
        let mut height = (usize::MAX, 0.0f32);
        for (probe, answer) in asked.iter().zip(answered) {
            // The origin lies on the plane: the height of the body is one 64-bit product, the rest is relative to it.
            if probe.car != height.0 {
                height = (probe.car, probe.position.dot(wide) as f32);
            }
            let closing = -probe.direction.dot(normal);
            let distance = (height.1 + probe.offset.dot(normal)) / closing;
            let met = closing > 1e-3 && distance <= probe.reach;
            *answer = met.then_some(Contact { distance, normal, grip: self.scene.grip });
        }
    }

    fn push(&mut self, dt: f32, pushes: &[Push]) {
        let fall = Vec3::new(0.0, 0.0, -self.scene.gravity * dt);
        for (chassis, push) in self.chassis.iter_mut().zip(pushes) {
            let turn = chassis.spun_by(push.angular_impulse);
            chassis.push(fall + push.impulse * chassis.inverse_mass, turn);
        }
    }
}
