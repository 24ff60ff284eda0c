//! Targets of parameters: fields of the vehicle file, options of the start, properties of a level plane, and parameters
//! of the manoeuvre.

use skidpad_spec::fields::{FieldError, FieldPath, FileFields};
use skidpad_spec::{FaultKind, Faults};

use super::parameter::{Parameter, Value};
use super::sources::Source;
use crate::manoeuvre::{ManoeuvreEntry, ParameterValues, START_OPTIONS, StartOption};

/// Key of a scene file for a level plane that a parameter can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SceneKey {
    /// Name of the parameter.
    name: &'static str,
    /// Key of the scene file.
    pub key: &'static str,
    /// Unit of the value; "-" without one.
    unit: &'static str,
}

/// All keys of a level plane that parameters can change.
const SCENE_KEYS: [SceneKey; 2] = [
    SceneKey { name: "scene__grip", key: "grip", unit: "-" },
    SceneKey { name: "scene__gravity", key: "gravity_mps2", unit: "m/s²" },
];

/// Beginning of the names of parameters of the manoeuvre, such as `manoeuvre__radius_m`.
const MANOEUVRE_PREFIX: &str = "manoeuvre__";

/// Quantity that a parameter changes.
#[derive(Clone, Debug)]
pub enum Target {
    /// Field of the vehicle file.
    Field(FieldPath),
    /// Option of the start.
    Start(StartOption),
    /// Key of a level plane.
    Scene(SceneKey),
    /// Parameter of the manoeuvre with this name, such as `radius_m`.
    Manoeuvre(&'static str),
}

impl Target {
    /// Finds the quantity that the parameter `name` changes, in this order: a key of a level plane such as
    /// `scene__grip`, an option of the start, a parameter of `manoeuvre` behind `manoeuvre__`, a field of the vehicle.
    /// The path of a field has `__`, `.` or brackets between its keys and numbers, such as `axles__0__track_m` or
    /// `axles[0].track_m`; its last key is enough if no other field has it.
    ///
    /// # Errors
    /// Returns a sentence for a name that no field or parameter has, for a value of a wrong type, and for a key of a
    /// plane if the sweep `has_scene`. Only the typical value of `parameter` is tried. A value out of range is no
    /// error.
    pub fn find(
        name: &str,
        parameter: &Parameter,
        vehicle: &Source,
        has_scene: bool,
        manoeuvre: Option<&ManoeuvreEntry>,
    ) -> Result<Self, String> {
        let value = parameter.typical_value();
        let needs_number = |target: Self| match value.number() {
            Some(_) => Ok(target),
            None => Err(format!("{} is no number", value.to_toml())),
        };
        if let Some(key) = SCENE_KEYS.into_iter().find(|key| key.name == name) {
            return match has_scene {
                true => Err("the sweep has a scene; change its file instead".into()),
                false => needs_number(Self::Scene(key)),
            };
        }
        if let Some(option) = START_OPTIONS.into_iter().find(|option| option.name == name) {
            return needs_number(Self::Start(option));
        }
        if let Some(name) = name.strip_prefix(MANOEUVRE_PREFIX) {
            let manoeuvre = manoeuvre.ok_or("the manoeuvre is unknown, and its parameters with it")?;
            let known = manoeuvre.parameters.iter().find(|parameter| parameter.name == name);
            return needs_number(Self::Manoeuvre(known.ok_or_else(|| unknown_parameter(name, manoeuvre))?.name));
        }
        let fields = FileFields::parse(&vehicle.toml).map_err(field_text)?;
        let path = fields.resolve(&name.replace("__", ".")).map_err(field_text)?;
        let changed = changed_text(&vehicle.toml, [(&path, &value)])?;
        match vehicle.read_vehicle(&changed) {
            // Values out of range are faults of single runs.
            Err(faults) if has_wrong_field(&faults) => Err(faults_text(&faults)),
            _ => Ok(Self::Field(path)),
        }
    }

    /// Returns the unit; empty if it is unknown, "-" without unit.
    pub fn unit(&self) -> String {
        match self {
            Self::Field(path) => path.unit().unwrap_or_default(),
            Self::Start(option) => option.unit.into(),
            Self::Scene(key) => key.unit.into(),
            Self::Manoeuvre(name) => FieldPath::new(name).unit().unwrap_or_default(),
        }
    }
}

/// Returns the sentence for a parameter that `manoeuvre` does not have.
fn unknown_parameter(name: &str, manoeuvre: &ManoeuvreEntry) -> String {
    let mut values = ParameterValues::default();
    values.set(name, f64::NAN);
    let accepted = values.faults(&[manoeuvre]).into_iter().map(|fault| fault.accepts).collect::<Vec<_>>().join(", ");
    format!("`{}` has no parameter `{name}`; accepted are {accepted}", manoeuvre.name)
}

/// Returns the sentence for a field that cannot be found or set. For an unknown name it lists what a parameter can
/// change.
fn field_text(error: FieldError) -> String {
    match error {
        FieldError::Unknown { .. } => format!(
            "{error}; use a field of the vehicle file, a parameter of the manoeuvre, or an option of `skidpad sweep --help`"
        ),
        _ => error.to_string(),
    }
}

/// Returns whether a fault is that of a field that does not exist or has another type.
fn has_wrong_field(faults: &Faults) -> bool {
    faults.list().iter().any(|fault| matches!(fault.kind, FaultKind::UnknownKey | FaultKind::WrongType))
}

/// Returns all faults of a text and of the files that it names, one on each line, without the names of the files.
pub fn faults_text(faults: &Faults) -> String {
    let mut lines: Vec<String> = faults.list().iter().map(ToString::to_string).collect();
    lines.extend(faults.files().iter().map(faults_text));
    lines.join("\n")
}

/// Returns the text of a vehicle file with changed fields.
///
/// # Errors
/// Returns a sentence about a field that cannot be set.
pub fn changed_text<'a>(
    toml: &str,
    changes: impl IntoIterator<Item = (&'a FieldPath, &'a Value)>,
) -> Result<String, String> {
    let mut fields = FileFields::parse(toml).map_err(field_text)?;
    for (path, value) in changes {
        fields.set(path, &value.to_toml()).map_err(field_text)?;
    }
    Ok(fields.text().to_owned())
}
