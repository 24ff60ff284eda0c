//! Tests of lateral dynamics by ISO, FMVSS and NHTSA.

use super::ManoeuvreEntry;
use super::frequency_response::FrequencyResponseTest;
use super::sine_steer::SineSteer;

/// Tests of lateral dynamics, of one or several runs.
pub const HANDLING_TESTS: &[ManoeuvreEntry] = &[
    ManoeuvreEntry {
        name: "sine-steer",
        about: "ISO 7401 one period of a steering sine of 0.5 Hz at 100 km/h: lags, gains and ratio of the peaks",
        build: |overrides| {
            let standard = SineSteer::default();
            Box::new(SineSteer { speed_mps: overrides.initial_speed_mps.unwrap_or(standard.speed_mps), ..standard })
        },
    },
    ManoeuvreEntry {
        name: "random-steer",
        about: "ISO 7401 random steering at 100 km/h: gain, phase, coherence and bandwidth of yaw rate and lateral acceleration",
        build: |overrides| {
            let standard = FrequencyResponseTest::RANDOM;
            let speed_mps = overrides.initial_speed_mps.unwrap_or(standard.speed_mps);
            Box::new(FrequencyResponseTest { speed_mps, ..standard })
        },
    },
    ManoeuvreEntry {
        name: "swept-sine",
        about: "steering sine of rising frequency at 100 km/h: gain, phase and bandwidth of yaw rate and lateral acceleration",
        build: |overrides| {
            let standard = FrequencyResponseTest::SWEEP;
            let speed_mps = overrides.initial_speed_mps.unwrap_or(standard.speed_mps);
            Box::new(FrequencyResponseTest { speed_mps, ..standard })
        },
    },
];
