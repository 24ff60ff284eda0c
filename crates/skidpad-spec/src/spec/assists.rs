//! Helpers and tricks: off unless a vehicle file has their table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Assists of the car, each off unless its table is there. What each adds in a step is told in columns of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assists {
    /// A trick: every rotation of the body dies away by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angular_drag: Option<AngularDrag>,
}

/// A moment against every rotation of the body, which no real force makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AngularDrag {
    /// Share of the rotation lost in a second, as an exponential rate, 1/s.
    #[schemars(range(min = 0, max = 1000))]
    pub rate_per_s: f64,
}
