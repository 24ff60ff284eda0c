//! Ground that is not plane, as plain numbers: height fields and triangle meshes.

use crate::ground::rim_contact::{SmoothSurface, Triangle};
use crate::port::texture::SurfaceTexture;
use crate::simd::lane::F32x4;
use bevy_math::{DVec3, Vec3};

/// Heights over a rectangular grid. Each cell has two triangles, separated by the diagonal from its corner of least x and y to that of
/// greatest x and y.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    /// Position of the first height at height 0, world, m.
    origin: DVec3,
    /// Distance between grid lines along x and along y, m.
    spacing: [f32; 2],
    /// Number of heights along x and along y.
    counts: [usize; 2],
    /// Heights above the origin, m, row by row.
    heights: Vec<f32>,
    /// Whether normals are interpolated across cells.
    is_smooth: bool,
    /// Factor on the friction of every tyre.
    grip: f32,
    /// Rolling resistance and unevenness of the whole field.
    texture: SurfaceTexture,
}

/// A mesh of triangles with one or several surfaces.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleMesh {
    /// World position that vertices are relative to, m.
    origin: DVec3,
    /// Corners relative to the origin, m.
    vertices: Vec<Vec3>,
    /// Corner indices of each triangle.
    triangles: Vec<[u32; 3]>,
    /// Corner normals of each triangle, and the edges across which it is smooth.
    smooth_triangles: Vec<SmoothSurface>,
    /// Factor on the friction of every tyre, for each triangle.
    grips: Vec<f32>,
    /// Texture of each triangle; empty if all triangles are hard and even.
    textures: Vec<SurfaceTexture>,
}

/// Reason for which heights or triangles are not valid ground.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TerrainFault {
    /// Field without a cell: number of rows and of columns.
    #[error("a height field needs at least two rows and two columns, but has {0} x {1} heights")]
    NoCell(usize, usize),
    /// Number of heights that does not match the grid.
    #[error("{found} heights do not fill {} rows of {} heights", .counts[1], .counts[0])]
    HeightCountMismatch {
        /// Number of heights along x and along y.
        counts: [usize; 2],
        /// Number of heights found.
        found: usize,
    },
    /// Invalid grid spacing, m.
    #[error("grid lines are {0} m apart, which must be above 0 and finite")]
    InvalidSpacing(f32),
    /// Wavelengths of a road that its grid cannot have.
    #[error(
        "wavelengths are {} to {} m with a grid spacing of {spacing} m: the shortest must exceed twice the spacing, and \
             the longest must be finite and exceed the shortest",
        .wavelengths[0], .wavelengths[1]
    )]
    InvalidWavelengths {
        /// Distance of the grid lines, m.
        spacing: f32,
        /// Shortest and longest wavelength, m.
        wavelengths: [f32; 2],
    },
    /// Number of heights above the limit of a road.
    #[error("{0} heights exceed the maximum of 25 million")]
    TooManyHeights(f32),
    /// Invalid grip.
    #[error("the grip is {0}, which must be at least 0 and finite")]
    InvalidGrip(f32),
    /// Invalid texture.
    #[error("a surface texture has a negative value, a value that is not finite, or a wavelength of 0")]
    InvalidTexture,
    /// Index of a height or corner that is not finite; 0 for an origin that is not finite.
    #[error("coordinates of corner {0} are not finite")]
    NotFinite(usize),
    /// Mesh without a triangle of nonzero area.
    #[error("the mesh has no triangle of non-zero area")]
    NoTriangle,
    /// Number of surfaces that differs from the number of triangles.
    #[error("there are {surfaces} surfaces for {triangles} triangles")]
    SurfaceCountMismatch {
        /// Number of surfaces.
        surfaces: usize,
        /// Number of triangles.
        triangles: usize,
    },
    /// Triangle with a corner that does not exist.
    #[error("triangle {triangle} uses corner {corner}, but there are only {count} corners")]
    NoCorner {
        /// Index of the triangle.
        triangle: usize,
        /// Index of the missing corner.
        corner: u32,
        /// Number of corners.
        count: usize,
    },
}

