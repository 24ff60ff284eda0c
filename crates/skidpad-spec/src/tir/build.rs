//! Construction of a tyre from the statements of a file, or of a report of all its faults.

use super::lines::{Header, Statement, TextLocation, new_fault, split_statements};
use super::plausibility;
use super::units::{Units, strip_quotes};
use super::usual_section;
use crate::fault::{MAX_COLLECTED_FAULTS, push_fault};
use crate::printable::one_line;
use crate::suggestions::nearest_word;
use crate::warning::Warning;
use crate::{Fault, FaultKind, Faults};
use skidpad_core::model::Side;
use skidpad_core::tyre::MagicFormula;
use skidpad_core::tyre::magic_formula::{Coefficients, ENTRIES, Entry, Unit, UseMode, Version};
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// Tyre that was read from a file.
#[derive(Clone, Debug)]
pub struct TyreFile {
    /// Tyre of the file, mirrored if `USE_MODE` is below 0.
    pub tyre: MagicFormula,
    /// Side of the car for which the tyre was measured (`TYRESIDE`); `None` if not stated or symmetric. Use
    /// [`MagicFormula::mirrored`] on the other side.
    pub side: Option<Side>,
    /// Notes about values that were left out or assumed, in the order of the text.
    pub notes: Vec<Note>,
}

/// Remark about a file that may matter to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Name of the file in reports.
    pub file: String,
    /// Line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// Key that the note is about; empty if there is none.
    pub key: String,
    /// Message without the key.
    pub text: String,
}

impl Note {
    /// Converts a warning about a key in line `line` of `file` into a note.
    pub(crate) fn from_warning(warning: Warning, file: &str, line: usize) -> Self {
        Self { file: file.to_owned(), line, key: warning.path, text: warning.text }
    }
}

impl Display for Note {
    /// Writes file, line, key (in backticks) and text on one line, separated by colons. The line is left out if it is
    /// 0, the key if it is empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", one_line(&self.file))?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": ")?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", one_line(&self.key))?;
        }
        write!(f, "{}", one_line(&self.text))
    }
}

/// Alternative keys in other files, and the keys that they stand for.
const KEY_ALIASES: [(&str, &str); 7] = [
    ("IP", "INFLPRES"),
    ("IP_NOM", "NOMPRES"),
    ("LFZ0", "LFZO"),
    ("TIRESIDE", "TYRESIDE"),
    ("QRE0", "Q_RE0"),
    ("QV1", "Q_V1"),
    ("QV2", "Q_V2"),
];

/// Beginnings of keys in coefficient sections that belong to effects which are intentionally left out.
const IGNORED_KEY_PREFIXES: [&str; 10] =
    ["LMP", "LGYR", "LMUV", "LIP", "QTZ1", "QCRP", "QBRP", "QDRP", "QDTP", "MBELT"];

/// Reads a tyre file. `source_name` names the text in reports. Steps: split the text into statements, read the units,
/// store the first value of each key outside of `[UNITS]`, determine version, use mode and side, convert the
/// coefficients to SI units, replace conventions of old files, add notes, and build the formula. A `USE_MODE` below 0
/// mirrors the tyre. Returns all faults if there are any, also those of the coefficients, otherwise the tyre with its
/// notes in the order of their lines.
pub(super) fn read(source_name: &str, text: &str) -> Result<TyreFile, Faults> {
    let mut parsed_text = split_statements(text);
    let mut faults = std::mem::take(&mut parsed_text.faults);
    let units = Units::read(&parsed_text.statements, &mut faults);
    let mut reader = Reader {
        source_name,
        headers: &parsed_text.headers,
        stated_values: BTreeMap::new(),
        blank_keys: BTreeMap::new(),
        unused_count: 0,
        notes: Vec::new(),
        faults,
    };
    for statement in parsed_text.statements.iter().filter(|s| s.section != "UNITS") {
        reader.store_statement(statement);
    }
    let version = reader.version();
    let (use_mode, is_mirrored) = reader.use_mode();
    let side = reader.side();
    let mut coefficients = reader.coefficients(&units);
    reader.convert_old_conventions(&mut coefficients);
    reader.note_blanks();
    reader.note_unused();
    match MagicFormula::new(coefficients, version, use_mode) {
        Ok(tyre) if reader.faults.is_empty() => {
            reader.add_plausibility_notes(&tyre);
            let mut notes = reader.notes;
            notes.sort_by_key(|note| note.line);
            Ok(TyreFile { tyre: if is_mirrored { tyre.mirrored() } else { tyre }, side, notes })
        }
        // Faults of the text, of the coefficients, or both.
        build_result => {
            for coefficient_fault in build_result.err().unwrap_or_default() {
                reader.report_coefficient(coefficient_fault.name, coefficient_fault.accepts, &units);
            }
            Err(Faults::new(source_name, text, reader.faults))
        }
    }
}

