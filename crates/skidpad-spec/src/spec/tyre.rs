//! Tyres: how force grows with slip, and where it ends.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A tyre. "Along" is the rolling direction, "across" the direction of the wheel's axle. The slip along is the slip
/// ratio, across the slip angle in rad.
// Unknown keys are the schema's matter here: serde cannot deny them next to `flatten`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "model", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub enum Tyre {
    /// Dry friction: holds by the deflection of the contact patch alone, no creep while rolling.
    Coulomb {
        /// Deflection of the patch at which it slides, m.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-5, "maximum" = 1)))]
        deflection_m: f64,
        /// Where the force ends.
        #[serde(flatten)]
        friction: Friction,
    },
    /// Linear in slip up to the friction limit, then flat.
    Linear {
        /// Force of one tyre per unit of slip ratio, N.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        slip_stiffness_n: f64,
        /// Force of one tyre per slip angle, N/rad.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        cornering_stiffness_n_per_rad: f64,
        /// How slowly the force builds up.
        #[serde(flatten)]
        relaxation: Relaxation,
        /// Where the force ends.
        #[serde(flatten)]
        friction: Friction,
    },
    /// Linear in slip up to the friction limit, with a stiffness proportional to load.
    LinearPerLoad {
        /// Force per load and unit of slip ratio.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        slip_stiffness_per_load: f64,
        /// Force per load and slip angle, 1/rad.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        cornering_stiffness_per_rad: f64,
        /// How slowly the force builds up.
        #[serde(flatten)]
        relaxation: Relaxation,
        /// Where the force ends.
        #[serde(flatten)]
        friction: Friction,
    },
    /// Rises to an extremum (the friction limit), falls to an asymptote, flat beyond.
    SlipCurve {
        /// Curve over slip ratio.
        along: SlipCurve,
        /// Curve over slip angle.
        across: SlipCurve,
        /// How slowly the force builds up.
        #[serde(flatten)]
        relaxation: Relaxation,
        /// Where the force ends.
        #[serde(flatten)]
        friction: Friction,
    },
    /// Bristles that bend, then slide, under a parabolic pressure. Needs `nominal_load_n`; has an aligning moment, and half
    /// its patch as relaxation length.
    Brush {
        /// Force per unit of slip ratio at no slip and the nominal load, N.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7)))]
        slip_stiffness_n: f64,
        /// Force per slip angle at no slip and the nominal load, N/rad.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7)))]
        cornering_stiffness_n_per_rad: f64,
        /// Length of the contact patch at the nominal load, m; it grows with the root of the load.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.01, max = 2)))]
        patch_length_m: f64,
        /// Where the force ends.
        #[serde(flatten)]
        friction: Friction,
    },
    /// TMeasy: a curve through named points, at the nominal load and at twice of it.
    #[serde(rename = "tmeasy")]
    TMeasy {
        /// Load of the first curves, N.
        #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1e6)))]
        nominal_load_n: f64,
        /// Curve over slip ratio at the nominal load.
        along: NamedPoints,
        /// Curve over slip angle at the nominal load.
        across: NamedPoints,
        /// Curve over slip ratio at twice the nominal load.
        along_at_double_load: NamedPoints,
        /// Curve over slip angle at twice the nominal load.
        across_at_double_load: NamedPoints,
        /// How slowly the force builds up.
        #[serde(flatten)]
        relaxation: Relaxation,
    },
    /// Magic Formula 5.2 (PAC2002), 6.1 or 6.2, from a `.tir` file or from coefficients.
    MagicFormula {
        /// Path of the `.tir` file, relative to this file. Give this or `coefficients`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        file: Option<String>,
        /// Coefficients by their names in `.tir` files, SI units; those left out have their defaults. Give this or `file`.
        #[serde(skip_serializing_if = "Option::is_none")]
        coefficients: Option<BTreeMap<String, f64>>,
        /// Equations of `coefficients`; a file states its own.
        #[serde(default)]
        version: Version,
        /// Which way round it is mounted on the other side of the car.
        #[serde(default)]
        sides: Sides,
        /// Inflation pressure, bar. Absent: the one of the file.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
        pressure_bar: Option<f64>,
    },
}

/// Where the force of a tyre ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Friction {
    /// Peak friction coefficient along, at the nominal load.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 20)))]
    pub friction_along: f64,
    /// Peak friction coefficient across, at the nominal load.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 20)))]
    pub friction_across: f64,
    /// Relative loss of friction per relative excess of load over `nominal_load_n`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0), extend("exclusiveMaximum" = 1)))]
    pub load_sensitivity: f64,
    /// Load at which the friction coefficients hold, N; needed with a load sensitivity. Relaxation lengths are said to it, too; without
    /// it, to an even share of the car's weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub nominal_load_n: Option<f64>,
}

/// Rolled distances in which forces build up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Relaxation {
    /// Rolled distance in which force along builds up, m, under the nominal load; in proportion to the slip stiffness under others.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-5, "maximum" = 10)))]
    pub relaxation_along_m: f64,
    /// Rolled distance in which force across builds up, m; as the one along.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1e-5, "maximum" = 10)))]
    pub relaxation_across_m: f64,
}

/// One direction of a slip curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SlipCurve {
    /// Slip at which the force peaks, as a ratio or in rad.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub extremum_slip: f64,
    /// Slip from which the force is constant, above the extremum's.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub asymptote_slip: f64,
    /// Force from there on, as a share of the peak.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1)))]
    pub asymptote_share: f64,
}

/// One direction of a TMeasy tyre at one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedPoints {
    /// Force per slip at no slip, N; at least twice the largest force over its slip.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9)))]
    pub slope_n: f64,
    /// Largest force, N.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1e7)))]
    pub largest_n: f64,
    /// Its slip.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 10)))]
    pub largest_slip: f64,
    /// Force of full sliding, N, not above the largest.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sliding_n: f64,
    /// Slip from which it slides, above that of the largest force.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
    pub sliding_slip: f64,
}

/// Equations of the Magic Formula.
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

/// How a measured tyre, which is not quite the same left and right, stands on the two sides of a car.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sides {
    /// As measured on the side the file states (left if it does not), mirrored on the other: the pulls cancel.
    #[default]
    Mirrored,
    /// Without its differences of left and right and its force at no slip.
    Symmetric,
    /// As measured on every wheel.
    AsMeasured,
}
