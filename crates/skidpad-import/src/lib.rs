//! Cars of other programs as vehicle files, by what their numbers mean there.
//!
//! | source | read from | trap |
//! |---|---|---|
//! | [`Source::Bullet`], [`Source::Rapier`] | TOML with the engine's own names | springs and dampers per chassis mass, brake per step |
//! | [`Source::Godot`] | `.tscn` with `VehicleBody3D` | the same, and a ray that stretches the spring's travel |
//! | [`Source::Unity`] | prefab or scene in YAML | the spring rests at its target under the sprung mass |
//! | [`Source::Jolt`] | TOML with the engine's own names | frequency on the effective mass at the wheel, friction √(tyre · ground) |
//! | [`Source::Physx`] | TOML with the engine's own names | slack at full droop, torque ratios without effect |
//! | [`Source::Commonroad`] | YAML parameter sets | roll stiffness with the sign turned, masses counted apart |
//!
//! Each reads its text into types with the source's names ([`Source::schema`]), then into one neutral car, then into a [`VehicleSpec`]
//! that stands as the car stands there. What no vehicle file can say is told as a [`Note`] with its line. Reading finds
//! all faults of a text at once; faults of meaning (a car its springs cannot carry) come after those.
#![forbid(unsafe_code)]

mod axles;
mod bullet;
mod car;
mod commonroad;
mod engine;
mod godot;
mod guided;
mod jolt;
mod physx;
mod raycast;
mod text;
mod tscn;
mod unity;
mod yaml;

pub use bullet::{BulletVehicle, BulletWheel};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use skidpad_spec::read::{FaultCollector, Node};
use skidpad_spec::tir::Note;
use skidpad_spec::{FaultKind, Faults, LineIndex, Loaded, Schema, VehicleSpec};

/// Program a car comes from.
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

/// What a source leaves to its user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Length of the steps the car was tuned at, s: turns a brake per step into a force.
    pub dt_s: f64,
}

impl Default for Options {
    /// 60 steps per second, which Bullet, Rapier and Godot have by default.
    fn default() -> Self {
        Self { dt_s: 1.0 / 60.0 }
    }
}

/// A car as imported.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The description.
    pub spec: VehicleSpec,
    /// The vehicle file, with what the source says beside each number.
    pub text: String,
    /// What was left out, estimated or assumed, in the order of the source.
    pub notes: Vec<Note>,
}

impl Source {
    /// Every source, with the name people type.
    pub const ALL: [(&'static str, Source); 7] = [
        ("bullet", Source::Bullet),
        ("rapier", Source::Rapier),
        ("godot", Source::Godot),
        ("unity", Source::Unity),
        ("jolt", Source::Jolt),
        ("physx", Source::Physx),
        ("commonroad", Source::Commonroad),
    ];

    /// JSON schema of what is read: of the file where it is TOML, else of the parts that are taken from it.
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

    /// Reads `text`, which reports call `source_name`.
    ///
    /// # Errors
    /// Every fault of the text at once; of a text without, every reason why it makes no car that stands.
    pub fn import(self, source_name: &str, text: &str, options: Options) -> Result<Imported, Faults> {
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
        let described = car.and_then(|car| axles::describe(&car, &mut import));
        import.finish(described)
    }
}

/// A text while it is imported.
struct Import<'a> {
    source_name: &'a str,
    text: &'a str,
    lines: LineIndex<'a>,
    options: Options,
    collector: FaultCollector,
    notes: Vec<Note>,
}

impl Import<'_> {
    /// What `tree` says in the shape of `T`; `None` with any fault.
    fn take<T: DeserializeOwned + JsonSchema>(&mut self, tree: &Node) -> Option<T> {
        let taken = self.collector.take(self.text, tree, &Schema::of::<T>());
        taken.filter(|_| self.collector.faults.is_empty())
    }

    /// The same of a text in TOML.
    fn take_toml<T: DeserializeOwned + JsonSchema>(&mut self) -> Option<T> {
        let tree = skidpad_spec::read::toml(self.text, &mut self.collector)?;
        self.take(&tree)
    }

    /// Says that what stands at `path` has no place in a vehicle file, or another meaning.
    fn note(&mut self, path: &str, text: impl Into<String>) {
        let span = self.collector.place(path);
        let (line, _) = self.lines.position(span.start);
        let line = if path.is_empty() { 0 } else { line };
        let file = self.source_name.to_owned();
        self.notes.push(Note { file, line, key: path.to_owned(), text: text.into() });
    }

    /// Says the same unless the value is the one without effect.
    fn note_unless(&mut self, path: &str, value: f64, neutral: f64, text: &str) {
        if value != neutral {
            self.note(path, text);
        }
    }

    /// A fault of meaning at `path`.
    fn fault(&mut self, path: &str, found: impl Into<String>, accepts: impl Into<String>, help: &str) {
        let span = self.collector.place(path);
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.collector.fault(FaultKind::Contradiction, path.to_owned(), span, found, accepts, help);
    }

    fn finish(mut self, described: Option<text::Described>) -> Result<Imported, Faults> {
        for (path, span) in std::mem::take(&mut self.collector.passed_over) {
            let (line, _) = self.lines.position(span.start);
            let file = self.source_name.to_owned();
            self.notes.push(Note { file, line, key: path, text: "is not read".into() });
        }
        self.notes.sort_by(|a, b| (a.line, &a.key).cmp(&(b.line, &b.key)));
        let written = described.and_then(|described| match described.write() {
            Ok(text) => Some(text),
            Err(error) => {
                self.fault("", error.to_string(), "numbers a vehicle file can hold", "");
                None
            }
        });
        // The last judge: what reads and compiles is what drives.
        let loaded = written.as_ref().and_then(|text| match Loaded::read("imported", text) {
            Ok(loaded) => Some(loaded),
            Err(faults) => {
                for fault in faults.list() {
                    self.fault("", format!("as a vehicle file, {fault}"), "a car a vehicle file can describe", "");
                }
                None
            }
        });
        match (loaded, written) {
            (Some(Loaded { spec, .. }), Some(text)) if self.collector.faults.is_empty() => {
                Ok(Imported { spec, text, notes: self.notes })
            }
            _ => {
                if self.collector.faults.is_empty() {
                    self.fault("", "nothing to import", "a car", "");
                }
                Err(self.collector.into_faults(self.source_name, self.text))
            }
        }
    }
}
