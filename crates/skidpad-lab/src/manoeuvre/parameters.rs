//! Parameters of standard manoeuvres that users set by name, such as the radius of a circle.

use skidpad_core::model::Side;

use super::ManoeuvreEntry;

/// Parameter of a standard manoeuvre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name with its unit, such as `radius_m`.
    pub name: &'static str,
    /// Description in a few words, with the unit.
    pub about: &'static str,
    /// Smallest and largest accepted value.
    pub range: [f64; 2],
    /// Accepted values within the range.
    pub kind: ParameterKind,
}

/// Values that a parameter accepts within its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// All numbers.
    Number,
    /// Whole numbers.
    WholeNumber,
    /// −1 and 1.
    Sign,
}

impl Parameter {
    /// Returns whether `value` is accepted. NaN is not.
    pub fn accepts(&self, value: f64) -> bool {
        let [low, high] = self.range;
        let is_of_kind = match self.kind {
            ParameterKind::Number => true,
            ParameterKind::WholeNumber => value.fract() == 0.0,
            ParameterKind::Sign => value.abs() == 1.0,
        };
        low <= value && value <= high && is_of_kind
    }

    /// Returns the accepted values as text, such as `from 2 to 50, whole numbers only`.
    pub fn accepted_text(&self) -> String {
        let [low, high] = self.range;
        match self.kind {
            ParameterKind::Number => format!("from {low} to {high}"),
            ParameterKind::WholeNumber => format!("from {low} to {high}, whole numbers only"),
            ParameterKind::Sign => format!("{low} or {high}"),
        }
    }
}

/// Values of parameters by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterValues {
    /// Names and values, in the order in which they were set.
    values: Vec<(String, f64)>,
}

/// Value of a parameter that no manoeuvre of a selection accepts.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{found}: accepted are {accepts}")]
pub struct ParameterFault {
    /// Name of the parameter, and its value.
    pub found: String,
    /// Accepted names or values.
    pub accepts: String,
}

impl ParameterValues {
    /// Sets the value of the parameter `name`. A later value replaces an earlier one.
    pub fn set(&mut self, name: &str, value: f64) {
        self.values.retain(|(other, _)| other != name);
        self.values.push((name.to_owned(), value));
    }

    /// Returns the value of the parameter `name` with the type of `standard`, or `standard` if it is not set.
    pub fn value_or<T: FromParameter>(&self, name: &str, standard: T) -> T {
        self.values.iter().find(|(other, _)| other == name).map_or(standard, |(_, value)| T::from_parameter(*value))
    }

    /// Iterates over names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Returns a fault for each value that is not accepted. A value is not accepted if none of `entries` has a
    /// parameter of this name, or if the parameter of one entry that has it does not accept the value. Entries without
    /// the parameter ignore it.
    pub fn faults(&self, entries: &[&ManoeuvreEntry]) -> Vec<ParameterFault> {
        let known: Vec<&Parameter> = entries.iter().flat_map(|entry| entry.parameters).collect();
        let mut faults = Vec::new();
        for (name, value) in self.iter() {
            let found = format!("{name}={value}");
            let mut named = known.iter().filter(|parameter| parameter.name == name).peekable();
            if named.peek().is_none() {
                faults.push(ParameterFault { found, accepts: known_text(&known) });
                continue;
            }
            if let Some(parameter) = named.find(|parameter| !parameter.accepts(value)) {
                faults.push(ParameterFault { found, accepts: format!("{name} {}", parameter.accepted_text()) });
            }
        }
        faults
    }
}

