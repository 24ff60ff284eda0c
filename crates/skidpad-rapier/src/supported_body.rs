//! Free bodies under wheels that rest on something: their supports, and their response to the impulses of wheels.
//!
//! Rapier solves contacts in few passes and after the wheels. A load of tonnes on a body of a few kilograms would press
//! it into the ground, and its friction would shake it or throw it away. The contacts of such a body are therefore
//! solved together with the wheels here. Rapier receives the sum of wheel and contact impulses, so that its own
//! contacts carry little more than the weight of the body.

use rapier3d::prelude::*;
use skidpad_core::contact_solver::{ContactImpulse, SolverBody, solve_under_wheels};
use skidpad_core::{HullPoint, Mat3, Vec3};

/// Body under wheels with the points that support it, in world axes.
#[derive(Clone, Debug)]
pub(crate) struct SupportedBody {
    /// Body in the Rapier world.
    pub handle: RigidBodyHandle,
    /// Contact points that may support the body; arms from its centre of mass, m.
    pub points: Vec<HullPoint>,
    /// Body at each of the points; `None` if it is not dynamic or has no body.
    pub supporting_bodies: Vec<Option<RigidBodyHandle>>,
    /// Impulses at the points in the last solve.
    pub impulses: Vec<ContactImpulse>,
    /// Motion at the end of the step without impulses of wheels and points.
    pub free_motion: RapierSolverBody,
    /// Factors by which the damping of the body reduces a change of velocity and a change of angular velocity.
    pub damping_factors: [f32; 2],
}

/// Mass properties and motion of a body, world axes: 1/kg, 1/(kg m²), m/s, rad/s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RapierSolverBody {
    /// Reciprocal of the mass, 1/kg.
    pub inverse_mass: f32,
    /// Inverse inertia about the centre of mass, 1/(kg m²).
    pub inverse_inertia: Mat3,
    /// Velocity of the centre of mass, m/s.
    pub velocity: Vec3,
    /// Angular velocity, rad/s.
    pub angular_velocity: Vec3,
}

impl SolverBody for RapierSolverBody {
    fn inverse_mass(&self) -> f32 {
        self.inverse_mass
    }

    fn angular_response(&self, angular_impulse: Vec3) -> Vec3 {
        self.inverse_inertia * angular_impulse
    }

    fn velocity_at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(arm)
    }

    fn apply_impulse(&mut self, impulse: Vec3, angular_impulse: Vec3) {
        self.velocity += impulse * self.inverse_mass;
        self.angular_velocity += self.inverse_inertia * angular_impulse;
    }
}

impl SupportedBody {
    /// Computes the motion at the end of a step of `dt` s in which wheels push the body. The push is an impulse (N s)
    /// and an angular impulse about its centre of mass (N m s), world axes. Starts from the free motion, applies the
    /// push undamped, and solves the contact points from zero impulses ([`solve_under_wheels`]). Replaces `impulses` by
    /// the impulses at the points, in order. The Rapier body does not change.
    pub fn motion_after_push(&mut self, [impulse, angular_impulse]: [Vec3; 2], dt: f32) -> RapierSolverBody {
        let mut motion = self.free_motion;
        motion.apply_impulse(impulse, angular_impulse);
        self.impulses.clear();
        self.impulses.extend(self.points.iter().map(|point| ContactImpulse::zero(point, dt)));
        solve_under_wheels(&mut motion, &self.points, &mut self.impulses);
        motion
    }
}
