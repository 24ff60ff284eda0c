//! The types a vehicle file deserialises to: units in the names, ranges in the schema attributes, nothing derived.
//!
//! Positions count from the middle of the front axle at ground level: `behind_front_axle_m` is positive to the rear,
//! `left_m` to the left, `above_ground_m` up, all with the car at rest. Doc comments become the descriptions of the
//! JSON schema, and the schema's ranges are the ones the reader enforces; its files of them (`src/schema/*.toml`) are
//! generated from these types, and a test tells when they are stale.

mod aero;
mod assists;
mod axle;
mod body;
mod chassis;
mod dolly;
mod hitch;
mod motion;
mod powertrain;
mod scene;
mod terrain;
mod tyre;

pub use aero::{Aero, HeightMap, Point, Surface, YawMap};
pub use assists::{
    AngularDrag, AntiLock, Assists, CounterSteer, Cruise, Launch, LoweredCentre, SpeedSteering, Stability, Traction,
};
pub use axle::{
    Axle, BrakeDisc, Guidance, HeaveSpring, Knee, LateralCompliance, Probe, RollingResistance, StandingResistance,
    Suspension, Unsprung,
};
pub use body::BodySpec;
pub use chassis::{Box3, Chassis, Hull, Inertia};
pub use dolly::{Dolly, Turntable};
pub use hitch::{Coupler, Hitch, TrailerBrakes};
pub use motion::{MotionSpec, WayPointSpec};
pub use powertrain::{
    Clutch, Continuous, Converter, ConverterPoint, Coupling, CurvePoint, Differential, Engine, Gearbox, LockUp, Motor,
    PedalPoint, Powertrain,
};
pub use scene::{FixedBoxSpec, GustSpec, SceneSpec, WindSpec};
pub use terrain::{CrgSpec, HeightFieldSpec, MeshSpec, MeshSurfaceSpec, RoadClass, RoadSpec, TextureSpec, UpAxis};
pub use tyre::{Friction, NamedPoints, Relaxation, Sides, SlipCurve, Tyre, Version};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A vehicle.
///
/// Every number is 0 or between 1e-9 and 1e9 in size. Positions count from the middle of the front axle at ground
/// level, with the car at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VehicleSpec {
    /// What people call it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub name: String,
    /// What it stands for and how far to trust its numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Mass, centre of mass, inertia, collision box.
    pub chassis: Chassis,
    /// From the front; the first one is the origin of all positions.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 32)))]
    pub axles: Vec<Axle>,
    /// Tyres by name; axles refer to them.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub tyres: BTreeMap<String, Tyre>,
    /// Limits of the steering. Absent: no axle is steered.
    #[serde(default = "no_steering")]
    pub steering: Steering,
    /// Foot brake of the whole car. Absent: each axle states its own torque, or has no brake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brakes: Option<Brakes>,
    /// Rolling resistance of every axle that does not state its own. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_resistance: Option<RollingResistance>,
    /// What wheels resist more while they stand. Absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing_resistance: Option<StandingResistance>,
    /// What turns the wheels.
    pub powertrain: Powertrain,
    /// Electric motors, at most 8, beside what else turns the wheels. Absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 8)))]
    pub motors: Vec<Motor>,
    /// Locked and limited-slip differentials, and couplings between axles. Absent: every differential is open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 4)))]
    pub couplings: Vec<Coupling>,
    /// Drag and downforce. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aero: Option<Aero>,
    /// Where it tows. Absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hitch: Option<Hitch>,
    /// Where it is towed, of a trailer. Absent: nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupler: Option<Coupler>,
    /// Of a full trailer: the dolly with its drawbar and steered front axle, whose turntable holds the coupler. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dolly: Option<Dolly>,
    /// What ray-cast vehicles of other engines need beside the car. Absent: its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peers: Option<Peers>,
    /// Helpers and tricks. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assists: Option<Assists>,
    /// Published figures of the real car, to compare with. They do not act on the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub references: Vec<Reference>,
}

/// Of a vehicle none of whose axles is steered, any lock.
fn no_steering() -> Steering {
    Steering { lock_deg: 1.0, rate_deg_per_s: None }
}

/// Limits of the steering, as mean road-wheel angle of an axle with steer ratio 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Steering {
    /// Largest angle, degrees.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 90)))]
    pub lock_deg: f64,
    /// Largest rate, degrees per second. Absent: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub rate_deg_per_s: Option<f64>,
}

/// Foot brake of the whole car; all axles behind the first share evenly what the first does not take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Brakes {
    /// Torque of all wheels together at full pedal, N m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub total_torque_nm: f64,
    /// Share of the first axle.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub front_share: f64,
}

/// What ray-cast vehicles of other engines need beside the car itself. skidpad's own solvers never read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Peers {
    /// Share of the height of the centre of mass at which side forces act: 1 at the ground, 0 at the centre's height.
    /// Bullet's own is 0.1; Rapier's controller always has 0.1.
    #[serde(default = "bullets_roll_influence")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub roll_influence: f64,
    /// Largest force of one suspension, N. Absent: unbounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub largest_suspension_force_n: Option<f64>,
}

fn bullets_roll_influence() -> f64 {
    0.1
}

/// A published figure of the real car.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// What was measured, such as `top_speed`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub quantity: String,
    /// In `unit`.
    pub value: f64,
    /// SI unit, or `1` for a plain number.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub unit: String,
    /// Who published it, and what they printed if they used other units.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub source: String,
}
