//! Eight numbers as those of a batch of cars, and as a wheel of each car.

use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Sub};

use wide::{bytemuck, f32x4};

use crate::lane::{Abreast, Corners, Eight, EightMask, Four, Lane, Quad};

/// Numbers of a batch of eight cars, or of a wheel of each car.
pub(crate) trait Octet: Abreast + Corners<Car = Self> {
    /// Builds the value from its lanes.
    fn of_lanes(lanes: [f32; 8]) -> Self;

    /// Returns the lanes.
    fn in_lanes(self) -> [f32; 8];

    /// Builds the value from its first and its last four lanes.
    fn of_halves(halves: [Four; 2]) -> Self;

    /// Returns the first and the last four lanes.
    fn halves(self) -> [Four; 2];

    /// Returns a bit for each lane in which the mask is true, the lowest for the first.
    fn bits(mask: Self::Mask) -> u32;

    /// Returns the number of `car`.
    #[inline(always)]
    fn car(self, car: usize) -> f32 {
        self.in_lanes()[car]
    }

    /// Builds the value from `of`, called with the index of each car.
    #[inline(always)]
    fn of_each(mut of: impl FnMut(usize) -> f32) -> Self {
        // Written out, because a function that builds an array is not inlined.
        Self::of_lanes([of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)])
    }

    /// Transposes four numbers of each of eight cars, from `of`, into four values with the numbers of all cars.
    #[inline(always)]
    fn columns(of: impl Fn(usize) -> Four) -> [Self; 4] {
        let [a, b, c, d] = Four::transposed([of(0), of(1), of(2), of(3)]);
        let [e, f, g, h] = Four::transposed([of(4), of(5), of(6), of(7)]);
        [Self::of_halves([a, e]), Self::of_halves([b, f]), Self::of_halves([c, g]), Self::of_halves([d, h])]
    }

    /// Transposes four values with the numbers of all cars into four numbers of each of eight cars.
    #[inline(always)]
    fn rows([x, y, z, w]: [Self; 4]) -> [Four; 8] {
        let [x, y, z, w] = [x.halves(), y.halves(), z.halves(), w.halves()];
        let [a, b, c, d] = Four::transposed([x[0], y[0], z[0], w[0]]);
        let [e, f, g, h] = Four::transposed([x[1], y[1], z[1], w[1]]);
        [a, b, c, d, e, f, g, h]
    }
}

/// Four numbers of each car of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FourOf<W>([W; 4]);

macro_rules! each_of_four {
    ($($trait:ident $method:ident),*) => {$(
        impl<W: Lane> $trait for FourOf<W> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
                Self([a.$method(e), b.$method(f), c.$method(g), d.$method(h)])
            }
        }
    )*};
}

each_of_four!(Add add, Sub sub, Mul mul, Div div);

impl<W: Lane> Quad<W> for FourOf<W> {
    #[inline(always)]
    fn of(numbers: [W; 4]) -> Self {
        Self(numbers)
    }

    #[inline(always)]
    fn numbers(self) -> [W; 4] {
        self.0
    }
}

/// Implements [`Corners`] for eight numbers: numbers of a batch of cars, or of a wheel of each car.
macro_rules! of_eight_cars {
    ($type:ty) => {
        impl Abreast for $type {
            type Quad = crate::lane::octet::FourOf<Self>;
        }

        impl Corners for $type {
            type Car = Self;
            type Each<T: Copy + Debug> = [T; 4];

            const ROWS: usize = 4;

            #[inline(always)]
            fn each<T: Copy + Debug>(mut of: impl FnMut(usize) -> T) -> [T; 4] {
                // Written out, because a function that maps an array of large values is not inlined.
                [of(0), of(1), of(2), of(3)]
            }

            #[inline(always)]
            fn cars(wheels: Self::Mask) -> Self::Mask {
                wheels
            }

            #[inline(always)]
            fn of_cars(cars: Self::Mask) -> Self::Mask {
                cars
            }

            #[inline(always)]
            fn of_car(car: Self) -> Self {
                car
            }

            #[inline(always)]
            fn sums(of: impl Fn(usize) -> [Self; 4]) -> [Self; 4] {
                let wheels = [of(0), of(1), of(2), of(3)];
                let sum = |i: usize| (wheels[0][i] + wheels[1][i]) + (wheels[2][i] + wheels[3][i]);
                [sum(0), sum(1), sum(2), sum(3)]
            }

            #[inline(always)]
            fn sum_of(of: impl Fn(usize) -> Self) -> Self {
                (of(0) + of(1)) + (of(2) + of(3))
            }

            #[inline(always)]
            fn lane(self, lane: usize) -> f32 {
                self.in_lanes()[lane]
            }

            #[inline(always)]
            fn holds(mask: Self::Mask, lane: usize) -> bool {
                <Self as Octet>::bits(mask) & (1 << lane) != 0
            }

            #[inline(always)]
            fn opposite([a, b, c, d]: [Self; 4]) -> [Self; 4] {
                [b, a, d, c]
            }
        }
    };
}

#[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
pub(super) use of_eight_cars;

of_eight_cars!(Eight);

impl Octet for Eight {
    #[inline(always)]
    fn of_lanes(lanes: [f32; 8]) -> Self {
        Self::new(lanes)
    }

    #[inline(always)]
    fn in_lanes(self) -> [f32; 8] {
        self.lanes()
    }

    #[inline(always)]
    fn of_halves(halves: [Four; 2]) -> Self {
        Self(bytemuck::cast([halves[0].0, halves[1].0]))
    }

    #[inline(always)]
    fn halves(self) -> [Four; 2] {
        let [first, last]: [f32x4; 2] = bytemuck::cast(self.0);
        [Four(first), Four(last)]
    }

    #[inline(always)]
    fn bits(mask: EightMask) -> u32 {
        mask.0.to_bitmask()
    }
}