/// First value that is stated for a key.
#[derive(Clone, Debug)]
struct StatedValue<'a> {
    /// Text of the value, without its comment.
    value: &'a str,
    /// Place of the key in the file.
    place: TextLocation,
    /// Whether the value is already reported as a fault.
    is_reported: bool,
}

/// State of the reader of a tyre file.
struct Reader<'a> {
    /// Name of the file in reports.
    source_name: &'a str,
    /// Section headers of the file.
    headers: &'a [Header],
    /// First value of each key.
    stated_values: BTreeMap<&'a str, StatedValue<'a>>,
    /// Keys without a value, which many programs write for unknown values.
    blank_keys: BTreeMap<&'a str, TextLocation>,
    /// Number of unused keys in sections of coefficients.
    unused_count: usize,
    /// Notes so far.
    notes: Vec<Note>,
    /// Faults so far.
    faults: Vec<Fault>,
}

/// Returns the description of the coefficient `name`.
fn coefficient_entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Share of a slip range below which one side counts as not measured.
const MIN_MEASURED_SIDE_SHARE: f32 = 0.05;

/// Keys that are read and are not coefficients.
const NON_COEFFICIENT_KEYS: [&str; 4] = ["FITTYP", "USE_MODE", "PROPERTY_FILE_FORMAT", "TYRESIDE"];

impl<'a> Reader<'a> {
    /// Stores the first value of a known key in `stated_values`, after replacing an alias by its key. An unknown key
    /// may get a note. A key without a value is stored in `blank_keys` for a note. A repeated key with another text is
    /// a fault that shows both places, and marks the key as reported; with the same text it is ignored.
    fn store_statement(&mut self, statement: &'a Statement<'a>) {
        let alias_entry = KEY_ALIASES.iter().find(|(alias, _)| *alias == statement.key);
        let key = alias_entry.map_or(statement.key.as_str(), |(_, key)| *key);
        if coefficient_entry(key).is_none() && !NON_COEFFICIENT_KEYS.contains(&key) {
            return self.note_unknown_key(statement);
        }
        if statement.value.is_empty() {
            self.blank_keys.insert(key, statement.place.clone());
            return;
        }
        match self.stated_values.get_mut(key) {
            None => {
                let (value, place) = (statement.value, statement.place.clone());
                self.stated_values.insert(key, StatedValue { value, place, is_reported: false });
            }
            Some(first_value) if first_value.value == statement.value => {}
            Some(first_value) => {
                let mut fault = new_fault(
                    FaultKind::Contradiction,
                    key,
                    &statement.place,
                    &format!("{} here, {} in line {}", statement.value, first_value.value, first_value.place.line),
                    "defined once",
                    Some("remove one of the two".into()),
                );
                fault.contradicted_span = Some(first_value.place.span.clone());
                first_value.is_reported = true;
                push_fault(&mut self.faults, fault);
            }
        }
    }

