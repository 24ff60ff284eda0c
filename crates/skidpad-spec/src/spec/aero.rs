//! Drag and downforce.

use serde::{Deserialize, Serialize};

/// Aerodynamic forces, each growing with the square of the speed through the air.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Aero {
    /// Drag coefficient on `frontal_area_m2`. Give this or `drag_n_s2_per_m2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub drag_coefficient: Option<f64>,
    /// Frontal area, m²; the area of every coefficient here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10000)))]
    pub frontal_area_m2: Option<f64>,
    /// Density of the air, kg/m³; 1.225 is the standard atmosphere at sea level.
    #[serde(default = "standard_air")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub air_density_kg_per_m3: f64,
    /// Drag at 1 m/s, N s²/m². Give this or `drag_coefficient`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub drag_n_s2_per_m2: Option<f64>,
    /// Where the drag acts. Absent: at the centre of mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drag_point: Option<Point>,
    /// Side force coefficient per sine of the angle at which the air meets the car, on `frontal_area_m2`, beyond what drag
    /// gives sideways. Give this or `side_n_s2_per_m2`, or neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 20)))]
    pub side_coefficient: Option<f64>,
    /// The same at 1 m/s, N s²/m²: the force is that times the speed of the air times its lateral component.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub side_n_s2_per_m2: Option<f64>,
    /// Where the side force acts; ahead of the centre of mass it turns the car away from the wind. Absent: at the centre of
    /// mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_point: Option<Point>,
    /// How ride height changes drag and surfaces. Absent: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height_map: Option<HeightMap>,
    /// How the angle at which the air meets the car changes drag and surfaces. Absent: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yaw_map: Option<YawMap>,
    /// Surfaces that press the car down or lift it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 2)))]
    pub surfaces: Vec<Surface>,
}

fn standard_air() -> f64 {
    1.225
}

/// Factors by ride height, bilinear between the heights given and constant beyond them. Surfaces state theirs as
/// `height_factors`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HeightMap {
    /// Ride height at the first axle with the car at rest, m; it falls by what the wheels travel in.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
    pub front_at_rest_m: f64,
    /// The same at the last axle, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
    pub rear_at_rest_m: f64,
    /// Ride heights at the first axle, rising, m.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100), inner(range(min = -10, max = 10))))]
    pub front_m: Vec<f64>,
    /// Ride heights at the last axle, rising, m.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100), inner(range(min = -10, max = 10))))]
    pub rear_m: Vec<f64>,
    /// Factors on the drag: one list for each front height, with one number for each rear height. Absent: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub drag: Vec<Vec<f64>>,
}

/// Factors by the angle between the car and the air that meets it, to either side, linear between the angles given and
/// constant beyond them. Surfaces state theirs as `yaw_factors`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct YawMap {
    /// Angles, rising, degrees.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100), inner(range(min = 0, max = 90))))]
    pub angles_deg: Vec<f64>,
    /// Factor on the drag at each. Absent: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100), inner(range(min = 0, max = 100))))]
    pub drag: Vec<f64>,
}

/// A point of the car.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub behind_front_axle_m: f64,
    /// m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub left_m: f64,
    /// m.
    #[cfg_attr(feature = "schema", schemars(range(min = -100, max = 100)))]
    pub above_ground_m: f64,
}

/// A surface with a force along the car's vertical.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// Lift coefficient on `frontal_area_m2`, positive upwards. Give this or `downforce_n_s2_per_m2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -20, max = 20)))]
    pub lift_coefficient: Option<f64>,
    /// Downforce at 1 m/s, N s²/m², positive downwards. Give this or `lift_coefficient`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downforce_n_s2_per_m2: Option<f64>,
    /// Factors by ride height, as those on the drag in `height_map`. Absent: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub height_factors: Vec<Vec<f64>>,
    /// Factors by the angle of the air, one for each of `yaw_map`. Absent: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100), inner(range(min = 0, max = 100))))]
    pub yaw_factors: Vec<f64>,
    /// Where it acts.
    pub point: Point,
}
