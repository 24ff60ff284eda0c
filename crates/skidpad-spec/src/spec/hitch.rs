//! Where a vehicle tows, and where it is towed.

use serde::{Deserialize, Serialize};

/// Where a vehicle tows another one: a ball that holds a point, or a fifth wheel, which also resists roll.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hitch {
    /// Behind the front axle, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Above level ground at rest, without a trailer, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub above_ground_m: f64,
    /// To the left of the middle, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// Moment against roll of the trailer, N m/rad; 0 for a ball, some 1e6 for a fifth wheel.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub roll_rate_n_m_per_rad: f64,
    /// Damping of that roll, N m s/rad.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub roll_damping_n_m_s_per_rad: f64,
    /// Damping of the yaw of the trailer against the vehicle, N m s/rad.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub yaw_damping_n_m_s_per_rad: f64,
    /// Largest moment of dry friction against that yaw, N m: of a fifth wheel, or of a stabiliser.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub yaw_friction_nm: f64,
    /// Angle of yaw at which the trailer meets its stop on either side, degrees. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0), range(max = 180)))]
    pub largest_yaw_deg: Option<f64>,
    /// Angle of pitch at which it does, degrees. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0), range(max = 90)))]
    pub largest_pitch_deg: Option<f64>,
    /// Force at which it breaks and lets the trailer go, N. Absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub breaking_force_n: Option<f64>,
    /// Mass of the trailer that rests on it where the vehicle stands as described, kg: wheel loads and springs count it. 0 of a vehicle
    /// that is described without its trailer.
    #[serde(default, skip_serializing_if = "is_nothing")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1e7)))]
    pub carried_mass_kg: f64,
}

fn is_nothing(number: &f64) -> bool {
    *number == 0.0
}

/// Where a trailer is towed: the point that the hitch of the vehicle ahead holds. It carries what the wheels do not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Coupler {
    /// Behind the front axle, m; negative ahead of it.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Above level ground with the trailer level, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub above_ground_m: f64,
    /// To the left of the middle, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// What presses its brakes. Absent: its own controls only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brakes: Option<TrailerBrakes>,
}

/// What presses the brakes of a trailer, beside its own controls; the handbrake of the vehicle ahead is then the trailer's too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum TrailerBrakes {
    /// The foot brake of the vehicle ahead, as by air, wire or rods; behind a dolly or a trailer, what presses that one's.
    Pedal {},
    /// The force with which the trailer runs up on the vehicle ahead.
    Overrun {
        /// Force that presses the brake fully, N; less presses in proportion, with a time constant of 0.2 s.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        full_brake_n: f64,
    },
}
