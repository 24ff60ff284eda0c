//! One number or eight: the kernels are written once over [`Lane`] and give the same bits for a wheel on its own and
//! for the same wheel among eight.
//!
//! Only exactly rounded operations (+ − × ÷ √, comparison, selection, whole powers of two) are offered, so a result
//! depends on nothing but its inputs. There are no branches: a kernel that has to choose computes both and selects.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Numbers a tyre kernel computes with: `f32`, or [`Eight`] of them.
pub trait Lane:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Answer of a comparison, lane by lane.
    type Mask: Copy;

    /// `value` in every lane.
    fn splat(value: f32) -> Self;

    /// Where `self < other`; nowhere for a NaN.
    fn less(self, other: Self) -> Self::Mask;

    /// `yes` where `mask` holds, `no` elsewhere, bit for bit.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;

    /// Magnitude.
    fn abs(self) -> Self;

    /// Two to the power `self`, which is a whole number in −126..=127.
    fn power_of_two(self) -> Self;

    /// Whole `e` and `m` in [1, 2) with `self = m 2^e`, for positive normal numbers.
    fn exponent_and_mantissa(self) -> (Self, Self);

    /// `self` where it is above `bound`, else `bound`; a NaN becomes `bound`.
    #[inline(always)]
    fn at_least(self, bound: Self) -> Self {
        Self::select(bound.less(self), self, bound)
    }

    /// `self` where it is below `bound`, else `bound`; a NaN becomes `bound`.
    #[inline(always)]
    fn at_most(self, bound: Self) -> Self {
        Self::select(self.less(bound), self, bound)
    }

    /// `self` brought into `low ..= high`; a NaN becomes `low`.
    #[inline(always)]
    fn within(self, low: Self, high: Self) -> Self {
        self.at_least(low).at_most(high)
    }

    /// −1 below zero, 1 from zero on.
    #[inline(always)]
    fn sign(self) -> Self {
        Self::select(self.less(Self::splat(0.0)), Self::splat(-1.0), Self::splat(1.0))
    }
}

/// 1.5 × 2²³: adding it pushes the fraction of a small number out of the mantissa, rounding to the nearest whole.
pub(super) const ROUNDING: f32 = 12_582_912.0;
const MANTISSA_BITS: u32 = 23;
const ONE_BITS: u32 = 0x3f80_0000;
const MANTISSA: u32 = 0x007f_ffff;

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
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }

    #[inline(always)]
    fn power_of_two(self) -> Self {
        f32::from_bits(((self + ROUNDING).to_bits() << MANTISSA_BITS).wrapping_add(ONE_BITS))
    }

    #[inline(always)]
    fn exponent_and_mantissa(self) -> (Self, Self) {
        // The biased exponent as the last bits of a number that begins at 1.5 × 2²³.
        let exponent = f32::from_bits(ROUNDING.to_bits() | (self.to_bits() >> MANTISSA_BITS)) - (ROUNDING + 127.0);
        (exponent, f32::from_bits((self.to_bits() & MANTISSA) | ONE_BITS))
    }
}

/// Eight numbers that are computed with side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub struct Eight([f32; 8]);

impl Eight {
    /// Lanes of it.
    pub const COUNT: usize = 8;

    /// From its lanes.
    #[inline(always)]
    pub fn new(lanes: [f32; 8]) -> Self {
        Self(lanes)
    }

    /// Its lanes.
    #[inline(always)]
    pub fn lanes(self) -> [f32; 8] {
        self.0
    }

    #[inline(always)]
    fn zip(self, other: Self, each: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| each(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn map(self, each: impl Fn(f32) -> f32) -> Self {
        Self(self.0.map(each))
    }
}

/// Answer of a comparison of [`Eight`]s: all bits set or none, per lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct EightMask([u32; 8]);

impl Lane for Eight {
    type Mask = EightMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; 8])
    }

    #[inline(always)]
    fn less(self, other: Self) -> EightMask {
        EightMask(std::array::from_fn(|i| if self.0[i] < other.0[i] { u32::MAX } else { 0 }))
    }

    #[inline(always)]
    fn select(mask: EightMask, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|i| {
            f32::from_bits((yes.0[i].to_bits() & mask.0[i]) | (no.0[i].to_bits() & !mask.0[i]))
        }))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f32::sqrt)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f32::abs)
    }

    #[inline(always)]
    fn power_of_two(self) -> Self {
        self.map(Lane::power_of_two)
    }

    #[inline(always)]
    fn exponent_and_mantissa(self) -> (Self, Self) {
        let both = self.0.map(Lane::exponent_and_mantissa);
        (Self(both.map(|(exponent, _)| exponent)), Self(both.map(|(_, mantissa)| mantissa)))
    }
}

impl Add for Eight {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Eight {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Eight {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl Div for Eight {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
}

impl Neg for Eight {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}
