//! Data of an OpenCRG file: one record for each cross-section, in lines of 80 characters with 8 or 4 values each.

use super::header::{Channel, Header, parse_number};
use super::{CrgRoad, MAX_ROAD_POINTS, compute_left_directions, sin_cos};
use crate::FaultKind;
use crate::fault_collector::FaultCollector;
use skidpad_core::DVec3;

/// Number of characters of a data line.
const DATA_LINE_CHARACTERS: usize = 80;

/// Builds the road from the data of a text. `u` is the position along the reference line, a long section is a line of
/// heights at constant lateral position `v`. Steps: find the long sections; read all values; take the start u (0 if
/// absent) and the increment (from the header, the stated end or the definition, in this order, otherwise 0.01 m);
/// integrate the reference line; complete the banking; compute the directions to the left; copy the heights,
/// cross-section by cross-section, from right to left.
///
/// Reports fewer than two cross-sections, an increment that is not above 0 and at most [`MAX_INCREMENT_M`], a stated
/// end more than half an increment off, and a line that turns too far. Returns `None` after a fault of this function or
/// of a step; only a wrong end is reported without stopping.
pub(super) fn build_road(text: &str, header: &Header, collector: &mut FaultCollector) -> Option<CrgRoad> {
    let sections = long_sections(header, collector)?;
    let values = read_values(text, header, collector)?;
    let mut add_contradiction = |key: &str, found: String, accepts: &str| {
        collector.add_fault(FaultKind::Contradiction, key.into(), header.key_span(key), found, accepts, None);
    };
    // Number of values of a cross-section.
    let column_count = header.channels.len();
    let cross_section_count = values.len() / column_count;
    if cross_section_count < 2 {
        add_contradiction("data", format!("{cross_section_count} cross-sections"), "at least two");
        return None;
    }
    // `definition_u` is [first u, increment].
    let start_u = header.value("reference_line_start_u").or(header.definition_u[0]).unwrap_or(0.0);
    let end_u = header.value("reference_line_end_u");
    // Increment that follows from the stated end.
    let increment_from_end = end_u.map(|end_u| (end_u - start_u) / (cross_section_count - 1) as f64);
    let increment =
        header.value("reference_line_increment").or(increment_from_end).or(header.definition_u[1]).unwrap_or(0.01);
    if !(increment > 0.0 && increment <= MAX_INCREMENT_M) {
        add_contradiction("reference_line_increment", increment.to_string(), "above 0 and at most 10000 m");
        return None;
    }
    let last_u = start_u + (cross_section_count - 1) as f64 * increment;
    if end_u.is_some_and(|end_u| (end_u - last_u).abs() > 0.5 * increment) {
        let found = format!("{cross_section_count} cross-sections end at u = {last_u} m");
        add_contradiction("reference_line_end_u", found, "the end of the data, or rows are missing");
    }
    // All values of one column, `None` without this column.
    let column_of = |channel: Channel| header.channels.iter().position(|other| *other == channel);
    let channel_values = |channel| {
        column_of(channel)
            .map(|column_index| values.iter().skip(column_index).step_by(column_count).copied().collect::<Vec<f64>>())
    };
    let reference_line = ReferenceLine { header, cross_section_count, increment };
    let points = reference_line.integrate_points(
        channel_values(Channel::Heading),
        channel_values(Channel::Slope),
        &mut add_contradiction,
    )?;
    let banking = reference_line.complete_banking(channel_values(Channel::Banking), &mut add_contradiction)?;
    let Some(left_directions) = compute_left_directions(&points) else {
        add_contradiction(
            "reference_line_start_phi",
            "the reference line turns by 90° or more between cross-sections".into(),
            "a line",
        );
        return None;
    };
    // Columns in the order of v, which may differ from the order in the file.
    let heights = values
        .chunks_exact(column_count)
        .flat_map(|row| sections.iter().map(|&(_, column_index)| row[column_index]))
        .collect();
    let long_section_v = sections.iter().map(|&(v, _)| v).collect();
    Some(CrgRoad { start_u, increment, long_section_v, reference_line: points, banking, left_directions, heights })
}

/// Largest distance between cross-sections, m.
const MAX_INCREMENT_M: f64 = 1e4;

