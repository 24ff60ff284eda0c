//! Butterworth low-pass without phase shift.

use biquad::{Biquad, Coefficients, DirectForm2Transposed, ToHertz, Type};

use super::Signal;

/// Length of the reflected signal before and after the samples, in periods of the cut-off frequency (–). The response
/// of a filter of six poles to its start decays below 1e-6 in this time.
const PADDING_PERIODS: f64 = 8.0;

impl Signal {
    /// Filters the signal with a Butterworth low-pass of `poles` poles and the cut-off frequency `cutoff_hz` (Hz),
    /// without phase shift: half of the poles forwards in time, the other half backwards.
    ///
    /// `poles` is rounded down to a multiple of 4. The gain at the frequency `f` is `1 / (1 + (f/f_c)^poles)`, so it is
    /// ½ at the cut-off frequency. The bilinear transform with prewarping replaces `f` by `tan(π f dt)`. Both ends of
    /// the signal are continued by point reflection about the end value, over 8 periods of the
    /// cut-off frequency, at most over the length of the signal. The signal is unchanged for fewer than 4 poles, and
    /// for a cut-off frequency that is not above 0 and below the Nyquist frequency.
    ///
    /// FMVSS 126 (49 CFR 571.126) asks for a "12-pole phaseless Butterworth filter". A. V. Oppenheim, R. W. Schafer,
    /// *Discrete-Time Signal Processing*, describes the transform.
    pub fn low_pass(&self, poles: u32, cutoff_hz: f64) -> Self {
        let Some(sections) = butterworth_sections(poles / 2, cutoff_hz, self.dt_s) else { return self.clone() };
        let last = self.samples.len() - 1;
        let padding = ((PADDING_PERIODS / (cutoff_hz * self.dt_s)).ceil() as usize).min(last);
        let (first_value, last_value) = (self.samples[0], self.samples[last]);
        // Odd reflection about both end points.
        let before = (1..=padding).rev().map(|k| 2.0 * first_value - self.samples[k]);
        let after = (1..=padding).map(|k| 2.0 * last_value - self.samples[last - k]);
        let mut padded: Vec<f64> = before.chain(self.samples.iter().copied()).chain(after).collect();
        // First pass forwards in time, second pass backwards; the second reversal restores the order.
        for _direction in 0..2 {
            filter_forwards(&sections, &mut padded);
            padded.reverse();
        }
        Self { dt_s: self.dt_s, samples: padded[padding..=padding + last].to_vec() }
    }
}

/// Returns the second-order sections of a Butterworth low-pass of `order` poles (rounded down to an even number);
/// `None` for a cut-off frequency (Hz) that is not between 0 and the Nyquist frequency of the interval `dt_s` (s). The
/// quality of section `k` is `1 / (2 cos((2 k + 1) π / (2 order)))`.
fn butterworth_sections(order: u32, cutoff_hz: f64, dt_s: f64) -> Option<Vec<Coefficients<f64>>> {
    if !(cutoff_hz > 0.0 && 2.0 * cutoff_hz * dt_s < 1.0) {
        return None;
    }
    let even_order = order / 2 * 2;
    let section = |k: u32| {
        let angle = f64::from(2 * k + 1) * std::f64::consts::PI / f64::from(2 * even_order);
        let quality = 0.5 / angle.cos();
        Coefficients::from_params(Type::LowPass, (1.0 / dt_s).hz(), cutoff_hz.hz(), quality).ok()
    };
    (0..even_order / 2).map(section).collect()
}

/// Filters `samples` in place with all sections, forwards in time. The filter starts in the steady state of the first
/// sample.
fn filter_forwards(sections: &[Coefficients<f64>], samples: &mut [f64]) {
    let Some(&start) = samples.first() else { return };
    for coefficients in sections {
        let mut section = DirectForm2Transposed::<f64>::new(*coefficients);
        for sample in samples.iter_mut() {
            // The gain at 0 Hz is 1, so a constant offset can be filtered by itself.
            *sample = start + section.run(*sample - start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of `function` every 5 ms for 20 s.
    fn signal(function: impl Fn(f64) -> f64) -> Signal {
        Signal::new(0.005, (0..=4000).map(|k| function(f64::from(k) * 0.005)).collect())
    }

    /// A sine keeps its phase and is damped by `1 / (1 + (tan(π f dt) / tan(π f_c dt))^12)`.
    #[test]
    fn sines_keep_their_phase_and_have_the_gain_of_the_filter() {
        for frequency in [1.0, 5.0, 6.0, 7.0, 9.0, 20.0f64] {
            let angle = |t: f64| std::f64::consts::TAU * frequency * t;
            let filtered = signal(|t| angle(t).sin()).low_pass(12, 6.0);
            // Prewarped frequency ratio (–).
            let warp = |f: f64| (std::f64::consts::PI * f * 0.005).tan();
            let gain = 1.0 / (1.0 + (warp(frequency) / warp(6.0)).powi(12));
            // Away from both ends, where the sine is not reflected.
            for k in 1600..2400 {
                let expected = gain * angle(f64::from(k) * 0.005).sin();
                let found = filtered.samples()[k as usize];
                assert!((found - expected).abs() < 1e-6, "{frequency} Hz, sample {k}: {found} instead of {expected}");
            }
        }
    }

    /// A constant and a ramp pass unchanged up to both ends.
    #[test]
    fn constants_and_ramps_pass_unchanged() {
        for slope in [0.0, 2.0] {
            let input = signal(|t| 3.0 + slope * t);
            let output = input.low_pass(12, 10.0);
            for (found, expected) in output.samples().iter().zip(input.samples()) {
                assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
            }
        }
    }

    /// A cut-off frequency above the Nyquist frequency, a single sample and no poles leave the signal unchanged.
    #[test]
    fn limits_of_the_filter_leave_the_signal_unchanged() {
        let coarse = Signal::new(0.1, vec![1.0, 2.0, -1.0]);
        assert_eq!(coarse.low_pass(12, 6.0), coarse);
        let single = Signal::new(0.01, vec![4.0]);
        assert_eq!(single.low_pass(12, 6.0), single);
        assert_eq!(coarse.low_pass(0, 1.0), coarse);
        assert_eq!(coarse.low_pass(12, f64::NAN), coarse);
    }
}
