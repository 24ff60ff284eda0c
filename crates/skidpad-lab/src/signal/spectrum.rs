//! Frequency response between two signals: gain, phase and coherence from auto-spectra and cross-spectra.

use nalgebra::Complex;

use super::Signal;

/// Response at one frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrequencyPoint {
    /// Frequency (Hz).
    pub frequency_hz: f64,
    /// Complex ratio of output to input (unit of the output per unit of the input). A negative argument is a lag.
    pub response: Complex<f64>,
    /// Coherence (–), 0 to 1: share of the output that a linear response to the input explains.
    pub coherence: f64,
}

impl FrequencyPoint {
    /// Returns the gain (unit of the output per unit of the input).
    pub fn gain(&self) -> f64 {
        self.response.norm()
    }

    /// Returns the phase (°), −180 to 180, negative if the output lags.
    pub fn phase_deg(&self) -> f64 {
        self.response.arg().to_degrees()
    }
}

/// Response of an output to an input over frequency.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencyResponse {
    /// Points in order of frequency.
    pub points: Vec<FrequencyPoint>,
}

impl FrequencyResponse {
    /// Estimates the response of `output` to `input` at `frequencies_hz` (Hz, ascending) by the method of P. D. Welch,
    /// "The use of fast Fourier transform for the estimation of power spectra", IEEE Trans. Audio Electroacoust. 15
    /// (1967).
    ///
    /// The signals are divided into segments of `segment_s` (s) that overlap by half; a rest at the end is left out.
    /// Each segment loses its mean and is weighted by a Hann window. The auto-spectra `S_xx`, `S_yy` and the
    /// cross-spectrum `S_xy` are means over all segments. The response is `S_xy / S_xx`, the coherence
    /// `|S_xy|² / (S_xx S_yy)` (J. S. Bendat, A. G. Piersol, *Random Data*, section 6.1). A signal shorter than a
    /// segment is one segment, with the coherence 1.
    pub fn welch(input: &Signal, output: &Signal, segment_s: f64, frequencies_hz: &[f64]) -> Self {
        let count = input.samples.len().min(output.samples.len());
        let segment = ((segment_s / input.dt_s).round() as usize).clamp(1, count);
        let starts: Vec<usize> = (0..).map(|i| i * (segment / 2).max(1)).take_while(|i| i + segment <= count).collect();
        let window: Vec<f64> = (0..segment).map(|k| hann(k, segment)).collect();
        let point = |&frequency_hz: &f64| {
            let mut spectra = Spectra::default();
            for &start in &starts {
                let [x, y] = [input, output].map(|signal| {
                    transform(&signal.samples[start..start + segment], &window, frequency_hz * signal.dt_s)
                });
                spectra.add(x, y);
            }
            spectra.point(frequency_hz)
        };
        Self { points: frequencies_hz.iter().map(point).collect() }
    }

    /// Computes the ratio of the Fourier transforms of two whole signals at `frequencies_hz` (Hz, ascending). The ratio
    /// is the response of a linear system if the system is at rest at both ends of the signals. The coherence is 1, or
    /// 0 at a frequency at which a signal has no power.
    pub fn of_transient(input: &Signal, output: &Signal, frequencies_hz: &[f64]) -> Self {
        let count = input.samples.len().min(output.samples.len());
        let window = vec![1.0; count];
        let point = |&frequency_hz: &f64| {
            let mut spectra = Spectra::default();
            // At rest both signals are 0, so their means are not removed.
            let [x, y] = [input, output]
                .map(|signal| weighted_transform(&signal.samples[..count], &window, frequency_hz * signal.dt_s));
            spectra.add(x, y);
            spectra.point(frequency_hz)
        };
        Self { points: frequencies_hz.iter().map(point).collect() }
    }

    /// Returns the gain at `frequency_hz` (Hz), interpolated linearly between points; `None` outside the points.
    pub fn gain_at(&self, frequency_hz: f64) -> Option<f64> {
        self.interpolate(frequency_hz, FrequencyPoint::gain)
    }

    /// Returns the phase at `frequency_hz` (Hz) in degrees, interpolated linearly; `None` outside the points.
    pub fn phase_at(&self, frequency_hz: f64) -> Option<f64> {
        self.interpolate(frequency_hz, FrequencyPoint::phase_deg)
    }

    /// Returns the lowest frequency (Hz) at which the gain falls below `1/√2` (−3 dB) of the gain of the first point;
    /// `None` if it does not.
    pub fn bandwidth_hz(&self) -> Option<f64> {
        let limit = self.points.first()?.gain() / std::f64::consts::SQRT_2;
        self.first_fall(limit, FrequencyPoint::gain)
    }

    /// Returns the lowest frequency (Hz) at which the phase falls below `phase_deg` (°); `None` if it does not.
    pub fn frequency_of_phase(&self, phase_deg: f64) -> Option<f64> {
        self.first_fall(phase_deg, FrequencyPoint::phase_deg)
    }

