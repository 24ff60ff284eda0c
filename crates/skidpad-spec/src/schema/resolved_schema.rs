//! Queries of the reader about the schema at one place of a file.

use super::Schema;
use toml::Value;

/// Schema at one place of a file, with references resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResolvedSchema<'a> {
    /// Schema of the file, which contains the definitions.
    root: &'a Schema,
    /// Schema as written where it is used. The description is that of the use.
    outer: &'a Schema,
    /// Schema with the reference resolved.
    pub inner: &'a Schema,
    /// Schema of the table of which `inner` is a variant; `None` if it is not a variant.
    base: Option<&'a Schema>,
}

impl<'a> ResolvedSchema<'a> {
    /// Returns the schema of a whole file.
    pub fn root(root: &'a Schema) -> Self {
        Self { root, outer: root, inner: root, base: None }
    }

    /// Returns the schema at a place below this one. A reference to a definition is resolved; an unknown one is
    /// ignored.
    fn resolve(self, schema: &'a Schema) -> Self {
        let name = schema.reference.as_deref().and_then(|path| path.strip_prefix("#/$defs/"));
        let inner = name.and_then(|name| self.root.definitions.get(name)).unwrap_or(schema);
        Self { root: self.root, outer: schema, inner, base: None }
    }

    /// Returns the type: `object`, `array`, `number`, `integer`, `string` or `boolean`. If the schema states none,
    /// returns the type of its first variant, or an empty text without variants.
    pub fn kind(self) -> &'a str {
        let variant_kind = || self.inner.one_of.first()?.kind.as_deref();
        self.inner.kind.as_deref().or_else(variant_kind).unwrap_or("")
    }

    /// Returns the first paragraph of the description on one line. A description at the place of use replaces that of
    /// the type. `None` without a description.
    pub fn description(self) -> Option<String> {
        let text = self.outer.description.as_deref().or(self.inner.description.as_deref())?;
        Some(text.split("\n\n").next().unwrap_or(text).replace('\n', " "))
    }

    /// Returns true if `number` is within all bounds that the schema states.
    pub fn is_in_range(self, number: f64) -> bool {
        self.inner.minimum.is_none_or(|limit| number >= limit)
            && self.inner.maximum.is_none_or(|limit| number <= limit)
            && self.inner.exclusive_minimum.is_none_or(|limit| number > limit)
            && self.inner.exclusive_maximum.is_none_or(|limit| number < limit)
    }

    /// Returns the accepted texts, one for each constant of the schema and of its variants; empty if any text is
    /// accepted.
    pub fn choices(self) -> Vec<&'a str> {
        let constant = self.inner.constant.as_deref();
        constant.into_iter().chain(self.inner.one_of.iter().filter_map(|variant| variant.constant.as_deref())).collect()
    }

    /// Returns the shape of the entries of this list; the shape itself if it has none.
    pub fn items(self) -> Self {
        self.inner.items.as_deref().map_or(self, |items| self.resolve(items))
    }

    /// Returns the key whose value selects the variant (alternative shape) of this table: the key with a constant in
    /// the first variant. Returns `None` if the table has no variants.
    pub fn tag(self) -> Option<&'a str> {
        let mut keys = self.inner.one_of.first()?.properties.iter();
        keys.find(|(_, schema)| schema.constant.is_some()).map(|(key, _)| key.as_str())
    }

    /// Returns the names of the variants: the values of the key `tag` that select them.
    pub fn variant_names(self, tag: &str) -> Vec<&'a str> {
        self.inner.one_of.iter().filter_map(|variant| variant.tag_value(tag)).collect()
    }

    /// Returns the variant whose key `tag` has the value `name`; `None` if there is none. The keys of the variant
    /// include those of the whole table.
    pub fn variant(self, tag: &str, name: &str) -> Option<Self> {
        let inner = self.inner.one_of.iter().find(|variant| variant.tag_value(tag) == Some(name))?;
        Some(Self { inner, base: Some(self.inner), ..self })
    }

    /// Returns the variant of this table with the largest number of the `keys`, the first of several with this number.
    /// The tag (see [`Self::tag`]) and keys of the whole table outside of its variants do not count. The result also
    /// has the keys of the whole table, its base. Returns `None` if no variant has any of the keys, or if the table has
    /// no tag.
    pub fn variant_with(self, keys: &[&str]) -> Option<Self> {
        let tag = self.tag()?;
        let matching_key_count =
            |variant: &Schema| keys.iter().filter(|key| **key != tag && variant.properties.contains_key(**key)).count();
        // `max_by_key` returns the last of equal variants, so that the reversed order gives the first.
        let inner = self
            .inner
            .one_of
            .iter()
            .rev()
            .filter(|variant| matching_key_count(variant) > 0)
            .max_by_key(|variant| matching_key_count(variant))?;
        Some(Self { inner, base: Some(self.inner), ..self })
    }

    /// Returns the schema and, for a variant, the schema of the whole table.
    fn parts(self) -> impl Iterator<Item = &'a Schema> {
        std::iter::once(self.inner).chain(self.base)
    }

    /// Returns the shape of the value of `key` in this table. In a table with free keys (any names), every key has the
    /// shape of its entries. Returns `None` for an unknown key.
    pub fn property(self, key: &str) -> Option<Self> {
        let named_property = self.parts().find_map(|part| part.properties.get(key));
        named_property.or(self.inner.additional_properties.as_deref()).map(|schema| self.resolve(schema))
    }

    /// Returns true if the keys of this table are free (any names).
    pub fn is_map(self) -> bool {
        self.inner.additional_properties.is_some()
    }

    /// Returns the required value of `key` if it is the tag of this variant.
    pub fn tag_value(self, key: &str) -> Option<&'a str> {
        self.inner.tag_value(key)
    }

    /// Returns the known keys of this table.
    pub fn keys(self) -> Vec<&'a str> {
        self.parts().flat_map(|part| part.properties.keys().map(String::as_str)).collect()
    }

    /// Returns the keys that this table must have.
    pub fn required(self) -> Vec<&'a str> {
        self.parts().flat_map(|part| part.required.iter().map(String::as_str)).collect()
    }

    /// Returns true if this table must have `key`.
    pub fn is_required(self, key: &str) -> bool {
        self.required().contains(&key)
    }

    /// Builds a value of this shape that replaces a missing or invalid one. Number: its inclusive minimum, or 1 without
    /// one. Text: the first choice, or an empty text. Flag: `false`. List: placeholders if the schema fixes the length,
    /// otherwise empty. Table: its required keys with placeholders; a table with variants uses the first variant.
    pub fn placeholder(self) -> Value {
        match self.kind() {
            "number" => self.inner.minimum.unwrap_or(1.0).into(),
            "integer" => self.inner.minimum.map_or(1, |minimum| minimum as i64).into(),
            "string" => self.choices().first().copied().unwrap_or("").into(),
            "boolean" => false.into(),
            "array" => {
                let fixed_length = self.inner.min_items.filter(|minimum| self.inner.max_items == Some(*minimum));
                Value::Array((0..fixed_length.unwrap_or(0)).map(|_| self.items().placeholder()).collect())
            }
            _ => {
                let variant = self.tag().and_then(|tag| self.variant(tag, self.variant_names(tag).first()?));
                let table_shape = variant.unwrap_or(self);
                let placeholder_entry = |key: &str| Some((key.to_owned(), table_shape.property(key)?.placeholder()));
                Value::Table(table_shape.required().into_iter().filter_map(placeholder_entry).collect())
            }
        }
    }
}

