//! Header of an OpenCRG file: blocks from `$NAME` to `$`, up to a line of `$$$$`. Comments follow `!`, or fill a line
//! that starts with `*`.

use crate::FaultKind;
use crate::fault_collector::FaultCollector;
use crate::suggestions::nearest_word;
use std::collections::BTreeMap;
use std::ops::Range;

/// Keys of the block `ROAD_CRG` that are read. Keys of map coordinates are skipped.
const ROAD_KEYS: [&str; 18] = [
    "reference_line_start_u",
    "reference_line_end_u",
    "reference_line_increment",
    "long_section_v_right",
    "long_section_v_left",
    "long_section_v_increment",
    "reference_line_start_s",
    "reference_line_end_s",
    "reference_line_start_b",
    "reference_line_end_b",
    "reference_line_start_x",
    "reference_line_start_y",
    "reference_line_start_z",
    "reference_line_start_phi",
    "reference_line_end_x",
    "reference_line_end_y",
    "reference_line_end_z",
    "reference_line_end_phi",
];

/// Endings of keys of the block `ROAD_CRG` that place the road on a map.
const MAP_KEY_SUFFIXES: [&str; 7] = ["_offset_x", "_offset_y", "_offset_z", "_offset_phi", "_lon", "_lat", "_alt"];

/// Beginnings of options that do not change the road inside its grid: tolerances, messages, search settings of other
/// tools.
const IGNORED_OPTION_PREFIXES: [&str; 4] = ["check_", "warn_", "log_", "refline_search_"];

/// Content of a column of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Channel {
    /// Heading of the reference line, rad.
    Heading,
    /// Slope of the reference line, m/m.
    Slope,
    /// Banking of the reference line, m/m.
    Banking,
    /// Heights of the long section with this number, from 1.
    SectionNumber(f64),
    /// Heights of the long section at this v, m.
    SectionV(f64),
}

/// Content of a header.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Values of the block `ROAD_CRG`, with their spans in the text.
    values: BTreeMap<String, (f64, Range<usize>)>,
    /// First u and increment that the definition of the data states, m.
    pub definition_u: [Option<f64>; 2],
    /// Columns of the data, in their order.
    pub channels: Vec<Channel>,
    /// Characters of a value: 10 or 20; 0 if no format is defined.
    pub value_width: usize,
    /// Span of the block that defines the data.
    pub definition_span: Range<usize>,
    /// Position of the data in the text, bytes.
    pub data_start: usize,
}

impl Header {
    /// Returns the value of a key of the block `ROAD_CRG`.
    pub fn value(&self, key: &str) -> Option<f64> {
        self.values.get(key).map(|(value, _)| *value)
    }

    /// Returns the span of a key or, if the file does not give it, of the block that defines the data.
    pub fn key_span(&self, key: &str) -> Range<usize> {
        self.values.get(key).map_or(self.definition_span.clone(), |(_, span)| span.clone())
    }
}

/// Reads the header of a text, up to a line of four or more `$` and nothing else. Stores the position of the data after
/// this line. Returns `None` if the header has no such end or no data format, or if the list of faults is full. A
/// missing end is reported; a missing format only if there is no other fault. Other faults do not stop the reading.
pub(super) fn read(text: &str, collector: &mut FaultCollector) -> Option<Header> {
    let mut reader = Reader { collector, header: Header::default(), block: String::new() };
    let (mut position, mut has_end) = (0, false);
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let span = position..position + content.len();
        position += line.len();
        if content.len() >= 4 && content.bytes().all(|byte| byte == b'$') {
            has_end = true;
            break;
        }
        reader.read_line(content, span);
        if reader.collector.is_full() {
            return None;
        }
    }
    reader.header.data_start = position;
    let Reader { collector, header, .. } = reader;
    if !has_end {
        let (found, accepts) =
            ("the header has no final line of `$$$$`".to_owned(), "a header, a line of `$$$$`, and the data");
        // A fault of the whole file: no key, no place, no help.
        collector.add_fault(FaultKind::Syntax, String::new(), 0..0, found, accepts, None); // no help
    } else if header.value_width == 0 && collector.faults.is_empty() {
        let found = "no format (`#:LRFI`) in a block `$KD_DEFINITION`".to_owned();
        // No help text.
        collector.add_fault(FaultKind::Syntax, String::new(), 0..0, found, "a definition of the data format", None);
    }
    (has_end && header.value_width > 0).then_some(header)
}

/// State of the reader of a header.
struct Reader<'a> {
    /// Receiver of the faults.
    collector: &'a mut FaultCollector,
    /// Contents so far.
    header: Header,
    /// Name of the current block; empty between blocks.
    block: String,
}

