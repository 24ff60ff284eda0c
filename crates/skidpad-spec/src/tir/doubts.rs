//! Coefficients a tyre can have but no tyre does, and what a file that is cut off lacks.

use std::ops::RangeInclusive;

use skidpad_core::tyre::MagicFormula;
use skidpad_core::tyre::magic_formula::{Coefficients, Uses};

/// Coefficients with what tyres from a kart's to a truck's have of them, SI, with room to spare; 0 stands for a value that is
/// not known where the range does not hold it and the formula takes it.
const USUAL: [(&str, RangeInclusive<f32>, &str); 17] = [
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
    ("PKY1", -150.0..=-3.0, ""),
];

/// Coefficients without any of which an effect is not there at all, and the effect.
const TOGETHER: [(&[&str], &str); 3] = [
    (&["QBZ1", "QCZ1", "QDZ1"], "the aligning moment has no pneumatic trail"),
    (&["RBX1", "RCX1"], "side slip does not weaken forces along"),
    (&["RBY1", "RCY1"], "slip along does not weaken forces across"),
];

/// Names and texts of the coefficients `stated` that are far from what tyres have.
pub(crate) fn implausible(c: &Coefficients, stated: impl Fn(&str) -> bool) -> Vec<(&'static str, String)> {
    let judge = |(name, usual, unit): &(&'static str, RangeInclusive<f32>, &str)| {
        let value = c.get(name)?;
        let unknown = value == 0.0 && matches!(*unit, "N/m" | "N/m²");
        let doubtful = stated(name) && !unknown && !usual.contains(&value);
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        doubtful.then(|| {
            let (low, high) = (usual.start(), usual.end());
            (
                *name,
                format!("{value}{unit} is far from tyres, which have {low} to {high}: check the unit and the digits"),
            )
        })
    };
    USUAL.iter().filter_map(judge).collect()
}

/// Names and texts of coefficients that are missing beside others without which those do nothing, as where a file is cut off.
pub(crate) fn cut_off(uses: Uses, stated: impl Fn(&str) -> bool) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for (names, loss) in TOGETHER.iter().filter(|(names, _)| uses == Uses::Combined || names[0] == "QBZ1") {
        let Some(there) = names.iter().find(|name| stated(name)) else { continue };
        let missing = names.iter().filter(|name| !stated(name));
        found.extend(missing.map(|name| (*name, format!("missing beside {there}, so {loss}: is the file cut off?"))));
    }
    found
}

/// What becomes of forces along and across together, and of moments, where nothing says so.
pub(crate) fn left_out(tyre: &MagicFormula) -> Option<String> {
    let c = tyre.coefficients();
    let turns = (c.qdz1, c.qdz2, c.qdz3, c.qdz4) != (0.0, 0.0, 0.0, 0.0);
    if tyre.combines_by_ellipse() {
        let moment = if turns { "" } else { ", nor of the aligning moment, which has no pneumatic trail" };
        return Some(format!(
            "no coefficients of combined slip: forces along and across are combined by the friction ellipse{moment}"
        ));
    }
    (tyre.uses() == Uses::Uncombined).then(|| {
        "USE_MODE 3: forces along and across do not weaken each other, and reach up to 1.4 times the friction together"
            .into()
    })
}