impl HeightField {
    /// Creates a field of `heights` (m) above `origin` (world, m). The first height is at the origin, the next ones follow along x, row by row along
    /// y; `counts` and `spacing` (m) apply along x and along y. If `smooth` is true, normals are interpolated across cells. `grip` is the factor on
    /// the friction of every tyre. The surface is hard and even; see [`HeightField::with_texture`].
    ///
    /// # Errors
    /// The first [`TerrainFault`], checked in this order: fewer than 2 × 2 heights, number of heights, spacing, grip, a height or origin that is not
    /// finite.
    pub fn new(
        origin: DVec3,
        spacing: [f32; 2],
        counts: [usize; 2],
        heights: Vec<f32>,
        smooth: bool,
        grip: f32,
    ) -> Result<Self, TerrainFault> {
        let [columns, rows] = counts;
        if columns < 2 || rows < 2 {
            return Err(TerrainFault::NoCell(rows, columns));
        }
        if columns.checked_mul(rows) != Some(heights.len()) {
            return Err(TerrainFault::HeightCountMismatch { counts, found: heights.len() });
        }
        if let Some(wrong) = spacing.into_iter().find(|apart| !(*apart > 0.0 && apart.is_finite())) {
            return Err(TerrainFault::InvalidSpacing(wrong));
        }
        check_grip(grip)?;
        if let Some(at) = heights.iter().position(|height| !height.is_finite()).or((!origin.is_finite()).then_some(0)) {
            return Err(TerrainFault::NotFinite(at));
        }
        Ok(Self { origin, spacing, counts, heights, is_smooth: smooth, grip, texture: SurfaceTexture::NONE })
    }

    /// Returns the field with `texture`.
    ///
    /// # Errors
    /// [`TerrainFault::InvalidTexture`] if the texture is invalid.
    pub fn with_texture(self, texture: SurfaceTexture) -> Result<Self, TerrainFault> {
        if texture.is_valid() { Ok(Self { texture, ..self }) } else { Err(TerrainFault::InvalidTexture) }
    }

    /// Returns the position of the first height at height 0, world, m.
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Returns the distance between grid lines along x and along y, m.
    pub fn spacing(&self) -> [f32; 2] {
        self.spacing
    }

    /// Returns the number of heights along x and along y.
    pub fn counts(&self) -> [usize; 2] {
        self.counts
    }

    /// Returns the factor on the friction of every tyre.
    pub fn grip(&self) -> f32 {
        self.grip
    }

    /// Returns the texture of the surface.
    pub fn texture(&self) -> SurfaceTexture {
        self.texture
    }

    /// Returns the height at a grid point, m above the origin.
    ///
    /// # Panics
    /// The row does not exist, or the column is beyond the end of the last row.
    pub fn height(&self, column: usize, row: usize) -> f32 {
        self.heights[row * self.counts[0] + column]
    }

    /// Passes every cell that the box from `low` to `high` (relative to the origin, m) may touch to the visitor `to`, row by row. Skips cells whose
    /// four heights are all below or all above the box. `to_start` (m) is added to the coordinates: the position of the origin relative to the start
    /// of a ray. The source of a triangle is `[of, number]`; the first triangle of a cell has the number `2 · (row · cells per row + column)`.
    #[inline(always)]
    pub fn visit_near(&self, low: Vec3, high: Vec3, to_start: DVec3, of: u32, to: &mut impl TriangleVisitor) {
        let Some([columns, rows]) = self.cell_ranges([low.x, low.y], [high.x, high.y]) else { return };
        let along = |at: u32, k: usize| (f64::from(at as f32 * self.spacing[k]) + to_start[k]) as f32; // coordinate of grid line `at` on axis `k`, m
        let line = |row: u32| {
            let first = row as usize * self.counts[0];
            self.heights.get(first + columns[0] as usize..=first + columns[1] as usize).unwrap_or_default()
        };
        for row in rows[0]..rows[1] {
            let y = [along(row, 1), along(row + 1, 1)];
            let lines = line(row).windows(2).zip(line(row + 1).windows(2));
            for (column, (near, far)) in (columns[0]..).zip(lines) {
                let heights = [near[0], near[1], far[1], far[0]];
                let is_below = |height: &f32| *height < low.z;
                let is_above = |height: &f32| *height > high.z;
                if heights.iter().all(is_below) || heights.iter().all(is_above) {
                    continue;
                }
                let x = [along(column, 0), along(column + 1, 0)];
                let z = heights.map(|height| (f64::from(height) + to_start.z) as f32);
                let number = 2 * (row * (self.counts[0] as u32 - 1) + column);
                to.visit_cell(&GridCell { x, y, z, source: [of, number], grip: self.grip });
            }
        }
    }

