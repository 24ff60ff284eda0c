//! Cars in Avian's world: their data from step to step.

use std::sync::Arc;

use avian3d::prelude::*;
use bevy_ecs::prelude::*;
use skidpad_bevy::{BEVY_AXES, CarHost, CarIndices};
use skidpad_core::{
    CarError, CarId, CarView, Cars, Contact, Controls, Model, Probe, State, StepReport, Vec3, Vehicle, WorldPort,
};
use skidpad_engines::PositionTracker;
use skidpad_impulse::Sweep;

use crate::car_slot::{CarBuffers, CarSlot};
use crate::chassis::{self, Chassis};
use crate::port::Port;
use crate::world::World;

/// Resource with the cars in Avian's world.
#[derive(Resource)]
pub struct AvianCars {
    /// Vehicles and their slots.
    pub(crate) cars: Cars,
    /// Chassis and data of each car, in order of slots.
    pub(crate) slots: Vec<CarSlot>,
    /// Slot of the car of each entity.
    pub(crate) indices: CarIndices,
    /// Controls of each car in the coming step.
    pub(crate) controls: Vec<Controls>,
    /// Buffers and data of all cars.
    pub(crate) buffers: CarBuffers,
    /// Report of the last step.
    pub(crate) report: StepReport,
    /// Velocity of the air, z up, m/s.
    pub(crate) wind: Vec3,
}

impl Default for AvianCars {
    /// Returns a resource without cars and without wind, with the single-pass solver [`Sweep`].
    fn default() -> Self {
        Self {
            // A single pass: Avian solves the bodies in its own step.
            cars: Cars::new(Vec::new(), &Sweep),
            slots: Vec::new(),
            indices: CarIndices::default(),
            controls: Vec::new(),
            buffers: CarBuffers::default(),
            report: StepReport::default(),
            wind: Vec3::ZERO,
        }
    }
}

impl AvianCars {
    /// Returns the number of the car with the entity `car`; `None` if there is none.
    pub fn number(&self, car: Entity) -> Option<usize> {
        self.indices.index_of(car)
    }

    /// Returns car `number` after its last step.
    pub fn car(&self, number: usize) -> CarView<'_> {
        self.cars.car(number)
    }

    /// Returns the report of the last step of all cars. The report includes misuse of the world, such as gravity that
    /// does not point down.
    pub fn report(&self) -> StepReport {
        self.report
    }

    /// Sets the velocity of the air from the next step on, in Bevy's axes, m/s.
    pub fn set_wind(&mut self, velocity: Vec3) {
        self.wind = BEVY_AXES.from_world(velocity);
    }

    /// Updates the joints of all trailers to the towing vehicles in their states. For each trailer whose towing vehicle
    /// changed, despawns the old joint, if any, and spawns a joint to the new towing vehicle, if any. The joints
    /// constrain no motion; they only disable collisions between the two vehicles. A towing slot that does not exist
    /// counts as none. The changes are queued in `commands`. After any change the lists of hitched bodies are rebuilt.
    pub(crate) fn update_hitch_joints(&mut self, commands: &mut Commands) {
        let mut has_changed = false;
        for car in 0..self.slots.len() {
            let towing_index = self.cars.vehicles()[car].state().tow.map(|tow| tow.towing_slot);
            // The joint already belongs to this towing vehicle, or there is none.
            if self.slots[car].tow_joint.map(|(joined_index, _)| joined_index) == towing_index {
                continue;
            }
            if let Some((_, joint)) = self.slots[car].tow_joint {
                commands.entity(joint).try_despawn();
            }
            let towing_chassis =
                towing_index.and_then(|towing_index| self.slots.get(towing_index as usize)).map(|slot| slot.chassis);
            // A joint of any length constrains nothing.
            let joint_entity = towing_chassis.map(|towing_chassis| {
                let unlimited_joint =
                    DistanceJoint::new(towing_chassis, self.slots[car].chassis).with_limits(0.0, f32::MAX);
                commands.spawn((unlimited_joint, JointCollisionDisabled)).id()
            });
            self.slots[car].tow_joint = towing_index.zip(joint_entity);
            has_changed = true;
        }
        if has_changed {
            self.update_hitched_bodies();
        }
    }

    /// Rebuilds the list `hitched_bodies` of each vehicle from the joints: trailer and towing vehicle are added to each
    /// other's list.
    fn update_hitched_bodies(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.hitched_bodies.clear());
        for car in 0..self.slots.len() {
            let Some((towing_index, _)) = self.slots[car].tow_joint else { continue };
            // Chassis of the trailer and of its towing vehicle.
            let chassis_pair = [car, towing_index as usize].map(|car| self.slots[car].chassis);
            self.slots[car].hitched_bodies.push(chassis_pair[1]);
            self.slots[towing_index as usize].hitched_bodies.push(chassis_pair[0]);
        }
    }
}

/// Host for cars in Avian's world.
pub(crate) struct Host<'a, 'w, 's, 'cw, 'cs> {
    /// Vehicles and their slots.
    pub cars: &'a mut Cars,
    /// Chassis and data of each car.
    pub slots: &'a mut Vec<CarSlot>,
    /// Buffers and data of all cars.
    pub buffers: &'a mut CarBuffers,
    /// Queue for changes of entities.
    pub commands: &'a mut Commands<'cw, 'cs>,
    /// Read access to Avian's world.
    pub world: &'a World<'w, 's>,
}

