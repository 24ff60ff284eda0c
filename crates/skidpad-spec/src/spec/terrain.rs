//! What a scene file says of ground that is not plane.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};
use skidpad_core::{DVec3, HeightField, Road, TerrainFault, TriangleMesh, Vec3};

/// Heights over a grid of lines along x and y; wheels and hulls stand on them from above and below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeightFieldSpec {
    /// Its corner of least x and y: x, y and the z from which heights count, m.
    #[schemars(inner(range(min = -1e6, max = 1e6)))]
    pub corner_m: [f64; 3],
    /// Distance between grid lines along x and along y, m.
    #[schemars(inner(range(min = 0.001, max = 10000)))]
    pub spacing_m: [f64; 2],
    /// Heights, m: a list for each line along x, from the least y on. Each cell is cut from its corner of least x and y to the one
    /// across.
    #[schemars(length(min = 2, max = 10000), inner(length(min = 2, max = 10000), inner(range(min = -10000, max = 10000))))]
    pub heights_m: Vec<Vec<f64>>,
    /// Whether the normals of its cells go over into each other, as on a road; else each cell is flat.
    #[serde(default)]
    pub smooth: bool,
    /// Factor on the friction of every tyre on it.
    #[serde(default = "super::scene::full_grip")]
    #[schemars(range(min = 0, max = 10))]
    pub grip: f64,
}

impl HeightFieldSpec {
    /// The field, SI units.
    ///
    /// # Errors
    /// Lists of different lengths, or numbers no file may have.
    pub fn field(&self) -> Result<HeightField, TerrainFault> {
        let columns = self.heights_m.first().map_or(0, Vec::len);
        let counts = [columns, self.heights_m.len()];
        if let Some(ragged) = self.heights_m.iter().find(|row| row.len() != columns) {
            return Err(TerrainFault::Ragged { counts, found: ragged.len() });
        }
        let heights = self.heights_m.iter().flatten().map(|height| *height as f32).collect();
        let spacing = self.spacing_m.map(|apart| apart as f32);
        HeightField::new(DVec3::from_array(self.corner_m), spacing, counts, heights, self.smooth, self.grip as f32)
    }
}

/// A road as uneven as a class of ISO 8608, the same for the same seed: a field of heights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoadSpec {
    /// How uneven it is: `a` a new motorway, `c` a worn road, `e` a field track, `h` the roughest ground.
    pub class: RoadClass,
    /// Which one of its class.
    #[serde(default)]
    pub seed: u32,
    /// Its corner of least x and y, and the z its heights are about, m.
    #[schemars(inner(range(min = -1e6, max = 1e6)))]
    pub corner_m: [f64; 3],
    /// Length along x, m.
    #[schemars(range(min = 1, max = 100000))]
    pub length_m: f64,
    /// Width along y, m.
    #[schemars(range(min = 0.1, max = 1000))]
    pub width_m: f64,
    /// Distance between grid lines, m; less than half the shortest wave.
    #[serde(default = "grid")]
    #[schemars(range(min = 0.001, max = 100))]
    pub spacing_m: f64,
    /// Shortest and longest wave, m. Waves beyond 20 m tip cars over.
    #[serde(default = "waves")]
    #[schemars(inner(range(min = 0.01, max = 1000)))]
    pub wavelengths_m: [f64; 2],
    /// Factor on the friction of every tyre on it.
    #[serde(default = "super::scene::full_grip")]
    #[schemars(range(min = 0, max = 10))]
    pub grip: f64,
}

/// Classes of ISO 8608, from smooth to rough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoadClass {
    /// New motorways.
    A,
    /// Old ones.
    B,
    /// Worn roads.
    C,
    /// Bad ones, and gravel.
    D,
    /// Field tracks.
    E,
    /// Rough ground.
    F,
    /// Rougher.
    G,
    /// The roughest.
    H,
}

fn grid() -> f64 {
    0.1
}

fn waves() -> [f64; 2] {
    [0.3, 20.0]
}

impl RoadSpec {
    /// The road as a field, SI units.
    ///
    /// # Errors
    /// Waves that do not rise, a grid too wide for them, or more heights than there may be.
    pub fn field(&self) -> Result<HeightField, TerrainFault> {
        let road = Road {
            class: skidpad_core::RoadClass::ALL[self.class as usize],
            seed: self.seed.into(),
            wavelengths: self.wavelengths_m.map(|wave| wave as f32),
            corner: DVec3::from_array(self.corner_m),
            size: [self.length_m as f32, self.width_m as f32],
            spacing: self.spacing_m as f32,
            grip: self.grip as f32,
        };
        road.field()
    }
}

/// Triangles, seen from both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshSpec {
    /// Where its corners count from: x, y and z, m.
    #[serde(default)]
    #[schemars(inner(range(min = -1e6, max = 1e6)))]
    pub origin_m: [f64; 3],
    /// Corners: x, y and z of each, m.
    #[schemars(length(min = 3, max = 1000000), inner(inner(range(min = -1e6, max = 1e6))))]
    pub corners_m: Vec<[f64; 3]>,
    /// The numbers of three corners for each triangle, from 0.
    #[schemars(length(min = 1, max = 1000000), inner(inner(range(min = 0))))]
    pub triangles: Vec<[u32; 3]>,
    /// Faces that meet at less than this angle are parts of one smooth surface, degrees; at more there is an edge.
    #[serde(default = "crease")]
    #[schemars(range(min = 0, max = 180))]
    pub crease_deg: f64,
    /// Factor on the friction of every tyre on it.
    #[serde(default = "super::scene::full_grip")]
    #[schemars(range(min = 0, max = 10))]
    pub grip: f64,
}

fn crease() -> f64 {
    30.0
}

impl MeshSpec {
    /// The mesh, SI units.
    ///
    /// # Errors
    /// A corner that is not there, or no triangle with an area.
    pub fn mesh(&self) -> Result<TriangleMesh, TerrainFault> {
        let corners = self.corners_m.iter().map(|corner| Vec3::from_array(corner.map(|m| m as f32))).collect();
        let (crease, grip) = (self.crease_deg.to_radians() as f32, self.grip as f32);
        TriangleMesh::new(DVec3::from_array(self.origin_m), corners, self.triangles.clone(), crease, grip)
    }
}
