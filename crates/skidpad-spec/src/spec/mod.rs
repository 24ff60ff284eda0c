//! Types that a vehicle file or a scene file deserialises to: units in the names, ranges in the schema attributes, no
//! derived values.
//!
//! Positions are relative to the middle of the front axle at ground level, with the car at rest:
//! `behind_front_axle_m` is positive to the rear, `left_m` to the left, `above_ground_m` up.
//!
//! Doc comments become the descriptions of the JSON schema. The reader enforces the ranges of the schema and quotes
//! the descriptions in reports. The schema files (`src/schema/*.toml`) are generated from these types; a test fails
//! if they are stale.

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

// Every public type of these modules is a table of a file.
pub use aero::*;
pub use assists::*;
pub use axle::*;
pub use body::*;
pub use chassis::*;
pub use dolly::*;
pub use hitch::*;
pub use motion::*;
pub use powertrain::*;
pub use scene::*;
pub use terrain::*;
pub use tyre::*;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Vehicle.
///
/// Every number is 0 or has a magnitude from 1e-9 to 1e9. Positions are relative to the middle of the front axle at
/// ground level, with the car at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VehicleSpec {
    /// Name of the vehicle.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub name: String,
    /// Kind of car that the file represents, and reliability of its numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Mass, centre of mass, inertia, collision box.
    pub chassis: Chassis,
    /// Axles from the front. The first axle is the origin of all positions.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 32)))]
    pub axles: Vec<Axle>,
    /// Tyres by name. Axles refer to these names.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub tyres: BTreeMap<String, Tyre>,
    /// Limits of the steering, and steering wheel. Absent: no axle is steered.
    #[serde(default = "no_steering")]
    pub steering: Steering,
    /// Foot brake of the whole car. Absent: each axle states its own torque, or has no brake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brakes: Option<Brakes>,
    /// Rolling resistance of every axle that does not state its own. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_resistance: Option<RollingResistance>,
    /// Increase of the rolling resistance of wheels at rest. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_rolling_resistance: Option<StaticRollingResistance>,
    /// Powertrain that turns the wheels.
    pub powertrain: Powertrain,
    /// Electric motors in addition to the powertrain. Maximum: 8 in one car, those of `each_wheel` counted per wheel.
    /// Absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 8)))]
    pub motors: Vec<Motor>,
    /// Locked and limited-slip differentials, and couplings between axles. Absent: every differential is open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 4)))]
    pub couplings: Vec<Coupling>,
    /// Drag, side force and downforce. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aero: Option<Aero>,
    /// Hitch that tows a trailer. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hitch: Option<Hitch>,
    /// Coupler by which a trailer is towed. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupler: Option<Coupler>,
    /// Dolly of a full trailer: drawbar, axles that it steers, and the turntable that holds the coupler. Absent:
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dolly: Option<Dolly>,
    /// Parameters for the ray-cast vehicles of other engines. Absent: their defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raycast_reference: Option<RaycastReference>,
    /// Driver assists. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assists: Option<Assists>,
    /// Aids without a physical counterpart. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_physical: Option<NonPhysical>,
    /// Published figures of the real car, for comparison. They have no effect on the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub references: Vec<Reference>,
}

/// Returns limits for a vehicle without a steered axle, for which their values have no effect.
fn no_steering() -> Steering {
    Steering { lock_deg: 1.0, ..Steering::default() }
}

/// Steering wheel, and limits of the steering as mean road-wheel angle of an axle with a steer ratio of 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Steering {
    /// Largest angle, degrees.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 90)))]
    pub lock_deg: f64,
    /// Largest rate of the angle, degrees per second. Absent: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub rate_deg_per_s: Option<f64>,
    /// Overall steering ratio: steering-wheel angle per mean road-wheel angle of an axle with a steer ratio of 1. It
    /// affects only manoeuvres and figures that are defined by steering-wheel angles, and the torque at the steering wheel.
    /// Absent: 16 is assumed, and this torque is not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.1, max = 100)))]
    pub wheel_ratio: Option<f64>,
    /// Share of the torque at the steering wheel that power steering supplies. It affects only this torque.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 0.99)))]
    pub power_assist: f64,
    /// Steering axes of the steered wheels. They affect the torque at the steering wheel, which also needs
    /// `wheel_ratio`, and a compliant linkage. Absent: this torque is not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kingpin: Option<Kingpin>,
    /// Compliance of the steering linkage, which needs `kingpin`. Absent: the linkage is rigid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compliance: Option<SteeringCompliance>,
}

