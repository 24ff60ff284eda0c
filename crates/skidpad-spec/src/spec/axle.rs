//! Axle with its wheels, suspension and rolling resistance.

use serde::{Deserialize, Serialize};

use crate::tyre_size::TyreSize;

/// Axle with two equal wheels, or with one wheel in the middle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Axle {
    /// Distance behind the front axle, m; 0 for the first axle, rising from axle to axle.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Distance between the contact points of the two wheels, m. Absent: one wheel in the middle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub track_m: Option<f64>,
    /// Loaded (effective) rolling radius of a wheel, m. Give this or `tyre_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub wheel_radius_m: Option<f64>,
    /// Size on the tyre's sidewall, like `275/40 R18`, for a rolling radius of 0.97 of the unloaded radius. Without
    /// an aspect ratio, as in `185 R14 C`, the section is 82 % high. Give this or `wheel_radius_m`. If both are
    /// absent, a tyre of the Magic Formula has the effective radius of its file under the load at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tyre_size: Option<String>,
    /// Moment of inertia of one wheel about its axle, brake disc and shaft included, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub wheel_spin_inertia_kg_m2: f64,
    /// Name of the tyre in `tyres`.
    pub tyre: String,
    /// Road-wheel angle in the middle of the axle per steering angle; 0 for an unsteered axle, negative for
    /// counter-steering.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -2, max = 2)))]
    pub steer_ratio: f64,
    /// Ackermann share, from 0 (parallel steering) to 1 (full Ackermann).
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub ackermann: f64,
    /// Static toe of each wheel, degrees, positive toe-in.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -10, max = 10)))]
    pub toe_deg: f64,
    /// Static camber of each wheel relative to the chassis, degrees, positive with the top leaning outwards. It
    /// affects only tyre models with camber.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -10, max = 10)))]
    pub camber_deg: f64,
    /// Curves of toe and camber over wheel travel. Absent: both stay constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinematics: Option<Kinematics>,
    /// Whether both wheels are on one beam, which stays square on its tyres while the body rolls. In solvers with
    /// unsprung masses, the weight of the beam loads only its tyres.
    #[serde(default)]
    pub solid_axle: bool,
    /// Height of the roll centre above the ground at rest, m, negative below it. The links transfer the side forces
    /// of the tyres to the body there, past the springs. Range: ±0.399 of the track. Not allowed with a force point.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -2, max = 2)))]
    pub roll_centre_height_m: f64,
    /// Lateral compliance of the axle under side forces. Absent: its links are rigid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateral_compliance: Option<LateralCompliance>,
    /// Height above the ground at which the tyre forces act, m. A higher point reduces roll and pitch, as in game
    /// engines. It is a trick: the physical value is 0. Absent: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub force_application_height_m: Option<f64>,
    /// Shape of the wheels that detects the ground. Absent: a ray.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Spring, damper and stops of each wheel.
    pub suspension: Suspension,
    /// Anti-roll bar between the two wheels. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anti_roll_bar: Option<AntiRollBar>,
    /// Third spring, which acts on the mean travel of both wheels, and not in roll.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heave_spring: Option<HeaveSpring>,
    /// Foot brake torque of each wheel at full pedal, N m. Not allowed with `brakes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub brake_torque_nm: Option<f64>,
    /// Handbrake torque of each wheel with the handbrake fully applied, N m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub handbrake_torque_nm: f64,
    /// Brake discs that heat up and fade. Absent: brakes that do not fade.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brake_disc: Option<BrakeDisc>,
    /// Unsprung mass of each wheel, for solvers with unsprung masses. Absent: the mass of the wheel moves with the
    /// chassis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsprung: Option<Unsprung>,
    /// Rolling resistance of this axle. Absent: that of the car.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_resistance: Option<RollingResistance>,
}

impl Axle {
    /// Returns the loaded rolling radius of a wheel, m: the stated one, or that of the tyre size. Returns `None` if
    /// neither is given, or if the size is not valid.
    pub fn radius_m(&self) -> Option<f64> {
        let radius_from_size = || TyreSize::parse(self.tyre_size.as_deref()?).map(|size| size.rolling_radius_m());
        self.wheel_radius_m.or_else(radius_from_size)
    }
}

