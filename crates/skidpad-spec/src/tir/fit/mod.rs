//! Fit of a Magic Formula tyre to a table of forces.
//!
//! The fit has stages that follow the formula: first Fx and Fy under pure slip, then their reduction by combined slip,
//! then Mz. Each stage fits its own coefficients by least squares and keeps all others. Coefficients that the table
//! does not determine (camber terms without camber, pressure terms without pressure) keep their values.

mod samples;
mod solve;

pub use samples::{Sample, read_samples};

use skidpad_core::simd::lane::{F32x8Pair, Lane};
use skidpad_core::tyre::magic_formula::{Coefficients, UseMode, Version};
use skidpad_core::tyre::{Conditions, MagicFormula};
use solve::{Parameter, least_squares};

/// Tyre that was fitted to a table.
#[derive(Clone, Debug)]
pub struct FittedTyre {
    /// Fitted tyre.
    pub tyre: MagicFormula,
    /// Differences between the table and the tyre.
    pub errors: FitErrors,
}

/// Differences between a table and a tyre, relative to the largest magnitude in the table. 0 for a force that the table
/// does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FitErrors {
    /// Root mean square for Fx, Fy, Mz, –.
    pub rms: [f64; 3],
    /// Largest magnitude for Fx, Fy, Mz, –.
    pub max: [f64; 3],
}

/// Reason why nothing was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// Too few rows for every stage: a stage needs two rows for each of its coefficients.
    #[error("the table has too few rows for a fit; at least 30 rows with a single slip and several loads are required")]
    TooFewRows,
}

/// Force or moment that a stage fits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Fx,
    Fy,
    Mz,
}

/// Coefficients that are fitted together.
struct Stage {
    /// Force or moment that the stage fits.
    target: Target,
    /// Whether rows with combined slip are used, too.
    with_combined_slip: bool,
    /// Names of the coefficients in all versions.
    coefficients: &'static [&'static str],
    /// Names of further coefficients in MF 5.2.
    mf52_coefficients: &'static [&'static str],
    /// Names of further coefficients in all other versions.
    mf61_coefficients: &'static [&'static str],
}

/// Slip below which a slip counts as none, – or rad.
const ZERO_SLIP_TOLERANCE: f64 = 2e-3;

/// Stages of the fit, in their order.
const FIT_STAGES: [Stage; 7] = [
    Stage {
        target: Target::Fx,
        with_combined_slip: false,
        coefficients: &[
            "PCX1", "PDX1", "PDX2", "PDX3", "PEX1", "PEX2", "PEX3", "PEX4", "PKX1", "PKX2", "PKX3", "PHX1", "PHX2",
            "PVX1", "PVX2",
        ],
        mf52_coefficients: &[],
        mf61_coefficients: &["PPX1", "PPX2", "PPX3", "PPX4"],
    },
    Stage {
        target: Target::Fy,
        with_combined_slip: false,
        coefficients: &[
            "PCY1", "PDY1", "PDY2", "PDY3", "PEY1", "PEY2", "PEY3", "PEY4", "PKY1", "PKY2", "PKY3", "PHY1", "PHY2",
            "PVY1", "PVY2", "PVY3", "PVY4",
        ],
        mf52_coefficients: &["PHY3"],
        mf61_coefficients: &["PEY5", "PKY4", "PKY5", "PKY6", "PKY7", "PPY1", "PPY2", "PPY3", "PPY4", "PPY5"],
    },
    Stage {
        target: Target::Fx,
        with_combined_slip: true,
        coefficients: &["RBX1", "RBX2", "RCX1", "REX1", "REX2", "RHX1"],
        mf52_coefficients: &[],
        mf61_coefficients: &["RBX3"],
    },
    Stage {
        target: Target::Fy,
        with_combined_slip: true,
        coefficients: &[
            "RBY1", "RBY2", "RBY3", "RCY1", "REY1", "REY2", "RHY1", "RHY2", "RVY1", "RVY2", "RVY3", "RVY4", "RVY5",
            "RVY6",
        ],
        mf52_coefficients: &[],
        mf61_coefficients: &["RBY4"],
    },
    Stage {
        target: Target::Mz,
        with_combined_slip: false,
        coefficients: &TRAIL_COEFFICIENTS,
        mf52_coefficients: &[],
        mf61_coefficients: &MF61_TRAIL_COEFFICIENTS,
    },
    Stage {
        target: Target::Mz,
        with_combined_slip: true,
        coefficients: &LEVER_COEFFICIENTS,
        mf52_coefficients: &[],
        mf61_coefficients: &[],
    },
    // The lever also acts on the Fx that the shifts cause without slip. Therefore trail and lever are fitted together.
    Stage {
        target: Target::Mz,
        with_combined_slip: true,
        coefficients: &TRAIL_COEFFICIENTS,
        mf52_coefficients: &LEVER_COEFFICIENTS,
        mf61_coefficients: &MF61_TRAIL_AND_LEVER,
    },
];

