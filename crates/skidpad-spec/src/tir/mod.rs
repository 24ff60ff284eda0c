//! Tyre property files (`.tir`): Magic Formula tyres of PAC2002, MF 5.2, 6.1 and 6.2.
//!
//! This module reads files with every fault at once ([`read`], [`load`]), writes files ([`write()`]), reports what was
//! left out ([`TyreFile::notes`]), contains the shipped files ([`names`]), and fits coefficients to a table of forces.
//! The formula is in [`skidpad_core::tyre::magic_formula`].
//!
//! # Required keys
//! A file states `FNOMIN`, `UNLOADED_RADIUS` and the version (`FITTYP`, or `PROPERTY_FILE_FORMAT = 'PAC2002'`). It also
//! states shape factor, friction and stiffness of the forces for which it is used (`USE_MODE`, all forces if missing).
//! All other keys have the defaults in [`skidpad_core::tyre::magic_formula::ENTRIES`]: scaling factors 1, coefficients
//! 0, and ranges as wide as the formula is valid. Keys are found by name in any section. Units are those of `[UNITS]`.
//!
//! A key without a value is not stated. Some conventions of older files are accepted with a note: lateral friction
//! below 0 (MF 5.0), ranges of braking only, a radius `Q_RE0` of 0, and mirrored tyres (`USE_MODE` below 0).
//!
//! # Effects that are left out
//! Turn slip and parking moments, belt dynamics, contact with obstacles, and motorcycle contours are not modelled.
//! Their keys are skipped. Any other unknown key of a coefficient section is reported as a note. Notes also report
//! implausible values, and coefficients that are missing although related coefficients are stated.

mod build;
#[cfg(feature = "fit")]
pub mod fit;
mod lines;
pub(crate) mod plausibility;
mod units;

pub use build::{Note, TyreFile};

use crate::files::{self, FileKind};
use crate::{Faults, LoadError};
use skidpad_core::tyre::MagicFormula;
use skidpad_core::tyre::magic_formula::{ENTRIES, Unit, UseMode, Version};
use std::path::Path;

/// Name and text of every shipped tyre file, in alphabetical order.
const SHIPPED_TYRE_FILES: [(&str, &str); 4] = [
    ("c5_front", include_str!("../../vehicles/tyres/c5_front.tir")),
    ("c5_rear", include_str!("../../vehicles/tyres/c5_rear.tir")),
    ("opentire_235_60r16", include_str!("../../vehicles/tyres/opentire_235_60r16.tir")),
    ("pacejka_book_defaults", include_str!("../../vehicles/tyres/pacejka_book_defaults.tir")),
];

/// Returns the names of the shipped tyre files, in alphabetical order.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    SHIPPED_TYRE_FILES.iter().map(|(name, _)| *name)
}

/// Returns the text of the shipped tyre file called `name`, if it exists.
pub fn find(name: &str) -> Option<&'static str> {
    SHIPPED_TYRE_FILES.iter().find(|(shipped_name, _)| *shipped_name == name).map(|(_, text)| *text)
}

/// Reads the text of a tyre file. `source_name` names the text in fault reports.
///
/// # Errors
/// Returns every fault of the text at once: broken lines, values that are no numbers, missing and impossible
/// coefficients, unknown versions and units.
pub fn read(source_name: &str, text: &str) -> Result<TyreFile, Faults> {
    build::read(source_name, text)
}

/// Loads a shipped tyre by name (see [`names`]), or the tyre file at a path. A shipped name takes precedence. Bytes
/// that are not UTF-8, such as comments in old files, are replaced.
///
/// # Errors
/// Returns an error if the file cannot be read, or every fault of it.
pub fn load(name_or_path: &str) -> Result<TyreFile, LoadError> {
    if let Some(text) = find(name_or_path) {
        return Ok(read(&format!("{name_or_path}.tir"), text)?);
    }
    let path = Path::new(name_or_path);
    let to_load_error = |source| LoadError::UnreadableFile { path: path.to_owned(), source };
    Ok(read(name_or_path, &files::read_lossy(path, FileKind::Tyre).map_err(to_load_error)?)?)
}

