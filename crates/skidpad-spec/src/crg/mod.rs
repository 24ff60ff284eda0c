//! Roads of ASAM OpenCRG 1.2: heights on a grid along a curved line.
//!
//! This module reads the text formats `LRFI` and `LDFI` ([`CrgRoad::read`]), and evaluates the surface of a road
//! ([`CrgRoad::evaluate_at`]). Binary formats, modifiers, and options that change the surface are refused by name. Map
//! projections are skipped.
//!
//! A road keeps the position of its file. If a file has no block of modifiers, OpenCRG's own tools move the start of
//! the road to the origin with heading 0, and fill missing heights. Here missing heights are holes.

mod data;
mod header;

use crate::Faults;
use crate::fault_collector::FaultCollector;
use skidpad_core::{DVec2, DVec3, math};

/// Maximum number of points of a road.
const MAX_ROAD_POINTS: usize = 25_000_000;

/// Road as its file describes it, in metres. u runs along the reference line, v across it to the left.
#[derive(Clone, Debug, PartialEq)]
pub struct CrgRoad {
    /// u of the first cross-section, m.
    start_u: f64,
    /// Distance between cross-sections along u, m.
    increment: f64,
    /// v of the long sections in rising order, m.
    long_section_v: Vec<f64>,
    /// Point of the reference line at each cross-section, m.
    reference_line: Vec<DVec3>,
    /// Cross slope at each cross-section, –. Positive if the road rises to the left.
    banking: Vec<f64>,
    /// Directions to the left at the start and the end of each interval, with the length that corresponds to one metre
    /// of v.
    left_directions: Vec<[DVec2; 2]>,
    /// Heights above reference line and banking, m, cross-section by cross-section, from the right to the left. NaN
    /// where there is no road.
    heights: Vec<f64>,
}

/// Point of the surface of a road.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrgPoint {
    /// Position in the coordinates of the file, m.
    pub position: DVec3,
    /// Unit normal, upwards.
    pub normal: DVec3,
}

impl CrgRoad {
    /// Reads the bytes of a file: first its header, then its data. Bytes that are not UTF-8 are replaced. `source_name`
    /// names the file in fault reports.
    ///
    /// # Errors
    /// Returns every fault of the file at once: missing, contradictory or unsupported entries of its header, and values
    /// that are no numbers. The data is not read if the header has no end or no format.
    pub fn read(source_name: &str, bytes: &[u8]) -> Result<Self, Faults> {
        let text = String::from_utf8_lossy(bytes);
        let mut collector = FaultCollector::default();
        let road =
            header::read(&text, &mut collector).and_then(|header| data::build_road(&text, &header, &mut collector));
        match road {
            Some(road) if collector.faults.is_empty() => Ok(road),
            _ => Err(collector.into_faults(source_name, &text)),
        }
    }

    /// Returns u of the first and of the last cross-section, m.
    pub fn u_range(&self) -> [f64; 2] {
        [self.start_u, self.start_u + (self.reference_line.len() - 1) as f64 * self.increment]
    }

    /// Returns v of the long sections, from the right to the left, m.
    pub fn long_section_v(&self) -> &[f64] {
        &self.long_section_v
    }

    /// Computes position and upward unit normal of the surface at `u` along the reference line and `v` to its left (m).
    /// The heights h are bilinear in each cell of the grid. Reference height and banking b are linear in u:
    /// `z = zref(u) + b(u) v + h(u, v)`. Horizontally, the point at v is found on both cross-sections of the cell,
    /// along their directions to the left, and interpolated by u. The normal is the cross product of the tangents along
    /// u and v. Returns `None` outside of the road (its edges belong to it), and where a missing height contributes.
    pub fn evaluate_at(&self, u: f64, v: f64) -> Option<CrgPoint> {
        // Position along the line in intervals.
        let line_position = (u - self.start_u) / self.increment;
        let last_row = self.reference_line.len() - 1;
        if !((0.0..=last_row as f64).contains(&line_position)
            && self.long_section_v[0] <= v
            && v <= self.long_section_v[self.long_section_v.len() - 1])
        {
            return None;
        }
        let row = (line_position as usize).min(last_row - 1);
        // Last long section at or right of v; at the left edge the one before the last.
        let column =
            self.long_section_v.partition_point(|&section_v| section_v <= v).clamp(1, self.long_section_v.len() - 1)
                - 1;
        let cell_width = self.long_section_v[column + 1] - self.long_section_v[column];
        // Relative position in the cell along u and v, 0 to 1.
        let (s, t) = (line_position - row as f64, (v - self.long_section_v[column]) / cell_width);
        // Indices: step along u, step along v.
        let [h00, h01, h10, h11] = self.cell_heights(row, column, s, t)?;
        // Bilinear coefficient of the heights.
        let twist = h11 - h10 - h01 + h00;
        let (point, next_point) = (self.reference_line[row], self.reference_line[row + 1]);
        let (start_banking, banking_change) = (self.banking[row], self.banking[row + 1] - self.banking[row]);
        let banking = start_banking + s * banking_change;
        let height = h00 + s * (h10 - h00) + t * (h01 - h00) + s * t * twist;
        let z = point.z + s * (next_point.z - point.z) + banking * v + height;
        // Slopes of the surface along u and v.
        let z_u = (h10 - h00 + t * twist + next_point.z - point.z + v * banking_change) / self.increment;
        let z_v = (h01 - h00 + s * twist) / cell_width + banking;
        // Points of the surface at v on the near and the far cross-section, m.
        let [left_start, left_end] = self.left_directions[row];
        let (near_point, far_point) = (point.truncate() + left_start * v, next_point.truncate() + left_end * v);
        let (tangent_u, tangent_v) =
            ((far_point - near_point) / self.increment, left_start + (left_end - left_start) * s);
        let normal = tangent_u.extend(z_u).cross(tangent_v.extend(z_v)).normalize_or(DVec3::Z);
        Some(CrgPoint { position: near_point.lerp(far_point, s).extend(z), normal })
    }