/// Compliance of the steering linkage with the steering wheel held: each steered wheel turns about its steering axis
/// under the moment of the ground. A horizontal force equal to the wheel load may deflect it by at most 5 degrees. Tyres of
/// steered axles must have a slip stiffness, which `coulomb` tyres do not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SteeringCompliance {
    /// Moment about the steering axis of a wheel per deflection of this wheel, N m per degree. Compliance tests state
    /// its inverse, often per 100 N m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub stiffness_nm_per_deg: f64,
    /// Time constant with which the linkage yields, s.
    #[serde(default = "typical_linkage_time_constant")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub time_constant_s: f64,
}

/// Returns the default time constant of a steering linkage (s).
fn typical_linkage_time_constant() -> f64 {
    0.01
}

/// Steering axis (kingpin) of each steered wheel, in the design position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Kingpin {
    /// Mechanical trail: distance by which the centre of contact is behind the point where the axis meets the ground, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -0.5, max = 0.5)))]
    pub trail_m: f64,
    /// Scrub radius: distance by which the centre of contact is outside of the point where the axis meets the ground, m;
    /// negative if it is inside.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -0.5, max = 0.5)))]
    pub scrub_radius_m: f64,
    /// Caster angle, degrees, positive with the top of the axis leaning to the rear.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -30, max = 30)))]
    pub caster_deg: f64,
    /// Inclination of the axis, degrees, positive with the top leaning inwards.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -30, max = 30)))]
    pub inclination_deg: f64,
    /// Pneumatic trail of a rolling wheel for tyre models without an aligning moment: lever of the lateral force about the
    /// contact normal, m. In reverse it is ahead of the centre of contact.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -0.2, max = 0.2)))]
    pub pneumatic_trail_m: f64,
}

/// Foot brake of the whole car. All wheels behind the first axle share equally the torque that the first axle does
/// not take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Brakes {
    /// Torque of all wheels together at full pedal, N m.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub total_torque_nm: f64,
    /// Share of the first axle, 0 to 1. All wheels behind it share the rest equally.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub front_bias: f64,
}

/// Parameters for the ray-cast vehicles of other engines. skidpad's own solvers do not read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RaycastReference {
    /// Lever arm of side forces, as a share of the height of the centre of mass: 1 if they act at the ground, 0 at
    /// the height of the centre of mass. Bullet's own value is 0.1; Rapier's controller always has 0.1.
    #[serde(default = "bullets_roll_influence")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub roll_influence: f64,
    /// Largest force of one suspension, N. Absent: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub max_suspension_force_n: Option<f64>,
}

/// Returns the default roll influence of ray-cast vehicles: that of Bullet.
fn bullets_roll_influence() -> f64 {
    0.1
}

/// Published figure of the real car.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Name of the measured quantity, such as `top_speed`. `skidpad road-test` drives the quantities that it lists.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub quantity: String,
    /// Value of the quantity in `unit`.
    pub value: f64,
    /// Accepted deviation of the simulated figure from `value`, in `unit`. Absent: the figure is not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub tolerance: Option<f64>,
    /// SI unit, or `1` for a plain number.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub unit: String,
    /// Publisher of the figure, and the printed value if it has other units.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub source: String,
    /// Origin of the value. Absent: unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Whether parameters of this file were tuned to the figure. The figure then does not verify the model.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fitted: bool,
    /// Conditions of the test. Absent: those of the manoeuvre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<TestConditions>,
}

/// Returns whether `value` is false, the default of a key that is then not written.
fn is_false(value: &bool) -> bool {
    !*value
}

/// Origin of a published value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Instrumented test of the real car.
    Measured,
    /// Value computed from measurements with a model.
    Identified,
    /// Claim or estimate without a published measurement.
    Estimated,
}

/// Conditions of a published test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TestConditions {
    /// Distance that the car covers before the clock starts, m. American magazines: 0.3048, one foot. Absent: the
    /// clock starts with the car.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub roll_out_m: Option<f64>,
    /// Radius of the circle of a steady-state test, m. Absent: 45.72 m, a circle of 300 ft across.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub radius_m: Option<f64>,
    /// Forward gear in which the figure was measured, from 1. Absent: any gear.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 32)))]
    pub gear: Option<u8>,
    /// Whether anti-lock brakes or the driver kept the wheels at the threshold of locking. Absent: the pedal is fully
    /// pressed, and the assists of this file act.
    #[serde(default, skip_serializing_if = "is_false")]
    pub threshold_braking: bool,
}
