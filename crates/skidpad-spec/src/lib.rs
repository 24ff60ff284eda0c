//! Vehicle files and scene files: types with units in their names ([`spec`]), a reader that reports every fault at once
//! ([`Faults`]), the JSON schemas of both formats ([`schema()`], [`scene_schema()`]), and the conversion to a [`Model`]
//! or a [`skidpad_core::Scene`].
//!
//! This crate contains TOML, units, the rules of a description and the shipped vehicles ([`shipped`]). It contains no
//! physics. A [`Model`] does not depend on files.
//!
//! ```
//! let car = skidpad_spec::load("bmw_320i_commonroad")?;
//! assert_eq!(car.model.wheels().len(), 4);
//!
//! let faults = skidpad_spec::VehicleSpec::read("car.toml", "name = 3").unwrap_err();
//! println!("{}", faults.render());
//! # Ok::<(), skidpad_spec::LoadError>(())
//! ```
#![forbid(unsafe_code)]

mod compile;
#[cfg(feature = "terrain_files")]
pub mod crg;
mod excerpt;
mod fault;
mod fault_collector;
pub mod fields;
mod file_format;
mod file_resolver;
pub mod files;
mod ground;
mod load;
mod load_scene;
mod old_keys;
mod plausibility;
pub mod printable;
pub mod read;
#[cfg(feature = "graphics")]
pub mod report;
mod schema;
pub mod shipped;
pub mod spec;
mod spring;
mod suggestions;
pub mod tir;
mod tyre_size;
mod warning;
mod warnings;
mod wheel_positions;

pub use excerpt::{Excerpt, LineIndex};
pub use fault::{Fault, FaultKind, Faults, MAX_COLLECTED_FAULTS, MAX_SHOWN_FAULTS};
pub use files::Folders;
pub use load::{LoadError, LoadedVehicle, load, load_from};
pub use load_scene::LoadedScene;
pub use old_keys::{OldKey, OldKeys};
pub use schema::Schema;
#[cfg(feature = "schema")]
pub use schema::{scene_schema, schema, schema_of};
pub use spec::{SceneSpec, VehicleSpec};
pub use tyre_size::TyreSize;

use file_resolver::FileResolver;
use skidpad_core::Model;

impl VehicleSpec {
    /// Reads a vehicle file. `source_name` names the text in fault reports. Tyre files that the text names are the
    /// shipped ones; [`LoadedVehicle::read_in`] reads them from a folder.
    ///
    /// # Errors
    /// Returns every fault of the text at once: syntax, keys, types, ranges and contradictions between fields.
    pub fn read(source_name: &str, text: &str) -> Result<Self, Faults> {
        read::read(source_name, text, FileResolver::Shipped).map(|(spec, _)| spec)
    }

    /// Writes the description as a vehicle file in TOML.
    ///
    /// # Errors
    /// Returns an error if TOML cannot represent a number. Descriptions read from a file have no such number.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    /// Compiles the description into a model (SI units, vehicle frame). Tyre files that it names are the shipped ones.
    /// The model of a full trailer does not include its dolly; [`LoadedVehicle`] has the model of the dolly.
    ///
    /// Fields are public and may have changed since they were read. Therefore all rules are checked again, on the file
    /// that [`VehicleSpec::to_toml`] writes. Faults point into that text.
    ///
    /// # Errors
    /// Returns every fault at once.
    pub fn compile(&self) -> Result<Model, Faults> {
        self.compile_with(FileResolver::Shipped)
    }

    /// Compiles the description like [`VehicleSpec::compile`], with tyre files from `folders`.
    ///
    /// # Errors
    /// Returns every fault at once, including the faults of the tyre files that the description names.
    pub fn compile_in(&self, folders: impl Into<Folders>) -> Result<Model, Faults> {
        self.compile_with(FileResolver::Folders(&folders.into()))
    }

    /// Checks the description as if it were a file, and builds its model. Writes it as TOML, reads that text with all
    /// rules and its tyre files from `files`, and compiles `self` with the Magic Formula tyres that were read. Only the
    /// tyres of the second reading are used. Faults point into the written text, which reports name after the vehicle,
    /// or `vehicle` if its name is empty. A number that TOML cannot represent is a fault of the whole file.
    fn compile_with(&self, files: FileResolver<'_>) -> Result<Model, Faults> {
        let name = if self.name.is_empty() { "vehicle" } else { &self.name };
        let text = self.to_toml().map_err(|error| whole_file_fault(name, "", error.to_string()))?;
        let (_, extras) = read::read(name, &text, files)?;
        compile::build_model(self, &extras.formulas, name, &text)
    }
}

/// Builds a report with one contradiction that concerns the whole file: no path, line 1, column 1. `found` is its
/// message. Used for a description that [`Model::new`] refuses or TOML cannot represent. The rules of [`read`] are
/// meant to find all faults of a description before that.
fn whole_file_fault(source_name: &str, text: &str, found: String) -> Faults {
    let fault = Fault {
        kind: FaultKind::Contradiction,
        path: String::new(),
        line: 1,
        column: 1,
        found,
        accepts: "a vehicle that its wheels can support".into(),
        help: None,
        span: 0..0,
        contradicted_span: None,
    };
    Faults::new(source_name, text, vec![fault])
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