/// Writes a tyre as the text of a tyre file, in SI units: header, units, version and use mode, then only the
/// coefficients that differ from their defaults, in the order of [`ENTRIES`]. Each has its meaning as a comment. A
/// header is written where the usual section changes, so a section may begin more than once. MF 5.2 is `FITTYP` 6. The
/// side of the car is not written.
pub fn write(tyre: &MagicFormula) -> String {
    let fittyp = match tyre.version() {
        Version::Mf52 => 6,
        Version::Mf61 => 61,
        Version::Mf62 => 62,
    };
    let use_mode = match tyre.use_mode() {
        UseMode::Load => 0,
        UseMode::Longitudinal => 1,
        UseMode::Lateral => 2,
        UseMode::Uncombined => 3,
        UseMode::Combined => 4,
    };
    let mut text = format!(
        "[MDI_HEADER]\nFILE_TYPE = 'tir'\nFILE_VERSION = 3.0\nFILE_FORMAT = 'ASCII'\n[UNITS]\nLENGTH = 'meter'\n\
         FORCE = 'newton'\nANGLE = 'radians'\nMASS = 'kg'\nTIME = 'second'\n[MODEL]\nFITTYP = {fittyp}\nUSE_MODE = {use_mode}\n"
    );
    let mut section = "MODEL";
    for entry in ENTRIES {
        let value = tyre.coefficients().get(entry.name).unwrap_or(entry.default);
        if value == entry.default {
            continue;
        }
        let usual_section_name = usual_section(entry.name, entry.unit);
        if usual_section_name != section {
            section = usual_section_name;
            text += &format!("[{section}]\n");
        }
        text += &format!("{} = {value} $ {}\n", entry.name, entry.meaning);
    }
    text
}

/// Returns the section in which the coefficient `name` with the unit `unit` is usually stated; the first match counts.
/// Dimensions, ranges, pressures and structural stiffnesses are known by name. Other coefficients with a unit belong to
/// `VERTICAL`, scaling factors (`L…`) to `SCALING_COEFFICIENTS`. The rest is assigned by the beginning of the name, for
/// longitudinal forces by the letters after the first one, by default to `LATERAL_COEFFICIENTS`.
fn usual_section(name: &str, unit: Unit) -> &'static str {
    let starts_with_any = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    // The first letter is P for pure and R for combined slip.
    let tail_starts_with_any = |tail_prefixes: &[&str]| {
        tail_prefixes.iter().any(|prefix| name.get(1..).is_some_and(|tail| tail.starts_with(prefix)))
    };
    match name {
        "UNLOADED_RADIUS" | "WIDTH" | "ASPECT_RATIO" => "DIMENSION",
        "LONGVL" | "VXLOW" => "MODEL",
        "NOMPRES" | "INFLPRES" => "OPERATING_CONDITIONS",
        "PRESMIN" | "PRESMAX" => "INFLATION_PRESSURE_RANGE",
        "FZMIN" | "FZMAX" => "VERTICAL_FORCE_RANGE",
        "KPUMIN" | "KPUMAX" => "LONG_SLIP_RANGE",
        "ALPMIN" | "ALPMAX" => "SLIP_ANGLE_RANGE",
        "CAMMIN" | "CAMMAX" => "INCLINATION_ANGLE_RANGE",
        "LONGITUDINAL_STIFFNESS" | "LATERAL_STIFFNESS" => "STRUCTURAL",
        _ if starts_with_any(&["PCF"]) => "STRUCTURAL",
        _ if unit != Unit::One || starts_with_any(&["Q_", "PFZ", "BREFF", "DREFF", "FREFF"]) => "VERTICAL",
        _ if starts_with_any(&["L"]) => "SCALING_COEFFICIENTS",
        _ if starts_with_any(&["QSX", "PPMX"]) => "OVERTURNING_COEFFICIENTS",
        _ if starts_with_any(&["QSY"]) => "ROLLING_COEFFICIENTS",
        _ if starts_with_any(&["Q", "S", "PPZ"]) => "ALIGNING_COEFFICIENTS",
        _ if tail_starts_with_any(&["CX", "DX", "EX", "KX", "HX", "VX", "PX", "BX", "TX"]) => {
            "LONGITUDINAL_COEFFICIENTS"
        }
        _ => "LATERAL_COEFFICIENTS",
    }
}
