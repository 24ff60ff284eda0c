//! Values that a page draws: columns over the rows of a run, with the rows that the screen shows, and their text for
//! the page.

use std::collections::BinaryHeap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Largest change of a curve that a left-out row may cause, as a share of the range of its values (–). At 250 px it is
/// less than half a pixel.
const MAX_DECIMATION_ERROR: f64 = 0.0015;
/// Number of rows of each run that are kept in any case, evenly spaced.
const EVEN_ROW_COUNT: usize = 160;
/// Maximum number of kept rows.
const MAX_ROW_COUNT: usize = 640;

/// Column of a [`PlotTable`].
struct Column {
    /// Value of each row; NaN where there is none.
    values: Vec<f64>,
    /// Smallest range of values that is visible.
    min_span: f64,
    /// Column with almost equal values, from which this column is stored as a difference.
    reference: Option<usize>,
}

/// Columns with equal numbers of rows. Column 0 is the time or the quantity that orders the rows.
pub struct PlotTable {
    columns: Vec<Column>,
}

impl PlotTable {
    /// Creates a table with the column 0 `order`, whose values increase.
    pub fn new(order: Vec<f64>) -> Self {
        Self { columns: vec![Column { values: order, min_span: 0.0, reference: None }] }
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.columns[0].values.len()
    }

    /// Adds a column and returns its number. Missing values are NaN; missing rows at the end are filled with NaN.
    /// `min_span` is the smallest visible range. `reference` is an earlier column with almost equal values, from which
    /// the page data stores only the difference.
    pub fn add(&mut self, mut values: Vec<f64>, min_span: f64, reference: Option<usize>) -> usize {
        values.resize(self.row_count(), f64::NAN);
        self.columns.push(Column { values, min_span, reference });
        self.columns.len() - 1
    }

    /// Returns the values of column `index`.
    pub fn values(&self, index: usize) -> &[f64] {
        &self.columns[index].values
    }

    /// Selects the rows to draw, in ascending order. About [`EVEN_ROW_COUNT`] evenly spaced rows and the last row are
    /// kept in any case. Then rows are added one by one: always the row at which a column deviates most from the line
    /// through the kept rows around it. The selection ends if no column deviates by more than [`MAX_DECIMATION_ERROR`]
    /// of its range, or if [`MAX_ROW_COUNT`] rows are kept.
    pub fn visible_rows(&self) -> Vec<usize> {
        let row_count = self.row_count();
        let stride = row_count.div_ceil(EVEN_ROW_COUNT).max(1);
        let mut rows: Vec<usize> = (0..row_count).step_by(stride).collect();
        rows.extend(row_count.checked_sub(1).filter(|last| last % stride != 0));
        let scales: Vec<f64> = self.columns.iter().map(visible_range).collect();
        let mut gaps: BinaryHeap<Gap> = rows.windows(2).filter_map(|w| self.widest_gap(w[0], w[1], &scales)).collect();
        while rows.len() < MAX_ROW_COUNT {
            let Some(gap) = gaps.pop() else { break };
            rows.push(gap.row);
            gaps.extend(self.widest_gap(gap.start, gap.row, &scales));
            gaps.extend(self.widest_gap(gap.row, gap.end, &scales));
        }
        rows.sort_unstable();
        rows
    }

    /// Returns the row between the kept rows `start` and `end` at which a column deviates most from the line through
    /// its values at both. Deviations are shares of `scales`, the range of each column. `None` if no deviation exceeds
    /// [`MAX_DECIMATION_ERROR`].
    fn widest_gap(&self, start: usize, end: usize, scales: &[f64]) -> Option<Gap> {
        let order = &self.columns[0].values;
        let mut widest = Gap { error: MAX_DECIMATION_ERROR, start, row: start, end };
        for (column, scale) in self.columns.iter().zip(scales).skip(1) {
            let (first, last) = (column.values[start], column.values[end]);
            for row in start + 1..end {
                let share = (order[row] - order[start]) / (order[end] - order[start]);
                let (value, line) = (column.values[row], first + (last - first) * share);
                let error = match (value.is_nan(), line.is_nan()) {
                    (true, true) => 0.0,
                    // The border of a gap is always visible.
                    (true, false) | (false, true) => 1.0,
                    (false, false) => (value - line).abs() / scale,
                };
                if error > widest.error {
                    (widest.error, widest.row) = (error, row);
                }
            }
        }
        (widest.row != start).then_some(widest)
    }

