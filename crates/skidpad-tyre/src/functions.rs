//! Arc tangent, sine, cosine, exponential function and logarithm over [`Lane`], computed with exactly rounded
//! operations only.
//!
//! `libm` branches per number and cannot run in SIMD lanes; these functions do not branch. The polynomials are minimax
//! fits (Remez algorithm with 40 digits, rounded to `f32`). The stated errors are the largest found in a comparison
//! with 64-bit `libm`; see the tests.

use skidpad_simd::lane::{Lane, ROUND_TO_WHOLE};
use std::f32::consts::{FRAC_PI_2, LN_2, LOG2_E, PI};

/// Returns `c[0] + c[1] x + c[2] x² …` with the coefficients c, by Horner's scheme.
#[inline(always)]
fn polynomial<L: Lane, const N: usize>(coefficients: [f32; N], x: L) -> L {
    let mut sum = L::splat(coefficients[N - 1]);
    for &coefficient in coefficients[..N - 1].iter().rev() {
        sum = sum * x + L::splat(coefficient);
    }
    sum
}

/// Returns the nearest whole number, ties to even, for magnitudes below 2²², by adding and subtracting a large
/// constant.
#[inline(always)]
fn nearest_whole<L: Lane>(x: L) -> L {
    (x + L::splat(ROUND_TO_WHOLE)) - L::splat(ROUND_TO_WHOLE)
}

/// Returns the arc tangent of any argument, rad, within ±π/2. The function is odd. The error is below 2e-7 rad and
/// below 3e-7 of the result.
///
/// For arguments above 1 the identity π/2 − atan(1/x) is used, so the polynomial covers [0, 1] only.
#[inline(always)]
pub fn atan<L: Lane>(x: L) -> L {
    let one = L::splat(1.0);
    let magnitude = x.abs();
    let is_steep = one.less(magnitude);
    let reduced = L::select(is_steep, one, magnitude) / L::select(is_steep, magnitude, one);
    let square = reduced * reduced;
    let tail = polynomial(
        [
            -0.333_331_67,
            0.199_941_37,
            -0.142_142_1,
            0.106_789_47,
            -0.075_805_94,
            0.043_553_74,
            -0.016_581_316,
            0.002_974_625_4,
        ],
        square,
    );
    let angle = reduced + reduced * square * tail; // arc tangent of the reduced argument, 0 to π/4
    x.sign() * L::select(is_steep, L::splat(FRAC_PI_2) - angle, angle)
}

/// Returns the angle of the point (`x`, `y`) from the x axis, rad in ±π, positive towards y. The error is below 4e-7
/// rad. Both arguments 0 return NaN. The result changes its sign with `y`, also for `x` below 0 and `y` = −0.
#[inline(always)]
pub fn atan2<L: Lane>(y: L, x: L) -> L {
    let zero = L::splat(0.0);
    // The sign of the quotient is that of `y` for a positive `x`; beyond a right angle half a turn is added or removed.
    let half_turn = L::select(y.less(zero), L::splat(-PI), L::splat(PI));
    atan(y / x) + half_turn.masked(x.less(zero))
}

/// Parts of π/2 that add up to it. The first part has few digits, so its product with a small whole number is exact.
const HALF_PI: [f32; 2] = [1.570_312_5, 4.838_268e-4];

/// Returns `(-1)^half_turns sin(x − half_pis π/2)` for x (rad) within a quarter turn of `half_pis π/2`. Both counts,
/// `half_turns` and `half_pis`, are whole numbers. Subtracts π/2 in two parts, so that the remainder keeps its digits,
/// and evaluates an odd polynomial.
#[inline(always)]
fn sine_about<L: Lane>(x: L, half_turns: L, half_pis: L) -> L {
    let remainder = x - half_pis * L::splat(HALF_PI[0]) - half_pis * L::splat(HALF_PI[1]);
    let square = remainder * remainder;
    let tail = polynomial([-0.166_666_61, 0.008_333_088, -0.000_198_111_13, 2.608_932_8e-6], square);
    let half_count = half_turns * L::splat(0.5);
    // 0 for even counts, 0.5 for odd counts.
    let parity_half = (half_count - nearest_whole(half_count)).abs();
    // The last factor is the sign: 1 for even counts, −1 for odd ones.
    (remainder + remainder * square * tail) * (L::splat(1.0) - L::splat(4.0) * parity_half)
}

