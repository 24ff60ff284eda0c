//! SIMD lanes: kernels are written once over [`Lane`] and produce the same bits for a single wheel as for that wheel in
//! a group of lanes. A step uses [`F32x4`], tables of forces use [`F32x8Pair`].
//!
//! Only exactly rounded operations (+ − × ÷ √, comparison, selection, whole powers of two) are offered, so a result
//! depends only on its inputs. A kernel with branches computes both and selects; it may skip work that no
//! lane needs.

#[cfg(feature = "simd_batch")]
mod car_lanes;
mod wheel_lanes;
#[cfg(all(feature = "simd_batch", feature = "instruction_sets", target_arch = "x86_64"))]
mod x86;

use core::fmt::Debug;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, IndexMut, Mul, Neg, Not, Sub};

use crate::instruction_set::dispatch_simd;
use wide::{bytemuck, f32x4, f32x8, u32x4, u32x8};

/// Number type of a kernel (a computation written once over this trait): a single `f32`, or several numbers in the
/// lanes of a SIMD register, such as [`F32x4`] or [`F32x8Pair`].
pub trait Lane:
    Copy
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Result of a comparison, lane by lane.
    type Mask: Copy
        + Debug
        + Default
        + Send
        + Sync
        + BitAnd<Output = Self::Mask>
        + BitOr<Output = Self::Mask>
        + Not<Output = Self::Mask>;

    /// Returns `value` in every lane.
    fn splat(value: f32) -> Self;

    /// Returns a mask of the lanes with `self < other`; false for a NaN.
    fn less(self, other: Self) -> Self::Mask;

    /// Returns whether `mask` is true in any lane.
    fn any(mask: Self::Mask) -> bool;

    /// Returns `when_set` where `mask` is true, else `when_clear`, bit for bit.
    fn select(mask: Self::Mask, when_set: Self, when_clear: Self) -> Self;

    /// Returns the square root, correctly rounded.
    fn sqrt(self) -> Self;

    /// Returns the magnitude.
    fn abs(self) -> Self;

    /// Returns two to the power `self`, which must be a whole number in −126..=127.
    fn power_of_two(self) -> Self;

    /// Returns whole `e` and `m` in [1, 2) with `self = m 2^e`, for positive normal numbers.
    fn exponent_and_mantissa(self) -> (Self, Self);

    /// Runs `kernel` and returns its result. Types that need special instructions compile `kernel` as a function of its
    /// own with these instructions; all other types call it directly.
    #[inline(always)]
    fn call_outlined<R>(kernel: impl FnOnce() -> R) -> R {
        kernel()
    }

    /// Runs `kernel` of a step with the widest instructions used for this type, and returns its result.
    #[inline(always)]
    fn dispatch_simd<R>(kernel: impl FnOnce() -> R) -> R {
        dispatch_simd(kernel)
    }

    /// Returns `self` where `mask` is true, else 0.
    #[inline(always)]
    fn masked(self, mask: Self::Mask) -> Self {
        Self::select(mask, self, Self::splat(0.0))
    }

    /// Returns `self` where it is above `bound`, else `bound`; a NaN becomes `bound`.
    #[inline(always)]
    fn at_least(self, bound: Self) -> Self {
        Self::select(bound.less(self), self, bound)
    }

    /// Returns `self` where it is below `bound`, else `bound`; a NaN becomes `bound`.
    #[inline(always)]
    fn at_most(self, bound: Self) -> Self {
        Self::select(self.less(bound), self, bound)
    }

    /// Clamps `self` to `low ..= high`; a NaN becomes `low`.
    #[inline(always)]
    fn clamp_nan_to_low(self, low: Self, high: Self) -> Self {
        self.at_least(low).at_most(high)
    }

    /// Clamps `self` to `low ..= high` as [`f32::clamp`] does: a NaN stays a NaN, and a zero at a bound of zero keeps
    /// its sign.
    #[inline(always)]
    fn clamp_keeping_nan(self, low: Self, high: Self) -> Self {
        high.at_most(low.at_least(self))
    }

    /// Returns −1 below zero, else 1.
    #[inline(always)]
    fn sign(self) -> Self {
        Self::select(self.less(Self::splat(0.0)), Self::splat(-1.0), Self::splat(1.0))
    }

    /// Returns `self` with its sign changed where `sign_source` is below 0. A zero (also −0) or NaN in `sign_source`
    /// changes nothing.
    #[inline(always)]
    fn times_sign_of(self, sign_source: Self) -> Self {
        Self::select(sign_source.less(Self::splat(0.0)), -self, self)
    }

    /// Returns 0 below `low`, 1 above `high`, and between them the cubic `t² (3 − 2 t)` with zero slope at both ends,
    /// where t is the share of the distance from `low` to `high`.
    #[inline(always)]
    fn smoothstep(self, low: Self, high: Self) -> Self {
        ((self - low) / (high - low)).smoothstep_unit()
    }

    /// Returns the cubic `t² (3 − 2 t)` of `self`, clamped to 0 to 1: 0 below 0, 1 above 1, and zero slope at both
    /// ends. A NaN becomes 0.
    #[inline(always)]
    fn smoothstep_unit(self) -> Self {
        let t = self.clamp_nan_to_low(Self::splat(0.0), Self::splat(1.0));
        t * t * (Self::splat(3.0) - Self::splat(2.0) * t)
    }
}