    /// Adds a note about an unused key of a coefficient section, which may be misspelt, with the most similar name of a
    /// coefficient. Counts these keys and stops after [`MAX_COLLECTED_FAULTS`] notes. Keys of effects that are left
    /// out, keys of turn slip and keys of other sections get no note and do not count. `LMUV`, a loss of friction with
    /// sliding speed, gets a note of its own in any section, unless its value is the number 0.
    fn note_unknown_key(&mut self, statement: &Statement<'_>) {
        if statement.key == "LMUV" && parse_number(statement.value) != Some(0.0) {
            self.add_note_at_line(
                statement.place.line,
                &statement.key,
                "the loss of friction with sliding speed is not modelled",
            );
        }
        let is_ignored = IGNORED_KEY_PREFIXES.iter().any(|prefix| statement.key.starts_with(prefix));
        let is_turn_slip = statement.section.starts_with("TURNSLIP");
        if !statement.section.ends_with("_COEFFICIENTS") || is_ignored || is_turn_slip {
            return;
        }
        self.unused_count += 1;
        if self.unused_count > MAX_COLLECTED_FAULTS {
            return;
        }
        let text = match nearest_word(&statement.key, ENTRIES.iter().map(|entry| entry.name)) {
            Some(similar_name) => format!("is not used; did you mean {similar_name}?"),
            None => "is not used".into(),
        };
        self.add_note_at_line(statement.place.line, &statement.key, &text);
    }

    /// Adds a note with the number of unused keys that have no note of their own.
    fn note_unused(&mut self) {
        let omitted_count = self.unused_count.saturating_sub(MAX_COLLECTED_FAULTS);
        if omitted_count > 0 {
            self.add_note_at_line(0, "", &format!("{omitted_count} more keys are not used"));
        }
    }

    /// Adds a note about `key`, with the line in which it is stated; line 0 if it is not stated.
    fn add_note(&mut self, key: &str, text: &str) {
        let line = self.stated_values.get(key).map_or(0, |stated_value| stated_value.place.line);
        self.add_note_at_line(line, key, text);
    }

    /// Adds a note about `key` in line `line`; 0 stands for the file as a whole.
    fn add_note_at_line(&mut self, line: usize, key: &str, text: &str) {
        let file = self.source_name.to_owned();
        self.notes.push(Note { file, line, key: key.to_owned(), text: text.to_owned() });
    }

    /// Adds a fault about the stated value of `key` and marks the key as reported. Does nothing if the key is not
    /// stated. `accepts` describes the accepted values, `help` is a hint for the user.
    fn report_wrong_value(&mut self, kind: FaultKind, key: &str, accepts: &str, help: &str) {
        if let Some(stated_value) = self.stated_values.get_mut(key) {
            stated_value.is_reported = true;
            push_fault(
                &mut self.faults,
                new_fault(kind, key, &stated_value.place, stated_value.value, accepts, Some(help.to_owned())),
            );
        }
    }

    /// Returns the whole number that is stated for `key`, which must be below 1e6 in magnitude; `5.0` counts as whole.
    /// Returns `None` if the key is not stated, or after reporting another value.
    fn whole_number(&mut self, key: &str, accepts: &str) -> Option<i64> {
        let value = parse_number(self.stated_values.get(key)?.value);
        match value {
            Some(value) if value.fract() == 0.0 && value.abs() < 1e6 => Some(value as i64),
            _ => {
                self.report_wrong_value(FaultKind::WrongType, key, accepts, "write a whole number");
                None
            }
        }
    }

