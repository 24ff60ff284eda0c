//! Parameters of sweeps: grids and distributions.

use serde_json::{Number, Value as Json, json};
use skidpad_spec::read::{Item, Node};

use super::normal_distribution::normal_quantile;

/// Greatest magnitude of integers; 64-bit numbers with a fraction represent all of them.
const MAX_INTEGER: i64 = 1 << 53;
/// Lowest share that a sample can have, and the distance of the highest one from 1.
const EXTREME_SHARE: f64 = 1.0 / (1_u64 << 53) as f64;

/// Value of a parameter in one run.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Boolean value.
    Flag(bool),
    /// Integer, at most 2^53 in magnitude.
    Integer(i64),
    /// Finite number with a fraction.
    Number(f64),
    /// Text.
    Text(String),
}

impl Value {
    /// Returns the value as JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Flag(flag) => json!(flag),
            Self::Integer(integer) => json!(integer),
            Self::Number(number) => json!(number),
            Self::Text(text) => json!(text),
        }
    }

    /// Returns the value of a JSON scalar. `None` for other JSON, and for an integer beyond the signed 64 bits.
    fn from_json(json: &Json) -> Option<Self> {
        Some(match json {
            Json::Bool(flag) => Self::Flag(*flag),
            Json::String(text) => Self::Text(text.clone()),
            Json::Number(number) if number.is_f64() => Self::Number(number.as_f64()?),
            Json::Number(number) => Self::Integer(number.as_i64()?),
            Json::Null | Json::Array(_) | Json::Object(_) => return None,
        })
    }

    /// Returns the value in TOML.
    pub fn to_toml(&self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Integer(integer) => integer.to_string(),
            Self::Number(number) => format!("{number:?}"),
            // TOML has the escapes of JSON, but also requires one for the control character DEL (U+007F).
            Self::Text(text) => Json::from(text.as_str()).to_string().replace('\u{7f}', "\\u007f"),
        }
    }

    /// Returns the number; `None` for flags and texts.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Number(number) => Some(*number),
            Self::Flag(_) | Self::Text(_) => None,
        }
    }
}

/// Values of a parameter over the runs of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// Values that a sweep combines with all values of its other grids.
    Grid(Vec<Value>),
    /// Values of which each sample draws one; all are equally likely.
    Choice(Vec<Value>),
    /// Uniform distribution between two bounds.
    Uniform([f64; 2]),
    /// Distribution between two bounds above 0, whose logarithm is uniform.
    LogUniform([f64; 2]),
    /// Normal distribution with a mean and a standard deviation above 0.
    Normal([f64; 2]),
}

/// Name of the table of parameters in a description.
pub(super) const PARAMETERS_KEY: &str = "parameters";

/// Forms that a parameter can have in a description.
pub const PARAMETER_FORMS: &str = "a value, a list of values, { grid = [..] }, { choice = [..] }, { uniform = [low, high] }, \
    { log_uniform = [low, high] } or { normal = [mean, standard deviation] }";

/// Returns the path of the parameter `name` in fault reports.
pub(super) fn parameter_path(name: &str) -> String {
    format!("{PARAMETERS_KEY}.{name}")
}

impl Parameter {
    /// Returns the parameter of a value in a TOML description.
    ///
    /// # Errors
    /// Returns every fault of the value.
    pub fn from_node(node: &Node) -> Result<Self, Vec<String>> {
        Self::from_json(&node_json(node))
    }

    /// Returns the parameter of the text of a JSON value.
    ///
    /// # Errors
    /// Returns every fault of the value, or that the text is no JSON.
    pub fn from_json_text(text: &str) -> Result<Self, Vec<String>> {
        let json: Json = serde_json::from_str(text).map_err(|error| vec![format!("no JSON: {error}")])?;
        Self::from_json(&json)
    }

    /// Returns the parameter of a JSON value, such as `1500`, `[1500, 1600]` or `{"normal": [1500, 20]}`. A scalar is a
    /// grid with one value, a list is a grid.
    ///
    /// # Errors
    /// Returns every fault of the value.
    pub fn from_json(json: &Json) -> Result<Self, Vec<String>> {
        let parameter = match json {
            Json::Array(items) => Self::Grid(unified(items)?),
            Json::Object(map) => Self::from_kind(map)?,
            scalar => Self::Grid(unified(std::slice::from_ref(scalar))?),
        };
        let faults = parameter.faults();
        if faults.is_empty() { Ok(parameter) } else { Err(faults) }
    }

    /// Returns the parameter of a table whose only key is the kind, such as `uniform`. The numbers are not checked.
    ///
    /// # Errors
    /// Returns the accepted forms if the table has another form, or a fault for each value of a list that is no scalar.
    fn from_kind(map: &serde_json::Map<String, Json>) -> Result<Self, Vec<String>> {
        let pair = |items: &[Json]| match items {
            [first, second] => Some([first.as_f64()?, second.as_f64()?]),
            _ => None,
        };
        if let (1, Some((kind, Json::Array(items)))) = (map.len(), map.iter().next()) {
            let parameter = match kind.as_str() {
                "grid" => return unified(items).map(Self::Grid),
                "choice" => return unified(items).map(Self::Choice),
                "uniform" => pair(items).map(Self::Uniform),
                "log_uniform" => pair(items).map(Self::LogUniform),
                "normal" => pair(items).map(Self::Normal),
                _ => None,
            };
            if let Some(parameter) = parameter {
                return Ok(parameter);
            }
        }
        Err(vec![format!("{} is not {PARAMETER_FORMS}", Json::Object(map.clone()))])
    }

