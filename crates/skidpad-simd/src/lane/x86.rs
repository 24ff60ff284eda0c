//! Eight numbers in an AVX2 register, and sixteen in an AVX-512 register.

use core::arch::x86_64::__m128;
use core::cell::Cell;
use core::fmt::Debug;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fearless_simd::{
    Avx2, Avx512, Bytes, Level, Select, Simd, SimdBase, SimdFloat, SimdFrom, SimdInto, SimdMask, f32x4, f32x8, f32x16,
    mask32x8, mask32x16, u32x8, u32x16,
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

    /// Proof that the processor has AVX-512, on threads that have called [`has_avx512`].
    static HAS_AVX512: Cell<Option<Avx512>> = const { Cell::new(None) };
}

/// Returns whether the processor has AVX2 for [`F32x8`]. Each thread must call this before it computes with that type.
#[inline]
pub fn has_avx2() -> bool {
    if HAS_AVX2.get().is_none() {
        HAS_AVX2.set(Level::new().as_avx2());
    }
    HAS_AVX2.get().is_some()
}

/// Returns whether the processor has AVX-512 for [`F32x16`]. Each thread must call this before it computes with that
/// type.
#[inline]
pub fn has_avx512() -> bool {
    if HAS_AVX512.get().is_none() {
        HAS_AVX512.set(Level::new().as_avx512());
    }
    HAS_AVX512.get().is_some()
}

/// Returns the proof that the processor has AVX2. Aborts the process on a thread that has not called [`has_avx2`] with
/// success.
#[inline(always)]
fn avx2() -> Avx2 {
    // Every caller has checked `has_avx2`.
    HAS_AVX2.get().unwrap_or_else(|| std::process::abort())
}

/// Returns the proof that the processor has AVX-512. Aborts the process on a thread that has not called [`has_avx512`]
/// with success.
#[inline(always)]
fn avx512() -> Avx512 {
    // Every caller has checked `has_avx512`.
    HAS_AVX512.get().unwrap_or_else(|| std::process::abort())
}

/// Defines `type` and `mask` of `count` numbers in one register of the instruction set `set`. `proof()` proves that the
/// processor has it, `is_supported()` returns whether.
macro_rules! define_register_type {
    (
        $type:ident,
        $mask:ident,
        $count:literal,
        $set:ident,
        $proof:ident,
        $is_supported:ident,
        $numbers:ident,
        $flags:ident,
        $bits:ident
    ) => {
        #[doc = concat!(stringify!($count), " numbers in SIMD lanes of one register.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $type($numbers<$set>);

        #[doc = concat!("Result of a comparison of [`", stringify!($type), "`]s.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $mask($flags<$set>);

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
                Self(-self.0)
            }
        }

        impl AddAssign for $type {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Default for $type {
            #[inline(always)]
            fn default() -> Self {
                Self::splat(0.0)
            }
        }

        impl Default for $mask {
            #[inline(always)]
            fn default() -> Self {
                Self($flags::splat($proof(), false))
            }
        }

        impl $type {
            /// Returns `value` in every lane; `self` proves that the processor has the instruction set.
            #[inline(always)]
            fn splat_like(self, value: f32) -> Self {
                Self($numbers::splat(self.0.simd, value))
            }
        }

        impl Lane for $type {
            type Mask = $mask;

            #[inline(always)]
            fn splat(value: f32) -> Self {
                Self($numbers::splat($proof(), value))
            }

            #[inline(always)]
            fn less(self, other: Self) -> $mask {
                $mask(self.0.simd_lt(other.0))
            }

            #[inline(always)]
            fn any(mask: $mask) -> bool {
                mask.0.any_true()
            }

            #[inline(always)]
            fn select(mask: $mask, when_set: Self, when_clear: Self) -> Self {
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
                let whole: $bits<$set> = (self + self.splat_like(ROUND_TO_WHOLE)).0.bitcast();
                Self(((whole << MANTISSA_BITS) + ONE_BITS).bitcast())
            }

            #[inline(always)]
            fn exponent_and_mantissa(self) -> (Self, Self) {
                let bits: $bits<$set> = self.0.bitcast();
                let biased_exponent = Self(((bits >> MANTISSA_BITS) | ROUND_TO_WHOLE.to_bits()).bitcast());
                let mantissa = Self(((bits & MANTISSA_MASK) | ONE_BITS).bitcast());
                (biased_exponent - self.splat_like(ROUND_TO_WHOLE + 127.0), mantissa)
            }

            #[inline(always)]
            fn masked(self, mask: $mask) -> Self {
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
                $proof().vectorize(kernel)
            }

            #[inline(always)]
            fn dispatch_simd<R>(kernel: impl FnOnce() -> R) -> R {
                $proof().vectorize(kernel)
            }
        }

        impl Broadcast<Self> for $type {
            #[inline(always)]
            fn broadcast(self) -> Self {
                self
            }
        }

        impl_car_lanes!(
            $type,
            $count,
            $is_supported,
            |numbers: [f32; $count]| Self(numbers.simd_into($proof())),
            |lanes: $type| lanes.0.into(),
            |mask: $mask| mask.0.to_bitmask() as u32,
            |numbers: $type, others: $type| {
                let (numbers, others): ($bits<$set>, $bits<$set>) = (numbers.0.bitcast(), others.0.bitcast());
                (!numbers.simd_eq(others)).to_bitmask() as u32
            }
        );
    };
}

