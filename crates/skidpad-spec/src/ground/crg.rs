//! Conversion of the grid of an OpenCRG road to a height field or to a mesh.

use super::file_mesh::MAX_FILE_TRIANGLES;
use crate::crg::CrgRoad;
use crate::spec::{CrgSpec, RoughnessSpec};
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
/// otherwise a mesh. `spec` has its origin, grip and texture. The error is the reason as text.
pub(super) fn build_surface(road: &CrgRoad, spec: &CrgSpec) -> Result<RoadSurface, String> {
    let to_reason = |fault: skidpad_core::TerrainFault| fault.to_string();
    match road.spacing_along_x() {
        Some(spacing) => {
            build_height_field(road, spec, spacing).map(|field| RoadSurface::Field(Arc::new(field))).map_err(to_reason)
        }
        None => build_mesh(road, spec)?.map(|mesh| RoadSurface::Mesh(Arc::new(mesh))).map_err(to_reason),
    }
}

/// Result of the construction of ground.
type TerrainResult<T> = Result<T, skidpad_core::TerrainFault>;

/// Builds the height field of a road along +x. `spacing` is its grid spacing along x and y, m. The corner of the field
/// is the first grid point plus the origin of the table, and heights are relative to that point. Heights are stored row
/// by row along x from the least y, so the columns of the road become rows. Grip, texture and smoothness are those of
/// `spec`.
fn build_height_field(road: &CrgRoad, spec: &CrgSpec, spacing: [f64; 2]) -> TerrainResult<HeightField> {
    let [rows, columns] = road.grid_counts();
    let corner = road.grid_point(0, 0).unwrap_or_default();
    // No height is missing, so the defaults of `grid_point` are not used.
    let grid_indices = (0..columns).flat_map(|column| (0..rows).map(move |row| [row, column]));
    let height_at = |[row, column]: [usize; 2]| (road.grid_point(row, column).unwrap_or_default().z - corner.z) as f32;
    let (heights, spacing) = (grid_indices.map(height_at).collect(), spacing.map(|distance| distance as f32));
    let origin = DVec3::from_array(spec.origin_m) + corner;
    HeightField::new(origin, spacing, [rows, columns], heights, spec.smooth, spec.grip as f32)?
        .with_texture(RoughnessSpec::surface_texture(spec.roughness.as_ref()))
}

/// Builds the mesh of a road with two triangles for each cell; triangles with a missing height are left out. Corners
/// are all grid points, cross-section by cross-section, relative to the first grid point with a height. If the surface
/// is smooth, no edge is a crease (border between flat normals), otherwise every edge is one. All triangles have the
/// grip and texture of `spec`. The outer error is a message about more than [`MAX_FILE_TRIANGLES`], the inner one a
/// fault of the mesh.
fn build_mesh(road: &CrgRoad, spec: &CrgSpec) -> Result<TerrainResult<TriangleMesh>, String> {
    let [rows, columns] = road.grid_counts();
    let triangle_count = 2 * (rows - 1) * (columns - 1);
    if triangle_count > MAX_FILE_TRIANGLES {
        let reason = "a curved road and a road with missing heights become a mesh";
        return Err(format!(
            "{rows} x {columns} heights make {triangle_count} triangles; the maximum is {MAX_FILE_TRIANGLES}; {reason}"
        ));
    }
    let grid_indices = (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column]));
    let points: Vec<Option<DVec3>> = grid_indices.map(|[row, column]| road.grid_point(row, column)).collect();
    let first_point = points.iter().flatten().next().copied().unwrap_or_default();
    // Missing corners belong to no triangle.
    let corners =
        points.iter().map(|point| point.map_or(Vec3::ZERO, |position| (position - first_point).as_vec3())).collect();
    let mut triangles = Vec::with_capacity(triangle_count);
    for row in 1..rows {
        for column in 1..columns {
            // Indices of the left corners of both cross-sections of the cell; the right ones come before.
            let [near_corner, far_corner] = [row - 1, row].map(|row| row * columns + column);
            // Anticlockwise from above, on both sides of the diagonal from near right to far left.
            for triangle in [[near_corner - 1, far_corner - 1, far_corner], [near_corner - 1, far_corner, near_corner]]
            {
                if triangle.iter().all(|&corner| points[corner].is_some()) {
                    triangles.push(triangle.map(|corner| corner as u32));
                }
            }
        }
    }
    // Edges with a larger angle between their faces are creases, rad.
    let crease_angle = if spec.smooth { core::f32::consts::PI } else { 0.0 };
    let origin = DVec3::from_array(spec.origin_m) + first_point;
    let surfaces = vec![(spec.grip as f32, RoughnessSpec::surface_texture(spec.roughness.as_ref())); triangles.len()];
    Ok(TriangleMesh::with_surfaces(origin, corners, triangles, crease_angle, surfaces))
}
