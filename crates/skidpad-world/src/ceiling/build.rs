//! Construction of the planes above a terrain: first for the surface within each square, then for that near it.

use skidpad_core::model::Hull;
use skidpad_core::{DVec3, Triangle, TriangleVisitor, Vec3};

use super::{
    CLEARANCE_MARGIN_M, HULL_MARGIN_M, MAX_PARTS, MAX_STEEPNESS, PART_MARGIN_M, ROUNDING_RATIO, Square, TerrainCeiling,
};
use crate::ground::Ground;

/// Margin for rounding in the search for squares, in squares.
const SQUARE_MARGIN: f32 = 0.01;

/// Smallest ratio of the altitude of a triangle over its longest edge to this edge, –. At or below it the triangle
/// counts as degenerate, because its normal is inexact.
const MIN_TRIANGLE_WIDTH: f32 = 1e-3;

/// Number of squares that a terrain may have beyond four for each triangle.
const EXTRA_SQUARES: usize = 1024;

/// Maximum number of squares for the area of the terrain (21 MB, and 46 MB during construction). Incomplete squares at
/// the edges add up to 2 %.
const MAX_SQUARES: usize = 1 << 20;

/// Maximum number of squares along x or y, so that f32 resolves a hundredth of a square.
const MAX_SQUARES_PER_SIDE: f32 = 16_384.0;

/// Smallest vertical component of the normals of the triangles that a plane takes into account, – (60°). The normals of
/// steeper triangles exceed [`MAX_STEEPNESS`], so that no plane near them is used.
const MIN_NORMAL_Z: f32 = 0.5;
const _: () = assert!(MIN_NORMAL_Z * MIN_NORMAL_Z + MAX_STEEPNESS * MAX_STEEPNESS < 1.0);

/// Bounds of all triangles, and their number.
struct Bounds {
    /// Lowest coordinates, m.
    low: Vec3,
    /// Highest coordinates, m.
    high: Vec3,
    /// Number of triangles.
    count: usize,
}

impl TriangleVisitor for Bounds {
    fn visit(&mut self, triangle: &Triangle) {
        for corner in triangle.corners {
            (self.low, self.high) = (self.low.min(corner), self.high.max(corner));
        }
        self.count += 1;
    }
}

/// Grid of squares on the ground plan. Coordinates are relative to its lowest corner, m.
#[derive(Clone, Copy)]
struct Grid {
    /// Side length of a square, m.
    side: f32,
    /// Number of squares along x and along y.
    counts: [usize; 2],
}

impl Grid {
    /// Returns the columns and the rows of the squares that the rectangle from `low` to `high` touches.
    fn touched(&self, low: [f32; 2], high: [f32; 2]) -> [core::ops::Range<usize>; 2] {
        [0, 1].map(|axis| {
            // Conversions saturate below 0 and at the end.
            let first = (low[axis] / self.side - SQUARE_MARGIN) as usize;
            let last = (high[axis] / self.side + SQUARE_MARGIN) as usize;
            first..(last.saturating_add(1)).min(self.counts[axis])
        })
    }

    /// Returns the lowest and the highest coordinate of square `index` along an axis, m.
    fn sides(&self, index: usize) -> [f32; 2] {
        [index as f32 * self.side, (index + 1) as f32 * self.side]
    }
}

/// Surface within a square.
#[derive(Clone, Copy)]
struct Surface {
    /// Sums of the slopes of its triangles along x and y, –.
    slope_sums: [f32; 2],
    /// Number of these triangles.
    count: f32,
    /// Height of its upper plane above the middle of the square, m; −∞ without triangles.
    height: f32,
    /// Largest length of the difference between the unit normals of plane and triangles, –.
    deviation: f32,
    /// Largest horizontal component of the unit normals, –; ∞ at edges and for degenerate triangles.
    steepness: f32,
}

impl Surface {
    /// Surface without triangles.
    const EMPTY: Self =
        Self { slope_sums: [0.0; 2], count: 0.0, height: f32::NEG_INFINITY, deviation: 0.0, steepness: 0.0 };

    /// Returns the mean slopes of the triangles along x and y.
    fn slopes(&self) -> [f32; 2] {
        self.slope_sums.map(|sum| sum / self.count)
    }
}

/// Visitor that adds each triangle to the surfaces of the squares that it touches.
struct SurfaceBuilder {
    grid: Grid,
    surfaces: Vec<Surface>,
    /// Whether the slopes are known: then heights and deviations are set, otherwise slopes and steepness.
    has_slopes: bool,
}