/// Number for lanes `L`: shared by all lanes, or different in each.
pub trait Broadcast<L>: Copy {
    /// Returns the number of each lane.
    fn broadcast(self) -> L;
}

impl<L: Lane> Broadcast<L> for f32 {
    #[inline(always)]
    fn broadcast(self) -> L {
        L::splat(self)
    }
}

impl Broadcast<Self> for F32x4 {
    #[inline(always)]
    fn broadcast(self) -> Self {
        self
    }
}

#[cfg(feature = "simd_batch")]
pub use car_lanes::{BlockLanes, CarLanes};

/// Eight numbers in the widest registers of the processor; usable only if [`has_wide`] returns true.
#[cfg(all(feature = "simd_batch", feature = "instruction_sets", target_arch = "x86_64"))]
pub use x86::{F32x8, F32x16, has_avx2 as has_wide, has_avx512};

#[cfg(all(feature = "simd_batch", not(all(feature = "instruction_sets", target_arch = "x86_64"))))]
pub use F32x8Pair as F32x8;

/// Returns whether the processor has registers wider than [`F32x8Pair`] uses.
#[cfg(all(feature = "simd_batch", not(all(feature = "instruction_sets", target_arch = "x86_64"))))]
#[inline]
pub fn has_wide() -> bool {
    false
}

impl Broadcast<Self> for F32x8Pair {
    #[inline(always)]
    fn broadcast(self) -> Self {
        self
    }
}

/// Returns `[value(0), value(1)]`. Written out, because a function that maps an array is not inlined in large
/// functions.
#[inline(always)]
pub fn pair_from_fn<T>(mut value: impl FnMut(usize) -> T) -> [T; 2] {
    [value(0), value(1)]
}

/// Number of one car, or numbers of a batch of cars.
pub trait CarScalar: Lane + AddAssign {
    /// Quad of these numbers.
    type Vec4: Vec4Ops<Self>;
}

/// Four numbers of each car; for a single car they are SIMD lanes.
pub trait Vec4Ops<C>:
    Copy + Debug + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// Builds the quad from its numbers.
    fn from_array(numbers: [C; 4]) -> Self;

    /// Returns the four numbers.
    fn to_array(self) -> [C; 4];

    /// Returns the quad with its `first` number replaced.
    #[inline(always)]
    fn with_x(self, first: C) -> Self {
        let [_, b, c, d] = self.to_array();
        Self::from_array([first, b, c, d])
    }

    /// Builds the quad with `number` in all four places.
    #[inline(always)]
    fn repeat(number: C) -> Self
    where
        C: Copy,
    {
        Self::from_array([number; 4])
    }
}

impl Vec4Ops<f32> for F32x4 {
    #[inline(always)]
    fn from_array(numbers: [f32; 4]) -> Self {
        Self::new(numbers)
    }

    #[inline(always)]
    fn to_array(self) -> [f32; 4] {
        self.lanes()
    }
}

impl CarScalar for f32 {
    type Vec4 = F32x4;
}

/// Numbers at the wheels of cars in SIMD lanes. There are two layouts. For one car, a value holds the four wheels of
/// two axles. For a batch of cars, a value holds one wheel of each car.
///
/// A *row* is one such value: two axles have a single row with all four wheels in the first layout, and four rows in
/// the second one (left before right, axle by axle). Kernels for single wheels compute one row; kernels for an axle or
/// a car compute all rows of two axles.
pub trait WheelLanes: Lane + AddAssign + Broadcast<Self> {
    /// Numbers of the cars.
    type Car: CarScalar;

    /// Array with an element for each row (value) of two axles: one for one car, four for a batch of cars.
    type AxlePairArray<T: Copy + Debug>: Copy + Debug + IndexMut<usize, Output = T>;

