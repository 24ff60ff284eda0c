//! Roads of ASAM OpenCRG 1.2: heights over a grid along a curved line.
//!
//! Here: the text formats `LRFI` and `LDFI` ([`CrgRoad::read`]) and the surface at a place of the road ([`CrgRoad::at`]). Not here:
//! binary formats, options and modifiers, which are refused by name; map projections, which are passed over.
//!
//! A road keeps the place its file says. OpenCRG's own tools, where a file has no block of modifiers, move its start to the origin with
//! heading 0 and fill missing heights; here missing heights are holes.

mod data;
mod header;

use crate::Faults;
use crate::fault_collector::FaultCollector;
use skidpad_core::{DVec2, DVec3, math};

/// Points a road may have.
const MOST_POINTS: usize = 25_000_000;

/// A road as its file has it, in metres: u along its reference line, v across it, to the left.
#[derive(Clone, Debug, PartialEq)]
pub struct CrgRoad {
    /// u of the first cross-section.
    start: f64,
    /// Between cross-sections, along u.
    increment: f64,
    /// Of the long sections, rising.
    v: Vec<f64>,
    /// Of the reference line at each cross-section.
    line: Vec<DVec3>,
    /// Slope across at each cross-section, to the left.
    banking: Vec<f64>,
    /// Directions to the left, as long as they must be for one metre across, at the start and the end of each interval.
    left: Vec<[DVec2; 2]>,
    /// Above reference line and banking, cross-section by cross-section, from the right to the left; NaN where there is no road.
    heights: Vec<f64>,
}

/// The surface at a place of a road.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrgPoint {
    /// Where it is, in the coordinates of the file, m.
    pub position: DVec3,
    /// Unit normal, upwards.
    pub normal: DVec3,
}

impl CrgRoad {
    /// Reads the bytes of a file. `source_name` is what reports call it.
    ///
    /// # Errors
    /// Every fault of the file at once: what its header lacks, contradicts or asks for that is not understood, and values that are no
    /// numbers.
    pub fn read(source_name: &str, bytes: &[u8]) -> Result<Self, Faults> {
        let text = String::from_utf8_lossy(bytes);
        let mut collector = FaultCollector::default();
        let road = header::read(&text, &mut collector).and_then(|header| data::road(&text, &header, &mut collector));
        match road {
            Some(road) if collector.faults.is_empty() => Ok(road),
            _ => Err(collector.into_faults(source_name, &text)),
        }
    }

    /// From the first cross-section to the last, m.
    pub fn u(&self) -> [f64; 2] {
        [self.start, self.start + (self.line.len() - 1) as f64 * self.increment]
    }

    /// Of the long sections, from the right to the left, m.
    pub fn v(&self) -> &[f64] {
        &self.v
    }

    /// The surface at `u` along and `v` across; `None` beside the road and where heights are missing. Heights are bilinear in each
    /// cell of the grid; those of reference line and banking are linear in u and added: z = zref(u) + b(u) v + h(u, v).
    pub fn at(&self, u: f64, v: f64) -> Option<CrgPoint> {
        let along = (u - self.start) / self.increment;
        let last = self.line.len() - 1;
        if !((0.0..=last as f64).contains(&along) && self.v[0] <= v && v <= self.v[self.v.len() - 1]) {
            return None;
        }
        let row = (along as usize).min(last - 1);
        let column = self.v.partition_point(|&at| at <= v).clamp(1, self.v.len() - 1) - 1;
        let step = self.v[column + 1] - self.v[column];
        let (s, t) = (along - row as f64, (v - self.v[column]) / step);
        let [h00, h01, h10, h11] = self.cell(row, column, s, t)?;
        let twist = h11 - h10 - h01 + h00;
        let (line, next) = (self.line[row], self.line[row + 1]);
        let (banked, bank_change) = (self.banking[row], self.banking[row + 1] - self.banking[row]);
        let banking = banked + s * bank_change;
        let height = h00 + s * (h10 - h00) + t * (h01 - h00) + s * t * twist;
        let z = line.z + s * (next.z - line.z) + banking * v + height;
        let z_u = (h10 - h00 + t * twist + next.z - line.z + v * bank_change) / self.increment;
        let z_v = (h01 - h00 + s * twist) / step + banking;
        let [from, to] = self.left[row];
        let (near, far) = (line.truncate() + from * v, next.truncate() + to * v);
        let (along_u, along_v) = ((far - near) / self.increment, from + (to - from) * s);
        let normal = along_u.extend(z_u).cross(along_v.extend(z_v)).normalize_or(DVec3::Z);
        Some(CrgPoint { position: near.lerp(far, s).extend(z), normal })
    }

