//! What a scene file says of ground that is not plane.

use serde::{Deserialize, Serialize};
use skidpad_core::{DVec3, HeightField, Road, TerrainFault, Texture, TriangleMesh, Vec3};

/// Heights over a grid of lines along x and y; wheels and hulls stand on them from above and below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HeightFieldSpec {
    /// Its corner of least x and y: x, y and the z from which heights count, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub corner_m: [f64; 3],
    /// Distance between grid lines along x and along y, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0.001, max = 10000))))]
    pub spacing_m: [f64; 2],
    /// Heights, m: a list for each line along x, from the least y on. Each cell is cut from its corner of least x and y to the one
    /// across.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = 10000), inner(length(min = 2, max = 10000), inner(range(min = -10000, max = 10000)))))]
    pub heights_m: Vec<Vec<f64>>,
    /// A PNG picture in grey, 8 or 16 bits, in place of `heights_m`: its path beside this file. Its columns go along x; its last row has
    /// the least y, so that the top of the picture lies to the left of +x.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Height of black in the picture, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -10000, max = 10000)))]
    pub lowest_m: Option<f64>,
    /// Height of white in the picture, the largest value of its bits, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -10000, max = 10000)))]
    pub highest_m: Option<f64>,
    /// Whether the normals of its cells go over into each other, as on a road; else each cell is flat.
    #[serde(default)]
    pub smooth: bool,
    /// Factor on the friction of every tyre on it.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// What it does to wheels beside its grip. Absent: it is hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texture: Option<TextureSpec>,
}

impl HeightFieldSpec {
    /// The field of `heights_m`, SI units.
    pub(crate) fn field(&self) -> Result<HeightField, TerrainFault> {
        let columns = self.heights_m.first().map_or(0, Vec::len);
        let counts = [columns, self.heights_m.len()];
        if let Some(ragged) = self.heights_m.iter().find(|row| row.len() != columns) {
            return Err(TerrainFault::Ragged { counts, found: ragged.len() });
        }
        let heights = self.heights_m.iter().flatten().map(|height| *height as f32).collect();
        self.field_of(counts, heights)
    }

    /// The field of these heights, SI units.
    pub(crate) fn field_of(&self, counts: [usize; 2], heights: Vec<f32>) -> Result<HeightField, TerrainFault> {
        let spacing = self.spacing_m.map(|apart| apart as f32);
        HeightField::new(DVec3::from_array(self.corner_m), spacing, counts, heights, self.smooth, self.grip as f32)?
            .textured(TextureSpec::texture(self.texture.as_ref()))
    }
}

/// A road as uneven as a class of ISO 8608, the same for the same seed: a field of heights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RoadSpec {
    /// How uneven it is: `a` a new motorway, `c` a worn road, `e` a field track, `h` the roughest ground.
    pub class: RoadClass,
    /// Which one of its class.
    #[serde(default)]
    pub seed: u32,
    /// Its corner of least x and y, and the z its heights are about, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub corner_m: [f64; 3],
    /// Length along x, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100000)))]
    pub length_m: f64,
    /// Width along y, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.1, max = 1000)))]
    pub width_m: f64,
    /// Distance between grid lines, m; less than half the shortest wave.
    #[serde(default = "grid")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub spacing_m: f64,
    /// Shortest and longest wave, m. Waves beyond 20 m tip cars over.
    #[serde(default = "waves")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0.01, max = 1000))))]
    pub wavelengths_m: [f64; 2],
    /// Factor on the friction of every tyre on it.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// What it does to wheels beside its grip. Absent: it is hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texture: Option<TextureSpec>,
}

/// Classes of ISO 8608, from smooth to rough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub(crate) fn field(&self) -> Result<HeightField, TerrainFault> {
        let road = Road {
            class: skidpad_core::RoadClass::ALL[self.class as usize],
            seed: self.seed.into(),
            wavelengths: self.wavelengths_m.map(|wave| wave as f32),
            corner: DVec3::from_array(self.corner_m),
            size: [self.length_m as f32, self.width_m as f32],
            spacing: self.spacing_m as f32,
            grip: self.grip as f32,
        };
        road.field()?.textured(TextureSpec::texture(self.texture.as_ref()))
    }
}

/// A road from an OpenCRG file: a grid of heights along a curved line. It becomes a mesh of two triangles a cell, or a field of heights if
/// it runs straight along x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CrgSpec {
    /// The file, of the text formats `LRFI` or `LDFI`: its path beside this file.
    pub file: String,
    /// Where the coordinates of the file count from: x, y and z, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub origin_m: [f64; 3],
    /// Whether the normals of its cells go over into each other, as on a road; else each triangle is flat.
    #[serde(default = "is_smooth")]
    pub smooth: bool,
    /// Factor on the friction of every tyre on it.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// What it does to wheels beside its grip. Absent: it is hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texture: Option<TextureSpec>,
}