impl TriangleVisitor for SurfaceBuilder {
    fn visit(&mut self, triangle: &Triangle) {
        let [a, b, c] = triangle.corners;
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let normal = (b - a).cross(c - a);
        let longest_edge = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
        let is_wide = normal.length() > MIN_TRIANGLE_WIDTH * longest_edge; // false for NaN
        let normal = normal.normalize_or_zero() * if normal.z < 0.0 { -1.0 } else { 1.0 };
        let steepness = if is_wide { normal.truncate().length() } else { f32::INFINITY };
        let is_gentle = is_wide && normal.z > MIN_NORMAL_Z;
        let slopes = [-normal.x / normal.z, -normal.y / normal.z];
        let [columns, rows] = self.grid.touched([low.x, low.y], [high.x, high.y]);
        for (row, column) in rows.flat_map(|row| columns.clone().map(move |column| (row, column))) {
            let surface = &mut self.surfaces[row * self.grid.counts[0] + column];
            if !self.has_slopes {
                surface.steepness = surface.steepness.max(steepness);
                if is_gentle {
                    surface.count += 1.0;
                    surface.slope_sums = [0, 1].map(|axis| surface.slope_sums[axis] + slopes[axis]);
                }
            } else if is_gentle {
                let plane_slopes = surface.slopes();
                let plane_normal = normal_of(plane_slopes);
                surface.deviation = surface.deviation.max((normal - plane_normal).length());
                let middle = [column, row].map(|index| (index as f32 + 0.5) * self.grid.side);
                // Height of a point over the plane through the middle of the square, m.
                let above =
                    |[x, y, z]: [f32; 3]| z - plane_slopes[0] * (x - middle[0]) - plane_slopes[1] * (y - middle[1]);
                let highest_corner =
                    triangle.corners.map(|corner| above(corner.to_array())).into_iter().fold(f32::MIN, f32::max);
                // Part of the bounding rectangle of the triangle within the square.
                let [xs, ys] = [(low.x, high.x, column), (low.y, high.y, row)].map(|(low, high, index)| {
                    let [square_low, square_high] = self.grid.sides(index);
                    [square_low.clamp(low, high), square_high.clamp(low, high)]
                });
                let on_triangle = |x: f32, y: f32| [x, y, a.z + slopes[0] * (x - a.x) + slopes[1] * (y - a.y)];
                let highest_within = corners_of(xs, ys).map(|[x, y]| above(on_triangle(x, y)));
                let highest_within = highest_within.into_iter().fold(f32::MIN, f32::max);
                surface.height = surface.height.max(highest_corner.min(highest_within));
            }
        }
    }
}

/// Returns the unit normal, upwards, of a plane with these slopes along x and y.
fn normal_of([slope_x, slope_y]: [f32; 2]) -> Vec3 {
    Vec3::new(-slope_x, -slope_y, 1.0).normalize()
}