    /// Returns the version of the formula by `FITTYP` and `PROPERTY_FILE_FORMAT`. `FITTYP` 5, 6, 21 and 52 is MF 5.2,
    /// 60 and 61 MF 6.1, 62 MF 6.2. The format `PAC2002` is MF 5.2, and any number of another version contradicts it.
    /// The coefficients decide if both are missing. Versions 5 and 60 add a note. Reports formats of other tyre models,
    /// other numbers and contradictions; the result is then MF 6.1.
    fn version(&mut self) -> Version {
        const ACCEPTED_FITTYP: &str = "5, 6, 21 or 52 (MF 5.2, PAC2002), 60 or 61 (MF 6.1), 62 (MF 6.2)";
        const ACCEPTED_FORMATS: &str = "'PAC2002', or a format with the version in FITTYP";
        let format = self
            .stated_values
            .get("PROPERTY_FILE_FORMAT")
            .map(|stated_value| strip_quotes(stated_value.value).to_ascii_uppercase());
        let format = format.unwrap_or_default();
        let unsupported_formats =
            ["PAC89", "PAC94", "PAC96", "PAC_MC", "PACMC", "FIALA", "FTIRE", "UA", "521", "5.2.1", "TMEASY"];
        if unsupported_formats.contains(&format.as_str()) {
            self.report_wrong_value(
                FaultKind::OutOfRange,
                "PROPERTY_FILE_FORMAT",
                ACCEPTED_FORMATS,
                "this is a different family of tyre models",
            );
            return Version::Mf61;
        }
        let has_fittyp = self.stated_values.contains_key("FITTYP");
        match self.whole_number("FITTYP", ACCEPTED_FITTYP) {
            Some(5) => {
                self.add_note("FITTYP", "MF 5 is read as MF 5.2");
                Version::Mf52
            }
            Some(6 | 21 | 52) => Version::Mf52,
            Some(_) if format == "PAC2002" => {
                self.report_wrong_value(
                    FaultKind::Contradiction,
                    "FITTYP",
                    "5, 6, 21 or 52 in a PAC2002 file",
                    "remove FITTYP or PROPERTY_FILE_FORMAT",
                );
                Version::Mf61
            }
            Some(60) => {
                self.add_note("FITTYP", "MF 6.0 is read as MF 6.1");
                Version::Mf61
            }
            Some(61) => Version::Mf61,
            Some(62) => Version::Mf62,
            None if format == "PAC2002" => Version::Mf52,
            Some(_) => {
                self.report_wrong_value(
                    FaultKind::OutOfRange,
                    "FITTYP",
                    ACCEPTED_FITTYP,
                    "other versions have different equations",
                );
                Version::Mf61
            }
            // No whole number, which `whole_number` has reported.
            None if has_fittyp => Version::Mf61,
            None => self.version_from_coefficients(ACCEPTED_FITTYP),
        }
    }

    /// Returns the version of a file that states no version: MF 6.1 or MF 5.2 by coefficients that only one of them
    /// has, with a note. Reports the missing `FITTYP` in `[MODEL]`, for which `accepts` describes the values, and
    /// returns MF 6.1 if there are coefficients of both versions or of none.
    fn version_from_coefficients(&mut self, accepts: &str) -> Version {
        let has_any = |keys: &[&str]| keys.iter().any(|key| self.stated_values.contains_key(key));
        // Coefficients that only MF 6 has.
        let has_mf6_keys = has_any(&["PKY4", "PKY6", "PPX1", "PPY1", "QSX4", "QSY7", "QDZ10"]);
        // Coefficients that only MF 5.2 has.
        let has_mf52_keys = has_any(&["PHY3", "PTX1", "PTY1"]);
        match (has_mf52_keys, has_mf6_keys) {
            (false, true) => {
                self.add_note("FITTYP", "missing; the coefficients are those of MF 6.1");
                Version::Mf61
            }
            (true, false) => {
                self.add_note("FITTYP", "missing; the coefficients are those of MF 5.2");
                Version::Mf52
            }
            _ => {
                self.report_missing_key("FITTYP", "MODEL", accepts);
                Version::Mf61
            }
        }
    }

    /// Returns the forces that the last digit of `USE_MODE` selects, and whether the tyre is mirrored (a value below
    /// 0). Digit 5 is read as combined forces without turn slip, with a note. Reports other digits and more than three
    /// digits. Default: combined forces, not mirrored.
    fn use_mode(&mut self) -> (UseMode, bool) {
        const ACCEPTED_USE_MODES: &str =
            "a whole number whose last digit is 0 (load), 1 (Fx), 2 (Fy), 3 (both) or 4 (combined)";
        let Some(mode) = self.whole_number("USE_MODE", ACCEPTED_USE_MODES) else { return (UseMode::Combined, false) };
        let use_mode = match mode.abs() % 10 {
            // More than three digits.
            _ if mode.abs() > 999 => None,
            0 => Some(UseMode::Load),
            1 => Some(UseMode::Longitudinal),
            2 => Some(UseMode::Lateral),
            3 => Some(UseMode::Uncombined),
            4 => Some(UseMode::Combined),
            5 => {
                self.add_note("USE_MODE", "turn slip is not modelled");
                Some(UseMode::Combined)
            }
            _ => None,
        };
        if use_mode.is_none() {
            self.report_wrong_value(
                FaultKind::OutOfRange,
                "USE_MODE",
                ACCEPTED_USE_MODES,
                "the number has up to three digits; a negative number mirrors the tyre",
            );
        }
        if mode < 0 {
            self.add_note("USE_MODE", "negative: the tyre is mirrored");
        }
        (use_mode.unwrap_or(UseMode::Combined), mode < 0)
    }

