//! Cells of height fields, and the visitor of cells and triangles near a place.

use crate::ground::rim_contact::Triangle;
use bevy_math::Vec3;
use skidpad_simd::lane::F32x4;

/// Corner indices of the two triangles of a cell, whose corners are anticlockwise from that of least x and y.
pub(crate) const CELL_TRIANGLE_CORNERS: [[usize; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

/// A cell of a height field: two triangles that share the diagonal from the corner of least x and y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridCell {
    /// Positions of the grid lines along x relative to the start of a ray, m.
    pub x: [f32; 2],
    /// Positions of the grid lines along y relative to the start of a ray, m.
    pub y: [f32; 2],
    /// Heights of the corners relative to the start of a ray, m, anticlockwise from the corner of least x and y.
    pub z: [f32; 4],
    /// Source of the first triangle; the second one has the next number.
    pub source: [u32; 2],
    /// Factor on the friction of the tyre, ≥ 0.
    pub grip: f32,
}

/// Cell in the interior of a height field, with the heights around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellPatch {
    /// Cell.
    pub cell: GridCell,
    /// Heights at the grid points of its corners and next to them, relative to the origin of the field, m; shape
    /// (rows, columns), each from the one before the cell to the one behind it.
    pub heights: [[f32; 4]; 4],
}

impl GridCell {
    /// Returns the two triangles of the cell, in the order of their numbers.
    pub fn triangles(&self) -> [Triangle; 2] {
        [0, 1].map(|half| self.triangle(half))
    }

    /// Returns triangle `half` of the cell: 0 is at the corner of largest x and least y, 1 at that of least x and
    /// largest y. Corners are anticlockwise seen from above; the number of the source is increased by `half`.
    #[inline(always)]
    pub(crate) fn triangle(&self, half: usize) -> Triangle {
        let Self { x, y, z, source: [source_id, triangle_number], grip } = *self;
        let min_corner = Vec3::new(x[0], y[0], z[0]);
        let max_corner = Vec3::new(x[1], y[1], z[2]);
        let corners = if half == 0 {
            [min_corner, Vec3::new(x[1], y[0], z[1]), max_corner]
        } else {
            [min_corner, max_corner, Vec3::new(x[0], y[1], z[3])]
        };
        Triangle { corners, source: [source_id, triangle_number + half as u32], grip }
    }

    /// Returns x, y and z of the four corners, in SIMD lanes, anticlockwise from the corner of least x and y.
    #[inline(always)]
    pub(crate) fn corners(&self) -> [F32x4; 3] {
        let ([x0, x1], [y0, y1]) = (self.x, self.y);
        [F32x4::new([x0, x1, x1, x0]), F32x4::new([y0, y0, y1, y1]), F32x4::new(self.z)]
    }
}

/// Visitor of the ground near a place.
pub trait TriangleVisitor {
    /// Processes a triangle.
    fn visit(&mut self, triangle: &Triangle);

    /// Processes a cell of a height field. By default visits its two triangles.
    fn visit_cell(&mut self, cell: &GridCell) {
        cell.triangles().iter().for_each(|triangle| self.visit(triangle));
    }
}

impl TriangleVisitor for Vec<Triangle> {
    fn visit(&mut self, triangle: &Triangle) {
        self.push(*triangle);
    }
}
