//! Wheels with rims on shapes of parry that consist of triangles.

use parry3d::bounding_volume::{Aabb, BoundingVolume};
use parry3d::math::{Pose, Vector};
use parry3d::shape::{HeightField, HeightFieldCellStatus as CellStatus, Shape, Triangle as Face, TypedShape};
use skidpad_core::{Contact, HullPoint, Probe, SmoothSurface, Triangle, WorldAxes, ground_contact, wall_contact};

use crate::rays::{probe_bounds, probe_ray};

/// Triangles near a wheel, and the collider of each, by its handle `H`. The source of a triangle is its index in this
/// list and its number in the shape.
#[derive(Clone, Debug)]
pub struct WheelTriangles<H> {
    /// Triangles relative to the start of the ray, in the axes of the cars, m.
    triangles: Vec<Triangle>,
    /// Collider of each triangle.
    colliders: Vec<H>,
}

impl<H> Default for WheelTriangles<H> {
    fn default() -> Self {
        Self { triangles: Vec::new(), colliders: Vec::new() }
    }
}

impl<H: Copy> WheelTriangles<H> {
    /// Removes all triangles, for the next wheel.
    pub fn clear(&mut self) {
        self.triangles.clear();
        self.colliders.clear();
    }

    /// Adds the faces of a collider that the rim of `probe` may touch, with grip 1, and the handle of the collider for
    /// each face. `shape` is at `pose` in the world's `axes`. The triangles are relative to the start of the ray, in
    /// the axes of the cars, m.
    ///
    /// A box adds all its faces (number 0), or none if it contains the start of the ray. A plane adds one triangle
    /// around the wheel (number 0). Meshes and height fields add the triangles near the bounding box of the rim, with
    /// their numbers in the shape. Returns true for these four kinds of shapes, even if no face is added; other shapes
    /// have no faces and return false.
    pub fn add(&mut self, axes: WorldAxes, probe: &Probe, (handle, shape): (H, &dyn Shape), pose: &Pose) -> bool {
        let (_, ray) = probe_ray(axes, probe);
        // Bounding box of the rim in the axes of the shape, enlarged against rounding.
        let search_box = probe_bounds(axes, probe);
        let local_box = search_box.transform_by(&pose.inverse());
        let local_box = local_box
            .loosened(COORDINATE_ROUNDING_RATIO * local_box.mins.abs().max(local_box.maxs.abs()).max_element());
        // Point of the shape relative to the start of the ray, in the axes of the cars.
        let to_ray_frame = |point: Vector| axes.from_world(*pose * point - ray.origin);
        // The source of a triangle is its index in the list and its number in the shape.
        let mut add_triangle = |face: Triangle, triangle_number: u32| {
            self.triangles.push(Triangle { source: [self.colliders.len() as u32, triangle_number], ..face });
            self.colliders.push(handle);
        };
        match shape.as_typed_shape() {
            TypedShape::Cuboid(cuboid) => {
                // A box that contains the start of the ray has no faces for the wheel, as for rays.
                if cuboid.local_aabb().contains_local_point(pose.inverse() * ray.origin) {
                    return true;
                }
                // `1.0`: grip.
                for face in Triangle::of_box(cuboid.half_extents, to_ray_frame, 1.0) {
                    add_triangle(face, 0);
                }
            }
            TypedShape::HalfSpace(plane) => {
                let normal = plane.normal;
                // Point of the plane nearest to the wheel, in the axes of the shape.
                let nearest_point = local_box.center() - normal * normal.dot(local_box.center());
                let normal = axes.from_world(pose.rotation * normal);
                // The triangle covers a radius of four half diagonals of the search box.
                add_triangle(
                    Triangle::of_plane(
                        to_ray_frame(nearest_point),
                        normal,
                        4.0 * search_box.half_extents().length(),
                        1.0, // grip
                    ),
                    0, // number of its only face
                );
            }
            TypedShape::TriMesh(mesh) => {
                // `1.0`: grip, here and below.
                for triangle_number in mesh.bvh().intersect_aabb(&local_box) {
                    let Face { a, b, c } = mesh.triangle(triangle_number);
                    add_triangle(Triangle::flat([a, b, c].map(to_ray_frame), 1.0), triangle_number);
                }
            }
            TypedShape::HeightField(field) => {
                visit_field_triangles(field, &local_box, |corners, triangle_number| {
                    add_triangle(Triangle::flat(corners.map(to_ray_frame), 1.0), triangle_number);
                });
            }
            _ => return false,
        }
        true
    }

