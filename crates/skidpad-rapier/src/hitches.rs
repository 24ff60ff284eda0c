//! Hitches as Rapier joints.
//!
//! The vehicles' own solve closes a hitch together with the rows of all wheels and leaves almost nothing to the joint.
//! The joint transmits what Rapier does to a hull. Without it, a car that hits a wall would leave a gap to its trailer
//! of one step's travel.

use rapier3d::prelude::*;
use skidpad_core::{Cars, Vehicle, gap_correction_share};
use skidpad_engines::resolution;

use crate::RapierCars;
use crate::car_slot::CarSlot;

/// Damping ratio of a joint that closes a fifth of its gap per step. A joint with this value yields by only a
/// thousandth of what it has to hold.
const JOINT_DAMPING_RATIO: f32 = 5.0;

/// Minimum share of a gap that a joint closes per step. Rapier treats a joint with a share of zero as undamped.
const MIN_CLOSED_GAP_SHARE: f32 = 1e-6;

impl RapierCars {
    /// Updates the joints of all trailers to the towing vehicles in their states. For each trailer whose towing vehicle
    /// changed, removes the old joint, if any, then inserts a joint to the new towing vehicle, if any. The new joint
    /// disables contacts between the two vehicles and locks no axis. Removal and insertion wake both bodies.
    ///
    /// Unchanged hitches keep their joint. A towing slot that does not exist counts as none. Rebuilds the lists of
    /// hitched bodies after each change.
    pub(crate) fn update_hitch_joints(&mut self, joints: &mut ImpulseJointSet) {
        for car in 0..self.slots.len() {
            let tow = self.cars.vehicles()[car].state().tow;
            let towing_slot = tow.map(|tow| tow.towing_slot).filter(|slot| (*slot as usize) < self.slots.len());
            if self.slots[car].tow_joint.map(|(slot, _)| slot) == towing_slot {
                continue;
            }
            if let Some((_, joint)) = self.slots[car].tow_joint {
                // `true`: wakes both bodies.
                joints.remove(joint, true);
            }
            self.slots[car].tow_joint = towing_slot.map(|slot| (slot, self.insert_hitch(joints, slot as usize, car)));
            self.update_hitched_bodies();
        }
    }

    /// Forgets the hitch joints between the removed vehicle of `slot` and its trailers, which Rapier removed together
    /// with its body, and rebuilds the lists of hitched bodies.
    pub(crate) fn clear_hitches_of(&mut self, slot: usize) {
        for trailer in &mut self.slots {
            trailer.tow_joint = trailer.tow_joint.filter(|(towing_slot, _)| *towing_slot as usize != slot);
        }
        self.update_hitched_bodies();
    }

    /// Inserts a joint between the hitch of vehicle `towing` and the coupler of `trailer`, and returns its handle. The
    /// joint locks no axis and disables contacts between the two vehicles. Both bodies wake. A vehicle without hitch or
    /// coupler is attached at its centre of mass.
    fn insert_hitch(&self, joints: &mut ImpulseJointSet, towing: usize, trailer: usize) -> ImpulseJointHandle {
        let [towing_parts, trailer_parts] = [towing, trailer].map(|car| self.cars.vehicles()[car].model().parts());
        let anchors = [towing_parts.hitch.unwrap_or_default().point, trailer_parts.coupler.unwrap_or_default().point];
        let [hitch, coupler] = anchors.map(|anchor| self.axes.to_world(anchor));
        let unlocked_joint =
            GenericJointBuilder::new(JointAxesMask::empty()).local_anchor1(hitch).local_anchor2(coupler);
        let handles = [towing, trailer].map(|car| self.slots[car].handle);
        // `true`: wakes both bodies.
        joints.insert(handles[0], handles[1], unlocked_joint.contacts_enabled(false), true)
    }