    /// Returns the normals at the corners of triangle `number`, smooth across all three edges; `None` if the field is flat-shaded. `number / 2` is
    /// the cell and `number % 2` the half of it.
    #[inline(always)]
    pub fn smooth_normals(&self, number: u32) -> Option<SmoothSurface> {
        if !self.is_smooth {
            return None;
        }
        let (of_cell, half) = (number as usize / 2, number as usize % 2);
        let (column, row) = (of_cell % (self.counts[0] - 1), of_cell / (self.counts[0] - 1));
        let normals = self
            .interior_corner_normals([column, row], half)
            .unwrap_or_else(|| self.corner_normals([column, row], half));
        Some(SmoothSurface { normals, edges: [true; 3] })
    }

    /// Returns the unit normals at the three corners of triangle `half` (0 or 1) of the cell at `column` and `row`, anywhere in the field.
    #[inline(never)]
    fn corner_normals(&self, [column, row]: [usize; 2], half: usize) -> [Vec3; 3] {
        let corners = cell_corners(column, row);
        CELL_TRIANGLE_CORNERS[half].map(|corner| self.grid_normal(corners[corner]))
    }

    /// Returns the unit normals at the corners of triangle `half` of a cell by central differences, bit-identical to [`Self::corner_normals`] and
    /// faster. Returns `None` for cells at the border of the field, whose corners have no neighbours on both sides.
    #[inline(always)]
    fn interior_corner_normals(&self, [column, row]: [usize; 2], half: usize) -> Option<[Vec3; 3]> {
        let [first, columns] = [column.checked_sub(1)?, self.counts[0]];
        let from = row.checked_sub(1)? * columns + first;
        if column + 2 >= columns || row + 2 >= self.counts[1] {
            return None;
        }
        let line = |k: usize| self.heights.get(from + k * columns..)?.first_chunk::<4>(); // four heights of one row around the cell
        let [a, b, c, d] = [line(0)?, line(1)?, line(2)?, line(3)?]; // rows from −1 to +2 of the cell
        let [apart_x, apart_y] = self.spacing.map(|spacing| 2.0 * spacing);
        let normal = |x: f32, y: f32| Vec3::new(-(x / apart_x), -(y / apart_y), 1.0).normalize();
        let [least, across] = [normal(b[2] - b[0], c[1] - a[1]), normal(c[3] - c[1], d[2] - b[2])];
        Some(if half == 0 {
            [least, normal(b[3] - b[1], c[2] - a[2]), across]
        } else {
            [least, across, normal(c[2] - c[0], d[1] - b[1])]
        })
    }

    /// Returns the ranges of columns and of rows of cells that the rectangle from `low` to `high` (m from the origin) covers, end exclusive. The
    /// rectangle is enlarged by 0.01 cells against rounding, and the ranges are clamped to the field. Returns `None` if it covers no cell or is not a
    /// number.
    fn cell_ranges(&self, low: [f32; 2], high: [f32; 2]) -> Option<[[u32; 2]; 2]> {
        let mut covered = [[0; 2]; 2];
        for k in 0..2 {
            let last = self.counts[k] as u32 - 1; // number of cells on this axis
            let (first, end) =
                (low[k] / self.spacing[k] - CELL_ROUNDING_MARGIN, high[k] / self.spacing[k] + CELL_ROUNDING_MARGIN);
            if !(end >= 0.0 && first <= last as f32) {
                return None;
            }
            covered[k] = [first.max(0.0) as u32, (end as u32).saturating_add(1).min(last)];
        }
        Some(covered)
    }

