//! From text to a [`VehicleSpec`] or a [`SceneSpec`], or to everything that is wrong with it; for readers of other formats,
//! from a tree of their own ([`Node`]) to their own types ([`FaultCollector::take`]).
//!
//! Four passes, each going on where it can: broken statements are blanked out (`syntax`); the tree is walked along
//! the JSON schema, which repairs what is wrong with placeholders and remembers where (`walk`); the repaired tree
//! becomes a description; rules between fields are checked on it, leaving out those that would look at a
//! placeholder (`rules`). Only a file without any fault gets out of here as a value.

mod rules;
mod syntax;
mod tree;
mod walk;

pub use crate::excerpt::{line_starts, position};
pub use crate::fault_collector::FaultCollector;
pub use tree::{Item, Key, Node};

use crate::described::Described;
use crate::fault_collector::Places;
use crate::file_resolver::FileResolver;
use crate::ground::Ground;
use crate::lint::Lint;
use crate::schema::{SCENE, Schema, VEHICLE};
use crate::tir::Note;
use crate::{FaultKind, Faults, SceneSpec, VehicleSpec};
use serde::de::DeserializeOwned;
use skidpad_core::Scene;
use skidpad_core::tyre::MagicFormula;
use std::collections::BTreeMap;
use toml::de::DeTable;

/// Magic Formula tyres by their names in the vehicle file.
pub(crate) type Formulas = BTreeMap<String, MagicFormula>;

/// What reading a vehicle file tells beyond its description.
#[derive(Debug, Default)]
pub(crate) struct Beyond {
    pub formulas: Formulas,
    /// About the files it refers to.
    pub notes: Vec<Lint>,
    pub places: Places,
}

/// Reads a vehicle file and the files it refers to.
pub(crate) fn read(source_name: &str, text: &str, files: FileResolver<'_>) -> Result<(VehicleSpec, Beyond), Faults> {
    let mut beyond = Beyond::default();
    let rules = |spec: &VehicleSpec, collector: &mut FaultCollector| {
        let formulas = rules::check(spec, collector, files);
        let (notes, places) = (std::mem::take(&mut collector.notes), collector.places.clone());
        beyond = Beyond { formulas, notes, places };
    };
    let spec = described(source_name, text, &VEHICLE, rules)?;
    Ok((spec, beyond))
}

/// Reads a scene file and the files it refers to; with what is worth a look in them.
pub(crate) fn read_scene(
    source_name: &str,
    text: &str,
    files: FileResolver<'_>,
) -> Result<(SceneSpec, Scene, Vec<Note>), Faults> {
    let (mut ground, mut notes) = (Ground::default(), Vec::new());
    let rules = |spec: &SceneSpec, collector: &mut FaultCollector| {
        ground = crate::ground::build(spec, collector, files);
        let starts = line_starts(text);
        let line = |path: &str| collector.places.of(path).map_or(0, |span| position(text, &starts, span.start).0);
        notes = collector.notes.iter().map(|lint| Note::of(lint.clone(), source_name, line(&lint.path))).collect();
        notes.sort_by_key(|note| note.line);
    };
    let spec = described(source_name, text, &SCENE, rules)?;
    let scene = spec.on(ground);
    Ok((spec, scene, notes))
}

/// Reads a description of the shape `schema`, whose fields must keep `rules`.
fn described<T: DeserializeOwned>(
    source_name: &str,
    text: &str,
    schema: &Schema,
    rules: impl FnOnce(&T, &mut FaultCollector),
) -> Result<T, Faults> {
    let mut collector = FaultCollector::default();
    let spec = toml(text, &mut collector).and_then(|tree| collector.take(text, &tree, schema));
    if let Some(spec) = &spec {
        rules(spec, &mut collector);
    }
    match spec {
        Some(spec) if collector.faults.is_empty() => Ok(spec),
        _ => Err(collector.into_faults(source_name, text)),
    }
}

/// The tree of a TOML text, without its broken statements; `None` if nothing is left to read.
pub fn toml(text: &str, collector: &mut FaultCollector) -> Option<Node> {
    let mended = syntax::mend(text, collector)?;
    DeTable::parse(&mended).ok().map(|tree| Node::from(&tree))
}

impl FaultCollector {
    /// What `tree` describes in the shape `schema`; with faults, placeholders stand for what is wrong.
    pub fn take<T: DeserializeOwned>(&mut self, text: &str, tree: &Node, schema: &Schema) -> Option<T> {
        match T::deserialize(Described(walk::walk(text, tree, schema, self))) {
            Ok(spec) => Some(spec),
            // The schema and the types come from one source, so this says that they have drifted apart.
            Err(error) => {
                self.fault(FaultKind::WrongType, String::new(), 0..0, error.to_string(), "a description", None);
                None
            }
        }
    }
}
