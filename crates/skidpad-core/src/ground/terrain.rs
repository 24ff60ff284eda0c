//! Ground that is not plane, as plain numbers: height fields and triangle meshes.

use crate::ground::cells::{CELL_TRIANGLE_CORNERS, CellPatch, GridCell, TriangleVisitor};
use crate::ground::rim_contact::{SmoothSurface, Triangle};
use crate::port::texture::SurfaceTexture;
use bevy_math::{DVec3, Vec3};

/// Heights over a rectangular grid. The diagonal from the corner of least x and y divides each cell into two triangles.
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
    /// Creates a field of `heights` (m) above `origin` (world, m). The first height is at the origin, the next ones
    /// follow along x, row by row along y; `counts` and `spacing` (m) apply along x and along y. If `smooth` is true,
    /// normals are interpolated across cells. `grip` is the factor on the friction of every tyre. The surface is hard
    /// and even; see [`HeightField::with_texture`].
    ///
    /// # Errors
    /// The first [`TerrainFault`], checked in this order: fewer than 2 × 2 heights, number of heights, spacing, grip, a
    /// height or origin that is not finite.
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
        if let Some(invalid) = spacing.into_iter().find(|value| !(*value > 0.0 && value.is_finite())) {
            return Err(TerrainFault::InvalidSpacing(invalid));
        }
        check_grip(grip)?;
        if let Some(index) =
            heights.iter().position(|height| !height.is_finite()).or((!origin.is_finite()).then_some(0))
        {
            return Err(TerrainFault::NotFinite(index));
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

    /// Passes every cell that the box from `min_corner` to `max_corner` (relative to the origin, m) may touch to the
    /// `visitor`, row by row. Skips cells whose four heights are all below or all above the box. `to_start` (m) is
    /// added to the coordinates: the position of the origin relative to the start of a ray. The source of a triangle is
    /// `[source_id, triangle number]`. The first triangle of a cell has the number
    /// `2 · (row · cells per row + column)`.
    #[inline(always)]
    pub fn visit_near(
        &self,
        min_corner: Vec3,
        max_corner: Vec3,
        to_start: DVec3,
        source_id: u32,
        visitor: &mut impl TriangleVisitor,
    ) {
        let Some([columns, rows]) = self.cell_ranges([min_corner.x, min_corner.y], [max_corner.x, max_corner.y]) else {
            return;
        };
        let grid_coordinate = |line: u32, axis: usize| self.grid_coordinate(line, axis, to_start);
        // Heights of a row at the grid lines of the covered columns; empty if the row does not exist.
        let row_heights = |row: u32| {
            let row_start = row as usize * self.counts[0];
            self.heights.get(row_start + columns[0] as usize..=row_start + columns[1] as usize).unwrap_or_default()
        };
        for row in rows[0]..rows[1] {
            let y = [grid_coordinate(row, 1), grid_coordinate(row + 1, 1)];
            let height_pairs = row_heights(row).windows(2).zip(row_heights(row + 1).windows(2));
            for (column, (near_pair, far_pair)) in (columns[0]..).zip(height_pairs) {
                let heights = [near_pair[0], near_pair[1], far_pair[1], far_pair[0]]; // anticlockwise
                if is_outside(&heights, min_corner.z, max_corner.z) {
                    continue;
                }
                let x = [grid_coordinate(column, 0), grid_coordinate(column + 1, 0)];
                let z = heights.map(|height| (f64::from(height) + to_start.z) as f32);
                let triangle_number = 2 * (row * (self.counts[0] as u32 - 1) + column);
                visitor.visit_cell(&GridCell { x, y, z, source: [source_id, triangle_number], grip: self.grip });
            }
        }
    }

    /// Returns the coordinate of a grid line on an `axis` (0 is x, 1 is y) from the start of a ray, m. `to_start` is
    /// the position of the origin of the field relative to this start, m.
    #[inline(always)]
    fn grid_coordinate(&self, line: u32, axis: usize, to_start: DVec3) -> f32 {
        (f64::from(line as f32 * self.spacing[axis]) + to_start[axis]) as f32
    }

    /// Returns the cell below a box in the interior of the field, with the heights around it. If this is `Some`,
    /// [`HeightField::visit_near`] visits only this cell for these arguments. `None` if the box (with a margin for
    /// rounding) covers several cells in plan, reaches the border cells, or is above or below all four corners.
    #[inline(always)]
    pub fn patch_near(&self, min_corner: Vec3, max_corner: Vec3, to_start: DVec3, source_id: u32) -> Option<CellPatch> {
        let mut cell = [0; 2];
        for axis in 0..2 {
            let (first_cell, end_cell) = (
                min_corner[axis] / self.spacing[axis] - CELL_ROUNDING_MARGIN,
                max_corner[axis] / self.spacing[axis] + CELL_ROUNDING_MARGIN,
            );
            // 1.0 and 2: cells at the border have fewer neighbours. False for NaN.
            let is_interior = first_cell >= 1.0 && end_cell < (self.counts[axis] - 2) as f32 && first_cell <= end_cell;
            cell[axis] = if is_interior { first_cell as u32 } else { return None };
            if end_cell >= (cell[axis] + 1) as f32 {
                return None;
            }
        }
        let [column, row] = cell;
        let heights = self.interior_heights([column as usize, row as usize])?;
        let [_, [_, z0, z1, _], [_, z3, z2, _], _] = heights;
        let corner_heights = [z0, z1, z2, z3];
        if is_outside(&corner_heights, min_corner.z, max_corner.z) {
            return None;
        }
        let z = corner_heights.map(|height| (f64::from(height) + to_start.z) as f32);
        let lines = |cell: u32, axis: usize| [cell, cell + 1].map(|line| self.grid_coordinate(line, axis, to_start));
        let triangle_number = 2 * (row * (self.counts[0] as u32 - 1) + column);
        let source = [source_id, triangle_number];
        let cell = GridCell { x: lines(column, 0), y: lines(row, 1), z, source, grip: self.grip };
        Some(CellPatch { cell, heights })
    }

    /// Returns the heights at the grid points around the cell at `column` and `row`, see [`CellPatch::heights`]; `None`
    /// for cells at the border of the field.
    #[inline(always)]
    fn interior_heights(&self, [column, row]: [usize; 2]) -> Option<[[f32; 4]; 4]> {
        let [first_column, columns] = [column.checked_sub(1)?, self.counts[0]];
        let first_index = row.checked_sub(1)? * columns + first_column;
        if column + 2 >= columns || row + 2 >= self.counts[1] {
            return None;
        }
        let row_heights =
            |row_offset: usize| self.heights.get(first_index + row_offset * columns..)?.first_chunk::<4>().copied();
        Some([row_heights(0)?, row_heights(1)?, row_heights(2)?, row_heights(3)?])
    }

    /// Returns the distance from a box up to which [`HeightField::visit_near`] visits cells, m.
    pub fn search_margin(&self) -> f32 {
        CELL_ROUNDING_MARGIN * self.spacing[0].max(self.spacing[1])
    }

    /// Returns whether normals are interpolated across cells.
    pub fn is_smooth(&self) -> bool {
        self.is_smooth
    }

    /// Returns the normals at the corners of triangle `triangle_number`, smooth across all three edges; `None` if the
    /// field is flat-shaded. `triangle_number / 2` is the cell and `triangle_number % 2` the half of it.
    #[inline(always)]
    pub fn smooth_normals(&self, triangle_number: u32) -> Option<SmoothSurface> {
        if !self.is_smooth {
            return None;
        }
        let (cell_index, half) = (triangle_number as usize / 2, triangle_number as usize % 2);
        let (column, row) = (cell_index % (self.counts[0] - 1), cell_index / (self.counts[0] - 1));
        let normals = self
            .interior_corner_normals([column, row], half)
            .unwrap_or_else(|| self.corner_normals([column, row], half));
        Some(SmoothSurface { normals, edges: [true; 3] })
    }

    /// Returns the unit normals at the corners of triangle `half` (0 or 1) of the cell at `column` and `row`, also at
    /// the border of the field.
    #[inline(never)]
    fn corner_normals(&self, [column, row]: [usize; 2], half: usize) -> [Vec3; 3] {
        let corners = cell_corners(column, row);
        CELL_TRIANGLE_CORNERS[half].map(|corner| self.grid_normal(corners[corner]))
    }

    /// Returns the unit normals at the corners of triangle `half` (0 or 1) of the cell at `column` and `row`, by
    /// central differences: bit-identical to [`Self::corner_normals`] and faster. Returns `None` for cells at the
    /// border of the field, whose corners have no neighbours on both sides.
    #[inline(always)]
    fn interior_corner_normals(&self, cell: [usize; 2], half: usize) -> Option<[Vec3; 3]> {
        // Rows −1 to +2. The corners of the cell are b[1], b[2], c[2], c[1], anticlockwise.
        let [a, b, c, d] = self.interior_heights(cell)?;
        let [double_spacing_x, double_spacing_y] = self.spacing.map(|spacing| 2.0 * spacing);
        let normal = |z_change_x: f32, z_change_y: f32| {
            Vec3::new(-(z_change_x / double_spacing_x), -(z_change_y / double_spacing_y), 1.0).normalize()
        };
        // At b[1] and c[2]; the third corner is b[2] or c[1].
        let [min_corner_normal, max_corner_normal] =
            [normal(b[2] - b[0], c[1] - a[1]), normal(c[3] - c[1], d[2] - b[2])];
        Some(if half == 0 {
            [min_corner_normal, normal(b[3] - b[1], c[2] - a[2]), max_corner_normal]
        } else {
            [min_corner_normal, max_corner_normal, normal(c[2] - c[0], d[1] - b[1])]
        })
    }

    /// Returns the ranges of columns and of rows of cells that the rectangle from `min_corner` to `max_corner` (m from
    /// the origin) covers, end exclusive. The rectangle is enlarged by 0.01 cells against rounding, and the ranges are
    /// clamped to the field. Returns `None` if the rectangle covers no cell, has its upper corner below its lower one,
    /// or is not a number.
    fn cell_ranges(&self, min_corner: [f32; 2], max_corner: [f32; 2]) -> Option<[[u32; 2]; 2]> {
        let mut ranges = [[0; 2]; 2];
        for axis in 0..2 {
            let cell_count = self.counts[axis] as u32 - 1; // number of cells on this axis
            let (first_cell, end_cell) = (
                min_corner[axis] / self.spacing[axis] - CELL_ROUNDING_MARGIN,
                max_corner[axis] / self.spacing[axis] + CELL_ROUNDING_MARGIN,
            );
            // Written so that a NaN returns `None`.
            if !(end_cell >= 0.0 && first_cell < cell_count as f32 && first_cell <= end_cell) {
                return None;
            }
            ranges[axis] = [first_cell.max(0.0) as u32, (end_cell as u32).saturating_add(1).min(cell_count)];
        }
        Some(ranges)
    }

    /// Returns the unit normal of the smooth surface at a grid point: `(−∂z/∂x, −∂z/∂y, 1)` normalized. Slopes are
    /// central differences over two cells; at the border of the field, differences over the one cell inside.
    fn grid_normal(&self, [column, row]: [usize; 2]) -> Vec3 {
        let [columns, rows] = self.counts;
        let row_heights = &self.heights[row * columns..];
        let neighbours = |index: usize, count: usize| (index.saturating_sub(1), (index + 1).min(count - 1));
        let ((left_column, right_column), (row_below, row_above)) =
            (neighbours(column, columns), neighbours(row, rows));
        let slope_x = (row_heights[right_column] - row_heights[left_column])
            / ((right_column - left_column) as f32 * self.spacing[0]);
        let slope_y = (self.height(column, row_above) - self.height(column, row_below))
            / ((row_above - row_below) as f32 * self.spacing[1]);
        Vec3::new(-slope_x, -slope_y, 1.0).normalize()
    }
}

