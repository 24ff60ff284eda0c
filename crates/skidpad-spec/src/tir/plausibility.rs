//! Checks of coefficients: values that no tyre has in practice, and coefficients that a truncated file lacks.

use std::ops::RangeInclusive;

use skidpad_core::tyre::MagicFormula;
use skidpad_core::tyre::magic_formula::{Coefficients, UseMode};

/// Coefficients with their usual ranges in SI units, from kart tyres to truck tyres, with a margin. A stiffness or
/// pressure of 0 stands for an unknown value, and is accepted.
const USUAL_RANGES: [(&str, RangeInclusive<f32>, &str); 16] = [
    ("UNLOADED_RADIUS", 0.1..=1.0, "m"),
    ("FNOMIN", 200.0..=60e3, "N"),
    ("VERTICAL_STIFFNESS", 30e3..=3e6, "N/m"),
    ("LONGITUDINAL_STIFFNESS", 30e3..=5e6, "N/m"),
    ("LATERAL_STIFFNESS", 20e3..=3e6, "N/m"),
    ("INFLPRES", 40e3..=1.5e6, "N/m²"),
    ("NOMPRES", 40e3..=1.5e6, "N/m²"),
    ("LMUX", 0.05..=2.5, ""),
    ("LMUY", 0.05..=2.5, ""),
    ("PCX1", 0.9..=2.5, ""),
    ("PDX1", 0.3..=3.0, ""),
    ("PEX1", -20.0..=1.0, ""),
    ("PKX1", 3.0..=100.0, ""),
    ("PCY1", 0.9..=2.5, ""),
    ("PDY1", 0.3..=3.0, ""),
    ("PEY1", -20.0..=1.0, ""),
];

/// Usual cornering stiffness over load at the nominal load, 1/rad.
const USUAL_CORNERING_STIFFNESS: RangeInclusive<f64> = 3.0..=150.0;

/// Coefficients that files state in pairs: the coefficient, its counterpart, and the effect of its absence.
const PAIRED_COEFFICIENTS: [(&str, &str, &str); 4] = [
    ("QBZ1", "QDZ1", "the pneumatic trail does not decrease with slip"),
    ("QDZ1", "QBZ1", "there is no pneumatic trail"),
    ("RBX1", "RBY1", "side slip does not reduce longitudinal forces"),
    ("RBY1", "RBX1", "longitudinal slip does not reduce lateral forces"),
];

/// Returns names and messages of stated coefficients outside of [`USUAL_RANGES`], and of `PKY1` if the cornering
/// stiffness over load at the nominal load is outside of [`USUAL_CORNERING_STIFFNESS`]. Coefficients at their defaults
/// are not judged: `is_stated` returns whether the file states a coefficient. A stiffness or pressure of 0 is accepted
/// as unknown.
pub(crate) fn implausible_coefficients(
    c: &Coefficients,
    is_stated: impl Fn(&str) -> bool,
) -> Vec<(&'static str, String)> {
    let check_range = |(name, usual_range, unit): &(&'static str, RangeInclusive<f32>, &str)| {
        let value = c.get(name)?;
        let is_unknown = value == 0.0 && matches!(*unit, "N/m" | "N/m²");
        let is_implausible = is_stated(name) && !is_unknown && !usual_range.contains(&value);
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        is_implausible.then(|| {
            let (low, high) = (usual_range.start(), usual_range.end());
            (
                *name,
                format!(
                    "{value}{unit} is implausible for a tyre (typical: {low} to {high}); check the unit and the digits"
                ),
            )
        })
    };
    let mut messages: Vec<_> = USUAL_RANGES.iter().filter_map(check_range).collect();
    // PKY1 alone is not conclusive. If the stiffness peaks far above the nominal load (large PKY2), only a small part
    // of PKY1 is effective at the nominal load.
    let [pky1, pky2, pky4] = [c.pky1, c.pky2, c.pky4].map(f64::from);
    // Cornering stiffness over load at the nominal load: −PKY1 sin(PKY4 atan(1 / PKY2)).
    let cornering_stiffness = -pky1 * (pky4 * (1.0 / pky2).atan()).sin();
    if is_stated("PKY1") && !USUAL_CORNERING_STIFFNESS.contains(&cornering_stiffness) {
        messages.push(("PKY1", format!(
            "with PKY2 and PKY4 the cornering stiffness is {cornering_stiffness:.4} times the load per rad, which is implausible for a tyre (typical: 3 to 150)"
        )));
    }
    messages
}

/// Returns names and messages of coefficients of [`PAIRED_COEFFICIENTS`] that are missing although their counterpart is
/// stated, as in a truncated file. Coefficients of combined slip (`R…`) are checked only if `use_mode` includes it.
pub(crate) fn missing_counterparts(use_mode: UseMode, is_stated: impl Fn(&str) -> bool) -> Vec<(&'static str, String)> {
    let lacks_counterpart = |(name, counterpart, _): &&(&str, &str, &str)| is_stated(counterpart) && !is_stated(name);
    let missing_coefficients = PAIRED_COEFFICIENTS
        .iter()
        .filter(lacks_counterpart)
        .filter(|(name, ..)| use_mode == UseMode::Combined || !name.starts_with('R'));
    missing_coefficients
        .map(|(name, counterpart, effect)| {
            (*name, format!("missing, although {counterpart} is set: {effect}; the file may be truncated"))
        })
        .collect()
}

/// Returns a message about the combination of longitudinal and lateral force. A tyre without coefficients of combined
/// slip combines its forces by a friction ellipse; the message then also mentions a missing pneumatic trail (`QDZ1` to
/// `QDZ4` all 0). Forces that are not combined at all (`USE_MODE` 3) have a message of their own. Returns `None` in all
/// other cases.
pub(crate) fn combined_slip_note(tyre: &MagicFormula) -> Option<String> {
    let c = tyre.coefficients();
    // Whether the tyre has a pneumatic trail.
    let has_pneumatic_trail = (c.qdz1, c.qdz2, c.qdz3, c.qdz4) != (0.0, 0.0, 0.0, 0.0);
    if tyre.combines_by_ellipse() {
        let moment_note =
            if has_pneumatic_trail { "" } else { ", and none of the aligning moment: it has no pneumatic trail" };
        return Some(format!(
            "no coefficients of combined slip: longitudinal and lateral forces are combined by the friction ellipse{moment_note}"
        ));
    }
    (tyre.use_mode() == UseMode::Uncombined).then(|| {
        "USE_MODE 3: longitudinal and lateral forces do not reduce each other and together reach up to 1.4 times the friction limit"
            .into()
    })
}