/// Returns v (lateral position, m) and the column of each long section, from the right to the left. Sections with a
/// stated v keep it. Numbered sections must be 1, 2, 3, … and are equidistant: at the stated increment, otherwise
/// between the stated ends, otherwise 0.01 m apart. The first one is at the stated right end; without one, the sections
/// are centred about v = 0. Returns `None` after reporting sections of both kinds, fewer than two sections, gaps in the
/// numbers, or positions that do not rise. Also reports, without stopping, ends that differ from the header by more
/// than [`EQUALITY_TOLERANCE`], and reference channels that are defined twice.
fn long_sections(header: &Header, collector: &mut FaultCollector) -> Option<Vec<(f64, usize)>> {
    let mut add_contradiction = |found: String, accepts: &str| {
        collector.add_fault(
            FaultKind::Contradiction,
            "D:".into(),
            header.definition_span.clone(),
            found,
            accepts,
            None, // no help
        );
    };
    let channels = header.channels.iter().enumerate();
    let mut numbered_sections: Vec<(f64, usize)> = channels
        .clone()
        .filter_map(|(column, channel)| if let Channel::SectionNumber(n) = channel { Some((*n, column)) } else { None })
        .collect();
    let mut placed_sections: Vec<(f64, usize)> = channels
        .clone()
        .filter_map(|(column, channel)| if let Channel::SectionV(v) = channel { Some((*v, column)) } else { None })
        .collect();
    for channel in [Channel::Heading, Channel::Slope, Channel::Banking] {
        if channels.clone().filter(|(_, other)| **other == channel).count() > 1 {
            add_contradiction(format!("{channel:?} is defined twice"), "defined once");
        }
    }
    if !numbered_sections.is_empty() && !placed_sections.is_empty() {
        add_contradiction("long sections both by number and by position".into(), "long sections of one kind");
        return None;
    }
    numbered_sections.sort_by(|a, b| a.0.total_cmp(&b.0));
    placed_sections.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = numbered_sections.len().max(placed_sections.len());
    if count < 2 {
        add_contradiction(format!("{count} long sections"), "at least two");
        return None;
    }
    if !numbered_sections.is_empty() {
        if numbered_sections.iter().zip(1..).any(|(&(number, _), expected)| number != f64::from(expected)) {
            add_contradiction("the numbers of the long sections have gaps or duplicates".into(), "1, 2, 3, …");
            return None;
        }
        let interval_count = (count - 1) as f64;
        let [right, left] = ["right", "left"].map(|end| header.value(&format!("long_section_v_{end}")));
        let spacing_from_ends = right.zip(left).map(|(right, left)| (left - right) / interval_count);
        let spacing = header.value("long_section_v_increment").or(spacing_from_ends).unwrap_or(0.01);
        let right = right.unwrap_or(-0.5 * spacing * interval_count);
        placed_sections = numbered_sections.iter().map(|&(number, i)| (right + (number - 1.0) * spacing, i)).collect();
    }
    let [right, left] = [placed_sections[0].0, placed_sections[count - 1].0];
    for (key, v) in [("long_section_v_right", right), ("long_section_v_left", left)] {
        if header.value(key).is_some_and(|stated| (stated - v).abs() > EQUALITY_TOLERANCE) {
            add_contradiction(format!("`{key}` differs from the {v} m of the long section"), "an equal value");
        }
    }
    if placed_sections.windows(2).any(|pair| pair[1].0 - pair[0].0 <= 0.0) {
        add_contradiction("long sections at equal positions".into(), "increasing positions");
        return None;
    }
    Some(placed_sections)
}

/// Largest difference between values that count as equal (m, rad or –).
const EQUALITY_TOLERANCE: f64 = 1e-3;

