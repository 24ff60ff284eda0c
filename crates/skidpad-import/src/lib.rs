//! Import of cars from other programs as vehicle files. Numbers are converted by their meaning in the source.
//!
//! | source | read from | trap |
//! |---|---|---|
//! | [`Source::Bullet`], [`Source::Rapier`] | TOML with the engine's own names | springs and dampers per chassis mass, brake per step |
//! | [`Source::Godot`] | `.tscn` with `VehicleBody3D` | as Bullet; in addition a ray that stretches the travel of the spring |
//! | [`Source::Unity`] | prefab or scene in YAML | the spring rests at its target under the sprung mass |
//! | [`Source::Jolt`] | TOML with the engine's own names | frequency on the effective mass at the wheel, friction √(tyre · ground) |
//! | [`Source::Physx`] | TOML with the engine's own names | slack at full droop, torque ratios without effect |
//! | [`Source::Commonroad`] | YAML parameter sets | roll stiffness with the sign turned, masses counted apart |
//!
//! Each importer reads its text into types with the names of the source ([`Source::schema`]), then into a neutral car,
//! then into a [`VehicleSpec`] with the same pose at rest. A [`Note`] with its line reports each property that a
//! vehicle file cannot contain. All faults of the text are reported at once. Faults of meaning (a car that its springs
//! cannot carry) are only searched in a text without other faults.
#![forbid(unsafe_code)]

mod axles;
mod bullet;
mod car;
mod commonroad;
mod engine;
mod godot;
mod jolt;
mod jounce_curves;
mod physx;
mod raycast;
mod tscn;
mod unity;
mod vehicle_file;
mod yaml;

pub use bullet::{BulletVehicle, BulletWheel};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use skidpad_spec::read::{FaultCollector, Node};
use skidpad_spec::tir::Note;
use skidpad_spec::{FaultKind, Faults, LineIndex, LoadedVehicle, Schema, VehicleSpec};

/// Program from which a car is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `btRaycastVehicle`.
    Bullet,
    /// `DynamicRayCastVehicleController`.
    Rapier,
    /// `VehicleBody3D` with `VehicleWheel3D` children.
    Godot,
    /// `Rigidbody` with `WheelCollider`s.
    Unity,
    /// `VehicleConstraint` with a `WheeledVehicleController`.
    Jolt,
    /// `vehicle2` of PhysX 5.
    Physx,
    /// Parameter sets of the CommonRoad vehicle models.
    Commonroad,
}

/// Options of an import, for quantities that the source does not contain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImportOptions {
    /// Step length at which the car was tuned, s, > 0. Converts a brake impulse per step to a force.
    pub dt_s: f64,
}

impl Default for ImportOptions {
    /// Returns a step of 1/60 s, the default of Bullet, Rapier and Godot.
    fn default() -> Self {
        Self { dt_s: 1.0 / 60.0 }
    }
}

/// Imported car.
#[derive(Clone, Debug)]
pub struct ImportedVehicle {
    /// Vehicle description.
    pub spec: VehicleSpec,
    /// Text of the vehicle file. Comments at the numbers name their origin in the source.
    pub text: String,
    /// Notes on properties that were left out, estimated or assumed, ordered by line.
    pub notes: Vec<Note>,
}

impl Source {
    /// All sources with their names on the command line.
    pub const ALL: [(&'static str, Source); 7] = [
        ("bullet", Source::Bullet),
        ("rapier", Source::Rapier),
        ("godot", Source::Godot),
        ("unity", Source::Unity),
        ("jolt", Source::Jolt),
        ("physx", Source::Physx),
        ("commonroad", Source::Commonroad),
    ];

    /// Returns the JSON schema of the input: of the whole file for the TOML sources, otherwise of the parts that are
    /// read.
    pub fn schema(self) -> Value {
        match self {
            Source::Bullet => skidpad_spec::schema_of::<BulletVehicle>(),
            Source::Rapier => skidpad_spec::schema_of::<bullet::RapierVehicle>(),
            Source::Godot => skidpad_spec::schema_of::<godot::Scene>(),
            Source::Unity => skidpad_spec::schema_of::<unity::Scene>(),
            Source::Jolt => skidpad_spec::schema_of::<jolt::JoltVehicle>(),
            Source::Physx => skidpad_spec::schema_of::<physx::PhysxVehicle>(),
            Source::Commonroad => skidpad_spec::schema_of::<commonroad::Parameters>(),
        }
    }

    /// Reads the car in `text` and converts it to a vehicle file. Reports and notes call the text `source_name`. The
    /// importer of the source reads a neutral car, `axles::describe_vehicle` converts it, and the written file is read
    /// back as a check.
    ///
    /// # Errors
    /// All faults of the text at once. If there are none: all reasons why the car is not valid or cannot stand on its
    /// springs.
    pub fn import(self, source_name: &str, text: &str, options: ImportOptions) -> Result<ImportedVehicle, Faults> {
        let (lines, collector) = (LineIndex::new(text), FaultCollector::default());
        let mut import = Import { source_name, text, lines, options, collector, notes: Vec::new() };
        let car = match self {
            Source::Bullet => bullet::read_bullet(&mut import),
            Source::Rapier => bullet::read_rapier(&mut import),
            Source::Godot => godot::read(&mut import),
            Source::Unity => unity::read(&mut import),
            Source::Jolt => jolt::read(&mut import),
            Source::Physx => physx::read(&mut import),
            Source::Commonroad => commonroad::read(&mut import),
        };
        let commented_spec = car.and_then(|car| axles::describe_vehicle(&car, &mut import));
        import.finish(commented_spec)
    }
}

/// State of an import.
struct Import<'a> {
    /// Name of the text in reports.
    source_name: &'a str,
    /// Text of the source.
    text: &'a str,
    /// Line numbers of byte positions in `text`.
    lines: LineIndex<'a>,
    /// Quantities that the source does not contain.
    options: ImportOptions,
    /// Faults, spans of the keys and keys that were not read.
    collector: FaultCollector,
    /// Notes so far, in any order.
    notes: Vec<Note>,
}

