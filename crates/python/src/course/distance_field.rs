//! Distances to the borders of a course on a grid, for the rays of range tables and for pictures.

use crate::course::{Course, Sample};

/// Size of a cell, m.
const CELL_SIZE_M: f32 = 0.5;

/// Largest stored distance, m, and largest step of a ray.
const MAX_DISTANCE_M: f32 = 8.0;

/// Largest number of cells; larger courses get larger cells.
const MAX_CELLS: f32 = 4e6;

/// Width of the margin around the course, m.
const MARGIN_M: f32 = 10.0;

/// Distance from a border at which a ray ends, m.
const HIT_DISTANCE_M: f32 = 0.1;

/// Smallest step of a ray, m, so that rays along a border end, too.
const MIN_RAY_STEP_M: f32 = 0.3;

/// Grid of the distances to the nearest border of a course, positive on the course and negative beside it.
#[derive(Clone, Debug)]
pub struct DistanceField {
    /// Distances at the corners of the cells, row by row along x, m.
    distances: Vec<f32>,
    /// Number of corners along x and y.
    size: [usize; 2],
    /// Position of the first corner, m.
    origin: [f32; 2],
    /// Size of a cell, m.
    cell: f32,
}

impl DistanceField {
    /// Computes the distances of `course` on a grid around it. First computes the distance of each corner to the
    /// nearest border, at most [`MAX_DISTANCE_M`], segment by segment of both borders. Then negates the distances of
    /// the corners that are not on the course.
    pub fn new(course: &Course) -> Self {
        let samples = course.samples();
        // Distance of the edge of the grid from the centre line, m.
        let margin = samples.iter().fold(0.0_f32, |width, sample| width.max(sample.left).max(sample.right)) + MARGIN_M;
        // Smallest or largest coordinate `k` of the samples, as `pick` selects, m.
        let bound = |k: usize, pick: fn(f32, f32) -> f32| {
            samples.iter().map(|sample| sample.position[k]).reduce(pick).unwrap_or(0.0)
        };
        let origin = [0, 1].map(|k| bound(k, f32::min) - margin);
        let extent = [0, 1].map(|k| bound(k, f32::max) + margin - origin[k]);
        let cell = CELL_SIZE_M.max((extent[0] * extent[1] / MAX_CELLS).sqrt());
        let size = extent.map(|length| (length / cell).ceil() as usize + 2);
        let mut field = Self { distances: vec![MAX_DISTANCE_M; size[0] * size[1]], size, origin, cell };
        // Segments of both borders; the last one closes the course.
        for (sample, next) in samples.iter().zip(samples.iter().skip(1).chain(samples.first())) {
            for side in [1.0, -1.0] {
                field.add_border([border(sample, side), border(next, side)]);
            }
        }
        field.negate_outside(course);
        field
    }

    /// Returns the number of corners along x and y, the position of the first corner (m), and the size of a cell (m).
    pub fn grid(&self) -> ([usize; 2], [f32; 2], f32) {
        (self.size, self.origin, self.cell)
    }

    /// Returns the distances at the corners, row by row along x, m.
    pub fn distances(&self) -> &[f32] {
        &self.distances
    }

    /// Returns the signed distance to the border at `position` (m), bilinear between the corners of its cell: positive
    /// on the course. Returns −[`MAX_DISTANCE_M`] outside of the grid.
    pub fn distance(&self, position: [f32; 2]) -> f32 {
        // Position on the grid, in cells.
        let [u, v] = [0, 1].map(|k| (position[k] - self.origin[k]) / self.cell);
        if !(u >= 0.0 && v >= 0.0) {
            return -MAX_DISTANCE_M;
        }
        let (column, row) = (u as usize, v as usize);
        if column + 1 >= self.size[0] || row + 1 >= self.size[1] {
            return -MAX_DISTANCE_M;
        }
        let corner = row * self.size[0] + column;
        // Corners of the cell: two of the lower row, two of the upper row.
        let (Some(lower), Some(upper)) = (
            self.distances.get(corner..corner + 2),
            self.distances.get(corner + self.size[0]..corner + self.size[0] + 2),
        ) else {
            return -MAX_DISTANCE_M;
        };
        let (part_u, part_v) = (u - column as f32, v - row as f32);
        let low = lower[0] + part_u * (lower[1] - lower[0]);
        let high = upper[0] + part_u * (upper[1] - upper[0]);
        low + part_v * (high - low)
    }

