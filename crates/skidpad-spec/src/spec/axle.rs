//! An axle with its wheels, suspension and rolling resistance.

use serde::{Deserialize, Serialize};

use crate::tyre_size::TyreSize;

/// An axle: two equal wheels, or one in the middle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Axle {
    /// Distance behind the front axle, m; 0 for the first, rising from axle to axle.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Distance between the contact points of its two wheels, m. Absent: one wheel in the middle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub track_m: Option<f64>,
    /// Loaded (effective) rolling radius of a wheel, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub wheel_radius_m: Option<f64>,
    /// The same by the size on the tyre's sidewall, like `275/40 R18`, or `185 R14 C`, which is 82 % high: 0.97 of its unloaded
    /// radius. With neither, a tyre of the Magic Formula has the effective radius of its file, under the load at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tyre_size: Option<String>,
    /// Inertia of one wheel about its axle, brake disc and shaft included, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub wheel_spin_inertia_kg_m2: f64,
    /// Name of the tyre.
    pub tyre: String,
    /// Road-wheel angle in the middle of the axle per angle of the steering; 0 unsteered, negative counter-steers.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -2, max = 2)))]
    pub steer_ratio: f64,
    /// 0 parallel steering to 1 full Ackermann.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub ackermann: f64,
    /// Toe of each wheel, degrees, positive toe-in.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -10, max = 10)))]
    pub toe_deg: f64,
    /// Camber of each wheel against the chassis, degrees, positive with the top leaning outwards. Only tyres with a law
    /// of camber feel it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -10, max = 10)))]
    pub camber_deg: f64,
    /// How toe and camber follow the travel. Absent: they stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guidance: Option<Guidance>,
    /// Whether both wheels sit on one beam, which stands square on its tyres while the body rolls on it. What the beam weighs loads
    /// only its tyres, where wheels move on their own.
    #[serde(default)]
    pub solid_axle: bool,
    /// Height of the roll centre above the ground at rest, m, negative below it: where its links hand the side forces of its tyres to
    /// the body, past the springs. At most 0.399 of the track either way; not with a force point.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -2, max = 2)))]
    pub roll_centre_height_m: f64,
    /// How far its wheels give way to side forces. Absent: its links are rigid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateral_compliance: Option<LateralCompliance>,
    /// Height above the ground at which the forces of the tyres act, m: less of them rolls and pitches the car, as on game
    /// engines. A trick; absent or 0 is what is real.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub force_point_above_ground_m: Option<f64>,
    /// What of its wheels feels for the ground. Absent: a ray.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Spring, damper and stops of each wheel.
    pub suspension: Suspension,
    /// Anti-roll bar: force at each wheel per metre of difference in travel, N/m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub anti_roll_bar_n_per_m: f64,
    /// The same as the force at a difference of the whole travel from bump to droop, N, as scripts on game engines have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub anti_roll_bar_n: Option<f64>,
    /// The same as the bar's share of the axle's stiffness in roll: 0 none, 0.5 as stiff as the springs, 1 would be rigid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 0.999)))]
    pub anti_roll_bar_share: Option<f64>,
    /// Speeds between which the bar's rate rises from nothing, m/s. Absent: it always has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0, max = 200))))]
    pub anti_roll_bar_fades_in_mps: Option<[f64; 2]>,
    /// Whether the bar acts on the chassis beside the tyres, which do not feel it, as scripts on game engines have it.
    #[serde(default)]
    pub anti_roll_bar_external: bool,
    /// A third spring that acts on the mean travel of both wheels, and not in roll.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heave_spring: Option<HeaveSpring>,
    /// Foot brake torque of each wheel at full pedal, N m. Not with `brakes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub brake_torque_nm: Option<f64>,
    /// Handbrake torque of each wheel fully pulled, N m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub handbrake_torque_nm: f64,
    /// Brake discs that warm and fade. Absent: brakes that stay as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brake_disc: Option<BrakeDisc>,
    /// What moves with each wheel, for solvers that let wheels move on their own. Absent: its mass is the chassis'.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsprung: Option<Unsprung>,
    /// Rolling resistance of this axle. Absent: the car's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_resistance: Option<RollingResistance>,
}

impl Axle {
    /// Loaded rolling radius of a wheel, m, as it is or as a tyre size tells it.
    pub fn radius_m(&self) -> Option<f64> {
        let by_size = || TyreSize::parse(self.tyre_size.as_deref()?).map(|size| size.rolling_radius_m());
        self.wheel_radius_m.or_else(by_size)
    }
}

/// A brake disc or drum of one wheel: takes up the work of the brake, cools in the air, holds less when hot. Temperatures are
/// above the air's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BrakeDisc {
    /// Mass times specific heat, J/K; cast iron has 460 J/(kg K).
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub heat_capacity_j_per_k: f64,
    /// What the air takes of a car at rest, W/K.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub cooling_w_per_k: f64,
    /// What it takes more with speed, W s/(K m).
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub cooling_w_s_per_k_m: f64,
    /// Temperature up to which the brake holds all, K above the air.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub fades_from_k: f64,
    /// Temperature from which it holds the least, K above the air.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub fades_to_k: f64,
    /// Share of its torque that is left then.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub least_share: f64,
}

