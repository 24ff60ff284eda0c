//! Fields and meshes of a scene as colliders.

use rapier3d::parry::shape::HeightFieldFlags;
use rapier3d::parry::utils::Array2;
use rapier3d::prelude::*;
use skidpad_core::{HeightField, TriangleMesh};

/// A field of heights. Rapier's has y up and its rows along z: it is turned about x, so that its z runs against y.
pub(crate) fn field(field: &HeightField) -> ColliderBuilder {
    let ([columns, rows], [along, across]) = (field.counts(), field.spacing());
    let heights = (0..columns).flat_map(|column| (0..rows).rev().map(move |row| field.height(column, row))).collect();
    let size = [(columns - 1) as f32 * along, (rows - 1) as f32 * across];
    let middle = field.origin().as_vec3() + Vector::new(0.5 * size[0], 0.5 * size[1], 0.0);
    let half = core::f32::consts::FRAC_1_SQRT_2;
    let turned = Rotation::from_xyzw(half, 0.0, 0.0, half);
    let (heights, size) = (Array2::new(rows, columns, heights), Vector::new(size[0], 1.0, size[1]));
    ColliderBuilder::heightfield_with_flags(heights, size, HeightFieldFlags::FIX_INTERNAL_EDGES)
        .position(Pose::from_parts(middle, turned))
}

/// A mesh with its grip, one for each of its surfaces; none of those that Rapier takes for no mesh.
pub(crate) fn meshes(mesh: &TriangleMesh) -> impl Iterator<Item = (ColliderBuilder, f32)> {
    let mut surfaces: Vec<(f32, Vec<[u32; 3]>)> = Vec::new();
    for (&corners, &grip) in mesh.triangles().iter().zip(mesh.grips()) {
        // Triangles of a surface stand together in most files, so that the last one is looked at first.
        match surfaces.iter_mut().rev().find(|(known, _)| *known == grip) {
            Some((_, triangles)) => triangles.push(corners),
            None => surfaces.push((grip, vec![corners])),
        }
    }
    surfaces.into_iter().filter_map(|(grip, triangles)| {
        // Hulls slide over the edges between its triangles, and stand on it from both sides.
        let two_sided = TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED;
        let collider = ColliderBuilder::trimesh_with_flags(mesh.vertices().to_vec(), triangles, two_sided).ok()?;
        Some((collider.translation(mesh.origin().as_vec3()), grip))
    })
}

/// Mark of user data that holds a grip.
const NOTED: u128 = 1 << 32;

/// A grip as user data of a collider.
pub(crate) fn note(grip: f32) -> u128 {
    NOTED | u128::from(grip.to_bits())
}

/// The grip in such user data.
pub(crate) fn noted(user_data: u128) -> Option<f32> {
    (user_data & NOTED != 0).then(|| f32::from_bits(user_data as u32))
}