    /// Returns the contact of the wheel of `probe` with all added triangles, and its collider; `None` for a miss. The
    /// result has the axes of the cars, grip 1 and no ground data.
    pub fn ground_contact(&self, probe: &Probe) -> Option<(H, Contact)> {
        self.smooth_ground_contact(probe, |_, _| None)
    }

    /// Returns the contact of the wheel of `probe` with all added triangles, on surfaces with smooth normals, and the
    /// collider of the triangle that carries most load; `None` for a miss. `smooth_surface` returns the smooth normals
    /// by collider and number of the triangle in its shape; `None` for a flat triangle. The contact has the axes of the
    /// cars, grip 1 and no ground data.
    pub fn smooth_ground_contact(
        &self,
        probe: &Probe,
        smooth_surface: impl Fn(H, u32) -> Option<SmoothSurface>,
    ) -> Option<(H, Contact)> {
        let surface_of_triangle = |Triangle { source: [triangle_index, triangle_number], .. }: &Triangle| {
            smooth_surface(self.colliders[*triangle_index as usize], *triangle_number)
        };
        let (triangle, contact) = ground_contact(probe, &self.triangles, surface_of_triangle)?;
        Some((self.colliders[triangle], contact))
    }

    /// Returns the contact point of the wall that stops the rim of `probe`, in the axes of the cars, and the collider
    /// of the wall. Returns `None` if no added triangle is a wall within reach that is too high for the wheel to climb.
    /// `support` is the contact of the wheel with the ground, if any.
    pub fn wall_contact(&self, probe: &Probe, support: Option<&Contact>) -> Option<(HullPoint, H)> {
        let (triangle, point) = wall_contact(probe, &self.triangles, support)?;
        Some((point, self.colliders[triangle]))
    }
}

/// Returns the corners of triangle `number` of a mesh or a height field, in the axes of the shape; `None` for other
/// shapes.
pub fn triangle_corners(shape: &dyn Shape, number: u32) -> Option<[Vector; 3]> {
    let Face { a, b, c } = match shape.as_typed_shape() {
        TypedShape::TriMesh(mesh) => mesh.triangle(number),
        TypedShape::HeightField(field) => field.triangle_at_id(number)?,
        _ => return None,
    };
    Some([a, b, c])
}

/// Relative rounding error of coordinates by which a search box is enlarged.
const COORDINATE_ROUNDING_RATIO: f32 = 4.0 * f32::EPSILON;

