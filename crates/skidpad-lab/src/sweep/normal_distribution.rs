//! Quantiles of the normal distribution.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

/// Number of steps of the iteration. The error of the start is below 4.5e-4; each step about cubes it.
const ITERATIONS: usize = 3;

/// Returns the standard normal quantile of `probability`, a number above 0 and below 1: the `x` whose cumulative
/// distribution Φ(x) is `probability`.
///
/// The start is the rational approximation 26.2.23 of Abramowitz and Stegun, "Handbook of Mathematical Functions". Halley's
/// method on the complementary error function refines it. Only functions of `libm` are used, so that the bits are equal on
/// all machines.
pub fn normal_quantile(probability: f64) -> f64 {
    // The lower tail keeps all digits of small probabilities.
    let tail = probability.min(1.0 - probability);
    let t = (-2.0 * libm::log(tail)).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = numerator / denominator - t;
    for _ in 0..ITERATIONS {
        let error = 0.5 * libm::erfc(-x * FRAC_1_SQRT_2) - tail;
        // Newton's step: the error divided by the density.
        let step = error * (2.0 * PI).sqrt() * libm::exp(0.5 * x * x);
        x -= step / (1.0 + 0.5 * x * step);
    }
    if probability <= 0.5 { x } else { -x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quantiles are those of `statistics.NormalDist().inv_cdf` in Python 3.11, to a few units in the last place.
    #[test]
    fn quantiles_agree_with_an_independent_code() {
        for (probability, expected) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_053_6),
            (0.025, -1.959_963_984_540_053_8),
            (0.841_344_746_068_542_9, 1.0),
            (1e-10, -6.361_340_902_404_056),
            (1.0 / (1_u64 << 53) as f64, -8.209_536_151_601_387),
        ] {
            let found = normal_quantile(probability);
            assert!((found - expected).abs() < 2e-15 * (1.0 + expected.abs()), "{probability}: {found} {expected}");
        }
    }
}
