//! Closed courses: a centre line with widths, sampled at equal distances.

mod distance_field;
mod range_table;
mod read;

pub use distance_field::DistanceField;
pub use range_table::RangeTable;
pub use read::read_csv;

/// Distance of the samples of a course, m. The actual one divides the length of the course.
const SAMPLE_DISTANCE_M: f32 = 1.0;

/// Number of points that a curve between two given points is divided into before it is sampled.
const CURVE_DIVISIONS: usize = 32;

/// Distance below which two neighbouring points of a centre line count as one, m.
const MIN_POINT_DISTANCE_M: f64 = 0.01;

/// Smallest number of samples of a course.
const MIN_SAMPLES: usize = 8;

/// Largest number of samples of a course.
const MAX_SAMPLES: usize = 1_000_000;

/// Point of a centre line with the widths beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CentrePoint {
    /// Position, m.
    pub position: [f64; 2],
    /// Width to the right of the centre line, m.
    pub right: f64,
    /// Width to the left of the centre line, m.
    pub left: f64,
}

/// Sample of a course.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Position of the centre line, m.
    pub position: [f32; 2],
    /// Direction of travel, a unit vector.
    pub direction: [f32; 2],
    /// Curvature, 1/m, positive to the left.
    pub curvature: f32,
    /// Width to the left of the centre line, m.
    pub left: f32,
    /// Width to the right of the centre line, m.
    pub right: f32,
    /// Recommended speed, m/s; see [`Course::with_speeds`].
    pub speed: f32,
}

/// Place of a car relative to a course.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Number of the nearest sample.
    pub sample: u32,
    /// Distance along the centre line from this sample, m.
    pub ahead: f32,
    /// Distance to the left of the centre line, m.
    pub lateral: f32,
}

/// Closed course.
#[derive(Clone, Debug)]
pub struct Course {
    samples: Vec<Sample>,
    /// Distance of the samples along the centre line, m.
    spacing: f32,
}

impl Course {
    /// Creates the closed course through `points`: the last point is followed by the first one. A Catmull-Rom curve
    /// connects the points, and the widths between them are linear. The curve is then resampled at equal distances of
    /// about [`SAMPLE_DISTANCE_M`], which divide its length. Recommended speeds are 0.
    ///
    /// # Errors
    /// Returns the reason as text: fewer than four points, or a centre line with fewer than [`MIN_SAMPLES`] or more
    /// than [`MAX_SAMPLES`] samples. The text states these limits in m, because samples are 1 m apart.
    pub fn new(points: &[CentrePoint]) -> Result<Self, String> {
        if points.len() < 4 {
            return Err(format!("the centre line has {} different points, but must have at least 4", points.len()));
        }
        let curve = divide_curve(points);
        let distances = cumulative_distances(&curve);
        let length = distances.last().copied().unwrap_or(0.0);
        let count = (length / f64::from(SAMPLE_DISTANCE_M)).round();
        if !(count >= MIN_SAMPLES as f64 && count <= MAX_SAMPLES as f64) {
            return Err(format!(
                "the centre line is {length} m long, but must be {MIN_SAMPLES} m to {MAX_SAMPLES} m long"
            ));
        }
        let count = count as usize;
        let spacing = length / count as f64;
        let positions = sample_curve(&curve, &distances, count, spacing);
        Ok(Self { samples: with_directions(&positions, spacing), spacing: spacing as f32 })
    }

    /// Sets the recommended speed of each sample (m/s): at most `max_speed`, and at most the speed whose lateral
    /// acceleration in the curvature of the sample is `lateral` (m/s²). The speed falls before bends and rises after
    /// them with at most `longitudinal` (m/s²). The course is closed, so these limits also act across the start line.
    pub fn with_speeds(mut self, max_speed: f32, lateral: f32, longitudinal: f32) -> Self {
        for sample in &mut self.samples {
            sample.speed = max_speed.min((lateral / sample.curvature.abs().max(1e-6)).sqrt());
        }
        let count = self.samples.len();
        // Change of the squared speed over one interval, m²/s².
        let change = 2.0 * longitudinal * self.spacing;
        // Backward for braking, then forward for acceleration. Two laps each, so that limits also act across the start
        // line.
        for i in (0..2 * count).rev() {
            let limit = (self.samples[(i + 1) % count].speed.powi(2) + change).sqrt();
            self.samples[i % count].speed = self.samples[i % count].speed.min(limit);
        }
        for i in 0..2 * count {
            let limit = (self.samples[i % count].speed.powi(2) + change).sqrt();
            let next = &mut self.samples[(i + 1) % count];
            next.speed = next.speed.min(limit);
        }
        self
    }