    /// Returns the columns at `rows` as JSON. A column without values is null, a column without visible changes a
    /// number. Other columns are 32-bit numbers (`f`). A column with a reference is the difference from this column
    /// (number `of`) in 16-bit steps (`d`) of the size `q`; a missing value of the reference counts as 0.
    pub fn to_json(&self, rows: &[usize]) -> Value {
        self.columns.iter().map(|column| self.column_json(column, rows)).collect()
    }

    /// Returns one column at `rows` as JSON, in one of the forms of [`PlotTable::to_json`]: null, a number, 32-bit
    /// numbers, or 16-bit differences. The smallest 16-bit number marks a missing value.
    fn column_json(&self, column: &Column, rows: &[usize]) -> Value {
        let pick = |values: &[f64]| -> Vec<f64> { rows.iter().map(|&row| values[row]).collect() };
        let values = pick(&column.values);
        if values.iter().all(|value| value.is_nan()) {
            return Value::Null;
        }
        let (low, high) = value_range(values.iter().copied());
        if values.iter().all(|value| value.is_finite()) && high - low <= 0.001 * column.min_span {
            return json!(rounded(0.5 * (low + high)));
        }
        let Some(reference) = column.reference else {
            let bytes: Vec<u8> = values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect();
            return json!({ "f": STANDARD.encode(bytes) });
        };
        let known = |value: f64| if value.is_nan() { 0.0 } else { value };
        // The page adds the difference to the 32-bit number of the reference.
        let stored_reference =
            pick(&self.columns[reference].values).into_iter().map(|value| known(value as f32 as f64));
        let differences: Vec<f64> = values.iter().zip(stored_reference).map(|(value, base)| value - base).collect();
        let (low, high) = value_range(differences.iter().copied());
        let step = (low.abs().max(high.abs()) / f64::from(i16::MAX)).max(f64::from(f32::MIN_POSITIVE));
        let steps = differences
            .iter()
            .map(|difference| if difference.is_finite() { (difference / step).round() as i16 } else { i16::MIN });
        let bytes: Vec<u8> = steps.flat_map(i16::to_le_bytes).collect();
        json!({ "d": STANDARD.encode(bytes), "q": step, "of": reference })
    }
}

/// Row to add between two kept rows.
#[derive(PartialEq)]
struct Gap {
    /// Largest deviation, as a share of the range.
    error: f64,
    /// Kept row before the gap.
    start: usize,
    /// Row with the largest deviation.
    row: usize,
    /// Kept row after the gap.
    end: usize,
}

impl Eq for Gap {}

impl Ord for Gap {
    /// Orders by the deviation. Of equal deviations the earlier row is larger, so that the order is total.
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.error.total_cmp(&other.error).then(other.row.cmp(&self.row))
    }
}

impl PartialOrd for Gap {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the range of a column, at least its smallest visible range, above 0.
fn visible_range(column: &Column) -> f64 {
    let (low, high) = value_range(column.values.iter().copied());
    (high - low).max(column.min_span).max(f64::MIN_POSITIVE)
}

/// Returns the smallest and the largest finite value; (0, 0) if there is none.
pub fn value_range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// Rounds `value` to six significant digits, so that its text is short. −0 and values that are not finite become 0.
pub fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    // Decimal places of six significant digits.
    let places = 5 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(places);
    if scale.is_finite() { (value * scale).round() / scale } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the values that a page reads from the JSON of column `index`.
    fn decoded(columns: &Value, index: usize, row_count: usize) -> Vec<f64> {
        let column = &columns[index];
        let bytes = |key: &str| STANDARD.decode(column[key].as_str().expect("text")).expect("base64");
        if column.is_null() {
            return vec![f64::NAN; row_count];
        }
        if let Some(constant) = column.as_f64() {
            return vec![constant; row_count];
        }
        if column["f"].is_string() {
            return bytes("f").as_chunks().0.iter().map(|chunk| f64::from(f32::from_le_bytes(*chunk))).collect();
        }
        let reference = decoded(columns, column["of"].as_u64().expect("a column") as usize, row_count);
        let step = column["q"].as_f64().expect("a step");
        let differences = bytes("d").as_chunks().0.iter().map(|chunk| i16::from_le_bytes(*chunk)).collect::<Vec<_>>();
        let value = |(base, steps): (f64, i16)| {
            let base = if base.is_nan() { 0.0 } else { base };
            if steps == i16::MIN { f64::NAN } else { base + f64::from(steps) * step }
        };
        reference.into_iter().zip(differences).map(value).collect()
    }