/// Returns true if all `heights` are below `low` or all are above `high`, m.
#[inline(always)]
fn is_outside(heights: &[f32; 4], low: f32, high: f32) -> bool {
    heights.iter().all(|height| *height < low) || heights.iter().all(|height| *height > high)
}

/// Returns the grid points (column, row) at the corners of a cell, anticlockwise from the corner of least x and y.
fn cell_corners(column: usize, row: usize) -> [[usize; 2]; 4] {
    [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]]
}

/// Enlargement of a rectangle in cells against rounding: coordinates of a field have 24 bits.
const CELL_ROUNDING_MARGIN: f32 = 0.01;

/// Returns an error if `grip` is negative or not finite.
fn check_grip(grip: f32) -> Result<(), TerrainFault> {
    if grip >= 0.0 && grip.is_finite() { Ok(()) } else { Err(TerrainFault::InvalidGrip(grip)) }
}

impl TriangleMesh {
    /// Creates a hard and even mesh of triangles of `vertices` (relative to `origin`, m; `origin` world, m), which are
    /// solid from both sides. `triangles` are indices of vertices. Normals are interpolated where faces join at an
    /// angle of at most `crease` rad; triangles without an area are dropped, so that the numbers of the following
    /// triangles decrease. `grip` is the factor on the friction of every tyre.
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

