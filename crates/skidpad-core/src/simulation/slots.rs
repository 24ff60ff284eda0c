//! Slots of a world, which store its cars, and car identifiers. The identifier of a removed car is an error; it never
//! refers to another car.
//!
//! A world stores its cars in slots, counted from 0. `controls[slot]` drives the car in a slot. Removing a car empties
//! its slot, and the next inserted car reuses the slot. The generation of a slot counts its removals.

/// Identifier of one car of a world: the slot of the car, and the generation of the slot when the car was inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CarId {
    /// Slot of the car.
    slot: u32,
    /// Generation of the slot when the car was inserted.
    generation: u32,
}

impl CarId {
    /// Returns the identifier of the first car of `slot` (generation 0). Cars that a world was built with have such
    /// identifiers. A slot above 32 bits becomes `u32::MAX`.
    pub fn first(slot: usize) -> Self {
        Self { slot: u32::try_from(slot).unwrap_or(u32::MAX), generation: 0 }
    }

    /// Returns the slot of the car. The slot is the index into the controls. After a removal it may hold another car:
    /// check with [`Slots::find`].
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    /// Returns the number of cars that were removed from the slot before this car was inserted.
    pub fn generation(self) -> u32 {
        self.generation
    }
}

impl core::fmt::Display for CarId {
    /// Writes `car 3`, with the generation unless it is 0.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { slot, generation } = self;
        if *generation == 0 { write!(f, "car {slot}") } else { write!(f, "car {slot} (generation {generation})") }
    }
}

/// Reason for which an operation on a car was refused. The world is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarError {
    /// The slot does not exist.
    #[error("there is no slot {slot}: this world has {slot_count} slots, numbered from 0")]
    NoSlot {
        /// Requested slot.
        slot: usize,
        /// Number of slots of the world.
        slot_count: usize,
    },
    /// The slot is empty.
    #[error("slot {slot} is empty: its car was removed")]
    EmptySlot {
        /// Requested slot.
        slot: usize,
    },
    /// The car was removed. The slot may hold another car.
    #[error("{car} has been removed from this world")]
    Removed {
        /// Requested car.
        car: CarId,
    },
    /// The car is suspended, and the operation needs an active car.
    #[error("{car} is suspended: call `resume` to return it to the world")]
    Suspended {
        /// Requested car.
        car: CarId,
    },
    /// The state has another number of wheels than the car.
    #[error("the state has {found} wheels, but {car} has {expected}")]
    WheelCountMismatch {
        /// Requested car.
        car: CarId,
        /// Number of wheels of the state.
        found: usize,
        /// Number of wheels of the car.
        expected: usize,
    },
}

/// Content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupancy {
    /// A car that the world steps.
    Active,
    /// A car that the world neither steps nor collides with until it is resumed.
    Suspended,
    /// No car. The last one was removed.
    Empty,
}

/// The slots of a world.
///
/// For authors of solvers: every world owns one `Slots` and changes it together with its bodies.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    /// Content of each slot.
    occupancies: Vec<Occupancy>,
    /// Number of cars that were removed from each slot.
    generations: Vec<u32>,
    /// Number of wheels of the car in each slot; in an empty slot that of the removed car.
    wheel_counts: Vec<usize>,
    /// Number of empty slots.
    empty_count: usize,
    /// Lower bound of the empty slots: all slots below this one hold a car.
    min_empty: usize,
}

impl Slots {
    /// Returns the number of slots, empty ones included.
    pub fn len(&self) -> usize {
        self.occupancies.len()
    }

    /// Returns true if the world has no slot.
    pub fn is_empty(&self) -> bool {
        self.occupancies.is_empty()
    }

    /// Returns the content of each slot.
    pub fn occupancies(&self) -> &[Occupancy] {
        &self.occupancies
    }

    /// Returns true if `slot` holds an active car. Returns false for a suspended car, an empty slot and a slot that
    /// does not exist.
    #[inline(always)]
    pub fn is_active(&self, slot: usize) -> bool {
        self.occupancies.get(slot) == Some(&Occupancy::Active)
    }

