//! Frequency response to steering at constant speed: ISO 7401, random input and swept sine.

use skidpad_core::{Model, math};

use super::{KMH_100, Manoeuvre, Setup, StartRequirements, steady_turn_text};
use crate::closed_form::LateralDynamics;
use crate::closed_form::cornering::steer_to_hold;
use crate::driver::{DriverInput, DriverModel, SteeringProgram};
use crate::metrics::{Metric, metrics};
use crate::quantity::{ComputedCurve, CurveAxis};
use crate::signal::{FrequencyPoint, FrequencyResponse, Signal};
use crate::steering_wheel::SteeringWheel;
use crate::trajectory::Trajectory;

/// Steering input of [`FrequencyResponseTest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteerInput {
    /// Sum of sines with pseudo-random phases, evaluated by averaged spectra. The number selects the phases.
    Random(u64),
    /// Sine of constant amplitude whose frequency rises linearly, evaluated as one transient.
    Sweep,
}

/// Steering with all frequencies of a band at constant speed, and the response of yaw rate and lateral acceleration.
/// Torques at the driven wheels hold the speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrequencyResponseTest {
    /// Steering input.
    pub input: SteerInput,
    /// Speed (m/s), > 1.
    pub speed_mps: f64,
    /// Lateral acceleration of a steady turn with the peak of the input (m/s²). ISO 7401 limits the lateral
    /// acceleration to 4 m/s². The peak of the random input is three times its root mean square.
    pub lateral_acceleration_mps2: f64,
    /// Evaluated frequencies, lowest and highest (Hz).
    pub band_hz: [f64; 2],
    /// Duration of the input (s).
    pub input_s: f64,
}

impl FrequencyResponseTest {
    /// Random input of ISO 7401 with 60 s of data.
    pub const RANDOM: Self = Self {
        input: SteerInput::Random(1),
        speed_mps: KMH_100,
        lateral_acceleration_mps2: 3.0,
        band_hz: [0.2, 3.0],
        input_s: 60.0,
    };

    /// Swept sine of 40 s.
    pub const SWEEP: Self =
        Self { input: SteerInput::Sweep, lateral_acceleration_mps2: 2.0, input_s: 40.0, ..Self::RANDOM };
}

metrics! {
    /// Response of yaw rate and lateral acceleration to the mean road-wheel angle. Phases are negative if the response
    /// lags. Bandwidths refer to the gain at the lowest frequency.
    FrequencyResponseMetrics {
        yaw_rate_gain_low_per_s, "1/s", 3, "Yaw rate gain, 0.2 Hz", "Yaw rate per mean road-wheel angle at the lowest frequency.";
        yaw_rate_gain_1hz_per_s, "1/s", 3, "Yaw rate gain, 1 Hz", "Yaw rate per mean road-wheel angle at 1 Hz.";
        yaw_rate_gain_2hz_per_s, "1/s", 3, "Yaw rate gain, 2 Hz", "Yaw rate per mean road-wheel angle at 2 Hz.";
        yaw_rate_phase_1hz_deg, "deg", 2, "Yaw rate phase, 1 Hz", "Phase of the yaw rate at 1 Hz.";
        yaw_rate_phase_2hz_deg, "deg", 2, "Yaw rate phase, 2 Hz", "Phase of the yaw rate at 2 Hz.";
        yaw_rate_peak_hz, "Hz", 2, "Yaw rate, frequency of the largest gain", "Evaluated frequency with the largest gain.";
        yaw_rate_peak_ratio, "-", 3, "Yaw rate, largest gain over gain at 0.2 Hz", "Ratio of both gains.";
        yaw_rate_bandwidth_hz, "Hz", 3, "Yaw rate bandwidth (−3 dB)", "Frequency at which the gain falls to 1/√2 of the gain at the lowest frequency.";
        yaw_rate_45deg_hz, "Hz", 3, "Yaw rate, frequency of −45° phase", "Lowest frequency with a lag of 45°.";
        lateral_acceleration_gain_low_mps2_per_deg, "m/s²/deg", 3, "Lateral acceleration gain, 0.2 Hz", "Lateral acceleration per degree of mean road-wheel angle at the lowest frequency.";
        lateral_acceleration_gain_1hz_mps2_per_deg, "m/s²/deg", 3, "Lateral acceleration gain, 1 Hz", "Lateral acceleration per degree of mean road-wheel angle at 1 Hz.";
        lateral_acceleration_phase_1hz_deg, "deg", 2, "Lateral acceleration phase, 1 Hz", "Phase of the lateral acceleration at 1 Hz.";
        lateral_acceleration_bandwidth_hz, "Hz", 3, "Lateral acceleration bandwidth (−3 dB)", "Frequency at which the gain falls to 1/√2 of the gain at the lowest frequency.";
        lateral_acceleration_45deg_hz, "Hz", 3, "Lateral acceleration, frequency of −45° phase", "Lowest frequency with a lag of 45°.";
        yaw_rate_min_coherence, "-", 4, "Yaw rate, smallest coherence", "Smallest coherence of the evaluated frequencies; 1 for a swept sine.";
        lateral_acceleration_min_coherence, "-", 4, "Lateral acceleration, smallest coherence", "Smallest coherence of the evaluated frequencies; 1 for a swept sine.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration", "Largest absolute value.";
    }
}

