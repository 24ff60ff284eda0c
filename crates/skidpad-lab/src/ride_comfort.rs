//! Frequency weighting of accelerations by ISO 2631-1 for a seated person.
//!
//! ISO 2631-1:1997, Annex A defines the weightings as products of transfer functions of second order: a high-pass of
//! 0.4 Hz and a low-pass of 100 Hz (Butterworth), a transition from acceleration to velocity, and for `W_k` an upward
//! step. Each factor is one section in the time domain, by the bilinear transform with its own frequency kept exact.

use core::f64::consts::{FRAC_1_SQRT_2, TAU};

use biquad::{Biquad, Coefficients, DirectForm2Transposed};

/// Frequency weighting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighting {
    /// `W_k`: vertical acceleration on the seat.
    Vertical,
    /// `W_d`: longitudinal and lateral acceleration on the seat.
    Horizontal,
}

/// Frequency of the high-pass, f1 (Hz).
const HIGH_PASS_HZ: f64 = 0.4;
/// Frequency of the low-pass, f2 (Hz).
const LOW_PASS_HZ: f64 = 100.0;
/// Quality of the transition from acceleration to velocity, Q4 (–).
const TRANSITION_QUALITY: f64 = 0.63;
/// Frequencies of the upward step of `W_k`, f5 and f6 (Hz).
const STEP_HZ: [f64; 2] = [2.37, 3.35];
/// Quality of the upward step, Q5 and Q6 (–).
const STEP_QUALITY: f64 = 0.91;
/// Largest frequency of a section relative to the sampling frequency (–). Beyond it the bilinear transform has no
/// exact frequency.
const MAX_RELATIVE_FREQUENCY: f64 = 0.45;

/// Coefficients of `(b2 s² + b1 s + b0) / (a2 s² + a1 s + a0)`, where s is relative to an angular frequency;
/// `[b2, b1, b0]` and `[a2, a1, a0]`.
type Section = [[f64; 3]; 2];

impl Weighting {
    /// Returns the frequency of the transition from acceleration to velocity, f3 = f4 (Hz).
    fn transition_hz(self) -> f64 {
        match self {
            Self::Vertical => 12.5,
            Self::Horizontal => 2.0,
        }
    }

    /// Returns the second-order sections whose product is the weighting: high-pass, low-pass, transition from
    /// acceleration to velocity, and for [`Self::Vertical`] an upward step. Each has the frequency (Hz) that s is
    /// relative to, and the coefficients.
    fn second_order_sections(self) -> Vec<(f64, Section)> {
        let butterworth = [1.0, 1.0 / FRAC_1_SQRT_2, 1.0];
        let mut sections = vec![
            // High-pass: s² over the Butterworth polynomial.
            (HIGH_PASS_HZ, [[1.0, 0.0, 0.0], butterworth]),
            // Low-pass: 1 over the Butterworth polynomial.
            (LOW_PASS_HZ, [[0.0, 0.0, 1.0], butterworth]),
            // Transition: (1 + s) / (1 + s / Q4 + s²).
            (self.transition_hz(), [[0.0, 1.0, 1.0], [1.0, 1.0 / TRANSITION_QUALITY, 1.0]]),
        ];
        if self == Self::Vertical {
            // Upward step, relative to f5: (1 + s / Q5 + s²) / (1 + r s / Q6 + r² s²) r² with r = f5 / f6.
            let ratio = STEP_HZ[0] / STEP_HZ[1];
            let numerator = [1.0, 1.0 / STEP_QUALITY, 1.0].map(|coefficient| coefficient * ratio * ratio);
            sections.push((STEP_HZ[0], [numerator, [ratio * ratio, ratio / STEP_QUALITY, 1.0]]));
        }
        sections
    }

    /// Returns the factor of the weighting at `frequency_hz` (Hz) by its transfer functions (–).
    pub fn factor(self, frequency_hz: f64) -> f64 {
        // Magnitude of a polynomial [p2, p1, p0] at the relative frequency `w`.
        let magnitude = |[p2, p1, p0]: [f64; 3], w: f64| (p0 - p2 * w * w).hypot(p1 * w);
        let section_factor = |(hz, [b, a]): (f64, Section)| {
            let relative = frequency_hz / hz;
            magnitude(b, relative) / magnitude(a, relative)
        };
        self.second_order_sections().into_iter().map(section_factor).product()
    }

    /// Weights the accelerations `samples` (m/s²), which are `dt_s` (s) apart. The filter starts at rest, so that the
    /// response to the start decays within 2 s. The bilinear transform keeps the factors within 3 % up to a tenth of
    /// the sampling frequency. Sections whose frequency is above 0.45 of the sampling frequency are left out.
    pub fn apply(self, samples: &[f64], dt_s: f64) -> Vec<f64> {
        let is_resolved = |hz: f64| hz * dt_s < MAX_RELATIVE_FREQUENCY;
        let mut weighted = samples.to_vec();
        for (hz, section) in self.second_order_sections().into_iter().filter(|(hz, _)| is_resolved(*hz)) {
            let mut section = DirectForm2Transposed::<f64>::new(discrete_section(hz, section, dt_s));
            weighted.iter_mut().for_each(|sample| *sample = section.run(*sample));
        }
        weighted
    }
}