impl Host<'_, '_, '_, '_, '_> {
    /// Sets the position that Avian has for the chassis of car `number` to `position` (axes of the cars, m), and its
    /// transform to this position with the rotation of the state. The 64-bit position is that of the state; its tracker
    /// restarts with both positions. Velocities do not change. Implements
    /// [`skidpad_core::Simulation::set_engine_position`].
    pub fn set_engine_position(&mut self, number: usize, position: Vec3) {
        let (world_position, slot) = (BEVY_AXES.to_world(position), &mut self.slots[number]);
        let state = self.cars.car(number).state;
        slot.position_tracker =
            PositionTracker::with_engine_position(BEVY_AXES.point_to_world(state.position), world_position);
        self.commands.entity(slot.chassis).try_insert(chassis::pose_bundle_at(world_position, state));
    }

    /// Suspends car `number` and disables its chassis ([`skidpad_core::Simulation::suspend`]). Returns an error, and
    /// changes nothing, if the slot does not exist or is empty.
    pub fn suspend(&mut self, number: usize) -> Result<(), CarError> {
        self.cars.suspend(number)?;
        self.disable(number);
        Ok(())
    }

    /// Resumes car `number`, whose entity is `car`, with `state`, moves its chassis there and enables it
    /// ([`skidpad_core::Simulation::resume`]). Returns an error, and changes nothing, if the slot is empty or the
    /// number of wheels differs.
    pub fn resume(&mut self, number: usize, car: Entity, state: &State) -> Result<(), CarError> {
        self.cars.resume(number, state)?;
        self.move_chassis(number, car, state);
        Ok(())
    }

    /// Moves the chassis of car `number`, whose entity is `car`, to pose and velocities of `state`, and enables its
    /// body and collider. Sets the components that link car and chassis. These changes are queued. Restarts the 64-bit
    /// tracked position at once.
    fn move_chassis(&mut self, number: usize, car: Entity, state: &State) {
        let slot = &mut self.slots[number];
        slot.position_tracker = PositionTracker::new(BEVY_AXES.point_to_world(state.position));
        self.commands
            .entity(slot.chassis)
            .try_remove::<(RigidBodyDisabled, ColliderDisabled)>()
            .try_insert((chassis::pose_bundle(state), chassis::ChassisOf(car)));
        self.commands.entity(car).try_insert(Chassis(slot.chassis));
    }

    /// Disables body and collider of the chassis of car `number`.
    fn disable(&mut self, number: usize) {
        self.commands.entity(self.slots[number].chassis).try_insert((RigidBodyDisabled, ColliderDisabled));
    }
}

impl CarHost for Host<'_, '_, '_, '_, '_> {
    /// Spawns a chassis for the car in `state` and inserts its vehicle into the lowest empty slot, or appends a slot.
    /// If the slot was used before, its old chassis is despawned, together with the hitch joints of the removed vehicle
    /// to its towing vehicle and to its trailers. Returns the identifier of the car.
    fn insert(&mut self, car: Entity, model: &Arc<Model>, state: &State) -> CarId {
        let chassis = self.commands.spawn(chassis::chassis_bundle(car, model, state)).id();
        let position_tracker = PositionTracker::new(BEVY_AXES.point_to_world(state.position));
        let slot = CarSlot {
            chassis,
            position_tracker,
            end_velocity: Vec3::ZERO,
            near_colliders: Vec::new(),
            tow_joint: None,
            hitched_bodies: Vec::new(),
        };
        let id = self.cars.insert(Vehicle::new(model.clone(), state.clone()));
        let Some(existing_slot) = self.slots.get_mut(id.slot()) else {
            self.slots.push(slot);
            return id;
        };
        let old_slot = core::mem::replace(existing_slot, slot);
        // The slot is used again: its old chassis and joints are removed. Avian leaks memory if a collider is despawned
        // while it is disabled.
        self.commands.entity(old_slot.chassis).try_remove::<(RigidBodyDisabled, ColliderDisabled)>().try_despawn();
        let is_towed_by_removed = |tow_joint: &(u32, Entity)| tow_joint.0 as usize == id.slot();
        let trailer_joints = self
            .slots
            .iter_mut()
            .filter_map(|trailer| trailer.tow_joint.take_if(|tow_joint| is_towed_by_removed(tow_joint)));
        for (_, joint) in trailer_joints.chain(old_slot.tow_joint) {
            self.commands.entity(joint).try_despawn();
        }
        id
    }

    fn model(&self, number: usize) -> &Arc<Model> {
        self.cars.car(number).model
    }

    fn set_state(&mut self, number: usize, car: Entity, state: &State) {
        if self.cars.set_state(number, state).is_ok() {
            self.move_chassis(number, car, state);
        }
    }

    fn remove(&mut self, car: CarId) {
        if let Ok(number) = self.cars.remove(car) {
            self.disable(number);
        }
    }

    /// Returns the contact of `probe` between steps; `None` for a miss. Neither world nor states change, only buffers
    /// of the cars: the list of colliders near the car, and the walls at rims.
    fn probe_ground(&mut self, probe: &Probe) -> Option<Contact> {
        let mut contacts = [None];
        // A probe between steps wakes and pushes nothing.
        let mut port = Port::new(self.world, self.slots, self.buffers, Vec3::ZERO);
        port.probe(&[*probe], &mut contacts);
        contacts[0]
    }
}