    /// Returns the samples in the direction of travel.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Returns the length of the centre line, m.
    pub fn length(&self) -> f32 {
        self.spacing * self.samples.len() as f32
    }

    /// Converts a `distance` along the course (m, ≥ 0) to a number of samples, rounded; whole laps are dropped.
    pub fn distance_in_samples(&self, distance: f32) -> u32 {
        (distance / self.spacing).round() as u32 % self.samples.len() as u32
    }

    /// Returns the sample that is `count` samples ahead of sample number `sample`. `count` must be less than a lap.
    #[inline(always)]
    pub fn sample_ahead(&self, sample: u32, count: u32) -> &Sample {
        let index = (sample + count) as usize;
        let lap = self.samples.len();
        &self.samples[if index < lap { index } else { index - lap }]
    }

    /// Returns the sample of a place, the nearest one when the place was located.
    #[inline(always)]
    pub fn sample(&self, place: &Place) -> &Sample {
        &self.samples[place.sample as usize]
    }

    /// Returns the place of `position` (m) on the course. The search starts at sample number `start` and moves along
    /// the course by the longitudinal offset of `position` from the present sample, until this sample is the nearest
    /// one. After 8 moves, the place at the last sample is returned.
    #[inline(always)]
    pub fn locate(&self, position: [f32; 2], start: u32) -> Place {
        // Maximum number of moves of the search; a car moves by less than one sample between two steps.
        const MAX_MOVES: usize = 8;
        let count = self.samples.len() as i64;
        let mut index = i64::from(start);
        let mut place = Place { sample: start, ..Place::default() };
        for _ in 0..MAX_MOVES {
            let Sample { position: [x, y], direction: [dx, dy], .. } = self.samples[index as usize];
            let offset = [position[0] - x, position[1] - y];
            // Longitudinal offset from the sample, m.
            let ahead = offset[0] * dx + offset[1] * dy;
            place = Place { sample: index as u32, ahead, lateral: offset[1] * dx - offset[0] * dy };
            let moved = (ahead / self.spacing).round() as i64;
            if moved == 0 {
                break;
            }
            index = (index + moved).rem_euclid(count);
        }
        place
    }

    /// Returns the signed distance along the centre line from one place to another, m: the shorter way around the
    /// course, negative if `to` is behind `from`.
    #[inline(always)]
    pub fn distance(&self, from: &Place, to: &Place) -> f32 {
        let count = self.samples.len() as i64;
        let mut moved = i64::from(to.sample) - i64::from(from.sample);
        if 2 * moved > count {
            moved -= count;
        } else if 2 * moved < -count {
            moved += count;
        }
        moved as f32 * self.spacing + to.ahead - from.ahead
    }
}

/// Returns the points of a closed centre line without repeated ones, which would bend the curve through them. Leaves
/// out each point less than [`MIN_POINT_DISTANCE_M`] from the point that is kept before it, and last points as near to
/// the first one.
pub fn without_repeats(points: &[CentrePoint]) -> Vec<CentrePoint> {
    let is_repeat = |a: &CentrePoint, b: &CentrePoint| {
        let [x, y] = [0, 1].map(|k| a.position[k] - b.position[k]);
        x * x + y * y < MIN_POINT_DISTANCE_M * MIN_POINT_DISTANCE_M
    };
    let mut kept: Vec<CentrePoint> = Vec::with_capacity(points.len());
    for point in points {
        if kept.last().is_none_or(|last| !is_repeat(last, point)) {
            kept.push(*point);
        }
    }
    while let [first, .., last] = kept.as_slice()
        && is_repeat(first, last)
    {
        kept.pop();
    }
    kept
}