/// Returns the coefficients in the time domain of a `section` relative to `hz` (Hz) for the interval `dt_s` (s): the
/// bilinear transform `s = (1 − z⁻¹) / (1 + z⁻¹) / tan(π hz dt)`, which is exact at `hz` (A. V. Oppenheim, R. W.
/// Schafer, *Discrete-Time Signal Processing*).
fn discrete_section(hz: f64, [b, a]: Section, dt_s: f64) -> Coefficients<f64> {
    let scale = 1.0 / (0.5 * TAU * hz * dt_s).tan();
    // Polynomial in z⁻¹ of p2 s² + p1 s + p0, times (1 + z⁻¹)².
    let to_discrete = |[p2, p1, p0]: [f64; 3]| {
        let (second, first) = (p2 * scale * scale, p1 * scale);
        [second + first + p0, 2.0 * (p0 - second), second - first + p0]
    };
    let ([b0, b1, b2], [a0, a1, a2]) = (to_discrete(b), to_discrete(a));
    Coefficients { b0: b0 / a0, b1: b1 / a0, b2: b2 / a0, a1: a1 / a0, a2: a2 / a0 }
}

/// Returns the root mean square of `samples`; 0 for none.
pub fn root_mean_square(samples: &[f64]) -> f64 {
    (samples.iter().map(|sample| sample * sample).sum::<f64>() / samples.len().max(1) as f64).sqrt()
}

/// Returns the maximum transient vibration value of ISO 2631-1, 6.3.1: the largest root mean square over `window`
/// consecutive samples. A linear window of 1 s is used there. If there are fewer samples, the result is the root mean
/// square of all.
pub fn maximum_transient(samples: &[f64], window: usize) -> f64 {
    let window = window.clamp(1, samples.len().max(1));
    samples.windows(window).map(root_mean_square).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of Table 3 of ISO 2631-1: centre of the one-third octave band (Hz), factors of `W_k` and `W_d` in
    /// thousandths.
    const TABLE: [(f64, f64, f64); 20] = [
        (0.5, 418.0, 853.0),
        (0.63, 459.0, 944.0),
        (0.8, 477.0, 992.0),
        (1.0, 482.0, 1011.0),
        (1.25, 484.0, 1008.0),
        (1.6, 494.0, 968.0),
        (2.0, 531.0, 890.0),
        (2.5, 631.0, 776.0),
        (3.15, 804.0, 642.0),
        (4.0, 967.0, 512.0),
        (5.0, 1039.0, 409.0),
        (6.3, 1054.0, 323.0),
        (8.0, 1036.0, 253.0),
        (12.5, 902.0, 161.0),
        (16.0, 768.0, 125.0),
        (20.0, 636.0, 100.0),
        (25.0, 513.0, 80.0),
        (31.5, 405.0, 63.2),
        (40.0, 314.0, 49.4),
        (50.0, 246.0, 38.8),
    ];

    /// Returns the factor of a weighted sine of `hz` (Hz) at the sampling interval `dt` (s): the root mean square over
    /// whole periods after 4 s, times √2.
    fn sine_factor(weighting: Weighting, hz: f64, dt: f64) -> f64 {
        let periods = (10.0 * hz).ceil();
        let count = ((4.0 + periods / hz) / dt) as usize;
        let sine: Vec<f64> = (0..count).map(|k| (TAU * hz * k as f64 * dt).sin()).collect();
        let weighted = weighting.apply(&sine, dt);
        root_mean_square(&weighted[count - (periods / hz / dt) as usize..]) * 2f64.sqrt()
    }

    /// The transfer functions have the tabulated factors; the table has three digits.
    #[test]
    fn transfer_functions_have_the_tabulated_factors() {
        for (hz, vertical, horizontal) in TABLE {
            for (weighting, expected) in [(Weighting::Vertical, vertical), (Weighting::Horizontal, horizontal)] {
                let found = 1e3 * weighting.factor(hz);
                assert!((found / expected - 1.0).abs() < 0.005, "{weighting:?} at {hz} Hz: {found} {expected}");
            }
        }
    }

    /// Weighted sines have the tabulated factors: within 1 % at 2000 Hz in all bands, and within 3 % at 240 Hz in the
    /// bands up to 20 Hz, where the bilinear transform shifts frequencies by at most 2.3 %.
    #[test]
    fn weighted_sines_have_the_tabulated_factors() {
        for (hz, vertical, horizontal) in TABLE {
            for (weighting, expected) in [(Weighting::Vertical, vertical), (Weighting::Horizontal, horizontal)] {
                let fine = 1e3 * sine_factor(weighting, hz, 1.0 / 2000.0);
                assert!((fine / expected - 1.0).abs() < 0.01, "{weighting:?} at {hz} Hz: {fine} {expected}");
                if hz < 21.0 {
                    let coarse = 1e3 * sine_factor(weighting, hz, 1.0 / 240.0);
                    assert!((coarse / expected - 1.0).abs() < 0.03, "{weighting:?} at {hz} Hz: {coarse} {expected}");
                }
            }
        }
    }

    /// A constant has the root mean square of its magnitude; a burst of a tenth of the time raises the transient value
    /// to its own.
    #[test]
    fn transients_are_the_largest_window() {
        assert_eq!(root_mean_square(&[-2.0; 8]), 2.0);
        let samples: Vec<f64> = (0..100).map(|k| if (40..50).contains(&k) { 3.0 } else { 1.0 }).collect();
        assert_eq!(maximum_transient(&samples, 10), 3.0);
        assert!((root_mean_square(&samples) - (1.8f64).sqrt()).abs() < 1e-12);
    }
}