    /// Returns the side of the car that `TYRESIDE` states, in any case and with or without quotes. `None` if it is
    /// missing, empty or `SYMMETRIC`; also for any other text, with a note.
    fn side(&mut self) -> Option<Side> {
        let value = strip_quotes(self.stated_values.get("TYRESIDE")?.value).to_ascii_uppercase();
        match value.as_str() {
            "LEFT" => Some(Side::Left),
            "RIGHT" => Some(Side::Right),
            "SYMMETRIC" | "" => None,
            _ => {
                self.add_note("TYRESIDE", "is not 'LEFT', 'RIGHT' or 'SYMMETRIC'; the value is ignored");
                None
            }
        }
    }

    /// Returns the stated coefficients in SI units, with defaults for all others. Each value is multiplied by the
    /// factor of its unit in the file. Reports values that are not numbers and keeps the default for them.
    fn coefficients(&mut self, units: &Units) -> Coefficients {
        let mut coefficients = Coefficients::default();
        for entry in ENTRIES {
            let Some(stated_value) = self.stated_values.get(entry.name) else { continue };
            match parse_number(stated_value.value) {
                Some(value) => {
                    if let Some(coefficient) = coefficients.get_mut(entry.name) {
                        *coefficient = (value * units.si_factor(entry.unit)) as f32;
                    }
                }
                None => self.report_wrong_value(FaultKind::WrongType, entry.name, "a number", entry.meaning),
            }
        }
        coefficients
    }

    /// Replaces conventions of old files by the values that the formula requires, and adds a note about each. A `Q_RE0`
    /// of 0 becomes 1. If `PDY1` and `PKY1` are both below 0, six coefficients change their sign. A slip range or slip
    /// angle range that was measured on one side only ([`is_one_sided`]) becomes symmetric, with its larger magnitude.
    fn convert_old_conventions(&mut self, c: &mut Coefficients) {
        if c.q_re0 == 0.0 {
            c.q_re0 = 1.0;
            self.add_note("Q_RE0", "0 would be a tyre without a radius; 1 is used");
        }
        // MF 5.0: lateral friction and cornering stiffness are both below 0. A change of sign of both D and B changes
        // no force. Coefficients that are multiplied by friction (RVY: lateral force by slip ratio) or by B (QBZ10:
        // residual moment) change their sign too, so that the products keep theirs.
        if c.pdy1 < 0.0 && c.pky1 < 0.0 {
            for coefficient in [&mut c.pdy1, &mut c.pdy2, &mut c.rvy1, &mut c.rvy2, &mut c.rvy3, &mut c.qbz10] {
                *coefficient = -*coefficient;
            }
            self.add_note("PDY1", "negative, as in MF 5.0; the sign is changed");
        }
        // A slip ratio range beyond ±100 is not valid.
        if is_one_sided([c.kpumin, c.kpumax], 100.0) {
            let max_slip_ratio = c.kpumax.abs().max(c.kpumin.abs());
            (c.kpumin, c.kpumax) = (-max_slip_ratio, max_slip_ratio);
            self.add_note("KPUMAX", "only driving or only braking was measured; the formula is used for both");
        }
        // A slip angle range beyond ±1.6 rad is not valid.
        if is_one_sided([c.alpmin, c.alpmax], 1.6) {
            let max_slip_angle = c.alpmax.abs().max(c.alpmin.abs());
            (c.alpmin, c.alpmax) = (-max_slip_angle, max_slip_angle);
            self.add_note("ALPMAX", "only one side was measured; the formula is used for both");
        }
    }

    /// Adds notes about implausible coefficients, about missing counterparts of stated ones, and about combined slip.
    /// Called for a file without faults only.
    fn add_plausibility_notes(&mut self, tyre: &MagicFormula) {
        let is_stated = |name: &str| self.stated_values.contains_key(name);
        let mut notes = plausibility::implausible_coefficients(tyre.coefficients(), is_stated);
        notes.extend(plausibility::missing_counterparts(tyre.use_mode(), is_stated));
        for (key, text) in notes {
            self.add_note(key, &text);
        }
        if let Some(text) = plausibility::combined_slip_note(tyre) {
            self.add_note("", &text);
        }
    }

