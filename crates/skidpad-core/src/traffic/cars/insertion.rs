//! Insertion, removal, suspension and relocation of the vehicles of a world.

use std::sync::Arc;

use crate::port::{ChassisImpulse, ChassisState};
use crate::simulation::slots::{CarError, CarId, Slots};
use crate::state::State;
use crate::step::batch::{BATCH_LANES, CarBatch};
use crate::step_report::StepReport;
use crate::traffic::cars::{Cars, PLACEHOLDER_PROBE};
use crate::vehicle::Vehicle;
use bevy_math::Vec3;

impl Cars {
    /// Inserts a vehicle into the lowest empty slot, or appends a slot, and returns the identifier of the car. The slot
    /// is also the number of the car's body in the world.
    ///
    /// Between [`Cars::begin_step`] and [`Cars::write_back`] a slot is always appended: vehicles that are stepped in
    /// one batch with an empty slot have unfinished rows then.
    pub fn insert(&mut self, vehicle: Vehicle) -> CarId {
        let wheel_count = vehicle.model().wheels().len();
        let car = if self.is_in_step { self.slots.append(wheel_count) } else { self.slots.allocate(wheel_count) };
        let slot = car.slot();
        self.wheel_count += wheel_count;
        if slot == self.vehicles.len() {
            self.append_slot(vehicle);
        } else {
            self.reuse_slot(slot, vehicle);
        }
        self.probes.resize(self.wheel_count.max(self.probes.len()), PLACEHOLDER_PROBE);
        self.contacts.resize(self.probes.len(), None);
        // Reserved here, because a step must not allocate.
        self.reactions.reserve(self.probes.len() - self.reactions.len());
        let vehicle = &self.vehicles[slot];
        let parts = vehicle.model().parts();
        if parts.hitch.is_some() || parts.coupler.is_some() {
            self.trains.get_or_insert_default().insert(slot, vehicle);
        }
        self.stacked_vehicles.insert(&self.vehicles, slot, self.wheel_count);
        car
    }

    /// Appends the entries of a slot that holds `vehicle`: body at the origin, no impulses, not stepped, state just
    /// set. Then creates the batch if the slot completes one.
    fn append_slot(&mut self, vehicle: Vehicle) {
        self.bodies.push(ChassisState::AT_ORIGIN);
        self.impulses.push(ChassisImpulse::default());
        self.free_velocities.push(Vec3::ZERO);
        self.state_was_set.push(true);
        self.near_obstacle.push(false);
        self.is_stepped.push(false);
        self.were_batched.push(false);
        self.reports.push(StepReport::default());
        self.vehicles.push(vehicle);
        self.create_batches();
    }

    /// Replaces the removed vehicle in `slot` by `vehicle` and resets every entry of the slot as in
    /// [`Cars::append_slot`]. Frees the stack snapshots of the old model if no vehicle uses it, uncouples trailers that
    /// name the slot, and removes the slot from the trains. If the slot is in a complete group of eight slots, keeps
    /// the batch of the group, with outdated signals of this slot, while all its vehicles have the model of the batch;
    /// otherwise replaces it by a new one, or by `None` if the models differ. Subtracts the wheels of the old vehicle
    /// from `wheel_count`; the caller adds those of `vehicle`.
    fn reuse_slot(&mut self, slot: usize, vehicle: Vehicle) {
        let removed = core::mem::replace(&mut self.vehicles[slot], vehicle);
        self.wheel_count -= removed.model().wheels().len();
        if !self.vehicles.iter().any(|vehicle| Arc::ptr_eq(vehicle.model(), removed.model())) {
            self.stacked_vehicles.remove_model(removed.model());
        }
        // A loaded state may name the empty slot as its towing vehicle.
        self.uncouple_trailers(slot);
        if let Some(trains) = &mut self.trains {
            trains.remove(slot);
        }
        self.bodies[slot] = ChassisState::AT_ORIGIN;
        (self.impulses[slot], self.reports[slot]) = Default::default();
        (self.free_velocities[slot], self.state_was_set[slot]) = (Vec3::ZERO, true);
        (self.near_obstacle[slot], self.is_stepped[slot]) = (false, false);
        let first_slot = slot - slot % BATCH_LANES;
        let Some(vehicles) = self.vehicles.get(first_slot..first_slot + BATCH_LANES) else { return };
        match self.batches.get_mut(first_slot / BATCH_LANES) {
            Some(Some(batch)) if batch.matches(vehicles) => batch.invalidate_signals(slot % BATCH_LANES),
            Some(_) => {
                self.were_batched[first_slot] = false;
                let batch = CarBatch::new(vehicles[0].model(), &self.batches).filter(|batch| batch.matches(vehicles));
                self.batches[first_slot / BATCH_LANES] = batch;
            }
            None => (),
        }
    }

