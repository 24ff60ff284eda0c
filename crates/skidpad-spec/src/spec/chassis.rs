//! Mass, centre of mass, inertia and the collision box.

use serde::{Deserialize, Serialize};

/// The whole car as a rigid body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Chassis {
    /// Mass of the whole car with wheels and load, kg.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1e7)))]
    pub mass_kg: f64,
    /// Centre of mass behind the front axle, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub centre_behind_front_axle_m: f64,
    /// Centre of mass above level ground at rest, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub centre_above_ground_m: f64,
    /// Centre of mass to the left of the middle, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub centre_left_m: f64,
    /// Moments of inertia. Give these or `boxes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inertia: Option<Inertia>,
    /// Boxes of even density the inertia is computed from. Give these or `inertia`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub boxes: Vec<Box3>,
    /// The box that stands for the body in collisions.
    pub hull: Hull,
}

/// Moments of inertia of the whole car about its centre of mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Inertia {
    /// Roll, Ixx, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub roll_kg_m2: f64,
    /// Pitch, Iyy, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub pitch_kg_m2: f64,
    /// Yaw, Izz, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub yaw_kg_m2: f64,
    /// Product of inertia Ixz = ∫ x z dm, x forward and z up, kg m². The tensor's element is its negative.
    #[serde(default)]
    pub roll_yaw_kg_m2: f64,
}

/// A box of even density, aligned with the car.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Box3 {
    /// kg.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1e7)))]
    pub mass_kg: f64,
    /// Full size along the car, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub length_m: f64,
    /// Full size across the car, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub width_m: f64,
    /// Full size upwards, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub height_m: f64,
    /// Its centre, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Its centre, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// Its centre, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub above_ground_m: f64,
}

/// The box that stands for the body in collisions, aligned with the car.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hull {
    /// Full size along the car, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub length_m: f64,
    /// Full size across the car, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub width_m: f64,
    /// Full size upwards, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub height_m: f64,
    /// Its centre, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Its centre, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// Its centre, m; the underside must be clear of the ground.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub above_ground_m: f64,
}
