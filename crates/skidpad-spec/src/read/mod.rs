//! Reading of a text into a [`VehicleSpec`] or a [`SceneSpec`], or into a report of all its faults. Readers of other
//! formats build a tree ([`Node`]) and convert it to types of their own ([`FaultCollector::deserialize_tree`]).
//!
//! Reading has five passes. Each pass continues after a fault where it can.
//!
//! 1. `syntax` blanks out broken statements.
//! 2. `old_keys` replaces old names of keys by the new ones.
//! 3. `schema_check` checks the tree against the JSON schema. Placeholders replace wrong values; paths are stored.
//! 4. The repaired tree is deserialized into a description.
//! 5. `rules` checks rules between fields, except for rules that would read a placeholder.
//!
//! A value is returned only if the file has no fault.

mod old_keys;
mod rules;
mod schema_check;
mod syntax;
mod tree;

pub use crate::excerpt::{line_and_column, line_starts};
pub use crate::fault_collector::FaultCollector;
pub use tree::{Item, Key, Node};

use crate::fault_collector::PathSpans;
use crate::file_format::TreeDeserializer;
use crate::file_resolver::FileResolver;
use crate::ground::Ground;
use crate::old_keys::OldKeys;
use crate::schema::{SCENE_SCHEMA, Schema, VEHICLE_SCHEMA};
use crate::tir::Note;
use crate::warning::Warning;
use crate::{FaultKind, Faults, SceneSpec, VehicleSpec};
use old_keys::RenamedKeys;
use serde::de::DeserializeOwned;
use skidpad_core::Scene;
use skidpad_core::tyre::MagicFormula;
use std::collections::BTreeMap;
use toml::de::DeTable;

/// Magic Formula tyres by their names in the vehicle file.
pub(crate) type MagicFormulas = BTreeMap<String, MagicFormula>;

/// Results of reading a vehicle file apart from its description.
#[derive(Debug, Default)]
pub(crate) struct ReadExtras {
    /// Magic Formula tyres of the file.
    pub formulas: MagicFormulas,
    /// Warnings about tyre coefficients and tyre files.
    pub warnings: Vec<Warning>,
    /// Span of each path in the text.
    pub spans: PathSpans,
    /// Keys with old names.
    pub old_keys: OldKeys,
}

/// Reads a vehicle file and the tyre files that it names. Returns the description and [`ReadExtras`] (Magic Formula
/// tyres, warnings, spans of the keys, keys with old names), or all faults if there are any. `source_name` names the
/// text in fault reports, `files` is the place of the tyre files.
pub(crate) fn read(
    source_name: &str,
    text: &str,
    files: FileResolver<'_>,
) -> Result<(VehicleSpec, ReadExtras), Faults> {
    let mut extras = ReadExtras::default();
    // Called once, after the text was parsed. Fills `extras` as a side effect.
    let check_rules = |spec: &VehicleSpec, collector: &mut FaultCollector| {
        let formulas = rules::check_vehicle(spec, collector, files);
        let (warnings, spans) = (std::mem::take(&mut collector.warnings), collector.spans.clone());
        extras = ReadExtras { formulas, warnings, spans, old_keys: collector.take_old_keys(source_name, text) };
    };
    let spec = read_description(source_name, text, (&VEHICLE_SCHEMA, old_keys::VEHICLE_KEYS), check_rules)?;
    Ok((spec, extras))
}

/// Reads a scene file and the files it refers to: parses and checks the text, builds the ground with all files, and
/// converts warnings to notes (warnings with file and line). A warning about a key that the text does not give has the
/// line of the nearest enclosing table, or line 0 if there is none. Returns the description, the scene, the notes
/// sorted by line and the keys with old names, or all faults.
pub(crate) fn read_scene(
    source_name: &str,
    text: &str,
    files: FileResolver<'_>,
) -> Result<(SceneSpec, Scene, Vec<Note>, OldKeys), Faults> {
    let (mut ground, mut notes, mut old_keys) = (Ground::default(), Vec::new(), OldKeys::default());
    // Called once, after the text was parsed. Fills `ground`, `notes` and `old_keys` as a side effect.
    let check_rules = |spec: &SceneSpec, collector: &mut FaultCollector| {
        ground = crate::ground::build_ground(spec, collector, files);
        let line_offsets = line_starts(text);
        let line_of_path = |path: &str| {
            collector.spans.nearest_span(path).map_or(0, |span| line_and_column(text, &line_offsets, span.start).0)
        };
        notes = collector
            .warnings
            .iter()
            .map(|warning| Note::from_warning(warning.clone(), source_name, line_of_path(&warning.path)))
            .collect();
        notes.sort_by_key(|note| note.line);
        old_keys = collector.take_old_keys(source_name, text);
    };
    let spec = read_description(source_name, text, (&SCENE_SCHEMA, old_keys::SCENE_KEYS), check_rules)?;
    let scene = spec.with_ground(ground);
    Ok((spec, scene, notes, old_keys))
}

/// Reads a description of the type `T` from a text. Steps: parse the text and blank out broken statements; rename old
/// keys by the list `renamed`; check the tree against `schema` and deserialize it; check rules between fields with
/// `check_rules`. The last step also runs after faults, unless no description could be built. Returns the description
/// only if there are no faults, otherwise all faults.
fn read_description<T: DeserializeOwned>(
    source_name: &str,
    text: &str,
    (schema, renamed): (&Schema, &[RenamedKeys]),
    check_rules: impl FnOnce(&T, &mut FaultCollector),
) -> Result<T, Faults> {
    let mut collector = FaultCollector::default();
    let spec = parse_toml(text, &mut collector).and_then(|mut tree| {
        old_keys::rename_old_keys(&mut tree, renamed, &mut collector);
        collector.deserialize_tree(text, &tree, schema)
    });
    if let Some(spec) = &spec {
        check_rules(spec, &mut collector);
    }
    match spec {
        Some(spec) if collector.faults.is_empty() => Ok(spec),
        _ => Err(collector.into_faults(source_name, text)),
    }
}

/// Parses a TOML text into a tree without its broken statements, which are reported to `collector`. Returns `None` if
/// nothing is left to read, or if there are too many broken statements.
pub fn parse_toml(text: &str, collector: &mut FaultCollector) -> Option<Node> {
    let repaired_text = syntax::blank_broken_statements(text, collector)?;
    DeTable::parse(&repaired_text).ok().map(|tree| Node::from(&tree))
}

impl FaultCollector {
    /// Checks `tree` against `schema` and deserializes it. `text` is the text that the tree was parsed from. Faults are
    /// added to `self`. Placeholders (valid substitutes) replace wrong values, so that a value is returned also after
    /// faults. Returns `None` if the repaired tree still cannot be deserialized, which is reported as a fault of the
    /// whole file.
    pub fn deserialize_tree<T: DeserializeOwned>(&mut self, text: &str, tree: &Node, schema: &Schema) -> Option<T> {
        match T::deserialize(TreeDeserializer(schema_check::check_tree(text, tree, schema, self))) {
            Ok(spec) => Some(spec),
            // Schema and types have one source. This error means that they differ.
            Err(error) => {
                self.add_fault(FaultKind::WrongType, String::new(), 0..0, error.to_string(), "a description", None); // no help
                None
            }
        }
    }
}
