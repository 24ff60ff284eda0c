//! Drag, side force and downforce.

use serde::{Deserialize, Serialize};

/// Aerodynamic forces, proportional to the square of the speed through the air.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Aero {
    /// Drag coefficient relative to `frontal_area_m2`. Give this or `drag_n_s2_per_m2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub drag_coefficient: Option<f64>,
    /// Frontal area, m²: reference area of every coefficient.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10000)))]
    pub frontal_area_m2: Option<f64>,
    /// Density of the air, kg/m³; 1.225 is the standard atmosphere at sea level.
    #[serde(default = "standard_air_density")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub air_density_kg_per_m3: f64,
    /// Drag at 1 m/s, N s²/m². Give this or `drag_coefficient`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub drag_n_s2_per_m2: Option<f64>,
    /// Point of action of the drag. Absent: the centre of mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drag_point: Option<Point>,
    /// Side force coefficient per sine of the angle between the car and the air, relative to `frontal_area_m2`. The
    /// lateral part of the drag is additional. Give this or `side_n_s2_per_m2`, or neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 20)))]
    pub side_coefficient: Option<f64>,
    /// Side force over the product of air speed and its lateral component, N s²/m². The lateral part of the drag is
    /// additional. Give this or `side_coefficient`, or neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub side_n_s2_per_m2: Option<f64>,
    /// Point of action of the side force. Ahead of the centre of mass, the side force turns the car away from the
    /// wind. Absent: the centre of mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_point: Option<Point>,
    /// Effect of the ride height on drag and surfaces. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height_map: Option<HeightMap>,
    /// Effect of the angle between the car and the air on drag and surfaces. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yaw_map: Option<YawMap>,
    /// Surfaces with downforce or lift.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 2)))]
    pub surfaces: Vec<Surface>,
}

/// Returns the default density of the air (kg/m³): that of the standard atmosphere at sea level.
fn standard_air_density() -> f64 {
    1.225
}

/// Factors over ride height, bilinear between the given heights and constant beyond them. Surfaces state theirs as
/// `height_factors`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HeightMap {
    /// Ride height at the first axle with the car at rest, m. The mean compression of the wheels of the axle reduces
    /// it.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
    pub front_at_rest_m: f64,
    /// Ride height at the last axle with the car at rest, m. The mean compression of the wheels of the axle reduces
    /// it.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
    pub rear_at_rest_m: f64,
    /// Ride heights at the first axle, in rising order, m.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100), inner(range(min = -10, max = 10))))]
    pub front_m: Vec<f64>,
    /// Ride heights at the last axle, in rising order, m.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100), inner(range(min = -10, max = 10))))]
    pub rear_m: Vec<f64>,
    /// Factors on the drag: one list for each front height, with one number for each rear height. Absent: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub drag: Vec<Vec<f64>>,
}

/// Factors over the angle between the car's longitudinal axis and the air, equal on both sides. They are linear
/// between the given angles and constant beyond them. Surfaces state theirs as `yaw_factors`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct YawMap {
    /// Angles between the car and the air, in rising order, degrees.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100), inner(range(min = 0, max = 90))))]
    pub angles_deg: Vec<f64>,
    /// Factors on the drag, one for each angle. Absent: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100), inner(range(min = 0, max = 100))))]
    pub drag: Vec<f64>,
}

/// Point of the car.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Distance of the point behind the front axle, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// Distance of the point to the left of the middle, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// Height of the point above level ground at rest, m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub above_ground_m: f64,
}

/// Aerodynamic surface, with a force along the car's vertical axis. Only air from ahead counts, with `yaw_factors`
/// also air from the side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// Lift coefficient relative to `frontal_area_m2`, positive upwards. Give this or `downforce_n_s2_per_m2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -20, max = 20)))]
    pub lift_coefficient: Option<f64>,
    /// Downforce at 1 m/s, N s²/m², positive downwards. Give this or `lift_coefficient`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downforce_n_s2_per_m2: Option<f64>,
    /// Factors over ride height, in the form of `drag` in `height_map`. Absent: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub height_factors: Vec<Vec<f64>>,
    /// Factors over the angle of the air, one for each angle of `yaw_map`. Absent: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100), inner(range(min = 0, max = 100))))]
    pub yaw_factors: Vec<f64>,
    /// Point of action of the force.
    pub point: Point,
}
