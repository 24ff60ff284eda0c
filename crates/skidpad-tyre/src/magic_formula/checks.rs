//! Checks of the coefficients.

use super::{Coefficients, ENTRIES, UseMode};
use crate::ValueFault;

/// Maximum magnitude of a coefficient without a unit. Published coefficients are below 1e5; products of several
/// coefficients must be finite.
const MAX_COEFFICIENT: f32 = 1e6;

const SHAPE_FACTOR_RANGE: &str = "a number from 0.01 to 100";
const POSITIVE_RANGE: &str = "a number above 0";

/// Returns a fault for each coefficient that is not accepted, in the order of [`ENTRIES`]; empty if all are. A
/// coefficient that a file did not state is NaN and only accepted if `use_mode` leaves it out.
pub fn faults(c: &Coefficients, use_mode: UseMode) -> Vec<ValueFault> {
    let mut faults = Vec::new();
    for entry in ENTRIES {
        let found = c.get(entry.name).unwrap_or(f32::NAN);
        if let Some(accepts) = violated_range(c, use_mode, entry.name, found) {
            faults.push(ValueFault { name: entry.name, found, accepts });
        }
    }
    faults
}

/// Returns the accepted values of the coefficient `name` as a text, or `None` if `value` is accepted. NaN is accepted
/// only for PCX1, PDX1 and PKX1 if `use_mode` leaves out the longitudinal force, and for PCY1, PDY1, PKY1 and PKY2 if
/// it leaves out the lateral force; any other value of these is then accepted, too.
///
/// Sizes and stiffnesses have ranges of sensible size. The listed shape and scale factors are 0.01 to 100, and PKY1 is
/// negative (ISO axes). A pressure may also be 0, which means that it is not stated; the text omits this case. Upper
/// ends of ranges are above their lower ends in `c`. All others are within ±1e6. The first matching arm decides.
fn violated_range(c: &Coefficients, use_mode: UseMode, name: &str, value: f32) -> Option<&'static str> {
    let needs_longitudinal = !matches!(use_mode, UseMode::Load | UseMode::Lateral);
    let needs_lateral = !matches!(use_mode, UseMode::Load | UseMode::Longitudinal);
    let is_shape_factor = (0.01..=100.0).contains(&value);
    let (is_accepted, accepts) = match name {
        "UNLOADED_RADIUS" => ((0.01..=10.0).contains(&value), "a length from 0.01 to 10 m"),
        "FNOMIN" => ((1.0..=1e6).contains(&value), "a force from 1 to 1e6 N"),
        "LONGVL" => ((1e-3..=1e3).contains(&value), "a speed from 0.001 to 1000 m/s"),
        "VXLOW" => ((0.0..=1e3).contains(&value), "a speed from 0 to 1000 m/s"),
        "LFZO" | "LMUX" | "LMUY" => (is_shape_factor, SHAPE_FACTOR_RANGE),
        "PCX1" | "LCX" if needs_longitudinal => (is_shape_factor, SHAPE_FACTOR_RANGE),
        "PCY1" | "LCY" | "LKY" if needs_lateral => (is_shape_factor, SHAPE_FACTOR_RANGE),
        "PDX1" | "PKX1" if needs_longitudinal => (value > 0.0 && value < MAX_COEFFICIENT, POSITIVE_RANGE),
        "PDY1" | "PKY2" if needs_lateral => (value > 0.0 && value < MAX_COEFFICIENT, POSITIVE_RANGE),
        "PKY1" if needs_lateral => {
            (value < 0.0 && value > -MAX_COEFFICIENT, "a number below 0 (axes ISO W; other axes have it positive)")
        }
        // Not needed: the use mode leaves out the direction.
        "PCX1" | "PDX1" | "PKX1" | "PCY1" | "PDY1" | "PKY1" | "PKY2" => (true, ""),
        "VERTICAL_STIFFNESS" | "LONGITUDINAL_STIFFNESS" | "LATERAL_STIFFNESS" => {
            ((0.0..=1e9).contains(&value), "a stiffness from 0 to 1e9 N/m")
        }
        "NOMPRES" | "INFLPRES" => (value == 0.0 || (1e3..=1e8).contains(&value), "a pressure from 1e3 to 1e8 N/m²"),
        "FZMAX" => (value > c.fzmin && value <= 1e9, "a force above FZMIN"),
        "PRESMAX" => (value > c.presmin && value <= 1e9, "a pressure above PRESMIN"),
        "KPUMAX" => (value > c.kpumin && value <= 1e3, "a slip ratio above KPUMIN"),
        "ALPMAX" => (value > c.alpmin && value <= 1.6, "an angle above ALPMIN, up to 1.6 rad"),
        "CAMMAX" => (value > c.cammin && value <= 1.6, "an angle above CAMMIN, up to 1.6 rad"),
        "FZMIN" | "PRESMIN" => ((0.0..=1e9).contains(&value), "a number from 0"),
        "QSY7" | "QSY8" | "Q_FCY2" => ((-10.0..=10.0).contains(&value), "an exponent within ±10"),
        "KPUMIN" => ((-1e3..=1e3).contains(&value), "a slip ratio"),
        "ALPMIN" | "CAMMIN" => ((-1.6..=1.6).contains(&value), "an angle within ±1.6 rad"),
        _ => (value.abs() <= MAX_COEFFICIENT, "a number within ±1e6"),
    };
    if is_accepted { None } else { Some(accepts) }
}