    /// Number of rows of two axles.
    const ROWS_PER_AXLE_PAIR: usize;

    /// Builds the array from `row_value`, called with the index of each row.
    fn axle_pair_from_fn<T: Copy + Debug>(row_value: impl FnMut(usize) -> T) -> Self::AxlePairArray<T>;

    /// Returns the mask of the cars that have any wheel in the mask `wheels`.
    fn cars_with_any(wheels: Self::Mask) -> <Self::Car as Lane>::Mask;

    /// Returns a mask of all wheels of the `cars`.
    fn wheels_of_cars(cars: <Self::Car as Lane>::Mask) -> Self::Mask;

    /// Returns each car's number at all its wheels.
    fn broadcast_car(car: Self::Car) -> Self;

    /// Returns four sums over the wheels of two axles, for each car. `row_values` returns the four summands of a row.
    /// The two wheels of an axle are added first, so that swapping left and right changes no bit.
    fn sum_four_over_wheels(row_values: impl Fn(usize) -> [Self; 4]) -> [Self::Car; 4];

    /// Returns a single sum over the wheels, as [`WheelLanes::sum_four_over_wheels`] does.
    fn sum_over_wheels(row_value: impl Fn(usize) -> Self) -> Self::Car;

    /// Returns the number of `lane`.
    fn lane(self, lane: usize) -> f32;

    /// Returns whether `mask` is true in `lane`.
    fn mask_at(mask: Self::Mask, lane: usize) -> bool;

    /// Returns, in the place of each wheel, the number of the wheel on the other side of its axle.
    fn opposite(rows: Self::AxlePairArray<Self>) -> Self::AxlePairArray<Self>;
}

/// Constant 1.5 × 2²³ for rounding. Adding it to a small number pushes the fraction out of the mantissa, which rounds
/// to the nearest whole number.
pub const ROUND_TO_WHOLE: f32 = 12_582_912.0;
/// Number of bits of the mantissa of an `f32`.
const MANTISSA_BITS: u32 = 23;
/// Bits of the number 1, with an empty mantissa.
const ONE_BITS: u32 = 0x3f80_0000;
/// Mask of the bits of the mantissa.
const MANTISSA_MASK: u32 = 0x007f_ffff;

impl Lane for f32 {
    type Mask = bool;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn less(self, other: Self) -> bool {
        self < other
    }

    #[inline(always)]
    fn any(mask: bool) -> bool {
        mask
    }

    #[inline(always)]
    fn select(mask: bool, when_set: Self, when_clear: Self) -> Self {
        if mask { when_set } else { when_clear }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }

    /// Returns two to the power `self`: adds a large number, so that the integer is in the last bits of the mantissa,
    /// shifts it to the exponent, and adds the exponent of 1. The shift drops all bits of the large number.
    #[inline(always)]
    fn power_of_two(self) -> Self {
        f32::from_bits(((self + ROUND_TO_WHOLE).to_bits() << MANTISSA_BITS).wrapping_add(ONE_BITS))
    }

    /// Returns whole `e` and `m` in [1, 2) with `self = m 2^e`: reads the biased exponent from the bits, and replaces
    /// it by that of 1. For positive normal numbers only.
    #[inline(always)]
    fn exponent_and_mantissa(self) -> (Self, Self) {
        // The biased exponent forms the last bits of a number that starts at 1.5 × 2²³; 127 is the bias.
        let exponent =
            f32::from_bits(ROUND_TO_WHOLE.to_bits() | (self.to_bits() >> MANTISSA_BITS)) - (ROUND_TO_WHOLE + 127.0);
        (exponent, f32::from_bits((self.to_bits() & MANTISSA_MASK) | ONE_BITS))
    }
}

macro_rules! impl_lanewise_ops {
    ($type:ident: $($trait:ident $method:ident),*) => {$(
        impl $trait for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self($trait::$method(self.0, other.0))
            }
        }
    )*};
}

#[cfg(all(feature = "simd_batch", feature = "instruction_sets", target_arch = "x86_64"))]
use impl_lanewise_ops;

/// Whether the max and min instructions return the second operand if both are equal or one is a NaN, as a comparison
/// with a selection does.
const MIN_MAX_RETURN_SECOND: bool = cfg!(target_feature = "sse");

/// Runs `kernel` with the instructions that every processor of the target has, and returns its result. If wider ones
/// exist, steps use [`F32x8`], not [`F32x8Pair`].
#[inline(always)]
fn call_baseline<R>(kernel: impl FnOnce() -> R) -> R {
    kernel()
}

