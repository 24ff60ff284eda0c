//! Numbers in which cars of a block differ from the model of their fleet.

use skidpad_simd::lane::BlockLanes;

/// Numbers of the cars of a block, for those places in which any car differs from the model of the fleet. A place
/// stands for one number of the model.
#[derive(Clone, Debug, Default)]
struct Columns<W> {
    /// Places, rising.
    places: Box<[u32]>,
    /// Number of each car at each of these places.
    values: Box<[W]>,
}

/// Numbers in which cars of a block differ from the model of the fleet: four bytes for each lane of the block and each
/// number in which any of its cars differs.
#[derive(Clone, Debug, Default)]
pub struct OwnNumbers<W> {
    /// Numbers of the parts of the model.
    parts: Columns<W>,
    /// Constants of the block.
    constants: Columns<W>,
    /// Bits of the cars that differ in any number.
    cars: u32,
}

impl<W: BlockLanes> OwnNumbers<W> {
    /// Sets the numbers of `car`: those of its parts in the order of visiting, and its constants by place. The numbers of
    /// other cars are unchanged. `fleet` has the same numbers of the fleet's model.
    pub(super) fn set_car(&mut self, fleet: [&[f32]; 2], car: usize, [parts, constants]: [&[f32]; 2]) {
        let is_own = self.parts.set_car(fleet[0], car, parts) | self.constants.set_car(fleet[1], car, constants);
        self.cars = (self.cars & !(1 << car)) | (u32::from(is_own) << car);
    }

    /// Returns true if `car` differs from the model of the fleet.
    pub fn has_car(&self, car: usize) -> bool {
        self.cars & (1 << car) != 0
    }

    /// Returns true if no car differs from the model of the fleet.
    pub fn is_empty(&self) -> bool {
        self.cars == 0
    }

    /// Returns the places of the constants that differ, rising, and their values.
    pub(super) fn constants(&self) -> (&[u32], &[W]) {
        (&self.constants.places, &self.constants.values)
    }

    /// Returns the numbers of the parts of `car` in the order of visiting. `fleet` has those of the fleet's model.
    pub(super) fn part_numbers<'a>(&'a self, fleet: &'a [f32], car: usize) -> PartNumbers<'a, W> {
        PartNumbers { fleet, columns: (&self.parts.places, &self.parts.values), car, place: 0 }
    }
}

impl<W: BlockLanes> Columns<W> {
    /// Sets the numbers of `car`, and keeps the columns in which any car differs from `fleet`. Returns true if `car`
    /// differs. All arrays have one number per place.
    fn set_car(&mut self, fleet: &[f32], car: usize, numbers: &[f32]) -> bool {
        let is_own = |number: f32, fleet: f32| number.to_bits() != fleet.to_bits();
        let mut present = self.places.iter().zip(&self.values).peekable();
        let (mut places, mut values) = (Vec::new(), Vec::new());
        for (place, (&number, &fleet)) in (0..).zip(numbers.iter().zip(fleet)) {
            let column = present.next_if(|(present, _)| **present == place).map(|(_, column)| *column);
            if column.is_none() && !is_own(number, fleet) {
                continue;
            }
            let column = column.unwrap_or(W::splat(fleet)).with_number(car, number);
            if column.to_array().as_ref().iter().any(|number| is_own(*number, fleet)) {
                places.push(place);
                values.push(column);
            }
        }
        *self = Self { places: places.into(), values: values.into() };
        numbers.iter().zip(fleet).any(|(number, fleet)| is_own(*number, *fleet))
    }
}

/// Numbers of the parts of one car in the order of visiting: its own, or those of the model of the fleet.
pub(super) struct PartNumbers<'a, W> {
    /// Numbers of the model of the fleet.
    fleet: &'a [f32],
    /// Places and values of the remaining own numbers.
    columns: (&'a [u32], &'a [W]),
    car: usize,
    /// Place of the next number.
    place: usize,
}

impl<W: BlockLanes> PartNumbers<'_, W> {
    /// Returns the next number; 0 after the last one.
    pub fn next_number(&mut self) -> f32 {
        let fleet = self.fleet.get(self.place).copied().unwrap_or_default();
        let own = match self.columns {
            ([place, places @ ..], [value, values @ ..]) if *place as usize == self.place => {
                self.columns = (places, values);
                Some(value.number(self.car))
            }
            _ => None,
        };
        self.place += 1;
        own.unwrap_or(fleet)
    }
}