    /// Returns the unit normal of the smooth surface at a grid point: `(−∂z/∂x, −∂z/∂y, 1)` normalized, by central differences; one-sided at the
    /// border.
    fn grid_normal(&self, [column, row]: [usize; 2]) -> Vec3 {
        let [columns, rows] = self.counts;
        let line = &self.heights[row * columns..];
        let around = |at: usize, count: usize| (at.saturating_sub(1), (at + 1).min(count - 1));
        let ((left, right), (below, above)) = (around(column, columns), around(row, rows));
        let x = (line[right] - line[left]) / ((right - left) as f32 * self.spacing[0]);
        let y = (self.height(column, above) - self.height(column, below)) / ((above - below) as f32 * self.spacing[1]);
        Vec3::new(-x, -y, 1.0).normalize()
    }
}

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

impl GridCell {
    /// Returns the two triangles of the cell, in the order of their numbers.
    pub fn triangles(&self) -> [Triangle; 2] {
        [0, 1].map(|half| self.triangle(half))
    }

    /// Returns triangle `half` of the cell: 0 is at the corner of largest x and least y, 1 at that of least x and largest y. Corners are
    /// anticlockwise seen from above; the number of the source is increased by `half`.
    #[inline(always)]
    pub(crate) fn triangle(&self, half: usize) -> Triangle {
        let Self { x, y, z, source: [of, number], grip } = *self;
        let least = Vec3::new(x[0], y[0], z[0]);
        let across = Vec3::new(x[1], y[1], z[2]);
        let corners = if half == 0 {
            [least, Vec3::new(x[1], y[0], z[1]), across]
        } else {
            [least, across, Vec3::new(x[0], y[1], z[3])]
        };
        Triangle { corners, source: [of, number + half as u32], grip }
    }

    /// Returns the x, y and z coordinates of the four corners, in SIMD lanes, anticlockwise from the corner of least x and y.
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

/// Returns the grid points (column, row) at the corners of a cell, anticlockwise from the corner of least x and y.
fn cell_corners(column: usize, row: usize) -> [[usize; 2]; 4] {
    [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]]
}

