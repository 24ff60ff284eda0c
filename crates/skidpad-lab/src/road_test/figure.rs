//! Figures that a road test can drive, by the names that vehicle files use.

use skidpad_core::Model;
use skidpad_spec::spec::{Reference, TestConditions};

use super::stall::Stall;
use crate::manoeuvre::{
    Acceleration, Braking, Circle, Launch, PedalTechnique, Procedure, SkidPad, StandingStart, StepSteer, TopSpeed,
};
use crate::trajectory::Trajectory;

/// Figure of a road test, with its parameters in SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Time from rest to a speed.
    TimeToSpeed {
        /// Speed (m/s).
        speed_mps: f64,
        /// Roll-out before the clock starts (m), 0 for none.
        roll_out_m: f64,
    },
    /// Time from rest over a distance.
    TimeOverDistance {
        /// Distance (m).
        distance_m: f64,
        /// Roll-out before the clock starts (m), 0 for none.
        roll_out_m: f64,
    },
    /// Speed at a distance from the start.
    SpeedAtDistance {
        /// Distance (m).
        distance_m: f64,
    },
    /// Steady top speed.
    TopSpeed {
        /// Gear that must be the fastest one; `None` for any gear.
        gear: Option<i8>,
    },
    /// Stopping distance from a speed.
    StoppingDistance {
        /// Speed at which the pedal is pressed (m/s).
        speed_mps: f64,
        /// Control of the pedal.
        technique: PedalTechnique,
    },
    /// Largest steady lateral acceleration on a circle.
    LateralAcceleration {
        /// Radius (m).
        radius_m: f64,
    },
    /// Understeer gradient on a circle of 100 m.
    UndersteerGradient,
    /// Steady yaw rate gain in a step steer.
    YawRateGain {
        /// Speed (m/s).
        speed_mps: f64,
    },
    /// Engine speed against the foot brake at full throttle.
    StallSpeed,
}

/// Longest acceleration run (s).
const MAX_ACCELERATION_TIME_S: f64 = 60.0;

/// Patterns of the quantities that can be driven; `V` is a speed in m/s and `D` a distance in m.
pub const DRIVEN_QUANTITIES: [&str; 9] = [
    "time_0_to_V_m_per_s",
    "time_D_m",
    "speed_at_D_m",
    "top_speed",
    "stopping_distance_from_V_m_per_s",
    "lateral_acceleration",
    "understeer_gradient",
    "yaw_rate_gain_at_V_m_per_s",
    "stall_speed",
];

/// Returns the number between `prefix` and `suffix` of `text`; `None` if the text has another form or the number is not
/// finite and above 0.
fn number_between(text: &str, prefix: &str, suffix: &str) -> Option<f64> {
    let number: f64 = text.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number)
}

impl Figure {
    /// Returns the figure of a published `reference`; `None` if its quantity cannot be driven (see
    /// [`DRIVEN_QUANTITIES`]). Conditions that the reference does not state have standard values: no roll-out, full
    /// pedal, any gear, skid pad of 45.72 m radius.
    pub fn of(reference: &Reference) -> Option<Self> {
        let standard = TestConditions::default();
        let conditions = reference.conditions.as_ref().unwrap_or(&standard);
        let (quantity, roll_out_m) = (reference.quantity.as_str(), conditions.roll_out_m.unwrap_or(0.0));
        let technique = if conditions.threshold_braking { PedalTechnique::Threshold } else { PedalTechnique::Constant };
        let with_number = |prefix, suffix| number_between(quantity, prefix, suffix);
        match quantity {
            "top_speed" => return Some(Self::TopSpeed { gear: conditions.gear.and_then(|gear| gear.try_into().ok()) }),
            "lateral_acceleration" => {
                let radius_m = conditions.radius_m.unwrap_or_else(|| SkidPad::default().radius_m);
                return Some(Self::LateralAcceleration { radius_m });
            }
            "understeer_gradient" => return Some(Self::UndersteerGradient),
            "stall_speed" => return Some(Self::StallSpeed),
            _ => {}
        }
        with_number("time_0_to_", "_m_per_s")
            .map(|speed_mps| Self::TimeToSpeed { speed_mps, roll_out_m })
            .or_else(|| with_number("time_", "_m").map(|distance_m| Self::TimeOverDistance { distance_m, roll_out_m }))
            .or_else(|| with_number("speed_at_", "_m").map(|distance_m| Self::SpeedAtDistance { distance_m }))
            .or_else(|| {
                with_number("stopping_distance_from_", "_m_per_s")
                    .map(|speed_mps| Self::StoppingDistance { speed_mps, technique })
            })
            .or_else(|| with_number("yaw_rate_gain_at_", "_m_per_s").map(|speed_mps| Self::YawRateGain { speed_mps }))
    }

