//! Tyres: force over slip, and friction limits.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tyre. Longitudinal is the rolling direction, lateral the axis of the wheel. The longitudinal slip is the slip
/// ratio. The lateral slip is the tangent of the slip angle, which is nearly the angle in rad.
// The schema rejects unknown keys. serde cannot deny them next to `flatten`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub enum Tyre {
    /// Dry friction: the contact patch holds by its deflection alone, without creep while rolling.
    Coulomb {
        /// Deflection of the contact patch at which it slides under the nominal load, m.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-5, "maximum" = 1)))]
        deflection_m: f64,
        /// Friction limit.
        #[serde(flatten)]
        friction: Friction,
    },
    /// Force linear in slip up to the friction limit, constant beyond.
    Linear {
        /// Longitudinal slip stiffness: force of one tyre per unit of slip ratio, N.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        slip_stiffness_n: f64,
        /// Cornering stiffness: lateral force of one tyre per slip angle, N/rad.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        cornering_stiffness_n_per_rad: f64,
        /// Relaxation lengths.
        #[serde(flatten)]
        relaxation: Relaxation,
        /// Friction limit.
        #[serde(flatten)]
        friction: Friction,
    },
    /// Force linear in slip up to the friction limit, constant beyond, with a stiffness proportional to load.
    LinearPerLoad {
        /// Longitudinal slip stiffness over load: force per load and unit of slip ratio.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        slip_stiffness_per_load: f64,
        /// Cornering stiffness over load: lateral force per load and slip angle, 1/rad.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        cornering_stiffness_per_rad: f64,
        /// Relaxation lengths.
        #[serde(flatten)]
        relaxation: Relaxation,
        /// Friction limit.
        #[serde(flatten)]
        friction: Friction,
    },
    /// Force that rises to an extremum (the friction limit), falls to an asymptote, and is constant beyond.
    SlipCurve {
        /// Longitudinal force over slip ratio.
        longitudinal: SlipCurve,
        /// Lateral force over lateral slip.
        lateral: SlipCurve,
        /// Relaxation lengths.
        #[serde(flatten)]
        relaxation: Relaxation,
        /// Friction limit.
        #[serde(flatten)]
        friction: Friction,
    },
    /// Brush model: bristles bend, then slide, under a parabolic pressure distribution. It needs `nominal_load_n`. It
    /// has an aligning moment, and half the patch length as relaxation length.
    Brush {
        /// Longitudinal slip stiffness: force per unit of slip ratio at zero slip and the nominal load, N.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7)))]
        slip_stiffness_n: f64,
        /// Cornering stiffness: lateral force per slip angle at zero slip and the nominal load, N/rad.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7)))]
        cornering_stiffness_n_per_rad: f64,
        /// Length of the contact patch at the nominal load, m. It is proportional to the square root of the load.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.01, max = 2)))]
        patch_length_m: f64,
        /// Friction limit.
        #[serde(flatten)]
        friction: Friction,
    },
    /// TMeasy: force curves through named points, at the nominal load and at twice the nominal load.
    #[serde(rename = "tmeasy")]
    TMeasy {
        /// Nominal load, N.
        #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1e6)))]
        nominal_load_n: f64,
        /// Longitudinal force over slip at the nominal load.
        longitudinal: NamedPoints,
        /// Lateral force over slip at the nominal load.
        lateral: NamedPoints,
        /// Longitudinal force over slip at twice the nominal load.
        longitudinal_at_double_load: NamedPoints,
        /// Lateral force over slip at twice the nominal load.
        lateral_at_double_load: NamedPoints,
        /// Relaxation lengths.
        #[serde(flatten)]
        relaxation: Relaxation,
    },
    /// Magic Formula 5.2 (PAC2002), 6.1 or 6.2, from a `.tir` file or from coefficients.
    MagicFormula {
        /// Path of the `.tir` file, relative to this file. Give this or `coefficients`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        file: Option<String>,
        /// Coefficients by their names in `.tir` files, SI units. Missing coefficients have their defaults. Give this
        /// or `file`.
        #[serde(skip_serializing_if = "Option::is_none")]
        coefficients: Option<BTreeMap<String, f64>>,
        /// Version of the equations for `coefficients`. A file states its own version.
        #[serde(default)]
        version: Version,
        /// Mounting of the tyre on the two sides of the car.
        #[serde(default)]
        sides: Sides,
        /// Inflation pressure, bar. Absent: that of the file.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
        pressure_bar: Option<f64>,
    },
}

