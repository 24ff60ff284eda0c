//! Powertrain: engine, clutch or converter, gearbox, differentials, motors and couplings.

use serde::{Deserialize, Serialize};

/// Powertrain that turns the wheels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum Powertrain {
    /// No engine and no direct drive: only `motors` turn the wheels.
    None {},
    /// Direct drive: torque at the wheels, proportional to the throttle.
    Direct {
        /// Torque of each wheel at full throttle, N m: one number per axle, from the front.
        #[cfg_attr(feature = "schema", schemars(length(max = 32), inner(range(min = 0))))]
        wheel_torque_nm: Vec<f64>,
    },
    /// Engine, clutch or torque converter, gearbox and open differentials.
    Engine {
        /// Combustion engine.
        engine: Box<Engine>,
        /// Dry clutch between engine and gearbox. Give this or `converter`.
        #[serde(skip_serializing_if = "Option::is_none")]
        clutch: Option<Clutch>,
        /// Torque converter between engine and gearbox. Give this or `clutch`.
        #[serde(skip_serializing_if = "Option::is_none")]
        converter: Option<Converter>,
        /// Gear ratios and shifts.
        gearbox: Box<Gearbox>,
        /// Distribution of torque from the gearbox to the axles.
        differential: Differential,
    },
}

/// Combustion engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Full-load torque over speed, in order of rising speed. It is linear between points and constant outside them.
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = 1000)))]
    pub torque_curve: Vec<CurvePoint>,
    /// Target speed of the idle governor, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub idle_rpm: f64,
    /// Speed at which the limiter has reduced the torque to 0, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub limit_rpm: f64,
    /// Moment of inertia of crankshaft and flywheel, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub inertia_kg_m2: f64,
    /// Constant part of the drag with the throttle closed, N m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub drag_nm: f64,
    /// Part of the drag with the throttle closed that is proportional to speed, N m per 1000 rev/min.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub drag_nm_per_1000_rpm: f64,
    /// Share of the full-load torque over the pedal, in order of rising pedal. Absent: the share is the pedal
    /// position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub throttle_map: Vec<PedalPoint>,
    /// Speed below which the engine dies, rev/min; 0 for never. A dead engine is at rest until a starter or the car
    /// turns it faster.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub stall_rpm: f64,
}

/// Point of a throttle map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PedalPoint {
    /// Pedal position, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub pedal: f64,
    /// Share of the full-load torque, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub share: f64,
}

/// Point of a torque curve.
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

/// Dry clutch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clutch {
    /// Largest torque of the engaged clutch, N m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub capacity_nm: f64,
    /// Engine speed at which the automatic clutch is fully engaged, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub engaged_rpm: f64,
}

/// Torque converter: the impeller turns with the engine, the turbine with the gearbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Converter {
    /// Characteristic over the speed ratio, in order of rising ratio, linear between points. The last point has a
    /// speed ratio of 1 and a capacity of 0.
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = 1000)))]
    pub points: Vec<ConverterPoint>,
    /// Clutch that bridges the converter. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_up: Option<LockUp>,
}

/// Point of the characteristic of a torque converter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConverterPoint {
    /// Turbine speed over impeller speed.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub speed_ratio: f64,
    /// Impeller torque over the square of the impeller speed, N m s²/rad².
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub capacity_nm_s2_per_rad2: f64,
    /// Turbine torque over impeller torque.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub torque_ratio: f64,
}

/// Lock-up clutch that bridges a torque converter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LockUp {
    /// Largest torque of the clutch, N m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub capacity_nm: f64,
    /// Turbine speed above which the clutch is closed, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub turbine_rpm: f64,
    /// Lowest gear in which the clutch closes.
    #[serde(default = "first_gear")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 30)))]
    pub lowest_gear: u32,
}

/// Returns the default of the lowest gear in which the lock-up clutch closes.
fn first_gear() -> u32 {
    1
}