/// Defines a type of `count` SIMD lanes in `numbers`, with bits in `bits`; `widest` runs parts of a step.
macro_rules! define_simd_type {
    ($(#[$doc:meta])* $type:ident, $mask:ident: $numbers:ident, $bits:ident, $count:literal, $widest:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $type($numbers);

        #[doc = concat!("Answer of a comparison of [`", stringify!($type), "`]s: all bits of a lane set, or none.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $mask($numbers);

        impl $type {
            /// Number of lanes.
            pub const LANE_COUNT: usize = $count;

            /// Builds the value from its lanes.
            #[inline(always)]
            pub fn new(lanes: [f32; $count]) -> Self {
                Self($numbers::new(lanes))
            }

            /// Returns the lanes.
            #[inline(always)]
            pub fn lanes(self) -> [f32; $count] {
                self.0.to_array()
            }
        }

        impl Default for $mask {
            fn default() -> Self {
                Self($numbers::splat(0.0))
            }
        }

        impl_lanewise_ops!($type: Add add, Sub sub, Mul mul, Div div);
        impl_lanewise_ops!($mask: BitAnd bitand, BitOr bitor);

        impl Not for $mask {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                Self(!self.0)
            }
        }

        impl Neg for $type {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(self.0 * $numbers::splat(-1.0))
            }
        }

        impl AddAssign for $type {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Lane for $type {
            type Mask = $mask;

            #[inline(always)]
            fn splat(value: f32) -> Self {
                Self($numbers::splat(value))
            }

            #[inline(always)]
            fn dispatch_simd<R>(kernel: impl FnOnce() -> R) -> R {
                $widest(kernel)
            }

            #[inline(always)]
            fn less(self, other: Self) -> $mask {
                $mask(self.0.simd_lt(other.0))
            }

            #[inline(always)]
            fn any(mask: $mask) -> bool {
                mask.0.any()
            }

            #[inline(always)]
            fn select(mask: $mask, when_set: Self, when_clear: Self) -> Self {
                Self(mask.0.bitselect(when_set.0, when_clear.0))
            }

            #[inline(always)]
            fn at_least(self, bound: Self) -> Self {
                if MIN_MAX_RETURN_SECOND { Self(self.0.fast_max(bound.0)) } else { Self::select(bound.less(self), self, bound) }
            }

            #[inline(always)]
            fn at_most(self, bound: Self) -> Self {
                if MIN_MAX_RETURN_SECOND { Self(self.0.fast_min(bound.0)) } else { Self::select(self.less(bound), self, bound) }
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(self.0.sqrt())
            }

            #[inline(always)]
            fn abs(self) -> Self {
                Self(self.0.abs())
            }

            #[inline(always)]
            fn power_of_two(self) -> Self {
                let whole: $bits = bytemuck::cast(self.0 + $numbers::splat(ROUND_TO_WHOLE));
                Self(bytemuck::cast(whole.unbounded_shl_scalar(MANTISSA_BITS) + $bits::splat(ONE_BITS)))
            }

            // The bits as for a single `f32`.
            #[inline(always)]
            fn exponent_and_mantissa(self) -> (Self, Self) {
                let bits: $bits = bytemuck::cast(self.0);
                let biased_exponent = bits.unbounded_shr_scalar(MANTISSA_BITS) | $bits::splat(ROUND_TO_WHOLE.to_bits());
                let mantissa = (bits & $bits::splat(MANTISSA_MASK)) | $bits::splat(ONE_BITS);
                let biased_exponent = Self(bytemuck::cast(biased_exponent));
                (biased_exponent - Self::splat(ROUND_TO_WHOLE + 127.0), Self(bytemuck::cast(mantissa)))
            }
        }
    };
}

define_simd_type! {
    /// Four numbers in SIMD lanes: in a step the wheels of two axles, left before right.
    F32x4, Mask32x4: f32x4, u32x4, 4, dispatch_simd
}

define_simd_type! {
    /// Eight numbers in SIMD lanes.
    F32x8Pair, Mask32x8Pair: f32x8, u32x8, 8, call_baseline
}

