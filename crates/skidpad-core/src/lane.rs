//! One number or several: the kernels of a step are written once over [`Lane`] and give the same bits for a wheel on its
//! own and for the same wheel among four.
//!
//! Only exactly rounded operations (+ − × ÷ √, comparison, selection) are offered, so a result depends on nothing but
//! its inputs. A kernel that has to choose computes both and selects; it may skip work that no lane needs.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use wide::f32x4;

/// Numbers a kernel computes with: `f32`, or [`Four`] of them.
pub trait Lane:
    Copy
    + Debug
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Answer of a comparison, lane by lane.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;

    /// `value` in every lane.
    fn splat(value: f32) -> Self;

    /// Where `self < other`; nowhere for a NaN.
    fn less(self, other: Self) -> Self::Mask;

    /// Whether `mask` holds in any lane.
    fn any(mask: Self::Mask) -> bool;

    /// `yes` where `mask` holds, `no` elsewhere, bit for bit.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;

    /// Magnitude.
    fn abs(self) -> Self;

    /// `self` where `mask` holds, 0 elsewhere.
    #[inline(always)]
    fn only(self, mask: Self::Mask) -> Self {
        Self::select(mask, self, Self::splat(0.0))
    }

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

    /// `self` with its sign changed where `of` is below 0.
    #[inline(always)]
    fn signed_by(self, of: Self) -> Self {
        Self::select(of.less(Self::splat(0.0)), -self, self)
    }

    /// 0 below `low`, 1 above `high`, a cubic with zero slope at both ends between them.
    #[inline(always)]
    fn smoothstep(self, low: Self, high: Self) -> Self {
        let t = ((self - low) / (high - low)).within(Self::splat(0.0), Self::splat(1.0));
        t * t * (Self::splat(3.0) - Self::splat(2.0) * t)
    }
}

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
}

/// Four numbers that are computed with side by side: two axles, left before right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Four(f32x4);

/// Answer of a comparison of [`Four`]s: all bits of a lane set, or none.
#[derive(Clone, Copy, Debug)]
pub struct FourMask(f32x4);

impl Four {
    /// From its lanes.
    #[inline(always)]
    pub fn new(lanes: [f32; 4]) -> Self {
        Self(f32x4::new(lanes))
    }

    /// Its lanes.
    #[inline(always)]
    pub fn lanes(self) -> [f32; 4] {
        self.0.to_array()
    }

    /// Sum of the lanes, axle by axle: swapping left and right changes no bit.
    #[inline(always)]
    pub fn sum(self) -> f32 {
        let [a, b, c, d] = self.lanes();
        (a + b) + (c + d)
    }

    /// [`Four::sum`] of four at once.
    #[inline(always)]
    pub fn sums(of: [Self; 4]) -> [f32; 4] {
        let [a, b, c, d] = f32x4::transpose(of.map(|f| f.0));
        ((a + b) + (c + d)).to_array()
    }
}

impl FourMask {
    /// Lane by lane.
    #[inline(always)]
    pub fn lanes(self) -> [bool; 4] {
        let bits = self.0.to_bitmask();
        [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0, bits & 8 != 0]
    }
}

impl Default for FourMask {
    fn default() -> Self {
        Self(f32x4::splat(0.0))
    }
}

macro_rules! by_lane {
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

by_lane!(Four: Add add, Sub sub, Mul mul, Div div);
by_lane!(FourMask: BitAnd bitand, BitOr bitor);

impl Not for FourMask {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl Neg for Four {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0 * f32x4::splat(-1.0))
    }
}

impl AddAssign for Four {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Lane for Four {
    type Mask = FourMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(f32x4::splat(value))
    }

    #[inline(always)]
    fn less(self, other: Self) -> FourMask {
        FourMask(self.0.simd_lt(other.0))
    }

    #[inline(always)]
    fn any(mask: FourMask) -> bool {
        mask.0.any()
    }

    #[inline(always)]
    fn select(mask: FourMask, yes: Self, no: Self) -> Self {
        Self(mask.0.bitselect(yes.0, no.0))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_lanes_do_what_one_does() {
        let (a, b) = ([1.5f32, -2.0, 0.0, 3.0e-20], [0.5f32, -2.0, -1.0, 7.0]);
        let (x, y) = (Four::new(a), Four::new(b));
        let same = |four: Four, one: fn(f32, f32) -> f32| {
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
        same(x.at_least(y), Lane::at_least);
        same(x.at_most(y), Lane::at_most);
        same(x.signed_by(y), Lane::signed_by);
        same(Four::select(x.less(y), x, y), |x, y| if x < y { x } else { y });
        same(x.smoothstep(Four::splat(-3.0), Four::splat(2.0)), |x, _| x.smoothstep(-3.0, 2.0));
        assert_eq!(x.less(y).lanes(), [false, false, false, true]);
        assert_eq!(Four::sums([x, y, x, y]), [x.sum(), y.sum(), x.sum(), y.sum()]);
    }
}
