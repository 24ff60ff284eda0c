//! Tests of terrain.
#![cfg(test)]

use super::*;

/// Checks that a corner of 256 triangles (a fan) is smoothed, and that a corner of 200 000 triangles keeps the face
/// normal, so that the time per triangle does not grow. 200 000 coincident triangles have face normals and sharp edges.
#[test]
fn corners_and_edges_of_many_triangles_are_not_smoothed() {
    let fan = |count: u32| {
        let rim = (0..=count).map(|k| Vec3::new(k as f32, 1.0, (k % 2) as f32 * 0.01));
        let vertices = std::iter::once(Vec3::ZERO).chain(rim).collect();
        let triangles = (1..=count).map(|k| [0, k, k + 1]).collect();
        TriangleMesh::new(DVec3::ZERO, vertices, triangles, 1.0, 1.0).expect("a mesh")
    };
    let hub_normals = |mesh: &TriangleMesh| mesh.smooth_normals(7).expect("a triangle").normals;
    let small = hub_normals(&fan(MAX_SMOOTHED_TRIANGLES as u32));
    assert!(small[0] != small[1]);
    let large = fan(200_000);
    let face_normal = weighted_normal(large.vertices(), &large.triangles()[7]).normalize();
    assert_eq!(hub_normals(&large)[0], face_normal);
    let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let coincident = TriangleMesh::new(DVec3::ZERO, vertices, vec![[0, 1, 2]; 200_000], 1.0, 1.0).expect("a mesh");
    let smooth = coincident.smooth_normals(7).expect("a triangle");
    assert_eq!((smooth.normals, smooth.edges), ([Vec3::Z; 3], [false; 3]));
}

/// Checks that the triangles of all cells inside a field (4 × 3 of 6 × 5) have the normals of their grid points, to the
/// bit; cells at its border have none.
#[test]
fn normals_of_a_cell_are_those_of_its_crossings() {
    let heights = (0..42u32).map(|k| (k * k % 17) as f32 * 0.03).collect();
    let field = HeightField::new(DVec3::ZERO, [0.7, 1.3], [7, 6], heights, true, 1.0).expect("a field");
    let mut interior_count = 0;
    for (column, row) in (0..6).flat_map(|column| (0..5).map(move |row| (column, row))) {
        for half in [0, 1] {
            let Some(found) = field.interior_corner_normals([column, row], half) else { continue };
            assert_eq!(
                found,
                CELL_TRIANGLE_CORNERS[half].map(|corner| field.grid_normal(cell_corners(column, row)[corner])),
                "{column} {row}"
            );
            interior_count += 1;
        }
    }
    assert_eq!(interior_count, 2 * 4 * 3);
}

/// Checks that rectangles beyond the field, one whose upper corner is below its lower one, and one with a NaN cover no
/// cell. Rectangles that reach beyond the field are clamped to it.
#[test]
fn no_range_of_cells_is_empty() {
    let field = HeightField::new(DVec3::ZERO, [1.0, 1.0], [4, 3], vec![0.0; 12], false, 1.0).expect("a field");
    // The lower corner is on the last line of the grid, with the margin against rounding.
    let edge = 3.0 + CELL_ROUNDING_MARGIN;
    assert_eq!(edge - CELL_ROUNDING_MARGIN, 3.0);
    for (low, high) in [([edge, 0.5], [9.0, 0.6]), ([2.5, 0.5], [0.5, 0.6]), ([f32::NAN, 0.5], [1.0, 0.6])] {
        assert_eq!(field.cell_ranges(low, high), None, "{low:?} to {high:?}");
    }
    assert_eq!(field.cell_ranges([2.9, 0.5], [9.0, 0.6]), Some([[2, 3], [0, 1]]));
    assert_eq!(field.cell_ranges([-9.0, -9.0], [0.0, 9.0]), Some([[0, 1], [0, 2]]));
}
