//! Mass, centre of mass, inertia and the collision box.

use serde::{Deserialize, Serialize};

/// Whole car as a rigid body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Chassis {
    /// Mass of the whole car with wheels and load, kg.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1e7)))]
    pub mass_kg: f64,
    /// Distance of the centre of mass behind the front axle, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub centre_behind_front_axle_m: f64,
    /// Height of the centre of mass above level ground at rest, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub centre_above_ground_m: f64,
    /// Distance of the centre of mass to the left of the middle, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub centre_left_m: f64,
    /// Moments of inertia. Give these or `boxes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inertia: Option<Inertia>,
    /// Homogeneous boxes from which the inertia is computed. Together they have the mass and the centre of mass of
    /// the car. Give these or `inertia`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub boxes: Vec<Box3>,
    /// Box that represents the body in collisions.
    pub hull: Hull,
}

/// Moments of inertia of the whole car about its centre of mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Inertia {
    /// Moment of inertia in roll, Ixx, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub roll_kg_m2: f64,
    /// Moment of inertia in pitch, Iyy, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub pitch_kg_m2: f64,
    /// Moment of inertia in yaw, Izz, kg m².
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub yaw_kg_m2: f64,
    /// Product of inertia Ixz = ∫ x z dm, x forward and z up, kg m². The element of the inertia tensor is its
    /// negative.
    #[serde(default)]
    pub roll_yaw_kg_m2: f64,
}

/// Homogeneous box, aligned with the car.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Box3 {
    /// Mass of the box, kg.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1e7)))]
    pub mass_kg: f64,
    /// Full length along the car, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub length_m: f64,
    /// Full width across the car, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub width_m: f64,
    /// Full height, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub height_m: f64,
    /// Distance of the centre of the box behind the front axle, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Distance of the centre of the box to the left of the middle, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// Height of the centre of the box above level ground at rest, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub above_ground_m: f64,
}

/// Box that represents the body in collisions, aligned with the car.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hull {
    /// Full length along the car, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub length_m: f64,
    /// Full width across the car, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub width_m: f64,
    /// Full height, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub height_m: f64,
    /// Distance of the centre of the box behind the front axle, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Distance of the centre of the box to the left of the middle, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// Height of the centre of the box above level ground at rest, m. The underside must be above the ground.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub above_ground_m: f64,
}
