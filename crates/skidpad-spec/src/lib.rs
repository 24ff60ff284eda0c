//! What a vehicle file or a scene file says: types with units in their names ([`spec`]), a reader that reports every
//! fault at once ([`Faults`]), the JSON schemas of both formats ([`schema()`], [`scene_schema()`]) and the way to a
//! [`Model`] and a [`skidpad_core::Scene`].
//!
//! Here: TOML, units, rules of a description, the shipped vehicles ([`shipped`]). Not here: physics. Nothing behind
//! [`Model`] knows that files exist.
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
mod described;
mod excerpt;
mod fault;
mod fault_collector;
mod file_resolver;
pub mod files;
mod ground;
mod implausible;
mod layout;
mod lint;
mod lints;
mod load;
mod load_scene;
mod nearest;
pub mod printable;
pub mod read;
#[cfg(feature = "graphics")]
pub mod report;
mod schema;
pub mod shipped;
pub mod spec;
mod spring;
pub mod tir;
mod tyre_size;

pub use excerpt::{Excerpt, LineIndex};
pub use fault::{Fault, FaultKind, Faults, MOST_COLLECTED, MOST_SHOWN};
pub use files::Folders;
pub use load::{LoadError, Loaded, load, load_from};
pub use load_scene::LoadedScene;
pub use schema::Schema;
#[cfg(feature = "schema")]
pub use schema::{scene_schema, schema, schema_of};
pub use spec::{SceneSpec, VehicleSpec};
pub use tyre_size::TyreSize;

use file_resolver::FileResolver;
use skidpad_core::Model;

impl VehicleSpec {
    /// Reads a vehicle file. `source_name` is what reports call it. Tyre files it refers to are the shipped ones; for others
    /// see [`Loaded::read_in`].
    ///
    /// # Errors
    /// Every fault of the text at once: syntax, keys, types, ranges and contradictions between fields.
    pub fn read(source_name: &str, text: &str) -> Result<Self, Faults> {
        read::read(source_name, text, FileResolver::Shipped).map(|(spec, _)| spec)
    }

    /// The vehicle file that says the same.
    ///
    /// # Errors
    /// A number that TOML cannot hold; no vehicle that was read has one.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    /// The model this describes, SI units, vehicle frame; of a full trailer without its dolly, whose model [`Loaded`] has. Tyre files it
    /// refers to are the shipped ones.
    ///
    /// Fields are public and may have changed since they were read, so all rules are checked again, on the file that
    /// [`VehicleSpec::to_toml`] writes; faults point into that text.
    ///
    /// # Errors
    /// Every fault at once.
    pub fn compile(&self) -> Result<Model, Faults> {
        self.compile_with(FileResolver::Shipped)
    }

    /// Compiles this description as the model of a file in `folders`; see [`VehicleSpec::compile`].
    ///
    /// # Errors
    /// Every fault at once, those of the tyre files it refers to included.
    pub fn compile_in(&self, folders: impl Into<Folders>) -> Result<Model, Faults> {
        self.compile_with(FileResolver::Folders(&folders.into()))
    }

    fn compile_with(&self, files: FileResolver<'_>) -> Result<Model, Faults> {
        let name = if self.name.is_empty() { "vehicle" } else { &self.name };
        let text = self.to_toml().map_err(|error| whole_file_fault(name, "", error.to_string()))?;
        let (_, beyond) = read::read(name, &text, files)?;
        compile::build(self, &beyond.formulas, name, &text)
    }
}

/// A fault of the file as a whole. The rules of [`read`] leave nothing for [`Model::new`] to find, as far as is known.
fn whole_file_fault(source_name: &str, text: &str, found: String) -> Faults {
    let fault = Fault {
        kind: FaultKind::Contradiction,
        path: String::new(),
        line: 1,
        column: 1,
        found,
        accepts: "a vehicle that can stand on its wheels".into(),
        help: None,
        span: 0..0,
        against: None,
    };
    Faults::new(source_name, text, vec![fault])
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
