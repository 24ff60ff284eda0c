//! Helpers and tricks: off unless a vehicle file has their table.

use serde::{Deserialize, Serialize};

/// Assists of the car, each off unless its table is there. What each adds in a step is told in columns of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Assists {
    /// Brakes that do not lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abs: Option<AntiLock>,
    /// Stability control: brakes of single wheels keep the car where it is steered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
    /// Traction control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traction: Option<Traction>,
    /// Launch control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch: Option<Launch>,
    /// Cruise control, for drivers who set a speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cruise: Option<Cruise>,
    /// Steering into a slide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter_steer: Option<CounterSteer>,
    /// Less steering at speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_steering: Option<SpeedSteering>,
    /// A trick: the centre of mass is taken to be lower than the chassis says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered_centre: Option<LoweredCentre>,
    /// A trick: every rotation of the body dies away by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angular_drag: Option<AngularDrag>,
}

/// Anti-lock brakes: the foot brake of each wheel gives no more than what holds the wheel at a slip. The handbrake locks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AntiLock {
    /// Slip ratio behind the road, best where the tyre's grip is greatest.
    #[serde(default = "slip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub slip: f64,
    /// Time constant with which slips go there, s.
    #[serde(default = "quick")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub response_s: f64,
    /// Speed below which wheels may lock, so that the car stops and stands, m/s.
    #[serde(default = "walking")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub off_below_mps: f64,
}

/// Engine and motors give no more than what holds driven wheels at a slip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Traction {
    /// Slip ratio beyond the road, best where the tyre's grip is greatest.
    #[serde(default = "slip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub slip: f64,
    /// Slip speed that is always allowed, m/s.
    #[serde(default = "creeping")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub least_slip_mps: f64,
    /// Time constant with which slips go there, s.
    #[serde(default = "quick")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub response_s: f64,
    /// Share of a wheel's foot brake that may hold a spinning wheel. At 0 the wheel with least grip decides for the engine,
    /// else the one with most.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub brake_share: f64,
}

/// With the throttle down and the brake held the engine stands at a speed, clutch open; once the brake is let go, the clutch
/// carries what the tyres take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Of the engine, rev/min.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub engine_rpm: f64,
    /// Slip ratio beyond the road, best where the tyre's grip is greatest.
    #[serde(default = "slip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub slip: f64,
    /// Slip speed that is always allowed, m/s.
    #[serde(default = "creeping")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub least_slip_mps: f64,
    /// Time constant with which slips go there, s.
    #[serde(default = "quick")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub response_s: f64,
    /// Speed up to which it acts, m/s.
    #[serde(default = "launched")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1000)))]
    pub until_mps: f64,
}

/// Motors and engine hold a speed that controls ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cruise {
    /// Time constant with which the speed goes there, s.
    #[serde(default = "calm")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub response_s: f64,
    /// Largest acceleration it asks for, m/s².
    #[serde(default = "calm_acceleration")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1000)))]
    pub largest_acceleration_mps2: f64,
    /// Whether it regenerates and brakes where a closed throttle is not enough and the driver's foot is off the throttle.
    #[serde(default)]
    pub may_brake: bool,
}

/// What the car turns too much or too little against the linear bicycle, one wheel's brake makes up for; the throttle
/// closes meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stability {
    /// Understeer gradient of the car that is wanted, rad per m/s².
    #[serde(default = "understeer")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub understeer_rad_per_mps2: f64,
    /// Largest lateral acceleration that is asked of the tyres, m/s².
    #[serde(default = "grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1000)))]
    pub largest_lateral_mps2: f64,
    /// Slip angle of the rear axle beyond which the car is turned back, degrees.
    #[serde(default = "sideslip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 90)))]
    pub largest_sideslip_deg: f64,
    /// Yaw rate by which the car may be off, degrees per second.
    #[serde(default = "tolerance")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1000)))]
    pub tolerance_deg_per_s: f64,
    /// Time constant with which the yaw rate is brought back, s.
    #[serde(default = "patient")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub response_s: f64,
    /// Slip ratio behind the road that its brakes do not exceed.
    #[serde(default = "slip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub slip: f64,
    /// It does nothing below the first speed and all it can above the second, m/s.
    #[serde(default = "driving")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0, max = 1000))))]
    pub fades_in_mps: [f64; 2],
}

/// A gain times the mean slip angle of the wheels, each weighted with its load and the size of its slip, is added to the
/// steering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CounterSteer {
    /// Steering per slip angle.
    #[serde(default = "gain")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub gain: f64,
    /// Most it adds, as mean road-wheel angle, degrees.
    #[serde(default = "authority")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 90)))]
    pub authority_deg: f64,
    /// It does nothing below the first speed and all it can above the second, m/s.
    #[serde(default = "moving")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0, max = 1000))))]
    pub fades_in_mps: [f64; 2],
}

/// Lock and rate of the steering fall with speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpeedSteering {
    /// All of both is left below the first speed, the shares above the second, m/s; smooth between.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0, max = 1000))))]
    pub between_mps: [f64; 2],
    /// Share of the lock that is left.
    #[serde(default = "all")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub lock_share: f64,
    /// Share of the steering's rate that is left.
    #[serde(default = "all")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub rate_share: f64,
}

/// A centre of mass below the real one, so that the car rolls, pitches and tips less than it would.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoweredCentre {
    /// By how much, m; less than its height above ground.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub by_m: f64,
}

/// A moment against every rotation of the body, which no real force makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AngularDrag {
    /// Share of the rotation lost in a second, as an exponential rate, 1/s.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1000)))]
    pub rate_per_s: f64,
}

fn slip() -> f64 {
    0.12
}

fn quick() -> f64 {
    0.01
}

fn patient() -> f64 {
    0.1
}

fn walking() -> f64 {
    1.5
}

fn driving() -> [f64; 2] {
    [4.2, 7.0]
}

fn moving() -> [f64; 2] {
    [3.0, 6.0]
}

fn understeer() -> f64 {
    0.002
}

fn grip() -> f64 {
    8.0
}

fn sideslip() -> f64 {
    6.0
}

fn tolerance() -> f64 {
    3.0
}

fn gain() -> f64 {
    1.0
}

fn authority() -> f64 {
    20.0
}

fn all() -> f64 {
    1.0
}

fn creeping() -> f64 {
    0.5
}

fn launched() -> f64 {
    15.0
}

fn calm() -> f64 {
    1.0
}

fn calm_acceleration() -> f64 {
    2.0
}