fn is_smooth() -> bool {
    true
}

/// Triangles, seen from both sides; their edges may be open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeshSpec {
    /// Where its corners count from: x, y and z, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub origin_m: [f64; 3],
    /// Corners: x, y and z of each, m.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(min = 3, max = 1000000), inner(inner(range(min = -1e6, max = 1e6)))))]
    pub corners_m: Vec<[f64; 3]>,
    /// The numbers of three corners for each triangle, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 1000000), inner(inner(range(min = 0)))))]
    pub triangles: Vec<[u32; 3]>,
    /// A file of triangles in place of `corners_m` and `triangles`: its path beside this file. Its ending says what it is: `.obj`,
    /// `.gltf` or `.glb`. Of a glTF file the triangles of its scene are taken, with the transforms of its nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The axis of the file that points up. Absent: `y`, as in most files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<UpAxis>,
    /// Metres in a unit of the file. Absent: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.000001, max = 1000000)))]
    pub scale: Option<f64>,
    /// Faces that meet at less than this angle are parts of one smooth surface, degrees; at more there is an edge.
    #[serde(default = "crease")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 180)))]
    pub crease_deg: f64,
    /// Factor on the friction of every tyre on it.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// What it does to wheels beside its grip. Absent: it is hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texture: Option<TextureSpec>,
    /// Materials of the file with a grip of their own; all others have that of the mesh.
    #[serde(default, rename = "surface", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub surfaces: Vec<MeshSurfaceSpec>,
}

/// What a surface does to wheels beside its grip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TextureSpec {
    /// What it adds to the coefficient of rolling resistance of every tyre: rolled gravel 0.01, an unpaved road 0.04, a field 0.1 to 0.3.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 2)))]
    pub added_rolling_resistance: f64,
    /// Largest height of its unevenness, m: `h = roughness/2 (sin 2πx/wavelength + sin 2πy/wavelength)` along the normal, x and y in the world.
    /// Boxes that move are even.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub roughness_m: f64,
    /// Length of its waves, m.
    #[serde(default = "waves_of_gravel")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.01, max = 1000)))]
    pub wavelength_m: f64,
}

fn waves_of_gravel() -> f64 {
    0.5
}

impl TextureSpec {
    /// The texture that is asked for, SI units.
    pub(crate) fn texture(asked: Option<&Self>) -> Texture {
        asked.map_or(Texture::NONE, |of| Texture {
            rolling: of.added_rolling_resistance as f32,
            amplitude: of.roughness_m as f32,
            wavelength: of.wavelength_m as f32,
        })
    }
}

/// The axis of a file of triangles that points up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UpAxis {
    /// x stays, the y of the file becomes z and its z becomes −y.
    Y,
    /// All axes stay.
    Z,
}

/// What a material of a file of triangles is like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeshSurfaceSpec {
    /// Its name in the file.
    pub material: String,
    /// Factor on the friction of every tyre on it.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// What it does to wheels beside its grip. Absent: it is hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texture: Option<TextureSpec>,
}

fn crease() -> f64 {
    30.0
}

impl MeshSpec {
    /// The mesh of `corners_m` and `triangles`, SI units.
    pub(crate) fn mesh(&self) -> Result<TriangleMesh, TerrainFault> {
        let corners = self.corners_m.iter().map(|corner| Vec3::from_array(corner.map(|m| m as f32))).collect();
        let surfaces = vec![self.surface(); self.triangles.len()];
        self.mesh_of(corners, self.triangles.clone(), surfaces)
    }

    /// Grip and texture where no material says another.
    pub(crate) fn surface(&self) -> (f32, Texture) {
        (self.grip as f32, TextureSpec::texture(self.texture.as_ref()))
    }

    /// The mesh of these triangles, with the grip and texture of each, SI units.
    pub(crate) fn mesh_of(
        &self,
        corners: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        surfaces: Vec<(f32, Texture)>,
    ) -> Result<TriangleMesh, TerrainFault> {
        let crease = self.crease_deg.to_radians() as f32;
        TriangleMesh::of_surfaces(DVec3::from_array(self.origin_m), corners, triangles, crease, surfaces)
    }
}

/// Of ground that says nothing of its grip.
pub(super) fn full_grip() -> f64 {
    1.0
}
