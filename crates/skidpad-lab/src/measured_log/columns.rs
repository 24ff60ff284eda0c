//! Map from telemetry channels to the columns of a log.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use skidpad_spec::read::{FaultCollector, parse_toml};
use skidpad_spec::{Faults, Schema};

/// Source of a quantity of a log: a column, or a constant.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueSource {
    /// Name of the column.
    pub column: Option<String>,
    /// Constant value, instead of a column.
    pub value: Option<f64>,
    /// Factor on the values of the column, such as 0.0174533 for degrees.
    #[serde(default = "one")]
    pub factor: f64,
    /// Number that is added after the factor.
    #[serde(default)]
    pub offset: f64,
}

impl ValueSource {
    /// Creates the source of the column `name` without factor and offset.
    pub fn of_column(name: &str) -> Self {
        Self { column: Some(name.to_owned()), value: None, factor: one(), offset: 0.0 }
    }
}

/// Returns 1, a factor without effect.
pub fn one() -> f64 {
    1.0
}

/// Name of the time in a [`ColumnMap`].
pub const TIME_CHANNEL: &str = "t_s";

/// Sources of the time and of telemetry channels in a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnMap(pub BTreeMap<String, ValueSource>);

impl ColumnMap {
    /// Reads entries such as `yaw_rate_radps=Yaw` or `yaw_rate_radps={column="Yaw",factor=0.0174533}`, separated by
    /// commas. The part in braces is a TOML table with the keys of [`ValueSource`]. `source_name` names the text in
    /// faults. The entries are converted to a TOML text with one line each.
    ///
    /// # Errors
    /// Returns all faults, with their places in this TOML text.
    pub fn parse(source_name: &str, entries: &str) -> Result<Self, Faults> {
        // Texts in JSON are texts in TOML.
        let quote = |text: &str| Value::from(text.trim()).to_string();
        let lines = split_outside_braces(entries).into_iter().map(|entry| match entry.split_once('=') {
            Some((name, table)) if table.trim_start().starts_with('{') => format!("{} = {table}\n", quote(name)),
            Some((name, column)) => format!("{} = {{ column = {} }}\n", quote(name), quote(column)),
            // An entry without `=` is not TOML, which is reported.
            None => format!("{entry}\n"),
        });
        let text: String = lines.collect();
        let mut collector = FaultCollector::default();
        let schema = Schema::for_type::<BTreeMap<String, ValueSource>>();
        let map = parse_toml(&text, &mut collector).and_then(|tree| collector.deserialize_tree(&text, &tree, &schema));
        match map {
            Some(map) if collector.faults.is_empty() => Ok(Self(map)),
            _ => Err(collector.into_faults(source_name, &text)),
        }
    }

    /// Adds an entry for each of `column_names` that has the name of the time or of one of `channels`, and returns the
    /// map. Existing entries are kept.
    pub fn with_named_columns(mut self, column_names: &[String], channels: &[String]) -> Self {
        for name in column_names.iter().filter(|name| *name == TIME_CHANNEL || channels.contains(name)) {
            self.0.entry(name.clone()).or_insert_with(|| ValueSource::of_column(name));
        }
        self
    }
}

/// Splits `text` at the commas that are not between braces. Empty parts are left out.
fn split_outside_braces(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (index, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns may be named alone or with factor and offset; names may contain spaces and points.
    #[test]
    fn entries_are_columns_or_tables() {
        let map =
            ColumnMap::parse("--log-columns", "t_s=Time, load_n.1l = FL load,ay_mps2={column=\"a,y\",factor=9.8}");
        let map = map.expect("valid").0;
        assert_eq!(map["t_s"], ValueSource::of_column("Time"));
        assert_eq!(map["load_n.1l"], ValueSource::of_column("FL load"));
        assert_eq!(map["ay_mps2"], ValueSource { factor: 9.8, ..ValueSource::of_column("a,y") });
        assert_eq!(ColumnMap::parse("--log-columns", "").expect("empty"), ColumnMap::default());
    }

    /// All faults of the entries are reported.
    #[test]
    fn faults_of_entries_are_reported_at_once() {
        let faults = ColumnMap::parse("--log-columns", "ax_mps2,ay_mps2={col=\"a\"},vx_mps={column=3}");
        let text = faults.expect_err("faulty").to_text();
        assert!(["ax_mps2", "col", "column"].iter().all(|word| text.contains(word)), "{text}");
    }

    /// Columns that are called like a channel need no entry.
    #[test]
    fn columns_with_names_of_channels_are_added() {
        let names = ["t_s", "vx_mps", "steering"].map(String::from);
        let channels = ["t_s", "vx_mps", "ay_mps2"].map(String::from);
        let map = ColumnMap::parse("", "ay_mps2=lateral").expect("valid").with_named_columns(&names, &channels).0;
        assert_eq!(map.keys().collect::<Vec<_>>(), ["ay_mps2", "t_s", "vx_mps"]);
        assert_eq!(map["ay_mps2"], ValueSource::of_column("lateral"));
    }
}
