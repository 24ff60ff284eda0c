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
    #[serde(rename = "$ref")]
    reference: Option<String>,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "const")]
    only: Option<String>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    exclusive_minimum: Option<f64>,
    exclusive_maximum: Option<f64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) min_items: Option<u64>,
    pub(crate) max_items: Option<u64>,
    pub(crate) min_properties: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    required: Vec<String>,
    items: Option<Box<Schema>>,
    additional_properties: Option<Box<Schema>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<String, Schema>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    one_of: Vec<Schema>,
    #[serde(rename = "$defs", default, skip_serializing_if = "BTreeMap::is_empty")]
    definitions: BTreeMap<String, Schema>,
}

/// Schema of vehicle files.
pub(crate) static VEHICLE_SCHEMA: LazyLock<Schema> = LazyLock::new(|| parse_schema(include_str!("vehicle.toml")));

/// Schema of scene files.
pub(crate) static SCENE_SCHEMA: LazyLock<Schema> = LazyLock::new(|| parse_schema(include_str!("scene.toml")));

fn parse_schema(text: &str) -> Schema {
    let read = text.parse().map(|table| Schema::deserialize(TreeDeserializer(toml::Value::Table(table))));
    read.flatten().expect("generated, and compared with the types by a test")
}
