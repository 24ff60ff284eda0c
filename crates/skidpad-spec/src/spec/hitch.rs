//! Hitch of a towing vehicle and coupler of a trailer.

use serde::{Deserialize, Serialize};

/// Hitch that tows another vehicle: a ball, which holds a point, or a fifth wheel, which also resists roll.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hitch {
    /// Distance of the hitch behind the front axle, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Height of the hitch above level ground at rest, without a trailer, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub above_ground_m: f64,
    /// Distance of the hitch to the left of the middle, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// Roll stiffness against the trailer, N m/rad: 0 for a ball, about 1e6 for a fifth wheel.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub roll_rate_n_m_per_rad: f64,
    /// Roll damping against the trailer, N m s/rad.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub roll_damping_n_m_s_per_rad: f64,
    /// Yaw damping against the trailer, N m s/rad.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub yaw_damping_n_m_s_per_rad: f64,
    /// Largest moment of dry friction against yaw of the trailer, N m, as of a fifth wheel or a stabiliser.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub yaw_friction_nm: f64,
    /// Yaw angle of the trailer at its stop on either side, degrees. Absent: no stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0), range(max = 180)))]
    pub max_yaw_deg: Option<f64>,
    /// Pitch angle of the trailer at its stop on either side, degrees. Absent: no stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0), range(max = 90)))]
    pub max_pitch_deg: Option<f64>,
    /// Force at which the hitch breaks and releases the trailer, N. Absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub breaking_force_n: Option<f64>,
    /// Mass of the trailer that rests on the hitch while the vehicle is at rest as described, kg. Wheel loads and
    /// springs include it. 0 for a vehicle that is described without its trailer.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1e7)))]
    pub carried_mass_kg: f64,
}

/// Returns true if `number` is 0, so that a file need not state it.
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Coupler of a trailer: the point that the hitch of the vehicle ahead holds. It carries the part of the weight that
/// the wheels do not carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Coupler {
    /// Distance of the coupler behind the front axle, m; negative ahead of it.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Height of the coupler above level ground with the trailer level, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub above_ground_m: f64,
    /// Distance of the coupler to the left of the middle, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// Actuation of the trailer's brakes. Absent: its own controls only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brakes: Option<TrailerBrakes>,
}

/// Actuation of the brakes of a trailer, in addition to its own controls. The handbrake of the vehicle ahead also
/// applies that of the trailer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum TrailerBrakes {
    /// Foot brake of the vehicle ahead, transmitted by air, wire or rods. Behind a dolly or a trailer: the brake
    /// applied there.
    Pedal {},
    /// Overrun device: the force with which the trailer pushes the vehicle ahead applies the brake.
    Overrun {
        /// Force that applies the brake fully, N. A smaller force applies it in proportion. The time constant is 0.2
        /// s.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        full_brake_n: f64,
    },
}
