//! Ground of a scene file that is not plane.

use serde::{Deserialize, Serialize};
use skidpad_core::{DVec3, HeightField, Road, SurfaceTexture, TerrainFault, TriangleMesh, Vec3};

/// Height field over a grid of lines along x and y. It supports wheels and hulls from above and from below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HeightFieldSpec {
    /// Corner of least x and y: x, y, and the z from which heights are measured, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub corner_m: [f64; 3],
    /// Distance between grid lines along x and along y, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0.001, max = 10000))))]
    pub spacing_m: [f64; 2],
    /// Heights, m: one list for each line along x, beginning with the least y. A diagonal divides each cell into two
    /// triangles, from its corner of least x and y to the opposite corner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = 10000), inner(length(min = 2, max = 10000), inner(range(min = -10000, max = 10000)))))]
    pub heights_m: Vec<Vec<f64>>,
    /// Path of a greyscale PNG picture with 8 or 16 bits, relative to this file, in place of `heights_m`. Its columns
    /// run along x. Its last row has the least y, so that the top of the picture is to the left of +x.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Height of black in the picture, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -10000, max = 10000)))]
    pub lowest_m: Option<f64>,
    /// Height of white, the largest pixel value of the picture, m; at least `lowest_m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -10000, max = 10000)))]
    pub highest_m: Option<f64>,
    /// Whether normals are interpolated across cells, as on a road. Otherwise each triangle is flat.
    #[serde(default)]
    pub smooth: bool,
    /// Factor on the friction of every tyre on the surface.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// Rolling resistance and unevenness of the surface. Absent: hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roughness: Option<RoughnessSpec>,
}

impl HeightFieldSpec {
    /// Builds the height field from `heights_m`, SI units: each list is a row along x, the first one at the least y.
    /// Fails at the first list that differs from the first one in length, or if the core refuses a value.
    pub(crate) fn build_field(&self) -> Result<HeightField, TerrainFault> {
        let column_count = self.heights_m.first().map_or(0, Vec::len);
        let counts = [column_count, self.heights_m.len()];
        if let Some(mismatched_row) = self.heights_m.iter().find(|row| row.len() != column_count) {
            return Err(TerrainFault::HeightCountMismatch { counts, found: mismatched_row.len() });
        }
        let heights = self.heights_m.iter().flatten().map(|height| *height as f32).collect();
        self.field_from_heights(counts, heights)
    }

    /// Builds the height field from `heights` (m), row by row along x from the least y, SI units. `counts` are the
    /// numbers of heights along x and along y. Corner, spacing, grip, texture and smoothness are those of the
    /// description; `heights_m` and `file` are not read.
    pub(crate) fn field_from_heights(
        &self,
        counts: [usize; 2],
        heights: Vec<f32>,
    ) -> Result<HeightField, TerrainFault> {
        let spacing = self.spacing_m.map(|distance| distance as f32);
        HeightField::new(DVec3::from_array(self.corner_m), spacing, counts, heights, self.smooth, self.grip as f32)?
            .with_texture(RoughnessSpec::surface_texture(self.roughness.as_ref()))
    }
}

/// Uneven road of a class of ISO 8608, as a height field. Equal seeds produce equal roads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RoadSpec {
    /// Roughness class: `a` a new motorway, `c` a worn road, `e` a field track, `h` the roughest ground.
    pub class: RoadClass,
    /// Seed of the random profile. Different seeds produce different roads of the class.
    #[serde(default)]
    pub seed: u32,
    /// Corner of least x and y, m; z is the mean height.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub corner_m: [f64; 3],
    /// Length along x, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100000)))]
    pub length_m: f64,
    /// Width along y, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.1, max = 1000)))]
    pub width_m: f64,
    /// Distance between grid lines, m; less than half the shortest wavelength.
    #[serde(default = "default_grid_spacing_m")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 100)))]
    pub spacing_m: f64,
    /// Shortest and longest wavelength, m. Wavelengths above 20 m can roll cars over.
    #[serde(default = "default_wavelengths_m")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0.01, max = 1000))))]
    pub wavelengths_m: [f64; 2],
    /// Factor on the friction of every tyre on the surface.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// Rolling resistance and unevenness of the surface. Absent: hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roughness: Option<RoughnessSpec>,
}

