//! Numbers in which cars of a block differ from the model of their fleet.

use crate::model::car_constants::CarConstants;
use skidpad_simd::lane::BlockLanes;

/// Numbers of a car that may differ from those of the model of its fleet. `parts` includes mass, inertia, air and
/// engine; the constants computed from these are in [`CarConstants`], which is stored separately.
#[derive(Clone, Debug, Default)]
pub(super) struct CarNumbers {
    /// Numbers of the parts of the model in the order of visiting ([`crate::model::variable_numbers`]).
    pub parts: Vec<f32>,
    /// Constants of the wheels; shape (places of a wheel, wheel packs of a block). Constants that a wheel does not have
    /// are 0.
    pub wheels: Vec<f32>,
}

/// Columns of numbers of a block, only for those places where a car differs bitwise from the model of the fleet. A
/// place is the index of a number of the parts in the order of visiting, or the index of a wheel constant.
#[derive(Clone, Debug)]
struct Columns<W> {
    /// Length of a column: the count of numbers at a place.
    column_length: usize,
    /// Places, in ascending order.
    places: Box<[u32]>,
    /// Numbers at these places; shape (places, column length).
    values: Box<[W]>,
}

/// Numbers in which cars of a block differ from the model of the fleet. Each number takes four bytes per lane. Stored
/// are all constants of the whole car; each number of the parts (mass and inertia included) in which any car differs;
/// and, for all wheel packs, each wheel constant in which any wheel of any car differs.
#[derive(Clone, Debug)]
pub struct OwnNumbers<W> {
    /// Numbers of the parts of the model, with columns of one number.
    parts: Columns<W>,
    /// Constants of the wheels, with columns of one number per wheel pack.
    wheels: Columns<W>,
    /// Constants of the whole car, also of cars that do not differ.
    pub(super) car_constants: CarConstants<W>,
    /// Bits of the cars that differ in any number.
    cars: u32,
}

impl<W: BlockLanes> OwnNumbers<W> {
    /// Returns the numbers of a block with `wheel_count` wheel packs and the `car_constants`, whose cars are all of the
    /// model of the fleet.
    pub(super) fn new(wheel_count: usize, car_constants: CarConstants<W>) -> Self {
        Self { parts: Columns::new(1), wheels: Columns::new(wheel_count), car_constants, cars: 0 }
    }

    /// Sets the `numbers` of `car`, without its [`CarConstants`]. Those of other cars are unchanged. `fleet` has the
    /// numbers of the fleet's model.
    pub(super) fn set_car(&mut self, fleet: &CarNumbers, car: usize, numbers: &CarNumbers) {
        let is_own = self.parts.set_car(&fleet.parts, car, &numbers.parts)
            | self.wheels.set_car(&fleet.wheels, car, &numbers.wheels);
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

    /// Returns the places of the wheel constants in which any car differs, ascending, and for each its numbers in the
    /// order of the wheel packs.
    #[inline(always)]
    pub(super) fn wheels(&self) -> (&[u32], core::slice::ChunksExact<'_, W>) {
        (&self.wheels.places, self.wheels.values.chunks_exact(self.wheels.column_length))
    }

    /// Returns the numbers of the parts of `car` in the order of visiting. `fleet` has those of the fleet's model.
    pub(super) fn part_numbers<'a>(&'a self, fleet: &'a [f32], car: usize) -> PartNumbers<'a, W> {
        PartNumbers { fleet, columns: (&self.parts.places, &self.parts.values), car, place: 0 }
    }
}

impl<W: BlockLanes> Columns<W> {
    /// Returns columns of this length (> 0), of which none differs yet.
    fn new(column_length: usize) -> Self {
        Self { column_length, places: Box::default(), values: Box::default() }
    }

    /// Sets the numbers of `car`, and keeps the columns in which any car differs from `fleet`. Returns true if `car`
    /// differs. Both arrays have the shape (places, column length).
    fn set_car(&mut self, fleet: &[f32], car: usize, numbers: &[f32]) -> bool {
        let is_own = |number: f32, fleet: f32| number.to_bits() != fleet.to_bits();
        let mut present = self.places.iter().zip(self.values.chunks_exact(self.column_length)).peekable();
        let (mut places, mut values) = (Vec::new(), Vec::new());
        let columns = numbers.chunks_exact(self.column_length).zip(fleet.chunks_exact(self.column_length));
        for (place, (numbers, fleet)) in (0..).zip(columns) {
            let column = present.next_if(|(present, _)| **present == place).map(|(_, column)| column);
            let column = numbers.iter().zip(fleet).enumerate().map(|(i, (number, fleet))| {
                column.map_or(W::splat(*fleet), |column| column[i]).with_number(car, *number)
            });
            let differs =
                |(column, fleet): (W, &f32)| column.to_array().as_ref().iter().any(|number| is_own(*number, *fleet));
            if column.clone().zip(fleet).any(differs) {
                places.push(place);
                values.extend(column);
            }
        }
        (self.places, self.values) = (places.into(), values.into());
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
