//! Eight numbers in an AVX2 register.

use core::arch::x86_64::__m128;
use core::cell::Cell;
use core::fmt::Debug;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fearless_simd::{
    Avx2, Bytes, Level, Select, Simd, SimdBase, SimdFloat, SimdFrom, SimdInto, SimdMask, f32x4, f32x8, mask32x8, u32x8,
};
use wide::bytemuck;

use crate::lane::car_lanes::impl_car_lanes;
use crate::lane::impl_lanewise_ops;
use crate::lane::{
    BlockLanes, Broadcast, CarLanes, CarScalar, F32x4, Lane, MANTISSA_BITS, MANTISSA_MASK, ONE_BITS, ROUND_TO_WHOLE,
    WheelLanes,
};

thread_local! {
    /// Proof that the processor has AVX2, on threads that have called [`has_avx2`].
    static HAS_AVX2: Cell<Option<Avx2>> = const { Cell::new(None) };
}

/// Returns whether the processor has AVX2 for [`F32x8`]. Each thread must call this before it computes with that type.
#[inline]
pub fn has_avx2() -> bool {
    HAS_AVX2.set(Level::new().as_avx2());
    HAS_AVX2.get().is_some()
}

/// Returns the proof that the processor has AVX2. Aborts the process on a thread that has not called [`has_avx2`] with
/// success.
#[inline(always)]
fn avx2() -> Avx2 {
    // Every caller has checked `has_avx2`.
    HAS_AVX2.get().unwrap_or_else(|| std::process::abort())
}

/// Eight numbers in SIMD lanes of one register.
#[derive(Clone, Copy, Debug)]
pub struct F32x8(f32x8<Avx2>);

/// Result of a comparison of [`F32x8`]s.
#[derive(Clone, Copy, Debug)]
pub struct Mask32x8(mask32x8<Avx2>);

impl_lanewise_ops!(F32x8: Add add, Sub sub, Mul mul, Div div);
impl_lanewise_ops!(Mask32x8: BitAnd bitand, BitOr bitor);

impl Not for Mask32x8 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl Neg for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl AddAssign for F32x8 {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Default for F32x8 {
    #[inline(always)]
    fn default() -> Self {
        Self::splat(0.0)
    }
}

impl Default for Mask32x8 {
    #[inline(always)]
    fn default() -> Self {
        Self(mask32x8::splat(avx2(), false))
    }
}

impl F32x8 {
    /// Returns `value` in every lane; `self` proves that the processor has AVX2.
    #[inline(always)]
    fn splat_like(self, value: f32) -> Self {
        Self(f32x8::splat(self.0.simd, value))
    }
}

impl Lane for F32x8 {
    type Mask = Mask32x8;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(f32x8::splat(avx2(), value))
    }

    #[inline(always)]
    fn less(self, other: Self) -> Mask32x8 {
        Mask32x8(self.0.simd_lt(other.0))
    }

    #[inline(always)]
    fn any(mask: Mask32x8) -> bool {
        mask.0.any_true()
    }

    #[inline(always)]
    fn select(mask: Mask32x8, when_set: Self, when_clear: Self) -> Self {
        Self(mask.0.select(when_set.0, when_clear.0))
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
        let whole: u32x8<Avx2> = (self + self.splat_like(ROUND_TO_WHOLE)).0.bitcast();
        Self(((whole << MANTISSA_BITS) + ONE_BITS).bitcast())
    }

    #[inline(always)]
    fn exponent_and_mantissa(self) -> (Self, Self) {
        let bits: u32x8<Avx2> = self.0.bitcast();
        let biased_exponent = Self(((bits >> MANTISSA_BITS) | ROUND_TO_WHOLE.to_bits()).bitcast());
        let mantissa = Self(((bits & MANTISSA_MASK) | ONE_BITS).bitcast());
        (biased_exponent - self.splat_like(ROUND_TO_WHOLE + 127.0), mantissa)
    }

    #[inline(always)]
    fn masked(self, mask: Mask32x8) -> Self {
        Self::select(mask, self, self.splat_like(0.0))
    }

    #[inline(always)]
    fn at_least(self, bound: Self) -> Self {
        // The instruction returns the second operand if both are equal or one is a NaN.
        Self(self.0.max(bound.0))
    }

    #[inline(always)]
    fn at_most(self, bound: Self) -> Self {
        Self(self.0.min(bound.0))
    }

    #[inline(always)]
    fn sign(self) -> Self {
        Self::select(self.less(self.splat_like(0.0)), self.splat_like(-1.0), self.splat_like(1.0))
    }

    #[inline(always)]
    fn times_sign_of(self, sign_source: Self) -> Self {
        Self::select(sign_source.less(self.splat_like(0.0)), -self, self)
    }

    #[inline(always)]
    fn smoothstep_unit(self) -> Self {
        let t = self.clamp_nan_to_low(self.splat_like(0.0), self.splat_like(1.0));
        t * t * (self.splat_like(3.0) - self.splat_like(2.0) * t)
    }

    #[inline(always)]
    fn call_outlined<R>(kernel: impl FnOnce() -> R) -> R {
        avx2().vectorize(kernel)
    }