    /// Returns the parameter as manifests contain it: an object with one key, the kind (such as `grid` or `uniform`),
    /// and its values or bounds.
    pub fn to_json(&self) -> Json {
        let list = |values: &[Value]| values.iter().map(Value::to_json).collect::<Json>();
        match self {
            Self::Grid(values) => json!({ "grid": list(values) }),
            Self::Choice(values) => json!({ "choice": list(values) }),
            Self::Uniform(bounds) => json!({ "uniform": bounds }),
            Self::LogUniform(bounds) => json!({ "log_uniform": bounds }),
            Self::Normal(numbers) => json!({ "normal": numbers }),
        }
    }

    /// Returns the values of a grid; `None` for a distribution.
    pub fn grid(&self) -> Option<&[Value]> {
        match self {
            Self::Grid(values) => Some(values),
            _ => None,
        }
    }

    /// Returns a value that is typical of the parameter: the first one of a grid, or the median of a distribution.
    pub fn typical_value(&self) -> Value {
        self.quantile(0.5)
    }

    /// Returns the value of the sample `sample` (from 0) of the parameter `name`. The value depends on `seed`, `name`
    /// and `sample` only, so that it is the same at every point of the grids, for every solver and on every machine.
    pub fn draw(&self, seed: u64, name: &str, sample: u64) -> Value {
        let digest = hmac_sha256::Hash::hash(format!("{seed}\n{sample}\n{name}").as_bytes());
        let mut first_bytes = [0; 8];
        first_bytes.copy_from_slice(&digest[..8]);
        // The upper 52 bits and a half, times 2⁻⁵²: the share is exact in 64 bits, above 0 and below 1.
        let share = ((u64::from_le_bytes(first_bytes) >> 12) as f64 + 0.5) * 2.0 * EXTREME_SHARE;
        self.quantile(share)
    }

    /// Returns the quantile of the distribution at `share`, a number above 0 and below 1. A choice is divided into
    /// equal shares. A grid returns its first value.
    fn quantile(&self, share: f64) -> Value {
        match self {
            Self::Grid(values) => values[0].clone(),
            Self::Choice(values) => {
                let index = (share * values.len() as f64) as usize;
                values[index.min(values.len() - 1)].clone()
            }
            Self::Uniform([low, high]) => Value::Number(low + (high - low) * share),
            Self::LogUniform([low, high]) => {
                Value::Number(low * libm::exp((libm::log(*high) - libm::log(*low)) * share))
            }
            Self::Normal([mean, deviation]) => Value::Number(mean + deviation * normal_quantile(share)),
        }
    }

    /// Returns the faults of the values. A list must have values of one type, integers up to [`MAX_INTEGER`] in
    /// magnitude, and as a grid no repetitions. A lower bound must be below the upper bound, and above 0 for a uniform
    /// logarithm. A standard deviation must be above 0. Every value that a distribution can draw must be finite.
    fn faults(&self) -> Vec<String> {
        match self {
            Self::Grid(values) => list_faults(values, true),
            Self::Choice(values) => list_faults(values, false),
            Self::Uniform([low, high]) | Self::LogUniform([low, high]) if low >= high => {
                vec![format!("the lower bound {low} is not below the upper bound {high}")]
            }
            Self::LogUniform([low, _]) if *low <= 0.0 => vec![format!("the lower bound is {low}, but must be above 0")],
            Self::Normal([_, deviation]) if *deviation <= 0.0 => {
                vec![format!("the standard deviation is {deviation}, but must be above 0")]
            }
            Self::Uniform(_) | Self::LogUniform(_) | Self::Normal(_) => {
                let ends = [EXTREME_SHARE, 1.0 - EXTREME_SHARE].map(|share| self.quantile(share).number());
                let is_finite = ends.iter().all(|end| end.is_some_and(f64::is_finite));
                if is_finite { Vec::new() } else { vec!["the values of the distribution are not finite".into()] }
            }
        }
    }
}

/// Returns a node of a TOML text as JSON. A whole number up to 2^53 in magnitude becomes an integer. A number that is
/// not finite, and a value that is neither a number, a text, a flag, a list nor a table, becomes `null`.
pub fn node_json(node: &Node) -> Json {
    match &node.item {
        Item::Number { value, whole: true } if value.abs() <= MAX_INTEGER as f64 => json!(*value as i64),
        Item::Number { value, .. } => Number::from_f64(*value).map_or(Json::Null, Json::Number),
        Item::Text(text) => json!(text),
        Item::Flag(flag) => json!(flag),
        Item::List(items) => items.iter().map(node_json).collect(),
        Item::Table(entries) => entries.iter().map(|(key, node)| (key.name.clone(), node_json(node))).collect(),
        Item::Other => Json::Null,
    }
}