impl Tyre {
    /// Returns the key of the nominal load in the table of the tyre, and the load (N). `None` if the tyre states no
    /// nominal load, or if it has no effect: the tyre is a curve without load sensitivity. Also `None` for a
    /// Magic Formula, whose coefficients state it.
    pub(crate) fn nominal_load(&self) -> Option<(&'static str, f64)> {
        const KEY: &str = "nominal_load_n";
        match self {
            Tyre::Coulomb { friction, .. }
            | Tyre::Linear { friction, .. }
            | Tyre::LinearPerLoad { friction, .. }
            | Tyre::SlipCurve { friction, .. } => {
                friction.nominal_load_n.filter(|_| friction.load_sensitivity != 0.0).map(|load| (KEY, load))
            }
            Tyre::Brush { friction, .. } => friction.nominal_load_n.map(|load| (KEY, load)),
            Tyre::TMeasy { nominal_load_n, .. } => Some((KEY, *nominal_load_n)),
            Tyre::MagicFormula { .. } => None,
        }
    }

    /// Returns the slips at the peaks of the force curves, each with its key in the table of the tyre, which begins
    /// with its direction, `longitudinal` or `lateral`. Only slip curve and TMeasy tyres (at both loads) state such
    /// slips.
    pub(crate) fn peak_slips(&self) -> Vec<(&'static str, f64)> {
        match self {
            Tyre::SlipCurve { longitudinal, lateral, .. } => vec![
                ("longitudinal.extremum_slip", longitudinal.extremum_slip),
                ("lateral.extremum_slip", lateral.extremum_slip),
            ],
            Tyre::TMeasy { longitudinal, lateral, longitudinal_at_double_load, lateral_at_double_load, .. } => vec![
                ("longitudinal.peak_slip", longitudinal.peak_slip),
                ("lateral.peak_slip", lateral.peak_slip),
                ("longitudinal_at_double_load.peak_slip", longitudinal_at_double_load.peak_slip),
                ("lateral_at_double_load.peak_slip", lateral_at_double_load.peak_slip),
            ],
            Tyre::Coulomb { .. }
            | Tyre::Linear { .. }
            | Tyre::LinearPerLoad { .. }
            | Tyre::Brush { .. }
            | Tyre::MagicFormula { .. } => Vec::new(),
        }
    }
}

/// Friction limit of a tyre.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Friction {
    /// Longitudinal peak friction coefficient at the nominal load.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 20)))]
    pub longitudinal_friction: f64,
    /// Lateral peak friction coefficient at the nominal load.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 20)))]
    pub lateral_friction: f64,
    /// Relative loss of friction per relative excess of the load over `nominal_load_n`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0), extend("exclusiveMaximum" = 1)))]
    pub load_sensitivity: f64,
    /// Load at which the friction coefficients and the relaxation lengths apply, N. It is required with a load
    /// sensitivity. Absent: relaxation lengths apply at an even share of the car's weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub nominal_load_n: Option<f64>,
}

/// Relaxation lengths: rolled distances in which forces build up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Relaxation {
    /// Relaxation length of the longitudinal force at the nominal load, m. At other loads it is proportional to the
    /// slip stiffness.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-5, "maximum" = 10)))]
    pub relaxation_length_longitudinal_m: f64,
    /// Relaxation length of the lateral force at the nominal load, m. At other loads it is proportional to the
    /// cornering stiffness.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-5, "maximum" = 10)))]
    pub relaxation_length_lateral_m: f64,
}

/// Force curve of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SlipCurve {
    /// Slip at which the force peaks: slip ratio, or tangent of the slip angle (nearly the angle in rad).
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub extremum_slip: f64,
    /// Slip from which the force is constant, above `extremum_slip`.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub asymptote_slip: f64,
    /// Force at and beyond `asymptote_slip`, as a share of the peak.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1)))]
    pub sliding_force_ratio: f64,
}

/// Force curve of a TMeasy tyre in one direction at one load. Slips are relative to the rim speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedPoints {
    /// Force per slip at zero slip, N; at least twice the largest force over its slip.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9)))]
    pub slope_n: f64,
    /// Largest force, N.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1e7)))]
    pub peak_n: f64,
    /// Slip at the largest force.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
    pub peak_slip: f64,
    /// Force at full sliding, N; at most the largest force.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sliding_n: f64,
    /// Slip at which full sliding begins, above the slip of the largest force.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
    pub sliding_slip: f64,
}

/// Version of the equations of the Magic Formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Version {
    /// MF 5.2, PAC2002.
    #[serde(rename = "5.2")]
    Mf52,
    /// MF 6.1.
    #[default]
    #[serde(rename = "6.1")]
    Mf61,
    /// MF 6.2.
    #[serde(rename = "6.2")]
    Mf62,
}

/// Mounting of a measured tyre, which differs slightly between left and right, on the two sides of a car.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sides {
    /// Tyre as measured on the side that the file states (left if it states none), mirrored on the other side. The
    /// pulls to the side cancel.
    #[default]
    Mirrored,
    /// Tyre on all wheels that has no difference between left and right and no force at zero slip.
    Symmetric,
    /// Tyre as measured on all wheels, whichever side the file states.
    AsMeasured,
}
