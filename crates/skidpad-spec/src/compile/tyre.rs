//! Conversion of tyres to SI units, from the tyre models of the file to those of the core.

use crate::VehicleSpec;
use crate::read::MagicFormulas;
use crate::spec::{Friction, NamedPoints, Relaxation, SlipCurve, Tyre as TyreSpec};
use skidpad_core::model::Tyre;
use skidpad_core::tyre::{Brush, CurveLaw, CurveTyre, DirectionCurve, TMeasy};
use skidpad_core::{ModelError, STANDARD_GRAVITY};

/// Pressure of one bar, N/m².
const PASCALS_PER_BAR: f64 = 1e5;

/// Builds all tyres, in alphabetical order of their names. A tyre without a nominal load gets the load of a wheel at an
/// even distribution of the weight. Fails if a tyre file was not read.
pub(super) fn build_tyres(spec: &VehicleSpec, formulas: &MagicFormulas) -> Result<Vec<Tyre>, ModelError> {
    let wheel_count: usize = crate::wheel_positions::wheel_positions(spec).len();
    let even_load = spec.chassis.mass_kg * f64::from(STANDARD_GRAVITY) / wheel_count.max(1) as f64;
    spec.tyres.iter().map(|(name, tyre_spec)| build_tyre(name, tyre_spec, formulas, even_load)).collect()
}

/// Returns the longitudinal and the lateral value in single precision.
fn to_f32_pair(longitudinal: f64, lateral: f64) -> [f32; 2] {
    [longitudinal as f32, lateral as f32]
}

/// Builds the tyre `name`. `even_load` is the wheel load at an even distribution of the weight, N. Tyres that state no
/// nominal load use it.
///
/// Coulomb, linear and slip curve tyres become curve tyres (a force law over slip); brush, TMeasy and Magic Formula
/// have types of their own. A Coulomb tyre has its deflection as relaxation length in both directions. A TMeasy tyre
/// has curves at nominal and at double load. A Magic Formula tyre is copied from `formulas`, with its pressure in N/m²
/// (0 for the nominal pressure of its file). Fails if `formulas` has no tyre of this name.
fn build_tyre(name: &str, tyre_spec: &TyreSpec, formulas: &MagicFormulas, even_load: f64) -> Result<Tyre, ModelError> {
    Ok(match tyre_spec {
        TyreSpec::Coulomb { deflection_m, friction } => {
            let curve_law = CurveLaw::Coulomb { deflection: *deflection_m as f32 };
            build_curve_tyre(curve_law, to_f32_pair(*deflection_m, *deflection_m), friction, even_load)
        }
        TyreSpec::Linear { slip_stiffness_n, cornering_stiffness_n_per_rad, relaxation, friction } => build_curve_tyre(
            CurveLaw::Linear { stiffness: to_f32_pair(*slip_stiffness_n, *cornering_stiffness_n_per_rad) },
            relaxation_lengths(relaxation),
            friction,
            even_load,
        ),
        TyreSpec::LinearPerLoad {
            slip_stiffness_per_load: longitudinal,
            cornering_stiffness_per_rad: lateral,
            relaxation,
            friction,
        } => build_curve_tyre(
            CurveLaw::LinearPerLoad { stiffness: to_f32_pair(*longitudinal, *lateral) },
            relaxation_lengths(relaxation),
            friction,
            even_load,
        ),
        TyreSpec::SlipCurve { longitudinal, lateral, relaxation, friction } => {
            let direction_pair =
                |parameter: fn(&SlipCurve) -> f64| to_f32_pair(parameter(longitudinal), parameter(lateral));
            let curve_law = CurveLaw::SlipCurve {
                extremum_slip: direction_pair(|curve| curve.extremum_slip),
                asymptote_slip: direction_pair(|curve| curve.asymptote_slip),
                asymptote: direction_pair(|curve| curve.sliding_force_ratio),
            };
            build_curve_tyre(curve_law, relaxation_lengths(relaxation), friction, even_load)
        }
        TyreSpec::Brush { slip_stiffness_n, cornering_stiffness_n_per_rad, patch_length_m, friction } => {
            let stiffness = [*slip_stiffness_n, *cornering_stiffness_n_per_rad];
            Tyre::Brush(build_brush(stiffness, *patch_length_m, friction, even_load))
        }
        TyreSpec::TMeasy {
            nominal_load_n,
            longitudinal,
            lateral,
            longitudinal_at_double_load,
            lateral_at_double_load,
            relaxation,
        } => Tyre::TMeasy(TMeasy {
            nominal_load: *nominal_load_n as f32,
            nominal: [direction_curve(longitudinal), direction_curve(lateral)],
            double: [direction_curve(longitudinal_at_double_load), direction_curve(lateral_at_double_load)],
            relaxation: relaxation_lengths(relaxation),
        }),
        TyreSpec::MagicFormula { pressure_bar, .. } => {
            let formula = formulas.get(name).ok_or(ModelError::RuleViolated("the file of a tyre was not read"))?;
            let pressure = pressure_bar.map_or(0.0, |bar| (bar * PASCALS_PER_BAR) as f32);
            Tyre::MagicFormula { formula: Box::new(formula.clone()), pressure }
        }
    })
}