/// Returns points of the closed Catmull-Rom curve through `points`: [`CURVE_DIVISIONS`] from each point up to the next
/// one. Widths are linear between the points.
fn divide_curve(points: &[CentrePoint]) -> Vec<CentrePoint> {
    let count = points.len();
    let mut curve = Vec::with_capacity(count * CURVE_DIVISIONS);
    for i in 0..count {
        // The curve runs from `b` to `c`; `a` and `d` are their neighbours.
        let [a, b, c, d] = [i + count - 1, i, i + 1, i + 2].map(|k| points[k % count]);
        for division in 0..CURVE_DIVISIONS {
            let t = division as f64 / CURVE_DIVISIONS as f64;
            let position = [0, 1].map(|k| {
                let [a, b, c, d] = [a, b, c, d].map(|point| point.position[k]);
                0.5 * (2.0 * b + t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a))))
            });
            let between = |from: f64, to: f64| from + t * (to - from);
            curve.push(CentrePoint { position, right: between(b.right, c.right), left: between(b.left, c.left) });
        }
    }
    curve
}

/// Returns the distance of each point from the first one along the closed `curve`, m. One number more than there are
/// points: the last one is the length of the curve.
fn cumulative_distances(curve: &[CentrePoint]) -> Vec<f64> {
    let mut distances = vec![0.0];
    let mut sum = 0.0;
    for (point, next) in curve.iter().zip(curve.iter().skip(1).chain(curve.first())) {
        let [x, y] = [0, 1].map(|k| next.position[k] - point.position[k]);
        sum += (x * x + y * y).sqrt();
        distances.push(sum);
    }
    distances
}

/// Returns `count` points of the closed `curve` at equal distances of `spacing` along it (m), linear between the points
/// of the curve. `distances` are those of [`cumulative_distances`].
fn sample_curve(curve: &[CentrePoint], distances: &[f64], count: usize, spacing: f64) -> Vec<CentrePoint> {
    let mut index = 0;
    let mut samples = Vec::with_capacity(count);
    for i in 0..count {
        let distance = i as f64 * spacing;
        // Last point of the curve at or before `distance`.
        while index + 2 < distances.len() && distances[index + 1] <= distance {
            index += 1;
        }
        let (point, next) = (curve[index], curve[(index + 1) % curve.len()]);
        let part = (distance - distances[index]) / (distances[index + 1] - distances[index]).max(f64::MIN_POSITIVE);
        let between = |from: f64, to: f64| from + part * (to - from);
        samples.push(CentrePoint {
            position: [0, 1].map(|k| between(point.position[k], next.position[k])),
            right: between(point.right, next.right),
            left: between(point.left, next.left),
        });
    }
    samples
}

/// Returns the samples at `positions`, which are `spacing` apart (m). The direction of a sample is that from the
/// previous to the next sample, and the curvature is the change of direction between both over their distance. Speeds
/// are 0.
fn with_directions(positions: &[CentrePoint], spacing: f64) -> Vec<Sample> {
    let count = positions.len();
    let direction = |i: usize| {
        let [before, after] = [i + count - 1, i + 1].map(|k| positions[k % count].position);
        let [x, y] = [0, 1].map(|k| after[k] - before[k]);
        let length = (x * x + y * y).sqrt().max(f64::MIN_POSITIVE);
        [x / length, y / length]
    };
    let samples = positions.iter().enumerate().map(|(i, point)| {
        // Directions at the samples before and after this one.
        let [before, after] = [direction((i + count - 1) % count), direction((i + 1) % count)];
        let turn =
            libm::atan2(before[0] * after[1] - before[1] * after[0], before[0] * after[0] + before[1] * after[1]);
        Sample {
            position: point.position.map(|number| number as f32),
            direction: direction(i).map(|number| number as f32),
            curvature: (turn / (2.0 * spacing)) as f32,
            left: point.left as f32,
            right: point.right as f32,
            speed: 0.0,
        }
    });
    samples.collect()
}
