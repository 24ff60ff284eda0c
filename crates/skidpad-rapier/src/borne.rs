//! Free bodies under wheels that rest on something: what bears them, and how they move on it by what wheels push.
//!
//! Rapier solves contacts in few passes and after the wheels. Tonnes of load on a body of kilograms pressed it into what it lay on, and its
//! friction rattled it to and fro or flung it away. So its contacts are solved with the wheels here, and Rapier gets what they leave of
//! the pushes: little more than the body's own weight is left to its own contacts.

use rapier3d::prelude::*;
use skidpad_core::supports::{Given, Rigid, press_under_wheels};
use skidpad_core::{HullPoint, Mat3, Vec3};

/// A body under wheels and the points that bear it. World axes.
#[derive(Clone, Debug)]
pub(crate) struct Borne {
    pub handle: RigidBodyHandle,
    pub points: Vec<HullPoint>,
    /// What each of them is on; `None` where that has no body.
    pub on: Vec<Option<RigidBodyHandle>>,
    pub given: Vec<Given>,
    /// As it ends the step if neither wheels nor points push it.
    pub free: Moving,
    /// Share of a change of velocity, and of angular velocity, that its damping leaves of it.
    pub damped: [f32; 2],
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving {
    pub inverse_mass: f32,
    pub inverse_inertia: Mat3,
    pub velocity: Vec3,
    pub angular: Vec3,
}

impl Rigid for Moving {
    fn inverse_mass(&self) -> f32 {
        self.inverse_mass
    }

    fn spun_by(&self, angular_impulse: Vec3) -> Vec3 {
        self.inverse_inertia * angular_impulse
    }

    fn speed_at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.angular.cross(arm)
    }

    fn stop(&mut self, impulse: Vec3, angular_impulse: Vec3) {
        self.velocity += impulse * self.inverse_mass;
        self.angular += self.inverse_inertia * angular_impulse;
    }
}

impl Borne {
    /// How it ends a step of `dt` s if wheels push it by an impulse and an angular impulse.
    pub fn pushed(&mut self, [impulse, angular]: [Vec3; 2], dt: f32) -> Moving {
        let mut moving = self.free;
        moving.stop(impulse, angular);
        self.given.clear();
        self.given.extend(self.points.iter().map(|point| Given::nothing(point, dt)));
        press_under_wheels(&mut moving, &self.points, &mut self.given);
        moving
    }
}
