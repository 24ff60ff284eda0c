//! Schemas derived from types, and a test of the generated schema files of the reader.

use super::Schema;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::Value;

/// Returns the JSON schema (draft 2020-12) of vehicle files, for editors and other tools.
pub fn schema() -> Value {
    schema_of::<crate::VehicleSpec>()
}

/// Returns the JSON schema (draft 2020-12) of scene files, for editors and other tools.
pub fn scene_schema() -> Value {
    schema_of::<crate::SceneSpec>()
}

/// Returns the JSON schema (draft 2020-12) of values that deserialise to `T`.
pub fn schema_of<T: JsonSchema>() -> Value {
    derive_schema::<T>().to_value()
}

/// Derives the schema of `T` (draft 2020-12) without null.
fn derive_schema<T: JsonSchema>() -> schemars::Schema {
    let settings = SchemaSettings::draft2020_12().with_transform(RemoveNull);
    settings.into_generator().into_root_schema_for::<T>()
}

impl Schema {
    /// Returns the schema of `T`, with the keywords that the reader evaluates.
    ///
    /// # Panics
    /// Panics if a keyword has a form that the reader does not support, such as a list of types.
    pub fn for_type<T: JsonSchema>() -> Self {
        let mut schema = derive_schema::<T>();
        RemoveBooleanProperties.transform(&mut schema);
        serde_json::from_value(schema.to_value()).expect("a schema of tables, lists, numbers, texts and flags")
    }
}

/// Transform that removes null from types, alternatives and defaults. TOML has no null: an optional key is absent
/// instead.
#[derive(Clone, Debug)]
struct RemoveNull;

impl Transform for RemoveNull {
    /// Changes `schema` and all schemas in it. Steps: remove `null` from a list of types, and replace a list of one
    /// type by that type; replace two alternatives, of which the second is null, by the keywords of the first; remove a
    /// default of null.
    fn transform(&mut self, schema: &mut schemars::Schema) {
        // `"type": ["number", "null"]`
        if let Some(Value::Array(type_names)) = schema.get_mut("type") {
            type_names.retain(|name| name != "null");
            if let [remaining] = &type_names[..] {
                let type_name = remaining.clone();
                schema.insert("type".into(), type_name);
            }
        }
        // `"anyOf": [{…}, {"type": "null"}]`
        if let Some(Value::Array(alternatives)) = schema.get("anyOf")
            && let [alternative, null_schema] = &alternatives[..]
            && null_schema.get("type").is_some_and(|name| name == "null")
            && let Some(alternative) = alternative.as_object().cloned()
        {
            schema.remove("anyOf");
            for (key, value) in alternative {
                schema.insert(key, value);
            }
        }
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
        transform_subschemas(self, schema);
    }
}

/// Transform that removes `additionalProperties` with a boolean value. The reader rejects every key without a schema
/// in any case.
#[derive(Clone, Debug)]
struct RemoveBooleanProperties;

impl Transform for RemoveBooleanProperties {
    /// Changes `schema` and all schemas in it.
    fn transform(&mut self, schema: &mut schemars::Schema) {
        if schema.get("additionalProperties").is_some_and(Value::is_boolean) {
            schema.remove("additionalProperties");
        }
        transform_subschemas(self, schema);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First line of each generated file.
    const GENERATED_HEADER: &str =
        "# Generated from the types in `src/spec`: SKIDPAD_UPDATE_SCHEMAS=1 cargo test -p skidpad-spec schema\n";

    /// Asserts that the file `name` is the schema of `T` after the header. If the environment has
    /// `SKIDPAD_UPDATE_SCHEMAS`, writes the file instead.
    fn check<T: JsonSchema>(name: &str) {
        let path = format!("{}/src/schema/{name}", env!("CARGO_MANIFEST_DIR"));
        let derived = format!("{GENERATED_HEADER}\n{}", toml::to_string(&Schema::for_type::<T>()).expect("TOML"));
        if std::env::var_os("SKIDPAD_UPDATE_SCHEMAS").is_some() {
            std::fs::write(path, derived).expect("writable");
            return;
        }
        let generated = std::fs::read_to_string(path).expect("readable");
        assert_eq!(generated, derived, "src/schema/{name} is stale: its first line says how to generate it");
    }

    #[test]
    fn the_generated_files_are_those_of_the_types() {
        check::<crate::VehicleSpec>("vehicle.toml");
        check::<crate::SceneSpec>("scene.toml");
    }
}