    /// Creates a mesh like [`TriangleMesh::new`], with a grip and a texture for each triangle. Triangles without an
    /// area are dropped together with their surfaces. Textures are stored only if some triangle is not hard and even.
    ///
    /// # Errors
    /// The first [`TerrainFault`], checked in this order: number of surfaces, grips, textures, coordinates, corner
    /// indices, no triangle with an area.
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
        if let Some(index) =
            vertices.iter().position(|vertex| !vertex.is_finite()).or((!origin.is_finite()).then_some(0))
        {
            return Err(TerrainFault::NotFinite(index));
        }
        let count = vertices.len();
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&corner) = corners.iter().find(|&&corner| corner as usize >= count) {
                return Err(TerrainFault::NoCorner { triangle, corner, count });
            }
        }
        let has_area = |corners: &[u32; 3]| weighted_normal(&vertices, corners).length_squared() > 0.0;
        let mut keep_flags = triangles.iter().map(has_area); // before any triangle is dropped
        surfaces.retain(|_| keep_flags.next().unwrap_or(false));
        triangles.retain(has_area);
        if triangles.is_empty() {
            return Err(TerrainFault::NoTriangle);
        }
        let smooth_triangles = compute_smooth_normals(&vertices, &triangles, crease);
        let grips = surfaces.iter().map(|(grip, _)| *grip).collect();
        let is_textured = surfaces.iter().any(|(_, texture)| !texture.is_hard_and_even());
        let textures = surfaces.iter().filter(|_| is_textured).map(|(_, texture)| *texture).collect();
        Ok(Self { origin, vertices, triangles, smooth_triangles, grips, textures })
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

    /// Returns the texture of triangle `triangle_number`; a hard and even one if there is no such triangle or no
    /// triangle has a texture.
    pub fn texture(&self, triangle_number: u32) -> SurfaceTexture {
        self.textures.get(triangle_number as usize).copied().unwrap_or_default()
    }

    /// Returns true if any triangle is not hard and even.
    pub fn is_textured(&self) -> bool {
        !self.textures.is_empty()
    }

    /// Returns triangle `triangle_number` with `to_start` (m) added to its corners: the position of the origin relative
    /// to the start of a ray. The source is `[source_id, triangle_number]`.
    ///
    /// # Panics
    /// There is no such triangle.
    #[inline(always)]
    pub fn triangle(&self, triangle_number: u32, to_start: DVec3, source_id: u32) -> Triangle {
        let corner_from_start = |corner: u32| (self.vertices[corner as usize].as_dvec3() + to_start).as_vec3();
        let grip = self.grips[triangle_number as usize];
        Triangle {
            corners: self.triangles[triangle_number as usize].map(corner_from_start),
            source: [source_id, triangle_number],
            grip,
        }
    }

    /// Returns the smooth normals of triangle `triangle_number`; `None` if there is no such triangle.
    #[inline(always)]
    pub fn smooth_normals(&self, triangle_number: u32) -> Option<SmoothSurface> {
        self.smooth_triangles.get(triangle_number as usize).copied()
    }
}

