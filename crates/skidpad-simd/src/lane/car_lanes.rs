//! Eight numbers as those of a batch of cars, and as a wheel of each car.

use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Sub};

use wide::{bytemuck, f32x4};

use crate::lane::{CarScalar, F32x4, F32x8Pair, Lane, Mask32x8Pair, Vec4Ops, WheelLanes};

/// Numbers of a block of cars in SIMD lanes, one car per lane: of the cars themselves, or of one wheel of each car.
pub trait BlockLanes: CarScalar + WheelLanes<Car = Self> {
    /// Array with an element for each car.
    type Array<T: Copy + Debug + Send + Sync>: Copy + Debug + Send + Sync + AsRef<[T]> + AsMut<[T]>;

    /// Number of cars in a block.
    const LANE_COUNT: usize;

    /// Returns whether the processor can compute with this type. Each thread must call this before it does so.
    fn is_supported() -> bool;

    /// Builds an array from `car_value`, called once with the index of each car, in order.
    fn array_from_fn<T: Copy + Debug + Send + Sync>(car_value: impl FnMut(usize) -> T) -> Self::Array<T>;

    /// Builds the value from the numbers of the cars.
    fn from_array(numbers: Self::Array<f32>) -> Self;

    /// Returns the numbers of the cars.
    fn to_array(self) -> Self::Array<f32>;

    /// Returns a bit for each lane in which the mask is true, the lowest for the first.
    fn mask_bits(mask: Self::Mask) -> u32;

    /// Returns a bit for each lane in which the numbers differ in any bit, the lowest for the first lane. −0 therefore
    /// differs from 0, and NaNs with the same bits do not differ.
    #[inline(always)]
    fn different_bits(self, other: Self) -> u32 {
        let (numbers, others) = (self.to_array(), other.to_array());
        let pairs = numbers.as_ref().iter().zip(others.as_ref()).enumerate();
        pairs.map(|(car, (a, b))| u32::from(a.to_bits() != b.to_bits()) << car).sum()
    }

    /// Returns the mask with the lanes whose bit is set, the lowest for the first.
    #[inline(always)]
    fn mask_from_bits(bits: u32) -> Self::Mask {
        let numbers = Self::array_from_fn(|car| if bits & (1 << car) != 0 { 1.0 } else { 0.0 });
        Self::splat(0.0).less(Self::from_array(numbers))
    }

    /// Returns the value with the number of `car` replaced.
    #[inline(always)]
    fn with_number(self, car: usize, number: f32) -> Self {
        let mut numbers = self.to_array();
        numbers.as_mut()[car] = number;
        Self::from_array(numbers)
    }

    /// Returns the number of `car`.
    #[inline(always)]
    fn number(self, car: usize) -> f32 {
        self.to_array().as_ref()[car]
    }
}

/// Numbers of a batch of eight cars, or of a wheel of each car.
pub trait CarLanes: BlockLanes {
    /// Builds the value from its lanes.
    fn from_lanes(lanes: [f32; 8]) -> Self;

    /// Returns the lanes.
    fn to_lanes(self) -> [f32; 8];

    /// Builds the value from its first and its last four lanes.
    fn from_halves(halves: [F32x4; 2]) -> Self;

    /// Returns the first and the last four lanes.
    fn halves(self) -> [F32x4; 2];

    /// Returns a bit for each lane in which the mask is true, the lowest for the first.
    #[inline(always)]
    fn bits(mask: Self::Mask) -> u32 {
        Self::mask_bits(mask)
    }

    /// Returns the number of `car`, 0 to 7.
    #[inline(always)]
    fn car(self, car: usize) -> f32 {
        self.to_lanes()[car]
    }

    /// Builds the value from `car_value`, called once with the index of each of the eight cars, in order.
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

    /// Transposes four numbers of each of eight cars into four values with the numbers of all cars. `car_numbers(car)`
    /// returns the four numbers of a car; value i of the result has number i of every car. Cars 0 to 3 and cars 4 to 7
    /// are transposed separately.
    #[inline(always)]
    fn transpose_to_lanes(car_numbers: impl Fn(usize) -> F32x4) -> [Self; 4] {
        let [a, b, c, d] = F32x4::transposed([car_numbers(0), car_numbers(1), car_numbers(2), car_numbers(3)]);
        let [e, f, g, h] = F32x4::transposed([car_numbers(4), car_numbers(5), car_numbers(6), car_numbers(7)]);
        [Self::from_halves([a, e]), Self::from_halves([b, f]), Self::from_halves([c, g]), Self::from_halves([d, h])]
    }

    /// Transposes four values with the numbers of all cars into four numbers of each of eight cars, the inverse of
    /// [`CarLanes::transpose_to_lanes`].
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

/// Implements [`WheelLanes`] and [`BlockLanes`] for a type of `count` numbers: those of a block of cars, or of a wheel
/// of each car. The functions return whether the processor supports the type, and convert from and to an array, and a
/// mask to bits.
macro_rules! impl_car_lanes {
    (
        $type:ty, $count:literal, $is_supported:expr, $from_array:expr, $to_array:expr, $mask_bits:expr
        $(, $different_bits:expr)?
    ) => {
        impl CarScalar for $type {
            type Vec4 = crate::lane::car_lanes::Vec4Lanes<Self>;
        }

        impl WheelLanes for $type {
            type Car = Self;
            type AxlePairArray<T: Copy + Debug> = [T; 4];

            const ROWS_PER_AXLE_PAIR: usize = 4;

            #[inline(always)]
            fn axle_pair_from_fn<T: Copy + Debug>(mut row_value: impl FnMut(usize) -> T) -> [T; 4] {
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
                // Left and right of an axle are added first.
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
                self.number(lane)
            }

            #[inline(always)]
            fn mask_at(mask: Self::Mask, lane: usize) -> bool {
                <Self as BlockLanes>::mask_bits(mask) & (1 << lane) != 0
            }

            #[inline(always)]
            fn opposite([a, b, c, d]: [Self; 4]) -> [Self; 4] {
                [b, a, d, c]
            }
        }

        impl BlockLanes for $type {
            type Array<T: Copy + Debug + Send + Sync> = [T; $count];

            const LANE_COUNT: usize = $count;

            #[inline]
            fn is_supported() -> bool {
                $is_supported()
            }

            $(
                #[inline(always)]
                fn different_bits(self, other: Self) -> u32 {
                    $different_bits(self, other)
                }
            )?

            #[inline(always)]
            fn array_from_fn<T: Copy + Debug + Send + Sync>(car_value: impl FnMut(usize) -> T) -> [T; $count] {
                core::array::from_fn(car_value)
            }

            #[inline(always)]
            fn from_array(numbers: [f32; $count]) -> Self {
                $from_array(numbers)
            }

            #[inline(always)]
            fn to_array(self) -> [f32; $count] {
                $to_array(self)
            }

            #[inline(always)]
            fn mask_bits(mask: Self::Mask) -> u32 {
                $mask_bits(mask)
            }
        }
    };
}

#[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
pub(super) use impl_car_lanes;

impl_car_lanes!(F32x8Pair, 8, || true, F32x8Pair::new, F32x8Pair::lanes, |mask: Mask32x8Pair| mask.0.to_bitmask());

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
}
