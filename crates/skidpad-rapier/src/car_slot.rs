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
    /// Colliders that the rays of the coming step may touch; within `apply_impulses`, those near the hull.
    pub near_colliders: Vec<ColliderHandle>,
    /// Slot of the vehicle that tows this car, and the joint between the two; `None` if it is not towed.
    pub tow_joint: Option<(u32, ImpulseJointHandle)>,
    /// Bodies of vehicles that the car tows or that tow it. Its wheels do not stand on them.
    pub hitched_bodies: Vec<RigidBodyHandle>,
}

impl CarSlot {
    /// Applies the last push of the wheels before sleep to `body`, for a car that was woken within the step and
    /// therefore fell under gravity without support. The change of velocity (impulse over the mass of the model) is
    /// added to the velocity, and moves the position as if it acted for `move_time` s. The angular impulse changes only
    /// the angular velocity. Impulses on the hull are left out.
    pub fn apply_last_push(&self, body: &mut RigidBody, axes: WorldAxes, vehicle: &Vehicle, move_time: f32) {
        let velocity_change = axes.to_world(self.sleep.last_push.impulse * vehicle.model().inverse_mass());
        // `false`: the body is awake already.
        body.set_translation(body.translation() + velocity_change * move_time, false);
        body.set_linvel(body.linvel() + velocity_change, false);
        body.apply_torque_impulse(axes.to_world(self.sleep.last_push.angular_impulse), false);
    }
}
