//! Fast exclusion of triangles below a hull, which most triangles near a car on its wheels are.

use skidpad_core::simd::lane::{F32x4, Lane};
use skidpad_core::{GridCell, Triangle, TriangleVisitor, Vec3};

/// Clearance that allows for rounding and for the tolerances of the narrow phase, m.
const CLEARANCE_MARGIN_M: f32 = 5e-3;

/// Underside of a hull with its motion within a step. The origin is the centre of mass at the start of the step.
///
/// A triangle is excluded if all its corners are so far below the underside that no point of the hull can come closer to
/// it than the largest gap of a contact point. Let u be the vertical axis of the hull, and n the normal of the triangle,
/// with `n · u > 0`. A point of the hull over the triangle is then at least as far from it along n as it is above it
/// along u. The approach within a step has three parts: the sinking of the hull along u, its motion against n, and its
/// rotation, which counts three times (height of the underside, gap at the start, and closing speed).
#[derive(Clone, Copy)]
pub(crate) struct Underside {
    /// Vertical axis of the hull, unit vector, world axes.
    pub up: Vec3,
    /// Height of the underside along `up`, m.
    pub height: f32,
    /// Middle of the hull, m.
    pub centre: Vec3,
    /// Displacement of the centre of mass in the step, m.
    pub path: Vec3,
    /// Largest displacement of a point of the hull by rotation in the step, m.
    pub rotation_path: f32,
    /// Largest gap of a contact point at the end of the step, m.
    pub max_gap: f32,
}

impl Underside {
    /// Returns the height of the underside above which a triangle with some height may be touched, for motion along the
    /// triangle: largest gap, margin, rotation and sinking, m.
    fn required_clearance(&self) -> f32 {
        self.max_gap + CLEARANCE_MARGIN_M + 3.0 * self.rotation_path + (-self.path.dot(self.up)).max(0.0)
    }

    /// Returns whether no point of the hull can touch `triangle` of a mesh, whose normal points to the side on which the
    /// middle of the hull is.
    #[inline(always)]
    fn excludes(&self, triangle: &Triangle) -> bool {
        let [a, b, c] = triangle.corners;
        let highest = self.up.dot(a).max(self.up.dot(b)).max(self.up.dot(c));
        let clearance = self.height - highest - self.required_clearance();
        let mut normal = (b - a).cross(c - a);
        if normal.dot(self.up) < 0.0 {
            normal = -normal;
        }
        let is_above = normal.dot(self.centre - a) > 0.0;
        // The length of the normal is at least its component along `up`.
        is_above & (clearance > 0.0) & (clearance * normal.dot(self.up) > -normal.dot(self.path))
    }

    /// Returns whether no point of the hull can touch `cell` of a height field, whose normals point upwards.
    #[inline(always)]
    fn excludes_cell(&self, cell: &GridCell) -> bool {
        let GridCell { x: [x0, x1], y: [y0, y1], z: [z0, z1, z2, z3], .. } = *cell;
        let corner_height = F32x4::new([x0, x1, x1, x0]) * F32x4::splat(self.up.x)
            + F32x4::new([y0, y0, y1, y1]) * F32x4::splat(self.up.y)
            + F32x4::new([z0, z1, z2, z3]) * F32x4::splat(self.up.z);
        let required = self.required_clearance();
        let (per_x, per_y) = (1.0 / (x1 - x0), 1.0 / (y1 - y0));
        // Upward normals (−∂z/∂x, −∂z/∂y, 1) of both triangles; their length is at least 1.
        let normals = [
            Vec3::new((z0 - z1) * per_x, (z1 - z2) * per_y, 1.0),
            Vec3::new((z3 - z2) * per_x, (z0 - z3) * per_y, 1.0),
        ];
        let approach = normals.map(|normal| -normal.dot(self.path));
        let is_upward = normals.map(|normal| normal.dot(self.up) > 0.0);
        let lowest_underside = F32x4::splat(self.height - required - approach[0].max(approach[1]).max(0.0));
        is_upward[0] & is_upward[1] & (corner_height.less(lowest_underside).bits() == 0b1111)
    }
}

/// Collector of the triangles near a hull that its underside does not exclude.
pub(crate) struct NearTriangles<'a> {
    /// Underside of the hull.
    pub underside: Underside,
    /// Collected triangles.
    pub triangles: &'a mut Vec<Triangle>,
}

impl TriangleVisitor for NearTriangles<'_> {
    #[inline(always)]
    fn visit(&mut self, triangle: &Triangle) {
        if !self.underside.excludes(triangle) {
            self.triangles.push(*triangle);
        }
    }

    #[inline(always)]
    fn visit_cell(&mut self, cell: &GridCell) {
        if !self.underside.excludes_cell(cell) {
            self.triangles.extend(cell.triangles());
        }
    }
}
