//! What turns the wheels.

use serde::{Deserialize, Serialize};

/// What turns the wheels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum Powertrain {
    /// Nothing, but for `motors`.
    None {},
    /// Torque straight at the wheels, throttle times the stated torque.
    Direct {
        /// Torque of each wheel at full throttle, N m: one number per axle, from the front.
        #[cfg_attr(feature = "schema", schemars(length(max = 32), inner(range(min = 0))))]
        wheel_torque_nm: Vec<f64>,
    },
    /// Engine, clutch or torque converter, gearbox and open differentials.
    Engine {
        /// Source of the torque.
        engine: Box<Engine>,
        /// A dry clutch between engine and gearbox. Absent: a `converter` is there.
        #[serde(skip_serializing_if = "Option::is_none")]
        clutch: Option<Clutch>,
        /// A torque converter between engine and gearbox. Absent: a `clutch` is there.
        #[serde(skip_serializing_if = "Option::is_none")]
        converter: Option<Converter>,
        /// Ratios and shifts.
        gearbox: Box<Gearbox>,
        /// Between gearbox and wheels.
        differential: Differential,
    },
}

/// A combustion engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Full-load torque over speed, speeds rising; linear between points, constant outside them.
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = 1000)))]
    pub torque_curve: Vec<CurvePoint>,
    /// Speed the idle governor holds, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub idle_rpm: f64,
    /// Speed at which the limiter has cut the torque to nothing, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub limit_rpm: f64,
    /// Crankshaft and flywheel, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub inertia_kg_m2: f64,
    /// Drag with the throttle closed, the constant part, N m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub drag_nm: f64,
    /// Drag with the throttle closed, the part that grows with speed, N m per 1000 rev/min.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub drag_nm_per_1000_rpm: f64,
    /// Share of the full-load torque over the pedal, pedals rising. Absent: the pedal is the share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub throttle_map: Vec<PedalPoint>,
    /// Speed below which it dies, and stands until a starter or the car turns it faster, rev/min; 0: never.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub stall_rpm: f64,
}

/// A point of a throttle map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PedalPoint {
    /// 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub pedal: f64,
    /// Of the full-load torque.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub share: f64,
}

/// A point of a torque curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Crankshaft speed, rev/min.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub rpm: f64,
    /// Torque, N m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub torque_nm: f64,
}

/// A dry clutch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clutch {
    /// Largest torque it carries, N m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub capacity_nm: f64,
    /// Engine speed at which it is fully engaged when it works by itself, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub engaged_rpm: f64,
}

/// A torque converter: its impeller turns with the engine, its turbine with the gearbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Converter {
    /// What it does over the speed ratio, ratios rising; linear between points. The last one has a speed ratio of 1 and no
    /// capacity.
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = 1000)))]
    pub points: Vec<ConverterPoint>,
    /// A clutch that bridges it. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_up: Option<LockUp>,
}

/// A point of a torque converter's curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConverterPoint {
    /// Turbine speed over impeller speed.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub speed_ratio: f64,
    /// Impeller torque over its speed squared, N m s²/rad².
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub capacity_nm_s2_per_rad2: f64,
    /// Turbine torque over impeller torque.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub torque_ratio: f64,
}

/// A clutch that bridges a torque converter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LockUp {
    /// Largest torque it carries, N m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub capacity_nm: f64,
    /// Turbine speed above which it is closed, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub turbine_rpm: f64,
    /// First gear in which it closes.
    #[serde(default = "first")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 30)))]
    pub lowest_gear: u32,
}

fn first() -> u32 {
    1
}

/// Ratios and how they change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Gearbox {
    /// Forward ratios, first gear first. With `continuous` two, the ends of its range.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 30), extend("items" = { "type": "number", "exclusiveMinimum": 0, "maximum": 1000 })))]
    pub forward: Vec<f64>,
    /// Reverse ratio, as a positive number.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000)))]
    pub reverse: f64,
    /// Final drive ratio.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000)))]
    pub final_drive: f64,
    /// Share of the power that arrives at the wheels.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1)))]
    pub efficiency: f64,
    /// Time without drive during a shift, s.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub shift_time_s: f64,
    /// Engine speed above which it shifts up by itself, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub up_shift_rpm: f64,
    /// Engine speed below which it shifts down by itself, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub down_shift_rpm: f64,
    /// Engine speed above which it shifts up by itself with the throttle closed, rev/min; between both it follows the pedal.
    /// Absent: as `up_shift_rpm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub easy_up_shift_rpm: Option<f64>,
    /// Engine speed below which it shifts down by itself at full throttle, rev/min; between both it follows the pedal.
    /// Absent: as `down_shift_rpm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub kick_down_rpm: Option<f64>,
    /// A continuously variable gearbox. Absent: its ratios are steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continuous: Option<Continuous>,
}

/// How a continuously variable gearbox moves: towards the ratio at which the engine has the speed it aims for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Continuous {
    /// Engine speed it aims for with the throttle closed, rev/min; in between it follows the pedal.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub closed_rpm: f64,
    /// Engine speed it aims for at full throttle, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub full_rpm: f64,
    /// Largest change of the ratio, 1/s.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub ratio_per_s: f64,
}

/// How torque reaches the axles through open differentials; `couplings` limit what they let turn apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Differential {
    /// Share of the torque for each axle, from the front; they sum to 1.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 32), inner(range(min = 0, max = 1))))]
    pub axle_shares: Vec<f64>,
}

/// An electric motor behind a fixed reduction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// The axle it drives, counted from 1 at the front.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 32)))]
    pub axle: u32,
    /// Whether each wheel of the axle has such a motor. Else one drives both, through an open differential.
    #[serde(default)]
    pub each_wheel: bool,
    /// Largest torque of the rotor, N m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub peak_torque_nm: f64,
    /// Largest power, W. Absent: the torque alone limits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub peak_power_w: Option<f64>,
    /// Rotor speed at which it no longer drives, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub limit_rpm: f64,
    /// Turns of the rotor per turn of the wheels.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000)))]
    pub reduction: f64,
    /// Share of the power that arrives at the wheels.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1)))]
    pub efficiency: f64,
    /// Of the rotor, kg m².
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub inertia_kg_m2: f64,
    /// Share of its torque that it brakes with while the throttle is closed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub lift_regeneration: f64,
    /// Share of its torque that it brakes with at full brake pedal, on top of the brakes.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub brake_regeneration: f64,
}

fn one() -> f64 {
    1.0
}

/// What keeps the two wheels of an axle, or two axles, from turning at different speeds.
///
/// Torque goes from the faster side to the slower one: all that is needed while it holds, else what preload, bias and
/// viscosity give together. One without any of them is an open differential.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Coupling {
    /// An axle, for its two wheels, or two axles; counted from 1 at the front.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 2), inner(range(min = 1, max = 32))))]
    pub axles: Vec<u32>,
    /// Whether both sides always turn together.
    #[serde(default)]
    pub locked: bool,
    /// By how much friction lets the torques of the two sides differ, N m: twice what goes from one to the other.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub preload_nm: f64,
    /// Driven, the slower side gets at most that many times the torque of the faster one, each as a multiple of its share
    /// of an open differential. 1 limits nothing.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub drive_bias: f64,
    /// The same with the engine braking. Absent: as `drive_bias`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub coast_bias: Option<f64>,
    /// Torque from the faster side to the slower one for each rad/s between their mean speeds, N m s/rad.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub viscous_nm_s_per_rad: f64,
}
