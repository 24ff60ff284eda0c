//! Wheels with rims on shapes of parry that consist of triangles.

use parry3d::bounding_volume::{Aabb, BoundingVolume};
use parry3d::math::{Pose, Vector};
use parry3d::shape::{HeightField, HeightFieldCellStatus as Cut, Shape, Triangle as Face, TypedShape};
use skidpad_core::{Contact, HullPoint, Probe, SmoothSurface, Triangle, WorldAxes, ground_contact, wall_contact};

use crate::rays::{probe_bounds, probe_ray};

/// Triangles near a wheel, and the collider of each, by its handle `H`. The source of a triangle is its index in this list and
/// its number in the shape.
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

    /// Adds the faces of a collider that the rim of `probe` may touch, with grip 1. `shape` is at `pose` in the world's `axes`.
    /// The triangles are relative to the start of the ray, in the axes of the cars. Returns whether the shape has faces: boxes,
    /// planes, meshes and height fields do. A box that contains the start of the ray adds none but returns true.
    pub fn add(&mut self, axes: WorldAxes, probe: &Probe, (handle, shape): (H, &dyn Shape), pose: &Pose) -> bool {
        let (_, start) = probe_ray(axes, probe);
        let region = probe_bounds(axes, probe);
        let within = region.transform_by(&pose.inverse());
        let within =
            within.loosened(COORDINATE_ROUNDING_RATIO * within.mins.abs().max(within.maxs.abs()).max_element());
        let to_start = |point: Vector| axes.from_world(*pose * point - start.origin);
        let mut put = |face: Triangle, number: u32| {
            self.triangles.push(Triangle { source: [self.colliders.len() as u32, number], ..face });
            self.colliders.push(handle);
        };
        match shape.as_typed_shape() {
            TypedShape::Cuboid(cuboid) => {
                // A box that contains the start of the ray has no faces for the wheel, as for rays.
                if cuboid.local_aabb().contains_local_point(pose.inverse() * start.origin) {
                    return true;
                }
                // `1.0`: grip.
                for face in Triangle::of_box(cuboid.half_extents, to_start, 1.0) {
                    put(face, 0);
                }
            }
            TypedShape::HalfSpace(plane) => {
                let normal = plane.normal;
                // Point of the plane nearest to the wheel, in the axes of the shape.
                let foot = within.center() - normal * normal.dot(within.center());
                let normal = axes.from_world(pose.rotation * normal);
                // Square around the wheel; four times the half diagonal of the search box, grip 1.
                put(Triangle::of_plane(to_start(foot), normal, 4.0 * region.half_extents().length(), 1.0), 0);
            }
            TypedShape::TriMesh(mesh) => {
                for leaf in mesh.bvh().intersect_aabb(&within) {
                    let Face { a, b, c } = mesh.triangle(leaf);
                    put(Triangle::flat([a, b, c].map(to_start), 1.0), leaf);
                }
            }
            TypedShape::HeightField(field) => {
                visit_field_triangles(field, &within, |corners, number| {
                    put(Triangle::flat(corners.map(to_start), 1.0), number);
                });
            }
            _ => return false,
        }
        true
    }

    /// Returns the contact of the wheel of `probe` with all added triangles, and its collider; `None` for a miss. The result
    /// has the axes of the cars, grip 1 and no ground data.
    pub fn ground_contact(&self, probe: &Probe) -> Option<(H, Contact)> {
        self.smooth_ground_contact(probe, |_, _| None)
    }

    /// Returns the contact as [`WheelTriangles::ground_contact`] does, on surfaces with smooth normals. `smooth` returns those
    /// normals by collider and number of the triangle in its shape; `None` for a flat triangle.
    pub fn smooth_ground_contact(
        &self,
        probe: &Probe,
        smooth: impl Fn(H, u32) -> Option<SmoothSurface>,
    ) -> Option<(H, Contact)> {
        let of = |Triangle { source: [at, number], .. }: &Triangle| smooth(self.colliders[*at as usize], *number);
        let (triangle, contact) = ground_contact(probe, &self.triangles, of)?;
        Some((self.colliders[triangle], contact))
    }

    /// Returns the contact point of a wall that stops the rim of `probe`, and the collider of the wall; `None` if no added
    /// triangle stops it. `support` is the contact of the wheel with the ground, if any.
    pub fn wall_contact(&self, probe: &Probe, support: Option<&Contact>) -> Option<(HullPoint, H)> {
        let (triangle, point) = wall_contact(probe, &self.triangles, support)?;
        Some((point, self.colliders[triangle]))
    }
}