/// Reads all values, record by record (one record for each cross-section), in the order of the channels. A record
/// starts on a new line and fills lines of 80 characters; a value has the fixed width of the format. Missing values
/// (`*`, `nan`) are NaN. A value that is no number, also an empty field of a short line, is reported and becomes 0.
/// Blank lines at the end are ignored.
///
/// Returns `None` after more than [`MAX_ROAD_POINTS`] values, an incomplete last record, or if the list of faults is
/// full.
fn read_values(text: &str, header: &Header, collector: &mut FaultCollector) -> Option<Vec<f64>> {
    let column_count = header.channels.len();
    // Values of a line.
    let values_per_line = DATA_LINE_CHARACTERS / header.value_width;
    // Lines of a record.
    let lines_per_record = column_count.div_ceil(values_per_line);
    let data = text[header.data_start..].trim_end();
    let record_count = data.lines().count().div_ceil(lines_per_record);
    if record_count.saturating_mul(column_count) > MAX_ROAD_POINTS {
        let (found, accepts) =
            (format!("{record_count} records of {column_count} values"), "at most 25 million values");
        collector.add_fault(FaultKind::OutOfRange, "data".into(), header.definition_span.clone(), found, accepts, None);
        return None;
    }
    let mut values = Vec::with_capacity(record_count * column_count);
    let mut line_start = header.data_start;
    for (line_index, line) in data.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\r', '\n']);
        let span = line_start..line_start + content.len();
        line_start += line.len();
        // The last line of a record has the values that the lines before it do not have.
        let value_count = values_per_line.min(column_count - line_index % lines_per_record * values_per_line);
        for k in 0..value_count {
            let field = content.as_bytes().get(k * header.value_width..).unwrap_or(&[]);
            let field = &field[..field.len().min(header.value_width)];
            let Some(value) = parse_field(field) else {
                let found = format!("{:?}", String::from_utf8_lossy(field));
                let accepts = format!("a number of {} characters, or `*` for a missing value", header.value_width);
                collector.add_fault(
                    FaultKind::OutOfRange,
                    format!("value {}", k + 1),
                    span.clone(),
                    found,
                    accepts,
                    None, // no help
                );
                if collector.is_full() {
                    return None;
                }
                values.push(0.0);
                continue;
            };
            values.push(value);
        }
    }
    if values.len() % column_count != 0 {
        let found = format!("the last cross-section has {} of {column_count} values", values.len() % column_count);
        collector.add_fault(
            FaultKind::Contradiction,
            "data".into(),
            header.definition_span.clone(),
            found,
            "complete",
            None, // no help
        );
        return None;
    }
    Some(values)
}

/// Parses a field of fixed width, without spaces around it. A missing value (with `*`, or `nan`) is NaN. Returns `None`
/// if the field is empty, no number, or beyond [`MAX_DATA_VALUE`] in magnitude.
fn parse_field(field: &[u8]) -> Option<f64> {
    if field.contains(&b'*') {
        return Some(f64::NAN);
    }
    let word = core::str::from_utf8(field).ok()?.trim();
    if word.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    parse_number(word).filter(|number| number.abs() <= MAX_DATA_VALUE)
}

/// Largest magnitude of a height, heading, slope or banking.
const MAX_DATA_VALUE: f64 = 1e6;

/// Inputs of the reference line: header, number of cross-sections, and their distance (m).
struct ReferenceLine<'a> {
    /// Header of the file.
    header: &'a Header,
    /// Number of cross-sections.
    cross_section_count: usize,
    /// Distance between cross-sections, m.
    increment: f64,
}

