//! Fitting a Magic Formula tyre to a table of forces.
//!
//! In stages, as the formula is built: Fx and Fy each with its own slip alone, then what the other slip takes away, then
//! Mz. Each stage seeks its own coefficients by least squares and leaves those of the others; what a table does not
//! decide (camber terms without camber, pressure terms without pressure) stays as it was.

mod samples;
mod solve;

pub use samples::{Sample, read_samples};

use skidpad_core::lane::{Eight, Lane};
use skidpad_core::tyre::magic_formula::{Coefficients, Uses, Version};
use skidpad_core::tyre::{Conditions, MagicFormula};
use solve::{Parameter, least_squares};

/// A tyre found for a table.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The tyre.
    pub tyre: MagicFormula,
    /// How well it meets the table.
    pub errors: Errors,
}

/// Differences between a table and a tyre, over the largest value of the table; 0 for what it does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Root of the mean square for Fx, Fy, Mz, –.
    pub mean: [f64; 3],
    /// Largest for Fx, Fy, Mz, –.
    pub worst: [f64; 3],
}

/// Why there is nothing to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// No stage has as many rows as coefficients.
    #[error("the table has too few rows for any stage of the fit: it needs 30 with one slip, for several loads")]
    TooFewRows,
}

/// What a stage looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Fx,
    Fy,
    Mz,
}

/// Coefficients sought together.
struct Stage {
    target: Target,
    /// Whether rows with both slips count.
    combined: bool,
    /// Names, and only in 5.2 or only in 6.1.
    names: &'static [&'static str],
    old: &'static [&'static str],
    new: &'static [&'static str],
}

/// A slip below this counts as none.
const NO_SLIP: f64 = 2e-3;

const STAGES: [Stage; 7] = [
    Stage {
        target: Target::Fx,
        combined: false,
        names: &[
            "PCX1", "PDX1", "PDX2", "PDX3", "PEX1", "PEX2", "PEX3", "PEX4", "PKX1", "PKX2", "PKX3", "PHX1", "PHX2",
            "PVX1", "PVX2",
        ],
        old: &[],
        new: &["PPX1", "PPX2", "PPX3", "PPX4"],
    },
    Stage {
        target: Target::Fy,
        combined: false,
        names: &[
            "PCY1", "PDY1", "PDY2", "PDY3", "PEY1", "PEY2", "PEY3", "PEY4", "PKY1", "PKY2", "PKY3", "PHY1", "PHY2",
            "PVY1", "PVY2", "PVY3", "PVY4",
        ],
        old: &["PHY3"],
        new: &["PEY5", "PKY4", "PKY5", "PKY6", "PKY7", "PPY1", "PPY2", "PPY3", "PPY4", "PPY5"],
    },
    Stage {
        target: Target::Fx,
        combined: true,
        names: &["RBX1", "RBX2", "RCX1", "REX1", "REX2", "RHX1"],
        old: &[],
        new: &["RBX3"],
    },
    Stage {
        target: Target::Fy,
        combined: true,
        names: &[
            "RBY1", "RBY2", "RBY3", "RCY1", "REY1", "REY2", "RHY1", "RHY2", "RVY1", "RVY2", "RVY3", "RVY4", "RVY5",
            "RVY6",
        ],
        old: &[],
        new: &["RBY4"],
    },
    Stage { target: Target::Mz, combined: false, names: &TRAIL, old: &[], new: &NEW_TRAIL },
    Stage { target: Target::Mz, combined: true, names: &LEVER, old: &[], new: &[] },
    // The lever also acts on the shift of Fx that is there without slip, so that both have to be sought together.
    Stage { target: Target::Mz, combined: true, names: &TRAIL, old: &LEVER, new: &NEW_LEVER },
];

