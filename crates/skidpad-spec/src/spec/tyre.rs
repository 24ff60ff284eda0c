//! Tyres: friction, and how force grows with slip.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tyre. "Along" is the rolling direction, "across" the direction of the wheel's axle.
// Unknown keys are the schema's matter here: serde cannot deny them next to `flatten`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Tyre {
    /// How force grows with slip.
    #[serde(flatten)]
    pub law: TyreLaw,
    /// Peak friction coefficient along, at the nominal load.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 20))]
    pub friction_along: f64,
    /// Peak friction coefficient across, at the nominal load.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 20))]
    pub friction_across: f64,
    /// Relative loss of friction per relative excess of load over `nominal_load_n`.
    #[serde(default)]
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub load_sensitivity: f64,
    /// Load at which the friction coefficients hold, N; needed with a load sensitivity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub nominal_load_n: Option<f64>,
}

/// How the force of a tyre grows with slip. The slip along is the slip ratio, across the slip angle in rad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum TyreLaw {
    /// Dry friction: holds by the deflection of the contact patch alone, no creep while rolling.
    Coulomb {
        /// Deflection of the patch at which it slides, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
        deflection_m: f64,
    },
    /// Linear in slip up to the friction limit, then flat.
    Linear {
        /// Force of one tyre per unit of slip ratio, N.
        #[schemars(extend("exclusiveMinimum" = 0))]
        slip_stiffness_n: f64,
        /// Force of one tyre per slip angle, N/rad.
        #[schemars(extend("exclusiveMinimum" = 0))]
        cornering_stiffness_n_per_rad: f64,
        /// Rolled distance in which force along builds up, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 10))]
        relaxation_along_m: f64,
        /// Rolled distance in which force across builds up, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 10))]
        relaxation_across_m: f64,
    },
    /// Linear in slip up to the friction limit, with a stiffness proportional to load.
    LinearPerLoad {
        /// Force per load and unit of slip ratio.
        #[schemars(extend("exclusiveMinimum" = 0))]
        slip_stiffness_per_load: f64,
        /// Force per load and slip angle, 1/rad.
        #[schemars(extend("exclusiveMinimum" = 0))]
        cornering_stiffness_per_rad: f64,
        /// Rolled distance in which force along builds up, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 10))]
        relaxation_along_m: f64,
        /// Rolled distance in which force across builds up, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 10))]
        relaxation_across_m: f64,
    },
    /// Rises to an extremum (the friction limit), falls to an asymptote, flat beyond.
    SlipCurve {
        /// Curve over slip ratio.
        along: SlipCurve,
        /// Curve over slip angle.
        across: SlipCurve,
        /// Rolled distance in which force along builds up, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 10))]
        relaxation_along_m: f64,
        /// Rolled distance in which force across builds up, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 10))]
        relaxation_across_m: f64,
    },
}

/// One direction of a slip curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlipCurve {
    /// Slip at which the force peaks, as a ratio or in rad.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub extremum_slip: f64,
    /// Slip from which the force is constant, above the extremum's.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub asymptote_slip: f64,
    /// Force from there on, as a share of the peak.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub asymptote_share: f64,
}
