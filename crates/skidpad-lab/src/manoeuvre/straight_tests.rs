//! Tests of longitudinal dynamics and ride.

use super::ManoeuvreEntry;
use super::braking::{Braking, PedalTechnique};
use super::coast_down::CoastDown;
use super::gradeability::Gradeability;
use super::hill_start::HillStart;
use super::parameters::entry;
use super::ride::Ride;
use super::road_load_test::RoadLoadTest;
use super::split_mu::SplitMu;
use super::top_speed::TopSpeed;

/// Tests of longitudinal dynamics and ride, of one or several runs.
pub const STRAIGHT_TESTS: &[ManoeuvreEntry] = &[
    ManoeuvreEntry {
        name: "threshold-braking",
        about: "braking from 100 km/h with the pedal at the threshold of locking: distance, deceleration",
        parameters: &[],
        build: |overrides| {
            let standard = Braking { technique: PedalTechnique::Threshold, ..Braking::default() };
            let initial_speed_mps = overrides.initial_speed_mps.unwrap_or(standard.initial_speed_mps);
            Box::new(Braking { initial_speed_mps, ..standard })
        },
    },
    entry!(
        "split-mu",
        SplitMu { initial_speed_mps <- initial_speed_mps },
        [pedal: "brake pedal", 0.01, 1.0; low_grip: "grip below the wheels of one side", 0.02, 1.0],
        "ISO 14512 full braking from 80 km/h, right wheels at grip 0.3: efficiency, yaw, steering correction"
    ),
    ManoeuvreEntry {
        name: "top-speed",
        about: "full throttle in each forward gear until the speed is steady: top speed and engine speed per gear",
        parameters: &[],
        build: |_overrides| Box::new(TopSpeed::default()),
    },
    ManoeuvreEntry {
        name: "road-load",
        about: "SAE J2263 coast-down from 115 to 15 km/h: coefficients of the road load",
        parameters: &[],
        build: |overrides| {
            let standard = CoastDown::default();
            let initial_speed_mps = overrides.initial_speed_mps.unwrap_or(standard.initial_speed_mps);
            Box::new(RoadLoadTest { coast_down: CoastDown { initial_speed_mps, ..standard } })
        },
    },
    ManoeuvreEntry {
        name: "hill-start",
        about: "restart on a slope of 20 %: rollback, times over 1 m and 10 m",
        parameters: &[],
        build: |overrides| {
            let standard = HillStart::default();
            let scene_slope = overrides.scene.as_ref().map(|scene| scene.slope.into());
            let slope_rad = overrides.slope_rad.or(scene_slope).unwrap_or(standard.slope_rad);
            Box::new(HillStart { slope_rad, ..standard })
        },
    },
    ManoeuvreEntry {
        name: "gradeability",
        about: "search for the steepest grade on which the car restarts",
        parameters: &[],
        build: |_overrides| Box::new(Gradeability::default()),
    },
    entry!(
        "ride",
        Ride { speed_mps <- initial_speed_mps },
        "80 km/h on an ISO 8608 road of class C: ISO 2631-1 weighted accelerations, wheel loads, suspension travel"
    ),
];