impl Import<'_> {
    /// Converts `tree` to a `T`. Returns `None` if the import has any fault.
    fn deserialize_tree<T: DeserializeOwned + JsonSchema>(&mut self, tree: &Node) -> Option<T> {
        let value = self.collector.deserialize_tree(self.text, tree, &Schema::for_type::<T>());
        value.filter(|_| self.collector.faults.is_empty())
    }

    /// Parses the text as TOML and converts it to a `T`. Returns `None` if the import has any fault.
    fn deserialize_toml<T: DeserializeOwned + JsonSchema>(&mut self) -> Option<T> {
        let tree = skidpad_spec::read::parse_toml(self.text, &mut self.collector)?;
        self.deserialize_tree(&tree)
    }

    /// Adds a note about the value at `path`. Its line is that of the value, or of the nearest enclosing value that the
    /// text gives. An empty `path` stands for the whole text, with line 0. `finish` sorts the notes.
    fn add_note(&mut self, path: &str, text: impl Into<String>) {
        let span = self.collector.nearest_span(path);
        let (line, _) = self.lines.line_and_column(span.start);
        let line = if path.is_empty() { 0 } else { line };
        let file = self.source_name.to_owned();
        self.notes.push(Note { file, line, key: path.to_owned(), text: text.into() });
    }

    /// Adds a note about the value at `path`, unless `value` equals `neutral`, the value without effect.
    fn add_note_unless(&mut self, path: &str, value: f64, neutral: f64, text: &str) {
        if value != neutral {
            self.add_note(path, text);
        }
    }

    /// Adds a fault of the kind `Contradiction` at `path`: `found` is the value found, `accepts` what would be
    /// accepted. An empty `help` adds no help text. The fault is placed at the value at `path`, or at the nearest
    /// enclosing one.
    fn add_fault(&mut self, path: &str, found: impl Into<String>, accepts: impl Into<String>, help: &str) {
        let span = self.collector.nearest_span(path);
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.collector.add_fault(FaultKind::Contradiction, path.to_owned(), span, found, accepts, help);
    }

    /// Finishes the import. Adds a note for each key that was not read, sorts the notes by line and key, writes the
    /// vehicle file and reads it back. The result contains the description as it was read back. A missing description
    /// without any fault becomes the fault `nothing to import`.
    ///
    /// # Errors
    /// The import has a fault, `commented_spec` is `None`, the file cannot be written, or it does not read back as a
    /// valid vehicle.
    fn finish(mut self, commented_spec: Option<vehicle_file::CommentedSpec>) -> Result<ImportedVehicle, Faults> {
        for (path, span) in std::mem::take(&mut self.collector.skipped_keys) {
            let (line, _) = self.lines.line_and_column(span.start);
            let file = self.source_name.to_owned();
            self.notes.push(Note { file, line, key: path, text: "is not imported".into() });
        }
        self.notes.sort_by(|a, b| (a.line, &a.key).cmp(&(b.line, &b.key)));
        // An empty path stands for the whole file, an empty last argument for no help text.
        let written_text = commented_spec.and_then(|commented_spec| match commented_spec.write() {
            Ok(text) => Some(text),
            Err(error) => {
                self.add_fault("", error.to_string(), "numbers within the range of vehicle files", "");
                None
            }
        });
        // Reading the file back checks that it describes a valid vehicle.
        let loaded_vehicle = written_text.as_ref().and_then(|text| match LoadedVehicle::read("imported", text) {
            Ok(loaded_vehicle) => Some(loaded_vehicle),
            Err(faults) => {
                for fault in faults.list() {
                    self.add_fault(
                        "",
                        format!("the resulting vehicle file is invalid: {fault}"),
                        "a car that a vehicle file can describe",
                        "",
                    );
                }
                None
            }
        });
        match (loaded_vehicle, written_text) {
            (Some(LoadedVehicle { spec, .. }), Some(text)) if self.collector.faults.is_empty() => {
                Ok(ImportedVehicle { spec, text, notes: self.notes })
            }
            _ => {
                if self.collector.faults.is_empty() {
                    self.add_fault("", "nothing to import", "a car", "");
                }
                Err(self.collector.into_faults(self.source_name, self.text))
            }
        }
    }
}
