//! Files that describe a fit: a vehicle, the parameters to estimate, and the data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::measured_log::columns::{ValueSource, one};

/// Description of a fit. Paths of files are relative to the folder of the description.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FitDescription {
    /// Name of a shipped vehicle, or path of a vehicle file.
    pub vehicle: String,
    /// Name of the solver that simulates the car.
    #[serde(default = "default_solver")]
    pub solver: String,
    /// Step rate, Hz.
    #[serde(default = "default_rate_hz")]
    pub rate_hz: f64,
    /// Parameters to estimate.
    #[schemars(length(min = 1))]
    pub parameters: Vec<ParameterDescription>,
    /// Measured logs.
    #[serde(default)]
    pub logs: Vec<LogDescription>,
    /// Published figures.
    #[serde(default)]
    pub figures: Vec<FigureDescription>,
}

/// Field of the vehicle file that is estimated.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParameterDescription {
    /// Path of a number, such as `axles[0].track_m`, or its last key if no other field has that.
    pub path: String,
    /// Smallest accepted value.
    pub min: f64,
    /// Largest accepted value.
    pub max: f64,
    /// First value of the search. Default: the value of the vehicle file.
    pub start: Option<f64>,
}

/// Log of a measured drive, in a CSV file with a header. The car starts straight ahead on level ground.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogDescription {
    /// Path of the CSV file.
    pub file: PathBuf,
    /// Inputs of the driver: names of columns of a table of controls, with `t_s`, and where their values come from.
    pub inputs: BTreeMap<String, ValueSource>,
    /// Measured quantities: names of telemetry channels, and the columns that measure them.
    #[schemars(extend("minProperties" = 1))]
    pub measured: BTreeMap<String, MeasuredDescription>,
    /// Forward speed at the start, m/s.
    #[schemars(range(min = 0))]
    pub initial_speed_mps: f64,
    /// Time in the log from which the car is compared, s. Default: its start.
    pub compare_from_s: Option<f64>,
}

/// Column that measures a telemetry channel.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredDescription {
    /// Name of the column.
    pub column: String,
    /// Factor on the values of the column, such as 9.80665 for accelerations in g.
    #[serde(default = "one")]
    pub factor: f64,
    /// Number that is added after the factor.
    #[serde(default)]
    pub offset: f64,
    /// Standard deviation of the measurement, in the unit of the channel. Default: 2 % of the largest magnitude.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub deviation: Option<f64>,
}

/// Published figure of a standard manoeuvre.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FigureDescription {
    /// Name of the manoeuvre.
    pub manoeuvre: String,
    /// Name of the metric, with its unit.
    pub metric: String,
    /// Published value, in the unit of the metric.
    pub value: f64,
    /// Standard deviation of the published value, in the unit of the metric.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub deviation: f64,
}

/// Returns the solver of a description without one.
fn default_solver() -> String {
    "impulse".into()
}

/// Returns the step rate of a description without one, Hz.
fn default_rate_hz() -> f64 {
    240.0
}

/// Returns the JSON schema of descriptions, for editors and other tools.
pub fn schema() -> serde_json::Value {
    skidpad_spec::schema_of::<FitDescription>()
}