define_register_type!(F32x8, Mask32x8, 8, Avx2, avx2, has_avx2, f32x8, mask32x8, u32x8);
define_register_type!(F32x16, Mask32x16, 16, Avx512, avx512, has_avx512, f32x16, mask32x16, u32x16);

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
    /// same bits in a register as for single numbers, except for the bits of a NaN. Does nothing on a processor without
    /// such registers.
    fn compare_with_single_numbers<W: BlockLanes>() {
        if !W::is_supported() {
            return;
        }
        let lanes = |values: [f32; 8]| W::from_array(W::array_from_fn(|lane| values[lane % 8]));
        let same = |register: W, one: &dyn Fn(f32) -> f32, inputs: [f32; 8]| {
            // The bits of a NaN may differ.
            let bits = |value: f32| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() };
            for (lane, found) in register.to_array().as_ref().iter().enumerate() {
                assert_eq!(bits(*found), bits(one(inputs[lane % 8])), "lane {lane}");
            }
        };
        let edges = EDGE_CASE_VALUES;
        let x = lanes(edges);
        for operand in edges {
            let y = W::splat(operand);
            same(x + y, &|x| x + operand, edges);
            same(x - y, &|x| x - operand, edges);
            same(x * y, &|x| x * operand, edges);
            same(x / y, &|x| x / operand, edges);
            same(x.at_least(y), &|x| x.at_least(operand), edges);
            same(x.at_most(y), &|x| x.at_most(operand), edges);
            same(x.masked(x.less(y)), &|x| x.masked(x < operand), edges);
            same(x.times_sign_of(y), &|x| x.times_sign_of(operand), edges);
            same(W::select(!y.less(x), x, y), &|x| if operand < x { operand } else { x }, edges);
            let expected_bits = |lane: usize| u32::from(edges[lane % 8] < operand) << lane;
            let mask_bits = W::mask_bits(x.less(y));
            assert_eq!(mask_bits, (0..W::LANE_COUNT).map(expected_bits).sum::<u32>());
            let expected_bits = |lane: usize| u32::from(edges[lane % 8].to_bits() != operand.to_bits()) << lane;
            assert_eq!(x.different_bits(y), (0..W::LANE_COUNT).map(expected_bits).sum::<u32>());
            same(x.masked(W::mask_from_bits(mask_bits)), &|x| x.masked(x < operand), edges);
        }
        same(-x, &|x| -x, edges);
        same(x.abs().sqrt(), &|x| x.abs().sqrt(), edges);
        same(x.smoothstep_unit(), &Lane::smoothstep_unit, edges);
        same(x.sign(), &Lane::sign, edges);
        let powers = [-126.0, 0.0, 5.0, 127.0, 1.0, -1.0, 30.0, -80.0];
        same(lanes(powers).power_of_two(), &Lane::power_of_two, powers);
        let positive = [1.5f32, 3.0e-20, 1.0, 7.0e12, 0.1, 3.9, 2.0, 1e30];
        let (exponents, mantissas) = lanes(positive).exponent_and_mantissa();
        same(exponents, &|x| x.exponent_and_mantissa().0, positive);
        same(mantissas, &|x| x.exponent_and_mantissa().1, positive);
        assert_eq!(x.with_number(3, 7.0).number(3), 7.0);
    }

    #[test]
    fn eight_in_a_register_do_what_one_does() {
        compare_with_single_numbers::<F32x8>();
        compare_with_single_numbers::<crate::lane::F32x8Pair>();
    }

    #[test]
    fn sixteen_in_a_register_do_what_one_does() {
        compare_with_single_numbers::<F32x16>();
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
