//! The JSON schemas of vehicle and scene files, derived from the types in [`crate::spec`], and what the reader asks of it.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// JSON schema (draft 2020-12) of a vehicle file, for editors and other tools.
pub fn schema() -> Value {
    schema_of::<crate::VehicleSpec>()
}

/// JSON schema (draft 2020-12) of a scene file, for editors and other tools.
pub fn scene_schema() -> Value {
    schema_of::<crate::SceneSpec>()
}

/// JSON schema (draft 2020-12) of what deserialises to `T`.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(WithoutNull);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// TOML has no null: an optional key is absent instead.
#[derive(Clone, Debug)]
struct WithoutNull;

impl Transform for WithoutNull {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|t| t != "null");
            if let [only] = &types[..] {
                let only = only.clone();
                schema.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(choices)) = schema.get("anyOf")
            && let [choice, null] = &choices[..]
            && null.get("type").is_some_and(|t| t == "null")
            && let Some(choice) = choice.as_object().cloned()
        {
            schema.remove("anyOf");
            for (key, value) in choice {
                schema.insert(key, value);
            }
        }
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
        transform_subschemas(self, schema);
    }
}

/// A place in the schema, references followed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'a> {
    root: &'a Value,
    /// As written where it is used; carries the description of the use.
    outer: &'a Value,
    /// With the reference followed.
    inner: &'a Value,
    /// The table of which `inner` is a variant.
    base: Option<&'a Value>,
}

impl<'a> Shape<'a> {
    pub fn root(root: &'a Value) -> Self {
        Self { root, outer: root, inner: root, base: None }
    }

    fn at(self, schema: &'a Value) -> Self {
        let target = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
        let inner = target.and_then(|path| self.root.pointer(path)).unwrap_or(schema);
        Self { root: self.root, outer: schema, inner, base: None }
    }

    /// `object`, `array`, `number`, `integer`, `string` or `boolean`.
    pub fn kind(self) -> &'a str {
        let own = self.inner["type"].as_str();
        own.or_else(|| self.inner["oneOf"][0]["type"].as_str()).unwrap_or("")
    }

    /// First paragraph, on one line.
    pub fn description(self) -> Option<String> {
        let text = self.outer["description"].as_str().or_else(|| self.inner["description"].as_str())?;
        Some(text.split("\n\n").next().unwrap_or(text).replace('\n', " "))
    }

    pub fn count(self, name: &str) -> Option<u64> {
        self.inner[name].as_u64()
    }

    fn limit(self, name: &str) -> Option<f64> {
        self.inner[name].as_f64()
    }

    pub fn allows(self, number: f64) -> bool {
        self.limit("minimum").is_none_or(|limit| number >= limit)
            && self.limit("maximum").is_none_or(|limit| number <= limit)
            && self.limit("exclusiveMinimum").is_none_or(|limit| number > limit)
            && self.limit("exclusiveMaximum").is_none_or(|limit| number < limit)
    }

    /// Texts that are accepted; empty if any is.
    pub fn choices(self) -> Vec<&'a str> {
        let own = self.inner["const"].as_str();
        let others = self.inner["oneOf"].as_array().into_iter().flatten();
        own.into_iter().chain(others.filter_map(|choice| choice["const"].as_str())).collect()
    }

    pub fn items(self) -> Self {
        self.at(&self.inner["items"])
    }

    /// The key that says which variant a table is.
    pub fn tag(self) -> Option<&'a str> {
        let properties = self.inner["oneOf"][0]["properties"].as_object()?;
        let mut keys = properties.iter().filter(|(_, schema)| schema.get("const").is_some());
        keys.next().map(|(key, _)| key.as_str())
    }

    fn variants(self) -> impl DoubleEndedIterator<Item = &'a Value> {
        self.inner["oneOf"].as_array().into_iter().flatten()
    }

    pub fn variant_names(self, tag: &str) -> Vec<&'a str> {
        self.variants().filter_map(|v| v["properties"][tag]["const"].as_str()).collect()
    }

    pub fn variant(self, tag: &str, name: &str) -> Option<Self> {
        let inner = self.variants().find(|v| v["properties"][tag]["const"] == name)?;
        Some(Self { inner, base: Some(self.inner), ..self })
    }

    /// The variant that reads most of `keys` beyond its tag, if it reads any.
    pub fn variant_with(self, keys: &[&str]) -> Option<Self> {
        let tag = self.tag()?;
        let reads = |v: &Value| keys.iter().filter(|key| **key != tag && v["properties"].get(**key).is_some()).count();
        let inner = self.variants().rev().filter(|v| reads(v) > 0).max_by_key(|v| reads(v))?;
        Some(Self { inner, base: Some(self.inner), ..self })
    }

    fn parts(self) -> impl Iterator<Item = &'a Value> {
        std::iter::once(self.inner).chain(self.base)
    }

    /// Schema of a key of this table.
    pub fn property(self, key: &str) -> Option<Self> {
        let named = self.parts().find_map(|part| part["properties"].get(key));
        let other = || self.inner.get("additionalProperties").filter(|schema| schema.is_object());
        named.or_else(other).map(|schema| self.at(schema))
    }

    /// Whether the keys of this table are free.
    pub fn is_map(self) -> bool {
        self.inner["additionalProperties"].is_object()
    }

    /// What `key` must say if it is the tag of this variant.
    pub fn tag_value(self, key: &str) -> Option<&'a str> {
        self.inner["properties"][key]["const"].as_str()
    }

    pub fn keys(self) -> Vec<&'a str> {
        let properties = self.parts().filter_map(|part| part["properties"].as_object());
        properties.flat_map(|map| map.keys().map(String::as_str)).collect()
    }

    pub fn required(self) -> Vec<&'a str> {
        let lists = self.parts().filter_map(|part| part["required"].as_array());
        lists.flatten().filter_map(Value::as_str).collect()
    }

    pub fn requires(self, key: &str) -> bool {
        self.required().contains(&key)
    }

    /// Something of this shape, to stand where nothing valid does.
    pub fn placeholder(self) -> Value {
        match self.kind() {
            "number" => self.limit("minimum").unwrap_or(1.0).into(),
            "integer" => self.count("minimum").unwrap_or(1).into(),
            "string" => self.choices().first().copied().unwrap_or("").into(),
            "boolean" => false.into(),
            "array" => match (self.count("minItems"), self.count("maxItems")) {
                (Some(least), Some(most)) if least == most => (0..least).map(|_| self.items().placeholder()).collect(),
                _ => Value::Array(Vec::new()),
            },
            _ => {
                let variant = self.tag().and_then(|tag| self.variant(tag, self.variant_names(tag).first()?));
                let table = variant.unwrap_or(self);
                let filled = |key: &str| Some((key.to_owned(), table.property(key)?.placeholder()));
                Value::Object(table.required().into_iter().filter_map(filled).collect())
            }
        }
    }
}