/// Trail and residual moment.
const TRAIL: [&str; 25] = [
    "QBZ1", "QBZ2", "QBZ3", "QBZ4", "QBZ5", "QBZ9", "QBZ10", "QCZ1", "QDZ1", "QDZ2", "QDZ3", "QDZ4", "QDZ6", "QDZ7",
    "QDZ8", "QDZ9", "QEZ1", "QEZ2", "QEZ3", "QEZ4", "QEZ5", "QHZ1", "QHZ2", "QHZ3", "QHZ4",
];
const NEW_TRAIL: [&str; 4] = ["QDZ10", "QDZ11", "PPZ1", "PPZ2"];
/// Lever of Fx.
const LEVER: [&str; 4] = ["SSZ1", "SSZ2", "SSZ3", "SSZ4"];
const NEW_LEVER: [&str; 8] = ["SSZ1", "SSZ2", "SSZ3", "SSZ4", "QDZ10", "QDZ11", "PPZ1", "PPZ2"];

/// A tyre to start a fit from: `nominal_load` N, free radius `radius` m, everything else as usual for a car tyre.
pub fn usual_tyre(version: Version, nominal_load: f32, radius: f32) -> Coefficients {
    let mut c = Coefficients { fnomin: nominal_load, unloaded_radius: radius, ..Coefficients::default() };
    (c.pcx1, c.pdx1, c.pdx2, c.pkx1) = (1.6, 1.0, -0.05, 20.0);
    (c.pcy1, c.pdy1, c.pdy2, c.pky1, c.pky2) = (1.3, 1.0, -0.05, -18.0, 1.8);
    (c.rbx1, c.rbx2, c.rcx1) = (10.0, 8.0, 1.0);
    (c.rby1, c.rby2, c.rcy1) = (8.0, 6.0, 1.0);
    (c.rvy4, c.rvy5, c.rvy6) = (12.0, 1.9, 10.0);
    (c.qbz1, c.qcz1, c.qdz1, c.qbz9) = (9.0, 1.15, 0.1, 9.0);
    if version != Version::Mf52 {
        c.pky6 = -0.5;
    }
    c
}

/// Changes the coefficients of `start` until its forces are those of `samples`.
///
/// # Errors
/// A table with too few rows.
pub fn fit(start: &MagicFormula, samples: &[Sample]) -> Result<Fitted, FitError> {
    let mut tyre = start.clone();
    let mut stages = 0;
    for stage in &STAGES {
        if let Some(better) = stage.run(&tyre, samples) {
            tyre = better;
            stages += 1;
        }
    }
    if stages == 0 { Err(FitError::TooFewRows) } else { Ok(Fitted { errors: errors(&tyre, samples), tyre }) }
}

/// Differences between `tyre` and `samples`.
pub fn errors(tyre: &MagicFormula, samples: &[Sample]) -> Errors {
    let mut errors = Errors::default();
    for (i, target) in [Target::Fx, Target::Fy, Target::Mz].into_iter().enumerate() {
        let rows: Vec<Sample> = samples.iter().copied().filter(|sample| target.of(sample).is_some()).collect();
        let Some(residuals) = residuals(tyre, target, &rows) else { continue };
        let squares: f64 = residuals.iter().map(|r| r * r).sum();
        errors.mean[i] = (squares / residuals.len().max(1) as f64).sqrt();
        errors.worst[i] = residuals.iter().fold(0.0, |worst, r| worst.max(r.abs()));
    }
    errors
}

impl Target {
    fn of(self, sample: &Sample) -> Option<f64> {
        match self {
            Target::Fx => sample.fx,
            Target::Fy => sample.fy,
            Target::Mz => sample.mz,
        }
    }

    /// Whether `sample` shows this force by its own slip alone.
    fn is_alone(self, sample: &Sample) -> bool {
        let other = if self == Target::Fx { sample.slip_angle } else { sample.slip_ratio };
        other.abs() < NO_SLIP
    }
}