/// Lists `parameters` with their descriptions and ranges; equal texts only once. Returns a sentence if there are no
/// parameters.
fn known_text(parameters: &[&Parameter]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for parameter @ Parameter { name, about, .. } in parameters {
        let text = format!("{name} ({about}, {})", parameter.accepted_text());
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() { "no parameters of these manoeuvres".into() } else { texts.join(", ") }
}

/// Type of a field that a parameter sets.
pub trait FromParameter {
    /// Values that the field can represent.
    const KIND: ParameterKind;

    /// Converts the value of a parameter.
    fn from_parameter(value: f64) -> Self;
}

/// Returns the values that the field returned by `field` can represent.
pub(crate) const fn kind_of<M, T: FromParameter>(_field: fn(&M) -> T) -> ParameterKind {
    T::KIND
}

impl FromParameter for f64 {
    const KIND: ParameterKind = ParameterKind::Number;

    fn from_parameter(value: f64) -> Self {
        value
    }
}

impl FromParameter for u32 {
    const KIND: ParameterKind = ParameterKind::WholeNumber;

    /// Rounds the value.
    fn from_parameter(value: f64) -> Self {
        value.round() as u32
    }
}

impl FromParameter for Side {
    const KIND: ParameterKind = ParameterKind::Sign;

    /// Returns the right side for a negative value, otherwise the left side.
    fn from_parameter(value: f64) -> Self {
        if value < 0.0 { Self::Right } else { Self::Left }
    }
}

/// Builds a [`ManoeuvreEntry`]: name, type of the manoeuvre, optionally `= standard` in place of its default, fields
/// that overrides change (`field <- change`), fields that are parameters (`field: description, low, high`),
/// description.
macro_rules! entry {
    ($name:literal, $type:ident { $($changes:tt)* }, $($rest:tt)*) => {
        $crate::manoeuvre::parameters::entry!(@ $name, $type, $type::default(), { $($changes)* }, $($rest)*)
    };
    ($name:literal, $type:ident = $standard:expr, { $($changes:tt)* }, $($rest:tt)*) => {
        $crate::manoeuvre::parameters::entry!(@ $name, $type, $standard, { $($changes)* }, $($rest)*)
    };
    (@ $name:literal, $type:ident, $standard:expr, { $($field:ident <- $change:ident),* }, $about:literal) => {
        $crate::manoeuvre::parameters::entry!(@ $name, $type, $standard, { $($field <- $change),* }, [], $about)
    };
    (
        @ $name:literal, $type:ident, $standard:expr, { $($field:ident <- $change:ident),* },
        [$($parameter:ident: $text:literal, $low:literal, $high:literal);*], $about:literal
    ) => {
        $crate::manoeuvre::ManoeuvreEntry {
            name: $name,
            about: $about,
            parameters: &[$($crate::manoeuvre::Parameter {
                name: stringify!($parameter),
                about: $text,
                range: [$low, $high],
                kind: $crate::manoeuvre::parameters::kind_of(|manoeuvre: &$type| manoeuvre.$parameter),
            }),*],
            build: |_overrides| {
                let standard = $standard;
                #[allow(clippy::needless_update, reason = "the overrides and parameters may name every field")]
                let manoeuvre = $type {
                    $($field: _overrides.$change.unwrap_or(standard.$field),)*
                    $($parameter: _overrides.parameters.value_or(stringify!($parameter), standard.$parameter),)*
                    ..standard
                };
                Box::new(manoeuvre)
            },
        }
    };
}
pub(crate) use entry;

#[cfg(test)]
mod tests {
    use super::super::{Overrides, by_name, catalogue};
    use super::*;

    /// A value outside the range, a value that is not a number, and a name of no selected manoeuvre are all reported; a
    /// parameter of one of several manoeuvres is accepted.
    #[test]
    fn every_refused_value_is_reported() {
        let entry = |name| by_name(name).expect("in the list");
        let mut values = ParameterValues::default();
        values.set("radius_m", 50.0);
        assert_eq!(values.faults(&[entry("circle"), entry("braking")]), []);
        values.set("radius_m", f64::NAN);
        values.set("pedal", 2.0);
        values.set("colour", 1.0);
        let found: Vec<String> =
            values.faults(&[entry("circle"), entry("braking")]).into_iter().map(|fault| fault.found).collect();
        assert_eq!(found, ["radius_m=NaN", "pedal=2", "colour=1"]);
        for (name, value) in [("cones", 2.5), ("lower_side", 0.5), ("lower_side", 0.0)] {
            let mut values = ParameterValues::default();
            values.set(name, value);
            let faults = values.faults(&[entry("slalom"), entry("tilt-table")]);
            assert_eq!(faults.len(), 1, "{name}={value}");
        }
        let [fault] = &values.faults(&[entry("braking")])[..1] else { panic!("faults") };
        assert!(fault.accepts.contains("pedal"), "{fault:?}");
        assert!(values.faults(&[entry("drop-settle")])[0].accepts.contains("no parameters"));
    }

    /// Every parameter reaches its manoeuvre: both ends of its range give different manoeuvres.
    #[test]
    fn every_parameter_changes_its_manoeuvre() {
        for entry in catalogue() {
            for Parameter { name, range, .. } in entry.parameters {
                let with = |value: f64| {
                    let mut overrides = Overrides::default();
                    overrides.parameters.set(name, value);
                    format!("{:?}", entry.build_standard(&overrides))
                };
                assert_ne!(with(range[0]), with(range[1]), "{} {name}", entry.name);
            }
        }
    }
}