/// Returns the relaxation lengths, m.
fn relaxation_lengths(relaxation: &Relaxation) -> [f32; 2] {
    to_f32_pair(relaxation.relaxation_length_longitudinal_m, relaxation.relaxation_length_lateral_m)
}

/// Returns the nominal load, N, or `even_load` if none is stated.
fn nominal_load(friction: &Friction, even_load: f64) -> f32 {
    friction.nominal_load_n.unwrap_or(even_load) as f32
}

/// Builds a tyre with the force law `curve_law` over slip, and with friction coefficients, load sensitivity, nominal
/// load (N; `even_load` if absent) and relaxation lengths (m). All pairs are `[longitudinal, lateral]`.
fn build_curve_tyre(curve_law: CurveLaw, relaxation: [f32; 2], friction: &Friction, even_load: f64) -> Tyre {
    Tyre::Curve(CurveTyre {
        law: curve_law,
        friction: to_f32_pair(friction.longitudinal_friction, friction.lateral_friction),
        load_sensitivity: friction.load_sensitivity as f32,
        nominal_load: nominal_load(friction, even_load),
        relaxation,
    })
}

/// Builds a brush tyre with the longitudinal and the lateral stiffness `stiffness`, N and N/rad, and a contact patch of
/// `patch_length` m. The bristle stiffness per length is `stiffness / (2 a²)` with half the patch length `a`.
/// `even_load` replaces an absent nominal load (N). Friction and load sensitivity are copied.
fn build_brush(stiffness: [f64; 2], patch_length: f64, friction: &Friction, even_load: f64) -> Brush {
    let half_length = 0.5 * patch_length;
    // Inverse of `2 a²`: a parabolic brush has the stiffness `2 c a²`.
    let stiffness_factor = 1.0 / (2.0 * half_length * half_length);
    Brush {
        bristle_stiffness: to_f32_pair(stiffness[0] * stiffness_factor, stiffness[1] * stiffness_factor),
        half_length: half_length as f32,
        friction: to_f32_pair(friction.longitudinal_friction, friction.lateral_friction),
        load_sensitivity: friction.load_sensitivity as f32,
        nominal_load: nominal_load(friction, even_load),
    }
}

/// Builds the characteristic points of one direction at one load: initial slope (N), largest force (N) and its slip,
/// sliding force (N) and its slip.
fn direction_curve(points: &NamedPoints) -> DirectionCurve {
    DirectionCurve {
        slope: points.slope_n as f32,
        largest: points.peak_n as f32,
        largest_slip: points.peak_slip as f32,
        sliding: points.sliding_n as f32,
        sliding_slip: points.sliding_slip as f32,
    }
}