/// Calls `visit` with the corners (axes of the field, m) and the number of each triangle of `field` in the columns
/// (along x) and rows (along z) that `search_box` covers, whatever their height. Removed triangles are left out.
/// Numbers are those of parry: the left halves of all cells first, column by column, then the right halves.
///
/// Neighbours have bit-identical corners. Parry's `map_elements_in_local_aabb` does not guarantee that, so that a disc
/// along a grid line could fall between two triangles.
fn visit_field_triangles(field: &HeightField, search_box: &Aabb, mut visit: impl FnMut([Vector; 3], u32)) {
    // Range of cells on an axis of length `size` m, centred at 0, clamped to the field.
    let covered_cells = |low: f32, high: f32, size: f32, cells: usize| {
        let to_cell = |coordinate: f32| (coordinate / size + 0.5) * cells as f32;
        // A hundredth of a cell exceeds the rounding of coordinates of a field.
        (to_cell(low) - 0.01).max(0.0) as usize..((to_cell(high) + 1.01).max(0.0) as usize).min(cells)
    };
    let scale = field.scale();
    for j in covered_cells(search_box.mins.x, search_box.maxs.x, scale.x, field.ncols()) {
        for i in covered_cells(search_box.mins.z, search_box.maxs.z, scale.z, field.nrows()) {
            let corner =
                |i: usize, j: usize| Vector::new(field.x_at(j), field.heights()[(i, j)] * scale.y, field.z_at(i));
            // Corners of the cell: p10 is one row (z) farther than p00, p01 one column (x).
            let [p00, p10, p01, p11] = [corner(i, j), corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1)];
            let status = field.cell_status(i, j);
            let cell_triangles = if status.contains(CellStatus::ZIGZAG_SUBDIVISION) {
                [[p00, p10, p11], [p00, p11, p01]]
            } else {
                [[p00, p10, p01], [p10, p11, p01]]
            };
            // The triangles of all left halves come first.
            let number = j * field.nrows() + i;
            let numbers = [number, number + field.nrows() * field.ncols()];
            let removal_flags = [CellStatus::LEFT_TRIANGLE_REMOVED, CellStatus::RIGHT_TRIANGLE_REMOVED];
            for ((corners, number), removal_flag) in cell_triangles.into_iter().zip(numbers).zip(removal_flags) {
                if !status.contains(removal_flag) {
                    visit(corners, number as u32);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parry3d::utils::Array2;

    /// Returns a height field of 4 × 6 cells of 5 m (z) by 2 m (x), with scaled heights, cells of both diagonals, two
    /// removed half cells and one removed cell.
    fn field() -> HeightField {
        let heights = (0..5 * 7).map(|k| ((k * 37) % 11) as f32 * 0.1).collect();
        let mut field = HeightField::new(Array2::new(5, 7, heights), Vector::new(12.0, 0.4, 20.0));
        field.set_cell_status(1, 2, CellStatus::ZIGZAG_SUBDIVISION);
        field.set_cell_status(2, 3, CellStatus::LEFT_TRIANGLE_REMOVED);
        field.set_cell_status(3, 0, CellStatus::ZIGZAG_SUBDIVISION | CellStatus::RIGHT_TRIANGLE_REMOVED);
        field.set_cell_status(0, 5, CellStatus::CELL_REMOVED);
        field
    }

    /// Checks that the triangles of the whole field are as many as parry's, that each has the corners of parry's
    /// triangle of its number (if parry returns one), and that it is among parry's triangles.
    #[test]
    fn triangles_of_a_field_are_those_of_parry() {
        let field = field();
        let mut found = Vec::new();
        visit_field_triangles(&field, field.root_aabb(), |corners, number| found.push((corners, number)));
        let expected: Vec<Face> = field.triangles().collect();
        assert_eq!(found.len(), expected.len());
        for (corners, number) in found {
            // Parry returns no triangle for a cell with half a hole.
            if let Some(same) = triangle_corners(&field, number) {
                assert!(
                    same.iter().zip(corners).all(|(a, b)| (*a - b).length() < 1e-5),
                    "{number}: {same:?} {corners:?}"
                );
            }
            let is_same_triangle =
                |face: &&Face| [face.a, face.b, face.c].iter().zip(corners).all(|(a, b)| (*a - b).length() < 1e-5);
            assert!(expected.iter().any(|face| is_same_triangle(&face)), "{corners:?}");
        }
    }

    /// Checks the number of visited triangles of thin vertical boxes inside a cell, on a grid line, on a crossing, and
    /// outside the field.
    #[test]
    fn only_cells_around_are_asked() {
        let field = field();
        let count = |low: Vector, high: Vector| {
            let mut count = 0;
            visit_field_triangles(&field, &Aabb::new(low, high), |_, _| count += 1);
            count
        };
        // Cells of 2 x 5 m. Half of the first cell is a hole. On grid lines and crossings the neighbours are visited,
        // too; outside the field there is nothing.
        let at = |x: f32, z: f32| count(Vector::new(x, -1.0, z), Vector::new(x, 1.0, z));
        assert_eq!(
            [at(1.0, 2.5), at(0.0, 2.5), at(1.0, 0.0), at(0.0, 0.0), at(7.0, 0.0), at(0.0, -11.0)],
            [1, 3, 3, 7, 0, 0]
        );
    }
}
