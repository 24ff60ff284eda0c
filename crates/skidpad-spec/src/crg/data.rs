//! Data of an OpenCRG file: one record for each cross-section, in lines of 80 characters with 8 or 4 values each.

use super::header::{Channel, Header, parse_number};
use super::{CrgRoad, MAX_ROAD_POINTS, compute_left_directions, sin_cos};
use crate::FaultKind;
use crate::fault_collector::FaultCollector;
use skidpad_core::DVec3;

/// Number of characters of a data line.
const DATA_LINE_CHARACTERS: usize = 80;

/// Builds the road from the data of a text. Steps: find the long sections; read all values; take the start u and the
/// increment from the header, the stated end or the definition (default 0.01 m); integrate the reference line; complete
/// the banking; compute the directions to the left. Returns `None` after a fault in the data, or between header and data.
pub(super) fn build_road(text: &str, header: &Header, collector: &mut FaultCollector) -> Option<CrgRoad> {
    let sections = long_sections(header, collector)?;
    let rows = read_values(text, header, collector)?;
    let mut told = |key: &str, found: String, accepts: &str| {
        collector.add_fault(FaultKind::Contradiction, key.into(), header.key_span(key), found, accepts, None);
    };
    // Number of values of a cross-section.
    let columns = header.channels.len();
    let count = rows.len() / columns;
    if count < 2 {
        told("data", format!("{count} cross-sections"), "two at least");
        return None;
    }
    let start = header.value("reference_line_start_u").or(header.definition_u[0]).unwrap_or(0.0);
    let end = header.value("reference_line_end_u");
    // Increment that follows from the stated end.
    let by_end = end.map(|end| (end - start) / (count - 1) as f64);
    let increment = header.value("reference_line_increment").or(by_end).or(header.definition_u[1]).unwrap_or(0.01);
    if !(increment > 0.0 && increment <= MAX_INCREMENT_M) {
        told("reference_line_increment", increment.to_string(), "above 0 and at most 10000 m");
        return None;
    }
    let last = start + (count - 1) as f64 * increment;
    if end.is_some_and(|end| (end - last).abs() > 0.5 * increment) {
        let found = format!("{count} cross-sections end at u = {last} m");
        told("reference_line_end_u", found, "where the data ends, or rows are missing");
    }
    let column = |channel: Channel| header.channels.iter().position(|known| *known == channel);
    let of = |channel| column(channel).map(|at| rows.iter().skip(at).step_by(columns).copied().collect::<Vec<f64>>());
    let reference = ReferenceLine { header, count, increment };
    let line = reference.integrate_points(of(Channel::Heading), of(Channel::Slope), &mut told)?;
    let banking = reference.complete_banking(of(Channel::Banking), &mut told)?;
    let Some(left) = compute_left_directions(&line) else {
        told(
            "reference_line_start_phi",
            "the line turns by a right angle or more between cross-sections".into(),
            "a line",
        );
        return None;
    };
    let heights = rows.chunks_exact(columns).flat_map(|row| sections.iter().map(|&(_, at)| row[at])).collect();
    let v = sections.iter().map(|&(v, _)| v).collect();
    Some(CrgRoad {
        start_u: start,
        increment,
        long_section_v: v,
        reference_line: line,
        banking,
        left_directions: left,
        heights,
    })
}

/// Largest distance between cross-sections, m.
const MAX_INCREMENT_M: f64 = 1e4;

