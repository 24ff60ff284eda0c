//! Implementation of [`Corners`] for four wheels of a car.

use core::fmt::Debug;

use wide::f32x4;

use crate::lane::{Corners, Four, FourMask, Lane};

impl Corners for Four {
    type Car = f32;
    type Each<T: Copy + Debug> = [T; 1];

    const ROWS: usize = 1;

    #[inline(always)]
    fn each<T: Copy + Debug>(mut of: impl FnMut(usize) -> T) -> [T; 1] {
        [of(0)]
    }

    #[inline(always)]
    fn cars(wheels: FourMask) -> bool {
        Self::any(wheels)
    }

    #[inline(always)]
    fn of_cars(cars: bool) -> FourMask {
        if cars { !FourMask::default() } else { FourMask::default() }
    }

    #[inline(always)]
    fn of_car(car: f32) -> Self {
        Self::splat(car)
    }

    #[inline(always)]
    fn sums(of: impl Fn(usize) -> [Self; 4]) -> [f32; 4] {
        let [a, b, c, d] = Self::transposed(of(0));
        ((a + b) + (c + d)).lanes()
    }

    #[inline(always)]
    fn sum_of(of: impl Fn(usize) -> Self) -> f32 {
        of(0).sum()
    }

    #[inline(always)]
    fn lane(self, lane: usize) -> f32 {
        self.at(lane)
    }

    #[inline(always)]
    fn holds(mask: FourMask, lane: usize) -> bool {
        mask.lanes()[lane]
    }

    #[inline(always)]
    fn opposite([of]: [Self; 1]) -> [Self; 1] {
        [of.opposite()]
    }
}

impl Four {
    /// Returns each lane's neighbour on the other side of its axle.
    #[inline(always)]
    pub fn opposite(self) -> Self {
        let [a, b, c, d] = self.lanes();
        Self::new([b, a, d, c])
    }

    /// Returns the sum of the lanes, added axle by axle: swapping left and right changes no bit.
    #[inline(always)]
    pub fn sum(self) -> f32 {
        let [a, b, c, d] = self.lanes();
        (a + b) + (c + d)
    }

    /// Returns the number of `lane`.
    #[inline(always)]
    pub fn at(self, lane: usize) -> f32 {
        self.lanes()[lane]
    }

    /// Sets `lane` to `number`.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, number: f32) {
        let mut lanes = self.lanes();
        lanes[lane] = number;
        *self = Self::new(lanes);
    }

    /// Adds `number` to `lane`.
    pub fn add_at(&mut self, lane: usize, number: f32) {
        self.set(lane, self.at(lane) + number);
    }

    /// Transposes four rows into columns.
    #[inline(always)]
    pub fn transposed(rows: [Self; 4]) -> [Self; 4] {
        f32x4::transpose(rows.map(|row| row.0)).map(Self)
    }
}

impl FourMask {
    /// Returns the mask lane by lane.
    #[inline(always)]
    pub fn lanes(self) -> [bool; 4] {
        let bits = self.bits();
        [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0, bits & 8 != 0]
    }

    /// Returns a bit for each lane, the lowest for the first.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        self.0.to_bitmask()
    }
}