/// Corner indices of the two triangles of a cell, in the order of [`cell_corners`].
pub(crate) const CELL_TRIANGLE_CORNERS: [[usize; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

/// Enlargement of a rectangle in cells against rounding: coordinates of a field have 24 bits.
const CELL_ROUNDING_MARGIN: f32 = 0.01;

/// Returns an error if `grip` is negative or not finite.
fn check_grip(grip: f32) -> Result<(), TerrainFault> {
    if grip >= 0.0 && grip.is_finite() { Ok(()) } else { Err(TerrainFault::InvalidGrip(grip)) }
}

impl TriangleMesh {
    /// Creates a hard and even mesh of triangles of `vertices` (relative to `origin`, m; `origin` world, m), which are solid from both sides.
    /// `triangles` are indices of vertices. Normals are interpolated where faces join at an angle of at most `crease` rad; triangles without an area
    /// are dropped, so that the numbers of the following triangles decrease. `grip` is the factor on the friction of every tyre.
    ///
    /// # Errors
    /// The first [`TerrainFault`]; an invalid grip comes first.
    pub fn new(
        origin: DVec3,
        vertices: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        crease: f32,
        grip: f32,
    ) -> Result<Self, TerrainFault> {
        let surfaces = vec![(grip, SurfaceTexture::NONE); triangles.len()];
        check_grip(grip)?;
        Self::with_surfaces(origin, vertices, triangles, crease, surfaces)
    }

    /// Creates a mesh like [`TriangleMesh::new`], with a grip and a texture for each triangle. Surfaces of dropped triangles are dropped, too.
    ///
    /// # Errors
    /// The first [`TerrainFault`], checked in this order: number of surfaces, grips, textures, coordinates, corner indices, no triangle with an area.
    pub fn with_surfaces(
        origin: DVec3,
        vertices: Vec<Vec3>,
        mut triangles: Vec<[u32; 3]>,
        crease: f32,
        mut surfaces: Vec<(f32, SurfaceTexture)>,
    ) -> Result<Self, TerrainFault> {
        if surfaces.len() != triangles.len() {
            return Err(TerrainFault::SurfaceCountMismatch { surfaces: surfaces.len(), triangles: triangles.len() });
        }
        surfaces.iter().try_for_each(|&(grip, _)| check_grip(grip))?;
        if !surfaces.iter().all(|(_, texture)| texture.is_valid()) {
            return Err(TerrainFault::InvalidTexture);
        }
        if let Some(at) = vertices.iter().position(|at| !at.is_finite()).or((!origin.is_finite()).then_some(0)) {
            return Err(TerrainFault::NotFinite(at));
        }
        let count = vertices.len();
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&corner) = corners.iter().find(|&&corner| corner as usize >= count) {
                return Err(TerrainFault::NoCorner { triangle, corner, count });
            }
        }
        let has_area = |corners: &[u32; 3]| weighted_normal(&vertices, corners).length_squared() > 0.0;
        let mut of_kept = triangles.iter().map(has_area);
        surfaces.retain(|_| of_kept.next().unwrap_or(false));
        triangles.retain(has_area);
        if triangles.is_empty() {
            return Err(TerrainFault::NoTriangle);
        }
        let smooth = compute_smooth_normals(&vertices, &triangles, crease);
        let grips = surfaces.iter().map(|(grip, _)| *grip).collect();
        let is_textured = surfaces.iter().any(|(_, texture)| !texture.is_hard_and_even());
        let textures = surfaces.iter().filter(|_| is_textured).map(|(_, texture)| *texture).collect();
        Ok(Self { origin, vertices, triangles, smooth_triangles: smooth, grips, textures })
    }

    /// Returns the origin of the coordinates, world, m.
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Returns the corners relative to the origin, m.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Returns the triangles as indices of their corners.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Returns the factor on the friction of every tyre, for each triangle.
    pub fn grips(&self) -> &[f32] {
        &self.grips
    }

    /// Returns the texture of triangle `number`; a hard and even one if there is no such triangle or no triangle has a texture.
    pub fn texture(&self, number: u32) -> SurfaceTexture {
        self.textures.get(number as usize).copied().unwrap_or_default()
    }

    /// Returns true if any triangle is not hard and even.
    pub fn is_textured(&self) -> bool {
        !self.textures.is_empty()
    }

    /// Returns triangle `number` with `to_start` (m) added to its corners: the position of the origin relative to the start of a ray. Its source is
    /// `[of, number]`.
    ///
    /// # Panics
    /// There is no such triangle.
    #[inline(always)]
    pub fn triangle(&self, number: u32, to_start: DVec3, of: u32) -> Triangle {
        let moved = |corner: u32| (self.vertices[corner as usize].as_dvec3() + to_start).as_vec3();
        let grip = self.grips[number as usize];
        Triangle { corners: self.triangles[number as usize].map(moved), source: [of, number], grip }
    }

    /// Returns the smooth normals of triangle `number`; `None` if there is no such triangle.
    #[inline(always)]
    pub fn smooth_normals(&self, number: u32) -> Option<SmoothSurface> {
        self.smooth_triangles.get(number as usize).copied()
    }
}

/// Returns the cross product of two edges of a triangle: its normal, with twice its area as length.
fn weighted_normal(vertices: &[Vec3], corners: &[u32; 3]) -> Vec3 {
    let [a, b, c] = corners.map(|corner| vertices[corner as usize]);
    (b - a).cross(c - a)
}

/// Maximum number of triangles around a corner or an edge that are smoothed together. If more share it, each keeps its own normal and a
/// sharp edge. The time therefore grows in proportion to the number of triangles only.
const MAX_SMOOTHED_TRIANGLES: usize = 256;

/// Returns the triangles of `sorted` (pairs of key and triangle, sorted by key) that share the corner or edge `shared`; none if they are more than
/// [`MAX_SMOOTHED_TRIANGLES`].
fn triangles_sharing<K: Ord + Copy>(sorted: &[(K, usize)], shared: K) -> impl Iterator<Item = usize> + Clone {
    let first = sorted.partition_point(|(of, _)| *of < shared);
    let is_more = sorted.get(first + MAX_SMOOTHED_TRIANGLES).is_some_and(|(of, _)| *of == shared);
    let from = if is_more { &[] } else { &sorted[first..] };
    from.iter().take_while(move |(of, _)| *of == shared).map(|(_, triangle)| *triangle)
}

