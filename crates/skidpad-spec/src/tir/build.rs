//! From statements to a tyre, or to everything that is wrong with them.

use super::doubts;
use super::lines::{Header, Place, Statement, fault, split};
use super::section_of;
use super::units::{Units, unquoted};
use crate::fault::{MOST_COLLECTED, collect};
use crate::lint::Lint;
use crate::nearest::nearest;
use crate::printable::one_line;
use crate::{Fault, FaultKind, Faults};
use skidpad_core::model::Side;
use skidpad_core::tyre::MagicFormula;
use skidpad_core::tyre::magic_formula::{Coefficients, ENTRIES, Entry, Unit, Uses, Version};
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// A tyre file as read.
#[derive(Clone, Debug)]
pub struct TyreFile {
    /// The tyre.
    pub tyre: MagicFormula,
    /// Side of the car it was measured for (`TYRESIDE`), if stated: on the other one, use
    /// [`MagicFormula::mirrored`].
    pub side: Option<Side>,
    /// What was left out or assumed, in the order of the text.
    pub notes: Vec<Note>,
}

/// Something about a file its user may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Name of the file in reports.
    pub file: String,
    /// Line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// The key it is about.
    pub key: String,
    /// What about it.
    pub text: String,
}

impl Note {
    pub(crate) fn of(lint: Lint, file: &str, line: usize) -> Self {
        Self { file: file.to_owned(), line, key: lint.path, text: lint.text }
    }
}

impl Display for Note {
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

/// Keys of other files for the same thing.
const ALIASES: [(&str, &str); 7] = [
    ("IP", "INFLPRES"),
    ("IP_NOM", "NOMPRES"),
    ("LFZ0", "LFZO"),
    ("TIRESIDE", "TYRESIDE"),
    ("QRE0", "Q_RE0"),
    ("QV1", "Q_V1"),
    ("QV2", "Q_V2"),
];

/// Keys of coefficient sections that belong to effects which are left out on purpose.
const LEFT_OUT: [&str; 10] = ["LMP", "LGYR", "LMUV", "LIP", "QTZ1", "QCRP", "QBRP", "QDRP", "QDTP", "MBELT"];

/// Reads a tyre file.
pub(super) fn read(source_name: &str, text: &str) -> Result<TyreFile, Faults> {
    let mut lines = split(text);
    let mut faults = std::mem::take(&mut lines.faults);
    let units = Units::read(&lines.statements, &mut faults);
    let mut reader = Reader {
        source_name,
        headers: &lines.headers,
        seen: BTreeMap::new(),
        blank: BTreeMap::new(),
        unused: 0,
        notes: Vec::new(),
        faults,
    };
    for statement in lines.statements.iter().filter(|s| s.section != "UNITS") {
        reader.see(statement);
    }
    let version = reader.version();
    let (uses, mirrored) = reader.uses();
    let side = reader.side();
    let mut coefficients = reader.coefficients(&units);
    reader.settle(&mut coefficients);
    reader.note_blanks();
    reader.note_unused();
    match MagicFormula::new(coefficients, version, uses) {
        Ok(tyre) if reader.faults.is_empty() => {
            reader.doubt(&tyre);
            let mut notes = reader.notes;
            notes.sort_by_key(|note| note.line);
            Ok(TyreFile { tyre: if mirrored { tyre.mirrored() } else { tyre }, side, notes })
        }
        tyre => {
            for wrong in tyre.err().unwrap_or_default() {
                reader.impossible(wrong.name, wrong.accepts, &units);
            }
            Err(Faults::new(source_name, text, reader.faults))
        }
    }
}

/// A key with its first statement.
#[derive(Clone, Debug)]
struct Seen<'a> {
    value: &'a str,
    place: Place,
    /// It is reported already.
    broken: bool,
}

struct Reader<'a> {
    source_name: &'a str,
    headers: &'a [Header],
    seen: BTreeMap<&'a str, Seen<'a>>,
    /// Keys without a value, which many programs write for what they do not know.
    blank: BTreeMap<&'a str, Place>,
    /// Number of keys that nothing reads, in sections of coefficients.
    unused: usize,
    notes: Vec<Note>,
    faults: Vec<Fault>,
}

fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Share of a range of slip below which a side counts as not measured.
const ONE_SIDED: f32 = 0.05;

/// Keys that are not coefficients.
const OTHERS: [&str; 4] = ["FITTYP", "USE_MODE", "PROPERTY_FILE_FORMAT", "TYRESIDE"];

