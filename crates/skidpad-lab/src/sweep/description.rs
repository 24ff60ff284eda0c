//! Descriptions of sweeps in TOML.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use skidpad_core::SolverInfo;
use skidpad_spec::files::{self, FileKind};
use skidpad_spec::read::{FaultCollector, Item, Node, parse_toml};
use skidpad_spec::{FaultKind, LoadError, Schema};

use super::error::SweepError;
use super::parameter::{PARAMETER_FORMS, PARAMETERS_KEY, Parameter, parameter_path};
use super::plan::{Plan, Sweep};
use super::sources::Source;

/// Keys of a description of a sweep, except for the table `parameters`. Paths are relative to the folder of the
/// description. `skidpad.sweep` in Python has the same keys.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepDescription {
    /// Name of a shipped vehicle, or path of a vehicle file.
    pub car: String,
    /// Name of the manoeuvre.
    pub manoeuvre: String,
    /// Names of the solvers.
    #[serde(default = "default_solvers")]
    #[schemars(length(min = 1))]
    pub solvers: Vec<String>,
    /// Step rate, Hz.
    #[serde(default = "default_rate")]
    pub rate: f64,
    /// Samples of the distributions at each point of the grids.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub samples: u64,
    /// Seed of the distributions.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub seed: u64,
    /// Greatest number of runs of a shard. Default: a 64th of the runs, at most 256.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub shard_size: Option<u64>,
    /// Path of a scene file, whose ground replaces that of the manoeuvre.
    pub scene: Option<String>,
    /// Trailers from front to rear: names of shipped trailers, or paths of trailer files.
    #[serde(default)]
    pub towing: Vec<String>,
}

/// Returns the solvers of a description without them.
fn default_solvers() -> Vec<String> {
    vec!["impulse".into()]
}

/// Returns the step rate of a description without one, Hz.
fn default_rate() -> f64 {
    240.0
}

/// Returns 1, the number of samples of a description without one.
fn one() -> u64 {
    1
}

impl Sweep {
    /// Loads the sweep of a description in TOML at `path`, or of a manifest if `path` ends in `.json`. Paths in a
    /// description are relative to its folder. `solvers` are the solvers that the file can name.
    ///
    /// # Errors
    /// Returns an error for a file that cannot be read, or the faults of its content.
    pub fn load(path: &Path, solvers: &[SolverInfo]) -> Result<Self, SweepError> {
        let unreadable = |source| LoadError::UnreadableFile { path: path.to_owned(), source };
        let text = files::read_lossy(path, FileKind::Scene).map_err(unreadable)?;
        if path.extension().is_some_and(|extension| extension == "json") {
            return Self::from_manifest(&text, solvers);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::read(&path.display().to_string(), &text, folder, solvers)
    }

    /// Reads a description in TOML. `source_name` names the text in reports. Paths in the text are relative to
    /// `folder`. `solvers` are the solvers that the text can name.
    ///
    /// # Errors
    /// Returns all faults of keys and types at once. Without such a fault, returns the faults of the first vehicle or
    /// scene file that cannot be loaded, otherwise the faults that [`Plan::build`] finds.
    pub fn read(source_name: &str, text: &str, folder: &Path, solvers: &[SolverInfo]) -> Result<Self, SweepError> {
        let mut collector = FaultCollector::default();
        let mut parameters = Vec::new();
        let description: Option<SweepDescription> = parse_toml(text, &mut collector).and_then(|mut tree| {
            parameters = take_parameters(&mut tree, &mut collector);
            wrap_solver(&mut tree);
            collector.deserialize_tree(text, &tree, &Schema::for_type::<SweepDescription>())
        });
        let (true, Some(description)) = (collector.faults.is_empty(), description) else {
            return Err(LoadError::from(collector.into_faults(source_name, text)).into());
        };
        let plan = description.load_files(parameters, folder)?;
        let (sweep, faults) = plan.build(solvers);
        for fault in faults {
            let span = collector.nearest_span(&fault.path);
            collector.add_fault(fault.kind, fault.path, span, fault.found, fault.accepts, None);
        }
        sweep.ok_or_else(|| LoadError::from(collector.into_faults(source_name, text)).into())
    }
}

impl SweepDescription {
    /// Loads the vehicle, the trailers and the scene that the description names, in this order. Paths are relative to
    /// `folder`. The first file with a fault is the error.
    fn load_files(self, parameters: Vec<(String, Parameter)>, folder: &Path) -> Result<Plan, LoadError> {
        let load_vehicle = |name: &String| Source::load_vehicle(name, folder);
        Ok(Plan {
            vehicle: load_vehicle(&self.car)?,
            towing: self.towing.iter().map(load_vehicle).collect::<Result<_, _>>()?,
            scene: self.scene.map(|path| Source::load_scene(&folder.join(path))).transpose()?,
            manoeuvre: self.manoeuvre,
            solvers: self.solvers,
            rate: self.rate,
            parameters,
            samples: self.samples,
            seed: self.seed,
            shard_size: self.shard_size,
        })
    }
}

/// Removes the table of parameters from `tree` and returns its entries in the order of the text. Stores the place of
/// each key in `collector`. An entry with a fault is left out, and its faults are added to `collector`. Returns an
/// empty list if there is no such table.
fn take_parameters(tree: &mut Node, collector: &mut FaultCollector) -> Vec<(String, Parameter)> {
    let Item::Table(entries) = &mut tree.item else { return Vec::new() };
    let Some(index) = entries.iter().position(|(key, _)| key.name == PARAMETERS_KEY) else { return Vec::new() };
    let (key, node) = entries.remove(index);
    collector.store_span(PARAMETERS_KEY, key.span.clone());
    let Item::Table(mut named) = node.item else {
        let accepts = "a table of parameters".to_owned();
        let found = "no table".to_owned();
        collector.add_fault(FaultKind::WrongType, PARAMETERS_KEY.into(), key.span, found, accepts, None);
        return Vec::new();
    };
    // The parser sorts keys by their names; the order of the grids is that of the text.
    named.sort_by_key(|(key, _)| key.span.start);
    let mut parameters = Vec::new();
    for (key, node) in named {
        let path = parameter_path(&key.name);
        collector.store_span(&path, key.span.clone());
        match Parameter::from_node(&node) {
            Ok(parameter) => parameters.push((key.name, parameter)),
            Err(faults) => {
                for found in faults {
                    let accepts = PARAMETER_FORMS.to_owned();
                    collector.add_fault(FaultKind::OutOfRange, path.clone(), key.span.clone(), found, accepts, None);
                }
            }
        }
    }
    parameters
}

/// Replaces a single text at the key `solvers` by a list with this text, so that both forms are accepted.
fn wrap_solver(tree: &mut Node) {
    let Item::Table(entries) = &mut tree.item else { return };
    for (key, node) in entries {
        if key.name == "solvers" && node.text().is_some() {
            *node = Node { span: node.span.clone(), item: Item::List(vec![node.clone()]) };
        }
    }
}

/// Returns the JSON schema of descriptions, for editors and other tools.
pub fn schema() -> serde_json::Value {
    let mut schema = skidpad_spec::schema_of::<SweepDescription>();
    schema["properties"][PARAMETERS_KEY] = serde_json::json!({
        "type": "object",
        "description": format!("Fields of the vehicle, options of the start, keys of a level plane and parameters of the manoeuvre, each with {PARAMETER_FORMS}."),
    });
    schema
}
