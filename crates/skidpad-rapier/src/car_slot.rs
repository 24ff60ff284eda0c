//! What the adapter keeps of one car beside its vehicle.

use rapier3d::prelude::*;
use skidpad_core::Vehicle;
use skidpad_engines::Track;

use crate::Axes;
use crate::ground::GroundMemory;
use crate::sleep::SleepState;

/// What the adapter keeps of one car.
#[derive(Clone, Debug)]
pub(crate) struct CarSlot {
    pub handle: RigidBodyHandle,
    /// Whether it has left since its body takes no part: it comes back with that.
    pub left_with_body: bool,
    /// Force and torque the user had on the body, restored after the step.
    pub user: (Vector, Vector),
    /// In the world's axes.
    pub track: Track,
    pub sleep: SleepState,
    /// What its wheels may stand on: the groups of the chassis' first collider.
    pub groups: Option<InteractionGroups>,
    /// What its wheels stood on when they last were asked.
    pub stands: Vec<GroundMemory>,
    /// What the rays of the coming step, or its hull, may meet.
    pub near: Vec<ColliderHandle>,
    /// Number of the vehicle that tows it, and the joint that lets both pass through each other.
    pub towed: Option<(u32, ImpulseJointHandle)>,
    /// Bodies it tows or is towed by: its wheels do not stand on them.
    pub tied: Vec<RigidBodyHandle>,
}

impl CarSlot {
    /// Something woke the body within the step, which gravity then pulled down without anything to hold it: what held it
    /// until it fell asleep acts now. `moving` is the time for which a velocity gained moves the pose.
    pub fn wake(&self, body: &mut RigidBody, axes: Axes, vehicle: &Vehicle, moving: f32) {
        let gained = axes.to_world(self.sleep.held.impulse * vehicle.model().inverse_mass());
        body.set_translation(body.translation() + gained * moving, false);
        body.set_linvel(body.linvel() + gained, false);
        body.apply_torque_impulse(axes.to_world(self.sleep.held.angular_impulse), false);
    }
}
