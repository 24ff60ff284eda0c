//! Driver assists and non-physical aids; each is off unless a vehicle file has its table.

use serde::{Deserialize, Serialize};

/// Assists of the car, each off unless its table is given. Separate telemetry columns report the contribution of each
/// assist in a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Assists {
    /// Anti-lock brakes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abs: Option<AntiLock>,
    /// Stability control by brakes of single wheels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
    /// Traction control of driven wheels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traction: Option<Traction>,
    /// Launch control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch: Option<Launch>,
    /// Cruise control, for drivers who set a speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cruise: Option<Cruise>,
    /// Counter-steering into a slide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter_steer: Option<CounterSteer>,
    /// Speed-dependent steering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_steering: Option<SpeedSteering>,
}

/// Aids without a physical counterpart, each off unless its table is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NonPhysical {
    /// Centre of mass below that of the chassis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered_centre: Option<LoweredCentre>,
    /// Decay of every rotation of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angular_drag: Option<AngularDrag>,
}

/// Anti-lock brakes. The foot brake of each wheel is limited to the torque that holds the wheel at a slip. The
/// handbrake can lock wheels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AntiLock {
    /// Target slip ratio of a wheel that is slower than the road; best at the peak of the tyre's grip.
    #[serde(default = "default_slip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub slip: f64,
    /// Time constant with which the slip approaches its target, s.
    #[serde(default = "default_slip_response_s")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub time_constant_s: f64,
    /// Speed below which wheels may lock, so that the car stops and stays at rest, m/s.
    #[serde(default = "default_abs_off_speed_mps")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub min_speed_mps: f64,
    /// Axles with select-low control, counted from 1 at the front: both wheels of such an axle have the pressure of the
    /// wheel that allows less. On split friction this keeps the yaw moment small and lengthens the stop. Absent: every
    /// wheel has a pressure of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 32), inner(range(min = 1, max = 32))))]
    pub select_low_axles: Vec<u32>,
}

/// Traction control: engine and motors are limited to the torque that holds driven wheels at a slip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Traction {
    /// Target slip ratio of a wheel that is faster than the road; best at the peak of the tyre's grip.
    #[serde(default = "default_slip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub slip: f64,
    /// Slip speed that is always allowed, m/s.
    #[serde(default = "default_min_slip_mps")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub min_slip_mps: f64,
    /// Time constant with which the slip approaches its target, s.
    #[serde(default = "default_slip_response_s")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub time_constant_s: f64,
    /// Share of a wheel's foot brake that may brake a spinning wheel. At 0 the wheel with least grip limits the
    /// engine, otherwise the wheel with most grip.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub brake_authority: f64,
}

/// Launch control. With the throttle down and the car braked, the engine holds a speed with the clutch open. When the
/// brake is released, the clutch transmits the torque that the tyres can take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Speed of the engine, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub engine_rpm: f64,
    /// Target slip ratio of a wheel that is faster than the road; best at the peak of the tyre's grip.
    #[serde(default = "default_slip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub slip: f64,
    /// Slip speed that is always allowed, m/s.
    #[serde(default = "default_min_slip_mps")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub min_slip_mps: f64,
    /// Time constant with which the slip approaches its target, s.
    #[serde(default = "default_slip_response_s")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub time_constant_s: f64,
    /// Speed up to which launch control acts, m/s.
    #[serde(default = "default_launch_end_mps")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1000)))]
    pub max_speed_mps: f64,
}

/// Cruise control: motors and engine hold the speed that the controls demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cruise {
    /// Time constant with which the speed approaches its target, s.
    #[serde(default = "default_cruise_response_s")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub time_constant_s: f64,
    /// Largest acceleration that cruise control demands, m/s².
    #[serde(default = "default_cruise_acceleration_mps2")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1000)))]
    pub max_acceleration_mps2: f64,
    /// Whether cruise control regenerates and brakes if a closed throttle is not enough and the driver does not press
    /// the throttle.
    #[serde(default)]
    pub may_brake: bool,
}

