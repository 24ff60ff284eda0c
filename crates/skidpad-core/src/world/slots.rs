//! The slots of a world, in which its cars are, and the names of cars that outlive removals.
//!
//! A world keeps its cars in slots, counted from 0, and `controls[slot]` drives the car in a slot. The slot of a car that was removed
//! is given to the next car. Its generation counts the removals, so that a [`CarId`] never means another car.

/// Names one car of a world, also after cars have come and gone: its slot and the generation of the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CarId {
    slot: u32,
    generation: u32,
}

impl CarId {
    /// Returns the name of the first car of slot `slot`: cars that a world was built with have these.
    pub fn first(slot: usize) -> Self {
        Self { slot: u32::try_from(slot).unwrap_or(u32::MAX), generation: 0 }
    }

    /// Returns the slot of the car, which indexes controls. Another car may be there by now: [`Slots::find`] tells.
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    /// Returns the number of cars that were removed from the slot before this one came.
    pub fn generation(self) -> u32 {
        self.generation
    }
}

impl core::fmt::Display for CarId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { slot, generation } = self;
        if *generation == 0 { write!(f, "car {slot}") } else { write!(f, "car {slot} (generation {generation})") }
    }
}

/// Why nothing is done to a car. The world has not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarError {
    /// The world has no such slot.
    #[error("there is no slot {slot}: this world has {accepts}, counted from 0")]
    NoSlot {
        /// The slot asked for.
        slot: usize,
        /// Number of slots of the world.
        accepts: usize,
    },
    /// No car is in the slot.
    #[error("slot {slot} is empty: its car was removed, and none has been inserted since")]
    Empty {
        /// The slot asked for.
        slot: usize,
    },
    /// The car has been removed. Another one may be in its slot.
    #[error("{car} has been removed from this world")]
    Removed {
        /// The car asked for.
        car: CarId,
    },
    /// The car takes no part in the world now.
    #[error("{car} is suspended: only `resume` puts it back into its world")]
    Suspended {
        /// The car asked for.
        car: CarId,
    },
    /// The state is that of another model.
    #[error("a state of {found} wheels was given, but {car} has {accepts}")]
    Wheels {
        /// The car asked for.
        car: CarId,
        /// Wheels of the state.
        found: usize,
        /// Wheels of the car.
        accepts: usize,
    },
}

/// What is in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupancy {
    /// A car that is stepped.
    Active,
    /// A car that takes no part in the world until it is resumed.
    Suspended,
    /// No car: the last one was removed.
    Empty,
}

/// The slots of a world.
///
/// For authors of solvers: a world keeps one, and changes it together with its bodies.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    occupancies: Vec<Occupancy>,
    /// Number of cars that have been removed from each slot.
    generations: Vec<u32>,
    /// Number of empty slots.
    empty: usize,
    /// No slot below this one is empty.
    first_empty: usize,
}

impl Slots {
    /// Returns the number of slots, empty ones included.
    pub fn len(&self) -> usize {
        self.occupancies.len()
    }

    /// Returns true if there is no slot.
    pub fn is_empty(&self) -> bool {
        self.occupancies.is_empty()
    }

    /// Returns what is in each slot.
    pub fn occupancies(&self) -> &[Occupancy] {
        &self.occupancies
    }

    /// Returns true if a car in `slot` is stepped; false for one that is suspended, an empty slot, and a slot that is not there.
    #[inline(always)]
    pub fn is_active(&self, slot: usize) -> bool {
        self.occupancies.get(slot) == Some(&Occupancy::Active)
    }

    /// Returns the name of the car in `slot`, which may be suspended; `None` if no car is there.
    pub fn id(&self, slot: usize) -> Option<CarId> {
        self.occupant(slot).ok()
    }