    /// Creates the workspace of each complete group of [`BATCH_LANES`] slots without one; `None` for a group that
    /// cannot be batched. Does nothing unless the solver has a pass for batches.
    fn create_batches(&mut self) {
        if self.solver.batch_pass().is_none() {
            return;
        }
        for vehicles in self.vehicles.chunks_exact(BATCH_LANES).skip(self.batches.len()) {
            let batch = CarBatch::new(vehicles[0].model(), &self.batches);
            self.batches.push(batch.filter(|batch| batch.matches(vehicles)));
        }
    }

    /// Returns the slots of the vehicles.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Returns the slots for [`Slots::restore`] and [`Slots::copy_identifiers`], which the loading of a saved world
    /// needs.
    pub fn slots_mut(&mut self) -> &mut Slots {
        &mut self.slots
    }

    /// Sets the state of the active vehicle in `slot`. The next step continues from `state`.
    ///
    /// # Errors
    /// The slot does not exist, is empty or holds a suspended vehicle, or `state` has another number of wheels. Nothing
    /// is changed then.
    pub fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.check_state(slot, state.wheels.len())?;
        self.overwrite_state(slot, state);
        Ok(())
    }

    /// Resumes the suspended vehicle in `slot` with `state`. For an active vehicle this is [`Cars::set_state`].
    ///
    /// # Errors
    /// The slot does not exist or is empty, or `state` has another number of wheels. Nothing is changed then.
    pub fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.resume(slot, state.wheels.len())?;
        self.overwrite_state(slot, state);
        Ok(())
    }

    /// Suspends the vehicle in `slot`: it is not stepped until [`Cars::resume`]. Does nothing to a suspended vehicle.
    ///
    /// # Errors
    /// The slot does not exist or is empty.
    pub fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.slots.suspend(slot)
    }

    /// Removes `car` for good, uncouples its trailers and returns its slot, which a vehicle inserted later reuses. The
    /// vehicle and its body remain in the slot until then, but are not stepped.
    ///
    /// # Errors
    /// The slot does not exist, or the car was removed before.
    pub fn remove(&mut self, car: CarId) -> Result<usize, CarError> {
        let slot = self.slots.release(car)?;
        self.uncouple_trailers(slot);
        Ok(slot)
    }

    /// Sets the tow state of every vehicle that names `slot` as its towing vehicle to `None`.
    fn uncouple_trailers(&mut self, slot: usize) {
        for trailer in &mut self.vehicles {
            trailer.state.tow = trailer.state.tow.filter(|tow| tow.towing_slot as usize != slot);
        }
    }

    /// Overwrites the state of the vehicle in `slot` and discards the signals of its last step (contacts, engine,
    /// motion input). Does not change its body in the world.
    fn overwrite_state(&mut self, slot: usize, state: &State) {
        self.vehicles[slot].set_state(state);
        self.state_was_set[slot] = true;
        if let Some(Some(batch)) = self.batches.get_mut(slot / BATCH_LANES) {
            batch.invalidate_signals(slot % BATCH_LANES);
        }
    }
}
