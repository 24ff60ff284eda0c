//! Height fields and meshes of a scene as colliders.

use rapier3d::parry::shape::HeightFieldFlags;
use rapier3d::parry::utils::Array2;
use rapier3d::prelude::*;
use skidpad_core::{HeightField, SmoothSurface, SurfaceTexture, TriangleMesh};
use std::sync::Arc;

/// Grip and texture of a surface.
type Surface = (f32, SurfaceTexture);

/// Part of a scene that a collider represents.
pub(crate) enum TerrainSource {
    /// Height field.
    Field(Arc<HeightField>),
    /// Mesh, and the numbers of its triangles in this collider, which has one of the surfaces of the mesh.
    Mesh(Arc<TriangleMesh>, Vec<u32>),
}

impl TerrainSource {
    /// Returns the smooth normals of triangle `number` of the collider; `None` if it is flat.
    pub fn smooth_normals(&self, number: u32) -> Option<SmoothSurface> {
        match self {
            Self::Mesh(mesh, numbers) => mesh.smooth_normals(*numbers.get(number as usize)?),
            Self::Field(field) => field_smooth_normals(field, number),
        }
    }
}

/// Returns the smooth normals of triangle `number` of a height field in Rapier's numbering: cells column by column
/// along x, in each column against y; the left halves of all cells first, then the right halves. Returns `None` if the
/// triangle is flat.
///
/// The field itself numbers its cells row by row, with two triangles per cell. Rapier's right half is the first of
/// them. Rapier's left half is the second one, but begins with its last corner, so that the normals are rotated.
fn field_smooth_normals(field: &HeightField, number: u32) -> Option<SmoothSurface> {
    // Numbers of cells, one less than of points.
    let [columns, rows] = field.counts().map(|count| count as u32 - 1);
    let cell = number % (columns * rows);
    let (column, row) = (cell / rows, rows - 1 - cell % rows);
    // Number of the first of the two triangles of the cell in the field.
    let first_triangle = 2 * (row * columns + column);
    // Rapier's second halves are the field's first triangles.
    if number >= columns * rows {
        return field.smooth_normals(first_triangle);
    }
    // Rapier's triangle begins with the last corner of the field's own. The edges need no rotation, because a smooth
    // field is smooth across all of them.
    let SmoothSurface { normals: [first_normal, second_normal, last_normal], edges } =
        field.smooth_normals(first_triangle + 1)?;
    Some(SmoothSurface { normals: [last_normal, first_normal, second_normal], edges })
}

/// Builds the collider of a height field, centred on its ground plan, without friction and user data. Rapier's height
/// fields have y up and rows along z, so that the collider is rotated about x by 90°, and its z axis points along −y:
/// heights are listed column by column with the rows reversed. Hulls slide over the edges between its triangles.
pub(crate) fn field_collider(field: &HeightField) -> ColliderBuilder {
    let ([columns, rows], [spacing_x, spacing_y]) = (field.counts(), field.spacing());
    let heights = (0..columns).flat_map(|column| (0..rows).rev().map(move |row| field.height(column, row))).collect();
    let extents = [(columns - 1) as f32 * spacing_x, (rows - 1) as f32 * spacing_y];
    let centre = field.origin().as_vec3() + Vector::new(0.5 * extents[0], 0.5 * extents[1], 0.0);
    let half_sqrt_2 = core::f32::consts::FRAC_1_SQRT_2;
    // Quaternion of 90° about x.
    let rotation = Rotation::from_xyzw(half_sqrt_2, 0.0, 0.0, half_sqrt_2);
    // Heights are in metres, so their scale is 1.
    let (heights, extents) = (Array2::new(rows, columns, heights), Vector::new(extents[0], 1.0, extents[1]));
    ColliderBuilder::heightfield_with_flags(heights, extents, HeightFieldFlags::FIX_INTERNAL_EDGES)
        .position(Pose::from_parts(centre, rotation))
}

/// Builds one collider per surface (pair of grip and texture) of the mesh, at the origin of the mesh, without friction
/// and user data. Each has all vertices of the mesh but only the triangles of its surface. The colliders are in the
/// order of their first triangles. Returns each with its surface and with the numbers of its triangles in the mesh.
/// Leaves out colliders that Rapier rejects.
pub(crate) fn mesh_colliders(mesh: &TriangleMesh) -> impl Iterator<Item = (ColliderBuilder, Surface, Vec<u32>)> {
    // Each surface with the corners and the numbers of its triangles.
    let mut surfaces: Vec<(Surface, Vec<[u32; 3]>, Vec<u32>)> = Vec::new();
    for (number, (&corners, &grip)) in (0..).zip(mesh.triangles().iter().zip(mesh.grips())) {
        let surface = (grip, mesh.texture(number));
        // Triangles of a surface are adjacent in most files, so that the last surface is compared first.
        match surfaces.iter_mut().rev().find(|(known_surface, ..)| *known_surface == surface) {
            Some((_, triangles, numbers)) => {
                triangles.push(corners);
                numbers.push(number);
            }
            None => surfaces.push((surface, vec![corners], vec![number])),
        }
    }
    surfaces.into_iter().filter_map(|(surface, triangles, numbers)| {
        // Hulls slide over the edges between triangles and can rest on both sides of the mesh.
        let two_sided = TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED;
        let collider = ColliderBuilder::trimesh_with_flags(mesh.vertices().to_vec(), triangles, two_sided).ok()?;
        Some((collider.translation(mesh.origin().as_vec3()), surface, numbers))
    })
}

/// Bit that marks user data with a surface: the sign bit of the grip, which is never negative.
const SURFACE_FLAG: u128 = 1 << 31;

/// Encodes grip (≥ 0) and texture of a surface as user data of a collider: four 32-bit words with the bits of grip,
/// rolling resistance, amplitude and wavelength, lowest first. The sign bit of the grip, [`SURFACE_FLAG`], marks the
/// data as a surface.
pub(crate) fn encode_surface(grip: f32, texture: SurfaceTexture) -> u128 {
    let SurfaceTexture { rolling_resistance, amplitude, wavelength } = texture;
    let shifted_word = |number: f32, word_index: u32| u128::from(number.to_bits()) << (32 * word_index);
    SURFACE_FLAG
        | shifted_word(grip.abs(), 0)
        | shifted_word(rolling_resistance, 1)
        | shifted_word(amplitude, 2)
        | shifted_word(wavelength, 3)
}

/// Decodes grip and texture from user data of a collider as [`encode_surface`] wrote them; `None` if [`SURFACE_FLAG`]
/// is not set.
pub(crate) fn decode_surface(user_data: u128) -> Option<(f32, SurfaceTexture)> {
    let word = |word_index: u32| f32::from_bits((user_data >> (32 * word_index)) as u32);
    let texture = SurfaceTexture { rolling_resistance: word(1), amplitude: word(2), wavelength: word(3) };
    (user_data & SURFACE_FLAG != 0).then(|| (word(0).abs(), texture))
}