    /// Returns the point with the largest gain; `None` without points.
    pub fn resonance(&self) -> Option<&FrequencyPoint> {
        self.points.iter().max_by(|a, b| a.gain().total_cmp(&b.gain()))
    }

    /// Returns the smallest coherence of all points (–); `None` without points.
    pub fn min_coherence(&self) -> Option<f64> {
        self.points.iter().map(|point| point.coherence).min_by(f64::total_cmp)
    }

    /// Interpolates `value` linearly at `frequency_hz` (Hz); `None` outside the points.
    fn interpolate(&self, frequency_hz: f64, value: impl Fn(&FrequencyPoint) -> f64) -> Option<f64> {
        let pair = self
            .points
            .windows(2)
            .find(|pair| pair[0].frequency_hz <= frequency_hz && frequency_hz <= pair[1].frequency_hz)?;
        let fraction = (frequency_hz - pair[0].frequency_hz) / (pair[1].frequency_hz - pair[0].frequency_hz);
        Some(value(&pair[0]) + fraction * (value(&pair[1]) - value(&pair[0])))
    }

    /// Returns the lowest frequency (Hz) at which `value` falls from above `level` to `level`, interpolated linearly
    /// between points; `None` if it does not.
    fn first_fall(&self, level: f64, value: impl Fn(&FrequencyPoint) -> f64) -> Option<f64> {
        let pair = self.points.windows(2).find(|pair| value(&pair[0]) > level && value(&pair[1]) <= level)?;
        let fraction = (value(&pair[0]) - level) / (value(&pair[0]) - value(&pair[1]));
        Some(pair[0].frequency_hz + fraction * (pair[1].frequency_hz - pair[0].frequency_hz))
    }
}

/// Sums of the spectra over segments.
#[derive(Default)]
struct Spectra {
    /// Auto-spectrum of the input.
    xx: f64,
    /// Auto-spectrum of the output.
    yy: f64,
    /// Cross-spectrum: conjugate input times output.
    xy: Complex<f64>,
}

impl Spectra {
    /// Adds the transforms of one segment of input and output.
    fn add(&mut self, x: Complex<f64>, y: Complex<f64>) {
        self.xx += x.norm_sqr();
        self.yy += y.norm_sqr();
        self.xy += x.conj() * y;
    }

    /// Returns response and coherence at `frequency_hz` (Hz). Both are 0 if input or output has no power.
    fn point(&self, frequency_hz: f64) -> FrequencyPoint {
        if self.xx > 0.0 && self.yy > 0.0 {
            let coherence = self.xy.norm_sqr() / (self.xx * self.yy);
            return FrequencyPoint { frequency_hz, response: self.xy / self.xx, coherence };
        }
        FrequencyPoint { frequency_hz, response: Complex::default(), coherence: 0.0 }
    }
}

/// Returns weight `k` of a Hann window of `count` samples (–).
fn hann(k: usize, count: usize) -> f64 {
    0.5 - 0.5 * (std::f64::consts::TAU * k as f64 / count as f64).cos()
}

/// Computes the Fourier transform of the weighted deviations of `samples` from their mean, at the frequency `cycles`
/// per sample.
fn transform(samples: &[f64], window: &[f64], cycles: f64) -> Complex<f64> {
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    let deviations: Vec<f64> = samples.iter().map(|sample| sample - mean).collect();
    weighted_transform(&deviations, window, cycles)
}