/// Anti-roll bar of an axle. One of `rate_n_per_m`, `roll_stiffness_share` and `full_travel_force_n` states its
/// stiffness.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AntiRollBar {
    /// Stiffness: force at each wheel per difference in wheel travel, N/m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub rate_n_per_m: Option<f64>,
    /// Share of the bar in the roll stiffness of the axle: 0 for no bar, 0.5 for a bar as stiff as the springs; 1 would
    /// be rigid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 0.999)))]
    pub roll_stiffness_share: Option<f64>,
    /// Force at a difference of the whole travel from bump to droop, N, as in scripts for game engines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub full_travel_force_n: Option<f64>,
    /// Parts on which the bar acts.
    #[serde(default, skip_serializing_if = "BarActsOn::is_wheels")]
    pub acts_on: BarActsOn,
    /// Speeds between which the stiffness rises from 0 to its full value, m/s. Absent: full at every speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0, max = 200))))]
    pub speed_range_mps: Option<[f64; 2]>,
}

/// Parts on which an anti-roll bar acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BarActsOn {
    /// Wheels, so that it changes the loads of the tyres.
    #[default]
    Wheels,
    /// Chassis alone and not the tyres, as in scripts for game engines.
    Chassis,
}

impl BarActsOn {
    /// Returns true for the default, so that a file need not state it.
    fn is_wheels(&self) -> bool {
        *self == Self::Wheels
    }
}

/// Brake disc or drum of one wheel. It absorbs the work of the brake, cools in the air, and fades when hot.
/// Temperatures are above that of the air.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BrakeDisc {
    /// Heat capacity, mass times specific heat, J/K; cast iron has 460 J/(kg K).
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub heat_capacity_j_per_k: f64,
    /// Heat flow to the air per temperature, with the car at rest, W/K.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub cooling_w_per_k: f64,
    /// Increase of the heat flow per temperature with speed, W s/(K m).
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub cooling_w_s_per_k_m: f64,
    /// Temperature up to which the brake has its full torque, K above the air.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub fades_from_k: f64,
    /// Temperature from which the brake has its least torque, K above the air; above `fades_from_k`.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub fades_to_k: f64,
    /// Torque of a fully faded brake as a factor on its full torque.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub min_torque_factor: f64,
}

/// Unsprung mass of one wheel, and its tyre as a vertical spring. The mass is part of the car's mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Unsprung {
    /// Mass of wheel, tyre, hub, brake and half of the links, kg; less than the mass on the wheel at rest.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub mass_kg: f64,
    /// Vertical stiffness of the tyre, N/m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub tyre_rate_n_per_m: f64,
    /// Vertical damping of the tyre, N s/m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub tyre_damping_n_s_per_m: f64,
}

/// Change of toe and camber of an axle's wheels with their compression z from rest, m: linear z + quadratic z², in
/// addition to the static angles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Kinematics {
    /// Toe per compression, degrees per m, positive for toe-in in jounce.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -1000, max = 1000)))]
    pub toe_deg_per_m: f64,
    /// Toe per compression squared, degrees per m², positive for toe-in.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -10000, max = 10000)))]
    pub toe_deg_per_m2: f64,
    /// Camber per compression, degrees per m, positive with the top leaning outwards in jounce; negative in most
    /// cars.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -1000, max = 1000)))]
    pub camber_deg_per_m: f64,
    /// Camber per compression squared, degrees per m², positive with the top leaning outwards.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -10000, max = 10000)))]
    pub camber_deg_per_m2: f64,
}

/// Lateral compliance of an axle: spring and damper between the body and all wheels of the axle together, in series
/// with their tyres. The displacement does not move the points where the loads act.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LateralCompliance {
    /// Side force of the axle per lateral displacement, N/m. A side force equal to the axle load at rest may displace
    /// the axle by 0.1 m at most.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub lateral_stiffness_n_per_m: f64,
    /// Side force of the axle per lateral velocity, N s/m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub damping_n_s_per_m: f64,
}

/// Third (heave) spring of an axle, relative to the rest pose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HeaveSpring {
    /// Force on both wheels together per mean travel, N/m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub rate_n_per_m: f64,
    /// Damping force on both wheels together per mean speed of travel, N s/m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub damping_n_s_per_m: f64,
}