impl<'a> Reader<'a> {
    fn see(&mut self, statement: &'a Statement<'a>) {
        let alias = ALIASES.iter().find(|(other, _)| *other == statement.key);
        let key = alias.map_or(statement.key.as_str(), |(_, key)| *key);
        if entry(key).is_none() && !OTHERS.contains(&key) {
            return self.unknown(statement);
        }
        if statement.value.is_empty() {
            self.blank.insert(key, statement.place.clone());
            return;
        }
        match self.seen.get_mut(key) {
            None => {
                let (value, place) = (statement.value, statement.place.clone());
                self.seen.insert(key, Seen { value, place, broken: false });
            }
            Some(first) if first.value == statement.value => {}
            Some(first) => {
                let mut twice = fault(
                    FaultKind::Contradiction,
                    key,
                    &statement.place,
                    &format!("{} here, {} in line {}", statement.value, first.value, first.place.line),
                    "stated once",
                    Some("remove one of the two".into()),
                );
                twice.against = Some(first.place.span.clone());
                first.broken = true;
                collect(&mut self.faults, twice);
            }
        }
    }

    /// A key nothing reads: in a section of coefficients it may be a slip of the pen.
    fn unknown(&mut self, statement: &Statement<'_>) {
        if statement.key == "LMUV" && number(statement.value) != Some(0.0) {
            self.note_at(statement.place.line, &statement.key, "loss of friction with sliding speed is left out");
        }
        let known = LEFT_OUT.iter().any(|prefix| statement.key.starts_with(prefix));
        let turning = statement.section.starts_with("TURNSLIP");
        if !statement.section.ends_with("_COEFFICIENTS") || known || turning {
            return;
        }
        self.unused += 1;
        if self.unused > MOST_COLLECTED {
            return;
        }
        let text = match nearest(&statement.key, ENTRIES.iter().map(|entry| entry.name)) {
            Some(like) => format!("is not used; did you mean {like}?"),
            None => "is not used".into(),
        };
        self.note_at(statement.place.line, &statement.key, &text);
    }

    /// Notes how many keys are not used beyond those with a note of their own.
    fn note_unused(&mut self) {
        let more = self.unused.saturating_sub(MOST_COLLECTED);
        if more > 0 {
            self.note_at(0, "", &format!("{more} more keys are not used"));
        }
    }

    fn note(&mut self, key: &str, text: &str) {
        let line = self.seen.get(key).map_or(0, |seen| seen.place.line);
        self.note_at(line, key, text);
    }

    fn note_at(&mut self, line: usize, key: &str, text: &str) {
        let file = self.source_name.to_owned();
        self.notes.push(Note { file, line, key: key.to_owned(), text: text.to_owned() });
    }

    /// Reports the value of `key` as wrong.
    fn wrong(&mut self, kind: FaultKind, key: &str, accepts: &str, help: &str) {
        if let Some(seen) = self.seen.get_mut(key) {
            seen.broken = true;
            collect(&mut self.faults, fault(kind, key, &seen.place, seen.value, accepts, Some(help.to_owned())));
        }
    }

    /// The whole number stated for `key`, if any.
    fn whole(&mut self, key: &str, accepts: &str) -> Option<i64> {
        let value = number(self.seen.get(key)?.value);
        match value {
            Some(value) if value.fract() == 0.0 && value.abs() < 1e6 => Some(value as i64),
            _ => {
                self.wrong(FaultKind::WrongType, key, accepts, "write a whole number");
                None
            }
        }
    }