impl Stage {
    /// The tyre with this stage's coefficients fitted; `None` if the table says too little of them.
    fn run(&self, tyre: &MagicFormula, samples: &[Sample]) -> Option<MagicFormula> {
        let wanted = |sample: &&Sample| self.combined || self.target.is_alone(sample);
        let measured = samples.iter().filter(|sample| self.target.of(sample).is_some());
        let rows: Vec<Sample> = measured.filter(wanted).copied().collect();
        let both = rows.iter().filter(|sample| !self.target.is_alone(sample)).count();
        let of_version = if tyre.version() == Version::Mf52 { self.old } else { self.new };
        let names: Vec<&str> = self.names.iter().chain(of_version).copied().collect();
        let fits = !self.combined || (tyre.uses() == Uses::Combined && both >= 2 * names.len());
        if rows.len() < 2 * self.names.len() || !fits {
            return None;
        }
        let parameters: Vec<Parameter> = names.iter().map(|name| parameter(name)).collect();
        let with = |values: &[f64]| {
            let mut c = tyre.coefficients().clone();
            for (name, value) in names.iter().zip(values) {
                *c.get_mut(name)? = *value as f32;
            }
            MagicFormula::new(c, tyre.version(), tyre.uses()).ok()
        };
        let mut values: Vec<f64> = Vec::new();
        for name in &names {
            values.push(f64::from(tyre.coefficients().get(name)?));
        }
        least_squares(&parameters, &mut values, |values| residuals(&with(values)?, self.target, &rows));
        with(&values)
    }
}

/// Range and scale of a coefficient.
fn parameter(name: &str) -> Parameter {
    let stiffness = ["RBX1", "RBX2", "RBY1", "RBY2", "RVY4", "RVY6", "QBZ1", "QBZ9", "PKX1", "PKX2"];
    let (range, scale) = match name {
        "PCX1" | "PCY1" | "QCZ1" | "RCX1" | "RCY1" => ([0.5, 2.4], 0.2),
        "PDX1" | "PDY1" => ([0.05, 10.0], 0.2),
        "PKY1" => ([-200.0, -0.5], 5.0),
        "PKY2" => ([0.1, 20.0], 0.5),
        "PKY4" => ([0.5, 4.0], 0.5),
        "RVY5" => ([0.1, 4.0], 0.5),
        "PEY3" | "PEY4" | "QEZ4" | "QEZ5" => ([-1e3, 1e3], 2.0),
        name if stiffness.contains(&name) => ([-200.0, 200.0], 5.0),
        name if ["PHX", "PHY", "PVX", "RHX", "RHY", "QHZ", "QDZ", "SSZ"].iter().any(|p| name.starts_with(p)) => {
            ([-10.0, 10.0], 0.02)
        }
        _ => ([-100.0, 100.0], 0.3),
    };
    Parameter { range, scale }
}

/// What `tyre` gives minus what `rows` say, over the largest they say; `None` without rows.
fn residuals(tyre: &MagicFormula, target: Target, rows: &[Sample]) -> Option<Vec<f64>> {
    let peak = rows.iter().filter_map(|row| target.of(row)).fold(0.0, |peak: f64, v| peak.max(v.abs()));
    if rows.is_empty() || peak == 0.0 {
        return None;
    }
    let mut residuals = Vec::with_capacity(rows.len());
    for rows in rows.chunks(Eight::COUNT) {
        let lanes = |part: fn(&Sample) -> f64| {
            Eight::new(std::array::from_fn(|i| rows.get(i).map_or(0.0, |row| part(row) as f32)))
        };
        let conditions = Conditions {
            camber: lanes(|row| row.camber),
            pressure: lanes(|row| row.pressure),
            ..Conditions::upright(lanes(|row| row.load), Eight::splat(tyre.coefficients().longvl))
        };
        let slip = [lanes(|row| row.slip_ratio), lanes(|row| -row.slip_angle.tan())];
        let values = match target {
            Target::Fx => tyre.forces_of_eight(slip, &conditions)[0],
            Target::Fy => tyre.forces_of_eight(slip, &conditions)[1],
            Target::Mz => tyre.aligning_of_eight(slip, &conditions),
        };
        let measured = rows.iter().map(|row| target.of(row).unwrap_or(0.0));
        residuals.extend(values.lanes().into_iter().zip(measured).map(|(v, m)| (f64::from(v) - m) / peak));
    }
    Some(residuals)
}
