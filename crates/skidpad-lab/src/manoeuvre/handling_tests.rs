//! Tests of lateral dynamics by ISO, FMVSS and NHTSA.

use super::elk_test::ElkTest;
use super::frequency_response::FrequencyResponseTest;
use super::rollover_test::RolloverTest;
use super::sine_steer::SineSteer;
use super::skid_pad::SkidPad;
use super::slow_turn::{ConstantSteer, RampSteer};
use super::stability_test::StabilityTest;
use super::turn_disturbance::TurnDisturbance;
use super::{ManoeuvreEntry, Overrides};

/// Returns the initial speed of `overrides`, or `standard` (m/s).
fn speed(overrides: &Overrides, standard: f64) -> f64 {
    overrides.initial_speed_mps.unwrap_or(standard)
}

/// Tests of lateral dynamics, of one or several runs.
pub const HANDLING_TESTS: &[ManoeuvreEntry] = &[
    ManoeuvreEntry {
        name: "sine-steer",
        about: "ISO 7401 one period of a steering sine of 0.5 Hz at 100 km/h: lags, gains and ratio of the peaks",
        build: |overrides| {
            let standard = SineSteer::default();
            Box::new(SineSteer { speed_mps: speed(overrides, standard.speed_mps), ..standard })
        },
    },
    ManoeuvreEntry {
        name: "random-steer",
        about: "ISO 7401 random steering at 100 km/h: gain, phase, coherence and bandwidth of yaw rate and lateral acceleration",
        build: |overrides| {
            let standard = FrequencyResponseTest::RANDOM;
            Box::new(FrequencyResponseTest { speed_mps: speed(overrides, standard.speed_mps), ..standard })
        },
    },
    ManoeuvreEntry {
        name: "swept-sine",
        about: "steering sine of rising frequency at 100 km/h: gain, phase and bandwidth of yaw rate and lateral acceleration",
        build: |overrides| {
            let standard = FrequencyResponseTest::SWEEP;
            Box::new(FrequencyResponseTest { speed_mps: speed(overrides, standard.speed_mps), ..standard })
        },
    },
    ManoeuvreEntry {
        name: "constant-speed",
        about: "ISO 4138 constant speed of 100 km/h, slowly increasing steering: understeer, sideslip and roll gradient, limit",
        build: |overrides| {
            let standard = RampSteer::default();
            Box::new(RampSteer { speed_mps: speed(overrides, standard.speed_mps), ..standard })
        },
    },
    ManoeuvreEntry {
        name: "constant-steer",
        about: "ISO 4138 constant steering angle of 100 m radius, slowly increasing speed: understeer, sideslip and roll gradient, limit",
        build: |_| Box::new(ConstantSteer::default()),
    },
    ManoeuvreEntry {
        name: "power-off-in-turn",
        about: "ISO 9816 throttle released in a turn of 100 m at 4 m/s²: yaw rate ratio, sideslip angle, path deviation",
        build: |_| Box::new(TurnDisturbance::POWER_OFF),
    },
    ManoeuvreEntry {
        name: "braking-in-turn",
        about: "ISO 7975 braking with 4 m/s² in a turn of 100 m at 5 m/s²: yaw rate ratio, sideslip angle, path deviation",
        build: |_| Box::new(TurnDisturbance::BRAKING),
    },
    ManoeuvreEntry {
        name: "fmvss-126",
        about: "FMVSS 126 sines with dwell of rising amplitude at 80 km/h: yaw rate ratios, lateral displacement, pass or fail",
        build: |_| Box::new(StabilityTest::default()),
    },
    ManoeuvreEntry {
        name: "j-turn",
        about: "NHTSA J-turn at rising entry speeds: lowest speed with two-wheel lift",
        build: |_| Box::new(RolloverTest::J_TURN),
    },
    ManoeuvreEntry {
        name: "fishhook",
        about: "NHTSA fishhook with roll-rate feedback at rising entry speeds: lowest speed with two-wheel lift",
        build: |_| Box::new(RolloverTest::FISHHOOK),
    },
    ManoeuvreEntry {
        name: "fishhook-fixed",
        about: "NHTSA fishhook with fixed timing at rising entry speeds: lowest speed with two-wheel lift",
        build: |_| Box::new(RolloverTest::FISHHOOK_FIXED),
    },
    ManoeuvreEntry {
        name: "elk-test",
        about: "ISO 3888-2 at rising entry speeds: highest speed without a cone hit",
        build: |_| Box::new(ElkTest::default()),
    },
    ManoeuvreEntry {
        name: "skid-pad",
        about: "circle of 300 ft diameter at rising speed: lateral acceleration of the best lap",
        build: |_| Box::new(SkidPad::default()),
    },
];