    /// A table with 10,000 rows: a sine, the sine with a small difference and a gap, and a constant.
    fn table() -> PlotTable {
        let times: Vec<f64> = (0..10_000).map(|k| f64::from(k) * 1e-3).collect();
        let mut table = PlotTable::new(times.clone());
        let sine = table.add(times.iter().map(|t| 300.0 + (2.0 * t).sin()).collect(), 0.1, None);
        let near = times.iter().map(|t| if *t > 9.0 { f64::NAN } else { 300.0 + (2.0 * t).sin() + 1e-4 * t }).collect();
        table.add(near, 0.1, Some(sine));
        table.add(times.iter().map(|_| 4.25).collect(), 0.1, None);
        table.add(Vec::new(), 0.1, Some(sine));
        table
    }

    /// Lines through the kept rows deviate from no row of a smooth column by more than the stated share, and a single
    /// peak is kept. At most [`MAX_ROW_COUNT`] rows are kept of noise.
    #[test]
    fn kept_rows_show_each_curve_to_less_than_a_pixel() {
        let mut smooth = table();
        let mut peak = vec![0.0; 10_000];
        peak[5_003] = 9.0;
        smooth.add(peak, 1.0, None);
        let rows = smooth.visible_rows();
        assert!(rows.len() < MAX_ROW_COUNT && rows.contains(&5_003), "{}", rows.len());
        assert!(rows[0] == 0 && rows.last() == Some(&9_999) && rows.windows(2).all(|w| w[0] < w[1]));
        for pair in rows.windows(2) {
            for row in pair[0]..pair[1] {
                let (sine, share) = (smooth.values(1), (row - pair[0]) as f64 / (pair[1] - pair[0]) as f64);
                let line = sine[pair[0]] + (sine[pair[1]] - sine[pair[0]]) * share;
                // The range of the sine is 2.
                assert!((line - sine[row]).abs() <= 2.0 * MAX_DECIMATION_ERROR, "row {row}");
            }
        }
        let mut noise = table();
        noise.add((0..10_000).map(|k| f64::from(k * 7919 % 101)).collect(), 1.0, None);
        assert_eq!(noise.visible_rows().len(), MAX_ROW_COUNT);
    }

    /// Decoded values are exact to 32 bits, differences from a reference to 1/65,534 of the largest difference. A gap
    /// stays a gap, a constant is one number, and a column without values is null.
    #[test]
    fn the_text_of_a_column_reads_back_as_its_values() {
        let table = table();
        let rows = table.visible_rows();
        let columns = table.to_json(&rows);
        assert_eq!((&columns[3], &columns[4]), (&json!(4.25), &Value::Null));
        let [sine, near] = [1, 2].map(|index| decoded(&columns, index, rows.len()));
        for (k, &row) in rows.iter().enumerate() {
            assert!((sine[k] - table.values(1)[row]).abs() < 3e-5, "row {row}");
            let exact = table.values(2)[row];
            assert_eq!(near[k].is_nan(), exact.is_nan(), "row {row}");
            assert!(exact.is_nan() || (near[k] - exact).abs() < 1e-7, "row {row}: {} {exact}", near[k]);
        }
    }

    /// A rounded number has six digits.
    #[test]
    fn numbers_are_shortened_to_six_digits() {
        assert_eq!([0.1234567891, -1234567.8, 0.0, -0.0].map(rounded), [0.123457, -1234570.0, 0.0, 0.0]);
    }
}
