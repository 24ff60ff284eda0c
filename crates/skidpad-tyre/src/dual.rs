//! Forward-mode differentiation: a formula over [`Real`] returns its value alone, or its value and exact derivatives.

use super::functions;
use skidpad_simd::lane::Lane;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Number in a formula of slip: a plain [`Lane`], or a [`Dual`] with derivatives. `L` is the type of the numbers that
/// do not depend on slip.
pub trait Real<L: Lane>:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<L, Output = Self>
    + Sub<L, Output = Self>
    + Mul<L, Output = Self>
{
    /// Returns a number that does not depend on slip. Its derivatives are 0.
    fn constant(value: L) -> Self;

    /// Returns the value without derivatives.
    fn value(self) -> L;

    /// Returns a function of `self` that has `value` and derivative `slope` at `self` (chain rule).
    fn chain(self, value: L, slope: L) -> Self;

    /// Returns `when_set` in the lanes where `mask` is set, `when_clear` elsewhere.
    fn choose(mask: L::Mask, when_set: Self, when_clear: Self) -> Self;
}

impl<L: Lane> Real<L> for L {
    #[inline(always)]
    fn constant(value: L) -> Self {
        value
    }

    #[inline(always)]
    fn value(self) -> L {
        self
    }

    #[inline(always)]
    fn chain(self, value: L, _: L) -> Self {
        value
    }

    #[inline(always)]
    fn choose(mask: L::Mask, when_set: Self, when_clear: Self) -> Self {
        L::select(mask, when_set, when_clear)
    }
}

/// Value with its derivatives with respect to `N` inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<L, const N: usize> {
    /// Value.
    pub value: L,
    /// Derivative with respect to each input.
    pub slope: [L; N],
}

impl<L: Lane, const N: usize> Dual<L, N> {
    /// Returns the input number `index` with `value`. Its derivative is 1 with respect to itself and 0 for the other
    /// inputs.
    #[inline(always)]
    pub fn input(value: L, index: usize) -> Self {
        Self::from_slopes(
            value,
            #[inline(always)]
            |i| L::splat(if i == index { 1.0 } else { 0.0 }),
        )
    }

    /// Builds the number with `value` and the derivatives `slope(i)`.
    #[inline(always)]
    fn from_slopes(value: L, slope: impl Fn(usize) -> L) -> Self {
        // A plain loop, because the compiler does not inline functions that build arrays into large functions.
        let mut slopes = [L::default(); N];
        for (i, entry) in slopes.iter_mut().enumerate() {
            *entry = slope(i);
        }
        Self { value, slope: slopes }
    }
}

impl<L: Lane, const N: usize> Real<L> for Dual<L, N> {
    #[inline(always)]
    fn constant(value: L) -> Self {
        Self::from_slopes(value, |_| L::splat(0.0))
    }

    #[inline(always)]
    fn value(self) -> L {
        self.value
    }

    #[inline(always)]
    fn chain(self, value: L, slope: L) -> Self {
        Self::from_slopes(value, |i| self.slope[i] * slope)
    }

    #[inline(always)]
    fn choose(mask: L::Mask, when_set: Self, when_clear: Self) -> Self {
        Self::from_slopes(L::select(mask, when_set.value, when_clear.value), |i| {
            L::select(mask, when_set.slope[i], when_clear.slope[i])
        })
    }
}

impl<L: Lane, const N: usize> Add for Dual<L, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::from_slopes(self.value + other.value, |i| self.slope[i] + other.slope[i])
    }
}

impl<L: Lane, const N: usize> Sub for Dual<L, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::from_slopes(self.value - other.value, |i| self.slope[i] - other.slope[i])
    }
}

impl<L: Lane, const N: usize> Mul for Dual<L, N> {
    type Output = Self;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the product rule")]
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self::from_slopes(self.value * other.value, |i| self.slope[i] * other.value + self.value * other.slope[i])
    }
}

impl<L: Lane, const N: usize> Div for Dual<L, N> {
    type Output = Self;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the quotient rule")]
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let quotient = self.value / other.value;
        Self::from_slopes(quotient, |i| (self.slope[i] - quotient * other.slope[i]) / other.value)
    }
}

impl<L: Lane, const N: usize> Neg for Dual<L, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::from_slopes(-self.value, |i| -self.slope[i])
    }
}

impl<L: Lane, const N: usize> Add<L> for Dual<L, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: L) -> Self {
        Self { value: self.value + other, slope: self.slope }
    }
}

impl<L: Lane, const N: usize> Sub<L> for Dual<L, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: L) -> Self {
        Self { value: self.value - other, slope: self.slope }
    }
}

impl<L: Lane, const N: usize> Mul<L> for Dual<L, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: L) -> Self {
        Self::from_slopes(self.value * other, |i| self.slope[i] * other)
    }
}

/// Returns the arc tangent; see [`functions::atan`].
#[inline(always)]
pub fn atan<L: Lane, R: Real<L>>(x: R) -> R {
    let value = x.value();
    let one = L::splat(1.0);
    x.chain(functions::atan(value), one / (one + value * value))
}

/// Returns the sine; see [`functions::sin`].
#[inline(always)]
pub fn sin<L: Lane, R: Real<L>>(x: R) -> R {
    let value = x.value();
    x.chain(functions::sin(value), functions::cos(value))
}

/// Returns the cosine; see [`functions::cos`].
#[inline(always)]
pub fn cos<L: Lane, R: Real<L>>(x: R) -> R {
    let value = x.value();
    x.chain(functions::cos(value), -functions::sin(value))
}

/// Returns cos(atan(x)) = 1 / √(1 + x²), without a transcendental function.
#[inline(always)]
pub fn cos_atan<L: Lane, R: Real<L>>(x: R) -> R {
    let value = x.value();
    let one = L::splat(1.0);
    let square = one + value * value;
    let cosine = one / square.sqrt();
    x.chain(cosine, -(value * cosine / square))
}

/// Returns the square root of `x`, which is raised to `floor`, > 0. The derivative is 0 below `floor`.
#[inline(always)]
pub fn sqrt_at_least<L: Lane, R: Real<L>>(x: R, floor: L) -> R {
    let value = x.value();
    let is_below_floor = value.less(floor);
    let root = L::select(is_below_floor, floor, value).sqrt();
    x.chain(root, L::select(is_below_floor, L::splat(0.0), L::splat(0.5) / root))
}

/// Clamps `x` to `low ..= high`. The derivative is 0 outside the range and at `low`. A NaN becomes `low`.
#[inline(always)]
pub fn clamp<L: Lane, R: Real<L>>(x: R, low: L, high: L) -> R {
    let value = x.value();
    let clamped_value = value.clamp_nan_to_low(low, high);
    let clamped = R::choose(value.less(low), R::constant(low), R::choose(high.less(value), R::constant(high), x));
    // `clamped_value` equals `low` at the lower bound and for a NaN.
    R::choose(low.less(clamped_value), clamped, R::choose(clamped_value.less(low), clamped, R::constant(low)))
}