    /// Returns the SI unit of the figure, as vehicle files write it.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::TimeToSpeed { .. } | Self::TimeOverDistance { .. } => "s",
            Self::SpeedAtDistance { .. } | Self::TopSpeed { .. } => "m/s",
            Self::StoppingDistance { .. } => "m",
            Self::LateralAcceleration { .. } => "m/s2",
            Self::UndersteerGradient => "rad s2/m",
            Self::YawRateGain { .. } => "1/s",
            Self::StallSpeed => "rad/s",
        }
    }

    /// Returns the name of the figure for tables, with the units of magazines.
    pub fn label(&self) -> String {
        let clock = |roll_out_m: f64| match roll_out_m {
            0.0 => String::new(),
            roll_out_m => format!(" after {roll_out_m:.2} m of roll-out"),
        };
        let kmh = |speed_mps: f64| speed_mps * 3.6;
        match *self {
            Self::TimeToSpeed { speed_mps, roll_out_m } => {
                format!("0 to {:.0} km/h{}", kmh(speed_mps), clock(roll_out_m))
            }
            Self::TimeOverDistance { distance_m, roll_out_m } => format!("{distance_m:.0} m{}", clock(roll_out_m)),
            Self::SpeedAtDistance { distance_m } => format!("Speed at {distance_m:.0} m"),
            Self::TopSpeed { gear: Some(gear) } => format!("Top speed, in gear {gear}"),
            Self::TopSpeed { gear: None } => "Top speed".into(),
            Self::StoppingDistance { speed_mps, technique } => {
                let pedal = match technique {
                    PedalTechnique::Constant => "full pedal",
                    PedalTechnique::Threshold => "threshold of locking",
                };
                format!("{:.0} km/h to 0, {pedal}", kmh(speed_mps))
            }
            Self::LateralAcceleration { radius_m } => format!("Skid pad, radius {radius_m:.1} m"),
            Self::UndersteerGradient => "Understeer gradient".into(),
            Self::YawRateGain { speed_mps } => format!("Yaw rate gain at {:.0} km/h", kmh(speed_mps)),
            Self::StallSpeed => "Stall speed".into(),
        }
    }

    /// Returns the manoeuvre that measures the figure, with its standard settings except those that the figure states.
    /// All times, distances and speeds of an acceleration share one launch by a skilled driver, of
    /// [`MAX_ACCELERATION_TIME_S`]. Figures with equal manoeuvres share their runs.
    pub(super) fn test(&self) -> Test {
        match *self {
            Self::TimeToSpeed { .. } | Self::TimeOverDistance { .. } | Self::SpeedAtDistance { .. } => {
                let duration_s = MAX_ACCELERATION_TIME_S;
                Test::Acceleration(Acceleration { launch: Launch::Skilled, duration_s, ..Acceleration::default() })
            }
            Self::TopSpeed { .. } => Test::TopSpeed(TopSpeed::default()),
            Self::StoppingDistance { speed_mps, technique } => {
                Test::Braking(Braking { initial_speed_mps: speed_mps, technique, ..Braking::default() })
            }
            Self::LateralAcceleration { radius_m } => Test::SkidPad(SkidPad { radius_m, ..SkidPad::default() }),
            Self::UndersteerGradient => Test::Circle(Circle::default()),
            Self::YawRateGain { speed_mps } => Test::StepSteer(StepSteer { speed_mps, ..StepSteer::default() }),
            Self::StallSpeed => Test::Stall(Stall::default()),
        }
    }

    /// Returns the value of the figure in `run`, a run of its manoeuvre `test`, in [`Figure::unit`]. `None` if the run
    /// has no value, or if `test` is another manoeuvre than that of the figure.
    pub(super) fn value(&self, test: &Test, model: &Model, run: &Trajectory) -> Option<f64> {
        let start = StandingStart::new(run);
        match (*self, test) {
            (Self::TimeToSpeed { speed_mps, roll_out_m }, _) => start.time_to_speed(speed_mps, roll_out_m),
            (Self::TimeOverDistance { distance_m, roll_out_m }, _) => start.time_over(distance_m, roll_out_m),
            (Self::SpeedAtDistance { distance_m }, _) => start.speed_at(distance_m),
            (Self::TopSpeed { .. }, Test::TopSpeed(test)) => test.measure(model, run).fastest()?.speed_mps,
            (Self::StoppingDistance { .. }, Test::Braking(test)) => test.measure(run).distance_m,
            (Self::LateralAcceleration { .. }, Test::SkidPad(test)) => test.measure(run).lateral_acceleration_mps2,
            (Self::UndersteerGradient, Test::Circle(test)) => test.measure(model, run).understeer_gradient_rad_per_mps2,
            (Self::YawRateGain { .. }, Test::StepSteer(test)) => test.measure(run).yaw_rate_gain_per_s,
            (Self::StallSpeed, Test::Stall(test)) => test.measure(run).stall_speed_radps,
            _ => None,
        }
    }

    /// Returns true if `run` was fastest in the gear that the figure names. Figures other than the top speed, and a top
    /// speed without a gear, always return true.
    pub(super) fn is_in_named_gear(&self, test: &Test, model: &Model, run: &Trajectory) -> bool {
        match (self, test) {
            (Self::TopSpeed { gear: Some(gear) }, Test::TopSpeed(test)) => {
                test.measure(model, run).fastest().is_some_and(|fastest| fastest.gear == *gear)
            }
            _ => true,
        }
    }
}