/// Returns the corners of a rectangle from its lowest and highest coordinates along both axes.
fn corners_of([x0, x1]: [f32; 2], [y0, y1]: [f32; 2]) -> [[f32; 2]; 4] {
    [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
}

impl TerrainCeiling {
    /// Builds the planes above the terrain of `ground` for `hull`; `None` without terrain, and for terrain whose size
    /// is beyond f32. Visits every triangle three times, which takes about a tenth of a second per million triangles.
    pub fn new(ground: &Ground, hull: Hull) -> Option<Self> {
        let terrain = &ground.terrain;
        let first_origin = terrain.first_origin()?;
        let mut bounds = Bounds { low: Vec3::splat(f32::INFINITY), high: Vec3::splat(f32::NEG_INFINITY), count: 0 };
        terrain.visit_all(first_origin, &mut bounds);
        let half_extents = hull.half_extents;
        let part_count = (half_extents.x / half_extents.y).round().clamp(1.0, MAX_PARTS as f32);
        let part_half_extents = Vec3::new(half_extents.x / part_count, half_extents.y, half_extents.z);
        // Largest distance, from the middle of a part, of a triangle that the search for contact points visits, m.
        let hull_reach = half_extents.x + half_extents.length() + HULL_MARGIN_M + terrain.search_margin();
        let extent = (bounds.high - bounds.low).truncate() + 2.0 * hull_reach;
        let square_count = (4 * bounds.count + EXTRA_SQUARES).min(MAX_SQUARES) as f32;
        let mean_side = extent.x.sqrt() * (extent.y / square_count).sqrt();
        let part_reach = part_half_extents.length() + PART_MARGIN_M;
        // A third: smaller squares would hardly lower the planes, which are above everything within `part_reach`.
        let side = mean_side.max(part_reach / 3.0).max(extent.max_element() / MAX_SQUARES_PER_SIDE);
        if !side.is_finite() {
            return None;
        }
        let grid = Grid { side, counts: extent.to_array().map(|length| (length / side + SQUARE_MARGIN) as usize + 1) };
        let corner = bounds.low.truncate() - hull_reach;
        let origin = first_origin + DVec3::new(corner.x.into(), corner.y.into(), 0.0);

        let surfaces = vec![Surface::EMPTY; grid.counts[0] * grid.counts[1]];
        let mut builder = SurfaceBuilder { grid, surfaces, has_slopes: false };
        terrain.visit_all(origin, &mut builder);
        builder.has_slopes = true;
        terrain.visit_all(origin, &mut builder);
        let mut surfaces = builder.surfaces;
        for (field_origin, size) in terrain.field_rectangles() {
            let low = (field_origin - origin).as_vec3();
            let [x, y] = [[low.x, low.x + size[0]], [low.y, low.y + size[1]]];
            mark_edges(&grid, &mut surfaces, x, y);
        }
        spread_steepness(&grid, &mut surfaces, (hull_reach / side).ceil() as usize);
        let reach = part_reach + SQUARE_MARGIN * side;
        let squares = (0..surfaces.len()).map(|index| square(&grid, &surfaces, index, reach)).collect();
        let largest_coordinate = extent.max_element() + bounds.low.z.abs().max(bounds.high.z.abs());
        let step = 2.0 * part_half_extents.x;
        let part_centre = |part: usize| hull.centre + Vec3::new(step * (part as f32 + 0.5) - half_extents.x, 0.0, 0.0);
        Some(Self {
            origin,
            side,
            squares_per_metre: side.recip(),
            // Contains all triangles, and is less than all squares, so that no rounding leads to a square that does not
            // exist.
            size: grid.counts.map(|count| (count as f32 - SQUARE_MARGIN) * side),
            columns: grid.counts[0],
            squares,
            margin: CLEARANCE_MARGIN_M + ROUNDING_RATIO * largest_coordinate,
            part_centres: (0..part_count as usize).map(part_centre).collect(),
            part_half_extents,
            hull_centre: hull.centre,
            hull_radius: half_extents.length() + hull.centre.length(),
        })
    }
}

/// Sets the steepness of the squares on the four edges of the rectangle with these coordinates (m) to ∞.
fn mark_edges(grid: &Grid, surfaces: &mut [Surface], x: [f32; 2], y: [f32; 2]) {
    for (low, high) in [
        ([x[0], y[0]], [x[1], y[0]]),
        ([x[0], y[1]], [x[1], y[1]]),
        ([x[0], y[0]], [x[0], y[1]]),
        ([x[1], y[0]], [x[1], y[1]]),
    ] {
        let [columns, rows] = grid.touched(low, high);
        for row in rows {
            for column in columns.clone() {
                surfaces[row * grid.counts[0] + column].steepness = f32::INFINITY;
            }
        }
    }
}

/// Replaces the steepness of each square by the largest one of the squares up to `reach` columns and rows away.
fn spread_steepness(grid: &Grid, surfaces: &mut [Surface], reach: usize) {
    let [columns, rows] = grid.counts;
    // Lines of squares: their number, the distance between them, the length of a line and the distance of its squares.
    for (line_count, line_step, length, step) in [(rows, columns, columns, 1), (columns, 1, rows, columns)] {
        for line in 0..line_count {
            let at = |index: usize| line * line_step + index * step;
            let values: Vec<f32> = (0..length).map(|index| surfaces[at(index)].steepness).collect();
            for index in 0..length {
                let near = &values[index.saturating_sub(reach)..(index + reach + 1).min(length)];
                surfaces[at(index)].steepness = near.iter().copied().fold(0.0, f32::max);
            }
        }
    }
}

/// Returns the plane above the surfaces within `reach` m of the square with this index.
fn square(grid: &Grid, surfaces: &[Surface], index: usize, reach: f32) -> Square {
    let (column, row) = (index % grid.counts[0], index / grid.counts[0]);
    let [region_x, region_y] = [column, row].map(|index| {
        let [low, high] = grid.sides(index);
        [low - reach, high + reach]
    });
    let [columns, rows] = grid.touched([region_x[0], region_y[0]], [region_x[1], region_y[1]]);
    let near = rows.flat_map(|row| columns.clone().map(move |column| (column, row)));
    let near = near.map(|(column, row)| (column, row, &surfaces[row * grid.counts[0] + column]));
    let near = near.filter(|(.., surface)| surface.count > 0.0);
    let steepness = surfaces[index].steepness;
    let (mut slopes, mut count) = ([0.0; 2], 0.0);
    for (.., surface) in near.clone() {
        let surface_slopes = surface.slopes();
        slopes = [0, 1].map(|axis| slopes[axis] + surface_slopes[axis]);
        count += 1.0;
    }
    if count == 0.0 {
        return Square { height: f32::NEG_INFINITY, slopes: [0.0; 2], deviation: 0.0, steepness };
    }
    let slopes = slopes.map(|sum| sum / count);
    let normal = normal_of(slopes);
    let middle = |index: usize| (index as f32 + 0.5) * grid.side;
    let (mut height, mut deviation) = (f32::NEG_INFINITY, 0.0_f32);
    for (near_column, near_row, surface) in near {
        let surface_slopes = surface.slopes();
        deviation = deviation.max(surface.deviation + (normal_of(surface_slopes) - normal).length());
        // Part of the square within the region.
        let [xs, ys] = [(near_column, region_x), (near_row, region_y)]
            .map(|(index, [low, high])| grid.sides(index).map(|side| side.clamp(low, high)));
        for [x, y] in corners_of(xs, ys) {
            let surface_height = surface.height
                + surface_slopes[0] * (x - middle(near_column))
                + surface_slopes[1] * (y - middle(near_row));
            height = height.max(surface_height - slopes[0] * (x - middle(column)) - slopes[1] * (y - middle(row)));
        }
    }
    Square { height, slopes, deviation, steepness }
}