    /// Returns the distance from `start` (m) to the border along the unit vector `direction`, at most `range` (m).
    /// Marches along the ray in steps of the distance to the nearest border, at least [`MIN_RAY_STEP_M`]; the ray ends
    /// within [`HIT_DISTANCE_M`] of a border, or after 100 steps. Returns 0 for a start outside of the course.
    pub fn ray(&self, start: [f32; 2], direction: [f32; 2], range: f32) -> f32 {
        // Limit for rays that pass a border closely for a long way.
        const MAX_STEPS: usize = 100;
        let mut travelled = 0.0;
        for _ in 0..MAX_STEPS {
            let position = [start[0] + travelled * direction[0], start[1] + travelled * direction[1]];
            let distance = self.distance(position);
            if distance <= HIT_DISTANCE_M {
                break;
            }
            travelled += distance.max(MIN_RAY_STEP_M);
            if travelled >= range {
                return range;
            }
        }
        travelled
    }

    /// Lowers the distances of the corners near a segment of a border (from `start` to `end`, m) to their distance from
    /// the segment, if that is smaller.
    fn add_border(&mut self, [start, end]: [[f32; 2]; 2]) {
        let span = [end[0] - start[0], end[1] - start[1]];
        // Inverse of the squared length; a segment without length has a finite one.
        let inverse = 1.0 / (span[0] * span[0] + span[1] * span[1]).max(f32::MIN_POSITIVE);
        self.for_corners_near(start, end, MAX_DISTANCE_M, |position, distance| {
            let offset = [position[0] - start[0], position[1] - start[1]];
            // Point of the segment that is nearest to the corner, as a share of the segment.
            let part = ((offset[0] * span[0] + offset[1] * span[1]) * inverse).clamp(0.0, 1.0);
            // Vector from that point to the corner, m.
            let gap = [offset[0] - part * span[0], offset[1] - part * span[1]];
            *distance = distance.min((gap[0] * gap[0] + gap[1] * gap[1]).sqrt());
        });
    }

    /// Negates the distances of all corners outside of the course. A corner is on the course if a quadrilateral between
    /// two successive samples and both borders contains it.
    fn negate_outside(&mut self, course: &Course) {
        // All distances are negated first; those on the course are restored.
        let distances = self.distances.clone();
        self.distances.iter_mut().for_each(|distance| *distance = -*distance);
        let samples = course.samples();
        let width = self.size[0];
        let (origin, cell) = (self.origin, self.cell);
        for (sample, next) in samples.iter().zip(samples.iter().skip(1).chain(samples.first())) {
            let corners = [border(sample, 1.0), border(next, 1.0), border(next, -1.0), border(sample, -1.0)];
            let half_width = sample.left.max(sample.right).max(next.left).max(next.right);
            self.for_corners_near(sample.position, next.position, half_width, |position, distance| {
                if is_inside(&corners, position) {
                    // Indices of the corner, which `for_corners_near` does not pass.
                    let [column, row] = [0, 1].map(|k| ((position[k] - origin[k]) / cell).round() as usize);
                    *distance = distances[row * width + column];
                }
            });
        }
    }

    /// Calls `change` with position (m) and distance of each corner in the rectangle around the points `a` and `b`,
    /// extended by `margin` (m) on each side and limited to the grid.
    fn for_corners_near(&mut self, a: [f32; 2], b: [f32; 2], margin: f32, mut change: impl FnMut([f32; 2], &mut f32)) {
        // Indices of the corners along axis `k`.
        let range = |k: usize| {
            let index = |position: f32| ((position - self.origin[k]) / self.cell).max(0.0) as usize;
            index(a[k].min(b[k]) - margin)..(index(a[k].max(b[k]) + margin) + 2).min(self.size[k])
        };
        let (columns, rows) = (range(0), range(1));
        for row in rows {
            for column in columns.clone() {
                let position = [self.origin[0] + column as f32 * self.cell, self.origin[1] + row as f32 * self.cell];
                change(position, &mut self.distances[row * self.size[0] + column]);
            }
        }
    }
}

/// Returns the point of the border beside a sample (m), on the left (`side` 1) or on the right (−1).
pub fn border(sample: &Sample, side: f32) -> [f32; 2] {
    let width = if side > 0.0 { sample.left } else { -sample.right };
    let ([x, y], [dx, dy]) = (sample.position, sample.direction);
    [x - dy * width, y + dx * width]
}

/// Returns true if `position` is in the quadrilateral `corners`, by the even-odd rule: a ray along +x crosses an odd
/// number of edges. A position on an edge may count as either.
fn is_inside(corners: &[[f32; 2]; 4], position: [f32; 2]) -> bool {
    let mut is_inside = false;
    for (i, corner) in corners.iter().enumerate() {
        let next = corners[(i + 1) % corners.len()];
        let crosses = (corner[1] > position[1]) != (next[1] > position[1]);
        if crosses {
            // Place on the edge at the y of `position`.
            let x = corner[0] + (position[1] - corner[1]) / (next[1] - corner[1]) * (next[0] - corner[0]);
            is_inside ^= position[0] < x;
        }
    }
    is_inside
}