impl ReferenceLine<'_> {
    /// Computes the points of the reference line by integrating headings φ and slopes s from the start:
    /// `Δx = Δu cos φ`, `Δy = Δu sin φ`, `Δz = Δu s`. Without a column the start value of the header is constant. The
    /// first value of each column is not used, because a value belongs to the interval before its cross-section.
    ///
    /// The line is then moved to a stated end: in x and y if both are stated and there are headings, in z if z is
    /// stated and there are slopes. The distance to the end is distributed evenly over the line. Reports a distance
    /// above [`MAX_END_ERROR_SHARE`] of the length (plus 1 mm), and missing values; returns `None` after these two
    /// faults. Without a column, also reports an end heading or slope that differs from the start value.
    fn integrate_points(
        &self,
        headings: Option<Vec<f64>>,
        slopes: Option<Vec<f64>>,
        add_contradiction: &mut impl FnMut(&str, String, &str),
    ) -> Option<Vec<DVec3>> {
        let value = |key: &str| self.header.value(&format!("reference_line_{key}"));
        let [has_headings, has_slopes] = [headings.is_some(), slopes.is_some()];
        if !has_headings {
            self.check_constant(
                "reference_line_start_phi",
                "reference_line_end_phi",
                "reference line phi",
                add_contradiction,
            );
        }
        if !has_slopes {
            self.check_constant(
                "reference_line_start_s",
                "reference_line_end_s",
                "reference line slope",
                add_contradiction,
            );
        }
        let headings = headings.unwrap_or_else(|| vec![value("start_phi").unwrap_or(0.0); self.cross_section_count]);
        let slopes = slopes.unwrap_or_else(|| vec![value("start_s").unwrap_or(0.0); self.cross_section_count]);
        if [&headings, &slopes].iter().any(|values| values[1..].iter().any(|value| value.is_nan())) {
            add_contradiction(
                "D:",
                "a heading or a slope is missing".into(),
                "a value for each cross-section except the first",
            );
            return None;
        }
        let mut point = DVec3::from_array(["start_x", "start_y", "start_z"].map(|key| value(key).unwrap_or(0.0)));
        let mut points = vec![point];
        for (heading, slope) in headings[1..].iter().zip(&slopes[1..]) {
            let (sin, cos) = sin_cos(*heading);
            point += self.increment * DVec3::new(cos, sin, *slope);
            points.push(point);
        }
        let (length, last_point) = ((self.cross_section_count - 1) as f64 * self.increment, point);
        let mut end_error = DVec3::ZERO;
        if let (Some(x), Some(y)) = (value("end_x"), value("end_y")) {
            (end_error.x, end_error.y) = (x - last_point.x, y - last_point.y);
        }
        end_error.z = value("end_z").map_or(0.0, |z| z - last_point.z);
        if end_error.length() > MAX_END_ERROR_SHARE * length + EQUALITY_TOLERANCE {
            let found = format!("the reference line ends {:.6} m from this point", end_error.length());
            let is_height = end_error.z.abs() > end_error.truncate().length();
            let key = if is_height { "reference_line_end_z" } else { "reference_line_end_x" };
            add_contradiction(key, found, "the end point of the line, within 1 % of its length");
            return None;
        }
        let corrected_axes =
            [has_headings, has_headings, has_slopes].map(|has_channel| if has_channel { 1.0 } else { 0.0 });
        let end_error = end_error * DVec3::from_array(corrected_axes);
        let interval_count = (self.cross_section_count - 1) as f64;
        Some(points.iter().enumerate().map(|(i, point)| *point + end_error * (i as f64 / interval_count)).collect())
    }

    /// Returns the banking (lateral slope, m/m) of each cross-section: the column `banking` unchanged. Without a
    /// column, the banking is the start value of the header, or 0, everywhere; a stated end value that differs is
    /// reported. Returns `None` after reporting a missing value in the column.
    fn complete_banking(
        &self,
        banking: Option<Vec<f64>>,
        add_contradiction: &mut impl FnMut(&str, String, &str),
    ) -> Option<Vec<f64>> {
        let Some(banking) = banking else {
            self.check_constant(
                "reference_line_start_b",
                "reference_line_end_b",
                "reference line banking",
                add_contradiction,
            );
            return Some(vec![self.header.value("reference_line_start_b").unwrap_or(0.0); self.cross_section_count]);
        };
        if banking.iter().any(|banking| banking.is_nan()) {
            add_contradiction(
                "D:",
                "a value of `reference line banking` is missing".into(),
                "a value for each cross-section",
            );
            return None;
        }
        Some(banking)
    }

    /// Reports a stated end value (key `end_key`) that differs from the start value (key `start_key`, default 0) by
    /// more than [`EQUALITY_TOLERANCE`]. Called if no column `channel` describes the values between start and end.
    /// `add_contradiction` receives key, found text and accepted text.
    fn check_constant(
        &self,
        start_key: &str,
        end_key: &str,
        channel: &str,
        add_contradiction: &mut impl FnMut(&str, String, &str),
    ) {
        let start_value = self.header.value(start_key).unwrap_or(0.0);
        if let Some(end_value) =
            self.header.value(end_key).filter(|end_value| (end_value - start_value).abs() > EQUALITY_TOLERANCE)
        {
            let accepts = format!("equal to the start value {start_value}, because there is no column `{channel}`");
            add_contradiction(end_key, end_value.to_string(), &accepts);
        }
    }
}

/// Largest distance between the integrated and the stated end, as a share of the length of the line.
const MAX_END_ERROR_SHARE: f64 = 0.01;