    /// Heights at the corners of a cell. One that is missing counts only where it has a share, at `s` and `t` of the way along and across.
    fn cell(&self, row: usize, column: usize, s: f64, t: f64) -> Option<[f64; 4]> {
        let corners = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[i, j]| {
            let share = (if i == 0 { 1.0 - s } else { s }) * (if j == 0 { 1.0 - t } else { t });
            (self.height(row + i, column + j), share)
        });
        let missing = corners.iter().any(|&(height, share)| height.is_nan() && share > 0.0);
        (!missing).then(|| corners.map(|(height, _)| if height.is_nan() { 0.0 } else { height }))
    }

    fn height(&self, row: usize, column: usize) -> f64 {
        self.heights[row * self.v.len() + column]
    }

    /// Cross-sections and long sections.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.line.len(), self.v.len()]
    }

    /// Where a point of the grid is, m; `None` where its height is missing.
    pub(crate) fn point(&self, row: usize, column: usize) -> Option<DVec3> {
        let left = match self.left.get(row) {
            Some([from, _]) => *from,
            None => self.left[row - 1][1],
        };
        let (line, v, height) = (self.line[row], self.v[column], self.height(row, column));
        let at = (line.truncate() + left * v).extend(line.z + self.banking[row] * v + height);
        (!height.is_nan()).then_some(at)
    }

    /// Distance of its long sections, if its line runs along +x, they are equally far apart and no height is missing: then it is a field of
    /// heights.
    pub(crate) fn spacing_along_x(&self) -> Option<[f64; 2]> {
        const SAME: f64 = 1e-9;
        let straight = self.left.iter().flatten().all(|left| left.abs_diff_eq(DVec2::Y, SAME));
        let [_, columns] = self.counts();
        let step = (self.v[columns - 1] - self.v[0]) / (columns - 1) as f64;
        let even = self.v.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= SAME);
        (straight && even && self.heights.iter().all(|height| !height.is_nan())).then_some([self.increment, step])
    }
}

/// Directions to the left of each interval of a line, at its ends: those across it, and between intervals across the line from the
/// point before to the one after, so long that both keep their width. `None` where the line turns too far for that.
fn lefts(line: &[DVec3]) -> Option<Vec<[DVec2; 2]>> {
    let across = |from: DVec3, to: DVec3| (to - from).truncate().perp().try_normalize();
    let intervals: Vec<DVec2> = line.windows(2).map(|pair| across(pair[0], pair[1])).collect::<Option<_>>()?;
    let mut lefts: Vec<[DVec2; 2]> = intervals.iter().map(|&own| [own; 2]).collect();
    for i in 1..intervals.len() {
        let between = across(line[i - 1], line[i + 1])?;
        for (interval, end) in [(i - 1, 1), (i, 0)] {
            let share = between.dot(intervals[interval]);
            // Intervals that meet at a right angle or more.
            if share <= core::f64::consts::FRAC_1_SQRT_2 {
                return None;
            }
            lefts[interval][end] = between / share;
        }
    }
    Some(lefts)
}

/// Sine and cosine of a heading, rad.
fn sin_cos(heading: f64) -> (f64, f64) {
    math::sin_cos_f64(heading)
}