/// Coefficients of pneumatic trail and residual moment.
const TRAIL_COEFFICIENTS: [&str; 25] = [
    "QBZ1", "QBZ2", "QBZ3", "QBZ4", "QBZ5", "QBZ9", "QBZ10", "QCZ1", "QDZ1", "QDZ2", "QDZ3", "QDZ4", "QDZ6", "QDZ7",
    "QDZ8", "QDZ9", "QEZ1", "QEZ2", "QEZ3", "QEZ4", "QEZ5", "QHZ1", "QHZ2", "QHZ3", "QHZ4",
];
/// Coefficients of pneumatic trail and residual moment in MF 6.1 and later.
const MF61_TRAIL_COEFFICIENTS: [&str; 4] = ["QDZ10", "QDZ11", "PPZ1", "PPZ2"];
/// Coefficients of the lever arm of Fx.
const LEVER_COEFFICIENTS: [&str; 4] = ["SSZ1", "SSZ2", "SSZ3", "SSZ4"];
/// Coefficients of `LEVER_COEFFICIENTS` and `MF61_TRAIL_COEFFICIENTS`.
const MF61_TRAIL_AND_LEVER: [&str; 8] = ["SSZ1", "SSZ2", "SSZ3", "SSZ4", "QDZ10", "QDZ11", "PPZ1", "PPZ2"];

/// Returns start values for a fit: coefficients of a usual car tyre with the nominal load `nominal_load` (N) and the
/// free radius `radius` (m). Sets fixed values for Fx and Fy under pure and combined slip and for the aligning moment.
/// All other coefficients have their defaults. Versions other than MF 5.2 also get a camber stiffness (`PKY6`).
pub fn typical_coefficients(version: Version, nominal_load: f32, radius: f32) -> Coefficients {
    let mut c = Coefficients { fnomin: nominal_load, unloaded_radius: radius, ..Coefficients::default() };
    // Pure slip: Fx, Fy.
    (c.pcx1, c.pdx1, c.pdx2, c.pkx1) = (1.6, 1.0, -0.05, 20.0);
    (c.pcy1, c.pdy1, c.pdy2, c.pky1, c.pky2) = (1.3, 1.0, -0.05, -18.0, 1.8);
    // Combined slip: Fx, Fy, and Fy that κ causes.
    (c.rbx1, c.rbx2, c.rcx1) = (10.0, 8.0, 1.0);
    (c.rby1, c.rby2, c.rcy1) = (8.0, 6.0, 1.0);
    (c.rvy4, c.rvy5, c.rvy6) = (12.0, 1.9, 10.0);
    // Pneumatic trail and residual moment.
    (c.qbz1, c.qcz1, c.qdz1, c.qbz9) = (9.0, 1.15, 0.1, 9.0);
    if version != Version::Mf52 {
        c.pky6 = -0.5;
    }
    c
}

/// Fits the coefficients of `start` to `samples`, stage by stage in the order of the module's description. Each stage
/// starts from the result of the one before. Stages with too few rows are skipped. Returns the tyre and its remaining
/// errors.
///
/// # Errors
/// Returns [`FitError::TooFewRows`] if all stages are skipped.
pub fn fit(start: &MagicFormula, samples: &[Sample]) -> Result<FittedTyre, FitError> {
    let mut tyre = start.clone();
    let mut fitted_stage_count = 0;
    for stage in &FIT_STAGES {
        if let Some(fitted_tyre) = stage.fit_tyre(&tyre, samples) {
            tyre = fitted_tyre;
            fitted_stage_count += 1;
        }
    }
    if fitted_stage_count == 0 {
        Err(FitError::TooFewRows)
    } else {
        Ok(FittedTyre { errors: fit_errors(&tyre, samples), tyre })
    }
}

