//! Data that the adapter stores for each car in addition to the vehicle.

use rapier3d::prelude::*;
use skidpad_core::Vehicle;
use skidpad_engines::PositionTracker;

use crate::WorldAxes;
use crate::ground::GroundMemory;
use crate::sleep::SleepState;

/// Data of one car in addition to its vehicle.
#[derive(Clone, Debug)]
pub(crate) struct CarSlot {
    /// Chassis in the Rapier world.
    pub handle: RigidBodyHandle,
    /// Whether the car was suspended because its body was removed or disabled. The car resumes together with the body.
    pub is_suspended_with_body: bool,
    /// Force and torque of the user on the body, restored after the step.
    pub user_forces: (Vector, Vector),
    /// Position of the centre of mass in 64 bits, in world axes.
    pub position_tracker: PositionTracker,
    /// Controls and state at the last step awake, which decide whether the car may sleep.
    pub sleep: SleepState,
    /// Collision groups of the first collider of the chassis, which decide what its wheels can stand on.
    pub collision_groups: Option<InteractionGroups>,
    /// Ground of its wheels at the last probe.
    pub ground_contacts: Vec<GroundMemory>,
    /// Colliders that the rays of the coming step, or the hull, may touch.
    pub near_colliders: Vec<ColliderHandle>,
    /// Index of the vehicle that tows it, and the joint between the two.
    pub tow_joint: Option<(u32, ImpulseJointHandle)>,
    /// Bodies it tows or is towed by; its wheels do not stand on them.
    pub hitched_bodies: Vec<RigidBodyHandle>,
}

impl CarSlot {
    /// Restores the support of a car that was woken within the step and fell under gravity: applies its last push
    /// before it fell asleep to `body`. The change of velocity (impulse over the mass of the model) is added to the
    /// velocity and moves the position for `move_time` s; the angular impulse changes only the angular velocity.
    /// Impulses on the hull are left out.
    pub fn wake(&self, body: &mut RigidBody, axes: WorldAxes, vehicle: &Vehicle, move_time: f32) {
        let velocity_change = axes.to_world(self.sleep.last_push.impulse * vehicle.model().inverse_mass());
        // `false`: the body is awake already.
        body.set_translation(body.translation() + velocity_change * move_time, false);
        body.set_linvel(body.linvel() + velocity_change, false);
        body.apply_torque_impulse(axes.to_world(self.sleep.last_push.angular_impulse), false);
    }
}
