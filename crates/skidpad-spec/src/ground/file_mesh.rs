//! Triangles of a file, and their conversion to the axes of a scene.

use crate::Faults;
use crate::spec::{MeshSpec, UpAxis};
use skidpad_core::Vec3;
use std::collections::BTreeMap;

/// Maximum number of triangles of a file. An OBJ file with this number (51 MB) takes 540 MB while it is read.
pub(super) const MAX_FILE_TRIANGLES: usize = 2_000_000;

/// Maximum number of corners of a file: three for each triangle, as triangles need not share corners.
pub(super) const MAX_FILE_CORNERS: usize = 3 * MAX_FILE_TRIANGLES;

/// Triangles of a file, in the axes and units of the file.
#[derive(Debug, Default)]
pub(super) struct FileMesh {
    /// Positions of the corners.
    pub corners: Vec<[f64; 3]>,
    /// Indices of the corners of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Names of the materials, in the order of their first use.
    pub materials: Vec<String>,
    /// Index in `materials` by name.
    material_indices: BTreeMap<String, u32>,
    /// Index of the material of each triangle, if it has one.
    pub triangle_materials: Vec<Option<u32>>,
    /// Warnings about the file.
    pub notes: Vec<String>,
}

/// Reason why a file is refused.
#[derive(Debug)]
pub(super) enum FileError {
    /// Single reason as text.
    Reason(String),
    /// Faults of the text of the file.
    Faults(Faults),
}

impl From<String> for FileError {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

/// Checks that the counts are at most [`MAX_FILE_CORNERS`] and [`MAX_FILE_TRIANGLES`], triangles first. The error is
/// the reason as text, with the first count that is too large.
pub(super) fn check_counts(corners: usize, triangles: usize) -> Result<(), FileError> {
    for (count, max_count, element_name) in
        [(triangles, MAX_FILE_TRIANGLES, "triangles"), (corners, MAX_FILE_CORNERS, "corners")]
    {
        if count > max_count {
            return Err(FileError::Reason(format!(
                "{count} {element_name}; the maximum is {max_count}; split it into several files"
            )));
        }
    }
    Ok(())
}

impl FileMesh {
    /// Returns the index of the material `name`. Adds the material if it is new.
    pub fn add_material(&mut self, name: &str) -> u32 {
        if let Some(material_index) = self.material_index(name) {
            return material_index;
        }
        let material_index = self.materials.len() as u32;
        self.materials.push(name.to_owned());
        self.material_indices.insert(name.to_owned(), material_index);
        material_index
    }

    /// Returns the index of the material `name`, if there is one.
    pub fn material_index(&self, name: &str) -> Option<u32> {
        self.material_indices.get(name).copied()
    }

    /// Returns the corners in the axes of a scene (z up), relative to the origin of the mesh, m: turned if y points up
    /// in the file (the default, `[x, −z, y]`), then multiplied by `scale` (1 if absent), then rounded to single
    /// precision. Returns a message about the first corner that has a coordinate beyond [`MAX_COORDINATE_M`] or NaN.
    pub fn to_scene_axes(&self, spec: &MeshSpec) -> Result<Vec<Vec3>, String> {
        let scale = spec.scale.unwrap_or(1.0);
        let to_scene_position = |(corner_index, &[x, y, z]): (usize, &[f64; 3])| {
            let z_up = match spec.up.unwrap_or(UpAxis::Y) {
                UpAxis::Y => [x, -z, y],
                UpAxis::Z => [x, y, z],
            };
            let position = z_up.map(|coordinate| coordinate * scale);
            let is_in_range = position.iter().all(|coordinate| coordinate.abs() <= MAX_COORDINATE_M);
            let range_message = || {
                format!(
                    "corner {corner_index} is at {position:?} m; coordinates may have at most {MAX_COORDINATE_M} m; see `scale`"
                )
            };
            is_in_range
                .then(|| Vec3::from_array(position.map(|coordinate| coordinate as f32)))
                .ok_or_else(range_message)
        };
        self.corners.iter().enumerate().map(to_scene_position).collect()
    }
}

/// Largest magnitude of a coordinate, m.
const MAX_COORDINATE_M: f64 = 1e6;