    fn version(&mut self) -> Version {
        const FITS: &str = "5, 6, 21 or 52 (MF 5.2, PAC2002), 60 or 61 (MF 6.1), 62 (MF 6.2)";
        const FORMATS: &str = "'PAC2002' or a format whose FITTYP says the version";
        let format = self.seen.get("PROPERTY_FILE_FORMAT").map(|seen| unquoted(seen.value).to_ascii_uppercase());
        let format = format.unwrap_or_default();
        let foreign = ["PAC89", "PAC94", "PAC96", "PAC_MC", "PACMC", "FIALA", "FTIRE", "UA", "521", "5.2.1", "TMEASY"];
        if foreign.contains(&format.as_str()) {
            self.wrong(FaultKind::OutOfRange, "PROPERTY_FILE_FORMAT", FORMATS, "this is another family of tyre models");
            return Version::Mf61;
        }
        let stated = self.seen.contains_key("FITTYP");
        match self.whole("FITTYP", FITS) {
            Some(61 | 62) if format == "PAC2002" => {
                self.wrong(FaultKind::Contradiction, "FITTYP", "5, 6 or 21 in a PAC2002 file", "remove one of the two");
                Version::Mf61
            }
            Some(5) => {
                self.note("FITTYP", "MF 5 is read as MF 5.2");
                Version::Mf52
            }
            Some(6 | 21 | 52) => Version::Mf52,
            Some(60) => {
                self.note("FITTYP", "MF 6.0 is read as MF 6.1");
                Version::Mf61
            }
            Some(61) => Version::Mf61,
            Some(62) => Version::Mf62,
            _ if format == "PAC2002" => Version::Mf52,
            Some(_) => {
                self.wrong(FaultKind::OutOfRange, "FITTYP", FITS, "other versions have other equations");
                Version::Mf61
            }
            None if stated => Version::Mf61,
            None => self.guessed_version(FITS),
        }
    }

    /// The version of a file that does not state one, by coefficients only one of them has.
    fn guessed_version(&mut self, accepts: &str) -> Version {
        let any = |keys: &[&str]| keys.iter().any(|key| self.seen.contains_key(key));
        let six = any(&["PKY4", "PKY6", "PPX1", "PPY1", "QSX4", "QSY7", "QDZ10"]);
        let five = any(&["PHY3", "PTX1", "PTY1"]);
        match (five, six) {
            (false, true) => {
                self.note("FITTYP", "missing; by its coefficients this is MF 6.1");
                Version::Mf61
            }
            (true, false) => {
                self.note("FITTYP", "missing; by its coefficients this is MF 5.2");
                Version::Mf52
            }
            _ => {
                self.missing("FITTYP", "MODEL", accepts);
                Version::Mf61
            }
        }
    }

    /// The forces, and whether left and right are to be exchanged.
    fn uses(&mut self) -> (Uses, bool) {
        const MODES: &str = "a whole number whose last digit is 0 (load), 1 (Fx), 2 (Fy), 3 (both) or 4 (combined)";
        let Some(mode) = self.whole("USE_MODE", MODES) else { return (Uses::Combined, false) };
        let uses = match mode.abs() % 10 {
            _ if mode.abs() > 999 => None,
            0 => Some(Uses::Load),
            1 => Some(Uses::Along),
            2 => Some(Uses::Across),
            3 => Some(Uses::Uncombined),
            4 => Some(Uses::Combined),
            5 => {
                self.note("USE_MODE", "turn slip is left out");
                Some(Uses::Combined)
            }
            _ => None,
        };
        if uses.is_none() {
            self.wrong(FaultKind::OutOfRange, "USE_MODE", MODES, "it has up to three digits; below 0 mirrors the tyre");
        }
        if mode < 0 {
            self.note("USE_MODE", "below 0: the tyre is mirrored");
        }
        (uses.unwrap_or(Uses::Combined), mode < 0)
    }

    fn side(&mut self) -> Option<Side> {
        let value = unquoted(self.seen.get("TYRESIDE")?.value).to_ascii_uppercase();
        match value.as_str() {
            "LEFT" => Some(Side::Left),
            "RIGHT" => Some(Side::Right),
            "SYMMETRIC" | "" => None,
            _ => {
                self.note("TYRESIDE", "is not 'LEFT', 'RIGHT' or 'SYMMETRIC': taken as not stated");
                None
            }
        }
    }

    fn coefficients(&mut self, units: &Units) -> Coefficients {
        let mut coefficients = Coefficients::default();
        for entry in ENTRIES {
            let Some(seen) = self.seen.get(entry.name) else { continue };
            match number(seen.value) {
                Some(value) => {
                    if let Some(into) = coefficients.get_mut(entry.name) {
                        *into = (value * units.size(entry.unit)) as f32;
                    }
                }
                None => self.wrong(FaultKind::WrongType, entry.name, "a number", entry.meaning),
            }
        }
        coefficients
    }