    /// Returns the heights at the corners of a cell: near right, near left, far right, far left. `s` and `t` are the
    /// relative position in the cell along u and v, 0 to 1. Returns `None` if a missing height has a bilinear weight
    /// above 0. Missing heights of weight 0 are returned as 0.
    fn cell_heights(&self, row: usize, column: usize, s: f64, t: f64) -> Option<[f64; 4]> {
        let corners = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[i, j]| {
            let weight = (if i == 0 { 1.0 - s } else { s }) * (if j == 0 { 1.0 - t } else { t });
            (self.height(row + i, column + j), weight)
        });
        let is_missing = corners.iter().any(|&(height, weight)| height.is_nan() && weight > 0.0);
        (!is_missing).then(|| corners.map(|(height, _)| if height.is_nan() { 0.0 } else { height }))
    }

    /// Returns the height at a grid point above reference line and banking, m; NaN if it is missing.
    fn height(&self, row: usize, column: usize) -> f64 {
        self.heights[row * self.long_section_v.len() + column]
    }

    /// Returns the number of cross-sections and of long sections.
    pub(crate) fn grid_counts(&self) -> [usize; 2] {
        [self.reference_line.len(), self.long_section_v.len()]
    }

    /// Returns the position of a grid point, m, in the coordinates of the file; `None` if its height is missing. The
    /// point lies v m along the direction to the left at the start of interval `row`, for the last row at the end of
    /// the last interval. The height z of the point is reference height + banking · v + height.
    pub(crate) fn grid_point(&self, row: usize, column: usize) -> Option<DVec3> {
        // The last row has no interval of its own.
        let left = match self.left_directions.get(row) {
            Some([start_direction, _]) => *start_direction,
            None => self.left_directions[row - 1][1],
        };
        let (line_point, v, height) = (self.reference_line[row], self.long_section_v[column], self.height(row, column));
        let position = (line_point.truncate() + left * v).extend(line_point.z + self.banking[row] * v + height);
        (!height.is_nan()).then_some(position)
    }

    /// Returns the grid spacing along u and v, m, if the road can be a height field: its line runs along +x, its long
    /// sections are equidistant (both within 1e-9) and no height is missing. Otherwise returns `None`. Slope and
    /// banking do not matter.
    pub(crate) fn spacing_along_x(&self) -> Option<[f64; 2]> {
        const GRID_TOLERANCE: f64 = 1e-9;
        let is_straight = self.left_directions.iter().flatten().all(|left| left.abs_diff_eq(DVec2::Y, GRID_TOLERANCE));
        let [_, columns] = self.grid_counts();
        let spacing = (self.long_section_v[columns - 1] - self.long_section_v[0]) / (columns - 1) as f64;
        let is_equidistant =
            self.long_section_v.windows(2).all(|pair| (pair[1] - pair[0] - spacing).abs() <= GRID_TOLERANCE);
        (is_straight && is_equidistant && self.heights.iter().all(|height| !height.is_nan()))
            .then_some([self.increment, spacing])
    }
}

/// Computes the horizontal directions to the left at the start and the end of each interval of a line, as
/// `[start, end]`. The length of a direction is the distance that corresponds to one metre of v. At both ends of the
/// line, the direction is the unit normal of the interval. At a point between two intervals, it is normal to the line
/// from the previous to the next point, and divided by the cosine of its angle to the normal of the interval, so that
/// both intervals keep their width. Returns `None` if the line turns by 90° or more at a point, or if points coincide
/// horizontally.
fn compute_left_directions(line: &[DVec3]) -> Option<Vec<[DVec2; 2]>> {
    let left_normal = |from: DVec3, to: DVec3| (to - from).truncate().perp().try_normalize();
    let interval_normals: Vec<DVec2> =
        line.windows(2).map(|pair| left_normal(pair[0], pair[1])).collect::<Option<_>>()?;
    let mut left_directions: Vec<[DVec2; 2]> = interval_normals.iter().map(|&normal| [normal; 2]).collect();
    for i in 1..interval_normals.len() {
        let joint_normal = left_normal(line[i - 1], line[i + 1])?;
        for (interval, end) in [(i - 1, 1), (i, 0)] {
            let cosine = joint_normal.dot(interval_normals[interval]);
            // The joint normal halves the turn: cos 45° is a turn of a right angle.
            if cosine <= core::f64::consts::FRAC_1_SQRT_2 {
                return None;
            }
            left_directions[interval][end] = joint_normal / cosine;
        }
    }
    Some(left_directions)
}

/// Returns sine and cosine of a heading in rad.
fn sin_cos(heading: f64) -> (f64, f64) {
    math::sin_cos_f64(heading)
}