/// Stability control. If the car turns more or less than the linear bicycle model, the brake of one wheel corrects
/// the yaw rate. The throttle is closed during the correction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stability {
    /// Understeer gradient of the reference car, rad per m/s².
    #[serde(default = "default_understeer_gradient")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub understeer_rad_per_mps2: f64,
    /// Largest lateral acceleration demanded of the tyres, m/s².
    #[serde(default = "default_max_lateral_mps2")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1000)))]
    pub max_lateral_mps2: f64,
    /// Slip angle of the rear axle above which the car is turned back, degrees.
    #[serde(default = "default_max_sideslip_deg")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 90)))]
    pub max_sideslip_deg: f64,
    /// Accepted deviation of the yaw rate, degrees per second.
    #[serde(default = "default_yaw_rate_tolerance_deg_per_s")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1000)))]
    pub tolerance_deg_per_s: f64,
    /// Time constant of the correction of the yaw rate, s.
    #[serde(default = "default_stability_response_s")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub time_constant_s: f64,
    /// Largest slip ratio that the correcting brakes cause, of a wheel that is slower than the road.
    #[serde(default = "default_slip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub slip: f64,
    /// Speeds at which the assist begins to act and at which it acts fully, m/s.
    #[serde(default = "default_stability_speed_range_mps")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0, max = 1000))))]
    pub speed_range_mps: [f64; 2],
}

/// Counter-steering: a gain times the mean slip angle of the wheels is added to the steering. Each slip angle is
/// weighted by the load of the wheel and by its own size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CounterSteer {
    /// Steering angle per slip angle.
    #[serde(default = "default_counter_steer_gain")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub gain: f64,
    /// Largest added angle, as mean road-wheel angle, degrees.
    #[serde(default = "default_counter_steer_max_angle_deg")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 90)))]
    pub max_angle_deg: f64,
    /// Speeds at which the assist begins to act and at which it acts fully, m/s.
    #[serde(default = "default_counter_steer_speed_range_mps")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0, max = 1000))))]
    pub speed_range_mps: [f64; 2],
}

/// Speed-dependent steering: lock and rate of the steering fall with speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpeedSteering {
    /// Speeds between which lock and rate fall smoothly from full values to their shares, m/s.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0, max = 1000))))]
    pub speed_range_mps: [f64; 2],
    /// Share of the lock above the second speed.
    #[serde(default = "full_share")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub lock_factor: f64,
    /// Share of the steering rate above the second speed.
    #[serde(default = "full_share")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub rate_factor: f64,
}

/// Centre of mass below the real one, which reduces roll, pitch and the risk of rollover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoweredCentre {
    /// Distance by which the centre of mass is lowered, m; less than its height above ground.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub by_m: f64,
}

/// Moment against every rotation of the body, which no real force causes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AngularDrag {
    /// Exponential decay rate of the rotation, 1/s.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1000)))]
    pub rate_per_s: f64,
}

/// Returns the default slip ratio at which assists intervene.
fn default_slip() -> f64 {
    0.12
}

/// Returns the default time constant of ABS, traction and launch control (s).
fn default_slip_response_s() -> f64 {
    0.01
}

/// Returns the default time constant of stability control (s).
fn default_stability_response_s() -> f64 {
    0.1
}

/// Returns the default speed below which ABS is off (m/s).
fn default_abs_off_speed_mps() -> f64 {
    1.5
}

/// Returns the default speed range in which stability control fades in (m/s).
fn default_stability_speed_range_mps() -> [f64; 2] {
    [4.2, 7.0]
}

/// Returns the default speed range in which counter-steer fades in (m/s).
fn default_counter_steer_speed_range_mps() -> [f64; 2] {
    [3.0, 6.0]
}

/// Returns the default understeer gradient of stability control (rad per m/s²).
fn default_understeer_gradient() -> f64 {
    0.002
}

/// Returns the default of the largest lateral acceleration of stability control (m/s²).
fn default_max_lateral_mps2() -> f64 {
    8.0
}

/// Returns the default of the largest sideslip angle of stability control (degrees).
fn default_max_sideslip_deg() -> f64 {
    6.0
}

/// Returns the default yaw rate tolerance of stability control (degrees/s).
fn default_yaw_rate_tolerance_deg_per_s() -> f64 {
    3.0
}

/// Returns the default gain of counter-steer.
fn default_counter_steer_gain() -> f64 {
    1.0
}

/// Returns the default of the largest angle of counter-steer (degrees).
fn default_counter_steer_max_angle_deg() -> f64 {
    20.0
}

/// Returns the default of the shares of lock and rate in speed-dependent steering: no reduction.
fn full_share() -> f64 {
    1.0
}

/// Returns the default of the smallest slip speed of traction and launch control (m/s).
fn default_min_slip_mps() -> f64 {
    0.5
}

/// Returns the default speed at which launch control ends (m/s).
fn default_launch_end_mps() -> f64 {
    15.0
}

/// Returns the default time constant of cruise control (s).
fn default_cruise_response_s() -> f64 {
    1.0
}

/// Returns the default of the largest acceleration of cruise control (m/s²).
fn default_cruise_acceleration_mps2() -> f64 {
    2.0
}
