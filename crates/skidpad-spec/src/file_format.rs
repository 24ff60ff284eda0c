//! Deserializer of repaired trees for the types of the descriptions. The deserializer of `toml` also tries dates and
//! lists of fields for each type, which adds three copies of each type's code to a build.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use toml::Value;
use toml::de::Error;

/// Value of a tree that was checked against its schema.
pub(crate) struct TreeDeserializer(pub Value);

impl IntoDeserializer<'_, Error> for TreeDeserializer {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl TreeDeserializer {
    /// Passes a table to `visitor`, and returns an error if the visitor leaves entries unread.
    fn visit_table<'de, V: Visitor<'de>>(table: toml::Table, visitor: V) -> Result<V::Value, Error> {
        let mut map = MapDeserializer::new(table.into_iter().map(|(key, value)| (key, Self(value))));
        let output = visitor.visit_map(&mut map)?;
        map.end().map(|()| output)
    }

    /// Passes a list to `visitor`, and returns an error if the visitor leaves entries unread.
    fn visit_list<'de, V: Visitor<'de>>(list: Vec<Value>, visitor: V) -> Result<V::Value, Error> {
        let mut list = SeqDeserializer::new(list.into_iter().map(Self));
        let output = visitor.visit_seq(&mut list)?;
        list.end().map(|()| output)
    }

    /// Returns the error for a value that no description contains. The schema check reports such values before.
    fn unexpected_value_error(value: &Value) -> Error {
        serde::de::Error::custom(format_args!("a value of type {} is not accepted here", value.type_str()))
    }
}

impl<'de> Deserializer<'de> for TreeDeserializer {
    type Error = Error;

    /// Passes the value to `visitor` by its own type. A date is an error.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Table(table) => Self::visit_table(table, visitor),
            Value::Array(list) => Self::visit_list(list, visitor),
            Value::String(text) => visitor.visit_string(text),
            Value::Integer(number) => visitor.visit_i64(number),
            Value::Float(number) => visitor.visit_f64(number),
            Value::Boolean(flag) => visitor.visit_bool(flag),
            date @ Value::Datetime(_) => Err(Self::unexpected_value_error(&date)),
        }
    }

    /// Passes every value as present. An absent optional value has no key in TOML.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    /// Passes a table to `visitor`. Any other value is an error.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Table(table) => Self::visit_table(table, visitor),
            other => Err(Self::unexpected_value_error(&other)),
        }
    }

    /// Passes a table to `visitor`; names of type and fields are not used.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    /// Passes a list to `visitor`. Any other value is an error.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(list) => Self::visit_list(list, visitor),
            other => Err(Self::unexpected_value_error(&other)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    /// Passes a text to `visitor` as the name of a variant without fields. Any other value is an error; variants with
    /// fields have a tag and are read as tables.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(name.into_deserializer()),
            other => Err(Self::unexpected_value_error(&other)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple_struct identifier
        ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::TreeDeserializer;
    use serde::Deserialize;
    use std::collections::BTreeMap;
    use toml::Value;

    /// A date, which no description contains, and a text in place of a table are errors that name the type.
    #[test]
    fn errors_name_the_type_of_the_value() {
        let date = Value::Datetime("2024-01-01".parse().expect("a date"));
        let error = f64::deserialize(TreeDeserializer(date)).expect_err("a date");
        assert_eq!(error.message(), "a value of type datetime is not accepted here");
        let text = TreeDeserializer(Value::String("text".into()));
        let error = BTreeMap::<String, f64>::deserialize(text).expect_err("a text");
        assert_eq!(error.message(), "a value of type string is not accepted here");
    }
}