    /// Adds one note that lists the keys without a value, except those to which another statement gives a value. The
    /// note is about the first of these keys in alphabetical order, in the first line of all of them. Adds nothing
    /// without such keys.
    fn note_blanks(&mut self) {
        let unstated_keys: Vec<&str> =
            self.blank_keys.keys().copied().filter(|key| !self.stated_values.contains_key(key)).collect();
        if let Some(first_key) = unstated_keys.first() {
            let line = unstated_keys
                .iter()
                .filter_map(|key| self.blank_keys.get(key))
                .map(|place| place.line)
                .min()
                .unwrap_or(0);
            let text = format!("keys without a value are ignored: {}", unstated_keys.join(", "));
            let key = (*first_key).to_owned();
            self.add_note_at_line(line, &key, &text);
        }
    }

    /// Reports a coefficient that the formula refuses: as out of range if it is stated, otherwise as missing from its
    /// usual section. Does nothing if its value is already reported. `accepts` states the accepted values in SI units;
    /// if the file has another unit, the size of that unit in SI is added.
    fn report_coefficient(&mut self, name: &str, accepts: &str, units: &Units) {
        let meaning = coefficient_entry(name).map_or("", |entry| entry.meaning);
        let unit = coefficient_entry(name).map_or(Unit::One, |entry| entry.unit);
        let accepts = match units.si_factor(unit) {
            1.0 => accepts.to_owned(),
            unit_in_si => format!("{accepts} (one unit of this file is {unit_in_si} in SI)"),
        };
        match self.stated_values.get(name) {
            Some(stated_value) if stated_value.is_reported => {}
            Some(_) => self.report_wrong_value(FaultKind::OutOfRange, name, &accepts, meaning),
            None => self.report_missing_key(name, usual_section(name, unit), &accepts),
        }
    }

    /// Reports that `key` is missing from `section`. Does nothing if a syntax fault is about this key, because a broken
    /// line was meant to state it. The place of the fault is a statement of the key without a value, otherwise the
    /// header of the section, otherwise the start of the file.
    fn report_missing_key(&mut self, key: &str, section: &str, accepts: &str) {
        if self.faults.iter().any(|fault| fault.kind == FaultKind::Syntax && fault.path.eq_ignore_ascii_case(key)) {
            return;
        }
        let header = self.headers.iter().find(|header| header.name == section);
        // Start of the file.
        let file_start = TextLocation { line: 1, column: 1, span: 0..0 };
        let fallback_place = header.map_or(&file_start, |header| &header.place);
        let place = self.blank_keys.get(key).unwrap_or(fallback_place);
        let meaning = coefficient_entry(key).map_or("the equations of the coefficients", |entry| entry.meaning);
        let help = format!("{meaning}; add it to [{section}]");
        push_fault(&mut self.faults, new_fault(FaultKind::MissingKey, key, place, "nothing", accepts, Some(help)));
    }
}

/// Parses a finite number, also with a Fortran exponent (`1.5D-3`). Returns `None` for any other text, also for one
/// with spaces or with words such as `inf`.
fn parse_number(value: &str) -> Option<f64> {
    let is_number_character = |c: char| c.is_ascii_digit() || "+-.eEdD".contains(c);
    if !value.chars().all(is_number_character) {
        return None;
    }
    let value: f64 = value.replace(['d', 'D'], "e").parse().ok()?;
    value.is_finite().then_some(value)
}

/// Returns true if a slip range was measured on one side of 0 only: less than [`MIN_MEASURED_SIDE_SHARE`] of its width
/// is on the other side. Limited to that range, a tyre could not drive, or not turn. Returns false for ranges that do
/// not rise or exceed `largest` in magnitude, because these are faults, which the symmetric range would repeat.
fn is_one_sided([lower, upper]: [f32; 2], largest: f32) -> bool {
    let min_side_width = MIN_MEASURED_SIDE_SHARE * (upper - lower);
    let is_valid_range = lower < upper && lower.abs().max(upper.abs()) <= largest;
    is_valid_range && (upper < min_side_width || -lower < min_side_width)
}
