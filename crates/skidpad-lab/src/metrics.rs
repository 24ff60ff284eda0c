//! Figures that sum up a run: typed structs with units in their field names, and one view of them all.
//!
//! A figure that did not happen (a quarter mile never reached, an overshoot of nothing) is `None` and shows as "-";
//! there is no NaN.

use std::io::{self, Write};

use serde_json::{Map, Value};

/// One figure of a run, in the view that tables, snapshots and files share.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Name with unit, as in files.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Unit; "-" for none.
    pub unit: &'static str,
    /// Decimal places worth showing.
    pub digits: u8,
    /// `None` when it did not happen.
    pub value: Option<f64>,
}

impl Metric {
    /// A figure; a value that is not finite counts as one that did not happen.
    pub fn new(name: &str, label: &str, unit: &'static str, digits: u8, value: Option<f64>) -> Self {
        let value = value.filter(|v| v.is_finite());
        Self { name: name.into(), label: label.into(), unit, digits, value }
    }

    /// The same figure of another run.
    pub fn with(&self, value: Option<f64>) -> Self {
        Self { value, ..self.clone() }
    }

    /// Whether `value` shows as 0 in the digits of this figure.
    pub fn shows_zero(&self, value: f64) -> bool {
        value.abs() < 0.5 * 10f64.powi(-i32::from(self.digits))
    }

    /// The value rounded to its digits, −0 as 0.
    pub fn rounded(&self) -> Option<f64> {
        let scale = 10f64.powi(i32::from(self.digits));
        self.value.map(|v| (v * scale).round() / scale + 0.0)
    }

    /// The rounded value as text, "-" when it did not happen.
    pub fn text(&self) -> String {
        self.rounded().map_or_else(|| "-".into(), |v| format!("{v:.*}", usize::from(self.digits)))
    }
}

/// Makes a struct of optional figures and its list of [`Metric`]s from one list:
/// `field, "unit", digits, "label", "what exactly";`.
macro_rules! metrics {
    ($(#[$doc:meta])* $name:ident { $($field:ident, $unit:literal, $digits:literal, $label:literal, $about:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name {
            $(#[doc = $about] #[doc = concat!("\n\nUnit: ", $unit)] pub $field: Option<f64>,)*
        }
        impl $name {
            /// The generic view, in the order of the fields.
            pub fn list(&self) -> Vec<$crate::metrics::Metric> {
                vec![$($crate::metrics::Metric::new(stringify!($field), $label, $unit, $digits, self.$field),)*]
            }
        }
    };
}
pub(crate) use metrics;

/// Writes `metric,value,unit,description` rows; an empty value did not happen.
///
/// # Errors
/// Whatever the sink reports.
pub fn write_csv(metrics: &[Metric], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["metric", "value", "unit", "description"])?;
    for metric in metrics {
        let value = metric.value.map_or_else(String::new, |v| (v + 0.0).to_string());
        writer.write_record([metric.name.as_str(), &value, metric.unit, &metric.label])?;
    }
    writer.flush()
}

/// The shortest decimal that is a number of 32 bits, where `value` is one.
fn shortest(value: f64) -> f64 {
    let short = value as f32;
    if f64::from(short) == value { short.to_string().parse().unwrap_or(value) } else { value }
}

/// An object from names to full values, `null` for what did not happen.
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
