//! Conversion of the grid of an OpenCRG road to a height field or to a mesh.

use super::file_mesh::MAX_FILE_TRIANGLES;
use crate::crg::CrgRoad;
use crate::spec::{CrgSpec, TextureSpec};
use skidpad_core::{DVec3, HeightField, TriangleMesh, Vec3};
use std::sync::Arc;

/// Surface of a road.
#[derive(Debug)]
pub(super) enum RoadSurface {
    /// Height field of a road along +x with no height missing.
    Field(Arc<HeightField>),
    /// Mesh of any other road, without the cells that lack a height.
    Mesh(Arc<TriangleMesh>),
}

/// Builds the surface of a road: a height field if the road runs along +x on an even grid without missing heights,
/// otherwise a mesh. `of` has its origin, grip and texture. The error is the reason as text.
pub(super) fn build_surface(road: &CrgRoad, of: &CrgSpec) -> Result<RoadSurface, String> {
    let fault = |fault: skidpad_core::TerrainFault| fault.to_string();
    match road.spacing_along_x() {
        Some(spacing) => {
            build_height_field(road, of, spacing).map(|field| RoadSurface::Field(Arc::new(field))).map_err(fault)
        }
        None => build_mesh(road, of)?.map(|mesh| RoadSurface::Mesh(Arc::new(mesh))).map_err(fault),
    }
}

/// Result of the construction of ground.
type TerrainResult<T> = Result<T, skidpad_core::TerrainFault>;

/// Builds the height field of a road. `spacing` is its grid spacing along x and y, m. Its corner is the first grid point
/// plus the origin of the table, and heights are relative to that point.
fn build_height_field(road: &CrgRoad, of: &CrgSpec, spacing: [f64; 2]) -> TerrainResult<HeightField> {
    let [rows, columns] = road.grid_counts();
    let corner = road.grid_point(0, 0).unwrap_or_default();
    let places = (0..columns).flat_map(|column| (0..rows).map(move |row| [row, column]));
    let height = |[row, column]: [usize; 2]| (road.grid_point(row, column).unwrap_or_default().z - corner.z) as f32;
    let (heights, spacing) = (places.map(height).collect(), spacing.map(|apart| apart as f32));
    let origin = DVec3::from_array(of.origin_m) + corner;
    HeightField::new(origin, spacing, [rows, columns], heights, of.smooth, of.grip as f32)?
        .with_texture(TextureSpec::surface_texture(of.texture.as_ref()))
}

/// Builds the mesh of a road with two triangles for each cell; triangles with a missing height are left out. Corners are
/// relative to the first grid point with a height. A smooth surface has no creases, otherwise every edge is one. The
/// outer error is a message about too many triangles, the inner one a fault of the mesh.
fn build_mesh(road: &CrgRoad, of: &CrgSpec) -> Result<TerrainResult<TriangleMesh>, String> {
    let [rows, columns] = road.grid_counts();
    let count = 2 * (rows - 1) * (columns - 1);
    if count > MAX_FILE_TRIANGLES {
        let why = "a curved road, or one with heights that are missing, is a mesh";
        return Err(format!(
            "{rows} x {columns} heights are {count} triangles, of {MAX_FILE_TRIANGLES} at most; {why}"
        ));
    }
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column]));
    let points: Vec<Option<DVec3>> = places.map(|[row, column]| road.grid_point(row, column)).collect();
    let first = points.iter().flatten().next().copied().unwrap_or_default();
    // Missing corners belong to no triangle.
    let corners = points.iter().map(|point| point.map_or(Vec3::ZERO, |at| (at - first).as_vec3())).collect();
    let mut triangles = Vec::with_capacity(count);
    for row in 1..rows {
        for column in 1..columns {
            // Indices of the left corners of both cross-sections of the cell; the right ones come before.
            let [near, far] = [row - 1, row].map(|row| row * columns + column);
            for triangle in [[near - 1, far - 1, far], [near - 1, far, near]] {
                if triangle.iter().all(|&corner| points[corner].is_some()) {
                    triangles.push(triangle.map(|corner| corner as u32));
                }
            }
        }
    }
    // Largest angle between faces of one smooth surface, rad.
    let crease = if of.smooth { core::f32::consts::PI } else { 0.0 };
    let origin = DVec3::from_array(of.origin_m) + first;
    let surfaces = vec![(of.grip as f32, TextureSpec::surface_texture(of.texture.as_ref())); triangles.len()];
    Ok(TriangleMesh::with_surfaces(origin, corners, triangles, crease, surfaces))
}
