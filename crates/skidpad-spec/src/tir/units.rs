//! Units of a `.tir` file: the `[UNITS]` section, and the conversion of values to SI.

use super::lines::{Statement, new_fault};
use crate::fault::push_fault;
use crate::{Fault, FaultKind};
use skidpad_core::tyre::magic_formula::Unit;

/// Factors from the units of the file to SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Units {
    /// Size of a length unit, m.
    length: f64,
    /// Size of a force unit, N.
    force: f64,
    /// Size of an angle unit, rad.
    angle: f64,
    /// Size of a time unit, s.
    time: f64,
}

/// Names of units (lower case) and their size in SI.
type UnitTable = [(&'static str, f64)];

const LENGTH_UNITS: &UnitTable = &[
    ("meter", 1.0),
    ("metre", 1.0),
    ("m", 1.0),
    ("mm", 1e-3),
    ("millimeter", 1e-3),
    ("cm", 1e-2),
    ("centimeter", 1e-2),
    ("km", 1e3),
    ("kilometer", 1e3),
    ("inch", 0.0254),
    ("in", 0.0254),
    ("foot", 0.3048),
    ("ft", 0.3048),
];
const FORCE_UNITS: &UnitTable = &[
    ("newton", 1.0),
    ("n", 1.0),
    ("kilonewton", 1e3),
    ("knewton", 1e3),
    ("kn", 1e3),
    ("kilogram_force", 9.806_65),
    ("kg_force", 9.806_65),
    ("kgf", 9.806_65),
    ("pound_force", 4.448_221_615_260_5),
    ("lbf", 4.448_221_615_260_5),
];
const ANGLE_UNITS: &UnitTable = &[
    ("radians", 1.0),
    ("radian", 1.0),
    ("rad", 1.0),
    ("degrees", std::f64::consts::PI / 180.0),
    ("degree", std::f64::consts::PI / 180.0),
    ("deg", std::f64::consts::PI / 180.0),
];
const TIME_UNITS: &UnitTable = &[
    ("second", 1.0),
    ("seconds", 1.0),
    ("sec", 1.0),
    ("s", 1.0),
    ("millisecond", 1e-3),
    ("ms", 1e-3),
    ("minute", 60.0),
    ("min", 60.0),
    ("hour", 3600.0),
];

impl Units {
    /// Reads the `[UNITS]` section among `statements`: length, force, angle and time, by name in any case, with or
    /// without quotes. The last statement of a key counts. Units that are not stated are SI. Unknown units are added to
    /// `faults` with the list of known names, and change nothing. Masses and other keys are not read.
    pub fn read(statements: &[Statement<'_>], faults: &mut Vec<Fault>) -> Self {
        let mut units = Self { length: 1.0, force: 1.0, angle: 1.0, time: 1.0 };
        for statement in statements.iter().filter(|s| s.section == "UNITS") {
            let (factor, unit_table) = match statement.key.as_str() {
                "LENGTH" => (&mut units.length, LENGTH_UNITS),
                "FORCE" => (&mut units.force, FORCE_UNITS),
                "ANGLE" => (&mut units.angle, ANGLE_UNITS),
                "TIME" => (&mut units.time, TIME_UNITS),
                _ => continue,
            };
            let name = strip_quotes(statement.value).to_ascii_lowercase();
            match unit_table.iter().find(|(unit_name, _)| *unit_name == name) {
                Some((_, size)) => *factor = *size,
                None => {
                    let known_names: Vec<&str> = unit_table.iter().map(|(name, _)| *name).collect();
                    let accepts = format!("one of {}", known_names.join(", "));
                    let help = Some("the values of the file cannot be converted without it".into());
                    let path = format!("UNITS.{}", statement.key);
                    let kind = FaultKind::OutOfRange;
                    push_fault(faults, new_fault(kind, &path, &statement.place, statement.value, &accepts, help));
                }
            }
        }
        units
    }

    /// Returns the size of one `unit` of the file in SI, composed of its sizes of length, force, angle and time.
    /// Coefficients without a unit have size 1; their angles are always in rad.
    pub fn si_factor(&self, unit: Unit) -> f64 {
        match unit {
            Unit::One => 1.0,
            Unit::Length => self.length,
            Unit::Speed => self.length / self.time,
            Unit::Force => self.force,
            Unit::Stiffness => self.force / self.length,
            Unit::Pressure => self.force / (self.length * self.length),
            Unit::Angle => self.angle,
        }
    }
}

/// Returns `value` without its quotes and the spaces around the text.
pub(super) fn strip_quotes(value: &str) -> &str {
    value.trim_matches(['\'', '"']).trim()
}
