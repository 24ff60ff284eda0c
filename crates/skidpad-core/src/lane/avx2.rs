//! Eight numbers in an AVX2 register.

use core::arch::x86_64::__m128;
use core::cell::Cell;
use core::fmt::Debug;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fearless_simd::{
    Avx2, Bytes, Level, Select, Simd, SimdBase, SimdFloat, SimdFrom, SimdInto, SimdMask, f32x4, f32x8, mask32x8, u32x8,
};
use wide::bytemuck;

use crate::lane::by_lane;
use crate::lane::octet::of_eight_cars;
use crate::lane::{Abreast, Corners, Four, Lane, MANTISSA, MANTISSA_BITS, ONE_BITS, Octet, ROUNDING, Spread};

thread_local! {
    /// Proof that the processor has AVX2, on threads that have called [`is_there`].
    static HAS_AVX2: Cell<Option<Avx2>> = const { Cell::new(None) };
}

/// Returns whether the processor has AVX2 for [`WideEight`]. Each thread must call this before it computes with that type.
pub(crate) fn is_there() -> bool {
    HAS_AVX2.set(Level::new().as_avx2());
    HAS_AVX2.get().is_some()
}

#[inline(always)]
fn avx2() -> Avx2 {
    // Every caller has checked `is_there`.
    HAS_AVX2.get().unwrap_or_else(|| std::process::abort())
}

/// Eight numbers in SIMD lanes of one register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideEight(f32x8<Avx2>);

/// Result of a comparison of [`WideEight`]s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideMask(mask32x8<Avx2>);

by_lane!(WideEight: Add add, Sub sub, Mul mul, Div div);
by_lane!(WideMask: BitAnd bitand, BitOr bitor);

impl Not for WideMask {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl Neg for WideEight {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl AddAssign for WideEight {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Default for WideEight {
    #[inline(always)]
    fn default() -> Self {
        Self::splat(0.0)
    }
}

impl Default for WideMask {
    #[inline(always)]
    fn default() -> Self {
        Self(mask32x8::splat(avx2(), false))
    }
}

impl WideEight {
    /// Returns `value` in every lane; `self` proves that the processor has AVX2.
    #[inline(always)]
    fn all(self, value: f32) -> Self {
        Self(f32x8::splat(self.0.simd, value))
    }
}

impl Lane for WideEight {
    type Mask = WideMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(f32x8::splat(avx2(), value))
    }

    #[inline(always)]
    fn less(self, other: Self) -> WideMask {
        WideMask(self.0.simd_lt(other.0))
    }

    #[inline(always)]
    fn any(mask: WideMask) -> bool {
        mask.0.any_true()
    }

    #[inline(always)]
    fn select(mask: WideMask, yes: Self, no: Self) -> Self {
        Self(mask.0.select(yes.0, no.0))
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
        let whole: u32x8<Avx2> = (self + self.all(ROUNDING)).0.bitcast();
        Self(((whole << MANTISSA_BITS) + ONE_BITS).bitcast())
    }

    #[inline(always)]
    fn exponent_and_mantissa(self) -> (Self, Self) {
        let bits: u32x8<Avx2> = self.0.bitcast();
        let biased = Self(((bits >> MANTISSA_BITS) | ROUNDING.to_bits()).bitcast());
        let mantissa = Self(((bits & MANTISSA) | ONE_BITS).bitcast());
        (biased - self.all(ROUNDING + 127.0), mantissa)
    }

    #[inline(always)]
    fn only(self, mask: WideMask) -> Self {
        Self::select(mask, self, self.all(0.0))
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
        Self::select(self.less(self.all(0.0)), self.all(-1.0), self.all(1.0))
    }

    #[inline(always)]
    fn signed_by(self, of: Self) -> Self {
        Self::select(of.less(self.all(0.0)), -self, self)
    }

    #[inline(always)]
    fn eased(self) -> Self {
        let t = self.within(self.all(0.0), self.all(1.0));
        t * t * (self.all(3.0) - self.all(2.0) * t)
    }

    #[inline(always)]
    fn called<R>(part: impl FnOnce() -> R) -> R {
        avx2().vectorize(part)
    }