/// Returns the cross product of two edges of a triangle: its normal, with twice its area as length.
fn weighted_normal(vertices: &[Vec3], corners: &[u32; 3]) -> Vec3 {
    let [a, b, c] = corners.map(|corner| vertices[corner as usize]);
    (b - a).cross(c - a)
}

/// Maximum number of triangles around a corner or an edge that are smoothed together. If more share it, each keeps its
/// own normal and a sharp edge. The time therefore grows in proportion to the number of triangles only.
const MAX_SMOOTHED_TRIANGLES: usize = 256;

/// Returns the triangles that share the corner or edge `shared_key`; none if they are more than
/// [`MAX_SMOOTHED_TRIANGLES`]. `sorted` has pairs of a key (corner or edge) and a triangle that has it, sorted by key.
fn triangles_sharing<K: Ord + Copy>(sorted: &[(K, usize)], shared_key: K) -> impl Iterator<Item = usize> + Clone {
    let first_index = sorted.partition_point(|(key, _)| *key < shared_key);
    let is_over_limit = sorted.get(first_index + MAX_SMOOTHED_TRIANGLES).is_some_and(|(key, _)| *key == shared_key);
    let sharing = if is_over_limit { &[] } else { &sorted[first_index..] };
    sharing.iter().take_while(move |(key, _)| *key == shared_key).map(|(_, triangle)| *triangle)
}