/// Returns v (m) and the column of each long section, from the right to the left. Sections with a v keep it. Numbered
/// sections are equidistant: with the stated increment, otherwise between the stated ends, otherwise 0.01 m apart;
/// without a stated right end they are centred about v = 0. Reports sections of both kinds, fewer than two, gaps in the
/// numbers, equal places, ends that differ from the header, and reference channels defined twice. Returns `None` after
/// most of these faults.
fn long_sections(header: &Header, collector: &mut FaultCollector) -> Option<Vec<(f64, usize)>> {
    let mut told = |found: String, accepts: &str| {
        collector.add_fault(
            FaultKind::Contradiction,
            "D:".into(),
            header.definition_span.clone(),
            found,
            accepts,
            None,
        );
    };
    let all = header.channels.iter().enumerate();
    let mut numbered: Vec<(f64, usize)> = all
        .clone()
        .filter_map(|(at, of)| if let Channel::SectionNumber(n) = of { Some((*n, at)) } else { None })
        .collect();
    let mut placed: Vec<(f64, usize)> =
        all.clone().filter_map(|(at, of)| if let Channel::SectionV(v) = of { Some((*v, at)) } else { None }).collect();
    for channel in [Channel::Heading, Channel::Slope, Channel::Banking] {
        if all.clone().filter(|(_, of)| **of == channel).count() > 1 {
            told(format!("{channel:?} is defined twice"), "defined once");
        }
    }
    if !numbered.is_empty() && !placed.is_empty() {
        told("long sections by number and by place".into(), "all of one kind");
        return None;
    }
    numbered.sort_by(|one, other| one.0.total_cmp(&other.0));
    placed.sort_by(|one, other| one.0.total_cmp(&other.0));
    let count = numbered.len().max(placed.len());
    if count < 2 {
        told(format!("{count} long sections"), "two at least");
        return None;
    }
    if !numbered.is_empty() {
        if numbered.iter().zip(1..).any(|(&(number, _), from_one)| number != f64::from(from_one)) {
            told("numbers of long sections leave some out or come twice".into(), "1, 2 and so on");
            return None;
        }
        let steps = (count - 1) as f64;
        let [right, left] = ["right", "left"].map(|end| header.value(&format!("long_section_v_{end}")));
        let by_ends = right.zip(left).map(|(right, left)| (left - right) / steps);
        let step = header.value("long_section_v_increment").or(by_ends).unwrap_or(0.01);
        let right = right.unwrap_or(-0.5 * step * steps);
        placed = numbered.iter().map(|&(number, at)| (right + (number - 1.0) * step, at)).collect();
    }
    let [right, left] = [placed[0].0, placed[count - 1].0];
    for (key, v) in [("long_section_v_right", right), ("long_section_v_left", left)] {
        if header.value(key).is_some_and(|stated| (stated - v).abs() > EQUALITY_TOLERANCE) {
            told(format!("`{key}` is not the {v} m of its long section"), "the same");
        }
    }
    if placed.windows(2).any(|pair| pair[1].0 - pair[0].0 <= 0.0) {
        told("long sections at the same place".into(), "places that rise");
        return None;
    }
    Some(placed)
}

/// Largest difference between values that count as equal (m, rad or –).
const EQUALITY_TOLERANCE: f64 = 1e-3;