/// Roughness classes of ISO 8608, from smooth to rough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RoadClass {
    /// New motorway.
    A,
    /// Old motorway.
    B,
    /// Worn road.
    C,
    /// Bad road, or gravel.
    D,
    /// Field track.
    E,
    /// Rough ground.
    F,
    /// Very rough ground.
    G,
    /// Roughest ground.
    H,
}

/// Returns the default grid spacing of a random road (m).
fn default_grid_spacing_m() -> f64 {
    0.1
}

/// Returns the default of the shortest and the longest wavelength of a random road (m).
fn default_wavelengths_m() -> [f64; 2] {
    [0.3, 20.0]
}

impl RoadSpec {
    /// Builds the random road of its class and seed as a height field with its texture, SI units. Converts all values
    /// to the types of the core; the core computes the heights. Fails if lengths, spacing or wavelengths are not valid.
    pub(crate) fn build_field(&self) -> Result<HeightField, TerrainFault> {
        let road = Road {
            // Both enumerations have the classes in the same order.
            class: skidpad_core::RoadClass::ALL[self.class as usize],
            seed: self.seed.into(),
            wavelengths: self.wavelengths_m.map(|wavelength| wavelength as f32),
            corner: DVec3::from_array(self.corner_m),
            size: [self.length_m as f32, self.width_m as f32],
            spacing: self.spacing_m as f32,
            grip: self.grip as f32,
        };
        road.height_field()?.with_texture(RoughnessSpec::surface_texture(self.roughness.as_ref()))
    }
}

/// Road from an OpenCRG file: a grid of heights along a curved line. It becomes a mesh with two triangles per cell,
/// or a height field if it runs straight along x with equal spacing and no missing height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CrgSpec {
    /// Path of the file, relative to this file, in one of the text formats `LRFI` and `LDFI`.
    pub file: String,
    /// Position of the origin of the file's coordinates: x, y and z in the world, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub origin_m: [f64; 3],
    /// Whether normals are interpolated across cells, as on a road. Otherwise each triangle is flat.
    #[serde(default = "default_smooth")]
    pub smooth: bool,
    /// Factor on the friction of every tyre on the surface.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// Rolling resistance and unevenness of the surface. Absent: hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roughness: Option<RoughnessSpec>,
}

/// Returns the default of `smooth`: the surface has no creases.
fn default_smooth() -> bool {
    true
}

/// Triangle mesh, effective from both sides; its edges may be open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeshSpec {
    /// Position of the origin of the corners: x, y and z in the world, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub origin_m: [f64; 3],
    /// Corners: x, y and z of each, relative to the origin, m.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(min = 3, max = 1000000), inner(inner(range(min = -1e6, max = 1e6)))))]
    pub corners_m: Vec<[f64; 3]>,
    /// Indices of the three corners of each triangle, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 1000000), inner(inner(range(min = 0)))))]
    pub triangles: Vec<[u32; 3]>,
    /// Path of a file of triangles, relative to this file, in place of `corners_m` and `triangles`. Its ending states
    /// the format: `.obj`, `.gltf` or `.glb`. A glTF file supplies the triangles of its scene, with the transforms of
    /// its nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Axis of the file that points up. Absent: `y`, as in most files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<UpAxis>,
    /// Length of a unit of the file, m. Absent: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.000001, max = 1000000)))]
    pub scale: Option<f64>,
    /// Largest angle between adjacent faces that belong to one smooth surface, degrees. A larger angle is an edge.
    #[serde(default = "default_smoothing_angle_deg")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 180)))]
    pub smoothing_angle_deg: f64,
    /// Factor on the friction of every tyre on the surface.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// Rolling resistance and unevenness of the surface. Absent: hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roughness: Option<RoughnessSpec>,
    /// Materials of the file with their own grip and roughness. All other materials have those of the mesh.
    #[serde(default, rename = "surface", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub surfaces: Vec<MeshSurfaceSpec>,
}