/// Returns for each triangle the unit normals at its corners, and whether the surface is smooth across its edges (a–b,
/// b–c, c–a). A corner normal is the mean, weighted by area, of all faces at the corner that form an angle of at most
/// `crease` rad with this triangle. An edge is smooth if at least two triangles share it and all are within `crease` of
/// this one. If more than [`MAX_SMOOTHED_TRIANGLES`] share a corner or edge, the corner has the face normal and the
/// edge is sharp. Triangles share corners and edges by vertex index, not by position.
fn compute_smooth_normals(vertices: &[Vec3], triangles: &[[u32; 3]], crease: f32) -> Vec<SmoothSurface> {
    let (_, crease_cosine) = skidpad_simd::math::sin_cos(crease); // cosine of the crease angle
    let area_normals: Vec<Vec3> = triangles.iter().map(|corners| weighted_normal(vertices, corners)).collect();
    let edge_key = |edge_start: u32, edge_end: u32| [edge_start.min(edge_end), edge_start.max(edge_end)];
    let (mut corner_triangles, mut edge_triangles) = (Vec::new(), Vec::new()); // of (corner or edge, triangle)
    for (i, &[a, b, c]) in triangles.iter().enumerate() {
        corner_triangles.extend([a, b, c].map(|corner| (corner, i)));
        edge_triangles.extend([edge_key(a, b), edge_key(b, c), edge_key(c, a)].map(|edge| (edge, i)));
    }
    corner_triangles.sort_unstable();
    edge_triangles.sort_unstable();
    let unit_normals: Vec<Vec3> = area_normals.iter().map(|normal| normal.normalize_or_zero()).collect();
    let is_smooth = |face: usize, other_face: usize| unit_normals[face].dot(unit_normals[other_face]) >= crease_cosine;
    // Second pass: normals and edges of each triangle from its neighbours.
    let smooth_triangle = |(i, corners): (usize, &[u32; 3])| {
        let area_normal = area_normals[i];
        let normals = corners.map(|corner| {
            let faces = triangles_sharing(&corner_triangles, corner).filter(|&face| is_smooth(i, face));
            faces.map(|face| area_normals[face]).sum::<Vec3>().normalize_or(area_normal.normalize_or(Vec3::Z))
        });
        let [a, b, c] = *corners;
        let edges = [[a, b], [b, c], [c, a]].map(|[edge_start, edge_end]| {
            let mut faces = triangles_sharing(&edge_triangles, edge_key(edge_start, edge_end));
            // At least two triangles share the edge, and all of them are within the crease.
            faces.clone().nth(1).is_some() && faces.all(|face| is_smooth(i, face))
        });
        SmoothSurface { normals, edges }
    };
    triangles.iter().enumerate().map(smooth_triangle).collect()
}

#[cfg(test)]
mod tests;