    /// Returns the identifier of the car in `slot`, active or suspended; `None` if the slot is empty or does not exist.
    pub fn id(&self, slot: usize) -> Option<CarId> {
        self.occupant(slot).ok()
    }

    /// Returns the identifiers of all cars, active and suspended, in the order of their slots.
    pub fn ids(&self) -> impl Iterator<Item = CarId> + '_ {
        (0..self.len()).filter_map(|slot| self.id(slot))
    }

    /// Returns the slot of `car`, active or suspended.
    ///
    /// # Errors
    /// [`CarError::NoSlot`] if its slot does not exist; [`CarError::Removed`] if the slot is empty or has another
    /// generation.
    pub fn find(&self, car: CarId) -> Result<usize, CarError> {
        match self.occupant(car.slot()) {
            Ok(occupant) if occupant == car => Ok(car.slot()),
            Err(error @ CarError::NoSlot { .. }) => Err(error),
            _ => Err(CarError::Removed { car }),
        }
    }

    /// Returns the number of cars that were removed from `slot`; 0 if the slot does not exist.
    pub fn generation(&self, slot: usize) -> u32 {
        self.generations.get(slot).copied().unwrap_or(0)
    }

    /// Returns the identifier of the car in `slot`, active or suspended.
    ///
    /// # Errors
    /// [`CarError::NoSlot`] or [`CarError::EmptySlot`].
    pub fn occupant(&self, slot: usize) -> Result<CarId, CarError> {
        match self.occupancies.get(slot) {
            None => Err(CarError::NoSlot { slot, slot_count: self.len() }),
            Some(Occupancy::Empty) => Err(CarError::EmptySlot { slot }),
            Some(_) => Ok(self.current_id(slot)),
        }
    }

    /// Allocates the lowest empty slot, or appends a slot if none is empty, for a car with `wheel_count` wheels, which
    /// becomes active. Returns the identifier of the car.
    pub fn allocate(&mut self, wheel_count: usize) -> CarId {
        self.occupy(self.next_empty(), wheel_count)
    }

    /// Appends a slot for a car with `wheel_count` wheels, even if a slot is empty. The car becomes active. Returns its
    /// identifier.
    pub fn append(&mut self, wheel_count: usize) -> CarId {
        self.occupy(self.len(), wheel_count)
    }

    /// Empties the slot of `car`, which is removed for good, and increments the generation of the slot. Returns the
    /// slot.
    ///
    /// # Errors
    /// [`CarError::NoSlot`] or [`CarError::Removed`].
    pub fn release(&mut self, car: CarId) -> Result<usize, CarError> {
        let slot = self.find(car)?;
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.set_occupancy(slot, Occupancy::Empty);
        Ok(slot)
    }

    /// Suspends the car in `slot`. Does nothing to a car that is suspended.
    ///
    /// # Errors
    /// [`CarError::NoSlot`] or [`CarError::EmptySlot`].
    pub fn suspend(&mut self, slot: usize) -> Result<(), CarError> {
        self.occupant(slot)?;
        self.set_occupancy(slot, Occupancy::Suspended);
        Ok(())
    }

    /// Makes the car in `slot` active, if it has as many wheels as its new state, which has `wheel_count` wheels.
    ///
    /// # Errors
    /// [`CarError::NoSlot`], [`CarError::EmptySlot`] or [`CarError::WheelCountMismatch`].
    pub fn resume(&mut self, slot: usize, wheel_count: usize) -> Result<(), CarError> {
        self.check_wheels(slot, wheel_count)?;
        self.set_occupancy(slot, Occupancy::Active);
        Ok(())
    }

    /// Checks that the car in `slot` is active and has `wheel_count` wheels. Changes nothing.
    ///
    /// # Errors
    /// [`CarError::NoSlot`], [`CarError::EmptySlot`], [`CarError::Suspended`] or [`CarError::WheelCountMismatch`].
    pub fn check_state(&self, slot: usize, wheel_count: usize) -> Result<(), CarError> {
        let car = self.occupant(slot)?;
        if !self.is_active(slot) {
            return Err(CarError::Suspended { car });
        }
        self.check_wheels(slot, wheel_count)
    }

    /// Sets the generation and the content of `slot` to those of a saved world. Does nothing if the slot does not
    /// exist. Keeps the number of wheels.
    pub fn restore(&mut self, slot: usize, generation: u32, occupancy: Occupancy) {
        if let Some(stored_generation) = self.generations.get_mut(slot) {
            *stored_generation = generation;
            self.set_occupancy(slot, occupancy);
        }
    }

    /// Copies the generations of `other` to a world that was rebuilt with the same cars; all of them become active. A
    /// slot that is empty in `other` gets the generation before the removal: the identifier of the car that was removed
    /// from this slot last. Slots that this world does not have are skipped.
    pub fn copy_identifiers(&mut self, other: &Self) {
        for (slot, occupancy) in other.occupancies.iter().enumerate() {
            let removal_count = u32::from(*occupancy == Occupancy::Empty);
            self.restore(slot, other.generations[slot].wrapping_sub(removal_count), Occupancy::Active);
        }
    }

    /// Returns the number of wheels of the car in `slot`, or of the car that was removed from it last; 0 if the slot
    /// does not exist.
    pub fn wheels(&self, slot: usize) -> usize {
        self.wheel_counts.get(slot).copied().unwrap_or(0)
    }

    /// Returns the identifier with the present generation of `slot`, also if the slot is empty.
    fn current_id(&self, slot: usize) -> CarId {
        CarId { slot: slot as u32, generation: self.generation(slot) }
    }

    /// Checks that the car in `slot`, active or suspended, has `wheel_count` wheels.
    ///
    /// # Errors
    /// [`CarError::NoSlot`], [`CarError::EmptySlot`] or [`CarError::WheelCountMismatch`].
    fn check_wheels(&self, slot: usize, wheel_count: usize) -> Result<(), CarError> {
        let car = self.occupant(slot)?;
        let expected_count = self.wheels(slot);
        if wheel_count == expected_count {
            Ok(())
        } else {
            Err(CarError::WheelCountMismatch { car, found: wheel_count, expected: expected_count })
        }
    }

    /// Makes `slot` active for a car with `wheel_count` wheels, and returns its identifier. Appends the slot with
    /// generation 0 if it is the first one behind all slots. Sets the number of wheels of the slot. `slot` is at most
    /// the number of slots.
    fn occupy(&mut self, slot: usize, wheel_count: usize) -> CarId {
        if slot == self.len() {
            // An empty slot first, which `set_occupancy` fills and counts down.
            self.occupancies.push(Occupancy::Empty);
            self.generations.push(0);
            self.wheel_counts.push(wheel_count);
            self.empty_count += 1;
        }
        self.wheel_counts[slot] = wheel_count;
        self.set_occupancy(slot, Occupancy::Active);
        self.current_id(slot)
    }

    /// Returns the lowest empty slot, or the number of slots if none is empty. Searches from the lower bound of the
    /// empty slots upwards.
    fn next_empty(&self) -> usize {
        if self.empty_count == 0 {
            return self.len();
        }
        let is_empty = |occupancy: &Occupancy| *occupancy == Occupancy::Empty;
        let offset = self.occupancies[self.min_empty..].iter().position(is_empty);
        offset.map_or(self.len(), |offset| self.min_empty + offset)
    }

    /// Sets the content of `slot`, and updates the number of empty slots and the lower bound of the empty slots. The
    /// bound falls to a slot that becomes empty below it, and moves to the next slot if the slot at the bound is
    /// filled. Does nothing if the slot does not exist. The generation stays unchanged.
    fn set_occupancy(&mut self, slot: usize, occupancy: Occupancy) {
        let Some(stored_occupancy) = self.occupancies.get_mut(slot) else { return };
        // Whether the slot was empty, and whether it becomes empty.
        match [*stored_occupancy, occupancy].map(|content| content == Occupancy::Empty) {
            [false, true] => (self.empty_count, self.min_empty) = (self.empty_count + 1, self.min_empty.min(slot)),
            [true, false] => {
                self.empty_count -= 1;
                if self.min_empty == slot {
                    self.min_empty = slot + 1;
                }
            }
            _ => {}
        }
        *stored_occupancy = occupancy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that identifiers of removed cars are errors for `find` and `release`, that `occupant` distinguishes an
    /// empty slot from one that does not exist, and that the lowest empty slot is reused with the next generation.
    /// `ids` lists the present cars by slot.
    #[test]
    fn an_identifier_never_names_another_car() {
        let mut slots = Slots::default();
        let [first, second, third] = [0, 1, 2].map(|_| slots.allocate(4));
        assert_eq!([first, second, third], [0, 1, 2].map(CarId::first));
        assert_eq!([second, first].map(|car| slots.release(car)), [Ok(1), Ok(0)]);
        assert_eq!(slots.find(second), Err(CarError::Removed { car: second }));
        assert_eq!(slots.release(second), Err(CarError::Removed { car: second }));
        assert_eq!(slots.occupant(1), Err(CarError::EmptySlot { slot: 1 }));
        assert_eq!(slots.occupant(3), Err(CarError::NoSlot { slot: 3, slot_count: 3 }));
        // The lowest empty slot is reused first, whichever car was removed first.
        let [fourth, fifth, sixth] = [0, 1, 2].map(|_| slots.allocate(4));
        assert_eq!([fourth, fifth, sixth].map(CarId::slot), [0, 1, 3]);
        assert_eq!([fourth, fifth, sixth].map(CarId::generation), [1, 1, 0]);
        assert_eq!(slots.find(fourth), Ok(0));
        assert_eq!(slots.find(first), Err(CarError::Removed { car: first }), "its slot has another car");
        assert_eq!(slots.ids().collect::<Vec<_>>(), [fourth, fifth, third, sixth]);
    }

    /// Checks that a suspended car keeps its slot, refuses states, and is resumed only by a state with its number of
    /// wheels.
    #[test]
    fn a_suspended_car_keeps_its_slot_and_takes_no_state() {
        let mut slots = Slots::default();
        let car = slots.allocate(4);
        assert_eq!(slots.suspend(1), Err(CarError::NoSlot { slot: 1, slot_count: 1 }));
        assert_eq!(slots.suspend(0), Ok(()));
        assert_eq!((slots.id(0), slots.is_active(0)), (Some(car), false));
        assert_eq!(slots.check_state(0, 4), Err(CarError::Suspended { car }));
        assert_eq!(slots.resume(0, 3), Err(CarError::WheelCountMismatch { car, found: 3, expected: 4 }));
        assert_eq!(slots.resume(0, 4), Ok(()));
        assert_eq!(slots.check_state(0, 4), Ok(()));
        assert_eq!(slots.allocate(4).slot(), 1);
    }

    /// Checks, over random insertions, removals, suspensions and restored empty slots, that no empty slot is lost:
    /// `allocate` returns the lowest one, and the count of empty slots is right.
    #[test]
    fn the_lowest_empty_slot_is_found_after_any_change() {
        let mut slots = Slots::default();
        let mut random = 1u64;
        for _ in 0..10_000 {
            // Linear congruential generator.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = (random >> 33) as usize;
            let lowest =
                slots.occupancies.iter().position(|content| *content == Occupancy::Empty).unwrap_or(slots.len());
            // Operation, and a slot from 0 to 49 for it; 7 is any generation.
            match number % 4 {
                0 => assert_eq!(slots.allocate(4).slot(), lowest),
                1 => _ = slots.id(number / 4 % 50).map(|car| slots.release(car)),
                2 => _ = slots.suspend(number / 4 % 50),
                _ => slots.restore(number / 4 % 50, 7, Occupancy::Empty),
            }
            let expected_count = slots.occupancies.iter().filter(|content| **content == Occupancy::Empty).count();
            assert_eq!(slots.empty_count, expected_count);
        }
    }
}