/// Responses to the mean road-wheel angle.
#[derive(Clone, Debug, PartialEq)]
pub struct SteerResponses {
    /// Response of the yaw rate (1/s).
    pub yaw_rate: FrequencyResponse,
    /// Response of the lateral acceleration (m/s² per rad).
    pub lateral_acceleration: FrequencyResponse,
}

/// Time at which the input begins (s). The car settles on its springs before.
const INPUT_START_S: f64 = 1.0;
/// Time recorded after the input (s), in which the response dies away.
const DECAY_TIME_S: f64 = 3.0;
/// Interval of the evaluated frequencies (Hz).
const FREQUENCY_INTERVAL_HZ: f64 = 0.1;
/// Length of a segment of the averaged spectra (s). The resolution is twice its inverse.
const SEGMENT_S: f64 = 20.0;
/// Range of the input relative to the evaluated band (–), so that both ends of the band have power.
const INPUT_BAND_MARGINS: [f64; 2] = [0.5, 1.2];
/// Time over which a sweep rises from 0 and falls to 0 (s).
const FADE_TIME_S: f64 = 2.0;
/// Peak of a sum of many sines over its root mean square (–), exceeded in 0.3 % of the time.
const PEAK_OVER_RMS: f64 = 3.0;

impl FrequencyResponseMetrics {
    /// Computes the metrics from the `responses` of a run; the peak of the lateral acceleration is that of
    /// `trajectory`. Values between the evaluated frequencies are interpolated linearly; values outside the evaluated
    /// range are missing.
    pub fn new(responses: &SteerResponses, trajectory: &Trajectory) -> Self {
        let SteerResponses { yaw_rate, lateral_acceleration } = responses;
        let low_gain = |response: &FrequencyResponse| response.points.first().map(FrequencyPoint::gain);
        // `to_radians` converts the angle in the denominator from rad to degrees.
        let per_degree = |gain: Option<f64>| gain.map(f64::to_radians);
        let yaw_peak = yaw_rate.resonance();
        Self {
            yaw_rate_gain_low_per_s: low_gain(yaw_rate),
            yaw_rate_gain_1hz_per_s: yaw_rate.gain_at(1.0),
            yaw_rate_gain_2hz_per_s: yaw_rate.gain_at(2.0),
            yaw_rate_phase_1hz_deg: yaw_rate.phase_at(1.0),
            yaw_rate_phase_2hz_deg: yaw_rate.phase_at(2.0),
            yaw_rate_peak_hz: yaw_peak.map(|point| point.frequency_hz),
            yaw_rate_peak_ratio: yaw_peak.zip(low_gain(yaw_rate)).map(|(point, gain)| point.gain() / gain),
            yaw_rate_bandwidth_hz: yaw_rate.bandwidth_hz(),
            yaw_rate_45deg_hz: yaw_rate.frequency_of_phase(-45.0),
            lateral_acceleration_gain_low_mps2_per_deg: per_degree(low_gain(lateral_acceleration)),
            lateral_acceleration_gain_1hz_mps2_per_deg: per_degree(lateral_acceleration.gain_at(1.0)),
            lateral_acceleration_phase_1hz_deg: lateral_acceleration.phase_at(1.0),
            lateral_acceleration_bandwidth_hz: lateral_acceleration.bandwidth_hz(),
            lateral_acceleration_45deg_hz: lateral_acceleration.frequency_of_phase(-45.0),
            yaw_rate_min_coherence: yaw_rate.min_coherence(),
            lateral_acceleration_min_coherence: lateral_acceleration.min_coherence(),
            peak_lateral_acceleration_mps2: Some(trajectory.peak_magnitude(|frame| frame.ay_mps2)),
        }
    }
}

