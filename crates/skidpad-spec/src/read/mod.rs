//! From text to a [`VehicleSpec`] or a [`SceneSpec`], or to everything that is wrong with it; for readers of other formats,
//! from a tree of their own ([`Node`]) to their own types ([`FaultCollector::take`]).
//!
//! Four passes, each going on where it can: broken statements are blanked out (`syntax`); the tree is walked along
//! the JSON schema, which repairs what is wrong with placeholders and remembers where (`walk`); the repaired tree
//! becomes a description; rules between fields are checked on it, leaving out those that would look at a
//! placeholder (`rules`). Only a file without any fault gets out of here as a value.

mod described;
mod nearest;
mod rules;
mod syntax;
mod tree;
mod walk;

pub(crate) use described::Described;
pub(crate) use nearest::nearest;
pub use tree::{Item, Key, Node};
pub(crate) use walk::join;

use crate::file_resolver::FileResolver;
use crate::ground::Ground;
use crate::lint::Lint;
use crate::schema::{SCENE, Schema, VEHICLE};
use crate::tir::Note;
use crate::{Fault, FaultKind, Faults, SceneSpec, VehicleSpec};
use serde::de::DeserializeOwned;
use skidpad_core::Scene;
use skidpad_core::tyre::MagicFormula;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
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
        notes = collector.notes.iter().map(|lint| Note::of(lint.clone(), line(&lint.path))).collect();
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

/// What is known about a file while it is read.
#[derive(Debug, Default)]
pub struct FaultCollector {
    /// In the order of discovery.
    pub faults: Vec<Fault>,
    /// Paths that hold a placeholder; rules must not look at them.
    pub(crate) broken: BTreeSet<String>,
    /// Faults of the files it refers to.
    pub(crate) files: Vec<Faults>,
    /// Whether keys that nothing reads are passed over instead of being faults.
    pub tolerant: bool,
    /// Paths of keys that were passed over, and where they stand.
    pub passed_over: Vec<(String, Range<usize>)>,
    /// About the files it refers to, if they are sound.
    pub(crate) notes: Vec<Lint>,
    /// Where each path stands in the text.
    places: Places,
}

/// Where each path of a file stands in its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<String, Range<usize>>);

impl Places {
    /// Where `path` stands, or the nearest thing around it that does.
    pub fn of(&self, path: &str) -> Option<Range<usize>> {
        let around = path.rmatch_indices(['.', '[']).map(|(end, _)| &path[..end]);
        std::iter::once(path).chain(around).find_map(|path| self.0.get(path)).cloned()
    }
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

    /// The faults, each with its line and column.
    pub fn into_faults(mut self, source_name: &str, text: &str) -> Faults {
        let starts = line_starts(text);
        for fault in &mut self.faults {
            (fault.line, fault.column) = position(text, &starts, fault.span.start);
        }
        Faults::new(source_name, text, self.faults).with_files(self.files)
    }

    /// Adds a fault of the key `path`, at the bytes `span`.
    pub fn fault(
        &mut self,
        kind: FaultKind,
        path: String,
        span: Range<usize>,
        found: impl Into<String>,
        accepts: impl Into<String>,
        help: Option<String>,
    ) {
        let (found, accepts) = (found.into(), accepts.into());
        self.faults.push(Fault { kind, path, line: 0, column: 0, found, accepts, help, span, against: None });
    }

    /// Of two keys that say the same thing in `table`, one must be there.
    pub(crate) fn exactly_one(&mut self, table: &str, first: (&str, bool), second: (&str, bool)) {
        let ((first, has_first), (second, has_second)) = (first, second);
        let (a, b) = (join(table, first), join(table, second));
        if self.is_broken(&a) || self.is_broken(&b) || has_first != has_second {
            return;
        }
        let span = self.place(if has_first { &b } else { &a });
        if has_first {
            let found = format!("given as well as `{first}`");
            let accepts = format!("the only one of `{first}` and `{second}`");
            self.fault(FaultKind::Contradiction, b, span, found, accepts, Some("remove one of them".into()));
            let against = self.places.0.get(&a).cloned();
            if let Some(fault) = self.faults.last_mut() {
                fault.against = against;
            }
        } else {
            let accepts = format!("given, or `{second}` instead");
            self.fault(FaultKind::MissingKey, a, span, "missing", accepts, None);
        }
    }

    /// Remembers where `path` stands, for notes about what is not read.
    pub fn remember(&mut self, path: &str, span: Range<usize>) {
        self.places.0.insert(path.to_owned(), span);
    }

    /// Whether `path` or anything it is part of holds a placeholder.
    pub(crate) fn is_broken(&self, path: &str) -> bool {
        self.broken.contains(path) || path.match_indices(['.', '[']).any(|(end, _)| self.broken.contains(&path[..end]))
    }

    /// Where `path` stands, or the nearest thing around it that does; the start of the text if nothing does.
    pub fn place(&self, path: &str) -> Range<usize> {
        self.places.of(path).unwrap_or(0..0)
    }
}

/// Where each line of `text` starts, in bytes.
pub fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.match_indices('\n').map(|(i, _)| i + 1);
    std::iter::once(0).chain(breaks).collect()
}

/// Line and column in characters, both from 1, of byte `at` of a text with these [`line_starts`].
pub fn position(text: &str, starts: &[usize], at: usize) -> (usize, usize) {
    let line = starts.partition_point(|&start| start <= at).max(1);
    let head = text.get(starts[line - 1]..at).unwrap_or("");
    (line, head.chars().count() + 1)
}