impl Reader<'_> {
    /// Reads one line and passes it to the reader of its block. `span` is its place in the text. A line `$NAME` begins
    /// the block `NAME`, stored in upper case in `self.block`; `$` ends it (empty name). Comments and empty lines are
    /// skipped, also lines outside of blocks and in blocks without a reader. Every key of the block `ROAD_CRG_MODS` is
    /// refused.
    fn read_line(&mut self, line: &str, span: Range<usize>) {
        if let Some(name) = line.strip_prefix('$').filter(|name| !name.starts_with('$')) {
            // A comment may follow the name.
            let name = name.split([' ', '\t', '!']).next().unwrap_or("");
            self.block = name.to_ascii_uppercase();
            return self.begin_block(span);
        }
        let content = line.split('!').next().unwrap_or("").trim();
        if content.is_empty() || line.starts_with('*') {
            return;
        }
        match self.block.as_str() {
            "ROAD_CRG" => self.read_road_key(content, span),
            "ROAD_CRG_OPTS" => self.read_option(content, span),
            "ROAD_CRG_MODS" => {
                let (key, _) = split_key_value(content);
                self.report_unsupported(
                    &key,
                    span,
                    "absent, because modifiers are not supported",
                    "use `origin_m` of the scene to move a road",
                );
            }
            "KD_DEFINITION" => self.read_definition(content, span),
            _ => {}
        }
    }

    /// Begins the block `self.block`, whose header is at `span`. Stores the place of `KD_DEFINITION` as
    /// `definition_span`. Reports unknown blocks with a list of the known ones. Reports `ROAD_CRG_FILE`, because
    /// references to other files are not followed. Other known blocks, and the end of a block (empty name), need
    /// nothing.
    fn begin_block(&mut self, span: Range<usize>) {
        match self.block.as_str() {
            "KD_DEFINITION" => self.header.definition_span = span,
            "ROAD_CRG_FILE" => {
                let name = self.block.clone();
                self.report_unsupported(
                    &name,
                    span,
                    "absent, because references to other files are not followed",
                    "use the referenced file directly",
                );
            }
            "" | "CT" | "ROAD_CRG" | "ROAD_CRG_OPTS" | "ROAD_CRG_MODS" | "ROAD_CRG_MPRO" => {}
            _ => {
                let (name, accepts) = (self.block.clone(), "a supported block");
                let help = Some("CT, ROAD_CRG, ROAD_CRG_OPTS, ROAD_CRG_MODS, ROAD_CRG_MPRO, KD_DEFINITION".to_owned());
                self.collector.add_fault(FaultKind::UnknownKey, name.clone(), span, name, accepts, help);
            }
        }
    }

    /// Reports that `key` is given although it is not supported. `accepts` and `help` are texts of the report.
    fn report_unsupported(&mut self, key: &str, span: Range<usize>, accepts: &str, help: &str) {
        let help = Some(help.to_owned());
        self.collector.add_fault(FaultKind::OutOfRange, key.to_owned(), span, "given", accepts, help);
    }

    /// Reads a line `KEY = value` of the block `ROAD_CRG`, and stores the value with `span` in the header. Keys that
    /// place the road on a map ([`MAP_KEY_SUFFIXES`]) are skipped. The first value of a repeated key counts. Reports
    /// keys that are not in [`ROAD_KEYS`] with the most similar key, and values that are no finite number up to
    /// [`MAX_HEADER_VALUE`].
    fn read_road_key(&mut self, content: &str, span: Range<usize>) {
        let (key, value) = split_key_value(content);
        if MAP_KEY_SUFFIXES.iter().any(|suffix| key.ends_with(suffix)) {
            return;
        }
        if !ROAD_KEYS.contains(&key.as_str()) {
            let help = nearest_word(&key, ROAD_KEYS).map(|similar_key| format!("did you mean `{similar_key}`?"));
            return self.collector.add_fault(FaultKind::UnknownKey, key.clone(), span, key, "a key of a road", help);
        }
        match parse_number(value) {
            Some(number) if number.is_finite() && number.abs() <= MAX_HEADER_VALUE => {
                // The first value of a repeated key counts.
                self.header.values.entry(key).or_insert((number, span));
            }
            _ => self.collector.add_fault(
                FaultKind::OutOfRange,
                key,
                span,
                format!("{value:?}"),
                "a number of at most 1e9",
                None, // no help
            ),
        }
    }

    /// Reads a line of the block `ROAD_CRG_OPTS`; nothing is stored. Skips options without effect on the surface inside
    /// the grid ([`IGNORED_OPTION_PREFIXES`]). Also skips `border_…` and `refline_continuation` with the value 0, which
    /// adds no surface outside of the grid. Reports all other options as unsupported.
    fn read_option(&mut self, content: &str, span: Range<usize>) {
        let (key, value) = split_key_value(content);
        let has_no_effect = IGNORED_OPTION_PREFIXES.iter().any(|prefix| key.starts_with(prefix));
        // A value of 0 means that there is no surface outside of the grid, and no smoothing inside.
        let is_border_option = key.starts_with("border_") || key == "refline_continuation";
        if !(has_no_effect || is_border_option && parse_number(value) == Some(0.0)) {
            self.report_unsupported(
                &key,
                span,
                "absent or 0, because options are not supported",
                "a road ends at the end of its grid",
            );
        }
    }

    /// Reads a line of the block that defines the data, by its first two characters. `#:` sets the format. `U:` sets
    /// first u and increment (m); each is `None` if absent, no number or beyond [`MAX_HEADER_VALUE`]. `D:` appends a
    /// column to the channels. Reports other tags, and contents that are not understood.
    fn read_definition(&mut self, content: &str, span: Range<usize>) {
        let tag = content.get(..2).unwrap_or("").to_ascii_uppercase();
        let definition = content.get(2..).unwrap_or("").trim();
        match tag.as_str() {
            "#:" => self.read_format(definition, span),
            "U:" => {
                let fields: Vec<&str> = definition.split(',').map(str::trim).collect();
                if let ["reference line u", "m", numbers @ ..] = &fields[..] {
                    // START, INCREMENT.
                    self.header.definition_u =
                        [0, 1].map(|k| parse_number(numbers.get(k)?).filter(|number| number.abs() <= MAX_HEADER_VALUE));
                } else {
                    let accepts = "`reference line u,m,START,INCREMENT`";
                    self.collector.add_fault(
                        FaultKind::OutOfRange,
                        "U:".into(),
                        span,
                        format!("{definition:?}"),
                        accepts,
                        None, // no help
                    );
                }
            }
            "D:" => match parse_channel(definition) {
                Some(channel) => self.header.channels.push(channel),
                None => {
                    let accepts = "`reference line phi,rad`, `reference line slope,m/m`, `reference line banking,m/m`, \
                                   `long section NUMBER,m` or `long section at v = V,m`";
                    self.collector.add_fault(
                        FaultKind::OutOfRange,
                        "D:".into(),
                        span,
                        format!("{definition:?}"),
                        accepts,
                        None, // no help
                    );
                }
            },
            _ => self.collector.add_fault(FaultKind::UnknownKey, tag.clone(), span, tag, "`#:`, `U:` or `D:`", None),
        }
    }

    /// Reads the data format in any case, and sets the number of characters of a value: 10 for `LRFI`, 20 for `LDFI`.
    /// Reports other formats, which leave it unchanged; for the binary formats `KRBI` and `KDBI` names a converter.
    fn read_format(&mut self, format: &str, span: Range<usize>) {
        match format.to_ascii_uppercase().as_str() {
            "LRFI" => self.header.value_width = 10,
            "LDFI" => self.header.value_width = 20,
            other => {
                let help = matches!(other, "KRBI" | "KDBI").then(|| {
                    format!(
                        "{other} is a binary format; the OpenCRG tools and pyopencrg convert a road to LRFI or LDFI"
                    )
                });
                let (found, accepts) = (format!("{format:?}"), "`LRFI` or `LDFI`");
                self.collector.add_fault(FaultKind::OutOfRange, "#:".into(), span, found, accepts, help);
            }
        }
    }
}