/// Computes the differences between `tyre` and `samples`: root mean square and largest magnitude for Fx, Fy and Mz,
/// each relative to the largest measured magnitude of that force. Rows without a force are left out for this force.
/// Errors are 0 for a force that is not measured or always 0.
pub fn fit_errors(tyre: &MagicFormula, samples: &[Sample]) -> FitErrors {
    let mut errors = FitErrors::default();
    for (i, target) in [Target::Fx, Target::Fy, Target::Mz].into_iter().enumerate() {
        let rows: Vec<Sample> =
            samples.iter().copied().filter(|sample| target.measured_value(sample).is_some()).collect();
        let Some(residuals) = residuals(tyre, target, &rows) else { continue };
        let sum_of_squares: f64 = residuals.iter().map(|r| r * r).sum();
        errors.rms[i] = (sum_of_squares / residuals.len().max(1) as f64).sqrt();
        errors.max[i] = residuals.iter().fold(0.0, |largest, r| largest.max(r.abs()));
    }
    errors
}

impl Target {
    /// Returns the measured value of the sample (N or N m), if there is one.
    fn measured_value(self, sample: &Sample) -> Option<f64> {
        match self {
            Target::Fx => sample.fx,
            Target::Fy => sample.fy,
            Target::Mz => sample.mz,
        }
    }

    /// Returns true if `sample` has pure slip for this force: the slip of the other direction (slip angle for Fx, slip
    /// ratio for Fy and Mz) is below [`ZERO_SLIP_TOLERANCE`].
    fn has_pure_slip(self, sample: &Sample) -> bool {
        let other_slip = if self == Target::Fx { sample.slip_angle } else { sample.slip_ratio };
        other_slip.abs() < ZERO_SLIP_TOLERANCE
    }
}

impl Stage {
    /// Returns `tyre` with the coefficients of this stage fitted by least squares, starting from their present values.
    /// The stage has coefficients of all versions and coefficients of the version of `tyre`. Uses the rows of `samples`
    /// that contain the force of the stage. A stage without combined slip only uses rows with pure slip
    /// ([`Target::has_pure_slip`]).
    ///
    /// Returns `None` if there are less than two rows for each coefficient that is fitted. A stage with combined slip
    /// also needs a tyre with combined forces and two rows with combined slip for each of its coefficients. Also
    /// returns `None` if the fitted coefficients are not a valid tyre.
    fn fit_tyre(&self, tyre: &MagicFormula, samples: &[Sample]) -> Option<MagicFormula> {
        let has_allowed_slip = |sample: &&Sample| self.with_combined_slip || self.target.has_pure_slip(sample);
        let measured_samples = samples.iter().filter(|sample| self.target.measured_value(sample).is_some());
        let rows: Vec<Sample> = measured_samples.filter(has_allowed_slip).copied().collect();
        // Number of rows with combined slip.
        let combined_slip_count = rows.iter().filter(|sample| !self.target.has_pure_slip(sample)).count();
        let version_coefficients =
            if tyre.version() == Version::Mf52 { self.mf52_coefficients } else { self.mf61_coefficients };
        let names: Vec<&str> = self.coefficients.iter().chain(version_coefficients).copied().collect();
        let has_required_combined_slip = !self.with_combined_slip
            || (tyre.use_mode() == UseMode::Combined && combined_slip_count >= 2 * names.len());
        if rows.len() < 2 * names.len() || !has_required_combined_slip {
            return None;
        }
        let parameters: Vec<Parameter> = names.iter().map(|name| parameter(name)).collect();
        // Tyre with the coefficients `values`; `None` if it is not valid.
        let tyre_with = |values: &[f64]| {
            let mut c = tyre.coefficients().clone();
            for (name, value) in names.iter().zip(values) {
                *c.get_mut(name)? = *value as f32;
            }
            MagicFormula::new(c, tyre.version(), tyre.use_mode()).ok()
        };
        let mut values: Vec<f64> = Vec::new();
        for name in &names {
            values.push(f64::from(tyre.coefficients().get(name)?));
        }
        least_squares(&parameters, &mut values, |values| residuals(&tyre_with(values)?, self.target, &rows));
        tyre_with(&values)
    }
}

