//! Table of the distances to the borders of a course, for simulated range finders.

use crate::course::{Course, DistanceField, Place};

/// Number of samples of the course between two positions of the table.
const SAMPLES_PER_POSITION: usize = 2;

/// Number of lateral places per position.
const LATERAL_COUNT: usize = 7;

/// Largest lateral place, as a share of the width beside the centre line.
const LARGEST_SHARE: f32 = 0.95;

/// Number of directions of the table.
const DIRECTION_COUNT: usize = 64;

/// Unit of the distances, m.
const RESOLUTION_M: f32 = 0.01;

/// Numbers of a lateral place: the first direction is repeated at the end.
const ROW_LENGTH: usize = DIRECTION_COUNT + 1;

/// Distances from places on a course to its borders in all directions. A query takes the position before the car, and
/// interpolates linearly between lateral places and directions, so that the edge of a hidden part is blurred.
#[derive(Clone, Debug)]
pub struct RangeTable {
    /// Distances by position, lateral place and direction, in [`RESOLUTION_M`]. Small numbers keep the table in the cache.
    distances: Vec<u16>,
}

impl RangeTable {
    /// Computes the distances up to `range` (m, at most 650) on `course` with the `field` of its borders. A position of
    /// the table is every second sample. Each position has seven lateral places from right to left, and each place has
    /// the directions of `unit_vector`, the first one repeated at the end.
    pub fn new(course: &Course, field: &DistanceField, range: f32) -> Self {
        let samples = course.samples();
        let position_count = samples.len().div_ceil(SAMPLES_PER_POSITION);
        let mut distances = Vec::with_capacity(position_count * LATERAL_COUNT * ROW_LENGTH);
        for sample in samples.iter().step_by(SAMPLES_PER_POSITION) {
            for lateral in 0..LATERAL_COUNT {
                // From −0.95 of the right width to 0.95 of the left width.
                let share = LARGEST_SHARE * (2.0 * lateral as f32 / (LATERAL_COUNT - 1) as f32 - 1.0);
                let offset = share * if share > 0.0 { sample.left } else { sample.right };
                let ([x, y], [dx, dy]) = (sample.position, sample.direction);
                let start = [x - dy * offset, y + dx * offset];
                // The last direction is the first one again.
                let ray = |direction: usize| field.ray(start, unit_vector(direction % DIRECTION_COUNT), range);
                distances.extend((0..ROW_LENGTH).map(|direction| (ray(direction) / RESOLUTION_M).round() as u16));
            }
        }
        Self { distances }
    }

    /// Writes the distances from `place` along the unit vectors `directions` (world) into `ranges`, m. `share` is the
    /// lateral place as a share of the width, −1 (right) to 1 (left). Uses the position of the table at or before
    /// `place`, and interpolates between the two nearest lateral places and directions. Writes nothing for a place
    /// beyond the table.
    #[inline(always)]
    pub fn write_ranges<const N: usize>(
        &self,
        place: &Place,
        share: f32,
        directions: &[[f32; 2]; N],
        ranges: &mut [f32; N],
    ) {
        let position = place.sample as usize / SAMPLES_PER_POSITION;
        // Lateral place as a number from 0 (right) to `LATERAL_COUNT − 1` (left), with its fraction.
        let across =
            (0.5 + 0.5 * share.clamp(-LARGEST_SHARE, LARGEST_SHARE) / LARGEST_SHARE) * (LATERAL_COUNT - 1) as f32;
        let lateral = (across as usize).min(LATERAL_COUNT - 2);
        let lateral_part = across - lateral as f32;
        // The two lateral places of a position are neighbours in memory.
        let start = (position * LATERAL_COUNT + lateral) * ROW_LENGTH;
        let rows = self.distances.get(start..).and_then(|rest| rest.first_chunk::<{ 2 * ROW_LENGTH }>());
        let Some(rows) = rows else { return };
        let weights = [(1.0 - lateral_part) * RESOLUTION_M, lateral_part * RESOLUTION_M];
        let turns = directions.map(|direction| quarter_turns(direction) * (0.25 * DIRECTION_COUNT as f32));
        // Number of the direction before each ray.
        let columns = turns.map(whole_part);
        for ((range, turn), column) in ranges.iter_mut().zip(turns).zip(columns) {
            let part = turn - column as f32;
            let column = (column as usize).min(DIRECTION_COUNT - 1);
            let in_row = |row: usize| {
                let low = f32::from(rows[row * ROW_LENGTH + column]);
                low + part * (f32::from(rows[row * ROW_LENGTH + column + 1]) - low)
            };
            *range = weights[0] * in_row(0) + weights[1] * in_row(1);
        }
    }
}

/// Returns a whole number that differs from `number` (0 to 2¹⁶) by at most 1 and is not above it. Faster than a conversion,
/// which also handles NaN and numbers out of range.
#[inline(always)]
fn whole_part(number: f32) -> u32 {
    // The last bits of a sum with 2²³ are the nearest whole number.
    const LEAST_WITHOUT_FRACTION: f32 = 8_388_608.0;
    ((number - 0.5).max(0.0) + LEAST_WITHOUT_FRACTION).to_bits() & 0xFFFF
}

/// Returns the direction of a unit vector in quarter turns from +x to the left, 0 to 4. Between the axes the number is the
/// share of y in the sum of the magnitudes, which needs no trigonometric function.
#[inline(always)]
fn quarter_turns([x, y]: [f32; 2]) -> f32 {
    let share = y / (x.abs() + y.abs()).max(f32::MIN_POSITIVE);
    // First and fourth quarter, then second and third.
    let turns = if x >= 0.0 { share } else { 2.0 - share };
    if turns < 0.0 { turns + 4.0 } else { turns }
}

/// Returns the unit vector of the direction number `direction` of the table, the inverse of [`quarter_turns`].
fn unit_vector(direction: usize) -> [f32; 2] {
    let turns = direction as f32 * (4.0 / DIRECTION_COUNT as f32);
    let share = turns.fract();
    // Component along the axis at the start of the quarter, and along the next axis.
    let (along, next) = (1.0 - share, share);
    let [x, y] = match turns as usize {
        0 => [along, next],
        1 => [-next, along],
        2 => [-along, -next],
        _ => [next, -along],
    };
    let length = (x * x + y * y).sqrt();
    [x / length, y / length]
}
