//! Why solvers part further than is accepted, where they do.

/// Why figures of a manoeuvre of a vehicle lie above what is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Name of the vehicle.
    pub vehicle: &'static str,
    /// Name of the manoeuvre.
    pub manoeuvre: &'static str,
    /// Names of the figures; every one of them must lie above.
    pub metrics: &'static [&'static str],
    /// One or two sentences with the measurement that shows it.
    pub why: &'static str,
}

/// Every known reason. A figure named here that is within what is accepted is a fault.
pub const REASONS: &[Reason] = &[
    Reason {
        vehicle: "bmw_320i_commonroad",
        manoeuvre: "acceleration",
        metrics: &["quarter_mile_s", "quarter_mile_rollout_s", "quarter_mile_mps"],
        why: "The car has no drivetrain to end wheelspin: its driven wheels slip by 10 and leave no side force at the rear, \
          so a yaw angle grows about 150-fold per second. A world that rounds left and right differently spins after 6 s; \
          those whose arithmetic is symmetric stay straight to the bit. Started with a heading of 1° they round \
          too and spin as well: quarter miles from 10.8 to 12.2 s \
          (`skidpad compare --vehicle bmw_320i_commonroad --manoeuvre acceleration --heading-deg 1`).",
    },
    Reason {
        vehicle: "tesla_model3_awd",
        manoeuvre: "parked",
        metrics: &["release_speed_ratio"],
        why: "0.13 mm/s in the first step after the release: the motors' rotors turn with the wheels, and what they take is foreseen \
              before patches and chassis answer together. 1.8 % at 120 Hz, 1.2 % at 480 Hz, 0.8 % at 960 Hz; one second later the \
              solvers' speeds are within 0.001 %.",
    },
    Reason {
        vehicle: "toyota_4runner",
        manoeuvre: "slalom",
        metrics: &["path_error_m"],
        why: "An error of first order in Rapier's world, 2 mm: 3.4 % at 120 Hz, 1.7 % at 240 Hz, 0.9 % at 480 Hz.",
    },
    Reason {
        vehicle: "toyota_4runner",
        manoeuvre: "lane-change",
        metrics: &["peak_sideslip_deg"],
        why: "An error of first order in Rapier's world: 2.0 % at 120 Hz, 1.0 % at 240 Hz, 0.5 % at 480 Hz.",
    },
    Reason {
        vehicle: "unity_default",
        manoeuvre: "lane-change",
        metrics: &["exit_speed_mps", "cones_hit", "least_clearance_mm", "peak_roll_deg"],
        why: "The car does not come through: from 18 m/s on its tail overtakes it in the second shift, on every solver, and \
              how it slides from there depends on the last digit. At 15 m/s it hits nothing and no figure is more than 1 % apart \
              (`skidpad compare --vehicle unity_default --manoeuvre lane-change --initial-speed-mps 15`).",
    },
    Reason {
        vehicle: "unity_default",
        manoeuvre: "moose",
        metrics: &["peak_sideslip_deg"],
        why: "An error of first order in Rapier's world: 2.1 % at 120 Hz, 1.1 % at 240 Hz, 0.5 % at 480 Hz.",
    },
];