/// Rolling resistance and unevenness of a surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RoughnessSpec {
    /// Addition to the coefficient of rolling resistance of every tyre: rolled gravel 0.01, an unpaved road 0.04, a
    /// field 0.1 to 0.3.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 2)))]
    pub added_rolling_resistance: f64,
    /// Height of the unevenness from trough to crest along a line parallel to x or y, m:
    /// `h = peak_to_peak/2 (sin 2πx/wavelength + sin 2πy/wavelength)` along the normal, with world coordinates x and y.
    /// Moving boxes have no unevenness.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub peak_to_peak_m: f64,
    /// Wavelength of the unevenness, m.
    #[serde(default = "default_texture_wavelength_m")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.01, max = 1000)))]
    pub wavelength_m: f64,
}

/// Returns the default wavelength of the unevenness of a surface (m).
fn default_texture_wavelength_m() -> f64 {
    0.5
}

impl RoughnessSpec {
    /// Returns the texture `texture_spec`, SI units; for `None`, a hard and even surface.
    pub(crate) fn surface_texture(texture_spec: Option<&Self>) -> SurfaceTexture {
        texture_spec.map_or(SurfaceTexture::NONE, |texture| SurfaceTexture {
            rolling_resistance: texture.added_rolling_resistance as f32,
            amplitude: texture.peak_to_peak_m as f32,
            wavelength: texture.wavelength_m as f32,
        })
    }
}

/// Axis of a file of triangles that points up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UpAxis {
    /// Axis y: x is kept, the y of the file becomes z, and its z becomes −y.
    Y,
    /// Axis z: all axes are kept.
    Z,
}

/// Surface of a material of a file of triangles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeshSurfaceSpec {
    /// Name of the material in the file.
    pub material: String,
    /// Factor on the friction of every tyre on the surface.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// Rolling resistance and unevenness of the surface. Absent: hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roughness: Option<RoughnessSpec>,
}

/// Returns the default angle between triangles above which their edge is a crease (degrees).
fn default_smoothing_angle_deg() -> f64 {
    30.0
}

impl MeshSpec {
    /// Builds the mesh from `corners_m` and `triangles`, SI units, with one grip and texture for all triangles. Fails
    /// if a triangle names a missing corner or no triangle has an area.
    pub(crate) fn build_mesh(&self) -> Result<TriangleMesh, TerrainFault> {
        let corners = self.corners_m.iter().map(|corner| Vec3::from_array(corner.map(|m| m as f32))).collect();
        let surfaces = vec![self.surface(); self.triangles.len()];
        self.mesh_from_triangles(corners, self.triangles.clone(), surfaces)
    }

    /// Returns grip and texture of all triangles whose material has no surface of its own.
    pub(crate) fn surface(&self) -> (f32, SurfaceTexture) {
        (self.grip as f32, RoughnessSpec::surface_texture(self.roughness.as_ref()))
    }

    /// Builds the mesh from triangles (indices of `corners`), with the grip and texture of each in `surfaces`.
    /// `corners` are in metres, relative to `origin_m`. Edges sharper than `smoothing_angle_deg` are creases. Fails if
    /// the core refuses the triangles.
    pub(crate) fn mesh_from_triangles(
        &self,
        corners: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        surfaces: Vec<(f32, SurfaceTexture)>,
    ) -> Result<TriangleMesh, TerrainFault> {
        let crease = self.smoothing_angle_deg.to_radians() as f32;
        TriangleMesh::with_surfaces(DVec3::from_array(self.origin_m), corners, triangles, crease, surfaces)
    }
}

/// Returns the default grip of ground.
pub(super) fn full_grip() -> f64 {
    1.0
}