/// Returns the unit normals at the corners of every triangle, and whether the surface is smooth across each edge (a–b, b–c, c–a). A normal is the
/// mean, weighted by area, of the faces around the corner that form an angle of at most `crease` rad with the face. An edge is smooth if at least two
/// triangles share it and all of them are within `crease`. Corners and edges are shared by index, not by position.
fn compute_smooth_normals(vertices: &[Vec3], triangles: &[[u32; 3]], crease: f32) -> Vec<SmoothSurface> {
    let (_, flattest) = crate::math::sin_cos(crease); // cosine of the crease angle
    let weighted: Vec<Vec3> = triangles.iter().map(|corners| weighted_normal(vertices, corners)).collect();
    let key = |from: u32, to: u32| [from.min(to), from.max(to)];
    let (mut around, mut edges) = (Vec::new(), Vec::new()); // (corner, triangle) and (edge, triangle)
    for (i, &[a, b, c]) in triangles.iter().enumerate() {
        around.extend([a, b, c].map(|corner| (corner, i)));
        edges.extend([key(a, b), key(b, c), key(c, a)].map(|edge| (edge, i)));
    }
    around.sort_unstable();
    edges.sort_unstable();
    let unit: Vec<Vec3> = weighted.iter().map(|normal| normal.normalize_or_zero()).collect();
    let is_smooth = |one: usize, other: usize| unit[one].dot(unit[other]) >= flattest;
    let of_one = |(i, corners): (usize, &[u32; 3])| {
        let own = weighted[i];
        let normals = corners.map(|corner| {
            let faces = triangles_sharing(&around, corner).filter(|&face| is_smooth(i, face));
            faces.map(|face| weighted[face]).sum::<Vec3>().normalize_or(own.normalize_or(Vec3::Z))
        });
        let [a, b, c] = *corners;
        let edges = [[a, b], [b, c], [c, a]].map(|[from, to]| {
            let mut faces = triangles_sharing(&edges, key(from, to));
            faces.clone().nth(1).is_some() && faces.all(|face| is_smooth(i, face))
        });
        SmoothSurface { normals, edges }
    };
    triangles.iter().enumerate().map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a fan around one corner and coincident triangles do not increase the time per triangle.
    #[test]
    fn corners_and_edges_of_many_triangles_are_not_smoothed() {
        let fan = |count: u32| {
            let rim = (0..=count).map(|k| Vec3::new(k as f32, 1.0, (k % 2) as f32 * 0.01));
            let vertices = std::iter::once(Vec3::ZERO).chain(rim).collect();
            let triangles = (1..=count).map(|k| [0, k, k + 1]).collect();
            TriangleMesh::new(DVec3::ZERO, vertices, triangles, 1.0, 1.0).expect("a mesh")
        };
        let at_hub = |mesh: &TriangleMesh| mesh.smooth_normals(7).expect("a triangle").normals;
        let small = at_hub(&fan(MAX_SMOOTHED_TRIANGLES as u32));
        assert!(small[0] != small[1]);
        let large = fan(200_000);
        let own = weighted_normal(large.vertices(), &large.triangles()[7]).normalize();
        assert_eq!(at_hub(&large)[0], own);
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        let same = TriangleMesh::new(DVec3::ZERO, vertices, vec![[0, 1, 2]; 200_000], 1.0, 1.0).expect("a mesh");
        let smooth = same.smooth_normals(7).expect("a triangle");
        assert_eq!((smooth.normals, smooth.edges), ([Vec3::Z; 3], [false; 3]));
    }

    /// Checks that a cell inside a field has the normals of its grid points, to the bit.
    #[test]
    fn normals_of_a_cell_are_those_of_its_crossings() {
        let heights = (0..42u32).map(|k| (k * k % 17) as f32 * 0.03).collect();
        let field = HeightField::new(DVec3::ZERO, [0.7, 1.3], [7, 6], heights, true, 1.0).expect("a field");
        let mut within = 0;
        for (column, row) in (0..6).flat_map(|column| (0..5).map(move |row| (column, row))) {
            for half in [0, 1] {
                let Some(found) = field.interior_corner_normals([column, row], half) else { continue };
                assert_eq!(
                    found,
                    CELL_TRIANGLE_CORNERS[half].map(|corner| field.grid_normal(cell_corners(column, row)[corner])),
                    "{column} {row}"
                );
                within += 1;
            }
        }
        assert_eq!(within, 2 * 4 * 3);
    }
}