/// Reads all values, record by record, in the order of the channels. A record fills lines of 80 characters; a value has
/// the fixed width of the format. Missing values are NaN; a value that is no number becomes 0 after its fault. Returns
/// `None` if there are too many values or faults, or if the last record is incomplete.
fn read_values(text: &str, header: &Header, collector: &mut FaultCollector) -> Option<Vec<f64>> {
    let columns = header.channels.len();
    // Values of a line.
    let of_line = DATA_LINE_CHARACTERS / header.value_width;
    // Lines of a record.
    let of_record = columns.div_ceil(of_line);
    let data = text[header.data_start..].trim_end();
    let records = data.lines().count().div_ceil(of_record);
    if records.saturating_mul(columns) > MAX_ROAD_POINTS {
        let (found, accepts) = (format!("{records} records of {columns} values"), "25 million values at most");
        collector.add_fault(FaultKind::OutOfRange, "data".into(), header.definition_span.clone(), found, accepts, None);
        return None;
    }
    let mut values = Vec::with_capacity(records * columns);
    let mut start = header.data_start;
    for (number, line) in data.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\r', '\n']);
        let span = start..start + content.len();
        start += line.len();
        let expected = of_line.min(columns - number % of_record * of_line);
        for k in 0..expected {
            let field = content.as_bytes().get(k * header.value_width..).unwrap_or(&[]);
            let field = &field[..field.len().min(header.value_width)];
            let Some(value) = parse_field(field) else {
                let found = format!("{:?}", String::from_utf8_lossy(field));
                let accepts = format!("a number of {} characters, or `*` where there is none", header.value_width);
                collector.add_fault(
                    FaultKind::OutOfRange,
                    format!("value {}", k + 1),
                    span.clone(),
                    found,
                    accepts,
                    None,
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
    if values.len() % columns != 0 {
        let found = format!("the last cross-section has {} of {columns} values", values.len() % columns);
        collector.add_fault(
            FaultKind::Contradiction,
            "data".into(),
            header.definition_span.clone(),
            found,
            "complete",
            None,
        );
        return None;
    }
    Some(values)
}

/// Parses a field of fixed width. A missing value (with `*`, or `nan`) is NaN. Returns `None` if the field is no number
/// up to [`MAX_DATA_VALUE`].
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
    count: usize,
    /// Distance between cross-sections, m.
    increment: f64,
}

impl ReferenceLine<'_> {
    /// Computes the points of the reference line by integrating headings φ and slopes s from the start: `Δx = Δu cos φ`,
    /// `Δy = Δu sin φ`, `Δz = Δu s`. Without a column the start value of the header is constant. The first value of each
    /// column is not used, because a value belongs to the interval before its cross-section.
    ///
    /// The distance to a stated end is distributed evenly over the line, in x and y only with headings and in z only with
    /// slopes. Reports missing values and a distance above 1 % of the length, and then returns `None`.
    fn integrate_points(
        &self,
        headings: Option<Vec<f64>>,
        slopes: Option<Vec<f64>>,
        told: &mut impl FnMut(&str, String, &str),
    ) -> Option<Vec<DVec3>> {
        let value = |key: &str| self.header.value(&format!("reference_line_{key}"));
        let [curved, sloped] = [headings.is_some(), slopes.is_some()];
        if !curved {
            self.check_constant("reference_line_start_phi", "reference_line_end_phi", "reference line phi", told);
        }
        if !sloped {
            self.check_constant("reference_line_start_s", "reference_line_end_s", "reference line slope", told);
        }
        let headings = headings.unwrap_or_else(|| vec![value("start_phi").unwrap_or(0.0); self.count]);
        let slopes = slopes.unwrap_or_else(|| vec![value("start_s").unwrap_or(0.0); self.count]);
        if [&headings, &slopes].iter().any(|values| values[1..].iter().any(|value| value.is_nan())) {
            told("D:", "a heading or a slope is missing".into(), "there for each cross-section but the first");
            return None;
        }
        let mut at = DVec3::from_array(["start_x", "start_y", "start_z"].map(|key| value(key).unwrap_or(0.0)));
        let mut line = vec![at];
        for (heading, slope) in headings[1..].iter().zip(&slopes[1..]) {
            let (sin, cos) = sin_cos(*heading);
            at += self.increment * DVec3::new(cos, sin, *slope);
            line.push(at);
        }
        let (length, last) = ((self.count - 1) as f64 * self.increment, at);
        let mut missing = DVec3::ZERO;
        if let (Some(x), Some(y)) = (value("end_x"), value("end_y")) {
            (missing.x, missing.y) = (x - last.x, y - last.y);
        }
        missing.z = value("end_z").map_or(0.0, |z| z - last.z);
        if missing.length() > MAX_END_ERROR_SHARE * length + EQUALITY_TOLERANCE {
            let found = format!("the line ends {:.6} m from there", missing.length());
            told("reference_line_end_x", found, "its end, to 1 % of its length");
            return None;
        }
        let shares = [curved, curved, sloped].map(|laid| if laid { 1.0 } else { 0.0 });
        let missing = missing * DVec3::from_array(shares);
        let steps = (self.count - 1) as f64;
        Some(line.iter().enumerate().map(|(i, at)| *at + missing * (i as f64 / steps)).collect())
    }

    /// Returns the banking of each cross-section (m/m). Without a column it is constant: the start value of the header,
    /// or 0. Returns `None` after reporting a missing value.
    fn complete_banking(
        &self,
        banking: Option<Vec<f64>>,
        told: &mut impl FnMut(&str, String, &str),
    ) -> Option<Vec<f64>> {
        let Some(banking) = banking else {
            self.check_constant("reference_line_start_b", "reference_line_end_b", "reference line banking", told);
            return Some(vec![self.header.value("reference_line_start_b").unwrap_or(0.0); self.count]);
        };
        if banking.iter().any(|banking| banking.is_nan()) {
            told("D:", "a value of `reference line banking` is missing".into(), "there for each cross-section");
            return None;
        }
        Some(banking)
    }

    /// Reports an end value (key `end`) that differs from the start value (key `start`, default 0) by more than
    /// [`EQUALITY_TOLERANCE`], although no column `channel` describes the values between. `told` receives key, found text
    /// and accepted text.
    fn check_constant(&self, start: &str, end: &str, channel: &str, told: &mut impl FnMut(&str, String, &str)) {
        let from = self.header.value(start).unwrap_or(0.0);
        if let Some(to) = self.header.value(end).filter(|to| (to - from).abs() > EQUALITY_TOLERANCE) {
            let accepts = format!("that of the start, {from}, as there is no column `{channel}`");
            told(end, to.to_string(), &accepts);
        }
    }
}

/// Largest distance between the integrated and the stated end, as a share of the length of the line.
const MAX_END_ERROR_SHARE: f64 = 0.01;