/// Returns the sine of `x` rad, for |x| below 1e5. The error is below 2e-7 for |x| ≤ 30 and grows in proportion to |x|.
/// Reduces x by the nearest multiple of π, then evaluates a polynomial.
#[inline(always)]
pub fn sin<L: Lane>(x: L) -> L {
    let half_turns = nearest_whole(x * L::splat(std::f32::consts::FRAC_1_PI));
    sine_about(x, half_turns, half_turns + half_turns)
}

/// Returns the cosine of `x` rad, for |x| below 1e5. The results for `x` and `−x` are bit-identical. The error is below
/// 2e-7 for |x| ≤ 30 and grows in proportion to |x|. Reduces |x| by the nearest odd multiple of π/2, then evaluates a
/// polynomial.
#[inline(always)]
pub fn cos<L: Lane>(x: L) -> L {
    let magnitude = x.abs();
    let half_turns = nearest_whole(magnitude * L::splat(std::f32::consts::FRAC_1_PI) - L::splat(0.5));
    -sine_about(magnitude, half_turns, half_turns + half_turns + L::splat(1.0))
}

/// Returns sine and cosine of `x` rad, for |x| below 1e5. Errors are below 8e-8 for |x| ≤ π/4 and below 2e-7 for |x| ≤
/// 30; the cosine of 0 is exactly 1. The sine is odd and the cosine even to the bit. Cheaper and more exact than
/// [`sin`] and [`cos`]: reduces x by the nearest multiple of π/2, evaluates both polynomials within ±π/4, and selects
/// by the quadrant.
#[inline(always)]
pub fn sin_cos<L: Lane>(x: L) -> (L, L) {
    let (one, half) = (L::splat(1.0), L::splat(0.5));
    let half_pis = nearest_whole(x * L::splat(std::f32::consts::FRAC_2_PI));
    let remainder = x - half_pis * L::splat(HALF_PI[0]) - half_pis * L::splat(HALF_PI[1]);
    let square = remainder * remainder;
    let sine_tail = polynomial([-0.166_666_55, 0.008_332_176, -0.000_195_169_75], square);
    let cosine_tail = polynomial([0.041_666_646, -0.001_388_736_4, 2.443_808_8e-5], square);
    let sine = remainder + remainder * square * sine_tail;
    let cosine = (one - half * square) + square * square * cosine_tail;
    // Number of quarter turns, −2 to 2.
    let quarter = half_pis - L::splat(4.0) * nearest_whole(half_pis * L::splat(0.25));
    let magnitude = quarter.abs();
    let is_odd = half.less(magnitude) & magnitude.less(L::splat(1.5));
    let is_half_turn = L::splat(1.5).less(magnitude);
    let negates_sine = is_half_turn | (is_odd & quarter.less(L::splat(0.0)));
    let negates_cosine = is_half_turn | (is_odd & L::splat(0.0).less(quarter));
    let signed = |negates, value: L| L::select(negates, -value, value);
    (signed(negates_sine, L::select(is_odd, cosine, sine)), signed(negates_cosine, L::select(is_odd, sine, cosine)))
}

/// Returns e to the power `x`. The relative error is below 2e-7. `x` is clamped to ±87, so the result is finite and not
/// 0. Splits x into a power of two and a remainder for a polynomial. NaN counts as −87.
#[inline(always)]
pub fn exp<L: Lane>(x: L) -> L {
    let x = x.clamp_nan_to_low(L::splat(-87.0), L::splat(87.0));
    let whole = nearest_whole(x * L::splat(LOG2_E));
    // ln 2 is split into two parts, of which the first has few digits.
    let remainder = x - whole * L::splat(0.693_359_4) - whole * L::splat(LN_2_REST);
    let tail = polynomial([0.5, 0.166_665_2, 0.041_666_206, 0.008_368_882, 0.001_395_048], remainder);
    (L::splat(1.0) + (remainder + remainder * remainder * tail)) * whole.power_of_two()
}