impl FrequencyResponseTest {
    /// Returns the evaluated frequencies (Hz), ascending.
    pub fn frequencies_hz(&self) -> Vec<f64> {
        let [low, high] = self.band_hz;
        let count = ((high - low) / FREQUENCY_INTERVAL_HZ).round().max(1.0) as u32;
        (0..=count).map(|k| low + (high - low) * f64::from(k) / f64::from(count)).collect()
    }

    /// Returns the planned duration of a run (s).
    fn duration_s(&self) -> f64 {
        INPUT_START_S + self.input_s + DECAY_TIME_S
    }

    /// Computes the responses of yaw rate and lateral acceleration to the mean road-wheel angle; `None` for a run that
    /// ended before its planned duration. Gain and phase are those of [`FrequencyResponse::of_transient`], because the
    /// car drives straight before and after the input. The coherence of a random input is that of
    /// [`FrequencyResponse::welch`] in segments of 20 s during the input. The coherence of a sweep is 1.
    pub fn responses(&self, trajectory: &Trajectory) -> Option<SteerResponses> {
        if !trajectory.covers(self.duration_s()) {
            return None;
        }
        let frequencies = self.frequencies_hz();
        let steer = Signal::of(trajectory, |frame| frame.steer_rad);
        let response = |output: Signal| {
            // Gain and phase; a random input also has a coherence, which replaces the 1 of every point.
            let mut estimate = FrequencyResponse::of_transient(&steer, &output, &frequencies);
            if let SteerInput::Random(_) = self.input {
                let [input_slice, output_slice] =
                    [&steer, &output].map(|signal| signal.slice(INPUT_START_S, INPUT_START_S + self.input_s));
                let averaged = FrequencyResponse::welch(&input_slice, &output_slice, SEGMENT_S, &frequencies);
                for (point, averaged) in estimate.points.iter_mut().zip(averaged.points) {
                    point.coherence = averaged.coherence;
                }
            }
            estimate
        };
        Some(SteerResponses {
            yaw_rate: response(Signal::of(trajectory, |frame| frame.yaw_rate_radps)),
            lateral_acceleration: response(Signal::lateral_acceleration(trajectory)),
        })
    }

    /// Returns the range of the frequencies in the input (Hz).
    fn input_band_hz(&self) -> [f64; 2] {
        [self.band_hz[0] * INPUT_BAND_MARGINS[0], self.band_hz[1] * INPUT_BAND_MARGINS[1]]
    }

    /// Returns the sines of a random input, each as frequency (Hz) and phase (rad). The frequencies are all multiples
    /// of the inverse input duration in the band of the input. `seed` selects the pseudo-random phases.
    fn sines(&self, seed: u64) -> Vec<[f64; 2]> {
        let [low, high] = self.input_band_hz().map(|frequency| frequency * self.input_s);
        // Both ends are included in spite of rounding.
        let (first, last) = ((low - 1e-6).ceil() as u64, (high + 1e-6).floor() as u64);
        let sine = |k: u64| [k as f64 / self.input_s, std::f64::consts::TAU * uniform(seed.wrapping_add(k))];
        (first..=last).map(sine).collect()
    }