    /// Returns the names of all cars, by their slots.
    pub fn ids(&self) -> impl Iterator<Item = CarId> + '_ {
        (0..self.len()).filter_map(|slot| self.id(slot))
    }

    /// Returns the slot of `car`.
    ///
    /// # Errors
    /// The car is not in this world, or no more.
    pub fn find(&self, car: CarId) -> Result<usize, CarError> {
        match self.occupant(car.slot()) {
            Ok(there) if there == car => Ok(car.slot()),
            Err(error @ CarError::NoSlot { .. }) => Err(error),
            _ => Err(CarError::Removed { car }),
        }
    }

    /// Returns the number of cars that have been removed from `slot`; 0 if there is no such slot.
    pub fn generation(&self, slot: usize) -> u32 {
        self.generations.get(slot).copied().unwrap_or(0)
    }

    /// Returns the car in `slot`, active or suspended.
    ///
    /// # Errors
    /// No such slot, or no car in it.
    pub fn occupant(&self, slot: usize) -> Result<CarId, CarError> {
        match self.occupancies.get(slot) {
            None => Err(CarError::NoSlot { slot, accepts: self.len() }),
            Some(Occupancy::Empty) => Err(CarError::Empty { slot }),
            Some(_) => Ok(CarId { slot: slot as u32, generation: self.generation(slot) }),
        }
    }

    /// Takes the lowest empty slot, or a new one behind all others, for a car; returns its name.
    pub fn take(&mut self) -> CarId {
        let slot = if self.empty == 0 { self.len() } else { self.next_empty() };
        if slot == self.len() {
            self.occupancies.push(Occupancy::Empty);
            self.generations.push(0);
            self.empty += 1;
        }
        self.set_occupancy(slot, Occupancy::Active);
        CarId { slot: slot as u32, generation: self.generation(slot) }
    }

    /// Empties the slot of `car`, which is removed for good; returns the slot.
    ///
    /// # Errors
    /// The car is not in this world, or no more.
    pub fn release(&mut self, car: CarId) -> Result<usize, CarError> {
        let slot = self.find(car)?;
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.set_occupancy(slot, Occupancy::Empty);
        Ok(slot)
    }

    /// Suspends the car in `slot`; one that is suspended stays so.
    ///
    /// # Errors
    /// No such slot, or no car in it.
    pub fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.occupant(slot)?;
        self.set_occupancy(slot, Occupancy::Suspended);
        Ok(())
    }

    /// Resumes the car in `slot`, which has as many wheels as `accepts`, in a state of `found` wheels; one that is active stays so.
    ///
    /// # Errors
    /// No such slot, no car in it, or a state of another number of wheels.
    pub fn resume(&mut self, slot: usize, [found, accepts]: [usize; 2]) -> Result<(), CarError> {
        let car = self.occupant(slot)?;
        if found != accepts {
            return Err(CarError::Wheels { car, found, accepts });
        }
        self.set_occupancy(slot, Occupancy::Active);
        Ok(())
    }

    /// Checks that the car in `slot`, which has as many wheels as `accepts`, can be put into a state of `found` wheels.
    ///
    /// # Errors
    /// No such slot, no car in it, a suspended one, or a state of another number of wheels.
    pub fn check_state(&self, slot: usize, [found, accepts]: [usize; 2]) -> Result<(), CarError> {
        let car = self.occupant(slot)?;
        if !self.is_active(slot) {
            return Err(CarError::Suspended { car });
        }
        if found == accepts { Ok(()) } else { Err(CarError::Wheels { car, found, accepts }) }
    }

    /// Puts `slot` back to what it was when a world was saved. Nothing happens if there is no such slot.
    pub fn restore(&mut self, slot: usize, generation: u32, occupancy: Occupancy) {
        if let Some(own) = self.generations.get_mut(slot) {
            *own = generation;
            self.set_occupancy(slot, occupancy);
        }
    }

    /// Names the cars of a world that was built anew, all active, as those that are or were last in the slots of `other` are named.
    pub fn rename_as(&mut self, other: &Self) {
        for (slot, occupancy) in other.occupancies.iter().enumerate() {
            let removed = u32::from(*occupancy == Occupancy::Empty);
            self.restore(slot, other.generations[slot].wrapping_sub(removed), Occupancy::Active);
        }
    }

    fn next_empty(&self) -> usize {
        let is_empty = |occupancy: &Occupancy| *occupancy == Occupancy::Empty;
        let behind = self.occupancies[self.first_empty..].iter().position(is_empty);
        behind.map_or(self.len(), |behind| self.first_empty + behind)
    }

    fn set_occupancy(&mut self, slot: usize, occupancy: Occupancy) {
        let Some(own) = self.occupancies.get_mut(slot) else { return };
        match [*own, occupancy].map(|of| of == Occupancy::Empty) {
            [false, true] => (self.empty, self.first_empty) = (self.empty + 1, self.first_empty.min(slot)),
            [true, false] => {
                self.empty -= 1;
                if self.first_empty == slot {
                    self.first_empty = slot + 1;
                }
            }
            _ => {}
        }
        *own = occupancy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_means_another_car() {
        let mut slots = Slots::default();
        let [first, second, third] = [0, 1, 2].map(|_| slots.take());
        assert_eq!([first, second, third], [0, 1, 2].map(CarId::first));
        assert_eq!([second, first].map(|car| slots.release(car)), [Ok(1), Ok(0)]);
        assert_eq!(slots.find(second), Err(CarError::Removed { car: second }));
        assert_eq!(slots.release(second), Err(CarError::Removed { car: second }));
        assert_eq!(slots.occupant(1), Err(CarError::Empty { slot: 1 }));
        assert_eq!(slots.occupant(3), Err(CarError::NoSlot { slot: 3, accepts: 3 }));
        // The lowest slot comes first, so that slots follow from what a world is, not from how it became so.
        let [fourth, fifth, sixth] = [0, 1, 2].map(|_| slots.take());
        assert_eq!([fourth, fifth, sixth].map(CarId::slot), [0, 1, 3]);
        assert_eq!([fourth, fifth, sixth].map(CarId::generation), [1, 1, 0]);
        assert_eq!(slots.find(fourth), Ok(0));
        assert_eq!(slots.find(first), Err(CarError::Removed { car: first }), "its slot has another car");
        assert_eq!(slots.ids().collect::<Vec<_>>(), [fourth, fifth, third, sixth]);
    }

    #[test]
    fn a_suspended_car_keeps_its_slot_and_takes_no_state() {
        let mut slots = Slots::default();
        let car = slots.take();
        assert_eq!(slots.suspend(1), Err(CarError::NoSlot { slot: 1, accepts: 1 }));
        assert_eq!(slots.suspend(0), Ok(()));
        assert_eq!((slots.id(0), slots.is_active(0)), (Some(car), false));
        assert_eq!(slots.check_state(0, [4, 4]), Err(CarError::Suspended { car }));
        assert_eq!(slots.resume(0, [3, 4]), Err(CarError::Wheels { car, found: 3, accepts: 4 }));
        assert_eq!(slots.resume(0, [4, 4]), Ok(()));
        assert_eq!(slots.check_state(0, [4, 4]), Ok(()));
        assert_eq!(slots.take().slot(), 1);
    }

    /// Random changes keep the count of empty slots and the lowest of them.
    #[test]
    fn the_lowest_empty_slot_is_found_after_any_change() {
        let mut slots = Slots::default();
        let mut random = 1u64;
        for _ in 0..10_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = (random >> 33) as usize;
            let lowest = slots.occupancies.iter().position(|of| *of == Occupancy::Empty).unwrap_or(slots.len());
            match number % 4 {
                0 => assert_eq!(slots.take().slot(), lowest),
                1 => _ = slots.id(number / 4 % 50).map(|car| slots.release(car)),
                2 => _ = slots.suspend(number / 4 % 50),
                _ => slots.restore(number / 4 % 50, 7, Occupancy::Empty),
            }
            let empty = slots.occupancies.iter().filter(|of| **of == Occupancy::Empty).count();
            assert_eq!(slots.empty, empty);
        }
    }
}