/// Remainder ln 2 − 0.693359375.
const LN_2_REST: f32 = -2.121_944_4e-4;

/// Returns the natural logarithm. The error is below 1.5e-7 of the larger of 1 and the result. `x` is raised to 1e-37.
/// NaN counts as 1e-37. Splits x into exponent and mantissa, and uses `ln m = 2 artanh((m − 1) / (m + 1))`.
#[inline(always)]
pub fn ln<L: Lane>(x: L) -> L {
    let one = L::splat(1.0);
    let (exponent, mantissa) = x.clamp_nan_to_low(L::splat(1e-37), L::splat(f32::MAX)).exponent_and_mantissa();
    // The mantissa is halved above √2, so that the logarithm of what remains is small: |t| ≤ 0.172.
    let exceeds_sqrt_2 = L::splat(std::f32::consts::SQRT_2).less(mantissa);
    let mantissa = L::select(exceeds_sqrt_2, mantissa * L::splat(0.5), mantissa);
    let exponent = L::select(exceeds_sqrt_2, exponent + one, exponent);
    let t = (mantissa - one) / (mantissa + one);
    let square = t * t;
    let tail = polynomial([0.666_667_76, 0.399_775_42, 0.298_717_26], square);
    exponent * L::splat(LN_2) + (t + t + t * square * tail)
}