/// Spring, damper and stops of one wheel, measured at the wheel, relative to the rest pose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Suspension {
    /// Wheel rate at rest, N/m. Give this or `ride_frequency_hz`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub rate_n_per_m: Option<f64>,
    /// Undamped natural frequency of the mass on the wheel on its spring, Hz. Give this or `rate_n_per_m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub ride_frequency_hz: Option<f64>,
    /// Increase of the wheel rate per compression, N/m². At a compression z, the spring force beyond that at rest is
    /// rate z + progressive rate z² / 2. Absent: a linear spring.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub progressive_rate_n_per_m2: Option<f64>,
    /// Damping in compression, N s/m. Give this or `bump_damping_ratio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub bump_damping_n_s_per_m: Option<f64>,
    /// Damping ratio in compression: damping over the critical damping of the mass on the wheel. If all wheels have
    /// the same damping ratio and ride frequency, it is also the damping ratio of the car in heave, for any number of
    /// wheels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub bump_damping_ratio: Option<f64>,
    /// Damping in rebound, N s/m. Give this or `rebound_damping_ratio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub rebound_damping_n_s_per_m: Option<f64>,
    /// Damping ratio in rebound: damping over the critical damping of the mass on the wheel.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub rebound_damping_ratio: Option<f64>,
    /// Compression from rest at which the bump stop begins, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub bump_travel_m: f64,
    /// Extension from rest at which the droop stop holds the wheel, m. Give this or `preload_n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub droop_travel_m: Option<f64>,
    /// Spring force at full droop, N. It determines the position of the droop stop. Give this or `droop_travel_m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub preload_n: Option<f64>,
    /// Stiffness of the bump stop, N/m, added to the wheel rate beyond `bump_travel_m`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub bump_stop_rate_n_per_m: f64,
    /// Travel of the bump stop until metal contact, m.
    #[serde(default = "default_bump_stop_travel_m")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub bump_stop_travel_m: f64,
    /// Blow-off of the damper in compression. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bump_blow_off: Option<BlowOff>,
    /// Blow-off of the damper in rebound. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebound_blow_off: Option<BlowOff>,
}

/// Blow-off of a damper: above a speed its valves open and the slope of its force changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BlowOff {
    /// Speed at which the valves open, measured at the wheel, m/s.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
    pub speed_mps: f64,
    /// Slope of the force over speed above `speed_mps` over the slope below it.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub slope_ratio: f64,
}

/// Shape of a wheel that detects the ground along the travel of the suspension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum Probe {
    /// Ray through the middle of the wheel, the cheapest probe. It falls into every gap, and reacts to an edge only
    /// when the middle is above it.
    Ray {},
    /// Rim as a circle without width. It rolls over gaps, edges and kerbs like a rigid wheel, and walls stop it.
    Disc {},
    /// Rims of both sides and of the middle of a flat tread.
    Cylinder {
        /// Width of the tread, m; at most the diameter of the wheel.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
        width_m: f64,
    },
    /// Rims of both sides and of the middle of a tread that is rounded laterally.
    Torus {
        /// Width of the tread, m; at most the diameter of the wheel.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
        width_m: f64,
    },
}

/// Returns the default travel of the bump stop (m).
fn default_bump_stop_travel_m() -> f64 {
    0.04
}

/// Rolling resistance: the moment on a wheel is coefficient times load times radius.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum RollingResistance {
    /// Coefficient that is equal at every speed.
    Constant {
        /// Coefficient.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        coefficient: f64,
    },
    /// Coefficient that rises in proportion to speed.
    Linear {
        /// Coefficient at very low speed.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        coefficient: f64,
        /// Increase of the coefficient per speed, s/m.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        rise_s_per_m: f64,
    },
    /// Coefficient that rises with the square of speed.
    Quadratic {
        /// Coefficient at very low speed.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        coefficient: f64,
        /// Increase of the coefficient per speed squared, s²/m².
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        rise_s2_per_m2: f64,
    },
    /// Coefficient of a pneumatic tyre on a dry road: 0.005 + (0.01 + 0.0095 (v / 100 km/h)²) / pressure in bar
    /// (Engineering ToolBox, "Rolling Resistance").
    Pressure {
        /// Inflation pressure, bar.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
        pressure_bar: f64,
    },
}

/// Rolling resistance of wheels at rest and at very low speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StaticRollingResistance {
    /// Coefficient at rest, effective if it is larger than the rolling one. A car stays at rest on slopes with a
    /// tangent up to this value.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub coefficient: f64,
    /// Speed at which the additional resistance has faded out, m/s.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
    pub below_mps: f64,
}