impl Schema {
    /// Returns the value of the tag `key` in this variant; `None` if `key` is not its tag.
    fn tag_value(&self, key: &str) -> Option<&str> {
        self.properties.get(key)?.constant.as_deref()
    }
}

/// Returns a description of the accepted values as the end of a sentence, by the type: "a number above 0", "a whole
/// number from 1 to 8", "one of `a`, `b`", "a text that is not empty", "text", "true or false", "a list of 3 numbers"
/// (also "2 to 3", "at least 2", "at most 3"), "a table".
pub(crate) fn describe_accepted(shape: ResolvedSchema<'_>) -> String {
    let choices = shape.choices();
    match shape.kind() {
        "number" => format!("a number{}", describe_bounds(shape)),
        "integer" => format!("a whole number{}", describe_bounds(shape)),
        "string" if !choices.is_empty() => {
            let names: Vec<String> = choices.iter().map(|name| format!("`{name}`")).collect();
            format!("one of {}", names.join(", "))
        }
        "string" if shape.inner.min_length.is_some() => "a text that is not empty".into(),
        "string" => "text".into(),
        "boolean" => "true or false".into(),
        "array" => {
            let entry_noun = match shape.items().kind() {
                "number" => "numbers",
                "integer" => "whole numbers",
                _ => "tables",
            };
            match (shape.inner.min_items, shape.inner.max_items) {
                (Some(min), Some(max)) if min == max => format!("a list of {min} {entry_noun}"),
                (Some(min), Some(max)) => format!("a list of {min} to {max} {entry_noun}"),
                (Some(min), None) => format!("a list of at least {min} {entry_noun}"),
                (None, Some(max)) => format!("a list of at most {max} {entry_noun}"),
                (None, None) => format!("a list of {entry_noun}"),
            }
        }
        _ => "a table".into(),
    }
}

/// Returns the bounds of a number as text after a noun, with a leading space: " from 0 to 1" for two inclusive bounds,
/// otherwise " above 0" or " of at least 0", " below 1" or " of at most 1", two of them joined by " and". Exclusive
/// bounds win over inclusive ones. Empty without bounds.
fn describe_bounds(shape: ResolvedSchema<'_>) -> String {
    let Schema { minimum, maximum, exclusive_minimum, exclusive_maximum, .. } = shape.inner;
    if let (Some(min), Some(max)) = (minimum, maximum) {
        return format!(" from {min} to {max}");
    }
    let at_least = minimum.map(|limit| format!(" of at least {limit}"));
    let at_most = maximum.map(|limit| format!(" of at most {limit}"));
    let lower_bound = exclusive_minimum.map(|limit| format!(" above {limit}")).or(at_least);
    let upper_bound = exclusive_maximum.map(|limit| format!(" below {limit}")).or(at_most);
    match (lower_bound, upper_bound) {
        (Some(lower_bound), Some(upper_bound)) => format!("{lower_bound} and{upper_bound}"),
        (lower_bound, upper_bound) => lower_bound.or(upper_bound).unwrap_or_default(),
    }
}
