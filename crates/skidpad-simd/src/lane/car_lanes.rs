//! Eight numbers as those of a batch of cars, and as a wheel of each car.

use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Sub};

use wide::{bytemuck, f32x4};

use crate::lane::{CarScalar, F32x4, F32x8Pair, Lane, Mask32x8Pair, Vec4Ops, WheelLanes};

/// Numbers of a batch of eight cars, or of a wheel of each car.
pub trait CarLanes: CarScalar + WheelLanes<Car = Self> {
    /// Builds the value from its lanes.
    fn from_lanes(lanes: [f32; 8]) -> Self;

    /// Returns the lanes.
    fn to_lanes(self) -> [f32; 8];

    /// Builds the value from its first and its last four lanes.
    fn from_halves(halves: [F32x4; 2]) -> Self;

    /// Returns the first and the last four lanes.
    fn halves(self) -> [F32x4; 2];

    /// Returns a bit for each lane in which the mask is true, the lowest for the first.
    fn bits(mask: Self::Mask) -> u32;

    /// Returns the number of `car`, 0 to 7.
    #[inline(always)]
    fn car(self, car: usize) -> f32 {
        self.to_lanes()[car]
    }

    /// Builds the value from `car_value`, called with the index of each car.
    #[inline(always)]
    fn from_fn(mut car_value: impl FnMut(usize) -> f32) -> Self {
        // Written out, because a function that builds an array is not inlined.
        Self::from_lanes([
            car_value(0),
            car_value(1),
            car_value(2),
            car_value(3),
            car_value(4),
            car_value(5),
            car_value(6),
            car_value(7),
        ])
    }

    /// Transposes four numbers of each of eight cars, from `car_numbers`, into four values with the numbers of all cars. `car_numbers(car)` returns
    /// the four numbers of a car.
    #[inline(always)]
    fn transpose_to_lanes(car_numbers: impl Fn(usize) -> F32x4) -> [Self; 4] {
        let [a, b, c, d] = F32x4::transposed([car_numbers(0), car_numbers(1), car_numbers(2), car_numbers(3)]);
        let [e, f, g, h] = F32x4::transposed([car_numbers(4), car_numbers(5), car_numbers(6), car_numbers(7)]);
        [Self::from_halves([a, e]), Self::from_halves([b, f]), Self::from_halves([c, g]), Self::from_halves([d, h])]
    }

    /// Transposes four values with the numbers of all cars into four numbers of each of eight cars, the inverse of [`CarLanes::transpose_to_lanes`].
    #[inline(always)]
    fn transpose_to_cars([x, y, z, w]: [Self; 4]) -> [F32x4; 8] {
        let [x, y, z, w] = [x.halves(), y.halves(), z.halves(), w.halves()];
        let [a, b, c, d] = F32x4::transposed([x[0], y[0], z[0], w[0]]);
        let [e, f, g, h] = F32x4::transposed([x[1], y[1], z[1], w[1]]);
        [a, b, c, d, e, f, g, h]
    }
}

/// Four numbers of each car of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vec4Lanes<W>([W; 4]);

macro_rules! impl_vec4_ops {
    ($($trait:ident $method:ident),*) => {$(
        impl<W: Lane> $trait for Vec4Lanes<W> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
                Self([a.$method(e), b.$method(f), c.$method(g), d.$method(h)])
            }
        }
    )*};
}

impl_vec4_ops!(Add add, Sub sub, Mul mul, Div div);

impl<W: Lane> Vec4Ops<W> for Vec4Lanes<W> {
    #[inline(always)]
    fn from_array(numbers: [W; 4]) -> Self {
        Self(numbers)
    }

    #[inline(always)]
    fn to_array(self) -> [W; 4] {
        self.0
    }
}

/// Implements [`WheelLanes`] for eight numbers: numbers of a batch of cars, or of a wheel of each car.
macro_rules! impl_car_lanes {
    ($type:ty) => {
        impl CarScalar for $type {
            type Vec4 = crate::lane::car_lanes::Vec4Lanes<Self>;
        }

        impl WheelLanes for $type {
            type Car = Self;
            type RowArray<T: Copy + Debug> = [T; 4];

            const ROWS_PER_AXLE_PAIR: usize = 4;

            #[inline(always)]
            fn rows_from_fn<T: Copy + Debug>(mut row_value: impl FnMut(usize) -> T) -> [T; 4] {
                // Written out, because a function that maps an array of large values is not inlined.
                [row_value(0), row_value(1), row_value(2), row_value(3)]
            }

            #[inline(always)]
            fn cars_with_any(wheels: Self::Mask) -> Self::Mask {
                wheels
            }

            #[inline(always)]
            fn wheels_of_cars(cars: Self::Mask) -> Self::Mask {
                cars
            }

            #[inline(always)]
            fn broadcast_car(car: Self) -> Self {
                car
            }

            #[inline(always)]
            fn sum_four_over_wheels(row_values: impl Fn(usize) -> [Self; 4]) -> [Self; 4] {
                let wheels = [row_values(0), row_values(1), row_values(2), row_values(3)];
                let sum = |i: usize| (wheels[0][i] + wheels[1][i]) + (wheels[2][i] + wheels[3][i]);
                [sum(0), sum(1), sum(2), sum(3)]
            }

            #[inline(always)]
            fn sum_over_wheels(row_value: impl Fn(usize) -> Self) -> Self {
                (row_value(0) + row_value(1)) + (row_value(2) + row_value(3))
            }

            #[inline(always)]
            fn lane(self, lane: usize) -> f32 {
                self.to_lanes()[lane]
            }

            #[inline(always)]
            fn mask_at(mask: Self::Mask, lane: usize) -> bool {
                <Self as CarLanes>::bits(mask) & (1 << lane) != 0
            }

            #[inline(always)]
            fn opposite([a, b, c, d]: [Self; 4]) -> [Self; 4] {
                [b, a, d, c]
            }
        }
    };
}

#[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
pub(super) use impl_car_lanes;

impl_car_lanes!(F32x8Pair);

impl CarLanes for F32x8Pair {
    #[inline(always)]
    fn from_lanes(lanes: [f32; 8]) -> Self {
        Self::new(lanes)
    }

    #[inline(always)]
    fn to_lanes(self) -> [f32; 8] {
        self.lanes()
    }

    #[inline(always)]
    fn from_halves(halves: [F32x4; 2]) -> Self {
        Self(bytemuck::cast([halves[0].0, halves[1].0]))
    }

    #[inline(always)]
    fn halves(self) -> [F32x4; 2] {
        let [first, last]: [f32x4; 2] = bytemuck::cast(self.0);
        [F32x4(first), F32x4(last)]
    }

    #[inline(always)]
    fn bits(mask: Mask32x8Pair) -> u32 {
        mask.0.to_bitmask()
    }
}