/// Returns the range to which a fit limits the coefficient `name`, and its typical change as a scale. Shape factors,
/// friction, cornering stiffness and a few others have ranges of their own; shifts and small lengths have −10 to 10
/// with a scale of 0.02, all others −100 to 100 with 0.3.
fn parameter(name: &str) -> Parameter {
    let stiffness_coefficients = ["RBX1", "RBX2", "RBY1", "RBY2", "RVY4", "RVY6", "QBZ1", "QBZ9", "PKX1", "PKX2"];
    let (range, scale) = match name {
        "PCX1" | "PCY1" | "QCZ1" | "RCX1" | "RCY1" => ([0.5, 2.4], 0.2),
        "PDX1" | "PDY1" => ([0.05, 10.0], 0.2),
        // The cornering stiffness is below 0, because a positive slip angle causes a negative force.
        "PKY1" => ([-200.0, -0.5], 5.0),
        "PKY2" => ([0.1, 20.0], 0.5),
        "PKY4" => ([0.5, 4.0], 0.5),
        "RVY5" => ([0.1, 4.0], 0.5),
        "PEY3" | "PEY4" | "QEZ4" | "QEZ5" => ([-1e3, 1e3], 2.0),
        name if stiffness_coefficients.contains(&name) => ([-200.0, 200.0], 5.0),
        name if ["PHX", "PHY", "PVX", "RHX", "RHY", "QHZ", "QDZ", "SSZ"]
            .iter()
            .any(|prefix| name.starts_with(prefix)) =>
        {
            ([-10.0, 10.0], 0.02)
        }
        _ => ([-100.0, 100.0], 0.3),
    };
    Parameter { range, scale }
}

/// Computes the values of `tyre` minus those of `rows`, divided by the largest measured magnitude in `rows`, in the
/// order of the rows. Rows are evaluated in SIMD lanes in single precision, with the lateral slip `−tan α` and at the
/// reference speed of the tyre. A row without the value counts as 0. Returns `None` if there are no rows, or if all
/// their values are 0.
fn residuals(tyre: &MagicFormula, target: Target, rows: &[Sample]) -> Option<Vec<f64>> {
    // Largest measured magnitude, N or N m.
    let peak = rows.iter().filter_map(|row| target.measured_value(row)).fold(0.0, |peak: f64, v| peak.max(v.abs()));
    if rows.is_empty() || peak == 0.0 {
        return None;
    }
    // Unused lanes of the last group have load 0 and are dropped.
    let mut residuals = Vec::with_capacity(rows.len());
    for lane_rows in rows.chunks(F32x8Pair::LANE_COUNT) {
        let row_lanes = |value_of: fn(&Sample) -> f64| {
            F32x8Pair::new(std::array::from_fn(|i| lane_rows.get(i).map_or(0.0, |row| value_of(row) as f32)))
        };
        let conditions = Conditions {
            camber: row_lanes(|row| row.camber),
            pressure: row_lanes(|row| row.pressure),
            ..Conditions::upright(row_lanes(|row| row.load), F32x8Pair::splat(tyre.coefficients().longvl))
        };
        let slip = [row_lanes(|row| row.slip_ratio), row_lanes(|row| -row.slip_angle.tan())];
        // `forces_x8` returns `[Fx, Fy]`.
        let values = match target {
            Target::Fx => tyre.forces_x8(slip, &conditions)[0],
            Target::Fy => tyre.forces_x8(slip, &conditions)[1],
            Target::Mz => tyre.aligning_x8(slip, &conditions),
        };
        let measured_values = lane_rows.iter().map(|row| target.measured_value(row).unwrap_or(0.0));
        residuals.extend(
            values
                .lanes()
                .into_iter()
                .zip(measured_values)
                .map(|(value, measured)| (f64::from(value) - measured) / peak),
        );
    }
    Some(residuals)
}
