//! Vehicles that enter, leave, are suspended and are put elsewhere.

use std::sync::Arc;

use crate::state::State;
use crate::step::abreast::{ABREAST, CarsAbreast};
use crate::step::coupling::{Coupling, StepReport};
use crate::step::vehicle::{CHASSIS_AT_ORIGIN, Vehicle};
use crate::world::cars::{Cars, NOWHERE};
use crate::world::seam::Push;
use crate::world::slots::{CarError, CarId, Slots};
use bevy_math::Vec3;

impl Cars {
    /// Takes another vehicle into the lowest empty slot, or into a new one behind all others; returns its name. The number of its body is
    /// its slot.
    pub fn insert(&mut self, vehicle: Vehicle) -> CarId {
        let car = self.slots.take();
        let slot = car.slot();
        self.wheels += vehicle.model().wheels().len();
        if slot == self.vehicles.len() {
            self.add_slot(vehicle);
        } else {
            self.fill_slot(slot, vehicle);
        }
        self.probes.resize(self.wheels.max(self.probes.len()), NOWHERE);
        self.contacts.resize(self.probes.len(), None);
        // No step is to ask for memory.
        self.reactions.reserve(self.probes.len() - self.reactions.len());
        let vehicle = &self.vehicles[slot];
        let parts = vehicle.model().parts();
        if parts.hitch.is_some() || parts.coupler.is_some() {
            self.trains.get_or_insert_default().insert(slot, vehicle);
        }
        self.riders.insert(&self.vehicles, slot, self.wheels);
        car
    }

    /// Adds a slot with `vehicle` in it.
    fn add_slot(&mut self, vehicle: Vehicle) {
        self.bodies.push(CHASSIS_AT_ORIGIN);
        self.pushes.push(Push::default());
        self.free.push(Vec3::ZERO);
        self.put.push(true);
        self.near.push(false);
        self.stepped.push(false);
        self.were_abreast.push(false);
        self.reports.push(StepReport::default());
        self.vehicles.push(vehicle);
        self.make_room_abreast();
    }

    /// Puts `vehicle` in place of the one that was removed from `slot`. Nothing of that one is left: those it towed are on their own.
    fn fill_slot(&mut self, slot: usize, vehicle: Vehicle) {
        let removed = core::mem::replace(&mut self.vehicles[slot], vehicle);
        self.wheels -= removed.model().wheels().len();
        if !self.vehicles.iter().any(|vehicle| Arc::ptr_eq(vehicle.model(), removed.model())) {
            self.riders.forget(removed.model());
        }
        self.unhitch_from(slot);
        if let Some(trains) = &mut self.trains {
            trains.remove(slot);
        }
        self.bodies[slot] = CHASSIS_AT_ORIGIN;
        (self.pushes[slot], self.reports[slot]) = Default::default();
        (self.free[slot], self.put[slot]) = (Vec3::ZERO, true);
        (self.near[slot], self.stepped[slot]) = (false, false);
        let first = slot - slot % ABREAST;
        let Some(vehicles) = self.vehicles.get(first..first + ABREAST) else { return };
        match self.abreast.get_mut(first / ABREAST) {
            Some(Some(room)) if room.fits(vehicles) => room.forget(slot % ABREAST),
            Some(_) => {
                self.were_abreast[first] = false;
                let room = CarsAbreast::of(vehicles[0].model(), &self.abreast).filter(|room| room.fits(vehicles));
                self.abreast[first / ABREAST] = room;
            }
            None => (),
        }
    }

    fn make_room_abreast(&mut self) {
        if self.coupling != Coupling::OneSweep {
            return;
        }
        for vehicles in self.vehicles.chunks_exact(ABREAST).skip(self.abreast.len()) {
            let room = CarsAbreast::of(vehicles[0].model(), &self.abreast);
            self.abreast.push(room.filter(|room| room.fits(vehicles)));
        }
    }

    /// The slots.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The slots, to be put back to what they were when a world was saved.
    pub fn slots_mut(&mut self) -> &mut Slots {
        &mut self.slots
    }

    /// Puts the vehicle in `slot` into `state`, from which the next step continues.
    ///
    /// # Errors
    /// No such slot, no vehicle in it, a suspended one, or a state of another number of wheels. Nothing has changed then.
    pub fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.check_state(slot, self.wheels_of(slot, state))?;
        self.put(slot, state);
        Ok(())
    }

    /// Steps the vehicle in `slot` again, from `state` on; one that is active is put into `state`.
    ///
    /// # Errors
    /// No such slot, no vehicle in it, or a state of another number of wheels. Nothing has changed then.
    pub fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError> {
        self.slots.resume(slot, self.wheels_of(slot, state))?;
        self.put(slot, state);
        Ok(())
    }

    /// Steps the vehicle in `slot` no more, until [`Cars::resume`]: it casts no ray and pushes nothing.
    ///
    /// # Errors
    /// No such slot, or no vehicle in it.
    pub fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.slots.suspend(slot)
    }

    /// Takes `car` out for good, and lets go what it tows; returns its slot, which the next vehicle gets.
    ///
    /// # Errors
    /// The car is not among these, or no more.
    pub fn remove(&mut self, car: CarId) -> Result<usize, CarError> {
        let slot = self.slots.release(car)?;
        self.unhitch_from(slot);
        Ok(slot)
    }

    /// Lets go what the vehicle in `slot` tows.
    fn unhitch_from(&mut self, slot: usize) {
        for trailer in &mut self.vehicles {
            trailer.state.tow = trailer.state.tow.filter(|tow| tow.by as usize != slot);
        }
    }

    /// Wheels of `state` and of the vehicle in `slot`.
    fn wheels_of(&self, slot: usize, state: &State) -> [usize; 2] {
        let accepts = self.vehicles.get(slot).map_or(0, |vehicle| vehicle.model().wheels().len());
        [state.wheels.len(), accepts]
    }

    fn put(&mut self, slot: usize, state: &State) {
        self.vehicles[slot].set_state(state);
        self.put[slot] = true;
        if let Some(Some(room)) = self.abreast.get_mut(slot / ABREAST) {
            room.forget(slot % ABREAST);
        }
    }
}