/// What a place accepts, as the end of a sentence: "a number above 0".
pub(crate) fn accepts(shape: Shape<'_>) -> String {
    let choices = shape.choices();
    match shape.kind() {
        "number" => format!("a number{}", bounds(shape)),
        "integer" => format!("a whole number{}", bounds(shape)),
        "string" if !choices.is_empty() => {
            let names: Vec<String> = choices.iter().map(|name| format!("`{name}`")).collect();
            format!("one of {}", names.join(", "))
        }
        "string" if shape.count("minLength").is_some() => "text that is not empty".into(),
        "string" => "text".into(),
        "boolean" => "true or false".into(),
        "array" => {
            let noun = match shape.items().kind() {
                "number" => "numbers",
                "integer" => "whole numbers",
                _ => "tables",
            };
            match (shape.count("minItems"), shape.count("maxItems")) {
                (Some(least), Some(most)) if least == most => format!("a list of {least} {noun}"),
                (Some(least), Some(most)) => format!("a list of {least} to {most} {noun}"),
                (Some(least), None) => format!("a list of at least {least} {noun}"),
                (None, Some(most)) => format!("a list of at most {most} {noun}"),
                (None, None) => format!("a list of {noun}"),
            }
        }
        _ => "a table".into(),
    }
}

fn bounds(shape: Shape<'_>) -> String {
    let at_least = shape.limit("minimum").map(|v| format!(" of at least {v}"));
    let at_most = shape.limit("maximum").map(|v| format!(" of at most {v}"));
    if let (Some(least), Some(most)) = (shape.limit("minimum"), shape.limit("maximum")) {
        return format!(" from {least} to {most}");
    }
    let low = shape.limit("exclusiveMinimum").map(|v| format!(" above {v}")).or(at_least);
    let high = shape.limit("exclusiveMaximum").map(|v| format!(" below {v}")).or(at_most);
    match (low, high) {
        (Some(low), Some(high)) => format!("{low} and{high}"),
        (low, high) => low.or(high).unwrap_or_default(),
    }
}
