//! What any text of ours or of other programs says, with places: the one form [`super::walk`] reads.

use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and the bytes it stands at.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it says.
    pub item: Item,
    /// Where it stands.
    pub span: Range<usize>,
}

/// A value.
#[derive(Clone, Debug)]
pub enum Item {
    /// A number.
    Number {
        /// NaN if it is no number after all.
        value: f64,
        /// Whether it is written without a fraction.
        whole: bool,
    },
    /// A text.
    Text(String),
    /// True or false.
    Flag(bool),
    /// Values in their order.
    List(Vec<Node>),
    /// Keys with their values, in the order of the text.
    Table(Vec<(Key, Node)>),
    /// Something no description has, such as a date.
    Other,
}

/// A key and the bytes it stands at.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Range<usize>,
}

impl Node {
    /// A table that stands at `span`.
    pub fn table(span: Range<usize>, entries: Vec<(Key, Node)>) -> Self {
        Self { item: Item::Table(entries), span }
    }

    /// What it says, if it is a text.
    pub fn text(&self) -> Option<&str> {
        match &self.item {
            Item::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of `key`, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.item {
            Item::Table(entries) => entries.iter().find(|(k, _)| k.name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// What it says, if it is a number.
    pub fn number(&self) -> Option<f64> {
        match self.item {
            Item::Number { value, .. } => Some(value),
            _ => None,
        }
    }
}

impl From<&Spanned<DeValue<'_>>> for Node {
    fn from(value: &Spanned<DeValue<'_>>) -> Self {
        let item = match value.get_ref() {
            DeValue::Integer(i) => {
                let value = i64::from_str_radix(i.as_str(), i.radix()).map_or(f64::INFINITY, |i| i as f64);
                Item::Number { value, whole: true }
            }
            DeValue::Float(f) => Item::Number { value: f.as_str().parse().unwrap_or(f64::NAN), whole: false },
            DeValue::String(text) => Item::Text(text.to_string()),
            DeValue::Boolean(on) => Item::Flag(*on),
            DeValue::Array(list) => Item::List(list.iter().map(Node::from).collect()),
            DeValue::Table(table) => Item::Table(entries(table)),
            _ => Item::Other,
        };
        Self { item, span: value.span() }
    }
}

impl From<&Spanned<DeTable<'_>>> for Node {
    fn from(table: &Spanned<DeTable<'_>>) -> Self {
        Node::table(0..0, entries(table.get_ref()))
    }
}

fn entries(table: &DeTable<'_>) -> Vec<(Key, Node)> {
    let entry = |(key, node): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        (Key { name: key.get_ref().to_string(), span: key.span() }, Node::from(node))
    };
    table.iter().map(entry).collect()
}
