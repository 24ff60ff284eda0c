//! Implementation of [`WheelLanes`] for four wheels of a car.

use core::fmt::Debug;

use wide::f32x4;

use crate::lane::{F32x4, Lane, Mask32x4, WheelLanes};

impl WheelLanes for F32x4 {
    type Car = f32;
    type AxlePairArray<T: Copy + Debug> = [T; 1];

    const ROWS_PER_AXLE_PAIR: usize = 1;

    #[inline(always)]
    fn axle_pair_from_fn<T: Copy + Debug>(mut row_value: impl FnMut(usize) -> T) -> [T; 1] {
        [row_value(0)]
    }

    #[inline(always)]
    fn cars_with_any(wheels: Mask32x4) -> bool {
        Self::any(wheels)
    }

    #[inline(always)]
    fn wheels_of_cars(cars: bool) -> Mask32x4 {
        if cars { !Mask32x4::default() } else { Mask32x4::default() }
    }

    #[inline(always)]
    fn broadcast_car(car: f32) -> Self {
        Self::splat(car)
    }

    #[inline(always)]
    fn sum_four_over_wheels(row_values: impl Fn(usize) -> [Self; 4]) -> [f32; 4] {
        // Transposed: value a has the four numbers of the front left wheel, and so on; lane i of the sum is sum i.
        let [a, b, c, d] = Self::transposed(row_values(0));
        ((a + b) + (c + d)).lanes()
    }

    #[inline(always)]
    fn sum_over_wheels(row_value: impl Fn(usize) -> Self) -> f32 {
        row_value(0).sum()
    }

    #[inline(always)]
    fn lane(self, lane: usize) -> f32 {
        self.lane_value(lane)
    }

    #[inline(always)]
    fn mask_at(mask: Mask32x4, lane: usize) -> bool {
        mask.lanes()[lane]
    }

    #[inline(always)]
    fn opposite([lanes]: [Self; 1]) -> [Self; 1] {
        [lanes.opposite()]
    }
}

impl F32x4 {
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
    pub fn lane_value(self, lane: usize) -> f32 {
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
    #[inline]
    pub fn add_at(&mut self, lane: usize, number: f32) {
        self.set(lane, self.lane_value(lane) + number);
    }

    /// Transposes four rows into columns: lane i of value k becomes lane k of value i.
    #[inline(always)]
    pub fn transposed(rows: [Self; 4]) -> [Self; 4] {
        f32x4::transpose(rows.map(|row| row.0)).map(Self)
    }
}

impl Mask32x4 {
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