    #[inline(always)]
    fn dispatch_simd<R>(kernel: impl FnOnce() -> R) -> R {
        avx2().vectorize(kernel)
    }
}

impl Broadcast<Self> for F32x8 {
    #[inline(always)]
    fn broadcast(self) -> Self {
        self
    }
}

impl_car_lanes!(
    F32x8,
    8,
    |numbers: [f32; 8]| Self(numbers.simd_into(avx2())),
    |lanes: F32x8| lanes.0.into(),
    |mask: Mask32x8| mask.0.to_bitmask() as u32
);

impl CarLanes for F32x8 {
    #[inline(always)]
    fn from_lanes(lanes: [f32; 8]) -> Self {
        Self(lanes.simd_into(avx2()))
    }

    #[inline(always)]
    fn to_lanes(self) -> [f32; 8] {
        self.0.into()
    }

    #[inline(always)]
    fn from_halves(halves: [F32x4; 2]) -> Self {
        let to_register =
            |half: F32x4| -> f32x4<Avx2> { f32x4::simd_from(avx2(), bytemuck::cast::<_, __m128>(half.0)) };
        Self(avx2().combine_f32x4(to_register(halves[0]), to_register(halves[1])))
    }

    #[inline(always)]
    fn halves(self) -> [F32x4; 2] {
        let (first, last) = self.0.simd.split_f32x8(self.0);
        let to_quad = |half: f32x4<Avx2>| F32x4(bytemuck::cast(__m128::from(half)));
        [to_quad(first), to_quad(last)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values for tests, with NaN, infinities and zeros of different sign.
    const EDGE_CASE_VALUES: [f32; 8] = [0.0, -0.0, f32::NAN, 1.5, -2.0, f32::INFINITY, f32::NEG_INFINITY, 1e-40];

    /// Checks that arithmetic, bounds, masks, signs, selection, roots, smoothstep, powers of two and exponents have the
    /// same bits in a register as for single numbers, except for the bits of a NaN. Does nothing without AVX2.
    #[test]
    fn eight_in_a_register_do_what_one_does() {
        if !has_avx2() {
            return;
        }
        let same = |eight: F32x8, one: &dyn Fn(f32) -> f32| {
            // The bits of a NaN may differ.
            let bits = |value: f32| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() };
            assert_eq!(eight.to_lanes().map(bits), EDGE_CASE_VALUES.map(|value| bits(one(value))));
        };
        let x = F32x8::from_lanes(EDGE_CASE_VALUES);
        for operand in EDGE_CASE_VALUES {
            let y = F32x8::splat(operand);
            same(x + y, &|x| x + operand);
            same(x - y, &|x| x - operand);
            same(x * y, &|x| x * operand);
            same(x / y, &|x| x / operand);
            same(x.at_least(y), &|x| x.at_least(operand));
            same(x.at_most(y), &|x| x.at_most(operand));
            same(x.masked(x.less(y)), &|x| x.masked(x < operand));
            same(x.times_sign_of(y), &|x| x.times_sign_of(operand));
            same(F32x8::select(!y.less(x), x, y), &|x| if operand < x { operand } else { x });
            let mask_bits = F32x8::bits(x.less(y));
            assert_eq!(mask_bits, (0..8).map(|lane| u32::from(EDGE_CASE_VALUES[lane] < operand) << lane).sum::<u32>());
        }
        same(-x, &|x| -x);
        same(x.abs().sqrt(), &|x| x.abs().sqrt());
        same(x.smoothstep_unit(), &Lane::smoothstep_unit);
        same(x.sign(), &Lane::sign);
        let powers = F32x8::from_lanes([-126.0, 0.0, 5.0, 127.0, 1.0, -1.0, 30.0, -80.0]);
        assert_eq!(powers.power_of_two().to_lanes(), powers.to_lanes().map(Lane::power_of_two));
        let positive = [1.5f32, 3.0e-20, 1.0, 7.0e12, 0.1, 3.9, 2.0, 1e30];
        let (exponents, mantissas) = F32x8::from_lanes(positive).exponent_and_mantissa();
        let split = positive.map(Lane::exponent_and_mantissa);
        assert_eq!(exponents.to_lanes(), split.map(|(exponent, _)| exponent));
        assert_eq!(mantissas.to_lanes(), split.map(|(_, mantissa)| mantissa));
    }

    /// Checks that `transpose_to_lanes` puts number i of each car into value i, and that `transpose_to_cars` is its
    /// inverse. Does nothing without AVX2.
    #[test]
    fn rows_and_columns_are_each_other_turned() {
        if !has_avx2() {
            return;
        }
        let car_row = |row: usize| F32x4::new([0.0, 1.0, 2.0, 3.0].map(|column| 10.0 * row as f32 + column));
        let columns = F32x8::transpose_to_lanes(car_row);
        assert_eq!(columns[2].to_lanes(), [2.0, 12.0, 22.0, 32.0, 42.0, 52.0, 62.0, 72.0]);
        assert_eq!(F32x8::transpose_to_cars(columns), [0, 1, 2, 3, 4, 5, 6, 7].map(car_row));
    }
}