/// Largest magnitude of a value in a header.
const MAX_HEADER_VALUE: f64 = 1e9;

/// Parses the name of a column with its unit, such as `long section at v = 1.5,m` or `long section 3,m`. Case is
/// ignored in the name; fields after the unit are skipped. Returns `None` for other names or units, and for a number or
/// v that is no number up to [`MAX_HEADER_VALUE`].
fn parse_channel(definition: &str) -> Option<Channel> {
    let (name, unit) = definition.split_once(',')?;
    let (name, unit) = (name.trim().to_ascii_lowercase(), unit.split(',').next().unwrap_or("").trim());
    match (name.as_str(), unit) {
        ("reference line phi", "rad") => Some(Channel::Heading),
        ("reference line slope", "m/m") => Some(Channel::Slope),
        ("reference line banking", "m/m") => Some(Channel::Banking),
        (_, "m") => {
            // `at v = V`, or the number of the section.
            let section_position = name.strip_prefix("long section")?.trim();
            let rest = section_position.strip_prefix("at").and_then(|rest| rest.trim().strip_prefix('v'));
            match rest.and_then(|rest| rest.trim().strip_prefix('=')) {
                Some(v) => parse_number(v).filter(|v| v.abs() <= MAX_HEADER_VALUE).map(Channel::SectionV),
                None => parse_number(section_position)
                    .filter(|section_position| section_position.abs() <= MAX_HEADER_VALUE)
                    .map(Channel::SectionNumber),
            }
        }
        _ => None,
    }
}

/// Splits a line into its key in lower case and the first word of its value. The value is empty if there is none.
fn split_key_value(content: &str) -> (String, &str) {
    let (key, value) = content.split_once('=').unwrap_or((content, ""));
    (key.trim().to_ascii_lowercase(), value.split_whitespace().next().unwrap_or(""))
}

/// Parses a number, also with a Fortran exponent (`1.5D-3`). Infinity and NaN in words are accepted. Returns `None` for
/// any other text.
pub(super) fn parse_number(word: &str) -> Option<f64> {
    let word = word.trim();
    let plain = word.parse().ok();
    plain.or_else(|| word.replace(['D', 'd'], "e").parse().ok())
}
