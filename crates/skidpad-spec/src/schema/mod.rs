//! JSON schemas of vehicle and scene files, with the keywords that the reader evaluates. They are read from files
//! that are generated from the types in [`crate::spec`].

#[cfg(feature = "schema")]
mod derived;
mod resolved_schema;

#[cfg(feature = "schema")]
pub use derived::{scene_schema, schema, schema_of};
pub(crate) use resolved_schema::{ResolvedSchema, describe_accepted};

use crate::file_format::TreeDeserializer;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// JSON schema (draft 2020-12) of a value in a file, with the keywords that the reader evaluates.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(serde::Serialize))]
#[serde(rename_all = "camelCase")]
pub struct Schema {
    /// Path of the definition that replaces this schema, such as `#/$defs/Axle`.
    #[serde(rename = "$ref")]
    reference: Option<String>,
    /// Meaning of the value.
    description: Option<String>,
    /// Type: `object`, `array`, `number`, `integer`, `string` or `boolean`.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Only accepted text, as in the tag of a variant.
    #[serde(rename = "const")]
    constant: Option<String>,
    /// Smallest accepted number.
    minimum: Option<f64>,
    /// Largest accepted number.
    maximum: Option<f64>,
    /// Number that must be exceeded.
    exclusive_minimum: Option<f64>,
    /// Number that must not be reached.
    exclusive_maximum: Option<f64>,
    /// Smallest number of characters of a text.
    pub(crate) min_length: Option<u64>,
    /// Smallest number of entries of a list.
    pub(crate) min_items: Option<u64>,
    /// Largest number of entries of a list.
    pub(crate) max_items: Option<u64>,
    /// Smallest number of entries of a table.
    pub(crate) min_properties: Option<u64>,
    /// Keys that a table must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    required: Vec<String>,
    /// Schema of the entries of a list.
    items: Option<Box<Schema>>,
    /// Schema of the entries of a table with free keys.
    additional_properties: Option<Box<Schema>>,
    /// Schema of each known key of a table.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<String, Schema>,
    /// Variants, of which a value has exactly one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    one_of: Vec<Schema>,
    /// Definitions to which `reference` refers.
    #[serde(rename = "$defs", default, skip_serializing_if = "BTreeMap::is_empty")]
    definitions: BTreeMap<String, Schema>,
}

/// Schema of vehicle files.
pub(crate) static VEHICLE_SCHEMA: LazyLock<Schema> = LazyLock::new(|| parse_schema(include_str!("vehicle.toml")));

/// Schema of scene files.
pub(crate) static SCENE_SCHEMA: LazyLock<Schema> = LazyLock::new(|| parse_schema(include_str!("scene.toml")));

/// Parses a schema from the TOML text of a generated file. Panics if it is not valid, which a test excludes.
fn parse_schema(text: &str) -> Schema {
    let parsed_schema = text.parse().map(|table| Schema::deserialize(TreeDeserializer(toml::Value::Table(table))));
    parsed_schema.flatten().expect("generated, and compared with the types by a test")
}
