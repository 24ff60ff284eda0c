//! Reasons for spreads between solvers that exceed the accepted one.

/// Reason for the spread of some metrics of one manoeuvre of one vehicle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Name of the vehicle.
    pub vehicle: &'static str,
    /// Name of the manoeuvre.
    pub manoeuvre: &'static str,
    /// Names of the metrics. The spread of each must exceed the accepted one.
    pub metrics: &'static [&'static str],
    /// Explanation in one or two sentences, with the measurement that supports it.
    pub explanation: &'static str,
}

/// All known reasons. A metric that is listed here although its spread is accepted is a fault.
pub const KNOWN_REASONS: &[Reason] = &[
    Reason {
        vehicle: "bmw_320i_commonroad",
        manoeuvre: "braking",
        metrics: &["lateral_drift_mm"],
        explanation: "Rapier's world rounds left and right differently, and full braking amplifies the difference: 75, 19, 5, 1 mm at \
             120, 240, 480, 960 Hz. Solvers with symmetric arithmetic stay exactly straight.",
    },
    Reason {
        vehicle: "bmw_320i_mf",
        manoeuvre: "braking",
        metrics: &["lateral_drift_mm", "time_to_rest_s"],
        explanation: "Under full braking the rear wheels lock (slip 0.998) and the rear axle has no lateral force: a yaw angle grows \
             about 4-fold every quarter of a second. Rapier's world rounds left and right differently; the car ends 38 mm off \
             the line after 42 m (166, 10, 2.5 mm at 120, 480, 960 Hz) and comes to rest later. Solvers with symmetric \
             arithmetic stay exactly straight.",
    },
    Reason {
        vehicle: "tesla_model3_awd",
        manoeuvre: "park-hold",
        metrics: &["release_speed_ratio"],
        explanation: "0.13 mm/s in the first step after release: the rotors of the motors turn with the wheels, and their torque is \
             predicted before contact patches and chassis are solved together. 1.8 % at 120 Hz, 1.2 % at 480 Hz, 0.8 % at 960 Hz; one second later the \
              solvers' speeds are within 0.001 %.",
    },
    Reason {
        vehicle: "toyota_4runner",
        manoeuvre: "slalom",
        metrics: &["path_error_m"],
        explanation: "A first-order error of the physics engines, 2 mm with Rapier: 3.4 % at 120 Hz, 1.7 % at 240 Hz, 0.9 % at 480 Hz.",
    },
    Reason {
        vehicle: "truck_6x4",
        manoeuvre: "lane-change",
        metrics: &["least_clearance_mm"],
        explanation: "The clearance is 140 mm and the solvers differ by 5 mm: Rapier's world is first-order accurate, with 5.9 mm error in the step steer at 60 Hz, see below.",
    },
    Reason {
        vehicle: "unity_default",
        manoeuvre: "lane-change",
        metrics: &["least_clearance_mm", "exit_speed_mps", "peak_roll_deg", "cones_hit"],
        explanation: "The car fails the course: from 18 m/s on it spins in the second lane change on every solver, and its slide \
             depends on rounding. At 15 m/s it hits no cone and no spread exceeds 1 % \
              (`skidpad compare --vehicle unity_default --manoeuvre lane-change --initial-speed-mps 15`).",
    },
    Reason {
        vehicle: "unity_default",
        manoeuvre: "moose",
        metrics: &["peak_sideslip_deg"],
        explanation: "A first-order error of Rapier's world: 2.1 % at 120 Hz, 1.1 % at 240 Hz, 0.5 % at 480 Hz.",
    },
];

/// Returns the first known reason for the spread of the metric called `metric` in `manoeuvre` of the shipped vehicle
/// `vehicle`; `None` if there is none.
pub fn find_reason(vehicle: &str, manoeuvre: &str, metric: &str) -> Option<&'static Reason> {
    KNOWN_REASONS
        .iter()
        .find(|reason| reason.vehicle == vehicle && reason.manoeuvre == manoeuvre && reason.metrics.contains(&metric))
}