/// Mass of one wheel with all that moves with it, and its tyre as a vertical spring. Part of the car's mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Unsprung {
    /// Wheel, tyre, hub, brake and half of the links, kg; less than the wheel carries at rest.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub mass_kg: f64,
    /// Vertical rate of the tyre, N/m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub tyre_rate_n_per_m: f64,
    /// Vertical damping of the tyre, N s/m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub tyre_damping_n_s_per_m: f64,
}

/// Toe and camber of an axle's wheels against their compression from rest z, m: linear z + quadratic z², beyond the static ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Guidance {
    /// Toe per compression, degrees per m, positive toe-in in jounce.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -1000, max = 1000)))]
    pub toe_deg_per_m: f64,
    /// Toe per compression squared, degrees per m².
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -10000, max = 10000)))]
    pub toe_deg_per_m2: f64,
    /// Camber per compression, degrees per m, positive when the top leans outwards in jounce; most cars have it negative.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -1000, max = 1000)))]
    pub camber_deg_per_m: f64,
    /// Camber per compression squared, degrees per m².
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -10000, max = 10000)))]
    pub camber_deg_per_m2: f64,
}

/// How an axle gives way sideways: spring and damper between the body and all wheels of the axle together, in series with their tyres.
/// Loads stay where they press.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LateralCompliance {
    /// Side force of the axle per way across, N/m; such that its load at rest, as a side force, moves it by 0.1 m at most.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub rate_n_per_m: f64,
    /// The same per speed across, N s/m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub damping_n_s_per_m: f64,
}

/// A third (heave) spring of an axle, about the rest pose.
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

/// Spring, damper and stops of one wheel, measured at the wheel, about the rest pose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Suspension {
    /// Wheel rate at rest, N/m. Give this or `ride_frequency_hz`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub rate_n_per_m: Option<f64>,
    /// Undamped frequency of the mass the wheel carries on its spring, Hz. Give this or `rate_n_per_m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub ride_frequency_hz: Option<f64>,
    /// By how much the wheel rate rises per metre of compression, N/m²: the force beyond that at rest is rate z + rise z² / 2.
    /// Absent: the rate is the same everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub rate_rise_n_per_m2: Option<f64>,
    /// Damping while compressing, N s/m. Give this or `bump_damping_ratio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub bump_damping_n_s_per_m: Option<f64>,
    /// Damping while compressing, share of the critical damping of the mass the wheel carries. If all wheels have the same, and
    /// the same ride frequency, that is the ratio of the car's own heave, however many they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub bump_damping_ratio: Option<f64>,
    /// Damping while extending, N s/m. Give this or `rebound_damping_ratio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub rebound_damping_n_s_per_m: Option<f64>,
    /// Damping while extending, share of the critical damping of the mass the wheel carries.
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
    /// What the spring still pushes with at full droop, N; the droop stop is where it does. Give this or `droop_travel_m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub preload_n: Option<f64>,
    /// Rate of the bump stop, added to the wheel rate beyond `bump_travel_m`, N/m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub bump_stop_rate_n_per_m: f64,
    /// How far the bump stop can be squeezed until metal meets metal, m.
    #[serde(default = "stop_travel")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub bump_stop_travel_m: f64,
    /// Where the damper opens while compressing. Absent: nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bump_knee: Option<Knee>,
    /// Where the damper opens while extending. Absent: nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebound_knee: Option<Knee>,
}

/// Where the valves of a damper open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Knee {
    /// Speed at the wheel, m/s.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
    pub above_mps: f64,
    /// Damping beyond over damping below.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub share: f64,
}

/// What of a wheel feels for the ground, along the travel of its suspension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum Probe {
    /// A ray through the middle of the wheel: the cheapest. It falls into every gap, and meets an edge when it is above it.
    Ray {},
    /// The rim as a circle without width: it rolls over gaps, edges and kerbs as a rigid wheel does, and walls stop it.
    Disc {},
    /// The rims of both sides of a flat tread, and of its middle.
    Cylinder {
        /// Width of the tread, m.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
        width_m: f64,
    },
    /// The rims of both sides of a tread that is round across, and of its middle.
    Torus {
        /// Width of the tread, m.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
        width_m: f64,
    },
}

fn stop_travel() -> f64 {
    0.04
}

/// Rolling resistance: the moment on a wheel is coefficient times load times radius.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum RollingResistance {
    /// The same at every speed.
    Constant {
        /// Coefficient.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        coefficient: f64,
    },
    /// Rises in proportion to speed.
    Linear {
        /// Coefficient at walking pace.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        coefficient: f64,
        /// Rise of the coefficient per speed, s/m.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        rise_s_per_m: f64,
    },
    /// Rises with the square of speed.
    Quadratic {
        /// Coefficient at walking pace.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        coefficient: f64,
        /// Rise of the coefficient per speed squared, s²/m².
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        rise_s2_per_m2: f64,
    },
    /// An air-filled tyre on dry road: 0.005 + (0.01 + 0.0095 (v / 100 km/h)²) / pressure in bar (Engineering
    /// ToolBox, "Rolling Resistance").
    Pressure {
        /// Tyre pressure, bar.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
        pressure_bar: f64,
    },
}

/// Rolling resistance of wheels at rest and nearly so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StandingResistance {
    /// Coefficient at rest; counts where greater than the rolling one. A car stands on slopes of up to its angle.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub coefficient: f64,
    /// Speed at which nothing is left of it, m/s.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
    pub below_mps: f64,
}