    /// Rebuilds the list `hitched_bodies` of each vehicle from the joints: a trailer gets its towing vehicle, and this
    /// one the trailer. Ignores towing vehicles that do not exist, as in a damaged save.
    pub(crate) fn update_hitched_bodies(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.hitched_bodies.clear());
        for car in 0..self.slots.len() {
            let Some((towing_slot, _)) = self.slots[car].tow_joint else { continue };
            let Some(towing_vehicle) = self.slots.get(towing_slot as usize) else { continue };
            let [trailer_handle, towing_handle] = [self.slots[car].handle, towing_vehicle.handle];
            self.slots[car].hitched_bodies.push(towing_handle);
            self.slots[towing_slot as usize].hitched_bodies.push(trailer_handle);
        }
    }
}

/// Locks the three translations of the joint of each trailer that is hitched in this step of `dt` s. Unlocks the joints
/// of all other trailers, which leaves both bodies free. [`Cars::towing_slots`] returns a towing slot only while the
/// hitch is closed.
///
/// The softness of a locked joint makes it close the same share of its gap per step as the hitch rows (equations) of
/// the vehicles' own solver ([`joint_softness`]). No body is woken. Cars without joint are skipped.
pub(crate) fn lock_closed_hitches(joints: &mut ImpulseJointSet, cars: &Cars, slots: &[CarSlot], dt: f32) {
    for (car, towing_slot) in cars.towing_slots() {
        // `false`: wakes no body.
        let Some(joint) = slots[car].tow_joint.and_then(|(_, joint)| joints.get_mut(joint, false)) else { continue };
        joint.data.locked_axes = JointAxesMask::empty();
        if let Some(towing_slot) = towing_slot {
            // `[towing vehicle, trailer]`; the inner `car` is the slot of either.
            let hitched_vehicles = [towing_slot as usize, car].map(|car| &cars.vehicles()[car]);
            joint.data.locked_axes = JointAxesMask::LIN_AXES;
            joint.data.softness = joint_softness(closed_gap_share(hitched_vehicles, dt), dt);
        }
    }
}

/// Returns the share of the gap between the hitch of `towing` and the coupler of `trailer` that the vehicles' own
/// solver closes in a step of `dt` s, 0 to 0.2 ([`gap_correction_share`]). The share depends on the length of the gap
/// and on the coarser resolution of both 32-bit positions. A missing hitch or coupler counts as the centre of mass.
fn closed_gap_share([towing, trailer]: [&Vehicle; 2], dt: f32) -> f32 {
    let hitch = towing.model().parts().hitch.unwrap_or_default().point;
    let coupler = trailer.model().parts().coupler.unwrap_or_default().point;
    let [towing_state, trailer_state] = [towing.state(), trailer.state()];
    let gap = (trailer_state.position - towing_state.position).as_vec3() + trailer_state.rotation * coupler
        - towing_state.rotation * hitch;
    let resolutions = [towing_state, trailer_state].map(|state| resolution(state.position.as_vec3()));
    gap_correction_share(gap.length(), resolutions[0].max(resolutions[1]), dt)
}

/// Returns the softness with which a joint closes `share` of its gap in a step of `dt` s. `share` is at least
/// [`MIN_CLOSED_GAP_SHARE`].
///
/// Rapier closes the share ω / (ω t + 2 ζ) per second, where ω is the natural frequency, ζ the damping ratio and t the
/// length of a substep. The term ω t is neglected here, which overestimates the rate by a fifth with one substep and by
/// a twentieth with four. The compliance of the joint is proportional to 1 / (share ζ²), and ζ is chosen to keep it
/// constant.
fn joint_softness(share: f32, dt: f32) -> SpringCoefficients<f32> {
    let share = share.max(MIN_CLOSED_GAP_SHARE);
    // Keeps share ζ² constant; JOINT_DAMPING_RATIO belongs to the share 0.2, the largest one.
    let damping_ratio = JOINT_DAMPING_RATIO * (0.2 / share).sqrt();
    // Natural frequency in Hz: ω = 2 ζ share / dt.
    SpringCoefficients::new(2.0 * damping_ratio * share / dt / core::f32::consts::TAU, damping_ratio)
}