/// Computes `Σ w x exp(−2π i c k)` of `samples` with the weights `window` at the frequency `cycles` per sample. A
/// direct sum evaluates any frequency, not only multiples of the inverse length.
fn weighted_transform(samples: &[f64], window: &[f64], cycles: f64) -> Complex<f64> {
    let rotation = Complex::from_polar(1.0, -std::f64::consts::TAU * cycles);
    let mut phasor = Complex::new(1.0, 0.0);
    let mut sum = Complex::default();
    for (sample, weight) in samples.iter().zip(window) {
        sum += phasor * (sample * weight);
        phasor *= rotation;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interval of the test signals (s).
    const INTERVAL_S: f64 = 0.01;

    /// Pseudo-random numbers from −1 to 1 by a linear congruential generator (D. E. Knuth, MMIX).
    fn noise(seed: u64, count: usize) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    /// Output of the low-pass `y' = (x − y) / τ` with a time constant of 0.1 s, sampled exactly for an input that is
    /// constant between samples. The response at `f` is `(1 − a) / (z − a)` with `a = e^(−dt/τ)` and `z = e^(2π i f dt)`.
    fn low_pass(input: &[f64]) -> Vec<f64> {
        let decay = (-INTERVAL_S / 0.1f64).exp();
        let mut y = 0.0;
        input
            .iter()
            .map(|x| {
                let previous = y;
                y = decay * y + (1.0 - decay) * x;
                previous
            })
            .collect()
    }

    /// Response of [`low_pass`] at `frequency_hz`.
    fn exact_response(frequency_hz: f64) -> Complex<f64> {
        let decay = (-INTERVAL_S / 0.1f64).exp();
        let z = Complex::from_polar(1.0, std::f64::consts::TAU * frequency_hz * INTERVAL_S);
        (Complex::new(1.0 - decay, 0.0)) / (z - decay)
    }

    /// Frequencies of the tests (Hz).
    fn frequencies() -> Vec<f64> {
        (2..=30).map(|k| 0.1 * f64::from(k)).collect()
    }

    /// The estimate from noise has the gain and phase of the low-pass, and a coherence near 1. Tolerance: the random error
    /// `√((1 − γ²) / (2 n))` of 60 independent segments with a coherence above 0.99.
    #[test]
    fn noise_through_a_low_pass_has_the_gain_and_phase_of_the_low_pass() {
        let x = noise(7, 60_000);
        let (input, output) = (Signal::new(INTERVAL_S, x.clone()), Signal::new(INTERVAL_S, low_pass(&x)));
        let found = FrequencyResponse::welch(&input, &output, 10.0, &frequencies());
        for point in &found.points {
            let expected = exact_response(point.frequency_hz);
            assert!((point.gain() / expected.norm() - 1.0).abs() < 0.02, "{point:?} {expected}");
            assert!((point.phase_deg() - expected.arg().to_degrees()).abs() < 1.0, "{point:?} {expected}");
            assert!(point.coherence > 0.99, "{point:?}");
        }
        // −3 dB against the gain at 0.2 Hz, which is 0.8 % below 1: 1/(2π τ) = 1.59 Hz, less by the sampling.
        assert!(found.bandwidth_hz().is_some_and(|f| (f - 1.6).abs() < 0.06), "{:?}", found.bandwidth_hz());
        assert!(found.resonance().is_some_and(|point| point.frequency_hz < 0.45));
    }

    /// Independent noise of the same power added to the output halves the coherence. Tolerance: three standard deviations
    /// of the estimate from 119 segments.
    #[test]
    fn coherence_is_the_explained_share_of_the_output() {
        let (x, n) = (noise(1, 60_000), noise(2, 60_000));
        let output: Vec<f64> = x.iter().zip(&n).map(|(x, n)| x + n).collect();
        let (input, output) = (Signal::new(INTERVAL_S, x), Signal::new(INTERVAL_S, output));
        let found = FrequencyResponse::welch(&input, &output, 10.0, &frequencies());
        let mean = found.points.iter().map(|point| point.coherence).sum::<f64>() / found.points.len() as f64;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
        assert!(found.min_coherence().is_some_and(|least| least > 0.3));
    }

    /// A pulse that dies away has the exact response, at any frequency.
    #[test]
    fn a_transient_has_the_exact_response() {
        let pulse = |k: usize| if (100..160).contains(&k) { (k as f64 * 0.3).sin() } else { 0.0 };
        let x: Vec<f64> = (0..2000).map(pulse).collect();
        let (input, output) = (Signal::new(INTERVAL_S, x.clone()), Signal::new(INTERVAL_S, low_pass(&x)));
        let found = FrequencyResponse::of_transient(&input, &output, &[0.37, 1.21, 2.9]);
        for point in &found.points {
            let expected = exact_response(point.frequency_hz);
            assert!((point.response - expected).norm() < 1e-9, "{point:?} {expected}");
            assert!((point.coherence - 1.0).abs() < 1e-9);
        }
    }

    /// Gain and phase between points are interpolated; a phase of −45° belongs to 1.6 Hz.
    #[test]
    fn values_between_points_are_interpolated() {
        let points = frequencies().into_iter().map(|f| FrequencyPoint {
            frequency_hz: f,
            response: 1.0 / Complex::new(1.0, f / 1.6),
            coherence: 1.0,
        });
        let response = FrequencyResponse { points: points.collect() };
        assert!(response.frequency_of_phase(-45.0).is_some_and(|f| (f - 1.6).abs() < 1e-9));
        assert!(response.gain_at(1.6).is_some_and(|gain| (gain - 0.5f64.sqrt()).abs() < 1e-9));
        assert!(response.phase_at(1.6).is_some_and(|phase| (phase + 45.0).abs() < 1e-9));
        assert_eq!(response.gain_at(5.0), None);
        assert_eq!(response.frequency_of_phase(-80.0), None);
    }

    /// Signals without power have no response and no coherence, and no NaN.
    #[test]
    fn silence_has_no_response() {
        let silence = Signal::new(INTERVAL_S, vec![0.0; 500]);
        for found in [
            FrequencyResponse::welch(&silence, &silence, 1.0, &[1.0]),
            FrequencyResponse::of_transient(&silence, &silence, &[1.0]),
        ] {
            assert_eq!((found.points[0].gain(), found.points[0].coherence), (0.0, 0.0));
        }
        assert_eq!(FrequencyResponse::welch(&silence, &silence, 1.0, &[]).bandwidth_hz(), None);
    }
}