    /// Returns the angle of a sweep with amplitude 1 at `time_s` (s) after the start of the input (–). The frequency
    /// rises linearly. The amplitude rises over the first and falls over the last [`FADE_TIME_S`].
    fn sweep_at(&self, time_s: f64) -> f64 {
        let [low, high] = self.input_band_hz();
        // Integral of the frequency (full turns).
        let cycles = low * time_s + 0.5 * (high - low) / self.input_s * time_s * time_s;
        let end_distance = time_s.min(self.input_s - time_s);
        let fade_share = (end_distance / FADE_TIME_S).clamp(0.0, 1.0);
        // Raised cosine from 0 to 1.
        let fade = 0.5 - 0.5 * cosine(0.5 * fade_share);
        fade * sine(cycles)
    }
}

/// Returns the sine of `cycles` full turns (–). The result has the same bits on every target.
fn sine(cycles: f64) -> f64 {
    math::sin_cos_f64(std::f64::consts::TAU * cycles.fract()).0
}

/// Returns the cosine of `cycles` full turns (–). The result has the same bits on every target.
fn cosine(cycles: f64) -> f64 {
    math::sin_cos_f64(std::f64::consts::TAU * cycles.fract()).1
}

/// Returns a pseudo-random number from 0 to 1 for `index`: the mixing function of SplitMix64 (G. L. Steele, D. Lea, C.
/// H. Flood, "Fast splittable pseudorandom number generators", 2014).
fn uniform(index: u64) -> f64 {
    let mut bits = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the curves of gain and phase over frequency of both responses, with two further curves of their coherence if
/// `has_coherence`. The gain of the lateral acceleration is per degree.
fn bode_curves(responses: &SteerResponses, has_coherence: bool) -> Vec<ComputedCurve> {
    const FREQUENCY: CurveAxis = CurveAxis { label: "frequency", unit: "Hz", min_span: 0.5 };
    const PHASE: CurveAxis = CurveAxis { label: "phase", unit: "deg", min_span: 10.0 };
    const COHERENCE: CurveAxis = CurveAxis { label: "coherence", unit: "-", min_span: 0.02 };
    const YAW_RATE_GAIN: CurveAxis = CurveAxis { label: "gain", unit: "1/s", min_span: 0.2 };
    const ACCELERATION_GAIN: CurveAxis = CurveAxis { label: "gain", unit: "m/s²/deg", min_span: 0.05 };
    let curve = |title, response: &FrequencyResponse, y, value: &dyn Fn(&FrequencyPoint) -> f64| ComputedCurve {
        title,
        x: FREQUENCY,
        y,
        points: response.points.iter().map(|point| [point.frequency_hz, value(point)]).collect(),
        has_markers: false,
    };
    let SteerResponses { yaw_rate, lateral_acceleration } = responses;
    let mut curves = vec![
        curve("Yaw rate per road-wheel angle, gain", yaw_rate, YAW_RATE_GAIN, &FrequencyPoint::gain),
        curve("Yaw rate per road-wheel angle, phase", yaw_rate, PHASE, &FrequencyPoint::phase_deg),
        curve("Lateral acceleration per road-wheel angle, gain", lateral_acceleration, ACCELERATION_GAIN, &|point| {
            // From per radian to per degree.
            point.gain().to_radians()
        }),
        curve(
            "Lateral acceleration per road-wheel angle, phase",
            lateral_acceleration,
            PHASE,
            &FrequencyPoint::phase_deg,
        ),
    ];
    if has_coherence {
        let coherence = |point: &FrequencyPoint| point.coherence;
        curves.push(curve("Yaw rate, coherence", yaw_rate, COHERENCE, &coherence));
        curves.push(curve("Lateral acceleration, coherence", lateral_acceleration, COHERENCE, &coherence));
    }
    curves
}

impl Manoeuvre for FrequencyResponseTest {
    fn name(&self) -> &'static str {
        match self.input {
            SteerInput::Random(_) => "random-steer",
            SteerInput::Sweep => "swept-sine",
        }
    }
    /// Describes the kind of input, its duration, the speed, the evaluated band, and the lateral acceleration of the
    /// peak.
    fn about(&self) -> String {
        let input = match self.input {
            SteerInput::Random(_) => "random steering",
            SteerInput::Sweep => "steering sine of rising frequency",
        };
        let [low, high] = self.band_hz;
        format!(
            "{input} of {:.0} s at {:.1} m/s, evaluated from {low:.1} to {high:.1} Hz; its peak is the angle of {}",
            self.input_s,
            self.speed_mps,
            steady_turn_text(self.lateral_acceleration_mps2)
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: self.duration_s(), ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING
    }
    /// Returns gain and phase of yaw rate and lateral acceleration of the linear single-track model over frequency;
    /// none for tyres without a cornering stiffness.
    fn closed_form_curves(&self, model: &Model) -> Vec<ComputedCurve> {
        LateralDynamics::new(model).map_or_else(Vec::new, |theory| {
            let responses = self.frequencies_hz().into_iter().map(|frequency_hz| {
                let response = theory.response(self.speed_mps, frequency_hz)?;
                let point = |response| FrequencyPoint { frequency_hz, response, coherence: 1.0 };
                Some((point(response.yaw_rate), point(response.lateral_acceleration)))
            });
            let (yaw_rate, lateral_acceleration) = responses.flatten().unzip();
            let [yaw_rate, lateral_acceleration] =
                [yaw_rate, lateral_acceleration].map(|points| FrequencyResponse { points });
            // The coherence of the model is 1 by definition.
            bode_curves(&SteerResponses { yaw_rate, lateral_acceleration }, false)
        })
    }
    /// Creates a driver that holds the speed and steers the sines or the sweep during the input, straight before and
    /// after. The peak of the steering is the angle of [`steer_to_hold`] for the lateral acceleration of the test.
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        let test = *self;
        let peak = steer_to_hold(model, test.lateral_acceleration_mps2, test.speed_mps);
        let sines = if let SteerInput::Random(seed) = test.input { test.sines(seed) } else { Vec::new() };
        // Amplitude of each sine: the root mean square of the sum is a third of the peak.
        let amplitude = peak / PEAK_OVER_RMS * (2.0 / sines.len().max(1) as f64).sqrt();
        Box::new(SteeringProgram::new(test.speed_mps, move |input: &DriverInput<'_>| {
            let time_s = input.end_s() - INPUT_START_S;
            if !(0.0..=test.input_s).contains(&time_s) {
                return 0.0;
            }
            match test.input {
                SteerInput::Random(_) => {
                    // `sine` expects full turns.
                    let wave = |[frequency, phase]: &[f64; 2]| sine(frequency * time_s + phase / std::f64::consts::TAU);
                    amplitude * sines.iter().map(wave).sum::<f64>()
                }
                SteerInput::Sweep => peak * test.sweep_at(time_s),
            }
        }))
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.metrics_and_curves(model, trajectory).0
    }
    /// Computes the responses of the run, then the metrics, which are followed by the gains per steering-wheel angle.
    /// The curves are gain and phase of yaw rate and lateral acceleration over frequency (Bode plots), and their
    /// coherence if the input is random. A run that was cut short has no curves, and its metrics have no values.
    fn metrics_and_curves(&self, model: &Model, trajectory: &Trajectory) -> (Vec<Metric>, Vec<ComputedCurve>) {
        let responses = self.responses(trajectory);
        let found = responses.as_ref().map_or_else(FrequencyResponseMetrics::default, |responses| {
            FrequencyResponseMetrics::new(responses, trajectory)
        });
        let gains = (found.yaw_rate_gain_low_per_s, found.lateral_acceleration_gain_low_mps2_per_deg);
        let metrics = found.list().into_iter().chain(SteeringWheel::of(model).gain_metrics(gains.0, gains.1)).collect();
        let has_coherence = matches!(self.input, SteerInput::Random(_));
        let curves = responses.map_or_else(Vec::new, |responses| bode_curves(&responses, has_coherence));
        (metrics, curves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    /// Run of a car whose yaw rate is the steering angle times 5 1/s, 0.05 s late, and whose lateral acceleration is 20 m/s
    /// times the yaw rate.
    fn delayed_run(test: &FrequencyResponseTest) -> Trajectory {
        let sines = if let SteerInput::Random(seed) = test.input { test.sines(seed) } else { Vec::new() };
        let steer = |t: f64| {
            let time = t - INPUT_START_S;
            if !(0.0..=test.input_s).contains(&time) {
                return 0.0;
            }
            let random: f64 =
                sines.iter().map(|[f, phase]| (std::f64::consts::TAU * f * time + phase).sin()).sum::<f64>() * 1e-3;
            if sines.is_empty() { 0.02 * test.sweep_at(time) } else { random }
        };
        sampled(0.01, test.duration_s(), |t, frame| {
            frame.steer_rad = steer(t);
            frame.yaw_rate_radps = 5.0 * steer(t - 0.05);
            // Mean of the acceleration over the step before the row.
            frame.ay_mps2 = 20.0 * 5.0 * steer(t - 0.055);
        })
    }

    /// A delayed response has a constant gain and a phase of −360° f T for both inputs. Tolerances: rounding of times may
    /// drop a sample at either end of the input, and the mean of two rows damps 3 Hz by 0.4 %.
    #[test]
    fn a_delay_has_a_constant_gain_and_a_linear_phase() {
        for test in [FrequencyResponseTest::RANDOM, FrequencyResponseTest::SWEEP] {
            let responses = test.responses(&delayed_run(&test)).expect("complete");
            for (yaw, ay) in responses.yaw_rate.points.iter().zip(&responses.lateral_acceleration.points) {
                let name = Manoeuvre::name(&test);
                assert!((yaw.gain() / 5.0 - 1.0).abs() < 0.01, "{name}: {yaw:?}");
                assert!((yaw.phase_deg() + 360.0 * yaw.frequency_hz * 0.05).abs() < 0.5, "{name}: {yaw:?}");
                assert!((ay.gain() / 100.0 - 1.0).abs() < 0.015, "{name}: {ay:?}");
                assert!((ay.phase_deg() + 360.0 * ay.frequency_hz * 0.05).abs() < 0.5, "{name}: {ay:?}");
                assert!(yaw.coherence > 0.99, "{name}: {yaw:?}");
            }
            let found = FrequencyResponseMetrics::new(&responses, &delayed_run(&test));
            // −45° at 1 / (8 · 0.05 s).
            assert!(found.yaw_rate_45deg_hz.is_some_and(|f| (f - 2.5).abs() < 0.03), "{found:?}");
            assert_eq!(found.yaw_rate_bandwidth_hz, None);
        }
    }

    /// A run that was cut short has no metrics.
    #[test]
    fn a_run_cut_short_has_no_figures() {
        let run = sampled(0.1, 20.0, |_, _| {});
        let (metrics, curves) = FrequencyResponseTest::RANDOM.metrics_and_curves(&model(), &run);
        assert!(
            curves.is_empty() && metrics.iter().all(|metric| metric.value.is_none() || metric.unit == "-"),
            "{metrics:?}"
        );
    }

    /// The closed form of the linear test car has a curve for each gain and phase, which begins at the steady gain.
    #[test]
    fn bode_plots_have_the_closed_form() {
        let test = FrequencyResponseTest::RANDOM;
        let curves = Manoeuvre::closed_form_curves(&test, &model());
        let computed = test.metrics_and_curves(&model(), &delayed_run(&test)).1;
        let titles: Vec<&str> = curves.iter().map(|curve| curve.title).collect();
        assert_eq!(titles, computed[..4].iter().map(|curve| curve.title).collect::<Vec<_>>());
        // The test car is neutral: its steady gain is v / L.
        let [frequency, gain] = curves[0].points[0];
        assert!(frequency == 0.2 && (gain / (test.speed_mps / 2.5) - 1.0).abs() < 0.02, "{gain}");
    }

    /// The random input has a root mean square of about a third of the peak and no power outside the band.
    #[test]
    fn the_random_input_has_the_planned_power() {
        let test = FrequencyResponseTest::RANDOM;
        let sines = test.sines(1);
        assert!(sines.iter().all(|[f, _]| (0.1..=3.6).contains(f)) && sines.len() == 211, "{}", sines.len());
        let mean_phase = sines.iter().map(|[_, phase]| phase).sum::<f64>() / sines.len() as f64;
        assert!((mean_phase - std::f64::consts::PI).abs() < 0.5, "{mean_phase}");
    }
}