/// Gear ratios and shift speeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Gearbox {
    /// Forward ratios, first gear first, each less than the one before. With `continuous`: the two ends of the range.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 30), extend("items" = { "type": "number", "exclusiveMinimum": 0, "maximum": 1000 })))]
    pub forward: Vec<f64>,
    /// Reverse ratio, as a positive number.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000)))]
    pub reverse: f64,
    /// Final drive ratio.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000)))]
    pub final_drive: f64,
    /// Share of the power that reaches the wheels.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1)))]
    pub efficiency: f64,
    /// Time without drive during a shift, s.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub shift_time_s: f64,
    /// Engine speed above which the automatic gearbox shifts up at full throttle, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub up_shift_rpm: f64,
    /// Engine speed below which the automatic gearbox shifts down with the throttle closed, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub down_shift_rpm: f64,
    /// Engine speed above which the automatic gearbox shifts up with the throttle closed, rev/min. Between closed and
    /// full throttle the speed is interpolated by the pedal. Absent: `up_shift_rpm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub light_throttle_up_shift_rpm: Option<f64>,
    /// Engine speed below which the automatic gearbox shifts down at full throttle, rev/min. Between closed and full
    /// throttle the speed is interpolated by the pedal. Absent: `down_shift_rpm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub kick_down_rpm: Option<f64>,
    /// Control of a continuously variable gearbox. Absent: the gearbox has fixed gears.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continuous: Option<Continuous>,
}

/// Control of a continuously variable gearbox. The ratio moves to the one at which the engine has its target speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Continuous {
    /// Target engine speed with the throttle closed, rev/min. Between closed and full throttle the target is
    /// interpolated by the pedal.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub closed_rpm: f64,
    /// Target engine speed at full throttle, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub full_rpm: f64,
    /// Largest rate of change of the ratio, 1/s.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub ratio_per_s: f64,
}

/// Distribution of torque to the axles through open differentials; `couplings` limit their speed differences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Differential {
    /// Share of the torque for each axle, from the front. The sum is 1.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 32), inner(range(min = 0, max = 1))))]
    pub torque_split: Vec<f64>,
}

/// Electric motor with a fixed reduction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Driven axle, counted from 1 at the front.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 32)))]
    pub axle: u32,
    /// Whether each wheel of the axle has its own motor of this kind. Otherwise one motor drives both wheels, through
    /// an open differential.
    #[serde(default)]
    pub each_wheel: bool,
    /// Largest torque of the rotor, N m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub peak_torque_nm: f64,
    /// Largest power, W. Absent: only the torque is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub peak_power_w: Option<f64>,
    /// Rotor speed at which the driving torque becomes 0, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub limit_rpm: f64,
    /// Turns of the rotor per turn of the wheels.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000)))]
    pub reduction: f64,
    /// Share of the power that reaches the wheels.
    #[serde(default = "unit_factor")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1)))]
    pub efficiency: f64,
    /// Moment of inertia of the rotor, kg m².
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub inertia_kg_m2: f64,
    /// Share of the torque that brakes the car while the throttle is closed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub lift_regeneration: f64,
    /// Share of the torque that brakes the car at full brake pedal, in addition to the brakes.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub brake_regeneration: f64,
}

/// Returns the default of `efficiency` and `torque_bias_ratio_drive`: no loss and no bias.
fn unit_factor() -> f64 {
    1.0
}

/// Coupling between the two wheels of an axle, or between two axles, that resists a speed difference.
///
/// The coupling carries torque from the faster side to the slower one. At equal speeds the torque is as large as
/// necessary to keep them equal; its limit, and the torque of a slipping coupling, is the sum of preload, bias and
/// viscous torque. A coupling without any of the three is an open differential.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Coupling {
    /// Axle whose two wheels are coupled, or two axles that are coupled; counted from 1 at the front.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 2), inner(range(min = 1, max = 32))))]
    pub axles: Vec<u32>,
    /// Whether both sides always turn at the same speed. Not allowed with preload, bias or viscous torque.
    #[serde(default)]
    pub locked: bool,
    /// Largest difference between the torques of the two sides by friction, N m: twice the torque that the coupling
    /// carries.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub preload_nm: f64,
    /// Largest torque bias ratio while the car is driven: torque of the slower side over torque of the faster side,
    /// each relative to its share in an open differential. 1 has no effect.
    #[serde(default = "unit_factor")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub torque_bias_ratio_drive: f64,
    /// Largest torque bias ratio while the engine brakes. Absent: `torque_bias_ratio_drive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub torque_bias_ratio_coast: Option<f64>,
    /// Torque from the faster side to the slower one per difference of their mean speeds, N m s/rad.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub viscous_nm_s_per_rad: f64,
}