impl Mask32x8Pair {
    /// Returns the mask lane by lane.
    #[inline(always)]
    pub fn lanes(self) -> [bool; 8] {
        let bits = self.0.to_bitmask();
        core::array::from_fn(|lane| bits & (1 << lane) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `at_least` and `at_most` have the same bits in four and in eight lanes as for a single number, for
    /// all pairs of nine values with NaN, infinities, a subnormal and zeros of different sign.
    #[test]
    fn bounds_do_in_lanes_what_they_do_alone() {
        let odd = [0.0, -0.0, f32::NAN, -f32::NAN, 1.0, -2.0, f32::INFINITY, f32::NEG_INFINITY, 1e-40];
        // Bits of `at_least` and `at_most` in each lane.
        fn bits<L: Lane>(value: f32, bound: f32, lanes: fn(L) -> Vec<f32>) -> Vec<[u32; 2]> {
            let (value, bound) = (L::splat(value), L::splat(bound));
            let (raised, lowered) = (lanes(value.at_least(bound)), lanes(value.at_most(bound)));
            raised.iter().zip(&lowered).map(|(raised, lowered)| [raised.to_bits(), lowered.to_bits()]).collect()
        }
        for (value, bound) in odd.into_iter().flat_map(|value| odd.map(|bound| (value, bound))) {
            let alone = bits::<f32>(value, bound, |one| vec![one])[0];
            assert_eq!(bits::<F32x4>(value, bound, |four| four.lanes().to_vec()), [alone; 4], "{value} and {bound}");
            assert_eq!(
                bits::<F32x8Pair>(value, bound, |eight| eight.lanes().to_vec()),
                [alone; 8],
                "{value} and {bound}"
            );
        }
    }

    /// Checks that `clamp_keeping_nan` in eight lanes has the bits of [`f32::clamp`], between bounds that are equal,
    /// infinite, or zeros of different sign, also for NaN.
    #[test]
    fn a_number_is_clamped_in_lanes_as_it_is_alone() {
        let odd = [0.0, -0.0, f32::NAN, 1.0, -2.0, 2.5, f32::INFINITY, f32::NEG_INFINITY, 1e-40];
        for [low, high] in [[0.0, 1.0], [-0.0, 0.0], [0.0, -0.0], [-1.0, f32::INFINITY], [2.0, 2.0]] {
            for value in odd {
                let alone = value.clamp(low, high).to_bits();
                let [low, high, value] = [low, high, value].map(F32x8Pair::splat);
                assert_eq!(value.clamp_keeping_nan(low, high).lanes().map(f32::to_bits), [alone; 8], "{value:?}");
            }
        }
    }

    /// Checks that arithmetic, roots, signs, selection, smoothstep, powers of two and exponents have the same bits in
    /// four lanes as for single numbers. Also checks the mask of a comparison, and that four sums over wheels are the
    /// sums of each value.
    #[test]
    fn four_lanes_do_what_one_does() {
        let (a, b) = ([1.5f32, -2.0, 0.0, 3.0e-20], [0.5f32, -2.0, -1.0, 7.0]);
        let (x, y) = (F32x4::new(a), F32x4::new(b));
        let same = |four: F32x4, one: fn(f32, f32) -> f32| {
            for (i, lane) in four.lanes().into_iter().enumerate() {
                assert_eq!(lane.to_bits(), one(a[i], b[i]).to_bits(), "lane {i}");
            }
        };
        same(x + y, |x, y| x + y);
        same(x - y, |x, y| x - y);
        same(x * y, |x, y| x * y);
        same(x / y, |x, y| x / y);
        same(-x, |x, _| -x);
        same(x.abs().sqrt(), |x, _| x.abs().sqrt());
        same(x.times_sign_of(y), Lane::times_sign_of);
        same(F32x4::select(x.less(y), x, y), |x, y| if x < y { x } else { y });
        same(x.smoothstep(F32x4::splat(-3.0), F32x4::splat(2.0)), |x, _| x.smoothstep(-3.0, 2.0));
        // Exponents from the smallest to the largest of a normal number.
        let powers = [-126.0, 0.0, 5.0, 127.0];
        let positive = [1.5f32, 3.0e-20, 1.0, 7.0e12];
        let (exponents, mantissas) = F32x4::new(positive).exponent_and_mantissa();
        for i in 0..4 {
            assert_eq!(F32x4::new(powers).power_of_two().lanes()[i].to_bits(), powers[i].power_of_two().to_bits());
            assert_eq!((exponents.lanes()[i], mantissas.lanes()[i]), positive[i].exponent_and_mantissa());
        }
        assert_eq!(x.less(y).lanes(), [false, false, false, true]);
        assert_eq!(F32x4::sum_four_over_wheels(|_| [x, y, x, y]), [x.sum(), y.sum(), x.sum(), y.sum()]);
    }
}
