//! Forces of one's own on a chassis: a rocket, a tow rope, a sail.

use core::fmt::Debug;
use std::sync::Arc;

use crate::controls::Controls;
use crate::world::seam::Body;
use bevy_math::{DVec3, Mat3, Quat, Vec3};

/// How a chassis moves at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Centre of mass, world, m.
    pub position: DVec3,
    /// Vehicle axes to world axes.
    pub rotation: Quat,
    /// Of the centre of mass, world, m/s.
    pub velocity: Vec3,
    /// World, rad/s.
    pub angular: Vec3,
    /// Of the air, world, m/s.
    pub wind: Vec3,
    /// Length of the step, s.
    pub dt: f32,
}

impl Motion {
    pub(crate) fn of(body: &Body, dt: f32) -> Self {
        let Body { position, rotation, velocity, angular, wind, .. } = *body;
        Self { position, rotation, velocity, angular, wind, dt }
    }

    /// Where `point` of the vehicle (vehicle frame, m) is in the world, m.
    pub fn point(&self, point: Vec3) -> DVec3 {
        self.position + (self.rotation * point).as_dvec3()
    }

    /// Velocity of `point` of the vehicle (vehicle frame, m), world, m/s.
    pub fn point_velocity(&self, point: Vec3) -> Vec3 {
        self.velocity + self.angular.cross(self.rotation * point)
    }
}

/// What a force element does to a chassis over one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Action {
    /// World, N.
    pub force: Vec3,
    /// Where the force acts, vehicle frame, m.
    pub point: Vec3,
    /// Beside that of the force, world, N m.
    pub moment: Vec3,
    /// By how much the force falls for each m/s that its point moves along it, N s/m, ≥ 0. With it the force is taken
    /// implicitly, so that no spring and no damper is too stiff for a step: `c + k dt` for those of `k` N/m and `c` N s/m
    /// whose force is told as `k (x + v dt) + c v`.
    pub damping: f32,
}

impl Action {
    /// Force and moment about the centre of mass in the vehicle frame, means over a step of `dt` s of a chassis with these
    /// inverse mass and inertia.
    pub(crate) fn wrench(&self, to_world: &Mat3, inverse_mass: f32, inverse_inertia: &Mat3, dt: f32) -> (Vec3, Vec3) {
        let to_vehicle = to_world.transpose();
        let force = to_vehicle * self.force;
        let direction = force.normalize_or_zero();
        let turn = self.point.cross(direction);
        let give = inverse_mass + turn.dot(*inverse_inertia * turn);
        let force = force / (1.0 + self.damping.max(0.0) * dt * give);
        (force, self.point.cross(force) + to_vehicle * self.moment)
    }
}

/// A force of one's own: what it does is a function of the motion and the controls alone, so that a rewound car meets it
/// again as it was. It must not allocate, block or read a clock; numbers that are not finite end the step as any do.
///
/// Solvers of skidpad's rows have it act on the chassis with what else acts from outside the tyres, and tell it in the
/// assist log. Peers do not know it.
pub trait ForceElement: Debug + Send + Sync {
    /// What it does in the coming step.
    fn act(&self, motion: &Motion, controls: &Controls) -> Action;
}

/// A force element shared by the cars of a model. Two are equal if they are the same one.
#[derive(Clone, Debug)]
pub struct Element(pub Arc<dyn ForceElement>);

impl Element {
    /// Of `element`.
    pub fn new(element: impl ForceElement + 'static) -> Self {
        Self(Arc::new(element))
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