    #[inline(always)]
    fn widest<R>(part: impl FnOnce() -> R) -> R {
        avx2().vectorize(part)
    }
}

impl Spread<Self> for WideEight {
    #[inline(always)]
    fn spread(self) -> Self {
        self
    }
}

of_eight_cars!(WideEight);

impl Octet for WideEight {
    #[inline(always)]
    fn of_lanes(lanes: [f32; 8]) -> Self {
        Self(lanes.simd_into(avx2()))
    }

    #[inline(always)]
    fn in_lanes(self) -> [f32; 8] {
        self.0.into()
    }

    #[inline(always)]
    fn of_halves(halves: [Four; 2]) -> Self {
        let of = |half: Four| -> f32x4<Avx2> { f32x4::simd_from(avx2(), bytemuck::cast::<_, __m128>(half.0)) };
        Self(avx2().combine_f32x4(of(halves[0]), of(halves[1])))
    }

    #[inline(always)]
    fn halves(self) -> [Four; 2] {
        let (first, last) = self.0.simd.split_f32x8(self.0);
        let of = |half: f32x4<Avx2>| Four(bytemuck::cast(__m128::from(half)));
        [of(first), of(last)]
    }

    #[inline(always)]
    fn bits(mask: WideMask) -> u32 {
        mask.0.to_bitmask() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values for tests, with NaN, infinities and zeros of different sign.
    const ODD: [f32; 8] = [0.0, -0.0, f32::NAN, 1.5, -2.0, f32::INFINITY, f32::NEG_INFINITY, 1e-40];

    #[test]
    fn eight_in_a_register_do_what_one_does() {
        if !is_there() {
            return;
        }
        let same = |eight: WideEight, one: &dyn Fn(f32) -> f32| {
            // The bits of a NaN may differ.
            let bits = |of: f32| if of.is_nan() { f32::NAN.to_bits() } else { of.to_bits() };
            assert_eq!(eight.in_lanes().map(bits), ODD.map(|of| bits(one(of))));
        };
        let x = WideEight::of_lanes(ODD);
        for of in ODD {
            let y = WideEight::splat(of);
            same(x + y, &|x| x + of);
            same(x - y, &|x| x - of);
            same(x * y, &|x| x * of);
            same(x / y, &|x| x / of);
            same(x.at_least(y), &|x| x.at_least(of));
            same(x.at_most(y), &|x| x.at_most(of));
            same(x.only(x.less(y)), &|x| x.only(x < of));
            same(x.signed_by(y), &|x| x.signed_by(of));
            same(WideEight::select(!y.less(x), x, y), &|x| if of < x { of } else { x });
            let each = WideEight::bits(x.less(y));
            assert_eq!(each, (0..8).map(|lane| u32::from(ODD[lane] < of) << lane).sum::<u32>());
        }
        same(-x, &|x| -x);
        same(x.abs().sqrt(), &|x| x.abs().sqrt());
        same(x.eased(), &Lane::eased);
        same(x.sign(), &Lane::sign);
        let powers = WideEight::of_lanes([-126.0, 0.0, 5.0, 127.0, 1.0, -1.0, 30.0, -80.0]);
        assert_eq!(powers.power_of_two().in_lanes(), powers.in_lanes().map(Lane::power_of_two));
        let positive = [1.5f32, 3.0e-20, 1.0, 7.0e12, 0.1, 3.9, 2.0, 1e30];
        let (exponents, mantissas) = WideEight::of_lanes(positive).exponent_and_mantissa();
        let split = positive.map(Lane::exponent_and_mantissa);
        assert_eq!(exponents.in_lanes(), split.map(|(exponent, _)| exponent));
        assert_eq!(mantissas.in_lanes(), split.map(|(_, mantissa)| mantissa));
    }

    #[test]
    fn rows_and_columns_are_each_other_turned() {
        if !is_there() {
            return;
        }
        let of = |row: usize| Four::new([0.0, 1.0, 2.0, 3.0].map(|column| 10.0 * row as f32 + column));
        let columns = WideEight::columns(of);
        assert_eq!(columns[2].in_lanes(), [2.0, 12.0, 22.0, 32.0, 42.0, 52.0, 62.0, 72.0]);
        assert_eq!(WideEight::rows(columns), [0, 1, 2, 3, 4, 5, 6, 7].map(of));
    }
}