    /// Turns habits of old files into what the formula takes.
    fn settle(&mut self, c: &mut Coefficients) {
        if c.q_re0 == 0.0 {
            c.q_re0 = 1.0;
            self.note("Q_RE0", "0 would be a tyre without a radius: taken as 1");
        }
        // MF 5.0: friction across below 0 together with the stiffness. D and B both change sign, which changes no force;
        // what is proportional to friction (force by slip ratio) or to B (residual moment) keeps its sign this way.
        if c.pdy1 < 0.0 && c.pky1 < 0.0 {
            for turned in [&mut c.pdy1, &mut c.pdy2, &mut c.rvy1, &mut c.rvy2, &mut c.rvy3, &mut c.qbz10] {
                *turned = -*turned;
            }
            self.note("PDY1", "below 0, as in MF 5.0: taken with its sign changed");
        }
        if one_sided([c.kpumin, c.kpumax], 100.0) {
            let most = c.kpumax.abs().max(c.kpumin.abs());
            (c.kpumin, c.kpumax) = (-most, most);
            self.note("KPUMAX", "only driving or only braking was measured: the formula is used for both");
        }
        if one_sided([c.alpmin, c.alpmax], 1.6) {
            let most = c.alpmax.abs().max(c.alpmin.abs());
            (c.alpmin, c.alpmax) = (-most, most);
            self.note("ALPMAX", "only one side was measured: the formula is used for both");
        }
    }

    /// Notes what is implausible, missing or assumed in a file without faults.
    fn doubt(&mut self, tyre: &MagicFormula) {
        let stated = |name: &str| self.seen.contains_key(name);
        let mut found = doubts::implausible(tyre.coefficients(), stated);
        found.extend(doubts::cut_off(tyre.uses(), stated));
        for (key, text) in found {
            self.note(key, &text);
        }
        if let Some(text) = doubts::left_out(tyre) {
            self.note("", &text);
        }
    }

    fn note_blanks(&mut self) {
        let keys: Vec<&str> = self.blank.keys().copied().filter(|key| !self.seen.contains_key(key)).collect();
        if let Some(first) = keys.first() {
            let line = keys.iter().filter_map(|key| self.blank.get(key)).map(|place| place.line).min().unwrap_or(0);
            let text = format!("without a value, taken as not stated: {}", keys.join(", "));
            let key = (*first).to_owned();
            self.note_at(line, &key, &text);
        }
    }

    /// Reports a coefficient that makes no sense, or is missing.
    fn impossible(&mut self, name: &str, accepts: &str, units: &Units) {
        let meaning = entry(name).map_or("", |entry| entry.meaning);
        let unit = entry(name).map_or(Unit::One, |entry| entry.unit);
        let accepts = match units.size(unit) {
            1.0 => accepts.to_owned(),
            size => format!("{accepts} (one unit of this file is {size} in SI)"),
        };
        match self.seen.get(name) {
            Some(seen) if seen.broken => {}
            Some(_) => self.wrong(FaultKind::OutOfRange, name, &accepts, meaning),
            None => self.missing(name, section_of(name, unit), &accepts),
        }
    }

    /// Reports that `key` is missing, unless a broken line was meant to state it.
    fn missing(&mut self, key: &str, section: &str, accepts: &str) {
        if self.faults.iter().any(|fault| fault.kind == FaultKind::Syntax && fault.path.eq_ignore_ascii_case(key)) {
            return;
        }
        let header = self.headers.iter().find(|header| header.name == section);
        let top = Place { line: 1, column: 1, span: 0..0 };
        let around = header.map_or(&top, |header| &header.place);
        let place = self.blank.get(key).unwrap_or(around);
        let meaning = entry(key).map_or("which equations the coefficients belong to", |entry| entry.meaning);
        let help = format!("{meaning}; add it to [{section}]");
        collect(&mut self.faults, fault(FaultKind::MissingKey, key, place, "nothing", accepts, Some(help)));
    }
}

/// A finite number, also with Fortran's exponent (`1.5D-3`).
fn number(value: &str) -> Option<f64> {
    let digits = |c: char| c.is_ascii_digit() || "+-.eEdD".contains(c);
    if !value.chars().all(digits) {
        return None;
    }
    let value: f64 = value.replace(['d', 'D'], "e").parse().ok()?;
    value.is_finite().then_some(value)
}

/// Whether a range of slip leaves hardly anything to one side: held to it, the tyre could not drive, or not turn. Ranges
/// beyond `largest` are faults, which mirroring would only repeat.
fn one_sided([least, most]: [f32; 2], largest: f32) -> bool {
    let enough = ONE_SIDED * (most - least);
    let sound = least < most && least.abs().max(most.abs()) <= largest;
    sound && (most < enough || -least < enough)
}
