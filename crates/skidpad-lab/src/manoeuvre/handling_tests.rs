//! Tests of lateral dynamics by ISO, FMVSS and NHTSA.

use super::elk_test::ElkTest;
use super::frequency_response::FrequencyResponseTest;
use super::parameters::entry;
use super::rollover_test::RolloverTest;
use super::sine_steer::SineSteer;
use super::skid_pad::SkidPad;
use super::slow_turn::{ConstantSteer, RampSteer};
use super::stability_test::StabilityTest;
use super::tilt_table::TiltTable;
use super::turn_disturbance::TurnDisturbance;
use super::turn_series::TurnSeries;
use super::weave::Weave;
use super::{ManoeuvreEntry, Overrides};

/// Returns the initial speed of `overrides`, or `standard` (m/s).
fn speed(overrides: &Overrides, standard: f64) -> f64 {
    overrides.initial_speed_mps.unwrap_or(standard)
}

/// Tests of lateral dynamics, of one or several runs.
pub const HANDLING_TESTS: &[ManoeuvreEntry] = &[
    entry!(
        "sine-steer",
        SineSteer { speed_mps <- initial_speed_mps },
        [frequency_hz: "frequency of the sine, Hz", 0.1, 5.0; lateral_acceleration_mps2: "lateral acceleration of a steady turn with the peak of the steering, m/s²", 0.1, 15.0],
        "ISO 7401 one period of a steering sine of 0.5 Hz at 100 km/h: lags, gains and ratio of the peaks"
    ),
    entry!(
        "random-steer",
        FrequencyResponseTest = FrequencyResponseTest::RANDOM, { speed_mps <- initial_speed_mps },
        [lateral_acceleration_mps2: "lateral acceleration of a steady turn with the peak of the steering, m/s²", 0.1, 15.0],
        "ISO 7401 random steering at 100 km/h: gain, phase, coherence and bandwidth of yaw rate and lateral acceleration"
    ),
    entry!(
        "swept-sine",
        FrequencyResponseTest = FrequencyResponseTest::SWEEP, { speed_mps <- initial_speed_mps },
        [lateral_acceleration_mps2: "lateral acceleration of a steady turn with the peak of the steering, m/s²", 0.1, 15.0],
        "steering sine of rising frequency at 100 km/h: gain, phase and bandwidth of yaw rate and lateral acceleration"
    ),
    entry!(
        "weave",
        Weave { speed_mps <- initial_speed_mps },
        [frequency_hz: "frequency of the sine, Hz", 0.05, 1.0; lateral_acceleration_mps2: "lateral acceleration of a steady turn with the peak of the steering, m/s²", 0.1, 10.0],
        "ISO 13674-1 steering sine of 0.2 Hz and 2 m/s² at 100 km/h: on-centre sensitivity, steering torque, hysteresis"
    ),
    ManoeuvreEntry {
        name: "constant-speed",
        about: "ISO 4138 constant speed of 100 km/h, slowly increasing steering: understeer, sideslip and roll gradient, limit",
        parameters: &[],
        build: |overrides| {
            let standard = RampSteer::default();
            Box::new(RampSteer { speed_mps: speed(overrides, standard.speed_mps), ..standard })
        },
    },
    entry!(
        "constant-steer",
        ConstantSteer {  },
        [radius_m: "radius of the turn at walking pace, m", 10.0, 1000.0; rate_mps2: "rate of the speed, m/s²", 0.01, 2.0],
        "ISO 4138 constant steering angle of 100 m radius, slowly increasing speed: understeer, sideslip and roll gradient, limit"
    ),
    entry!(
        "power-off-in-turn",
        TurnDisturbance = TurnDisturbance::POWER_OFF, {  },
        [radius_m: "radius of the circle, m", 20.0, 1000.0; lateral_acceleration_mps2: "lateral acceleration before the disturbance, m/s²", 0.5, 12.0],
        "ISO 9816 throttle released in a turn of 100 m at 4 m/s²: yaw rate ratio, sideslip angle, path deviation"
    ),
    entry!(
        "braking-in-turn",
        TurnDisturbance = TurnDisturbance::BRAKING, {  },
        [radius_m: "radius of the circle, m", 20.0, 1000.0; lateral_acceleration_mps2: "lateral acceleration before the disturbance, m/s²", 0.5, 12.0],
        "ISO 7975 braking with 4 m/s² in a turn of 100 m at 5 m/s²: yaw rate ratio, sideslip angle, path deviation"
    ),
    ManoeuvreEntry {
        name: "power-off-series",
        about: "ISO 9816 throttle released in turns of 100 m, lateral acceleration from 2 m/s² to the limit: extreme values",
        parameters: &[],
        build: |_| Box::new(TurnSeries::POWER_OFF),
    },
    ManoeuvreEntry {
        name: "braking-series",
        about: "ISO 7975 braking in a turn of 100 m at 5 m/s², deceleration from 2 m/s² to the limit: extreme values",
        parameters: &[],
        build: |_| Box::new(TurnSeries::BRAKING),
    },
    ManoeuvreEntry {
        name: "fmvss-126",
        about: "FMVSS 126 sines with dwell of rising amplitude at 80 km/h: yaw rate ratios, lateral displacement, pass or fail",
        parameters: &[],
        build: |_| Box::new(StabilityTest::default()),
    },
    ManoeuvreEntry {
        name: "j-turn",
        about: "NHTSA J-turn at rising entry speeds: lowest speed with two-wheel lift",
        parameters: &[],
        build: |_| Box::new(RolloverTest::J_TURN),
    },
    ManoeuvreEntry {
        name: "fishhook",
        about: "NHTSA fishhook with roll-rate feedback at rising entry speeds: lowest speed with two-wheel lift",
        parameters: &[],
        build: |_| Box::new(RolloverTest::FISHHOOK),
    },
    ManoeuvreEntry {
        name: "fishhook-fixed",
        about: "NHTSA fishhook with fixed timing at rising entry speeds: lowest speed with two-wheel lift",
        parameters: &[],
        build: |_| Box::new(RolloverTest::FISHHOOK_FIXED),
    },
    ManoeuvreEntry {
        name: "elk-test",
        about: "ISO 3888-2 at rising entry speeds: highest speed without a cone hit",
        parameters: &[],
        build: |_| Box::new(ElkTest::default()),
    },
    entry!(
        "skid-pad",
        SkidPad {  },
        [radius_m: "radius of the circle, m", 10.0, 500.0; rate_mps2: "rate of the speed, m/s²", 0.01, 2.0],
        "circle of 300 ft diameter at slowly increasing speed: largest lateral acceleration"
    ),
    entry!(
        "tilt-table",
        TiltTable {  },
        [
            rate_degps: "rate of the table angle, °/s", 0.05, 2.0;
            lower_side: "side that moves down: -1 right, 1 left", -1.0, 1.0
        ],
        "SAE J2180 table that tilts slowly below the braked car: angle and ratio at two-wheel lift"
    ),
];