/// Returns the corners of triangle `number` of a mesh or a height field, in the axes of the shape; `None` for other shapes.
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

/// Calls `to` with the corners (axes of the field, m) and numbers of the triangles of `field` in the columns and rows that
/// `within` covers, whatever their height. Removed triangles are left out. Numbers are those of parry: the left halves of all
/// cells first. Neighbours have bit-identical corners. Parry's `map_elements_in_local_aabb` does not guarantee that, so that a
/// disc along a grid line could fall between two triangles.
fn visit_field_triangles(field: &HeightField, within: &Aabb, mut to: impl FnMut([Vector; 3], u32)) {
    let covered = |low: f32, high: f32, size: f32, cells: usize| {
        let at = |coordinate: f32| (coordinate / size + 0.5) * cells as f32;
        // A hundredth of a cell exceeds the rounding of coordinates of a field.
        (at(low) - 0.01).max(0.0) as usize..((at(high) + 1.01).max(0.0) as usize).min(cells)
    };
    let scale = field.scale();
    for j in covered(within.mins.x, within.maxs.x, scale.x, field.ncols()) {
        for i in covered(within.mins.z, within.maxs.z, scale.z, field.nrows()) {
            let at = |i: usize, j: usize| Vector::new(field.x_at(j), field.heights()[(i, j)] * scale.y, field.z_at(i));
            let [here, down, right, across] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
            let status = field.cell_status(i, j);
            let halves = if status.contains(Cut::ZIGZAG_SUBDIVISION) {
                [[here, down, across], [here, across, right]]
            } else {
                [[here, down, right], [down, across, right]]
            };
            // The triangles of all left halves come first.
            let number = j * field.nrows() + i;
            let numbers = [number, number + field.nrows() * field.ncols()];
            let removed = [Cut::LEFT_TRIANGLE_REMOVED, Cut::RIGHT_TRIANGLE_REMOVED];
            for ((half, number), removed) in halves.into_iter().zip(numbers).zip(removed) {
                if !status.contains(removed) {
                    to(half, number as u32);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parry3d::utils::Array2;

    /// Returns a user's height field with non-square cells, scaled heights, cells of both diagonals, and holes.
    fn field() -> HeightField {
        let heights = (0..5 * 7).map(|k| ((k * 37) % 11) as f32 * 0.1).collect();
        let mut field = HeightField::new(Array2::new(5, 7, heights), Vector::new(12.0, 0.4, 20.0));
        field.set_cell_status(1, 2, Cut::ZIGZAG_SUBDIVISION);
        field.set_cell_status(2, 3, Cut::LEFT_TRIANGLE_REMOVED);
        field.set_cell_status(3, 0, Cut::ZIGZAG_SUBDIVISION | Cut::RIGHT_TRIANGLE_REMOVED);
        field.set_cell_status(0, 5, Cut::CELL_REMOVED);
        field
    }

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
            let is_one =
                |face: &&Face| [face.a, face.b, face.c].iter().zip(corners).all(|(a, b)| (*a - b).length() < 1e-5);
            assert!(expected.iter().any(|face| is_one(&face)), "{corners:?}");
        }
    }

    #[test]
    fn only_cells_around_are_asked() {
        let field = field();
        let count = |low: Vector, high: Vector| {
            let mut count = 0;
            visit_field_triangles(&field, &Aabb::new(low, high), |_, _| count += 1);
            count
        };
        // Cells of 2 x 5 m. Half of the first cell is a hole. On grid lines and crossings the neighbours are visited, too;
        // outside the field there is nothing.
        let at = |x: f32, z: f32| count(Vector::new(x, -1.0, z), Vector::new(x, 1.0, z));
        assert_eq!(
            [at(1.0, 2.5), at(0.0, 2.5), at(1.0, 0.0), at(0.0, 0.0), at(7.0, 0.0), at(0.0, -11.0)],
            [1, 3, 3, 7, 0, 0]
        );
    }
}
