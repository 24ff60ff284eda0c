//! User-defined forces on a chassis: a rocket, a tow rope, a sail.

use core::fmt::Debug;
use std::sync::Arc;

use crate::controls::Controls;
use crate::port::ChassisState;
use bevy_math::{DVec3, Mat3, Quat, Vec3};

/// Motion of a chassis at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChassisMotion {
    /// Position of the centre of mass, world, m.
    pub position: DVec3,
    /// Rotation from vehicle axes to world axes.
    pub rotation: Quat,
    /// Velocity of the centre of mass, world, m/s.
    pub velocity: Vec3,
    /// Angular velocity, world, rad/s.
    pub angular_velocity: Vec3,
    /// Velocity of the air, world, m/s.
    pub wind: Vec3,
    /// Length of the step, s.
    pub dt: f32,
}

impl ChassisMotion {
    /// Reads the motion of `body` at the start of a step of `dt` s.
    pub(crate) fn new(body: &ChassisState, dt: f32) -> Self {
        let ChassisState { position, rotation, velocity, angular_velocity, wind, .. } = *body;
        Self { position, rotation, velocity, angular_velocity, wind, dt }
    }

    /// Returns the position of `point` (vehicle frame, m, from the centre of mass) in the world (m).
    pub fn point_position(&self, point: Vec3) -> DVec3 {
        self.position + (self.rotation * point).as_dvec3()
    }

    /// Returns the velocity of `point` (vehicle frame, m, from the centre of mass) in world axes (m/s): `v + ω × r`.
    pub fn point_velocity(&self, point: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(self.rotation * point)
    }
}

/// Action of a force element on a chassis over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForceElementOutput {
    /// Force, world, N.
    pub force: Vec3,
    /// Point of application of the force, vehicle frame, m.
    pub point: Vec3,
    /// Moment in addition to that of the force, world, N m.
    pub moment: Vec3,
    /// Damping along the force, N s/m, ≥ 0: decrease of the force per velocity of its point. The force is then
    /// integrated implicitly, which is stable for any stiffness. A spring of `k` N/m with a damper of `c` N s/m needs
    /// `c + k dt`, with the force `k (x + v dt) + c v`.
    pub damping: f32,
}

impl ForceElementOutput {
    /// Returns force (N) and moment about the centre of mass (N m) in the vehicle frame, as means over a step of `dt`
    /// s, for a chassis with this inverse mass (1/kg) and inertia.
    ///
    /// The force is integrated implicitly along its direction d: `F / (1 + c dt k)`, with the damping c (negative
    /// counts as 0) and the compliance of its point, `k = 1 / m + (r × d) · I⁻¹ (r × d)`. The moment is `r × F` plus
    /// the additional moment, which is not damped. `to_world` are the vehicle axes. Without force only the additional
    /// moment remains.
    pub(crate) fn wrench(&self, to_world: &Mat3, inverse_mass: f32, inverse_inertia: &Mat3, dt: f32) -> (Vec3, Vec3) {
        let to_vehicle = to_world.transpose();
        let force = to_vehicle * self.force;
        let direction = force.normalize_or_zero();
        let moment_arm = self.point.cross(direction);
        // Velocity of the point along the force per impulse (1/kg).
        let compliance = inverse_mass + moment_arm.dot(*inverse_inertia * moment_arm);
        let mean_force = force / (1.0 + self.damping.max(0.0) * dt * compliance);
        (mean_force, self.point.cross(mean_force) + to_vehicle * self.moment)
    }
}

/// User-defined force. The force must depend only on motion and controls, so that a rewound car repeats its motion
/// exactly. The function must not allocate, block or read a clock. Results that are not finite end the step like any
/// other such number.
///
/// Solvers based on skidpad's rows apply it to the chassis with other forces from outside the tyres, and report it in
/// the assist log. Peers ignore it.
pub trait ForceElement: Debug + Send + Sync {
    /// Returns the force and moment in the next step, from the motion at its start. Called once per step and car.
    fn evaluate(&self, motion: &ChassisMotion, controls: &Controls) -> ForceElementOutput;
}

/// Force element shared by the cars of a model. Elements are equal if they share one object.
#[derive(Clone, Debug)]
pub struct ExternalForce(pub Arc<dyn ForceElement>);

impl ExternalForce {
    /// Builds the shared element from `element`.
    pub fn new(element: impl ForceElement + 'static) -> Self {
        Self(Arc::new(element))
    }
}

impl PartialEq for ExternalForce {
    /// Returns true if both share one object; equal parameters do not suffice.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