/// Manoeuvre of a road test.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// Acceleration from rest.
    Acceleration(Acceleration),
    /// Steady top speed of every gear.
    TopSpeed(TopSpeed),
    /// Braking to a standstill.
    Braking(Braking),
    /// Skid pad.
    SkidPad(SkidPad),
    /// Steady circle.
    Circle(Circle),
    /// Step steer.
    StepSteer(StepSteer),
    /// Full throttle against the foot brake.
    Stall(Stall),
}

impl Test {
    /// Returns the names of the standard manoeuvres with the same purpose; none if there are none.
    pub(super) fn standard_manoeuvres(&self) -> &'static [&'static str] {
        match self {
            Self::Acceleration(_) => &["acceleration", "launch"],
            Self::TopSpeed(_) => &["top-speed"],
            Self::Braking(Braking { technique: PedalTechnique::Constant, .. }) => &["braking"],
            Self::Braking(Braking { technique: PedalTechnique::Threshold, .. }) => &["braking", "threshold-braking"],
            Self::SkidPad(_) => &["skid-pad"],
            Self::Circle(_) => &["circle"],
            Self::StepSteer(_) => &["step-steer"],
            Self::Stall(_) => &[],
        }
    }

    /// Returns the manoeuvre.
    pub(super) fn manoeuvre(&self) -> &dyn Procedure {
        match self {
            Self::Acceleration(manoeuvre) => manoeuvre,
            Self::TopSpeed(manoeuvre) => manoeuvre,
            Self::Braking(manoeuvre) => manoeuvre,
            Self::SkidPad(manoeuvre) => manoeuvre,
            Self::Circle(manoeuvre) => manoeuvre,
            Self::StepSteer(manoeuvre) => manoeuvre,
            Self::Stall(manoeuvre) => manoeuvre,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a reference of `quantity` with `conditions`.
    fn reference(quantity: &str, conditions: TestConditions) -> Reference {
        Reference {
            quantity: quantity.into(),
            value: 1.0,
            tolerance: None,
            unit: "s".into(),
            source: "test".into(),
            provenance: None,
            fitted: false,
            conditions: Some(conditions),
        }
    }

    /// Quantities with numbers and conditions are the figures that they name; other quantities are none.
    #[test]
    fn quantities_are_read_with_their_numbers_and_conditions() {
        let of = |quantity: &str, conditions| Figure::of(&reference(quantity, conditions));
        let rolled = TestConditions { roll_out_m: Some(0.3048), ..TestConditions::default() };
        let found = of("time_0_to_26.82_m_per_s", rolled.clone());
        assert_eq!(found, Some(Figure::TimeToSpeed { speed_mps: 26.82, roll_out_m: 0.3048 }));
        let found = of("time_402.3_m", rolled);
        assert_eq!(found, Some(Figure::TimeOverDistance { distance_m: 402.3, roll_out_m: 0.3048 }));
        let in_fifth = TestConditions { gear: Some(5), ..TestConditions::default() };
        assert_eq!(of("top_speed", in_fifth), Some(Figure::TopSpeed { gear: Some(5) }));
        let threshold = TestConditions { threshold_braking: true, ..TestConditions::default() };
        let expected = Figure::StoppingDistance { speed_mps: 26.82, technique: PedalTechnique::Threshold };
        assert_eq!(of("stopping_distance_from_26.82_m_per_s", threshold), Some(expected));
        let standard = TestConditions::default;
        assert_eq!(of("lateral_acceleration", standard()), Some(Figure::LateralAcceleration { radius_m: 45.72 }));
        for unknown in ["time_0_to_fast_m_per_s", "time_-3_m", "speed_at_nan_m", "noise_at_idle", ""] {
            assert_eq!(of(unknown, standard()), None, "{unknown}");
        }
    }
}
