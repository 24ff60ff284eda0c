//! Metrics of a run: typed structs with units in their field names, and one generic view of them.
//!
//! A metric that does not apply (a quarter mile that was not reached) is `None` and shown as "-". There is no NaN.

use std::io::{self, Write};

use serde_json::{Map, Value};

/// Metric of a run, in the generic view that tables, snapshots and files use.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Name with unit, as used in files.
    pub name: String,
    /// Name for people, as used in tables.
    pub label: String,
    /// Unit; "-" for a dimensionless metric.
    pub unit: &'static str,
    /// Number of decimal places to show.
    pub digits: u8,
    /// Value; `None` if the metric does not apply.
    pub value: Option<f64>,
}

impl Metric {
    /// Creates a metric. A value that is not finite becomes `None`.
    pub fn new(name: &str, label: &str, unit: &'static str, digits: u8, value: Option<f64>) -> Self {
        let value = value.filter(|v| v.is_finite());
        Self { name: name.into(), label: label.into(), unit, digits, value }
    }

    /// Returns the same metric with another value.
    pub fn with_value(&self, value: Option<f64>) -> Self {
        Self { value, ..self.clone() }
    }

    /// Returns whether `value` rounds to 0 in the digits of this metric.
    pub fn rounds_to_zero(&self, value: f64) -> bool {
        value.abs() < 0.5 * 10f64.powi(-i32::from(self.digits))
    }

    /// Returns the value rounded to the digits of the metric; −0 becomes 0.
    pub fn rounded(&self) -> Option<f64> {
        let scale = 10f64.powi(i32::from(self.digits));
        self.value.map(|v| (v * scale).round() / scale + 0.0)
    }

    /// Formats the rounded value; "-" if there is none.
    pub fn text(&self) -> String {
        self.rounded().map_or_else(|| "-".into(), |v| format!("{v:.*}", usize::from(self.digits)))
    }
}

/// Defines a struct of optional metrics and its list of [`Metric`]s from rows of the form
/// `field, "unit", digits, "label", "exact definition";`.
macro_rules! metrics {
    ($(#[$doc:meta])* $name:ident { $($field:ident, $unit:literal, $digits:literal, $label:literal, $about:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name {
            $(#[doc = $about] #[doc = concat!("\n\nUnit: ", $unit)] pub $field: Option<f64>,)*
        }
        impl $name {
            /// Returns the generic view, in the order of the fields.
            pub fn list(&self) -> Vec<$crate::metrics::Metric> {
                vec![$($crate::metrics::Metric::new(stringify!($field), $label, $unit, $digits, self.$field),)*]
            }
        }
    };
}
pub(crate) use metrics;

/// Writes a header and the rows `metric,value,unit,description`. Values have all digits; a metric without a value has
/// an empty cell, and −0 is written as 0. The description is the label. The writer is flushed at the end.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_csv(metrics: &[Metric], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["metric", "value", "unit", "description"])?;
    for metric in metrics {
        // Adding 0.0 turns −0 into 0.
        let value_text = metric.value.map_or_else(String::new, |v| (v + 0.0).to_string());
        writer.write_record([metric.name.as_str(), &value_text, metric.unit, &metric.label])?;
    }
    writer.flush()
}

/// Returns the number with the shortest decimal text that reads back as the same f32, if `value` is exactly an f32;
/// otherwise `value`.
fn shortest(value: f64) -> f64 {
    let short = value as f32;
    if f64::from(short) == value { short.to_string().parse().unwrap_or(value) } else { value }
}

/// Returns an object that maps names to unrounded values; `null` for a metric without a value. A value that is exactly
/// an f32 has the shortest text of the f32, and −0 becomes 0.
pub fn to_json(metrics: &[Metric]) -> Value {
    let entries = metrics.iter().map(|metric| {
        let value = metric.value.map_or(Value::Null, |v| Value::from(shortest(v) + 0.0));
        (metric.name.clone(), value)
    });
    Value::Object(entries.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a list with a positive value, a value that rounds to −0, a missing value and NaN.
    fn list() -> Vec<Metric> {
        vec![
            Metric::new("distance_m", "Distance", "m", 2, Some(38.976)),
            Metric::new("drift_mm", "Drift, mean", "mm", 1, Some(-0.04)),
            Metric::new("quarter_mile_s", "Quarter mile", "s", 2, None),
            Metric::new("gain", "Gain", "-", 0, Some(f64::NAN)),
        ]
    }

    #[test]
    fn text_is_rounded_and_has_no_minus_zero_and_no_nan() {
        let texts: Vec<String> = list().iter().map(Metric::text).collect();
        assert_eq!(texts, ["38.98", "0.0", "-", "-"]);
        assert!(list()[1].rounded().is_some_and(|v| v.to_bits() == 0));
    }

    /// CSV and JSON have unrounded values, quoted labels and gaps for missing values; an exact f32 has its short text
    /// in JSON.
    #[test]
    fn files_keep_full_values_and_gaps() {
        let mut bytes = Vec::new();
        write_csv(&list(), &mut bytes).expect("a Vec takes everything");
        let text = String::from_utf8(bytes).expect("text");
        let expected = "metric,value,unit,description\ndistance_m,38.976,m,Distance\n\
                        drift_mm,-0.04,mm,\"Drift, mean\"\nquarter_mile_s,,s,Quarter mile\ngain,,-,Gain\n";
        assert_eq!(text, expected);
        let json = to_json(&list());
        assert_eq!(json["distance_m"], 38.976);
        let single = Metric::new("height_m", "Height", "m", 2, Some(f64::from(1.2f32)));
        assert_eq!(to_json(&[single])["height_m"], 1.2);
        assert!(json["gain"].is_null());
    }
}
