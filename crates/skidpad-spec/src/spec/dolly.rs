//! Front of a full trailer: drawbar, steered axle and turntable.

use serde::{Deserialize, Serialize};

use super::{Axle, Chassis, Coupler, Hitch, Powertrain, TrailerBrakes, VehicleSpec, no_steering};
use crate::wheel_positions;

/// Dolly of a full trailer: a drawbar with an axle that it steers, and the turntable that supports the front of the
/// trailer.
///
/// The dolly is a separate body. It is towed at the eye of its drawbar, and its turntable holds the trailer's
/// coupler. Its positions are relative to its own first axle. It has the tyres and the rolling resistance of the
/// file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dolly {
    /// Distance from the eye of the drawbar to the first axle of the dolly, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub drawbar_length_m: f64,
    /// Height of the eye above level ground with the dolly level, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub eye_above_ground_m: f64,
    /// Actuation of the dolly's brakes. Absent: its own controls only. The `coupler` states the actuation of the
    /// trailer's brakes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brakes: Option<TrailerBrakes>,
    /// Turntable that holds the trailer.
    pub turntable: Turntable,
    /// Mass, centre of mass, inertia and collision box of dolly and drawbar, without the trailer.
    pub chassis: Chassis,
    /// Axles from the front. The drawbar steers them.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 32)))]
    pub axles: Vec<Axle>,
}

/// Turntable that holds a trailer on its dolly. It allows yaw and transmits roll. It is at the height of the
/// trailer's coupler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Turntable {
    /// Distance of the turntable behind the first axle of the dolly, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Roll stiffness between trailer and dolly, N m/rad; a ball race has about 1e6.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub roll_rate_n_m_per_rad: f64,
    /// Roll damping between trailer and dolly, N m s/rad.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub roll_damping_n_m_s_per_rad: f64,
    /// Yaw damping between trailer and dolly, N m s/rad.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub yaw_damping_n_m_s_per_rad: f64,
    /// Largest moment of dry friction against yaw between trailer and dolly, N m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub yaw_friction_nm: f64,
    /// Yaw angle between trailer and dolly at the stop on either side, degrees. Absent: no stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0), range(max = 180)))]
    pub max_yaw_deg: Option<f64>,
    /// Pitch angle between trailer and dolly at the stop on either side, degrees. Absent: no stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0), range(max = 90)))]
    pub max_pitch_deg: Option<f64>,
}

impl VehicleSpec {
    /// Returns the dolly of a full trailer as a separate vehicle, with chassis and axles of its own, and the tyres and
    /// rolling resistance of the trailer. The hitch of the dolly is the turntable and carries the mass of the trailer
    /// that rests there; its coupler is the end of the drawbar, ahead of the first axle. The dolly has no steering,
    /// drive, aerodynamics or assists, and brakes only by its coupler and axles. Returns `None` if the vehicle has no
    /// dolly.
    pub fn dolly_vehicle(&self) -> Option<Self> {
        let dolly = self.dolly.as_ref()?;
        Some(Self {
            name: format!("{} dolly", self.name),
            description: self.description.clone(),
            chassis: dolly.chassis.clone(),
            axles: dolly.axles.clone(),
            tyres: self.tyres.clone(),
            steering: no_steering(),
            brakes: None,
            rolling_resistance: self.rolling_resistance.clone(),
            static_rolling_resistance: self.static_rolling_resistance.clone(),
            powertrain: Powertrain::None {},
            motors: Vec::new(),
            couplings: Vec::new(),
            aero: None,
            hitch: Some(self.turntable_hitch(&dolly.turntable)),
            coupler: Some(Coupler {
                // Ahead of the first axle.
                behind_front_axle_m: -dolly.drawbar_length_m,
                above_ground_m: dolly.eye_above_ground_m,
                left_m: 0.0,
                brakes: dolly.brakes.clone(),
            }),
            dolly: None,
            raycast_reference: None,
            assists: None,
            non_physical: None,
            references: Vec::new(),
        })
    }

    /// Returns the mass that rests on the coupler of a trailer, kg, with its part of the mass on the trailer's own
    /// hitch; negative if the trailer lifts the coupler. Returns 0 for a vehicle without a coupler, or if its wheels
    /// and coupler cannot carry it.
    pub(crate) fn coupler_mass_kg(&self) -> f64 {
        let load_shares = wheel_positions::wheel_load_shares(self).filter(|_| self.coupler.is_some());
        load_shares.map_or(0.0, |shares| {
            let hitch_mass = self.hitch.as_ref().map_or(0.0, |hitch| hitch.carried_mass_kg);
            self.chassis.mass_kg * (1.0 - shares.iter().sum::<f64>()) + hitch_mass
        })
    }

    /// Returns the hitch of the dolly: the turntable, at its stated longitudinal position, and at the lateral position
    /// and height of the coupler of the trailer (0 without one). Stiffness, damping, friction and limits are copied.
    /// The hitch carries the mass of the trailer that rests there (kg, at least 0, in single precision) and never
    /// breaks.
    fn turntable_hitch(&self, turntable: &Turntable) -> Hitch {
        let coupler_position = self.coupler.as_ref().map(|coupler| (coupler.above_ground_m, coupler.left_m));
        let (above_ground_m, left_m) = coupler_position.unwrap_or_default();
        Hitch {
            behind_front_axle_m: turntable.behind_front_axle_m,
            above_ground_m,
            left_m,
            roll_rate_n_m_per_rad: turntable.roll_rate_n_m_per_rad,
            roll_damping_n_m_s_per_rad: turntable.roll_damping_n_m_s_per_rad,
            yaw_damping_n_m_s_per_rad: turntable.yaw_damping_n_m_s_per_rad,
            yaw_friction_nm: turntable.yaw_friction_nm,
            max_yaw_deg: turntable.max_yaw_deg,
            max_pitch_deg: turntable.max_pitch_deg,
            breaking_force_n: None,
            // Rounded to the single precision of the model, so that a file of the dolly alone can state the same mass.
            carried_mass_kg: f64::from(self.coupler_mass_kg().max(0.0) as f32),
        }
    }
}