/// Returns `base` to the power `exponent`, for a positive base. The limits of [`ln`] and [`exp`] apply. Exponent 0 and
/// base 1 return exactly 1.
#[inline(always)]
pub fn power<L: Lane>(base: L, exponent: f32) -> L {
    exp(ln(base) * L::splat(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_simd::lane::{F32x4, F32x8Pair};

    /// Returns the largest error of `ours` against `exact` at 200 001 points of `range`, each error divided by
    /// `scale(exact)`.
    fn worst(range: [f64; 2], ours: fn(f32) -> f32, exact: fn(f64) -> f64, scale: fn(f64) -> f64) -> f64 {
        const SAMPLE_COUNT: u32 = 200_000;
        (0..=SAMPLE_COUNT)
            .map(|i| {
                let x = (range[0] + (range[1] - range[0]) * f64::from(i) / f64::from(SAMPLE_COUNT)) as f32;
                let truth = exact(f64::from(x));
                ((f64::from(ours(x)) - truth) / scale(truth)).abs()
            })
            .fold(0.0, f64::max)
    }

    /// Checks the errors of all functions against 64-bit `libm` over ranges of arguments: absolute, relative to the
    /// result, or relative to the larger of 1 and the result, as their comments state them. Prints each error.
    #[test]
    fn errors_are_as_stated() {
        let absolute = |_| 1.0;
        let relative = |truth: f64| truth.abs().max(1e-30);
        let rows = [
            ("atan", worst([-20.0, 20.0], atan, libm::atan, absolute), 2e-7),
            ("atan, large", worst([20.0, 1e6], atan, libm::atan, absolute), 2e-7),
            ("atan, relative", worst([1e-6, 3.0], atan, libm::atan, relative), 3e-7),
            ("sin", worst([-30.0, 30.0], sin, libm::sin, absolute), 2e-7),
            ("cos", worst([-30.0, 30.0], cos, libm::cos, absolute), 2e-7),
            ("sin_cos, sine", worst([-30.0, 30.0], |x| sin_cos(x).0, libm::sin, absolute), 2e-7),
            ("sin_cos, cosine", worst([-30.0, 30.0], |x| sin_cos(x).1, libm::cos, absolute), 2e-7),
            ("sin_cos, small sine", worst([1e-6, 0.785], |x| sin_cos(x).0, libm::sin, relative), 8e-8),
            ("sin_cos, small cosine", worst([-0.785, 0.785], |x| sin_cos(x).1, libm::cos, absolute), 8e-8),
            ("exp", worst([-80.0, 80.0], exp, libm::exp, relative), 2e-7),
            ("ln", worst([1e-3, 10.0], ln, libm::log, |truth| truth.abs().max(1.0)), 1.5e-7),
            ("ln, large", worst([10.0, 1e9], ln, libm::log, |truth| truth.abs().max(1.0)), 1.5e-7),
        ];
        for (name, error, bound) in rows {
            println!("{name}: {error:.2e}");
            assert!(error < bound, "{name}: {error:e} is not below {bound:e}");
        }
    }

    /// Checks that arc tangent and sine are odd and the cosine is even to the bit, and exact results: at zero, ln 1,
    /// powers with exponent 0 or base 1, and the arc tangent of infinity.
    #[test]
    fn odd_even_and_exact_at_zero() {
        for x in [0.0, 1e-30, 1e-5, 0.3, 1.0, 2.5, 40.0, 1e9, f32::MAX] {
            assert_eq!(atan(-x), -atan(x));
            let small = x % 100.0;
            assert_eq!(cos(-small).to_bits(), cos(small).to_bits());
            assert_eq!(sin(-small), -sin(small));
            assert_eq!(sin_cos(-small), (-sin_cos(small).0, sin_cos(small).1));
        }
        assert_eq!(sin_cos(0.0f32), (0.0, 1.0));
        assert_eq!((atan(0.0), sin(0.0), exp(0.0), ln(1.0)), (0.0, 0.0, 1.0, 0.0));
        assert_eq!((power(0.37, 0.0), power(1.0, 0.85)), (1.0, 1.0));
        assert_eq!(atan(f32::INFINITY), FRAC_PI_2);
    }

    /// Checks [`atan2`] in all quadrants against 64-bit `libm`, on the axes, and that its sign changes with `y`.
    #[test]
    fn angles_of_points_are_exact_in_all_quadrants() {
        for i in 0..20_000 {
            let angle = (f64::from(i) * 1e-4 - 1.0) * 0.9999 * std::f64::consts::PI;
            for length in [1e-3, 1.0, 50.0] {
                let (y, x) = ((length * libm::sin(angle)) as f32, (length * libm::cos(angle)) as f32);
                let error = f64::from(atan2(y, x)) - libm::atan2(f64::from(y), f64::from(x));
                assert!(error.abs() < 4e-7, "{angle}: {error:e}");
                assert_eq!(atan2(-y, x), -atan2(y, x), "{angle}");
            }
        }
        assert_eq!([atan2(1.0, 0.0), atan2(-1.0, 0.0), atan2(0.0, 1.0)], [FRAC_PI_2, -FRAC_PI_2, 0.0]);
    }

    /// Checks that all functions have the same bits in four and in eight lanes as for single numbers, for 32 000
    /// arguments from −22 to 22.
    #[test]
    fn lanes_have_the_bits_of_one() {
        let each =
            |lanes: [f32; 8], ours: fn(f32) -> f32, four: fn(F32x4) -> F32x4, eight: fn(F32x8Pair) -> F32x8Pair| {
                let together = eight(F32x8Pair::new(lanes)).lanes();
                let halves = [0, 4].map(|k| four(F32x4::new([0, 1, 2, 3].map(|i| lanes[k + i]))).lanes()).concat();
                for ((x, found), half) in lanes.into_iter().zip(together).zip(halves) {
                    assert_eq!([ours(x).to_bits(); 2], [found.to_bits(), half.to_bits()], "at {x}");
                }
            };
        for i in 0..4000 {
            let x = |k: i32| (i * 8 + k - 16_000) as f32 * 0.001_37;
            let lanes = std::array::from_fn(|k| x(k as i32));
            each(lanes, atan, atan, atan);
            each(lanes, sin, sin, sin);
            each(lanes, cos, cos, cos);
            each(lanes, |x| sin_cos(x).0, |x| sin_cos(x).0, |x| sin_cos(x).0);
            each(lanes, |x| sin_cos(x).1, |x| sin_cos(x).1, |x| sin_cos(x).1);
            each(lanes, exp, exp, exp);
            each(lanes, ln, ln, ln);
        }
    }
}