/// Returns `items` as values of one type if possible: if a number has a fraction, integers become numbers with a
/// fraction. Other differences of types remain.
///
/// # Errors
/// Returns an error for each item that is neither a number, a text nor a flag.
fn unified(items: &[Json]) -> Result<Vec<Value>, Vec<String>> {
    let values: Vec<Option<Value>> = items.iter().map(Value::from_json).collect();
    let wrong = items.iter().zip(&values).filter(|(_, value)| value.is_none());
    let faults: Vec<String> =
        wrong.map(|(item, _)| format!("{item} is not a finite number, a text or a flag")).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let has_fractions = values.iter().any(|value| matches!(value, Some(Value::Number(_))));
    let unify = |value| match value {
        Value::Integer(integer) if has_fractions => Value::Number(integer as f64),
        value => value,
    };
    Ok(values.into_iter().flatten().map(unify).collect())
}

/// Returns the faults of the values of a grid or a choice. An empty list or different types are the only fault.
/// Otherwise there is a fault for each integer beyond [`MAX_INTEGER`], and for the first repeated value of a grid.
fn list_faults(values: &[Value], is_grid: bool) -> Vec<String> {
    let Some(first) = values.first() else { return vec!["the list is empty; give at least one value".into()] };
    if values.iter().any(|value| std::mem::discriminant(value) != std::mem::discriminant(first)) {
        return vec!["the values are of different types".into()];
    }
    let is_too_large = |value: &&Value| matches!(value, Value::Integer(integer) if integer.abs() > MAX_INTEGER);
    let mut faults: Vec<String> = values
        .iter()
        .filter(is_too_large)
        .map(|value| format!("{} is an integer beyond {MAX_INTEGER}", value.to_toml()))
        .collect();
    let repeated = (1..values.len()).find(|&index| values[..index].contains(&values[index]));
    if let (true, Some(index)) = (is_grid, repeated) {
        faults.push(format!("the value {} is in the grid twice", values[index].to_toml()));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scalars and lists are grids, integers beside fractions become fractions, and tables are distributions. All are
    /// read back from the JSON of manifests.
    #[test]
    fn values_lists_and_tables_are_parameters() {
        let parse = |json: Json| Parameter::from_json(&json).expect("valid");
        assert_eq!(parse(json!(3)), Parameter::Grid(vec![Value::Integer(3)]));
        assert_eq!(parse(json!([1, 2.5])), Parameter::Grid(vec![Value::Number(1.0), Value::Number(2.5)]));
        assert_eq!(parse(json!({ "normal": [1500, 20] })), Parameter::Normal([1500.0, 20.0]));
        for json in [json!(["a", "b"]), json!({ "choice": [true, false] }), json!({ "log_uniform": [0.1, 1.0] })] {
            let parameter = parse(json);
            assert_eq!(parse(parameter.to_json()), parameter);
        }
    }

    #[test]
    fn faulty_parameters_are_refused() {
        for (json, part) in [
            (json!([]), "empty"),
            (json!([1, "a"]), "different types"),
            (json!([1, 2, 1]), "twice"),
            (json!([1_i64 << 60]), "beyond"),
            (json!([null]), "null is not"),
            (json!({ "gauss": [0, 1] }), "{ normal ="),
            (json!({ "uniform": [3, 2] }), "not below"),
            (json!({ "uniform": [-1e308, 1e308] }), "not finite"),
            (json!({ "log_uniform": [0, 1] }), "above 0"),
            (json!({ "normal": [0, 0] }), "above 0"),
        ] {
            let faults = Parameter::from_json(&json).expect_err("faulty").join("\n");
            assert!(faults.contains(part), "{json}: {faults}");
        }
    }

    /// Means and deviations of 4,000 draws agree with those of the distributions within four standard errors.
    #[test]
    fn draws_follow_their_distributions() {
        let moments = |parameter: Parameter| {
            let values: Vec<f64> =
                (0..4000).map(|i| parameter.draw(7, "mass", i).number().expect("a number")).collect();
            let mean = values.iter().sum::<f64>() / 4000.0;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4000.0;
            (mean, variance.sqrt())
        };
        let root = 4000_f64.sqrt();
        let (mean, deviation) = moments(Parameter::Normal([1500.0, 20.0]));
        assert!(
            (mean - 1500.0).abs() < 4.0 * 20.0 / root && (deviation / 20.0 - 1.0).abs() < 4.0 / (2.0_f64.sqrt() * root)
        );
        let (mean, _) = moments(Parameter::Uniform([20.0, 30.0]));
        assert!((mean - 25.0).abs() < 4.0 * 10.0 / 12_f64.sqrt() / root, "{mean}");
        let log = Parameter::LogUniform([0.1, 1.0]);
        let below = (0..4000).filter(|&i| log.draw(7, "grip", i).number() < Some(0.1_f64.sqrt())).count();
        assert!((below as f64 / 4000.0 - 0.5).abs() < 4.0 * 0.5 / root, "{below}");
        assert_ne!(log.draw(7, "grip", 0), log.draw(8, "grip", 0));
    }
}
