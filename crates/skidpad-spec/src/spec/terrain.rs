//! What a scene file says of ground that is not plane.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};
use skidpad_core::{DVec3, HeightField, TerrainFault, TriangleMesh, Vec3};

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
