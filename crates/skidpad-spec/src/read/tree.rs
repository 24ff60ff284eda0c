//! Tree of the values of a text, with their places. All text formats are converted to it before
//! [`super::schema_check`] checks them.

use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Value and its place in the text.
#[derive(Clone, Debug)]
pub struct Node {
    /// Value.
    pub item: Item,
    /// Bytes of the value in the text.
    pub span: Range<usize>,
}

/// Value of a node.
#[derive(Clone, Debug)]
pub enum Item {
    /// Number.
    Number {
        /// Value of the number. NaN if the text is no number, infinite if it is too large an integer.
        value: f64,
        /// Whether the number is written without a fraction.
        whole: bool,
    },
    /// Text.
    Text(String),
    /// Boolean value.
    Flag(bool),
    /// List of values, in the order of the text.
    List(Vec<Node>),
    /// Table of keys and values, in the order of their parser: alphabetical for TOML.
    Table(Vec<(Key, Node)>),
    /// Value that no description contains, such as a date.
    Other,
}

/// Key and its place in the text.
#[derive(Clone, Debug)]
pub struct Key {
    /// Name of the key.
    pub name: String,
    /// Bytes of the key in the text.
    pub span: Range<usize>,
}

impl Node {
    /// Builds a table at the bytes `span` of the text.
    pub fn table(span: Range<usize>, entries: Vec<(Key, Node)>) -> Self {
        Self { item: Item::Table(entries), span }
    }

    /// Returns the text, or `None` for other values.
    pub fn text(&self) -> Option<&str> {
        match &self.item {
            Item::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of `key`, or `None` if this is no table or has no such key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.item {
            Item::Table(entries) => entries.iter().find(|(k, _)| k.name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Returns the number, or `None` for other values.
    pub fn number(&self) -> Option<f64> {
        match self.item {
            Item::Number { value, .. } => Some(value),
            _ => None,
        }
    }
}

impl From<&Spanned<DeValue<'_>>> for Node {
    /// Converts a value with its place, lists and tables with all their entries. An integer beyond 64 bits becomes
    /// infinite, a float that cannot be parsed becomes NaN, a date becomes [`Item::Other`].
    fn from(value: &Spanned<DeValue<'_>>) -> Self {
        let item = match value.get_ref() {
            DeValue::Integer(integer) => {
                let value = i64::from_str_radix(integer.as_str(), integer.radix()).map_or(f64::INFINITY, |i| i as f64);
                Item::Number { value, whole: true }
            }
            DeValue::Float(float) => Item::Number { value: float.as_str().parse().unwrap_or(f64::NAN), whole: false },
            DeValue::String(text) => Item::Text(text.to_string()),
            DeValue::Boolean(flag) => Item::Flag(*flag),
            DeValue::Array(list) => Item::List(list.iter().map(Node::from).collect()),
            DeValue::Table(table) => Item::Table(table_entries(table)),
            _ => Item::Other,
        };
        Self { item, span: value.span() }
    }
}

impl From<&Spanned<DeTable<'_>>> for Node {
    /// Converts the table of a whole text. The place of the table is empty, those of its entries are kept.
    fn from(table: &Spanned<DeTable<'_>>) -> Self {
        Node::table(0..0, table_entries(table.get_ref()))
    }
}

/// Converts the entries of a table with their places, in the order of the table.
fn table_entries(table: &DeTable<'_>) -> Vec<(Key, Node)> {
    let to_entry = |(key, node): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        (Key { name: key.get_ref().to_string(), span: key.span() }, Node::from(node))
    };
    table.iter().map(to_entry).collect()
}
